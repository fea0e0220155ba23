// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/loop_guard.h"

#include <map>
#include <stdexcept>

#include "backend/vulkan/spirv/instructions.h"
#include "backend/vulkan/spirv/library.h"

namespace anydml::vulkan::spirv {
namespace {

// A module in the parts between which the guard adds something.
class Guarded {
 public:
  explicit Guarded(std::span<const std::uint32_t> kernel) : next_(kernel[3]) {
    header_.assign(kernel.begin(), kernel.begin() + kHeaderWords);
    Library::for_each(kernel.subspan(kHeaderWords), [&](const Instruction& instruction) { take(instruction); });
    if (entry_point_ == 0 || push_ == 0) {
      throw std::runtime_error("it has no entry point, or no push constants");
    }
  }

  Words finish() {
    const Id nothing = declared(Op::TypeVoid, {});
    const Id boolean = declared(Op::TypeBool, {});
    const Id u32 = declared(Op::TypeInt, {32, 0});
    const Id u64 = declared(Op::TypeInt, {64, 0});
    const Id main_type = declared(Op::TypeFunction, {nothing});
    const Id zero = declared(Op::Constant, {u32, 0});
    const Id one = declared(Op::Constant, {u32, 1});
    const Id two = declared(Op::Constant, {u32, 2});
    const Id zero_64 = declared(Op::Constant, {u64, 0, 0});
    const Id eight_64 = declared(Op::Constant, {u64, 8, 0});
    const auto pointer_to = [&](Storage storage, Id type) {
      return declared(Op::TypePointer, {static_cast<std::uint32_t>(storage), type});
    };
    const Table in_push = table_in_push_constants();
    const Id to_u64 = pointer_to(Storage::physical, u64);
    const Id to_u32 = pointer_to(Storage::physical, u32);

    const Id first = new_id();
    const Id head = new_id();
    const Id next = new_id();
    const Id after = new_id();
    const Id set = new_id();
    const Id done = new_id();
    guard_ = new_id();
    emit(Op::Function, {nothing, guard_, 0, main_type});
    emit(Op::Label, {first});
    emit(Op::FunctionCall, {nothing, new_id(), entry_point_});
    const Id member = value(Op::AccessChain, pointer_to(Storage::push_constant, in_push.type),
                            in_push.is_in_struct ? Words{push_, zero, zero} : Words{push_, zero});
    Id table = value(Op::Load, in_push.type, {member});
    if (in_push.is_pointer) {
      table = value(Op::ConvertPtrToU, u64, {table});
    }
    const Id entry = value(Op::ConvertUToPtr, to_u64, {value(Op::ISub, u64, {table, eight_64})});
    const Id address = value(Op::Load, u64, {entry, 2, 8});  // 2: Aligned
    // A loop of two iterations, which compilers cannot know: it has one if none are left.
    const Id is_null = value(Op::IEqual, boolean, {address, zero_64});
    const Id most = value(Op::Select, u32, {is_null, zero, two});
    emit(Op::Branch, {head});
    emit(Op::Label, {head});
    const Id sum = new_id();
    const Id number = value(Op::Phi, u32, {zero, first, sum, next});
    emit(Op::LoopMerge, {after, next, 2});  // 2: DontUnroll
    emit(Op::Branch, {next});
    emit(Op::Label, {next});
    emit(Op::IAdd, {u32, sum, number, one});
    emit(Op::BranchConditional, {value(Op::ULessThan, boolean, {sum, most}), head, after});
    emit(Op::Label, {after});
    const Id is_cut = value(Op::ULessThan, boolean, {sum, most});
    emit(Op::SelectionMerge, {done, 0});
    emit(Op::BranchConditional, {is_cut, set, done});
    emit(Op::Label, {set});
    emit(Op::Store, {value(Op::ConvertUToPtr, to_u32, {address}), one, 2, 4});
    emit(Op::Branch, {done});
    emit(Op::Label, {done});
    emit(Op::Return, {});
    emit(Op::FunctionEnd, {});

    Words words = header_;
    words[3] = next_;
    words.insert(words.end(), preamble_.begin(), preamble_.end());
    for (const std::size_t at : entry_ids_) {
      words[kHeaderWords + at] = guard_;
    }
    words.insert(words.end(), declarations_.begin(), declarations_.end());
    words.insert(words.end(), functions_.begin(), functions_.end());
    return words;
  }

 private:
  Id new_id() { return next_++; }

