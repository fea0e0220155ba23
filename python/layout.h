// SPDX-License-Identifier: MIT
// The layout of arrays: splits arrays into rows, finds shared memory, and cuts arrays into parts that one call to the C
// API accepts.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "base/element.h"
#include "faults.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// ---- Shapes --------------------------------------------------------------------------------------------------------

// Broadcasts `sizes` with the shape of an operand of at most that rank, as NumPy does. Returns false if they conflict.
inline bool broadcast_with(const Operand& operand, int rank, std::int64_t* sizes) {
  for (int i = 0; i < operand.tensor.rank; ++i) {
    std::int64_t& size = sizes[rank - operand.tensor.rank + i];
    if (operand.sizes[i] != size && operand.sizes[i] != 1 && size != 1) {
      return false;
    }
    size = size == 1 ? operand.sizes[i] : size;
  }
  return true;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------

// Whether any row passes a test. The operands have the same type, and are all broadcast to the shape of the last
// operand. Order and repetition do not matter, so the last operand's memory is walked upwards in as few rows as
// possible. test(data, steps, count) gets the start and the step in bytes of each operand's row, and the number of
// elements.
template <class Test>
bool any_row(const Operand* const* operands, int count, Test test) {
  constexpr int kMax = 3;
  const Operand& last = *operands[count - 1];
  const auto size = static_cast<std::int64_t>(element_size(static_cast<DataType>(last.tensor.type)));
  struct Loop {
    std::int64_t size;
    std::int64_t strides[kMax];
  };
  Loop loops[kMaxDimensions];  // sorted by stride, largest first
  int depth = 0;
  const char* data[kMax];
  for (int k = 0; k < count; ++k) {
    data[k] = static_cast<const char*>(operands[k]->tensor.data);
  }
  for (int i = 0; i < last.tensor.rank; ++i) {
    Loop loop{last.sizes[i], {}};
    if (loop.size == 0) {
      return false;
    }
    bool moves = false;
    for (int k = 0; k < count; ++k) {
      const int at = i - (last.tensor.rank - operands[k]->tensor.rank);
      loop.strides[k] = at < 0 || operands[k]->sizes[at] == 1 ? 0 : operands[k]->strides[at];
      moves |= loop.strides[k] != 0;
    }
    if (loop.size == 1 || !moves) {
      continue;  // the loop has one element, or repeats the same elements
    }
    if (loop.strides[count - 1] < 0) {
      for (int k = 0; k < count; ++k) {
        data[k] += (loop.size - 1) * loop.strides[k] * size;
        loop.strides[k] = -loop.strides[k];
      }
    }
    int at = depth++;
    for (; at > 0 && loops[at - 1].strides[count - 1] < loop.strides[count - 1]; --at) {
      loops[at] = loops[at - 1];
    }
    loops[at] = loop;
  }
  // Merges loops that are contiguous in the memory of all operands. The last loop is the row.
  int outer = 0;
  for (int i = 0; i < depth; ++i) {
    const auto follows = [&](std::int64_t before, std::int64_t stride) { return before == stride * loops[i].size; };
    if (outer > 0 &&
        std::equal(loops[outer - 1].strides, loops[outer - 1].strides + count, loops[i].strides, follows)) {
      loops[i].size *= loops[outer - 1].size;
      --outer;
    }
    loops[outer++] = loops[i];
  }
  const Loop row = outer > 0 ? loops[--outer] : Loop{1, {}};
  npy_intp steps[kMax];
  for (int k = 0; k < count; ++k) {
    steps[k] = static_cast<npy_intp>(row.strides[k] * size);
  }
  std::int64_t index[kMaxDimensions] = {};
  for (;;) {
    if (test(data, steps, static_cast<npy_intp>(row.size))) {
      return true;
    }
    int i = outer - 1;
    const auto move = [&](std::int64_t by) {
      for (int k = 0; k < count; ++k) {
        data[k] += by * loops[i].strides[k] * size;
      }
    };
    for (; i >= 0; --i) {
      move(1);
      if (++index[i] < loops[i].size) {
        break;
      }
      move(-index[i]);
      index[i] = 0;
    }
    if (i < 0) {
      return false;
    }
  }
}

inline bool any_zero(const Operand& of) {
  const Operand* const operands[] = {&of};
  return visit_type(static_cast<DataType>(of.tensor.type), [&]<class T>() {
    return any_row(operands, 1, [](const char* const* data, const npy_intp* steps, npy_intp count) {
      return any_of_long_row<T>(data[0], steps[0], count, [](T value) { return is_zero(value); });
    });
  });
}

// Returns the faults of a call as a mask. The last operand is the call's output.
inline int faults_of(Faults of, const Operand* operands, int inputs) {
  const Operand* each[3];
  for (int i = 0; i <= inputs; ++i) {
    each[i] = &operands[i];
  }
  int found = 0;
  any_row(each, inputs + 1, [&](const char* const* data, const npy_intp* steps, npy_intp count) {
    Row row{{}, {}, inputs, count};
    std::copy_n(data, inputs + 1, row.data);
    std::copy_n(steps, inputs + 1, row.steps);
    found |= faults_of_row(of, static_cast<DataType>(operands[inputs].tensor.type), row);
    return false;
  });
  return found;
}

// ---- Shared memory -------------------------------------------------------------------------------------------------

inline bool share_memory(const Operand& a, const Operand& b) {
  const auto range = [](const Operand& of, std::int64_t& low, std::int64_t& high) {
    low = high = 0;
    for (int i = 0; i < of.tensor.rank; ++i) {
      if (of.sizes[i] == 0) {
        return false;
      }
      (of.strides[i] < 0 ? low : high) += (of.sizes[i] - 1) * of.strides[i];
    }
    const auto size = static_cast<std::int64_t>(element_size(static_cast<DataType>(of.tensor.type)));
    const auto start = reinterpret_cast<std::int64_t>(of.tensor.data);
    low = start + low * size;
    high = start + (high + 1) * size;
    return true;
  };
  std::int64_t a_low, a_high, b_low, b_high;
  return range(a, a_low, a_high) && range(b, b_low, b_high) && a_low < b_high && b_low < a_high;
}

// Whether each element of an input has the same address as the result with the same index.
inline bool is_in_place(const Operand& input, const Operand& output) {
  if (input.tensor.data != output.tensor.data || input.tensor.type != output.tensor.type ||
      input.tensor.rank != output.tensor.rank) {
    return false;
  }
  for (int i = 0; i < output.tensor.rank; ++i) {
    if (input.sizes[i] != output.sizes[i] || (output.sizes[i] > 1 && input.strides[i] != output.strides[i])) {
      return false;
    }
  }
  return true;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------

// The maximum number of elements that one call to the C API accepts; tests lower this limit.
inline constexpr std::int64_t kMaxElements = 0xffff'ffff;
inline std::atomic<std::int64_t> max_elements = kMaxElements;

inline std::int64_t element_count(const anydml_tensor& tensor) {
  std::int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    count *= tensor.sizes[i];
  }
  return count;
}

inline bool is_too_large(std::int64_t count) { return count > max_elements.load(std::memory_order_relaxed); }

// Whether the stride of each dimension of an output spans all elements of the dimensions with smaller strides. If so,
// no two elements overlap, even in different parts. The core performs a similar check, but only on one part at a time.
inline bool has_nested_strides(const Operand& output) {
  std::int64_t reach = 1;
  bool passed[kMaxDimensions] = {};
  for (int turn = 0; turn < output.tensor.rank; ++turn) {
    int next = -1;
    for (int i = 0; i < output.tensor.rank; ++i) {
      if (!passed[i] && (next < 0 || std::abs(output.strides[i]) < std::abs(output.strides[next]))) {
        next = i;
      }
    }
    passed[next] = true;
    if (output.sizes[next] > 1) {
      if (std::abs(output.strides[next]) < reach) {
        return false;
      }
      reach += (output.sizes[next] - 1) * std::abs(output.strides[next]);
    }
  }
  return true;
}

// The tensors of a call, the output last. All have the output's shape; broadcast inputs have strides of 0.
class Part {
 public:
  // Returns false if an input does not match the output, or if there are more inputs than any operator accepts.
  bool take(const anydml_tensor* tensors, std::size_t count) {
    const anydml_tensor& output = tensors[count - 1];
    count_ = count;
    if (count > kMaxInputs + 1) {
      return false;
    }
    std::copy_n(output.sizes, output.rank, sizes_);
    for (std::size_t i = 0; i < count; ++i) {
      tensors_[i] = tensors[i];
      tensors_[i].rank = output.rank;
      const int missing = output.rank - tensors[i].rank;
      for (int j = 0; j < output.rank; ++j) {
        const std::int64_t size = j < missing ? 1 : tensors[i].sizes[j - missing];
        if (missing < 0 || (size != 1 && size != sizes_[j])) {
          return false;
        }
        strides_[i][j] = size == 1 ? 0 : tensors[i].strides[j - missing];
      }
    }
    return true;
  }

  // Halves the tensors until each part is small enough, calls run_one(tensors) for each part, and returns the first
  // error code. Cuts are made along the dimension with the output's largest stride, so that each part is contiguous in
  // memory.
  template <class Run>
  int run(const Run& run_one) const {
    const std::size_t output = count_ - 1;
    int longest = -1;
    for (int i = 0; i < tensors_[output].rank; ++i) {
      if (sizes_[i] > 1 && (longest < 0 || std::abs(strides_[output][i]) > std::abs(strides_[output][longest]))) {
        longest = i;
      }
    }
    anydml_tensor tensors[kMaxInputs + 1];
    for (std::size_t i = 0; i < count_; ++i) {
      tensors[i] = tensors_[i];
      tensors[i].sizes = sizes_;
      tensors[i].strides = strides_[i];
    }
    if (longest < 0 || !is_too_large(element_count(tensors[output]))) {
      return run_one(tensors);
    }
    Part first = *this;
    Part second = *this;
    first.sizes_[longest] /= 2;
    second.sizes_[longest] -= first.sizes_[longest];
    for (std::size_t i = 0; i < count_; ++i) {
      const auto size = static_cast<std::int64_t>(anydml_type_size(tensors_[i].type));
      second.tensors_[i].data =
          static_cast<char*>(tensors_[i].data) + first.sizes_[longest] * strides_[i][longest] * size;
    }
    const int code = first.run(run_one);
    return code == ANYDML_OK ? second.run(run_one) : code;
  }

 private:
  std::size_t count_ = 0;
  std::int64_t sizes_[kMaxDimensions] = {};
  std::int64_t strides_[kMaxInputs + 1][kMaxDimensions] = {};
  anydml_tensor tensors_[kMaxInputs + 1] = {};
};

}  // namespace anydml::python
