# SPDX-License-Identifier: MIT
# Dependencies are checked when the build is configured, and a missing dependency is reported with the name of its
# package. A compiler or linker would report it later and less clearly.

# anydml_need(WHAT PACKAGE REMEDY variables...): stops if one of the variables is not true.
function(anydml_need what package remedy)
  foreach(variable ${ARGN})
    if(NOT ${variable})
      if(remedy)
        set(remedy " Install it, or ${remedy}")
      endif()
      message(FATAL_ERROR "${what} is missing (Debian: ${package}).${remedy}")
    endif()
  endforeach()
endfunction()
