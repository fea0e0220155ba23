// SPDX-License-Identifier: MIT
// Operators whose outputs repeat, reorder or pad their inputs.
#include "ops/move/maps.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ops/arguments.h"

namespace anydml::moves {
namespace {

// The strides of a tensor in bytes.
struct ByteStrides {
  explicit ByteStrides(const TensorDesc& tensor) : bytes(static_cast<std::int64_t>(element_size(tensor.type))) {
    for (std::uint32_t i = 0; i < tensor.rank; ++i) {
      of[i] = tensor.sizes[i] > 1 ? tensor.strides[i] * bytes : 0;
    }
  }
  std::int64_t bytes;
  std::int64_t of[kMaxRank] = {};
};

// A dimension of a padded tensor. The input's elements are at [first, end), and the padding is around them.
struct Padded {
  std::int64_t first;
  std::int64_t end;
  std::int64_t size;
};

enum class PaddingMode : std::uint8_t { constant, edge, reflection, symmetric, wrap };

// Consecutive elements along an output dimension that are copies of other elements in the same dimension. Their sources
// advance by +1, -1 or 0, and the whole sequence is copied again for each repeat.
struct Stretch {
  std::int64_t to;
  std::int64_t to_step;
  std::int64_t from;
  std::int64_t from_step;
  std::int64_t size;
  std::int64_t repeats;
  std::int64_t to_repeat;
};

// Adds `count` elements beyond one edge of the input. sign: the direction, -1 or 1.
void add_beyond(PaddingMode mode, const Padded& dimension, std::int64_t count, std::int64_t sign,
                std::vector<Stretch>& stretches) {
  const std::int64_t edge = sign < 0 ? dimension.first : dimension.end - 1;
  const std::int64_t opposite = sign < 0 ? dimension.end - 1 : dimension.first;
  const std::int64_t size = dimension.end - dimension.first;
  struct Piece {
    std::int64_t from;
    std::int64_t step;
    std::int64_t size;
  };
  std::vector<Piece> period;
  if (mode == PaddingMode::edge || size == 1) {
    period = {{edge, 0, count}};
  } else if (mode == PaddingMode::reflection) {
    period = {{edge - sign, -sign, size - 1}, {opposite + sign, sign, size - 1}};
  } else if (mode == PaddingMode::symmetric) {
    period = {{edge, -sign, size}, {opposite, sign, size}};
  } else {
    period = {{opposite, sign, size}};
  }
  std::int64_t length = 0;
  for (const Piece& piece : period) {
    length += piece.size;
  }
  const std::int64_t whole = length == 0 ? 0 : count / length;
  std::int64_t at = 1;  // distance beyond the edge
  for (const Piece& piece : period) {
    const auto add = [&](std::int64_t begin, std::int64_t elements, std::int64_t repeats) {
      if (elements > 0 && repeats > 0) {
        stretches.push_back({.to = edge + sign * begin,
                             .to_step = sign,
                             .from = piece.from,
                             .from_step = piece.step,
                             .size = elements,
                             .repeats = repeats,
                             .to_repeat = sign * length});
      }
    };
    add(at, piece.size, whole);
    add(at + whole * length, std::min(piece.size, count - whole * length - (at - 1)), 1);
    at += piece.size;
  }
}

// Adds the loops of all dimensions but one. Later dimensions are covered completely, and earlier dimensions only over
// the range of the input's elements. Returns false if any of these loops is empty.
bool add_other_loops(std::span<const Padded> padded, std::size_t dimension, const ByteStrides& strides,
                     bool from_output, Movement& movement) {
  for (std::size_t i = 0; i < padded.size(); ++i) {
    if (i == dimension) {
      continue;
    }
    const std::int64_t first = i < dimension ? padded[i].first : 0;
    const std::int64_t size = i < dimension ? padded[i].end - first : padded[i].size;
    if (size == 0) {
      return false;
    }
    movement.add(size, from_output ? strides.of[i] : 0, strides.of[i]);
    movement.to_offset += first * strides.of[i];
    movement.from_offset += from_output ? first * strides.of[i] : 0;
  }
  return true;
}

// Fills all output elements outside the input with a constant.
void fill_around(std::span<const Padded> padded, const PlacedTensor& output, std::uint64_t constant, CopyList& copies) {
  const ByteStrides strides(output.tensor);
  for (std::size_t dimension = padded.size(); dimension-- > 0;) {
    const Padded& along = padded[dimension];
    for (const auto& [first, end] : {std::pair(std::int64_t{0}, along.first), std::pair(along.end, along.size)}) {
      Movement movement{.element = strides.bytes, .from_offset = 0, .to_offset = first * strides.of[dimension]};
      if (first < end && add_other_loops(padded, dimension, strides, false, movement)) {
        movement.add(end - first, 0, strides.of[dimension]);
        copies.fill(output.operand(), movement, constant);
      }
    }
  }
}

}  // namespace

// If the slice contains every element of its window, only the elements around it are zeroed. Otherwise the whole output
// is cleared first.
void lower_slice_gradient(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const PlacedTensor& output = tensors[1];
  const TensorDesc& input = desc.tensors[0].tensor;
  const auto offsets = numbers_of(desc, "InputWindowOffsets");
  const auto sizes = numbers_of(desc, "InputWindowSizes");
  const auto strides = numbers_of(desc, "InputWindowStrides");
  std::vector<Padded> padded;
  for (std::uint32_t i = 0; i < output.tensor.rank; ++i) {
    const std::int64_t end = offsets[i].as<i64>() + sizes[i].as<i64>();
    const std::int64_t first = strides[i].as<i64>() < 0 ? end - input.sizes[i] : offsets[i].as<i64>();
    padded.push_back({.first = first, .end = first + input.sizes[i], .size = output.tensor.sizes[i]});
  }
  if (is_dense_slice(desc, input)) {
    fill_around(padded, output, 0, copies);
  } else {
    const ByteStrides bytes(output.tensor);
    Movement all{.element = bytes.bytes};
    for (std::uint32_t i = 0; i < output.tensor.rank; ++i) {
      all.add(output.tensor.sizes[i], 0, bytes.of[i]);
    }
    copies.fill(output.operand(), all, 0);
    copies.finish();
  }
  copy_padded(desc, tensors, copies);
}

// Copies the input's elements first. The surrounding elements are constant or are copied from the output itself,
// dimension by dimension starting from the last, so that each step copies the results of the previous ones.
void lower_padding(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const PlacedTensor& output = tensors[1];
  const auto start = numbers_of(desc, "StartPadding");
  const auto mode = static_cast<PaddingMode>(numbers_of(desc, "PaddingMode").front().as<u32>());
  const std::uint64_t constant = bits_of(numbers_of(desc, "PaddingValue").front(), output.tensor.type);
  const ByteStrides strides(output.tensor);
  std::vector<Padded> padded;
  for (std::uint32_t i = 0; i < output.tensor.rank; ++i) {
    const std::int64_t first = start[i].as<i64>();
    padded.push_back({.first = first, .end = first + desc.tensors[0].tensor.sizes[i], .size = output.tensor.sizes[i]});
  }
  copy_padded(desc, tensors, copies);
  if (mode == PaddingMode::constant) {
    fill_around(padded, output, constant, copies);
    return;
  }
  for (std::size_t dimension = padded.size(); dimension-- > 0;) {
    const Padded& along = padded[dimension];
    const std::int64_t stride = strides.of[dimension];
    std::vector<Stretch> stretches;
    add_beyond(mode, along, along.first, -1, stretches);
    add_beyond(mode, along, along.size - along.end, 1, stretches);
    copies.finish();
    for (const Stretch& stretch : stretches) {
      Movement movement{
          .element = strides.bytes, .from_offset = stretch.from * stride, .to_offset = stretch.to * stride};
      static_cast<void>(add_other_loops(padded, dimension, strides, true, movement));  // the input is not empty
      movement.add(stretch.repeats, 0, stretch.to_repeat * stride);
      movement.add(stretch.size, stretch.from_step * stride, stretch.to_step * stride);
      copies.copy(output.operand(), output.operand(), movement);
    }
  }
}

void lower_tile(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const ByteStrides from(tensors[0].tensor);
  const ByteStrides to(tensors[1].tensor);
  const auto repeats = numbers_of(desc, "Repeats");
  Movement movement{.element = to.bytes};
  for (std::uint32_t i = 0; i < tensors[1].tensor.rank; ++i) {
    const std::int64_t size = desc.tensors[0].tensor.sizes[i];
    movement.add(repeats[i].as<i64>(), 0, size * to.of[i]);
    movement.add(size, from.of[i], to.of[i]);
  }
  copies.copy(tensors[0].operand(), tensors[1].operand(), movement);
}

// Copies between [N, C, H x B, W x B] and [N, C x B x B, H, W], in either direction.
void lower_blocks(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const bool to_depth = desc.op->name.starts_with("SPACE");
  const PlacedTensor& space = tensors[to_depth ? 0 : 1];
  const PlacedTensor& depth = tensors[to_depth ? 1 : 0];
  const ByteStrides in_space(space.tensor);
  const ByteStrides in_depth(depth.tensor);
  const auto block = numbers_of(desc, "BlockSize").front().as<i64>();
  const auto order = numbers_of(desc, "Order");
  const bool channels_first = !order.empty() && order.front().as<u32>() != 0;  // COLUMN_ROW_DEPTH
  const std::int64_t channels = space.tensor.sizes[1];
  Movement movement{.element = in_space.bytes};
  const auto add = [&](std::int64_t size, std::int64_t space_stride, std::int64_t depth_stride) {
    movement.add(size, to_depth ? space_stride : depth_stride, to_depth ? depth_stride : space_stride);
  };
  const std::int64_t in_block = channels_first ? 1 : channels;  // distance in channels between the columns of a block
  add(space.tensor.sizes[0], in_space.of[0], in_depth.of[0]);
  add(channels, in_space.of[1], in_depth.of[1] * (channels_first ? block * block : 1));
  add(block, in_space.of[2], in_depth.of[1] * in_block * block);
  add(block, in_space.of[3], in_depth.of[1] * in_block);
  add(depth.tensor.sizes[2], in_space.of[2] * block, in_depth.of[2]);
  add(depth.tensor.sizes[3], in_space.of[3] * block, in_depth.of[3]);
  copies.copy(tensors[0].operand(), tensors[1].operand(), movement);
}

namespace {

// One or more matrices.
struct Matrices {
  Matrices(const PlacedTensor& placed, std::uint64_t value, CopyList& all)
      : operand(placed.operand()),
        tensor(placed.tensor),
        strides(placed.tensor),
        height(tensor.sizes[tensor.rank - 2]),
        width(tensor.sizes[tensor.rank - 1]),
        down(strides.of[tensor.rank - 2]),
        right(strides.of[tensor.rank - 1]),
        constant(value),
        copies(all) {}

