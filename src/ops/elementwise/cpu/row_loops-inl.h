// SPDX-License-Identifier: MIT
// A kernel for any scalar definition, for each of Highway's targets. It calls the definition in a loop, which the
// compiler vectorizes for the target. The same source therefore defines the computation for a single element, for a
// vector and for a GPU thread; a definition is fast here if it has no branches. FLOAT16 is computed in
// FLOAT32, a stretch at a time: the conversions are vectorized by hand, because compilers do not vectorize them.
//
// Definitions are not templates over vector types, because g++ does not let a template defined outside a target's
// section call functions defined inside it.
#if defined(ANYDML_ROW_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_ROW_LOOPS_INL
#undef ANYDML_ROW_LOOPS_INL
#else
#define ANYDML_ROW_LOOPS_INL
#endif

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/cpu/loops.h"
#include "ops/elementwise/cpu/function_loops-inl.h"
#include "ops/elementwise/cpu/same_bits.h"
#include "ops/elementwise/cpu/tiles-inl.h"
#include "ops/scalar/signature.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Uses memcpy, since tensors may be misaligned; compilers turn it into one instruction.
template <class T>
HWY_INLINE T load_element(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
HWY_INLINE void store_element(std::byte* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

// Computes one row. Everything that the definition calls is inlined into the loop (flatten), since calls would prevent
// vectorization. An output that is also an input is at the same address, so iterations are independent
// (ANYDML_INDEPENDENT).
template <class Scalar, std::size_t... kInputs>
HWY_FLATTEN HWY_INLINE void run_loop(const Scalar& scalar, const std::byte* const* inputs, std::byte* output,
                                     std::size_t count, std::index_sequence<kInputs...>) {
  using Types = Signature<Scalar>;
  using Output = typename Types::Output;
  const std::byte* const from[] = {inputs[kInputs]...};
  const Scalar own = scalar;  // a copy that no store below can alias
  ANYDML_INDEPENDENT
#pragma GCC unroll 4
  for (std::size_t i = 0; i < count; ++i) {
    store_element<Output>(output + i * sizeof(Output),
                          own(load_element<typename Types::template Input<kInputs>>(
                              from[kInputs] + i * sizeof(typename Types::template Input<kInputs>))...));
  }
}

// Calls the `compute` function of a definition. Its parameters and result have the types in which it computes.
template <class Scalar, class Types = SignatureOf<decltype(&Scalar::compute)>>
struct Computed;
template <class Scalar, class Result, class... Inputs>
struct Computed<Scalar, SignatureOf<Result (Scalar::*)(Inputs...) const>> {
  Scalar scalar;
  Result operator()(Inputs... inputs) const { return scalar.compute(inputs...); }
};

template <class Scalar>
concept HasHalves = []<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
  using Types = Signature<Scalar>;
  return std::is_same_v<typename Types::Output, f16> ||
         (std::is_same_v<typename Types::template Input<kInputs>, f16> || ...);
}
(std::make_index_sequence<Signature<Scalar>::kInputs>{});

// Definitions that compute in FLOAT32 but read or write FLOAT16; all other definitions loop over the elements directly.
template <class Scalar>
concept Staged = HasHalves<Scalar> && requires {
  &Scalar::compute;
};

inline constexpr std::size_t kStage = 512;  // elements, few enough for the L1 cache

template <class Scalar, std::size_t... kInputs>
HWY_INLINE void run_staged(const Scalar& scalar, const std::byte* const* inputs, std::byte* output, std::size_t count,
                           std::index_sequence<kInputs...> indices) {
  using Types = Signature<Scalar>;
  using Output = typename Types::Output;
  constexpr bool kNarrows = std::is_same_v<Output, f16>;
  alignas(64) f32 wide[sizeof...(kInputs)][kStage];
  alignas(64) f32 results[kStage];
  for (std::size_t first = 0; first < count; first += kStage) {
    const std::size_t part = std::min(kStage, count - first);
    const auto staged = [&]<std::size_t i>() HWY_ATTR -> const std::byte* {
      using Input = typename Types::template Input<i>;
      const std::byte* const from = inputs[i] + first * sizeof(Input);
      if constexpr (std::is_same_v<Input, f16>) {
        widen_halves(from, wide[i], part);
        return reinterpret_cast<const std::byte*>(wide[i]);
      } else {
        return from;
      }
    };
    const std::byte* const from[] = {staged.template operator()<kInputs>()...};
    std::byte* const to = output + first * sizeof(Output);
    run_loop(Computed<Scalar>{scalar}, from, kNarrows ? reinterpret_cast<std::byte*>(results) : to, part, indices);
    if constexpr (kNarrows) {
      narrow_halves(results, to, part);
    }
  }
}

template <class Scalar>
void run_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kInputs = Signature<Scalar>::kInputs;
  constexpr auto kIndices = std::make_index_sequence<kInputs>{};
  const Scalar& scalar = *static_cast<const Scalar*>(block.scalar);
  RowCursor<kInputs> row(block);
  do {
    if constexpr (requires { typename Scalar::Of; }) {
      run_function_row(scalar, row.inputs, row.output, block.columns);
    } else if constexpr (Staged<Scalar>) {
      run_staged(scalar, row.inputs, row.output, block.columns, kIndices);
    } else {
      run_loop(scalar, row.inputs, row.output, block.columns, kIndices);
    }
  } while (row.next());
}

template <class Scalar>
constexpr TiledRow tiled_row() {
  using Types = Signature<Scalar>;
  TiledRow row{run_rows<Scalar>, nullptr, Types::kInputs, {}};
  [&]<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
    ((row.sizes[kInputs] = sizeof(typename Types::template Input<kInputs>)), ...);
  }
  (std::make_index_sequence<Types::kInputs>{});
  row.sizes[Types::kInputs] = sizeof(typename Types::Output);
  return row;
}

// One kernel for all layouts, since the tiled walk checks the strides itself.
template <class Scalar>
void kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow = tiled_row<Scalar>();
  const Scalar scalar = make_scalar<Scalar>(*arguments.attributes);
  run_tiled(kRow, arguments, &scalar);
}

// Replaces the table's kernels for an entry's variants.
template <class ForEach>
void replace_entry(KernelTable& table, EntryId id, const ForEach& for_each) {
  const Entry& of = entry(id);
  std::uint32_t variant = 0;
  for_each([&]<class Scalar>() {
    if constexpr (kGainsByVectors<Scalar>) {
      table.at(of, variant).fill(kernel<SameBits<Scalar>>);
    }
    ++variant;
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
