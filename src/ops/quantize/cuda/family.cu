// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE on a GPU. Each thread processes eight consecutive elements, so that no two threads write the
// same byte of a tensor with four-bit elements.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/cuda/family.h"
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/quantize/scalar/codes.h"
#include "ops/quantize/step.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxBlocks = 1 << 20;
constexpr u32 kRun = 8;  // elements per thread

struct Codes {
  const std::byte* from;
  const std::byte* scale;
  const std::byte* zero;
  std::byte* to;
  u32 count;
  u32 rank;
  CodeRange range;
  i32 zero_point;  // if there is no tensor of zero points
  bool has_zero;
  bool four_bits;
  bool half_numbers;
  bool half_scales;
  bool aligned_numbers;
  bool aligned_scales;
  bool whole;  // input and output are contiguous, and aligned for one vector per run
  FastDivisor sizes[kMaxQuantizeLoops];
  i64 strides[kMaxQuantizeLoops][kQuantizeOperands];
};

// The location of an element in each operand, and the number of elements left in the innermost loop.
struct Position {
  i64 offsets[kQuantizeOperands];
  u32 left;
};

__device__ inline Position position_of(const Codes& codes, u32 element) {
  Position position{};
  for (u32 loop = codes.rank; loop-- > 0;) {
    const Quotient parts = divide(element, codes.sizes[loop]);
    if (loop + 1 == codes.rank) {
      position.left = codes.sizes[loop].divisor - parts.remainder;
    }
#pragma unroll
    for (u32 i = 0; i < kQuantizeOperands; ++i) {
      position.offsets[i] += static_cast<i64>(parts.remainder) * codes.strides[loop][i];
    }
    element = parts.quotient;
  }
  return position;
}

__device__ inline f32 load_number(const std::byte* base, i64 element, bool half, bool aligned) {
  return half ? widen(__builtin_bit_cast(f16, load_element<f16>(base + element * 2, aligned)))
              : __builtin_bit_cast(f32, load_element<f32>(base + element * 4, aligned));
}

__device__ inline void store_number(std::byte* base, i64 element, bool half, bool aligned, f32 value) {
  if (half) {
    store_element<f16>(base + element * 2, __builtin_bit_cast(u16, narrow<f16>(value)), aligned);
  } else {
    store_element<f32>(base + element * 4, __builtin_bit_cast(u32, value), aligned);
  }
}

// The scale and the zero point of an element.
struct Parameters {
  f32 scale;
  i32 zero;
};

__device__ inline Parameters parameters_at(const Codes& codes, i64 scale, i64 zero) {
  return {load_number(codes.scale, scale, codes.half_scales, codes.aligned_scales),
          codes.has_zero ? load_code(codes.zero, zero, codes.four_bits, codes.range.flip) : codes.zero_point};
}

// Calls use(i, position, parameters) for `count` elements, starting with `first`. Elements that share a scale load it
// once.
template <class Use>
__device__ inline void for_each_element(const Codes& codes, u32 first, u32 count, Use use) {
  Position position = position_of(codes, first);
  const i64(&steps)[kQuantizeOperands] = codes.strides[codes.rank - 1];
  const bool moves = steps[kQuantizeScale] != 0 || steps[kQuantizeZero] != 0;
  Parameters parameters = parameters_at(codes, position.offsets[kQuantizeScale], position.offsets[kQuantizeZero]);
#pragma unroll
  for (u32 i = 0; i < kRun; ++i) {
    if (i < count) {
      if (i != 0) {
        if (--position.left == 0) {
          position = position_of(codes, first + i);
          parameters = parameters_at(codes, position.offsets[kQuantizeScale], position.offsets[kQuantizeZero]);
        } else {
#pragma unroll
          for (u32 operand = 0; operand < kQuantizeOperands; ++operand) {
            position.offsets[operand] += steps[operand];
          }
          if (moves) {
            parameters = parameters_at(codes, position.offsets[kQuantizeScale], position.offsets[kQuantizeZero]);
          }
        }
      }
      use(i, position, parameters);
    }
  }
}

__device__ inline void dequantize_some(const Codes& codes, u32 first, u32 count) {
  for_each_element(codes, first, count, [&](u32, const Position& position, const Parameters& parameters) {
    const i32 code = load_code(codes.from, position.offsets[kQuantizeInput], codes.four_bits, codes.range.flip);
    store_number(codes.to, position.offsets[kQuantizeOutput], codes.half_numbers, codes.aligned_numbers,
                 number_of_code(code, parameters.zero, parameters.scale));
  });
}

__device__ inline void quantize_some(const Codes& codes, u32 first, u32 count) {
  u32 packed = 0;
  for_each_element(codes, first, count, [&](u32 i, const Position& position, const Parameters& parameters) {
    const f32 number =
        load_number(codes.from, position.offsets[kQuantizeInput], codes.half_numbers, codes.aligned_numbers);
    const i32 code = quantized_code(number, parameters.scale, parameters.zero, codes.range);
    if (codes.four_bits) {
      packed |= (static_cast<u32>(code) & 15U) << (4 * i);
    } else {
      codes.to[position.offsets[kQuantizeOutput]] = static_cast<std::byte>(code);
    }
  });
  for (u32 byte = 0; codes.four_bits && byte < (count + 1) / 2; ++byte) {
    codes.to[first / 2 + byte] = static_cast<std::byte>(packed >> (8 * byte));
  }
}

