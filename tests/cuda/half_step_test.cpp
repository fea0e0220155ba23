// SPDX-License-Identifier: MIT
// Tests the CUDA step for FLOAT16 products on the CPU. This file replaces the library that the step calls with its own
// versions of cuBLASLt's functions, for column-major matrices. It checks the descriptors of a product and the results
// that they produce.
#include "backend/cuda/cublaslt.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/cuda/family.h"
#include "backend/cuda/on_device.h"
#include "graph/compile.h"
#include "ops/product/cuda/run.h"
#include "support/graph_text.h"
#include "support/oracle.h"

namespace anydml::cuda {
namespace {

struct Layout {
  int type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t pitch;
  std::int32_t batches = 1;
  std::int64_t batch_stride = 0;
};
struct Matmul {
  std::int32_t transposed[2] = {kBlasPlain, kBlasPlain};
};
struct Preference {
  std::uint32_t reductions = 7;
  std::uint32_t alignments[4] = {256, 256, 256, 256};
};

int g_objects = 0;          // the number of live objects
bool g_has_aligned = true;  // whether there are algorithms for addresses that are multiples of 16
bool g_has_unaligned = true;
std::string g_called;  // how the last product ran

template <class T, class... Values>
int make(void** position, Values... values) {
  *position = new T{values...};
  ++g_objects;
  return kBlasSuccess;
}
template <class T>
int destroy(void* object) {
  delete static_cast<T*>(object);
  --g_objects;
  return kBlasSuccess;
}

double read(const void* base, int type, std::int64_t element) {
  if (type == kBlasReal32F) {
    return static_cast<const float*>(base)[element];
  }
  return test::to_double(static_cast<const f16*>(base)[element]);
}

int choose(void*, void*, void* a, void* b, void* c, void* d, void* preference, int wanted, BlasChoice* choices,
           int* found) {
  EXPECT_EQ(wanted, 1);
  const auto& wish = *static_cast<Preference*>(preference);
  EXPECT_EQ(wish.reductions, kBlasInFloat);
  for (void* const one : {a, b, c, d}) {
    const auto& layout = *static_cast<Layout*>(one);
    EXPECT_GE(layout.pitch, layout.rows);
  }
  const bool aligned = wish.alignments[0] == 16;
  choices->algorithm.data[0] = aligned ? 1 : 2;
  choices->workspace_bytes = aligned ? 1000 : 0;
  choices->state = kBlasSuccess;
  *found = (aligned ? g_has_aligned : g_has_unaligned) ? 1 : 0;
  return kBlasSuccess;
}

int multiply(void*, void* matmul, const void* alpha, const void* a, void* a_layout, const void* b, void* b_layout,
             const void* beta, const void* c, void* c_layout, void* d, void* d_layout, const BlasAlgorithm* algorithm,
             void* workspace, std::size_t workspace_bytes, cudaStream_t) {
  const auto& form = *static_cast<Matmul*>(matmul);
  const auto& of_a = *static_cast<Layout*>(a_layout);
  const auto& of_b = *static_cast<Layout*>(b_layout);
  const auto& of_c = *static_cast<Layout*>(c_layout);
  const auto& of_d = *static_cast<Layout*>(d_layout);
  g_called = algorithm->data[0] == 1 ? "aligned" : "unaligned";
  if (workspace_bytes != 0) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(workspace) % 256, 0U);
  }
  const std::int64_t depth = form.transposed[0] != 0 ? of_a.rows : of_a.columns;
  EXPECT_EQ(form.transposed[0] != 0 ? of_a.columns : of_a.rows, of_d.rows);
  EXPECT_EQ(form.transposed[1] != 0 ? of_b.columns : of_b.rows, depth);
  EXPECT_EQ(form.transposed[1] != 0 ? of_b.rows : of_b.columns, of_d.columns);
  for (const Layout* one : {&of_a, &of_b, &of_c}) {
    EXPECT_EQ(one->batches, of_d.batches);
  }
  const auto element = [](const Layout& layout, std::int64_t batch, std::int64_t row, std::int64_t column) {
    return batch * layout.batch_stride + column * layout.pitch + row;
  };
  for (std::int64_t batch = 0; batch < of_d.batches; ++batch) {
    for (std::int64_t column = 0; column < of_d.columns; ++column) {
      for (std::int64_t row = 0; row < of_d.rows; ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          sum += read(a, of_a.type,
                      form.transposed[0] != 0 ? element(of_a, batch, k, row) : element(of_a, batch, row, k)) *
                 read(b, of_b.type,
                      form.transposed[1] != 0 ? element(of_b, batch, column, k) : element(of_b, batch, k, column));
        }
        const float scale = *static_cast<const float*>(beta);
        sum = *static_cast<const float*>(alpha) * sum +
              (scale == 0 ? 0 : scale * read(c, of_c.type, element(of_c, batch, row, column)));
        const std::int64_t to = element(of_d, batch, row, column);
        if (of_d.type == kBlasReal32F) {
          static_cast<float*>(d)[to] = static_cast<float>(sum);
        } else {
          static_cast<f16*>(d)[to] = test::from_double<f16>(sum);
        }
      }
    }
  }
  return kBlasSuccess;
}

