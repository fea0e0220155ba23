// SPDX-License-Identifier: MIT
#include "onnx/program/program.h"

#include <algorithm>
#include <new>
#include <optional>
#include <unordered_set>
#include <utility>

#include "onnx/program/recording.h"
#include "onnx/program/trace.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kFewSteps = 32;  // running this many steps on the host is faster than compiling a graph
// If the elements of pinned values change more often than this, the steps that need them run on the host.
constexpr std::size_t kMaxElementsSeen = 8;
constexpr std::size_t kMaxSeen = 256;
constexpr std::size_t kMaxTracedNodes = 64;  // the nodes of a graph that an event of a trace lists

std::string with_label(const Step& step, const char* message) {
  const std::string_view text(message);
  return text.substr(0, step.label.size()) == step.label ? std::string(text) : step.label + ": " + message;
}

// Drops steps whose results are unused. Checks have no results and stay.
std::vector<Step> used_steps(std::vector<Step> steps, const std::vector<std::string>& outputs) {
  std::unordered_set<std::string> wanted(outputs.begin(), outputs.end());
  std::vector<bool> stays(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Step& step = steps[i];
    stays[i] = step.outputs.empty() || std::any_of(step.outputs.begin(), step.outputs.end(),
                                                   [&](const std::string& one) { return wanted.contains(one); });
    if (stays[i]) {
      wanted.insert(step.inputs.begin(), step.inputs.end());
    }
  }
  std::vector<Step> kept;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (stays[i]) {
      kept.push_back(std::move(steps[i]));
    }
  }
  return kept;
}

}  // namespace

Arrays perform(const Step& step, std::span<const Array> inputs) {
  Arrays results;
  try {
    results = step.compute(inputs);
  } catch (const Invalid& error) {
    throw Invalid(with_label(step, error.what()));
  } catch (const WrongType& error) {
    throw WrongType(with_label(step, error.what()));
  } catch (const NoMemory& error) {
    throw NoMemory(with_label(step, error.what()));
  } catch (const std::bad_alloc&) {
    throw NoMemory(with_label(step, "there is not enough memory"));
  }
  const std::size_t count = std::min(results.size(), step.kinds.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (step.kinds[i] == Kind::kBool && results[i] && results[i].kind() != Kind::kBool) {
      results[i] = results[i].view_as(Kind::kBool);
    }
    // Later steps read the elements as this type.
    // A sequence of maps is computed as a matrix.
    if (results[i] && step.kinds[i] != Kind::kUndefined && step.kinds[i] != Kind::kSequence &&
        array_kind(step.kinds[i]) != results[i].kind()) {
      throw WrongType(format_text("{}: result {} is {}; expected {}", step.label, i, kind_name(results[i].kind()),
                                  kind_name(step.kinds[i])));
    }
  }
  return results;
}

Program::Program(std::vector<Step> steps, std::vector<std::string> outputs, const Constants& constants,
                 std::vector<std::string> inputs, std::vector<Kind> kinds, bool is_repeated,
                 const ProgramOptions& options)
    : steps_(used_steps(std::move(steps), outputs)),
      inputs_(std::move(inputs)),
      output_names_(std::move(outputs)),
      kinds_(std::move(kinds)),
      is_repeated_(is_repeated),
      options_(options) {
  for (Step& step : steps_) {
    step.taken.clear();
    step.given.clear();
    for (const std::string& name : step.inputs) {
      step.taken.push_back(index_of(name));
    }
    for (const std::string& name : step.outputs) {
      step.given.push_back(index_of(name));
    }
  }
  for (const std::string& name : output_names_) {
    outputs_.push_back(index_of(name));
  }
  forget_single_recipes();
  constants_.resize(names_.size());
  is_constant_.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = constants.find(names_[i]);
    if (found != constants.end()) {
      constants_[i] = found->second;
      is_constant_[i] = true;
    }
  }
  std::vector<Array> all;
  collect_constants(all);
  fixed_ = std::make_unique<FixedArrays>(std::move(all));
  lives_ = std::make_unique<Lives>(steps_, outputs_, is_constant_);
  blocks_ = Blocks(steps_, outputs_, names_.size());
}

// A step without an equal one need not be compared.
void Program::forget_single_recipes() {
  std::unordered_map<std::uint32_t, std::size_t> counts;
  for (const Step& step : steps_) {
    ++counts[step.recipe];
  }
  for (Step& step : steps_) {
    step.recipe = counts[step.recipe] > 1 ? step.recipe : 0;
  }
}

