// SPDX-License-Identifier: MIT
// Operators over windows, sequences and channels: UNFOLD, REVERSE_SUBSEQUENCES and VALUE_SCALE_2D.
#include <algorithm>

#include "base/checked.h"
#include "base/small_sort.h"
#include "ops/move/maps.h"
#include "ops/sliding_blocks.h"

namespace anydml::moves {
namespace {

std::int64_t bytes_of(const TensorDesc& tensor) { return static_cast<std::int64_t>(element_size(tensor.type)); }

std::vector<Scalar> scalars(std::span<const std::int64_t> numbers) {
  std::vector<Scalar> result;
  std::ranges::transform(numbers, std::back_inserter(result), [](std::int64_t number) { return Scalar(number); });
  return result;
}

OpAttribute attribute(std::string_view field, std::span<const Scalar> numbers) {
  return {.field = field, .numbers = {numbers.begin(), numbers.end()}};
}

// Merges adjacent loops that are contiguous in all three tensors; the innermost loop becomes the run if its lines are
// contiguous and have the same length.
void simplify(ReversalStep& step) {
  ReversalLoop* const loops = step.loops;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    ReversalLoop& loop = loops[i];
    if (loop.to < 0) {
      step.from_offset += (loop.size - 1) * loop.from;
      step.to_offset += (loop.size - 1) * loop.to;
      step.lengths_offset += (loop.size - 1) * loop.lengths;
      loop = {.size = loop.size, .from = -loop.from, .to = -loop.to, .lengths = -loop.lengths};
    }
  }
  small_sort(loops, step.rank, [](const ReversalLoop& a, const ReversalLoop& b) { return a.to > b.to; });
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    const ReversalLoop inner = loops[i];
    if (kept != 0) {
      ReversalLoop& outer = loops[kept - 1];
      // The product may overflow: the offset of the inner loop's last iteration is known to fit, but not the offset
      // after it.
      if (checked_multiply(inner.from, inner.size) == outer.from &&
          checked_multiply(inner.to, inner.size) == outer.to &&
          checked_multiply(inner.lengths, inner.size) == outer.lengths) {
        outer = {.size = outer.size * inner.size, .from = inner.from, .to = inner.to, .lengths = inner.lengths};
        continue;
      }
    }
    loops[kept++] = inner;
  }
  if (kept != 0 && loops[kept - 1].to == step.run && loops[kept - 1].from == step.run && loops[kept - 1].lengths == 0) {
    step.run *= loops[--kept].size;
  }
  step.rank = kept;
}

}  // namespace

// The output is [N, C, window..., blocks...]: for each window position, the elements of all blocks at that position.
// The offset in the input is the block's offset plus the offset in the window.
void lower_unfold(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const TensorDesc& from = tensors[0].tensor;
  const TensorDesc& to = tensors[1].tensor;
  const SlidingBlocks sliding = sliding_blocks_of(desc, desc.tensors[0]);
  const std::int64_t bytes = bytes_of(from);
  Movement movement{.element = bytes};
  std::int64_t in_window = to.strides[1] * bytes;
  std::int64_t in_blocks = to.strides[2] * bytes;
  const auto add = [&movement](std::int64_t size, std::int64_t from_stride, std::int64_t to_stride) {
    if (size > 1) {
      movement.add(size, from_stride, to_stride);
    }
  };
  for (std::uint32_t i = sliding.rank; i-- > 0;) {
    const SlidingDimension& dimension = sliding.dimensions[i];
    const std::int64_t stride = from.sizes[i + 2] > 1 ? from.strides[i + 2] * bytes : 0;
    add(dimension.window, stride * dimension.dilation, in_window);
    in_window *= dimension.window;
    add(dimension.blocks, stride * dimension.stride, in_blocks);
    in_blocks *= dimension.blocks;
  }
  add(from.sizes[1], from.strides[1] * bytes, in_window);
  add(from.sizes[0], from.strides[0] * bytes, to.strides[0] * bytes);
  copies.copy(tensors[0].operand(), tensors[1].operand(), movement);
}

