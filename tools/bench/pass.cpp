// SPDX-License-Identifier: MIT
// Compiled with -O3 in every build: a slow baseline would flatter the operators measured against it.
#include "pass.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
// Uses the machine's widest vectors, chosen when the program is loaded.
#define ANYDML_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANYDML_WIDEST
#endif

namespace anydml::bench {
namespace {

// A cache line, which compilers split into the available vectors. It may have any address and alias any type.
using Line = std::uint64_t __attribute__((vector_size(64), aligned(1), may_alias));
constexpr std::size_t kUnrolled = 4;
// A register, for values kept across a loop: compilers would keep a whole Line in memory.
#if defined(__x86_64__)
constexpr std::size_t kPieceBytes = 32;
#else
constexpr std::size_t kPieceBytes = 16;
#endif
using Piece = std::uint64_t __attribute__((vector_size(kPieceBytes), aligned(1), may_alias));
constexpr std::size_t kLinePieces = sizeof(Line) / kPieceBytes;
constexpr std::uint64_t kConstant = 0x5555555555555555;

}  // namespace

ANYDML_WIDEST void pass_two(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + sizeof(Line) * kUnrolled <= bytes; at += sizeof(Line) * kUnrolled) {
    const auto* from_a = reinterpret_cast<const Line*>(a + at);
    const auto* from_b = reinterpret_cast<const Line*>(b + at);
    auto* to = reinterpret_cast<Line*>(out + at);
    to[0] = from_a[0] ^ from_b[0];
    to[1] = from_a[1] ^ from_b[1];
    to[2] = from_a[2] ^ from_b[2];
    to[3] = from_a[3] ^ from_b[3];
  }
  for (; at < bytes; ++at) {
    out[at] = a[at] ^ b[at];
  }
}

ANYDML_WIDEST void pass_one(std::byte* out, const std::byte* a, std::size_t bytes) {
  std::size_t at = 0;
  for (; at + sizeof(Line) * kUnrolled <= bytes; at += sizeof(Line) * kUnrolled) {
    const auto* from = reinterpret_cast<const Line*>(a + at);
    auto* to = reinterpret_cast<Line*>(out + at);
    to[0] = from[0] ^ kConstant;
    to[1] = from[1] ^ kConstant;
    to[2] = from[2] ^ kConstant;
    to[3] = from[3] ^ kConstant;
  }
  for (; at < bytes; ++at) {
    out[at] = a[at] ^ static_cast<std::byte>(kConstant & 0xff);
  }
}

ANYDML_WIDEST void pass_read(const std::byte* a, std::size_t bytes) {
  constexpr std::size_t kKept = 16;  // enough to hide instruction latency without running out of registers
  Piece kept[kKept] = {};
  std::size_t at = 0;
  for (; at + sizeof(kept) <= bytes; at += sizeof(kept)) {
    const auto* from = reinterpret_cast<const Piece*>(a + at);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kKept; ++i) {
      kept[i] ^= from[i];
    }
  }
  std::byte last{};
  for (; at < bytes; ++at) {
    last ^= a[at];
  }
  Piece all{};
  for (const Piece& one : kept) {
    all ^= one;
  }
  // The result is unused, but the compiler must not know that.
  asm volatile("" : : "m"(all), "m"(last));
}

ANYDML_WIDEST void pass_write(std::byte* out, std::size_t bytes) {
  const Line value = Line{} ^ kConstant;
  std::size_t at = 0;
  for (; at + sizeof(Line) * kUnrolled <= bytes; at += sizeof(Line) * kUnrolled) {
    auto* to = reinterpret_cast<Line*>(out + at);
    to[0] = value;
    to[1] = value;
    to[2] = value;
    to[3] = value;
    asm volatile("" : : : "memory");  // keeps the loop from becoming memset, which may bypass the cache
  }
  for (; at < bytes; ++at) {
    out[at] = static_cast<std::byte>(kConstant & 0xff);
  }
}

