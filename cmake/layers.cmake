# SPDX-License-Identifier: MIT
# A layer is a folder of src/. It sees only the headers of the layers it names: each layer's include folder contains
# only a link to that layer, so an include in the wrong direction fails to compile. The layers are also written to a
# table (layers.json in the build folder), which tests/tree/layers_test.py compares with the sources.

# Without this, CMake would allow layers, which are static libraries, to depend on each other in a cycle. A project that
# includes this one makes its own choice.
if(PROJECT_IS_TOP_LEVEL)
  set_property(GLOBAL PROPERTY GLOBAL_DEPENDS_NO_CYCLES ON)
endif()

# With -O3, the libraries are about 10 % faster, both in kernels and in calls with few elements. Programs and tests
# would gain nothing and take a third longer to compile.
set(anydml_library_options)
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  set(anydml_library_options $<$<CONFIG:Release>:-O3>)
endif()

add_library(anydml_options INTERFACE)
target_compile_features(anydml_options INTERFACE cxx_std_20 c_std_11)
target_compile_options(anydml_options INTERFACE
  # For exact results, a product and a sum round separately unless the code calls a fused operation.
  -ffp-contract=off
  # Thread-local storage must be allocated when a thread starts. Otherwise a library loaded by dlopen allocates the
  # storage at its first use, and glibc ends the process if there is no memory. A test ensures that the storage stays
  # small.
  -ftls-model=initial-exec
  -fvisibility=hidden
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -Wnon-virtual-dtor -Wold-style-cast>
  # g++ 12 reports overlaps inside std::string if a literal is prepended to a string.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  # clang 19 warns that libstdc++ 12 uses one of its own deprecated functions, and about loops that it did not
  # vectorize.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations -Wno-pass-failed>)
# The kernels of the other instruction sets are left out: the build takes a third less time, and the library runs with the
# portable kernels on a machine that lacks this one's best instruction set. Machines with Arm have a single one.
set(anydml_left_out)
if(ANYDML_ONE_TARGET)
  set(anydml_cpu_flags)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND EXISTS /proc/cpuinfo AND NOT CMAKE_CROSSCOMPILING)
    file(STRINGS /proc/cpuinfo anydml_cpu_flags REGEX "^flags[ \t]*:" LIMIT_COUNT 1)
  endif()
  # The extensions that machine_targets() in src/backend/cpu/target.cpp requires.
  set(anydml_best AVX512)
  foreach(extension avx2 fma f16c bmi1 bmi2 avx512f avx512vl avx512dq avx512bw avx512cd)
    if(NOT anydml_cpu_flags MATCHES " ${extension}( |$)")
      set(anydml_best NONE)
      if(extension MATCHES "^avx512")
        set(anydml_best AVX2)
      endif()
      break()
    endif()
  endforeach()
  if(anydml_best STREQUAL AVX512)
    set(anydml_left_out ANYDML_WITHOUT_AVX2)
  elseif(anydml_best STREQUAL AVX2)
    set(anydml_left_out ANYDML_WITHOUT_AVX512)
  endif()
endif()
# With sanitizer instrumentation, g++ warns about bounds that the code does respect.
if(ANYDML_WARNINGS_AS_ERRORS AND NOT ANYDML_SANITIZE)
  target_compile_options(anydml_options INTERFACE -Werror)
endif()
if(ANYDML_SANITIZE)
  # The enum check is left out, because programs and tests pass arbitrary numbers as enumerations of the DirectML API.
  # With the compilers used here, an enumeration can have every value of its underlying type, and each value is checked
  # before it is used. The checks for null pointers and object sizes are left out too: AddressSanitizer reports such
  # accesses when they happen, and building with these checks takes a tenth longer.
  target_compile_definitions(anydml_options INTERFACE _GLIBCXX_ASSERTIONS)  # checks optionals and spans
  target_compile_options(anydml_options INTERFACE -fsanitize=${ANYDML_SANITIZE} -fno-sanitize=enum,null,object-size
                                                  -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(anydml_options INTERFACE -fsanitize=${ANYDML_SANITIZE})
endif()

# anydml_note_layer(NAME FOLDER folder [FILES headers] [SOURCES ...] [DEPENDS ...] [USES ...] [LINKS ...] [SEES paths ...]
#                   [TARGET target])
# adds a line to the table of layers; a name may have several lines. SEES: additional files and folders in src/ that the
# layer may include, for layers whose build lists paths instead of layers. TARGET: the layer's library.
function(anydml_note_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 LAYER "" "FOLDER;TARGET" "FILES;SOURCES;DEPENDS;USES;LINKS;SEES")
  set(archive)
  if(LAYER_TARGET)
    set(archive $<TARGET_FILE:${LAYER_TARGET}>)
  endif()
  set(line "{\"name\": \"${name}\", \"folder\": \"${LAYER_FOLDER}\", \"archive\": \"${archive}\"")
  foreach(key FILES SOURCES DEPENDS USES LINKS SEES)
    set(words ${LAYER_${key}})
    list(TRANSFORM words REPLACE "(.+)" "\"\\1\"")
    list(JOIN words ", " words)
    string(TOLOWER ${key} key)
    string(APPEND line ", \"${key}\": [${words}]")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY anydml_layers ",\n  ${line}}")
