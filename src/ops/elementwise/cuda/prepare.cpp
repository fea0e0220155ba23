// SPDX-License-Identifier: MIT
// Chooses the kernels for a step and precomputes everything that does not depend on addresses.
#include <algorithm>
#include <cstdio>

#include "backend/cuda/family.h"
#include "ops/elementwise/cuda/prepared.h"
#include "ops/elementwise/cuda/rounding.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {
namespace {

// For rows that are shorter than this many vectors, partially filled vectors are not worthwhile.
constexpr std::int64_t kVectorsOfLongRow = 8;
// For tiles that are mostly empty, shared memory is not worthwhile.
constexpr std::uint32_t kMinTileSize = 16;
// Kernels count elements in 32 bits.
constexpr std::int64_t kMaxElements = 0xffffffff;
constexpr std::int64_t kMaxTiles = 0x7fffffff;

}  // namespace

const char* PreparedElements::prepare(const ElementStep& step, const GpuProperties& gpu) {
  gpu_ = gpu;
  const LoopNest& nest = step.nest;
  if (nest.count > kMaxElements) {
    return "the CUDA backend runs steps of up to 4,294,967,295 elements";
  }
  const RoundToNearest rounding;
  if (!find_kernels_of(step) && !find_fused_of(step)) {
    code_ = std::make_unique<Code>();
    if (const char* const why = make_code(step, *code_); why != nullptr) {
      return why;
    }
  }
  geometry_.rank = nest.rank;
  geometry_.count = static_cast<std::uint32_t>(nest.count);
  if (nest.count == 0) {
    return nullptr;
  }
  for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
    geometry_.sizes[loop] = make_divisor(static_cast<std::uint32_t>(nest.loops[loop].size));
  }
  if (code_ != nullptr) {
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      map_operand(nest, operand, element_size(step.types[operand]));
    }
    shape_ = KernelShape::interpreted;
    return nullptr;
  }
  if (fused_ != nullptr) {
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      map_operand(nest, operand, element_size(step.types[operand]));
    }
    if (kernels_ != nullptr) {
      choose_shape(nest);
    }
    return nullptr;
  }
  const Instruction& last = step.program.back();
  for (std::uint32_t input = 0; input < kernels_->inputs; ++input) {
    const bool is_result = last.sources[input] >= step.loads;  // the result of the ScaleBias
    map_operand(nest, is_result ? step.program[0].sources[0] : last.sources[input], kernels_->element_sizes[input]);
  }
  map_operand(nest, step.loads, kernels_->element_sizes[kernels_->inputs]);
  choose_shape(nest);
  if (step.program.size() == 1 && takes_small_tasks(last.entry) && nest.rank == 1 && nest.count <= kMaxSmallElements) {
    small_code_ = static_cast<std::uint16_t>(last.entry);
    small_type_ = kernels_->output_type;
  }
  return nullptr;
}

// Finds the kernels of a step that consists of one entry, or of a ScaleBias of its first input followed by the entry.
// Operands may repeat and may be in any order.
bool PreparedElements::find_kernels_of(const ElementStep& step) {
  const std::size_t count = step.program.size();
  if (count == 0 || count > 2 || step.stored.size() != 1 || step.stored[0] != step.loads + count - 1) {
    return false;
  }
  const Instruction& last = step.program.back();
  const bool scaled = count == 2;
  if (scaled && (step.program[0].entry != EntryId::SCALE_BIAS || step.program[0].sources[0] >= step.loads ||
                 last.sources[0] != step.loads)) {
    return false;
  }
  const KernelSet* const found =
      scaled ? find_scaled_kernels(last.entry, last.variant) : find_kernels(last.entry, last.variant);
  if (found == nullptr) {
    return false;
  }
  for (std::uint32_t input = 0; input < found->inputs; ++input) {
    const bool is_scaled = scaled && input == 0;
    const std::uint32_t source = is_scaled ? step.program[0].sources[0] : last.sources[input];
    if (source >= step.loads || element_size(step.types[source]) != found->element_sizes[input]) {
      return false;
    }
  }
  if (element_size(step.types[step.loads]) != found->element_sizes[found->inputs]) {
    return false;
  }
  kernels_ = found;
  kernels_->make_scalar(step.program[0].attributes, last.attributes, scalar_);
  return true;
}

bool PreparedElements::find_fused_of(const ElementStep& step) {
  constexpr std::int64_t kWorthCompiling = 1 << 15;  // elements; for fewer, the interpreter is just as fast
  if (step.nest.count < kWorthCompiling) {
    return false;
  }
  FusedSource source;
  if (!write_fused(step, source)) {
    InlinedSource each;
    if (write_each(step, each)) {
      fused_ = find_runtime_kernels(each_kernel(each), gpu_);
      words_ = std::move(each.words);
    }
    return fused_ != nullptr;
  }
  fused_ = find_runtime_kernels(source.source, gpu_);
  fused_set_ = source.set;
  fused_set_.vector = [](const KernelLaunch&, cudaStream_t) noexcept { return cudaErrorNotSupported; };  // never called
  scalar_ = source.scalar;
  kernels_ = fused_ != nullptr ? &fused_set_ : nullptr;
  return fused_ != nullptr;
}

