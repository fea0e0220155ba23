// SPDX-License-Identifier: MIT
// The family of operators that pool windows. It includes MAX_UNPOOLING, which writes elements back to their positions.
// The gradient of max pooling first pools to find the indices, and then adds the elements at these positions.
//
// A window that covers the whole input without padding becomes a REDUCE, whose order of additions is designed for many
// elements. LP pooling with a power above 2 computes the powers of the input's elements once, sums them in windows, and
// computes the root of each sum. Quantized pooling follows its documentation: dequantize, average, quantize.
#include "ops/family.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "ops/arguments.h"
#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "ops/pool/step.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

enum class PoolKind : std::uint32_t { average, lp, max, gradient, unpooling, quantized };

struct PoolEntry {
  std::string_view name;
  PoolKind kind;
};

constexpr PoolEntry kEntries[] = {
#define ANYDML_POOL_ENTRY(op, kind) {#op, PoolKind::kind},
#include "ops/pool/pool.def"
};

constexpr facts::Operator internal_operator(std::string_view name) {
  facts::Operator op{};
  op.name = name;
  return op;
}
constexpr facts::Operator kSum = internal_operator("POOL_SUM");

constexpr TypeSet kFloats = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16) | type_bit(DataType::FLOAT64);
constexpr TypeSet kBytes = type_bit(DataType::INT8) | type_bit(DataType::UINT8);
constexpr TypeSet kIndices =
    type_bit(DataType::UINT32) | type_bit(DataType::UINT64) | type_bit(DataType::INT32) | type_bit(DataType::INT64);

const PoolEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &PoolEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

PoolKind kind_of(const OpDesc& desc) { return find_entry(desc.op->name)->kind; }

TypeSet types(const facts::Operator& op, std::size_t position) {
  switch (find_entry(op.name)->kind) {
    case PoolKind::average:
    case PoolKind::lp:
      return kFloats;
    case PoolKind::max:
      return position == 2 ? kIndices : all_types();
    case PoolKind::gradient:
      return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
    case PoolKind::unpooling:
      return position == 1 ? kIndices : all_types();
    case PoolKind::quantized:
      break;
  }
  return position == 1 || position == 3 ? type_bit(DataType::FLOAT32) : kBytes;
}

std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view field) {
  const schema::Argument* argument = find_argument(desc, field);
  return argument != nullptr ? std::span<const Scalar>(argument->numbers) : std::span<const Scalar>();
}

u64 integer_of(const OpDesc& desc, std::string_view field) {
  const auto numbers = numbers_of(desc, field);
  return numbers.empty() ? 0 : numbers.front().as<u64>();
}

// ---- Checks ---------------------------------------------------------------------------------------------------------

Status check_indices(const OpDesc& desc, const OpTensor& indices, const OpTensor& of) {
  const std::int64_t limit = indices.tensor.type == DataType::INT32 ? 0x7fffffff : 0xffffffff;
  if (indices.present && element_size(indices.tensor.type) == 4 && element_count(of.tensor) > limit) {
    return invalid(desc, indices,
                   format_text("type is {}; expected 64 bits for the indices of the {} elements of {}",
                               type_name(indices.tensor.type), element_count(of.tensor), of.name));
  }
  return {};
}

Status check(const OpDesc& desc) {
  const PoolKind kind = kind_of(desc);
  if (kind == PoolKind::unpooling) {
    return check_indices(desc, desc.tensors[1], desc.output());
  }
  const OpTensor& input = desc.tensors[0];
  if (input.tensor.rank < 3) {
    return invalid(desc, input, format_text("has {} dimensions; expected 3 or more", input.tensor.rank));
  }
  for (const std::string_view field : {"WindowSize", "Strides", "Dilations"}) {
    const auto numbers = numbers_of(desc, field);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].as<u64>() == 0) {
        return invalid({desc.op->name, field}, format_text("{}[{}] is 0; expected 1 or more", field, i));
      }
    }
  }
  if (kind == PoolKind::lp && integer_of(desc, "P") == 0) {
    return invalid({desc.op->name, "P"}, "is 0; expected 1 or more");
  }
  if (kind == PoolKind::lp && integer_of(desc, "P") > 2 && input.tensor.type == DataType::FLOAT64) {
    return invalid(desc, input, "type is FLOAT64; expected FLOAT32 or FLOAT16 where P is above 2");
  }
  return kind == PoolKind::max && desc.output_count > 1 ? check_indices(desc, desc.tensors[2], input) : Status();
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

