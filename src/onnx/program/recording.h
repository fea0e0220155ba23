// SPDX-License-Identifier: MIT
// Records the piece of a program that begins at a step, for values of certain forms.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "onnx/program/program.h"

namespace anydml::onnx {

// One attempt to record a piece. An attempt may find that it needs the elements of more values; then it is repeated.
class Recording {
 public:
  // Returns the piece. The point's pinned and early values may change.
  [[nodiscard]] static std::shared_ptr<Piece> record(Program& program, std::size_t begin, Point& point, State& state);

 private:
  Recording(Program& program, std::size_t begin, Point& point, State& state);

  enum class Outcome { kRecorded, kNothing, kAllKnown, kAgain };
  [[nodiscard]] Outcome follow();
  enum class Taken { kYes, kNo, kAgain };
  [[nodiscard]] Taken take(const Step& step);
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
  std::vector<Array> values_;
  std::size_t end_;
  std::string why_;
  std::vector<ValueIndex> inputs_;
  std::vector<Array> results_;  // symbols
  std::vector<ValueIndex> outputs_;
  std::vector<std::pair<ValueIndex, ValueIndex>> aliases_;
  std::vector<std::pair<ValueIndex, Array>> known_;
  // For each symbol, whether it and all values of the piece that it is computed from are small.
  std::vector<Size> size_;
  std::vector<const Step*> maker_;
};

}  // namespace anydml::onnx