void PreparedElements::map_operand(const LoopNest& nest, std::uint32_t from, std::size_t element_bytes) {
  const std::uint32_t operand = geometry_.operands++;
  std::uint64_t all = 0;
  for (std::uint32_t loop = 0; loop < nest.rank; ++loop) {
    geometry_.strides[loop][operand] = nest.loops[loop].strides[from];
    all |= static_cast<std::uint64_t>(nest.loops[loop].strides[from]);
  }
  geometry_.stays |= (nest.innermost().strides[from] == 0 ? 1u : 0u) << operand;
  sources_[operand] = {.operand = static_cast<std::uint16_t>(from),
                       .bytes = static_cast<std::uint8_t>(element_bytes),
                       .access_bytes = 0,
                       .strides_low = static_cast<std::uint8_t>(all),
                       .offset = nest.offsets[from]};
}

std::int64_t PreparedElements::stride(std::uint32_t loop, std::uint32_t operand) const {
  return geometry_.strides[loop][operand];
}

void PreparedElements::choose_shape(const LoopNest& nest) {
  const auto inner_size = static_cast<std::uint32_t>(nest.innermost().size);
  if (kernels_->vector != nullptr && choose_vectors(inner_size, nest.count / nest.innermost().size)) {
    shape_ = KernelShape::vector;
  } else if (kernels_->transposed != nullptr && choose_tiles()) {
    shape_ = KernelShape::transposed;
  } else {
    shape_ = KernelShape::strided;
  }
}

// Chooses vectors if each operand is contiguous along the rows or constant in each row, and rows begin at addresses
// that vectors can access.
bool PreparedElements::choose_vectors(std::uint32_t inner_size, std::int64_t rows) {
  const std::uint32_t inner = geometry_.rank - 1;
  const std::uint32_t output = geometry_.operands - 1;
  const std::int64_t elements = kernels_->vector_elements;
  std::uint32_t staying = 0;
  for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
    Source& source = sources_[operand];
    if ((geometry_.stays >> operand & 1) != 0) {
      ++staying;
      if (operand == output) {
        return false;
      }
      continue;
    }
    source.access_bytes = static_cast<std::uint8_t>(elements * source.bytes);
    if (stride(inner, operand) != source.bytes) {
      return false;
    }
    for (std::uint32_t loop = 0; loop < inner; ++loop) {
      if (stride(loop, operand) % source.access_bytes != 0) {
        return false;
      }
    }
  }
  const std::int64_t vectors_of_row = (inner_size + elements - 1) / elements;
  const bool full = geometry_.rank == 1 || inner_size % elements == 0 || vectors_of_row >= kVectorsOfLongRow;
  if (staying > kernels_->max_staying || !full) {
    return false;
  }
  geometry_.vectors_of_row = make_divisor(static_cast<std::uint32_t>(vectors_of_row));
  geometry_.vectors = static_cast<std::uint32_t>(rows * vectors_of_row);
  return true;
}

// Chooses tiles if an input is contiguous along the second innermost loop instead. All operands have the same type.
bool PreparedElements::choose_tiles() {
  const std::uint32_t output = geometry_.operands - 1;
  const std::int64_t element = sources_[output].bytes;
  if (geometry_.rank < 2 || stride(geometry_.rank - 1, output) != element) {
    return false;
  }
  const std::uint32_t inner = geometry_.rank - 1;
  const std::uint32_t next = geometry_.rank - 2;
  const std::uint32_t columns = geometry_.sizes[inner].divisor;
  const std::uint32_t rows = geometry_.sizes[next].divisor;
  if (columns < kMinTileSize || rows < kMinTileSize) {
    return false;
  }
  // Elements are accessed in words of at least 4 bytes, so sizes and strides must be whole numbers of words.
  const std::int64_t word = std::max<std::int64_t>(element, 4);
  bool words = columns * element % word == 0 && rows * element % word == 0;
  std::uint32_t all_crossed = 0;
  for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
    const std::int64_t along = stride(inner, operand);
    const bool crossed = operand < output && along != 0 && along != element && stride(next, operand) == element;
    all_crossed |= (crossed ? 1u : 0u) << operand;
    words = words && (crossed || along == element || along == 0);
    for (std::uint32_t loop = 0; loop < geometry_.rank; ++loop) {
      const bool contiguous = loop == (crossed ? next : inner);
      words = words && (contiguous || along == 0 || stride(loop, operand) % word == 0);
    }
  }
  const std::uint32_t side = kernels_->tile_elements;
  const std::int64_t across = (std::int64_t{columns} + side - 1) / side;
  const std::int64_t down = (std::int64_t{rows} + side - 1) / side;
  const std::int64_t tiles = std::int64_t{geometry_.count} / columns / rows * across * down;
  if (all_crossed == 0 || !words || tiles > kMaxTiles) {
    return false;
  }
  geometry_.crossed = all_crossed;
  geometry_.tiles[0] = make_divisor(static_cast<std::uint32_t>(across));
  geometry_.tiles[1] = make_divisor(static_cast<std::uint32_t>(down));
  geometry_.tile_count = static_cast<std::uint32_t>(tiles);
  return true;
}

