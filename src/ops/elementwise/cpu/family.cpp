// SPDX-License-Identifier: MIT
// Element-wise steps on the CPU: kernels are chosen, the nest is cut into tiles, and threads take some tiles at a time.
#include "backend/cpu/family.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

// A piece is the tiles that a thread takes at a time. The first ones are large parts of what is left, since a kernel
// that goes on is faster than one that begins anew; the last ones are small, so that threads end together, but enough
// work to pay for handing it over, some ten microseconds. In bytes of all operands; a kernel without vectors takes some
// ten times as long for them.
constexpr std::int64_t kTileBytes = 128 << 10;
constexpr std::int64_t kPlainTileBytes = 12 << 10;
constexpr std::int64_t kMostOfPiece = 16 << 20;  // callers share the threads piece by piece
constexpr std::int64_t kPartsOfRest = 2;         // for each thread
constexpr std::int64_t kPartsOfAll = 64;         // likewise, and no smaller
// Results between the instructions of a program stay in buffers in the first-level cache: this much for all of them,
// and of each no fewer elements than make a call of a kernel worth it, nor more than another 512 would gain.
constexpr std::size_t kScratchBytes = 32 << 10;
constexpr std::size_t kMostOfBuffer = 512;
constexpr std::size_t kLeastOfBuffer = 64;
constexpr std::size_t kMostRepeated = 16;  // operands that have a buffer

// One for each target that a device was opened for. Never destroyed, since threads that run them may outlive main.
std::array<const KernelTable*, cpu::kTargets> g_tables{};

void open(cpu::Target target) {
  const KernelTable*& table = g_tables[static_cast<std::size_t>(target)];
  if (table != nullptr) {
    return;
  }
  auto made = std::make_unique<KernelTable>(generic_kernels());
  for (const KernelTarget& vectors : vector_targets()) {
    if (vectors.target == target) {
      vectors.replace(*made);
    }
  }
  table = made.release();
}

std::int64_t stride_of_rows(const LoopNest& nest, std::uint32_t operand) {
  return nest.rank >= 2 ? nest.loops[nest.rank - 2].strides[operand] : 0;
}

// How the nest is divided among pieces.
struct Division {
  Tiling tiling;
  std::vector<std::int64_t> begins;  // of each piece the first tile; then how many tiles there are

  [[nodiscard]] std::uint64_t pieces() const { return begins.size() - 1; }
};

Division divide(const Step& step, const LoopNest& nest, bool vectors, unsigned threads) {
  std::int64_t bytes = 0;  // of one element of every operand
  for (const Operand& operand : step.operands) {
    bytes += static_cast<std::int64_t>(element_size(operand.type));
  }
  constexpr std::int64_t kLine = 64;  // elements, so that a tile begins with a cache line where its row does
  const std::int64_t elements = std::max(kLine, (vectors ? kTileBytes : kPlainTileBytes) / bytes / kLine * kLine);
  Division division{.tiling = make_tiling(nest, elements), .begins = {}};
  const std::int64_t tiles = division.tiling.tiles;
  // Tiles may be much smaller than that, as those of short rows in many dimensions are.
  const std::int64_t tile = division.tiling.rows * division.tiling.columns;
  const std::int64_t most = std::max<std::int64_t>(1, kMostOfPiece / bytes / tile);
  const std::int64_t least =
      std::clamp(tiles / (threads * kPartsOfAll), std::max<std::int64_t>(1, elements / tile), most);
  for (std::int64_t begin = 0; begin < tiles;) {
    division.begins.push_back(begin);
    begin += std::clamp((tiles - begin) / (threads * kPartsOfRest), least, most);
  }
  division.begins.push_back(tiles);
  return division;
}

class ReadyStep : public cpu::Prepared {
 public:
  ReadyStep(const ElementwiseStep& step, const Division& division, cpu::Target target)
      : Prepared(division.pieces()), nest_(*step.nest), division_(division), target_(target) {}

 protected:
  [[nodiscard]] const LoopNest& nest() const { return nest_; }

  template <class Use>
  void for_each_block(std::uint64_t piece, Use use) const {
    for_each_tile(nest_, division_.tiling, division_.begins[piece], division_.begins[piece + 1], use);
  }