  // Fills rows x columns elements of each matrix, each row shifted `shift` columns to the right of the previous one.
  // This repeats `count` times, each time `apart` rows further down and `apart` columns further to the right.
  void fill(std::int64_t y, std::int64_t x, std::int64_t rows, std::int64_t columns, std::int64_t shift,
            std::int64_t count = 1, std::int64_t apart = 0) const {
    if (rows <= 0 || columns <= 0) {
      return;
    }
    Movement movement{.element = strides.bytes, .from_offset = 0, .to_offset = y * down + x * right};
    for (std::uint32_t i = 0; i + 2 < tensor.rank; ++i) {
      movement.add(tensor.sizes[i], 0, strides.of[i]);
    }
    movement.add(count, 0, apart * (down + right));
    movement.add(rows, 0, down + shift * right);
    movement.add(columns, 0, right);
    copies.fill(operand, movement, constant);
  }

  // Fills the elements of a square below or above its diagonal. A triangle whose side is a power of two consists of a
  // square with half the side and two triangles with half the side. All squares of one size are one copy, so the number
  // of copies grows with the logarithm of the side.
  void fill_triangle(std::int64_t y, std::int64_t x, std::int64_t side, bool is_below) const {
    while (side > 1) {
      const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(side)));
      for (std::int64_t half = power / 2; half > 0; half /= 2) {
        fill(y + (is_below ? half : 0), x + (is_below ? 0 : half), half, half, 0, power / (2 * half), 2 * half);
      }
      const std::int64_t rest = side - power;
      fill(y + (is_below ? power : 0), x + (is_below ? 0 : power), is_below ? rest : power, is_below ? power : rest, 0);
      y += power;
      x += power;
      side = rest;
    }
  }

