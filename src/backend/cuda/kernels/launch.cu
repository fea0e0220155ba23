// SPDX-License-Identifier: MIT
// From a step to a kernel: what can be known beforehand is worked out once, the rest depends on the addresses.
#include <algorithm>

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/families.h"
#include "backend/cuda/kernels/typed.cuh"

namespace anydml::cuda {
namespace {

// Rows shorter than this, in vectors, are not worth a vector that is not full.
constexpr std::int64_t kVectorsOfLongRow = 8;
// Tiles that are mostly empty are not worth shared memory.
constexpr std::int64_t kLeastTileSize = 16;

[[nodiscard]] DataType unsigned_of_size(std::size_t size) {
  return size == 1 ? DataType::UINT8 : size == 2 ? DataType::UINT16 : size == 4 ? DataType::UINT32 : DataType::UINT64;
}

// The types that a row of one type is defined for.
template <template <class> class Definition>
[[nodiscard]] constexpr TypeSet types_of_definition() {
  TypeSet types = 0;
  for_each_variant<Definition>(
      [&types]<class Scalar>() { types |= type_bit(kDataTypeOf<typename Signature<Scalar>::Output>); });
  return types;
}

[[nodiscard]] TypeSet types_of(RowId row) {
  switch (row) {
#define ANYDML_TYPED_ROW(op, Scalar, ulp) \
  case RowId::op:                         \
    break;
#define ANYDML_ROW(op, Scalar, ulp) \
  case RowId::op:                   \
    return types_of_definition<Scalar>();
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return 0;
}

[[nodiscard]] bool takes_attributes(RowId row) {
  switch (row) {
#define ANYDML_TYPED_ROW(op, Scalar, ulp) \
  case RowId::op:                         \
    break;
#define ANYDML_ROW(op, Scalar, ulp) \
  case RowId::op:                   \
    return std::is_constructible_v<Scalar<f32>, const Attributes&>;
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return true;
}

// Elements along one side of a tile of the transposed kernels.
[[nodiscard]] std::uint32_t tile_elements(std::size_t size) {
  return static_cast<std::uint32_t>(size == 1 ? 128 : size == 8 ? 32 : 64);
}

void choose_shape(const LoopNest& nest, std::size_t size, PreparedStep& prepared) {
  const auto element = static_cast<std::int64_t>(size);
  const std::uint32_t inner = nest.rank - 1;
  const std::uint32_t output = nest.operands - 1;
  const Loop& innermost = nest.innermost();
  const std::int64_t vector = kVectorBytes / element;
  prepared.shape = KernelShape::strided;

  bool rows = innermost.strides[output] == element;
  std::uint64_t outer_strides = 0;
  std::uint64_t all_strides = 0;
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    const bool stays = innermost.strides[operand] == 0;
    rows = rows && (stays || innermost.strides[operand] == element);
    prepared.inner_broadcast |= static_cast<std::uint8_t>((stays ? 1u : 0u) << operand);
    for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
      const auto stride = static_cast<std::uint64_t>(nest.loops[loop].strides[operand]);
      all_strides |= stride;
      outer_strides |= stays || loop == inner ? 0 : stride;
    }
  }
  prepared.vector_strides_low = static_cast<std::uint8_t>(outer_strides);
  prepared.element_strides_low = static_cast<std::uint8_t>(all_strides);

  const std::int64_t vectors_of_row = (innermost.size + vector - 1) / vector;
  prepared.vectors_of_row = make_divisor(static_cast<std::uint32_t>(vectors_of_row));
  const bool full = nest.rank == 1 || innermost.size % vector == 0 || vectors_of_row >= kVectorsOfLongRow;
  // Both inputs of a modulus that stay would be a row of one value.
  const bool something_moves = !prepared.tuned || (prepared.inner_broadcast & 3) != 3;
  const bool only_tuned_modulus =
      prepared.tuned || std::none_of(prepared.program, prepared.program + prepared.instruction_count,
                                     [](const Instruction& instruction) { return is_modulus(row_of(instruction)); });
  if (rows && full && something_moves && only_tuned_modulus && outer_strides % kVectorBytes == 0) {
    prepared.shape = KernelShape::vector;
    prepared.vectors = static_cast<std::uint32_t>(nest.count / innermost.size * vectors_of_row);
    return;
  }

  if (!prepared.tuned || nest.rank < 2 || innermost.strides[output] != element) {
    return;
  }
  const Loop& next = nest.loops[nest.rank - 2];
  if (innermost.size < kLeastTileSize || next.size < kLeastTileSize) {
    return;
  }
  // Words of 4 bytes must not straddle what they are read from.
  const std::int64_t word = std::max<std::int64_t>(element, 4);
  bool words = innermost.size * element % word == 0 && next.size * element % word == 0;
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    const std::int64_t stride = innermost.strides[operand];
    const bool crossed = operand < output && stride != 0 && stride != element && next.strides[operand] == element;
    prepared.crossed |= static_cast<std::uint8_t>((crossed ? 1u : 0u) << operand);
    words = words && (crossed || stride == element || stride == 0);
    for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
      const bool contiguous = loop == (crossed ? nest.rank - 2 : inner);
      words = words && (contiguous || stride == 0 || nest.loops[loop].strides[operand] % word == 0);
    }
  }
  if (prepared.crossed == 0 || !words) {
    return;
  }
  const std::uint32_t side = tile_elements(size);
  const std::int64_t across = (innermost.size + side - 1) / side;
  const std::int64_t down = (next.size + side - 1) / side;
  const std::int64_t tiles = nest.count / innermost.size / next.size * across * down;
  if (tiles > 0x7fffffff) {
    return;
  }
  prepared.shape = KernelShape::transposed;
  prepared.tiles[0] = make_divisor(static_cast<std::uint32_t>(across));
  prepared.tiles[1] = make_divisor(static_cast<std::uint32_t>(down));
  prepared.tile_count = static_cast<std::uint32_t>(tiles);
}

}  // namespace

