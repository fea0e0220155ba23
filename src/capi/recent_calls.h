// SPDX-License-Identifier: MIT
// What this thread called last, compiled: a call that repeats another but for its addresses is neither checked nor
// compiled again, and allocates nothing. Over few elements those take five times as long as the elements.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "capi/compiled.h"

namespace anydml {

// What a call says but for its addresses, as words: all that decides whether it is right and what is compiled.
class CallKey {
 public:
  // False: there is no room for it. The operator, the device, of each tensor its kind, sizes and strides, and of each
  // attribute its number and value: enough for seven tensors of eight dimensions.
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
  std::array<std::uint64_t, kCapacity> words_;  // those from count_ on are not written
};

class RecentCalls {
 public:
  // Null when there is no memory for it. Its end is the thread's.
  [[nodiscard]] static RecentCalls* of_thread() noexcept;

  [[nodiscard]] const anydml_compiled* find(const CallKey& key) const noexcept;
  // In the place of the oldest.
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
