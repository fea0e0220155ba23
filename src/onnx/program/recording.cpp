// SPDX-License-Identifier: MIT
#include "onnx/program/recording.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx/model/files.h"
#include "onnx/program/trace.h"
#include "onnx/values/device_elements.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxNamed = 4;  // results that a message lists

bool has_symbol(std::span<const Array> arrays) {
  return std::any_of(arrays.begin(), arrays.end(), [](const Array& one) { return one && one.is_symbol(); });
}

}  // namespace

Recording::Recording(Program& program, std::size_t begin, Point& point, State& state)
    : program_(program),
      begin_(begin),
      point_(point),
      state_(state),
      is_given_(program.names_.size()),
      recorder_(*program.fixed_),
      values_(program.names_.size()),
      end_(begin),
      size_(program.names_.size(), Size::kUnknown),
      maker_(program.names_.size()),
      is_left_out_(program.names_.size()) {
  for (const ValueIndex one : point.names()) {
    is_given_[static_cast<std::size_t>(one)] = true;
  }
}

// Returns null if the piece must be recorded again, after the point's early steps.
std::shared_ptr<Piece> Recording::make_piece() {
  const Outcome outcome = follow();
  if (outcome == Outcome::kAgain) {
    return nullptr;
  }
  if (outcome == Outcome::kNothing) {
    return std::make_shared<PieceOnHost>(program_, begin_, begin_ + 1, why_);
  }
  auto piece = std::make_shared<PieceOfGraph>(end_, why_);
  piece->known = std::move(known_);
  if (outcome == Outcome::kAllKnown) {
    return piece;
  }
  piece->device = with_own_memory(program_.options_.graphs.device);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Array& one = results_[i];
    recorder_.output(one);
    piece->outputs.push_back(
        {outputs_[i], one.kind(), one.shape(),
         piece->device != nullptr && !is_small(one) && program_.lives_->is_used_by_graphs(outputs_[i], end_)});
  }
  {
    const PageReleaser releaser(program_.large_constants());
    TraceEvent event;
    piece->compiled = recorder_.compile(program_.options_.graphs);
    for (std::size_t i = 0; i < piece->outputs.size(); ++i) {
      piece->outputs[i].keeps_elements = anydml_compiled_keeps_elements(piece->compiled.get(), i) != 0;
    }
    event.end("Compile", format_text("compile steps {} to {}", begin_, end_ - 1));
  }
  piece->inputs = std::move(inputs_);
  piece->aliases = std::move(aliases_);
  return piece;
}

std::shared_ptr<Piece> Recording::record(Program& program, std::size_t begin, Point& point, State& state) {
  while (true) {
    Recording attempt(program, begin, point, state);
    try {
      if (std::shared_ptr<Piece> piece = attempt.make_piece(); piece != nullptr) {
        return piece;
      }
    } catch (const NoMemory& error) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < std::min(attempt.outputs_.size(), kMaxNamed); ++i) {
        names.push_back(quoted(program.names_[static_cast<std::size_t>(attempt.outputs_[i])]));
      }
      throw NoMemory(names.empty() ? std::string(error.what())
                                   : format_text("the graph that computes {}: {}", joined(names), error.what()));
    } catch (const DeviceFailure&) {
      throw;
    } catch (const std::runtime_error& error) {
      // The graph does not compile. If a node is wrong, it reports the error when it runs alone.
      return std::make_shared<PieceOnHost>(program, begin, std::max(attempt.end_, begin + 1), error.what());
    }
    program.run_early(point, state);  // a step that is wrong ends the run with its error
  }
}

// Records the steps, and collects the results that are used afterward.
Recording::Outcome Recording::follow() {
  const std::unordered_set<std::size_t> early(point_.early.begin(), point_.early.end());
  for (end_ = begin_; end_ < program_.steps_.size(); ++end_) {
    if (early.contains(end_)) {
      continue;
    }
    const Block* const block = early.empty() && point_.varying.empty() ? program_.blocks_.at(end_) : nullptr;
    if (block != nullptr && repeat_block(*block)) {
      end_ += block->count - 1;
      continue;
    }
    if (block != nullptr) {
      begin_block(*block);
    }
    const Step& step = program_.steps_[end_];
    const Taken taken = take(step);
    if (taken == Taken::kAgain) {
      return Outcome::kAgain;
    }
    if (taken == Taken::kNo) {
      break;
    }
    note_origins(step, [&](std::size_t i) {
      const Array& result = values_[static_cast<std::size_t>(step.given[i])];
      return !result ? Size::kUnknown : is_small(result) ? Size::kSmall : Size::kLarge;
    });
    end_block();
  }
  if (end_ == begin_) {
    return Outcome::kNothing;
  }
  return collect_results() ? Outcome::kRecorded : Outcome::kAllKnown;
}