  Operand operand;
  const TensorDesc& tensor;
  ByteStrides strides;
  std::int64_t height;
  std::int64_t width;
  std::int64_t down;
  std::int64_t right;
  std::uint64_t constant;
  CopyList& copies;
};

// Fills the diagonals [begin, end), where the element at row y and column x is on diagonal x - y.
void fill_band(const Matrices& matrices, std::int64_t begin, std::int64_t end) {
  const auto [height, width] = std::pair(matrices.height, matrices.width);
  begin = std::max(begin, 1 - height);
  end = std::min(end, width);
  if (begin >= end) {
    return;
  }
  // Row y covers the columns [y + begin, y + end), clipped to the matrix. The left edge clips the rows before `left`,
  // and the right edge clips row `right` and the rows after it.
  const std::int64_t first = std::clamp<std::int64_t>(1 - end, 0, height);
  const std::int64_t last = std::clamp<std::int64_t>(width - begin, 0, height);  // one past the last row
  const std::int64_t left = std::clamp(-begin, first, last);
  const std::int64_t right = std::clamp(width - end + 1, first, last);
  // Rows clipped only by the left edge grow by one column each.
  if (const std::int64_t rows = std::min(left, right) - first; rows > 0) {
    matrices.fill(first, 0, rows, first + end, 0);
    matrices.fill_triangle(first, first + end, rows, true);
  }
  if (left < right) {
    matrices.fill(left, left + begin, right - left, end - begin, 1);
  } else {
    matrices.fill(right, 0, left - right, width, 0);
  }
  // Rows clipped only by the right edge shrink by one column each.
  const std::int64_t shrinking = std::max(left, right);
  if (const std::int64_t rows = last - shrinking; rows > 0) {
    const std::int64_t x = shrinking + begin;
    matrices.fill(shrinking, x + rows, rows, width - x - rows, 0);
    matrices.fill(shrinking, x, rows, 1, 1);
    matrices.fill_triangle(shrinking, x, rows, false);
  }
}

}  // namespace

