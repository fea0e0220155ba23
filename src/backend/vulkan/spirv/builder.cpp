// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/builder.h"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace anydml::vulkan::spirv {
namespace {

Words text(std::string_view characters) {
  static_assert(std::endian::native == std::endian::little);
  Words words(characters.size() / 4 + 1);
  std::memcpy(words.data(), characters.data(), characters.size());
  return words;
}

bool has_letter(Op op, char letter) {
  return std::strchr(grammar_of(static_cast<std::uint32_t>(op)).operands, letter) != nullptr;
}

bool is_arithmetic_of_floats(Op op) {
  return op == Op::FAdd || op == Op::FSub || op == Op::FMul || op == Op::FDiv || op == Op::FNegate;
}

constexpr std::uint32_t kInline = 1;  // FunctionControl

// The remainder of integers as three instructions. Vulkan does not define the remainder of negative integers, and there
// are drivers that compute it as if they were not negative; but it defines their quotient. The function library has
// OpSRem where C++ has %. GLSL's % is OpSMod, which kernels use only for numbers that are not negative.
struct Remainder {
  Words quotient, product, difference;
};
Remainder remainder_of(Builder& builder, const Words& words) {
  const Id quotient = builder.new_id();
  const Id product = builder.new_id();
  return {{words[0], quotient, words[2], words[3]},
          {words[0], product, quotient, words[3]},
          {words[0], words[1], words[2], product}};
}

}  // namespace

void Builder::append(Words& to, Op op, std::span<const std::uint32_t> words) {
  to.push_back(static_cast<std::uint32_t>(words.size() + 1) << 16 | static_cast<std::uint32_t>(op));
  to.insert(to.end(), words.begin(), words.end());
}

Id Builder::declare(Op op, Words operands) {
  Words key = operands;
  key.push_back(static_cast<std::uint32_t>(op));
  const auto [place, is_new] = shared_.try_emplace(std::move(key), 0);
  if (is_new) {
    place->second = declare_anew(op, std::move(operands));
  }
  return place->second;
}

Id Builder::declare_anew(Op op, Words operands) {
  if (op == Op::TypeInt && operands[0] != 32) {
    need(operands[0] == 8 ? Capability::int8 : operands[0] == 16 ? Capability::int16 : Capability::int64);
  }
  if (op == Op::TypeFloat) {
    floats_.insert(operands[0]);
    if (operands[0] != 32) {
      need(operands[0] == 16 ? Capability::float16 : Capability::float64);
    }
  }
  const Id id = new_id();
  operands.insert(operands.begin() + (has_letter(op, 't') ? 1 : 0), id);
  append(declarations_, op, operands);
  if (op == Op::Variable) {
    interface_.push_back(id);
  }
  return id;
}

void Builder::decorate(Id target, Decoration decoration, std::initializer_list<std::uint32_t> literals) {
  Words words = {target, static_cast<std::uint32_t>(decoration)};
  words.insert(words.end(), literals);
  append(decorations_, Op::Decorate, words);
}

void Builder::decorate_member(Id target, std::uint32_t member, Decoration decoration,
                              std::initializer_list<std::uint32_t> literals) {
  Words words = {target, member, static_cast<std::uint32_t>(decoration)};
  words.insert(words.end(), literals);
  append(decorations_, Op::MemberDecorate, words);
}

Id Builder::copy_declaration(const Library& library, std::uint32_t id) {
  Declared& known = declared_[&library];
  if (const auto found = known.find(id); found != known.end()) {
    return found->second;
  }
  const Instruction& instruction = *library.declaration_of(id);  // the library has checked its ids
  Words operands;
  instruction.for_each_word([&](char letter, std::size_t at) {
    const std::uint32_t word = instruction.words[at];
    if (letter != 'r') {
      operands.push_back(letter == 'l' ? word : copy_declaration(library, word));
    }
  });
  const Id copied = instruction.op == Op::Variable ? declare_anew(instruction.op, std::move(operands))
                                                   : declare(instruction.op, std::move(operands));
  declared_[&library].emplace(id, copied);
  return copied;
}

