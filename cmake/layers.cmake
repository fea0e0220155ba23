# SPDX-License-Identifier: MIT
# A layer is a folder of src/. It sees the headers of the layers it names and no others: each layer's include folder holds
# nothing but a link to that layer, so an include that goes the wrong way fails to compile.

add_library(anydml_options INTERFACE)
target_compile_features(anydml_options INTERFACE cxx_std_20 c_std_11)
target_compile_options(anydml_options INTERFACE
  # Exact code: a product and a sum are two roundings unless a fused operation is written by name.
  -ffp-contract=off
  # Thread-local storage that is there from a thread's start: what a library loaded by dlopen has otherwise is allocated
  # at its first use, where glibc ends the process if there is no memory. A test keeps it small.
  -ftls-model=initial-exec
  -fvisibility=hidden
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -Wnon-virtual-dtor -Wold-style-cast>
  # g++ 12 sees overlaps in std::string's own code where a literal is put before one.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
# Not with sanitizers: their instrumentation makes g++ warn of bounds that are kept.
if(ANYDML_WARNINGS_AS_ERRORS AND NOT ANYDML_SANITIZE)
  target_compile_options(anydml_options INTERFACE -Werror)
endif()
if(ANYDML_SANITIZE)
  # Not enum: programs pass any number as an enumeration of the DirectML API, and the tests do. The compilers used here
  # give an enumeration every value of its underlying type, and each one is checked before it is used.
  target_compile_definitions(anydml_options INTERFACE _GLIBCXX_ASSERTIONS)  # empty optionals, ends of spans
  target_compile_options(anydml_options INTERFACE -fsanitize=${ANYDML_SANITIZE} -fno-sanitize=enum
                                                  -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(anydml_options INTERFACE -fsanitize=${ANYDML_SANITIZE})
endif()

# anydml_layer(NAME SOURCES ... DEPENDS other layers); instead of the sources HEADERS_ONLY, or HEADERS_OF another folder
function(anydml_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 LAYER HEADERS_ONLY HEADERS_OF "SOURCES;DEPENDS")
  set(folder ${name})
  if(LAYER_HEADERS_OF)
    set(folder ${LAYER_HEADERS_OF})
  endif()
  set(view ${PROJECT_BINARY_DIR}/layers/${folder})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)
  list(TRANSFORM LAYER_DEPENDS PREPEND anydml_)
  if(LAYER_HEADERS_ONLY OR LAYER_HEADERS_OF)
    add_library(anydml_${name} INTERFACE)
    target_include_directories(anydml_${name} INTERFACE ${view})
    target_link_libraries(anydml_${name} INTERFACE anydml_options ${LAYER_DEPENDS})
    return()
  endif()
  list(TRANSFORM LAYER_SOURCES PREPEND ${name}/)
  add_library(anydml_${name} STATIC ${LAYER_SOURCES})
  set_target_properties(anydml_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_include_directories(anydml_${name} PUBLIC ${view})
  target_link_libraries(anydml_${name} PUBLIC anydml_options ${LAYER_DEPENDS})
endfunction()
