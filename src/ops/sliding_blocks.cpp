// SPDX-License-Identifier: MIT
#include "ops/sliding_blocks.h"

#include <string_view>

#include "ops/arguments.h"
#include "text/format.h"

namespace anydml {
namespace {

std::int64_t integer_of(const OpDesc& desc, std::string_view field, std::uint32_t dimension) {
  return find_argument(desc, field)->numbers[dimension].as<i64>();
}

}  // namespace

SlidingBlocks sliding_blocks_of(const OpDesc& desc, const OpTensor& spatial) {
  SlidingBlocks result{.rank = spatial.tensor.rank - 2, .dimensions = {}};
  for (std::uint32_t i = 0; i < result.rank; ++i) {
    SlidingDimension& dimension = result.dimensions[i];
    dimension = {.size = spatial.tensor.sizes[i + 2],
                 .window = integer_of(desc, "WindowSizes", i),
                 .stride = integer_of(desc, "Strides", i),
                 .dilation = integer_of(desc, "Dilations", i),
                 .start = integer_of(desc, "StartPadding", i),
                 .end = integer_of(desc, "EndPadding", i),
                 .blocks = 0};
    const std::int64_t extent = dimension.dilation * (dimension.window - 1) + 1;
    dimension.blocks = (dimension.size + dimension.start + dimension.end - extent) / dimension.stride + 1;
  }
  return result;
}

// The documented rules do not compare the types of the two tensors. They compute the number of blocks with a division,
// so they also accept a window that is larger than the padded size.
Status check_sliding_blocks(const OpDesc& desc, const OpTensor& spatial) {
  const OpTensor& input = desc.tensors[0];
  const OpTensor& output = desc.output();
  if (input.tensor.type != output.tensor.type) {
    return invalid(desc, output,
                   format_text("has the type {}; expected {}, that of {}", type_name(output.tensor.type),
                               type_name(input.tensor.type), input.name));
  }
  if (spatial.tensor.rank < 3) {
    return invalid(desc, spatial, format_text("has {} dimensions; expected 3 or more", spatial.tensor.rank));
  }
  for (std::uint32_t i = 0; i + 2 < spatial.tensor.rank; ++i) {
    for (const std::string_view field : {"WindowSizes", "Strides", "Dilations"}) {
      if (integer_of(desc, field, i) < 1) {
        return invalid({desc.op->name, field}, format_text("{}[{}] is 0; expected 1 or more", field, i));
      }
    }
    const std::int64_t extent = integer_of(desc, "Dilations", i) * (integer_of(desc, "WindowSizes", i) - 1) + 1;
    const std::int64_t padded =
        spatial.tensor.sizes[i + 2] + integer_of(desc, "StartPadding", i) + integer_of(desc, "EndPadding", i);
    if (extent > padded) {
      return invalid(
          {desc.op->name, "WindowSizes"},
          format_text("the window covers {} elements of dimension {} of {}; expected at most {}, the padded size",
                      extent, i + 2, spatial.name, padded));
    }
  }
  return {};
}

}  // namespace anydml
