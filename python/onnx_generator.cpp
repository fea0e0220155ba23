// SPDX-License-Identifier: MIT
#include "onnx_generator.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "errors.h"
#include "onnx_call.h"

namespace anydml::python {
namespace {

// An int that fits into 64 bits.
std::int64_t integer_in(nb::handle given, const std::string& what) {
  const nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    raise(PyExc_TypeError, what + " is " + text_of(given) + "; expected an int");
  }
  const long long number = PyLong_AsLongLong(index.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(PyExc_ValueError, what + " is " + text_of(given) + "; expected an int of 64 bits");
  }
  return number;
}

double number_in(nb::handle given, const std::string& what) {
  const double number = PyFloat_AsDouble(given.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(PyExc_TypeError, what + " is " + text_of(given) + "; expected a number");
  }
  return number;
}

onnx::Tokens tokens_in(nb::handle given, const std::string& what) {
  const nb::object items = nb::steal(PySequence_Fast(given.ptr(), "expected a list of tokens"));
  if (!items.is_valid()) {
    throw nb::python_error();
  }
  onnx::Tokens tokens;
  for (const nb::handle one : items) {
    tokens.push_back(integer_in(one, what));
  }
  return tokens;
}

onnx::SearchRequest request_of(const nb::dict& options) {
  const auto given = [&](const char* name) {
    nb::object value = options.contains(name) ? nb::object(options[name]) : nb::object(nb::none());
    return value;
  };
  const auto number = [&](const char* name) {
    const nb::object value = given(name);
    return value.is_none() ? std::nullopt : std::optional(number_in(value, name));
  };
  const auto integer = [&](const char* name) {
    const nb::object value = given(name);
    return value.is_none() ? std::nullopt : std::optional(integer_in(value, name));
  };
  onnx::SearchRequest request;
  request.temperature = number("temperature");
  request.top_p = number("top_p");
  request.repetition_penalty = number("repetition_penalty");
  request.top_k = integer("top_k");
  request.seed = static_cast<std::uint64_t>(integer("seed").value_or(0));
  request.max_length = integer("max_length").value_or(0);
  request.max_new_tokens = integer("max_new_tokens").value_or(0);
  const nb::object stops = given("stop_tokens");
  request.stop_tokens = stops.is_none() ? onnx::Tokens() : tokens_in(stops, "a stop token");
  request.ignores_end = given("ignores_end").is(Py_True);
  return request;
}

void check_current(bool is_current) {
  if (!is_current) {
    raise(PyExc_RuntimeError, "the generator began another text");
  }
}

}  // namespace

OnnxGenerator::OnnxGenerator(nb::handle folder, std::int64_t slots, std::int64_t chunk, std::int64_t cache,
                             nb::handle device, int activations) {
  const std::string path = path_of(folder);
  const onnx::GeneratorOptions options = {
      .model = {.device = find_device(device), .activations = static_cast<onnx::Activations>(activations)},
      .slots = slots,
      .chunk = chunk,
      .cache = static_cast<onnx::CacheMode>(cache)};
  call_onnx([&] { generator_ = std::make_unique<onnx::Generator>(path, options); });
}

nb::dict OnnxGenerator::description() const {
  const onnx::GenerateConfig& config = generator_->config();
  nb::dict described;
  described["context_length"] = config.context_length;
  described["vocabulary"] = config.words;
  described["layers"] = config.layers;
  described["slots"] = generator_->slots();
  described["cache"] = static_cast<std::int64_t>(generator_->cache_mode());
  nb::list ends;
  for (const std::int64_t token : config.end_tokens) {
    ends.append(token);
  }
  described["end_tokens"] = ends;
  return described;
}

std::uint64_t OnnxGenerator::start(const nb::list& prompts, const nb::dict& options) {
  std::vector<onnx::Tokens> texts;
  for (std::size_t i = 0; i < nb::len(prompts); ++i) {
    texts.push_back(tokens_in(prompts[i], "a token of prompt " + std::to_string(i)));
  }
  const onnx::SearchRequest request = request_of(options);
  const std::size_t count = texts.size();
  std::uint64_t own = 0;
  call_onnx([&] {
    const std::scoped_lock lock(mutex_);
    generator_->start(std::move(texts), request);
    texts_ = count;
    own = ++number_;
  });
  return own;
}

nb::list OnnxGenerator::step(std::uint64_t number) {
  std::vector<onnx::GeneratedToken> tokens;
  bool is_current = false;
  call_onnx([&] {
    const std::scoped_lock lock(mutex_);
    is_current = number == number_;
    if (is_current) {
      tokens.resize(texts_);
      generator_->step(tokens);
    }
  });
  check_current(is_current);
  nb::list all;
  for (const onnx::GeneratedToken& one : tokens) {
    all.append(nb::make_tuple(one.token, static_cast<int>(one.end)));
  }
  return all;
}

void OnnxGenerator::end(std::uint64_t number, std::size_t text) {
  bool is_current = false;
  call_onnx([&] {
    const std::scoped_lock lock(mutex_);
    is_current = number == number_;
    if (is_current) {
      generator_->end(text);
    }
  });
  check_current(is_current);
}

nb::object OnnxGenerator::logits(std::size_t text) {
  std::vector<float> copied;
  call_onnx([&] {
    const std::scoped_lock lock(mutex_);
    const std::span<const float> logits = generator_->logits(text);
    copied.assign(logits.begin(), logits.end());
  });
  auto count = static_cast<npy_intp>(copied.size());
  nb::object result = nb::steal(PyArray_SimpleNew(1, &count, NPY_FLOAT));
  if (!result.is_valid()) {
    throw nb::python_error();
  }
  std::copy(copied.begin(), copied.end(), static_cast<float*>(PyArray_DATA(as_array(result.ptr()))));
  return result;
}

}  // namespace anydml::python
