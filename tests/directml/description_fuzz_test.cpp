// SPDX-License-Identifier: MIT
// Tests random descriptions, most of them nearly valid, with numbers at the limits of their fields. Each description is
// either rejected or creates an operator, which is then compiled, bound to small buffers, recorded and run as far as
// possible. Nothing may crash, and no sum of sizes may overflow.
//
// ANYDML_FUZZ_SEED sets the seed and ANYDML_FUZZ_ROUNDS the number of descriptions.
#include <cstdlib>
#include <random>

#include "directml/harness.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : random_(seed) {}

  bool one_in(unsigned n) { return random_() % n == 0; }

  std::uint64_t extreme64() {
    const std::uint64_t power = std::uint64_t{1} << random_() % 64;
    switch (random_() % 6) {
      case 0:
        return power;
      case 1:
        return power - 1;
      case 2:
        return 0 - power;
      case 3:
        return UINT64_MAX - random_() % 16;
      case 4:
        return power + 4;
      default:
        return random_();
    }
  }
  std::uint32_t extreme32() {
    const auto value = extreme64();
    return static_cast<std::uint32_t>(one_in(2) ? value : value >> 32);
  }

  // Returns small sizes, which are the same for all tensors of an operator.
  std::vector<UINT> shape() {
    std::vector<UINT> sizes(1 + random_() % 8);
    for (UINT& size : sizes) {
      size = 1 + static_cast<UINT>(random_() % 3);
    }
    return sizes;
  }

  Tensor tensor(DML_TENSOR_DATA_TYPE type, const std::vector<UINT>& shape, bool is_input) {
    std::vector<UINT> sizes = shape;
    std::vector<UINT> strides;
    if (one_in(3)) {
      UINT packed = 1;
      strides.resize(sizes.size());
      for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = is_input && one_in(6) ? 0 : packed;
        packed *= sizes[i];
      }
      if (one_in(8)) {
        strides[random_() % strides.size()] = extreme32();
      }
    }
    if (one_in(40)) {
      sizes[random_() % sizes.size()] = extreme32();
    }
    Tensor result(type, sizes, strides, is_input && one_in(3) ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE);
    if (one_in(4)) {
      result.buffer.TotalTensorSizeInBytes = one_in(2) ? extreme64() & ~std::uint64_t{3} : extreme64();
    }
    if (one_in(12)) {
      result.buffer.GuaranteedBaseOffsetAlignment = one_in(2) ? 1U << random_() % 32 : extreme32();
    }
    if (one_in(60)) {
      result.buffer.DimensionCount = one_in(2) ? extreme32() : static_cast<UINT>(random_() % 10);
      if (result.buffer.DimensionCount <= 8 && result.buffer.DimensionCount > sizes.size()) {
        result.buffer.DimensionCount = static_cast<UINT>(sizes.size());  // the arrays have the length given here
      }
    }
    if (one_in(60)) {
      const std::uint32_t number = extreme32();
      std::memcpy(&result.buffer.Flags, &number, sizeof(number));
    }
    if (one_in(60)) {
      const std::uint32_t number = one_in(2) ? static_cast<std::uint32_t>(random_() % 16) : extreme32();
      std::memcpy(&result.buffer.DataType, &number, sizeof(number));
    }
    return result;
  }

  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

constexpr DML_TENSOR_DATA_TYPE kTypes[] = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16,
                                           DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_DATA_TYPE_UINT8,
                                           DML_TENSOR_DATA_TYPE_INT64};

// The outcomes of the descriptions.
struct Counts {
  int refused = 0;
  int not_bound = 0;  // needs more memory than the small buffers provide
  int run = 0;
};

struct Program {
  Dml dml;
  ComPtr<ID3D12DescriptorHeap> heap = create_heap(dml.d3d12.Get(), 64);
  ComPtr<ID3D12Resource> buffers[4] = {create_buffer(dml.d3d12.Get(), 1 << 20), create_buffer(dml.d3d12.Get(), 1 << 20),
                                       create_buffer(dml.d3d12.Get(), 1 << 20),
                                       create_buffer(dml.d3d12.Get(), 4 << 20)};
};

