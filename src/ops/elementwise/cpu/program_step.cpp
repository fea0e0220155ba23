// SPDX-License-Identifier: MIT
#include "ops/elementwise/cpu/program_step.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/inline_vector.h"
#include "ops/elementwise/cpu/runs.h"
#include "ops/elementwise/entries.h"

namespace anydml {
namespace {

// Intermediate results of a program stay in buffers in the L1 cache, which occupy kScratchBytes in total. Each buffer
// has enough elements to make a kernel call worthwhile, but at most kMaxOfBuffer, because larger buffers gain little.
constexpr std::size_t kScratchBytes = 32 << 10;
constexpr std::size_t kMaxOfBuffer = 512;
constexpr std::size_t kMinOfBuffer = 64;
constexpr std::size_t kMaxRepeated = 16;  // operands that are repeated in a buffer
constexpr std::size_t kMaxOfRun = 40;     // instructions
// A run always processes whole blocks, even if a buffer is meant for fewer elements. The block still fits, because
// every buffer element has room for a FLOAT64, twice the size of a run's FLOAT32.
static_assert(kMinOfBuffer * sizeof(f64) >= kMaxOfRunBlock * sizeof(f32));

// The location of elements: an operand or a buffer.
struct Source {
  bool is_operand;
  std::uint16_t number;
  std::int64_t stride;  // for a buffer: the size of an element in bytes

  [[nodiscard]] bool operator==(const Source& other) const {
    return is_operand == other.is_operand && number == other.number;
  }
};

struct Operation {
  Kernel kernel;
  const RunEntry* run;  // null if the operation cannot be part of a run
  std::uint32_t inputs;
  Source sources[kMaxInputs];
  Source target;
  Attributes attributes;
};

// An operand that has one element per row.
struct Repeated {
  std::uint16_t operand;
  std::uint16_t buffer;
  std::size_t size;  // size of an element
};

// A step of a run before its addresses are known.
struct PlannedStep {
  RunFunction function;
  bool has_location = false;
  bool stores = false;
  Source location = {};
  alignas(16) std::array<std::byte, kRunScalarBytes> scalar = {};
};

// A stage processes a part of a row at a time: either one operation, or the steps of a run.
struct Stage {
  bool is_run;
  std::size_t first;
  std::size_t count;  // number of steps of a run
};

struct Schedule {
  std::vector<Operation> operations;
  std::vector<PlannedStep> steps;
  std::vector<Stage> stages;

  // Whether the whole program is a single run. In that case no buffer contains more than one block.
  [[nodiscard]] bool is_one_run() const { return stages.size() == 1 && stages[0].is_run; }
};

// Runs a program on one part of a row at a time, stage by stage, so that values passed between stages never leave the
// cache. Stores happen after the whole program has run, because an output may overlap an input; only the last
// instruction writes directly to its destination. An operand that has one element per row is first repeated in a
// buffer, so that every kernel reads contiguous elements.
class ProgramStep final : public TiledStep {
 public:
  ProgramStep(const ElementwiseStep& step, Division division, cpu::Target target, const RunKernels& runs,
              Schedule schedule, std::vector<Repeated> repeated, std::size_t buffer_elements)
      : TiledStep(step, std::move(division), target),
        runs_(runs),
        schedule_(std::move(schedule)),
        repeated_(std::move(repeated)),
        elements_(buffer_elements) {}

  void explain(char* text, std::size_t capacity) const noexcept override {
    explain_as(schedule_.is_one_run() || nest().inner == InnerLayout::contiguous ? nest().inner : InnerLayout::strided,
               text, capacity);
  }

 private:
  struct ValueLocation {
    std::byte* data;
    std::int64_t stride;
  };

