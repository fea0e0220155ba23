// SPDX-License-Identifier: MIT
// Recurrent networks: a dispatch sets the first states, and each time step has a dispatch, or two for a GRU that
// multiplies after the reset.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/builder.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/integers.h"
#include "ops/recurrent/step.h"
#include "ops/scalar/scalars.h"
#include "shaders/begin.h"
#include "shaders/time.h"
#include "shaders/transpose.h"

namespace anydml::vulkan {
namespace {

// The numbers of the shaders.
constexpr std::uint32_t kThreads = 128;  // of time.comp
constexpr std::uint32_t kMaxRows = 8;
constexpr std::int64_t kElementThreads = 256;  // of begin.comp and transpose.comp
constexpr std::size_t kMaxWords = 4;
enum class Phase : std::uint32_t { whole, reset, hidden };

// The operands of networks of floats. The device has no kernels for weights that are integers.
constexpr std::size_t kOperands = kRecurrentMemory + 1;

constexpr std::int64_t kMaxGroups = std::numeric_limits<std::uint32_t>::max();

struct ActivationParameters {
  RecurrentFunction function;
  std::uint32_t words[kMaxWords];
};
// The parameters in network.glsl.
struct NetworkParameters {
  RecurrentStrides strides[kOperands];
  std::int64_t hidden[2];
  std::int64_t reset;
  std::int64_t cell;
  std::int64_t update;
  std::int64_t elements;
  std::int64_t steps;
  std::int64_t rows;
  std::int64_t units;
  RecurrentKind kind;
  std::uint32_t gates;
  std::uint32_t is_half;
  std::uint32_t directions;
  std::uint32_t backward;
  std::uint32_t clips;
  std::uint32_t couples;
  std::uint32_t linear_before_reset;
  ActivationParameters activations[kMaxDirections][kMaxActivations];
  std::uint32_t clip[3];
  std::uint32_t unused;
};
static_assert(offsetof(NetworkParameters, hidden) == 352 && offsetof(NetworkParameters, activations) == 456 &&
              sizeof(ActivationParameters) == 20);

// The library's names of the activations, in order.
constexpr std::string_view kFunctions[] = {
#define ANYDML_RECURRENT_ACTIVATION(op, definition) #op,
#include "ops/recurrent/recurrent.def"
};
constexpr std::string_view kClip = "ELEMENT_WISE_CLIP";
// An alias has no function of its own.
constexpr std::string_view function_name(std::size_t number) {
  return kFunctions[number] == "ACTIVATION_TANH" ? "ELEMENT_WISE_TANH" : kFunctions[number];
}

// Writes the attributes as the function in the library expects them: the bytes of an object of its definition.
template <class Definition>
void write_words(const Attributes& attributes, std::uint32_t* words, std::size_t count) {
  if constexpr (std::is_constructible_v<Definition, const Attributes&>) {
    const Definition definition(attributes);
    std::memset(words, 0, count * sizeof(std::uint32_t));
    std::memcpy(words, static_cast<const void*>(&definition), sizeof(definition));
  }
}
ActivationParameters parameters_of(const RecurrentActivation& activation) {
  ActivationParameters parameters{.function = activation.function, .words = {}};
  switch (activation.function) {
#define ANYDML_RECURRENT_ACTIVATION(op, definition)                                     \
  case RecurrentFunction::definition:                                                   \
    static_assert(sizeof(definition<f32>) <= sizeof(parameters.words));                 \
    write_words<definition<f32>>(activation.attributes(), parameters.words, kMaxWords); \
    break;
#include "ops/recurrent/recurrent.def"
  }
  return parameters;
}

NetworkParameters parameters_of(const RecurrentStep& step) {
  const RecurrentMemory memory = memory_of(step);
  NetworkParameters parameters{.strides = {},
                               .hidden = {memory.hidden[0], memory.hidden[1]},
                               .reset = memory.reset,
                               .cell = memory.cell,
                               .update = memory.update,
                               .elements = memory.elements,
                               .steps = step.steps,
                               .rows = step.rows,
                               .units = step.units,
                               .kind = step.kind,
                               .gates = step.gates,
                               .is_half = step.is_half,
                               .directions = step.directions,
                               .backward = step.backward,
                               .clips = step.clips,
                               .couples = step.couples,
                               .linear_before_reset = step.linear_before_reset,
                               .activations = {},
                               .clip = {},
                               .unused = 0};
  std::copy_n(step.strides, kOperands, parameters.strides);
  for (std::uint32_t direction = 0; direction < kMaxDirections; ++direction) {
    for (std::uint32_t i = 0; i < kMaxActivations; ++i) {
      parameters.activations[direction][i] = parameters_of(step.activations[direction][i]);
    }
  }
  write_words<Clip<f32>>(clip_bounds(step.clip), parameters.clip, std::size(parameters.clip));
  return parameters;
}

struct Constants {
  explicit Constants(std::uint32_t aligned_) : aligned(aligned_) {}

