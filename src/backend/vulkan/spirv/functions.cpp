// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/functions.h"

#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/vulkan/spirv/builder.h"
#include "backend/vulkan/spirv/primitives.h"

// ANYDML_VULKAN_FUNCTIONS is the path of the module.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".hidden anydml_vulkan_functions\n"
    ".globl anydml_vulkan_functions\n"
    "anydml_vulkan_functions:\n"
    ".incbin \"" ANYDML_VULKAN_FUNCTIONS
    "\"\n"
    ".hidden anydml_vulkan_functions_end\n"
    ".globl anydml_vulkan_functions_end\n"
    "anydml_vulkan_functions_end:\n"
    ".popsection\n");
extern "C" const std::uint32_t anydml_vulkan_functions[];
extern "C" const std::uint32_t anydml_vulkan_functions_end[];

namespace anydml::vulkan::spirv {

const Library& function_library() {
  static const Library library = [] {
    std::string why;
    auto read = Library::read({anydml_vulkan_functions, (reinterpret_cast<std::uintptr_t>(anydml_vulkan_functions_end) -
                                                         reinterpret_cast<std::uintptr_t>(anydml_vulkan_functions)) /
                                                            sizeof(std::uint32_t)},
                              why);
    if (!read) {
      throw std::runtime_error("the library of functions for Vulkan is damaged: " + why);
    }
    return std::move(*read);
  }();
  return library;
}

KernelCode linked_kernel(std::string key, std::span<const std::uint32_t> words, const GpuProperties& gpu) {
  KernelCode code;
  code.key = std::move(key);
  code.make = [words, gpu] {
    Builder builder;
    builder.adopt(words, function_library(),
                  [&gpu](std::string_view import) { return resolve_primitive(import, gpu.primitives); });
    return builder.finish_adopted(float_modes(builder, gpu));
  };
  return code;
}

}  // namespace anydml::vulkan::spirv