namespace {

// Processes 64 elements at a time. Each array contributes as many lines as its elements have bytes. Every line of every
// input affects the output.
template <std::size_t OutSize, std::size_t InSize, bool HasTwo, bool HasCondition>
[[gnu::always_inline]] inline void mixed_loop(const MixedArrays& arrays, std::size_t begin, std::size_t end) {
  const auto move_block = [&](std::size_t at) __attribute__((always_inline)) {
    const auto* a = reinterpret_cast<const Piece*>(arrays.a + at * InSize);
    const auto* b = reinterpret_cast<const Piece*>(arrays.b + (HasTwo ? at * InSize : 0));
    const auto* condition = reinterpret_cast<const Piece*>(arrays.condition + (HasCondition ? at : 0));
    auto* to = reinterpret_cast<Piece*>(arrays.out + at * OutSize);
    // Loaded once, because the compiler must assume that the stores may change them.
    Piece extra[kLinePieces];
#pragma GCC unroll 4
    for (std::size_t piece = 0; piece < kLinePieces; ++piece) {
      extra[piece] = HasCondition ? condition[piece] : Piece{} ^ kConstant;
    }
#pragma GCC unroll 32
    for (std::size_t piece = 0; piece < OutSize * kLinePieces; ++piece) {
      Piece value = extra[piece % kLinePieces];
#pragma GCC unroll 32
      for (std::size_t from = piece % (InSize * kLinePieces); from < InSize * kLinePieces;
           from += OutSize * kLinePieces) {
        value ^= a[from];
        if constexpr (HasTwo) {
          value ^= b[from];
        }
      }
      to[piece] = value;
    }
  };
  std::size_t at = begin;
  for (; at + sizeof(Line) <= end; at += sizeof(Line)) {
    move_block(at);
  }
  if (at < end && end - begin >= sizeof(Line)) {
    move_block(end - sizeof(Line));  // repeats some elements
    return;
  }
  for (std::size_t byte = at * OutSize; byte < end * OutSize; ++byte) {
    arrays.out[byte] = arrays.a[byte / OutSize * InSize];
  }
}

template <std::size_t OutSize, std::size_t InSize>
[[gnu::always_inline]] inline void mixed_inputs(const MixedArrays& arrays, std::size_t begin, std::size_t end) {
  if (arrays.b != nullptr) {
    arrays.condition != nullptr ? mixed_loop<OutSize, InSize, true, true>(arrays, begin, end)
                                : mixed_loop<OutSize, InSize, true, false>(arrays, begin, end);
  } else {
    arrays.condition != nullptr ? mixed_loop<OutSize, InSize, false, true>(arrays, begin, end)
                                : mixed_loop<OutSize, InSize, false, false>(arrays, begin, end);
  }
}

template <std::size_t OutSize>
[[gnu::always_inline]] inline void mixed_sizes(const MixedArrays& arrays, std::size_t begin, std::size_t end) {
  switch (arrays.in_size) {
    case 1:
      return mixed_inputs<OutSize, 1>(arrays, begin, end);
    case 2:
      return mixed_inputs<OutSize, 2>(arrays, begin, end);
    case 4:
      return mixed_inputs<OutSize, 4>(arrays, begin, end);
    default:
      return mixed_inputs<OutSize, 8>(arrays, begin, end);
  }
}

}  // namespace

ANYDML_WIDEST void pass_mixed(const MixedArrays& arrays, std::size_t begin, std::size_t end) {
  switch (arrays.out_size) {
    case 1:
      return mixed_sizes<1>(arrays, begin, end);
    case 2:
      return mixed_sizes<2>(arrays, begin, end);
    case 4:
      return mixed_sizes<4>(arrays, begin, end);
    default:
      return mixed_sizes<8>(arrays, begin, end);
  }
}

#if defined(__x86_64__)

namespace {

template <class Value>
void stream(std::byte* out, std::size_t bytes, Value value) {
  std::size_t at = 0;
  // A streaming store must be aligned; bytes before the first aligned address are stored normally.
  for (; at < bytes && reinterpret_cast<std::uintptr_t>(out + at) % 64 != 0; ++at) {
    out[at] = static_cast<std::byte>(_mm_cvtsi128_si32(value(at, 1)));
  }
  for (; at + 64 <= bytes; at += 64) {
    for (std::size_t i = 0; i < 64; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at + i), value(at + i, 16));
    }
  }
  for (; at < bytes; ++at) {
    out[at] = static_cast<std::byte>(_mm_cvtsi128_si32(value(at, 1)));
  }
  _mm_sfence();
}

__m128i load(const std::byte* from, std::size_t bytes) {
  if (bytes == 16) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  return _mm_cvtsi32_si128(static_cast<int>(*from));
}

}  // namespace

bool has_streaming_pass() { return true; }

void pass_two_streaming(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes) {
  stream(out, bytes, [&](std::size_t at, std::size_t n) { return _mm_xor_si128(load(a + at, n), load(b + at, n)); });
}

void pass_one_streaming(std::byte* out, const std::byte* a, std::size_t bytes) {
  stream(out, bytes,
         [&](std::size_t at, std::size_t n) { return _mm_xor_si128(load(a + at, n), _mm_set1_epi8(0x55)); });
}

#else

bool has_streaming_pass() { return false; }
void pass_two_streaming(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes) {
  pass_two(out, a, b, bytes);
}
void pass_one_streaming(std::byte* out, const std::byte* a, std::size_t bytes) { pass_one(out, a, bytes); }

#endif

}  // namespace anydml::bench