  std::uint64_t time = 0;
  std::uint32_t aligned;
  std::uint32_t first_gate = 0;
  std::uint32_t unit_tiles = 0;
  std::uint32_t row_tiles = 0;
};

class NetworkRun : public PreparedStep {
 public:
  explicit NetworkRun(const RecurrentStep& step) : step_(step), parameters_(parameters_of(step)) {}
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }

 protected:
  [[nodiscard]] const RecurrentStep& step() const noexcept { return step_; }
  // A mask of the first operands whose elements are all aligned.
  [[nodiscard]] std::uint32_t aligned_operands(const Recorder& recorder, std::size_t count) const {
    std::uint32_t aligned = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const RecurrentStrides& strides = step_.strides[i];
      const bool is_half = step_.is_half != 0 && i != kRecurrentLengths;
      const auto low = static_cast<std::uint64_t>(strides.time) | static_cast<std::uint64_t>(strides.direction) |
                       static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.unit) |
                       recorder.low_bits(i);
      aligned |= low % (is_half ? sizeof(u16) : sizeof(u32)) == 0 ? 1U << i : 0;
    }
    return aligned;
  }
  static void dispatch(Recorder& recorder, const Kernel& kernel, std::int64_t groups, const Constants& constants,
                       std::uint64_t operations) {
    if (groups != 0) {
      recorder.dispatch(kernel, static_cast<std::uint32_t>(groups), std::as_bytes(std::span(&constants, 1)),
                        operations);
    }
  }

 private:
  RecurrentStep step_;
  NetworkParameters parameters_;
};

std::int64_t pack_groups(const RecurrentStep& step) {
  return ceil_div(step.directions * step.gates * step.units * step.units, kElementThreads);
}

class PackRun final : public NetworkRun {
 public:
  PackRun(const RecurrentStep& step, Kernels& kernels)
      : NetworkRun(step),
        kernel_(kernels.find(spirv::linked_kernel("recurrent_transpose", k_transpose, kernels.gpu()), {})) {}

  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand == 1;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    dispatch(recorder, *kernel_, pack_groups(step()), Constants(aligned_operands(recorder, 1)), kElementThreads);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "the recurrence transposed");
  }

 private:
  KernelRef kernel_;
};

// The code for a time step, which contains only the definitions that the network uses.
KernelCode time_code(const RecurrentStep& step, const GpuProperties& gpu) {
  std::uint32_t used = 0;
  const std::uint32_t activations = step.kind == RecurrentKind::lstm ? 3 : step.kind == RecurrentKind::gru ? 2 : 1;
  for (std::uint32_t direction = 0; direction < step.directions; ++direction) {
    for (std::uint32_t i = 0; i < activations; ++i) {
      used |= 1U << static_cast<std::uint32_t>(step.activations[direction][i].function);
    }
  }
  const bool clips = step.clips != 0;
  KernelCode code;
  code.key = "recurrent_time_" + std::to_string(used) + (clips ? "_clip" : "");
  code.make = [used, clips, gpu] {
    const auto is_unused = [&](std::string_view import) {
      const std::string_view name = import.substr(std::string_view("import_").size());
      if (name.starts_with(kClip)) {
        return !clips;
      }
      for (std::size_t i = 0; i < std::size(kFunctions); ++i) {
        if (name == std::string(function_name(i)) + "_0") {
          return (used >> i & 1) == 0;
        }
      }
      return false;
    };
    spirv::Builder builder;
    builder.adopt(k_time, spirv::function_library(), [&](std::string_view import) {
      return is_unused(import) ? std::string() : spirv::resolve_primitive(import, gpu.primitives);
    });
    return builder.finish_adopted(spirv::float_modes(builder, gpu));
  };
  return code;
}

// A time step's dispatch.
struct Moment {
  std::uint32_t first_gate;
  std::uint32_t gates;
  std::uint32_t units;  // of a group
  KernelRef kernel;
};

