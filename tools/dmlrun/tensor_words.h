// SPDX-License-Identifier: MIT
// Reads tensors from a command line: float32:2x3:random, or a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anydml::dmlrun {

struct DescribedTensor {
  std::uint32_t type = 0;  // DML_TENSOR_DATA_TYPE
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> strides;  // empty: packed
  std::uint64_t elements = 1;          // in memory
  std::string values;                  // in the syntax of value_words.h; empty if not given
};

// Reads TYPE:SIZES[:VALUES]. The error message is meant to follow the name of an option.
[[nodiscard]] Result<DescribedTensor> parse_tensor(std::string_view text);

// Reads the type and the sizes from a file; the values are the file's path.
[[nodiscard]] Result<DescribedTensor> read_npy_tensor(const std::string& file);

[[nodiscard]] std::string_view tensor_type_name(std::uint32_t type);                             // "FLOAT32"
[[nodiscard]] std::string sizes_text(std::span<const std::uint32_t> sizes);                      // "[2, 3]"
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> sizes);  // nothing if too many

}  // namespace anydml::dmlrun
