// SPDX-License-Identifier: MIT
// Computes the sums for the gradient of batch normalization, along rows. Like moments-inl.h, which must be included
// first, this file is compiled for each target. A row is read once for its mean, unless the mean is an input, and then
// again, from a cache, for both sums.

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

ANYDML_FLATTEN void multiply_differences(const Elements* x, f32 mean, const Elements* gradient, std::int64_t count,
                                         f32* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = gradient[i] * (x[i] - mean);
  }
}

template <class T>
void run_gradients(const GradientStep& step, const AxisLoops& of_gradient, std::int64_t first, std::int64_t end,
                   const GradientTensors& tensors, f32* scratch) noexcept {
  const AxisLoops& loops = step.loops;
  const bool has_lanes = loops.has_lanes != 0;
  // These objects only read elements, so the output address passed to them does not matter.
  const AlongRows<T> inputs(loops, tensors.input, tensors.mean);
  const AlongRows<T> gradients(of_gradient, tensors.gradient, tensors.mean);
  f32* const own = scratch;
  f32* const other = scratch + kPaddedStage;
  f32* const computed = scratch + 2 * kPaddedStage;
  LoopWalk row = inputs.walk(first);
  LoopWalk gradient_row = gradients.walk(first);
  LoopWalk offsets(step.statistics.kept, step.statistics.kept_rank, first);
  for (; first < end; ++first, row.next(), gradient_row.next(), offsets.next()) {
    std::byte* const at = tensors.mean + step.statistics.input_offset + offsets.input();
    f32 mean = 0;
    if (step.takes_mean != 0) {
      std::memcpy(&mean, at, sizeof(f32));
    } else {
      BlockTree<f32> tree;
      for (std::int64_t begin = 0; begin < loops.count; begin += kReduceBlock) {
        const std::int64_t count = std::min(kReduceBlock, loops.count - begin);
        tree.add(sum_block(inputs.load(row, begin, count, own), count, has_lanes), added);
      }
      mean = tree.total(added) / static_cast<f32>(loops.count);
      std::memcpy(at, &mean, sizeof(f32));
    }
    BlockTree<f32> sums;
    BlockTree<f32> products;
    for (std::int64_t begin = 0; begin < loops.count; begin += kReduceBlock) {
      const std::int64_t count = std::min(kReduceBlock, loops.count - begin);
      const Elements* const x = inputs.load(row, begin, count, own);
      const Elements* const gradient = gradients.load(gradient_row, begin, count, other);
      sums.add(sum_block(gradient, count, has_lanes), added);
      multiply_differences(x, mean, gradient, count, computed);
      products.add(sum_block(computed, count, has_lanes), added);
    }
    const std::int64_t offset = step.statistics.output_offset + offsets.output();
    const f32 sum = sums.total(added);
    const f32 product = products.total(added);
    std::memcpy(tensors.gradients + offset, &sum, sizeof(f32));
    std::memcpy(tensors.products + offset, &product, sizeof(f32));
  }
}

GradientRun find_gradient_run(const GradientStep& step) {
  return step.type == DataType::FLOAT16 ? run_gradients<f16> : run_gradients<f32>;
}

#undef ANYDML_FLATTEN
