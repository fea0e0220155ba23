// SPDX-License-Identifier: MIT
// Prepares element-wise steps: chooses a kernel for vectors, if the layout allows one, and a kernel for single
// elements.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/kernel.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/float_environment.h"
#include "ops/elementwise/vulkan/element_kernel.h"
#include "ops/elementwise/vulkan/tables.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint32_t kVectorBytes = 16;
// The words of SPIR-V that the instructions for one vector may have. Vectors pay off if memory is the limit; longer
// programs would only take longer to compile.
constexpr std::size_t kMaxVectorWords = 4096;
// The words of a function with everything that it calls on this device, where drivers inline all functions.
using Lengths = std::map<std::string, std::size_t, std::less<>>;
std::size_t length_of(const std::string& name, std::uint64_t native, Lengths& known) {
  if (const auto found = known.find(name); found != known.end()) {
    return found->second;
  }
  const spirv::Library& library = spirv::function_library();
  const spirv::Library::Function* const function = library.find(name);
  std::size_t length = 0;
  if (function != nullptr) {
    spirv::Library::for_each(function->words, [&](const spirv::Instruction& instruction) {
      length += instruction.words.size() + 1;
      if (instruction.op == spirv::Op::FunctionCall) {
        const std::string& called = library.function_of(instruction.words[2])->name;
        length += length_of(spirv::resolve_primitive(called, native), native, known);
      }
    });
  }
  known.emplace(name, length);
  return length;
}

