// SPDX-License-Identifier: MIT
#include "ops/reduce/cuda/joined.h"

namespace anydml::cuda {
namespace {

const char* type_text(DataType type) {
  switch (type) {
#define ANYDML_TEXT(T, name, value) \
  case DataType::name:              \
    return #T;
    ANYDML_FOR_EACH_TYPE(ANYDML_TEXT)
#undef ANYDML_TEXT
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return "void";
}

std::string kernel_text(ReduceKernel kernel) {
  switch (kernel) {
    case ReduceKernel::along_vectors:
      return "along_vectors<anydml::cuda::JoinedWork>";
    case ReduceKernel::along_elements:
      return "along_elements<anydml::cuda::JoinedWork>";
    case ReduceKernel::across_vectors:
      return "across<anydml::cuda::JoinedWork, anydml::cuda::JoinedWork::kVector, false>";
    case ReduceKernel::across_elements:
      return "across<anydml::cuda::JoinedWork, 1, false>";
    case ReduceKernel::along_wide:
      return "along_wide<anydml::cuda::JoinedWork>";
    case ReduceKernel::across_lanes:
      return "across<anydml::cuda::JoinedWork, 1, true>";
    case ReduceKernel::across_staged:
      return "across_staged<anydml::cuda::JoinedWork>";
    case ReduceKernel::combine:
      break;
  }
  return "combine<anydml::cuda::JoinedWork>";
}

}  // namespace

KernelSource write_joined(const ReduceStep& step, const Neighbors& neighbors, std::size_t parameter_bytes,
                          std::span<const ReduceKernel> kernels) {
  KernelSource source;
  std::string& text = source.text;
  for (const Neighbor* neighbor : {&neighbors.before, &neighbors.after}) {
    text.append(neighbor->step != nullptr ? neighbor->step->text() : std::string());
  }
  text.append("#include \"ops/reduce/cuda/across.cuh\"\n#include \"ops/reduce/cuda/combine.cuh\"\n");
  text.append("namespace anydml::cuda {\nusing JoinedWork = Work<fold_t<static_cast<FoldId>(");
  text.append(std::to_string(static_cast<u32>(fold_of(step.function)))).append("), ");
  text.append(type_text(step.input_type)).append(">, ").append(is_arg(step.function) ? "true" : "false");
  text.append(neighbors.before.step != nullptr ? ", Before" : ", InMemory");
  text.append(neighbors.after.step != nullptr ? ", After" : ", InMemory").append(">;\n");
  text.append("static_assert(sizeof(JoinedWork::Launch) == ").append(std::to_string(parameter_bytes));
  text.append(");\n}  // namespace anydml::cuda\n");
  for (const ReduceKernel kernel : kernels) {
    source.kernels.push_back("anydml::cuda::" + kernel_text(kernel));
  }
  return source;
}

}  // namespace anydml::cuda