// Records a step. kNo: the piece must end before it.
Recording::Taken Recording::take(const Step& step) {
  const bool varies =
      !point_.varying.empty() && std::any_of(step.taken.begin(), step.taken.end(),
                                             [this](ValueIndex one) { return point_.varying.contains(one); });
  if (!step.on_host.empty() || varies) {
    why_ = step.label + ": " + (step.on_host.empty() ? "a shape changes from run to run" : step.on_host);
    return Taken::kNo;
  }
  Arrays& arrays = arrays_;
  arrays.clear();
  for (const ValueIndex one : step.taken) {
    arrays.push_back(one == kAbsent ? Array() : value(one));
  }
  if (step.is_of_weights && !has_symbol(arrays)) {
    arrays[0] = recorder_.known(arrays[0]);
  }
  Arrays results;
  try {
    results = perform_or_repeat(step, arrays);
  } catch (const ElementsNeeded& error) {
    const bool again = pin_or_hoist(asked(step, arrays, error.source()));
    why_ = step.label + " needs the elements of a value";
    return again ? Taken::kAgain : Taken::kNo;
  } catch (const NoMemory&) {
    throw;
  } catch (const DeviceFailure&) {
    throw;
  } catch (const std::runtime_error& error) {
    why_ = error.what();  // if the node is wrong, it reports the error when it runs alone
    return Taken::kNo;
  }
  for (std::size_t i = 0; i < std::min(results.size(), step.given.size()); ++i) {
    if (step.given[i] != kAbsent) {
      values_[static_cast<std::size_t>(step.given[i])] = std::move(results[i]);
    }
  }
  return Taken::kYes;
}

// Networks repeat their layers. A step that is like an earlier one, with inputs of the same types and shapes, adds the
// same operators.
Arrays Recording::perform_or_repeat(const Step& step, std::span<const Array> inputs) {
  const RecordedStep*& recorded_step = steps_of_block_.emplace_back(nullptr);
  key_.assign(reinterpret_cast<const char*>(&step.recipe), sizeof step.recipe);
  if (step.recipe == 0 || !append_key(inputs, key_)) {
    return perform(step, inputs);
  }
  if (const auto found = recorded_.find(key_); found != recorded_.end()) {
    recorded_step = &found->second;
    return recorder_.repeat(found->second, inputs);
  }
  recorder_.begin_trace();
  try {
    Arrays results = perform(step, inputs);
    if (std::optional<RecordedStep> recorded = recorder_.end_trace(inputs, results); recorded.has_value()) {
      recorded_step = &recorded_.emplace(key_, *std::move(recorded)).first->second;
    }
    return results;
  } catch (...) {
    recorder_.cancel_trace();
    throw;
  }
}

// ---- Repeated blocks ------------------------------------------------------------------------------------------------

// Makes a key of the values that the block takes; returns false if there is none.
bool Recording::make_block_key(const Block& block) {
  arrays_.clear();
  for (const ValueIndex one : block.outside) {
    arrays_.push_back(value(one));
  }
  key_.assign(reinterpret_cast<const char*>(&block.kind), sizeof block.kind);
  return append_key(arrays_, key_);
}

bool Recording::repeat_block(const Block& block) {
  if (!block_kinds_.contains(block.kind) || !make_block_key(block)) {
    return false;
  }
  const auto found = blocks_.find(key_);
  if (found == blocks_.end()) {
    return false;
  }
  const auto& [recorded, sizes] = found->second;
  recorder_.repeat_operators(recorded.whole, arrays_);
  Arrays objects(recorded.objects.size());  // results that are the same object stay so
  for (const Block::Used& used : block.used) {
    const std::size_t object = recorded.objects[used.result];
    if (!objects[object]) {
      objects[object] = recorder_.repeated_result(recorded.whole.results[object], arrays_);
    }
    values_[static_cast<std::size_t>(used.value)] = objects[object];
  }
  std::size_t first = 0;
  for (std::size_t i = end_; i < end_ + block.count; ++i) {
    const Step& step = program_.steps_[i];
    note_origins(step, [&](std::size_t result) { return sizes[first + result]; });
    for (const ValueIndex one : step.given) {
      if (one != kAbsent && sizes[first] == Size::kLarge) {
        is_left_out_[static_cast<std::size_t>(one)] = !values_[static_cast<std::size_t>(one)];
      }
      ++first;
    }
  }
  return true;
}