const CublasLt kLibrary = {
    .version = [] { return std::size_t{130'200}; },
    .create = nullptr,
    .matmul_create =
        [](void** position, int compute_type, int scale_type) {
          EXPECT_EQ(compute_type, kBlasCompute32F);
          EXPECT_EQ(scale_type, kBlasReal32F);
          return make<Matmul>(position);
        },
    .matmul_destroy = destroy<Matmul>,
    .matmul_set =
        [](void* matmul, int attribute, const void* value, std::size_t bytes) {
          EXPECT_EQ(bytes, sizeof(std::int32_t));
          std::memcpy(&static_cast<Matmul*>(matmul)->transposed[attribute - kBlasTransA], value, bytes);
          return kBlasSuccess;
        },
    .layout_create =
        [](void** position, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t pitch) {
          return make<Layout>(position, type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                              pitch);
        },
    .layout_destroy = destroy<Layout>,
    .layout_set =
        [](void* layout, int attribute, const void* value, std::size_t bytes) {
          auto& of = *static_cast<Layout*>(layout);
          EXPECT_EQ(bytes, attribute == kBlasBatchCount ? sizeof(of.batches) : sizeof(of.batch_stride));
          std::memcpy(attribute == kBlasBatchCount ? static_cast<void*>(&of.batches) : &of.batch_stride, value, bytes);
          return kBlasSuccess;
        },
    .preference_create = [](void** position) { return make<Preference>(position); },
    .preference_destroy = destroy<Preference>,
    .preference_set =
        [](void* preference, int attribute, const void* value, std::size_t bytes) {
          auto& of = *static_cast<Preference*>(preference);
          if (attribute == kBlasReductions) {
            EXPECT_EQ(bytes, sizeof(of.reductions));
            std::memcpy(&of.reductions, value, bytes);
          } else if (attribute >= kBlasAlignments) {
            EXPECT_EQ(bytes, sizeof(of.alignments[0]));
            std::memcpy(&of.alignments[attribute - kBlasAlignments], value, bytes);
          }
          return kBlasSuccess;
        },
    .choose = choose,
    .multiply = multiply,
};

}  // namespace

OnDevice::OnDevice(int) {}
OnDevice::~OnDevice() = default;

const CublasLtDevice* find_cublaslt(const GpuProperties&, const char**) {
  static const CublasLtDevice device{.library = &kLibrary, .handle = nullptr};
  return &device;
}
cudaError_t error_of_blas(int status) noexcept { return status == kBlasSuccess ? cudaSuccess : cudaErrorUnknown; }
cudaError_t start_odd_half_product(const HalfLaunch&, cudaStream_t) {
  g_called = "odd";
  return cudaSuccess;
}

namespace {

constexpr std::uint64_t kBytes = 1 << 15;  // per operand

struct Prepared {
  std::unique_ptr<PreparedStep> step;
  bool has_c = false;
  std::string why;
};

Prepared prepare(const std::string& gemm) {
  const std::string graph = "x = input 32768\nw = input 32768\nc = input 32768\np = GEMM " + gemm + "\nout p\n";
  const DeviceTraits traits{.half_products = true};
  const auto plans = compile_graph(test::parse_graph(graph), traits).value();
  Prepared built;
  for_each_step(plans.run.words(), [&](const Step& step) {
    const char* why = nullptr;
    built.step = prepare_half_product(step, GpuProperties{}, &why);
    built.why = why != nullptr ? why : "";
    built.has_c = step.operands[2].slot != kAbsentSlot;
    return false;  // this is the first step
  });
  return built;
}

// The bytes of an operand; `at` returns the address at an offset from an aligned start.
struct Memory {
  alignas(256) std::byte bytes[kBytes + 256] = {};
  [[nodiscard]] std::byte* at(std::uint64_t offset) { return bytes + offset; }
};
Memory g_memory[4];
alignas(256) std::byte g_workspace[2048];

std::string launch(const Prepared& built, std::uint64_t offset) {
  g_called.clear();
  std::byte* bases[] = {g_memory[0].at(offset), g_memory[1].at(offset), built.has_c ? g_memory[2].at(offset) : nullptr,
                        g_memory[3].at(offset)};
  EXPECT_LE(built.step->workspace_bytes(), sizeof(g_workspace) - 64);
  EXPECT_EQ(built.step->launch(bases, g_workspace + 64, nullptr), cudaSuccess);
  return g_called;
}

// Elements are small whole numbers, so that every sum is exact.
int number_of(std::size_t operand, std::int64_t element) {
  return static_cast<int>((static_cast<std::int64_t>(operand) * 7 + element * 5) % 9) - 4;
}

struct Strides {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t column;
};
struct Expected {
  std::string gemm;
  std::int64_t batches;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  Strides a;
  Strides b;
  Strides c;
  Strides output;
};

void check(const Expected& expected) {
  SCOPED_TRACE(expected.gemm);
  const bool is_scaled = expected.gemm.find("Alpha=2") != std::string::npos;
  const Prepared built = prepare(expected.gemm);
  ASSERT_NE(built.step, nullptr) << built.why;
  for (std::size_t operand = 0; operand < 4; ++operand) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kBytes / 2); ++i) {
      const auto half = test::from_double<f16>(number_of(operand, i));
      std::memcpy(g_memory[operand].at(static_cast<std::uint64_t>(i) * 2), &half, sizeof(half));
    }
  }
  EXPECT_EQ(launch(built, 0), "aligned");
  const auto position = [](const Strides& strides, std::int64_t batch, std::int64_t row, std::int64_t column) {
    return batch * strides.batch + row * strides.row + column * strides.column;
  };
  for (std::int64_t batch = 0; batch < expected.batches; ++batch) {
    for (std::int64_t row = 0; row < expected.rows; ++row) {
      for (std::int64_t column = 0; column < expected.columns; ++column) {
        int sum = 0;
        for (std::int64_t k = 0; k < expected.depth; ++k) {
          sum +=
              number_of(0, position(expected.a, batch, row, k)) * number_of(1, position(expected.b, batch, k, column));
        }
        sum *= is_scaled ? 2 : 1;
        sum += built.has_c ? (is_scaled ? 3 : 1) * number_of(2, position(expected.c, batch, row, column)) : 0;
        f16 result{};
        std::memcpy(&result,
                    g_memory[3].at(static_cast<std::uint64_t>(position(expected.output, batch, row, column)) * 2),
                    sizeof(result));
        ASSERT_EQ(test::to_double(result), sum) << batch << " " << row << " " << column;
      }
    }
  }
}