void PreparedElements::replace_kernels(const KernelSet& kernels, KernelShape shape) {
  kernels_ = &kernels;
  shape_ = shape;
}

// Whether the addresses allow the shape; broadcast operands only have to be aligned.
bool PreparedElements::fits(KernelShape shape, const KernelLaunch& launch) const {
  if (shape == KernelShape::strided) {
    return true;
  }
  for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
    const std::uint64_t bytes = shape == KernelShape::vector ? sources_[operand].access_bytes
                                                             : std::max<std::uint64_t>(sources_[operand].bytes, 4);
    if ((geometry_.stays >> operand & 1) == 0 &&
        reinterpret_cast<std::uintptr_t>(launch.addresses[operand]) % bytes != 0) {
      return false;
    }
  }
  return launch.aligned;
}

cudaError_t PreparedElements::launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept {
  if (geometry_.count == 0) {
    return cudaSuccess;
  }
  KernelLaunch launch{.geometry = geometry_, .scalar = scalar_, .gpu = gpu_, .addresses = {}, .aligned = true};
  for (std::uint32_t operand = 0; operand < geometry_.operands; ++operand) {
    const Source& source = sources_[operand];
    launch.addresses[operand] = bases[source.operand] + source.offset;
    const auto low = reinterpret_cast<std::uintptr_t>(launch.addresses[operand]) | source.strides_low;
    launch.aligned = launch.aligned && low % source.bytes == 0;
  }
  if (shape_ == KernelShape::interpreted) {
    return launch_code(*code_, launch, stream);
  }
  if (fused_ != nullptr && kernels_ == nullptr) {
    return launch_each(*fused_, launch, words_, stream);
  }
  if (fused_ != nullptr) {
    return launch_fused(*fused_, fused_set_, fits(shape_, launch) ? shape_ : KernelShape::strided, launch, stream);
  }
  const LaunchKernel kernel = !fits(shape_, launch)               ? kernels_->strided
                              : shape_ == KernelShape::vector     ? kernels_->vector
                              : shape_ == KernelShape::transposed ? kernels_->transposed
                                                                  : kernels_->strided;
  return kernel(launch, stream);
}

bool PreparedElements::make_small_task(std::byte* const* bases, SmallTask& task) const noexcept {
  if (small_type_ == 0) {
    return false;
  }
  task = {};
  task.code = small_code_;
  task.type = small_type_;
  task.count = geometry_.count;
  task.broadcast = (1u << kSmallInputs) - 1;  // covers missing inputs, whose addresses have no meaning
  const std::uint32_t output = geometry_.operands - 1;
  for (std::uint32_t operand = 0; operand <= output; ++operand) {
    const Source& source = sources_[operand];
    std::byte* const address = bases[source.operand] + source.offset;
    const bool stays = operand != output && stride(0, operand) == 0;
    if (reinterpret_cast<std::uintptr_t>(address) % source.bytes != 0 ||
        (!stays && stride(0, operand) != source.bytes)) {
      return false;
    }
    task.operands[operand == output ? kSmallInputs : operand] = reinterpret_cast<std::uint64_t>(address);
    if (operand != output && !stays) {
      task.broadcast = static_cast<std::uint8_t>((task.broadcast & ~(1u << operand)) & 7u);
    }
  }
  return true;
}

const char* shape_name(KernelShape shape) noexcept {
  switch (shape) {
    case KernelShape::vector:
      return "vector";
    case KernelShape::transposed:
      return "transposed";
    case KernelShape::strided:
      return "strided";
    case KernelShape::interpreted:
      break;
  }
  return "interpreted";
}

void PreparedElements::explain(char* text, std::size_t capacity) const noexcept {
  std::snprintf(text, capacity, "%s%s, %u loop%s", fused_ != nullptr ? "fused, " : "", shape_name(shape_),
                geometry_.rank, geometry_.rank == 1 ? "" : "s");
}

extern const FamilyKernels elementwise_family;
const FamilyKernels elementwise_family = {
    .prepare = [](const Step& step, const GpuProperties& gpu, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      auto prepared = std::make_unique<PreparedElements>();
      *why = prepared->prepare(read_element_step(step), gpu);
      if (*why != nullptr) {
        return nullptr;
      }
      return prepared;
    },
    .prepare_joined = prepare_joined,
    .launch_at_once = launch_at_once,
    .launch_in_waves = launch_in_waves,
};

}  // namespace anydml::cuda
