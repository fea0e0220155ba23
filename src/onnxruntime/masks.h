// SPDX-License-Identifier: MIT
// Masks of texts that grow with each token, in a group of nodes with caches of a fixed size.
//
// The mask's shape is then the only one that changes from token to token, and a group is compiled for each form of its
// inputs. Columns of zeros at the end change no result if the nodes only add the columns, for seqlens_k of
// GroupQueryAttention, and count them, for its total_sequence_length: of this number, the operator needs only that it
// does not exceed the rows of the cache. So the group gets a mask with more columns, and its form stays the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "onnxruntime/nodes.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

class GrowingMasks {
 public:
  GrowingMasks() = default;
  // Finds the masks among the inputs of a group. outputs: the names of the group's results.
  GrowingMasks(const Runtime& runtime, const Graph* graph, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs);

  [[nodiscard]] std::size_t count() const { return masks_.size(); }

  // The memory and the sizes of the masks of one run.
  struct Padded {
    std::unique_ptr<std::byte[]> bytes;
    std::int64_t sizes[2];
  };
  // Replaces the masks among the inputs of a run by wider ones, where that changes no result. device: of the inputs'
  // memory; null for the CPU.
  [[nodiscard]] std::vector<Padded> pad(std::span<anydml_tensor> inputs, const anydml_device* device) const;

 private:
  struct Mask {
    std::size_t input;                // its position among the inputs of the group
    std::vector<std::size_t> caches;  // the positions of all keys that the nodes add rows to
  };
  std::vector<Mask> masks_;
};

}  // namespace anydml::ort
