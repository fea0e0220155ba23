# SPDX-License-Identifier: MIT
# The types of the factors: FLOAT32, FLOAT64 and bytes.
set(shader_variants
  product_f32:product.comp:NUMBERS=32 product_f64:product.comp:NUMBERS=64 product_bytes:product.comp:NUMBERS=8
  convolution_f32:convolution.comp:NUMBERS=32 convolution_f64:convolution.comp:NUMBERS=64
  convolution_bytes:convolution.comp:NUMBERS=8)
# The large tiles, as in wide.cpp: their outputs, those of a thread, the depth, and whether totals are in memory.
set(wide_names TILE_ROWS TILE_COLUMNS THREAD_ROWS THREAD_COLUMNS TILE_DEPTH TOTALS_IN_MEMORY)
foreach(wide_shape 128_256_8_16_8_1 256_128_16_8_8_1 128_128_8_8_16_1 128_128_8_8_8_0 128_128_16_8_8_1 128_64_8_8_16_0
                   64_64_8_4_16_0)
  string(REPLACE "_" ";" wide_values ${wide_shape})
  set(wide_macros)
  foreach(wide_macro wide_value IN ZIP_LISTS wide_names wide_values)
    string(APPEND wide_macros ":${wide_macro}=${wide_value}")
  endforeach()
  foreach(wide_kind product convolution)
    list(APPEND shader_variants ${wide_kind}_wide_${wide_shape}:${wide_kind}_wide.comp${wide_macros})
  endforeach()
endforeach()
