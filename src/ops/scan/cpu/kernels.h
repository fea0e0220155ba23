// SPDX-License-Identifier: MIT
// Chains of additions or multiplications, several at a time, compiled once for each target. Kernels take numbers of the
// type in which chains are computed (scan_t), packed and at any address; `load` and `store` bring elements into this
// form and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/scan/step.h"

namespace anydml {

inline constexpr std::int64_t kScanRows = 4;        // chains of a kernel along rows, at most
inline constexpr std::int64_t kMostScanLoad = 512;  // elements that are loaded or stored at a time
inline constexpr std::int64_t kScanLines = 4;       // of a kernel across rows, where lines are staged

struct ScanKernels {
  std::size_t wide_bytes;  // of scan_t
  bool loads;              // elements have another type, so that load and store convert them
  // Elements a stride apart, in bytes, to packed numbers, and back.
  void (*load)(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) noexcept;
  void (*store)(const std::byte* from, std::int64_t count, std::byte* to, std::int64_t stride) noexcept;
  // Each row is a chain whose numbers are adjacent. sums: the state of the chains before and after. outputs is null if
  // no output is needed; otherwise it may be the inputs. carries: null if they are identities.
  void (*along)(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows, std::int64_t columns,
                std::byte* sums, const std::byte* carries) noexcept;
  // The same over the original elements, if a kernel takes those too; otherwise null. Rows: a multiple of kScanRows.
  void (*elements_along)(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t rows,
                         std::int64_t columns, std::byte* sums, const std::byte* carries) noexcept;
  // The same for chains whose numbers lie in lines: a line has the next number of each.
  void (*across)(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                 std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept;
  // And over the original elements; otherwise null.
  void (*elements_across)(const std::byte* input, std::int64_t input_step, std::byte* output, std::int64_t output_step,
                          std::int64_t lines, std::int64_t width, std::byte* sums, const std::byte* carries) noexcept;
  // From identities on.
  void (*clear)(std::byte* sums, std::int64_t count) noexcept;
  // Each carry goes on by its own total.
  void (*carry_on)(std::byte* carries, const std::byte* totals, std::int64_t count) noexcept;
  // One carry goes on by all totals; `each`, unless it is null, gets the carry before each of them.
  void (*carry_along)(std::byte* carry, const std::byte* totals, std::int64_t count, std::byte* each) noexcept;
};

[[nodiscard]] ScanKernels generic_scan_kernels(const ScanStep& step);
// The generic ones where no such target was compiled.
[[nodiscard]] ScanKernels find_scan_kernels(const ScanStep& step, cpu::Target target);

}  // namespace anydml
