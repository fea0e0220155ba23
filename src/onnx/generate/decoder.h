// SPDX-License-Identifier: MIT
// A language model whose inputs and outputs are known: tokens and a cache of keys and values go in, logits and the
// cache with the new rows come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/generate/config.h"
#include "onnx/program/model.h"

namespace anydml::onnx {

// The keys or values of a layer.
struct CacheTensor {
  std::size_t input = 0, output = 0;  // positions among the model's inputs and outputs
  Kind kind = Kind::kUndefined;
  std::int64_t heads = 0, head_size = 0;
  std::int64_t window = 0;  // of a cache that keeps so many of the last rows; otherwise 0
};

class Decoder {
 public:
  // Raises the errors of Model, and Invalid or Unsupported if the model does not have the inputs and outputs of the
  // description.
  Decoder(const GenerateConfig& config, const ModelOptions& options);

  [[nodiscard]] Model& model() { return *model_; }
  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const std::vector<CacheTensor>& cache() const { return cache_; }
  // The positions of the other inputs and of the logits. Models without positions or masks exist.
  [[nodiscard]] std::size_t tokens() const { return tokens_; }
  [[nodiscard]] std::optional<std::size_t> mask() const { return mask_; }
  [[nodiscard]] std::optional<std::size_t> positions() const { return positions_; }
  [[nodiscard]] std::size_t logits() const { return logits_; }
  // An input, {batch, 1, 1}, with the position in the run of the token whose logits the model returns. Without it, a
  // model returns the logits of all tokens, or of the last one.
  [[nodiscard]] std::optional<std::size_t> rows() const { return rows_; }

  // Whether a cache may have more rows than there are tokens: only GroupQueryAttention reads it, which takes the number
  // of tokens from the mask.
  [[nodiscard]] bool can_have_free_rows() const { return can_have_free_rows_; }
  // Whether a run may have tokens behind the end of a sequence, which later tokens replace.
  [[nodiscard]] bool can_pad() const { return can_pad_; }

 private:
  void find_inputs(const GenerateConfig& config);
  void find_outputs(const GenerateConfig& config);
  void find_cache(const GenerateConfig& config);
  [[nodiscard]] std::optional<std::size_t> integer_input(const std::string& name, const char* field) const;
  // Sets the windows of the caches and what is possible with them.
  void read_nodes(const std::vector<NodeMessage>& nodes);

  std::unique_ptr<Model> model_;
  std::vector<CacheTensor> cache_;
  std::size_t tokens_ = 0, logits_ = 0;
  std::optional<std::size_t> mask_, positions_, rows_;
  bool can_have_free_rows_ = true, can_pad_ = true;
};

}  // namespace anydml::onnx
