# SPDX-License-Identifier: MIT
list(APPEND shader_variants add_blocks:add_blocks.comp:DOUBLE=0 add_blocks_wide:add_blocks.comp:DOUBLE=1)
