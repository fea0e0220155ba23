// SPDX-License-Identifier: MIT
// The memory of the keys and values of some sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "onnx/generate/decoder.h"
#include "onnx/values/array.h"

namespace anydml::onnx {

// Zeroed memory of a device, or of the CPU if the device is null. There, the system provides the pages when they are
// first written.
class Pages {
 public:
  Pages() = default;
  Pages(const anydml_device* device, std::size_t bytes);
  [[nodiscard]] void* data() const { return memory_.get(); }

 private:
  std::shared_ptr<void> memory_;
};

// Rows of keys and values, {batch, heads, rows, head_size} for each tensor of the decoder's cache. A run replaces the
// rows in place where rows are free. A cache that grows or slides gets new memory, so that it stays as it was if a run
// fails.
class KeyValueCache {
 public:
  // rows: the number of rows, used or free; 0 for a cache that grows with each token.
  KeyValueCache(const Decoder& decoder, std::int64_t batch, std::int64_t rows);

  // The input with this number in decoder.cache().
  [[nodiscard]] Array past(std::size_t number) const;
  // The memory for an output. Raises Invalid if the shape is not that of a cache.
  [[nodiscard]] void* present(std::size_t number, const Sizes& shape);
  // A run succeeded: its outputs become the next inputs.
  void keep();
  // More rows, whose content is copied.
  void enlarge(std::int64_t rows);

  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  struct Tensor {
    Pages past, present;
    std::int64_t past_rows = 0, present_rows = 0;
  };
  [[nodiscard]] bool is_in_place(std::size_t number) const {
    return rows_ != 0 && decoder_.cache()[number].window == 0;
  }
  [[nodiscard]] Pages pages_for(const CacheTensor& form, std::int64_t rows) const;

  const Decoder& decoder_;
  const anydml_device* device_;  // whose memory has the cache; null: the CPU
  std::int64_t batch_ = 0, rows_ = 0;
  std::vector<Tensor> tensors_;
};

}  // namespace anydml::onnx
