// SPDX-License-Identifier: MIT
#include "ops/gather/lower.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ops/arguments.h"
#include "ops/elementwise/copy.h"
#include "ops/gather/step.h"

namespace anydml::gathers {
namespace {

constexpr auto kFamily = static_cast<std::uint32_t>(FamilyId::gather);

template <class Parameters>
void add_step(Plan& plan, std::span<const Operand> operands, const Parameters& step) {
  plan.add(kFamily, operands, std::as_bytes(std::span(&step, 1)));
}

std::int64_t bytes_of(const TensorDesc& tensor) { return static_cast<std::int64_t>(element_size(tensor.type)); }
std::int64_t stride_of(const TensorDesc& tensor, std::size_t axis) { return tensor.strides[axis] * bytes_of(tensor); }

// Builds the loops of a gather or a scatter from the dimensions of its slices, which are added from the first to the
// last. They correspond to the last dimensions of the tensor of slices.
class Selection {
 public:
  Selection(GatherKind kind, const PlacedTensor& table, const PlacedTensor& indices, const PlacedTensor& slices)
      : table_(table), indices_(indices), slices_(slices) {
    step_.kind = kind;
    step_.index_type = indices.tensor.type;
    step_.element = static_cast<std::uint32_t>(bytes_of(table.tensor));
    step_.run = step_.element;
    step_.targets = 1;
  }

  static constexpr std::size_t kNone = kMaxRank;
  // of_table, of_indices: the axis of the table and the axis of the indices that correspond to the dimension, or kNone.
  void add_dimension(std::size_t of_table, std::size_t of_indices, std::int64_t size, bool is_item) {
    GatherLoop loop{.size = size, .table = 0, .indices = 0, .slices = 0, .number = 0};
    loop.table = of_table == kNone ? 0 : stride_of(table_.tensor, of_table);
    loop.indices = of_indices == kNone ? 0 : stride_of(indices_.tensor, of_indices);
    loop.number = is_item && of_table != kNone ? 1 : 0;
    dimensions_.push_back({loop, is_item});
  }
  void add_coordinate(std::size_t of_table) {
    step_.table[step_.coordinates++] = {
        .size = table_.tensor.sizes[of_table], .stride = stride_of(table_.tensor, of_table), .number = 0};
  }
  void set_coordinate_stride(std::size_t of_indices) {
    step_.coordinate_stride = stride_of(indices_.tensor, of_indices);
  }

  void add_to(Plan& plan) {
    number_slices();
    if (std::ranges::any_of(dimensions_, [](const Dimension& one) { return one.loop.size == 0; })) {
      return;  // nothing to move
    }
    std::erase_if(dimensions_, [](const Dimension& one) { return one.loop.size == 1; });
    if (step_.kind == GatherKind::gather) {
      // Any order is correct, so the output is walked in memory order.
      std::ranges::stable_sort(dimensions_, std::ranges::greater(),
                               [](const Dimension& one) { return std::abs(one.loop.slices); });
    }
    number_targets();
    merge();
    take_run();
    for (const Dimension& one : dimensions_) {
      step_.loops[step_.rank++] = one.loop;
      step_.item_rank += one.is_item ? 1 : 0;
    }
    const Operand operands[] = {table_.operand(), indices_.operand(), slices_.operand()};
    add_step(plan, operands, step_);
  }

 private:
  struct Dimension {
    GatherLoop loop;
    bool is_item;
  };

  // The dimensions of the step and of the tensor of slices are aligned at the last dimension. If only one of them has a
  // dimension, the size of that dimension is 1.
  void number_slices() {
    std::size_t axis = slices_.tensor.rank;
    for (std::size_t i = dimensions_.size(); i-- > 0 && axis > 0;) {
      dimensions_[i].loop.slices = stride_of(slices_.tensor, --axis);
    }
  }

