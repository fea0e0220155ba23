// SPDX-License-Identifier: MIT
// NonMaxSuppression. The boxes of a class are taken in the order of their scores, and a box is kept if it overlaps no
// kept box too much. Each box is compared only with the kept boxes near it, which are found by a grid of cells.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

struct Box {
  std::array<float, 2> low, high;
  float area;
};

struct BoxLimits {
  std::int64_t count;  // the maximum number of boxes of each class
  double overlap;
  bool has_score;
  double score;
};

Box box_of(const float* numbers, bool is_centered) {
  Box box{};
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_centered) {  // x, y, width, height
      const float middle = numbers[1 - i];
      const float half = numbers[3 - i] / 2;
      box.low[i] = middle - half;
      box.high[i] = middle + half;
    } else {  // two opposite corners, each y and x
      box.low[i] = smaller(numbers[i], numbers[2 + i]);
      box.high[i] = larger(numbers[i], numbers[2 + i]);
    }
  }
  box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  return box;
}

// The common area of two boxes, divided by the area that they cover together. It is defined for any numbers.
float overlap_of(const Box& a, const Box& b) {
  const auto common_side = [&](std::size_t i) {
    return larger(0.0F, smaller(a.high[i], b.high[i]) - larger(a.low[i], b.low[i]));
  };
  const float common = common_side(0) * common_side(1);
  const float covered = a.area + b.area - common;
  return covered > 0 ? common / covered : 0;
}

// ---- Order ----------------------------------------------------------------------------------------------------------

// The boxes of one class in the order of their scores: the highest one first, NaN last, equal ones by index. Only as
// many of them are sorted as are asked for.
class BoxOrder {
 public:
  void assign(const float* scores, std::size_t count, const BoxLimits& limits) {
    keys_.clear();
    sorted_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!limits.has_score || scores[i] > limits.score) {
        keys_.push_back(key_of(scores[i]) << 32U | i);
      }
    }
  }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  // The box at a position. Positions are asked for in their order.
  [[nodiscard]] std::size_t at(std::size_t position) {
    if (position == sorted_) {
      sort_more();
    }
    return static_cast<std::size_t>(keys_[position] & kMaxIndex);
  }

  static constexpr std::uint64_t kMaxIndex = std::numeric_limits<std::uint32_t>::max();

 private:
  // A number that is smaller for a higher score.
  static std::uint64_t key_of(float score) {
    constexpr std::uint32_t kSign = 0x80000000U;
    if (std::isnan(score)) {
      return std::numeric_limits<std::uint32_t>::max();
    }
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // +0 instead of -0, which is equal
    return (bits & kSign) != 0 ? bits : ~bits & ~kSign;
  }

  void sort_more() {
    constexpr std::size_t kFirst = 256;
    const std::size_t end = std::min(keys_.size(), sorted_ + std::max(sorted_, kFirst));
    const auto at = [this](std::size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (end < keys_.size()) {
      std::nth_element(at(sorted_), at(end), keys_.end());
    }
    std::sort(at(sorted_), at(end));
    sorted_ = end;
  }

  std::vector<std::uint64_t> keys_;  // the score's key and the index of each box
  std::size_t sorted_ = 0;
};

// ---- Kept boxes -----------------------------------------------------------------------------------------------------

// Boxes with these coordinates have finite areas, and so have pairs of them.
bool is_tame(const Box& box) {
  constexpr float kLimit = 1e18F;
  return std::all_of(box.low.begin(), box.low.end(), [](float one) { return std::abs(one) <= kLimit; }) &&
         std::all_of(box.high.begin(), box.high.end(), [](float one) { return std::abs(one) <= kLimit; });
}

// The largest float that is not above a number of 0 or more.
float float_below(double number) {
  if (number >= static_cast<double>(std::numeric_limits<float>::max())) {
    return std::numeric_limits<float>::max();
  }
  const auto nearest = static_cast<float>(number);
  return static_cast<double>(nearest) > number ? std::nextafter(nearest, 0.0F) : nearest;
}

// Kept boxes in arrays, so that a box is compared with several at once.
class BoxList {
 public:
  void clear() {
    for (std::vector<float>& one : numbers_) {
      one.clear();
    }
  }
  [[nodiscard]] std::size_t size() const { return numbers_[0].size(); }
  void add(const Box& box) {
    const float all[] = {box.low[0], box.low[1], box.high[0], box.high[1], box.area};
    for (std::size_t i = 0; i < std::size(all); ++i) {
      numbers_[i].push_back(all[i]);
    }
  }
  // Whether a tame box overlaps one of these more than the limit, with the result of overlap_of.
  [[nodiscard]] bool removes(const Box& box, float limit) const {
    constexpr std::size_t kTogether = 32;
    for (std::size_t begin = 0; begin < size(); begin += kTogether) {
      if (part_removes(box, limit, begin, std::min(begin + kTogether, size()))) {
        return true;
      }
    }
    return false;
  }

