# SPDX-License-Identifier: MIT
# What a build needs is looked for when it is configured, and what is missing is said then, with the name of a package:
# a compiler or a linker would say it later, and in words that help nobody.

# anydml_need(WHAT PACKAGE REMEDY variables...): stops where one of the variables is not true.
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
