// SPDX-License-Identifier: MIT
// Right operators at random, from the facts and the rules alone, of any of the 177: inputs and attributes are chosen,
// the rest follows by the schema's solver, and the schema's check rejects what does not fit. The same seed gives the
// same operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "facts/facts.h"
#include "schema/described.h"

namespace anydml::test {

class RandomOperators {
 public:
  static constexpr std::int64_t kSmallSizes[] = {1, 2, 2, 3, 3, 4, 5};

  // sizes: of dimensions, where nothing determines them. They must outlive this.
  explicit RandomOperators(std::uint64_t seed, std::span<const std::int64_t> sizes = kSmallSizes)
      : state_(seed), sizes_(sizes) {}

  // Nothing if no attempt was right, which is rare for the operators of which infer_test says that they are covered.
  // Outputs are what inferring gives, and chosen too where nothing determines them.
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
  std::uint64_t state_;
  std::span<const std::int64_t> sizes_;
};

// A copy without what its outputs are: optional ones that are there stay, and arrays keep as many as they have.
[[nodiscard]] schema::Described without_outputs(schema::Described described);

}  // namespace anydml::test
