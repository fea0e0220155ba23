// SPDX-License-Identifier: MIT
// Models over tensors in the memory of a device. On the CPU, this memory is ordinary memory; on the device of the
// tests, the CPU cannot read it, and copies are counted.
#include <anydml/onnx.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx/onnx_models.h"

namespace anydml::test {
namespace {

// ---- Devices --------------------------------------------------------------------------------------------------------

bool is_cpu() { return anydml_device_get_info(nullptr)->own_memory == 0; }

// The number of bytes that the device of the tests has copied from the CPU's memory and to it.
std::uint64_t copied_bytes() {
  static const auto count = [] {
    const char* const folder = std::getenv("ANYDML_PLUGINS");
    void* const plugin =
        dlopen((std::string(folder != nullptr ? folder : "") + "/libanydml-later.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<std::uint64_t (*)()>(plugin != nullptr ? dlsym(plugin, "anydml_later_copied_bytes")
                                                                   : nullptr);
  }();
  return count != nullptr ? count() : 0;
}

class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t bytes) {
    anydml_memory* memory = nullptr;
    EXPECT_EQ(anydml_memory_create(nullptr, bytes, 0, &memory), ANYDML_OK) << anydml_last_error();
    memory_.reset(memory, anydml_memory_release);
  }
  template <class T>
  explicit DeviceBytes(const std::vector<T>& values) : DeviceBytes(values.size() * sizeof(T)) {
    EXPECT_EQ(anydml_memory_write(memory_.get(), 0, values.data(), values.size() * sizeof(T)), ANYDML_OK);
  }
  [[nodiscard]] char* at(std::size_t offset) const {
    return static_cast<char*>(anydml_memory_pointer(memory_.get())) + offset;
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(std::size_t count, std::size_t offset = 0) const {
    std::vector<T> values(count);
    EXPECT_EQ(anydml_memory_read(memory_.get(), offset, values.data(), count * sizeof(T)), ANYDML_OK)
        << anydml_last_error();
    return values;
  }

 private:
  std::shared_ptr<anydml_memory> memory_;
};

// ---- Models ---------------------------------------------------------------------------------------------------------

class Builder {
 public:
  Builder() {
    anydml_onnx_builder* created = nullptr;
    EXPECT_EQ(anydml_onnx_builder_create(&created), ANYDML_OK);
    own_.reset(created);
    EXPECT_EQ(anydml_onnx_builder_set_opset(created, "", 21), ANYDML_OK);
    EXPECT_EQ(anydml_onnx_builder_set_opset(created, "com.microsoft", 1), ANYDML_OK);
  }
  Builder& input(const char* name, std::int32_t type, const std::vector<std::int64_t>& sizes) {
    EXPECT_EQ(anydml_onnx_builder_add_input(own_.get(), name, type, static_cast<std::int32_t>(sizes.size()),
                                            sizes.data(), nullptr),
              ANYDML_OK);
    return *this;
  }
  Builder& node(const char* op, const std::vector<const char*>& inputs, const std::vector<const char*>& outputs,
                const std::vector<anydml_onnx_attribute>& attributes = {}, const char* domain = nullptr) {
    const anydml_onnx_node one = {op,
                                  domain,
                                  op,
                                  inputs.data(),
                                  inputs.size(),
                                  outputs.data(),
                                  outputs.size(),
                                  attributes.data(),
                                  attributes.size()};
    EXPECT_EQ(anydml_onnx_builder_add_node(own_.get(), &one), ANYDML_OK) << anydml_last_error();
    return *this;
  }
  Builder& output(const char* name) {
    EXPECT_EQ(anydml_onnx_builder_add_output(own_.get(), name, ANYDML_ONNX_UNDEFINED, -1, nullptr, nullptr), ANYDML_OK);
    return *this;
  }
  [[nodiscard]] ModelPointer finish(const anydml_onnx_options* options = nullptr) const {
    anydml_onnx_model* model = nullptr;
    EXPECT_EQ(anydml_onnx_builder_finish(own_.get(), options, &model), ANYDML_OK) << anydml_last_error();
    return ModelPointer(model);
  }

