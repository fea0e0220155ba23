# SPDX-License-Identifier: MIT
# Kernels are templates over many definitions and types. The build writes the files that instantiate them, so that each
# file compiles in seconds and nobody keeps count of the files by hand.

# anydml_entry_files(RESULT TARGET DEF): writes C++ files that compile the CPU kernels of the entries in DEF, a few in
# each, adds them to TARGET and returns their paths. Entries are dealt to the files in turn: neighbours are alike and cost
# about the same, so the files do too. src/ops/elementwise/cpu/entry_file-inl.h says what a file holds.
function(anydml_entry_files result target def)
  set(entries_per_file 8)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${def})
  file(STRINGS ${def} entries REGEX "^ANYDML_(INTERNAL_)?(TYPED_)?ENTRY\\(")
  list(TRANSFORM entries REPLACE "^ANYDML_[A-Z_]*ENTRY\\((.*)\\).*" "ENTRY(\\1)")
  list(LENGTH entries entry_count)
  math(EXPR last_entry "${entry_count} - 1")
  math(EXPR last_file "${last_entry} / ${entries_per_file}")
  math(EXPR file_count "${last_file} + 1")
  set(files)
  foreach(number RANGE ${last_file})
    set(entries_of_file)
    foreach(entry RANGE ${number} ${last_entry} ${file_count})
      list(GET entries ${entry} text)
      string(APPEND entries_of_file " \\\n  ${text}")
    endforeach()
    set(path ${CMAKE_CURRENT_BINARY_DIR}/entries_${number}.cpp)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
"// The build wrote this file (cmake/kernel_files.cmake).
#define ANYDML_ENTRY_FILE @number@
#define ANYDML_ENTRIES_OF_FILE(ENTRY)@entries_of_file@
#include \"ops/elementwise/cpu/entry_file-inl.h\"
")
    list(APPEND files ${path})
  endforeach()
  target_sources(${target} PRIVATE ${files})
  target_compile_definitions(${target} PRIVATE ANYDML_ENTRY_FILES=${file_count})
  set(${result} ${files} PARENT_SCOPE)
endfunction()
