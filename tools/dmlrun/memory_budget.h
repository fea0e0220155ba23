// SPDX-License-Identifier: MIT
// Tracks the memory that a run may use (--max-memory), which is all memory that grows with the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace anydml::dmlrun {

class MemoryBudget {
 public:
  enum class For : std::uint8_t {
    buffers,     // one for each resource
    values,      // lists of values that the file contains
    kept,        // tensors that are OWNED_BY_DML: persistent resources
    temporary,   // for operators and their initialization
    staging,     // copies to and from a device with its own memory
    dispatches,  // for recording and timing dispatches
    model,       // objects and structs, whatever the tensor sizes
  };

  explicit MemoryBudget(std::uint64_t limit = ~std::uint64_t{0}) : limit_(limit) {}

  // take reserves memory for the whole run, and borrow only checks that it is available temporarily. After one request
  // fails, all later requests fail too; `say` receives the message once.
  template <class Say>
  bool take(For what, std::uint64_t bytes, Say say) {
    return settle(what, bytes, true, say);
  }
  template <class Say>
  bool borrow(For what, std::uint64_t bytes, Say say) {
    return settle(what, bytes, false, say);
  }

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] std::uint64_t taken(For what) const { return taken_[static_cast<std::size_t>(what)]; }

  // The memory that a buffer of `bytes` bytes occupies, in whole pages. Its objects are counted separately.
  [[nodiscard]] static std::uint64_t of_buffer(std::uint64_t bytes);

  // These were measured and rounded up generously. They cover the libraries' objects and the structs that represent the
  // model.
  static constexpr std::uint64_t kPerResource = 1024;
  static constexpr std::uint64_t kPerDispatchable = 8192;
  static constexpr std::uint64_t kPerCommand = 512;
  static constexpr std::uint64_t kPerRecordedDispatch = 192;
  static constexpr std::uint64_t kPerTiming = 32;        // an iteration timed with the CPU's clock, and a sorted copy
  static constexpr std::uint64_t kPerDeviceTiming = 64;  // two readings in the heap, two copied, the difference, sorted

 private:
  static constexpr std::size_t kKinds = 7;

  template <class Say>
  bool settle(For what, std::uint64_t bytes, bool for_good, Say say) {
    if (over_) {
      return false;
    }
    if (auto sentence = refuse(what, bytes)) {
      over_ = true;
      say(std::move(*sentence));
      return false;
    }
    taken_[static_cast<std::size_t>(what)] += for_good ? bytes : 0;
    return true;
  }
  [[nodiscard]] std::optional<std::string> refuse(For what, std::uint64_t bytes) const;

  std::uint64_t limit_;
  std::array<std::uint64_t, kKinds> taken_{};
  bool over_ = false;
};

// Returns text such as "1.5 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace anydml::dmlrun
