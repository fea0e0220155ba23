// SPDX-License-Identifier: MIT
// Reads and writes the headers of NumPy's .npy files: versions 1 to 3, little endian, C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/element.h"
#include "base/result.h"

namespace anydml::dmlrun {

struct NpyHeader {
  DataType type = DataType::unknown;
  std::vector<std::uint64_t> shape;  // empty for a single element
  std::uint64_t data_offset = 0;
  std::uint64_t data_bytes = 0;  // the total bytes of all elements
};

inline constexpr std::size_t kMaxNpyDimensions = 32;  // NumPy's own limit

// The number of bytes at the start of a file that always contain an acceptable header.
inline constexpr std::size_t kNpyHeaderLimit = 65536;

// Reads the header from the start of a file with file_bytes bytes, given as the whole file or its first kNpyHeaderLimit
// bytes. The file must contain exactly the elements that its header describes. The error message is meant to follow the
// file's name: "holds 10 bytes of data; expected 24, 6 elements of FLOAT32". accepts_bool: read bool as UINT8, which is
// an error otherwise.
[[nodiscard]] Result<NpyHeader> read_npy_header(std::string_view start, std::uint64_t file_bytes,
                                                bool accepts_bool = false);

// Creates a version 1 header like NumPy's, padded so that the elements start at a multiple of 64. The shape may have at
// most 32 sizes.
[[nodiscard]] std::string make_npy_header(DataType type, std::span<const std::uint64_t> shape);

// Whether a path ends in .npy or .NPY.
[[nodiscard]] bool has_npy_extension(std::string_view path);

}  // namespace anydml::dmlrun
