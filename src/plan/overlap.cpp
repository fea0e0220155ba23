// SPDX-License-Identifier: MIT
#include "plan/overlap.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "base/checked.h"
#include "base/small_sort.h"
#include "plan/reshape.h"

namespace anydml {
namespace {

struct Dimension {
  std::int64_t stride;  // positive
  std::int64_t steps;   // size - 1, positive
};

// Two indices collide if their difference d, with |d[i]| <= steps[i] and not all zero, satisfies sum d[i] * stride[i] =
// 0. The search is depth-first from the largest stride down. Each level tries only the values of d[i] that the smaller
// strides can still cancel, which are one or two values for typical layouts.
class CollisionSearch {
 public:
  explicit CollisionSearch(std::span<const Dimension> dimensions) : dimensions_(dimensions) {
    for (std::size_t i = dimensions.size(); i-- > 0;) {
      rest_[i] = rest_[i + 1] + dimensions[i].steps * dimensions[i].stride;
      divisor_[i] = std::gcd(divisor_[i + 1], dimensions[i].stride);
    }
  }

  SelfOverlap run() {
    const bool found = search(0, 0, false);
    return found ? SelfOverlap::found : budget_ < 0 ? SelfOverlap::undecided : SelfOverlap::none;
  }

 private:
  // Whether dimension `level` and the following dimensions can bring `sum` to 0. `moved`: whether a previous d is
  // nonzero.
  bool search(std::size_t level, std::int64_t sum, bool moved) {
    if (level == dimensions_.size()) {
      return moved && sum == 0;
    }
    if (--budget_ < 0 || sum % divisor_[level] != 0) {
      return false;
    }
    const auto [stride, steps] = dimensions_[level];
    // sum + d * stride must be within the range that the remaining dimensions can cancel. Until some d is nonzero, d
    // and -d are equivalent, so only one of them is tried.
    const std::int64_t below = rest_[level + 1];
    const std::int64_t minimum = moved ? std::max(-steps, ceiling(-below - sum, stride)) : 0;
    const std::int64_t limit = std::min(steps, floor(below - sum, stride));
    for (std::int64_t d = minimum; d <= limit && budget_ >= 0; ++d) {
      if (search(level + 1, sum + d * stride, moved || d != 0)) {
        return true;
      }
    }
    return false;
  }

  static std::int64_t floor(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
  static std::int64_t ceiling(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

  std::span<const Dimension> dimensions_;
  std::array<std::int64_t, kMaxRank + 1> rest_{};  // the largest distance that this and the later dimensions can cover
  std::array<std::int64_t, kMaxRank + 1> divisor_{};  // the greatest common divisor of their strides
  std::int64_t budget_ = 100'000;
};

// The greatest common divisor of all distances between elements of the tensor, in bytes; 0 for a single element. If
// elements share bytes, it is 1.
std::uint64_t grid(const TensorDesc& tensor) {
  if (is_four_bits(tensor.type)) {
    return 1;
  }
  std::uint64_t divisor = 0;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] > 1) {
      divisor = std::gcd(divisor, magnitude(tensor.strides[i]));
    }
  }
  return divisor * element_size(tensor.type);
}

// The indices of the nonempty ranges, sorted by buffer and first byte.
std::vector<std::size_t> sorted_ranges(std::span<const ByteRange> ranges) {
  std::vector<std::size_t> order;
  order.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i].end) {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(ranges[i].buffer, ranges[i].first); });
  return order;
}

// Whether all of these tensors are on one grid, each at its own offset, like the columns of one matrix. If so, no two
// of them share a byte, because find_sharing compares two tensors on a grid that is a multiple of this one.
bool are_interleaved(std::span<const TensorAt> tensors, std::span<const std::size_t> which) {
  std::uint64_t step = 0;
  for (const std::size_t i : which) {
    step = std::gcd(step, grid(*tensors[i].tensor));
  }
  if (step == 0) {
    return false;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> elements;  // the offset of an element on the grid, and its size
  elements.reserve(which.size());
  for (const std::size_t i : which) {
    elements.emplace_back(tensors[i].address % step, element_alignment(tensors[i].tensor->type));
  }
  std::ranges::sort(elements);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool is_last = i + 1 == elements.size();
    const std::uint64_t next = is_last ? elements.front().first + step : elements[i + 1].first;
    if (next - elements[i].first < elements[i].second) {
      return false;
    }
  }
  return true;
}

}  // namespace

