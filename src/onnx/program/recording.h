// SPDX-License-Identifier: MIT
// Records the piece of a program that begins at a step, for given types and shapes.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
  [[nodiscard]] std::shared_ptr<Piece> make_piece();
  enum class Taken { kYes, kNo, kAgain };
  [[nodiscard]] Taken take(const Step& step);
  // Repeats the block that begins at the next step. Returns false if no block like it has been recorded.
  [[nodiscard]] bool repeat_block(const Block& block);
  void begin_block(const Block& block);
  void end_block();
  [[nodiscard]] bool make_block_key(const Block& block);
  [[nodiscard]] Arrays perform_or_repeat(const Step& step, std::span<const Array> inputs);
  [[nodiscard]] Array value(ValueIndex index);
  [[nodiscard]] Array begin_value(ValueIndex index);
  [[nodiscard]] std::vector<ValueIndex> asked(const Step& step, std::span<const Array> arrays,
                                              std::uint64_t source) const;
  // Returns whether the piece must be recorded again.
  [[nodiscard]] bool pin_or_hoist(const std::vector<ValueIndex>& needed);
  [[nodiscard]] bool steps_before(const std::vector<ValueIndex>& needed, std::set<std::size_t>& found) const;
  enum class Size : std::uint8_t { kUnknown, kLarge, kSmall };
  // size_of(i): the size of the step's result i; kUnknown if it has none.
  template <class SizeOf>
  void note_origins(const Step& step, const SizeOf& size_of);
  [[nodiscard]] std::set<ValueIndex> origins(const std::vector<ValueIndex>& values) const;
  [[nodiscard]] bool collect_results();

  struct KeptBlock {
    RecordedBlock recorded;
    std::vector<Size> sizes;  // of each result
  };

  Program& program_;
  const std::size_t begin_;
  Point& point_;
  State& state_;
  std::vector<bool> is_given_;
  Recorder recorder_;
  // The steps that were recorded, by their recipes and the keys of their inputs.
  std::unordered_map<std::string, RecordedStep> recorded_;
  // The blocks that were recorded, by their kinds and the keys of the values that they take.
  std::unordered_map<std::string, KeptBlock> blocks_;
  std::unordered_set<std::uint32_t> block_kinds_;    // of `blocks_`
  const Block* block_ = nullptr;                     // the block that is being recorded step by step
  std::vector<const RecordedStep*> steps_of_block_;  // null for a step that cannot be repeated
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
  std::vector<bool> is_left_out_;  // large values inside of repeated blocks, which have no array
};

}  // namespace anydml::onnx
