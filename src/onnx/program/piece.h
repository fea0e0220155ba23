// SPDX-License-Identifier: MIT
// Pieces of a program that were recorded, and the points at which they begin.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/program/step.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {

class Program;

// The values of a run.
struct State {
  explicit State(std::size_t count) : values(count), is_known(count) {}

  // The value in a form that graphs accept; it is copied if necessary.
  const Array& regular(ValueIndex value);

  std::vector<Array> values;
  std::vector<bool> is_known;  // whether the value depends only on the forms of the inputs
  // Memory for a value that is an output of the program, or null. It has no byte in common with another value that is
  // needed later, but it may be the memory of a value that ends with the current piece.
  std::function<void*(ValueIndex value, Kind kind, const Sizes& shape)> memory;
};

// Steps that run together.
class Piece {
 public:
  Piece(std::size_t end_step, std::string why_it_ends) : end(end_step), why(std::move(why_it_ends)) {}
  virtual ~Piece() = default;
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  virtual void run(State& state) const = 0;
  [[nodiscard]] virtual bool is_graph() const = 0;
  // Whether a result of the piece is this value, or a view of it.
  [[nodiscard]] virtual bool returns(ValueIndex value) const = 0;

  const std::size_t end;  // the step after the last one
  const std::string why;  // why it ends there
};

// Steps compiled as one graph, and values that depend only on the forms.
class PieceOfGraph : public Piece {
 public:
  using Piece::Piece;
  void run(State& state) const override;
  [[nodiscard]] bool is_graph() const override { return true; }
  [[nodiscard]] bool returns(ValueIndex value) const override {
    return std::any_of(aliases.begin(), aliases.end(), [value](const auto& one) { return one.second == value; });
  }

  struct Output {
    ValueIndex value;
    Kind kind;
    Sizes shape;
    bool stays_on_device = false;  // whether other graphs use it
    bool keeps_elements = false;   // a run may write only a part of it
  };
  const anydml_device* device = nullptr;  // a device with memory of its own, otherwise null
  CompiledGraph compiled;                 // null if everything is known
  std::vector<ValueIndex> inputs;
  std::vector<Output> outputs;
  std::vector<std::pair<ValueIndex, ValueIndex>> aliases;  // a value and the value that it equals
  std::vector<std::pair<ValueIndex, Array>> known;
};

// Steps that run one by one.
class PieceOnHost : public Piece {
 public:
  PieceOnHost(const Program& program, std::size_t begin, std::size_t end_step, std::string why_it_ends)
      : Piece(end_step, std::move(why_it_ends)), program_(program), begin_(begin) {}
  void run(State& state) const override;
  [[nodiscard]] bool is_graph() const override { return false; }
  [[nodiscard]] bool returns(ValueIndex) const override { return true; }  // its results may be views

 private:
  const Program& program_;
  std::size_t begin_;
};

// A step at which pieces begin.
struct Point {
  std::vector<ValueIndex> taken;  // values computed earlier that a piece beginning here may use
  std::set<ValueIndex> pinned;    // values in `taken` whose elements a piece is recorded for
  bool may_pin = true;
  std::unordered_set<std::string> seen;        // the keys of runs with pinned elements
  std::unordered_set<std::string> forms_seen;  // the same without elements
  std::vector<std::size_t> early;  // small host steps that run before the piece, since other steps need their elements
  std::vector<ValueIndex> computed_early;  // the results of these steps
  std::set<ValueIndex> varying;            // values whose shapes keep changing: steps that use them run on the host
  struct Kept {
    std::string key;
    std::vector<std::string> forms;  // the type and shape of each of `names()`
    std::shared_ptr<Piece> piece;
  };
  std::list<Kept> pieces;  // the oldest first
  int built_count = 0;

  // The values that determine which piece runs.
  [[nodiscard]] std::vector<ValueIndex> names() const;
  [[nodiscard]] bool is_pinned(ValueIndex value, const State& state) const;
  // The forms of these values, with the elements of the pinned ones.
  [[nodiscard]] std::string key(State& state) const;
  // The types and shapes of these values.
  [[nodiscard]] std::vector<std::string> forms(const State& state) const;
};

[[nodiscard]] bool is_small(const Array& value);
// Whether a value looks like a number, a list of sizes or similar, rather than data.
[[nodiscard]] bool may_be_pinned(const Array& value);

inline constexpr std::size_t kMaxPieces = 16;  // forms for which a piece stays compiled, unless options say otherwise

}  // namespace anydml::onnx
