// SPDX-License-Identifier: MIT
// A case timed beside its floor.
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

// Why nothing can be measured on a device.
struct DeviceFailure {
  std::string message;
};

enum class PassKind { plain, streaming };

struct Settings {
  double min_time = 0.3;  // seconds a case is measured for, kernel and pass together
  int min_rounds = 7;
  std::int64_t samples = 4096;  // elements that are checked
  PassKind pass = PassKind::plain;
  // A case whose rounds take ten times its time gets so many, and no more.
  static constexpr int kSlowRounds = 3;
};

// Seconds a run: of each round one sample, which is a run or the mean of as many as fill a tenth of a millisecond.
struct Timing {
  double median = 0;
  double min = 0;
  int rounds = 0;

  static constexpr double kUnsteady = 1.5;
  [[nodiscard]] bool is_unsteady() const { return median > kUnsteady * min; }
};

struct Result {
  Case of;
  std::int64_t elements = 0;  // of a reduction those that are read
  std::int64_t bytes = 0;     // that a run reads and writes
  Timing kernel;
  Timing pass;
  unsigned pass_threads = 0;
  std::string_view pass_by;      // of a device: what the pass is
  std::optional<double> factor;  // strided layouts: time per element over that of `tensor`
  Check check;

  [[nodiscard]] double ns_per_element() const { return kernel.median * 1e9 / static_cast<double>(elements); }
  [[nodiscard]] double gb_per_second() const { return static_cast<double>(bytes) / kernel.median * 1e-9; }
  [[nodiscard]] double pass_gb_per_second() const { return static_cast<double>(bytes) / pass.median * 1e-9; }
  [[nodiscard]] double fraction() const { return pass.median / kernel.median; }
  // What makes a figure doubtful. The pass is the floor: an operator far below its time was measured beside a pass that
  // something disturbed.
  [[nodiscard]] bool is_unsteady() const { return kernel.is_unsteady() || pass.is_unsteady(); }
  [[nodiscard]] bool is_above_pass() const { return fraction() > kAbovePass; }
  static constexpr double kAbovePass = 1.15;
};

// The rooms of operands: two inputs, a condition, the output, and what an operand held that a run in place has written
// over.
inline constexpr std::size_t kFirst = 0;
inline constexpr std::size_t kSecond = 1;
inline constexpr std::size_t kCondition = 2;
inline constexpr std::size_t kOutput = 3;
inline constexpr std::size_t kPristine = 4;
// Of an input that is no single element.
std::size_t room_of(const Row& row, std::size_t input);

// Holds the memory of all cases, and fills an operand's again only when its type or its values change.
class Measurer {
 public:
  Measurer(const std::vector<Case>& cases, unsigned threads, Settings settings, Reference& reference);

  // No value, and a message, where the library refuses.
  std::optional<Result> measure(const Case& of, std::string& error);

 private:
  struct PagesDelete {
    void operator()(std::byte* memory) const;
  };
  // An operand's memory, and what it holds.
  struct Room {
    std::unique_ptr<std::byte[], PagesDelete> memory;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    anydml_type type = ANYDML_NONE;
    Operand operand = Operand::dividend;
    Data values;
    std::size_t elements = 0;
  };

  void need(std::size_t room, std::int64_t elements, anydml_type type);
  void fill_room(std::size_t room, std::int64_t elements, anydml_type type, const Data& values, Operand operand);
  void prepare(const Case& of, const Placement& placement);
  // What moves the bytes of a case: called with pieces of a number of units, by as many threads as like.
  struct Pass {
    std::function<void(std::size_t, std::size_t)> over;
    std::size_t units = 0;
  };
  [[nodiscard]] Pass pass_of(const Case& of, const Placement& placement, std::byte* out) const;

  Settings settings_;
  Team team_;
  Reference& reference_;
  std::array<Room, 5> rooms_;
};

double seconds_now();
// Sorts.
Timing summarise(std::vector<double>& samples);

}  // namespace anydml::bench