// The window along each axis. An internal operator inherits these parameters from the whole operator.
struct Windows {
  std::int64_t size[kPoolAxes];
  std::int64_t stride[kPoolAxes];
  std::int64_t dilation[kPoolAxes];
  std::int64_t padding[kPoolAxes];
};

Windows windows_of(const OpDesc& desc) {
  Windows windows{};
  if (!desc.internal.empty()) {
    std::memcpy(&windows, desc.internal.data(), sizeof(windows));
    return windows;
  }
  std::ranges::fill(windows.dilation, 1);
  const auto read = [&](std::string_view field, std::int64_t* to) {
    std::ranges::transform(numbers_of(desc, field), to, [](const Scalar& number) { return number.as<i64>(); });
  };
  read("WindowSize", windows.size);
  read("Strides", windows.stride);
  read("Dilations", windows.dilation);
  read("StartPadding", windows.padding);
  return windows;
}

PoolFunction function_of(const OpDesc& desc) {
  if (desc.op == &kSum) {
    return PoolFunction::sum;
  }
  switch (kind_of(desc)) {
    case PoolKind::average:
      return PoolFunction::average;
    case PoolKind::lp:
      return integer_of(desc, "P") == 1 ? PoolFunction::l1 : PoolFunction::l2;
    default:
      return PoolFunction::max;
  }
}

// `indices` is null if absent.
PoolStep make_step(const OpDesc& desc, const TensorDesc& input, const TensorDesc& output, const TensorDesc* indices) {
  const Windows windows = windows_of(desc);
  PoolStep step{};
  step.function = function_of(desc);
  step.type = input.type;
  step.index_type = indices != nullptr ? indices->type : DataType::unknown;
  step.counts_padding = desc.op != &kSum && integer_of(desc, "IncludePadding") != 0 ? 1 : 0;
  step.rank = input.rank - 2;
  // The stride of a dimension of size 1 has no meaning.
  const auto step_of = [](const TensorDesc& tensor, std::uint32_t dimension) {
    return tensor.sizes[dimension] > 1
               ? tensor.strides[dimension] * static_cast<std::int64_t>(element_size(tensor.type))
               : 0;
  };
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    PoolAxis& axis = i == 0 ? step.batch : i == 1 ? step.channel : step.axes[i - 2];
    axis.input = input.sizes[i];
    axis.output = output.sizes[i];
    axis.input_step = step_of(input, i);
    axis.output_step = step_of(output, i);
    axis.index_step = indices != nullptr ? step_of(*indices, i) : 0;
    axis.window = i < 2 ? 1 : windows.size[i - 2];
    axis.stride = i < 2 ? 1 : windows.stride[i - 2];
    axis.dilation = i < 2 ? 1 : windows.dilation[i - 2];
    axis.padding = i < 2 ? 0 : windows.padding[i - 2];
  }
  return step;
}

void lower_unpooling(std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& input = tensors[0].tensor;
  const TensorDesc& indices = tensors[1].tensor;
  const TensorDesc& output = tensors[2].tensor;
  UnpoolStep step{};
  step.function = PoolFunction::unpool;
  step.type = input.type;
  step.index_type = indices.type;
  step.input_rank = input.rank;
  step.output_rank = output.rank;
  step.inputs = element_count(input);
  step.outputs = element_count(output);
  step.shares = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(std::max(step.inputs, step.outputs) / (std::int64_t{1} << 14), 1, kUnpoolShares));
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    step.input_sizes[i] = input.sizes[i];
    step.input_steps[i] = input.strides[i] * static_cast<std::int64_t>(element_size(input.type));
    step.index_steps[i] = indices.strides[i] * static_cast<std::int64_t>(element_size(indices.type));
  }
  for (std::uint32_t i = 0; i < output.rank; ++i) {
    step.output_sizes[i] = output.sizes[i];
    step.output_steps[i] = output.strides[i] * static_cast<std::int64_t>(element_size(output.type));
  }
  const Operand marks{
      .slot = plan.temporary_slot(), .type = DataType::UINT8, .offset = plan.take_temporary(kUnpoolShares)};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand(), marks};
  plan.add(static_cast<std::uint32_t>(FamilyId::pool), operands, std::as_bytes(std::span(&step, 1)));
}

