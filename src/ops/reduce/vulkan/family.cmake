# SPDX-License-Identifier: MIT
foreach(shader fold_blocks fold_columns fold_lanes)
  list(APPEND shader_variants ${shader}:${shader}.comp:FLOATS=0 ${shader}_of_floats:${shader}.comp:FLOATS=1
    ${shader}_of_doubles:${shader}.comp:FLOATS=2)
endforeach()
