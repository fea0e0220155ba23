// SPDX-License-Identifier: MIT
// Checks every element of the device's softmax and related functions against an independent host implementation of the
// CPU's definition. The test covers every function and type, arbitrary layouts, and sizes just below and above warp,
// lane, tile and block boundaries.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "backend/cuda/family.h"
#include "cuda/kernels_harness.h"
#include "ops/normalize/scalar/softmax.h"
#include "ops/normalize/step.h"

namespace anydml::cuda {

extern const FamilyKernels normalize_family;

namespace {

constexpr std::size_t kBytes = 40 << 20;
constexpr std::int64_t kEdges[] = {1,    2,    3,    4,    7,    8,    9,    10,   16,     31,    32,   33,
                                   63,   64,   65,   96,   127,  128,  129,  200,  255,    256,   257,  300,
                                   511,  512,  513,  777,  1000, 1023, 1024, 1025, 1028,   2047,  2048, 2052,
                                   4095, 4096, 4097, 4100, 6000, 8191, 8192, 8193, 12'345, 16'385};

// The sum of exponentials, in the defined order.
f32 sum_in_order(const std::vector<f32>& exponentials, bool has_lanes) {
  std::vector<f32> blocks;
  for (std::size_t first = 0; first < exponentials.size(); first += kReduceBlock) {
    f32 lanes[kReduceLanes];
    std::fill_n(lanes, kReduceLanes, -0.0F);
    for (std::size_t i = first; i < std::min<std::size_t>(exponentials.size(), first + kReduceBlock); ++i) {
      f32& lane = lanes[has_lanes ? i % kReduceLanes : 0];
      lane = lane + exponentials[i];
    }
    for (std::int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
      for (std::int64_t i = 0; i < half; ++i) {
        lanes[i] = lanes[i] + lanes[i + half];
      }
    }
    blocks.push_back(lanes[0]);
  }
  while (blocks.size() > 1) {
    std::vector<f32> next;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      next.push_back(i + 1 < blocks.size() ? blocks[i] + blocks[i + 1] : blocks[i]);
    }
    blocks = next;
  }
  return blocks[0];
}

std::vector<f32> normalized(NormalizeFunction function, const std::vector<f32>& x, bool has_lanes) {
  std::size_t offset = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    offset = is_beyond(x[i], x[offset]) ? i : offset;
  }
  std::vector<f32> results(x.size(), 0.0F);
  if (function == NormalizeFunction::hardmax) {
    results[offset] = 1.0F;
    return results;
  }
  const f32 maximum = x[offset];
  for (std::size_t i = 0; i < x.size(); ++i) {
    results[i] = exponential_of(x[i] - maximum);
  }
  const f32 total = sum_in_order(results, has_lanes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    results[i] = function == NormalizeFunction::softmax ? results[i] / total : (x[i] - maximum) - logarithm_of(total);
  }
  return results;
}

template <class T>
T draw(u64 kind, test::Random& random) {
  static const std::vector<T> specials = test::special_values<T>();
  const u64 bits = random();
  const auto unit = static_cast<f32>(static_cast<f64>(bits >> 11) * 0x1p-53);
  switch (kind) {
    case 0:
      return test::from_raw<T>(bits);
    case 1:
      return bits % 300 == 0 ? specials[bits / 300 % specials.size()] : narrow<T>(unit);
    case 2:  // the exponentials are subnormal or smaller
      return narrow<T>(unit * 120);
    default:
      return narrow<T>(unit * 10 - 5);
  }
}

// Runs a function on the device and on the host and compares them. The bytes between the output's elements are random,
// and must not change.
class NormalizeCheck {
 public:
  NormalizeCheck() : input_(kBytes), output_(kBytes), found_(kBytes), random_(test::kSeed) {
    CHECK(cudaMalloc(&device_input_, kBytes));
    CHECK(cudaMalloc(&device_output_, kBytes));
  }
  ~NormalizeCheck() {
    (void)cudaFree(device_input_);
    (void)cudaFree(device_output_);
  }

  struct Shape {
    std::vector<std::int64_t> kept;
    std::vector<std::int64_t> reduced;
    bool has_lanes;
    // The order of the loops in memory, innermost last, with kept loops numbered first. If it is empty, the order is
    // random.
    std::vector<std::size_t> order;
  };