bool prepare(const Step& step, PreparedStep& prepared) noexcept {
  prepared = {};
  const LoopNest& nest = step.nest;
  prepared.operands = nest.operands;
  prepared.rank = nest.rank;
  prepared.count = static_cast<std::uint32_t>(nest.count);
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    prepared.element_sizes[operand] = static_cast<std::uint8_t>(element_size(step.types[operand]));
  }
  if (step.kind == StepKind::copy) {
    prepared.type = unsigned_of_size(element_size(step.types[0]));
    prepared.instruction_count = 1;
    prepared.program[0].row = static_cast<std::uint16_t>(RowId::ELEMENT_WISE_IDENTITY);
  } else {
    prepared.type = step.output_type();
    prepared.instruction_count = static_cast<std::uint8_t>(step.instruction_count);
    std::copy_n(step.program, step.instruction_count, prepared.program);
    prepared.typed =
        step.instruction_count == 1 && find_typed(row_of(step.program[0]), step.program[0].variant) != nullptr;
    for (std::uint32_t i = 0; i < step.instruction_count && !prepared.typed; ++i) {
      if ((types_of(row_of(step.program[i])) & type_bit(prepared.type)) == 0) {
        return false;
      }
    }
    // Its operands are the nest's, in order, as the tuned kernels take them.
    prepared.tuned = step.instruction_count == 1 && is_modulus(row_of(step.program[0])) &&
                     step.program[0].sources[0] == 0 && step.program[0].sources[1] == 1 && nest.operands == 3;
  }
  if (nest.count == 0) {
    return true;
  }
  for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
    prepared.sizes[loop] = make_divisor(static_cast<std::uint32_t>(nest.loops[loop].size));
    std::copy_n(nest.loops[loop].strides, nest.operands, prepared.strides[loop]);
  }
  std::copy_n(nest.offsets, nest.operands, prepared.offsets);
  if (prepared.typed) {
    prepared.shape = KernelShape::strided;
  } else {
    choose_shape(nest, element_size(prepared.type), prepared);
  }
  return true;
}

const char* kernel_name(const PreparedStep& prepared) noexcept {
  switch (prepared.shape) {
    case KernelShape::vector:
      return "vector";
    case KernelShape::transposed:
      return "transposed";
    case KernelShape::strided:
      break;
  }
  return "strided";
}

