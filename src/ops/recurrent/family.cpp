// SPDX-License-Identifier: MIT
// The family of recurrent networks. RNN, LSTM and GRU become a GEMM, which multiplies the inputs of all time steps by
// the weights, and two operators internal to this family: RECURRENT_PACK, which packs the recurrence matrix for the
// kernels, and RECURRENT, which runs the time steps. If the weights of an LSTM are integers, the inputs are quantized,
// and an integer product takes the place of GEMM.
#include "ops/family.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "ops/arguments.h"
#include "ops/decomposition.h"
#include "ops/dynamic_scale.h"
#include "ops/op_desc.h"
#include "ops/product/integer_step.h"
#include "ops/product/step.h"
#include "ops/recurrent/step.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

struct RecurrentEntry {
  std::string_view name;
  RecurrentKind kind;
  std::uint32_t gates;
  std::uint32_t activations;
};
constexpr RecurrentEntry kRecurrentEntries[] = {
#define ANYDML_RECURRENT_ENTRY(op, kind, gates, activations) {#op, RecurrentKind::kind, gates, activations},
#include "ops/recurrent/recurrent.def"
};
const RecurrentEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kRecurrentEntries, name, &RecurrentEntry::name);
  return found == std::end(kRecurrentEntries) ? nullptr : found;
}

constexpr std::string_view kActivations[] = {
#define ANYDML_RECURRENT_ACTIVATION(op, definition) #op,
#include "ops/recurrent/recurrent.def"
};

constexpr facts::Operator internal_operator(std::string_view name) {
  facts::Operator op{};
  op.name = name;
  return op;
}
constexpr facts::Operator kPack = internal_operator("RECURRENT_PACK");
constexpr facts::Operator kRecurrent = internal_operator("RECURRENT");

constexpr std::uint32_t kX = 0;
constexpr std::uint32_t kW = 1;
constexpr std::uint32_t kR = 2;
constexpr std::uint32_t kRank = 4;
constexpr std::uint32_t kBidirectional = 2;

// The tensors of a network that RECURRENT uses directly, and the operand for each.
struct NamedOperand {
  std::string_view name;
  RecurrentOperand operand;
};
constexpr NamedOperand kNamedInputs[] = {{"BiasTensor", kRecurrentBias},
                                         {"HiddenInitTensor", kRecurrentHiddenInit},
                                         {"CellMemInitTensor", kRecurrentCellInit},
                                         {"SequenceLengthsTensor", kRecurrentLengths},
                                         {"PeepholeTensor", kRecurrentPeephole}};
// Of weights that are integers.
constexpr std::string_view kScales[] = {"WeightScaleTensor", "RecurrenceScaleTensor"};
constexpr std::string_view kZeroPoints[] = {"WeightZeroPointTensor", "RecurrenceZeroPointTensor"};
constexpr NamedOperand kNamedCodes[] = {{kScales[1], kRecurrentScale}, {kZeroPoints[1], kRecurrentZero}};
constexpr RecurrentOperand kOutputs[] = {kRecurrentSequence, kRecurrentSingle, kRecurrentCellSingle};

// The index of an input of the network, or kNoValue if it does not exist or is absent.
std::uint32_t find_input(const OpDesc& desc, std::string_view name) {
  for (std::uint32_t i = 0; i < desc.input_count; ++i) {
    if (desc.tensors[i].name == name) {
      return desc.tensors[i].present ? i : kNoValue;
    }
  }
  return kNoValue;
}

bool has_codes(const facts::Operator& op) { return op.name == "DYNAMIC_QUANTIZE_LSTM"; }

std::string_view name_at(const facts::Operator& op, std::size_t position) {
  for (const bool inputs : {true, false}) {
    for (const facts::Field& field : op.fields) {
      if ((inputs ? facts::is_input(field.kind) : facts::is_output(field.kind)) && position-- == 0) {
        return field.name;
      }
    }
  }
  return {};
}

TypeSet types(const facts::Operator& op, std::size_t position) {
  const std::string_view name = name_at(op, position);
  if (name == "SequenceLengthsTensor") {
    return type_bit(DataType::UINT32);
  }
  if (!has_codes(op)) {
    return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
  }
  const bool is_codes = name == "WeightTensor" || name == "RecurrenceTensor" ||
                        std::ranges::find(kZeroPoints, name) != std::end(kZeroPoints);
  return is_codes ? type_bit(DataType::UINT8) | type_bit(DataType::INT8) : type_bit(DataType::FLOAT32);
}

