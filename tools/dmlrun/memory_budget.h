// SPDX-License-Identifier: MIT
// What a run may take (--max-memory), and what it is taken for: everything that grows with what a model says.
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
    buffers,     // a resource each
    values,      // lists that the file spells out
    kept,        // tensors that are OWNED_BY_DML: persistent resources
    temporary,   // of operators, and of their initialisation
    staging,     // copies on the way to a device with memory of its own, and back
    dispatches,  // recording and timing them
    model,       // objects and structs, whatever the sizes
  };

  explicit MemoryBudget(std::uint64_t limit = ~std::uint64_t{0}) : limit_(limit) {}

  // Takes so much more for good, or only looks whether there is so much for a while. Where it does not fit, nothing
  // fits any more, and `say` is given the sentence, once.
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

  // What a buffer of so many bytes takes: whole pages. Its object and the model's are counted apart.
  [[nodiscard]] static std::uint64_t of_buffer(std::uint64_t bytes);

  // Measured, and rounded up generously: objects of the libraries with the structs that a model is read into.
  static constexpr std::uint64_t kPerResource = 1024;
  static constexpr std::uint64_t kPerDispatchable = 8192;
  static constexpr std::uint64_t kPerCommand = 512;
  static constexpr std::uint64_t kPerRecordedDispatch = 192;
  static constexpr std::uint64_t kPerTiming = 32;  // of an iteration by the CPU's clock: kept, and sorted once more
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

// "1.5 GiB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace anydml::dmlrun
