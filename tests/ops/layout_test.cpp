// SPDX-License-Identifier: MIT
// Kernels process tensors in tiles, rows and vectors, differently for each layout. This test covers many layouts, and
// sizes around the edges of tiles and vectors, for every type, at unaligned addresses, out of place and in place. The
// whole memory of each output, including the bytes between its elements, is compared with the scalar definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ops/scalar/modulus_floor.h"
#include "support/bits.h"
#include "support/sanitizers.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

using Sizes = std::vector<int64_t>;

struct Layout {
  std::string name;
  Sizes sizes;
  Sizes a, b, out;  // strides
};

Sizes packed(const Sizes& sizes, int64_t innermost = 1, int64_t padding = 0) {
  Sizes strides(sizes.size());
  int64_t stride = innermost;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * sizes[i] + (i + 1 == sizes.size() ? padding : 0);
  }
  return strides;
}

// The dimensions in the given order, outermost first.
Sizes ordered(const Sizes& sizes, const std::vector<std::size_t>& order) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
  return strides;
}

Sizes reversed(Sizes strides, std::size_t dimension) {
  strides[dimension] = -strides[dimension];
  return strides;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (const int64_t n : {1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 127, 129, 255, 511, 513, 4097}) {
    const std::string count = std::to_string(n);
    const Sizes one{n};
    all.push_back({"row of " + count, one, {1}, {1}, {1}});
    all.push_back({"one divisor, " + count, one, {1}, {0}, {1}});
    all.push_back({"one dividend, " + count, one, {0}, {1}, {1}});
    all.push_back({"inputs by two, " + count, one, {2}, {2}, {1}});
    all.push_back({"all by two, " + count, one, {2}, {2}, {2}});
    all.push_back({"by three and back, " + count, one, {3}, {-1}, {1}});
    all.push_back({"output back, " + count, one, {1}, {1}, {-2}});
    const Sizes rows{9, n};
    all.push_back({"padded rows of " + count, rows, packed(rows, 1, 1), packed(rows, 1, 2), packed(rows, 1, 3)});
    all.push_back({"a divisor for each row of " + count, rows, packed(rows), {1, 0}, packed(rows)});
    all.push_back({"a row of divisors for rows of " + count, rows, packed(rows, 1, 1), {0, 1}, packed(rows)});
  }
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{5, 3}, {64, 64}, {65, 63}, {200, 130}, {7, 300}}) {
    const std::string size = std::to_string(rows) + " x " + std::to_string(columns);
    const Sizes sizes{rows, columns};
    const Sizes plain = packed(sizes);
    const Sizes crossed{1, rows};
    all.push_back({"second crossed, " + size, sizes, plain, crossed, plain});
    all.push_back({"first crossed, " + size, sizes, crossed, plain, plain});
    all.push_back({"both crossed, " + size, sizes, crossed, crossed, plain});
    all.push_back({"crossed by two, " + size, sizes, plain, {2, 2 * rows}, packed(sizes, 1, 3)});
    all.push_back({"crossed backwards, " + size, sizes, plain, reversed(crossed, 0), plain});
    all.push_back({"output crossed, " + size, sizes, plain, plain, crossed});
    all.push_back({"crossed and repeated, " + size, sizes, {1, 0}, crossed, packed(sizes, 2)});
  }
  const Sizes images{3, 5, 17, 70};
  all.push_back({"channels first and last", images, packed(images), ordered(images, {0, 2, 3, 1}), packed(images)});
  all.push_back(
      {"channels last, both", images, ordered(images, {0, 2, 3, 1}), ordered(images, {0, 2, 3, 1}), packed(images)});
  const Sizes eight{2, 3, 2, 3, 2, 2, 3, 64};
  all.push_back(
      {"eight dimensions", eight, packed(eight, 1, 8), ordered(eight, {6, 5, 4, 3, 2, 1, 0, 7}), packed(eight)});
  const Sizes short_eight{3, 2, 3, 2, 3, 2, 3, 5};
  all.push_back({"eight short dimensions", short_eight, ordered(short_eight, {7, 0, 6, 1, 5, 2, 4, 3}),
                 ordered(short_eight, {1, 3, 5, 7, 0, 2, 4, 6}), packed(short_eight, 1, 1)});
  return all;
}

struct Extent {
  int64_t before = 0;  // elements below the first index
  int64_t count = 1;
};

Extent extent(const Sizes& sizes, const Sizes& strides) {
  Extent result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int64_t reach = (sizes[i] - 1) * strides[i];
    result.before += reach < 0 ? -reach : 0;
    result.count += reach < 0 ? -reach : reach;
  }
  return result;
}

enum class Fill { mixed, small_integers, small_divisors };

// A tensor's memory, one byte off any alignment. It is filled with ordinary values and some hard ones, or only with
// small integers of either sign (and zeros among the dividends), which fast paths handle without a fallback.
template <class T>
struct Memory {
  std::vector<std::byte> bytes;
  Extent reach;