// The rules of LSTM say nothing about the tensors of integers.
Status check_codes(const OpDesc& desc) {
  const TensorDesc& x = desc.tensors[kX].tensor;
  const TensorDesc& r = desc.tensors[kR].tensor;
  if (x.sizes[1] != 0 && x.sizes[3] == 0) {
    return invalid(desc, desc.tensors[kX], "has time steps without inputs; expected an element to quantize");
  }
  const std::int64_t wanted[] = {1, 1, r.sizes[1], r.sizes[2]};
  for (const auto& names : {kScales, kZeroPoints}) {
    for (const std::string_view name : std::span(names, 2)) {
      const std::uint32_t input = find_input(desc, name);
      if (input != kNoValue && !std::ranges::equal(std::span(desc.tensors[input].tensor.sizes, kRank), wanted)) {
        const TensorDesc& given = desc.tensors[input].tensor;
        return invalid(desc, desc.tensors[input],
                       format_text("sizes are {}; expected {}, a number for each row of RecurrenceTensor",
                                   shape_text(given.sizes, given.rank), shape_text(wanted, kRank)));
      }
    }
  }
  return {};
}

// The documented rules cover the sizes and the activations that can be fused.
Status check(const OpDesc& desc) {
  for (const OpTensor& tensor : desc.tensors) {
    if (tensor.present && tensor.tensor.rank != kRank) {
      return invalid(desc, tensor,
                     format_text("has {} dimension{}; expected {}", tensor.tensor.rank,
                                 tensor.tensor.rank == 1 ? "" : "s", kRank));
    }
  }
  // A time step consists of one or two phases of a plan's step.
  constexpr std::int64_t kMaxSteps = std::numeric_limits<std::int32_t>::max();
  const std::int64_t steps = desc.tensors[kX].tensor.sizes[1];
  const std::int64_t units = desc.tensors[kR].tensor.sizes[3];
  if (steps >= kMaxSteps) {
    return invalid(desc, desc.tensors[kX], format_text("has {} time steps; expected fewer than {}", steps, kMaxSteps));
  }
  if (units >= kMaxSteps) {
    return invalid(desc, desc.tensors[kR], format_text("has {} units; expected fewer than {}", units, kMaxSteps));
  }
  if (has_codes(*desc.op)) {
    ANYDML_TRY(check_codes(desc));
  }
  const schema::Argument* const activations = find_argument(desc, "ActivationDescs");
  for (std::size_t i = 0; activations != nullptr && i < activations->operators.size(); ++i) {
    const std::string_view name = activations->operators[i].op->name;
    if (std::ranges::find(kActivations, name) == std::end(kActivations)) {
      return Error{ErrorKind::unsupported,
                   format_text("{}: ActivationDescs[{}] is {}, which is not implemented yet", desc.op->name, i, name)};
    }
  }
  return {};
}

RecurrentActivation activation_of(const schema::Described& nested) {
  const auto* const found = std::ranges::find(kActivations, nested.op->name);
  RecurrentActivation built{.function = static_cast<RecurrentFunction>(found - std::begin(kActivations)), .values = {}};
  std::size_t next = 0;
  for (std::size_t i = 0; i < nested.op->fields.size(); ++i) {
    if (facts::is_attribute(nested.op->fields[i].kind) && next < std::size(built.values)) {
      const std::vector<Scalar>& numbers = nested.arguments[i].numbers;
      built.values[next++] = numbers.empty() ? 0.0F : numbers.front().as<f32>();
    }
  }
  return built;
}

