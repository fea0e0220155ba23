// SPDX-License-Identifier: MIT
// Element-wise steps as parts of another family's kernels.
#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/prepared.h"
#include "ops/elementwise/cuda/rounding.h"
#include "ops/elementwise/step.h"

namespace anydml::cuda {
namespace {

constexpr std::uint32_t kVectorBytes = 16;

// How many elements a step may make at a time: as many as are 16 bytes, if every operand has them beside each other or
// stays at one, in one access each; otherwise 0.
std::uint32_t vector_of(const ElementStep& step, std::uint32_t handed) {
  const LoopNest& nest = step.nest;
  const auto elements = static_cast<std::uint32_t>(kVectorBytes / element_size(step.types[handed]));
  bool good = handed >= step.loads && nest.innermost().size % elements == 0;
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    const auto bytes = static_cast<std::int64_t>(element_size(step.types[operand]));
    const std::int64_t along = nest.innermost().strides[operand];
    const bool stays = along == 0 && operand < step.loads;
    good = good && (stays || (along == bytes && bytes * elements <= kVectorBytes));
    for (std::uint32_t loop = 0; loop + 1 < nest.rank; ++loop) {
      good = good && (stays || nest.loops[loop].strides[operand] % (bytes * elements) == 0);
    }
  }
  return good ? elements : 0;
}

class InlinedElements final : public InlinedStep {
 public:
  InlinedElements(const ElementStep& step, std::uint32_t handed, std::uint32_t vector, InlinedSource source)
      : InlinedStep(std::move(source.text), inlined_bytes(step.nest.operands, source.words.size()), vector != 0),
        words_(std::move(source.words)) {
    const LoopNest& nest = step.nest;
    geometry_.operands = nest.operands;
    geometry_.rank = nest.rank;
    geometry_.count = static_cast<std::uint32_t>(nest.count);
    for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
      geometry_.sizes[loop] = make_divisor(static_cast<std::uint32_t>(nest.loops[loop].size));
      std::copy_n(nest.loops[loop].strides, nest.operands, geometry_.strides[loop]);
    }
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      Place& place = places_[operand];
      place.offset = nest.offsets[operand];
      place.bytes = operand == handed ? 1 : element_size(step.types[operand]);  // it has no address
      for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
        place.strides |= static_cast<std::uint64_t>(nest.loops[loop].strides[operand]);
      }
      const bool stays = nest.innermost().strides[operand] == 0;
      geometry_.stays |= (stays ? 1u : 0u) << operand;
      place.vector_bytes = stays || operand == handed ? place.bytes : place.bytes * vector;
    }
  }

  bool fits_vectors(std::byte* const* bases) const noexcept override {
    bool fits = true;
    for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
      const Place& place = places_[operand];
      const auto address = reinterpret_cast<std::uintptr_t>(bases[operand] + place.offset);
      fits = fits && address % place.vector_bytes == 0 && place.strides % place.bytes == 0;
    }
    return fits;
  }

  void make(std::byte* const* bases, std::byte* object) const noexcept override {
    static const ScalarBytes none{};
    static const Machine no_machine{};
    KernelLaunch launch{.geometry = geometry_, .scalar = none, .machine = no_machine, .addresses = {}, .aligned = true};
    for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
      const Place& place = places_[operand];
      launch.addresses[operand] = bases[operand] + place.offset;
      const auto low = reinterpret_cast<std::uintptr_t>(launch.addresses[operand]) | place.strides;
      launch.aligned = launch.aligned && low % place.bytes == 0;
    }
    make_inlined(launch, words_, object);
  }

 private:
  struct Place {
    std::int64_t offset = 0;         // from the operand's address to the first element
    std::uint64_t bytes = 1;         // of an element
    std::uint64_t vector_bytes = 1;  // read or written at a time, if vectors are made
    std::uint64_t strides = 0;       // all of them together; only the lowest bits count
  };

  Geometry geometry_ = {};
  Place places_[kMaxOperands];
  std::vector<std::uint64_t> words_;
};

}  // namespace

std::unique_ptr<InlinedStep> prepare_inlined(const Step& flat, const char* name) {
  ElementStep step = read_step(flat);
  const std::uint32_t handed = handed_operand(flat);
  const RoundToNearest rounding;
  InlinedSource source;
  if (!order_by(step.nest, handed)) {
    return nullptr;
  }
  const std::uint32_t vector = vector_of(step, handed);
  if (!write_inlined(step, handed, vector, name, source)) {
    return nullptr;
  }
  return std::make_unique<InlinedElements>(step, handed, vector, std::move(source));
}

}  // namespace anydml::cuda
