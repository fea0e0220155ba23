// SPDX-License-Identifier: MIT
// The C API's memory objects behave the same whether or not the device shares the process's address space.
#include <anydml/anydml.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/sanitizers.h"

namespace anydml::test {
namespace {

struct Release {
  void operator()(anydml_memory* memory) const { anydml_memory_release(memory); }
};
using Held = std::unique_ptr<anydml_memory, Release>;

Held create(std::size_t bytes, std::uint64_t flags = 0) {
  anydml_memory* memory = nullptr;
  EXPECT_EQ(anydml_memory_create(nullptr, bytes, flags, &memory), ANYDML_OK) << anydml_last_error();
  return Held(memory);
}

// `count` elements, starting at element `first`.
class Tensor {
 public:
  Tensor(void* data, std::int64_t count, std::int64_t first = 0, std::int64_t stride = 1)
      : size_(count),
        stride_(stride),
        tensor_{ANYDML_FLOAT32, 1, &size_, &stride_, static_cast<float*>(data) + first} {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  [[nodiscard]] const anydml_tensor& get() const { return tensor_; }

 private:
  std::int64_t size_;
  std::int64_t stride_;
  anydml_tensor tensor_;
};

int add(const Tensor& a, const Tensor& b, const Tensor& out) {
  const anydml_tensor inputs[] = {a.get(), b.get()};
  return anydml_run(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &out.get(), 1, nullptr, 0);
}

bool is_cpu() { return std::string(anydml_device_get_info(nullptr)->name) == "cpu"; }

std::vector<float> read(const Held& memory, std::size_t count) {
  std::vector<float> values(count, -1);
  EXPECT_EQ(anydml_memory_read(memory.get(), 0, values.data(), count * sizeof(float)), ANYDML_OK)
      << anydml_last_error();
  return values;
}

TEST(Memory, HoldsZerosAndWhatIsWritten) {
  const Held memory = create(5 * sizeof(float));
  EXPECT_EQ(anydml_memory_bytes(memory.get()), 5 * sizeof(float));
  EXPECT_NE(anydml_memory_pointer(memory.get()), nullptr);
  EXPECT_EQ(read(memory, 5), std::vector<float>(5));
  const float values[] = {1, 2, 3};
  EXPECT_EQ(anydml_memory_write(memory.get(), 4, values, sizeof(values)), ANYDML_OK);
  EXPECT_EQ(read(memory, 5), (std::vector<float>{0, 1, 2, 3, 0}));
}

TEST(Memory, IsUsedByTensorsBesideTheCpus) {
  const Held x = create(8 * sizeof(float));
  const Held y = create(8 * sizeof(float));
  std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> others(8, 100);
  ASSERT_EQ(anydml_memory_write(x.get(), 0, values.data(), 32), ANYDML_OK);
  const Tensor in_x(anydml_memory_pointer(x.get()), 8);
  const Tensor in_y(anydml_memory_pointer(y.get()), 8);
  ASSERT_EQ(add(in_x, Tensor(others.data(), 8), in_y), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(read(y, 8), (std::vector<float>{101, 102, 103, 104, 105, 106, 107, 108}));
  // Add in the other direction, and backwards from the middle.
  ASSERT_EQ(add(Tensor(anydml_memory_pointer(x.get()), 4, 5, -1), Tensor(others.data(), 4), Tensor(others.data(), 4)),
            ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(others, (std::vector<float>{106, 105, 104, 103, 100, 100, 100, 100}));
}

TEST(Memory, OfInputsMayOverlapOutputs) {
  const Held memory = create(6 * sizeof(float));
  const float values[] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(anydml_memory_write(memory.get(), 0, values, sizeof(values)), ANYDML_OK);
  void* const pointer = anydml_memory_pointer(memory.get());
  ASSERT_EQ(add(Tensor(pointer, 5), Tensor(pointer, 5), Tensor(pointer, 5, 1)), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(read(memory, 6), (std::vector<float>{1, 2, 4, 6, 8, 10}));
  // In place.
  ASSERT_EQ(add(Tensor(pointer, 6), Tensor(pointer, 6), Tensor(pointer, 6)), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(read(memory, 6), (std::vector<float>{2, 4, 8, 12, 16, 20}));
}

TEST(Memory, MayBeAConstantAndAGraphsOperand) {
  const Held weights = create(4 * sizeof(float));
  const Held out = create(4 * sizeof(float));
  const float values[] = {1, 2, 3, 4};
  ASSERT_EQ(anydml_memory_write(weights.get(), 0, values, sizeof(values)), ANYDML_OK);
  const std::int64_t size = 4;
  const anydml_tensor x = {ANYDML_FLOAT32, 1, &size, nullptr, nullptr};
  const anydml_tensor w = {ANYDML_FLOAT32, 1, &size, nullptr, anydml_memory_pointer(weights.get())};
  anydml_graph* graph = nullptr;
  anydml_value terms[2] = {};
  anydml_value sum = 0;
  anydml_value root = 0;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  EXPECT_EQ(anydml_graph_add_input(graph, &x, &terms[0]), ANYDML_OK);
  EXPECT_EQ(anydml_graph_add_input(graph, &x, &terms[1]), ANYDML_OK);
  EXPECT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", terms, 2, &x, 1, nullptr, 0, &sum), ANYDML_OK);
  EXPECT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_NEGATE", &sum, 1, &x, 1, nullptr, 0, &root), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(anydml_graph_add_output(graph, root), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_graph_release(graph);
  std::vector<float> given = {10, 20, 30, 40};
  const void* inputs[] = {given.data(), w.data};
  void* outputs[] = {anydml_memory_pointer(out.get())};
  EXPECT_EQ(anydml_compiled_run(compiled, inputs, 2, outputs, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(read(out, 4), (std::vector<float>{-11, -22, -33, -44}));
  anydml_compiled_release(compiled);
  // A constant is copied when the operator is compiled.
  const std::uint32_t positions[] = {1};
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.constants = positions;
  options.constant_count = 1;
  const anydml_tensor both[] = {x, w};
  ASSERT_EQ(anydml_compile_with(&options, "ELEMENT_WISE_ADD", both, 2, &x, 1, nullptr, 0, &compiled), ANYDML_OK)
      << anydml_last_error();
  const float zeros[4] = {};
  ASSERT_EQ(anydml_memory_write(weights.get(), 0, zeros, sizeof(zeros)), ANYDML_OK);
  EXPECT_EQ(anydml_compiled_run(compiled, inputs, 2, outputs, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(read(out, 4), (std::vector<float>{11, 22, 33, 44}));
  anydml_compiled_release(compiled);
}

TEST(Memory, IsMappedOnRequest) {
  const Held memory = create(16, ANYDML_MEMORY_MAPPABLE);
  void* data = nullptr;
  ASSERT_EQ(anydml_memory_map(memory.get(), &data), ANYDML_OK) << anydml_last_error();
  const float values[] = {1, 2, 3, 4};
  std::memcpy(data, values, sizeof(values));
  const Tensor tensor(anydml_memory_pointer(memory.get()), 4);
  ASSERT_EQ(add(tensor, tensor, tensor), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(std::memcmp(data, std::vector<float>{2, 4, 6, 8}.data(), 16), 0);
}

TEST(Memory, OfTheDeviceAloneIsNotMapped) {
  if (is_cpu()) {
    GTEST_SKIP() << "all memory of this device is CPU memory";
  }
  const Held memory = create(16);
  void* data = &data;
  EXPECT_EQ(anydml_memory_map(memory.get(), &data), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(data, nullptr);
  EXPECT_NE(std::string(anydml_last_error()).find("expected memory created with ANYDML_MEMORY_MAPPABLE"),
            std::string::npos);
}

// Reading through a pointer to memory that the CPU cannot access must crash immediately.
TEST(Memory, OfTheDeviceAloneCannotBeReadByMistake) {
  if (is_cpu() || kSanitized || kThreadSanitizer || std::string(anydml_device_get_info(nullptr)->name) != "later:0") {
    GTEST_SKIP() << "on other devices a pointer is the device's own address";
  }
  const Held memory = create(16);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    _exit(*static_cast<volatile char*>(anydml_memory_pointer(memory.get())));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
}

TEST(Memory, OfTheCallerIsWrapped) {
  std::vector<float> values(16, 3);
  anydml_memory* wrapped = nullptr;
  const int status = anydml_memory_wrap(nullptr, values.data(), 16 * sizeof(float), &wrapped);
  if (status != ANYDML_OK && !is_cpu()) {
    EXPECT_EQ(status, ANYDML_INVALID_ARGUMENT) << anydml_last_error();
    GTEST_SKIP() << anydml_last_error();
  }
  ASSERT_EQ(status, ANYDML_OK) << anydml_last_error();
  const Tensor tensor(anydml_memory_pointer(wrapped), 16);
  EXPECT_EQ(add(tensor, tensor, tensor), ANYDML_OK) << anydml_last_error();
  anydml_memory_release(wrapped);
  EXPECT_EQ(values, std::vector<float>(16, 6));
}

TEST(Memory, IsFoundAndCopied) {
  const Held one = create(16);
  const Held other = create(16);
  char* const pointer = static_cast<char*>(anydml_memory_pointer(one.get()));
  std::vector<float> values = {1, 2, 3, 4};
  const auto found = [](const void* data, std::size_t bytes) {
    int result = -1;
    EXPECT_EQ(anydml_memory_find(nullptr, data, bytes, &result), ANYDML_OK) << anydml_last_error();
    return result;
  };
  EXPECT_EQ(found(pointer, 16), is_cpu() ? 0 : 1);
  EXPECT_EQ(found(pointer + 12, 4), is_cpu() ? 0 : 1);
  EXPECT_EQ(found(values.data(), 16), 0);
  ASSERT_EQ(anydml_memory_copy(nullptr, pointer + 4, values.data(), 12), ANYDML_OK) << anydml_last_error();
  ASSERT_EQ(anydml_memory_copy(nullptr, anydml_memory_pointer(other.get()), pointer + 4, 12), ANYDML_OK);
  EXPECT_EQ(read(other, 4), (std::vector<float>{1, 2, 3, 0}));
  ASSERT_EQ(anydml_memory_copy(nullptr, values.data() + 2, pointer + 4, 8), ANYDML_OK);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 1, 2}));
  ASSERT_EQ(anydml_memory_copy(nullptr, values.data(), values.data() + 1, 4), ANYDML_OK);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(anydml_memory_copy(nullptr, nullptr, nullptr, 0), ANYDML_OK);
  EXPECT_EQ(anydml_memory_copy(nullptr, pointer, nullptr, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "anydml_memory_copy: from is null; expected the address of 1 byte");
  EXPECT_EQ(anydml_memory_find(nullptr, pointer, 1, nullptr), ANYDML_INVALID_ARGUMENT);
  if (std::string(anydml_device_get_info(nullptr)->name) == "later:0") {
    EXPECT_EQ(anydml_memory_copy(nullptr, pointer + 8, values.data(), 12), ANYDML_INVALID_ARGUMENT);
    EXPECT_STREQ(anydml_last_error(),
                 "anydml_memory_copy: to is memory of device later:0 with 8 bytes from there on; expected 12");
    EXPECT_EQ(anydml_memory_copy(anydml_find_device("cpu"), pointer, values.data(), 4), ANYDML_INVALID_ARGUMENT);
    EXPECT_STREQ(anydml_last_error(),
                 "anydml_memory_copy: to is memory of device later:0; expected memory of device cpu, or the CPU's");
  }
}

TEST(Memory, WrongUseIsNamed) {
  const Held memory = create(16);
  const auto expect = [](int status, const char* text) {
    EXPECT_EQ(status, ANYDML_INVALID_ARGUMENT);
    EXPECT_STREQ(anydml_last_error(), text);
  };
  char bytes[32];
  anydml_memory* result = memory.get();
  expect(anydml_memory_create(nullptr, 16, 2, &result),
         "anydml_memory_create: flags is 2; expected 0 or ANYDML_MEMORY_MAPPABLE (1)");
  EXPECT_EQ(result, nullptr);
  expect(anydml_memory_create(nullptr, 16, 0, nullptr),
         "anydml_memory_create: memory is null; expected a pointer to store the result");
  expect(anydml_memory_write(memory.get(), 8, bytes, 9),
         "anydml_memory_write: 9 bytes from byte 8 on are requested; the memory has 16");
  expect(anydml_memory_read(memory.get(), SIZE_MAX, bytes, 1),
         "anydml_memory_read: 1 byte from byte 18446744073709551615 on is requested; the memory has 16");
  expect(anydml_memory_read(memory.get(), 0, nullptr, 1),
         "anydml_memory_read: to is null; expected the address of 1 byte");
  expect(anydml_memory_read(nullptr, 0, bytes, 1),
         "anydml_memory_read: memory is null; expected an object from anydml_memory_create");
  expect(anydml_memory_wrap(nullptr, nullptr, 16, &result),
         "anydml_memory_wrap: data is null; expected the address of the memory");
  EXPECT_EQ(anydml_memory_create(nullptr, std::size_t{1} << 60, 0, &result), ANYDML_OUT_OF_MEMORY);
  EXPECT_EQ(anydml_memory_read(memory.get(), 16, nullptr, 0), ANYDML_OK);
  EXPECT_EQ(anydml_memory_pointer(nullptr), nullptr);
  EXPECT_EQ(anydml_memory_bytes(nullptr), 0U);
  anydml_memory_release(nullptr);
}

// If a device does not share addresses, tensors are checked against the bounds of their block of memory.
TEST(Memory, TensorsStayWithinIt) {
  if (std::string(anydml_device_get_info(nullptr)->name) != "later:0") {
    GTEST_SKIP() << "a pointer does not show where the memory ends";
  }
  const Held memory = create(16);
  const Tensor tensor(anydml_memory_pointer(memory.get()), 4, 1);
  EXPECT_EQ(add(tensor, tensor, tensor), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "ELEMENT_WISE_ADD: ATensor: needs 0 bytes before its address and 16 from there on; its memory on device "
               "later:0 has 4 and 12");
  const Tensor backwards(anydml_memory_pointer(memory.get()), 3, 1, -1);
  EXPECT_EQ(add(backwards, backwards, backwards), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "ELEMENT_WISE_ADD: ATensor: needs 8 bytes before its address and 4 from there on; its memory on device "
               "later:0 has 4 and 12");
}

}  // namespace
}  // namespace anydml::test
