# SPDX-License-Identifier: MIT
# Tests for the code around the CUDA kernels. They need the CUDA headers, but neither a GPU nor nvcc.
if(NOT ANYDML_SANITIZE)
  find_package(CUDAToolkit QUIET)
endif()
if(CUDAToolkit_FOUND)
  set(elementwise_cuda ${PROJECT_SOURCE_DIR}/src/ops/elementwise/cuda)
  set(fused_source ${elementwise_cuda}/fused_source.cpp ${elementwise_cuda}/fused_launch.cpp
                   ${elementwise_cuda}/inlined.cpp)
  include(${PROJECT_SOURCE_DIR}/cmake/cuda_families.cmake)
  anydml_runtime_headers(runtime_headers)
  anydml_embed_headers(${CMAKE_CURRENT_BINARY_DIR}/runtime_headers.cpp ${runtime_headers})
  foreach(test prepare_test half_step_test)
    anydml_test(${test} LIBRARIES anydml_graph anydml_elementwise ${CMAKE_DL_LIBS})
  endforeach()
  foreach(test fused_test joined_test)
    anydml_test(${test} LABELS long LIBRARIES anydml_graph anydml_elementwise ${CMAKE_DL_LIBS})
  endforeach()
  foreach(test prepare_test half_step_test fused_test joined_test)
    target_include_directories(${test} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/src)
  endforeach()
  # The test's driver is a library with the name of NVIDIA's driver. It is loaded before that name is first looked up.
  add_library(runtime_driver SHARED cuda/runtime_driver.cpp)
  set_target_properties(runtime_driver PROPERTIES CXX_EXTENSIONS OFF OUTPUT_NAME cuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/runtime_driver)
  target_include_directories(runtime_driver PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(runtime_driver PRIVATE cxx_std_20)
  anydml_test(runtime_test LIBRARIES runtime_driver ${CMAKE_DL_LIBS})
  target_include_directories(runtime_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/src)
  target_sources(runtime_test PRIVATE ${PROJECT_SOURCE_DIR}/src/backend/cuda/runtime_compile.cpp
    ${PROJECT_SOURCE_DIR}/src/backend/cuda/runtime_kernels.cpp ${CMAKE_CURRENT_BINARY_DIR}/runtime_headers.cpp)
  if(TARGET CUDA::cudart_static)
    anydml_test(queue_test LIBRARIES anydml_plan CUDA::cudart_static)
    target_include_directories(queue_test SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_sources(queue_test PRIVATE ${PROJECT_SOURCE_DIR}/src/backend/cuda/queue.cpp
      ${PROJECT_SOURCE_DIR}/src/backend/cuda/recordings.cpp)
  endif()
  target_sources(prepare_test PRIVATE ${elementwise_cuda}/prepare.cpp ${elementwise_cuda}/code.cpp ${fused_source})
  set_source_files_properties(${elementwise_cuda}/fused_launch.cpp PROPERTIES COMPILE_OPTIONS -Wno-sign-conversion)
  add_test(NAME fused_test_of_all_entries COMMAND fused_test)
  set_tests_properties(fused_test_of_all_entries PROPERTIES LABELS exhaustive ENVIRONMENT ANYDML_TEST_ALL_ENTRIES=1)
  target_sources(fused_test PRIVATE ${PROJECT_SOURCE_DIR}/src/backend/cuda/runtime_compile.cpp ${fused_source}
                                    ${CMAKE_CURRENT_BINARY_DIR}/runtime_headers.cpp)
  set(reduce_cuda ${PROJECT_SOURCE_DIR}/src/ops/reduce/cuda)
  set(product_cuda ${PROJECT_SOURCE_DIR}/src/ops/product/cuda)
  target_sources(half_step_test PRIVATE ${product_cuda}/half.cpp)
  target_sources(joined_test PRIVATE
    ${PROJECT_SOURCE_DIR}/src/backend/cuda/program.cpp ${PROJECT_SOURCE_DIR}/src/backend/cuda/runtime_compile.cpp
    ${fused_source} ${reduce_cuda}/family.cpp ${reduce_cuda}/joined_source.cpp
    ${product_cuda}/family.cpp ${product_cuda}/convolution.cpp ${product_cuda}/double.cpp ${product_cuda}/integer.cpp
    ${product_cuda}/integer_windows.cpp ${product_cuda}/run.cpp
    ${CMAKE_CURRENT_BINARY_DIR}/runtime_headers.cpp)
endif()
# The same programs run on a GPU if one is available. Otherwise they are skipped with a reason. scripts/gpu.sh runs more
# tests.
if(TARGET anydml_cuda AND ANYDML_BUILD_DIRECTML AND ANYDML_BUILD_EXAMPLES)
  foreach(test ${tests_on_cuda} device_conformance api_test layout_test sweep_test d3d12_test directml_test threads_test
               asynchronous_test conformance_test graph_test graph_joins_test random_networks_test random_graphs_test networks_test)
    add_test(NAME ${test}_on_cuda COMMAND ${CMAKE_CURRENT_LIST_DIR}/on_gpu.sh $<TARGET_FILE:anydml_cuda>
                                          $<TARGET_FILE:directml_modulus> $<TARGET_FILE:${test}>)
    set_tests_properties(${test}_on_cuda PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
      ENVIRONMENT "ANYDML_SWEEP_PAIRS=4194304")
  endforeach()
  if(ANYDML_NUMPY_PYTHON AND NOT ANYDML_SANITIZE)
    foreach(oracle ${oracles_on_cuda})
      add_test(NAME ${oracle}_on_cuda
        COMMAND ${CMAKE_CURRENT_LIST_DIR}/on_gpu.sh $<TARGET_FILE:anydml_cuda> $<TARGET_FILE:directml_modulus>
                ${ANYDML_NUMPY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/ops/${oracle}.py $<TARGET_FILE:anydml>)
      set_tests_properties(${oracle}_on_cuda PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
    endforeach()
  endif()
endif()
