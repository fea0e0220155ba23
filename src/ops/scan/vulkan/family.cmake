# SPDX-License-Identifier: MIT
list(APPEND shader_variants scan_chains:scan_chains.comp:DOUBLE=0 scan_chains_wide:scan_chains.comp:DOUBLE=1
  scan_carries:scan_carries.comp:DOUBLE=0 scan_carries_wide:scan_carries.comp:DOUBLE=1)
