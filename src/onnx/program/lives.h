// SPDX-License-Identifier: MIT
// The lifetimes of the values of a sequence of steps.
//
// A value is kept from the step that computes it to the last step that uses it. Only these two positions are stored: a
// list of the live values at every position would need memory proportional to the number of steps times the number of
// values that are alive at the same time.
#pragma once

#include <vector>

#include "onnx/program/step.h"

namespace anydml::onnx {

// The lifetimes of all values except constants. A position is the index of the next step; after the last step, it is
// the number of steps.
class Lives {
 public:
  // is_constant: by value.
  Lives(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs, const std::vector<bool>& is_constant);

  // Values that steps use but no earlier step computes.
  [[nodiscard]] const std::vector<ValueIndex>& wanted() const { return wanted_; }
  // Values computed before this position that the steps from here to the next host step use.
  [[nodiscard]] std::vector<ValueIndex> taken_from(std::size_t position) const;
  // Values that the steps from `begin` to `end`, exclusive, compute and that are needed afterward.
  [[nodiscard]] std::vector<ValueIndex> computed_between(std::size_t begin, std::size_t end) const;
  // Whether a step from this position on, or the run's caller, needs a value.
  [[nodiscard]] bool is_needed(ValueIndex value, std::size_t position) const {
    return last_[static_cast<std::size_t>(value)] >= static_cast<std::int64_t>(position);
  }
  // Whether a step from a position on, except host steps, uses a value, or it is an output.
  [[nodiscard]] bool is_used_by_graphs(ValueIndex value, std::size_t position) const;
  // Values that end at a position: no step from there on uses them.
  [[nodiscard]] const std::vector<ValueIndex>& ended_at(std::size_t position) const { return ends_[position]; }

 private:
  void take(ValueIndex value, std::size_t position, std::vector<bool>& computed, std::vector<bool>& is_wanted);

  const std::vector<Step>& steps_;
  const std::vector<bool>& is_constant_;
  std::vector<std::int64_t> last_;  // the last position at which a run needs the value; -1: never
  std::vector<ValueIndex> wanted_;
  std::vector<std::vector<ValueIndex>> ends_;
  std::vector<std::size_t> next_on_host_;
};

}  // namespace anydml::onnx