Id Builder::copy(const Library& library, std::string_view name, const Resolve& resolve) {
  const Library::Function* const function = library.find(name);
  if (function == nullptr) {
    throw std::runtime_error("the library of functions has no " + std::string(name));
  }
  return copy_function(library, *function, resolve);
}

Id Builder::copy_function(const Library& library, const Library::Function& function, const Resolve& resolve) {
  // A function without a name belongs to one library.
  const std::string key =
      function.name.empty() ? std::to_string(reinterpret_cast<std::uintptr_t>(&function)) : function.name;
  if (function.is_import) {
    const std::string meant = resolve(function.name);
    if (!meant.empty()) {
      return copy(library, meant, resolve);
    }
  }
  if (const auto found = copied_.find(key);
      found != copied_.end() && (function.is_import || !found->second.is_import)) {
    if (!found->second.is_complete) {
      throw std::runtime_error("the function " + function.name + " calls itself");
    }
    return found->second.id;
  }
  Copied& copied = copied_[key];
  copied = {copied.id == 0 ? new_id() : copied.id, function.is_import, false, {}};
  const Id id = copied.id;
  std::unordered_map<std::uint32_t, Id> own = {{function.id, id}};
  Library::for_each(function.words, [&](const Instruction& instruction) {
    instruction.for_each_word([&](char letter, std::size_t at) {
      if (letter == 'r') {
        own.try_emplace(instruction.words[at], 0).first->second = instruction.words[at] == function.id ? id : new_id();
      }
    });
  });
  Words code;
  Library::for_each(function.words, [&](const Instruction& instruction) {
    Words words;
    Id result = 0;
    instruction.for_each_word([&](char letter, std::size_t at) {
      const std::uint32_t word = instruction.words[at];
      if (letter == 'l') {
        words.push_back(word);
      } else if (instruction.op == Op::FunctionCall && at == 2) {
        words.push_back(copy_function(library, *library.function_of(word), resolve));
      } else if (instruction.op == Op::ExtInst && at == 2) {
        glsl_set_ = glsl_set_ == 0 ? new_id() : glsl_set_;
        words.push_back(glsl_set_);
      } else if (const auto found = own.find(word); letter != 't' && found != own.end()) {
        words.push_back(found->second);
        result = letter == 'r' ? found->second : result;
      } else {
        words.push_back(copy_declaration(library, word));
      }
    });
    if (instruction.op == Op::Function) {
      words[2] = 0;  // no promises about the function: clang's are not needed
    }
    if (is_arithmetic_of_floats(instruction.op)) {
      decorate(result, Decoration::no_contraction);
    }
    if (instruction.op == Op::SRem) {
      const Remainder defined = remainder_of(*this, words);
      append(code, Op::SDiv, defined.quotient);
      append(code, Op::IMul, defined.product);
      append(code, Op::ISub, defined.difference);
    } else {
      append(code, instruction.op, words);
    }
  });
  if (function.is_import) {
    copied_[key].declaration = std::move(code);
  } else {
    functions_.insert(functions_.end(), code.begin(), code.end());
  }
  copied_[key].is_complete = true;
  return id;
}

