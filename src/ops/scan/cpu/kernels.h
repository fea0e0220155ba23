// SPDX-License-Identifier: MIT
// Chains of additions or multiplications, several at a time, compiled once for each target. Kernels use packed numbers,
// at any alignment, of the type in which chains are computed (scan_t); `load` and `store` convert elements to this form
// and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/scan/step.h"

namespace anydml {

inline constexpr std::int64_t kScanRows = 4;       // along: maximum number of chains
inline constexpr std::int64_t kMaxScanLoad = 512;  // elements loaded or stored at a time
inline constexpr std::int64_t kScanLines = 4;      // across: maximum number of staged lines

struct ScanKernels {
  std::size_t wide_bytes;  // size of scan_t
  bool loads;              // elements have a different type, so load and store convert them
  // Convert elements to packed numbers and back. Strides are in bytes.
  void (*load)(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) noexcept;
  void (*store)(const std::byte* from, std::int64_t count, std::byte* to, std::int64_t stride) noexcept;
  // Each row is a chain whose numbers are adjacent. sums: the state of the chains before and after the call. outputs:
  // null if no output is needed; otherwise it may equal inputs. carries: null if all carries are identities.
  void (*along)(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
                std::byte* sums, const std::byte* carries) noexcept;
  // Like `along`, but over the unconverted elements; null if no kernel supports these elements. rows: a multiple of
  // kScanRows.
  void (*elements_along)(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows,
                         std::int64_t columns, std::byte* sums, const std::byte* carries) noexcept;
  // Like `along`, but for chains whose numbers are in lines: a line contains the next number of each chain.
  void (*across)(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                 std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept;
  // Like `across`, but over the unconverted elements; may be null.
  void (*elements_across)(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                          std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept;
  // Resets sums to identities.
  void (*clear)(std::byte* sums, std::int64_t count) noexcept;
  // Combines each carry with its own total.
  void (*carry_on)(std::byte* carries, const std::byte* totals, std::int64_t count) noexcept;
  // Combines one carry with all totals; `each`, unless null, receives the carry before each total.
  void (*carry_along)(std::byte* carry, const std::byte* totals, std::int64_t count, std::byte* each) noexcept;
};

[[nodiscard]] ScanKernels generic_scan_kernels(const ScanStep& step);
// Returns the generic kernels if the target was not compiled.
[[nodiscard]] ScanKernels find_scan_kernels(const ScanStep& step, cpu::Target target);

}  // namespace anydml
