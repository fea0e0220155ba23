// SPDX-License-Identifier: MIT
// A block of eight vectors, the maximum that calling conventions pass in registers, is passed as function arguments.
// Each function executes one instruction and ends with a tail call to the next one, so that the block never leaves the
// registers.
//
// Each instruction is the scalar definition in a loop over arrays; the compiler vectorizes the loop and keeps the
// arrays in registers. On Arm some definitions use dedicated instructions (neon_floats-inl.h).
#include "ops/elementwise/cpu/runs.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "ops/elementwise/cpu/entry_files.h"
#include "ops/elementwise/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/runs.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/entry_files-inl.h"
#include "ops/elementwise/cpu/neon_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = decltype(hn::Zero(hn::ScalableTag<f32>()).raw);
constexpr std::size_t kVectors = 8;
constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(f32);
constexpr std::size_t kBlock = kVectors * kLanes;
constexpr std::size_t kBlockBytes = kVectors * sizeof(Lanes);
static_assert(kBlock <= kMaxOfRunBlock);

struct Block {
  Lanes vectors[kVectors];
};

using Function = void (*)(const RunStep*, std::size_t, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes) noexcept;
#define ANYDML_BLOCK Lanes v0, Lanes v1, Lanes v2, Lanes v3, Lanes v4, Lanes v5, Lanes v6, Lanes v7

HWY_INLINE void go_to(const RunStep* step, std::size_t at, const Block& block) {
  const Lanes(&v)[kVectors] = block.vectors;
  reinterpret_cast<Function>(step->function)(step, at, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
}

HWY_INLINE std::byte* location_of(const RunStep* step, std::size_t at) { return step->data + (at & step->mask); }

HWY_INLINE Block load_block(const std::byte* from) {
  Block block;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) {
    std::memcpy(&block.vectors[i], from + i * sizeof(Lanes), sizeof(Lanes));
  }
  return block;
}

HWY_INLINE Block repeat_number(const std::byte* from) {
  f32 number;
  std::memcpy(&number, from, sizeof(number));
  const Lanes lanes = hn::Set(hn::ScalableTag<f32>(), number).raw;
  return {{lanes, lanes, lanes, lanes, lanes, lanes, lanes, lanes}};
}

HWY_INLINE void put(f32* elements, const Block& block) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) {
    std::memcpy(elements + i * kLanes, &block.vectors[i], sizeof(Lanes));
  }
}

// Applies the definition to its inputs.
template <class Scalar, class... Blocks>
HWY_FLATTEN HWY_INLINE Block apply(const Scalar& scalar, const Blocks&... inputs) {
  f32 in[sizeof...(Blocks)][kBlock];
  f32 out[kBlock];
  [&]<std::size_t... kInputs>(std::index_sequence<kInputs...>) HWY_ATTR {
    (put(in[kInputs], inputs), ...);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kBlock; ++i) {
      out[i] = scalar(in[kInputs][i]...);
    }
  }
  (std::make_index_sequence<sizeof...(Blocks)>{});
  return load_block(reinterpret_cast<const std::byte*>(out));
}

#if HWY_TARGET == HWY_NEON
template <class Scalar, class... Blocks>
requires HasFloatOp<Scalar> HWY_INLINE Block apply(const Scalar& scalar, const Blocks&... inputs) {
  Block result;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) {
    result.vectors[i] = FloatOp<Scalar>::apply(scalar, inputs.vectors[i]...);
  }
  return result;
}
#endif

template <class Scalar, RunInputs kIn>
HWY_FLATTEN void instruct(const RunStep* step, std::size_t at, ANYDML_BLOCK) noexcept {
  const Block block{{v0, v1, v2, v3, v4, v5, v6, v7}};
  const Scalar own = *static_cast<const Scalar*>(step->scalar);
  if constexpr (Signature<Scalar>::kInputs == 1) {
    go_to(step + 1, at, apply(own, block));
  } else if constexpr (kIn == RunInputs::both) {
    go_to(step + 1, at, apply(own, block, block));
  } else if constexpr (kIn == RunInputs::first) {
    go_to(step + 1, at, apply(own, block, load_block(location_of(step, at))));
  } else if constexpr (kIn == RunInputs::second) {
    go_to(step + 1, at, apply(own, load_block(location_of(step, at)), block));
  } else if constexpr (kIn == RunInputs::first_and_number) {
    go_to(step + 1, at, apply(own, block, repeat_number(step->data)));
  } else {
    go_to(step + 1, at, apply(own, repeat_number(step->data), block));
  }
}

void load(const RunStep* step, std::size_t at, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes) noexcept {
  go_to(step + 1, at, load_block(location_of(step, at)));
}