void Builder::adopt(std::span<const std::uint32_t> kernel, const Library& library, const Resolve& resolve) {
  constexpr std::string_view kPrefix = "import_";
  next_ = kernel[3];
  std::unordered_map<std::uint32_t, std::string> stubs;
  std::unordered_map<std::uint32_t, Id> replaced;
  std::set<Id> rounded;  // operations that are decorated already
  bool is_skipped = false;
  bool has_functions = false;
  Library::for_each(kernel.subspan(kHeaderWords), [&](const Instruction& instruction) {
    const std::span<const std::uint32_t> words = instruction.words;
    const Grammar grammar = grammar_of(static_cast<std::uint32_t>(instruction.op));
    Words all(words.begin(), words.end());
    switch (instruction.op) {
      case Op::Capability:
        capabilities_.insert(words[0]);
        return;
      case Op::Extension:
        append(extensions_, instruction.op, words);
        return;
      case Op::ExtInstImport:
        glsl_set_ = words[0];
        return;
      case Op::EntryPoint:
        main_id_ = words[1];
        append(entry_, instruction.op, words);
        return;
      case Op::ExecutionMode:
        append(entry_, instruction.op, words);
        return;
      case Op::Name: {
        const std::string_view name(reinterpret_cast<const char*>(words.data() + 1));
        if (name.starts_with(kPrefix)) {
          stubs.emplace(words[0], name.substr(0, name.find('(')));
        }
        return;
      }
      case Op::MemoryModel:
      case Op::Source:
      case Op::SourceExtension:
      case Op::MemberName:
        return;
      case Op::Decorate:
        if (words[1] == static_cast<std::uint32_t>(Decoration::no_contraction)) {
          rounded.insert(words[0]);
        }
        append(decorations_, instruction.op, words);
        return;
      case Op::MemberDecorate:
        append(decorations_, instruction.op, words);
        return;
      default:
        break;
    }
    if (instruction.op == Op::Function) {
      if (replaced.empty()) {
        for (const auto& [id, import] : stubs) {
          if (const std::string name = resolve(import); !name.empty()) {
            replaced.emplace(id, copy(library, name, resolve));
          }
        }
      }
      is_skipped = replaced.contains(words[1]);
    }
    const bool is_global = !has_functions && grammar.kind != Kind::inside && instruction.op != Op::Function;
    has_functions = has_functions || instruction.op == Op::Function;
    if (is_global) {
      note_adopted(instruction);
      append(declarations_, instruction.op, words);
    } else if (!is_skipped) {
      if (instruction.op == Op::FunctionCall) {
        if (const auto found = replaced.find(words[2]); found != replaced.end()) {
          all[2] = found->second;
        }
      }
      if (is_arithmetic_of_floats(instruction.op) && !rounded.contains(words[1])) {
        decorate(words[1], Decoration::no_contraction);
      }
      if (instruction.op == Op::Function) {
        all[2] |= kInline;  // a kernel's arrays can be in registers only if its functions are part of main
      }
      if (instruction.op == Op::SMod) {
        const Remainder defined = remainder_of(*this, all);
        append(main_, Op::SDiv, defined.quotient);
        append(main_, Op::IMul, defined.product);
        append(main_, Op::ISub, defined.difference);
      } else {
        append(main_, instruction.op, all);
      }
    }
  });
}

// Lets functions that are copied later use the kernel's types and constants.
void Builder::note_adopted(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::TypeFloat:
      floats_.insert(instruction.words[1]);
      [[fallthrough]];
    case Op::TypeVoid:
    case Op::TypeBool:
    case Op::TypeInt:
    case Op::TypeVector:
    case Op::TypePointer:
    case Op::TypeFunction:
    case Op::Constant:
    case Op::ConstantTrue:
    case Op::ConstantFalse: {
      const std::size_t result = has_letter(instruction.op, 't') ? 1 : 0;
      Words key(instruction.words.begin(), instruction.words.end());
      const Id id = key[result];
      key.erase(key.begin() + static_cast<std::ptrdiff_t>(result));
      key.push_back(static_cast<std::uint32_t>(instruction.op));
      shared_.emplace(std::move(key), id);
      break;
    }
    default:
      break;
  }
}

void Builder::begin_main() { main_id_ = new_id(); }

Id Builder::emit(Op op, Id type, std::span<const std::uint32_t> operands) {
  const Id id = new_id();
  Words words = {type, id};
  words.insert(words.end(), operands.begin(), operands.end());
  append(main_, op, words);
  if (is_arithmetic_of_floats(op)) {
    decorate(id, Decoration::no_contraction);
  }
  return id;
}

void Builder::emit(Op op, std::initializer_list<std::uint32_t> operands) {
  append(main_, op, std::span(operands.begin(), operands.size()));
}

