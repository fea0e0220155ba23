// SPDX-License-Identifier: MIT
#include "onnx/values/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/inline_vector.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxComparedBytes = 512;
constexpr std::int64_t kMaxComparedFloats = 8;

template <class Number>
void append_number(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_sizes(std::string& key, const Sizes& sizes) {
  key.append(reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(std::int64_t));
}

enum class InputTag : char { kAbsent, kSymbol, kElements, kData };

void append_form(std::string& key, InputTag tag, const Array& array) {
  key.push_back(static_cast<char>(tag));
  append_number(key, static_cast<std::int32_t>(array.kind()));
  append_number(key, array.rank());
  append_sizes(key, array.shape());
}

bool is_data(const Array& array) { return array && !array.is_symbol() && !is_compared_by_elements(array); }

bool overlap(const Array& a, const Array& b) {
  const auto [a_begin, a_end] = a.bounds();
  const auto [b_begin, b_end] = b.bounds();
  return a.count() != 0 && b.count() != 0 && a_begin < b_end && b_begin < a_end;
}

// The inputs with elements so far.
class Overlaps {
 public:
  // Adds an input, and returns whether it shares memory with an earlier one, and one of them is data. An operand in
  // that memory would be a part of either.
  bool add(const Array& array, bool is_data) {
    if (array.count() == 0) {
      return false;
    }
    const auto [begin, end] = array.bounds();
    const bool overlaps = std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& one) {
      return (one.is_data || is_data) && one.begin < end && begin < one.end;
    });
    ranges_.push_back({begin, end, is_data});
    return overlaps;
  }

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool is_data;
  };
  InlineVector<Range, 32> ranges_;
};

}  // namespace

bool is_compared_by_elements(const Array& array) {
  if (array.kind() == Kind::kString) {
    return false;
  }
  const bool is_few = array.kind() == Kind::kFloat || array.kind() == Kind::kDouble || array.kind() == Kind::kFloat16
                          ? array.count() <= kMaxComparedFloats
                          : true;
  return is_few && array.bytes() <= kMaxComparedBytes && array.is_packed();
}

bool append_key(std::span<const Array> inputs, std::string& key) {
  append_number(key, inputs.size());
  Overlaps overlaps;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& one = inputs[i];
    if (!one) {
      key.push_back(static_cast<char>(InputTag::kAbsent));
    } else if (one.is_symbol()) {
      append_form(key, InputTag::kSymbol, one);
      append_sizes(key, one.strides());
      // Symbols that are parts of one value may be read together.
      std::size_t first = 0;
      while (Recorder::source_of(inputs[first]) != Recorder::source_of(one)) {
        ++first;
      }
      append_number(key, first);
      append_number(key, Recorder::offset_of(one) - Recorder::offset_of(inputs[first]));
    } else {
      const bool has_elements = is_compared_by_elements(one);
      append_form(key, has_elements ? InputTag::kElements : InputTag::kData, one);
      if (has_elements) {
        key.append(static_cast<const char*>(one.data()), one.bytes());
      } else {
        append_sizes(key, one.strides());
      }
      if (overlaps.add(one, !has_elements)) {
        return false;
      }
    }
  }
  return true;
}

// ---- Recording ------------------------------------------------------------------------------------------------------

void Recorder::begin_trace() { trace_ = std::make_unique<Trace>(); }

void Recorder::cancel_trace() { trace_.reset(); }

void Recorder::note_operator(const Arrays& inputs, const std::vector<anydml_value>& created) {
  const auto found = std::find_if(created.begin(), created.end(), [](anydml_value one) { return one != 0; });
  if (found == created.end()) {
    trace_->is_repeatable = false;
    return;
  }
  trace_->operators.push_back({*found, inputs, created});
}

