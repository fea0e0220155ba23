// SPDX-License-Identifier: MIT
#include "plan/reshape.h"

#include <algorithm>

#include "base/checked.h"

namespace anydml {
namespace {

struct Run {
  std::int64_t size;
  std::int64_t stride;
};

// A dimension of a tensor and the corresponding dimension of its view, which has the same size.
struct SeenRun {
  std::int64_t size;
  std::int64_t stride;
  std::int64_t seen;
};

// Sorts the dimensions of a tensor by stride, with the largest first, so that a distance in memory corresponds to one
// index in each dimension. The tensor's elements must all have different addresses. Neighbors that are contiguous in
// both tensors are merged. Returns a negative number if no such order exists.
std::ptrdiff_t nested_runs(const TensorDesc& built, const TensorDesc& view, SeenRun (&runs)[kMaxRank]) {
  std::ptrdiff_t count = 0;
  for (std::uint32_t i = 0; i < built.rank; ++i) {
    if (built.sizes[i] != 1) {
      if (built.strides[i] <= 0) {
        return -1;
      }
      runs[count++] = {.size = built.sizes[i], .stride = built.strides[i], .seen = view.strides[i]};
    }
  }
  std::stable_sort(runs, runs + count, [](const SeenRun& a, const SeenRun& b) { return a.stride > b.stride; });
  std::ptrdiff_t merged = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const SeenRun next = runs[i];
    SeenRun& last = runs[merged == 0 ? 0 : merged - 1];
    const auto length = checked_multiply(next.size, next.stride);
    if (merged != 0 && (!length || last.stride < *length)) {
      return -1;
    }
    if (merged != 0 && last.stride == *length && checked_multiply(next.size, next.seen) == last.seen) {
      last = {.size = last.size * next.size, .stride = next.stride, .seen = next.seen};
    } else {
      runs[merged++] = next;
    }
  }
  return merged;
}

}  // namespace

std::optional<TensorDesc> reshaped(const TensorDesc& tensor, std::span<const std::int64_t> sizes) {
  // Dimensions of size 1 are dropped, and contiguous neighbors are merged.
  Run old[kMaxRank];
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const Run next{.size = tensor.sizes[i], .stride = tensor.strides[i]};
    if (next.size == 1) {
      continue;
    }
    if (count != 0 && checked_multiply(next.stride, next.size) == old[count - 1].stride) {
      old[count - 1] = {.size = old[count - 1].size * next.size, .stride = next.stride};
    } else {
      old[count++] = next;
    }
  }
  TensorDesc result;
  result.type = tensor.type;
  result.rank = static_cast<std::uint32_t>(sizes.size());
  std::ranges::copy(sizes, result.sizes);
  if (element_count(tensor) == 0 || element_count(result) != element_count(tensor)) {
    return std::nullopt;
  }
  // Starting from the last dimension, each new dimension uses a factor of the old dimension that contains it.
  std::int64_t rest = 1;  // the factor of the old dimension's size that remains
  std::int64_t stride = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    result.strides[i] = 0;
    if (sizes[i] == 1) {
      continue;
    }
    if (rest == 1) {
      --count;
      rest = old[count].size;
      stride = old[count].stride;
    }
    if (rest % sizes[i] != 0) {
      return std::nullopt;
    }
    result.strides[i] = stride;
    stride *= sizes[i];
    rest /= sizes[i];
  }
  return result;
}

std::optional<SeenTensor> seen_through(const TensorDesc& read, std::int64_t offset, const TensorDesc& built,
                                       const TensorDesc& view) {
  const auto bytes = static_cast<std::int64_t>(element_size(built.type));
  SeenRun runs[kMaxRank];
  const std::ptrdiff_t count = nested_runs(built, view, runs);
  if (count < 0 || bytes != static_cast<std::int64_t>(element_size(read.type)) || offset % bytes != 0 ||
      element_count(read) == 0 || element_count(built) == 0) {
    return std::nullopt;
  }
  std::int64_t minimum[kMaxRank] = {};  // the range of indices in each run, over all elements that are read
  std::int64_t limit[kMaxRank] = {};
  // Splits `times` times a distance in the memory of `built` into indices. Returns the corresponding distance in the
  // view's memory.
  const auto follow = [&](std::int64_t distance, std::int64_t times) -> std::optional<std::int64_t> {
    std::int64_t seen = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const std::int64_t index = distance / runs[i].stride;
      distance -= index * runs[i].stride;
      if (index != 0 && (index >= runs[i].size || index <= -runs[i].size || times >= runs[i].size)) {
        return std::nullopt;  // outside the tensor
      }
      seen += index * runs[i].seen;
      (index < 0 ? minimum[i] : limit[i]) += index * times;
    }
    return distance == 0 ? std::optional(seen) : std::nullopt;
  };
  const auto begin = follow(offset / bytes, 1);
  if (!begin || std::ranges::any_of(minimum, [](std::int64_t index) { return index < 0; })) {
    return std::nullopt;
  }
  std::ranges::copy(limit, minimum);
  SeenTensor result{.tensor = read, .offset = *begin * bytes};
  for (std::uint32_t i = 0; i < read.rank; ++i) {
    if (read.sizes[i] == 1) {
      continue;
    }
    const auto stride = follow(read.strides[i], read.sizes[i] - 1);
    if (!stride) {
      return std::nullopt;
    }
    result.tensor.strides[i] = *stride;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (minimum[i] < 0 || limit[i] >= runs[i].size) {
      return std::nullopt;
    }
  }
  return result;
}

bool same_layout(const TensorDesc& a, const TensorDesc& b) {
  if (a.rank != b.rank || element_size(a.type) != element_size(b.type)) {
    return false;
  }
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    if (a.sizes[i] != b.sizes[i] || (a.sizes[i] != 1 && a.strides[i] != b.strides[i])) {
      return false;
    }
  }
  return true;
}

bool is_dense(const TensorDesc& tensor) {
  const Reach reach = reach_of(tensor);
  return reach.end - reach.first == packed_bytes(tensor);
}

bool is_packed(const TensorDesc& tensor) {
  TensorDesc packed = tensor;
  return set_packed_strides(packed) && same_layout(packed, tensor);
}

}  // namespace anydml
