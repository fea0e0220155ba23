# SPDX-License-Identifier: MIT
# RapidJSON, for dmlrun's models and the descriptions of language models.
if(NOT RAPIDJSON_INCLUDE_DIR)
  return()
endif()
add_library(anydml_rapidjson INTERFACE)
target_include_directories(anydml_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIR})
if(ANYDML_SANITIZE MATCHES undefined)
  # RapidJSON's stack compares null with null plus an offset before its first use.
  target_compile_options(anydml_rapidjson INTERFACE -fno-sanitize=pointer-overflow)
endif()
