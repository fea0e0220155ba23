// SPDX-License-Identifier: MIT
// The family of operators that reduce axes: REDUCE, ARGMIN and ARGMAX, and DYNAMIC_QUANTIZE_LINEAR, which consists of
// reductions and element-wise operators.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "ops/arguments.h"
#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "ops/reduce/dynamic_quantize.h"
#include "ops/reduce/step.h"
#include "plan/reshape.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_REDUCE_ENTRY(op) #op,
#include "ops/reduce/reduce.def"
};

constexpr std::string_view kFunctions[] = {
#define ANYDML_REDUCE_FUNCTION(name) #name,
#define ANYDML_REDUCE_COMPOSED(name) #name,
#include "ops/reduce/reduce.def"
};

constexpr std::string_view kComposed[] = {
#define ANYDML_REDUCE_COMPOSED(name) #name,
#include "ops/reduce/reduce.def"
};

constexpr TypeSet kFunctionTypes = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
constexpr TypeSet kIndexTypes =
    type_bit(DataType::UINT32) | type_bit(DataType::INT32) | type_bit(DataType::UINT64) | type_bit(DataType::INT64);

u64 number_of(const schema::Argument* argument) {
  return argument != nullptr && !argument->numbers.empty() ? argument->numbers.front().as<u64>() : 0;
}

// DirectML's enumeration value for a function.
u64 directml_value(std::string_view function) {
  return *facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"), function);
}

// The name of the operator's function. Empty if DirectML has no function with this number.
std::string_view function_name(const OpDesc& desc) {
  if (desc.op->name != "REDUCE") {
    return desc.op->name;  // ARGMIN and ARGMAX
  }
  const u64 wanted = number_of(find_argument(desc, "Function"));
  const auto found = std::ranges::find(kFunctions, wanted, directml_value);
  return found == std::end(kFunctions) ? std::string_view() : *found;
}

bool is_composed(std::string_view function) { return std::ranges::find(kComposed, function) != std::end(kComposed); }

// Only called for functions that have steps.
ReduceFunction function_of(const OpDesc& desc) {
  return static_cast<ReduceFunction>(std::ranges::find(kFunctions, function_name(desc)) - std::begin(kFunctions));
}

Status check_types(const OpDesc& desc, std::string_view name) {
  const OpTensor& input = desc.tensors[0];
  const OpTensor& output = desc.output();
  if (name == "ARGMAX" || name == "ARGMIN") {
    if ((kIndexTypes & type_bit(output.tensor.type)) == 0) {
      return invalid(
          desc, output,
          format_text("type is {}; expected {} for {}", type_name(output.tensor.type), type_names(kIndexTypes), name));
    }
    return {};
  }
  if (is_composed(name) && (kFunctionTypes & type_bit(input.tensor.type)) == 0) {
    return invalid(
        desc, input,
        format_text("type is {}; expected {} for {}", type_name(input.tensor.type), type_names(kFunctionTypes), name));
  }
  const bool floats_alone = name == "AVERAGE" || name == "L2";
  if (floats_alone && !is_float_type(input.tensor.type)) {
    return invalid(desc, input,
                   format_text("type is {}; expected a float type for {}", type_name(input.tensor.type), name));
  }
  if (output.tensor.type != input.tensor.type) {
    return invalid(desc, output,
                   format_text("type is {}; expected {}, the type of {}", type_name(output.tensor.type),
                               type_name(input.tensor.type), input.name));
  }
  return {};
}

Status check_sizes(const OpDesc& desc) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& output = desc.output().tensor;
  TensorDesc expected = input;
  const std::uint32_t axes = axes_of(desc);
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    expected.sizes[i] = (axes >> i & 1) != 0 ? 1 : input.sizes[i];
  }
  if (output.rank != input.rank || !std::equal(expected.sizes, expected.sizes + input.rank, output.sizes)) {
    return invalid(desc, desc.output(),
                   format_text("sizes are {}; expected {}, those of {} with 1 for the axes that are reduced",
                               shape_text(output.sizes, output.rank), shape_text(expected.sizes, expected.rank),
                               desc.tensors[0].name));
  }
  if (!desc.empty && element_count(input) == 0) {
    return invalid(desc, desc.tensors[0],
                   format_text("sizes are {}; expected an element to reduce", shape_text(input.sizes, input.rank)));
  }
  return {};
}

