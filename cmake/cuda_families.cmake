# SPDX-License-Identifier: MIT
# The CUDA side of the families of src/ops, and the include paths that enforce the layers there: as in layers.cmake, a
# target's include path holds links to the headers that it may see and nothing else. These functions stand alone, because
# the CUDA plugin is a project of its own.
#
# A family has kernels here if its folder has cuda/*.cu or cuda/*.cpp. If it needs more than that, cuda/family.cmake sets
#   runtime_headers    the headers that its source for NVRTC includes, relative to the family's folder
#   instance_files     the number of files that the build writes to instantiate templates, and
#   instance_text      the content of each; @instance@ in it is the number of the file. ANYDML_INSTANCE_FILES is how many

get_filename_component(anydml_cuda_source ${CMAKE_CURRENT_LIST_DIR}/../src ABSOLUTE)

function(anydml_cuda_family_names result)
  set(def ${anydml_cuda_source}/ops/families.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${def})
  file(STRINGS ${def} families REGEX "^ANYDML_FAMILY\\(")
  list(TRANSFORM families REPLACE "^ANYDML_FAMILY\\(([a-z_]+)\\).*" "\\1")
  set(${result} ${families} PARENT_SCOPE)
endfunction()

# Sets the variables of a family's cuda/family.cmake in the caller's scope.
macro(anydml_read_cuda_family name)
  set(runtime_headers)
  set(instance_files 0)
  set(instance_text)
  include(${anydml_cuda_source}/ops/${name}/cuda/family.cmake OPTIONAL)
endmacro()

# anydml_cuda_see(TARGET NAME PATHS...): the target may include these files and folders of src/. NAME is that of the
# folder with the links to them.
function(anydml_cuda_see target name)
  set(view ${CMAKE_CURRENT_BINARY_DIR}/cuda_layers/${name})
  foreach(path ${ARGN})
    get_filename_component(above ${view}/${path} DIRECTORY)
    file(MAKE_DIRECTORY ${above})
    file(CREATE_LINK ${anydml_cuda_source}/${path} ${view}/${path} SYMBOLIC)
  endforeach()
  target_include_directories(${target} PRIVATE ${view})
endfunction()

# The interface between the CUDA backend and a family, and what kernels of every family are built from.
set(anydml_cuda_interface base facts plan backend/joined_steps.h backend/small_tasks.h
  backend/cuda/family.h backend/cuda/runtime.h backend/cuda/machine.h backend/cuda/fast_divisor.h
  backend/cuda/cublaslt.h backend/cuda/on_device.h
  backend/cuda/kernels/bits.h backend/cuda/kernels/device.cuh backend/cuda/kernels/indices.cuh)
# What the backend itself sees, which is no family.
set(anydml_cuda_backend base plan backend/backend.h backend/joined_steps.h backend/small_tasks.h backend/cuda)

function(anydml_cuda_see_interface target)
  anydml_cuda_see(${target} interface ${anydml_cuda_interface})
endfunction()

# The same for the table of layers (layers.cmake), which is written whether the plugin is built or not.
function(anydml_note_cuda_layers)
  anydml_note_layer(cuda FOLDER backend/cuda SEES ${anydml_cuda_backend})
  anydml_note_layer(operators_cuda FOLDER ops FILES families.def SOURCES cuda_families.cpp SEES ${anydml_cuda_interface})
  anydml_cuda_family_names(families)
  foreach(family ${families})
    anydml_note_layer(${family}_cuda FOLDER ops/${family}/cuda SEES ${anydml_cuda_interface} ops/scalar ops/${family})
  endforeach()
endfunction()

# anydml_cuda_family(NAME INTO): the kernels of a family, which see the interface, the scalar definitions and their own
# folder. They become part of the target INTO.
function(anydml_cuda_family name into)
  set(folder ${anydml_cuda_source}/ops/${name}/cuda)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu ${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  anydml_read_cuda_family(${name})
  set(instance 0)
  while(instance LESS instance_files)
    set(path ${CMAKE_CURRENT_BINARY_DIR}/ops/${name}/cuda/instance_${instance}.cu)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT "// The build wrote this file (cmake/cuda_families.cmake).\n${instance_text}")
    list(APPEND sources ${path})
    math(EXPR instance "${instance} + 1")
  endwhile()
  set(target anydml_cuda_${name})
  add_library(${target} OBJECT ${sources})
  target_compile_definitions(${target} PRIVATE ANYDML_INSTANCE_FILES=${instance_files})
  anydml_cuda_see_interface(${target})
  anydml_cuda_see(${target} scalar ops/scalar)
  anydml_cuda_see(${target} ${name} ops/${name})
  target_link_libraries(${target} PRIVATE anydml_cuda_options)
  target_link_libraries(${into} PRIVATE ${target})
endfunction()

# The headers that kernels compiled while a program runs may include, relative to src/: the backend's own, the scalar
# definitions, and those that each family names.
function(anydml_runtime_headers result)
  file(GLOB scalars CONFIGURE_DEPENDS RELATIVE ${anydml_cuda_source}
    ${anydml_cuda_source}/ops/scalar/*.h ${anydml_cuda_source}/ops/scalar/functions/*.h)
  file(GLOB shims CONFIGURE_DEPENDS RELATIVE ${anydml_cuda_source} ${anydml_cuda_source}/backend/cuda/shims/*)
  list(FILTER shims EXCLUDE REGEX "\\.md$")
  set(all base/integers.h base/primitives.h base/float_formats.h base/element.h base/float_bits.h base/scalar.h
    backend/cuda/fast_divisor.h backend/cuda/kernels/bits.h backend/cuda/kernels/device.cuh ${scalars} ${shims})
  anydml_cuda_family_names(families)
  foreach(family ${families})
    anydml_read_cuda_family(${family})
    list(TRANSFORM runtime_headers PREPEND ops/${family}/)
    list(APPEND all ${runtime_headers})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

# anydml_embed_headers(OUTPUT HEADERS...): writes a C++ file that holds these headers' text, each under the name by which
# others include it. They are compiled again while a program runs.
function(anydml_embed_headers output)
  set(text "// The build wrote this file from the headers themselves.\n#include \"backend/cuda/runtime.h\"\n\nnamespace anydml::cuda {\n\nconst RuntimeHeader kRuntimeHeaders[] = {\n")
  foreach(header ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${anydml_cuda_source}/${header})
    file(READ ${anydml_cuda_source}/${header} content)
    string(REGEX REPLACE "^.*/shims/" "" name ${header})
    string(APPEND text "    {\"${name}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  string(APPEND text "};\nconst std::size_t kRuntimeHeaderCount = sizeof(kRuntimeHeaders) / sizeof(kRuntimeHeaders[0]);\n\n}  // namespace anydml::cuda\n")
  file(GENERATE OUTPUT ${output} CONTENT "${text}")
endfunction()