  void run_block(std::byte* const* operands, const Block& block) const noexcept override {
    alignas(64) std::byte scratch[kScratchBytes];
    const std::size_t buffer_bytes = elements_ * sizeof(f64);
    const bool one_run = schedule_.is_one_run();
    const std::int64_t step = one_run ? block.columns : static_cast<std::int64_t>(elements_);
    const std::size_t filled = one_run ? runs_.block : std::min(elements_, static_cast<std::size_t>(block.columns));
    for (std::int64_t row = 0; row < block.rows; ++row) {
      for (const Repeated& repeated : repeated_) {
        const std::int64_t row_stride = stride_of_rows(nest(), repeated.operand);
        if (row == 0 || row_stride != 0) {
          repeat(operands[repeated.operand] + block.offsets[repeated.operand] + row * row_stride, repeated.size, filled,
                 scratch + repeated.buffer * buffer_bytes);
        }
      }
      for (std::int64_t column = 0; column < block.columns; column += step) {
        const auto location_of = [&](const Source& source) -> ValueLocation {
          if (!source.is_operand) {
            return {scratch + source.number * buffer_bytes, source.stride};
          }
          const std::int64_t stride = nest().innermost().strides[source.number];
          return {operands[source.number] + block.offsets[source.number] + row * stride_of_rows(nest(), source.number) +
                      column * stride,
                  stride};
        };
        const auto columns = static_cast<std::size_t>(std::min(step, block.columns - column));
        for (const Stage& stage : schedule_.stages) {
          if (stage.is_run) {
            run_steps(stage, columns, location_of);
          } else {
            run_operation(schedule_.operations[stage.first], columns, location_of);
          }
        }
      }
    }
  }

  template <class LocationOf>
  static void run_operation(const Operation& operation, std::size_t columns, LocationOf location_of) noexcept {
    KernelArguments arguments;
    arguments.rows = 1;
    arguments.columns = columns;
    for (std::uint32_t i = 0; i < operation.inputs; ++i) {
      const ValueLocation location = location_of(operation.sources[i]);
      arguments.inputs[i] = {location.data, 0, location.stride};
    }
    const ValueLocation location = location_of(operation.target);
    arguments.output = {location.data, 0, location.stride};
    arguments.attributes = &operation.attributes;
    operation.kernel(arguments);
  }

  template <class LocationOf>
  void run_steps(const Stage& stage, std::size_t columns, LocationOf location_of) const noexcept {
    RunStep steps[kMaxOfRun * 3 + 1];
    const std::size_t buffer_mask = schedule_.is_one_run() ? 0 : ~std::size_t{0};
    for (std::size_t i = 0; i < stage.count; ++i) {
      const PlannedStep& planned = schedule_.steps[stage.first + i];
      const bool is_tensor = planned.has_location && planned.location.is_operand;
      steps[i] = {.function = planned.function,
                  .data = planned.has_location ? location_of(planned.location).data : nullptr,
                  .mask = is_tensor ? ~std::size_t{0} : buffer_mask,
                  .scalar = planned.scalar.data(),
                  .tensor = is_tensor ? planned.location.number : -1,
                  .stores = planned.stores};
    }
    runs_.run(steps, stage.count, columns);
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

  const RunKernels& runs_;
  Schedule schedule_;
  std::vector<Repeated> repeated_;
  std::size_t elements_;  // elements per buffer
};

// Assigns a buffer to each result of a program for as long as the result is needed, and chooses the kernels.
class ProgramMaker {
 public:
  ProgramMaker(const ElementwiseStep& step, const Step& flat, const KernelTable& kernels)
      : step_(step), flat_(flat), kernels_(kernels), last_use_(step.program.size()) {
    operations_.reserve(step.program.size() + step.stored.size());
  }