void lower_gradient(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const PlacedTensor& input = tensors[0];
  const PlacedTensor& gradient = tensors[1];
  const PlacedTensor& output = tensors[2];
  TensorDesc maximum = gradient.tensor;
  TensorDesc indices = gradient.tensor;
  indices.type = element_count(input.tensor) > 0xffffffff ? DataType::UINT64 : DataType::UINT32;
  static_cast<void>(set_packed_strides(maximum) && set_packed_strides(indices));  // no larger than an existing tensor
  const auto add_tensor = [&plan](const TensorDesc& tensor) {
    const auto bytes = static_cast<std::uint64_t>(element_count(tensor)) * element_size(tensor.type);
    return Operand{.slot = plan.temporary_slot(), .type = tensor.type, .offset = plan.take_temporary(bytes)};
  };
  const Operand found = add_tensor(indices);
  if (element_count(indices) != 0) {
    const PoolStep step = make_step(desc, input.tensor, maximum, &indices);
    const Operand operands[] = {input.operand(), add_tensor(maximum), found};
    plan.add(static_cast<std::uint32_t>(FamilyId::pool), operands, std::as_bytes(std::span(&step, 1)));
  }
  PoolStep step = make_step(desc, output.tensor, gradient.tensor, &indices);
  step.function = PoolFunction::max_gradient;
  const Operand operands[] = {found, gradient.operand(), output.operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::pool), operands, std::as_bytes(std::span(&step, 1)));
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (desc.op != &kSum && kind_of(desc) == PoolKind::unpooling) {
    lower_unpooling(tensors, plan);
    return;
  }
  if (desc.op != &kSum && kind_of(desc) == PoolKind::gradient) {
    lower_gradient(desc, tensors, plan);
    return;
  }
  const bool has_indices = desc.tensors.size() > 2 && desc.tensors[2].present;
  const PoolStep step =
      make_step(desc, desc.tensors[0].tensor, desc.tensors[1].tensor, has_indices ? &desc.tensors[2].tensor : nullptr);
  const Operand absent{.slot = kAbsentSlot, .type = DataType::UINT32, .offset = 0};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), has_indices ? tensors[2].operand() : absent};
  plan.add(static_cast<std::uint32_t>(FamilyId::pool), operands, std::as_bytes(std::span(&step, 1)));
}

// Rows of the output are passed to a joined step as they are computed.
Joins joins(const OpDesc& desc, const DeviceTraits&) {
  if (desc.op != &kSum && (kind_of(desc) == PoolKind::unpooling || kind_of(desc) == PoolKind::gradient)) {
    return {};
  }
  const bool has_indices = desc.tensors.size() > 2 && desc.tensors[2].present;
  const bool in_order = is_packed(desc.tensors[0].tensor) && is_packed(desc.tensors[1].tensor);
  return {.inputs = 0, .outputs = !has_indices && in_order ? 1U : 0U};
}

// ---- Decomposition --------------------------------------------------------------------------------------------------

// Whether a single window covers the whole input.
bool is_global(const OpDesc& desc) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& output = desc.output().tensor;
  const Windows windows = windows_of(desc);
  const auto ends = numbers_of(desc, "EndPadding");
  for (std::uint32_t i = 2; i < input.rank; ++i) {
    const bool is_dense = windows.dilation[i - 2] == 1 || windows.size[i - 2] == 1;
    if (windows.size[i - 2] != input.sizes[i] || windows.padding[i - 2] != 0 || ends[i - 2].as<u64>() != 0 ||
        !is_dense || output.sizes[i] != 1) {
      return false;
    }
  }
  return true;
}

