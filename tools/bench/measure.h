// SPDX-License-Identifier: MIT
// Times a case and its baseline, the memory pass.
#pragma once

#include <anydml/anydml.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cases.h"
#include "check.h"
#include "data.h"
#include "team.h"

namespace anydml::bench {

// The reason why a device cannot be measured.
struct DeviceFailure {
  std::string message;
};

enum class PassKind { plain, streaming };

struct Settings {
  double min_time = 0.3;  // the minimum seconds per case, for kernel and pass together
  int min_rounds = 7;
  std::int64_t samples = 4096;  // the number of elements to check
  PassKind pass = PassKind::plain;
  // A case that has already taken ten times its minimum time stops after this many rounds.
  static constexpr int kSlowRounds = 3;
};

// Seconds per run. Each round yields one sample: a single run, or the mean of enough runs to fill a tenth of a
// millisecond.
struct Timing {
  double median = 0;
  double min = 0;
  int rounds = 0;

  static constexpr double kUnsteady = 1.5;
  [[nodiscard]] bool is_unsteady() const { return median > kUnsteady * min; }
};

struct Result {
  Case of;
  std::int64_t elements = 0;  // for a reduction, the elements read
  std::int64_t bytes = 0;     // the number of bytes that a run reads and writes
  Timing kernel;
  Timing pass;
  unsigned pass_threads = 0;
  std::string_view pass_by;      // on a device, the operator that performs the pass
  std::optional<double> factor;  // for strided layouts, the time per element relative to `tensor`
  Check check;

  [[nodiscard]] double ns_per_element() const { return kernel.median * 1e9 / static_cast<double>(elements); }
  [[nodiscard]] double gb_per_second() const { return static_cast<double>(bytes) / kernel.median * 1e-9; }
  [[nodiscard]] double pass_gb_per_second() const { return static_cast<double>(bytes) / pass.median * 1e-9; }
  [[nodiscard]] double fraction() const { return pass.median / kernel.median; }
  // These are signs of an unreliable figure. The pass is the baseline, so if an operator is much faster than the pass,
  // something disturbed the pass.
  [[nodiscard]] bool is_unsteady() const { return kernel.is_unsteady() || pass.is_unsteady(); }
  [[nodiscard]] bool is_above_pass() const { return fraction() > kAbovePass; }
  static constexpr double kAbovePass = 1.15;
};

// The operands' memory blocks: two inputs, a condition, the output, and a copy of an operand that an in-place run
// overwrites.
inline constexpr std::size_t kFirst = 0;
inline constexpr std::size_t kSecond = 1;
inline constexpr std::size_t kCondition = 2;
inline constexpr std::size_t kOutput = 3;
inline constexpr std::size_t kPristine = 4;
// The memory block of an input that is not a single element.
std::size_t buffer_of(const Row& row, std::size_t input);

// Owns the memory for all cases, and refills an operand only if its type or values change.
class Measurer {
 public:
  Measurer(const std::vector<Case>& cases, unsigned threads, Settings settings, Reference& reference);

  // Returns no value, with a message, if the library rejects the case.
  std::optional<Result> measure(const Case& of, std::string& error);

 private:
  struct PagesDelete {
    void operator()(std::byte* memory) const;
  };
  // An operand's memory, and a description of its contents.
  struct OperandBuffer {
    std::unique_ptr<std::byte[], PagesDelete> memory;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    anydml_type type = ANYDML_NONE;
    Operand operand = Operand::dividend;
    Data values;
    std::size_t elements = 0;
  };

  void need(std::size_t buffer, std::int64_t elements, anydml_type type);
  void fill_buffer(std::size_t buffer, std::int64_t elements, anydml_type type, const Data& values, Operand operand);
  void prepare(const Case& of, const Placement& placement);
  // Moves the bytes of a case. Any number of threads may call it, each for a range of units.
  struct Pass {
    std::function<void(std::size_t, std::size_t)> over;
    std::size_t units = 0;
  };
  [[nodiscard]] Pass pass_of(const Case& of, const Placement& placement, std::byte* out) const;

  Settings settings_;
  Team team_;
  Reference& reference_;
  std::array<OperandBuffer, 5> buffers_;
};

double seconds_now();
// Sorts the samples in place and summarizes them.
Timing summarize(std::vector<double>& samples);

}  // namespace anydml::bench
