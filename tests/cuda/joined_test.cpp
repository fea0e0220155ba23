// SPDX-License-Identifier: MIT
// Tests, without a GPU, reductions and products that are fused with neighboring element-wise steps: the path from a
// graph to the kernel source (compiled by NVRTC if available) and to the launch parameters. Testing the results of the
// kernels requires a GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backend/cuda/program.h"
#include "backend/cuda/runtime.h"
#include "graph/compile.h"
#include "ops/elementwise/cuda/interpreter.h"
#include "ops/elementwise/cuda/prepared.h"
#include "ops/product/cuda/double_launch.h"
#include "ops/product/cuda/kernel_set.h"
#include "ops/reduce/cuda/kernel_set.h"
#include "support/graph_text.h"

namespace anydml::cuda {

Recordings::~Recordings() = default;  // nothing runs here

namespace {

struct Launched {
  std::string kernel;
  std::uint32_t blocks = 0;
  std::uint32_t threads = 0;
  ReduceLaunch launch = {};
};
std::vector<Launched> g_launched;
std::vector<KernelSource> g_sources;
std::string g_refused;   // NVRTC's error message
bool g_compiles = true;  // whether NVRTC accepts any source
const GpuProperties kProperties{.multiprocessors = 132, .compute_capability = 90, .shared_bytes_of_block = 232'448};

class RecordedKernels final : public RuntimeKernels {
 public:
  explicit RecordedKernels(KernelSource source) : source_(std::move(source)) {}
  cudaError_t launch(std::size_t kernel, const LaunchShape& shape, void** parameters,
                     cudaStream_t) const noexcept override {
    Launched& launched = g_launched.emplace_back();
    launched.kernel = source_.kernels[kernel];
    launched.blocks = shape.blocks.x;
    launched.threads = shape.threads.x;
    std::memcpy(&launched.launch, parameters[0], sizeof(launched.launch));
    return cudaSuccess;
  }

 private:
  KernelSource source_;
};

// The host's description of a fold's kernels. Kernels that are not joined launch nothing.
template <class Fold>
const ReduceKernels& described() {
  static const ReduceKernels kernels = [] {
    ReduceKernels result{};
    result.element_bytes = sizeof(typename Fold::Element);
    result.is_ordered = Fold::kOrdered;
    result.has_half_sums =
        std::is_same_v<typename Fold::Element, f16> && std::is_same_v<typename Fold::Accumulator, f64>;
    for (StartKernel& start : result.start) {
      start = [](const ReduceLaunch&, u32, u32, cudaStream_t) { return cudaSuccess; };
    }
    return result;
  }();
  return kernels;
}

constexpr auto kDescribe = []<class Fold>() -> const ReduceKernels& { return described<Fold>(); };

}  // namespace

std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource& source, const GpuProperties&) {
  if (!g_compiles) {
    return nullptr;
  }
  KernelBinary binary;
  std::string why;
  g_sources.push_back(source);
  if (!compile_source(source, "sm_90", binary, why)) {
    g_refused = why;
  }
  return std::make_shared<RecordedKernels>(source);
}

const ReduceKernels& sum_kernels(FoldId fold, DataType type) { return visit_sum(fold, type, kDescribe); }
const ReduceKernels& product_kernels(FoldId fold, DataType type) { return visit_product(fold, type, kDescribe); }
const ReduceKernels& extreme_kernels(FoldId fold, DataType type) { return visit_extreme(fold, type, kDescribe); }
const ReduceKernels& argmax_kernels(DataType type) { return visit_arg_extreme(FoldId::argmax, type, kDescribe); }
const ReduceKernels& argmin_kernels(DataType type) { return visit_arg_extreme(FoldId::argmin, type, kDescribe); }

cudaError_t start_product(const ProductLaunch&, const TileGrid&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_thin_product(const ProductLaunch&, u32, cudaStream_t) { return cudaSuccess; }
cudaError_t start_product_sums(const ProductLaunch&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_convolution(const ConvolutionLaunch&, const TileGrid&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_convolution_sums(const ConvolutionLaunch&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_direct_convolution(const ConvolutionLaunch&, u32, u32, cudaStream_t) { return cudaSuccess; }
cudaError_t start_planes(const ConvolutionLaunch&, const PlaneForm&, const dim3&, cudaStream_t) { return cudaSuccess; }
// The real function needs a CUDA library and never joins steps.
std::unique_ptr<PreparedStep> prepare_half_product(const Step&, const GpuProperties&, const char**) { return nullptr; }
cudaError_t start_double_product(const DoubleLaunch&, u32, cudaStream_t) { return cudaSuccess; }
cudaError_t start_double_convolution(const DoubleWindowLaunch&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_integer_product(const IntegerLaunch&, u32, u32, cudaStream_t) { return cudaSuccess; }
cudaError_t start_integer_convolution(const IntegerWindowLaunch&, const TileGrid&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_integer_convolution_sums(const IntegerWindowLaunch&, cudaStream_t) { return cudaSuccess; }
cudaError_t start_direct_integer_convolution(const IntegerWindowLaunch&, u32, u32, cudaStream_t) { return cudaSuccess; }

// The interpreter's table is device code. This replacement describes the entries, without attributes.
bool find_function(EntryId id, std::uint32_t variant, CodeFunction& function) noexcept {
  const Entry& of = entry(id);
  function = {};
  function.inputs = of.inputs;
  for (std::size_t i = 0; i <= of.inputs; ++i) {
    function.element_sizes[i] = static_cast<std::uint8_t>(element_size(of.variants[variant][i]));
  }
  return true;
}

extern const FamilyKernels reduce_family;
extern const FamilyKernels product_family;

namespace {

// A separate element-wise step. Its operand's offset doubles as the number of workspace bytes that it requests.
class AloneStep final : public PreparedStep {
 public:
  explicit AloneStep(const Step& step) : workspace_(step.operands.front().offset) {}
  std::uint64_t workspace_bytes() const noexcept override { return workspace_; }
  cudaError_t launch(std::byte* const*, std::byte*, cudaStream_t) const noexcept override { return cudaSuccess; }
  void explain(char*, std::size_t) const noexcept override {}

 private:
  std::uint64_t workspace_;
};

}  // namespace

FamilyEntry find_family(std::uint32_t number) noexcept {
  static const FamilyKernels kElementwise = {
      .prepare = [](const Step& step, const GpuProperties&, Neighbors, const char**) -> std::unique_ptr<PreparedStep> {
        return std::make_unique<AloneStep>(step);
      },
      .prepare_joined = prepare_joined,
  };
  const auto id = static_cast<FamilyId>(number);
  return {.family = id == FamilyId::reduce    ? &reduce_family
                    : id == FamilyId::product ? &product_family
                                              : &kElementwise,
          .missing = nullptr};
}

namespace {

// Runs the steps of a graph, all joined, and returns the names of the launched kernels.
std::string launched(const std::string& text, const GpuProperties& gpu = kProperties) {
  g_launched.clear();
  g_sources.clear();
  g_refused.clear();
  const auto plans =
      compile_graph(test::parse_graph(text), DeviceTraits{.joins_from = 1, .forwards_tiles = false}).value();
  BackendProgram program;
  if (const BackendStatus status = prepare_steps(backend_plan(plans.run), gpu, program);
      status.code != BackendCode::ok) {
    return status.message;
  }
  std::string names;
  for (const BackendProgram::PlacedStep& step : program.steps) {
    std::byte* bases[kMaxStepOperands] = {};
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const Operand& operand = step.operands[i];
      constexpr std::uint64_t kApart = 1 << 20;
      bases[i] = has_address(operand.slot) ? reinterpret_cast<std::byte*>((operand.slot + 1) * kApart + operand.offset)
                                           : nullptr;
    }
    EXPECT_EQ(step.prepared->launch(bases, nullptr, nullptr), cudaSuccess);
  }
  for (const Launched& one : g_launched) {
    std::string name = one.kernel;
    constexpr std::string_view kSpace = "anydml::cuda::";
    while (name.find(kSpace) != std::string::npos) {
      name.erase(name.find(kSpace), kSpace.size());
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

bool has_nvrtc() { return !runtime_compiler().empty(); }

void expect_compiled() {
  if (has_nvrtc()) {
    EXPECT_EQ(g_refused, "") << g_sources.back().text;
  }
}

// Without NVRTC, the caller compiles the graph again with separate steps.
TEST(Joined, WithoutNvrtcThePlanIsNotJoined) {
  const auto graph = test::parse_graph(
      "a = input 256\n"
      "s = REDUCE a:f32[4,16] -> f32[4,1] Function=SUM Axes=[1]\n"
      "z = ABS s:f32[4,1] -> f32[4,1]\n"
      "out z\n");
  for (const std::uint32_t joins_from : {1U, 0U}) {
    const auto plans = compile_graph(graph, DeviceTraits{.joins_from = joins_from}).value();
    BackendProgram program;
    g_compiles = false;
    const BackendStatus status = prepare_steps(backend_plan(plans.run), kProperties, program);
    g_compiles = true;
    EXPECT_EQ(status.code, joins_from != 0 ? BackendCode::not_joined : BackendCode::ok);
    EXPECT_EQ(status.message == nullptr, joins_from == 0);
  }
}

// If there are enough sums to keep the device busy, fewer threads per sum are better. A smaller device needs fewer sums
// to stay busy.
TEST(Joined, TheDeviceSaysHowManyThreadsAreEnough) {
  const std::string graph =
      "a = input 122880\n"
      "s = REDUCE a:f32[1920,16] -> f32[1920,1] Function=SUM Axes=[1]\n"
      "z = ABS s:f32[1920,1] -> f32[1920,1]\n"
      "out z\n";
  EXPECT_EQ(launched(graph), "along_vectors<JoinedWork>");
  EXPECT_EQ(launched(graph, GpuProperties{.multiprocessors = 2, .compute_capability = 90}), "along_wide<JoinedWork>");
  expect_compiled();
}

// The steps share one workspace, after the memory that the plan requests.
TEST(Workspace, LiesBehindThePlansTemporary) {
  const auto program_of = [](std::uint64_t temporary, std::initializer_list<std::uint64_t> workspaces) {
    Plan plan(1, 1);
    for (const std::uint64_t workspace : workspaces) {
      const Operand operand{.slot = 0, .type = DataType::FLOAT32, .offset = workspace};
      plan.add(static_cast<std::uint32_t>(FamilyId::elementwise), {&operand, 1}, {});
    }
    BackendPlan flat = backend_plan(plan);
    flat.temporary_bytes = temporary;
    BackendProgram program;
    const BackendStatus status = prepare_steps(flat, kProperties, program);
    EXPECT_EQ(status.code, temporary > 1'000'000 ? BackendCode::out_of_memory : BackendCode::ok);
    return program;
  };
  EXPECT_EQ(program_of(0, {0, 0}).temporary_bytes, 0U);
  EXPECT_EQ(program_of(100, {0}).temporary_bytes, 100U);
  const BackendProgram program = program_of(100, {30, 500, 7});
  EXPECT_EQ(program.temporary_slot, 2U);
  EXPECT_EQ(program.workspace_offset, 128U);
  EXPECT_EQ(program.temporary_bytes, 628U);
  EXPECT_EQ(program_of(0, {1}).temporary_bytes, 1U);
  static_cast<void>(program_of(~std::uint64_t{200}, {400}));
}

TEST(Joined, BothNeighborsAreOneKernel) {
  EXPECT_EQ(launched("a = input 256\nb = input 64\nc = input 16\n"
                     "x = MULTIPLY a:f32[4,16] b:f32[4,16/0,1] -> f32[4,16]\n"
                     "y = ABS x:f32[4,16] -> f32[4,16]\n"
                     "s = REDUCE y:f32[4,16] -> f32[4,1] Function=SUM Axes=[1]\n"
                     "z = ADD s:f32[4,1] c:f32[4,1] -> f32[4,1]\n"
                     "out z\nout x\n"),
            "along_vectors<JoinedWork>");
  expect_compiled();
  ASSERT_EQ(g_sources.size(), 1U);
  const std::string& text = g_sources[0].text;
  EXPECT_NE(text.find("u32 operator()(u32 index) const"), std::string::npos) << text;
  EXPECT_NE(text.find("void operator()(u32 index, u32 v0) const"), std::string::npos) << text;
  EXPECT_NE(text.find("store_element<u32>"), std::string::npos) << text;  // the kernel also stores x
  EXPECT_NE(text.find("Work<fold_t<static_cast<FoldId>(0), f32>, false, Before, After>"), std::string::npos) << text;
  EXPECT_NE(text.find("store_access<4 * sizeof(u32), true>(launch.addresses[2] + offsets[2]"), std::string::npos)
      << text;
  EXPECT_EQ(g_launched[0].launch.input, nullptr);  // elements are computed and are counted from 0
  EXPECT_EQ(g_launched[0].launch.count, 16U);
  EXPECT_EQ(g_launched[0].launch.units, 4U);
}

TEST(Joined, AProductHandsItsOutputsOn) {
  const auto graph = [](const std::string& rows) {
    return "x = input 16000000\nw = input 65536\nc = input 512\n"
           "p = GEMM x:f32[" +
           rows + ",128] w:f32[128,128] c:f32[" + rows + ",128/0,1] -> f32[" + rows +
           ",128] TransA=NONE TransB=TRANSPOSE Alpha=0.5 Beta=2 FusedActivation=ACTIVATION_RELU\n"
           "z = ADD p:f32[" +
           rows + ",128] x:f32[" + rows + ",128] -> f32[" + rows + ",128]\nout z\n";
  };
  EXPECT_EQ(launched(graph("100")), "product_tiles<64u, 0u, 0u, After>");
  expect_compiled();
  ASSERT_EQ(g_launched.size(), 1U);
  EXPECT_EQ(g_launched[0].blocks, 4U);
  EXPECT_EQ(g_launched[0].threads, 128U);
  EXPECT_EQ(launched(graph("25344")), "product_tiles<128u, 0u, 0u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 396U);  // three blocks per multiprocessor
  EXPECT_EQ(
      launched("x = input 4194304\nw = input 4194304\n"
               "p = GEMM x:f32[2048,512] w:f32[2048,512] - -> f32[2048,2048] TransA=NONE TransB=TRANSPOSE Alpha=1 "
               "Beta=1\nz = ABS p:f32[2048,2048] -> f32[2048,2048]\nout z\n"),
      "product_tiles<256u, 0u, 0u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 128U);
  EXPECT_EQ(g_launched[0].threads, 256U);
}

// With few outputs and a large k, several thread blocks split k, and the kernel that adds their sums is joined.
TEST(Joined, TheSumsOfASplitProductAreHandedOn) {
  EXPECT_EQ(launched("x = input 262144\nw = input 1048576\n"
                     "p = GEMM x:f32[16,4096] w:f32[4096,64] - -> f32[16,64] TransA=NONE TransB=NONE Alpha=1 Beta=1\n"
                     "z = ACTIVATION_RELU p:f32[16,64] -> f32[16,64]\nout z\n"),
            "product_sums<After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 4U);
  EXPECT_EQ(g_launched[0].threads, 256U);
}

std::string convolution(const std::string& input, const std::string& filter, const std::string& output,
                        const std::string& attributes) {
  return "x = input 3000000\nw = input 12000000\np = CONVOLUTION x:f32" + input + " w:f32" + filter + " - -> f32" +
         output + " Mode=CROSS_CORRELATION " + attributes + "\nz = ACTIVATION_RELU p:f32" + output + " -> f32" +
         output + "\nout z\n";
}

TEST(Joined, AConvolutionHandsItsOutputsOn) {
  const std::string forward =
      "Direction=FORWARD Strides=1,1 Dilations=1,1 StartPadding=1,1 EndPadding=1,1 OutputPadding=0,0 GroupCount=";
  EXPECT_EQ(launched(convolution("[1,8,6,6]", "[8,8,3,3]", "[1,8,6,6]", forward + "1")),
            "convolution_tiles<64u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 1U);
  EXPECT_EQ(launched(convolution("[2,3,112,113]", "[128,3,3,3]", "[2,128,112,113]", forward + "1")),
            "convolution_tiles<128u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 396U);
  EXPECT_EQ(launched(convolution("[1,8,6,6]", "[8,1,3,3]", "[1,8,6,6]", forward + "8")),
            "convolution_planes<3u, 1u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 1U);
  EXPECT_EQ(g_launched[0].threads, 128U);
  EXPECT_EQ(launched(convolution("[1,8,6,6]", "[8,1,2,2]", "[1,8,7,7]", forward + "8")), "convolution_direct<After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 8U);
  EXPECT_EQ(g_launched[0].threads, 32U);
  EXPECT_EQ(launched(convolution("[1,512,7,7]", "[512,512,3,3]", "[1,512,7,7]", forward + "1")),
            "convolution_sums<After>");
  expect_compiled();
  // The four classes of outputs share one launch. A filter of one tap is a product.
  const std::string backward =
      "Direction=BACKWARD Strides=2,2 Dilations=1,1 StartPadding=1,1 EndPadding=1,1 OutputPadding=1,1 GroupCount=1";
  EXPECT_EQ(launched(convolution("[1,8,6,6]", "[8,8,3,3]", "[1,8,12,12]", backward)), "convolution_tiles<64u, After>");
  EXPECT_EQ(g_launched[0].blocks, 4U);
  EXPECT_EQ(launched(convolution("[1,8,6,6]", "[8,8,1,1]", "[1,8,6,6]",
                                 "Direction=FORWARD Strides=1,1 Dilations=1,1 StartPadding=0,0 EndPadding=0,0 "
                                 "OutputPadding=0,0 GroupCount=1")),
            "product_tiles<64u, 0u, 0u, After>");
}

TEST(Joined, AnIntegerProductHandsItsOutputsOn) {
  EXPECT_EQ(launched("x = input 1200\nw = input 900\n"
                     "p = MATRIX_MULTIPLY_INTEGER x:u8[40,30] - w:i8[30,30] - -> i32[40,30]\n"
                     "y = CAST p:i32[40,30] -> f32[40,30]\nout y\n"),
            "integer_tiles<64u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 1U);
}

TEST(Joined, AnIntegerConvolutionHandsItsOutputsOn) {
  const auto graph = [](const std::string& input, const std::string& filter, const std::string& output,
                        const std::string& groups) {
    return "x = input 3000000\nw = input 3000000\np = CONVOLUTION_INTEGER x:u8" + input + " - w:i8" + filter +
           " - -> i32" + output + " Strides=1,1 Dilations=1,1 StartPadding=1,1 EndPadding=1,1 GroupCount=" + groups +
           "\ny = CAST p:i32" + output + " -> f32" + output + "\nout y\n";
  };
  EXPECT_EQ(launched(graph("[1,8,6,6]", "[8,8,3,3]", "[1,8,6,6]", "1")), "integer_convolution_tiles<64u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 1U);
  EXPECT_EQ(g_launched[0].threads, 64U);
  EXPECT_EQ(launched(graph("[2,4,90,90]", "[128,4,3,3]", "[2,128,90,90]", "1")),
            "integer_convolution_tiles<128u, After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 127U);
  EXPECT_EQ(launched(graph("[1,8,6,6]", "[8,1,3,3]", "[1,8,6,6]", "8")), "integer_convolution_direct<After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 8U);
  EXPECT_EQ(g_launched[0].threads, 32U);
  EXPECT_EQ(launched(graph("[1,512,7,7]", "[512,512,3,3]", "[1,512,7,7]", "1")), "integer_convolution_sums<After>");
  expect_compiled();
  EXPECT_EQ(g_launched[0].blocks, 98U);
}

TEST(Joined, BlocksHaveAPrologueAndTheirCombinationAnEpilogue) {
  EXPECT_EQ(launched("a = input 40000\n"
                     "x = NEGATE a:f16[2,10000] -> f16[2,10000]\n"
                     "s = REDUCE x:f16[2,10000] -> f16[2,1] Function=AVERAGE Axes=[1]\n"
                     "z = EXP s:f16[2,1] -> f16[2,1]\n"
                     "out z\n"),
            "along_vectors<JoinedWork>, combine<JoinedWork>");
  expect_compiled();
}

TEST(Joined, AnEpilogueAloneKeepsVectors) {
  EXPECT_EQ(launched("a = input 16384\n"
                     "s = REDUCE a:f32[4,1024] -> f32[4,1] Function=L2 Axes=[1]\n"
                     "z = NEGATE s:f32[4,1] -> f32[4,1]\n"
                     "out z\n"),
            "along_vectors<JoinedWork>");
  expect_compiled();
  EXPECT_EQ(g_sources[0].kernels.size(), 2U);  // the second kernel processes single elements, for unaligned addresses
}

TEST(Joined, WhatCannotBeMadeByVectorsIsMadeByElements) {
  const auto graph = [](const std::string& tensor, const std::string& sizes, const char* reduce) {
    return "a = input 64000\nx = NEGATE a:" + tensor + " -> f32" + sizes + "\ns = " + reduce + "\nout s\n";
  };
  // The kernel for single elements handles rows that are not a whole number of vectors, an operand that begins inside a
  // vector, and the index of a maximum, which requires two searches.
  EXPECT_EQ(launched(graph("f32[4,30]", "[4,30]", "REDUCE x:f32[4,30] -> f32[4,1] Function=SUM Axes=[1]")),
            "along_elements<JoinedWork>");
  EXPECT_EQ(launched(graph("f32[4,32/33,1]", "[4,32]", "REDUCE x:f32[4,32] -> f32[4,1] Function=SUM Axes=[1]")),
            "along_elements<JoinedWork>");
  EXPECT_EQ(launched(graph("f32[4,32]", "[4,32]", "ARGMAX x:f32[4,32] -> u32[4,1] Axes=[1]")),
            "along_elements<JoinedWork>");
  expect_compiled();
}

TEST(Joined, EveryFunctionAlongAndAcross) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "libnvrtc was not found";
  }
  const auto graph = [](const std::string& type, const std::string& reduce, const std::string& output, bool along) {
    const std::string narrow = along ? "[200,1]" : "[1,40]";
    const std::string axes = along ? " Axes=[1]" : " Axes=[0]";
    return "a = input 64000\nx = ADD a:" + type + "[200,40] a:" + type + "[200,40] -> " + type +
           "[200,40]\ns = " + reduce.substr(0, reduce.find(' ')) + " x:" + type + "[200,40] -> " + output + narrow +
           (reduce.find(' ') != std::string::npos ? reduce.substr(reduce.find(' ')) : "") + axes +
           "\nz = ADD s:" + output + narrow + " s:" + output + narrow + " -> " + output + narrow + "\nout z\n";
  };
  // AVERAGE uses SUM's kernel, and SUM_SQUARE uses L2's.
  for (const char* function : {"SUM", "L1", "L2", "MAX", "MIN", "MULTIPLY"}) {
    const std::string reduce = std::string("REDUCE Function=") + function;
    const bool ordered = function != std::string_view("MAX") && function != std::string_view("MIN");
    EXPECT_EQ(launched(graph("f32", reduce, "f32", true)), "along_vectors<JoinedWork>") << function;
    expect_compiled();
    EXPECT_EQ(launched(graph("f32", reduce, "f32", false)),
              ordered ? "across_staged<JoinedWork>" : "across<JoinedWork, JoinedWork::kVector, false>")
        << function;
    expect_compiled();
  }
  for (const char* type : {"f16", "i8"}) {
    launched(graph(type, "REDUCE Function=SUM", type, true));
    expect_compiled();
    launched(graph(type, "ARGMAX", "u32", true));
    expect_compiled();
    launched(graph(type, "ARGMIN AxisDirection=DECREASING", "i64", false));
    expect_compiled();
  }
}

}  // namespace
}  // namespace anydml::cuda
