// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/library.h"

#include <bit>
#include <cstring>
#include <unordered_set>

namespace anydml::vulkan::spirv {
namespace {

constexpr std::uint32_t kMaxBound = 1 << 22;  // ids; the library has far fewer

std::string at_instruction(std::uint32_t op, const char* what) {
  return "the instruction " + std::to_string(op) + " " + what;
}

// The text in these words, without its end; nothing if it does not end.
std::optional<std::string> text_in(std::span<const std::uint32_t> words) {
  static_assert(std::endian::native == std::endian::little);
  const auto* bytes = reinterpret_cast<const char*>(words.data());
  const void* end = words.empty() ? nullptr : std::memchr(bytes, 0, words.size() * 4);
  if (end == nullptr) {
    return std::nullopt;
  }
  return std::string(bytes, static_cast<const char*>(end));
}

// The number of words that an instruction must have at least.
std::size_t least_words(const char* operands) {
  std::size_t least = 0;
  for (; *operands == 't' || *operands == 'r' || *operands == 'i' || *operands == 'l'; ++operands) {
    ++least;
  }
  return least;
}

bool may_be_longer(const char* operands) {
  const std::size_t length = std::strlen(operands);
  return length != 0 && (operands[length - 1] == 'I' || operands[length - 1] == 'L' || operands[length - 1] == 'W');
}

}  // namespace

std::optional<Library> Library::read(std::span<const std::uint32_t> words, std::string& why) {
  Library library;
  why = library.read_all(words);
  if (!why.empty()) {
    return std::nullopt;
  }
  return library;
}

std::string Library::read_all(std::span<const std::uint32_t> words) {
  if (words.size() < kHeaderWords || words[0] != kMagic) {
    return "it is not a SPIR-V module";
  }
  bound_ = words[3];
  if (bound_ == 0 || bound_ > kMaxBound || words[4] != 0) {
    return "its header is damaged";
  }
  std::vector<bool> defined(bound_);
  Function function;
  std::size_t begin = 0;  // of the current function; 0 outside of functions
  for (std::size_t at = kHeaderWords; at < words.size();) {
    const std::uint32_t op = words[at] & 0xffff;
    const std::uint32_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) {
      return at_instruction(op, "is longer than the module");
    }
    const Grammar grammar = grammar_of(op);
    const Instruction instruction{static_cast<Op>(op), words.subspan(at + 1, length - 1)};
    const std::size_t least = least_words(grammar.operands);
    if (grammar.kind == Kind::unknown) {
      return at_instruction(op, "is not one that functions may have");
    }
    if (instruction.words.size() < least || (instruction.words.size() > least && !may_be_longer(grammar.operands))) {
      return at_instruction(op, "has the wrong number of operands");
    }
    std::string wrong;
    instruction.for_each_word([&](char letter, std::size_t word) {
      const std::uint32_t id = instruction.words[word];
      if (letter != 'l' && (id == 0 || id >= bound_)) {
        wrong = at_instruction(op, "has an id that is out of range");
      } else if (letter == 'r') {
        wrong = defined[id] ? at_instruction(op, "defines an id again") : wrong;
        defined[id] = true;
      }
    });
    if (!wrong.empty()) {
      return wrong;
    }
    if (instruction.op == Op::Function) {
      if (begin != 0) {
        return "a function begins inside of another";
      }
      begin = at;
      function = {{}, instruction.words[1], false, {}};
    } else if (begin == 0) {
      if (grammar.kind == Kind::inside || !functions_.empty()) {
        return at_instruction(op, "is outside of a function");
      }
      wrong = read_module_level(instruction);
      if (!wrong.empty()) {
        return wrong;
      }
    } else if (grammar.kind == Kind::module || grammar.kind == Kind::declared) {
      return at_instruction(op, "is inside of a function");
    }
    at += length;
    if (instruction.op == Op::FunctionEnd) {
      if (begin == 0) {
        return "a function ends that has not begun";
      }
      function.words = words.subspan(begin, at - begin);
      begin = 0;
      if (const auto found = linkage_.find(function.id); found != linkage_.end()) {
        std::tie(function.name, function.is_import) = found->second;
      }
      by_id_.emplace(function.id, static_cast<std::uint32_t>(functions_.size()));
      functions_.push_back(std::move(function));
    }
  }
  if (begin != 0) {
    return "a function does not end";
  }
  for (const Function& each : functions_) {
    if (std::string wrong = check_function(each); !wrong.empty()) {
      return wrong;
    }
  }
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    const Function& each = functions_[i];
    if (each.name.empty()) {
      continue;
    }
    const auto [place, is_new] = by_name_.try_emplace(each.name, i);
    if (!is_new && !each.is_import) {
      if (!functions_[place->second].is_import) {
        return "two functions have the name " + each.name;
      }
      place->second = i;
    }
  }
  return {};
}