  void explain_as(InnerLayout layout, char* text, std::size_t capacity) const noexcept {
    std::snprintf(text, capacity, "%s, %u loop%s, %s kernel", layout_name(layout), nest_.rank,
                  nest_.rank == 1 ? "" : "s", cpu::target_name(target_));
  }

 private:
  LoopNest nest_;
  Division division_;
  cpu::Target target_;
};

// One instruction, whose result is stored: its kernel takes whole tiles.
class SingleStep final : public ReadyStep {
 public:
  SingleStep(const ElementwiseStep& step, const Division& division, cpu::Target target, Kernel kernel)
      : ReadyStep(step, division, target),
        kernel_(kernel),
        attributes_(step.program[0].attributes),
        inputs_(step.loads) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    KernelArguments arguments;
    for (std::uint32_t i = 0; i < inputs_; ++i) {
      arguments.inputs[i].row_stride = stride_of_rows(nest(), i);
      arguments.inputs[i].stride = nest().innermost().strides[i];
    }
    arguments.output.row_stride = stride_of_rows(nest(), inputs_);
    arguments.output.stride = nest().innermost().strides[inputs_];
    arguments.attributes = &attributes_;
    for_each_block(piece, [&](const Block& block) {
      arguments.rows = static_cast<std::size_t>(block.rows);
      arguments.columns = static_cast<std::size_t>(block.columns);
      for (std::uint32_t i = 0; i < inputs_; ++i) {
        arguments.inputs[i].data = operands[i] + block.offsets[i];
      }
      arguments.output.data = operands[inputs_] + block.offsets[inputs_];
      kernel_(arguments);
    });
  }

  void explain(char* text, std::size_t capacity) const noexcept override { explain_as(nest().inner, text, capacity); }

 private:
  Kernel kernel_;
  Attributes attributes_;
  std::uint32_t inputs_;
};

// A program: part after part of a row, instruction by instruction, so that what one hands to the next never leaves the
// cache. What is stored is written when the whole program has run, since an output may lie over an input; the last
// instruction alone writes its result where it belongs. An operand that is one element along the rows is repeated in a
// buffer before, so that every kernel finds its elements side by side.
class ProgramStep final : public ReadyStep {
 public:
  struct Source {
    bool is_operand;
    std::uint16_t number;  // of the operand, or of the buffer
    std::int64_t stride;   // of the buffer: an element
  };
  struct Operation {
    Kernel kernel;
    std::uint32_t inputs;
    Source sources[kMaxInputs];
    Source target;
    Attributes attributes;
  };

  struct Repeated {
    std::uint16_t operand;
    std::uint16_t buffer;
    std::size_t size;  // of an element
  };

