// SPDX-License-Identifier: MIT
// Kernels for weights in codes. Codes become numbers in registers: the scales and zero points of a panel's columns stay
// there for a block of k, and a word provides eight codes of one column. The numbers are multiplied at once, for a few
// rows, or stored for the kernels that multiply many rows.
#include "ops/product/cpu/coded_kernels.h"

#include <algorithm>

#include "ops/product/cpu/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/coded_kernels.cpp"
#include "backend/cpu/each_target.h"
#include "ops/product/cpu/factors-inl.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::RebindToSigned<Tag>;
using Words = hn::RebindToUnsigned<Tag>;

constexpr std::size_t kWidth = coded_width(HWY_MAX_BYTES);

// The variants of the packed form that kernels distinguish at compile time.
template <std::uint32_t kOfBits, bool kOfZeros, bool kOfHalves>
struct Variant {
  static constexpr std::uint32_t kBits = kOfBits;
  static constexpr bool kHasZeros = kOfZeros;
  static constexpr bool kIsHalf = kOfHalves;  // the numbers are rounded to FLOAT16
};

HWY_INLINE Vector load_scales(const CodedForm& form, const std::byte* from) {
  const Tag d;
  if (form.half_scales == 0) {
    const hn::Repartition<u8, Tag> d_bytes;
    return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from)));
  }
  const hn::Rebind<hwy::float16_t, Tag> d_half;
  const hn::Repartition<u8, decltype(d_half)> d_bytes;
  return hn::PromoteTo(d, hn::BitCast(d_half, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from))));
}

// Bytes as numbers.
HWY_INLINE Vector load_bytes(const std::byte* from) {
  const hn::Rebind<u8, Tag> d_bytes;
  return hn::ConvertTo(Tag(), hn::PromoteTo(Integers(), hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from))));
}

// The differences of four-bit codes, in the low bits of words, and their zero points.
template <class Form>
class FourBits {
 public:
  HWY_INLINE explicit FourBits(i32 zero) {
#if HWY_TARGET == HWY_AVX3
    alignas(64) f32 differences[16];
    for (i32 code = 0; code < 16; ++code) {
      differences[code] = static_cast<f32>(Form::kHasZeros ? code : code - zero);
    }
    table_ = hn::Load(Tag(), differences);
#else
    zero_ = hn::Set(Tag(), static_cast<f32>(zero));
#endif
  }

  // Bits above the lowest four are ignored.
  HWY_INLINE Vector operator()(hn::Vec<Words> words, Vector zeros) const {
#if HWY_TARGET == HWY_AVX3
    const Vector code{_mm512_permutexvar_ps(words.raw, table_.raw)};  // reads only four bits of an index
    return Form::kHasZeros ? hn::Sub(code, zeros) : code;
#else
    const auto code = hn::BitCast(Integers(), hn::And(words, hn::Set(Words(), 15)));
    return hn::Sub(hn::ConvertTo(Tag(), code), Form::kHasZeros ? zeros : zero_);
#endif
  }

 private:
#if HWY_TARGET == HWY_AVX3
  Vector table_;
#else
  Vector zero_;
#endif
};

template <class Form>
HWY_INLINE Vector weight_of(Vector difference, Vector scale) {
  const Vector number = hn::Mul(difference, scale);
  if constexpr (Form::kIsHalf) {
    const hn::Rebind<hwy::float16_t, Tag> d_half;
    return hn::PromoteTo(Tag(), hn::DemoteTo(d_half, number));
  } else {
    return number;
  }
}

// Passes the weights of kCount vectors of columns to use(k, weights), for k from `first` to `end`, which are in one
// block of k. `column`: of the first vector, in the panel.
template <class Form, std::size_t kCount, class Use>
HWY_INLINE void each_weight(const CodedForm& form, const CodedPanel& panel, std::size_t column, std::int64_t first,
                            std::int64_t end, const Use& use) {
  constexpr auto kStep = static_cast<std::int64_t>(kWidth);
  const Tag d;
  const FourBits<Form> four_bits(form.zero);
  const std::int64_t in_row = first / form.block * kStep + static_cast<std::int64_t>(column);
  Vector scales[kCount];
  Vector zeros[kCount];
  for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
    const std::int64_t at = in_row + static_cast<std::int64_t>(kOne * kLanes);
    scales[kOne] = load_scales(form, panel.scales + at * form.scale_size());
    zeros[kOne] = Form::kHasZeros ? load_bytes(panel.zeros + at) : hn::Set(d, static_cast<f32>(form.zero));
  });
  Vector weights[kCount];
  if constexpr (Form::kBits == 8) {
    const std::byte* codes = panel.codes + first * kStep + column;
    for (std::int64_t k = first; k < end; ++k, codes += kStep) {
      for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
        prefetch_weights<kLanes>(codes, kOne);
        weights[kOne] = weight_of<Form>(hn::Sub(load_bytes(codes + kOne * kLanes), zeros[kOne]), scales[kOne]);
      });
      use(k, weights);
    }
    return;
  }
  const Words d_words;
  const auto* codes = reinterpret_cast<const u32*>(panel.codes) + first / kCodesOfWord * kStep + column;
  hn::Vec<Words> words[kCount];
  std::int64_t k = first;
  for (; k + kCodesOfWord <= end; k += kCodesOfWord, codes += kStep) {
    for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
      prefetch_weights<sizeof(u32) * kLanes>(codes, kOne);
      words[kOne] = hn::LoadU(d_words, codes + kOne * kLanes);
    });
    for_each_index<kCodesOfWord>([&]<std::size_t kCode>() HWY_ATTR {
      for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
        weights[kOne] = weight_of<Form>(
            four_bits(hn::ShiftRight<static_cast<int>(4 * kCode)>(words[kOne]), zeros[kOne]), scales[kOne]);
      });
      use(k + static_cast<std::int64_t>(kCode), weights);
    });
  }
  if (k == end) {
    return;
  }
  for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR { words[kOne] = hn::LoadU(d_words, codes + kOne * kLanes); });
  for (; k < end; ++k) {
    for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
      weights[kOne] = weight_of<Form>(four_bits(words[kOne], zeros[kOne]), scales[kOne]);
      words[kOne] = hn::ShiftRight<4>(words[kOne]);
    });
    use(k, weights);
  }
}

