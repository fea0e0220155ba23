// SPDX-License-Identifier: MIT
// QUANTIZE_LINEAR, DEQUANTIZE_LINEAR for elements of up to 16 bits, and QUANTIZED_LINEAR_ADD as one step, vectorized
// once for each target. Compilers generate two or three times as many instructions from the definitions, although CPUs
// have instructions that round to the nearest integer and saturate. A scale and a zero point that are constant for a
// whole row, the usual case, stay in registers.
#include <cstring>
#include <span>

#include "ops/elementwise/cpu/entry_files.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/quantize.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/entry_files-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

// A batch fills one vector of 16-bit lanes or two FLOAT32 vectors.
using Wide = hn::ScalableTag<f32>;
using Whole = hn::Rebind<i32, Wide>;
using Sums = hn::ScalableTag<i16>;
using Narrow = hn::Rebind<i16, Wide>;

HWY_INLINE std::size_t half_batch() { return hn::Lanes(Wide()); }

template <class T>
HWY_INLINE hn::Vec<Wide> load_wide(const std::byte* from) {
  const Wide d;
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<u16, Wide> d_bits;
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Wide>(), load_bytes(d_bits, from)));
  } else if constexpr (std::is_same_v<T, i32>) {
    return hn::ConvertTo(d, load_bytes(Whole(), from));
  } else {
    return load_bytes(d, from);
  }
}

template <class T>
HWY_INLINE void store_wide(hn::Vec<Wide> v, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<u16, Wide> d_bits;
    store_bytes(d_bits, hn::BitCast(d_bits, hn::DemoteTo(hn::Rebind<hwy::float16_t, Wide>(), v)), to);
  } else {
    store_bytes(Wide(), v, to);
  }
}