 private:
  // Without branches, so that the compiler uses vectors. The quotient is computed even if it is not needed.
  [[nodiscard]] bool part_removes(const Box& box, float limit, std::size_t begin, std::size_t end) const {
    const float* const low0 = numbers_[0].data();
    const float* const low1 = numbers_[1].data();
    const float* const high0 = numbers_[2].data();
    const float* const high1 = numbers_[3].data();
    const float* const area = numbers_[4].data();
    unsigned found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const float height = std::min(high0[i], box.high[0]) - std::max(low0[i], box.low[0]);
      const float width = std::min(high1[i], box.high[1]) - std::max(low1[i], box.low[1]);
      const float common = std::max(height, 0.0F) * std::max(width, 0.0F);
      const float covered = area[i] + box.area - common;
      const float overlap = common / covered;
      found |= static_cast<unsigned>(covered > 0) & static_cast<unsigned>(!(overlap <= limit));
    }
    return found != 0;
  }

  std::array<std::vector<float>, 5> numbers_;
};

// The kept boxes of one class, if all boxes are tame. Two boxes that share an area share a cell of the grid.
class KeptBoxes {
 public:
  explicit KeptBoxes(const std::vector<Box>& boxes) {
    const double most = std::clamp(2 * std::sqrt(static_cast<double>(boxes.size())), 1.0, kMaxCells);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      double extents = 0;
      for (const Box& box : boxes) {
        const double ends[] = {box.low[axis], box.high[axis]};
        low = std::min({low, ends[0], ends[1]});
        high = std::max({high, ends[0], ends[1]});
        extents += std::abs(ends[1] - ends[0]);
      }
      const double extent = extents / static_cast<double>(boxes.size());  // so that most boxes touch few cells
      const double cells = extent * most > high - low ? std::max((high - low) / extent, 1.0) : most;
      low_[axis] = low;
      cells_[axis] = static_cast<std::size_t>(cells);
      scale_[axis] = high > low ? static_cast<double>(cells_[axis]) / (high - low) : 0;
    }
    entries_of_.assign(cells_[0] * cells_[1], {});
  }

  void clear() {
    all_.clear();
    wide_.clear();
    near_.clear();
    entries_.clear();
    for (const std::size_t cell : used_) {
      entries_of_[cell] = {};
    }
    used_.clear();
  }

  void add(const Box& box) {
    constexpr std::size_t kMaxTouched = 32;  // cells; a box that touches more is compared with all boxes
    all_.add(box);
    const Area area = area_of(box);
    if (area.count() > kMaxTouched) {
      wide_.add(box);
      return;
    }
    near_.push_back(box);
    for_each_cell(area, [&](std::size_t cell) {
      Cell& here = entries_of_[cell];
      if (here.count == 0) {
        used_.push_back(cell);
      }
      entries_.push_back({near_.size() - 1, here.first});
      here = {entries_.size() - 1, here.count + 1};
      return false;
    });
  }

  [[nodiscard]] bool removes(const Box& box, float limit) const {
    const Area area = area_of(box);
    if (is_slow(area)) {
      return all_.removes(box, limit);
    }
    return wide_.removes(box, limit) || for_each_cell(area, [&](std::size_t cell) {
             for (std::size_t at = entries_of_[cell].first; at != kNone; at = entries_[at].next) {
               if (overlap_of(near_[entries_[at].box], box) > limit) {
                 return true;
               }
             }
             return false;
           });
  }

 private:
  static constexpr double kMaxCells = 512;  // along an axis
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Entry {
    std::size_t box, next;
  };
  struct Cell {
    std::size_t first = kNone;
    std::size_t count = 0;
  };
  struct Area {
    std::array<std::size_t, 2> first, last;
    [[nodiscard]] std::size_t count() const { return (last[0] - first[0] + 1) * (last[1] - first[1] + 1); }
  };

  // Whether comparing a box with all boxes takes less time than with those in an area.
  [[nodiscard]] bool is_slow(const Area& area) const {
    constexpr std::size_t kCost = 8;  // of a cell or an entry, in boxes that are compared together
    if (area.count() > all_.size() / kCost) {
      return true;
    }
    std::size_t cost = 0;
    for_each_cell(area, [&](std::size_t cell) {
      cost += kCost * (1 + entries_of_[cell].count);
      return false;
    });
    return cost > all_.size();
  }

  // Never smaller for a larger coordinate, so that common coordinates are in common cells.
  [[nodiscard]] std::size_t cell_of(float coordinate, std::size_t axis) const {
    const double at = (static_cast<double>(coordinate) - low_[axis]) * scale_[axis];
    return std::min(static_cast<std::size_t>(std::max(at, 0.0)), cells_[axis] - 1);
  }
  [[nodiscard]] Area area_of(const Box& box) const {
    Area area{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      area.first[axis] = cell_of(std::min(box.low[axis], box.high[axis]), axis);
      area.last[axis] = cell_of(std::max(box.low[axis], box.high[axis]), axis);
    }
    return area;
  }
  // Until a call returns true; returns whether one did.
  template <class Use>
  bool for_each_cell(const Area& area, const Use& use) const {
    for (std::size_t row = area.first[0]; row <= area.last[0]; ++row) {
      for (std::size_t column = area.first[1]; column <= area.last[1]; ++column) {
        if (use(row * cells_[1] + column)) {
          return true;
        }
      }
    }
    return false;
  }

  std::array<std::size_t, 2> cells_{};
  std::array<double, 2> low_{}, scale_{};
  BoxList all_, wide_;
  std::vector<Box> near_;
  std::vector<Entry> entries_;
  std::vector<Cell> entries_of_;   // by cell
  std::vector<std::size_t> used_;  // cells with entries
};