void Recording::begin_block(const Block& block) {
  block_ = &block;
  steps_of_block_.clear();
}

// Keeps the block if the last of its steps was recorded.
void Recording::end_block() {
  if (block_ == nullptr || steps_of_block_.size() != block_->count) {
    return;
  }
  const Block& block = *std::exchange(block_, nullptr);
  const std::size_t begin = end_ + 1 - block.count;
  KeptBlock kept;
  for (std::size_t i = 0; i < block.count; ++i) {
    const Step& step = program_.steps_[begin + i];
    if (steps_of_block_[i] == nullptr || !kept.recorded.add(*steps_of_block_[i], block.taken[i], step.given.size())) {
      return;
    }
    for (const ValueIndex one : step.given) {
      const Array result = one == kAbsent ? Array() : values_[static_cast<std::size_t>(one)];
      kept.sizes.push_back(!result ? Size::kUnknown : is_small(result) ? Size::kSmall : Size::kLarge);
    }
  }
  if (make_block_key(block)) {
    block_kinds_.insert(block.kind);
    blocks_.emplace(key_, std::move(kept));
  }
}

// ---- Values ---------------------------------------------------------------------------------------------------------

Array Recording::value(ValueIndex index) {
  const auto at = static_cast<std::size_t>(index);
  if (values_[at]) {
    return values_[at];
  }
  return is_given_[at] ? begin_value(index) : program_.constants_[at];
}

// A value that exists when the piece begins: its elements if they are pinned, otherwise a graph input.
Array Recording::begin_value(ValueIndex index) {
  const auto at = static_cast<std::size_t>(index);
  Array array = state_.values[at];
  if (point_.is_pinned(index, state_)) {
    // A copy: the piece keeps values that may be views of it, and later runs use them when the caller's memory is gone.
    const Array packed = array.packed();
    array = Array::empty(packed.kind(), packed.shape());
    std::memcpy(array.writable(), packed.data(), packed.bytes());
  } else {
    array = state_.regular(index);
    size_[at] = may_be_pinned(array) ? Size::kSmall : Size::kLarge;
    array = recorder_.input(array);
    inputs_.push_back(index);
  }
  values_[at] = array;
  return array;
}

// The inputs whose elements a step needs, or all symbolic inputs if this is unknown.
std::vector<ValueIndex> Recording::asked(const Step& step, std::span<const Array> arrays, std::uint64_t source) const {
  std::vector<ValueIndex> exact, all;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (step.taken[i] != kAbsent && arrays[i] && arrays[i].is_symbol()) {
      all.push_back(step.taken[i]);
      if (source != 0 && Recorder::source_of(arrays[i]) == source) {
        exact.push_back(step.taken[i]);
      }
    }
  }
  return exact.empty() ? all : exact;
}

// If the elements depend only on small values, the piece is recorded again: either for these elements, or with the
// steps that compute them moved to the host before the piece.
bool Recording::pin_or_hoist(const std::vector<ValueIndex>& needed) {
  std::set<ValueIndex> unpinned = origins(needed);
  std::erase_if(unpinned, [this](ValueIndex one) { return point_.pinned.contains(one); });
  if (unpinned.empty()) {
    return false;
  }
  const bool are_truths = std::all_of(unpinned.begin(), unpinned.end(), [this](ValueIndex one) {
    const Array& array = state_.values[static_cast<std::size_t>(one)];
    return array.kind() == Kind::kBool && array.count() == 1;
  });
  if (point_.may_pin || are_truths) {
    point_.pinned.insert(unpinned.begin(), unpinned.end());
    return true;
  }
  std::set<std::size_t> steps;
  if (!steps_before(needed, steps)) {
    return false;
  }
  const std::size_t before = point_.early.size();
  steps.insert(point_.early.begin(), point_.early.end());
  if (steps.size() == before) {
    return false;
  }
  point_.early.assign(steps.begin(), steps.end());
  point_.computed_early.clear();
  for (const std::size_t step : point_.early) {
    for (const ValueIndex one : program_.steps_[step].given) {
      if (one != kAbsent) {
        point_.computed_early.push_back(one);
      }
    }
  }
  return true;
}

