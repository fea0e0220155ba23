// SPDX-License-Identifier: MIT
// A SPIR-V module of functions that are linked into kernels (builder.h): it has no entry point, and each function has a
// name, by which it is exported or imported. A module is checked when it is read, so that linking a damaged one cannot
// read or write outside of its words; its types are not checked, which is spirv-val's task when the module is made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/vulkan/spirv/instructions.h"

namespace anydml::vulkan::spirv {

// One instruction, as words of a module.
struct Instruction {
  Op op;
  std::span<const std::uint32_t> words;  // without the first, which has the opcode and the length

  // Calls visit(letter, position) for each word, with the letters of the grammar: t, r, i or l.
  template <class Visit>
  void for_each_word(Visit&& visit) const {
    const char* letters = grammar_of(static_cast<std::uint32_t>(op)).operands;
    for (std::size_t at = 0; at < words.size(); ++at) {
      switch (*letters) {
        case 'I':
          visit('i', at);
          break;
        case 'L':
          visit('l', at);
          break;
        case 'W':
          visit('l', at);
          if (++at < words.size()) {
            visit('i', at);
          }
          break;
        default:
          visit(*letters++, at);
      }
    }
  }
};

class Library {
 public:
  struct Function {
    std::string name;
    std::uint32_t id = 0;
    bool is_import = false;
    std::span<const std::uint32_t> words;  // of all its instructions
  };

  Library(Library&&) = default;
  Library& operator=(Library&&) = default;
  Library(const Library&) = delete;  // by_name_ refers to the names in functions_
  Library& operator=(const Library&) = delete;

  // Reads a module, whose words must outlive the library; or returns nothing and the reason.
  [[nodiscard]] static std::optional<Library> read(std::span<const std::uint32_t> words, std::string& why);

  [[nodiscard]] std::span<const Function> functions() const { return functions_; }
  // Null if there is no such function. A function that is both exported and imported is found where it is exported.
  [[nodiscard]] const Function* find(std::string_view name) const;
  [[nodiscard]] const Function* function_of(std::uint32_t id) const;
  // The declaration of a type, constant or global variable. Null if the id is something else.
  [[nodiscard]] const Instruction* declaration_of(std::uint32_t id) const;
  // Whether the id is the set of extended instructions GLSL.std.450.
  [[nodiscard]] bool is_glsl(std::uint32_t id) const { return id == glsl_ && id != 0; }

  // Calls visit(instruction) for each instruction in these words, which must be from this library.
  template <class Visit>
  static void for_each(std::span<const std::uint32_t> words, Visit&& visit) {
    for (std::size_t at = 0; at < words.size();) {
      const std::uint32_t length = words[at] >> 16;
      visit(Instruction{static_cast<Op>(words[at] & 0xffff), words.subspan(at + 1, length - 1)});
      at += length;
    }
  }

 private:
  Library() = default;
  [[nodiscard]] std::string read_all(std::span<const std::uint32_t> words);
  [[nodiscard]] std::string read_module_level(const Instruction& instruction);
  [[nodiscard]] std::string check_function(const Function& function) const;

  std::vector<Function> functions_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  // indices of functions_
  std::unordered_map<std::uint32_t, std::uint32_t> by_id_;
  std::unordered_map<std::uint32_t, Instruction> declared_;
  std::unordered_map<std::uint32_t, std::pair<std::string, bool>> linkage_;  // name, and whether it is an import
  std::uint32_t bound_ = 0;
  std::uint32_t glsl_ = 0;
};

}  // namespace anydml::vulkan::spirv
