// SPDX-License-Identifier: MIT
// A family of operators, as the CUDA backend sees it, which names none: a step is prepared once and launched often.
// ops/cuda_families.cpp puts the families of ops/families.def together.
//
// The contract, beyond that of ops/family.h, whose statements on strides, overlaps and types hold for kernels too:
//
// Validation  A step was made by the family's own lowering in the same build, and its parameters are trusted. `prepare`
//             refuses a step that the kernels cannot run, such as one of too many elements, and says why. A step with
//             neighbours that is refused comes again without them, over memory.
// Device      `prepare` may be called while another device is current: everything it needs to know is in Machine. A
//             launch finds its device current.
// Addresses   launch gets one for each operand of the step, at any alignment, in memory that the device reaches. Those
//             of operands without a slot mean nothing: their elements come from, or go to, a neighbour.
// Workspace   A step that asks for some gets its address at each launch, a multiple of kTemporaryAlignment. Its
//             contents are undefined, and other steps use the same memory before and after.
// Order       Work on the stream sees everything before it there. A launch waits for nothing and allocates nothing on
//             the device, and other threads may launch the same step on other streams meanwhile.
// Errors      launch answers with the error of CUDA's call. It does not throw.
// Results     The bits are those of the CPU's kernels, whatever the launch's shape, unless the step itself says that
//             its caller allows others (DeviceTraits::half_products).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/cuda/machine.h"
#include "base/element.h"
#include "plan/plan.h"

namespace anydml::cuda {

// A step over few elements, to be run together with others of its family in one launch. It reads and writes operands of
// one type, each contiguous or repeated, at addresses that are multiples of an element.
struct SmallTask {
  std::uint16_t code;            // which of the family's operations
  std::uint8_t type;             // DataType
  std::uint8_t broadcast : 4;    // bit i: input i stays at its first element
  std::uint8_t begins_wave : 1;  // it must see what the tasks before it wrote, or write what they read
  std::uint32_t count;
  std::byte* operands[4];  // inputs first, null for those that there are not; the output is operands[3]
};
static_assert(sizeof(SmallTask) == 40);
inline constexpr std::uint32_t kSmallInputs = 3;
inline constexpr std::uint32_t kMaxSmallTasks = 200;      // in one launch: they are a kernel's parameter
inline constexpr std::uint32_t kMaxSmallElements = 4096;  // of one task

// A step with everything a launch needs but the addresses. Threads may launch the same one at once.
class PreparedStep {
 public:
  PreparedStep() = default;
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  // The memory that a launch needs for itself.
  [[nodiscard]] virtual std::uint64_t workspace_bytes() const noexcept { return 0; }
  // About how many kernels a launch starts.
  [[nodiscard]] virtual std::uint64_t launches() const noexcept { return 1; }
  // bases: where the slot of each of the step's operands is, at any alignment. workspace: null if it asks for none.
  // Does not wait.
  [[nodiscard]] virtual cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                           cudaStream_t stream) const noexcept = 0;
  // Returns false if the step must be launched alone. begins_wave is left to the caller. Not of a step that asks for
  // workspace.
  [[nodiscard]] virtual bool make_small_task(std::byte* const*, SmallTask&) const noexcept { return false; }
  // What runs, for people: "vector, 2 loops".
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;
};

// A step over the elements of one operand that has no slot, as a part of another step's kernel: a class whose objects
// the kernel calls once for each element, by its number among that operand's, which lie packed. Elements go as their
// bits, in the unsigned type of their size. Immutable, as PreparedStep.
//
//   before it:   Bits operator()(u32 number) const                     makes the element
//                void vector(u32 number, u32 (&words)[4]) const        makes 16 bytes of them; number: a multiple
//   after it:    void operator()(u32 number, Bits) const               takes it
class InlinedStep {
 public:
  InlinedStep(std::string text, std::size_t bytes, bool has_vectors)
      : text_(std::move(text)), bytes_(bytes), has_vectors_(has_vectors) {}
  virtual ~InlinedStep() = default;
  InlinedStep(const InlinedStep&) = delete;
  InlinedStep& operator=(const InlinedStep&) = delete;

  // Source (runtime.h) of the class, in the namespace anydml::cuda.
  [[nodiscard]] const std::string& text() const { return text_; }
  // Of an object, which begins and ends at a multiple of 16.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Whether the class can make vectors, and whether it may at these addresses. bases: as above, of its own operands.
  [[nodiscard]] bool has_vectors() const { return has_vectors_; }
  [[nodiscard]] virtual bool fits_vectors(std::byte* const* bases) const noexcept = 0;
  virtual void make(std::byte* const* bases, std::byte* object) const noexcept = 0;

 private:
  std::string text_;
  std::size_t bytes_;
  bool has_vectors_;
};

// A step before or after another that is one piece of work with it. The operands of both are given together.
struct Neighbour {
  std::unique_ptr<InlinedStep> step;  // null: there is none
  std::size_t first_operand = 0;      // of its own, among all
  std::size_t joined_operand = 0;     // of the main step: the one whose elements it makes or takes
};
struct Neighbours {
  Neighbour before;  // a class Before
  Neighbour after;   // a class After
};

struct Family {
  // Null, and why not, as a text that lives for ever. Neighbours come to those families alone whose operators say that
  // they join others (ops/family.h). May throw std::bad_alloc.
  std::unique_ptr<PreparedStep> (*prepare)(const Step& step, const Machine& machine, Neighbours neighbours,
                                           const char** why) = nullptr;
  // The same for a step that stands before or after one of another family, as a class of this name; null: the family
  // has none that do.
  std::unique_ptr<InlinedStep> (*prepare_inlined)(const Step& step, const char* name) = nullptr;
  // Small tasks of this family, none of which depends on another; null where the family makes none.
  cudaError_t (*launch_at_once)(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept = nullptr;
  // The same in waves: those of a wave may depend on earlier waves.
  cudaError_t (*launch_in_waves)(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept = nullptr;
};

// By their numbers in families.def.
struct FamilyEntry {
  const Family* family;  // null: it has no kernels here
  const char* missing;   // what to say then
};
[[nodiscard]] FamilyEntry find_family(std::uint32_t number) noexcept;
// Bit i: family i has kernels here.
[[nodiscard]] std::uint64_t built_families() noexcept;

}  // namespace anydml::cuda
