# SPDX-License-Identifier: MIT
if(NOT ANYDML_SANITIZE)  # primitives_test only checks definitions, which allocate nothing
  # The definitions are compiled four times, with different primitives: primitives/definitions.h.
  anydml_test(primitives_test LABELS long LIBRARIES anydml_scalar)
  target_sources(primitives_test PRIVATE primitives/native_definitions.cpp primitives/native_like_a_gpu.cpp
    primitives/supplied_definitions.cpp primitives/supplied_like_a_gpu.cpp)
  set_target_properties(primitives_test PROPERTIES UNITY_BUILD OFF)
  target_include_directories(primitives_test PRIVATE primitives  # finds elementwise.def without linking the library
    $<TARGET_PROPERTY:anydml_elementwise,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(primitives_test PRIVATE
    ANYDML_HARDEST="${PROJECT_SOURCE_DIR}/data/functions/hardest.txt")
endif()
