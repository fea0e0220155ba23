// SPDX-License-Identifier: MIT
// Tests both modulus operators through the public DirectML API: every type, ranks 1 to 8, every kind of layout for each
// tensor, out of place and in place over either input. Each element is compared with an independent oracle, and every
// byte around the elements must stay unchanged.
#include <cstdio>

#include "directml/harness.h"
#include "support/distributions.h"
#include "support/oracle.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

enum class Kind { packed, padded, permuted, broadcast };
constexpr Kind kInputKinds[] = {Kind::packed, Kind::padded, Kind::permuted, Kind::broadcast};
constexpr Kind kOutputKinds[] = {Kind::packed, Kind::padded, Kind::permuted};
enum class Aliasing { apart, over_a, over_b };

// Most sizes are small, but one tensor in sixteen is large enough for several threads.
std::vector<UINT> random_sizes(Random& random, UINT rank) {
  std::vector<UINT> sizes(rank);
  UINT room = random() % 16 == 0 ? 40'000 : 150;
  const UINT maximum = rank == 1 || room > 150 ? room : 6;
  for (UINT& size : sizes) {
    size = 1 + static_cast<UINT>(random() % std::min(room, maximum));
    room = std::max(1U, room / size);
  }
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

std::vector<UINT> strides_of(Random& random, const std::vector<UINT>& sizes, Kind kind) {
  std::vector<std::size_t> order(sizes.size());  // the fastest dimension first
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = order.size() - 1 - i;
  }
  if (kind == Kind::permuted) {
    std::shuffle(order.begin(), order.end(), random);
  }
  std::vector<UINT> strides(sizes.size());
  UINT next = kind == Kind::padded ? 1 + static_cast<UINT>(random() % 3) : 1;
  for (const std::size_t i : order) {
    strides[i] = next;
    next = next * sizes[i] + (kind == Kind::padded ? static_cast<UINT>(random() % 3) : 0);
  }
  if (kind == Kind::broadcast) {
    for (UINT& stride : strides) {
      stride = random() % 2 == 0 ? 0 : stride;
    }
    strides[random() % strides.size()] = 0;
  }
  return strides;
}

// The offset of the n-th element, in elements.
std::size_t offset_of(const Tensor& tensor, std::size_t n) {
  std::size_t aliasing = 0;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    aliasing += n % tensor.sizes[i] * tensor.strides[i];
    n /= tensor.sizes[i];
  }
  return aliasing;
}

// A tensor in its own buffer or in another tensor's buffer.
struct Bound {
  ComPtr<ID3D12Resource> buffer;
  UINT64 offset;

  std::uint8_t* map() const {
    void* mapped = nullptr;
    EXPECT_EQ(buffer->Map(0, nullptr, &mapped), S_OK);
    return static_cast<std::uint8_t*>(mapped);
  }
};

struct Tally {
  std::size_t runs = 0;
  std::size_t elements = 0;
  std::size_t different = 0;
};

