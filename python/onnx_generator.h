// SPDX-License-Identifier: MIT
// The text generator over lists of tokens. _generator.py turns text into tokens and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "onnx/generate/generator.h"
#include "python_api.h"

namespace anydml::python {

class OnnxGenerator {
 public:
  // folder: a path as a str. cache: the number of a CacheMode. device: the name of an adapter, or None. activations:
  // the number of an Activations. The errors are those of OnnxModel.
  OnnxGenerator(nb::handle folder, std::int64_t slots, std::int64_t chunk, std::int64_t cache, nb::handle device,
                int activations);

  // A dict that describes the model and the cache.
  [[nodiscard]] nb::dict description() const;
  // prompts: a list of lists of ints. options: a dict with the members of SearchRequest that are given. Returns a
  // number for the calls below, which raise RuntimeError if other texts have begun since.
  std::uint64_t start(const nb::list& prompts, const nb::dict& options);
  // A list with a tuple for each text: the token, and the number of an End.
  [[nodiscard]] nb::list step(std::uint64_t number);
  void end(std::uint64_t number, std::size_t text);
  // The logits of a text as a new array of float32.
  [[nodiscard]] nb::object logits(std::size_t text);

 private:
  std::unique_ptr<onnx::Generator> generator_;
  std::mutex mutex_;  // threads of Python may use one generator
  std::size_t texts_ = 0;
  std::uint64_t number_ = 0;  // of the calls of start that succeeded
};

}  // namespace anydml::python
