// SPDX-License-Identifier: MIT
// A first-in, first-out queue that keeps its memory, so it stops allocating after it has grown large enough.
#pragma once

#include <utility>
#include <vector>

namespace anydml {

template <class T>
class Fifo {
 public:
  Fifo() { items_.reserve(16); }

  [[nodiscard]] bool empty() const noexcept { return first_ == items_.size(); }
  [[nodiscard]] auto begin() const noexcept { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] auto end() const noexcept { return items_.end(); }
  [[nodiscard]] const T& front() const noexcept { return items_[first_]; }

  // If memory runs out, the item is left unchanged.
  void push(T&& item) {
    if (items_.size() == items_.capacity()) {
      // Compacts instead of growing if more than half of the vector is free. On average, each added item causes at most
      // one move.
      if (first_ > items_.size() / 2) {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      } else {
        items_.reserve(items_.capacity() * 2);
      }
    }
    items_.push_back(std::move(item));
  }

  [[nodiscard]] T pop() noexcept {
    T item = std::move(items_[first_++]);
    if (empty()) {
      items_.clear();
      first_ = 0;
    }
    return item;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace anydml
