// SPDX-License-Identifier: MIT
// Inlines element-wise steps into the kernels of other families.
#include <optional>

#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/prepared.h"
#include "ops/elementwise/cuda/rounding.h"
#include "ops/elementwise/joined_elements.h"

namespace anydml::cuda {
namespace {

constexpr std::uint32_t kVectorBytes = 16;

// The step as a class that NVRTC compiles. An object of the class contains the launch, with the addresses, and the
// attributes.
class InlinedElements final : public JoinedStep {
 public:
  InlinedElements(const JoinedElements& joined, std::uint32_t vector, InlinedSource source)
      : JoinedStep(std::move(source.text), inlined_bytes(joined.step.nest.operands, source.words.size()), vector != 0),
        operands_(joined, vector),
        words_(std::move(source.words)) {
    const LoopNest& nest = joined.step.nest;
    geometry_.operands = nest.operands;
    geometry_.rank = nest.rank;
    geometry_.count = static_cast<std::uint32_t>(nest.count);
    for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
      geometry_.sizes[loop] = make_divisor(static_cast<std::uint32_t>(nest.loops[loop].size));
      std::copy_n(nest.loops[loop].strides, nest.operands, geometry_.strides[loop]);
    }
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      geometry_.stays |= (nest.innermost().strides[operand] == 0 ? 1u : 0u) << operand;
    }
  }

  bool fits_vectors(std::byte* const* bases) const noexcept override {
    bool fits = true;
    for (std::uint32_t operand = 0; operand < operands_.count(); ++operand) {
      fits = fits && operands_.fits_vectors(operand, reinterpret_cast<std::uint64_t>(bases[operand]));
    }
    return fits;
  }

  void make(std::byte* const* bases, std::byte* object) const noexcept override {
    static const ScalarBytes none{};
    static const GpuProperties no_gpu{};
    KernelLaunch launch{.geometry = geometry_, .scalar = none, .gpu = no_gpu, .addresses = {}, .aligned = true};
    for (std::uint32_t operand = 0; operand < operands_.count(); ++operand) {
      const auto base = reinterpret_cast<std::uint64_t>(bases[operand]);
      launch.addresses[operand] = reinterpret_cast<std::byte*>(operands_.first_element(operand, base));
      launch.aligned = launch.aligned && operands_.is_aligned(operand, base);
    }
    make_inlined(launch, words_, object);
  }

 private:
  Geometry geometry_ = {};
  JoinedOperands operands_;
  std::vector<std::uint64_t> words_;
};

}  // namespace

std::unique_ptr<JoinedStep> prepare_joined(const Step& flat, const char* name) {
  const std::optional<JoinedElements> joined = read_joined_elements(flat);
  if (!joined) {
    return nullptr;
  }
  const RoundToNearest rounding;
  const std::uint32_t vector = vector_elements(*joined, kVectorBytes);
  InlinedSource source;
  if (!write_inlined(joined->step, joined->operand, vector, name, source)) {
    return nullptr;
  }
  return std::make_unique<InlinedElements>(*joined, vector, std::move(source));
}

}  // namespace anydml::cuda