// ---- Selection ------------------------------------------------------------------------------------------------------

// Chooses the boxes of each class of an image.
class BoxSelection {
 public:
  BoxSelection(std::vector<Box> boxes, const BoxLimits& limits)
      : boxes_(std::move(boxes)),
        limits_(limits),
        is_tame_(limits.overlap >= 0 && std::all_of(boxes_.begin(), boxes_.end(), is_tame)),
        limit_(is_tame_ ? float_below(limits.overlap) : 0),
        near_(is_tame_ ? boxes_ : std::vector<Box>(1)) {}

  // Calls a function for each box that is kept, the best one first.
  template <class Use>
  void select(const float* scores, const Use& use) {
    order_.assign(scores, boxes_.size(), limits_);
    near_.clear();
    kept_.clear();
    std::int64_t count = 0;
    for (std::size_t i = 0; i < order_.size() && count < limits_.count; ++i) {
      const std::size_t index = order_.at(i);
      const Box& box = boxes_[index];
      if (is_tame_ ? near_.removes(box, limit_) : is_removed(box)) {
        continue;
      }
      if (is_tame_) {
        near_.add(box);
      } else {
        kept_.push_back(box);
      }
      use(static_cast<std::int64_t>(index));
      ++count;
    }
  }

 private:
  [[nodiscard]] bool is_removed(const Box& box) const {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const Box& one) { return !(overlap_of(one, box) <= limits_.overlap); });
  }

  std::vector<Box> boxes_;
  BoxLimits limits_;
  bool is_tame_;
  float limit_;
  KeptBoxes near_;
  std::vector<Box> kept_;  // if not all boxes are tame
  BoxOrder order_;
};

Array selected_boxes(const Array& boxes, const Array& scores, const BoxLimits& limits, bool is_centered) {
  if (boxes.rank() != 3 || boxes.size(2) != 4 || scores.rank() != 3 || scores.size(0) != boxes.size(0) ||
      scores.size(2) != boxes.size(1)) {
    fail("the boxes have the shape {} and the scores {}; expected 4 numbers for each box, and a score of each box",
         listed(boxes.shape()), listed(scores.shape()));
  }
  if (boxes.count() == 0 || scores.count() == 0) {
    return Array::empty(Kind::kInt64, {0, 3});
  }
  const auto count = static_cast<std::size_t>(boxes.size(1));
  if (count > BoxOrder::kMaxIndex) {
    throw NoMemory(format_text("an image has {} boxes; anydml supports up to {}", count, BoxOrder::kMaxIndex));
  }
  const Array corners = boxes.packed();
  const Array numbers = scores.packed();
  std::vector<std::int64_t> found;
  for (std::int64_t image = 0; image < boxes.size(0); ++image) {
    std::vector<Box> of_image;
    of_image.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      of_image.push_back(
          box_of(corners.elements<float>().data() + (static_cast<std::size_t>(image) * count + i) * 4, is_centered));
    }
    BoxSelection selection(std::move(of_image), limits);
    for (std::int64_t kind = 0; kind < scores.size(1); ++kind) {
      const auto row = static_cast<std::size_t>(image * scores.size(1) + kind);
      selection.select(numbers.elements<float>().data() + row * count, [&](std::int64_t box) {
        found.insert(found.end(), {image, kind, box});
      });
    }
  }
  return Array::of(Kind::kInt64, {static_cast<std::int64_t>(found.size() / 3), 3}, found);
}

}  // namespace

Compute host_non_max_suppression(const Node& node) {
  check_choice(node, "center_point_box", {std::int64_t{0}, std::int64_t{1}});
  return [is_centered = node.integer("center_point_box") != 0](std::span<const Array> inputs) {
    const Array count = input(inputs, 2);
    const Array overlap = input(inputs, 3);
    const Array score = input(inputs, 4);
    const BoxLimits limits{count ? count.integer() : 0, overlap ? overlap.number() : 0, static_cast<bool>(score),
                           score ? score.number() : 0};
    return one(selected_boxes(inputs[0], inputs[1], limits, is_centered));
  };
}

}  // namespace anydml::onnx
