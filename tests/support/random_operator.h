// SPDX-License-Identifier: MIT
// Random valid instances of any of the 177 operators, from the facts and the rules alone: inputs and attributes are
// chosen at random, the schema's solver derives the rest, and the schema's check rejects instances that are
// inconsistent. The same seed gives the same instances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "facts/facts.h"
#include "schema/described.h"

namespace anydml::test {

class RandomOperators {
 public:
  static constexpr std::int64_t kSmallSizes[] = {1, 2, 2, 3, 3, 4, 5};

  // sizes: the candidates for dimensions that nothing determines. They must outlive this object.
  explicit RandomOperators(std::uint64_t seed, std::span<const std::int64_t> sizes = kSmallSizes)
      : state_(seed), sizes_(sizes) {}
  // The bytes make the first decisions, two bytes each, so that a fuzzer can change one of them.
  explicit RandomOperators(std::vector<std::uint8_t> bytes) : sizes_(kSmallSizes), bytes_(std::move(bytes)) {}

  // Returns nothing if every attempt failed, which is rare for the operators that infer_test lists as covered. Outputs
  // are inferred, or chosen at random where nothing determines them.
  [[nodiscard]] std::optional<schema::Described> make(const facts::Operator& op,
                                                      facts::FeatureLevel level = facts::kNewestLevel,
                                                      int attempts = 4000);

 private:
  std::uint64_t bits();
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  template <class Items>
  auto one_of(const Items& items) {
    return items[below(std::size(items))];
  }

  friend class RandomOperator;
  std::uint64_t state_ = 0;
  std::span<const std::int64_t> sizes_;
  std::vector<std::uint8_t> bytes_;
  std::size_t next_byte_ = 0;
};

// A copy with unknown outputs: optional outputs that are present stay present, and arrays keep their lengths.
[[nodiscard]] schema::Described without_outputs(schema::Described described);

}  // namespace anydml::test