namespace {

// Whether each operand's elements lie at multiples of their own size.
bool is_aligned(const PreparedStep& prepared, const Launch& arguments) {
  bool aligned = true;
  for (std::uint32_t operand = 0; operand < prepared.operands; ++operand) {
    const std::int64_t size = prepared.element_sizes[operand];
    aligned = aligned &&
              reinterpret_cast<std::uintptr_t>(arguments.addresses[operand]) % static_cast<std::uintptr_t>(size) == 0;
    for (std::uint32_t loop = 0; loop < prepared.rank; ++loop) {
      aligned = aligned && prepared.strides[loop][operand] % size == 0;
    }
  }
  return aligned;
}

}  // namespace

cudaError_t launch(const PreparedStep& prepared, std::byte* const* bases, cudaStream_t stream) noexcept {
  if (prepared.count == 0) {
    return cudaSuccess;
  }
  Launch arguments{};
  const std::size_t size = element_size(prepared.type);
  std::uintptr_t moving = 0;  // the addresses that vectors are read from or written to, or'ed
  std::uintptr_t all = 0;
  for (std::uint32_t operand = 0; operand < prepared.operands; ++operand) {
    arguments.addresses[operand] = bases[operand] + prepared.offsets[operand];
    const auto address = reinterpret_cast<std::uintptr_t>(arguments.addresses[operand]);
    all |= address;
    moving |= (prepared.inner_broadcast >> operand & 1) != 0 ? 0 : address;
  }
  arguments.operands = prepared.operands;
  arguments.count = prepared.count;
  arguments.rank = prepared.rank;
  arguments.vectors = prepared.vectors;
  arguments.inner_broadcast = prepared.inner_broadcast;
  arguments.crossed = prepared.crossed;
  arguments.aligned =
      prepared.typed ? is_aligned(prepared, arguments) : (all | prepared.element_strides_low) % size == 0;
  arguments.vectors_of_row = prepared.vectors_of_row;
  std::copy_n(prepared.tiles, 2, arguments.tiles);
  std::copy_n(prepared.sizes, prepared.rank, arguments.sizes);
  std::copy_n(&prepared.strides[0][0], prepared.rank * kMaxOperands, &arguments.strides[0][0]);

  if (prepared.typed) {
    const Instruction& instruction = prepared.program[0];
    return find_typed(row_of(instruction), instruction.variant)(arguments, instruction.attributes, stream);
  }
  KernelShape shape = prepared.shape;
  const bool fits = shape == KernelShape::vector ? moving % kVectorBytes == 0 && arguments.aligned
                    : shape == KernelShape::transposed
                        ? moving % std::max<std::size_t>(size, 4) == 0 && arguments.aligned
                        : true;
  if (!fits) {
    shape = KernelShape::strided;
  }
  if (prepared.tuned) {
    const bool floor = row_of(prepared.program[0]) == RowId::ELEMENT_WISE_MODULUS_FLOOR;
    return visit_type(prepared.type, [&]<class T>() {
      return launch_modulus<T>(floor, shape, arguments, prepared.tile_count, stream);
    });
  }
  if (shape == KernelShape::transposed) {
    shape = KernelShape::strided;
  }
  Program program{};
  program.instruction_count = prepared.instruction_count;
  std::copy_n(prepared.program, prepared.instruction_count, program.instructions);
  return visit_type(prepared.type, [&]<class T>() { return launch_generic<T>(shape, arguments, program, stream); });
}

bool make_small_task(const PreparedStep& prepared, std::byte* const* bases, SmallTask& task) noexcept {
  const std::size_t size = element_size(prepared.type);
  const std::uint32_t output = prepared.operands - 1;
  if (prepared.typed || prepared.instruction_count != 1 || takes_attributes(row_of(prepared.program[0])) ||
      prepared.rank != 1 || prepared.count == 0 || prepared.count > kMaxSmallElements ||
      prepared.strides[0][output] != static_cast<std::int64_t>(size)) {
    return false;
  }
  task = {};
  task.row = prepared.program[0].row;
  task.type = static_cast<std::uint8_t>(prepared.type);
  task.count = prepared.count;
  std::uint32_t broadcast = 0;
  for (std::uint32_t operand = 0; operand < prepared.operands; ++operand) {
    std::byte* address = bases[operand] + prepared.offsets[operand];
    const std::int64_t stride = prepared.strides[0][operand];
    if (reinterpret_cast<std::uintptr_t>(address) % size != 0 ||
        (stride != 0 && stride != static_cast<std::int64_t>(size)) ||
        (operand < output && prepared.program[0].sources[operand] != operand)) {
      return false;
    }
    broadcast |= (stride == 0 ? 1u : 0u) << operand;
    task.operands[operand == output ? 3 : operand] = address;
  }
  for (std::uint32_t input = output; input < kMaxInputs; ++input) {
    broadcast |= 1u << input;  // there is none: its address says nothing about alignment
  }
  task.broadcast = static_cast<std::uint8_t>(broadcast & 7);
  return true;
}