class PreparedElements final : public PreparedStep {
 public:
  // Null, or the reason why the step cannot be run.
  [[nodiscard]] const char* prepare(const ElementStep& step, Kernels& kernels) {
    constexpr const char* kUndefined = "the plan uses types for which its operators are not defined";
    const DefaultFloatEnvironment environment;
    nest_ = step.nest;
    ElementKernel& one = one_;
    one.rank = nest_.rank;
    one.loads = step.loads;
    one.stored = step.stored;
    std::vector<std::uint8_t> value_sizes;
    for (std::uint32_t operand = 0; operand < nest_.operands; ++operand) {
      one.sizes.push_back(static_cast<std::uint8_t>(element_size(step.types[operand])));
    }
    value_sizes.assign(one.sizes.begin(), one.sizes.begin() + step.loads);
    std::vector<std::uint32_t> attributes;
    Lengths lengths;
    for (const Instruction& instruction : step.program) {
      const VariantFunction* const function = find_variant_function(instruction.entry, instruction.variant);
      if (function == nullptr) {
        return kUndefined;
      }
      ElementKernel::Call call = {instruction.entry, instruction.variant, {}};
      for (std::uint32_t i = 0; i < function->inputs; ++i) {
        const std::uint16_t source = instruction.sources[i];
        if (source >= value_sizes.size() || value_sizes[source] != function->sizes[i]) {
          return kUndefined;
        }
        call.sources[i] = source;
      }
      value_sizes.push_back(function->sizes[function->inputs]);
      one.calls.push_back(call);
      words_ += length_of(function_name(instruction.entry, instruction.variant), kernels.gpu().primitives, lengths);
      if (function->words != 0) {
        const std::size_t begin = attributes.size();
        attributes.resize(begin + function->words);
        function->write_scalar(instruction.attributes, attributes.data() + begin);
      }
    }
    for (std::size_t i = 0; i < step.stored.size(); ++i) {
      if (step.stored[i] >= value_sizes.size() || value_sizes[step.stored[i]] != one.sizes[step.loads + i]) {
        return kUndefined;
      }
    }
    if (nest_.count == 0) {
      return nullptr;
    }
    one.is_wide = needs_64_bits();
    choose_vector();
    const GpuProperties& gpu = kernels.gpu();
    add_parameters(one_, nest_, attributes, one_begin_);
    one_kernel_ = find(kernels, gpu, one_);
    if (vector_.vector > 1) {
      LoopNest of_vectors = nest_;
      Loop& inner = of_vectors.loops[nest_.rank - 1];
      inner.size /= vector_.vector;
      for (std::int64_t& stride : inner.strides) {
        stride *= vector_.vector;
      }
      add_parameters(vector_, of_vectors, attributes, vector_begin_);
      vector_kernel_ = find(kernels, gpu, vector_);
    }
    return nullptr;
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(parameters_));
  }

  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use = {nest_.offsets[operand], nest_.offsets[operand], operand >= one_.loads};
    for (std::uint32_t loop = 0; loop < nest_.rank; ++loop) {
      const std::int64_t reach = (nest_.loops[loop].size - 1) * nest_.loops[loop].strides[operand];
      (reach < 0 ? use.begin : use.end) += reach;
    }
    use.end += one_.sizes[operand];
    return use;
  }

  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    for (const KernelRef& kernel : {one_kernel_, vector_kernel_}) {
      if (kernel != nullptr) {
        all.push_back(kernel);
      }
    }
    return all;
  }

  void record(Recorder& recorder) const override {
    if (nest_.count == 0) {
      return;
    }
    const auto count = static_cast<std::uint64_t>(nest_.count);
    std::uint64_t begin = 0;  // the first element that is computed alone
    if (fits_vectors(recorder)) {
      // Only a single loop may have a rest that does not fill a vector.
      const std::uint64_t vectors = count / vector_.vector;
      dispatch(recorder, *vector_kernel_, 0, vectors, true, vector_begin_);
      begin = vectors * vector_.vector;
    }
    if (begin < count) {
      dispatch(recorder, *one_kernel_, begin, count, is_aligned(recorder), one_begin_);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s", vector_kernel_ != nullptr ? "vector" : "strided", nest_.rank,
                  nest_.rank == 1 ? "" : "s");
  }

 private:
  // Whether positions or offsets exceed 32 bits.
  [[nodiscard]] bool needs_64_bits() const {
    constexpr std::int64_t kMost = INT32_MAX;
    bool is_wide = nest_.count > kMost;
    for (std::uint32_t operand = 0; operand < nest_.operands; ++operand) {
      // The kernel adds the loops one after the other, so every partial sum must fit. Vectors end at most 16 bytes
      // later.
      std::int64_t most = std::max(nest_.offsets[operand], -nest_.offsets[operand]) + kVectorBytes;
      for (std::uint32_t loop = 0; loop < nest_.rank; ++loop) {
        const std::int64_t stride = nest_.loops[loop].strides[operand];
        const std::int64_t size = std::max(stride, -stride);
        // Vectors have larger strides, which must fit even if they are taken only once.
        is_wide = is_wide || size > kMost / kVectorBytes;
        most += size * nest_.loops[loop].size;
        is_wide = is_wide || most > kMost;
      }
    }
    return is_wide;
  }

  void choose_vector() {
    const std::uint32_t widest = *std::ranges::max_element(one_.sizes);
    std::uint32_t elements = kVectorBytes / widest;
    // Long programs compute fewer elements together, as long as narrow elements fill a word.
    while (elements > 1 && words_ * elements > kMaxVectorWords && elements * widest > 4) {
      elements /= 2;
    }
    const Loop& inner = nest_.loops[nest_.rank - 1];
    std::uint32_t stays = 0;
    bool fits = elements > 1 && inner.size >= elements && (nest_.rank == 1 || inner.size % elements == 0);
    for (std::uint32_t operand = 0; operand < nest_.operands && fits; ++operand) {
      const std::uint32_t size = one_.sizes[operand];
      if (inner.strides[operand] == 0 && operand < one_.loads) {
        stays |= 1U << operand;
        continue;
      }
      fits = inner.strides[operand] == size;
      for (std::uint32_t loop = 0; loop + 1 < nest_.rank; ++loop) {
        fits = fits && nest_.loops[loop].strides[operand] % (std::int64_t{elements} * size) == 0;
      }
    }
    if (fits) {
      vector_ = one_;
      vector_.vector = elements;
      vector_.stays = stays;
    }
  }

  void add_parameters(const ElementKernel& kernel, const LoopNest& nest, const std::vector<std::uint32_t>& attributes,
                      std::uint64_t& begin) {
    parameters_.resize((parameters_.size() + 1) / 2 * 2);  // wide parameters are aligned
    begin = parameters_.size() * sizeof(std::uint32_t);
    const std::vector<std::uint32_t> words = write_parameters(kernel, nest, attributes);
    parameters_.insert(parameters_.end(), words.begin(), words.end());
  }

  [[nodiscard]] static KernelRef find(Kernels& kernels, const GpuProperties& gpu, const ElementKernel& kernel) {
    KernelCode code;
    code.key = kernel.key();
    code.make = [kernel, gpu] { return write_kernel(kernel, gpu); };
    return kernels.find(std::move(code), {});
  }

  [[nodiscard]] bool fits_vectors(const Recorder& recorder) const {
    if (vector_kernel_ == nullptr) {
      return false;
    }
    bool fits = true;
    for (std::uint32_t operand = 0; operand < nest_.operands; ++operand) {
      const std::uint32_t size = vector_.sizes[operand];
      const bool stays = (vector_.stays >> operand & 1) != 0;
      fits = fits && is_multiple(recorder, operand, stays ? size : size * vector_.vector);
      for (std::uint32_t loop = 0; loop < nest_.rank && stays; ++loop) {
        fits = fits && nest_.loops[loop].strides[operand] % size == 0;
      }
    }
    return fits;
  }

  [[nodiscard]] bool is_aligned(const Recorder& recorder) const {
    bool aligned = true;
    for (std::uint32_t operand = 0; operand < nest_.operands; ++operand) {
      aligned = aligned && is_multiple(recorder, operand, one_.sizes[operand]);
      for (std::uint32_t loop = 0; loop < nest_.rank; ++loop) {
        aligned = aligned && nest_.loops[loop].strides[operand] % one_.sizes[operand] == 0;
      }
    }
    return aligned;
  }

  // Whether the address of the first element is a multiple of a power of two of up to 16.
  [[nodiscard]] bool is_multiple(const Recorder& recorder, std::uint32_t operand, std::uint32_t of) const {
    const std::uint64_t low = recorder.low_bits(operand) + static_cast<std::uint64_t>(nest_.offsets[operand]);
    return low % of == 0;
  }

  void dispatch(Recorder& recorder, const Kernel& kernel, std::uint64_t first, std::uint64_t end, bool aligned,
                std::uint64_t parameters) const {
    const ElementConstants constants = {first, end, aligned ? 1U : 0U, parameters};
    const std::uint64_t groups = ceil_div(end - first, std::uint64_t{spirv::kThreads});
    recorder.dispatch(kernel, static_cast<std::uint32_t>(groups), std::as_bytes(std::span(&constants, 1)),
                      spirv::kThreads * (words_ + kVectorBytes));
  }

  LoopNest nest_ = {};
  ElementKernel one_;
  ElementKernel vector_;
  KernelRef one_kernel_;
  KernelRef vector_kernel_;
  std::size_t words_ = 0;
  std::vector<std::uint32_t> parameters_;
  std::uint64_t one_begin_ = 0;  // where the parameters of each kernel begin, in bytes
  std::uint64_t vector_begin_ = 0;
};

}  // namespace

extern const FamilyKernels elementwise_family;
const FamilyKernels elementwise_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& step, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      auto prepared = std::make_unique<PreparedElements>();
      *why = prepared->prepare(read_element_step(step), kernels);
      if (*why != nullptr) {
        return nullptr;
      }
      return prepared;
    },
};

}  // namespace anydml::vulkan
