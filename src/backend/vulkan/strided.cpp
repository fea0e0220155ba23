// SPDX-License-Identifier: MIT
#include "backend/vulkan/strided.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "backend/vulkan/fast_divisor.h"
#include "shaders/copy_words_1.h"
#include "shaders/copy_words_16.h"
#include "shaders/copy_words_2.h"
#include "shaders/copy_words_4.h"
#include "shaders/copy_words_8.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 30;  // so that the words can be numbered and divided
constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kOperations = 64;  // of a thread, roughly

// The layouts in copy_words.comp.
struct LoopParameters {
  FastDivisor size;
  std::uint32_t unused;
  std::int64_t from;
  std::int64_t to;
};
struct CopyParameters {
  std::int64_t from_offset;
  std::int64_t to_offset;
  std::uint64_t constant;
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t rank;
  std::uint32_t unused;
};
struct CopyConstants {
  std::uint32_t copy;
  std::uint32_t count;
  FastDivisor run;
};

}  // namespace

std::uint32_t word_of(std::uint64_t number) { return std::uint32_t{1} << std::countr_zero(number | std::uint64_t{16}); }

void StridedCopies::add(const StridedCopy& copy) {
  if (copy.run > 0 && std::ranges::all_of(copy.loops, [](const StridedLoop& loop) { return loop.size > 0; })) {
    add_part(copy);
  }
}

void StridedCopies::add_part(StridedCopy copy) {
  const bool reads = copy.from != kFromConstant;
  const auto again = [&](std::int64_t from, std::int64_t to) {
    StridedCopy other = copy;
    other.from_offset += reads ? from : 0;
    other.to_offset += to;
    add_part(std::move(other));
  };
  if (static_cast<std::uint64_t>(copy.run) > kMaxPartBytes) {
    const std::int64_t all = copy.run;
    for (std::int64_t at = 0; at < all; at += static_cast<std::int64_t>(kMaxPartBytes)) {
      copy.run = std::min(all - at, static_cast<std::int64_t>(kMaxPartBytes));
      again(at, at);
    }
    return;
  }
  std::uint64_t bytes = static_cast<std::uint64_t>(copy.run);
  for (const StridedLoop& loop : copy.loops) {
    bytes *= static_cast<std::uint64_t>(loop.size);  // at most the size of a tensor
  }
  if (bytes > kMaxPartBytes) {
    const auto longest = std::ranges::max_element(copy.loops, {}, &StridedLoop::size);
    const StridedLoop whole = *longest;
    longest->size = whole.size / 2;
    again(0, 0);
    longest->size = whole.size - whole.size / 2;
    again(whole.size / 2 * whole.from, whole.size / 2 * whole.to);
    return;
  }
  std::erase_if(copy.loops, [](const StridedLoop& loop) { return loop.size == 1; });
  Part part{.copy = std::move(copy), .parameters = 0, .steps = 0, .bytes = bytes};
  part.steps = static_cast<std::uint64_t>(part.copy.run) | static_cast<std::uint64_t>(part.copy.to_offset) |
               (reads ? static_cast<std::uint64_t>(part.copy.from_offset) : 0);
  for (const StridedLoop& loop : part.copy.loops) {
    part.steps |= static_cast<std::uint64_t>(loop.from) | static_cast<std::uint64_t>(loop.to);
  }
  parts_.push_back(std::move(part));
}

void StridedCopies::finish() {
  for (Part& part : parts_) {
    part.parameters = static_cast<std::uint32_t>(parameters_.size());
    const CopyParameters fixed{.from_offset = part.copy.from_offset,
                               .to_offset = part.copy.to_offset,
                               .constant = part.copy.constant,
                               .from = part.copy.from,
                               .to = part.copy.to,
                               .rank = static_cast<std::uint32_t>(part.copy.loops.size()),
                               .unused = 0};
    const auto append = [&](const auto& value) {
      const auto bytes = std::as_bytes(std::span(&value, 1));
      parameters_.insert(parameters_.end(), bytes.begin(), bytes.end());
    };
    append(fixed);
    for (const StridedLoop& loop : part.copy.loops) {
      append(LoopParameters{
          .size = make_divisor(static_cast<std::uint32_t>(loop.size)), .unused = 0, .from = loop.from, .to = loop.to});
    }
  }
  const std::pair<const char*, std::span<const std::uint32_t>> codes[] = {{"copy_words_1", k_copy_words_1},
                                                                          {"copy_words_2", k_copy_words_2},
                                                                          {"copy_words_4", k_copy_words_4},
                                                                          {"copy_words_8", k_copy_words_8},
                                                                          {"copy_words_16", k_copy_words_16}};
  // Addresses may allow only smaller words than the strides.
  std::uint32_t most = parts_.empty() ? 0 : 1;
  for (const Part& part : parts_) {
    most = std::max(most, word_of(part.steps));
  }
  for (std::size_t i = 0; i < std::size(codes) && (1U << i) <= most; ++i) {
    kernels_[i] = device_.find({.key = codes[i].first, .words = codes[i].second, .make = {}}, {});
  }
}

std::vector<KernelRef> StridedCopies::kernels() const {
  std::vector<KernelRef> all;
  std::ranges::copy_if(kernels_, std::back_inserter(all), [](const KernelRef& one) { return one != nullptr; });
  return all;
}

OperandUse StridedCopies::use_of(std::size_t operand) const {
  OperandUse use{.begin = INT64_MAX, .end = INT64_MIN, .is_written = false};
  const auto add = [&](std::int64_t offset, std::int64_t run, const std::vector<StridedLoop>& loops,
                       std::int64_t StridedLoop::*stride) {
    std::int64_t begin = offset;
    std::int64_t end = offset + run;
    for (const StridedLoop& loop : loops) {
      const std::int64_t last = (loop.size - 1) * (loop.*stride);
      (last < 0 ? begin : end) += last;
    }
    use.begin = std::min(use.begin, begin);
    use.end = std::max(use.end, end);
  };
  for (const Part& part : parts_) {
    if (part.copy.from == operand) {
      add(part.copy.from_offset, part.copy.run, part.copy.loops, &StridedLoop::from);
    }
    if (part.copy.to == operand) {
      add(part.copy.to_offset, part.copy.run, part.copy.loops, &StridedLoop::to);
      use.is_written = true;
    }
  }
  return use.begin < use.end ? use : OperandUse{.begin = 0, .end = 0, .is_written = false};
}

void StridedCopies::record(Recorder& recorder) const {
  for (const Part& part : parts_) {
    std::uint64_t all = part.steps | recorder.low_bits(part.copy.to);
    all |= part.copy.from != kFromConstant ? recorder.low_bits(part.copy.from) : 0;
    const std::uint32_t word = word_of(all);
    const CopyConstants constants{
        .copy = part.parameters,
        .count = static_cast<std::uint32_t>(part.bytes / word),
        .run = make_divisor(static_cast<std::uint32_t>(static_cast<std::uint64_t>(part.copy.run) / word))};
    recorder.dispatch(*kernels_[std::countr_zero(word)], (constants.count + kThreads - 1) / kThreads,
                      std::as_bytes(std::span(&constants, 1)), kThreads * kOperations);
  }
}

}  // namespace anydml::vulkan
