// SPDX-License-Identifier: MIT
// A case timed beside its floor.
#pragma once

#include <anydml/anydml.h>

#include <cstddef>
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

enum class PassKind { plain, streaming };

struct Settings {
  double min_time = 0.3;  // seconds a case is measured for, kernel and pass together
  int min_rounds = 7;
  std::int64_t samples = 4096;  // elements that are checked
  PassKind pass = PassKind::plain;
};

// Seconds a run: of each round one sample, which is a run or the mean of as many as fill a tenth of a millisecond.
struct Timing {
  double median = 0;
  double min = 0;
  int rounds = 0;
};

struct Result {
  Case of;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;  // that a run reads and writes
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
};

// Holds the memory of all cases, and fills it again only when the type or the data change.
class Measurer {
 public:
  Measurer(const std::vector<Case>& cases, unsigned threads, Settings settings);

  // No value, and a message, where the library refuses.
  std::optional<Result> measure(const Case& of, std::string& error);

 private:
  struct FreeDelete {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], FreeDelete>;
  struct Extents {
    std::size_t a = 0;
    std::size_t b = 0;
    std::size_t out = 0;
    std::size_t pristine = 0;
  };

  static Memory reserve(std::size_t bytes);
  void prepare(const Case& of);

  Settings settings_;
  Team team_;
  std::vector<Case> cases_;
  Memory memory_a_;
  Memory memory_b_;
  Memory memory_out_;
  Memory memory_pristine_;
  std::byte* a_ = nullptr;
  std::byte* b_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* pristine_ = nullptr;
  std::optional<Case> filled_;  // the type and the data that the memory holds
};

double seconds_now();
// Sorts.
Timing summarise(std::vector<double>& samples);

}  // namespace anydml::bench