Id Builder::glsl(Glsl instruction, Id type, std::initializer_list<std::uint32_t> operands) {
  glsl_set_ = glsl_set_ == 0 ? new_id() : glsl_set_;
  Words words = {glsl_set_, static_cast<std::uint32_t>(instruction)};
  words.insert(words.end(), operands);
  return emit(Op::ExtInst, type, words);
}

Id Builder::variable(Id type) {
  const Id id = new_id();
  append(variables_, Op::Variable,
         Words{pointer_type(Storage::function, type), id, static_cast<std::uint32_t>(Storage::function)});
  return id;
}

Words Builder::header_and(const Words& body) const {
  Words words = {kMagic, kVersion, 0, next_, 0};
  for (const std::uint32_t capability : capabilities_) {
    append(words, Op::Capability, Words{capability});
  }
  words.insert(words.end(), extensions_.begin(), extensions_.end());
  if (glsl_set_ != 0) {
    Words set = text("GLSL.std.450");
    set.insert(set.begin(), glsl_set_);
    append(words, Op::ExtInstImport, set);
  }
  words.insert(words.end(), body.begin(), body.end());
  return words;
}

Words Builder::finish_kernel(std::uint32_t threads, std::span<const FloatMode> modes) {
  need(Capability::shader);
  need(Capability::physical_addresses);
  const Id nothing = void_type();
  const Id of_main = declare(Op::TypeFunction, {nothing});
  Words body;
  append(body, Op::MemoryModel, Words{5348, 1});  // PhysicalStorageBuffer64, GLSL450
  Words entry = {5, main_id_};                    // GLCompute
  for (const std::uint32_t word : text("main")) {
    entry.push_back(word);
  }
  entry.insert(entry.end(), interface_.begin(), interface_.end());
  append(body, Op::EntryPoint, entry);
  append(body, Op::ExecutionMode, Words{main_id_, static_cast<std::uint32_t>(Mode::local_size), threads, 1, 1});
  for (const FloatMode& mode : modes) {
    append(body, Op::ExecutionMode, Words{main_id_, static_cast<std::uint32_t>(mode.mode), mode.width});
    need(mode.capability);
  }
  body.insert(body.end(), decorations_.begin(), decorations_.end());
  body.insert(body.end(), declarations_.begin(), declarations_.end());
  append(body, Op::Function, Words{nothing, main_id_, 0, of_main});
  append(body, Op::Label, Words{new_id()});
  body.insert(body.end(), variables_.begin(), variables_.end());
  body.insert(body.end(), main_.begin(), main_.end());
  append(body, Op::FunctionEnd, {});
  body.insert(body.end(), functions_.begin(), functions_.end());
  return header_and(body);
}

Words Builder::finish_adopted(std::span<const FloatMode> modes) {
  Words body;
  append(body, Op::MemoryModel, Words{5348, 1});  // PhysicalStorageBuffer64, GLSL450
  body.insert(body.end(), entry_.begin(), entry_.end());
  for (const FloatMode& mode : modes) {
    append(body, Op::ExecutionMode, Words{main_id_, static_cast<std::uint32_t>(mode.mode), mode.width});
    need(mode.capability);
  }
  for (const Words* part : {&decorations_, &declarations_, &main_, &functions_}) {
    body.insert(body.end(), part->begin(), part->end());
  }
  return header_and(body);
}

Words Builder::finish_library() {
  need(Capability::shader);
  need(Capability::linkage);
  Words body;
  append(body, Op::MemoryModel, Words{0, 1});  // Logical, GLSL450
  for (const auto& [name, function] : copied_) {
    Words words = {function.id, static_cast<std::uint32_t>(Decoration::linkage)};
    for (const std::uint32_t word : text(name)) {
      words.push_back(word);
    }
    words.push_back(function.is_import ? kImport : kExport);
    append(body, Op::Decorate, words);
  }
  const auto add = [&body](const Words& part) { body.insert(body.end(), part.begin(), part.end()); };
  add(decorations_);
  add(declarations_);
  for (const auto& [name, function] : copied_) {
    add(function.declaration);
  }
  add(functions_);
  return header_and(body);
}

}  // namespace anydml::vulkan::spirv
