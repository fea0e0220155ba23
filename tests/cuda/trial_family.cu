// SPDX-License-Identifier: MIT
// The GPU kernels of the trial family (support/trial_family.h), added to the kernels of all other families: a step with
// several launches and a workspace. This file replaces ops/cuda_families.cpp in a plugin for trial_family_test:
//
//   cmake -S src/backend/cuda -B build/cuda_trial -G Ninja -DANYDML_CUDA_FAMILY_TABLE=$PWD/tests/cuda/trial_family.cu
//   ninja -C build/cuda_trial
//   ANYDML_TRIAL_PLUGIN=build/cuda_trial/libanydml-cuda.so build/release/tests/trial_family_test
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "backend/cuda/family.h"
#include "support/trial_step.h"

namespace anydml {
namespace test {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kInputsAtOnce = 24;  // the maximum per launch, because a kernel parameter lists the inputs

struct Tensor {
  std::byte* base;
  std::int64_t strides[kMaxRank];

  __device__ std::byte* at(const TrialStep& step, std::int64_t number) const {
    std::byte* address = base;
    for (std::uint32_t i = step.rank; i-- > 0;) {
      address += number % step.sizes[i] * strides[i];
      number /= step.sizes[i];
    }
    return address;
  }
};

struct AddLaunch {
  TrialStep step;
  Tensor inputs[kInputsAtOnce];
  std::uint32_t first;  // the index of this launch's first input
  std::uint32_t count;
  float* sums;
  float* maximum;
  std::uint32_t* numbers;
};
static_assert(sizeof(AddLaunch) <= 4096);

__global__ void add(AddLaunch launch) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= launch.step.count) {
    return;
  }
  for (std::uint32_t k = 0; k < launch.count; ++k) {
    const float value = *reinterpret_cast<const float*>(launch.inputs[k].at(launch.step, i));
    const bool is_first = launch.first + k == 0;
    launch.sums[i] = is_first ? value : launch.sums[i] + value;
    if (is_first || value > launch.maximum[i]) {
      launch.maximum[i] = value;
      launch.numbers[i] = launch.first + k;
    }
  }
}

__global__ void mirror(TrialStep step, Tensor to, Tensor numbers_to, const float* sums, const std::uint32_t* numbers) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= step.count) {
    return;
  }
  if (to.base != nullptr) {
    *reinterpret_cast<float*>(to.at(step, i)) = sums[i] + sums[step.count - 1 - i];
  }
  if (numbers_to.base != nullptr) {
    *reinterpret_cast<std::uint32_t*>(numbers_to.at(step, i)) = numbers[i];
  }
}

class MirroredSum final : public cuda::PreparedStep {
 public:
  explicit MirroredSum(const Step& step) {
    std::memcpy(&step_, step.parameters.data(), sizeof(step_));
    strides_.resize((step_.inputs + std::size_t{2}) * kMaxRank);
    std::memcpy(strides_.data(), step.parameters.data() + sizeof(step_), strides_.size() * sizeof(std::int64_t));
    for (std::uint32_t i = 0; i < 2; ++i) {
      present_[i] = step.operands[step_.inputs + i].slot != kAbsentSlot;
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return static_cast<std::uint64_t>(step_.count) * (sizeof(float) + sizeof(std::uint32_t));
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    const auto blocks = static_cast<std::uint32_t>((step_.count + kThreads - 1) / kThreads);
    auto* const sums = reinterpret_cast<float*>(bases[step_.inputs + 2]);
    auto* const maximum = reinterpret_cast<float*>(workspace);
    auto* const numbers = reinterpret_cast<std::uint32_t*>(maximum + step_.count);
    for (std::uint32_t first = 0; first < step_.inputs; first += kInputsAtOnce) {
      AddLaunch launch{.step = step_,
                       .inputs = {},
                       .first = first,
                       .count = std::min(kInputsAtOnce, step_.inputs - first),
                       .sums = sums,
                       .maximum = maximum,
                       .numbers = numbers};
      for (std::uint32_t k = 0; k < launch.count; ++k) {
        launch.inputs[k] = tensor(first + k, bases[first + k]);
      }
      add<<<blocks, kThreads, 0, stream>>>(launch);
    }
    mirror<<<blocks, kThreads, 0, stream>>>(step_, tensor(step_.inputs, present_[0] ? bases[step_.inputs] : nullptr),
                                            tensor(step_.inputs + 1, present_[1] ? bases[step_.inputs + 1] : nullptr),
                                            sums, numbers);
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "mirrored sum of %u", step_.inputs);
  }

 private:
  [[nodiscard]] Tensor tensor(std::uint32_t number, std::byte* base) const {
    Tensor result{.base = base, .strides = {}};
    std::copy_n(&strides_[number * std::size_t{kMaxRank}], kMaxRank, result.strides);
    return result;
  }

  TrialStep step_ = {};
  std::vector<std::int64_t> strides_;
  bool present_[2] = {};
};

// This family has no kernels for joined neighbors, so steps with neighbors are prepared again without them.
const cuda::FamilyKernels kKernels = {
    .prepare = [](const Step& step, const cuda::GpuProperties&, cuda::Neighbors neighbors,
                  const char** why) -> std::unique_ptr<cuda::PreparedStep> {
      if (neighbors.before.step != nullptr || neighbors.after.step != nullptr) {
        *why = "the trial family does not join steps on GPUs";
        return nullptr;
      }
      return std::make_unique<MirroredSum>(step);
    },
    .prepare_joined = nullptr,
    .launch_at_once = nullptr,
    .launch_in_waves = nullptr,
};

}  // namespace
}  // namespace test

namespace cuda {

#define ANYDML_FAMILY(name) extern __attribute__((weak)) const FamilyKernels name##_family;
#include "ops/families.def"

FamilyEntry find_family(std::uint32_t number) noexcept {
  static const FamilyEntry kAll[] = {
#define ANYDML_FAMILY(name) {&name##_family, "the CUDA backend has no kernels for operators of the family " #name},
#include "ops/families.def"
      {&test::kKernels, nullptr},
  };
  return number < std::size(kAll) ? kAll[number] : FamilyEntry{nullptr, "the plan names an unknown family"};
}

}  // namespace cuda
}  // namespace anydml