  Memory(const Sizes& sizes, const Sizes& strides, Fill fill, std::mt19937_64& random)
      : bytes(static_cast<std::size_t>(extent(sizes, strides).count) * sizeof(T) + 1), reach(extent(sizes, strides)) {
    for (int64_t i = 0; i < reach.count; ++i) {
      u64 value = random();
      if (fill != Fill::mixed) {
        value = small_integer(fill, random);
      } else if (random() % 8 != 0) {
        if constexpr (is_float<T>) {
          using F = FloatParts<T>;
          const u64 middle = (F::kInfinity >> F::kFractionBits) / 2 + random() % 9;
          value = (value & (F::kSign | F::kFraction)) | middle << F::kFractionBits;
        } else {
          value = random() % 4 == 0 ? u64{0} - value % 1000 : value;
        }
      }
      std::memcpy(bytes.data() + 1 + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  }
  static u64 small_integer(Fill fill, std::mt19937_64& random) {
    const u64 magnitude = fill == Fill::small_divisors ? 1 + random() % 11 : random() % 12;
    if constexpr (is_float<T>) {
      return to_bits(narrow<T>(static_cast<f32>(magnitude))) | (random() & FloatParts<T>::kSign);
    } else {
      return random() % 2 == 0 ? magnitude : u64{0} - magnitude;
    }
  }
  std::byte* element(int64_t offset) {
    return bytes.data() + 1 + static_cast<std::size_t>(reach.before + offset) * sizeof(T);
  }
};

template <class T>
T read(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void check(const Layout& layout, bool floor, int in_place, bool plain, std::mt19937_64& random, u64& elements) {
  Memory<T> a(layout.sizes, layout.a, plain ? Fill::small_integers : Fill::mixed, random);
  Memory<T> b(layout.sizes, layout.b, plain ? Fill::small_divisors : Fill::mixed, random);
  Memory<T> apart(layout.sizes, layout.out, Fill::mixed, random);
  Memory<T>& out = in_place == 0 ? apart : in_place == 1 ? a : b;
  const Sizes& out_strides = in_place == 0 ? layout.out : in_place == 1 ? layout.a : layout.b;
  // The expected output: the original memory, with every element computed with the scalar definition.
  Memory<T> expected = out;
  Sizes index(layout.sizes.size());
  for (bool more = true; more; ++elements) {
    int64_t at_a = 0;
    int64_t at_b = 0;
    int64_t at_out = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      at_a += index[i] * layout.a[i];
      at_b += index[i] * layout.b[i];
      at_out += index[i] * out_strides[i];
    }
    const T x = read<T>(a.element(at_a));
    const T y = read<T>(b.element(at_b));
    const T result = floor ? ModulusFloor<T>{}(x, y) : ModulusTruncate<T>{}(x, y);
    std::memcpy(expected.element(at_out), &result, sizeof(T));
    more = false;
    for (std::size_t i = index.size(); i-- > 0 && !more;) {
      more = ++index[i] < layout.sizes[i];
      index[i] = more ? index[i] : 0;
    }
  }
  const auto type = static_cast<anydml_type>(kDataTypeOf<T>);
  const auto rank = static_cast<int32_t>(layout.sizes.size());
  const anydml_tensor ta = {type, rank, layout.sizes.data(), layout.a.data(), a.element(0)};
  const anydml_tensor tb = {type, rank, layout.sizes.data(), layout.b.data(), b.element(0)};
  const anydml_tensor to = {type, rank, layout.sizes.data(), out_strides.data(), out.element(0)};
  ASSERT_EQ((floor ? anydml_modulus_floor : anydml_modulus_truncate)(&ta, &tb, &to), ANYDML_OK)
      << layout.name << ": " << anydml_last_error();
  for (int64_t i = 0; i < out.reach.count; ++i) {
    const T actual = read<T>(out.element(i - out.reach.before));
    const T wanted = read<T>(expected.element(i - out.reach.before));
    ASSERT_TRUE(same(actual, wanted)) << layout.name << (floor ? ", floor" : ", truncate") << ", in place " << in_place
                                      << ", element " << i << " of memory: " << show(actual) << ", expected "
                                      << show(wanted);
  }
}

bool repeats(const Sizes& sizes, const Sizes& strides) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] == 0 && sizes[i] > 1) {
      return true;
    }
  }
  return false;
}

template <class T>
void check_all() {
  std::mt19937_64 random(7);
  u64 elements = 0;
  u64 runs = 0;
  for (const Layout& layout : layouts()) {
    for (const bool floor : {true, false}) {
      for (int in_place = 0; in_place < 3; ++in_place) {
        if ((in_place == 1 && repeats(layout.sizes, layout.a)) || (in_place == 2 && repeats(layout.sizes, layout.b))) {
          continue;
        }
        for (const bool plain : {false, true}) {
          // Sanitizers check addresses and threads, which do not depend on operators or values, so one combination of
          // these suffices for each case.
          if (kSanitized && (plain != (in_place == 1) || floor != (in_place != 1))) {
            continue;
          }
          ++runs;
          check<T>(layout, floor, in_place, plain, random, elements);
          if (testing::Test::HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
  std::printf("  %-8s %" PRIu64 " runs, %" PRIu64 " elements, none different\n",
              anydml_type_name(static_cast<anydml_type>(kDataTypeOf<T>)), runs, elements);
}

#define ANYDML_LAYOUT_TEST(T, name, value) \
  TEST(Layout, name) { check_all<T>(); }
ANYDML_FOR_EACH_TYPE(ANYDML_LAYOUT_TEST)

}  // namespace
}  // namespace anydml::test