ValueIndex Program::index_of(const std::string& name) {
  if (name.empty()) {
    return kAbsent;
  }
  const auto [found, is_new] = indices_.emplace(name, static_cast<ValueIndex>(names_.size()));
  if (is_new) {
    names_.push_back(name);
  }
  return found->second;
}

// All constants, including those of branches, which are recorded as parts of this program's graphs.
void Program::collect_constants(std::vector<Array>& all) const {
  for (const Array& one : constants_) {
    if (one) {
      all.push_back(one);
    }
  }
  for (const Step& step : steps_) {
    for (const auto& body : step.bodies) {
      body->collect_constants(all);
    }
  }
}

std::vector<std::span<const std::byte>> Program::large_constants() {
  constexpr std::size_t kMinBytes = std::size_t{1} << 16;
  std::vector<std::span<const std::byte>> found;
  if (std::exchange(are_packed_, true)) {
    return found;
  }
  std::vector<Array> all;
  collect_constants(all);
  for (const Array& one : all) {
    if (one.is_packed() && one.bytes() >= kMinBytes) {
      found.emplace_back(static_cast<const std::byte*>(one.data()), one.bytes());
    }
  }
  return found;
}

std::vector<std::string> Program::wanted() const {
  std::vector<std::string> result;
  for (const ValueIndex value : lives_->wanted()) {
    result.push_back(names_[static_cast<std::size_t>(value)]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::pair<std::shared_ptr<Program>, std::shared_ptr<Program>> Program::split(
    const std::vector<std::string>& fixed) const {
  std::unordered_set<std::string> known(fixed.begin(), fixed.end());
  Constants constants;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (is_constant_[i]) {
      known.insert(names_[i]);
      constants.emplace(names_[i], constants_[i]);
    }
  }
  std::vector<Step> first, others;
  for (const Step& step : steps_) {
    const bool follows =
        !step.outputs.empty() && std::all_of(step.inputs.begin(), step.inputs.end(), [&known](const std::string& name) {
          return name.empty() || known.contains(name);
        });
    (follows ? first : others).push_back(step);
    if (follows) {
      known.insert(step.outputs.begin(), step.outputs.end());
    }
  }
  std::unordered_set<std::string> built;
  for (const Step& step : first) {
    built.insert(step.outputs.begin(), step.outputs.end());
  }
  auto rest =
      std::make_shared<Program>(std::move(others), output_names_, constants, inputs_, kinds_, is_repeated_, options_);
  rest->folded = folded;
  rest->keys = keys;
  std::vector<std::string> passed;
  for (const std::string& name : rest->wanted()) {
    if (built.contains(name)) {
      passed.push_back(name);
    }
  }
  auto before = std::make_shared<Program>(std::move(first), passed, constants, std::vector<std::string>(),
                                          std::vector<Kind>(), false, options_);
  return {before, rest};
}

// ---- Running --------------------------------------------------------------------------------------------------------

State Program::state_of(const NamedArrays& given) const {
  State state(names_.size());
  for (const auto& [name, array] : given) {
    const auto found = indices_.find(name);
    if (found != indices_.end()) {
      state.values[static_cast<std::size_t>(found->second)] = array;
    }
  }
  return state;
}

Array Program::value(ValueIndex index, const State& state) const {
  if (index == kAbsent) {
    return {};
  }
  const Array& found = state.values[static_cast<std::size_t>(index)];
  return found ? found : constants_[static_cast<std::size_t>(index)];
}

Arrays Program::inputs_of(const Step& step, const State& state) const {
  Arrays inputs;
  inputs.reserve(step.taken.size());
  for (const ValueIndex one : step.taken) {
    inputs.push_back(value(one, state));
  }
  return inputs;
}

Arrays Program::outputs_of(const State& state) const {
  Arrays results;
  for (const ValueIndex one : outputs_) {
    results.push_back(value(one, state));
  }
  return results;
}

// The memory of the values of a run.
std::vector<Program::UsedMemory> Program::memory_of(const State& state) {
  std::vector<UsedMemory> used;
  for (std::size_t i = 0; i < state.values.size(); ++i) {
    const Array& array = state.values[i];
    if (array && array.kind() != Kind::kString && array.count() != 0) {
      const auto [begin, end] = array.bounds();
      used.push_back({begin, end, static_cast<ValueIndex>(i)});
    }
  }
  return used;
}

// An output may have the memory of an input, as a cache of keys does. The piece may write there if the output replaces
// exactly this input and no later step reads the bytes. Otherwise the output is computed elsewhere and copied at the
// end.
bool Program::may_be_written(const void* memory, std::size_t bytes, std::span<const UsedMemory> used,
                             const State& state, const Piece& piece) const {
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  return std::none_of(used.begin(), used.end(), [&](const UsedMemory& one) {
    if (first >= one.end || one.begin >= first + bytes) {
      return false;
    }
    const Array& array = state.values[static_cast<std::size_t>(one.value)];
    return array.address() != memory || array.bytes() != bytes || !array.is_packed() ||
           lives_->is_needed(one.value, piece.end) || piece.returns(one.value);
  });
}

Arrays Program::run(const NamedArrays& given, const OutputSink& sink) {
  State state = state_of(given);
  const Piece* current = nullptr;
  std::optional<std::vector<UsedMemory>> used;  // before the current piece runs
  if (sink) {
    state.memory = [&](ValueIndex value, Kind kind, const Sizes& shape) -> void* {
      const auto found = std::find(outputs_.begin(), outputs_.end(), value);
      if (found == outputs_.end()) {
        return nullptr;
      }
      void* const memory = sink(static_cast<std::size_t>(found - outputs_.begin()), kind, shape);
      const std::size_t bytes = static_cast<std::size_t>(product(shape)) * item_size(kind);
      if (!used.has_value()) {
        used = memory_of(state);
      }
      return may_be_written(memory, bytes, *used, state, *current) ? memory : nullptr;
    };
  }
  std::size_t step = 0;
  while (step < steps_.size()) {
    const std::size_t begin = step;
    if (!steps_[step].on_host.empty()) {
      run_on_host(step, state);
      ++step;
    } else {
      const std::shared_ptr<Piece> piece = find_piece(step, state);
      current = piece.get();
      used.reset();
      run_piece(*piece, begin, state);
      step = piece->end;
    }
    for (std::size_t position = begin + 1; position <= step; ++position) {
      for (const ValueIndex ended : lives_->ended_at(position)) {
        state.values[static_cast<std::size_t>(ended)] = Array();
      }
    }
  }
  return outputs_of(state);
}

Arrays Program::run_node_by_node(const NamedArrays& given, const Timed& timed) {
  State state = state_of(given);
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    timed(steps_[step], [this, step, &state] { run_on_host(step, state); });
  }
  return outputs_of(state);
}

Arrays Program::trace(const NamedArrays& given) const {
  State state = state_of(given);
  for (const Step& step : steps_) {
    Arrays results = perform(step, inputs_of(step, state));
    for (std::size_t i = 0; i < std::min(results.size(), step.given.size()); ++i) {
      if (step.given[i] != kAbsent) {
        state.values[static_cast<std::size_t>(step.given[i])] = std::move(results[i]);
      }
    }
  }
  return outputs_of(state);
}

// Whether all inputs but the first are constants, which a graph of the step packs.
bool Program::runs_as_graph(const Step& step, const State& state) const {
  const auto is_fixed = [this, &state](ValueIndex one) {
    const auto at = static_cast<std::size_t>(one);
    return one == kAbsent || (is_constant_[at] && !state.values[at]);
  };
  return step.multiplies_codes && !is_fixed(step.taken.front()) &&
         std::all_of(step.taken.begin() + 1, step.taken.end(), is_fixed);
}

void Program::run_on_host(std::size_t index, State& state) const {
  const Step& step = steps_[index];
  TraceEvent event;
  const Arrays inputs = inputs_of(step, state);
  Arrays results = runs_as_graph(step, state) ? step_graphs_.run(step, index, inputs, *fixed_) : perform(step, inputs);
  if (event) {
    event.stop();
    event.add("Node", step.label,
              TraceArguments()
                  .text("op_name", step.op)
                  .number("node_index", index)
                  .forms("input_type_shape", inputs)
                  .forms("output_type_shape", results));
  }
  const bool follows = std::all_of(step.taken.begin(), step.taken.end(), [this, &state](ValueIndex one) {
    return one == kAbsent || state.is_known[static_cast<std::size_t>(one)] ||
           is_constant_[static_cast<std::size_t>(one)];
  });
  for (std::size_t i = 0; i < std::min(results.size(), step.given.size()); ++i) {
    if (step.given[i] != kAbsent) {
      const auto at = static_cast<std::size_t>(step.given[i]);
      state.values[at] = std::move(results[i]);
      state.is_known[at] = state.is_known[at] || follows;
    }
  }
}

void Program::run_piece(const Piece& piece, std::size_t begin, State& state) const {
  TraceEvent event;
  if (!event || !piece.is_graph()) {
    piece.run(state);  // the steps of other pieces are events of their own
    return;
  }
  const auto& graph = static_cast<const PieceOfGraph&>(piece);
  TraceArguments arguments;
  Arrays arrays;
  for (const ValueIndex one : graph.inputs) {
    arrays.push_back(state.values[static_cast<std::size_t>(one)]);
  }
  arguments.text("op_name", "graph").number("first_step", begin).number("last_step", piece.end - 1);
  arguments.forms("input_type_shape", arrays);
  piece.run(state);
  event.stop();
  arrays.clear();
  for (const PieceOfGraph::Output& one : graph.outputs) {
    arrays.push_back(state.values[static_cast<std::size_t>(one.value)]);
  }
  arguments.forms("output_type_shape", arrays);
  std::vector<std::string> nodes;
  for (std::size_t step = begin; step < std::min(piece.end, begin + kMaxTracedNodes); ++step) {
    nodes.push_back(steps_[step].label);
  }
  event.add("Graph", format_text("steps {} to {}", begin, piece.end - 1), arguments.texts("nodes", nodes));
}

void Program::run_early(const Point& point, State& state) const {
  for (const std::size_t step : point.early) {
    run_on_host(step, state);
  }
}

std::shared_ptr<Piece> Program::find_piece(std::size_t step, State& state) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Point>& point = points_[step];
  if (point == nullptr) {
    point = std::make_unique<Point>();
    point->taken = lives_->taken_from(step);
    point->may_pin = !is_repeated_;
  }
  run_early(*point, state);
  const std::string key = point->key(state);
  for (const Point::Kept& one : point->pieces) {
    if (one.key == key) {
      return one.piece;
    }
  }
  note_elements(*point, key, state);
  note_varying(*point, step);
  TraceEvent event;
  std::shared_ptr<Piece> piece = Recording::record(*this, step, *point, state);
  if (event) {
    event.end("Record", format_text("record steps {} to {}", step, piece->end - 1),
              TraceArguments().text("ends", piece->why));
  }
  const std::string new_key = point->key(state);  // more values may be pinned or early now
  std::erase_if(point->pieces, [&new_key](const Point::Kept& one) { return one.key == new_key; });
  point->pieces.push_back({new_key, point->forms(state), piece});
  while (point->pieces.size() > options_.kept_forms) {
    point->pieces.pop_front();
  }
  return piece;
}

