// SPDX-License-Identifier: MIT
// Runs models over the caller's tensors.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "anydml/onnx.h"
#include "onnx/api/boundary.h"
#include "onnx/api/model_handle.h"
#include "onnx/values/device_elements.h"

namespace anydml::onnx {
namespace {

bool is_four_bit(Kind kind) { return kFourBitKinds.contains(kind); }

// The number of bytes of packed elements, as the C interface stores them.
std::size_t packed_bytes(Kind kind, std::int64_t count) {
  const auto elements = static_cast<std::size_t>(count);
  return is_four_bit(kind) ? (elements + 1) / 2 : elements * item_size(kind);
}

bool is_aligned(const void* data, std::size_t size) { return reinterpret_cast<std::uintptr_t>(data) % size == 0; }

// A packed copy of elements that may have any strides and alignment.
Array copied_input(Kind kind, const Sizes& shape, const Sizes& strides, const void* data) {
  Array array = Array::empty(kind, shape);
  const std::size_t size = item_size(kind);
  auto* to = static_cast<std::byte*>(array.writable());
  const auto* from = static_cast<const std::byte*>(data);
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t done = 0; done < array.count(); ++done) {
    std::memcpy(to, from, size);
    to += size;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::int64_t step = strides[axis] * static_cast<std::int64_t>(size);
      if (++index[axis] < shape[axis]) {
        from += step;
        break;
      }
      from -= step * (shape[axis] - 1);
      index[axis] = 0;
    }
  }
  return array;
}

// Four-bit integers as one byte each.
Array widened_input(Kind kind, const Sizes& shape, const void* data) {
  Array array = Array::empty(array_kind(kind), shape);
  auto* to = static_cast<std::uint8_t*>(array.writable());
  const auto* from = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.count()); ++i) {
    const auto bits = static_cast<std::uint8_t>((from[i / 2] >> (4 * (i % 2))) & 15);
    to[i] = kind == Kind::kInt4 ? static_cast<std::uint8_t>((bits ^ 8) - 8) : bits;
  }
  return array;
}

// The inverse, in place.
void narrow_output(std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const std::byte low = bytes[i] & std::byte{15};
    const std::byte high = i + 1 < bytes.size() ? bytes[i + 1] << 4 : std::byte{0};
    bytes[i / 2] = low | high;
  }
  bytes.resize((bytes.size() + 1) / 2);
}

// Checks a tensor's own members, and returns its shape.
Sizes shape_of_input(const std::string& what, const anydml_tensor& tensor) {
  if (tensor.rank < 0 || tensor.rank > kMaxArrayRank) {
    fail("{}: rank is {}; expected 0 to {}", what, tensor.rank, kMaxArrayRank);
  }
  if (tensor.rank != 0 && tensor.sizes == nullptr) {
    fail("{}: sizes is null; expected an array of {}", what, tensor.rank);
  }
  Sizes shape(tensor.sizes, tensor.sizes + tensor.rank);
  for (const std::int64_t size : shape) {
    if (size < 0) {
      fail("{}: sizes are {}; expected 0 or more", what, listed(shape));
    }
  }
  return shape;
}