// Calls use(first, end) for the parts of a range of k that share scales.
template <class Use>
HWY_INLINE void each_part(const CodedForm& form, std::int64_t first, std::int64_t end, const Use& use) {
  while (first < end) {
    const std::int64_t next = std::min(end, (first / form.block + 1) * form.block);
    use(first, next);
    first = next;
  }
}

template <class Form, std::size_t kRows>
void multiply_rows(const CodedForm& form, const f32* factors, const std::byte* packed, std::int64_t column,
                   std::int64_t columns, f32* totals, std::int64_t totals_step) noexcept {
  constexpr std::size_t kCount = kWidth / kLanes;
  constexpr auto kStep = static_cast<std::int64_t>(kWidth);
  const Tag d;
  for (std::int64_t from = 0; from < columns; from += kStep) {
    const CodedPanel panel = coded_panel(form, packed, (column + from) / kStep);
    for (std::int64_t first = 0; first < form.depth; first += kProductBlock) {
      Vector sums[kRows * kCount];
      for_each_index<kRows * kCount>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
      each_part(
          form, first, std::min(form.depth, first + kProductBlock), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
            each_weight<Form, kCount>(form, panel, 0, begin, end, [&](std::int64_t k, const Vector* weights) HWY_ATTR {
              const f32* const of_k = factors + k * static_cast<std::int64_t>(kRows);
              for_each_index<kRows>([&]<std::size_t kRow>() HWY_ATTR {
                const Vector factor = hn::Set(d, of_k[kRow]);
                for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
                  auto& sum = sums[kRow * kCount + kOne];
                  sum = hn::MulAdd(factor, weights[kOne], sum);
                });
              });
            });
          });
      for_each_index<kRows * kCount>([&]<std::size_t kSum>() HWY_ATTR {
        f32* const to = totals + from + static_cast<std::int64_t>(kSum / kCount) * totals_step + kSum % kCount * kLanes;
        hn::StoreU(first == 0 ? sums[kSum] : hn::Add(hn::LoadU(d, to), sums[kSum]), d, to);
      });
    }
  }
}

template <class Form>
void widen_panel(const CodedForm& form, const std::byte* packed, std::int64_t column, std::int64_t first,
                 std::int64_t depth, f32* to) noexcept {
  constexpr auto kStep = static_cast<std::int64_t>(kWidth);
  const CodedPanel panel = coded_panel(form, packed, column / kStep);
  each_part(form, first, first + depth, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    each_weight<Form, kVectors>(form, panel, static_cast<std::size_t>(column % kStep), begin, end,
                                [&](std::int64_t k, const Vector* weights) HWY_ATTR {
                                  f32* const of_k = to + (k - first) * static_cast<std::int64_t>(kPanel);
                                  for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR {
                                    hn::StoreU(weights[kOne], Tag(), of_k + kOne * kLanes);
                                  });
                                });
  });
}

template <class Form>
const CodedKernels* all_kernels() {
  static constexpr CodedKernels kAll = {
      .rows = {multiply_rows<Form, 1>, multiply_rows<Form, 2>, multiply_rows<Form, 3>, multiply_rows<Form, 4>},
      .widen = widen_panel<Form>};
  return &kAll;
}

template <std::uint32_t kBits>
const CodedKernels* kernels_of_bits(const CodedForm& form) {
  if (form.half_weights != 0) {
    return form.has_zeros != 0 ? all_kernels<Variant<kBits, true, true>>() : all_kernels<Variant<kBits, false, true>>();
  }
  return form.has_zeros != 0 ? all_kernels<Variant<kBits, true, false>>() : all_kernels<Variant<kBits, false, false>>();
}

}  // namespace

const CodedKernels* find_coded_kernels(const CodedForm& form) {
  return form.bits == 4 ? kernels_of_bits<4>(form) : kernels_of_bits<8>(form);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const CodedKernels* coded_kernels(cpu::Target target, const CodedForm& form) {
  return ANYDML_FOR_TARGET(target, nullptr, find_coded_kernels(form));
}

}  // namespace anydml

#endif
