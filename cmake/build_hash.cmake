# SPDX-License-Identifier: MIT
# One number for everything that crosses from one of our libraries to another: the text of the headers that say how it
# is laid out and what it means. Each library has the number that it was built with, and refuses the others' tables when
# theirs is another. It is made by the build, so that nobody can forget to change it.
#
#   include(cmake/build_hash.cmake)
#   anydml_build_hash(target)      # the target, and what is linked to it, may include "anydml_build/hash.h"

set(anydml_hash_script ${CMAKE_CURRENT_LIST_FILE})
get_filename_component(anydml_hash_source ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

function(anydml_crossing_headers result)
  set(found)
  set(again CONFIGURE_DEPENDS)
  if(CMAKE_SCRIPT_MODE_FILE)
    set(again)
  endif()
  foreach(folder base com facts ops schema plan)
    file(GLOB_RECURSE here RELATIVE ${anydml_hash_source} ${again}
      ${anydml_hash_source}/src/${folder}/*.h ${anydml_hash_source}/src/${folder}/*.def)
    list(FILTER here EXCLUDE REGEX "/cuda/")  # the plugin's own kernels
    list(APPEND found ${here})
  endforeach()
  file(GLOB here RELATIVE ${anydml_hash_source} ${again} ${anydml_hash_source}/src/backend/*.h)
  list(APPEND found ${here} src/d3d12/bridge.h)
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(anydml_build_hash target)
  anydml_crossing_headers(headers)
  list(TRANSFORM headers PREPEND ${anydml_hash_source}/)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  set(header ${folder}/anydml_build/hash.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DANYDML_HASH_OUTPUT=${header} -P ${anydml_hash_script}
    DEPENDS ${headers} ${anydml_hash_script}
    COMMENT "the hash of what crosses between libraries" VERBATIM)
  add_custom_target(${target}_hash DEPENDS ${header})
  add_dependencies(${target} ${target}_hash)
  target_include_directories(${target} PUBLIC ${folder})
endfunction()

if(ANYDML_HASH_OUTPUT)  # run as a script
  cmake_minimum_required(VERSION 3.25)
  anydml_crossing_headers(headers)
  set(all "")
  foreach(name ${headers})
    file(SHA256 ${anydml_hash_source}/${name} one)
    string(APPEND all "${name} ${one}\n")
  endforeach()
  string(SHA256 sum "${all}")
  string(SUBSTRING ${sum} 0 16 number)
  file(CONFIGURE OUTPUT ${ANYDML_HASH_OUTPUT} @ONLY CONTENT
"// Made by cmake/build_hash.cmake.
#pragma once

#include <cstdint>

namespace anydml {

inline constexpr std::uint64_t kBuildHash = 0x@number@;

}  // namespace anydml
")
endif()