Result<Decomposition> decompose_unfold(const OpDesc& desc) {
  const SlidingBlocks sliding = sliding_blocks_of(desc, desc.tensors[0]);
  TensorDesc padded = desc.tensors[0].tensor;
  std::int64_t start[kMaxRank] = {};
  std::int64_t end[kMaxRank] = {};
  for (std::uint32_t i = 0; i < sliding.rank; ++i) {
    start[i + 2] = sliding.dimensions[i].start;
    end[i + 2] = sliding.dimensions[i].end;
    padded.sizes[i + 2] += start[i + 2] + end[i + 2];
  }
  if (std::ranges::equal(padded.sizes, desc.tensors[0].tensor.sizes)) {
    return Decomposition();
  }
  DecompositionBuilder list(desc);
  const std::int64_t none[kMaxSpatial] = {};
  const std::uint32_t value =
      list.add("PADDING", {0}, padded.type, padded,
               {{.field = "PaddingMode", .numbers = {Scalar(u64{0})}},
                {.field = "PaddingValue", .numbers = {Scalar(u64{0})}},
                {.field = "StartPadding", .numbers = scalars(std::span(start).first(padded.rank))},
                {.field = "EndPadding", .numbers = scalars(std::span(end).first(padded.rank))}});
  list.add_output("UNFOLD", {value}, 0,
                  {attribute("WindowSizes", numbers_of(desc, "WindowSizes")),
                   attribute("Strides", numbers_of(desc, "Strides")),
                   attribute("Dilations", numbers_of(desc, "Dilations")),
                   {.field = "StartPadding", .numbers = scalars(std::span(none).first(sliding.rank))},
                   {.field = "EndPadding", .numbers = scalars(std::span(none).first(sliding.rank))}});
  return list.finish();
}

void lower_reversal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const TensorDesc& from = tensors[0].tensor;
  const TensorDesc& lengths = tensors[1].tensor;
  const TensorDesc& to = tensors[2].tensor;
  const auto axis = numbers_of(desc, "Axis").front().as<u32>();
  const std::int64_t bytes = bytes_of(to);
  ReversalStep step{};
  step.kind = MoveKind::reversal;
  step.length_bytes = static_cast<std::uint32_t>(bytes_of(lengths));
  step.run = bytes;
  for (std::uint32_t i = 0; i < to.rank; ++i) {
    if (i == axis) {
      step.axis = {.size = to.sizes[i], .from = from.strides[i] * bytes, .to = to.strides[i] * bytes};
    } else if (to.sizes[i] > 1) {
      step.loops[step.rank++] = {.size = to.sizes[i],
                                 .from = from.strides[i] * bytes,
                                 .to = to.strides[i] * bytes,
                                 .lengths = lengths.strides[i] * step.length_bytes};
    }
  }
  simplify(step);
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand()};
  copies.add_step(operands, std::as_bytes(std::span(&step, 1)));
}

// In a graph, the slices are views, and each channel is written directly to its location in the output.
Result<Decomposition> decompose_value_scale(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const auto scale = numbers_of(desc, "Scale");
  const auto bias = numbers_of(desc, "Bias");
  const auto scale_bias = [&](std::size_t channel) {
    return OpAttribute{.field = "ScaleBias", .numbers = {scale.front(), bias[channel]}};
  };
  if (bias.size() == 1) {
    list.add_output("ELEMENT_WISE_IDENTITY", {0}, 0, {scale_bias(0)});
    return list.finish();
  }
  TensorDesc part = desc.tensors[0].tensor;
  part.sizes[1] = 1;
  std::vector<std::uint32_t> channels;
  for (std::size_t channel = 0; channel < bias.size(); ++channel) {
    std::int64_t offsets[kMaxRank] = {0, static_cast<std::int64_t>(channel)};
    std::int64_t strides[kMaxRank];
    std::ranges::fill(strides, 1);
    const std::uint32_t slice =
        list.add("SLICE", {0}, part.type, part,
                 {{.field = "Offsets", .numbers = scalars(std::span(offsets).first(part.rank))},
                  {.field = "Sizes", .numbers = scalars(std::span(part.sizes).first(part.rank))},
                  {.field = "Strides", .numbers = scalars(std::span(strides).first(part.rank))}});
    channels.push_back(list.add("ELEMENT_WISE_IDENTITY", {slice}, part.type, part, {scale_bias(channel)}));
  }
  list.add_output("JOIN", channels, 0, {{.field = "Axis", .numbers = {Scalar(u64{1})}}});
  return list.finish();
}

}  // namespace anydml::moves
