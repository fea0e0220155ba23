// SPDX-License-Identifier: MIT
// Records the piece of a program that begins at a step, for given types and shapes.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/program/program.h"

namespace anydml::onnx {

// One attempt to record a piece. If it turns out to need the elements of more values, another attempt follows.
class Recording {
 public:
  // Returns the piece. May add to the point's pinned values and early steps.
  [[nodiscard]] static std::shared_ptr<Piece> record(Program& program, std::size_t begin, Point& point, State& state);

 private:
  Recording(Program& program, std::size_t begin, Point& point, State& state);

  enum class Outcome { kRecorded, kNothing, kAllKnown, kAgain };
  [[nodiscard]] Outcome follow();
  enum class Taken { kYes, kNo, kAgain };
  [[nodiscard]] Taken take(const Step& step);
  [[nodiscard]] Arrays perform_or_repeat(const Step& step, std::span<const Array> inputs);
  [[nodiscard]] Array value(ValueIndex index);
  [[nodiscard]] Array begin_value(ValueIndex index);
  [[nodiscard]] std::vector<ValueIndex> asked(const Step& step, std::span<const Array> arrays,
                                              std::uint64_t source) const;
  // Returns whether the piece must be recorded again.
  [[nodiscard]] bool pin_or_hoist(const std::vector<ValueIndex>& needed);
  [[nodiscard]] bool steps_before(const std::vector<ValueIndex>& needed, std::set<std::size_t>& found) const;
  void note_origins(const Step& step);
  [[nodiscard]] std::set<ValueIndex> origins(const std::vector<ValueIndex>& values) const;
  [[nodiscard]] bool collect_results();

  enum class Size : std::uint8_t { kUnknown, kLarge, kSmall };

  Program& program_;
  const std::size_t begin_;
  Point& point_;
  State& state_;
  std::vector<bool> is_given_;
  Recorder recorder_;
  // The steps that were recorded, by their recipes and the keys of their inputs.
  std::unordered_map<std::string, RecordedStep> recorded_;
  std::string key_;
  Arrays arrays_;  // the inputs of the step that is being recorded
  std::vector<Array> values_;
  std::size_t end_;
  std::string why_;
  std::vector<ValueIndex> inputs_;
  std::vector<Array> results_;  // symbols
  std::vector<ValueIndex> outputs_;
  std::vector<std::pair<ValueIndex, ValueIndex>> aliases_;
  std::vector<std::pair<ValueIndex, Array>> known_;
  // For each symbol, whether it and every value of the piece that it depends on are small.
  std::vector<Size> size_;
  std::vector<const Step*> maker_;
};

}  // namespace anydml::onnx
