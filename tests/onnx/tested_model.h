// SPDX-License-Identifier: MIT
// Loads the bytes of a model, and prepares and runs it, as far as that is possible. Only the errors in
// onnx/values/errors.h may occur.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/program/model.h"
#include "onnx/values/dispatch.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {

inline void read_tensors(const GraphMessage& graph, const ModelMessage& model) {
  const auto read = [&model](const TensorMessage& tensor) {
    try {
      const Array array = array_of(tensor, model);
      if (array && array.count() < 1000) {
        static_cast<void>(array.to_numbers());
      }
    } catch (const Invalid&) {
    } catch (const Unsupported&) {
    } catch (const NoMemory&) {
    }
  };
  for (const TensorMessage& tensor : graph.initializers) {
    read(tensor);
  }
  for (const NodeMessage& node : graph.nodes) {
    static_cast<void>(label_of(node));
    for (const AttributeMessage& attribute : node.attributes) {
      if (attribute.t) {
        read(*attribute.t);
      }
      if (attribute.g) {
        read_tensors(*attribute.g, model);
      }
    }
  }
}

using Clock = std::chrono::steady_clock;
inline Clock::time_point g_deadline;  // of the current run

inline int is_late(void* /*context*/) { return Clock::now() > g_deadline ? 1 : 0; }

// An array of a declared form, with 2 for unknown sizes; absent if it would be large, or if arrays cannot have the
// type.
inline Array input_of(const ValueMessage& declared) {
  constexpr std::int64_t kLargest = 4096;
  const Kind kind = array_kind(declared.kind);
  Sizes shape;
  std::int64_t count = 1;
  for (const Dimension& one : declared.shape) {
    shape.push_back(one.size < 0 ? 2 : one.size);
    count = one.size > kLargest ? kLargest + 1 : std::min(kLargest + 1, count * shape.back());
  }
  if (!kArrayKinds.contains(kind) || count > kLargest || shape.size() > kMaxArrayRank) {
    return {};
  }
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(i % 3);
  }
  const Array array = Array::of(Kind::kInt64, shape, numbers);
  return kind == Kind::kBool ? cast(array, Kind::kUint8).view_as(kind) : cast(array, kind);
}

inline void prepare_and_run(ModelMessage message) {
  constexpr std::size_t kLargestOutput = std::size_t{1} << 26;
  Model model(std::move(message), {});
  static_cast<void>(model.explain());
  Arrays inputs;
  for (const ValueMessage& declared : model.inputs()) {
    inputs.push_back(input_of(declared));
    if (!inputs.back()) {
      return;
    }
  }
  std::vector<std::vector<std::byte>> outputs(model.outputs().size());
  g_deadline = Clock::now() + std::chrono::seconds(1);
  for (int turn = 0; turn < 2; ++turn) {  // the second run uses what the first one has recorded
    model.run(inputs, [&outputs](std::size_t position, Kind kind, const Sizes& shape) -> void* {
      const auto bytes = static_cast<std::size_t>(product(shape)) * item_size(array_kind(kind));
      if (bytes > kLargestOutput) {
        throw NoMemory("the output is too large for this test");
      }
      outputs[position].resize(std::max<std::size_t>(bytes, 1));
      return outputs[position].data();
    });
  }
}

// Returns whether the model was loaded and, if it is run, whether it ran.
inline bool load(const std::string& bytes, const std::string& folder, bool is_run) {
  // The exact size, so that AddressSanitizer notices every read after the end.
  auto owner = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  try {
    ModelMessage model = parse_model(std::as_bytes(std::span(*owner)), owner, "the bytes");
    model.folder = folder;
    model.has_folder = true;
    inline_functions(model);
    read_tensors(model.graph, model);
    if (is_run) {
      prepare_and_run(std::move(model));
    }
    return true;
  } catch (const Invalid&) {
  } catch (const WrongType&) {
  } catch (const Unsupported&) {
  } catch (const NoMemory&) {
  } catch (const DeviceFailure& error) {
    if (error.status() != ANYDML_INTERRUPTED) {
      throw;
    }
  } catch (const std::bad_alloc&) {  // the interfaces turn it into an error
  }
  return false;
}

}  // namespace anydml::onnx
