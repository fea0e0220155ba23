// SPDX-License-Identifier: MIT
// Declarations shared by the kernels of all entries, for each of Highway's targets; tiles.cpp defines the functions.
#if defined(ANYDML_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_TILES_INL
#undef ANYDML_TILES_INL
#else
#define ANYDML_TILES_INL
#endif

#include "base/float_bits.h"
#include "ops/elementwise/cpu/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Accessed as bytes, since tensors may be misaligned.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(address)));
}

template <class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> lanes, std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  hn::StoreU(hn::BitCast(d_bytes, lanes), d_bytes, reinterpret_cast<u8*>(address));
  static_cast<void>(d);
}

// This is only a prefetch hint, so the address may lie beyond the tensor.
HWY_INLINE void fetch(const std::byte* from, std::int64_t ahead) {
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(ahead)));
}

inline constexpr std::int64_t kRowsAhead = 2;

HWY_INLINE void fetch_ahead(const std::byte* from, std::int64_t row_stride, std::int64_t bytes) {
  for (std::int64_t n = 0; n < bytes; n += 64) {
    fetch(from + n, kRowsAhead * row_stride);
  }
}

// Iterates over the rows of a block: `do { row.inputs, row.output } while (row.next())`. The addresses stay in
// registers.
template <std::size_t kInputs>
struct RowCursor {
  const RowBlock& block;
  const std::byte* inputs[kInputs];
  std::byte* output;
  std::size_t left;

  HWY_INLINE explicit RowCursor(const RowBlock& of) : block(of), output(of.output), left(of.rows) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      inputs[i] = of.inputs[i];
    }
    fetch_some();
  }
  HWY_INLINE bool next() {
    if (--left == 0) {
      return false;
    }
    for (std::size_t i = 0; i < kInputs; ++i) {
      inputs[i] += block.row_strides[i];
    }
    output += block.row_strides[kInputs];
    fetch_some();
    return true;
  }

 private:
  HWY_INLINE void fetch_some() {
    if (HWY_UNLIKELY(block.fetches)) {
      for (std::size_t i = 0; i < kInputs; ++i) {
        fetch_ahead(inputs[i], block.row_strides[i], block.fetched[i]);
      }
      fetch_ahead(output, block.row_strides[kInputs], block.fetched[kInputs]);
    }
  }
};

// Runs a kernel over tensors of any layout. Rows whose layout the row function accepts are read and written in place.
// Everything else, including rows too short for vectors, is gathered into packed tiles in the L1 cache.
void run_tiled(const TiledRow& row, const KernelArguments& arguments, const void* scalar) noexcept;

// Converts FLOAT16 to FLOAT32, and back with rounding to nearest even.
void widen_halves(const std::byte* from, f32* to, std::size_t count) noexcept;
void narrow_halves(const f32* from, std::byte* to, std::size_t count) noexcept;

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