std::string Library::read_module_level(const Instruction& instruction) {
  const std::span<const std::uint32_t> words = instruction.words;
  switch (instruction.op) {
    case Op::EntryPoint:
    case Op::ExecutionMode:
    case Op::Extension:
      return at_instruction(static_cast<std::uint32_t>(instruction.op), "does not belong into a library");
    case Op::ExtInstImport:
      if (text_in(words.subspan(1)) != "GLSL.std.450" || glsl_ != 0) {
        return "it imports an unknown set of instructions";
      }
      glsl_ = words[0];
      break;
    case Op::Decorate:
      if (words[1] == static_cast<std::uint32_t>(Decoration::linkage)) {
        auto name = text_in(words.subspan(2));
        if (!name || words.back() > kImport) {
          return "a function's linkage is damaged";
        }
        linkage_[words[0]] = {std::move(*name), words.back() == kImport};
      } else if (words[1] != static_cast<std::uint32_t>(Decoration::no_contraction)) {
        return "it has a decoration that functions may not have";  // it would be lost
      }
      break;
    case Op::MemberDecorate:
      return "it has a decoration that functions may not have";
    default: {
      std::uint32_t result = 0;
      bool is_known = true;
      instruction.for_each_word([&](char letter, std::size_t word) {
        result = letter == 'r' ? words[word] : result;
        is_known = is_known && (letter == 'r' || letter == 'l' || declared_.contains(words[word]) ||
                                grammar_of(static_cast<std::uint32_t>(instruction.op)).kind == Kind::module);
      });
      if (!is_known) {
        return at_instruction(static_cast<std::uint32_t>(instruction.op), "uses an id before it is declared");
      }
      if (result != 0) {
        declared_.emplace(result, instruction);
      }
    }
  }
  return {};
}

// Whether every id that the function uses is its own, or is declared, or is a function that it calls.
std::string Library::check_function(const Function& function) const {
  std::unordered_set<std::uint32_t> own;
  bool has_body = false;
  for_each(function.words, [&](const Instruction& instruction) {
    has_body = has_body || instruction.op == Op::Label;
    instruction.for_each_word([&](char letter, std::size_t word) {
      if (letter == 'r') {
        own.insert(instruction.words[word]);
      }
    });
  });
  std::string wrong;
  for_each(function.words, [&](const Instruction& instruction) {
    instruction.for_each_word([&](char letter, std::size_t word) {
      const std::uint32_t id = instruction.words[word];
      const bool calls = instruction.op == Op::FunctionCall && word == 2;
      const bool extends = instruction.op == Op::ExtInst && word == 2;
      if (letter == 'l' || letter == 'r' || (letter == 'i' && !calls && !extends && own.contains(id))) {
        return;
      }
      const bool known = calls ? by_id_.contains(id) : extends ? is_glsl(id) : declared_.contains(id);
      if (!known) {
        wrong = "the function " + function.name + " uses an id that is not its own";
      }
    });
  });
  if (wrong.empty() && has_body == function.is_import) {
    wrong = "the function " + function.name + (has_body ? " is imported and has a body" : " has no body");
  }
  return wrong;
}

const Library::Function* Library::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &functions_[found->second];
}

const Library::Function* Library::function_of(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &functions_[found->second];
}

const Instruction* Library::declaration_of(std::uint32_t id) const {
  const auto found = declared_.find(id);
  return found == declared_.end() ? nullptr : &found->second;
}

}  // namespace anydml::vulkan::spirv
