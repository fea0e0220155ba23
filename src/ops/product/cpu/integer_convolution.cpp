// SPDX-License-Identifier: MIT
// Byte convolutions on the CPU. A piece consists of several tiles. A tile covers some output channels of a group and a
// box of pixels in an image. For each block of k, the part of the image that a tile needs is copied, with the zero
// point as padding. Its windows are gathered next to each other, and their bytes are packed into panels for the integer
// product kernels. Pixels without windows are packed into panels directly. The zero points are applied afterwards,
// using the sums of rows and columns, since modulo 2^32, for a filter w and windows x,
//   sum((w - zw) * (x - zx)) = sum(w * x) - zw * sum(x) - zx * (sum(w) - depth * zw).
// If few channels share the windows, the kernels read the copy directly and multiply w - zw. The filter is packed;
// unpacked filters have a separate step (integer_definition.cpp).
#include "ops/product/cpu/integer_convolution.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/load.h"
#include "ops/product/integer_step.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinWork = 2'000'000;  // minimum number of multiply-adds in a piece
constexpr std::int64_t kLineMinWork = 400'000;
constexpr std::size_t kAlignment = 64;

bool by_lines(const ConvolutionStep& step) { return step.rows <= kMaxLines; }
std::int64_t depth_of(const ConvolutionStep& step) { return step.channels * step.taps(); }

// The number of columns that are packed together. It is larger for longer rows of pixels, since each row is copied at
// this width.
std::int64_t packed_columns(const IntegerKernels& kernels, const ConvolutionTiles& tiles, bool has_windows) {
  const std::int64_t length = has_windows ? tiles.count[2] : tiles.columns();
  return std::max<std::int64_t>(kernels.panel, length < 32 ? 16 : length < 64 ? 32 : 64);
}

// The scratch memory of a thread. Offsets are in bytes and multiples of kAlignment.
struct Buffers {
  std::int64_t row_step;  // between rows of the totals, in elements
  std::int64_t together;  // columns that are packed together
  std::size_t totals = 0;
  std::size_t offsets = 0;
  std::size_t copied = 0;
  std::size_t windows = 0;  // the columns that are packed together, k by k
  std::size_t panels = 0;
  std::size_t ones = 0;
  std::size_t sums = 0;
  std::size_t column_sums = 0;
  std::size_t weights = 0;  // of one row
  std::size_t row_zeros = 0;
  std::size_t row_rests = 0;
  std::size_t factors = 0;
  std::size_t zeros = 0;  // zero points of the output
  std::size_t row = 0;    // outputs that are not contiguous
  std::size_t bytes = 0;

  Buffers(const IntegerConvolutionStep& step, const IntegerKernels& kernels, const ConvolutionTiles& tiles)
      : row_step(totals_row(tiles, by_lines(step.convolution), kernels.panel)),
        together(packed_columns(kernels, tiles, step.has_windows != 0)) {
    const auto take = [&](std::int64_t count) {
      const std::size_t at = bytes;
      bytes += (static_cast<std::size_t>(count) + kAlignment - 1) / kAlignment * kAlignment;
      return at;
    };
    const bool lines = by_lines(step.convolution);
    const bool copies = lines || step.has_windows != 0;
    const std::int64_t rows = kernels.padded_rows(tiles.rows);
    totals = take(rows * row_step * kWord);
    offsets = take(copies ? kFilterBlock * static_cast<std::int64_t>(sizeof(std::int64_t)) : 0);
    copied = take(
        copies ? copied_elements(step.convolution, tiles, kFilterBlock) + std::max(together, kIntegerLineSlack) : 0);
    windows = take(copies && !lines ? (kFilterBlock + 1) * together : 0);
    panels = take(lines ? 0 : kFilterBlock * together);
    ones = take(lines ? 0 : kernels.row_unit * kFilterBlock);
    sums = take(lines ? 0 : kernels.row_unit * kernels.panel * kWord);
    column_sums = take(lines ? 0 : row_step * kWord);
    weights = take(lines ? kFilterBlock * static_cast<std::int64_t>(sizeof(i16)) : 0);
    row_zeros = take(rows * kWord);
    row_rests = take(rows * kWord);
    factors = take(row_step * kWord);
    zeros = take(row_step * kWord);
    row = take(row_step * kWord);
  }
};

