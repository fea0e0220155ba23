# SPDX-License-Identifier: MIT
if(NOT ANYDML_SANITIZE)  # facts_test only reads tables and allocates no memory
  anydml_test(facts_test LIBRARIES anydml_elementwise)
  target_compile_definitions(facts_test PRIVATE ANYDML_HEADER="${PROJECT_SOURCE_DIR}/include/anydml/DirectML.h")
endif()
anydml_test(schema_test NO_RACES LIBRARIES anydml_schema)
if(TARGET schema_test)
  target_sources(schema_test PRIVATE schema/documented_examples_test.cpp)
endif()
anydml_test(rules_test NO_RACES LIBRARIES anydml_schema)
anydml_test(infer_test NO_RACES LIBRARIES anydml_schema)
if(TARGET infer_test)
  target_sources(infer_test PRIVATE support/random_operator.cpp)
  target_compile_definitions(infer_test PRIVATE
    ANYDML_INFERRED_OUTPUTS="${PROJECT_SOURCE_DIR}/data/facts/inferred_outputs.txt")
  if(ANYDML_SANITIZE)  # the table of all operators takes most of a minute, and the other tests run the same code
    set_tests_properties(infer_test PROPERTIES ENVIRONMENT GTEST_FILTER=-Infer.GivesTheOutputsOfRandomOperators*)
  endif()
endif()
