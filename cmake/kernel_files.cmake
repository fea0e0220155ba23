# SPDX-License-Identifier: MIT
# Kernels are templates over many definitions and types. The build writes the files that instantiate them, so that each
# file compiles in seconds and nobody keeps count of the files by hand.

# anydml_row_files(RESULT TARGET DEF): writes C++ files that compile the CPU kernels of the rows in DEF, a few rows each,
# adds them to TARGET and returns their paths. Rows are dealt to the files in turn: neighbours are alike and cost about
# the same, so the files do too. src/ops/elementwise/cpu/row_file-inl.h says what a file holds.
function(anydml_row_files result target def)
  set(rows_per_file 8)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${def})
  file(STRINGS ${def} rows REGEX "^ANYDML_(INTERNAL_)?(TYPED_)?ROW\\(")
  list(TRANSFORM rows REPLACE "^ANYDML_[A-Z_]*ROW\\((.*)\\).*" "ROW(\\1)")
  list(LENGTH rows row_count)
  math(EXPR last_row "${row_count} - 1")
  math(EXPR last_file "${last_row} / ${rows_per_file}")
  math(EXPR file_count "${last_file} + 1")
  set(files)
  foreach(number RANGE ${last_file})
    set(rows_of_file)
    foreach(row RANGE ${number} ${last_row} ${file_count})
      list(GET rows ${row} text)
      string(APPEND rows_of_file " \\\n  ${text}")
    endforeach()
    set(path ${CMAKE_CURRENT_BINARY_DIR}/rows_${number}.cpp)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
"// The build wrote this file (cmake/kernel_files.cmake).
#define ANYDML_ROW_FILE @number@
#define ANYDML_ROWS_OF_FILE(ROW)@rows_of_file@
#include \"ops/elementwise/cpu/row_file-inl.h\"
")
    list(APPEND files ${path})
  endforeach()
  target_sources(${target} PRIVATE ${files})
  target_compile_definitions(${target} PRIVATE ANYDML_ROW_FILES=${file_count})
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# anydml_cuda_kernel_files(TARGET): writes the CUDA files that compile the element-wise kernels, and adds them to TARGET.
# src/ops/elementwise/cuda/kernel_file.cuh deals the variants of the rows to them.
function(anydml_cuda_kernel_files target)
  set(file_count 12)
  math(EXPR last_file "${file_count} - 1")
  foreach(number RANGE ${last_file})
    set(path ${CMAKE_CURRENT_BINARY_DIR}/ops/elementwise/cuda/kernels_${number}.cu)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
"// The build wrote this file (cmake/kernel_files.cmake).
#include \"ops/elementwise/cuda/kernel_file.cuh\"

template const anydml::cuda::KernelSet* anydml::cuda::find_in_file<@number@>(RowId, bool, std::uint32_t) noexcept;
")
    target_sources(${target} PRIVATE ${path})
  endforeach()
  target_compile_definitions(${target} PRIVATE ANYDML_CUDA_KERNEL_FILES=${file_count})
endfunction()
