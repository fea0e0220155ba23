// SPDX-License-Identifier: MIT
#include "ops/product/cpu/integer_pack.h"

#include <algorithm>
#include <cstring>

#include "ops/product/cpu/tiles.h"

namespace anydml {
namespace {

// Packs groups whose bytes are already contiguous.
template <class Word>
void copy_groups(const std::byte* from, std::int64_t stride, std::int64_t groups, std::int64_t count,
                 std::int64_t width, u8 flip, u8* to) {
  constexpr auto kGroup = static_cast<std::int64_t>(sizeof(Word));
  const Word turned = static_cast<Word>(~Word{0} / 0xff * flip);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* const column = from + i * stride;
    u8* const destination = to + i * kGroup;
    for (std::int64_t group = 0; group < groups; ++group) {
      Word word;
      std::memcpy(&word, column + group * kGroup, sizeof(word));
      word ^= turned;
      std::memcpy(destination + group * width * kGroup, &word, sizeof(word));
    }
  }
}

// Packs one panel byte by byte: k from `first` to `depth` and columns from `done` to `count`.
void copy_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t first, std::int64_t depth, std::int64_t done, std::int64_t count, std::int64_t width,
                u8* to) {
  for (std::int64_t k = first; k < depth; ++k) {
    const std::byte* const row = from + k * k_stride;
    u8* const destination = to + k / packing.group * packing.group * width + k % packing.group;
    for (std::int64_t i = done; i < count; ++i) {
      destination[i * packing.group] = static_cast<u8>(static_cast<u8>(row[i * stride]) ^ packing.flip);
    }
  }
}

// Packs the rest of a panel: the whole groups of its first `done` columns are already packed.
void pack_panel_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                      std::int64_t depth, std::int64_t done, std::int64_t count, std::int64_t width, u8* to) {
  const std::int64_t groups = depth / packing.group;  // whole groups
  const std::int64_t whole = groups * packing.group;
  const std::int64_t group_bytes = width * packing.group;
  if (count < width) {
    for (std::int64_t group = 0; group < groups; ++group) {
      std::memset(to + group * group_bytes + count * packing.group, 0,
                  static_cast<std::size_t>((width - count) * packing.group));
    }
  }
  if (whole < depth) {
    std::memset(to + groups * group_bytes, 0, static_cast<std::size_t>(group_bytes));
    copy_bytes(packing, from, k_stride, stride, whole, depth, 0, count, width, to);
  }
  if (k_stride != 1) {
    copy_bytes(packing, from, k_stride, stride, 0, whole, done, count, width, to);
  } else if (packing.group == 8) {
    copy_groups<u64>(from, stride, groups, count, width, packing.flip, to);
  } else {
    copy_groups<u32>(from, stride, groups, count, width, packing.flip, to);
  }
}

// Packs a strip block by block, like panels of one block first unless the rows are contiguous.
void pack_blocks(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                 std::int64_t depth, std::int64_t rows, std::int64_t width, u8* to) {
  constexpr std::int64_t kMaxRows = 32;
  constexpr std::int64_t kMaxBlock = 64;
  u8 grouped[kMaxRows * kMaxBlock];
  const BytePacking by_groups{
      .rows = packing.rows, .group = packing.group, .block = packing.group, .flip = packing.flip};
  const std::int64_t group = packing.group;
  const std::int64_t padded = (depth + group - 1) / group * group;
  for (std::int64_t first = 0; first < depth; first += packing.block) {
    const std::int64_t length = std::min(packing.block, padded - first);
    const std::int64_t count = std::min(packing.block, depth - first);
    const std::byte* const block = from + first * k_stride;
    for (std::int64_t done = 0; k_stride != 1 && done < width; done += kMaxRows) {
      pack_bytes(by_groups, block + done * stride, k_stride, stride, count,
                 std::clamp<std::int64_t>(rows - done, 0, kMaxRows), {.first = grouped, .width = kMaxRows, .step = 0});
      for (std::int64_t i = 0; i < std::min(kMaxRows, width - done); ++i, to += length) {
        for (std::int64_t k = 0; k < length; k += group) {
          std::memcpy(to + k, grouped + k * kMaxRows + i * group, static_cast<std::size_t>(group));
        }
      }
    }
    for (std::int64_t i = 0; k_stride == 1 && i < width; ++i, to += length) {
      const std::int64_t here = i < rows ? count : 0;
      std::memcpy(to, block + i * stride, static_cast<std::size_t>(here));
      std::memset(to + here, 0, static_cast<std::size_t>(length - here));
      if (packing.flip != 0) {
        for (std::int64_t k = 0; k < here; ++k) {
          to[k] = static_cast<u8>(to[k] ^ packing.flip);
        }
      }
    }
  }
}

}  // namespace

void pack_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, const PanelBuffer& to) noexcept {
  if (packing.block != packing.group) {
    pack_blocks(packing, from, k_stride, stride, depth, count, to.width, to.first);
    return;
  }
  const auto interleave = packing.rows->interleave[packing.group == 8 ? 1 : 0];
  std::int64_t done = 0;  // columns that are already packed
  if (stride == 1 && k_stride != 1 && interleave != nullptr && to.width % kInterleaved == 0) {
    const std::int64_t eights = count / kInterleaved;
    interleave(from, k_stride, depth / packing.group, eights, packing.flip, to);
    done = eights * kInterleaved;
  }
  u8* panel = to.first;
  for (std::int64_t column = 0; column < count; column += to.width, panel += to.step) {
    const std::int64_t columns = std::min(to.width, count - column);
    pack_panel_bytes(packing, from + column * stride, k_stride, stride, depth,
                     std::clamp<std::int64_t>(done - column, 0, columns), columns, to.width, panel);
  }
}

void fill_ones(u8* to, std::int64_t count) noexcept { std::memset(to, 1, static_cast<std::size_t>(count)); }

void add_up(const IntegerKernels& kernels, std::int64_t rows, const u8* a, std::int64_t a_step, const u8* b,
            std::int64_t b_step, std::int64_t depth, u32* sums) noexcept {
  for (std::int64_t k = 0; k < depth; k += kDepthBlock) {
    kernels.multiply(rows, {.a = a + k * a_step,
                            .b = b + k * b_step,
                            .groups = ceil_div(std::min(kDepthBlock, depth - k), kernels.group),
                            .start = kNoStart,
                            .totals = sums,
                            .totals_step = kernels.panel,
                            .is_first = k == 0});
  }
}

}  // namespace anydml