 private:
  BuilderPointer own_;
};

// Provides memory of the device, or the CPU's for the outputs in `on_cpu`.
struct Outputs {
  std::map<std::size_t, std::vector<char>> on_cpu;
  std::map<std::size_t, DeviceBytes> on_device;
  std::size_t offset = 0;  // in the device's memory
  std::size_t bytes = 0;   // of each block; 0: as many as needed

  static void* provide(void* self, std::size_t output, std::int32_t, const anydml_tensor* tensor) {
    auto& outputs = *static_cast<Outputs*>(self);
    std::size_t needed = std::max<std::size_t>(anydml_type_size(tensor->type), 1);
    for (std::int32_t i = 0; i < tensor->rank; ++i) {
      needed *= static_cast<std::size_t>(tensor->sizes[i]);
    }
    if (const auto found = outputs.on_cpu.find(output); found != outputs.on_cpu.end()) {
      found->second.resize(needed);
      return found->second.data();
    }
    const std::size_t bytes = outputs.bytes != 0 ? outputs.bytes : needed + outputs.offset;
    return (outputs.on_device[output] = DeviceBytes(bytes)).at(outputs.offset);
  }
  int run(const ModelPointer& model, const std::vector<anydml_tensor>& inputs) {
    return anydml_onnx_run(model.get(), inputs.data(), inputs.size(), provide, this);
  }
};

constexpr std::int64_t kSide = 64;
constexpr std::int64_t kSquare[] = {kSide, kSide};
constexpr std::size_t kCount = kSide * kSide;

std::vector<float> ramp() {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(i % 7) - 2.5F;
  }
  return values;
}

anydml_tensor square(const void* data, const std::int64_t* strides = nullptr) {
  return anydml_const_tensor(ANYDML_FLOAT32, 2, kSquare, strides, data);
}

// ---- Where elements are ---------------------------------------------------------------------------------------------

TEST(OnnxOnDevice, GraphsUseTheDevicesMemory) {
  const ModelPointer model =
      Builder().input("x", ANYDML_ONNX_FLOAT, {-1, kSide}).node("Add", {"x", "x"}, {"y"}).output("y").finish();
  const std::vector<float> values = ramp();
  std::vector<float> expected = values;
  for (float& one : expected) {
    one += one;
  }
  const DeviceBytes x(values);
  for (int round = 0; round < 2; ++round) {
    Outputs outputs;
    const std::uint64_t before = copied_bytes();
    ASSERT_EQ(outputs.run(model, {square(x.at(0))}), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(copied_bytes(), before);
    EXPECT_EQ(outputs.on_device[0].read<float>(kCount), expected);
  }
  // One of them in the CPU's memory.
  Outputs outputs;
  outputs.on_cpu[0] = {};
  ASSERT_EQ(outputs.run(model, {square(x.at(0))}), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(std::memcmp(outputs.on_cpu[0].data(), expected.data(), kCount * sizeof(float)), 0);
  Outputs others;
  ASSERT_EQ(others.run(model, {square(values.data())}), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(others.on_device[0].read<float>(kCount), expected);
}

TEST(OnnxOnDevice, ValuesBetweenGraphsStayThere) {
  const ModelPointer model = Builder()
                                 .input("x", ANYDML_ONNX_FLOAT, {kSide, kSide})
                                 .input("k", ANYDML_ONNX_FLOAT, {3})
                                 .node("Add", {"x", "x"}, {"a"})
                                 .node("NonZero", {"k"}, {"positions"})
                                 .node("Mul", {"a", "a"}, {"b"})
                                 .output("b")
                                 .output("positions")
                                 .finish();
  const std::vector<float> values = ramp();
  const DeviceBytes x(values);
  const std::int64_t sizes[] = {3};
  const DeviceBytes k(std::vector<float>{1, 0, 2});
  const anydml_tensor small = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, nullptr, k.at(0));
  for (int round = 0; round < 2; ++round) {
    Outputs outputs;
    outputs.on_cpu[1] = {};
    const std::uint64_t before = copied_bytes();
    ASSERT_EQ(outputs.run(model, {square(x.at(0)), small}), ANYDML_OK) << anydml_last_error();
    EXPECT_LT(copied_bytes() - before, 256U);
    const std::vector<float> found = outputs.on_device[0].read<float>(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(found[i], 4 * values[i] * values[i]);
    }
    const std::int64_t positions[] = {0, 2};
    EXPECT_EQ(std::memcmp(outputs.on_cpu[1].data(), positions, sizeof positions), 0);
  }
}

TEST(OnnxOnDevice, HostNodesReadInputsAndGraphs) {
  const ModelPointer model = Builder()
                                 .input("x", ANYDML_ONNX_FLOAT, {kSide, kSide})
                                 .node("Add", {"x", "x"}, {"a"})
                                 .node("NonZero", {"a"}, {"positions"})
                                 .node("NonZero", {"x"}, {"others"})
                                 .node("Neg", {"positions"}, {"n"})
                                 .node("Mul", {"a", "x"}, {"b"})
                                 .node("Identity", {"x"}, {"same"})
                                 .output("n")
                                 .output("others")
                                 .output("b")
                                 .output("same")
                                 .finish();
  const std::vector<float> values = ramp();
  const DeviceBytes x(values);
  Outputs outputs;
  outputs.on_cpu[1] = {};
  ASSERT_EQ(outputs.run(model, {square(x.at(0))}), ANYDML_OK) << anydml_last_error();
  const auto n = outputs.on_device[0].read<std::int64_t>(2 * kCount);
  EXPECT_EQ(n[kCount + 1], -1);
  EXPECT_EQ(n[2 * kCount - 1], 1 - kSide);
  EXPECT_EQ(outputs.on_cpu[1].size(), 2 * kCount * sizeof(std::int64_t));
  EXPECT_EQ(outputs.on_device[2].read<float>(kCount)[0], 2 * values[0] * values[0]);
  EXPECT_EQ(outputs.on_device[3].read<float>(kCount), values);
}

TEST(OnnxOnDevice, OutputsMayHaveTheMemoryOfInputs) {
  const ModelPointer model = Builder()
                                 .input("x", ANYDML_ONNX_FLOAT, {-1, kSide})
                                 .node("Add", {"x", "x"}, {"y"})
                                 .node("Identity", {"x"}, {"same"})
                                 .output("y")
                                 .output("same")
                                 .finish();
  const std::vector<float> values = ramp();
  const DeviceBytes memory(2 * kCount * sizeof(float));
  for (const std::size_t offset : {std::size_t{0}, 3 * sizeof(float)}) {
    ASSERT_EQ(anydml_memory_copy(nullptr, memory.at(0), values.data(), kCount * sizeof(float)), ANYDML_OK);
    const DeviceBytes same(kCount * sizeof(float));
    std::vector<void*> targets = {memory.at(offset), same.at(0)};
    const anydml_tensor x = square(memory.at(0));
    const auto provide = [](void* context, std::size_t output, std::int32_t, const anydml_tensor*) -> void* {
      return (*static_cast<std::vector<void*>*>(context))[output];
    };
    ASSERT_EQ(anydml_onnx_run(model.get(), &x, 1, provide, &targets), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(memory.read<float>(kCount, offset)[kCount - 1], 2 * values[kCount - 1]);
    EXPECT_EQ(same.read<float>(kCount), values);
  }
}

// One token at a time: in a cache of fixed size on the device, and in a growing one in the CPU's memory.
TEST(OnnxOnDevice, CachesAreUpdatedInPlace) {
  constexpr std::int64_t kHeads = 4, kShared = 2, kElements = 32, kSlots = 40;
  constexpr std::int64_t kWidth = (kHeads + 2 * kShared) * kElements;
  const ModelPointer model =
      Builder()
          .input("query", ANYDML_ONNX_FLOAT, {1, 1, kWidth})
          .input("past_key", ANYDML_ONNX_FLOAT, {1, kShared, -1, kElements})
          .input("past_value", ANYDML_ONNX_FLOAT, {1, kShared, -1, kElements})
          .input("last", ANYDML_ONNX_INT32, {1})
          .input("total", ANYDML_ONNX_INT32, {1})
          .node("GroupQueryAttention", {"query", nullptr, nullptr, "past_key", "past_value", "last", "total"},
                {"y", "key", "value"},
                {number_attribute("num_heads", kHeads), number_attribute("kv_num_heads", kShared)}, "com.microsoft")
          .output("y")
          .output("key")
          .output("value")
          .finish();
  const DeviceBytes key(kShared * kSlots * kElements * sizeof(float));
  const DeviceBytes value(kShared * kSlots * kElements * sizeof(float));
  const DeviceBytes y(kHeads * kElements * sizeof(float));
  Outputs growing;
  growing.on_cpu = {{0, {}}, {1, {}}, {2, {}}};
  const auto tensors = [](const void* query, const void* past_key, const void* past_value, std::int64_t rows,
                          const std::int32_t* numbers) {
    static constexpr std::int64_t kQuery[] = {1, 1, kWidth};
    static constexpr std::int64_t kOne[] = {1};
    static std::int64_t cache[] = {1, kShared, 0, kElements};
    cache[2] = rows;
    return std::vector<anydml_tensor>{anydml_const_tensor(ANYDML_FLOAT32, 3, kQuery, nullptr, query),
                                      anydml_const_tensor(ANYDML_FLOAT32, 4, cache, nullptr, past_key),
                                      anydml_const_tensor(ANYDML_FLOAT32, 4, cache, nullptr, past_value),
                                      anydml_const_tensor(ANYDML_INT32, 1, kOne, nullptr, numbers),
                                      anydml_const_tensor(ANYDML_INT32, 1, kOne, nullptr, numbers + 1)};
  };
  for (std::int32_t step = 0; step < 6; ++step) {
    std::vector<float> query(kWidth);
    for (std::size_t i = 0; i < query.size(); ++i) {
      query[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(step) * 13) % 11) / 8 - 0.5F;
    }
    const std::int32_t fixed[] = {step, kSlots};
    const DeviceBytes there(query);
    std::vector<void*> targets = {y.at(0), key.at(0), value.at(0)};
    const auto provide = [](void* context, std::size_t output, std::int32_t, const anydml_tensor*) -> void* {
      return (*static_cast<std::vector<void*>*>(context))[output];
    };
    const std::vector<anydml_tensor> given = tensors(there.at(0), key.at(0), value.at(0), kSlots, fixed);
    const std::uint64_t before = copied_bytes();
    ASSERT_EQ(anydml_onnx_run(model.get(), given.data(), given.size(), provide, &targets), ANYDML_OK)
        << anydml_last_error();
    EXPECT_LT(copied_bytes() - before, step == 0 ? 4096U : 256U);  // the first run uploads constants
    const std::int32_t grown[] = {step, step + 1};
    const std::vector<char> old_key = growing.on_cpu[1];
    const std::vector<char> old_value = growing.on_cpu[2];
    ASSERT_EQ(growing.run(model, tensors(query.data(), old_key.data(), old_value.data(), step, grown)), ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(y.read<char>(growing.on_cpu[0].size()), growing.on_cpu[0]) << step;
  }
}

TEST(OnnxOnDevice, ShapesMayDependOnInputsThere) {
  const ModelPointer model = Builder()
                                 .input("x", ANYDML_ONNX_FLOAT, {-1, -1})
                                 .input("sizes", ANYDML_ONNX_INT64, {2})
                                 .node("Reshape", {"x", "sizes"}, {"r"})
                                 .node("Add", {"r", "r"}, {"y"})
                                 .output("y")
                                 .finish();
  const DeviceBytes x(ramp());
  for (const std::int64_t rows : {kSide / 2, kSide * 2}) {
    const DeviceBytes wanted(std::vector<std::int64_t>{rows, -1});
    const std::int64_t sizes[] = {2};
    Outputs outputs;
    ASSERT_EQ(outputs.run(model, {square(x.at(0)), anydml_const_tensor(ANYDML_INT64, 1, sizes, nullptr, wanted.at(0))}),
              ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(outputs.on_device[0].read<float>(kCount)[1], 2 * ramp()[1]);
  }
}

TEST(OnnxOnDevice, AnyLayout) {
  const ModelPointer model =
      Builder().input("x", ANYDML_ONNX_FLOAT, {-1, -1}).node("Neg", {"x"}, {"y"}).output("y").finish();
  const std::vector<float> values = ramp();
  std::vector<char> shifted(kCount * sizeof(float) + 1);
  std::memcpy(&shifted[1], values.data(), kCount * sizeof(float));
  const DeviceBytes x(values);
  const DeviceBytes unaligned(shifted);
  const std::int64_t down[] = {1, kSide};
  const std::int64_t backward[] = {-kSide, 1};
  const std::size_t last_row = (kCount - kSide) * sizeof(float);
  struct Case {
    anydml_tensor tensor;
    std::size_t second;  // the element at index 1, 0
  };
  for (const auto& [tensor, second] :
       {Case{square(x.at(0)), kSide}, Case{square(x.at(0), down), 1},
        Case{square(x.at(last_row), backward), kCount - 2 * kSide}, Case{square(unaligned.at(1)), kSide}}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
      Outputs outputs;
      outputs.offset = offset;
      ASSERT_EQ(outputs.run(model, {tensor}), ANYDML_OK) << anydml_last_error();
      EXPECT_EQ(outputs.on_device[0].read<float>(kCount, offset)[kSide], -values[second]);
    }
  }
}

TEST(OnnxOnDevice, FourBitElements) {
  const ModelPointer model = Builder()
                                 .input("x", ANYDML_ONNX_INT4, {5})
                                 .input("scale", ANYDML_ONNX_FLOAT, {})
                                 .input("zero", ANYDML_ONNX_INT4, {})
                                 .node("DequantizeLinear", {"x", "scale", "zero"}, {"f"})
                                 .node("Neg", {"f"}, {"n"})
                                 .node("QuantizeLinear", {"n", "scale", "zero"}, {"y"})
                                 .output("y")
                                 .finish();
  const std::int64_t sizes[] = {5};
  const DeviceBytes x(std::vector<std::uint8_t>{0x21, 0xf3, 0x07});
  const DeviceBytes scale(std::vector<float>{2});
  const DeviceBytes zero(std::vector<std::uint8_t>{0});
  Outputs outputs;
  ASSERT_EQ(outputs.run(model, {anydml_const_tensor(ANYDML_INT4, 1, sizes, nullptr, x.at(0)),
                                anydml_const_tensor(ANYDML_FLOAT32, 0, nullptr, nullptr, scale.at(0)),
                                anydml_const_tensor(ANYDML_INT4, 0, nullptr, nullptr, zero.at(0))}),
            ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(outputs.on_device[0].read<std::uint8_t>(3), (std::vector<std::uint8_t>{0xef, 0x1d, 0x09}));
}

TEST(OnnxOnDevice, WrongPointers) {
  if (is_cpu()) {
    GTEST_SKIP() << "every pointer may be the CPU's";
  }
  const Builder builder =
      std::move(Builder().input("x", ANYDML_ONNX_FLOAT, {-1, kSide}).node("Neg", {"x"}, {"y"}).output("y"));
  const ModelPointer model = builder.finish();
  const DeviceBytes x(ramp());
  Outputs outputs;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, outputs.run(model, {square(x.at(4))}),
                 "input 'x': anydml_memory_find: data is memory of device later:0 with 16380 bytes from there on; "
                 "expected 16384");
  outputs.bytes = 16;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, outputs.run(model, {square(x.at(0))}),
                 "output 0: anydml_memory_find: data is memory of device later:0 with 16 bytes");
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.device = anydml_find_device("cpu");
  const ModelPointer on_cpu = builder.finish(&options);
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, Outputs().run(on_cpu, {square(x.at(0))}),
                 "input 'x': anydml_memory_find: data is memory of device later:0; expected memory of device cpu");
  const std::vector<float> values = ramp();
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, Outputs().run(on_cpu, {square(values.data())}),
                 "output 0: anydml_memory_find: data is memory of device later:0");
}

}  // namespace
}  // namespace anydml::test
