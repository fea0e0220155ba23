// SPDX-License-Identifier: MIT
#include "onnx/program/piece.h"

#include <algorithm>

#include "onnx/program/program.h"
#include "onnx/values/device_elements.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxPinnedBytes = 512;  // the largest value whose elements a piece is recorded for
constexpr std::int64_t kMaxPinnedOthers = 8;  // the maximum number of floats or bools in such a value

void append_number(std::string& key, std::int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_form(std::string& key, const Array& value) {
  append_number(key, static_cast<std::int64_t>(value.kind()) * (kMaxArrayRank + 1) + value.rank());
  for (const std::int64_t size : value.shape()) {
    append_number(key, size);
  }
}

}  // namespace

// Strings never count as small: their bytes are addresses, and no graph takes them.
bool is_small(const Array& value) { return value.kind() != Kind::kString && value.bytes() <= kMaxPinnedBytes; }

bool may_be_pinned(const Array& value) {
  return value.rank() <= 1 && is_small(value) && (is_integer(value.kind()) || value.count() <= kMaxPinnedOthers);
}

const Array& State::regular(ValueIndex value) {
  Array& array = values[static_cast<std::size_t>(value)];
  if (std::any_of(array.strides().begin(), array.strides().end(), [](std::int64_t one) { return one < 0; })) {
    array = array.packed();
  }
  return array;
}

std::vector<ValueIndex> Point::names() const {
  std::vector<ValueIndex> result;
  for (const std::vector<ValueIndex>* const list : {&taken, &computed_early}) {
    for (const ValueIndex one : *list) {
      if (!varying.contains(one)) {
        result.push_back(one);
      }
    }
  }
  return result;
}

bool Point::is_pinned(ValueIndex value, const State& state) const {
  const auto at = static_cast<std::size_t>(value);
  return (pinned.contains(value) || state.is_known[at]) && is_small(state.values[at]);
}

std::string Point::key(State& state) const {
  std::string key;
  for (const ValueIndex one : names()) {
    if (is_pinned(one, state)) {
      const Array packed = state.values[static_cast<std::size_t>(one)].packed();
      key += 'e';  // elements follow the form, as strides do below
      append_form(key, packed);
      key.append(static_cast<const char*>(packed.data()), packed.bytes());
      continue;
    }
    const Array& value = state.regular(one);
    key += 's';
    append_form(key, value);
    for (const std::int64_t stride : value.strides()) {
      append_number(key, stride);
    }
  }
  return key;
}

std::vector<std::string> Point::forms(const State& state) const {
  std::vector<std::string> result;
  for (const ValueIndex one : names()) {
    append_form(result.emplace_back(), state.values[static_cast<std::size_t>(one)]);
  }
  return result;
}

void PieceOfGraph::run(State& state) const {
  if (compiled != nullptr) {
    std::vector<const void*> from;
    from.reserve(inputs.size());
    for (const ValueIndex one : inputs) {
      from.push_back(state.values[static_cast<std::size_t>(one)].address());
    }
    std::vector<void*> to;
    to.reserve(outputs.size());
    Arrays results;
    results.reserve(outputs.size());
    for (const Output& one : outputs) {
      void* const memory = state.memory ? state.memory(one.value, one.kind, one.shape) : nullptr;
      results.push_back(memory != nullptr
                            ? Array::wrap_on(device, one.kind, one.shape, packed_strides(one.shape), memory, nullptr)
                        : one.stays_on_device ? Array::empty_on(device, one.kind, one.shape)
                                              : Array::empty(one.kind, one.shape));
      to.push_back(const_cast<void*>(results.back().address()));
      const bool replaces_input = std::find(from.begin(), from.end(), memory) != from.end();
      const bool is_new = memory == nullptr && results.back().is_on_device();  // such memory is 0
      if (one.keeps_elements && !replaces_input && !is_new) {
        set_to_zero(results.back().is_on_device() ? device : nullptr, to.back(), results.back().bytes());
      }
    }
    check_status(anydml_compiled_run(compiled.get(), from.data(), from.size(), to.data(), to.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      state.values[static_cast<std::size_t>(outputs[i].value)] = std::move(results[i]);
    }
  }
  for (const auto& [value, other] : aliases) {
    state.values[static_cast<std::size_t>(value)] = state.values[static_cast<std::size_t>(other)];
  }
  for (const auto& [value, array] : known) {
    state.values[static_cast<std::size_t>(value)] = array;
    state.is_known[static_cast<std::size_t>(value)] = true;
  }
}

void PieceOnHost::run(State& state) const {
  for (std::size_t step = begin_; step < end; ++step) {
    program_.run_on_host(step, state);
  }
}

}  // namespace anydml::onnx
