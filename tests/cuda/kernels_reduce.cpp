// SPDX-License-Identifier: MIT
// Checks every element of the device's reductions against an independent host implementation that combines the scalar
// definitions in the same order. The test covers every function and type, arbitrary layouts, and sizes just below and
// above vector, lane, warp and block boundaries.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "backend/cuda/family.h"
#include "cuda/kernels_harness.h"
#include "ops/reduce/scalar/totals.h"
#include "ops/reduce/step.h"

namespace anydml::cuda {

extern const FamilyKernels reduce_family;

namespace {

constexpr std::size_t kInputBytes = 40 << 20;
constexpr std::size_t kOutputBytes = 8 << 20;
constexpr std::size_t kPartialBytes = 8 << 20;
constexpr std::size_t kDrawn = 65'521;  // the number of random elements, which larger tensors repeat
constexpr std::int64_t kEdges[] = {1,   2,   3,   4,    5,    7,    8,    9,    12,   15,   16,   17,    24,  31,
                                   32,  33,  48,  63,   64,   65,   96,   100,  127,  128,  129,  200,   256, 300,
                                   511, 513, 777, 1000, 1024, 2047, 4095, 4096, 4097, 6000, 8192, 12'345};

enum class Data { any, zeros, few, everyday, near_one };

template <class T>
T draw(Data data, test::Random& random) {
  static const std::vector<T> specials = test::special_values<T>();
  const u64 bits = random();
  switch (data) {
    case Data::any:
      return bits % 64 == 0 ? specials[bits / 64 % specials.size()] : test::from_raw<T>(bits >> 7);
    case Data::zeros:
      if constexpr (is_float<T>) {
        return from_bits<T>(static_cast<float_bits_t<T>>(bits % 16 == 0 ? 0 : FloatParts<T>::kSign));
      }
      break;
    case Data::few:
      return specials[bits % 3 * 5 % specials.size()];
    case Data::everyday:
    case Data::near_one:
      break;
  }
  const auto value = static_cast<f64>(bits % 2001) - 1000.0;
  const f64 fraction = data == Data::near_one ? 1.0 + value / 500'000.0 : value / 997.0;
  if constexpr (std::is_same_v<T, f16>) {
    return round_to<f16>(fraction);
  } else if constexpr (is_float<T>) {
    return static_cast<T>(fraction);
  } else {
    return static_cast<T>(static_cast<i64>(value));
  }
}

// The elements of one output, in the order of the reduced axes.
template <class Fold>
std::vector<typename Fold::Accumulator> lifted(const std::byte* first, const ReduceStep& step) {
  using T = typename Fold::Element;
  std::vector<typename Fold::Accumulator> all;
  all.reserve(static_cast<std::size_t>(step.count));
  std::int64_t indices[kMaxRank] = {};
  for (std::int64_t n = 0; n < step.count; ++n) {
    std::int64_t offset = 0;
    for (u32 i = 0; i < step.reduced_rank; ++i) {
      offset += indices[i] * step.reduced[i].input;
    }
    typename Fold::Loaded element;
    if constexpr (Fold::kWidens) {
      T narrow_element;
      std::memcpy(&narrow_element, first + offset, sizeof(T));
      element = widen(narrow_element);
    } else {
      std::memcpy(&element, first + offset, sizeof(T));
    }
    all.push_back(Fold::lift(element));
    for (u32 i = step.reduced_rank; i-- > 0 && ++indices[i] == step.reduced[i].size;) {
      indices[i] = 0;
    }
  }
  return all;
}

template <class Fold>
typename Fold::Accumulator block_of(const typename Fold::Accumulator* elements, std::size_t count, bool has_lanes) {
  typename Fold::Accumulator lanes[kReduceLanes];
  std::fill_n(lanes, kReduceLanes, Fold::kNeutral);
  for (std::size_t i = 0; i < count; ++i) {
    auto& lane = lanes[has_lanes ? i % kReduceLanes : 0];
    lane = Fold::combine(lane, elements[i]);
  }
  for (std::int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) {
      lanes[i] = Fold::combine(lanes[i], lanes[i + half]);
    }
  }
  return lanes[0];
}

// The expected output, as bits.
template <class Fold>
u64 expected(const std::byte* first, const ReduceStep& step) {
  using T = typename Fold::Element;
  std::vector<typename Fold::Accumulator> all = lifted<Fold>(first, step);
  if (is_arg(step.function)) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const bool equal = all[i] == all[best];
      best = (equal ? step.takes_last != 0 : Fold::combine(all[i], all[best]) == all[i]) ? i : best;
    }
    return best;
  }
  std::vector<typename Fold::Accumulator> blocks;
  for (std::size_t i = 0; i < all.size(); i += kReduceBlock) {
    blocks.push_back(
        block_of<Fold>(all.data() + i, std::min<std::size_t>(kReduceBlock, all.size() - i), step.has_lanes != 0));
  }
  T element;
  if constexpr (std::is_same_v<T, f16> && std::is_same_v<typename Fold::Accumulator, f64>) {
    HalfSum sum;
    for (const f64 block : blocks) {
      sum.add(block);
    }
    element = sum.over(step.function == ReduceFunction::AVERAGE ? static_cast<u64>(step.count) : 1);
  } else {
    const auto total = combine_blocks<Fold>(blocks.data(), static_cast<std::int64_t>(blocks.size()));
    element = element_of_total<Fold>(step.function, static_cast<u64>(step.count), total);
  }
  u64 bits = 0;
  std::memcpy(&bits, &element, sizeof(element));
  return bits;
}

