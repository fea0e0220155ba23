// SPDX-License-Identifier: MIT
// Caches the compiled forms of this thread's recent calls. A call that differs from a recent one only in its addresses
// is neither checked nor compiled again, and allocates nothing. For few elements, checking and compiling take five
// times as long as the work itself.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "capi/compiled.h"

namespace anydml {

// Everything in a call except its addresses, as words. These words determine whether the call is valid and what is
// compiled.
class CallKey {
 public:
  // Returns false if the word does not fit. The words are the operator, the device, the kind, sizes and strides of each
  // tensor, and the number and value of each attribute. There is room for seven tensors with eight dimensions.
  [[nodiscard]] bool add(std::uint64_t word) {
    const bool fits = count_ < kCapacity;
    if (fits) {
      words_[count_++] = word;
    }
    return fits;
  }
  [[nodiscard]] bool add(std::span<const std::int64_t> numbers) {
    for (const std::int64_t number : numbers) {
      if (!add(static_cast<std::uint64_t>(number))) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool operator==(const CallKey& other) const {
    return count_ == other.count_ && std::memcmp(words_.data(), other.words_.data(), count_ * sizeof(words_[0])) == 0;
  }

 private:
  static constexpr std::size_t kCapacity = 128;

  std::size_t count_ = 0;
  std::array<std::uint64_t, kCapacity> words_;  // words at count_ and after it are uninitialized
};

class RecentCalls {
 public:
  // Returns null if there is no memory for the cache, or during another call. The cache is destroyed with the thread.
  [[nodiscard]] static RecentCalls* of_thread() noexcept;

  [[nodiscard]] const anydml_compiled* find(const CallKey& key) const noexcept;
  // Replaces the oldest entry.
  void add(const CallKey& key, std::unique_ptr<anydml_compiled> compiled) noexcept;

 private:
  struct Entry {
    CallKey key;
    std::unique_ptr<anydml_compiled> compiled;
  };

  std::array<Entry, 8> entries_;
  std::size_t oldest_ = 0;
};

}  // namespace anydml