// If the elements of pinned values keep changing, pieces are no longer recorded for them.
void Program::note_elements(Point& point, const std::string& key, const State& state) const {
  if (!point.may_pin || point.pinned.empty()) {
    return;
  }
  if (point.seen.size() >= kMaxSeen) {
    point.seen.clear();
    point.forms_seen.clear();
  }
  point.seen.insert(key);
  std::string forms;
  for (const std::string& one : point.forms(state)) {
    forms += one;
  }
  point.forms_seen.insert(forms);
  if (point.seen.size() > kMaxElementsSeen && point.forms_seen.size() * 2 < point.seen.size()) {
    point.may_pin = false;
    point.pinned.clear();
    point.pieces.clear();
  }
}

// If shapes keep changing, as in a loop that grows a tensor, the values with changing shapes are left out of graphs.
// Models with inputs of many sizes are still compiled for each size, as are long sequences of steps whose shapes depend
// on data.
void Program::note_varying(Point& point, std::size_t step) const {
  ++point.built_count;
  if (point.built_count <= static_cast<int>(options_.kept_forms) || point.pieces.size() < options_.kept_forms) {
    return;
  }
  std::size_t furthest = 0;
  for (const Point::Kept& one : point.pieces) {
    furthest = std::max(furthest, one.piece->end);
  }
  if (!is_repeated_ && (step == 0 || furthest - step > kFewSteps)) {
    return;
  }
  const std::vector<ValueIndex> names = point.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::unordered_set<std::string> forms;
    for (const Point::Kept& one : point.pieces) {
      if (i < one.forms.size()) {
        forms.insert(one.forms[i]);
      }
    }
    if (forms.size() > options_.kept_forms / 2) {
      point.varying.insert(names[i]);
    }
  }
  point.pieces.clear();
  point.built_count = 0;
}

std::vector<Program::PieceReport> Program::pieces() const {
  const std::scoped_lock lock(mutex_);
  std::vector<PieceReport> reports;
  for (const auto& [begin, point] : points_) {
    for (const Point::Kept& one : point->pieces) {
      reports.push_back({begin, one.piece->end, one.piece->is_graph(), one.piece->why});
    }
  }
  std::stable_sort(reports.begin(), reports.end(),
                   [](const PieceReport& a, const PieceReport& b) { return a.begin < b.begin; });
  return reports;
}

}  // namespace anydml::onnx
