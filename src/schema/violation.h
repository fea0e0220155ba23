// SPDX-License-Identifier: MIT
// A violation of a rule by a described operator: its location and a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "facts/facts.h"

namespace anydml::schema {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A part of a field that a message can name.
enum class Part : std::uint8_t {
  whole,
  sizes,            // of a tensor
  dimension_count,  // of a tensor
  data_type,        // of a tensor
  flags,            // of a tensor
  first,            // of a pair: Width, Scale
  second,           // of a pair: Height, Bias
};

// A field of an operator, or part of a field.
struct Location {
  std::size_t field = kNone;  // kNone for the operator as a whole
  std::size_t index = kNone;  // index into an array; kNone for the whole array, or if the field is not an array
  Part part = Part::whole;
  std::size_t part_index = kNone;  // for sizes: the dimension

  bool operator==(const Location&) const = default;
};

// The location as text: "ATensor", "InputTensors[1]", "Axes[2]", "OutputTensor.Sizes[0]", "ScaleSize.Height", or an
// empty string for the operator as a whole.
[[nodiscard]] std::string location_name(const facts::Operator& op, Location location);

struct Violation {
  Location location;
  std::string reason;  // a message without the location
};

// The message with the location: "Axis is 4; expected ...", "ATensor: DimensionCount is 2; expected ...".
[[nodiscard]] std::string sentence(const facts::Operator& op, const Violation& violation);

}  // namespace anydml::schema