// Writes all elements first, then the diagonals.
void lower_diagonal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const PlacedTensor& output = tensors.back();
  const std::uint64_t value = bits_of(numbers_of(desc, "Value").front(), output.tensor.type);
  const Matrices matrices(output, value, copies);
  const bool has_input = desc.input_count != 0 && desc.tensors[0].present;
  const ByteStrides from(has_input ? tensors[0].tensor : output.tensor);
  Movement all{.element = matrices.strides.bytes};
  for (std::uint32_t i = 0; i < output.tensor.rank; ++i) {
    all.add(output.tensor.sizes[i], has_input ? from.of[i] : 0, matrices.strides.of[i]);
  }
  if (has_input) {
    copies.copy(tensors[0].operand(), output.operand(), all);
  } else {
    copies.fill(output.operand(), all, 0);
  }
  copies.finish();
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  if (const auto offset = numbers_of(desc, "Offset"); !offset.empty()) {
    fill_band(matrices, offset.front().as<i64>(), offset.front().as<i64>() + 1);
    return;
  }
  const auto begin = numbers_of(desc, "DiagonalFillBegin").front().as<i64>();
  const auto end = numbers_of(desc, "DiagonalFillEnd").front().as<i64>();
  if (begin <= end) {
    fill_band(matrices, begin, end);
  } else {
    fill_band(matrices, -kFar, end);
    fill_band(matrices, begin, kFar);
  }
}

}  // namespace anydml::moves