class RecurrentRun final : public NetworkRun {
 public:
  RecurrentRun(const RecurrentStep& step, bool has_peephole, Kernels& kernels)
      : NetworkRun(step),
        rows_(rows_of_group(step, kernels.gpu())),
        begin_(kernels.find(spirv::linked_kernel("recurrent_begin", k_begin, kernels.gpu()), {})) {
    const auto add = [&](Phase phase, std::uint32_t first_gate, std::uint32_t gates) {
      const std::uint32_t units = gates <= 2 ? kThreads / gates : kThreads / kMaxGates;
      const std::uint32_t constants[] = {gates,
                                         units,
                                         rows_,
                                         static_cast<std::uint32_t>(step.kind),
                                         static_cast<std::uint32_t>(phase),
                                         has_peephole ? 1U : 0U,
                                         spirv::quick_fused_constant(kernels.gpu())};
      moments_.push_back({first_gate, gates, units, kernels.find(time_code(step, kernels.gpu()), constants)});
    };
    if (step.has_two_products()) {
      add(Phase::reset, kGruUpdate, 2);
      add(Phase::hidden, kGruHidden, 1);
    } else {
      add(Phase::whole, 0, step.gates);
    }
  }

  // The groups of a dispatch with the most groups.
  [[nodiscard]] static bool fits(const RecurrentStep& step, const GpuProperties& gpu) {
    constexpr std::int64_t kFewestUnits = kThreads / kMaxGates;
    const std::int64_t tiles = ceil_div(step.rows, std::int64_t{rows_of_group(step, gpu)});
    return tiles <= kMaxGroups && ceil_div(step.units, kFewestUnits) <= kMaxGroups / tiles / kMaxDirections &&
           ceil_div(step.rows * step.units * step.directions, kElementThreads) <= kMaxGroups;
  }

  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand >= kRecurrentSequence;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all = {begin_};
    for (const Moment& moment : moments_) {
      all.push_back(moment.kernel);
    }
    return all;
  }

  void record(Recorder& recorder) const override {
    Constants constants(aligned_operands(recorder, kOperands));
    const std::int64_t elements = step().directions * step().rows * step().units;
    dispatch(recorder, *begin_, ceil_div(elements, kElementThreads), constants, kElementThreads);
    for (std::int64_t time = 0; time < step().steps; ++time) {
      for (const Moment& moment : moments_) {
        recorder.barrier();
        constants.time = static_cast<std::uint64_t>(time);
        constants.first_gate = moment.first_gate;
        const std::int64_t unit_tiles = ceil_div(step().units, std::int64_t{moment.units});
        const std::int64_t row_tiles = ceil_div(step().rows, std::int64_t{rows_});
        constants.unit_tiles = static_cast<std::uint32_t>(unit_tiles);
        constants.row_tiles = static_cast<std::uint32_t>(row_tiles);
        dispatch(recorder, *moment.kernel, step().directions * unit_tiles * row_tiles, constants,
                 std::uint64_t{kThreads} * rows_ * static_cast<std::uint64_t>(step().units));
      }
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%lld time steps, groups of %u rows and %u units",
                  static_cast<long long>(step().steps), rows_, moments_.front().units);
  }

 private:
  [[nodiscard]] static std::uint32_t rows_of_group(const RecurrentStep& step, const GpuProperties& gpu) {
    return step.rows == 1 || spirv::needs_short_threads(gpu) ? 1 : step.rows <= 4 ? 4 : kMaxRows;
  }

  std::uint32_t rows_;
  KernelRef begin_;
  std::vector<Moment> moments_;
};

std::unique_ptr<PreparedStep> prepare(const Step& flat, Kernels& kernels, const char** why) {
  RecurrentStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.strip > 1 || (step.units != 0 && step.panel != step.units)) {
    *why = "the Vulkan backend has no recurrent networks with packed weights";
    return nullptr;
  }
  if (!(step.kind == RecurrentKind::pack ? pack_groups(step) <= kMaxGroups : RecurrentRun::fits(step, kernels.gpu()))) {
    *why = "the Vulkan backend computes recurrent networks with up to 4,294,967,295 groups of threads";
    return nullptr;
  }
  constexpr std::int64_t kShortUnits = 512;
  if (spirv::needs_short_threads(kernels.gpu()) && step.units > kShortUnits) {
    *why = "the driver computes on the CPU and needs integers for floats, so recurrent networks have at most 512 units";
    return nullptr;
  }
  if (step.kind == RecurrentKind::pack) {
    return std::make_unique<PackRun>(step, kernels);
  }
  return std::make_unique<RecurrentRun>(step, flat.operands[kRecurrentPeephole].slot != kAbsentSlot, kernels);
}

}  // namespace

extern const FamilyKernels recurrent_family;
const FamilyKernels recurrent_family = {
    .lacks = [](const GpuProperties& gpu, const AskedOperator&) -> const char* {
      return gpu.max_group_threads < kElementThreads ? "its kernels for recurrent networks need groups of 256 threads"
                                                     : nullptr;
    },
    .prepare = prepare,
};

}  // namespace anydml::vulkan