// The origin of an operand or result of the step that was traced; nothing if it is unknown.
std::optional<Origin> Recorder::Trace::origin_of(const Array& array, std::span<const Array> inputs) const {
  using From = Origin::From;
  if (!array.is_symbol()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (is_data(inputs[i]) && overlap(inputs[i], array)) {
        const auto [begin, end] = inputs[i].bounds();
        const auto [first, last] = array.bounds();
        return begin <= first && last <= end ? std::optional(Origin{From::kInput, i, 0}) : std::nullopt;
      }
    }
    return Origin{};
  }
  const std::uint64_t source = source_of(array);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (source_of(inputs[i]) == source) {
      return Origin{From::kInput, i, 0};
    }
  }
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto& created = operators[i].created;
    const auto found = std::find(created.begin(), created.end(), source);
    if (found != created.end()) {
      return Origin{From::kOperator, i, static_cast<std::size_t>(found - created.begin())};
    }
  }
  return std::nullopt;
}

std::optional<RecordedStep> Recorder::end_trace(std::span<const Array> inputs, const Arrays& results) {
  const std::unique_ptr<Trace> trace = std::move(trace_);
  const bool reads_data = std::any_of(inputs.begin(), inputs.end(), [&trace](const Array& one) {
    return is_data(one) && trace->reads.includes(one.bounds());
  });
  if (!trace->is_repeatable || reads_data) {
    return std::nullopt;
  }
  const auto offset_from = [inputs](const Array& array, const Origin& origin) {
    return offset_of(array) - (origin.from == Origin::From::kInput ? offset_of(inputs[origin.index]) : 0);
  };
  RecordedStep recorded;
  for (const Trace::Operator& one : trace->operators) {
    RecordedStep::Operator& added = recorded.operators.emplace_back();
    added.like = one.like;
    added.output_count = one.created.size();
    for (const Array& input : one.inputs) {
      RecordedStep::Operand& operand = added.operands.emplace_back();
      if (!input) {
        continue;
      }
      const std::optional<Origin> origin = trace->origin_of(input, inputs);
      if (!origin.has_value()) {
        return std::nullopt;
      }
      operand.origin = *origin;
      operand.array = input.is_symbol() ? Array() : input;
      operand.offset = origin->from == Origin::From::kNothing ? 0 : offset_from(input, *origin);
    }
  }
  for (const Array& result : results) {
    RecordedStep::Result& added = recorded.results.emplace_back();
    if (!result) {
      continue;
    }
    const std::optional<Origin> origin = trace->origin_of(result, inputs);
    if (!origin.has_value()) {
      return std::nullopt;
    }
    added.origin = *origin;
    added.array = result;
    added.is_origin = origin->from == Origin::From::kInput && result.is_same_object(inputs[origin->index]);
    added.offset = origin->from == Origin::From::kNothing ? 0 : offset_from(result, *origin);
  }
  return recorded;
}

// ---- Repeating ------------------------------------------------------------------------------------------------------

Array Recorder::part_of(const Array& part, const Array& whole, std::int64_t offset) {
  auto body = std::make_shared<Array::Body>(*part.body_);
  if (whole.is_symbol()) {
    body->recorder = whole.body_->recorder;
    body->source = whole.body_->source;
    const std::int64_t bytes = offset_of(whole) + offset;
    body->offset =
        kFourBitKinds.contains(body->kind) ? 2 * bytes : bytes / static_cast<std::int64_t>(item_size(body->kind));
    body->value = 0;
  } else {
    body->data = static_cast<const std::byte*>(whole.body_->data) + offset;
    body->owner = whole.body_->owner;
  }
  return Array(std::move(body));
}

Array Recorder::repeated_result(const RecordedStep::Result& result, std::span<const Array> inputs) const {
  if (!result.array) {
    return {};
  }
  switch (result.origin.from) {
    case Origin::From::kInput:
      return result.is_origin ? inputs[result.origin.index]
                              : part_of(result.array, inputs[result.origin.index], result.offset);
    case Origin::From::kOperator: {
      auto body = std::make_shared<Array::Body>(*result.array.body_);
      const bool is_whole = body->value == body->source;
      body->source = repeated_[firsts_[result.origin.index] + result.origin.output];
      body->value = is_whole ? body->source : 0;
      return Array(std::move(body));
    }
    default:
      return result.array;
  }
}

Arrays Recorder::repeat(const RecordedStep& step, std::span<const Array> inputs) {
  repeat_operators(step, inputs);
  Arrays results;
  results.reserve(step.results.size());
  for (const RecordedStep::Result& result : step.results) {
    results.push_back(repeated_result(result, inputs));
  }
  return results;
}

