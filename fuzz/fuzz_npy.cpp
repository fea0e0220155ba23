// SPDX-License-Identifier: MIT
// Fuzzes the .npy reader. An accepted header must be consistent, and must be the same after it is written and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "npy.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace anydml;
  using namespace anydml::dmlrun;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto header = read_npy_header(file, size);
  if (!header) {
    // The error must be a one-line message.
    const std::string& message = header.error().message;
    require(!message.empty() && message.size() < 1024 && message.find('\n') == std::string::npos);
    return 0;
  }
  const NpyHeader& read = header.value();
  require(read.data_offset + read.data_bytes == size);
  require(is_element_type(read.type) && read.data_bytes % element_size(read.type) == 0);
  const std::string result = make_npy_header(read.type, read.shape);
  require(result.size() % 64 == 0);
  const auto again = read_npy_header(result, result.size() + read.data_bytes);
  require(again.ok());
  require(again.value().type == read.type && again.value().shape == read.shape);
  require(again.value().data_offset == result.size() && again.value().data_bytes == read.data_bytes);
  return 0;
}