  // Returns an empty list if the program needs a kernel that does not exist.
  std::vector<Operation> make() {
    const std::size_t count = step_.program.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Entry* of = entry_at(i);
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
      last_use_[value - step_.loads] = count;  // it is stored after all instructions
    }
    for (std::uint32_t load = 0; load < step_.loads; ++load) {
      if (step_.nest->innermost().strides[load] == 0 && repeated_.size() < kMaxRepeated) {
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

  [[nodiscard]] std::vector<Repeated> take_repeated() { return std::move(repeated_); }

  [[nodiscard]] std::size_t buffer_elements() const {
    return std::min(kMaxOfBuffer, kScratchBytes / (std::max<std::size_t>(busy_until_.size(), 1) * sizeof(f64)));
  }

 private:
  // Returns null if the entry or variant does not exist.
  [[nodiscard]] const Entry* entry_at(std::size_t i) const {
    const Instruction& instruction = step_.program[i];
    if (instruction.entry >= EntryId::count_ || instruction.variant >= entry(instruction.entry).variants.size()) {
      return nullptr;
    }
    return &entry(instruction.entry);
  }

  [[nodiscard]] std::int64_t result_bytes(std::size_t i) const {
    const Entry& of = *entry_at(i);
    return static_cast<std::int64_t>(element_size(of.variants[step_.program[i].variant][of.inputs]));
  }

  [[nodiscard]] Source source_of(std::size_t value) const {
    if (value < step_.loads) {
      for (const Repeated& repeated : repeated_) {
        if (repeated.operand == value) {
          return {.is_operand = false, .number = repeated.buffer, .stride = static_cast<std::int64_t>(repeated.size)};
        }
      }
      return {.is_operand = true, .number = static_cast<std::uint16_t>(value), .stride = 0};
    }
    return {.is_operand = false, .number = buffers_[value - step_.loads], .stride = result_bytes(value - step_.loads)};
  }

  [[nodiscard]] bool is_contiguous(const Source& source) const {
    return !source.is_operand || step_.nest->innermost().strides[source.number] ==
                                     static_cast<std::int64_t>(element_size(flat_.operands[source.number].type));
  }

  bool add_operation(Operation& operation, EntryId id, std::uint32_t variant) {
    bool contiguous = is_contiguous(operation.target);
    for (std::uint32_t i = 0; i < operation.inputs; ++i) {
      contiguous = contiguous && is_contiguous(operation.sources[i]);
    }
    operation.kernel = kernels_.find(id, variant, contiguous ? InnerLayout::contiguous : InnerLayout::strided);
    operation.run = contiguous ? kernels_.find_run(id, variant) : nullptr;
    operations_.push_back(operation);
    return operation.kernel != nullptr;
  }

  // Returns a buffer that is free at instruction i, or a new one.
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
    const Entry& of = *entry_at(i);
    Operation operation{};
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
    return busy_until_.size() * kMinOfBuffer * sizeof(f64) <= kScratchBytes &&
           add_operation(operation, of.id, instruction.variant);
  }

  bool add_store(std::size_t store, std::size_t result) {
    const Entry& identity = entry(EntryId::ELEMENT_WISE_IDENTITY);
    Operation operation{};
    operation.inputs = 1;
    operation.sources[0] = source_of(step_.loads + result);
    operation.target = {.is_operand = true, .number = static_cast<std::uint16_t>(step_.loads + store), .stride = 0};
    return add_operation(operation, identity.id, find_variant(identity, flat_.operands[operation.target.number].type));
  }

  const ElementwiseStep& step_;
  const Step& flat_;
  const KernelTable& kernels_;
  InlineVector<std::size_t, 16> last_use_;    // for each result, the last instruction that reads it
  InlineVector<std::uint16_t, 16> buffers_;   // for each result so far
  InlineVector<std::size_t, 16> busy_until_;  // for each buffer, the last instruction that reads its contents
  std::vector<Repeated> repeated_;
  std::vector<Operation> operations_;
};

// Combines consecutive operations into runs. A run has at least two operations, unless the program has only one.
class Scheduler {
 public:
  Scheduler(std::vector<Operation> operations, const std::vector<Repeated>& repeated, const RunKernels& runs)
      : repeated_(repeated), runs_(runs) {
    result_.operations = std::move(operations);
  }

