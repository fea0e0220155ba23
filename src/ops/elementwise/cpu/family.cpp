// SPDX-License-Identifier: MIT
// Runs element-wise steps on the CPU: chooses the kernels, cuts the loop nest into tiles and lets threads claim a few
// tiles at a time.
#include "backend/cpu/family.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/program_step.h"
#include "ops/elementwise/cpu/tiled_step.h"
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/elementwise/entries.h"
#include "ops/elementwise/joined_elements.h"

namespace anydml {
namespace {

// One table for each target that a device was opened for. Never destroyed, since threads that run the kernels may
// outlive main.
std::array<const KernelTable*, cpu::kTargets> g_tables{};

void open(cpu::Target target) {
  const KernelTable*& table = g_tables[static_cast<std::size_t>(target)];
  if (table != nullptr) {
    return;
  }
  auto new_table = std::make_unique<KernelTable>(generic_kernels());
  for (const KernelTarget& vectors : vector_targets()) {
    if (vectors.target == target) {
      vectors.replace(*new_table);
    }
  }
  table = new_table.release();
}

// Runs a single instruction and stores its result; the kernel processes whole tiles.
class SingleStep final : public TiledStep {
 public:
  SingleStep(const ElementwiseStep& step, Division division, cpu::Target target, Kernel kernel)
      : TiledStep(step, std::move(division), target),
        kernel_(kernel),
        attributes_(step.program[0].attributes),
        inputs_(step.loads) {}

  void explain(char* text, std::size_t capacity) const noexcept override { explain_as(nest().inner, text, capacity); }

 private:
  void run_block(std::byte* const* operands, const Block& block) const noexcept override {
    const auto& strides = nest().innermost().strides;
    KernelArguments arguments;
    arguments.rows = static_cast<std::size_t>(block.rows);
    arguments.columns = static_cast<std::size_t>(block.columns);
    for (std::uint32_t i = 0; i < inputs_; ++i) {
      arguments.inputs[i] = {operands[i] + block.offsets[i], stride_of_rows(nest(), i), strides[i]};
    }
    arguments.output = {operands[inputs_] + block.offsets[inputs_], stride_of_rows(nest(), inputs_), strides[inputs_]};
    arguments.attributes = &attributes_;
    kernel_(arguments);
  }

  Kernel kernel_;
  Attributes attributes_;
  std::uint32_t inputs_;
};

// Whether the step is a single instruction that reads the operands in order and stores only its result. Kernels for a
// specific operand layout require this.
bool is_single(const ElementwiseStep& step) {
  if (step.program.size() != 1 || step.stored.size() != 1 || step.stored[0] != step.loads ||
      step.program[0].entry >= EntryId::count_ || entry(step.program[0].entry).inputs != step.loads) {
    return false;
  }
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    if (step.program[0].sources[i] != i) {
      return false;
    }
  }
  return true;
}

// Returns the fused kernel for QUANTIZED_LINEAR_ADD (recipes.cpp). All tensors must have the same type, all inputs must
// be present, and scales and zero points must be constant throughout a tile. Returns null for any other program.
Kernel find_quantized_add(const ElementwiseStep& step, const Step& flat, const KernelTable& kernels) {
  constexpr std::uint32_t kLoads = 8;
  constexpr EntryId kEntries[] = {EntryId::ELEMENT_WISE_DEQUANTIZE_LINEAR, EntryId::ELEMENT_WISE_DEQUANTIZE_LINEAR,
                                  EntryId::ELEMENT_WISE_ADD, EntryId::ELEMENT_WISE_QUANTIZE_LINEAR};
  constexpr std::uint16_t kSources[][3] = {{0, 1, 2}, {3, 4, 5}, {kLoads, kLoads + 1, 0}, {kLoads + 2, 6, 7}};
  constexpr std::uint32_t kTensors[] = {0, 2, 3, 5, 7, kLoads};
  constexpr std::uint32_t kNumbers[] = {1, 2, 4, 5, 6, 7};
  if (step.loads != kLoads || step.program.size() != std::size(kEntries) || step.stored.size() != 1 ||
      step.stored[0] != kLoads + 3) {
    return nullptr;
  }
  for (std::size_t i = 0; i < std::size(kEntries); ++i) {
    if (step.program[i].entry != kEntries[i] ||
        !std::equal(kSources[i], kSources[i] + entry(kEntries[i]).inputs, step.program[i].sources)) {
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

std::unique_ptr<TiledStep> make_ready(const ElementwiseStep& step, const Step& flat, const cpu::StepContext& context) {
  const KernelTable& kernels = *g_tables[static_cast<std::size_t>(context.target)];
  if (is_single(step)) {
    const Instruction& instruction = step.program[0];
    const InnerLayout layout = step.nest->inner;
    const Kernel kernel = kernels.find(instruction.entry, instruction.variant, layout);
    if (kernel == nullptr) {
      return nullptr;
    }
    // A run keeps the broadcast number in a register, whereas the kernel would repeat it in memory.
    if ((layout == InnerLayout::first_broadcast || layout == InnerLayout::second_broadcast) &&
        kernels.find_run(instruction.entry, instruction.variant) != nullptr) {
      return make_program_step(step, flat, kernels, context);
    }
    const bool vectors = kernel != generic_kernels().find(instruction.entry, instruction.variant, layout);
    return std::make_unique<SingleStep>(step, divide(flat, *step.nest, vectors, context.threads), context.target,
                                        kernel);
  }
  if (const Kernel kernel = find_quantized_add(step, flat, kernels); kernel != nullptr) {
    return std::make_unique<SingleStep>(step, divide(flat, *step.nest, true, context.threads), context.target, kernel);
  }
  return make_program_step(step, flat, kernels, context);
}

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  return make_ready(read_elementwise(flat), flat, context);
}

std::unique_ptr<cpu::JoinedStep> prepare_joined(const Step& flat, const cpu::StepContext& context) {
  const std::optional<JoinedElements> joined = read_joined_elements(flat);
  if (!joined) {
    return nullptr;
  }
  auto ready = make_ready(joined->step.view(), flat, context);
  if (ready != nullptr) {
    ready->set_forwarded(joined->operand);
  }
  return ready;
}

}  // namespace

namespace cpu {
extern const FamilyKernels elementwise_family;
const FamilyKernels elementwise_family = {.open = open, .prepare = prepare, .prepare_joined = prepare_joined};
}  // namespace cpu

}  // namespace anydml
