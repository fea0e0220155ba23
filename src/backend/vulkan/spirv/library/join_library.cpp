// SPDX-License-Identifier: MIT
// Joins modules of functions into one: join_library OUTPUT MODULES... data/vulkan/make_functions.py runs it.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <list>
#include <string>
#include <vector>

#include "backend/vulkan/spirv/builder.h"

int main(int argc, char** argv) try {
  using namespace anydml::vulkan::spirv;
  std::list<Words> modules;
  std::list<Library> libraries;
  Builder builder;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    Words& words = modules.emplace_back(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    std::string why;
    auto library = Library::read(words, why);
    if (!library) {
      std::fprintf(stderr, "%s: %s\n", argv[i], why.c_str());
      return 1;
    }
    libraries.push_back(std::move(*library));
    for (const Library::Function& function : libraries.back().functions()) {
      if (!function.is_import && !function.name.empty()) {
        builder.copy(libraries.back(), function.name, [](std::string_view) { return std::string(); });
      }
    }
  }
  const Words joined = builder.finish_library();
  std::ofstream output(argv[1], std::ios::binary);
  output.write(reinterpret_cast<const char*>(joined.data()), static_cast<std::streamsize>(joined.size() * 4));
  output.close();
  return output ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
