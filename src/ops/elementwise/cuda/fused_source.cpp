// SPDX-License-Identifier: MIT
// From a program to the source of its kernels.
#include <algorithm>

#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/interpreter.h"

namespace anydml::cuda {
namespace {

constexpr const char* kDefinitions[] = {
#define ANYDML_ROW(op, Definition, ulp) #Definition,
#include "ops/elementwise/elementwise.def"
};

constexpr std::uint32_t kVectorBytes = 16;

const char* bits_name(std::size_t bytes) { return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64"; }

std::string value_name(std::uint32_t value) {
  std::string name("v");
  return name += std::to_string(value);
}

}  // namespace

bool write_fused(const ElementStep& step, FusedSource& source) {
  if (step.stored.size() != 1 || step.loads == 0 || step.loads > kMaxInputs || step.stored[0] < step.loads) {
    return false;
  }
  std::vector<std::size_t> bytes;  // of each value
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    bytes.push_back(element_size(step.types[i]));
  }
  std::string body;
  std::size_t words = 0;
  constexpr std::size_t kMostWords = kScalarBytes / sizeof(std::uint64_t);
  std::uint64_t scalars[kMostWords] = {};
  for (const ElementInstruction& instruction : step.program) {
    CodeFunction function{};
    if (!find_function(instruction.row, instruction.variant, function) || words + function.scalar_words > kMostWords) {
      return false;
    }
    std::string call;
    for (std::uint32_t i = 0; i < function.inputs; ++i) {
      const std::uint32_t value = instruction.sources[i];
      if (value >= bytes.size() || bytes[value] != function.element_sizes[i]) {
        return false;
      }
      call.append(", ").append(value_name(value));
    }
    body.append("    const auto ").append(value_name(static_cast<std::uint32_t>(bytes.size())));
    body.append(" = call_by_bits<VariantAt<decltype(variants_over<");
    body.append(kDefinitions[static_cast<std::size_t>(instruction.row)]).append(">(AllTypes{})), ");
    body.append(std::to_string(instruction.variant)).append(">::Type>(words + ");
    body.append(std::to_string(words)).append(call).append(");\n");
    if (function.scalar_words != 0) {
      function.make_scalar(instruction.attributes, scalars + words);
      words += function.scalar_words;
    }
    bytes.push_back(function.element_sizes[function.inputs]);
  }
  if (step.stored[0] >= bytes.size() || bytes[step.stored[0]] != element_size(step.types[step.loads])) {
    return false;
  }
  std::string parameters;
  std::size_t widest = bytes[step.stored[0]];
  source.set = {};
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    parameters.append(i == 0 ? "" : ", ").append(bits_name(bytes[i])).append(" ").append(value_name(i));
    widest = std::max(widest, bytes[i]);
    source.set.element_sizes[i] = static_cast<std::uint8_t>(bytes[i]);
  }
  source.set.inputs = static_cast<std::uint8_t>(step.loads);
  source.set.most_staying = source.set.inputs;
  source.set.element_sizes[step.loads] = static_cast<std::uint8_t>(bytes[step.stored[0]]);
  source.set.vector_elements = static_cast<std::uint8_t>(kVectorBytes / widest);
  std::copy_n(reinterpret_cast<const std::byte*>(scalars), sizeof(scalars), source.scalar.bytes);
  std::string& text = source.text;
  text = "#include \"ops/elementwise/cuda/fused_device.cuh\"\nnamespace anydml::cuda {\nstruct Fused {\n";
  text.append("  alignas(16) u64 words[").append(std::to_string(kMostWords)).append("];\n  __device__ ");
  text.append(bits_name(bytes[step.stored[0]])).append(" operator()(").append(parameters).append(") const {\n");
  text.append(body).append("    return ").append(value_name(step.stored[0])).append(";\n  }\n};\n");
  text.append("}  // namespace anydml::cuda\n");
  return true;
}

}  // namespace anydml::cuda
