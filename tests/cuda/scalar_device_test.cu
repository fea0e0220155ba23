// SPDX-License-Identifier: MIT
// The scalar definitions mean the same on a GPU: every row and type, the same operands on both sides, compared by bits.
// Built with nvcc alone; exits with 77, "skipped", where there is no device.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ops/rows.h"
#include "support/distributions.h"

namespace anydml::test {
namespace {

#define CHECK(call)                                                                                        \
  do {                                                                                                     \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                          \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));       \
      std::exit(1);                                                                                        \
    }                                                                                                      \
  } while (false)

constexpr std::size_t kCount = std::size_t{1} << 21;

template <template <class> class ScalarOp, class T>
__host__ __device__ T apply(const Attributes& attributes, T a, T b) {
  const auto op = make_scalar<ScalarOp<T>>(attributes);
  if constexpr (scalar_inputs<ScalarOp<T>, T>() == 1) {
    return op(a);
  } else {
    return op(a, b);
  }
}

template <template <class> class ScalarOp, class T>
__global__ void on_device(Attributes attributes, const T* a, const T* b, T* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < kCount) {
    out[i] = apply<ScalarOp>(attributes, a[i], b[i]);
  }
}

template <template <class> class ScalarOp, class T>
u64 check_type(const char* name) {
  if constexpr (scalar_inputs<ScalarOp<T>, T>() == 0) {
    return 0;
  } else {
    Random random(kSeed);
    std::vector<T> a(kCount), b(kCount), out(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto pair = draw<T>(kDistributions[i % 4], random);
      a[i] = i % 7 == 0 ? any_value<T>(random) : pair.a;
      b[i] = i % 5 == 0 ? any_value<T>(random) : pair.b;
    }
    Attributes attributes;
    attributes.values[0] = Scalar(-2.5);
    attributes.values[1] = Scalar(100.25);
    T *device_a, *device_b, *device_out;
    for (T** pointer : {&device_a, &device_b, &device_out}) {
      CHECK(cudaMalloc(pointer, kCount * sizeof(T)));
    }
    CHECK(cudaMemcpy(device_a, a.data(), kCount * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), kCount * sizeof(T), cudaMemcpyHostToDevice));
    on_device<ScalarOp><<<kCount / 256, 256>>>(attributes, device_a, device_b, device_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), device_out, kCount * sizeof(T), cudaMemcpyDeviceToHost));
    for (T* pointer : {device_a, device_b, device_out}) {
      CHECK(cudaFree(pointer));
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      const T expected = apply<ScalarOp>(attributes, a[i], b[i]);
      if (!same(out[i], expected)) {
        std::printf("%s %s: %s, %s: device %s, host %s\n", name, std::string(type_name(kDataTypeOf<T>)).c_str(),
                    show(a[i]).c_str(), show(b[i]).c_str(), show(out[i]).c_str(), show(expected).c_str());
        std::exit(1);
      }
    }
    return kCount;
  }
}

template <template <class> class ScalarOp>
void check_row(const char* name) {
  u64 elements = 0;
#define ANYDML_CHECK(T, type, value) elements += check_type<ScalarOp, T>(name);
  ANYDML_FOR_EACH_TYPE(ANYDML_CHECK)
#undef ANYDML_CHECK
  std::printf("  %-32s %9" PRIu64 " elements, device and host the same\n", name, elements);
}

}  // namespace
}  // namespace anydml::test

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: it compiles, but there is no CUDA device to run it on\n");
    return 77;
  }
#define ANYDML_ROW(op, Scalar, ulp) anydml::test::check_row<anydml::Scalar>(#op);
#include "ops/elementwise/elementwise.def"
}
