// SPDX-License-Identifier: MIT
// A vector that stores its first elements in the object itself, for lists that are almost always short. Compiling a
// graph creates several lists for each node, and allocating each of them took a third of the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace anydml {

template <class T, std::size_t kInline>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t size) { resize(size); }
  InlineVector(std::initializer_list<T> elements) { assign(std::span(elements.begin(), elements.size())); }
  explicit InlineVector(std::span<const T> elements) { assign(elements); }
  InlineVector(const InlineVector& other) { assign(other); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      assign(other);
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      take(other);
    }
    return *this;
  }
  ~InlineVector() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return more_ != nullptr ? more_.get() : own_; }
  [[nodiscard]] const T* data() const { return more_ != nullptr ? more_.get() : own_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] T& front() { return *data(); }
  [[nodiscard]] const T& front() const { return *data(); }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) {
      grow(capacity);
    }
  }
  void resize(std::size_t size) {
    reserve(size);
    if (size > size_) {
      std::fill(data() + size_, data() + size, T{});
    }
    size_ = static_cast<std::uint32_t>(size);
  }
  void assign(std::span<const T> elements) {
    reserve(elements.size());
    std::copy(elements.begin(), elements.end(), data());
    size_ = static_cast<std::uint32_t>(elements.size());
  }
  void push_back(const T& element) {
    const T copy = element;  // it may be in this vector
    if (size_ == capacity_) {
      grow(std::size_t{2} * capacity_);
    }
    data()[size_++] = copy;
  }
  void append(std::span<const T> elements) {
    const std::size_t before = size_;
    if (before + elements.size() > capacity_) {
      grow(std::max(before + elements.size(), std::size_t{2} * capacity_));
    }
    std::copy(elements.begin(), elements.end(), data() + before);
    size_ = static_cast<std::uint32_t>(before + elements.size());
  }
  T& emplace_back() {
    push_back(T{});
    return back();
  }

 private:
  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy(begin(), end(), larger.get());
    more_ = std::move(larger);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void take(InlineVector& other) {
    if (other.more_ != nullptr) {
      more_ = std::move(other.more_);
      capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(kInline));
    } else {
      more_.reset();
      capacity_ = kInline;
      std::copy(other.begin(), other.end(), own_);
    }
    size_ = std::exchange(other.size_, 0);
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInline;
  std::unique_ptr<T[]> more_;  // null as long as the elements fit into own_
  T own_[kInline];
};

}  // namespace anydml
