# SPDX-License-Identifier: MIT
list(APPEND shader_variants pool_sums:pool_sums.comp:DOUBLE=0 pool_sums_double:pool_sums.comp:DOUBLE=1)
