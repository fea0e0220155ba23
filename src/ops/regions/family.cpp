// SPDX-License-Identifier: MIT
// The family of operators over regions of interest. ROI_ALIGN is ROI_ALIGN1 with the documented offsets, and each
// gradient of ROI_ALIGN_GRAD is a separate step.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <tuple>

#include "ops/arguments.h"
#include "ops/op_desc.h"
#include "ops/regions/step.h"
#include "text/format.h"

namespace anydml {
namespace {

enum class EntryKind : std::uint32_t { pooling, align, gradients };

struct RegionsEntry {
  std::string_view name;
  EntryKind kind;
};

constexpr RegionsEntry kEntries[] = {
#define ANYDML_REGIONS_ENTRY(op, kind) {#op, EntryKind::kind},
#include "ops/regions/regions.def"
};

constexpr TypeSet kFloats = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
constexpr TypeSet kIndices =
    type_bit(DataType::UINT32) | type_bit(DataType::UINT64) | type_bit(DataType::INT32) | type_bit(DataType::INT64);
constexpr u32 kMaxLeastSamples = 1024;  // per bin along each axis, so about a million per bin

// The indices of an operator's tensors, or -1 for missing tensors.
struct Tensors {
  int image;
  int boxes;
  int indices;
  int bins;
  int image_gradient;
  int box_gradient;
};
constexpr Tensors tensors_of(EntryKind kind) {
  return kind == EntryKind::pooling ? Tensors{0, 1, -1, 2, -1, -1}
         : kind == EntryKind::align ? Tensors{0, 1, 2, 3, -1, -1}
                                    : Tensors{0, 2, 3, 1, 4, 5};
}

const RegionsEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &RegionsEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}
EntryKind kind_of(const OpDesc& desc) { return find_entry(desc.op->name)->kind; }

TypeSet types(const facts::Operator& op, std::size_t position) {
  return static_cast<int>(position) == tensors_of(find_entry(op.name)->kind).indices ? kIndices : kFloats;
}

const OpTensor* find_tensor(const OpDesc& desc, int position) {
  if (position < 0 || !desc.tensors[static_cast<std::size_t>(position)].present) {
    return nullptr;
  }
  return &desc.tensors[static_cast<std::size_t>(position)];
}

f32 real_of(const OpDesc& desc, std::string_view field, f32 otherwise = 0.0F) {
  const schema::Argument* const argument = find_argument(desc, field);
  return argument == nullptr || argument->numbers.empty() ? otherwise : argument->numbers.front().as<f32>();
}

// ---- Checks ---------------------------------------------------------------------------------------------------------

Status check_ranks(const OpDesc& desc, const Tensors& at) {
  // Additional leading dimensions are allowed up to DirectML's limits.
  const std::uint32_t max_of_boxes = kind_of(desc) == EntryKind::pooling ? 4U : kMaxRank;
  for (const auto& [position, minimum, limit] :
       {std::tuple{at.image, 4U, 4U}, std::tuple{at.bins, 4U, 4U}, std::tuple{at.image_gradient, 4U, 4U},
        std::tuple{at.boxes, 2U, max_of_boxes}, std::tuple{at.indices, 1U, kMaxRank}}) {
    const OpTensor* const tensor = find_tensor(desc, position);
    if (tensor != nullptr && (tensor->tensor.rank < minimum || tensor->tensor.rank > limit)) {
      return invalid(desc, *tensor,
                     minimum == limit
                         ? format_text("has {} dimensions; expected {}", tensor->tensor.rank, minimum)
                         : format_text("has {} dimensions; expected {} to {}", tensor->tensor.rank, minimum, limit));
    }
  }
  return {};
}

Status check_numbers(const OpDesc& desc) {
  for (const std::string_view field :
       {"SpatialScale", "SpatialScaleX", "SpatialScaleY", "InputPixelOffset", "OutputPixelOffset"}) {
    if (const f32 number = real_of(desc, field); !std::isfinite(number)) {
      return invalid({desc.op->name, field}, format_text("is {}; expected a finite number", number));
    }
  }
  const u32 minimum = std::min(number_of(desc, "MinimumSamplesPerOutput").as<u32>(),
                               number_of(desc, "MaximumSamplesPerOutput").as<u32>());
  if (minimum > kMaxLeastSamples) {
    return invalid({desc.op->name, "MinimumSamplesPerOutput"},
                   format_text("is {}; expected at most {}", minimum, kMaxLeastSamples));
  }
  return {};
}

Status check(const OpDesc& desc) {
  const Tensors at = tensors_of(kind_of(desc));
  ANYDML_TRY(check_ranks(desc, at));
  ANYDML_TRY(check_numbers(desc));
  if (const OpTensor* const image = find_tensor(desc, at.image);
      !desc.empty && image != nullptr && element_count(image->tensor) == 0) {
    return invalid(desc, *image,
                   format_text("sizes are {}; expected an element to sample", shape_text(image->tensor.sizes, 4)));
  }
  return {};
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

// The stride of dimension i in bytes; a dimension of size 1 has no meaningful stride.
i64 stride_of(const TensorDesc& tensor, std::uint32_t i) {
  return tensor.sizes[i] > 1 ? tensor.strides[i] * static_cast<i64>(element_size(tensor.type)) : 0;
}
void set_strides(const OpTensor* tensor, i64 (&strides)[4]) {
  for (std::uint32_t i = 0; tensor != nullptr && i < 4; ++i) {
    strides[i] = stride_of(tensor->tensor, i);
  }
}
void set_box_strides(const OpTensor& tensor, i64* strides) {
  strides[0] = stride_of(tensor.tensor, tensor.tensor.rank - 2);
  strides[1] = stride_of(tensor.tensor, tensor.tensor.rank - 1);
}

RegionStep make_step(const OpDesc& desc, const Tensors& at) {
  const OpTensor& bins = *find_tensor(desc, at.bins);
  const OpTensor& boxes = *find_tensor(desc, at.boxes);
  const OpTensor* const image = find_tensor(desc, at.image);
  const TensorDesc& images = image != nullptr ? image->tensor : find_tensor(desc, at.image_gradient)->tensor;
  RegionStep step{};
  step.type = bins.tensor.type;
  step.is_max = number_of(desc, "ReductionFunction").as<u32>() ==
                        *facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"), "MAX")
                    ? 1
                    : 0;
  step.outside = real_of(desc, "OutOfBoundsInputValue");
  step.regions = boxes.tensor.sizes[boxes.tensor.rank - 2];
  step.batches = images.sizes[0];
  step.channels = images.sizes[1];
  for (std::uint32_t i = 0; i < 2; ++i) {
    RegionAxis& axis = step.axes[i];
    axis.size = images.sizes[2 + i];
    axis.bins = bins.tensor.sizes[2 + i];
    axis.scale = real_of(desc, i == 0 ? "SpatialScaleY" : "SpatialScaleX", real_of(desc, "SpatialScale"));
    axis.input_offset = real_of(desc, "InputPixelOffset", 0.5F);
    axis.output_offset = real_of(desc, "OutputPixelOffset", -0.5F);
    axis.minimum = number_of(desc, "MinimumSamplesPerOutput").as<u32>();
    axis.limit = number_of(desc, "MaximumSamplesPerOutput").as<u32>();
    axis.to_corners = number_of(desc, "AlignRegionsToCorners").as<u32>() != 0 ? 1 : 0;
    axis.nearest = number_of(desc, "InterpolationMode").as<u32>() == 0 ? 1 : 0;
  }
  set_strides(image, step.image);
  set_strides(&bins, step.bins);
  set_box_strides(boxes, step.boxes);
  if (const OpTensor* const indices = find_tensor(desc, at.indices); indices != nullptr) {
    step.index_type = indices->tensor.type;
    step.indices = stride_of(indices->tensor, indices->tensor.rank - 1);
  }
  return step;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const EntryKind kind = kind_of(desc);
  const Tensors at = tensors_of(kind);
  RegionStep step = make_step(desc, at);
  const auto operand = [&](int position) {
    return find_tensor(desc, position) != nullptr ? tensors[static_cast<std::size_t>(position)].operand()
                                                  : Operand{.slot = kAbsentSlot, .type = DataType::UINT32, .offset = 0};
  };
  const auto add = [&](int result) {
    const Operand operands[] = {operand(at.image), operand(at.boxes), operand(at.indices), operand(at.bins),
                                operand(result)};
    plan.add(static_cast<std::uint32_t>(FamilyId::regions), operands, std::as_bytes(std::span(&step, 1)));
  };
  if (kind != EntryKind::gradients) {
    step.kind = kind == EntryKind::pooling ? RegionKind::pooling : RegionKind::align;
    add(-1);
    return;
  }
  if (const OpTensor* const gradient = find_tensor(desc, at.image_gradient);
      gradient != nullptr && element_count(gradient->tensor) != 0) {
    step.kind = RegionKind::image_gradient;
    set_strides(gradient, step.result);
    add(at.image_gradient);
  }
  if (const OpTensor* const gradient = find_tensor(desc, at.box_gradient);
      gradient != nullptr && element_count(gradient->tensor) != 0) {
    step.kind = RegionKind::region_gradient;
    set_box_strides(*gradient, step.result);
    add(at.box_gradient);
  }
}

}  // namespace

extern const Family regions_family;
const Family regions_family = {
    .id = FamilyId::regions,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr; },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
