// SPDX-License-Identifier: MIT
// Random copies for steps of the move family, and a reference that applies them element by element.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "ops/move/copies.h"
#include "support/distributions.h"

namespace anydml::test {

// A copy between two buffers; its operands start at byte `from` and byte `to`.
struct DrawnCopy {
  Movement movement;
  bool from_constant = false;
  u64 constant = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

inline constexpr std::uint32_t kFromSlot = 0;
inline constexpr std::uint32_t kToSlot = 1;

struct DrawnStep {
  std::vector<DrawnCopy> copies;
  std::int64_t from_bytes = 0;  // the sizes of the two buffers
  std::int64_t to_bytes = 0;

  void lower(Plan& plan) const {
    CopyList list(plan);
    for (const DrawnCopy& copy : copies) {
      const Operand from{.slot = kFromSlot, .type = DataType::UINT8, .offset = static_cast<u64>(copy.from)};
      const Operand to{.slot = kToSlot, .type = DataType::UINT8, .offset = static_cast<u64>(copy.to)};
      if (copy.from_constant) {
        list.fill(to, copy.movement, copy.constant);
      } else {
        list.copy(from, to, copy.movement);
      }
    }
    list.finish();
  }

  // The reference: the loops as written.
  void apply(const std::byte* from, std::byte* to) const {
    for (const DrawnCopy& copy : copies) {
      const Movement& movement = copy.movement;
      const auto bytes = static_cast<std::size_t>(movement.element);
      const std::span loops(movement.loops, movement.rank);
      std::vector<std::int64_t> indices(loops.size());
      while (true) {
        std::int64_t source = copy.from + movement.from_offset;
        std::int64_t destination = copy.to + movement.to_offset;
        for (std::size_t i = 0; i < loops.size(); ++i) {
          source += indices[i] * loops[i].from;
          destination += indices[i] * loops[i].to;
        }
        std::memcpy(to + destination,
                    copy.from_constant ? reinterpret_cast<const std::byte*>(&copy.constant) : from + source, bytes);
        std::size_t i = loops.size();
        while (i > 0 && ++indices[i - 1] == loops[i - 1].size) {
          indices[--i] = 0;
        }
        if (i == 0) {
          break;
        }
      }
    }
  }
};

class MovementDraw {
 public:
  explicit MovementDraw(u64 seed) : random_(seed) {}

  // Any sizes and layouts; plain: packed on both sides, so that the runs are long.
  DrawnCopy any(const std::vector<std::int64_t>& sizes, std::int64_t element, DrawnStep& step, bool plain = false) {
    DrawnCopy copy;
    copy.movement.element = element;
    copy.from_constant = random_() % 8 == 0;
    copy.constant = random_();
    std::vector<std::int64_t> from(sizes.size());
    std::vector<std::int64_t> to(sizes.size());
    copy.from = lay_out(sizes, element, plain, true, from, step.from_bytes);
    copy.to = lay_out(sizes, element, plain, false, to, step.to_bytes);
    finish(sizes, from, to, copy, step);
    return copy;
  }

  // Two dimensions: the source is contiguous along the first, and the destination along the second.
  void transposed(std::int64_t rows, std::int64_t columns, std::int64_t element, DrawnStep& step) {
    DrawnCopy copy;
    copy.movement.element = element;
    const std::int64_t from_gap = gap(element);
    const std::int64_t to_gap = gap(element);
    copy.from = begin(step.from_bytes, columns * (rows * element + from_gap));
    copy.to = begin(step.to_bytes, rows * (columns * element + to_gap));
    finish({rows, columns}, {element, rows * element + from_gap}, {columns * element + to_gap, element}, copy, step);
  }

  // Copies between separate tensors and adjacent column ranges of one tensor, in either direction; `widths` gives the
  // width of each range.
  void parts(std::int64_t rows, const std::vector<std::int64_t>& widths, std::int64_t element, bool into_one,
             DrawnStep& step) {
    const std::int64_t row = std::accumulate(widths.begin(), widths.end(), std::int64_t{0}) * element;
    const std::int64_t whole = begin(into_one ? step.to_bytes : step.from_bytes, rows * row);
    std::int64_t offset = 0;
    for (const std::int64_t width : widths) {
      DrawnCopy copy;
      copy.movement.element = element;
      const std::int64_t part = begin(into_one ? step.from_bytes : step.to_bytes, rows * width * element);
      copy.from = into_one ? part : whole;
      copy.to = into_one ? whole : part;
      (into_one ? copy.movement.to_offset : copy.movement.from_offset) = offset;
      offset += width * element;
      const std::vector<std::int64_t> in_part = {width * element, element};
      const std::vector<std::int64_t> in_whole = {row, element};
      finish({rows, width}, into_one ? in_part : in_whole, into_one ? in_whole : in_part, copy, step);
    }
  }

  Random& random() { return random_; }

 private:
  std::int64_t gap(std::int64_t element) {
    return random_() % 2 == 0 ? 0 : element * static_cast<std::int64_t>(random_() % 5);
  }

  // The offset of a range of this size: anywhere, or at a multiple of a cache line.
  std::int64_t begin(std::int64_t& used, std::int64_t bytes) {
    const std::int64_t at =
        random_() % 2 == 0 ? (used + 63) / 64 * 64 : used + static_cast<std::int64_t>(random_() % 17);
    used = at + bytes;
    return at;
  }

  // Returns the offset of the element at index 0.
  std::int64_t lay_out(const std::vector<std::int64_t>& sizes, std::int64_t element, bool plain, bool repeats,
                       std::vector<std::int64_t>& strides, std::int64_t& used) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    if (!plain && random_() % 2 == 0) {
      std::shuffle(order.begin(), order.end(), random_);
    }
    std::int64_t stride = element;
    std::int64_t before = 0;
    std::int64_t after = element;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::size_t axis = order[i];
      stride += !plain && random_() % 3 == 0 ? gap(element) : 0;
      if (!plain && repeats && random_() % 8 == 0) {
        strides[axis] = 0;
        continue;
      }
      const bool backwards = !plain && random_() % 4 == 0;
      strides[axis] = backwards ? -stride : stride;
      (backwards ? before : after) += (sizes[axis] - 1) * stride;
      stride *= sizes[axis];
    }
    return begin(used, before + after) + before;
  }

  void finish(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& from,
              const std::vector<std::int64_t>& to, DrawnCopy& copy, DrawnStep& step) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      copy.movement.add(sizes[i], copy.from_constant ? 0 : from[i], to[i]);
    }
    step.copies.push_back(copy);
  }

  Random random_;
};

}  // namespace anydml::test
