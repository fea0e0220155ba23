// SPDX-License-Identifier: MIT
// The interface between the Vulkan backend and a family of operators. The backend does not depend on any particular
// family. A step is prepared once and recorded a few times. ops/vulkan_families.cpp collects the families in
// ops/families.def. No part of this interface uses Vulkan's own types, so families do not need Vulkan's headers.
//
// The contract, in addition to ops/family.h, whose statements on strides, overlaps and types also apply to kernels:
//
// Validation  Steps come from the family's own lowering in the same build, and their parameters are trusted. `prepare`
//             rejects a step that the kernels cannot run, and returns the reason. All steps are main steps: plans are
//             never joined here.
// Kernels     A kernel is SPIR-V with one entry point, `main`, and values for its specialization constants. It has no
//             descriptors. Its only parameter is the block of push constants in shaders/kernel.glsl: KernelHeader, then
//             up to kMaxConstantBytes of its own. It reaches memory only through 64-bit addresses
//             (PhysicalStorageBuffer64), and robustness does not check these: it must not access anything outside its
//             operands.
// Addresses   They are data. The header has the address of a table with the address of each operand of the step, so a
//             command buffer that was recorded once runs with any addresses. Every address may have any alignment, even
//             one that is not a multiple of the element's size. Vulkan requires that loads and stores are aligned to
//             their scalar type, so a step has different kernels, or constants, for addresses that are not aligned.
//             While it is recorded, the low bits of every address are known (Recorder::low_bits), and they are the same
//             in every run of the recording.
// Groups      Dispatches are one-dimensional and have up to 2^32 - 1 groups. The backend splits them according to the
//             device's limits, and group_index() in shaders/kernel.glsl puts them together.
// Workspace   A step that needs a workspace finds its address in the table after those of the operands, a multiple of
//             kTemporaryAlignment. Its contents are undefined, and other steps use the same memory before and after.
// Order       A dispatch may run at the same time as the others of its step, unless Recorder::barrier was called
// between
//             them. The backend inserts barriers between steps where an access of one conflicts with the other's.
// Results     The bits are the same as those of the CPU's kernels, regardless of the shape of a dispatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/element.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml::vulkan {

// The first bytes of the push constants.
struct KernelHeader {
  std::uint64_t operands;     // the address of the table with the addresses of the step's operands
  std::uint64_t parameters;   // the address of the step's parameters; 0 if it has none
  std::uint32_t first_group;  // the number of the first group of this part of the dispatch
  std::uint32_t columns;      // the number of groups in each row of this part
};
inline constexpr std::size_t kMaxPushBytes = 128;  // that every device has
inline constexpr std::size_t kMaxConstantBytes = kMaxPushBytes - sizeof(KernelHeader);

// Execution modes that the device offers for a float width (VK_KHR_shader_float_controls). A module may only use modes
// that are offered for its widths.
struct FloatModes {
  bool keeps_special_values = false;  // SignedZeroInfNanPreserve
  bool rounds_to_even = false;        // RoundingModeRTE
  bool keeps_subnormals = false;      // DenormPreserve
};

// The facts about a device that kernels may use. All devices have 8-, 16-, 32- and 64-bit integers, storage of 8 and 16
// bits, and physical addresses.
struct GpuProperties {
  std::string name;             // of the device, for people
  std::string driver;           // the driver's name and version, for people
  std::uint32_t spirv_version;  // the newest version that the device accepts: 0x00010500 for 1.5
  bool has_float16 = false;
  bool has_float64 = false;
  bool is_cpu = false;  // the driver computes on the CPU, like lavapipe
  // Lavapipe ends the loops of a thread after this many iterations together, without an error. Steps that may need more
  // are refused, or have parts.
  std::uint64_t max_iterations = UINT64_MAX;
  FloatModes modes_16, modes_32, modes_64;
  bool modes_are_independent = false;  // modes may differ between widths; if not, a module sets the same for all
  std::uint32_t subgroup_size = 0;     // that kernels have by default
  bool has_subgroup_arithmetic = false;
  bool has_subgroup_shuffle = false;
  std::uint32_t max_group_threads = 0;  // at least 128
  std::uint32_t shared_bytes = 0;       // memory that the threads of a group share: at least 16 KiB
  std::uint64_t primitives = 0;         // spirv/primitives.h: the device's own primitives that were found to be exact
};