SelfOverlap find_self_overlap(const TensorDesc& tensor) {
  if (element_count(tensor) == 0) {
    return SelfOverlap::none;
  }
  std::array<Dimension, kMaxRank> storage{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] > 1) {
      if (tensor.strides[i] == 0) {
        return SelfOverlap::found;
      }
      storage[count++] = {.stride = static_cast<std::int64_t>(magnitude(tensor.strides[i])),
                          .steps = tensor.sizes[i] - 1};
    }
  }
  small_sort(storage.data(), count, [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
  return CollisionSearch(std::span(storage.data(), count)).run();
}

Sharing find_sharing(const TensorDesc& a, std::uintptr_t a_address, const TensorDesc& b, std::uintptr_t b_address) {
  if (!ranges_meet(a_address, reach_of(a), b_address, reach_of(b))) {
    return Sharing::disjoint;
  }
  if (a_address == b_address && same_layout(a, b)) {
    return Sharing::identical;
  }
  // Interleaved tensors (such as the even and odd columns of one matrix) are on grids that never meet.
  const std::uint64_t step = std::gcd(grid(a), grid(b));
  if (step != 0) {
    const std::uint64_t forward =
        b_address >= a_address ? (b_address - a_address) % step : (step - (a_address - b_address) % step) % step;
    if (forward >= element_alignment(a.type) && step - forward >= element_alignment(b.type)) {
      return Sharing::disjoint;
    }
  }
  return Sharing::partial;
}

std::vector<bool> find_conflicts(std::span<const ByteRange> ranges) {
  std::vector<bool> found(ranges.size());
  const std::vector<std::size_t> order = sorted_ranges(ranges);
  // In sorted order, a range overlaps an earlier range if any earlier range ends after its first byte. It overlaps a
  // later range if the next range begins before its end. A range that is only read is compared only with written
  // ranges.
  std::uint64_t end = 0;
  std::uint64_t written_end = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ByteRange& range = ranges[order[at]];
    if (at == 0 || range.buffer != ranges[order[at - 1]].buffer) {
      end = written_end = 0;
    }
    found[order[at]] = (range.written ? end : written_end) > range.first;
    end = std::max(end, range.end);
    written_end = range.written ? std::max(written_end, range.end) : written_end;
  }
  constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  std::uint64_t first = kNowhere;
  std::uint64_t written_first = kNowhere;
  for (std::size_t at = order.size(); at-- > 0;) {
    const ByteRange& range = ranges[order[at]];
    if (at + 1 == order.size() || range.buffer != ranges[order[at + 1]].buffer) {
      first = written_first = kNowhere;
    }
    found[order[at]] = found[order[at]] || (range.written ? first : written_first) < range.end;
    first = range.first;
    written_first = range.written ? range.first : written_first;
  }
  return found;
}

std::vector<bool> find_sharing_candidates(std::span<const TensorAt> tensors) {
  std::vector<ByteRange> ranges;
  ranges.reserve(tensors.size());
  for (const TensorAt& one : tensors) {
    const Reach reach = one.tensor != nullptr ? reach_of(*one.tensor) : Reach{};
    ranges.push_back({.first = one.address + static_cast<std::uintptr_t>(reach.first),
                      .end = one.address + static_cast<std::uintptr_t>(reach.end)});
  }
  std::vector<bool> found(tensors.size());
  const std::vector<std::size_t> order = sorted_ranges(ranges);
  for (std::size_t begin = 0; begin < order.size();) {
    // A group of tensors whose ranges are connected by overlaps.
    std::uint64_t reached = ranges[order[begin]].end;
    std::size_t end = begin + 1;
    for (; end < order.size() && ranges[order[end]].first < reached; ++end) {
      reached = std::max(reached, ranges[order[end]].end);
    }
    const auto together = std::span(order).subspan(begin, end - begin);
    if (together.size() > 1 && !are_interleaved(tensors, together)) {
      for (const std::size_t i : together) {
        found[i] = true;
      }
    }
    begin = end;
  }
  return found;
}

}  // namespace anydml