__device__ inline void dequantize_run(const Codes& codes, u32 first) {
  u32 words[4] = {};
  if (codes.four_bits) {
    load_access<4, true>(codes.from + first / 2, words);
  } else {
    load_access<8, true>(codes.from + first, words);
  }
  f32 numbers[kRun];
  for_each_element(codes, first, kRun, [&](u32 i, const Position&, const Parameters& parameters) {
    const u32 bits = codes.four_bits ? words[0] >> (4 * i) & 15U : words[i / 4] >> (8 * (i % 4)) & 255U;
    numbers[i] = number_of_code(code_of_bits(bits, codes.range.flip), parameters.zero, parameters.scale);
  });
  u32 computed[4] = {};
  if (codes.half_numbers) {
#pragma unroll
    for (u32 i = 0; i < kRun; ++i) {
      insert<f16>(computed, static_cast<int>(i), __builtin_bit_cast(u16, narrow<f16>(numbers[i])));
    }
    store_access<16, true>(codes.to + u64{first} * 2, computed);
    return;
  }
#pragma unroll
  for (u32 half = 0; half < 2; ++half) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      computed[i] = __builtin_bit_cast(u32, numbers[4 * half + i]);
    }
    store_access<16, true>(codes.to + (u64{first} + 4 * half) * 4, computed);
  }
}

__device__ inline void quantize_run(const Codes& codes, u32 first) {
  f32 numbers[kRun];
  u32 words[4];
  if (codes.half_numbers) {
    load_access<16, true>(codes.from + u64{first} * 2, words);
#pragma unroll
    for (u32 i = 0; i < kRun; ++i) {
      numbers[i] = widen(__builtin_bit_cast(f16, extract<f16>(words, static_cast<int>(i))));
    }
  } else {
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      load_access<16, true>(codes.from + (u64{first} + 4 * half) * 4, words);
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        numbers[4 * half + i] = __builtin_bit_cast(f32, words[i]);
      }
    }
  }
  u32 computed[4] = {};
  for_each_element(codes, first, kRun, [&](u32 i, const Position&, const Parameters& parameters) {
    const auto bits = static_cast<u32>(quantized_code(numbers[i], parameters.scale, parameters.zero, codes.range));
    if (codes.four_bits) {
      computed[0] |= (bits & 15U) << (4 * i);
    } else {
      computed[i / 4] |= (bits & 255U) << (8 * (i % 4));
    }
  });
  if (codes.four_bits) {
    store_access<4, true>(codes.to + first / 2, computed);
  } else {
    store_access<8, true>(codes.to + first, computed);
  }
}

template <bool kQuantizes>
__global__ void __launch_bounds__(kThreads) code_runs(const __grid_constant__ Codes codes) {
  const u64 runs = (u64{codes.count} + kRun - 1) / kRun;
  for (u64 run = u64{blockIdx.x} * kThreads + threadIdx.x; run < runs; run += u64{gridDim.x} * kThreads) {
    const auto first = static_cast<u32>(run * kRun);
    const u32 count = min(kRun, codes.count - first);
    if (codes.whole && count == kRun) {
      if constexpr (kQuantizes) {
        quantize_run(codes, first);
      } else {
        dequantize_run(codes, first);
      }
    } else if constexpr (kQuantizes) {
      quantize_some(codes, first, count);
    } else {
      dequantize_some(codes, first, count);
    }
  }
}

class Quantizing final : public PreparedStep {
 public:
  explicit Quantizing(const QuantizeStep& step)
      : is_quantize_(step.is_quantize != 0),
        in_order_(is_in_order(step, kQuantizeInput) && is_in_order(step, kQuantizeOutput)) {
    codes_.count = static_cast<u32>(step.count);
    codes_.rank = step.rank;
    codes_.range = code_range(step.codes);
    codes_.zero_point = step.zero;
    codes_.has_zero = step.has_zero != 0;
    codes_.four_bits = is_four_bits(step.codes);
    codes_.half_numbers = step.numbers == DataType::FLOAT16;
    codes_.half_scales = step.scales == DataType::FLOAT16;
    for (u32 loop = 0; loop < step.rank; ++loop) {
      codes_.sizes[loop] = make_divisor(static_cast<u32>(step.loops[loop].size));
      std::copy_n(step.loops[loop].strides, kQuantizeOperands, codes_.strides[loop]);
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    Codes codes = codes_;
    codes.from = bases[kQuantizeInput];
    codes.scale = bases[kQuantizeScale];
    codes.zero = bases[kQuantizeZero];
    codes.to = bases[kQuantizeOutput];
    const auto numbers = reinterpret_cast<std::uintptr_t>(is_quantize_ ? codes.from : codes.to);
    const auto packed = reinterpret_cast<std::uintptr_t>(is_quantize_ ? codes.to : codes.from);
    codes.aligned_numbers = numbers % (codes.half_numbers ? 2 : 4) == 0;
    codes.aligned_scales = reinterpret_cast<std::uintptr_t>(codes.scale) % (codes.half_scales ? 2 : 4) == 0;
    codes.whole = in_order_ && numbers % kVectorBytes == 0 && packed % (codes.four_bits ? 4 : 8) == 0;
    const u64 runs = (u64{codes.count} + kRun - 1) / kRun;
    const auto blocks = static_cast<u32>(std::clamp<u64>((runs + kThreads - 1) / kThreads, 1, kMaxBlocks));
    if (is_quantize_) {
      code_runs<true><<<blocks, kThreads, 0, stream>>>(codes);
    } else {
      code_runs<false><<<blocks, kThreads, 0, stream>>>(codes);
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "runs of eight, %u loop%s", codes_.rank, codes_.rank == 1 ? "" : "s");
  }

 private:
  Codes codes_{};
  bool is_quantize_;
  bool in_order_;
};

}  // namespace

extern const FamilyKernels quantize_family;
const FamilyKernels quantize_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors, const char**) -> std::unique_ptr<PreparedStep> {
      QuantizeStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      return std::make_unique<Quantizing>(step);
    },
};

}  // namespace anydml::cuda