bool same_element(DataType type, u64 a, u64 b) {
  return visit_type(type, [&]<class T>() { return test::same(test::from_raw<T>(a), test::from_raw<T>(b)); });
}

// Runs a reduction on the device and on the host and compares them. The bytes between the output's elements are random,
// and must not change.
class ReduceCheck {
 public:
  ReduceCheck() : input_(kInputBytes), output_(kOutputBytes), found_(kOutputBytes), random_(test::kSeed) {
    CHECK(cudaMalloc(&device_input_, kInputBytes));
    CHECK(cudaMalloc(&device_output_, kOutputBytes));
    CHECK(cudaMalloc(&device_partials_, kPartialBytes));
  }
  ~ReduceCheck() {
    (void)cudaFree(device_input_);
    (void)cudaFree(device_output_);
    (void)cudaFree(device_partials_);
  }

  struct Shape {
    std::vector<std::int64_t> kept;
    std::vector<std::int64_t> reduced;
    bool has_lanes;
    // The order of the loops in memory, innermost last, with kept loops numbered first. If it is empty, the order is
    // random.
    std::vector<std::size_t> order;
    bool repeats = false;  // along the first reduced loop
  };

  // If `plain` is true, the tensors are packed and begin at the start of memory.
  void run(ReduceFunction function, DataType type, const Shape& shape, bool plain) {
    ReduceStep step{};
    step.function = function;
    step.input_type = type;
    step.output_type = is_arg(function) ? (random_() % 2 == 0 ? DataType::UINT32 : DataType::INT64) : type;
    step.has_lanes = shape.has_lanes ? 1 : 0;
    step.takes_last = is_arg(function) && random_() % 2 == 0 ? 1 : 0;
    step.kept_rank = static_cast<u32>(shape.kept.size());
    step.reduced_rank = static_cast<u32>(shape.reduced.size());
    step.outputs = 1;
    step.count = 1;
    for (u32 i = 0; i < step.kept_rank; ++i) {
      step.kept[i].size = shape.kept[i];
      step.outputs *= shape.kept[i];
    }
    for (u32 i = 0; i < step.reduced_rank; ++i) {
      step.reduced[i].size = shape.reduced[i];
      step.count *= shape.reduced[i];
    }
    std::vector<std::size_t> order = shape.order;
    if (order.empty()) {
      order.resize(shape.kept.size() + shape.reduced.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random_);
    }
    auto input_bytes = lay_out(order, element_size(type), plain, true, [&](std::size_t loop) -> Dimension {
      ReduceLoop& at = loop < shape.kept.size() ? step.kept[loop] : step.reduced[loop - shape.kept.size()];
      return {at.size, &at.input};
    });
    if (shape.repeats) {
      input_bytes.end -= (step.reduced[0].size - 1) * step.reduced[0].input;
      step.reduced[0].input = 0;
    }
    std::vector<std::size_t> kept_order(shape.kept.size());
    std::iota(kept_order.begin(), kept_order.end(), 0);
    std::shuffle(kept_order.begin(), kept_order.end(), random_);
    const auto output_bytes =
        lay_out(kept_order, element_size(step.output_type), plain, false, [&](std::size_t loop) -> Dimension {
          return {step.kept[loop].size, &step.kept[loop].output};
        });
    if (input_bytes.end - input_bytes.first > static_cast<std::int64_t>(kInputBytes) ||
        output_bytes.end - output_bytes.first > static_cast<std::int64_t>(kOutputBytes)) {
      return;
    }
    step.input_offset = position(input_bytes, kInputBytes, element_size(type), plain);
    step.output_offset = position(output_bytes, kOutputBytes, element_size(step.output_type), plain);
    fill(step, input_bytes);
    compare(step, output_bytes);
  }