// The parameters of a step, except for the strides.
RecurrentStep step_of(const OpDesc& desc, const DeviceTraits& device) {
  const RecurrentEntry& entry = *find_entry(desc.op->name);
  const auto flag = [&](std::string_view field) { return number_of(desc, field).as<u64>() != 0 ? 1U : 0U; };
  const u64 direction = number_of(desc, "Direction").as<u64>();
  const TensorDesc& x = desc.tensors[kX].tensor;
  RecurrentStep step{};
  step.kind = entry.kind;
  step.gates = entry.gates;
  step.is_half = x.type == DataType::FLOAT16 ? 1 : 0;
  step.directions = direction == kBidirectional ? 2 : 1;
  step.backward = direction == kBidirectional ? 2U : direction != 0 ? 1U : 0U;
  step.clips = flag("UseClipThreshold");
  step.clip = number_of(desc, "ClipThreshold").as<f32>();
  step.couples = flag("CoupleInputForget");
  step.linear_before_reset = flag("LinearBeforeReset");
  step.steps = x.sizes[1];
  step.rows = x.sizes[2];
  step.units = desc.tensors[kR].tensor.sizes[3];
  // On devices that do not pack weights, one panel contains all units.
  step.panel = device.packs_weights() ? panel_columns(device.vector_bytes) : static_cast<std::uint32_t>(step.units);
  step.strip = device.packs_weights() ? strip_rows(device.vector_bytes) : 1;
  if (has_codes(*desc.op)) {
    const bool is_signed = desc.tensors[kR].tensor.type == DataType::INT8;
    step.codes = is_signed ? RecurrentCodes::signed_bytes : RecurrentCodes::unsigned_bytes;
    step.panel = std::max(kMinCodePanel, integer_panel_columns(device.vector_bytes));
    step.strip = 1;
  }
  const schema::Argument* const activations = find_argument(desc, "ActivationDescs");
  for (std::uint32_t i = 0; i < step.directions * entry.activations; ++i) {
    step.activations[i / entry.activations][i % entry.activations] = activation_of(activations->operators[i]);
  }
  return step;
}

// ---- Decomposition --------------------------------------------------------------------------------------------------

Error too_large(const OpDesc& desc) {
  return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
}

Result<TensorDesc> packed_tensor(const OpDesc& desc, std::initializer_list<std::int64_t> sizes,
                                 DataType type = DataType::FLOAT32) {
  TensorDesc built{.type = type, .rank = static_cast<std::uint32_t>(sizes.size()), .sizes = {}, .strides = {}};
  std::ranges::copy(sizes, built.sizes);
  if (!set_packed_strides(built)) {
    return too_large(desc);
  }
  return built;
}

// Multiplies the inputs of all time steps by the weights: {directions, steps, rows, gates * units}.
Result<std::uint32_t> add_product(DecompositionBuilder& list, const OpDesc& desc, const RecurrentStep& step) {
  std::uint32_t x = kX;
  std::uint32_t w = kW;
  if (step.is_half != 0) {
    x = list.add("CAST", {x}, DataType::FLOAT32, list.tensor(x));
    w = list.add("CAST", {w}, DataType::FLOAT32, list.tensor(w));
  }
  // All directions share the inputs, and all time steps share the weights of a direction.
  TensorDesc inputs = list.tensor(x);
  inputs.sizes[0] = step.directions;
  inputs.strides[0] = 0;
  list.see(x, inputs);
  TensorDesc weights = list.tensor(w);
  weights.sizes[0] = step.directions;
  weights.strides[0] = weights.strides[1];
  weights.sizes[1] = step.steps;
  weights.strides[1] = 0;
  list.see(w, weights);
  const auto result = packed_tensor(desc, {std::int64_t{step.directions}, step.steps, step.rows, weights.sizes[2]});
  ANYDML_TRY(result);
  return list.add_as(
      "GEMM", {x, w, kNoValue}, result.value(),
      {{"TransA", {Scalar(u64{0})}}, {"TransB", {Scalar(u64{1})}}, {"Alpha", {Scalar(1.0)}}, {"Beta", {Scalar(0.0)}}});
}

// Makes subsequent parts see a value with these sizes. Returns the value, or a copy of it if no strides describe such a
// view.
std::uint32_t seen_as(DecompositionBuilder& list, std::uint32_t value, std::initializer_list<std::int64_t> sizes) {
  auto view = reshaped(list.tensor(value), sizes);
  if (!view.has_value()) {
    value = list.add("ELEMENT_WISE_IDENTITY", {value}, list.tensor(value).type, list.tensor(value));
    view = reshaped(list.tensor(value), sizes);
  }
  list.see(value, *view);
  return value;
}