std::vector<OpAttribute> reduction(const OpDesc& desc, std::string_view function) {
  std::vector<OpAttribute> attributes = {
      {.field = "Function",
       .numbers = {Scalar(u64{*facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"), function)})}},
      {.field = "Axes", .numbers = {}}};
  for (std::uint32_t i = 2; i < desc.tensors[0].tensor.rank; ++i) {
    attributes[1].numbers.emplace_back(u64{i});
  }
  return attributes;
}

// Computes |x|^P for each element, sums the windows, and raises the sums to 1 / P. All intermediate values are FLOAT32.
Result<Decomposition> decompose_power(const OpDesc& desc) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& output = desc.output().tensor;
  const auto power = static_cast<f32>(integer_of(desc, "P"));
  const auto exponent = [](f32 value) {
    return std::vector<OpAttribute>{{.field = "Exponent", .numbers = {Scalar(static_cast<f64>(value))}}};
  };
  const bool is_half = input.type == DataType::FLOAT16;
  DecompositionBuilder list(desc);
  std::uint32_t value = is_half ? list.add("CAST", {0}, DataType::FLOAT32, input) : 0;
  value = list.add("ELEMENT_WISE_ABS", {value}, DataType::FLOAT32, input);
  value = list.add("ELEMENT_WISE_CONSTANT_POW", {value}, DataType::FLOAT32, input, exponent(power));
  if (is_global(desc)) {
    value = list.add("REDUCE", {value}, DataType::FLOAT32, output, reduction(desc, "SUM"));
  } else {
    TensorDesc sums = output;
    sums.type = DataType::FLOAT32;
    if (!set_packed_strides(sums)) {
      return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
    }
    const Windows windows = windows_of(desc);
    value = list.add_internal(kSum, {value}, std::span(&sums, 1), std::as_bytes(std::span(&windows, 1)));
  }
  if (is_half) {
    value = list.add("ELEMENT_WISE_CONSTANT_POW", {value}, DataType::FLOAT32, output, exponent(1.0F / power));
    list.add_output("CAST", {value}, 0);
  } else {
    list.add_output("ELEMENT_WISE_CONSTANT_POW", {value}, 0, exponent(1.0F / power));
  }
  return list.finish();
}

Result<Decomposition> decompose_quantized(const OpDesc& desc) {
  constexpr std::uint32_t kInputScale = 1;
  constexpr std::uint32_t kInputZero = 2;
  constexpr std::uint32_t kOutputScale = 3;
  constexpr std::uint32_t kOutputZero = 4;
  const TensorDesc& input = desc.tensors[0].tensor;
  DecompositionBuilder list(desc);
  // There is one scale and zero point, or one per channel, regardless of the dimensions of their tensors.
  for (std::uint32_t i = kInputScale; i <= kOutputZero; ++i) {
    if (const TensorDesc& given = desc.tensors[i].tensor; desc.tensors[i].present) {
      TensorDesc seen{.type = given.type, .rank = input.rank};
      std::fill_n(seen.sizes, seen.rank, 1);
      for (std::uint32_t axis = 0; axis < given.rank; ++axis) {
        if (given.sizes[axis] > 1) {
          seen.sizes[1] = given.sizes[axis];
          seen.strides[1] = given.strides[axis];
        }
      }
      list.see(i, seen);
    }
  }
  const auto given = [&](std::uint32_t tensor) { return desc.tensors[tensor].present ? tensor : kNoValue; };
  std::uint32_t value =
      list.add("ELEMENT_WISE_DEQUANTIZE_LINEAR", {0, kInputScale, given(kInputZero)}, DataType::FLOAT32, input);
  std::vector<OpAttribute> attributes;
  for (const std::string_view field :
       {"DimensionCount", "Strides", "WindowSize", "StartPadding", "EndPadding", "Dilations", "IncludePadding"}) {
    if (const schema::Argument* argument = find_argument(desc, field); argument != nullptr) {
      attributes.push_back({.field = field, .numbers = argument->numbers});
    }
  }
  value = list.add("AVERAGE_POOLING1", {value}, DataType::FLOAT32, desc.output().tensor, attributes);
  list.add_output("ELEMENT_WISE_QUANTIZE_LINEAR", {value, kOutputScale, given(kOutputZero)}, 0);
  return list.finish();
}

Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits&, const KnownInputs&) {
  if (desc.op == &kSum) {
    return Decomposition();
  }
  const PoolKind kind = kind_of(desc);
  if (kind == PoolKind::unpooling || kind == PoolKind::gradient ||
      (desc.output_count > 1 && desc.tensors[desc.input_count + 1].present)) {
    return Decomposition();
  }
  if (kind == PoolKind::quantized) {
    return decompose_quantized(desc);
  }
  const u64 power = kind == PoolKind::lp ? integer_of(desc, "P") : 0;
  if (power > 2) {
    return decompose_power(desc);
  }
  if (!is_global(desc)) {
    return Decomposition();
  }
  DecompositionBuilder list(desc);
  list.add_output("REDUCE", {0}, 0,
                  reduction(desc, kind == PoolKind::max       ? "MAX"
                                  : kind == PoolKind::average ? "AVERAGE"
                                  : power == 1                ? "L1"
                                                              : "L2"));
  return list.finish();
}

}  // namespace

extern const Family pool_family;
const Family pool_family = {
    .id = FamilyId::pool,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr; },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = joins,
    .decompose = decompose,
};

}  // namespace anydml