  test::Random& random() { return random_; }
  u64 elements = 0;
  u64 different = 0;

 private:
  struct Dimension {
    std::int64_t size;
    std::int64_t* stride;
  };
  struct Bytes {
    std::int64_t first;
    std::int64_t end;
  };

  template <class Find>
  Bytes lay_out(const std::vector<std::size_t>& order, std::size_t element, bool plain, bool input, Find find) {
    auto stride = static_cast<std::int64_t>(element);
    Bytes bytes{0, stride};
    const bool padded = !plain && random_() % 2 == 0;
    const bool turned = !plain && random_() % 4 == 0;
    const bool repeated = !plain && input && random_() % 8 == 0;
    for (std::size_t i = order.size(); i-- > 0;) {
      const Dimension at = find(order[i]);
      if (padded && random_() % 3 == 0) {
        // Pads by elements, by vectors, or by bytes, which misaligns the elements.
        const u64 kind = random_() % 4;
        stride += static_cast<std::int64_t>(kind == 0 ? random_() % 5 : kind == 1 ? 16 : element * (random_() % 4));
      }
      const bool repeats = repeated && random_() % 3 == 0;
      *at.stride = repeats ? 0 : turned && random_() % 2 == 0 ? -stride : stride;
      (*at.stride < 0 ? bytes.first : bytes.end) += (at.size - 1) * *at.stride;
      stride *= repeats ? 1 : at.size;
    }
    return bytes;
  }

  // The offset of the first element, which is at either end of memory or random.
  std::int64_t position(const Bytes& bytes, std::size_t memory, std::size_t element, bool plain) {
    const std::int64_t room = static_cast<std::int64_t>(memory) - (bytes.end - bytes.first);
    const u64 kind = plain ? 0 : random_() % 5;
    std::int64_t at = kind < 2 ? 0 : kind == 2 ? room : static_cast<std::int64_t>(random_() % 257);
    if (kind == 3) {
      at -= at % static_cast<std::int64_t>(element);
    }
    return std::min(at, room) - bytes.first;
  }

  void fill(const ReduceStep& step, const Bytes& bytes) {
    // These numbers expose the order of summation. Large tensors always use them, since sums of random bits are mostly
    // NaN.
    const Data ordinary = step.function == ReduceFunction::MULTIPLY ? Data::near_one : Data::everyday;
    const u64 kind = step.count > 1'000'000 ? 3 : random_() % 6;
    const Data data = kind < 3 ? static_cast<Data>(kind) : ordinary;
    const std::int64_t begin = step.input_offset + bytes.first;
    const std::int64_t end = step.input_offset + bytes.end;
    const auto length = static_cast<std::size_t>(end - begin);
    std::byte* const to = input_.data() + begin;
    const std::size_t drawn = visit_type(step.input_type, [&]<class T>() {
      std::size_t at = 0;
      for (; at < length && at < kDrawn * sizeof(T); at += sizeof(T)) {
        const T value = draw<T>(data, random_);
        std::memcpy(to + at, &value, std::min(sizeof(T), length - at));
      }
      return at;
    });
    for (std::size_t at = drawn; at < length; at += drawn) {
      std::memcpy(to + at, to, std::min(drawn, length - at));
    }
    CHECK(cudaMemcpy(device_input_ + begin, input_.data() + begin, static_cast<std::size_t>(end - begin),
                     cudaMemcpyHostToDevice));
  }

