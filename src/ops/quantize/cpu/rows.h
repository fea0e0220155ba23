// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE kernels for each CPU target. Elements pass through buffers in the L1 cache, one chunk at a
// time: codes are unpacked to 16 bits, FLOAT16 is widened, and results are packed again. Each stage is a plain loop
// that the compiler vectorizes, and memory is read and written once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/quantize/step.h"

namespace anydml {

// The number of elements in a chunk. It is even, so that no two chunks share a byte of an output with four-bit
// elements.
inline constexpr std::int64_t kQuantizeChunk = 1024;
static_assert(kQuantizeChunk % 2 == 0);
// Two FLOAT32 buffers, for numbers and scales, and two 16-bit buffers, for codes and zero points.
inline constexpr std::size_t kQuantizeScratch = kQuantizeChunk * (2 * sizeof(float) + 2 * sizeof(std::int16_t));

// Processes the elements [first, end), where first is a multiple of kQuantizeChunk. operands: indexed by
// QuantizeOperand.
using QuantizeRun = void (*)(const QuantizeStep& step, std::int64_t first, std::int64_t end, std::byte* const* operands,
                             std::byte* scratch) noexcept;

[[nodiscard]] QuantizeRun find_quantize_run(cpu::Target target);
[[nodiscard]] QuantizeRun generic_quantize_run();  // portable

}  // namespace anydml
