// SPDX-License-Identifier: MIT
// Generates the source of a program's kernels.
#include <algorithm>
#include <span>
#include <utility>

#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/interpreter.h"

namespace anydml::cuda {
namespace {

constexpr const char* kDefinitions[] = {
#define ANYDML_ENTRY(op, Definition) #Definition,
#include "ops/elementwise/elementwise.def"
};

constexpr std::uint32_t kVectorBytes = 16;

const char* bits_name(std::size_t bytes) { return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64"; }

std::string value_name(std::uint32_t value) {
  std::string name("v");
  return name += std::to_string(value);
}

// The instructions as statements over values that are already loaded.
struct ProgramText {
  std::string body;
  std::vector<std::size_t> bytes;    // size of each value
  std::vector<std::uint64_t> words;  // the attributes of all instructions
};

// Returns false if an entry has no such variant, or if a value does not have the size that the variant expects.
bool write_program(const ElementStep& step, ProgramText& text) {
  std::vector<std::size_t>& bytes = text.bytes;
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    bytes.push_back(element_size(step.types[i]));
  }
  for (const Instruction& instruction : step.program) {
    CodeFunction function{};
    if (!find_function(instruction.entry, instruction.variant, function)) {
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
    const std::size_t first_word = text.words.size();
    text.body.append("    const auto ").append(value_name(static_cast<std::uint32_t>(bytes.size())));
    text.body.append(" = call_by_bits<VariantAt<decltype(variants_over<");
    text.body.append(kDefinitions[static_cast<std::size_t>(instruction.entry)]).append(">(AllTypes{})), ");
    text.body.append(std::to_string(instruction.variant)).append(">::Type>(words + ");
    text.body.append(std::to_string(first_word)).append(call).append(");\n");
    if (function.scalar_words != 0) {
      text.words.resize(first_word + function.scalar_words);
      function.make_scalar(instruction.attributes, text.words.data() + first_word);
    }
    bytes.push_back(function.element_sizes[function.inputs]);
  }
  for (std::size_t i = 0; i < step.stored.size(); ++i) {
    if (step.stored[i] >= bytes.size() || bytes[step.stored[i]] != element_size(step.types[step.loads + i])) {
      return false;
    }
  }
  return true;
}

void begin_class(std::string& text, const char* name) {
  text = "#include \"ops/elementwise/cuda/fused_device.cuh\"\nnamespace anydml::cuda {\nstruct ";
  text.append(name).append(" {\n");
}

// The function that processes several consecutive elements. All loads precede all stores, so that the elements wait for
// memory together. Elements from `count` on do not exist; the first element is computed again in their place.
void write_some(const ElementStep& step, std::uint32_t forwarded, const std::string& body, const std::string& offsets,
                std::string& text) {
  const auto operands = static_cast<std::uint32_t>(step.loads + step.stored.size());
  const auto type = [&](std::uint32_t operand) { return bits_name(element_size(step.types[operand])); };
  text.append("  template <u32 kMax>\n  __device__ void some(u32 first, const ").append(type(forwarded));
  text.append(" (&forwarded)[kMax], u32 count) const {\n    std::int64_t offsets_of[kMax][");
  text.append(std::to_string(operands)).append("];\n");
  for (std::uint32_t i = step.loads; i < operands; ++i) {
    text.append("    ").append(type(i)).append(" result_").append(std::to_string(i)).append("[kMax];\n");
  }
  text.append("#pragma unroll\n    for (u32 n = 0; n < kMax; ++n) {\n");
  text.append("    const u32 index = first + (n < count ? n : 0);\n").append(offsets);
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    text.append("    const ").append(type(i)).append(" ").append(value_name(i));
    if (i == forwarded) {
      text.append(" = forwarded[n];\n");
    } else {
      const std::string number = std::to_string(i);
      text.append(" = load_element<").append(type(i)).append(">(launch.addresses[").append(number);
      text.append("] + offsets[").append(number).append("], launch.aligned);\n");
    }
  }
  text.append(body);
  for (std::uint32_t i = step.loads; i < operands; ++i) {
    const std::string number = std::to_string(i);
    text.append("    result_").append(number).append("[n] = ").append(value_name(step.stored[i - step.loads]));
    text.append(";\n    offsets_of[n][").append(number).append("] = offsets[").append(number).append("];\n");
  }
  text.append("    }\n#pragma unroll\n    for (u32 n = 0; n < kMax; ++n) {\n      if (n < count) {\n");
  for (std::uint32_t i = step.loads; i < operands; ++i) {
    const std::string number = std::to_string(i);
    text.append("        store_element<").append(type(i)).append(">(launch.addresses[").append(number);
    text.append("] + offsets_of[n][")
        .append(number)
        .append("], result_")
        .append(number)
        .append("[n], launch.aligned);\n");
  }
  text.append("      }\n    }\n");
}

}  // namespace

bool write_fused(const ElementStep& step, FusedSource& source) {
  constexpr std::size_t kMaxWords = kScalarBytes / sizeof(std::uint64_t);
  ProgramText program;
  if (step.stored.size() != 1 || step.loads == 0 || step.loads > kMaxInputs || step.stored[0] < step.loads ||
      !write_program(step, program) || program.words.size() > kMaxWords) {
    return false;
  }
  const std::vector<std::size_t>& bytes = program.bytes;
  std::string parameters;
  std::size_t widest = bytes[step.stored[0]];
  source.set = {};
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    parameters.append(i == 0 ? "" : ", ").append(bits_name(bytes[i])).append(" ").append(value_name(i));
    widest = std::max(widest, bytes[i]);
    source.set.element_sizes[i] = static_cast<std::uint8_t>(bytes[i]);
  }
  source.set.inputs = static_cast<std::uint8_t>(step.loads);
  source.set.max_staying = source.set.inputs;
  source.set.element_sizes[step.loads] = static_cast<std::uint8_t>(bytes[step.stored[0]]);
  source.set.vector_elements = static_cast<std::uint8_t>(kVectorBytes / widest);
  std::ranges::copy(std::as_bytes(std::span(program.words)), source.scalar.bytes);
  std::string& text = source.source.text;
  begin_class(text, "Fused");
  text.append("  alignas(16) u64 words[").append(std::to_string(kMaxWords)).append("];\n  __device__ ");
  text.append(bits_name(bytes[step.stored[0]])).append(" operator()(").append(parameters).append(") const {\n");
  text.append(program.body).append("    return ").append(value_name(step.stored[0])).append(";\n  }\n};\n");
  text.append("}  // namespace anydml::cuda\n");
  source.source.kernels = {
      "anydml::cuda::row_vectors<anydml::cuda::Fused, anydml::cuda::RowShape<anydml::cuda::Fused>>",
      "anydml::cuda::row_strided<anydml::cuda::Fused>"};
  return true;
}