  ProgramStep(const ElementwiseStep& step, const Division& division, cpu::Target target,
              std::vector<Operation> operations, std::vector<Repeated> repeated, std::size_t buffer_elements)
      : ReadyStep(step, division, target),
        operations_(std::move(operations)),
        repeated_(std::move(repeated)),
        elements_(buffer_elements) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    for_each_block(piece, [&](const Block& block) { run_block(operands, block); });
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    explain_as(nest().inner == InnerLayout::contiguous ? nest().inner : InnerLayout::strided, text, capacity);
  }

 private:
  void run_block(std::byte* const* operands, const Block& block) const noexcept {
    alignas(64) std::byte scratch[kScratchBytes];
    const std::size_t buffer_bytes = elements_ * sizeof(f64);
    const auto step = static_cast<std::int64_t>(elements_);
    KernelArguments arguments;
    arguments.rows = 1;
    for (std::int64_t row = 0; row < block.rows; ++row) {
      for (const Repeated& repeated : repeated_) {
        const std::int64_t row_stride = stride_of_rows(nest(), repeated.operand);
        if (row == 0 || row_stride != 0) {
          repeat(operands[repeated.operand] + block.offsets[repeated.operand] + row * row_stride, repeated.size,
                 std::min(elements_, static_cast<std::size_t>(block.columns)),
                 scratch + repeated.buffer * buffer_bytes);
        }
      }
      for (std::int64_t column = 0; column < block.columns; column += step) {
        const auto place = [&](const Source& source) -> std::pair<std::byte*, std::int64_t> {
          if (!source.is_operand) {
            return {scratch + source.number * buffer_bytes, source.stride};
          }
          const std::int64_t stride = nest().innermost().strides[source.number];
          return {operands[source.number] + block.offsets[source.number] + row * stride_of_rows(nest(), source.number) +
                      column * stride,
                  stride};
        };
        arguments.columns = static_cast<std::size_t>(std::min(step, block.columns - column));
        for (const Operation& operation : operations_) {
          for (std::uint32_t i = 0; i < operation.inputs; ++i) {
            const auto [data, stride] = place(operation.sources[i]);
            arguments.inputs[i] = {data, 0, stride};
          }
          const auto [data, stride] = place(operation.target);
          arguments.output = {data, 0, stride};
          arguments.attributes = &operation.attributes;
          operation.kernel(arguments);
        }
      }
    }
  }

  static void repeat(const std::byte* from, std::size_t size, std::size_t count, std::byte* to) noexcept {
    const auto each = [&]<class T>(T value) {
      std::memcpy(&value, from, sizeof(T));
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to + i * sizeof(T), &value, sizeof(T));
      }
    };
    switch (size) {
      case 1:
        return each(std::uint8_t{});
      case 2:
        return each(std::uint16_t{});
      case 4:
        return each(std::uint32_t{});
      default:
        return each(std::uint64_t{});
    }
  }

  std::vector<Operation> operations_;
  std::vector<Repeated> repeated_;
  std::size_t elements_;  // of a buffer
};

// Gives each result of a program a buffer for as long as it is needed, and chooses the kernels.
class ProgramMaker {
 public:
  ProgramMaker(const ElementwiseStep& step, const Step& flat, const KernelTable& kernels)
      : step_(step), flat_(flat), kernels_(kernels), last_use_(step.program.size(), 0) {}

