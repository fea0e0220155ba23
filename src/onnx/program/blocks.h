// SPDX-License-Identifier: MIT
// The repeated blocks of a program, such as the layers of a network: sequences of steps that compute the same functions
// and pass values to one another in the same way.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/program/step.h"
#include "onnx/values/replay.h"

namespace anydml::onnx {

// One of several equal sequences of steps.
struct Block {
  struct Used {
    ValueIndex value;
    std::size_t result;  // the position among the results of all steps of the block
  };
  std::uint32_t kind = 0;                                // equal blocks have the same number
  std::size_t count = 0;                                 // of its steps
  std::vector<ValueIndex> outside;                       // the values from before the block that its steps use
  std::vector<std::vector<RecordedBlock::Input>> taken;  // for each step, the origins of its inputs
  std::vector<Used> used;                                // the results that steps after the block or the caller use
};

class Blocks {
 public:
  Blocks() = default;
  Blocks(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs, std::size_t value_count);

  // The block that begins at a step, or null.
  [[nodiscard]] const Block* at(std::size_t step) const {
    return step < numbers_.size() && numbers_[step] != 0 ? &blocks_[numbers_[step] - 1] : nullptr;
  }

 private:
  void add_run(const std::vector<Step>& steps, std::size_t begin, std::size_t period, std::size_t count);
  void find_used(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs, std::size_t value_count);

  std::vector<Block> blocks_;
  std::vector<std::uint32_t>
      numbers_;                   // for each step, the number of the block that begins there, counted from 1; or 0
  std::vector<bool> is_covered_;  // for each step, whether it belongs to a block
  std::uint32_t kinds_ = 0;
};

}  // namespace anydml::onnx
