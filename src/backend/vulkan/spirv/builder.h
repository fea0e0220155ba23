// SPDX-License-Identifier: MIT
// Builds a SPIR-V module: a kernel of instructions that a family writes, and functions that are copied from libraries.
// Types and constants that are equal are declared once. Every arithmetic operation on floats is decorated
// NoContraction, so that drivers round each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/vulkan/spirv/instructions.h"
#include "backend/vulkan/spirv/library.h"

namespace anydml::vulkan::spirv {

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;

// An execution mode that a device offers for a float width, and its capability.
struct FloatMode {
  Mode mode;
  Capability capability;
  std::uint32_t width;
};

class Builder {
 public:
  // A type, constant or global variable: its operands in order, without the result. Equal ones have the same id.
  Id declare(Op op, Words operands);
  // Like declare, but never shared: for structures that are decorated, and for variables.
  Id declare_anew(Op op, Words operands);

  Id void_type() { return declare(Op::TypeVoid, {}); }
  Id bool_type() { return declare(Op::TypeBool, {}); }
  Id int_type(std::uint32_t bits) { return declare(Op::TypeInt, {bits, 0}); }
  Id float_type(std::uint32_t bits) { return declare(Op::TypeFloat, {bits}); }
  Id vector_type(Id of, std::uint32_t count) { return declare(Op::TypeVector, {of, count}); }
  Id pointer_type(Storage storage, Id to) {
    return declare(Op::TypePointer, {static_cast<std::uint32_t>(storage), to});
  }
  Id constant(std::uint32_t value) { return declare(Op::Constant, {int_type(32), value}); }
  Id constant_64(std::uint64_t value) {
    return declare(Op::Constant,
                   {int_type(64), static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)});
  }
  void decorate(Id target, Decoration decoration, std::initializer_list<std::uint32_t> literals = {});
  void decorate_member(Id target, std::uint32_t member, Decoration decoration,
                       std::initializer_list<std::uint32_t> literals = {});
  void need(Capability capability) { capabilities_.insert(static_cast<std::uint32_t>(capability)); }

  // Copies a function and all functions that it calls, once, and returns its id. `resolve` returns the name of the
  // function in the same library that is meant by the name of an import; an empty name keeps it an import, which only
  // a library may have. Throws std::runtime_error if the library has no such function, or if a function calls itself.
  using Resolve = std::function<std::string(std::string_view import)>;
  Id copy(const Library& library, std::string_view name, const Resolve& resolve);

  // Continues a kernel that another compiler wrote, such as glslc: takes over all of its instructions. Its functions
  // that are named like imports, "import_f32_fused", are replaced by the functions of the library that `resolve` names;
  // they must have the same types, which means parameters that are passed by value (`const in` in GLSL). If the name is
  // empty, the kernel's own function stays. To be called first; the module is finished by finish_adopted. The kernel is
  // trusted.
  void adopt(std::span<const std::uint32_t> kernel, const Library& library, const Resolve& resolve);

  // The kernel's own function, main. Instructions are added to it until finish_kernel.
  void begin_main();
  Id emit(Op op, Id type, std::span<const std::uint32_t> operands);
  Id emit(Op op, Id type, std::initializer_list<std::uint32_t> operands) {
    return emit(op, type, std::span(operands.begin(), operands.size()));
  }
  void emit(Op op, std::initializer_list<std::uint32_t> operands);
  Id glsl(Glsl instruction, Id type, std::initializer_list<std::uint32_t> operands);
  // Ids for labels, which may be used before they are placed.
  Id new_id() { return next_++; }
  void place(Id label) { emit(Op::Label, {label}); }
  // A variable of main, which is declared at its beginning.
  Id variable(Id type);

  // The module with the entry point main, groups of this many threads, and these modes.
  [[nodiscard]] Words finish_kernel(std::uint32_t threads, std::span<const FloatMode> modes);
  [[nodiscard]] Words finish_adopted(std::span<const FloatMode> modes);
  // The module of all functions that were copied, under their names.
  [[nodiscard]] Words finish_library();

  [[nodiscard]] bool uses_float(std::uint32_t bits) const { return floats_.contains(bits); }

 private:
  struct Copied {
    Id id = 0;
    bool is_import = false;
    bool is_complete = false;
    Words declaration;  // of an import, until a library exports the function
  };
  // The ids of one library's declarations in this module.
  using Declared = std::unordered_map<std::uint32_t, Id>;

  Id copy_function(const Library& library, const Library::Function& function, const Resolve& resolve);
  Id copy_declaration(const Library& library, std::uint32_t id);
  void note_adopted(const Instruction& instruction);
  static void append(Words& to, Op op, std::span<const std::uint32_t> words);
  [[nodiscard]] Words header_and(const Words& body) const;

  Id next_ = 1;
  Id glsl_set_ = 0;
  std::map<Words, Id> shared_;
  std::map<std::string, Copied, std::less<>> copied_;
  std::unordered_map<const Library*, Declared> declared_;
  std::set<std::uint32_t> capabilities_;
  std::set<std::uint32_t> floats_;  // the widths in use
  Words decorations_, declarations_, functions_, main_, variables_;
  std::vector<Id> interface_;  // global variables
  Words extensions_, entry_;   // of an adopted kernel
  Id main_id_ = 0;
};

}  // namespace anydml::vulkan::spirv