  void number_targets() {
    for (std::uint32_t i = step_.coordinates; i-- > 0;) {
      step_.table[i].number = step_.targets;
      step_.targets *= step_.table[i].size;
    }
    for (std::size_t i = dimensions_.size(); i-- > 0;) {
      if (dimensions_[i].loop.number != 0) {
        dimensions_[i].loop.number = step_.targets;
        step_.targets *= dimensions_[i].loop.size;
      }
    }
  }

  void merge() {
    for (std::size_t i = 1; i < dimensions_.size();) {
      const GatherLoop& inner = dimensions_[i].loop;
      GatherLoop& outer = dimensions_[i - 1].loop;
      const auto follows = [&](std::int64_t GatherLoop::*stride) {
        return outer.*stride == inner.*stride * inner.size;
      };
      const bool is_scatter = step_.kind == GatherKind::scatter;
      if (follows(&GatherLoop::table) && follows(&GatherLoop::indices) && follows(&GatherLoop::slices) &&
          (!is_scatter || (dimensions_[i].is_item == dimensions_[i - 1].is_item && follows(&GatherLoop::number)))) {
        const std::int64_t size = outer.size * inner.size;
        outer = inner;
        outer.size = size;
        dimensions_.erase(dimensions_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  void take_run() {
    if (dimensions_.empty()) {
      return;
    }
    const auto& [loop, is_item] = dimensions_.back();
    const bool is_slice = step_.kind == GatherKind::scatter ? !is_item : loop.indices == 0;
    if (is_slice && loop.table == step_.run && loop.slices == step_.run) {
      step_.run *= loop.size;
      dimensions_.pop_back();
    }
  }

  const PlacedTensor& table_;
  const PlacedTensor& indices_;
  const PlacedTensor& slices_;
  GatherStep step_{};
  std::vector<Dimension> dimensions_;
};

bool is_scatter(const OpDesc& desc) { return desc.op->name.starts_with("SCATTER"); }

// A scatter modifies a copy of its input.
Selection begin(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (is_scatter(desc)) {
    add_copy(plan, tensors[0], tensors[3]);
    return {GatherKind::scatter, tensors[3], tensors[1], tensors[2]};
  }
  return {GatherKind::gather, tensors[0], tensors[1], tensors[2]};
}

}  // namespace

std::uint32_t integer_of(const OpDesc& desc, std::string_view field) {
  const schema::Argument* const argument = find_argument(desc, field);
  return argument == nullptr || argument->numbers.empty() ? 0 : argument->numbers.front().as<u32>();
}

void lower_gather(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  Selection selection = begin(desc, tensors, plan);
  const TensorDesc& input = tensors[0].tensor;
  const TensorDesc& indices = tensors[1].tensor;
  const std::uint32_t axis = integer_of(desc, "Axis");
  for (std::uint32_t i = 0; i < axis; ++i) {
    selection.add_dimension(i, Selection::kNone, input.sizes[i], true);
  }
  for (std::uint32_t i = indices.rank - integer_of(desc, "IndexDimensions"); i < indices.rank; ++i) {
    selection.add_dimension(Selection::kNone, i, indices.sizes[i], true);
  }
  for (std::uint32_t i = axis + 1; i < input.rank; ++i) {
    selection.add_dimension(i, Selection::kNone, input.sizes[i], false);
  }
  selection.add_coordinate(axis);
  selection.add_to(plan);
}

void lower_elements(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  Selection selection = begin(desc, tensors, plan);
  const TensorDesc& indices = tensors[1].tensor;
  const std::uint32_t axis = integer_of(desc, "Axis");
  for (std::uint32_t i = 0; i < indices.rank; ++i) {
    selection.add_dimension(i == axis ? Selection::kNone : i, i, indices.sizes[i], true);
  }
  selection.add_coordinate(axis);
  selection.add_to(plan);
}

void lower_tuples(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  Selection selection = begin(desc, tensors, plan);
  const TensorDesc& input = tensors[0].tensor;
  const TensorDesc& indices = tensors[1].tensor;
  const std::uint32_t first_input = input.rank - integer_of(desc, "InputDimensionCount");
  const std::uint32_t first_index = indices.rank - integer_of(desc, "IndicesDimensionCount");
  const std::uint32_t batch = integer_of(desc, "BatchDimensionCount");
  const auto coordinates = static_cast<std::uint32_t>(indices.sizes[indices.rank - 1]);
  for (std::uint32_t i = first_index; i + 1 < indices.rank; ++i) {
    const bool is_batch = i - first_index < batch;
    selection.add_dimension(is_batch ? first_input + i - first_index : Selection::kNone, i, indices.sizes[i], true);
  }
  for (std::uint32_t i = first_input + batch + coordinates; i < input.rank; ++i) {
    selection.add_dimension(i, Selection::kNone, input.sizes[i], false);
  }
  for (std::uint32_t i = 0; i < coordinates; ++i) {
    selection.add_coordinate(first_input + batch + i);
  }
  selection.set_coordinate_stride(indices.rank - 1);
  selection.add_to(plan);
}

void lower_one_hot(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& indices = tensors[0].tensor;
  const TensorDesc& values = tensors[1].tensor;
  const TensorDesc& output = tensors[2].tensor;
  const std::uint32_t axis = integer_of(desc, "Axis");
  OneHotStep step{};
  step.kind = GatherKind::one_hot;
  step.index_type = indices.type;
  step.element = static_cast<std::uint32_t>(bytes_of(output));
  step.depth = output.sizes[axis];
  step.axis_stride = stride_of(output, axis);
  for (std::uint32_t i = values.rank; i-- > 0;) {
    if (values.sizes[i] > 1) {  // the second element in row-major order
      step.on_offset = stride_of(values, i);
      break;
    }
  }
  for (std::uint32_t i = 0; i < output.rank; ++i) {
    const OneHotLoop loop{.size = output.sizes[i], .indices = stride_of(indices, i), .output = stride_of(output, i)};
    if (i == axis || loop.size == 1) {
      continue;
    }
    OneHotLoop* const outer = step.rank == 0 ? nullptr : &step.loops[step.rank - 1];
    if (outer != nullptr && outer->indices == loop.indices * loop.size && outer->output == loop.output * loop.size) {
      *outer = {.size = outer->size * loop.size, .indices = loop.indices, .output = loop.output};
    } else {
      step.loops[step.rank++] = loop;
    }
  }
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand()};
  add_step(plan, operands, step);
}

void lower_nonzero(const OpDesc&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& input = tensors[0].tensor;
  const TensorDesc& coordinates = tensors[2].tensor;
  NonzeroStep step{};
  step.kind = GatherKind::nonzero;
  step.element = static_cast<std::uint32_t>(bytes_of(input));
  step.mask = ~0ULL >> (64 - 8 * step.element + (is_float_type(input.type) ? 1 : 0));  // -0 is zero
  step.rank = std::max(1U, input.rank);
  step.sizes[0] = 1;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    step.sizes[i] = input.sizes[i];
    step.strides[i] = stride_of(input, i);
  }
  for (std::uint32_t i = step.rank; i-- > 1 && step.sizes[i] == 1;) {
    for (std::uint32_t k = i; k < step.rank; ++k) {  // copy the stride of the last dimension with several elements
      step.strides[k] = step.strides[i - 1];
    }
  }
  step.columns = static_cast<std::uint32_t>(coordinates.sizes[coordinates.rank - 1]);
  step.count = element_count(input);
  step.row_stride = stride_of(coordinates, coordinates.rank - 2);
  step.column_stride = stride_of(coordinates, coordinates.rank - 1);
  const auto working = static_cast<std::uint64_t>(step.blocks()) * sizeof(std::uint32_t);
  const Operand operands[] = {
      tensors[0].operand(),
      tensors[1].operand(),
      tensors[2].operand(),
      {.slot = plan.temporary_slot(), .type = DataType::UINT32, .offset = plan.take_temporary(working)}};
  add_step(plan, operands, step);
}

}  // namespace anydml::gathers