void store(const RunStep* step, std::size_t at, ANYDML_BLOCK) noexcept {
  const Block block{{v0, v1, v2, v3, v4, v5, v6, v7}};
  std::byte* const to = location_of(step, at);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kVectors; ++i) {
    std::memcpy(to + i * sizeof(Lanes), &block.vectors[i], sizeof(Lanes));
  }
  go_to(step + 1, at, block);
}

void end(const RunStep*, std::size_t, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes) noexcept {}

#undef ANYDML_BLOCK

// Processes the elements after the last whole block, in copies that have room for a whole block.
HWY_NOINLINE void run_rest(RunStep* steps, std::size_t count, std::size_t at, std::size_t bytes) {
  alignas(64) std::byte buffers[kMaxOperands][kBlockBytes];
  for (std::size_t i = 0; i < count; ++i) {
    RunStep& step = steps[i];
    if (step.tensor >= 0 && !step.stores) {
      std::byte* const buffer = buffers[step.tensor];
      std::memset(buffer, 0, kBlockBytes);
      std::memcpy(buffer, step.data + at, bytes);
      step.data = buffer;
      step.mask = 0;
    }
  }
  std::byte* targets[kMaxOperands] = {};
  for (std::size_t i = 0; i < count; ++i) {
    RunStep& step = steps[i];
    if (step.tensor >= 0 && step.stores) {
      targets[step.tensor] = step.data + at;
      step.data = buffers[step.tensor];
      step.mask = 0;
    }
  }
  go_to(steps, at, Block{});
  for (std::size_t tensor = 0; tensor < kMaxOperands; ++tensor) {
    if (targets[tensor] != nullptr) {
      std::memcpy(targets[tensor], buffers[tensor], bytes);
    }
  }
}

void run_steps(RunStep* steps, std::size_t count, std::size_t elements) noexcept {
  const std::size_t bytes = elements * sizeof(f32);
  std::size_t at = 0;
  for (; at + kBlockBytes <= bytes; at += kBlockBytes) {
    go_to(steps, at, Block{});
  }
  if (at < bytes) {
    run_rest(steps, count, at, bytes - at);
  }
}

// Whether a definition can be part of a run: it uses only FLOAT32, has at most two inputs (the registers and one
// operand), and is not a function, since functions have their own loops.
template <class Scalar>
constexpr bool is_of_runs() {
  using Types = Signature<Scalar>;
  return []<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
    return std::is_same_v<typename Types::Output, f32> &&
           (std::is_same_v<typename Types::template Input<kInputs>, f32> && ...);
  }
  (std::make_index_sequence<Types::kInputs>{}) && Types::kInputs <= 2 && !kIsFunction<Scalar>;
}

template <class Scalar>
RunEntry run_entry(std::uint32_t variant) {
  static_assert(sizeof(Scalar) <= kRunScalarBytes && std::is_trivially_destructible_v<Scalar>);
  RunEntry entry{};
  entry.variant = variant;
  [&entry]<std::size_t... kIn>(std::index_sequence<kIn...>) {
    ((entry.functions[kIn] =
          reinterpret_cast<RunFunction>(static_cast<Function>(instruct<Scalar, static_cast<RunInputs>(kIn)>))),
     ...);
  }
  (std::make_index_sequence < Signature<Scalar>::kInputs == 1 ? 1 : kRunInputs > {});
  entry.prepare = [](const Attributes& attributes, void* scalar) {
    const Scalar value = make_scalar<Scalar>(attributes);
    std::memcpy(scalar, &value, sizeof(value));
  };
  return entry;
}

}  // namespace

// Adds every entry that has a suitable variant, except the modulus operators, which are expensive and have their own
// kernels.
void put_runs([[maybe_unused]] KernelTable& table) {
#define ANYDML_ENTRY(op, Definition)                                                           \
  if constexpr (!is_modulus(EntryId::op)) {                                                    \
    std::uint32_t variant = 0;                                                                 \
    for_each_variant<Definition>([&]<class Scalar>() {                                         \
      if constexpr (is_of_runs<Scalar>()) {                                                    \
        table.run_entries[static_cast<std::size_t>(EntryId::op)] = run_entry<Scalar>(variant); \
      }                                                                                        \
      ++variant;                                                                               \
    });                                                                                        \
  }
#include "ops/elementwise/elementwise.def"
  const auto function = [](Function of) { return reinterpret_cast<RunFunction>(of); };
  table.runs = {
      .block = kBlock, .load = function(load), .store = function(store), .end = function(end), .run = run_steps};
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
