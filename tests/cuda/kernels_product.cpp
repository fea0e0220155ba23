// SPDX-License-Identifier: MIT
// Compares products on the device bit for bit with their definition on the host. The test covers sizes just below and
// above tile, step and block boundaries, arbitrary layouts, and single and batched products with and without C. The
// bytes between the outputs must be preserved. The kernels are chosen for this device's number of multiprocessors or
// for a smaller number.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/family.h"
#include "cuda/kernels_harness.h"
#include "ops/product/step.h"

namespace anydml::cuda {

extern const FamilyKernels product_family;

namespace {

constexpr std::size_t kMemoryBytes = 24 << 20;  // per operand
constexpr std::int64_t kSides[] = {1,  2,  3,  4,  5,  7,   8,   9,   31,  32,  33,
                                   60, 63, 64, 65, 66, 100, 127, 128, 129, 130, 200};
constexpr std::int64_t kDepths[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 100, 255, 256, 257, 300, 511, 512, 513, 777};
constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kC = 2;
constexpr std::size_t kOutput = 3;
constexpr std::size_t kOperands = 4;

class ProductCheck {
 public:
  ProductCheck() : random_(test::kSeed) {
    for (std::size_t i = 0; i < kOperands; ++i) {
      host_[i].resize(kMemoryBytes);
      CHECK(cudaMalloc(&device_[i], kMemoryBytes));
    }
  }
  ~ProductCheck() {
    for (std::byte* const memory : device_) {
      (void)cudaFree(memory);
    }
    (void)cudaFree(workspace_);
  }

  // If `plain` is true, the operands are packed and begin at the start of memory.
  void run(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::vector<std::int64_t> batches, bool plain) {
    ProductStep step{};
    step.kind = ProductKind::product;
    step.rows = rows;
    step.columns = columns;
    step.depth = depth;
    step.batches = 1;
    for (const std::int64_t size : batches) {
      step.batch_sizes[step.batch_rank++] = size;
      step.batches *= size;
    }
    const u64 kind = random_() % 4;
    step.scale = {.alpha = kind == 0 ? 1.0f : 0.37f, .beta = kind == 1 ? 0.0f : -1.25f};
    const bool has_c = random_() % 2 == 0;
    bool fits = lay_out(step, step.a, kA, rows, depth, plain, true);
    fits = lay_out(step, step.b, kB, depth, columns, plain, true) && fits;
    fits = lay_out(step, step.c, kC, rows, columns, plain, true) && fits;
    fits = lay_out(step, step.output, kOutput, rows, columns, plain, false) && fits;
    if (!fits) {
      return;
    }
    fill();
    compare(step, has_c);
  }

  test::Random& random() { return random_; }
  u64 elements = 0;
  u64 different = 0;

 private:
  // Orders the loops of an operand randomly, with gaps, reversed or repeated, and places its first element.
  bool lay_out(const ProductStep& step, MatrixStrides& strides, std::size_t operand, std::int64_t rows,
               std::int64_t columns, bool plain, bool input) {
    struct Loop {
      std::int64_t size;
      std::int64_t* stride;
    };
    std::vector<Loop> loops;
    for (u32 i = 0; i < step.batch_rank; ++i) {
      loops.push_back({step.batch_sizes[i], &strides.batch[i]});
    }
    loops.push_back({rows, &strides.row});
    loops.push_back({columns, &strides.column});
    if (random_() % 2 == 0) {
      std::swap(loops.back(), loops[loops.size() - 2]);  // transposed
    }
    if (!plain && random_() % 4 == 0) {
      std::shuffle(loops.begin(), loops.end(), random_);
    }
    const bool padded = !plain && random_() % 2 == 0;
    const bool turned = !plain && random_() % 4 == 0;
    std::int64_t stride = sizeof(f32);
    std::int64_t first = 0;
    std::int64_t end = stride;
    for (std::size_t i = loops.size(); i-- > 0;) {
      if (padded && random_() % 3 == 0) {
        const u64 kind = random_() % 4;  // pads by bytes (which misaligns elements), by vectors or by elements
        stride += static_cast<std::int64_t>(kind == 0 ? random_() % 5 : kind == 1 ? 16 : 4 * (random_() % 4));
      }
      const bool repeats = !plain && input && random_() % 12 == 0;
      *loops[i].stride = repeats ? 0 : turned && random_() % 2 == 0 ? -stride : stride;
      (*loops[i].stride < 0 ? first : end) += std::max<std::int64_t>(loops[i].size - 1, 0) * *loops[i].stride;
      stride *= repeats ? 1 : std::max<std::int64_t>(loops[i].size, 1);
    }
    const std::int64_t room = static_cast<std::int64_t>(kMemoryBytes) - (end - first);
    if (room < 0) {
      return false;
    }
    const u64 kind = plain ? 0 : random_() % 4;
    const std::int64_t at = kind < 2 ? 0 : kind == 2 ? room : static_cast<std::int64_t>(random_() % 257);
    base_[operand] = std::min(at, room) - first;
    used_[operand] = {static_cast<std::size_t>(base_[operand] + first), static_cast<std::size_t>(end - first)};
    return true;
  }

