// SPDX-License-Identifier: MIT
#include "capi/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capi/arguments.h"
#include "text/format.h"

namespace anydml {
namespace {

// The smallest valid size, from the first version with options, and the largest size that any version will have. A
// number outside this range means that the size was not set.
constexpr std::size_t kFirstSize = offsetof(anydml_options, constant_count) + sizeof(std::size_t);
constexpr std::size_t kMaxBytes = 4096;

}  // namespace

Result<anydml_options> read_options(const char* function, const anydml_options* given) {
  anydml_options options = ANYDML_OPTIONS_INIT;
  if (given == nullptr) {
    return options;
  }
  const std::size_t size = given->size;
  if (size < kFirstSize || size > kMaxBytes) {
    return bad_call(function, format_text("options.size is {}; expected sizeof(anydml_options), which is {}", size,
                                          sizeof(anydml_options)));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  const auto* newer = std::find_if(bytes + std::min(size, sizeof(options)), bytes + size,
                                   [](std::byte byte) { return byte != std::byte{0}; });
  if (newer != bytes + size) {
    return Error{ErrorKind::unsupported,
                 format_text("{}: options has a member at byte {} that is set; this version of the library knows {} "
                             "bytes of options",
                             function, newer - bytes, sizeof(options))};
  }
  std::memcpy(&options, given, std::min(size, sizeof(options)));
  options.size = sizeof(options);
  if ((options.flags & ~std::uint64_t{ANYDML_ALLOW_HALF_PRECISION | ANYDML_INTEGER_ACTIVATIONS}) != 0) {
    return bad_call(function,
                    format_text("options.flags is {:#x}; expected 0, or ANYDML_ALLOW_HALF_PRECISION ({:#x}) and "
                                "ANYDML_INTEGER_ACTIVATIONS ({:#x}), combined",
                                options.flags, ANYDML_ALLOW_HALF_PRECISION, ANYDML_INTEGER_ACTIVATIONS));
  }
  return options;
}

CompileOptions compile_options(const anydml_options& options) {
  return {.allow_half = (options.flags & ANYDML_ALLOW_HALF_PRECISION) != 0,
          .integer_activations = (options.flags & ANYDML_INTEGER_ACTIVATIONS) != 0};
}

}  // namespace anydml