Status check(const OpDesc& desc) {
  if (desc.op->name == kDynamicQuantize) {
    return check_dynamic_quantize(desc);
  }
  const std::string_view function = function_name(desc);
  if (function.empty()) {
    return invalid({desc.op->name, "Function"}, format_text("is {}; expected a value of DML_REDUCE_FUNCTION",
                                                            number_of(find_argument(desc, "Function"))));
  }
  ANYDML_TRY(check_types(desc, function));
  ANYDML_TRY(check_axes(desc));
  return check_sizes(desc);
}

ReduceStep make_step(const OpDesc& desc, const TensorDesc& input, const TensorDesc& output) {
  const AxisLoops loops = split_axes(input, output, axes_of(desc));
  ReduceStep step{};
  step.function = function_of(desc);
  step.input_type = input.type;
  step.output_type = output.type;
  step.takes_last = number_of(find_argument(desc, "AxisDirection")) != 0 ? 1 : 0;
  step.has_lanes = loops.has_lanes;
  step.kept_rank = loops.kept_rank;
  step.reduced_rank = loops.reduced_rank;
  step.input_offset = loops.input_offset;
  step.output_offset = loops.output_offset;
  step.outputs = loops.outputs;
  step.count = loops.count;
  std::ranges::copy(loops.kept, step.kept);
  std::ranges::copy(loops.reduced, step.reduced);
  return step;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  ReduceStep step = make_step(desc, tensors[0].tensor, tensors[1].tensor);
  const auto add = [&](ReducePhase phase, const Operand& from, const Operand& to) {
    step.phase = phase;
    const Operand operands[] = {from, to};
    plan.add(static_cast<std::uint32_t>(FamilyId::reduce), operands, std::as_bytes(std::span(&step, 1)));
  };
  if (step.blocks() == 1) {
    add(ReducePhase::whole, tensors[0].operand(), tensors[1].operand());
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(step.outputs * step.blocks() * partial_bytes(step.function));
  const Operand partials{.slot = plan.temporary_slot(), .type = DataType::UINT8, .offset = plan.take_temporary(bytes)};
  add(ReducePhase::blocks, tensors[0].operand(), partials);
  add(ReducePhase::combine, partials, tensors[1].operand());
}

// Whether a reduction should consume elements while they are computed, in memory order. If the reduction jumps often,
// or if threads share rows with many columns, every operand of the joined step would be read in short pieces. Unless
// the tensors are small, that takes longer than writing the elements to memory and reading them again.
bool takes_computed(const ReduceStep& step) {
  constexpr std::int64_t kSmall = 1 << 16;       // in elements
  constexpr std::int64_t kShortRun = 64;         // elements between two jumps
  constexpr std::int64_t kLongRun = 1 << 14;     // elements that make a jump worthwhile
  constexpr std::int64_t kMaxColumns = 1 << 11;  // longest row that one thread processes
  constexpr std::int64_t kEnoughUnits = 16;      // blocks of such rows, enough for all threads
  const bool is_small = step.outputs * step.count <= kSmall;
  const std::int64_t columns = step.has_lanes != 0 ? 1 : step.kept[step.kept_rank - 1].size;
  const std::int64_t run = step.reduced[step.reduced_rank - 1].size * columns;
  if (step.reduced_rank > 1 && run < (is_small ? kShortRun : kLongRun)) {
    return false;
  }
  if (step.has_lanes != 0) {
    return true;
  }
  const bool has_whole_rows =  // false if the output's layout differs from the input's
      step.reduced[step.reduced_rank - 1].input == columns * static_cast<std::int64_t>(element_size(step.input_type));
  return has_whole_rows && columns <= kMaxColumns &&
         (is_small || step.outputs / columns * step.blocks() >= kEnoughUnits);
}

Joins joins(const OpDesc& desc, const DeviceTraits&) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const ReduceStep step = make_step(desc, input, desc.output().tensor);
  bool in_order = step.output_offset == 0;  // whether outputs are passed on in ascending order
  auto stride = static_cast<std::int64_t>(element_size(step.output_type));
  for (std::uint32_t i = step.kept_rank; i-- > 0; stride *= step.kept[i].size) {
    in_order = in_order && (step.kept[i].size == 1 || step.kept[i].output == stride);
  }
  const bool takes = step.count > 1 && is_packed(input) && takes_computed(step);
  return {.inputs = takes ? 1U : 0U, .outputs = in_order ? 1U : 0U};
}

