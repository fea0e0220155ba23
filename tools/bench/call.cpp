// SPDX-License-Identifier: MIT
#include "call.h"

#include <vector>

namespace anydml::bench {

Call::Call(const Row& row, anydml_type type, const Placement& placement) {
  std::vector<anydml_tensor> inputs;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const anydml_type of = row.input_type(i, type);
    inputs.push_back(row.inputs[i].single ? anydml_tensor{of, placement.rank, kOnes.data(), nullptr, nullptr}
                                          : anydml_tensor{of, placement.rank, placement.sizes.data(),
                                                          placement.inputs[i].strides.data(), nullptr});
  }
  const anydml_tensor output{row.output_type(type), placement.rank, placement.output_sizes.data(),
                             placement.output.strides.data(), nullptr};
  std::vector<anydml_attribute> attributes;
  for (const Attribute& attribute : row.attributes) {
    anydml_attribute& added = attributes.emplace_back();
    added.name = attribute.name.c_str();
    if (attribute.text.empty()) {
      added.type = ANYDML_FLOAT64;
      added.value.f64 = attribute.number;
    } else {
      added.type = ANYDML_TEXT;
      added.value.text = attribute.text.c_str();
    }
  }
  std::vector<std::uint64_t> axes;
  if (row.family == RowKind::reduce) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(placement.rank); ++i) {
      if (placement.is_reduced[i]) {
        axes.push_back(i);
      }
    }
    anydml_attribute& added = attributes.emplace_back();
    added.name = "Axes";
    added.type = uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY};
    added.count = static_cast<uint32_t>(axes.size());
    added.value.u64s = axes.data();
  }
  if (anydml_compile(nullptr, row.directml.c_str(), inputs.data(), inputs.size(), &output, 1, attributes.data(),
                     attributes.size(), &compiled_) != ANYDML_OK) {
    error_ = anydml_last_error();
  }
}

void Call::run(std::span<const void* const> inputs, void* output) {
  if (anydml_compiled_run(compiled_, inputs.data(), inputs.size(), &output, 1) != ANYDML_OK) {
    error_ = anydml_last_error();
  }
}

void Call::start(std::span<const void* const> inputs, void* output) {
  const int status = anydml_compiled_run_on_stream(compiled_, nullptr, inputs.data(), inputs.size(), &output, 1);
  if (status == ANYDML_DEVICE_ERROR) {
    run(inputs, output);  // either the device has no streams, or it failed and reports its error again
  } else if (status != ANYDML_OK) {
    error_ = anydml_last_error();
  }
}

}  // namespace anydml::bench