  void launch(ReduceStep step, ReducePhase phase, std::byte* from, std::byte* to) {
    step.phase = phase;
    const char* why = nullptr;
    const Step flat{.family = 0, .operands = {}, .parameters = std::as_bytes(std::span(&step, 1))};
    const auto prepared = reduce_family.prepare(flat, machine_of_tests(), {}, &why);
    if (prepared == nullptr) {
      report_error(why);
      return;
    }
    std::byte* const bases[] = {from, to};
    CHECK(prepared->launch(bases, nullptr, nullptr));
    char text[64];
    prepared->explain(text, sizeof(text));
    explained_ = phase == ReducePhase::combine ? explained_ : text;
  }

  void compare(const ReduceStep& step, const Bytes& output_bytes) {
    const std::int64_t begin = step.output_offset + output_bytes.first;
    const auto bytes = static_cast<std::size_t>(output_bytes.end - output_bytes.first);
    for (std::size_t i = 0; i < bytes; ++i) {
      output_[static_cast<std::size_t>(begin) + i] = static_cast<std::byte>(random_());
    }
    CHECK(cudaMemcpy(device_output_ + begin, output_.data() + begin, bytes, cudaMemcpyHostToDevice));
    if (step.blocks() == 1) {
      launch(step, ReducePhase::whole, device_input_, device_output_);
    } else {
      CHECK(cudaMemset(device_partials_, 0xee, static_cast<std::size_t>(step.outputs * step.blocks() * 16)));
      launch(step, ReducePhase::blocks, device_input_, device_partials_);
      launch(step, ReducePhase::combine, device_partials_, device_output_);
    }
    CHECK(cudaMemcpy(found_.data() + begin, device_output_ + begin, bytes, cudaMemcpyDeviceToHost));
    const std::size_t element = element_size(step.output_type);
    std::int64_t indices[kMaxRank] = {};
    for (std::int64_t output = 0; output < step.outputs; ++output) {
      std::int64_t from = step.input_offset;
      std::int64_t to = step.output_offset;
      for (u32 i = 0; i < step.kept_rank; ++i) {
        from += indices[i] * step.kept[i].input;
        to += indices[i] * step.kept[i].output;
      }
      const FoldId fold = fold_of(step.function);
      const u64 wanted =
          visit_fold(fold, step.input_type, [&]<class Fold>() { return expected<Fold>(input_.data() + from, step); });
      u64 found = 0;
      std::memcpy(&found, found_.data() + to, element);
      if (!same_element(step.output_type, found, wanted)) {
        show(step, output, found, wanted);
      }
      std::memcpy(output_.data() + to, &found, element);  // only the bytes between the elements remain to be compared
      for (u32 i = step.kept_rank; i-- > 0 && ++indices[i] == step.kept[i].size;) {
        indices[i] = 0;
      }
    }
    if (std::memcmp(found_.data() + begin, output_.data() + begin, bytes) != 0) {
      show(step, -1, 0, 0);
    }
    elements += static_cast<u64>(step.outputs * step.count);
  }

  void show(const ReduceStep& step, std::int64_t output, u64 found, u64 wanted) {
    if (++different > 20) {
      return;
    }
    std::printf("  function %u of %s, %s%s%s, output %lld: %llx, expected %llx\n", static_cast<u32>(step.function),
                std::string(type_name(step.input_type)).c_str(), explained_.c_str(),
                step.has_lanes != 0 ? ", lanes" : "", step.takes_last != 0 ? ", last" : "",
                static_cast<long long>(output), static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(wanted));
    for (u32 i = 0; i < step.kept_rank + step.reduced_rank; ++i) {
      const ReduceLoop& loop = i < step.kept_rank ? step.kept[i] : step.reduced[i - step.kept_rank];
      std::printf("    %s %lld by %lld\n", i < step.kept_rank ? "kept" : "reduced", static_cast<long long>(loop.size),
                  static_cast<long long>(loop.input));
    }
  }

  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  std::vector<std::byte> found_;
  test::Random random_;
  std::byte* device_input_ = nullptr;
  std::byte* device_output_ = nullptr;
  std::byte* device_partials_ = nullptr;
  std::string explained_;
};