void take_as_far_as_it_goes(Program& program, Fuzzer& fuzzer, IDMLOperator* op, const Tensor* const (&tensors)[3],
                            Counts& counts) {
  Dml& dml = program.dml;
  ComPtr<IDMLCompiledOperator> compiled;
  const auto flags = static_cast<DML_EXECUTION_FLAGS>(fuzzer.one_in(4) ? DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE
                                                                       : DML_EXECUTION_FLAG_NONE);
  ASSERT_EQ(dml.device->CompileOperator(op, flags, IID_PPV_ARGS(&compiled)), S_OK) << anydml_last_error();
  const DML_BINDING_PROPERTIES needs = compiled->GetBindingProperties();
  std::uint64_t owned_bytes = 0;
  bool owns = false;
  bool owns_all = true;
  for (const Tensor* tensor : {tensors[0], tensors[1]}) {
    const bool owned = tensor != nullptr && (tensor->buffer.Flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
    owns_all = owns_all && (owned || tensor == nullptr);
    if (owned) {
      owns = true;
      ASSERT_FALSE(__builtin_add_overflow(owned_bytes, tensor->buffer.TotalTensorSizeInBytes, &owned_bytes));
    }
  }
  if (!owns_all) {  // otherwise only the result is kept
    ASSERT_GE(needs.PersistentResourceSize, owned_bytes);
  }
  ASSERT_EQ(needs.PersistentResourceSize != 0, owns);

  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* targets[] = {compiled.Get()};
  ASSERT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
  // Bindings have the requested size, or the buffer's size if the buffer is smaller. If a binding is too small, the
  // device is removed and created again.
  const auto binding = [&](int buffer, std::uint64_t bytes) {
    const std::uint64_t all = program.buffers[buffer]->GetDesc().Width;
    return DML_BUFFER_BINDING{program.buffers[buffer].Get(), 0,
                              fuzzer.one_in(16) ? fuzzer.extreme64() : std::min(bytes, all)};
  };
  const DML_BUFFER_BINDING persistent = binding(3, needs.PersistentResourceSize);
  const DML_BINDING_DESC persistent_desc = bind(persistent);
  const auto init_table = dml.table(initializer.Get(), program.heap.Get(), 32);
  const auto table = dml.table(compiled.Get(), program.heap.Get());
  std::vector<DML_BUFFER_BINDING> owned;
  std::vector<DML_BINDING_DESC> inputs;
  std::vector<DML_BUFFER_BINDING> given(3);
  for (int i = 0; i < 2; ++i) {
    if (tensors[i] == nullptr) {
      continue;
    }
    const bool is_owned = (tensors[i]->buffer.Flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
    given[static_cast<std::size_t>(i)] = binding(i, tensors[i]->buffer.TotalTensorSizeInBytes);
    owned.push_back(is_owned ? given[static_cast<std::size_t>(i)] : DML_BUFFER_BINDING{});
    inputs.push_back(is_owned ? DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr}
                              : bind(given[static_cast<std::size_t>(i)]));
  }
  const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(owned.size()), owned.data()};
  const DML_BINDING_DESC array_desc =
      owns ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER_ARRAY, &array} : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr};
  const DML_BINDING_DESC output_desc = owns ? persistent_desc : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr};
  init_table->BindInputs(1, &array_desc);
  init_table->BindOutputs(1, &output_desc);
  table->BindInputs(static_cast<UINT>(inputs.size()), inputs.data());
  bind_output(table.Get(), binding(2, tensors[2]->buffer.TotalTensorSizeInBytes));
  if (owns) {
    table->BindPersistentResource(&persistent_desc);
  }
  ID3D12DescriptorHeap* heaps[] = {program.heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), init_table.Get());
  uav_barrier(dml.queue.list.Get());
  dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  dml.queue.finish();
  ++(SUCCEEDED(dml.device->GetDeviceRemovedReason()) ? counts.run : counts.not_bound);
}

TEST(DescriptionFuzz, NothingCrashesAndNoSumWraps) {
  const std::uint64_t seed = setting("ANYDML_FUZZ_SEED", 14);
  const std::uint64_t rounds = setting("ANYDML_FUZZ_ROUNDS", kSanitized ? 4'000 : 40'000);
  Fuzzer fuzzer(seed);
  Counts counts;
  auto program = std::make_unique<Program>();
  for (std::uint64_t round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const auto type = kTypes[fuzzer.random()() % std::size(kTypes)];
    const auto shape = fuzzer.shape();
    const Tensor a = fuzzer.tensor(type, shape, true);
    const Tensor b = fuzzer.tensor(type, shape, true);
    const Tensor out = fuzzer.tensor(type, shape, false);
    const bool unary = fuzzer.one_in(3);
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC binary_desc{&a.desc, &b.desc, &out.desc};
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC unary_desc{&a.desc, &out.desc, nullptr};
    ComPtr<IDMLOperator> op;
    const HRESULT result =
        unary ? program->dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &unary_desc, op)
              : program->dml.create_operator(DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &binary_desc, op);
    if (FAILED(result)) {
      ASSERT_EQ(result, E_INVALIDARG);
      ASSERT_STRNE(anydml_last_error(), "");
      ++counts.refused;
      continue;
    }
    const Tensor* const tensors[] = {&a, unary ? nullptr : &b, &out};
    take_as_far_as_it_goes(*program, fuzzer, op.Get(), tensors, counts);
    if (FAILED(program->dml.device->GetDeviceRemovedReason())) {
      program = std::make_unique<Program>();
    }
  }
  std::printf("%llu descriptions: %d rejected, %d not bound, %d run\n", static_cast<unsigned long long>(rounds),
              counts.refused, counts.not_bound, counts.run);
  EXPECT_GT(counts.run, 0);
}

}  // namespace
}  // namespace anydml::test