bool write_inlined(const ElementStep& step, std::uint32_t forwarded, std::uint32_t vector, const char* name,
                   InlinedSource& source) {
  ProgramText program;
  if (!write_program(step, program)) {
    return false;
  }
  const auto operands = static_cast<std::uint32_t>(step.loads + step.stored.size());
  const bool makes = forwarded >= step.loads && forwarded < operands;
  const auto at = [](std::uint32_t operand) {
    const std::string number = std::to_string(operand);
    return "launch.addresses[" + number + "] + offsets[" + number + "]";
  };
  const auto type = [&](std::uint32_t operand) { return bits_name(element_size(step.types[operand])); };
  program.words.resize(std::max<std::size_t>(program.words.size(), 1));
  std::string& text = source.text;
  begin_class(text, name);
  text.append("  Launch<").append(std::to_string(operands)).append("> launch;\n  alignas(16) u64 words[");
  text.append(std::to_string(program.words.size())).append("];\n  __device__ ");
  if (makes) {
    text.append(type(forwarded)).append(" operator()(u32 index) const {\n");
  } else {
    text.append("void operator()(u32 index");
    if (forwarded < step.loads) {
      text.append(", ").append(type(forwarded)).append(" ").append(value_name(forwarded));
    }
    text.append(") const {\n");
  }
  const std::string begin = "    std::int64_t offsets[" + std::to_string(operands) +
                            "] = {};\n    add_offsets(launch, launch.rank, index, offsets);\n";
  text.append(begin);
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    if (i != forwarded) {
      text.append("    const ").append(type(i)).append(" ").append(value_name(i)).append(" = load_element<");
      text.append(type(i)).append(">(").append(at(i)).append(", launch.aligned);\n");
    }
  }
  text.append(program.body);
  for (std::uint32_t i = step.loads; i < operands; ++i) {
    if (i != forwarded) {
      text.append("    store_element<").append(type(i)).append(">(").append(at(i)).append(", ");
      text.append(value_name(step.stored[i - step.loads])).append(", launch.aligned);\n");
    }
  }
  if (makes) {
    text.append("    return ").append(value_name(step.stored[forwarded - step.loads])).append(";\n");
  }
  if (forwarded < step.loads) {
    text.append("  }\n");
    write_some(step, forwarded, program.body, begin, text);
  }
  if (makes && vector != 0) {
    const std::string elements = std::to_string(vector);
    const auto words_of = [&](std::uint32_t operand) {
      return operand == forwarded ? std::string("result") : "words_of_" + std::to_string(operand);
    };
    text.append("  }\n  __device__ void vector(u32 index, u32 (&result)[4]) const {\n").append(begin);
    text.append("    result[0] = result[1] = result[2] = result[3] = 0;\n");
    for (std::uint32_t i = 0; i < operands; ++i) {
      if (i < step.loads) {
        text.append("    u32 ").append(words_of(i)).append("[4];\n    load_elements<").append(type(i)).append(", ");
        text.append(elements).append(">(launch, ").append(std::to_string(i)).append(", offsets, ");
        text.append(words_of(i)).append(");\n");
      } else if (i != forwarded) {
        text.append("    u32 ").append(words_of(i)).append("[4] = {};\n");
      }
    }
    text.append("#pragma unroll\n    for (int element = 0; element < ").append(elements).append("; ++element) {\n");
    for (std::uint32_t i = 0; i < step.loads; ++i) {
      text.append("    const ").append(type(i)).append(" ").append(value_name(i)).append(" = extract<");
      text.append(type(i)).append(">(").append(words_of(i)).append(", element);\n");
    }
    text.append(program.body);
    for (std::uint32_t i = step.loads; i < operands; ++i) {
      text.append("    insert<").append(type(i)).append(">(").append(words_of(i)).append(", element, ");
      text.append(value_name(step.stored[i - step.loads])).append(");\n");
    }
    text.append("    }\n");
    for (std::uint32_t i = step.loads; i < operands; ++i) {
      if (i != forwarded) {
        text.append("    store_access<").append(elements).append(" * sizeof(").append(type(i)).append("), true>(");
        text.append(at(i)).append(", ").append(words_of(i)).append(");\n");
      }
    }
  }
  text.append("  }\n};\nstatic_assert(sizeof(").append(name).append(") == ");
  text.append(std::to_string(inlined_bytes(operands, program.words.size())));
  text.append(");\n}  // namespace anydml::cuda\n");
  source.words = std::move(program.words);
  return true;
}

bool write_each(const ElementStep& step, InlinedSource& source) {
  return write_inlined(step, kNoneForwarded, 0, "Fused", source) && source.words.size() <= kMaxScalars;
}

KernelSource each_kernel(const InlinedSource& source) {
  return {.text = source.text, .kernels = {"anydml::cuda::each_element<anydml::cuda::Fused>"}};
}

}  // namespace anydml::cuda