  // Empty: the program asks for what there is no kernel for.
  std::vector<ProgramStep::Operation> make() {
    const std::size_t count = step_.program.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Row* of = row_at(i);
      if (of == nullptr) {
        return {};
      }
      for (std::size_t source = 0; source < of->inputs; ++source) {
        const std::size_t value = step_.program[i].sources[source];
        if (value >= step_.loads + i) {
          return {};
        }
        if (value >= step_.loads) {
          last_use_[value - step_.loads] = i;
        }
      }
    }
    for (const std::uint16_t value : step_.stored) {
      if (value < step_.loads || value >= step_.loads + count) {
        return {};
      }
      last_use_[value - step_.loads] = count;  // it is stored when all else is done
    }
    for (std::uint32_t load = 0; load < step_.loads; ++load) {
      if (step_.nest->innermost().strides[load] == 0 && repeated_.size() < kMostRepeated) {
        repeated_.push_back({.operand = static_cast<std::uint16_t>(load),
                             .buffer = static_cast<std::uint16_t>(busy_until_.size()),
                             .size = element_size(flat_.operands[load].type)});
        busy_until_.push_back(count);
      }
    }
    const bool last_is_stored_once = std::ranges::count(step_.stored, step_.loads + count - 1) == 1;
    for (std::size_t i = 0; i < count; ++i) {
      if (!add_instruction(i, last_is_stored_once && i + 1 == count)) {
        return {};
      }
    }
    for (std::size_t store = 0; store < step_.stored.size(); ++store) {
      const std::size_t result = step_.stored[store] - step_.loads;
      if (!(last_is_stored_once && result + 1 == count) && !add_store(store, result)) {
        return {};
      }
    }
    return std::move(operations_);
  }

  [[nodiscard]] std::vector<ProgramStep::Repeated> repeated() const { return repeated_; }

  [[nodiscard]] std::size_t buffer_elements() const {
    return std::min(kMostOfBuffer, kScratchBytes / (std::max<std::size_t>(busy_until_.size(), 1) * sizeof(f64)));
  }

 private:
  // Null: there is no such row or variant.
  [[nodiscard]] const Row* row_at(std::size_t i) const {
    const Instruction& instruction = step_.program[i];
    if (instruction.row >= kRowCount || instruction.variant >= row(row_of(instruction)).variants.size()) {
      return nullptr;
    }
    return &row(row_of(instruction));
  }

  [[nodiscard]] std::int64_t result_bytes(std::size_t i) const {
    const Row& of = *row_at(i);
    return static_cast<std::int64_t>(element_size(of.variants[step_.program[i].variant][of.inputs]));
  }

  [[nodiscard]] ProgramStep::Source source_of(std::size_t value) const {
    if (value < step_.loads) {
      for (const ProgramStep::Repeated& repeated : repeated_) {
        if (repeated.operand == value) {
          return {.is_operand = false, .number = repeated.buffer, .stride = static_cast<std::int64_t>(repeated.size)};
        }
      }
      return {.is_operand = true, .number = static_cast<std::uint16_t>(value), .stride = 0};
    }
    return {.is_operand = false, .number = buffers_[value - step_.loads], .stride = result_bytes(value - step_.loads)};
  }

  [[nodiscard]] bool is_contiguous(const ProgramStep::Source& source) const {
    return !source.is_operand || step_.nest->innermost().strides[source.number] ==
                                     static_cast<std::int64_t>(element_size(flat_.operands[source.number].type));
  }

  bool add_operation(ProgramStep::Operation& operation, RowId id, std::uint32_t variant) {
    bool contiguous = is_contiguous(operation.target);
    for (std::uint32_t i = 0; i < operation.inputs; ++i) {
      contiguous = contiguous && is_contiguous(operation.sources[i]);
    }
    operation.kernel = kernels_.find(id, variant, contiguous ? InnerLayout::contiguous : InnerLayout::strided);
    operations_.push_back(operation);
    return operation.kernel != nullptr;
  }

  // A buffer that nobody needs any more at instruction i, or a new one.
  [[nodiscard]] std::uint16_t take_buffer(std::size_t i) {
    const auto free = std::ranges::find_if(busy_until_, [i](std::size_t until) { return until < i; });
    const auto number = static_cast<std::uint16_t>(free - busy_until_.begin());
    if (free == busy_until_.end()) {
      busy_until_.push_back(0);
    }
    busy_until_[number] = std::max(i, last_use_[i]);
    return number;
  }

  bool add_instruction(std::size_t i, bool stored_at_once) {
    const Instruction& instruction = step_.program[i];
    const Row& of = *row_at(i);
    ProgramStep::Operation operation{};
    operation.inputs = of.inputs;
    for (std::size_t source = 0; source < of.inputs; ++source) {
      operation.sources[source] = source_of(instruction.sources[source]);
    }
    operation.attributes = instruction.attributes;
    if (stored_at_once) {
      const auto store = std::ranges::find(step_.stored, step_.loads + i) - step_.stored.begin();
      operation.target = {.is_operand = true, .number = static_cast<std::uint16_t>(step_.loads + store), .stride = 0};
      buffers_.push_back(0);
    } else {
      buffers_.push_back(take_buffer(i));
      operation.target = source_of(step_.loads + i);
    }
    return busy_until_.size() * kLeastOfBuffer * sizeof(f64) <= kScratchBytes &&
           add_operation(operation, of.id, instruction.variant);
  }

  bool add_store(std::size_t store, std::size_t result) {
    const Row& identity = row(RowId::ELEMENT_WISE_IDENTITY);
    ProgramStep::Operation operation{};
    operation.inputs = 1;
    operation.sources[0] = source_of(step_.loads + result);
    operation.target = {.is_operand = true, .number = static_cast<std::uint16_t>(step_.loads + store), .stride = 0};
    return add_operation(operation, identity.id, find_variant(identity, flat_.operands[operation.target.number].type));
  }

  const ElementwiseStep& step_;
  const Step& flat_;
  const KernelTable& kernels_;
  std::vector<std::size_t> last_use_;    // of each result: the last instruction that reads it
  std::vector<std::uint16_t> buffers_;   // of each result so far
  std::vector<std::size_t> busy_until_;  // of each buffer: the last instruction that reads what is there
  std::vector<ProgramStep::Repeated> repeated_;
  std::vector<ProgramStep::Operation> operations_;
};