namespace {

constexpr u32 kFillThreads = 256;

__global__ void __launch_bounds__(kFillThreads) copy_bytes(std::byte* to, const std::byte* from, u64 bytes) {
  const u64 thread = u64{blockIdx.x} * kFillThreads + threadIdx.x;
  const u64 threads = u64{gridDim.x} * kFillThreads;
  u64 done = 0;
  if ((reinterpret_cast<u64>(to) | reinterpret_cast<u64>(from)) % 16 == 0) {
    for (u64 i = thread; i < bytes / 16; i += threads) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
    done = bytes / 16 * 16;
  }
  for (u64 i = done + thread; i < bytes; i += threads) {
    to[i] = from[i];
  }
}

constexpr u64 kMostFillBlocks = 1 << 20;

// The pattern turned so that it begins at the first vector; before and after it, words and bytes.
__global__ void __launch_bounds__(kFillThreads)
    fill(std::byte* to, u64 bytes, u64 head_words, uint4 head_pattern, uint4 pattern) {
  const u64 thread = u64{blockIdx.x} * kFillThreads + threadIdx.x;
  const u64 head = head_words * 4;
  const u64 vectors = (bytes - head) / 16;
  auto* body = reinterpret_cast<uint4*>(to + head);
  for (u64 i = thread; i < vectors; i += u64{gridDim.x} * kFillThreads) {
    body[i] = pattern;
  }
  const auto word_of = [](const uint4& of, u64 i) { return i == 0 ? of.x : i == 1 ? of.y : i == 2 ? of.z : of.w; };
  if (thread < head_words) {
    reinterpret_cast<u32*>(to)[thread] = word_of(head_pattern, thread);
  } else if (thread >= 4 && thread < 8) {
    const u64 at = head + vectors * 16 + (thread - 4) * 4;
    const u32 word = word_of(pattern, thread - 4);
    if (at + 4 <= bytes) {
      *reinterpret_cast<u32*>(to + at) = word;
    } else {
      for (u64 i = 0; at + i < bytes; ++i) {
        to[at + i] = static_cast<std::byte>(word >> (8 * i));
      }
    }
  }
}

__global__ void timestamp(u64* ticks) {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *ticks = now;
}

}  // namespace

cudaError_t launch_fill(void* to, std::uint64_t bytes, const std::uint32_t* pattern, std::uint32_t pattern_bytes,
                        cudaStream_t stream) noexcept {
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (pattern_bytes != 4 && pattern_bytes != 16) {
    return cudaErrorInvalidValue;
  }
  const std::uint32_t words = pattern_bytes / 4;
  const std::uint64_t head =
      std::min<std::uint64_t>((16 - reinterpret_cast<std::uintptr_t>(to) % 16) % 16 / 4, bytes / 4);
  const auto turned = [&](std::uint64_t by) {
    return uint4{pattern[by % words], pattern[(by + 1) % words], pattern[(by + 2) % words], pattern[(by + 3) % words]};
  };
  const std::uint64_t blocks = std::clamp<std::uint64_t>(bytes / 16 / kFillThreads, 1, kMostFillBlocks);
  fill<<<static_cast<unsigned>(blocks), kFillThreads, 0, stream>>>(static_cast<std::byte*>(to), bytes, head, turned(0),
                                                                   turned(head));
  return cudaGetLastError();
}

cudaError_t launch_copy(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) noexcept {
  if (bytes == 0) {
    return cudaSuccess;
  }
  const u64 blocks = std::min<u64>((bytes / 16 + kFillThreads) / kFillThreads, 1024);
  copy_bytes<<<static_cast<unsigned>(blocks), kFillThreads, 0, stream>>>(static_cast<std::byte*>(to),
                                                                         static_cast<const std::byte*>(from), bytes);
  return cudaGetLastError();
}

cudaError_t launch_timestamp(std::uint64_t* ticks, cudaStream_t stream) noexcept {
  timestamp<<<1, 1, 0, stream>>>(ticks);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