void Recorder::repeat_operators(const RecordedStep& step, std::span<const Array> inputs) {
  repeated_.clear();
  firsts_.clear();
  for (const RecordedStep::Operator& one : step.operators) {
    operands_.clear();
    offsets_.clear();
    for (const RecordedStep::Operand& operand : one.operands) {
      std::uint64_t value = 0;
      std::int64_t offset = 0;
      if (operand.array) {
        value = constant(operand.origin.from == Origin::From::kInput
                             ? part_of(operand.array, inputs[operand.origin.index], operand.offset)
                             : operand.array);
      } else if (operand.origin.from == Origin::From::kInput) {
        const Array& input = inputs[operand.origin.index];
        value = source_of(input);
        offset = offset_of(input) + operand.offset;
      } else if (operand.origin.from == Origin::From::kOperator) {
        value = repeated_[firsts_[operand.origin.index] + operand.origin.output];
        offset = operand.offset;
      }
      operands_.push_back(value);
      offsets_.push_back(offset);
    }
    firsts_.push_back(repeated_.size());
    repeated_.resize(repeated_.size() + one.output_count);
    check_status(anydml_graph_repeat_operator(graph_.get(), one.like, operands_.data(), offsets_.data(),
                                              operands_.size(), &repeated_[firsts_.back()], one.output_count));
  }
}

// ---- Blocks ---------------------------------------------------------------------------------------------------------

namespace {

using Operand = RecordedStep::Operand;

// An operand or result of a step, as the block sees it. Nothing if it is part of a value that the block does not have.
std::optional<Operand> in_block(const RecordedBlock& block, std::size_t first_operator, Operand operand,
                                std::span<const RecordedBlock::Input> inputs) {
  if (operand.origin.from == Origin::From::kOperator) {
    operand.origin.index += first_operator;
  }
  if (operand.origin.from != Origin::From::kInput) {
    return operand;
  }
  const RecordedBlock::Input& input = inputs[operand.origin.index];
  if (input.from == RecordedBlock::From::kOutside) {
    operand.origin.index = input.index;
    return operand;
  }
  const RecordedStep::Result* const whole =
      input.from == RecordedBlock::From::kResult ? &block.whole.results[input.index] : nullptr;
  if (whole == nullptr || !whole->array) {
    return std::nullopt;
  }
  if (whole->origin.from == Origin::From::kNothing) {  // an array that each repetition has
    if (!operand.array) {
      return std::nullopt;
    }
    return Operand{.origin = {}, .offset = 0, .array = Recorder::part_of(operand.array, whole->array, operand.offset)};
  }
  operand.origin = whole->origin;
  operand.offset += whole->offset;
  return operand;
}

}  // namespace

bool RecordedBlock::add(const RecordedStep& step, std::span<const Input> inputs, std::size_t result_count) {
  const std::size_t first_operator = whole.operators.size();
  for (const RecordedStep::Operator& one : step.operators) {
    RecordedStep::Operator& added = whole.operators.emplace_back();
    added.like = one.like;
    added.output_count = one.output_count;
    for (const Operand& operand : one.operands) {
      std::optional<Operand> moved = in_block(*this, first_operator, operand, inputs);
      if (!moved.has_value()) {
        return false;
      }
      added.operands.push_back(*std::move(moved));
    }
  }
  const std::size_t first_result = whole.results.size();
  for (std::size_t i = 0; i < result_count; ++i) {
    const std::size_t position = first_result + i;
    const RecordedStep::Result result = i < step.results.size() ? step.results[i] : RecordedStep::Result();
    const Input* const same = result.array && result.is_origin ? &inputs[result.origin.index] : nullptr;
    if (same != nullptr && same->from == From::kResult) {
      whole.results.push_back(whole.results[same->index]);
      objects.push_back(objects[same->index]);
      continue;
    }
    const auto moved = in_block(*this, first_operator, {result.origin, result.offset, result.array}, inputs);
    if (!moved.has_value()) {
      return false;
    }
    whole.results.push_back({moved->origin, moved->offset, result.is_origin, moved->array});
    objects.push_back(position);
  }
  return true;
}

}  // namespace anydml::onnx
