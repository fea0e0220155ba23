// SPDX-License-Identifier: MIT
#include "ops/product/cpu/integer_pack.h"

#include <algorithm>
#include <cstring>

namespace anydml {
namespace {

// The bytes of a group lie beside each other already.
template <class Word>
void copy_groups(const std::byte* from, std::int64_t stride, std::int64_t groups, std::int64_t count,
                 std::int64_t width, u8 flip, u8* to) {
  constexpr auto kGroup = static_cast<std::int64_t>(sizeof(Word));
  const Word turned = static_cast<Word>(~Word{0} / 0xff * flip);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* const column = from + i * stride;
    u8* const place = to + i * kGroup;
    for (std::int64_t group = 0; group < groups; ++group) {
      Word word;
      std::memcpy(&word, column + group * kGroup, sizeof(word));
      word ^= turned;
      std::memcpy(place + group * width * kGroup, &word, sizeof(word));
    }
  }
}

// k from `first` to `depth` and i from `from_i` to `count`, byte by byte.
struct Part {
  std::int64_t first;
  std::int64_t from_i;
};
void copy_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, std::int64_t width, Part part, u8* to) {
  for (std::int64_t k = part.first; k < depth; ++k) {
    const std::byte* const row = from + k * k_stride;
    u8* const place = to + k / packing.group * packing.group * width + k % packing.group;
    for (std::int64_t i = part.from_i; i < count; ++i) {
      place[i * packing.group] = static_cast<u8>(static_cast<u8>(row[i * stride]) ^ packing.flip);
    }
  }
}

}  // namespace

void pack_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, std::int64_t width, u8* to) noexcept {
  const std::int64_t groups = depth / packing.group;  // whole ones
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
    copy_bytes(packing, from, k_stride, stride, depth, count, width, {.first = whole, .from_i = 0}, to);
  }
  if (k_stride == 1) {
    if (packing.group == 8) {
      copy_groups<u64>(from, stride, groups, count, width, packing.flip, to);
    } else {
      copy_groups<u32>(from, stride, groups, count, width, packing.flip, to);
    }
    return;
  }
  std::int64_t done = 0;  // columns
  const auto interleave = packing.rows->interleave[packing.group == 8 ? 1 : 0];
  if (stride == 1 && interleave != nullptr) {
    for (; done + kInterleaved <= count; done += kInterleaved) {
      interleave(from + done, k_stride, groups, width, packing.flip, to + done * packing.group);
    }
  }
  if (done < count) {
    copy_bytes(packing, from, k_stride, stride, whole, count, width, {.first = 0, .from_i = done}, to);
  }
}

}  // namespace anydml