  // If `plain` is true, both tensors are packed and begin at the start of memory.
  void run(NormalizeFunction function, DataType type, const Shape& shape, bool plain) {
    NormalizeStep step{};
    step.function = function;
    step.type = type;
    AxisLoops& loops = step.loops;
    loops.has_lanes = shape.has_lanes ? 1 : 0;
    loops.kept_rank = static_cast<u32>(shape.kept.size());
    loops.reduced_rank = static_cast<u32>(shape.reduced.size());
    loops.outputs = 1;
    loops.count = 1;
    for (u32 i = 0; i < loops.kept_rank; ++i) {
      loops.kept[i].size = shape.kept[i];
      loops.outputs *= shape.kept[i];
    }
    for (u32 i = 0; i < loops.reduced_rank; ++i) {
      loops.reduced[i].size = shape.reduced[i];
      loops.count *= shape.reduced[i];
    }
    const Bytes in = lay_out(loops, shape.order, element_size(type), plain, &AxisLoop::input);
    const Bytes out =
        lay_out(loops, plain ? shape.order : std::vector<std::size_t>(), element_size(type), plain, &AxisLoop::output);
    if (in.end - in.first > static_cast<std::int64_t>(kBytes) ||
        out.end - out.first > static_cast<std::int64_t>(kBytes)) {
      return;
    }
    loops.input_offset = offset(in, element_size(type), plain);
    loops.output_offset = offset(out, element_size(type), plain);
    if (type == DataType::FLOAT16) {
      compare<f16>(step, in, out);
    } else {
      compare<f32>(step, in, out);
    }
  }

  test::Random& random() { return random_; }
  u64 elements = 0;
  u64 different = 0;

 private:
  struct Bytes {
    std::int64_t first;
    std::int64_t end;
  };

  static AxisLoop& loop_of(AxisLoops& loops, std::size_t number) {
    return number < loops.kept_rank ? loops.kept[number] : loops.reduced[number - loops.kept_rank];
  }

  Bytes lay_out(AxisLoops& loops, std::vector<std::size_t> order, std::size_t element, bool plain,
                std::int64_t AxisLoop::*which) {
    if (order.empty()) {
      order.resize(loops.kept_rank + loops.reduced_rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random_);
    }
    auto stride = static_cast<std::int64_t>(element);
    Bytes bytes{0, stride};
    const bool padded = !plain && random_() % 2 == 0;
    const bool turned = !plain && random_() % 4 == 0;
    for (std::size_t i = order.size(); i-- > 0;) {
      AxisLoop& loop = loop_of(loops, order[i]);
      if (padded && random_() % 3 == 0) {
        // Pads by elements, or by bytes, which misaligns the elements.
        stride += static_cast<std::int64_t>(random_() % 2 == 0 ? random_() % 5 : element * (random_() % 4));
      }
      loop.*which = turned && random_() % 2 == 0 ? -stride : stride;
      (loop.*which < 0 ? bytes.first : bytes.end) += (loop.size - 1) * (loop.*which);
      stride *= loop.size;
    }
    return bytes;
  }

  std::int64_t offset(const Bytes& bytes, std::size_t element, bool plain) {
    const std::int64_t room = static_cast<std::int64_t>(kBytes) - (bytes.end - bytes.first);
    std::int64_t at = plain ? 0 : static_cast<std::int64_t>(random_() % 257);
    if (random_() % 2 == 0) {
      at -= at % static_cast<std::int64_t>(element);
    }
    return std::min(at, room) - bytes.first;
  }

  template <class T>
  void compare(const NormalizeStep& step, const Bytes& in, const Bytes& out) {
    const AxisLoops& loops = step.loops;
    const std::int64_t begin = loops.output_offset + out.first;
    const auto bytes = static_cast<std::size_t>(out.end - out.first);
    for (std::size_t i = 0; i < bytes; ++i) {
      output_[static_cast<std::size_t>(begin) + i] = static_cast<std::byte>(random_());
    }
    // Most numbers expose the order of summation. With random bits, nearly every row would be NaN.
    const u64 kind = random_() % 8;
    for_each(loops, [&](std::int64_t from, std::int64_t) {
      const T value = draw<T>(kind, random_);
      std::memcpy(input_.data() + from, &value, sizeof(T));
    });
    const std::int64_t first = loops.input_offset + in.first;
    CHECK(cudaMemcpy(device_input_ + first, input_.data() + first, static_cast<std::size_t>(in.end - in.first),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_output_ + begin, output_.data() + begin, bytes, cudaMemcpyHostToDevice));
    if (!launch(step)) {
      return;
    }
    CHECK(cudaMemcpy(found_.data() + begin, device_output_ + begin, bytes, cudaMemcpyDeviceToHost));
    std::vector<f32> row;
    std::vector<f32> results;
    for_each(loops, [&](std::int64_t from, std::int64_t) {
      T value;
      std::memcpy(&value, input_.data() + from, sizeof(T));
      row.push_back(widen(value));
      if (static_cast<std::int64_t>(row.size()) == loops.count) {
        const auto result = normalized(step.function, row, loops.has_lanes != 0);
        results.insert(results.end(), result.begin(), result.end());
        row.clear();
      }
    });
    std::size_t number = 0;
    for_each(loops, [&](std::int64_t, std::int64_t to) {
      T found;
      std::memcpy(&found, found_.data() + to, sizeof(T));
      const T wanted = narrow<T>(results[number++]);
      if (!test::same(found, wanted)) {
        show(step, static_cast<std::int64_t>(number) - 1, static_cast<f64>(widen(found)),
             static_cast<f64>(widen(wanted)));
      }
      std::memcpy(output_.data() + to, &found, sizeof(T));  // only the bytes between the elements remain to be compared
    });
    if (std::memcmp(found_.data() + begin, output_.data() + begin, bytes) != 0) {
      show(step, -1, 0, 0);
    }
    elements += number;
  }

