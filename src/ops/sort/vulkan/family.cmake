# SPDX-License-Identifier: MIT
list(APPEND shader_variants sort_narrow:sort.comp:WIDE=0 sort_wide:sort.comp:WIDE=1)