class IntegerConvolutionRun final : public cpu::PreparedStep {
 public:
  IntegerConvolutionRun(const IntegerConvolutionStep& step, const IntegerKernels& kernels,
                        const ConvolutionTiles& tiles, std::int64_t of_piece, const cpu::StepContext& context,
                        cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(all_tiles(step.convolution, tiles, 1), of_piece)), 1,
                     Buffers(step, kernels, tiles).bytes),
        step_(step),
        convolution_(step_.convolution),
        classes_(window_classes_of(step.convolution.windows, 0)),
        kernels_(kernels),
        rows_(integer_rows(context.target)),
        line_(integer_line(context.target, step.signed_input != 0)),
        tiles_(tiles),
        buffers_(step, kernels, tiles),
        pack_(packing_of_b(kernels, rows_, step.signed_input != 0)),
        after_(std::move(after)),
        depth_(depth_of(step.convolution)),
        tiles_of_piece_(of_piece) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * tiles_of_piece_;
    const std::int64_t end = std::min(first + tiles_of_piece_, all_tiles(convolution_, tiles_, 1));
    for (std::int64_t number = first; number < end; ++number) {
      Work work = work_of(number, piece.scratch, operands);
      // Tiles of the same pixels have the same offsets, which take longer to compute than a small plane.
      work.has_offsets = number != first && tiles_.boxes() == 1 && depth_ <= kFilterBlock;
      if (by_lines(convolution_)) {
        add_lines(work);
      } else {
        add_panels(work);
      }
      finish(work);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integer convolution, tiles of %lld x %lld, %s, %s kernel",
                  static_cast<long long>(tiles_.rows), static_cast<long long>(tiles_.columns()),
                  by_lines(convolution_)   ? "by lines"
                  : step_.has_windows != 0 ? "by panels of windows"
                                           : "by panels",
                  kernels_.name);
  }

 private:
  struct Work {
    std::byte* const* operands;
    std::byte* scratch;
    u32* totals;
    std::int64_t image;
    std::int64_t group;
    std::int64_t row;
    std::int64_t rows;
    WindowTile box;
    WindowPlane plane;  // with all taps
    WindowBlock block;  // the copied block
    std::byte padding;  // the zero point of the input, unchanged
    u32 input_zero;     // adjusted for the signedness of the multiplied bytes
    bool has_zeros;     // whether the column sums are needed
    bool has_offsets;   // whether the scratch memory contains the offsets of the block's taps already
  };
  template <class T>
  [[nodiscard]] static T* at(const Work& work, std::size_t offset) {
    return reinterpret_cast<T*>(work.scratch + offset);
  }
  [[nodiscard]] static std::byte* operand(const Work& work, IntegerOperand which) {
    return work.operands[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::int64_t first_channel(const Work& work) const {  // first channel of the tile's outputs
    return work.group * convolution_.rows + work.row;
  }

  [[nodiscard]] Work work_of(std::int64_t number, std::byte* scratch, std::byte* const* operands) const {
    Work work{};
    work.operands = operands;
    work.scratch = scratch;
    work.totals = at<u32>(work, buffers_.totals);
    work.box = box_of(tiles_, classes_, number % tiles_.boxes());
    number /= tiles_.boxes();
    work.row = number % tiles_.down * tiles_.rows;
    work.rows = std::min(tiles_.rows, convolution_.rows - work.row);
    number /= tiles_.down;
    work.group = number % convolution_.groups;
    work.image = number / convolution_.groups;
    if (by_lines(convolution_) || step_.has_windows != 0) {
      work.plane = window_plane(classes_, work.box);
    }
    const std::byte* const zero = operand(work, IntegerOperand::b_zero);
    work.padding = zero == nullptr ? std::byte{0} : *zero;
    const bool is_signed = step_.signed_input != 0;
    // The kernels for lines use the bytes unchanged.
    const i32 shift = by_lines(convolution_) ? 0 : byte_shift(is_signed, true);
    work.input_zero = static_cast<u32>(byte_at(&work.padding, is_signed) + shift);
    return work;
  }

  [[nodiscard]] const std::byte* channel(const Work& work, std::int64_t number) const {
    return operand(work, IntegerOperand::b) + work.image * convolution_.input_image +
           (work.group * convolution_.channels + number) * convolution_.input_channel;
  }
  [[nodiscard]] const u8* filter_of_group(const Work& work) const {
    return reinterpret_cast<const u8*>(operand(work, IntegerOperand::a)) +
           work.group * integer_filter_bytes(convolution_.rows, convolution_.channels, convolution_.taps());
  }
  [[nodiscard]] i32 filter_zero(const Work& work, std::int64_t row) const {
    const std::byte* const zero = operand(work, IntegerOperand::a_zero);
    return zero == nullptr ? 0
                           : byte_at(zero + (first_channel(work) + row) * step_.filter_zero, step_.signed_filter != 0);
  }

  // Copies the part of the image that the tile needs for these values of k.
  void copy_part(Work& work, std::int64_t first, std::int64_t depth) const {
    find_block(classes_, work.plane, work.box, first, depth, kFilterBlock, work.block);
    copy_block(convolution_.windows, work.block, channel(work, 0), convolution_.input_channel, 1, &work.padding,
               at<std::byte>(work, buffers_.copied));
    if (!work.has_offsets) {
      tap_offsets(work.block, at<std::int64_t>(work, buffers_.offsets));
    }
  }

  void add_lines(Work& work) const {
    const BoxLines lines(work.plane, work.box);
    const std::byte* const copied = at<std::byte>(work, buffers_.copied);
    const auto* const offsets = at<std::int64_t>(work, buffers_.offsets);
    auto* const weights = at<i16>(work, buffers_.weights);
    u32* const rests = at<u32>(work, buffers_.row_rests);
    std::fill_n(rests, work.rows, 0U);
    for (std::int64_t first = 0; first < depth_; first += kFilterBlock) {
      const std::int64_t depth = std::min(kFilterBlock, depth_ - first);
      copy_part(work, first, depth);
      for (std::int64_t row = 0; row < work.rows; ++row) {
        const auto* const filter =
            reinterpret_cast<const std::byte*>(filter_of_group(work)) + (work.row + row) * padded_depth(depth_) + first;
        const i32 zero = filter_zero(work, row);
        for (std::int64_t k = 0; k < depth; ++k) {
          weights[k] = static_cast<i16>(byte_at(filter + k, step_.signed_filter != 0) - zero);
          rests[row] += static_cast<u32>(i32{weights[k]});
        }
        for (std::int64_t i = 0; i < work.box.count[0]; ++i) {
          for (std::int64_t j = 0; j < lines.count; ++j) {
            line_(copied + work.block.plane().offset_of_row(i, j), offsets, weights, depth,
                  work.totals + row * buffers_.row_step + lines.offset_of(work.box, i, j), lines.length, first == 0);
          }
        }
      }
    }
    for (std::int64_t row = 0; row < work.rows; ++row) {
      lines.close_up(work.box, work.totals + row * buffers_.row_step);
    }
  }

  // Gathers the zero points of the tile's rows, adjusted for the signs that the kernels require, and computes the row
  // sums without the zero points.
  void gather_zeros(Work& work) const {
    const i32 shift = byte_shift(step_.signed_filter != 0, !kernels_.unsigned_a);
    const u8* const sums = filter_of_group(work) + padded_filter_rows(convolution_.rows) * padded_depth(depth_);
    for (std::int64_t row = 0; row < work.rows; ++row) {
      const auto zero = static_cast<u32>(filter_zero(work, row) + shift);
      u32 sum;
      std::memcpy(&sum, sums + (work.row + row) * kWord, sizeof(sum));
      at<u32>(work, buffers_.row_zeros)[row] = zero;
      at<u32>(work, buffers_.row_rests)[row] = sum - static_cast<u32>(depth_) * zero;
      work.has_zeros = work.has_zeros || zero != 0;
    }
  }

  void add_panels(Work& work) const {
    gather_zeros(work);
    const std::int64_t columns = work.box.outputs();
    const std::int64_t width = kernels_.panel;
    const std::int64_t padded_rows = padded_filter_rows(convolution_.rows);
    u32* const column_sums = at<u32>(work, buffers_.column_sums);
    u32* const sums = at<u32>(work, buffers_.sums);
    u8* const ones = at<u8>(work, buffers_.ones);
    if (work.has_zeros) {
      fill_ones(ones, kernels_.row_unit * padded_depth(std::min(kFilterBlock, depth_)));
      std::fill_n(column_sums, ceil_div(columns, width) * width, 0U);
    }
    for (std::int64_t first = 0; first < depth_; first += kFilterBlock) {
      const std::int64_t depth = std::min(kFilterBlock, depth_ - first);
      const std::int64_t groups = ceil_div(depth, kernels_.group);
      const u8* const strips = filter_of_group(work) + padded_rows * first + work.row * groups * kernels_.group;
      if (step_.has_windows != 0) {
        copy_part(work, first, depth);
      }
      for (std::int64_t column = 0; column < columns; column += width) {
        const std::int64_t panel_bytes = width * groups * kernels_.group;
        if (column % buffers_.together == 0) {
          pack_columns(work, column, first, depth, panel_bytes);
        }
        const u8* const panel = at<u8>(work, buffers_.panels) + column % buffers_.together / width * panel_bytes;
        if (work.has_zeros) {
          add_up(kernels_, 1, ones, 0, panel, width, depth, sums);
          for (std::int64_t i = 0; i < width; ++i) {
            column_sums[column + i] += sums[i];
          }
        }
        kernels_.multiply(work.rows, {.a = strips,
                                      .b = panel,
                                      .groups = groups,
                                      .start = kNoStart,
                                      .totals = work.totals + column,
                                      .totals_step = buffers_.row_step,
                                      .is_first = first == 0});
      }
    }
  }

  // Packs some columns into panels, starting with `column`.
  void pack_columns(const Work& work, std::int64_t column, std::int64_t first, std::int64_t depth,
                    std::int64_t panel_bytes) const {
    const std::int64_t together = buffers_.together;
    const std::int64_t count = std::min(together, work.box.outputs() - column);
    const PanelBuffer to{.first = at<u8>(work, buffers_.panels), .width = kernels_.panel, .step = panel_bytes};
    if (step_.has_windows == 0) {
      const WindowAxis* const axes = convolution_.windows.axes;
      const std::int64_t pixel =
          (work.box.first[0] * axes[1].output + work.box.first[1]) * axes[2].output + work.box.first[2] + column;
      pack_bytes(pack_, channel(work, first) + pixel * step_.pixel_step, convolution_.input_channel, step_.pixel_step,
                 depth, count, to);
      return;
    }
    std::byte* const windows = at<std::byte>(work, buffers_.windows);
    pack_windows(work.block.plane(), work.box, at<std::byte>(work, buffers_.copied),
                 at<std::int64_t>(work, buffers_.offsets), depth, column, together, 1, windows);
    pack_bytes(pack_, windows, together, 1, depth, count, to);
  }

  // Computes the factor of a channel and the zero point of its outputs.
  void set_scales(const Work& work, std::int64_t row) const {
    const auto scale = [&](IntegerOperand which, std::int64_t offset) {
      return load<f32>(operand(work, which) + offset);
    };
    const f32 factor =
        quantized_factor(scale(IntegerOperand::b_scale, 0),
                         scale(IntegerOperand::a_scale, (first_channel(work) + row) * step_.filter_scale),
                         scale(IntegerOperand::output_scale, 0));
    const std::byte* const zero = operand(work, IntegerOperand::output_zero);
    std::fill_n(at<f32>(work, buffers_.factors), work.box.outputs(), factor);
    std::fill_n(at<i32>(work, buffers_.zeros), work.box.outputs(),
                zero == nullptr ? 0 : byte_at(zero, step_.signed_output != 0));
  }

  void finish_row(const IntegerRow& row, std::byte* to) const {
    if (step_.finish == IntegerFinish::int32) {
      rows_.to_int32(row, to);
    } else {
      (step_.signed_output != 0 ? rows_.to_int8 : rows_.to_uint8)(row, to);
    }
  }

  void finish(const Work& work) const {
    const bool is_quantized = step_.finish == IntegerFinish::quantized;
    const std::int64_t bytes = is_quantized ? 1 : kWord;
    const std::int64_t columns = work.box.outputs();
    for (std::int64_t i = 0; i < work.rows; ++i) {
      if (is_quantized && (i == 0 || step_.filter_scale != 0)) {
        set_scales(work, i);
      }
      const std::byte* const bias = operand(work, IntegerOperand::bias);
      const u32 added = bias == nullptr ? 0 : load<u32>(bias + (first_channel(work) + i) * convolution_.bias_channel);
      u32* const totals = work.totals + i * buffers_.row_step;
      const IntegerRow whole{.totals = totals,
                             .column_sums = work.has_zeros ? at<u32>(work, buffers_.column_sums) : nullptr,
                             .column_zeros = nullptr,
                             .zero = work.has_zeros ? at<u32>(work, buffers_.row_zeros)[i] : 0,
                             .rest = 0,
                             .plus = added - work.input_zero * at<u32>(work, buffers_.row_rests)[i],
                             .factors = at<f32>(work, buffers_.factors),
                             .zeros = at<i32>(work, buffers_.zeros),
                             .count = columns};
      if (after_.step != nullptr) {
        finish_row(whole, reinterpret_cast<std::byte*>(totals));
        continue;
      }
      std::byte* const to = operand(work, IntegerOperand::output) + work.image * convolution_.output_image +
                            (first_channel(work) + i) * convolution_.output_channel;
      for_each_run(convolution_, classes_, work.box, bytes,
                   [&](std::int64_t pixel, std::int64_t count, std::int64_t offset, std::int64_t step) {
                     IntegerRow row = whole;
                     row.totals += pixel;
                     row.column_sums += whole.column_sums != nullptr ? pixel : 0;
                     row.count = count;
                     if (step == bytes) {
                       finish_row(row, to + offset);
                       return;
                     }
                     std::byte* const computed = at<std::byte>(work, buffers_.row);
                     finish_row(row, computed);
                     for (std::int64_t k = 0; k < count; ++k) {
                       std::memcpy(to + offset + k * step, computed + k * bytes, static_cast<std::size_t>(bytes));
                     }
                   });
    }
    if (after_.step != nullptr) {
      const WindowAxis* const axes = convolution_.windows.axes;
      const std::int64_t pixel =
          (work.box.first[0] * axes[1].output + work.box.first[1]) * axes[2].output + work.box.first[2];
      after_.run({.first = (work.image * convolution_.groups * convolution_.rows + first_channel(work)) *
                               convolution_.pixels() +
                           pixel,
                  .rows = work.rows,
                  .columns = columns,
                  .row_step = convolution_.pixels(),
                  .buffer_row_step = buffers_.row_step * kWord},
                 reinterpret_cast<std::byte*>(work.totals), work.operands);
    }
  }

  IntegerConvolutionStep step_;
  const ConvolutionStep& convolution_;
  WindowClasses classes_;  // these convolutions have only one class of outputs
  const IntegerKernels& kernels_;
  const IntegerRows& rows_;
  IntegerLine line_;
  ConvolutionTiles tiles_;
  Buffers buffers_;
  BytePacking pack_;
  cpu::Neighbor after_;
  std::int64_t depth_;
  std::int64_t tiles_of_piece_;
};

// Packs the filter. A piece consists of several strips of a group.
class IntegerFilterRun final : public cpu::PreparedStep {
 public:
  IntegerFilterRun(const IntegerConvolutionStep& step, const IntegerKernels& kernels, const IntegerRows& rows,
                   std::int64_t strips)
      : PreparedStep(static_cast<std::uint64_t>(
                         ceil_div(step.convolution.groups * ceil_div(step.convolution.rows, kernels.strip), strips)),
                     1, static_cast<std::size_t>(kernels.strip * kFilterBlock)),
        step_(step.convolution),
        kernels_(kernels),
        pack_(packing_of_a(kernels, rows, step.signed_filter != 0)),
        depth_(depth_of(step.convolution)),
        strips_(strips),
        is_contiguous_(is_contiguous_filter(step.convolution, 1)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t of_group = ceil_div(step_.rows, kernels_.strip);
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.groups * of_group);
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t group = number / of_group;
      const std::int64_t row = number % of_group * kernels_.strip;
      pack(operands[0] + group * step_.filter_group + row * step_.filter_row, row,
           reinterpret_cast<u8*>(operands[1]) + group * integer_filter_bytes(step_.rows, step_.channels, step_.taps()),
           piece.scratch);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "strips of %lld rows, %s kernel", static_cast<long long>(kernels_.strip),
                  kernels_.name);
  }

 private:
  // Copies the bytes of a row for some k to contiguous memory.
  void gather(const std::byte* from, std::int64_t first, std::int64_t depth, std::byte* to) const {
    if (is_contiguous_) {
      std::memcpy(to, from + first, static_cast<std::size_t>(depth));
      return;
    }
    const WindowAxis* const axes = step_.windows.axes;
    for (std::int64_t k = first; k < first + depth; ++k) {
      const std::int64_t tap = k % step_.taps();
      *to++ = from[k / step_.taps() * step_.filter_channel + tap / (axes[1].taps * axes[2].taps) * axes[0].filter_step +
                   tap / axes[2].taps % axes[1].taps * axes[1].filter_step + tap % axes[2].taps * axes[2].filter_step];
    }
  }

  // Packs, block by block, the strip that begins with this row. `from` is the address of the row's first byte.
  void pack(const std::byte* from, std::int64_t row, u8* group, std::byte* scratch) const {
    const std::int64_t rows = std::min(kernels_.strip, step_.rows - row);
    if (by_lines(step_)) {
      for (std::int64_t i = 0; i < rows; ++i) {
        auto* const to = reinterpret_cast<std::byte*>(group) + (row + i) * padded_depth(depth_);
        gather(from + i * step_.filter_row, 0, depth_, to);
      }
      return;
    }
    const std::int64_t padded_rows = padded_filter_rows(step_.rows);
    u8* const sums = group + padded_rows * padded_depth(depth_) + row * kWord;
    std::memset(sums, 0, static_cast<std::size_t>(rows * kWord));
    for (std::int64_t first = 0; first < depth_; first += kFilterBlock) {
      const std::int64_t depth = std::min(kFilterBlock, depth_ - first);
      const std::int64_t of_row = ceil_div(depth, kernels_.group) * kernels_.group;
      for (std::int64_t i = 0; i < rows; ++i) {
        std::byte* const bytes = scratch + i * kFilterBlock;
        gather(from + i * step_.filter_row, first, depth, bytes);
        u32 sum;
        std::memcpy(&sum, sums + i * kWord, sizeof(sum));
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::byte byte = bytes[k] ^ std::byte{pack_.flip};
          sum += static_cast<u32>(byte_at(&byte, !kernels_.unsigned_a));
        }
        std::memcpy(sums + i * kWord, &sum, sizeof(sum));
      }
      pack_bytes(pack_, scratch, 1, kFilterBlock, depth, rows,
                 {.first = group + padded_rows * first + row * of_row, .width = kernels_.padded_rows(rows), .step = 0});
    }
  }

  ConvolutionStep step_;
  const IntegerKernels& kernels_;
  BytePacking pack_;
  std::int64_t depth_;
  std::int64_t strips_;  // per piece
  bool is_contiguous_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_integer_convolution(const Step& flat, const cpu::StepContext& context,
                                                               cpu::Neighbor after) {
  IntegerConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const IntegerKernels& kernels = integer_kernels(context.target);
  const bool is_filter = step.convolution.kind == ProductKind::integer_filter;
  if (is_filter || step.is_packed != 0) {
    if (auto quads = prepare_quad_convolution(step, kernels, context, after)) {
      return quads;
    }
  }
  if (is_filter) {
    constexpr std::int64_t kBytesOfPiece = 1 << 16;
    const std::int64_t of_strip = kernels.strip * depth_of(step.convolution);
    return std::make_unique<IntegerFilterRun>(step, kernels, integer_rows(context.target),
                                              std::max<std::int64_t>(1, kBytesOfPiece / of_strip));
  }
  if (step.is_packed == 0) {
    return prepare_integer_definition(step, std::move(after));
  }
  if (auto rows = prepare_row_convolution(step, kernels, after)) {
    return rows;
  }
  if (auto depthwise = prepare_integer_depthwise(step, context, after)) {
    return depthwise;
  }
  const bool lines = by_lines(step.convolution);
  const std::int64_t min_work = lines ? kLineMinWork : kMinWork;
  const ConvolutionTiles tiles = cut(step.convolution,
                                     {.strip = lines ? 1 : kernels.strip,
                                      .panel = kernels.panel,
                                      .block = lines || step.has_windows != 0 ? kFilterBlock : 0,
                                      .by_lines = lines,
                                      .skips = false,
                                      .min_work = min_work},
                                     1, context.threads);
  return std::make_unique<IntegerConvolutionRun>(step, kernels, tiles,
                                                 tiles_of_piece(step.convolution, tiles, 1, min_work, context.threads),
                                                 context, std::move(after));
}

}  // namespace anydml