// The code of a kernel. Either its words exist for the whole life of the process, like those that are made at build
// time, or `make` makes them.
struct KernelCode {
  std::string key;                       // identifies the words: code with the same key has the same words
  std::span<const std::uint32_t> words;  // if empty, `make` is called
  // Called on any thread, only if the device does not have this kernel yet. It may throw std::bad_alloc, or
  // std::runtime_error with a message for the user.
  std::function<std::vector<std::uint32_t>()> make;
};

// A kernel on a device; the backend defines it.
class Kernel;
using KernelRef = std::shared_ptr<const Kernel>;

// The kernels of a device.
class Kernels {
 public:
  virtual ~Kernels() = default;
  [[nodiscard]] virtual const GpuProperties& gpu() const noexcept = 0;
  // The kernel with this code and these values of the specialization constants 0, 1, 2 ..., each of 32 bits. Other
  // threads create it; compiling a program waits for its kernels at the end, and reports errors. May throw
  // std::bad_alloc.
  [[nodiscard]] virtual KernelRef find(KernelCode code, std::span<const std::uint32_t> constants) = 0;
};

// Receives the dispatches of a step.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // The address of an operand modulo kLowBits. Not for operands without an address.
  static constexpr std::uint64_t kLowBits = 16;
  [[nodiscard]] virtual std::uint32_t low_bits(std::size_t operand) const noexcept = 0;
  // groups: more than 0. constants: what follows KernelHeader. operations: roughly the number of scalar operations that
  // a group performs, which decides how many groups are submitted together: long submissions are killed by watchdogs.
  virtual void dispatch(const Kernel& kernel, std::uint32_t groups, std::span<const std::byte> constants,
                        std::uint64_t operations) = 0;
  // Later dispatches of the step see the results of the earlier ones.
  virtual void barrier() = 0;
};

// How a step uses an operand: the bytes from `begin` to before `end`, counted from the operand's address. Bytes in
// between need not be used. The default is any byte.
struct OperandUse {
  std::int64_t begin = INT64_MIN;
  std::int64_t end = INT64_MAX;
  bool is_written = true;
};

// A step with everything that recording needs except the addresses. Several threads may record the same step at the
// same time.
class PreparedStep {
 public:
  PreparedStep() = default;
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  [[nodiscard]] virtual std::uint64_t workspace_bytes() const noexcept { return 0; }
  // Parameters that do not fit into push constants. They are copied once, when the program is compiled, into memory of
  // the device, at a multiple of 256. They must stay valid until then.
  [[nodiscard]] virtual std::span<const std::byte> parameters() const noexcept { return {}; }
  [[nodiscard]] virtual OperandUse use_of(std::size_t /*operand*/) const noexcept { return {}; }
  // All kernels that `record` may use, so that they exist when a program is compiled.
  [[nodiscard]] virtual std::vector<KernelRef> kernels() const = 0;
  // May throw std::bad_alloc.
  virtual void record(Recorder& recorder) const = 0;
  // A description for human readers: "vector, 2 loops".
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;
};

struct FamilyKernels {
  // Null if the device has kernels for an operator of this family, and otherwise the reason why not
  // (BackendTable::lacks).
  const char* (*lacks)(const GpuProperties& gpu, const AskedOperator& op) = nullptr;
  // On failure, returns null and sets `why` to a string that is never freed. May throw std::bad_alloc. It copies the
  // parts of the step that it needs.
  std::unique_ptr<PreparedStep> (*prepare)(const Step& step, Kernels& kernels, const char** why) = nullptr;
};

// Indexed by the family numbers in families.def.
struct FamilyEntry {
  const FamilyKernels* family;  // null if the family has no kernels here
  const char* missing;          // the message in that case
};
[[nodiscard]] FamilyEntry find_family(std::uint32_t number) noexcept;

}  // namespace anydml::vulkan