// A tensor's elements in the CPU's memory, copied there if they are on the device.
class OnCpu {
 public:
  OnCpu(const anydml_device* device, Kind kind, const Sizes& shape, const Sizes& strides, const void* data)
      : data_(data) {
    const bool is_half = is_four_bit(kind);
    const auto [begin, end] = Array::wrap(array_kind(kind), shape, strides, data, nullptr).bounds();
    const std::size_t bytes = is_half ? packed_bytes(kind, product(shape)) : end - begin;
    const auto* const first = static_cast<const std::byte*>(is_half ? data : reinterpret_cast<const void*>(begin));
    if (is_on_device(device, first, bytes)) {
      copy_ = new_memory(bytes);
      copy_between(device, copy_.get(), first, bytes);
      data_ = static_cast<const std::byte*>(copy_.get()) + (static_cast<const std::byte*>(data) - first);
    }
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

  [[nodiscard]] const void* data() const { return data_; }

 private:
  const void* data_;
  std::shared_ptr<void> copy_;
};

Array checked_input_of(const std::string& what, const Model& model, const ValueMessage& declared,
                       const anydml_tensor& tensor) {
  const anydml_device* const device = model.memory_device();
  const anydml_type expected = anydml_onnx_tensor_type(static_cast<std::int32_t>(declared.kind));
  if (tensor.type != expected) {
    throw WrongType(format_text("{} is {}, but the model declares {}", what, anydml_type_name(tensor.type),
                                anydml_type_name(expected)));
  }
  const Sizes shape = shape_of_input(what, tensor);
  const std::int64_t count = product(shape);
  const Kind kind = array_kind(declared.kind);
  if (count == 0) {
    return Array::empty(kind, shape);
  }
  if (tensor.data == nullptr) {
    fail("{}: data is null; expected {} elements", what, count);
  }
  if (device == nullptr) {
    check_reachable(model.device(), tensor.data);
  }
  if (is_four_bit(declared.kind)) {
    if (tensor.strides != nullptr) {
      fail("{}: strides is set; expected null, because four-bit elements are packed", what);
    }
    return widened_input(declared.kind, shape,
                         OnCpu(device, declared.kind, shape, packed_strides(shape), tensor.data).data());
  }
  Sizes strides =
      tensor.strides == nullptr ? packed_strides(shape) : Sizes(tensor.strides, tensor.strides + tensor.rank);
  bool is_regular = is_aligned(tensor.data, item_size(kind));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1 && strides[axis] < 0) {
      strides[axis] = 0;  // never stepped along
    }
    is_regular = is_regular && strides[axis] >= 0;
  }
  // Graphs accept no negative strides for their inputs.
  return is_regular ? Array::wrap_on(device, kind, shape, std::move(strides), tensor.data, nullptr)
                    : copied_input(kind, shape, strides, OnCpu(device, kind, shape, strides, tensor.data).data());
}

Array input_of(const Model& model, const ValueMessage& declared, const anydml_tensor& tensor) {
  const std::string what = "input " + quoted(declared.name);
  try {
    return checked_input_of(what, model, declared, tensor);
  } catch (const Invalid& error) {
    const std::string_view message = error.what();
    throw Invalid(message.starts_with(what) ? std::string(message) : what + ": " + error.what());
  }
}

Arrays inputs_of(const char* function, const anydml_onnx_model* model, const anydml_tensor* inputs, std::size_t count) {
  check_pointer(function, "model", model, "a model from anydml_onnx_load");
  check_array(function, "inputs", inputs, count);
  const std::vector<ValueMessage>& declared = model->model.inputs();
  if (count > declared.size()) {
    bad_call(function, format_text("input_count is {}; the model has {} inputs", count, declared.size()));
  }
  Arrays arrays(declared.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (i < count && inputs[i].type != ANYDML_NONE) {
      arrays[i] = input_of(model->model, declared[i], inputs[i]);
    } else if (!model->model.has_initializer(i)) {
      bad_call(function, "input " + quoted(declared[i].name) + " is missing");
    }
  }
  return arrays;
}

// Memory for an output, as the C interface stores it; null only if the output is empty.
using Provide = std::function<void*(std::size_t output, Kind kind, const Sizes& shape)>;

// An output that cannot be written directly: four-bit elements are computed as bytes, and memory may be unaligned.
struct Detour {
  Kind kind;
  std::vector<std::byte> bytes;
  void* target;
};

// Checks that the device can use the memory for an output.
void check_output(const Model& model, const anydml_device* device, std::size_t output, const void* memory,
                  std::size_t bytes) {
  try {
    if (device == nullptr) {
      check_reachable(model.device(), memory);
    } else {
      static_cast<void>(is_on_device(device, memory, bytes));
    }
  } catch (const Invalid& error) {
    fail("output {}: {}", output, error.what());
  }
}

void run_model(Model& model, const Arrays& inputs, const Provide& provide) {
  const anydml_device* const device = model.memory_device();
  std::vector<Detour> detours;
  detours.reserve(model.outputs().size());  // its buffers must not move
  std::byte nowhere{};                      // the address of empty outputs
  model.run(inputs, [&](std::size_t output, Kind kind, const Sizes& shape) -> void* {
    const std::int64_t count = product(shape);
    void* const target = provide(output, kind, shape);
    if (count == 0) {
      return target != nullptr ? target : &nowhere;
    }
    if (target == nullptr) {
      throw NoMemory(format_text("output {}: the caller's function returned no memory for {} bytes", output,
                                 packed_bytes(kind, count)));
    }
    const std::size_t size = item_size(array_kind(kind));
    check_output(model, device, output, target, packed_bytes(kind, count));
    if (!is_four_bit(kind) && is_aligned(target, size)) {
      return target;
    }
    detours.push_back({kind, std::vector<std::byte>(static_cast<std::size_t>(count) * size), target});
    return detours.back().bytes.data();
  });
  for (Detour& detour : detours) {
    if (is_four_bit(detour.kind)) {
      narrow_output(detour.bytes);
    }
    copy_between(device, detour.target, detour.bytes.data(), detour.bytes.size());
  }
}

}  // namespace