// The same with weights that are integers. The inputs of all time steps are quantized together, and the weights of all
// directions are the columns of one matrix.
Result<std::uint32_t> add_integer_product(DecompositionBuilder& list, const OpDesc& desc, const RecurrentStep& step) {
  const TensorDesc x = list.tensor(kX);
  const std::int64_t rows = step.steps * step.rows;
  const std::int64_t columns = step.gates * step.units;
  const std::int64_t all_columns = step.directions * columns;
  const auto one = packed_tensor(desc, {1, 1, 1, 1});
  const auto result = packed_tensor(desc, {1, 1, rows, all_columns});
  ANYDML_TRY(one);
  ANYDML_TRY(result);
  const DynamicScale scale = add_dynamic_scale(list, kX, DataType::UINT8, one.value());
  std::uint32_t codes =
      list.add("ELEMENT_WISE_QUANTIZE_LINEAR", {scale.input, scale.scale, scale.zero_point}, DataType::UINT8, x);
  codes = seen_as(list, codes, {1, 1, rows, x.sizes[3]});
  const std::uint32_t weights = seen_as(list, kW, {1, 1, all_columns, x.sizes[3]});
  TensorDesc matrix = list.tensor(weights);
  std::swap(matrix.sizes[2], matrix.sizes[3]);
  std::swap(matrix.strides[2], matrix.strides[3]);
  list.see(weights, matrix);
  const std::uint32_t weight_scale = seen_as(list, find_input(desc, kScales[0]), {1, 1, 1, all_columns});
  std::uint32_t weight_zero = find_input(desc, kZeroPoints[0]);
  weight_zero = weight_zero == kNoValue ? kNoValue : seen_as(list, weight_zero, {1, 1, 1, all_columns});
  // Sums and scales are multiplied as in MATRIX_MULTIPLY_INTEGER_TO_FLOAT, whose matrices must have the same type.
  const std::uint32_t totals = list.add("MATRIX_MULTIPLY_INTEGER", {codes, scale.zero_point, weights, weight_zero},
                                        DataType::INT32, result.value());
  const auto repeated = [&](std::uint32_t value, const TensorDesc& like) {
    TensorDesc view = list.tensor(value);
    for (std::uint32_t i = 0; i < kRank; ++i) {
      view.strides[i] = view.sizes[i] == 1 ? 0 : view.strides[i];
      view.sizes[i] = like.sizes[i];
    }
    list.see(value, view);
    return value;
  };
  const std::uint32_t factors =
      list.add("ELEMENT_WISE_MULTIPLY", {repeated(scale.scale, list.tensor(weight_scale)), weight_scale},
               DataType::FLOAT32, list.tensor(weight_scale));
  const std::uint32_t numbers = list.add("CAST", {totals}, DataType::FLOAT32, result.value());
  const std::uint32_t product =
      list.add_as("ELEMENT_WISE_MULTIPLY", {numbers, repeated(factors, result.value())}, result.value(), {});
  TensorDesc by_direction = result.value();
  const std::int64_t sizes[] = {std::int64_t{step.directions}, step.steps, step.rows, columns};
  const std::int64_t strides[] = {columns, step.rows * all_columns, all_columns, 1};
  std::ranges::copy(sizes, by_direction.sizes);
  std::ranges::copy(strides, by_direction.strides);
  list.see(product, by_direction);
  return product;
}

Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits& device, const KnownInputs&) {
  if (!desc.internal.empty()) {
    return Decomposition();
  }
  const RecurrentStep step = step_of(desc, device);
  const bool is_coded = step.codes != RecurrentCodes::none;
  if (is_coded && !device.reads_codes) {
    return Error{ErrorKind::unsupported,
                 format_text("{}: the device has no kernels for weights of 8 bits; the CPU has", desc.op->name)};
  }
  DecompositionBuilder list(desc);
  std::uint32_t product = kNoValue;
  if (step.steps != 0) {
    const auto added = is_coded ? add_integer_product(list, desc, step) : add_product(list, desc, step);
    ANYDML_TRY(added);
    product = added.value();
  }
  const auto packed = is_coded ? packed_tensor(desc,
                                               {std::int64_t{step.directions}, step.panels() * step.gates,
                                                std::int64_t{step.panel}, integer_panel_bytes(1, step.units)},
                                               DataType::UINT8)
                               : packed_tensor(desc, {std::int64_t{step.directions}, step.panels() * step.gates,
                                                      step.packed_rows(), std::int64_t{step.panel}});
  ANYDML_TRY(packed);
  RecurrentStep packing = step;
  packing.kind = RecurrentKind::pack;
  packing.steps = packing.rows = 0;  // the packed form is the same for any input
  std::vector<std::uint32_t> sources = {product, list.add_internal(kPack, {kR}, std::span(&packed.value(), 1),
                                                                   std::as_bytes(std::span(&packing, 1)), true)};
  for (const NamedOperand& input : kNamedInputs) {
    sources.push_back(find_input(desc, input.name));
  }
  for (const NamedOperand& input : std::span(kNamedCodes, is_coded ? 2 : 0)) {
    sources.push_back(find_input(desc, input.name));
  }
  // The state that directions keep between time steps is smaller than this tensor, so it is enough to check the size of
  // the tensor.
  const auto kept = packed_tensor(desc, {std::int64_t{step.directions}, std::int64_t{32}, step.rows + 1, step.width()});
  ANYDML_TRY(kept);

  struct {
    RecurrentStep step;
    std::uint32_t outputs;  // bit i is set if output i of the network is an output of this operator
    std::uint32_t unused;
  } parameters{.step = step, .outputs = 0, .unused = 0};
  std::vector<TensorDesc> results;
  for (std::uint32_t i = 0; i < desc.output_count; ++i) {
    if (desc.outputs()[i].present) {
      parameters.outputs |= 1U << i;
      results.push_back(desc.outputs()[i].tensor);
    }
  }
  std::uint32_t value = list.add_internal(kRecurrent, sources, results, std::as_bytes(std::span(&parameters, 1)));
  for (std::uint32_t i = 0; i < desc.output_count; ++i) {
    if (desc.outputs()[i].present) {
      list.set_output(i, value++);
    }
  }
  return list.finish();
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

RecurrentStrides strides_of(const TensorDesc& tensor, std::uint32_t time, std::uint32_t direction, std::uint32_t row) {
  const auto stride = [&](std::uint32_t dimension) {
    return tensor.sizes[dimension] == 1
               ? 0
               : tensor.strides[dimension] * static_cast<std::int64_t>(element_size(tensor.type));
  };
  return {.time = stride(time), .direction = stride(direction), .row = stride(row), .unit = stride(kRank - 1)};
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  RecurrentStep step;
  std::memcpy(&step, desc.internal.data(), sizeof(step));
  const auto add = [&](std::span<const Operand> operands) {
    plan.add(static_cast<std::uint32_t>(FamilyId::recurrent), operands, std::as_bytes(std::span(&step, 1)));
  };
  if (desc.op == &kPack) {
    step.strides[0] = strides_of(tensors[0].tensor, 3, 1, 2);
    step.strides[0].unit = step.strides[0].row;
    const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
    add(operands);
    return;
  }
  std::uint32_t outputs = 0;
  std::memcpy(&outputs, desc.internal.data() + sizeof(step), sizeof(outputs));
  Operand operands[kRecurrentOperands];
  std::ranges::fill(operands, Operand{.slot = kAbsentSlot, .type = DataType::FLOAT32, .offset = 0});
  std::size_t next = 0;
  const auto take = [&](RecurrentOperand operand, std::uint32_t time, std::uint32_t direction, std::uint32_t row) {
    if (next >= desc.input_count || desc.tensors[next].present) {
      operands[operand] = tensors[next].operand();
      step.strides[operand] = strides_of(tensors[next].tensor, time, direction, row);
    }
    ++next;
  };
  take(kRecurrentProduct, 1, 0, 2);
  take(kRecurrentPacked, 0, 0, 0);
  for (const NamedOperand& input : kNamedInputs) {
    switch (input.operand) {
      case kRecurrentBias:
      case kRecurrentPeephole:
        take(input.operand, 0, 2, 1);
        break;
      case kRecurrentLengths:
        take(input.operand, 0, 0, 3);
        break;
      default:
        take(input.operand, 0, 1, 2);
    }
  }
  for (const NamedOperand& input : std::span(kNamedCodes, step.codes != RecurrentCodes::none ? 2 : 0)) {
    take(input.operand, 0, 2, 1);
  }
  for (std::uint32_t i = 0; i < std::size(kOutputs); ++i) {
    if ((outputs >> i & 1) != 0) {
      take(kOutputs[i], 0, 1, 2);
    }
  }
  const auto bytes = static_cast<std::uint64_t>(step.directions * memory_of(step).elements) * sizeof(f32);
  operands[kRecurrentMemory] = {
      .slot = plan.temporary_slot(), .type = DataType::FLOAT32, .offset = plan.take_temporary(bytes)};
  add(operands);
}

}  // namespace

extern const Family recurrent_family;
const Family recurrent_family = {
    .id = FamilyId::recurrent,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr; },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = decompose,
};

}  // namespace anydml