// Finds the steps that compute these values and the step that needs them. Returns whether all their results are small
// and all their inputs exist when the piece begins.
bool Recording::steps_before(const std::vector<ValueIndex>& needed, std::set<std::size_t>& found) const {
  std::unordered_map<ValueIndex, std::size_t> makers;
  for (std::size_t step = begin_; step < end_; ++step) {
    for (const ValueIndex one : program_.steps_[step].given) {
      makers[one] = step;
    }
  }
  std::vector<ValueIndex> left = needed;
  for (const ValueIndex one : program_.steps_[end_].taken) {
    if (one != kAbsent && makers.contains(one)) {
      left.push_back(one);
    }
  }
  while (!left.empty()) {
    const auto maker = makers.find(left.back());
    left.pop_back();
    if (maker == makers.end() || found.contains(maker->second)) {
      continue;
    }
    const Step& step = program_.steps_[maker->second];
    const bool is_fit =
        step.on_host.empty() && std::all_of(step.given.begin(), step.given.end(), [this](ValueIndex one) {
          return one == kAbsent ||
                 (!values_[static_cast<std::size_t>(one)] ? !is_left_out_[static_cast<std::size_t>(one)]
                                                          : is_small(values_[static_cast<std::size_t>(one)]));
        });
    if (!is_fit) {
      return false;
    }
    found.insert(maker->second);
    for (const ValueIndex one : step.taken) {
      if (one != kAbsent) {
        left.push_back(one);
      }
    }
  }
  found.insert(end_);
  return true;
}

// Notes whether the results of a step are small. Shape arithmetic involves only small values. Values computed from a
// large value are data, and recording a piece for their elements is not worthwhile.
template <class SizeOf>
void Recording::note_origins(const Step& step, const SizeOf& size_of) {
  bool is_noted = false;
  bool are_small = true;
  for (const ValueIndex one : step.taken) {
    if (one != kAbsent && size_[static_cast<std::size_t>(one)] != Size::kUnknown) {
      is_noted = true;
      are_small = are_small && size_[static_cast<std::size_t>(one)] == Size::kSmall;
    }
  }
  if (!is_noted) {
    return;
  }
  for (std::size_t i = 0; i < step.given.size(); ++i) {
    const Size size = step.given[i] == kAbsent ? Size::kUnknown : size_of(i);
    if (size != Size::kUnknown) {
      const auto at = static_cast<std::size_t>(step.given[i]);
      size_[at] = are_small ? size : Size::kLarge;
      maker_[at] = &step;
    }
  }
}

// The values from the start of the piece on which these values depend. Values that depend on a large value are ignored.
std::set<ValueIndex> Recording::origins(const std::vector<ValueIndex>& values) const {
  std::vector<ValueIndex> left;
  for (const ValueIndex one : values) {
    if (size_[static_cast<std::size_t>(one)] == Size::kSmall) {
      left.push_back(one);
    }
  }
  std::unordered_set<ValueIndex> seen(left.begin(), left.end());
  std::set<ValueIndex> found;
  while (!left.empty()) {
    const ValueIndex one = left.back();
    left.pop_back();
    const Step* const maker = maker_[static_cast<std::size_t>(one)];
    if (maker == nullptr) {
      found.insert(one);
      continue;
    }
    for (const ValueIndex input : maker->taken) {
      if (input != kAbsent && size_[static_cast<std::size_t>(input)] != Size::kUnknown && seen.insert(input).second) {
        left.push_back(input);
      }
    }
  }
  return found;
}

// Collects the symbols that are used afterward, except values that are already known and aliases of symbols. Returns
// whether there are any.
bool Recording::collect_results() {
  std::vector<ValueIndex> computed = program_.lives_->computed_between(begin_, end_);
  std::sort(computed.begin(), computed.end(), [this](ValueIndex a, ValueIndex b) {
    return program_.names_[static_cast<std::size_t>(a)] < program_.names_[static_cast<std::size_t>(b)];
  });
  std::unordered_map<const void*, ValueIndex> names;
  for (const ValueIndex one : computed) {
    const auto at = static_cast<std::size_t>(one);
    if (is_given_[at] || !values_[at]) {
      continue;
    }
    const Array& array = values_[at];
    if (!array.is_symbol()) {
      known_.emplace_back(one, array);
      continue;
    }
    const auto [same, is_new] = names.emplace(array.identity(), one);
    if (is_new) {
      outputs_.push_back(one);
      results_.push_back(array);
    } else {
      aliases_.emplace_back(one, same->second);
    }
  }
  return !results_.empty();
}

}  // namespace anydml::onnx