endfunction()

function(anydml_write_layers path)
  get_property(lines GLOBAL PROPERTY anydml_layers)
  string(SUBSTRING "${lines}" 1 -1 lines)
  file(GENERATE OUTPUT ${path} CONTENT "[${lines}\n]\n")
endfunction()

# anydml_layer(NAME [FOLDER folder] [FILES headers] [SOURCES ...] [DEPENDS layers] [USES layers] [LINKS layers])
# FOLDER: the folder of the layer's sources, below src/; by default src/NAME. All headers there are visible, or only the
# headers in FILES. Without sources, the layer consists only of headers.
# DEPENDS: layers whose headers the layer's own headers include. USES: layers that only its sources include. LINKS:
# layers that define functions declared in this layer; their headers are not visible to it.
function(anydml_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 LAYER "" FOLDER "FILES;SOURCES;DEPENDS;USES;LINKS")
  set(folder ${name})
  if(LAYER_FOLDER)
    set(folder ${LAYER_FOLDER})
  endif()
  set(source ${PROJECT_SOURCE_DIR}/src/${folder})
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  set(library)
  if(LAYER_SOURCES)
    set(library TARGET anydml_${name})
  endif()
  anydml_note_layer(${name} FOLDER ${folder} FILES ${LAYER_FILES} SOURCES ${LAYER_SOURCES} DEPENDS ${LAYER_DEPENDS}
    USES ${LAYER_USES} LINKS ${LAYER_LINKS} ${library})
  # An old build folder may contain deleted headers. It may also contain a link to a whole folder, and files created
  # below the link would end up in the source tree.
  file(REMOVE_RECURSE ${view})
  if(LAYER_FILES)
    file(MAKE_DIRECTORY ${view}/${folder})
    foreach(header ${LAYER_FILES})
      file(CREATE_LINK ${source}/${header} ${view}/${folder}/${header} SYMBOLIC)
    endforeach()
  else()
    get_filename_component(above ${view}/${folder} DIRECTORY)
    file(MAKE_DIRECTORY ${above})
    file(CREATE_LINK ${source} ${view}/${folder} SYMBOLIC)
  endif()
  list(TRANSFORM LAYER_DEPENDS PREPEND anydml_)
  list(TRANSFORM LAYER_USES PREPEND anydml_)
  list(TRANSFORM LAYER_LINKS REPLACE "(.+)" "$<LINK_ONLY:anydml_\\1>")
  if(NOT LAYER_SOURCES)
    add_library(anydml_${name} INTERFACE)
    target_include_directories(anydml_${name} INTERFACE ${view})
    target_link_libraries(anydml_${name} INTERFACE anydml_options ${LAYER_DEPENDS} ${LAYER_LINKS})
    return()
  endif()
  list(TRANSFORM LAYER_SOURCES PREPEND ${source}/)
  add_library(anydml_${name} STATIC ${LAYER_SOURCES})
  set_target_properties(anydml_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_compile_options(anydml_${name} PRIVATE ${anydml_library_options})
  if(name MATCHES "_cpu$|^backend$")  # other files need not be compiled again if the option changes
    target_compile_definitions(anydml_${name} PRIVATE ${anydml_left_out})
  endif()
  # Kernel files are already long, and the layers that every call passes through are a few nanoseconds faster if their
  # files are compiled separately, which builds for tests do not need. A test replaces the operator table of `operators`.
  set(separate "_cpu$|^operators$")
  if(anydml_library_options AND NOT ANYDML_SANITIZE)
    string(APPEND separate "|^(base|plan|backend|capi)$")
  endif()
  if(NOT name MATCHES "${separate}")
    set_target_properties(anydml_${name} PROPERTIES UNITY_BUILD ${ANYDML_UNITY})
  endif()
  target_include_directories(anydml_${name} PUBLIC ${view})
  target_link_libraries(anydml_${name} PUBLIC anydml_options ${LAYER_DEPENDS} PRIVATE ${LAYER_USES}
                                       INTERFACE ${LAYER_LINKS})
endfunction()

# anydml_family(NAME SOURCES ... CPU ... [BUILDS_ON families] [USES layers]): a folder in src/ops. SOURCES define its
# operators; CPU are its CPU kernels, which see only the interface of the CPU backend. Families share the scalar
# definitions. A family sees another family only if it builds on it: then its sources see that family's headers, and its
# CPU kernels see that family's CPU kernels. recurrent and attention build on product.
function(anydml_family name)
  cmake_parse_arguments(PARSE_ARGV 1 FAMILY "" "" "SOURCES;CPU;BUILDS_ON;USES")
  anydml_layer(${name} FOLDER ops/${name} SOURCES ${FAMILY_SOURCES} DEPENDS ops scalar
    USES text ${FAMILY_BUILDS_ON} ${FAMILY_USES})
  list(TRANSFORM FAMILY_BUILDS_ON APPEND _cpu)
  anydml_layer(${name}_cpu FOLDER ops/${name}/cpu SOURCES ${FAMILY_CPU} DEPENDS ${name} cpu_family
    USES ${FAMILY_BUILDS_ON})
endfunction()
