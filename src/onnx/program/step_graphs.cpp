// SPDX-License-Identifier: MIT
#include "onnx/program/step_graphs.h"

#include <utility>

namespace anydml::onnx {

std::shared_ptr<const StepGraphs::Kept> StepGraphs::find(const Step& step, std::size_t index, const Array& x,
                                                         std::span<const Array> inputs, const FixedArrays& fixed) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const Kept>& kept = kept_[index];
  if (kept == nullptr || kept->kind != x.kind() || kept->shape != x.shape()) {
    Recorder recorder(fixed);
    Arrays given(inputs.begin(), inputs.end());
    given[0] = recorder.input(x);
    const Array result = perform(step, given)[0];
    recorder.output(result);
    // The graph of the previous form still exists here, so the new one shares its packed weights.
    kept = std::make_shared<const Kept>(Kept{x.kind(), x.shape(), recorder.compile({}), result.kind(), result.shape()});
  }
  return kept;
}

Arrays StepGraphs::run(const Step& step, std::size_t index, std::span<const Array> inputs, const FixedArrays& fixed) {
  const Array x = inputs[0].packed();
  if (x.count() == 0) {
    return perform(step, inputs);
  }
  const std::shared_ptr<const Kept> kept = find(step, index, x, inputs, fixed);
  Array output = Array::empty(kept->result_kind, kept->result_shape);
  const void* const from = x.data();
  void* const to = output.writable();
  check_status(anydml_compiled_run(kept->compiled.get(), &from, 1, &to, 1));
  return {output};
}

}  // namespace anydml::onnx
