// SPDX-License-Identifier: MIT
// What DirectML's documents ask of an operator's tensors at a feature level, held against tensors as they were given:
// every rule that is broken, for any of the 177 operators, built here or not. Strides of outputs that put two elements
// at one place, and what attributes may be, are not judged here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facts/facts.h"
#include "schema/described.h"

namespace anydml::schema {

// A DML_TENSOR_DESC with its DML_BUFFER_TENSOR_DESC: nothing about it can be relied on but that sizes and strides,
// where not null, hold `rank` numbers if that is kMaxRank at most.
struct FlatTensor {
  std::size_t field = 0;  // of the operator; an array has several tensors of one field
  std::uint32_t tensor_type = kBufferTensor;
  bool has_desc = true;    // false: its Desc is null, and nothing below means anything
  std::uint32_t type = 0;  // DML_TENSOR_DATA_TYPE
  std::uint32_t flags = 0;
  std::uint32_t rank = 0;
  const std::uint32_t* sizes = nullptr;
  const std::uint32_t* strides = nullptr;  // in elements; null: packed
  std::uint64_t total_bytes = 0;
  std::uint32_t alignment = 0;
};

// For each tensor its position among the inputs or the outputs of the operator, where bindings and kernels look for it.
// An optional tensor that is absent keeps its position; an array takes as many as it has.
[[nodiscard]] std::vector<std::size_t> positions_of(const facts::Operator& op, std::span<const FlatTensor> tensors);

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Which tensor of an operator is meant.
struct Place {
  std::size_t field = kNone;  // kNone: the operator as a whole
  std::size_t index = kNone;  // in an array; kNone: the array as a whole, or no array

  bool operator==(const Place&) const = default;
};

// "ATensor", "InputTensors[1]", or nothing for the operator as a whole.
[[nodiscard]] std::string place_name(const facts::Operator& op, Place place);

struct Violation {
  Place place;
  std::string reason;  // a sentence that does not say where
};

// An operator younger than the level.
[[nodiscard]] std::optional<Violation> check_level(const facts::Operator& op, facts::FeatureLevel level);

struct TensorType {
  Place place;
  std::uint32_t type = 0;
};

// Types that differ where the facts want them the same: each tensor once, against the first of its group.
[[nodiscard]] std::vector<Violation> check_same_types(const facts::Operator& op, std::span<const TensorType> tensors);

// Everything, for the tensors that are not null, in the order of their fields. First the level, then each tensor by
// itself in their order, then what concerns them together: CreateOperator answers with the first. What only follows
// from a violation already listed is left out.
[[nodiscard]] std::vector<Violation> check_operator(const facts::Operator& op, facts::FeatureLevel level,
                                                    std::span<const FlatTensor> tensors);

}  // namespace anydml::schema
