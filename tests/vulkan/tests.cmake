# SPDX-License-Identifier: MIT
# Tests of the Vulkan plugin. The first ones need Vulkan's headers, but no device. The others run programs of other
# folders on a device; without one, they are skipped with a reason. Software drivers like lavapipe are enough.
if(TARGET anydml_vulkan)
  set(vulkan_sources ${PROJECT_SOURCE_DIR}/src/backend/vulkan)
  anydml_test(vulkan_host_test LIBRARIES anydml_plan ${CMAKE_DL_LIBS})
  target_sources(vulkan_host_test PRIVATE ${vulkan_sources}/catalog.cpp ${vulkan_sources}/disk.cpp
    ${vulkan_sources}/loader.cpp)
  target_include_directories(vulkan_host_test SYSTEM PRIVATE ${VULKAN_INCLUDE_DIR} ${PROJECT_SOURCE_DIR}/src)

  # The linker of SPIR-V modules, and the kernels that are written with it.
  find_program(ANYDML_SPIRV_VAL spirv-val)
  anydml_test(spirv_test LIBRARIES anydml_elementwise anydml_scalar)
  file(GLOB spirv_sources CONFIGURE_DEPENDS ${vulkan_sources}/spirv/*.cpp)
  target_sources(spirv_test PRIVATE ${spirv_sources} ${PROJECT_SOURCE_DIR}/src/ops/elementwise/vulkan/element_kernel.cpp
    ${PROJECT_SOURCE_DIR}/src/ops/elementwise/vulkan/tables.cpp)
  target_include_directories(spirv_test SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(spirv_test PRIVATE
    ANYDML_VULKAN_FUNCTIONS="${PROJECT_BINARY_DIR}/src/backend/vulkan/vulkan_functions/functions.spv"
    ANYDML_VULKAN_SHADERS="${PROJECT_BINARY_DIR}/src/backend/vulkan/vulkan_shaders"
    ANYDML_SPIRV_VAL="$<$<BOOL:${ANYDML_SPIRV_VAL}>:${ANYDML_SPIRV_VAL}>")

  add_dependencies(spirv_test anydml_vulkan)  # which compiles the shaders

  # anydml_test_on_vulkan(NAME PROGRAM [argument ...])
  function(anydml_test_on_vulkan name program)
    add_test(NAME ${name}_on_vulkan COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/vulkan/on_vulkan.sh
      $<TARGET_FILE:anydml_vulkan> $<TARGET_FILE:device_conformance> $<TARGET_FILE:${program}> ${ARGN})
    set_tests_properties(${name}_on_vulkan PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 ENVIRONMENT ANYDML_THREADS=2)
    add_dependencies(${program} anydml_vulkan)
  endfunction()
  # Two tests fill all of the device's memory, which lavapipe takes from the CPU's.
  anydml_test_on_vulkan(device_conformance device_conformance --plugin $<TARGET_FILE:anydml_vulkan>
    --gtest_filter=-DeviceMemory.GivesAsMuchAsItHasAndThenRefuses:DeviceMemory.IsUsedAgainAfterItsRelease)
  # The same with dispatches and batches that are split as for a device with a watchdog.
  anydml_test_on_vulkan(split_programs device_conformance --plugin $<TARGET_FILE:anydml_vulkan>
    --gtest_filter=DevicePrograms.*)
  set_property(TEST split_programs_on_vulkan APPEND PROPERTY ENVIRONMENT ANYDML_VULKAN_OPERATIONS=20000)
  add_executable(vulkan_device_test vulkan/vulkan_device_test.cpp)
  set_target_properties(vulkan_device_test PROPERTIES CXX_EXTENSIONS OFF ENABLE_EXPORTS ON)  # its pthread_create
  target_link_libraries(vulkan_device_test PRIVATE anydml_options anydml_backend_table GTest::gtest ${CMAKE_DL_LIBS})
  target_compile_options(vulkan_device_test PRIVATE ${light})
  anydml_test_on_vulkan(vulkan_device vulkan_device_test $<TARGET_FILE:anydml_vulkan>)
  # Sums of products on a device whose fused multiply-add flushes subnormals, in large and small tiles, and on this one.
  add_executable(chains_test vulkan/chains_test.cpp)
  set_target_properties(chains_test PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(chains_test PRIVATE anydml_options anydml GTest::gtest_main)
  target_compile_options(chains_test PRIVATE ${light})
  anydml_test_on_vulkan(chains chains_test)
  foreach(tile 128x256 64x64)
    anydml_test_on_vulkan(chains_${tile} chains_test)
    set_property(TEST chains_${tile}_on_vulkan APPEND PROPERTY ENVIRONMENT ANYDML_VULKAN_PRIMITIVES=flushing
      ANYDML_VULKAN_TILE=${tile})
    set_tests_properties(chains_${tile}_on_vulkan PROPERTIES LABELS long TIMEOUT 1500)
  endforeach()
  # Lavapipe takes minutes to compile the largest tiles.
  set_tests_properties(chains_128x256_on_vulkan PROPERTIES LABELS exhaustive)
  # A device that is lost.
  if(TARGET asynchronous_test)
    anydml_test_on_vulkan(fault asynchronous_test --gtest_filter=AsynchronousFault.*)
    set_property(TEST fault_on_vulkan APPEND PROPERTY ENVIRONMENT ANYDML_VULKAN_FAILS=1)
  endif()
  # A case of each operator. lacks() answers for those that the device does not have.
  anydml_test_on_vulkan(operator_digests operator_digests --every 32)
  set_tests_properties(operator_digests_on_vulkan PROPERTIES LABELS long TIMEOUT 1500)
  # Families whose kernels are in GLSL: every edge, type and layout.
  foreach(family pool resample gradient scan fold regions random)
    anydml_test_on_vulkan(${family}_test ${family}_test)
    set_tests_properties(${family}_test_on_vulkan PROPERTIES LABELS long)
  endforeach()
  # Samples of other families and of networks. All of their tests, recurrent networks and random graphs, which take long
  # on software drivers, have the label exhaustive.
  # anydml_sample_on_vulkan(PROGRAM [argument ...])
  function(anydml_sample_on_vulkan program)
    if(TARGET ${program})
      anydml_test_on_vulkan(${program} ${program} ${ARGN})
      set_tests_properties(${program}_on_vulkan PROPERTIES LABELS long TIMEOUT 1500)
    endif()
  endfunction()
  anydml_sample_on_vulkan(attention_test)
  anydml_sample_on_vulkan(gather_test)
  anydml_sample_on_vulkan(sort_test --gtest_filter=Sort/0.*)
  anydml_sample_on_vulkan(moments_test --gtest_filter=Moments/FLOAT32.*-*Edge:*Large*)
  anydml_sample_on_vulkan(networks_test --gtest_filter=*SameBits*-*mobilenet)
  # A device whose fused multiply-add turns subnormal numbers into zeros: the guards of products, attention and networks.
  foreach(program attention_test recurrent_test)
    if(TARGET ${program})
      anydml_test_on_vulkan(${program}_flushing ${program})
      set_tests_properties(${program}_flushing_on_vulkan PROPERTIES LABELS exhaustive TIMEOUT 3600)
      set_property(TEST ${program}_flushing_on_vulkan APPEND PROPERTY ENVIRONMENT ANYDML_VULKAN_PRIMITIVES=flushing)
    endif()
  endforeach()
  foreach(program sort_test moments_test networks_test normalize_test reduce_test product_test quantize_test
                  training_test recurrent_test random_graphs_test random_networks_test)
    if(TARGET ${program})
      anydml_test_on_vulkan(${program}_in_full ${program})
      set_tests_properties(${program}_in_full_on_vulkan PROPERTIES LABELS exhaustive TIMEOUT 7200)
    endif()
  endforeach()
  # Sums in integers, as on a device whose floats are not exact.
  anydml_test_on_vulkan(digests_in_integers operator_digests --operator ELEMENT_WISE_ADD --every 4)
  set_property(TEST digests_in_integers_on_vulkan APPEND PROPERTY ENVIRONMENT ANYDML_VULKAN_PRIMITIVES=own)
endif()

# The archive of functions was made from the current sources.
add_test(NAME vulkan_functions
  COMMAND ${ANYDML_PYTHON} -B ${PROJECT_SOURCE_DIR}/data/vulkan/make_functions.py --check)
