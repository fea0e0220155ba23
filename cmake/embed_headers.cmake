# SPDX-License-Identifier: MIT
# anydml_embed_headers(OUTPUT SOURCE_ROOT HEADERS... ): writes a C++ file that holds these headers' text, each under the
# name by which others include it. They are compiled again while a program runs.
function(anydml_embed_headers output root)
  set(text "// Made by the build of the headers themselves.\n#include \"backend/cuda/runtime.h\"\n\nnamespace anydml::cuda {\n\nconst RuntimeHeader kRuntimeHeaders[] = {\n")
  foreach(header ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/${header})
    file(READ ${root}/${header} content)
    string(REGEX REPLACE "^.*/shims/" "" name ${header})
    string(APPEND text "    {\"${name}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  string(APPEND text "};\nconst std::size_t kRuntimeHeaderCount = sizeof(kRuntimeHeaders) / sizeof(kRuntimeHeaders[0]);\n\n}  // namespace anydml::cuda\n")
  file(GENERATE OUTPUT ${output} CONTENT "${text}")
endfunction()

# Those that kernels are made of which are compiled while a program runs.
function(anydml_runtime_headers root result)
  file(GLOB scalars CONFIGURE_DEPENDS RELATIVE ${root} ${root}/ops/scalar/*.h ${root}/ops/scalar/functions/*.h
    ${root}/ops/reduce/scalar/*.h ${root}/ops/product/scalar/*.h)
  file(GLOB shims CONFIGURE_DEPENDS RELATIVE ${root} ${root}/backend/cuda/shims/*)
  list(FILTER shims EXCLUDE REGEX "\\.md$")
  set(elementwise launch_device.cuh entry_device.cuh variant_lists.h traits.h fused_device.cuh)
  list(TRANSFORM elementwise PREPEND ops/elementwise/cuda/)
  set(reduce launch.h values.cuh along.cuh across.cuh combine.cuh)
  list(TRANSFORM reduce PREPEND ops/reduce/cuda/)
  set(product ops/product/cuda/launch.h ops/product/cuda/tiles.cuh)
  set(${result} base/element.h base/float_bits.h base/scalar.h backend/cuda/fast_divisor.h backend/cuda/kernels/bits.h
    backend/cuda/kernels/device.cuh ops/reduce/functions.h ops/reduce/reduce.def
    ${elementwise} ${reduce} ${product} ${scalars} ${shims} PARENT_SCOPE)
endfunction()