  void fill() {
    const u64 kind = random_() % 4;  // random bits, tiny numbers, or ordinary ones
    for (std::size_t i = 0; i < kOperands; ++i) {
      std::byte* const to = host_[i].data() + used_[i].first;
      for (std::size_t at = 0; at < used_[i].bytes; at += sizeof(f32)) {
        const u64 bits = random_();
        f32 value = (static_cast<f32>(bits % 2001) - 1000.0f) / 997.0f;
        value = kind == 1 ? value * 0x1p-74f : value;
        if (kind == 0) {
          value = test::from_raw<f32>(bits >> 7);
        }
        std::memcpy(to + at, &value, std::min(sizeof(f32), used_[i].bytes - at));
      }
      CHECK(cudaMemcpy(device_[i] + used_[i].first, to, used_[i].bytes, cudaMemcpyHostToDevice));
    }
  }

  [[nodiscard]] f32 at(std::size_t operand, std::int64_t offset) const {
    f32 value;
    std::memcpy(&value, host_[operand].data() + base_[operand] + offset, sizeof(value));
    return value;
  }

  void compare(const ProductStep& step, bool has_c) {
    const Operand operands[] = {{.slot = 0, .type = DataType::FLOAT32, .offset = 0},
                                {.slot = 1, .type = DataType::FLOAT32, .offset = 0},
                                {.slot = has_c ? 2 : kAbsentSlot, .type = DataType::FLOAT32, .offset = 0},
                                {.slot = 3, .type = DataType::FLOAT32, .offset = 0}};
    const Step flat{.family = 0, .operands = operands, .parameters = std::as_bytes(std::span(&step, 1))};
    const char* why = nullptr;
    GpuProperties gpu = machine_of_tests();
    if (random_() % 3 == 0) {
      gpu.multiprocessors = static_cast<u32>(1 + random_() % 8);
    }
    const auto prepared = product_family.prepare(flat, gpu, {}, &why);
    if (prepared == nullptr) {
      report_error(why);
      return;
    }
    std::byte* bases[kOperands];
    for (std::size_t i = 0; i < kOperands; ++i) {
      bases[i] = i == kC && !has_c ? nullptr : device_[i] + base_[i];
    }
    if (prepared->workspace_bytes() > workspace_bytes_) {
      (void)cudaFree(workspace_);
      workspace_bytes_ = prepared->workspace_bytes();
      CHECK(cudaMalloc(&workspace_, workspace_bytes_));
    }
    CHECK(prepared->launch(bases, workspace_, nullptr));
    std::vector<std::byte> found(used_[kOutput].bytes);
    CHECK(cudaMemcpy(found.data(), device_[kOutput] + used_[kOutput].first, found.size(), cudaMemcpyDeviceToHost));
    for (std::int64_t batch = 0; batch < step.batches; ++batch) {
      for (std::int64_t row = 0; row < step.rows; ++row) {
        for (std::int64_t column = 0; column < step.columns; ++column) {
          const std::int64_t a = batch_offset(step, step.a, batch) + row * step.a.row;
          const std::int64_t b = batch_offset(step, step.b, batch) + column * step.b.column;
          const f32 total = sum_of_products(
              step.depth, [&](std::int64_t k) { return at(kA, a + k * step.a.column); },
              [&](std::int64_t k) { return at(kB, b + k * step.b.row); });
          const std::int64_t c = batch_offset(step, step.c, batch) + row * step.c.row + column * step.c.column;
          const f32 expected = has_c ? step.scale(total, at(kC, c)) : step.scale(total);
          const auto position = static_cast<std::size_t>(base_[kOutput] + batch_offset(step, step.output, batch) +
                                                         row * step.output.row + column * step.output.column);
          f32 value;
          std::memcpy(&value, found.data() + position - used_[kOutput].first, sizeof(value));
          if (!test::same(value, expected)) {
            show(step, row, column, value, expected);
          }
          std::memcpy(host_[kOutput].data() + position, &value, sizeof(value));  // only other bytes remain to compare
        }
      }
    }
    if (std::memcmp(found.data(), host_[kOutput].data() + used_[kOutput].first, found.size()) != 0) {
      show(step, -1, -1, 0, 0);
    }
    elements += static_cast<u64>(step.batches * step.rows * step.columns);
  }