class Conformance : public testing::Test {
 protected:
  template <class T>
  void run_type(DML_TENSOR_DATA_TYPE type, const char* name) {
    Random random(kSeed + static_cast<u64>(type));
    Tally tally;
    for (UINT rank = 1; rank <= 8; ++rank) {
      for (const Kind a : kInputKinds) {
        for (const Kind b : kInputKinds) {
          for (const Kind out : kOutputKinds) {
            for (const Aliasing aliasing : {Aliasing::apart, Aliasing::over_a, Aliasing::over_b}) {
              // If an input runs in place, it has the same layout as the output.
              if ((aliasing == Aliasing::over_a && a != out) || (aliasing == Aliasing::over_b && b != out)) {
                continue;
              }
              for (int round = 0; round < (kSanitized ? 1 : 3); ++round) {
                run_case<T>(type, random, rank, a, b, out, aliasing, round % 2 == 0, tally);
              }
            }
          }
        }
      }
    }
    std::printf("%-7s %6zu runs, %8zu elements, %zu different (seed %llu)\n", name, tally.runs, tally.elements,
                tally.different, static_cast<unsigned long long>(kSeed));
    EXPECT_EQ(tally.different, 0U);
    EXPECT_EQ(dml_.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  }

 private:
  template <class T>
  void run_case(DML_TENSOR_DATA_TYPE type, Random& random, UINT rank, Kind a_kind, Kind b_kind, Kind out_kind,
                Aliasing aliasing, bool floor, Tally& tally) {
    const auto sizes = random_sizes(random, rank);
    const Tensor out(type, sizes, strides_of(random, sizes, out_kind));
    const Tensor a = aliasing == Aliasing::over_a ? out : Tensor(type, sizes, strides_of(random, sizes, a_kind));
    const Tensor b = aliasing == Aliasing::over_b ? out : Tensor(type, sizes, strides_of(random, sizes, b_kind));

    const auto bound = [&](const Tensor& tensor) -> Bound {
      const UINT64 offset = random() % 4 * 16;
      return {
          create_buffer(dml_.d3d12.Get(), offset + tensor.buffer.TotalTensorSizeInBytes + 32, D3D12_HEAP_TYPE_CUSTOM),
          offset};
    };
    const Bound a_bound = bound(a);
    const Bound b_bound = bound(b);
    const Bound out_bound = aliasing == Aliasing::over_a   ? a_bound
                            : aliasing == Aliasing::over_b ? b_bound
                                                           : bound(out);
    for (const Bound* one : {&a_bound, &b_bound, &out_bound}) {
      std::uint8_t* bytes = one->map();
      for (UINT64 i = 0; i < one->buffer->GetDesc().Width; ++i) {
        bytes[i] = static_cast<std::uint8_t>(random());
      }
    }
    std::size_t count = 1;
    for (const UINT size : sizes) {
      count *= size;
    }
    const auto element = [](const Bound& of, const Tensor& tensor, std::size_t n) {
      return of.map() + of.offset + offset_of(tensor, n) * sizeof(T);
    };
    const auto distribution = kDistributions[random() % std::size(kDistributions)];
    for (std::size_t n = 0; n < count; ++n) {
      const auto pair = draw<T>(distribution, random);
      const T values[] = {random() % 8 == 0 ? any_value<T>(random) : pair.a,
                          random() % 8 == 0 ? any_value<T>(random) : pair.b};
      std::memcpy(element(a_bound, a, n), &values[0], sizeof(T));
      std::memcpy(element(b_bound, b, n), &values[1], sizeof(T));
    }
    // The expected contents of the output's whole buffer, with only the elements replaced.
    std::vector<std::uint8_t> expected(out_bound.map(), out_bound.map() + out_bound.buffer->GetDesc().Width);
    for (std::size_t n = 0; n < count; ++n) {
      T x;
      T y;
      std::memcpy(&x, element(a_bound, a, n), sizeof(T));
      std::memcpy(&y, element(b_bound, b, n), sizeof(T));
      const auto both = oracle(x, y);
      std::memcpy(expected.data() + out_bound.offset + offset_of(out, n) * sizeof(T),
                  floor ? &both.floor : &both.truncate, sizeof(T));
    }

    const auto op = dml_.binary(
        a, b, out, floor ? DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR : DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE);
    const auto compiled = dml_.compile(op.Get());
    IDMLCompiledOperator* targets[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    ASSERT_EQ(dml_.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    const auto empty = dml_.table(initializer.Get(), nullptr);
    const auto table = dml_.table(compiled.Get(), heap_.Get());
    bind_inputs(table.Get(), {{a_bound.buffer.Get(), a_bound.offset, a.buffer.TotalTensorSizeInBytes},
                              {b_bound.buffer.Get(), b_bound.offset, b.buffer.TotalTensorSizeInBytes}});
    bind_output(table.Get(), {out_bound.buffer.Get(), out_bound.offset, out.buffer.TotalTensorSizeInBytes});
    ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
    dml_.queue.list->SetDescriptorHeaps(1, heaps);
    dml_.recorder->RecordDispatch(dml_.queue.list.Get(), initializer.Get(), empty.Get());
    uav_barrier(dml_.queue.list.Get());
    dml_.recorder->RecordDispatch(dml_.queue.list.Get(), compiled.Get(), table.Get());
    dml_.queue.finish();
    ASSERT_EQ(dml_.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();

    for (std::size_t n = 0; n < count; ++n) {
      std::uint8_t* written = element(out_bound, out, n);
      std::uint8_t* wanted = expected.data() + out_bound.offset + offset_of(out, n) * sizeof(T);
      T got;
      T right;
      std::memcpy(&got, written, sizeof(T));
      std::memcpy(&right, wanted, sizeof(T));
      if (!same(got, right)) {
        ++tally.different;
        ADD_FAILURE() << "element " << n << " is " << show(got) << ", expected " << show(right);
      }
      std::memcpy(wanted, written, sizeof(T));  // NaNs may differ in bits
    }
    EXPECT_EQ(std::memcmp(expected.data(), out_bound.map(), expected.size()), 0) << "bytes between elements changed";
    ++tally.runs;
    tally.elements += count;
  }

  Dml dml_;
  ComPtr<ID3D12DescriptorHeap> heap_ = create_heap(dml_.d3d12.Get(), 4);
};

#define CONFORMS(T, NAME) \
  TEST_F(Conformance, NAME) { run_type<T>(DML_TENSOR_DATA_TYPE_##NAME, #NAME); }
CONFORMS(f32, FLOAT32)
CONFORMS(f16, FLOAT16)
CONFORMS(u32, UINT32)
CONFORMS(u16, UINT16)
CONFORMS(u8, UINT8)
CONFORMS(i32, INT32)
CONFORMS(i16, INT16)
CONFORMS(i8, INT8)
CONFORMS(i64, INT64)
CONFORMS(u64, UINT64)

}  // namespace
}  // namespace anydml::test