// LOG_SUM is the logarithm of the sum. LOG_SUM_EXP uses the differences from the maximum, so that no exponential
// overflows. An infinite maximum is clamped to the nearest finite number, so that no difference is between two
// infinities. All intermediate values are FLOAT32.
Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits&, const KnownInputs&) {
  if (desc.op->name == kDynamicQuantize) {
    return decompose_dynamic_quantize(desc);
  }
  const std::string_view function = function_name(desc);
  DecompositionBuilder list(desc);
  if (!is_composed(function)) {
    return Decomposition();
  }
  const TensorDesc& whole = desc.tensors[0].tensor;
  const TensorDesc& reduced = desc.output().tensor;
  const bool is_half = whole.type == DataType::FLOAT16;
  const auto widened = [&](std::uint32_t value, const TensorDesc& like) {
    return is_half ? list.add("CAST", {value}, DataType::FLOAT32, like) : value;
  };
  const auto reduce = [&](std::uint32_t value, std::string_view by, DataType type) {
    OpAttribute axes{.field = "Axes", .numbers = {}};
    if (const schema::Argument* given = find_argument(desc, "Axes"); given != nullptr) {
      axes.numbers = given->numbers;
    }
    return list.add("REDUCE", {value}, type, reduced,
                    {{.field = "Function", .numbers = {Scalar(directml_value(by))}}, axes});
  };
  std::uint32_t elements = 0;  // the input
  std::uint32_t shift = 0;
  if (function == "LOG_SUM_EXP") {
    constexpr f64 kMax = std::numeric_limits<f32>::max();
    shift =
        list.add("ELEMENT_WISE_CLIP", {widened(reduce(elements, "MAX", whole.type), reduced)}, DataType::FLOAT32,
                 reduced, {{.field = "Min", .numbers = {Scalar(-kMax)}}, {.field = "Max", .numbers = {Scalar(kMax)}}});
    elements = list.add("ELEMENT_WISE_SUBTRACT", {widened(elements, whole), shift}, DataType::FLOAT32, whole);
    elements = list.add("ELEMENT_WISE_EXP", {elements}, DataType::FLOAT32, whole);
  } else {
    elements = widened(elements, whole);
  }
  std::uint32_t result = reduce(elements, "SUM", DataType::FLOAT32);
  if (function == "LOG_SUM" && !is_half) {
    list.add_output("ELEMENT_WISE_LOG", {result}, 0);
    return list.finish();
  }
  result = list.add("ELEMENT_WISE_LOG", {result}, DataType::FLOAT32, reduced);
  if (function == "LOG_SUM_EXP" && !is_half) {
    list.add_output("ELEMENT_WISE_ADD", {result, shift}, 0);
    return list.finish();
  }
  if (function == "LOG_SUM_EXP") {
    result = list.add("ELEMENT_WISE_ADD", {result, shift}, DataType::FLOAT32, reduced);
  }
  list.add_output("CAST", {result}, 0);
  return list.finish();
}

}  // namespace

extern const Family reduce_family;
const Family reduce_family = {
    .id = FamilyId::reduce,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types =
        [](const facts::Operator& op, std::size_t position) {
          return op.name == kDynamicQuantize            ? dynamic_quantize_types(position)
                 : position == 0 || op.name == "REDUCE" ? all_types()
                                                        : kIndexTypes;
        },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = joins,
    .decompose = decompose,
};

}  // namespace anydml