  Schedule make() {
    const std::size_t count = result_.operations.size();
    result_.steps.reserve(3 * count + 1);
    for (std::size_t i = 0, end = 0; i < count; i = end) {
      for (end = i; end < count && end - i < kMaxOfRun && result_.operations[end].run != nullptr;) {
        ++end;
      }
      if (end - i >= 2 || end - i == count) {
        add_run(i, end);
      } else {
        result_.stages.push_back({.is_run = false, .first = i, .count = 0});
        end = i + 1;
      }
    }
    return std::move(result_);
  }

 private:
  void add_run(std::size_t begin, std::size_t end) {
    const std::size_t first = result_.steps.size();
    for (std::size_t i = begin; i < end; ++i) {
      const Operation& operation = result_.operations[i];
      const auto in_registers = [&](const Source& source) {
        return i != begin && source == result_.operations[i - 1].target;
      };
      const bool has_second = operation.inputs == 2;
      const bool second_is_in = has_second && in_registers(operation.sources[1]);
      bool first_is_in = in_registers(operation.sources[0]);
      if (!first_is_in && !second_is_in) {
        result_.steps.push_back({.function = runs_.load, .has_location = true, .location = operation.sources[0]});
        first_is_in = true;
      }
      const bool both = first_is_in && has_second && (second_is_in || operation.sources[0] == operation.sources[1]);
      RunInputs in = both ? RunInputs::both : first_is_in ? RunInputs::first : RunInputs::second;
      PlannedStep step{};
      if (has_second && !both) {
        step.has_location = true;
        step.location = operation.sources[first_is_in ? 1 : 0];
        if (is_number(step.location)) {
          in = first_is_in ? RunInputs::first_and_number : RunInputs::second_and_number;
        }
      }
      step.function = operation.run->functions[static_cast<std::size_t>(in)];
      operation.run->prepare(operation.attributes, step.scalar.data());
      result_.steps.push_back(step);
      if (operation.target.is_operand || is_read_again(i, end)) {
        result_.steps.push_back(
            {.function = runs_.store, .has_location = true, .stores = true, .location = operation.target});
      }
    }
    result_.steps.push_back({.function = runs_.end});
    result_.stages.push_back({.is_run = true, .first = first, .count = result_.steps.size() - first});
  }

  [[nodiscard]] bool is_number(const Source& source) const {
    return !source.is_operand &&
           std::ranges::any_of(repeated_, [&](const Repeated& repeated) { return repeated.buffer == source.number; });
  }

  // Whether the result of operation i, in a buffer, is read by any operation other than the next one in its run, which
  // ends before `end`.
  [[nodiscard]] bool is_read_again(std::size_t i, std::size_t end) const {
    const Source& target = result_.operations[i].target;
    for (std::size_t later = i + 1; later < result_.operations.size(); ++later) {
      const Operation& operation = result_.operations[later];
      const bool reads = std::find(operation.sources, operation.sources + operation.inputs, target) !=
                         operation.sources + operation.inputs;
      if (reads && (later != i + 1 || later >= end)) {
        return true;
      }
      if (operation.target == target) {
        return false;
      }
    }
    return false;
  }

  const std::vector<Repeated>& repeated_;
  const RunKernels& runs_;
  Schedule result_;
};

}  // namespace

std::unique_ptr<TiledStep> make_program_step(const ElementwiseStep& step, const Step& flat, const KernelTable& kernels,
                                             const cpu::StepContext& context) {
  ProgramMaker maker(step, flat, kernels);
  auto operations = maker.make();
  if (operations.empty()) {
    return nullptr;
  }
  std::vector<Repeated> repeated = maker.take_repeated();
  Schedule schedule = Scheduler(std::move(operations), repeated, kernels.runs).make();
  Division division = divide(flat, *step.nest, context.target != cpu::Target::generic, context.threads);
  return std::make_unique<ProgramStep>(step, std::move(division), context.target, kernels.runs, std::move(schedule),
                                       std::move(repeated), maker.buffer_elements());
}

}  // namespace anydml
