// SPDX-License-Identifier: MIT
// A tensor with its own memory on the host and on the device, in any layout. The memory holds the elements that a
// kernel may read and write, and bytes between them that must be preserved.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/cuda/family.h"
#include "cuda/kernels_harness.h"

namespace anydml::cuda {

class TestOperand {
 public:
  struct Loop {
    std::int64_t size;
    std::int64_t* stride;  // a stride in bytes
  };

  TestOperand() = default;
  TestOperand(const TestOperand&) = delete;
  TestOperand& operator=(const TestOperand&) = delete;
  ~TestOperand() { (void)cudaFree(device_); }

  // Draws random strides. The last loop is innermost unless the order is random too. Only inputs repeat elements.
  void lay_out(std::vector<Loop> loops, std::int64_t element_bytes, bool is_plain, bool is_input,
               test::Random& random) {
    if (!is_plain && random() % 4 == 0) {
      std::shuffle(loops.begin(), loops.end(), random);
    }
    const bool is_padded = !is_plain && random() % 2 == 0;
    const bool is_turned = !is_plain && random() % 4 == 0;
    std::int64_t stride = element_bytes;
    std::int64_t first = 0;
    std::int64_t end = element_bytes;
    for (std::size_t i = loops.size(); i-- > 0;) {
      if (is_padded && random() % 3 == 0) {
        const u64 kind = random() % 4;  // pads by bytes, by vectors, or by elements
        stride += static_cast<std::int64_t>(kind == 0 ? random() % 5 : kind == 1 ? 16 : 4 * (random() % 4));
      }
      const bool repeats = !is_plain && is_input && random() % 12 == 0;
      *loops[i].stride = repeats || loops[i].size == 1 ? 0 : is_turned && random() % 2 == 0 ? -stride : stride;
      (*loops[i].stride < 0 ? first : end) += std::max<std::int64_t>(loops[i].size - 1, 0) * *loops[i].stride;
      stride *= repeats ? 1 : std::max<std::int64_t>(loops[i].size, 1);
    }
    base_ = (is_plain ? 0 : static_cast<std::int64_t>(random() % 3 == 0 ? random() % 20 : 0)) - first;
    host_.resize(static_cast<std::size_t>(base_ + end));
    for (std::byte& one : host_) {
      one = static_cast<std::byte>(random() >> 11);
    }
  }

  template <class T>
  [[nodiscard]] T at(std::int64_t offset) const {
    T value;
    std::memcpy(&value, host_.data() + base_ + offset, sizeof(value));
    return value;
  }
  template <class T>
  void set(std::int64_t offset, T value) {
    std::memcpy(host_.data() + base_ + offset, &value, sizeof(value));
  }
  // Fills the memory with numbers of ordinary size, or with random bits, instead of random bytes.
  void fill_floats(test::Random& random, bool any_bits) {
    for (std::size_t i = static_cast<std::size_t>(base_) % sizeof(f32); i + sizeof(f32) <= host_.size();
         i += sizeof(f32)) {
      f32 value = (static_cast<f32>(random() % 2001) - 1000.0f) / 997.0f;
      if (any_bits) {
        value = test::from_raw<f32>(random() >> 7);
      }
      std::memcpy(host_.data() + i, &value, sizeof(value));
    }
  }

  // The memory ends with the tensor, so that memory checkers detect reads past the end.
  [[nodiscard]] std::byte* upload() {
    (void)cudaFree(device_);
    device_ = nullptr;
    CHECK(cudaMalloc(&device_, std::max<std::size_t>(host_.size(), 1)));
    CHECK(cudaMemcpy(device_, host_.data(), host_.size(), cudaMemcpyHostToDevice));
    return device_ + base_;
  }
  [[nodiscard]] std::vector<std::byte> download() const {
    std::vector<std::byte> found(host_.size());
    CHECK(cudaMemcpy(found.data(), device_, found.size(), cudaMemcpyDeviceToHost));
    return found;
  }
  [[nodiscard]] const std::vector<std::byte>& host() const { return host_; }
  template <class T>
  [[nodiscard]] T in(const std::vector<std::byte>& found, std::int64_t offset) const {
    T value;
    std::memcpy(&value, found.data() + base_ + offset, sizeof(value));
    return value;
  }

 private:
  std::vector<std::byte> host_;
  std::byte* device_ = nullptr;
  std::int64_t base_ = 0;  // the offset of the element at index 0
};

// Prepares the step for this device, or for a device with fewer multiprocessors, and runs it. Returns false if the step
// was rejected.
template <class Parameters>
bool run_step(const FamilyKernels& family, const Parameters& parameters, std::span<const Operand> operands,
              std::span<std::byte* const> bases, test::Random& random) {
  const Step flat{.family = 0, .operands = operands, .parameters = std::as_bytes(std::span(&parameters, 1))};
  GpuProperties gpu = machine_of_tests();
  if (random() % 3 == 0) {
    gpu.multiprocessors = static_cast<u32>(1 + random() % 8);
  }
  const char* why = nullptr;
  const auto prepared = family.prepare(flat, gpu, {}, &why);
  if (prepared == nullptr) {
    report_error(why);
    return false;
  }
  std::byte* workspace = nullptr;
  if (prepared->workspace_bytes() != 0) {
    CHECK(cudaMalloc(&workspace, prepared->workspace_bytes()));
  }
  CHECK(prepared->launch(bases.data(), workspace, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(workspace));
  return true;
}

}  // namespace anydml::cuda