template <class T>
HWY_INLINE T load_single(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Loads a batch of 8-bit elements and widens them to 16 bits.
template <class T>
HWY_INLINE hn::Vec<Sums> load_sums(const std::byte* from) {
  return hn::PromoteTo(Sums(), load_bytes(hn::Rebind<T, Sums>(), from));
}

// One scale and zero point for a whole row.
template <class Scale, class Zero>
struct OneEach {
  static constexpr std::size_t kInputs = 1;
  hn::Vec<Wide> scale_;
  hn::Vec<Sums> sums;
  hn::Vec<Whole> whole;

  HWY_INLINE explicit OneEach(const RowBlock& block) {
    const std::byte* const* const numbers = static_cast<const std::byte* const*>(block.scalar);
    const auto zero = load_single<Zero>(numbers[1]);
    scale_ = hn::Set(Wide(), widen(load_single<Scale>(numbers[0])));
    sums = hn::Set(Sums(), static_cast<i16>(zero));
    whole = hn::Set(Whole(), static_cast<i32>(zero));
  }
  HWY_INLINE const OneEach& of(const std::byte* const*) const { return *this; }
  HWY_INLINE hn::Vec<Wide> scale(std::size_t) const { return scale_; }
  HWY_INLINE hn::Vec<Sums> zero_sums(std::size_t) const { return sums; }
  HWY_INLINE hn::Vec<Whole> zero_whole(std::size_t) const { return whole; }
};

// A scale and zero point for each element.
template <class Scale, class Zero>
struct Each {
  static constexpr std::size_t kInputs = 3;
  const std::byte* scales = nullptr;
  const std::byte* zeros = nullptr;

  HWY_INLINE explicit Each(const RowBlock&) {}
  HWY_INLINE Each of(const std::byte* const* inputs) const {
    Each bound = *this;
    bound.scales = inputs[1];
    bound.zeros = inputs[2];
    return bound;
  }
  HWY_INLINE hn::Vec<Wide> scale(std::size_t n) const { return load_wide<Scale>(scales + n * sizeof(Scale)); }
  HWY_INLINE hn::Vec<Sums> zero_sums(std::size_t n) const { return load_sums<Zero>(zeros + n); }
  HWY_INLINE hn::Vec<Whole> zero_whole(std::size_t n) const {
    return hn::PromoteTo(Whole(), load_bytes(hn::Rebind<Zero, Whole>(), zeros + n * sizeof(Zero)));
  }
};

// The nearest integer to x / scale, saturated to 16 bits: a saturated value exceeds the 8-bit range for every zero
// point.
HWY_INLINE hn::Vec<Narrow> quotients(hn::Vec<Wide> x, hn::Vec<Wide> scale) {
  hn::Vec<Wide> quotient = hn::Div(x, scale);
#if HWY_TARGET != HWY_NEON
  quotient = hn::IfThenElseZero(hn::Eq(quotient, quotient), quotient);  // NEON converts NaN to 0
#endif
  return hn::DemoteTo(Narrow(), hn::NearestInt(quotient));
}

template <class Out>
HWY_INLINE void store_quantized(hn::Vec<Narrow> low, hn::Vec<Narrow> high, hn::Vec<Sums> zero, std::byte* to) {
  const hn::Rebind<Out, Sums> d_out;
  store_bytes(d_out, hn::DemoteTo(d_out, hn::SaturatedAdd(hn::Combine(Sums(), high, low), zero)), to);
}

template <class In, class Out>
struct Quantize {
  using Input = In;
  using Scale = scale_of_t<In>;
  using Zero = Out;
  using Output = Out;

  template <class Numbers>
  static HWY_INLINE void batch(const std::byte* x, std::size_t n, const Numbers& numbers, std::byte* to) {
    const std::size_t half = half_batch();
    store_quantized<Out>(quotients(load_wide<In>(x + n * sizeof(In)), numbers.scale(n)),
                         quotients(load_wide<In>(x + (n + half) * sizeof(In)), numbers.scale(n + half)),
                         numbers.zero_sums(n), to + n);
  }
};

// Converts 16-bit differences of 8-bit elements to FLOAT32, one half of the vector at a time.
HWY_INLINE hn::Vec<Wide> lower_wide(hn::Vec<Sums> v) {
  return hn::ConvertTo(Wide(), hn::PromoteTo(Whole(), hn::LowerHalf(Narrow(), v)));
}
HWY_INLINE hn::Vec<Wide> upper_wide(hn::Vec<Sums> v) {
  return hn::ConvertTo(Wide(), hn::PromoteTo(Whole(), hn::UpperHalf(Narrow(), v)));
}

template <class In, class Out>
struct Dequantize {
  using Input = In;
  using Scale = Out;
  using Zero = In;
  using Output = Out;

  template <class Numbers>
  static HWY_INLINE void batch(const std::byte* x, std::size_t n, const Numbers& numbers, std::byte* to) {
    const std::size_t half = half_batch();
    hn::Vec<Wide> low;
    hn::Vec<Wide> high;
    if constexpr (sizeof(In) == 1) {
      const auto difference = hn::Sub(load_sums<In>(x + n), numbers.zero_sums(n));
      low = lower_wide(difference);
      high = upper_wide(difference);
    } else {
      const auto difference = [&](std::size_t at) HWY_ATTR {
        const auto elements = load_bytes(hn::Rebind<In, Whole>(), x + at * sizeof(In));
        return hn::Sub(hn::PromoteTo(Whole(), elements), numbers.zero_whole(at));
      };
      low = hn::ConvertTo(Wide(), difference(n));
      high = hn::ConvertTo(Wide(), difference(n + half));
    }
    store_wide<Out>(hn::Mul(low, numbers.scale(n)), to + n * sizeof(Out));
    store_wide<Out>(hn::Mul(high, numbers.scale(n + half)), to + (n + half) * sizeof(Out));
  }
};

// Processes a row batch by batch; a partial batch at the end passes through temporary buffers.
template <std::size_t kInputs, class Batch>
HWY_INLINE void for_each_batch(const std::byte* const* inputs, const std::size_t* sizes, std::byte* output,
                               std::size_t columns, Batch batch) {
  const std::size_t step = 2 * half_batch();
  std::size_t n = 0;
  for (; n + step <= columns; n += step) {
    batch(inputs, n, output);
  }
  if (const std::size_t rest = columns - n; rest != 0) {
    alignas(HWY_MAX_BYTES) std::byte padded[kInputs][2 * HWY_MAX_BYTES] = {};
    alignas(HWY_MAX_BYTES) std::byte results[2 * HWY_MAX_BYTES];
    const std::byte* from[kInputs];
    for (std::size_t i = 0; i < kInputs; ++i) {
      std::memcpy(padded[i], inputs[i] + n * sizes[i], rest * sizes[i]);
      from[i] = padded[i];
    }
    batch(from, 0, results);
    std::memcpy(output + n * sizes[kInputs], results, rest * sizes[kInputs]);
  }
}

template <class Op, template <class, class> class NumbersOf>
void run_rows(const RowBlock& block) noexcept {
  using Numbers = NumbersOf<typename Op::Scale, typename Op::Zero>;
  constexpr std::size_t kInputs = Numbers::kInputs;
  constexpr std::size_t kSizes[] = {sizeof(typename Op::Input),
                                    kInputs == 1 ? sizeof(typename Op::Output) : sizeof(typename Op::Scale),
                                    sizeof(typename Op::Zero), sizeof(typename Op::Output)};
  const Numbers numbers(block);
  RowCursor<kInputs> row(block);
  do {
    for_each_batch<kInputs>(row.inputs, kSizes, row.output, block.columns,
                            [&](const std::byte* const* inputs, std::size_t n, std::byte* to)
                                HWY_ATTR { Op::batch(inputs[0], n, numbers.of(inputs), to); });
  } while (row.next());
}

inline constexpr std::size_t kLongRow = 64;  // elements; worth a separate loop

template <class Op>
void kernel(const KernelArguments& arguments) noexcept {
  static constexpr std::uint8_t kIn = sizeof(typename Op::Input);
  static constexpr std::uint8_t kOut = sizeof(typename Op::Output);
  static constexpr TiledRow kOneEach{run_rows<Op, OneEach>, nullptr, 1, {kIn, kOut}};
  static constexpr TiledRow kEach{
      run_rows<Op, Each>, nullptr, 3, {kIn, sizeof(typename Op::Scale), sizeof(typename Op::Zero), kOut}};
  const KernelArguments::Input& scale = arguments.inputs[1];
  const KernelArguments::Input& zero = arguments.inputs[2];
  const bool one_each_row = scale.stride == 0 && zero.stride == 0;
  if (one_each_row && (arguments.rows == 1 || (scale.row_stride == 0 && zero.row_stride == 0))) {
    const std::byte* const numbers[] = {scale.data, zero.data};
    run_tiled(kOneEach, arguments, numbers);
  } else if (one_each_row && arguments.columns >= kLongRow) {
    KernelArguments one = arguments;
    one.rows = 1;
    for (std::size_t row = 0; row < arguments.rows; ++row) {
      const std::byte* const numbers[] = {one.inputs[1].data, one.inputs[2].data};
      run_tiled(kOneEach, one, numbers);
      for (KernelArguments::Input& input : std::span(one.inputs).first(3)) {  // the remaining inputs are not set
        input.data += input.row_stride;
      }
      one.output.data += one.output.row_stride;
    }
  } else {
    run_tiled(kEach, arguments, nullptr);
  }
}

// Runs an entry without a zero point, as if the zero point were 0.
template <class Op>
void kernel_from_zero(const KernelArguments& arguments) noexcept {
  static constexpr std::byte kZero[sizeof(u64)] = {};
  KernelArguments full = arguments;
  full.inputs[2] = {kZero, 0, 0};
  kernel<Op>(full);
}

template <class Op>
void replace_op(KernelTable& table, EntryId full, EntryId from_zero) {
  constexpr DataType kIn = kDataTypeOf<typename Op::Input>;
  constexpr DataType kScale = kDataTypeOf<typename Op::Scale>;
  constexpr DataType kZero = kDataTypeOf<typename Op::Zero>;
  constexpr DataType kOut = kDataTypeOf<typename Op::Output>;
  table.at(entry(full), find_variant(entry(full), Variant{kIn, kScale, kZero, kOut})).fill(kernel<Op>);
  table.at(entry(from_zero), find_variant(entry(from_zero), Variant{kIn, kScale, kOut})).fill(kernel_from_zero<Op>);
}

template <class... Ops>
void replace_ops(KernelTable& table, EntryId full, EntryId from_zero) {
  (replace_op<Ops>(table, full, from_zero), ...);
}

// QUANTIZED_LINEAR_ADD with the same parameters for all elements. `scalar` points to the addresses of the parameters: a
// scale and a zero point for each tensor.
template <class T>
void run_added_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kSizes[] = {1, 1, 1};
  const std::byte* const* const numbers = static_cast<const std::byte* const*>(block.scalar);
  const auto scale = [&](std::size_t i) HWY_ATTR { return hn::Set(Wide(), load_single<f32>(numbers[2 * i])); };
  const auto zero = [&](std::size_t i)
                        HWY_ATTR { return hn::Set(Sums(), static_cast<i16>(load_single<T>(numbers[2 * i + 1]))); };
  const auto scale_a = scale(0), scale_b = scale(1), scale_out = scale(2);
  const auto zero_a = zero(0), zero_b = zero(1), zero_out = zero(2);
  RowCursor<2> row(block);
  do {
    for_each_batch<2>(row.inputs, kSizes, row.output, block.columns,
                      [&](const std::byte* const* inputs, std::size_t n, std::byte* to) HWY_ATTR {
                        const auto a = hn::Sub(load_sums<T>(inputs[0] + n), zero_a);
                        const auto b = hn::Sub(load_sums<T>(inputs[1] + n), zero_b);
                        const auto low = hn::Add(hn::Mul(lower_wide(a), scale_a), hn::Mul(lower_wide(b), scale_b));
                        const auto high = hn::Add(hn::Mul(upper_wide(a), scale_a), hn::Mul(upper_wide(b), scale_b));
                        store_quantized<T>(quotients(low, scale_out), quotients(high, scale_out), zero_out, to + n);
                      });
  } while (row.next());
}

