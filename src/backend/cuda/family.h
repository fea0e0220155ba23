// SPDX-License-Identifier: MIT
// The interface between the CUDA backend and a family of operators. The backend does not depend on any particular
// family. A step is prepared once and launched many times. ops/cuda_families.cpp collects the families in
// ops/families.def.
//
// The contract, in addition to ops/family.h, whose statements on strides, overlaps and types also apply to kernels:
//
// Validation  Steps come from the family's own lowering in the same build, and their parameters are trusted. `prepare`
//             rejects a step that the kernels cannot run, for example because it has too many elements, and returns
//             the reason. If it rejects a step with neighbors, it is called again without neighbors, and the elements
//             pass through memory.
// Device      `prepare` may be called while a different device is current: all the information it needs is in
//             GpuProperties. During a launch, the step's device is current.
// Addresses   `launch` receives an address for each operand of the step, at any alignment, in memory that the device
//             can access. The addresses of operands without a slot are meaningless, because a neighbor produces or
//             consumes their elements.
// Workspace   A step that needs a workspace receives its address at each launch, a multiple of kTemporaryAlignment. Its
//             contents are undefined, and other steps use the same memory before and after.
// Order       Work on the stream sees the results of all earlier work there. A launch does not wait, and does not
//             allocate memory on the device. Other threads may launch the same step on other streams at the same time.
// Errors      `launch` returns the error that CUDA reported. It does not throw.
// Results     The bits are the same as those of the CPU's kernels, regardless of the shape of the launch, unless the
//             step specifies that its caller allows different bits (DeviceTraits::half_products).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/cuda/gpu_properties.h"
#include "backend/joined_steps.h"
#include "backend/small_tasks.h"
#include "base/element.h"
#include "plan/plan.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kMaxSmallTasks = 200;      // per launch, which passes them in one kernel parameter
inline constexpr std::uint32_t kMaxSmallElements = 4096;  // per task

// A step with everything that a launch needs except the addresses. Several threads may launch the same step at the same
// time.
class PreparedStep {
 public:
  PreparedStep() = default;
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  // The workspace that a launch needs, in bytes.
  [[nodiscard]] virtual std::uint64_t workspace_bytes() const noexcept { return 0; }
  // The approximate number of kernels that a launch starts.
  [[nodiscard]] virtual std::uint64_t launches() const noexcept { return 1; }
  // bases: for each of the step's operands, the address of its slot, at any alignment. workspace: null if the step
  // needs no workspace. Does not wait.
  [[nodiscard]] virtual cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                           cudaStream_t stream) const noexcept = 0;
  // Returns false if the step must be launched alone. The caller sets begins_wave. Must not be called for a step that
  // needs a workspace.
  [[nodiscard]] virtual bool make_small_task(std::byte* const*, SmallTask&) const noexcept { return false; }
  // A description for human readers: "vector, 2 loops".
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;
};

// A step over the elements of one operand without a slot, compiled as a class into the kernel of another step. The
// kernel calls an object of the class once for each element. Elements are numbered as if the operand were packed. They
// are passed as bits, in the unsigned type of their size. The class is immutable, like PreparedStep.
//
//   before it:   Bits operator()(u32 number) const                     computes the element
//                void vector(u32 number, u32 (&words)[4]) const        computes 16 bytes of elements, aligned
//   after it:    void operator()(u32 number, Bits) const               consumes the element
class JoinedStep {
 public:
  JoinedStep(std::string text, std::size_t bytes, bool has_vectors)
      : text_(std::move(text)), bytes_(bytes), has_vectors_(has_vectors) {}
  virtual ~JoinedStep() = default;
  JoinedStep(const JoinedStep&) = delete;
  JoinedStep& operator=(const JoinedStep&) = delete;

  // The source code of the class (runtime.h), in the namespace anydml::cuda.
  [[nodiscard]] const std::string& text() const { return text_; }
  // The size of an object in bytes. Objects begin and end at multiples of 16.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // has_vectors: whether the class can produce vectors. fits_vectors: whether it can do so at these addresses. bases:
  // the addresses for this step's operands, as in PreparedStep::launch.
  [[nodiscard]] bool has_vectors() const { return has_vectors_; }
  [[nodiscard]] virtual bool fits_vectors(std::byte* const* bases) const noexcept = 0;
  virtual void make(std::byte* const* bases, std::byte* object) const noexcept = 0;

 private:
  std::string text_;
  std::size_t bytes_;
  bool has_vectors_;
};

using Neighbor = anydml::Neighbor<JoinedStep>;
using Neighbors = anydml::Neighbors<Neighbor>;  // their classes are named Before and After

struct FamilyKernels {
  // On failure, returns null and sets `why` to a string that is never freed. Neighbors are passed only to families
  // whose operators declare that they can be joined with other steps (ops/family.h). May throw std::bad_alloc.
  std::unique_ptr<PreparedStep> (*prepare)(const Step& step, const GpuProperties& gpu, Neighbors neighbors,
                                           const char** why) = nullptr;
  // Prepares a step that is joined with a step from a different family, as a class with this name. Null if the family
  // has no such steps.
  std::unique_ptr<JoinedStep> (*prepare_joined)(const Step& step, const char* name) = nullptr;
  // Launches small tasks of this family that do not depend on each other. Null if the family has no small tasks.
  cudaError_t (*launch_at_once)(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept = nullptr;
  // Launches small tasks in waves. The tasks in a wave may depend on earlier waves.
  cudaError_t (*launch_in_waves)(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept = nullptr;
  // If true, plans never join this family's steps with other steps (DeviceTraits::joined_families).
  bool is_alone = false;
};

// Indexed by the family numbers in families.def.
struct FamilyEntry {
  const FamilyKernels* family;  // null if the family has no kernels here
  const char* missing;          // the message in that case
};
[[nodiscard]] FamilyEntry find_family(std::uint32_t number) noexcept;

}  // namespace anydml::cuda