// One instruction that takes the operands in order, as kernels for a layout of the operands do, and whose result is the
// one store.
bool is_single(const ElementwiseStep& step) {
  if (step.program.size() != 1 || step.stored.size() != 1 || step.stored[0] != step.loads ||
      step.program[0].row >= kRowCount || row(row_of(step.program[0])).inputs != step.loads) {
    return false;
  }
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    if (step.program[0].sources[i] != i) {
      return false;
    }
  }
  return true;
}

// QUANTIZED_LINEAR_ADD (recipes.cpp) of tensors of one type, with all its inputs, and with scales and zero points that
// are the same throughout a tile: a kernel does it in one go. Null: this is another program.
Kernel find_quantized_add(const ElementwiseStep& step, const Step& flat, const KernelTable& kernels) {
  constexpr std::uint32_t kLoads = 8;
  constexpr RowId kRows[] = {RowId::ELEMENT_WISE_DEQUANTIZE_LINEAR, RowId::ELEMENT_WISE_DEQUANTIZE_LINEAR,
                             RowId::ELEMENT_WISE_ADD, RowId::ELEMENT_WISE_QUANTIZE_LINEAR};
  constexpr std::uint16_t kSources[][3] = {{0, 1, 2}, {3, 4, 5}, {kLoads, kLoads + 1, 0}, {kLoads + 2, 6, 7}};
  constexpr std::uint32_t kTensors[] = {0, 2, 3, 5, 7, kLoads};
  constexpr std::uint32_t kNumbers[] = {1, 2, 4, 5, 6, 7};
  if (step.loads != kLoads || step.program.size() != std::size(kRows) || step.stored.size() != 1 ||
      step.stored[0] != kLoads + 3) {
    return nullptr;
  }
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (row_of(step.program[i]) != kRows[i] ||
        !std::equal(kSources[i], kSources[i] + row(kRows[i]).inputs, step.program[i].sources)) {
      return nullptr;
    }
  }
  const DataType type = flat.operands[kLoads].type;
  const bool alike =
      std::ranges::all_of(kTensors, [&](std::uint32_t operand) { return flat.operands[operand].type == type; });
  const bool repeated = std::ranges::all_of(kNumbers, [&](std::uint32_t operand) {
    return step.nest->innermost().strides[operand] == 0 && stride_of_rows(*step.nest, operand) == 0;
  });
  return alike && repeated ? kernels.quantized_add[type == DataType::UINT8 ? 0 : 1] : nullptr;
}

std::unique_ptr<cpu::Prepared> prepare(const Step& flat, const cpu::Machine& machine) {
  const ElementwiseStep step = read_elementwise(flat);
  const KernelTable& kernels = *g_tables[static_cast<std::size_t>(machine.target)];
  if (is_single(step)) {
    const Instruction& instruction = step.program[0];
    const InnerLayout layout = step.nest->inner;
    const Kernel kernel = kernels.find(row_of(instruction), instruction.variant, layout);
    if (kernel == nullptr) {
      return nullptr;
    }
    const bool vectors = kernel != generic_kernels().find(row_of(instruction), instruction.variant, layout);
    return std::make_unique<SingleStep>(step, divide(flat, *step.nest, vectors, machine.threads), machine.target,
                                        kernel);
  }
  if (const Kernel kernel = find_quantized_add(step, flat, kernels); kernel != nullptr) {
    return std::make_unique<SingleStep>(step, divide(flat, *step.nest, true, machine.threads), machine.target, kernel);
  }
  ProgramMaker maker(step, flat, kernels);
  auto operations = maker.make();
  if (operations.empty()) {
    return nullptr;
  }
  const Division division = divide(flat, *step.nest, machine.target != cpu::Target::generic, machine.threads);
  return std::make_unique<ProgramStep>(step, division, machine.target, std::move(operations), maker.repeated(),
                                       maker.buffer_elements());
}

}  // namespace

namespace cpu {
extern const Family elementwise_family;
const Family elementwise_family = {.name = "elementwise", .open = open, .prepare = prepare};
}  // namespace cpu

}  // namespace anydml