// Draws a shape of at most `maximum` elements.
ReduceCheck::Shape draw_shape(ReduceCheck& check, std::int64_t maximum) {
  auto& random = check.random();
  const auto edge = [&](std::int64_t limit) {
    std::int64_t size = 0;
    do {
      size = kEdges[random() % std::size(kEdges)];
    } while (size > limit);
    return size;
  };
  ReduceCheck::Shape shape{.kept = {}, .reduced = {}, .has_lanes = random() % 2 == 0, .order = {}, .repeats = false};
  std::int64_t left = maximum;
  const u64 reduced = 1 + random() % 3;
  const u64 kept = 1 + random() % 3;
  for (u64 i = 0; i < reduced; ++i) {
    shape.reduced.push_back(edge(left));
    left /= shape.reduced.back();
  }
  for (u64 i = 0; i < kept; ++i) {
    shape.kept.push_back(edge(left));
    left /= shape.kept.back();
  }
  return shape;
}

}  // namespace

void check_reductions(u32 part, u32 parts) {
  ReduceCheck check;
  constexpr ReduceFunction kFunctions[] = {
#define ANYDML_REDUCE_FUNCTION(name) ReduceFunction::name,
#include "ops/reduce/reduce.def"
  };
  const auto for_each = [&](const char* name, const auto& use) {
    check.elements = 0;
    const u64 before = check.different;
    for (const ReduceFunction function : kFunctions) {
      if (static_cast<u32>(function) % parts != part) {
        continue;
      }
      const bool floats_alone = function == ReduceFunction::AVERAGE || function == ReduceFunction::L2;
#define ANYDML_ONE(T, type, value)    \
  if (!floats_alone || is_float<T>) { \
    use(function, DataType::type);    \
  }
      ANYDML_FOR_EACH_TYPE(ANYDML_ONE)
#undef ANYDML_ONE
    }
    report(name, check.elements, check.different - before);
  };
  for_each("reductions, edges", [&](ReduceFunction function, DataType type) {
    for (const std::int64_t size : kEdges) {
      if (g_quick && size > 300 && size != 4097) {
        continue;
      }
      for (const bool has_lanes : {false, true}) {
        check.run(function, type, {{3}, {size}, has_lanes, {0, 1}}, true);
        check.run(function, type, {{37}, {size}, has_lanes, {1, 0}}, size % 2 == 0);
        check.run(function, type, {{2, 16}, {size}, has_lanes, {0, 2, 1}}, true);
      }
    }
  });
  for_each("reductions, any shape", [&](ReduceFunction function, DataType type) {
    for (int n = 0; n < (g_quick ? 10 : 150); ++n) {
      check.run(function, type, draw_shape(check, g_quick ? 5000 : n % 16 == 0 ? 300'000 : 20'000), n % 8 == 0);
    }
  });
  if (!g_quick) {
    // First come reductions that need two launches to combine blocks, then many outputs that need only one block each.
    for_each("reductions, large", [&](ReduceFunction function, DataType type) {
      const auto bytes = static_cast<std::int64_t>(element_size(type));
      check.run(function, type, {{1}, {std::min<std::int64_t>((40 << 20) / bytes, 9'000'001)}, true, {0, 1}}, true);
      check.run(function, type, {{1}, {17, 1'000'000}, check.random()() % 2 == 0, {0, 1, 2}, true}, true);
      check.run(function, type, {{4200}, {(24 << 20) / bytes / 4200}, false, {1, 0}}, true);
      check.run(function, type, {{170'000}, {24 / bytes}, true, {0, 1}}, false);
      if (is_float_type(type)) {
        check.run(function, type, {{33'000}, {100}, true, {0, 1}}, false);
      }
    });
  }
}

}  // namespace anydml::cuda
