# SPDX-License-Identifier: MIT
# The types of the factors: FLOAT32, FLOAT64 and bytes.
set(shader_variants
  product_f32:product.comp:NUMBERS=32 product_f64:product.comp:NUMBERS=64 product_bytes:product.comp:NUMBERS=8
  convolution_f32:convolution.comp:NUMBERS=32 convolution_f64:convolution.comp:NUMBERS=64
  convolution_bytes:convolution.comp:NUMBERS=8)
