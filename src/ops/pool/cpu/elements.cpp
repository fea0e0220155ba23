// SPDX-License-Identifier: MIT
// Pools windows element by element, directly from the definition. This is used for windows whose rows would need too
// much memory, such as the windows of a small tensor with a large padding.
#include <algorithm>
#include <cstring>

#include "ops/pool/cpu/kernels.h"
#include "ops/pool/scalar/pool.h"

namespace anydml {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void store_index(std::byte* to, DataType type, std::int64_t index) {
  std::memcpy(to, &index, element_size(type));  // little-endian, so the lowest bytes come first
}

// Calls use(address, index in the input) for the existing elements of a window, in row-major order.
template <class Use>
void for_each_tap(const PoolStep& step, const PoolTaps* taps, const std::byte* plane, std::int64_t first_index,
                  Use use) {
  std::int64_t numbers[kPoolAxes];
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    numbers[i] = taps[i].first;
    if (taps[i].count() == 0) {
      return;
    }
  }
  while (true) {
    std::int64_t offset = 0;
    std::int64_t index = 0;
    for (std::uint32_t i = 0; i < step.rank; ++i) {
      const std::int64_t coordinate = taps[i].start + numbers[i] * step.axes[i].dilation;
      offset += coordinate * step.axes[i].input_step;
      index = index * step.axes[i].input + coordinate;
    }
    use(plane + offset, first_index + index);
    std::uint32_t i = step.rank;
    while (i-- > 0 && ++numbers[i] == taps[i].end) {
      numbers[i] = taps[i].first;
    }
    if (i >= step.rank) {
      return;
    }
  }
}

struct Window {
  PoolTaps taps[kPoolAxes];
  std::int64_t elements;  // elements of the window that exist
  f64 window_size;        // including padding
  std::int64_t output;    // offsets in bytes
  std::int64_t index;
  const std::byte* plane;    // plane of the input
  std::int64_t first_index;  // index of the plane's first element
};

Window window_of(const PoolStep& step, std::int64_t number, const PoolAddresses& at) {
  Window window{};
  window.elements = 1;
  window.window_size = 1;
  std::int64_t plane_size = 1;
  for (std::uint32_t i = step.rank; i-- > 0;) {
    const PoolAxis& axis = step.axes[i];
    const std::int64_t coordinate = number % axis.output;
    number /= axis.output;
    window.taps[i] = pool_taps(axis, coordinate);
    window.elements *= window.taps[i].count();
    window.window_size *= static_cast<f64>(axis.window);
    window.output += coordinate * axis.output_step;
    window.index += coordinate * axis.index_step;
    plane_size *= axis.input;
  }
  const std::int64_t channel = number % step.channel.output;
  const std::int64_t batch = number / step.channel.output;
  window.output += channel * step.channel.output_step + batch * step.batch.output_step;
  window.index += channel * step.channel.index_step + batch * step.batch.index_step;
  window.plane = at.input + channel * step.channel.input_step + batch * step.batch.input_step;
  window.first_index = number * plane_size;
  return window;
}

template <class T>
T pooled(const PoolStep& step, const Window& window, std::int64_t& index) {
  if constexpr (is_float<T>) {
    if (step.function != PoolFunction::max) {
      using Value = compute_t<T>;
      Value sum = kNothing<Value>;
      for_each_tap(step, window.taps, window.plane, 0, [&](const std::byte* from, std::int64_t) {
        sum += pool_lifted<Value>(step.function, widen(load<T>(from)));
      });
      const auto divisor =
          step.counts_padding != 0 ? static_cast<Value>(window.window_size) : static_cast<Value>(window.elements);
      return narrow<T>(pool_finished<Value>(step.function, sum, divisor));
    }
  }
  using Key = typename Ordered<T>::Key;
  Key maximum = Ordered<T>::kMin;
  index = -1;
  for_each_tap(step, window.taps, window.plane, window.first_index, [&](const std::byte* from, std::int64_t at) {
    const Key key = Ordered<T>::key(load<Key>(from));
    if (index < 0 || key > maximum) {
      maximum = key;
      index = at;
    }
  });
  const Key element = Ordered<T>::element(maximum);
  return __builtin_bit_cast(T, element);
}

template <class T>
void run(const PoolStep& step, const PoolCut&, std::int64_t first, std::int64_t end, const PoolAddresses& at,
         std::byte*) noexcept {
  constexpr std::int64_t kTogether = 256;
  T computed[kTogether];
  while (first < end) {
    const std::int64_t some = std::min(kTogether, end - first);
    for (std::int64_t i = 0; i < some; ++i) {
      const Window window = window_of(step, first + i, at);
      std::int64_t index = -1;
      computed[i] = pooled<T>(step, window, index);
      if (at.output != nullptr) {
        std::memcpy(at.output + window.output, &computed[i], sizeof(T));
      }
      if (at.indices != nullptr) {
        store_index(at.indices + window.index, step.index_type, index);
      }
    }
    if (at.output == nullptr) {
      at.after->run(first, some, reinterpret_cast<std::byte*>(computed), at.operands);
    }
    first += some;
  }
}

}  // namespace

PoolRun element_pool_run(const PoolStep& step) {
  return visit_type(step.type, []<class T>() -> PoolRun { return run<T>; });
}

}  // namespace anydml