struct OwnedResult {
  Sizes shape;
  std::unique_ptr<std::byte[]> memory;
  anydml_tensor tensor{};
};

}  // namespace anydml::onnx

struct anydml_onnx_results {
  std::vector<anydml::onnx::OwnedResult> all;
};

using anydml::onnx::bad_call;
using anydml::onnx::boundary;
using anydml::onnx::check_pointer;
using anydml::onnx::Kind;
using anydml::onnx::Sizes;

int anydml_onnx_run(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count,
                    anydml_onnx_output_function output, void* context) {
  constexpr const char* kFunction = "anydml_onnx_run";
  return boundary([&] {
    const anydml::onnx::Arrays arrays = anydml::onnx::inputs_of(kFunction, model, inputs, input_count);
    if (output == nullptr) {
      bad_call(kFunction, "output is null; expected a function that provides memory");
    }
    anydml::onnx::run_model(model->model, arrays, [&](std::size_t position, Kind kind, const Sizes& shape) {
      const auto type = static_cast<std::int32_t>(kind);
      const anydml_tensor tensor = {anydml_onnx_tensor_type(type), static_cast<std::int32_t>(shape.size()),
                                    shape.data(), nullptr, nullptr};
      return output(context, position, type, &tensor);
    });
  });
}

int anydml_onnx_run_to_results(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count,
                               anydml_onnx_results** results) {
  constexpr const char* kFunction = "anydml_onnx_run_to_results";
  return boundary([&] {
    check_pointer(kFunction, "results", results, "a pointer to store the result");
    *results = nullptr;
    const anydml::onnx::Arrays arrays = anydml::onnx::inputs_of(kFunction, model, inputs, input_count);
    auto created = std::make_unique<anydml_onnx_results>();
    created->all.resize(model->model.outputs().size());
    anydml::onnx::run_model(model->model, arrays, [&](std::size_t position, Kind kind, const Sizes& shape) -> void* {
      anydml::onnx::OwnedResult& one = created->all[position];
      const std::size_t bytes = anydml::onnx::packed_bytes(kind, anydml::onnx::product(shape));
      one.shape = shape;
      one.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
      one.tensor = {anydml_onnx_tensor_type(static_cast<std::int32_t>(kind)), static_cast<std::int32_t>(shape.size()),
                    one.shape.data(), nullptr, one.memory.get()};
      return one.memory.get();
    });
    *results = created.release();
  });
}

size_t anydml_onnx_result_count(const anydml_onnx_results* results) {
  std::size_t count = 0;
  boundary([&] {
    check_pointer("anydml_onnx_result_count", "results", results, "results from anydml_onnx_run_to_results");
    count = results->all.size();
  });
  return count;
}

const anydml_tensor* anydml_onnx_result_at(const anydml_onnx_results* results, size_t index) {
  constexpr const char* kFunction = "anydml_onnx_result_at";
  const anydml_tensor* found = nullptr;
  boundary([&] {
    check_pointer(kFunction, "results", results, "results from anydml_onnx_run_to_results");
    if (index >= results->all.size()) {
      bad_call(kFunction, anydml::format_text("index is {}; there are {} results", index, results->all.size()));
    }
    found = &results->all[index].tensor;
  });
  return found;
}

void anydml_onnx_results_release(anydml_onnx_results* results) { delete results; }

int anydml_onnx_profile(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count, uint32_t rounds,
                        anydml_onnx_time_function function, void* context) {
  constexpr const char* kFunction = "anydml_onnx_profile";
  constexpr std::uint32_t kMaxRounds = 1'000'000;
  return boundary([&] {
    const anydml::onnx::Arrays arrays = anydml::onnx::inputs_of(kFunction, model, inputs, input_count);
    if (function == nullptr) {
      bad_call(kFunction, "function is null; expected a function that receives times");
    }
    if (rounds == 0 || rounds > kMaxRounds) {
      bad_call(kFunction, anydml::format_text("rounds is {}; expected 1 to {}", rounds, kMaxRounds));
    }
    for (const anydml::onnx::StepTime& step : model->model.profile(arrays, static_cast<int>(rounds))) {
      const anydml_onnx_node_time time = {step.op.c_str(), step.label.c_str(), step.seconds};
      function(context, &time);
    }
  });
}
