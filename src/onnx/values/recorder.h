// SPDX-License-Identifier: MIT
// A graph under construction, and the arrays that it does not need to copy.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/values/array.h"
#include "onnx/values/call.h"
#include "onnx/values/dispatch.h"
#include "onnx/values/replay.h"

namespace anydml::onnx {

struct ReleaseGraph {
  void operator()(anydml_graph* graph) const { anydml_graph_release(graph); }
};
struct ReleaseCompiled {
  void operator()(anydml_compiled* compiled) const { anydml_compiled_release(compiled); }
};
using CompiledGraph = std::unique_ptr<anydml_compiled, ReleaseCompiled>;

// Raises the error of a failed call of the C API; returns if the status is ANYDML_OK.
void check_status(int status);

// Arrays that do not change as long as this object exists: the constants of a model. All graphs share them, also graphs
// of different models, if these arrays are at the same addresses, as two models' parts of one mapped file are.
class FixedArrays {
 public:
  explicit FixedArrays(std::vector<Array> arrays);

  // Whether an array is one of these arrays, or a part of one that a graph can read.
  [[nodiscard]] bool contains(const Array& array) const;
  [[nodiscard]] anydml_constants* constants() const { return constants_; }

 private:
  std::vector<Array> arrays_;  // keeps the memory alive
  std::unordered_set<const void*> identities_;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges_;  // sorted and disjoint
  anydml_constants* constants_;
};

// How recorded graphs are compiled.
struct GraphOptions {
  const anydml_device* device = nullptr;  // null: the default
  bool allows_half = false;               // whether products of float16 may have other bits, on devices that add so
  bool has_integer_activations = false;   // whether all products with weights in codes of four bits round activations
};

class Recorder {
 public:
  explicit Recorder(const FixedArrays& fixed);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The next input of the graph: a symbol with the form of this array.
  [[nodiscard]] Array input(const Array& like);
  // While an object of this class exists, products with weights in codes of four bits are recorded with activations in
  // codes of eight bits.
  class IntegerActivations {
   public:
    explicit IntegerActivations(Recorder& recorder) : recorder_(recorder) { recorder.integer_activations_ = true; }
    ~IntegerActivations() { recorder_.integer_activations_ = false; }
    IntegerActivations(const IntegerActivations&) = delete;
    IntegerActivations& operator=(const IntegerActivations&) = delete;

   private:
    Recorder& recorder_;
  };
  // A symbol for a constant, so that values computed from it become part of the graph.
  [[nodiscard]] Array known(const Array& array);
  // Records an operator.
  [[nodiscard]] Arrays add(const char* op, const Arrays& inputs, const Options& options, const std::vector<Out>& outs);
  // Makes a symbol the next output, in packed form.
  void output(const Array& symbol);
  // Compiles the graph for a device; null: the default.
  [[nodiscard]] CompiledGraph compile(const GraphOptions& options) const;

  // ---- Repeated steps (replay.cpp) ----
  // Notes which operators are added until end_trace, which must follow on the same thread, or cancel_trace.
  void begin_trace();
  void cancel_trace();
  // The step that was traced, or nothing if it cannot be repeated.
  [[nodiscard]] std::optional<RecordedStep> end_trace(std::span<const Array> inputs, const Arrays& results);
  // Adds the operators of a step once more, and returns its results. The key of the inputs (append_key) is the same.
  [[nodiscard]] Arrays repeat(const RecordedStep& step, std::span<const Array> inputs);
  // The same in two parts: the operators, and then some of the results.
  void repeat_operators(const RecordedStep& step, std::span<const Array> inputs);
  [[nodiscard]] Array repeated_result(const RecordedStep::Result& result, std::span<const Array> inputs) const;
  // A part of another array: with the layout of `part`, at an offset in bytes.
  [[nodiscard]] static Array part_of(const Array& part, const Array& whole, std::int64_t offset);

  // The value of a symbol in the graph.
  [[nodiscard]] static std::uint64_t value_of(const Array& symbol);
  // The recorder of a symbol.
  [[nodiscard]] static Recorder* of(const Array& symbol);
  // The value that a symbol is a view of, or 0 for an array.
  [[nodiscard]] static std::uint64_t source_of(const Array& array);
  // The position of the element at index 0, in bytes: in the value that a symbol is a view of, or in memory.
  [[nodiscard]] static std::int64_t offset_of(const Array& array);
  // Views of arrays and symbols (halves.h).
  [[nodiscard]] static Array halves_of_bytes(const Array& bytes, Sizes shape, Sizes strides);
  [[nodiscard]] static Array bytes_of_halves(const Array& halves);

 private:
  [[nodiscard]] Array symbol(Kind kind, Sizes shape, Sizes strides, std::uint64_t source);
  [[nodiscard]] std::uint64_t constant(const Array& array);

  // The forms of an operator's outputs. They are inferred once for each description: a network repeats its layers.
  [[nodiscard]] const std::vector<OutputForm>& forms(const char* op, const Call& call, const Arrays& inputs,
                                                     const Options& options, const std::vector<Out>& outs);

  struct Trace {
    struct Operator {
      anydml_value like;
      Arrays inputs;
      std::vector<anydml_value> created;
    };
    ElementReads reads;
    std::vector<Operator> operators;
    bool is_repeatable = true;

    [[nodiscard]] std::optional<Origin> origin_of(const Array& array, std::span<const Array> inputs) const;
  };
  void note_operator(const Arrays& inputs, const std::vector<anydml_value>& created);

  const FixedArrays& fixed_;
  std::unordered_map<std::string, std::vector<OutputForm>> forms_;
  std::string key_;
  std::vector<OutputForm> last_forms_;  // of a description without a key
  std::unique_ptr<anydml_graph, ReleaseGraph> graph_;
  bool integer_activations_ = false;  // of the next operator
  bool has_flags_ = false;            // whether the graph has that flag now
  struct Constant {
    Array array;
    std::uint64_t value;
  };
  std::unordered_multimap<const void*, Constant> constants_;  // by their addresses
  std::vector<Array> kept_;                                   // arrays that must live until the graph is compiled
  std::unique_ptr<Trace> trace_;
  // Memory for `repeat`.
  std::vector<anydml_value> operands_;
  std::vector<std::int64_t> offsets_;
  std::vector<anydml_value> repeated_;
  std::vector<std::size_t> firsts_;  // for each operator that is repeated, the index of its first output
};

}  // namespace anydml::onnx