// The inputs are in the operator's order. Scales and zero points have stride 0.
template <class T>
void added_kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow{run_added_rows<T>, nullptr, 2, {1, 1, 1}};
  const KernelArguments::Input* const in = arguments.inputs;
  const std::byte* const numbers[] = {in[1].data, in[2].data, in[4].data, in[5].data, in[6].data, in[7].data};
  KernelArguments tensors = arguments;
  tensors.inputs[1] = in[3];
  run_tiled(kRow, tensors, numbers);
}

}  // namespace

void replace_quantize(KernelTable& table) {
  replace_ops<Quantize<f32, u8>, Quantize<f32, i8>, Quantize<f16, u8>, Quantize<f16, i8>, Quantize<i32, u8>,
              Quantize<i32, i8>>(table, EntryId::ELEMENT_WISE_QUANTIZE_LINEAR, EntryId::QUANTIZE_LINEAR_FROM_ZERO);
  replace_ops<Dequantize<u8, f32>, Dequantize<i8, f32>, Dequantize<u16, f32>, Dequantize<i16, f32>, Dequantize<u8, f16>,
              Dequantize<i8, f16>, Dequantize<u16, f16>, Dequantize<i16, f16>>(
      table, EntryId::ELEMENT_WISE_DEQUANTIZE_LINEAR, EntryId::DEQUANTIZE_LINEAR_FROM_ZERO);
  table.quantized_add[0] = added_kernel<u8>;
  table.quantized_add[1] = added_kernel<i8>;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