const std::string kPlain = " TransA=NONE TransB=NONE Alpha=1 Beta=1";
const std::string kScaled = " TransA=TRANSPOSE TransB=TRANSPOSE Alpha=2 Beta=3";

TEST(HalfStep, LayoutsBecomeThoseOfTheLibrary) {
  check({"x:f16[5,6] w:f16[6,7] - -> f16[5,7]" + kPlain, 1, 5, 7, 6, {0, 6, 1}, {0, 7, 1}, {}, {0, 7, 1}});
  check({"x:f16[6,5] w:f16[7,6] c:f16[5,7] -> f16[5,7]" + kScaled,
         1,
         5,
         7,
         6,
         {0, 1, 5},
         {0, 1, 6},
         {0, 7, 1},
         {0, 7, 1}});
  check({"x:f16[5,6/1,8] w:f16[6,7/1,9] c:f16[5,7/10,1] -> f16[5,7/11,1]" + kPlain,
         1,
         5,
         7,
         6,
         {0, 1, 8},
         {0, 1, 9},
         {0, 10, 1},
         {0, 11, 1}});
  check({"x:f16[3,5,6] w:f16[3,6,7] - -> f16[3,5,7]" + kPlain, 3, 5, 7, 6, {30, 6, 1}, {42, 7, 1}, {}, {35, 7, 1}});
  check({"x:f16[3,5,6/0,6,1] w:f16[3,6,7] c:f16[3,5,7] -> f16[3,5,7/7,21,1]" + kPlain,
         3,
         5,
         7,
         6,
         {0, 6, 1},
         {42, 7, 1},
         {35, 7, 1},
         {7, 21, 1}});
  check(
      {"x:f16[3,5,6] w:f16[3,6,7/0,7,1] - -> f16[3,5,7]" + kPlain, 3, 5, 7, 6, {30, 6, 1}, {0, 7, 1}, {}, {35, 7, 1}});
  check({"x:f16[1,6/1,4] w:f16[6,1/3,1] - -> f16[1,1]" + kPlain, 1, 1, 1, 6, {0, 0, 4}, {0, 3, 0}, {}, {0, 0, 0}});
  check({"x:f16[5,1/4,1] w:f16[1,7] - -> f16[5,7]" + kPlain, 1, 5, 7, 1, {0, 4, 0}, {0, 0, 1}, {}, {0, 7, 1}});
  EXPECT_EQ(g_objects, 0);
}