  static void append(Words& to, Op op, std::span<const std::uint32_t> words) {
    to.push_back(static_cast<std::uint32_t>(words.size() + 1) << 16 | static_cast<std::uint32_t>(op));
    to.insert(to.end(), words.begin(), words.end());
  }
  void emit(Op op, const Words& words) { append(functions_, op, words); }
  Id value(Op op, Id type, Words operands) {
    const Id id = new_id();
    operands.insert(operands.begin(), {type, id});
    emit(op, operands);
    return id;
  }

  // The operands with which the module's own declarations are found, without the result.
  static Words key_of(Op op, std::span<const std::uint32_t> words, std::size_t result) {
    Words key(words.begin(), words.end());
    key.erase(key.begin() + static_cast<std::ptrdiff_t>(result));
    key.push_back(static_cast<std::uint32_t>(op));
    return key;
  }
  static std::size_t result_of(Op op) { return op == Op::Constant ? 1 : 0; }
  Id declared(Op op, Words operands) {
    const std::size_t result = result_of(op);
    Words key = operands;
    key.push_back(static_cast<std::uint32_t>(op));
    const auto [place, is_new] = known_.try_emplace(std::move(key), 0);
    if (is_new) {
      place->second = new_id();
      operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(result), place->second);
      append(declarations_, op, operands);
    }
    return place->second;
  }

  void take(const Instruction& instruction) {
    const std::span<const std::uint32_t> words = instruction.words;
    switch (instruction.op) {
      case Op::EntryPoint:
        entry_point_ = words[1];
        entry_ids_.push_back(preamble_.size() + 2);
        break;
      case Op::ExecutionMode:
        entry_ids_.push_back(preamble_.size() + 1);
        break;
      case Op::TypeVoid:
      case Op::TypeBool:
      case Op::TypeInt:
      case Op::TypePointer:
      case Op::TypeFunction:
      case Op::TypeStruct:
      case Op::Constant:
        note(instruction);
        break;
      case Op::Variable:
        if (!has_functions_ && words[2] == static_cast<std::uint32_t>(Storage::push_constant)) {
          push_ = words[1];
          push_type_ = words[0];
        }
        break;
      case Op::Function:
        has_functions_ = true;
        break;
      default:
        break;
    }
    const Kind kind = grammar_of(static_cast<std::uint32_t>(instruction.op)).kind;
    is_preamble_ = is_preamble_ && kind != Kind::declared && kind != Kind::both;
    append(has_functions_ ? functions_ : is_preamble_ ? preamble_ : declarations_, instruction.op, words);
  }

  void note(const Instruction& instruction) {
    const std::span<const std::uint32_t> words = instruction.words;
    const std::size_t result = result_of(instruction.op);
    if (instruction.op == Op::TypeStruct || instruction.op == Op::TypePointer) {
      types_[words[0]] = {instruction.op, Words(words.begin() + 1, words.end())};
    }
    if (instruction.op != Op::TypeStruct) {
      known_.emplace(key_of(instruction.op, words, result), words[result]);
    }
  }

  // The address of the table of operands is the first number of the push constants, or of a struct that is their first
  // member. It is an integer or a pointer.
  struct Table {
    Id type;
    bool is_in_struct;
    bool is_pointer;
  };
  [[nodiscard]] Table table_in_push_constants() const {
    const auto is = [&](Id type, Op op) {
      const auto found = types_.find(type);
      return found != types_.end() && found->second.first == op;
    };
    const Id block = types_.at(push_type_).second.at(1);
    const Id member = types_.at(block).second.at(0);
    const bool is_in_struct = is(member, Op::TypeStruct);
    const Id type = is_in_struct ? types_.at(member).second.at(0) : member;
    return {type, is_in_struct, is(type, Op::TypePointer)};
  }

  Id next_;
  Words header_, preamble_, declarations_, functions_;
  bool is_preamble_ = true;
  bool has_functions_ = false;
  std::vector<std::size_t> entry_ids_;  // positions of the entry point's id in the preamble
  std::map<Words, Id> known_;
  std::map<Id, std::pair<Op, Words>> types_;
  Id entry_point_ = 0;
  Id guard_ = 0;
  Id push_ = 0;
  Id push_type_ = 0;
};

}  // namespace

Words guard_loops(std::span<const std::uint32_t> kernel) { return Guarded(kernel).finish(); }

}  // namespace anydml::vulkan::spirv