  // Calls use(input, output) with the offsets of each element, row by row.
  template <class Use>
  static void for_each(const AxisLoops& loops, Use use) {
    std::int64_t indices[2 * kMaxRank] = {};
    const u32 rank = loops.kept_rank + loops.reduced_rank;
    for (std::int64_t n = 0; n < loops.outputs * loops.count; ++n) {
      std::int64_t from = loops.input_offset;
      std::int64_t to = loops.output_offset;
      for (u32 i = 0; i < rank; ++i) {
        const AxisLoop& loop = i < loops.kept_rank ? loops.kept[i] : loops.reduced[i - loops.kept_rank];
        from += indices[i] * loop.input;
        to += indices[i] * loop.output;
      }
      use(from, to);
      for (u32 i = rank; i-- > 0;) {
        const AxisLoop& loop = i < loops.kept_rank ? loops.kept[i] : loops.reduced[i - loops.kept_rank];
        if (++indices[i] < loop.size) {
          break;
        }
        indices[i] = 0;
      }
    }
  }

  bool launch(const NormalizeStep& step) {
    const char* why = nullptr;
    const Step flat{.operands = {}, .parameters = std::as_bytes(std::span(&step, 1))};
    const auto prepared = normalize_family.prepare(flat, machine_of_tests(), {}, &why);
    if (prepared == nullptr) {
      report_error(why);
      return false;
    }
    std::byte* const bases[] = {device_input_, device_output_};
    CHECK(prepared->launch(bases, nullptr, nullptr));
    char text[64];
    prepared->explain(text, sizeof(text));
    explained_ = text;
    return true;
  }

  void show(const NormalizeStep& step, std::int64_t element, f64 found, f64 wanted) {
    if (++different > 20) {
      return;
    }
    std::printf("  function %u of %s, %s, %lld rows of %lld%s, element %lld: %a, expected %a\n",
                static_cast<u32>(step.function), std::string(type_name(step.type)).c_str(), explained_.c_str(),
                static_cast<long long>(step.loops.outputs), static_cast<long long>(step.loops.count),
                step.loops.has_lanes != 0 ? ", lanes" : "", static_cast<long long>(element), found, wanted);
  }

  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
  std::vector<std::byte> found_;
  test::Random random_;
  std::byte* device_input_ = nullptr;
  std::byte* device_output_ = nullptr;
  std::string explained_;
};

}  // namespace

void check_normalizations() {
  NormalizeCheck check;
  const auto for_each = [&](const char* name, const auto& use) {
    check.elements = 0;
    const u64 before = check.different;
    for (const auto function :
         {NormalizeFunction::softmax, NormalizeFunction::log_softmax, NormalizeFunction::hardmax}) {
      for (const DataType type : {DataType::FLOAT32, DataType::FLOAT16}) {
        use(function, type);
      }
    }
    report(name, check.elements, check.different - before);
  };
  for_each("normalized rows, edges", [&](NormalizeFunction function, DataType type) {
    for (const std::int64_t size : kEdges) {
      if (g_quick && size > 300 && size != 4097) {
        continue;
      }
      for (const bool has_lanes : {false, true}) {
        check.run(function, type, {{11}, {size}, has_lanes, {0, 1}}, true);
        check.run(function, type, {{37}, {size}, has_lanes, {1, 0}}, size % 2 == 0);
        check.run(function, type, {{2, 16}, {size}, has_lanes, {0, 2, 1}}, true);
      }
    }
  });
  for_each("normalized rows, any shape", [&](NormalizeFunction function, DataType type) {
    auto& random = check.random();
    for (int n = 0; n < (g_quick ? 10 : 200); ++n) {
      NormalizeCheck::Shape shape{.kept = {}, .reduced = {}, .has_lanes = random() % 2 == 0, .order = {}};
      std::int64_t left = g_quick ? 5000 : n % 16 == 0 ? 300'000 : 20'000;
      const auto add = [&](std::vector<std::int64_t>& to) {
        std::int64_t size = 0;
        do {
          size = kEdges[random() % std::size(kEdges)];
        } while (size > left);
        to.push_back(size);
        left /= size;
      };
      for (u64 i = 0, limit = 1 + random() % 3; i < limit; ++i) {
        add(shape.reduced);
      }
      for (u64 i = 0, limit = 1 + random() % 3; i < limit; ++i) {
        add(shape.kept);
      }
      check.run(function, type, shape, n % 8 == 0);
    }
  });
  if (!g_quick) {
    for_each("normalized rows, large", [&](NormalizeFunction function, DataType type) {
      check.run(function, type, {{3}, {500'001}, true, {0, 1}}, true);
      check.run(function, type, {{100}, {30'000}, false, {1, 0}}, true);
      check.run(function, type, {{40'000}, {50}, true, {0, 1}}, true);
    });
  }
}

}  // namespace anydml::cuda
