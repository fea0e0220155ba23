// SPDX-License-Identifier: MIT
// What the rest of the plugin knows of kernels: a step is prepared once and launched often. Nothing here waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ops/rows.h"
#include "plan/plan.h"

namespace anydml::cuda {

// An index divided by a size that is known beforehand.
struct FastDivisor {
  std::uint32_t divisor;
  std::uint32_t multiplier;
  std::uint32_t shift;
};

// Which family of kernels a step runs in where its addresses allow it; the next is "strided", which always can.
enum class KernelShape : std::uint8_t {
  vector,      // rows that are contiguous, or stay at one element, 16 bytes at a time
  transposed,  // tiles through shared memory: an input is contiguous along the second innermost loop
  strided,     // element by element
};

// A step with everything a launch needs but the addresses. Plain data.
struct PreparedStep {
  DataType type;      // of all operands unless it is typed; of a copy an unsigned type of the same size
  KernelShape shape;  // tests may ask for a lesser one
  bool tuned;         // one of the two modulus operators; tests may clear it
  bool typed;         // of a row whose operands differ in type
  std::uint8_t element_sizes[kMaxOperands];
  std::uint8_t instruction_count;
  std::uint8_t inner_broadcast;      // bit i: operand i stays along the innermost loop
  std::uint8_t crossed;              // bit i: operand i is contiguous along the second innermost loop
  std::uint8_t vector_strides_low;   // all outer strides of the operands that vectors read or write, or'ed
  std::uint8_t element_strides_low;  // all strides of all operands, or'ed
  std::uint32_t operands;            // inputs first, the output last
  std::uint32_t rank;
  std::uint32_t count;
  std::uint32_t vectors;       // of all rows
  FastDivisor vectors_of_row;  // what is left of the last one counts as one
  FastDivisor tiles[2];        // along the innermost and the second innermost loop
  std::uint32_t tile_count;
  FastDivisor sizes[kMaxRank];  // outermost first
  std::int64_t strides[kMaxRank][kMaxOperands];
  std::int64_t offsets[kMaxOperands];
  Instruction program[kMaxInstructions];
};

// False: the step asks for a type that one of its rows is not defined for.
[[nodiscard]] bool prepare(const Step& step, PreparedStep& prepared) noexcept;

// bases: for each operand of the step's nest, where its slot is. At any alignment; the output may be one of the inputs.
[[nodiscard]] cudaError_t launch(const PreparedStep& prepared, std::byte* const* bases, cudaStream_t stream) noexcept;

// What it would run for addresses that are aligned: "vector", "strided", "transposed".
[[nodiscard]] const char* kernel_name(const PreparedStep& prepared) noexcept;

// A step over few elements, to be run together with others in one launch.
struct SmallTask {
  std::uint16_t row;             // RowId
  std::uint8_t type;             // DataType
  std::uint8_t broadcast : 4;    // bit i: input i stays at its first element
  std::uint8_t begins_wave : 1;  // it must see what the tasks before it wrote, or write what they read
  std::uint32_t count;
  std::byte* operands[4];  // inputs first; the output is operands[3]
};
static_assert(sizeof(SmallTask) == 40);
inline constexpr std::uint32_t kMaxSmallTasks = 200;      // in one launch: they are a kernel's parameter
inline constexpr std::uint32_t kMaxSmallElements = 4096;  // of one task

// False: it is none. begins_wave is left to the caller.
[[nodiscard]] bool make_small_task(const PreparedStep& prepared, std::byte* const* bases, SmallTask& task) noexcept;
// All at once, a block for each: none may depend on another.
[[nodiscard]] cudaError_t launch_at_once(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;
// In one block, wave after wave.
[[nodiscard]] cudaError_t launch_in_waves(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;

// pattern_bytes: 4 or 16. `to` is a multiple of 4.
[[nodiscard]] cudaError_t launch_fill(void* to, std::uint64_t bytes, const std::uint32_t* pattern,
                                      std::uint32_t pattern_bytes, cudaStream_t stream) noexcept;
// Between places that the device reaches, which do not overlap.
[[nodiscard]] cudaError_t launch_copy(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) noexcept;
// The device's clock in nanoseconds, into memory that the device can write.
[[nodiscard]] cudaError_t launch_timestamp(std::uint64_t* ticks, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