  void show(const ProductStep& step, std::int64_t row, std::int64_t column, f32 found, f32 expected) {
    if (++different <= 20) {
      std::printf("  product %lld x %lld x %lld, %lld at a time, output %lld, %lld: %a, expected %a\n",
                  static_cast<long long>(step.rows), static_cast<long long>(step.columns),
                  static_cast<long long>(step.depth), static_cast<long long>(step.batches), static_cast<long long>(row),
                  static_cast<long long>(column), static_cast<f64>(found), static_cast<f64>(expected));
    }
  }

  struct Bytes {
    std::size_t first = 0;
    std::size_t bytes = 0;
  };
  test::Random random_;
  std::vector<std::byte> host_[kOperands];
  std::byte* device_[kOperands] = {};
  std::int64_t base_[kOperands] = {};  // the offsets of the elements at index 0
  Bytes used_[kOperands];
  std::byte* workspace_ = nullptr;
  u64 workspace_bytes_ = 0;
};

}  // namespace

void check_products() {
  ProductCheck check;
  const auto draw = [&](const auto& from) { return from[check.random()() % std::size(from)]; };
  for (const std::int64_t depth : kDepths) {
    check.run(draw(kSides), draw(kSides), depth, {}, true);
    check.run(draw(kSides), draw(kSides), depth, {3}, true);
  }
  for (int n = 0; n < 8; ++n) {  // k is split
    check.run(draw(kSides), draw(kSides), 1024 + draw(kDepths), {}, n % 2 == 0);
  }
  for (int n = 0; n < (g_quick ? 30 : 600); ++n) {
    std::vector<std::int64_t> batches;
    for (u64 i = check.random()() % 3; i > 0; --i) {
      batches.push_back(static_cast<std::int64_t>(1 + check.random()() % 3));
    }
    check.run(draw(kSides), draw(kSides), draw(kDepths), batches, n % 8 == 0);
  }
  report("products, any shape", check.elements, check.different);
  if (!g_quick) {
    const u64 before = check.different;
    check.elements = 0;
    check.run(1400, 1500, 300, {}, true);  // large tiles
    check.run(700, 130, 513, {16}, false);
    check.run(1, 100'000, 40, {}, true);
    check.run(100'000, 1, 40, {}, true);
    check.run(2, 3, 1000, {5000}, true);
    check.run(1, 3000, 1500, {}, true);  // thin matrices
    check.run(3000, 3, 1500, {}, true);
    check.run(4, 3001, 1500, {}, false);
    report("products, large", check.elements, check.different - before);
  }
}

}  // namespace anydml::cuda