TEST(HalfStep, TheAddressesChooseTheAlgorithm) {
  const std::string gemm = "x:f16[5,6] w:f16[6,7] - -> f16[5,7]" + kPlain;
  EXPECT_EQ(launch(prepare(gemm), 32), "aligned");
  EXPECT_EQ(launch(prepare(gemm), 2), "unaligned");
  EXPECT_EQ(launch(prepare(gemm), 8), "unaligned");
  EXPECT_EQ(launch(prepare(gemm), 1), "odd");
  g_has_unaligned = false;
  EXPECT_EQ(launch(prepare(gemm), 2), "odd");
  g_has_aligned = false;
  EXPECT_EQ(prepare(gemm).step, nullptr);
  EXPECT_EQ(prepare(gemm).why, "cuBLASLt has no algorithm for a product of FLOAT16");
  g_has_aligned = true;
  g_has_unaligned = true;
  EXPECT_EQ(g_objects, 0);
}

TEST(HalfStep, NamesTheLibrary) {
  char text[128] = "";
  prepare("x:f16[5,6] w:f16[6,7] - -> f16[5,7]" + kPlain).step->explain(text, sizeof(text));
  EXPECT_STREQ(text, "FLOAT16 by cuBLASLt 130200, not the defined bits");
}

}  // namespace
}  // namespace anydml::cuda
