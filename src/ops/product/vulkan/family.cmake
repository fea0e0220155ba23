# SPDX-License-Identifier: MIT
# The types of the factors: FLOAT32, FLOAT64 and bytes.
set(shader_variants
  product_f32:product.comp:NUMBERS=32 product_f64:product.comp:NUMBERS=64 product_bytes:product.comp:NUMBERS=8
  convolution_f32:convolution.comp:NUMBERS=32 convolution_f64:convolution.comp:NUMBERS=64
  convolution_bytes:convolution.comp:NUMBERS=8)
# The large tiles, as in wide.cpp: their outputs, those of a thread, the depth, and whether totals are in memory.
foreach(shape "128 256 8 16 8 1" "256 128 16 8 8 1" "128 128 8 8 16 1" "128 128 8 8 8 0" "128 128 16 8 8 1"
              "128 64 8 8 16 0" "64 64 8 4 16 0")
  string(REPLACE " " ";" parts ${shape})
  list(POP_FRONT parts rows columns thread_rows thread_columns depth in_memory)
  string(REPLACE " " "_" name ${shape})
  foreach(kind product convolution)
    list(APPEND shader_variants "${kind}_wide_${name}:${kind}_wide.comp:TILE_ROWS=${rows}:TILE_COLUMNS=${columns}:\
THREAD_ROWS=${thread_rows}:THREAD_COLUMNS=${thread_columns}:TILE_DEPTH=${depth}:TOTALS_IN_MEMORY=${in_memory}")
  endforeach()
endforeach()
