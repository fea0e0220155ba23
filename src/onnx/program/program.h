// SPDX-License-Identifier: MIT
// Runs the steps of a model: in pieces that are compiled graphs, with steps on the host between them.
//
// A piece begins at a step, and is recorded for the types and shapes that the values have there. It continues until a
// step needs the elements of a value: for a shape, a condition or a number of iterations. If these elements depend only
// on small values that exist when the piece begins, the piece is recorded for exactly these elements. Shape arithmetic
// then costs nothing at run time. Otherwise the piece ends there. A step that cannot be part of a graph runs on the
// host, and the next piece begins after it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/program/blocks.h"
#include "onnx/program/lives.h"
#include "onnx/program/piece.h"
#include "onnx/program/step.h"
#include "onnx/program/step_graphs.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {

using Constants = std::unordered_map<std::string, Array>;

// Values by name.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

// Returns memory for an output of the program once its form is known, or null if the program allocates it.
using OutputSink = std::function<void*(std::size_t output, Kind kind, const Sizes& shape)>;

// How the pieces of a program are compiled and kept.
struct ProgramOptions {
  GraphOptions graphs;                  // steps outside of graphs run on the CPU
  std::size_t kept_forms = kMaxPieces;  // the number of forms for which a piece stays compiled
};

class Program {
 public:
  // is_repeated: whether it is the body of a loop, so that inputs that are numbers differ each time.
  Program(std::vector<Step> steps, std::vector<std::string> outputs, const Constants& constants,
          std::vector<std::string> inputs, std::vector<Kind> kinds, bool is_repeated, const ProgramOptions& options);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Returns the outputs. Values that the program does not use are ignored.
  [[nodiscard]] Arrays run(const NamedArrays& given, const OutputSink& sink = nullptr);
  // Computes the outputs without a graph of several steps; `timed` runs a step and may measure it.
  using Timed = std::function<void(const Step& step, const std::function<void()>& run)>;
  [[nodiscard]] Arrays run_node_by_node(const NamedArrays& given, const Timed& timed);
  // Returns the outputs if some of the values are symbols of a graph that is being recorded.
  [[nodiscard]] Arrays trace(const NamedArrays& given) const;

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::string>& outputs() const { return output_names_; }
  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }  // of the outputs
  // The names of the values that a run needs, sorted.
  [[nodiscard]] std::vector<std::string> wanted() const;
  // The nodes that were computed once as constants.
  std::vector<std::string> folded;
  // For each output that is a sequence of maps, the keys of the maps; absent for others.
  Arrays keys;
  // The patterns of quantized nodes that compute with integers, in their order.
  std::vector<std::string> patterns;

  // Splits into two programs: the steps that depend only on these values, and the remaining steps, which use their
  // results.
  [[nodiscard]] std::pair<std::shared_ptr<Program>, std::shared_ptr<Program>> split(
      const std::vector<std::string>& fixed) const;

  // Describes a compiled piece in reports.
  struct PieceReport {
    std::size_t begin = 0, end = 0;
    bool is_graph = false;
    std::string why;  // why it ends
  };
  [[nodiscard]] std::vector<PieceReport> pieces() const;

 private:
  friend class Recording;
  friend class PieceOnHost;

  [[nodiscard]] ValueIndex index_of(const std::string& name);
  void forget_single_recipes();
  void collect_constants(std::vector<Array>& all) const;
  // The bytes of the large constants that no graph has packed yet; empty after the first call.
  [[nodiscard]] std::vector<std::span<const std::byte>> large_constants();
  [[nodiscard]] State state_of(const NamedArrays& given) const;
  // The addresses of a value's first byte and of the byte after its last one.
  struct UsedMemory {
    std::uintptr_t begin;
    std::uintptr_t end;
    ValueIndex value;
  };
  [[nodiscard]] static std::vector<UsedMemory> memory_of(const State& state);
  // Whether a piece may write an output to this memory while it runs. used: from memory_of.
  [[nodiscard]] bool may_be_written(const void* memory, std::size_t bytes, std::span<const UsedMemory> used,
                                    const State& state, const Piece& piece) const;
  [[nodiscard]] Array value(ValueIndex index, const State& state) const;
  [[nodiscard]] Arrays inputs_of(const Step& step, const State& state) const;
  void run_on_host(std::size_t step, State& state) const;
  [[nodiscard]] bool runs_as_graph(const Step& step, const State& state) const;
  void run_piece(const Piece& piece, std::size_t begin, State& state) const;
  [[nodiscard]] std::shared_ptr<Piece> find_piece(std::size_t step, State& state);
  void run_early(const Point& point, State& state) const;
  void note_elements(Point& point, const std::string& key, const State& state) const;
  void note_varying(Point& point, std::size_t step) const;
  [[nodiscard]] Arrays outputs_of(const State& state) const;

  std::vector<Step> steps_;
  std::vector<std::string> inputs_;
  std::vector<std::string> output_names_;
  std::vector<Kind> kinds_;
  bool is_repeated_;
  const ProgramOptions options_;
  std::unordered_map<std::string, ValueIndex> indices_;
  std::vector<std::string> names_;
  std::vector<ValueIndex> outputs_;
  std::vector<Array> constants_;  // by value; absent for others
  std::vector<bool> is_constant_;
  std::unique_ptr<FixedArrays> fixed_;
  std::unique_ptr<Lives> lives_;
  Blocks blocks_;
  mutable StepGraphs step_graphs_;
  bool are_packed_ = false;             // whether a graph was compiled; guarded by mutex_
  mutable std::recursive_mutex mutex_;  // several threads may run a model at the same time
  std::unordered_map<std::size_t, std::unique_ptr<Point>> points_;
};

}  // namespace anydml::onnx
