// SPDX-License-Identifier: MIT
// Tests every operator through DirectML with one of its tensors or numbers changed (support/changed_tensors.h). Either
// CreateOperator rejects the operator with a message, or the operator is compiled, initialized, bound and run, once
// with its inputs bound at execution and once with all of them owned by DirectML. The operator writes only its outputs,
// and both runs give the same results.
//
// ANYDML_CHANGED_DRAWS, ANYDML_CHANGED_PAIRS, ANYDML_CHANGED_SEED and ANYDML_CHANGED_OPERATOR work as in
// changed_tensors_test.
#include <cinttypes>
#include <cstdlib>
#include <optional>

#include "base/element.h"
#include "directml/harness.h"
#include "support/bits.h"
#include "support/changed_tensors.h"
#include "support/guarded_memory.h"
#include "support/random_operator.h"
#include "support/sanitizers.h"
#include "support/setting.h"
#include "support/written_desc.h"

namespace anydml::test {
namespace {

constexpr u64 kBufferBytes = 8 << 20;
constexpr u64 kMaxBytes = 1 << 20;  // per tensor; operators with larger tensors are compiled but not run
constexpr u64 kAround = 256;        // the number of bytes around each tensor that must stay unchanged
constexpr std::uint8_t kUntouched = 0x5a;

struct Counts {
  u64 rejected = 0;
  u64 compiled = 0;
  u64 run = 0;
};

// A tensor's byte range in the shared buffer.
struct Range {
  DataType type;
  u64 offset;
  u64 bytes;
  bool present;
};

class Program {
 public:
  Program() {
    void* mapped = nullptr;
    EXPECT_EQ(buffer_->Map(0, nullptr, &mapped), S_OK);
    bytes_ = static_cast<std::uint8_t*>(mapped);
  }

  void attempt(const schema::Described& described, const std::string& label, u64 seed, Counts& counts) {
    note_case(label.c_str());
    const std::optional<std::vector<std::uint8_t>> plain = run(described, false, label, seed, counts);
    if (!plain) {
      return;
    }
    const schema::Described owned = with_owned_inputs(described);
    const std::string owned_label = label + ", all inputs owned";
    note_case(owned_label.c_str());
    if (const auto results = run(owned, true, owned_label, seed, counts)) {
      EXPECT_TRUE(are_same(*plain, *results)) << owned_label << ": the results differ";
    }
  }

 private:
  static u64 aligned(u64 offset) { return (offset + 255) / 256 * 256; }

  bool position(const schema::Described& described) {
    inputs_.clear();
    outputs_.clear();
    u64 next = kAround;
    bool fits = true;
    for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
      const facts::FieldKind kind = described.op->fields[field].kind;
      if (facts::is_attribute(kind)) {
        continue;
      }
      std::vector<Range>& to = facts::is_output(kind) ? outputs_ : inputs_;
      for (const schema::GivenTensor& tensor : described.arguments[field].tensors) {
        fits = fits && tensor.total_bytes <= kMaxBytes && next + tensor.total_bytes + 2 * kAround < kBufferBytes;
        to.push_back({static_cast<DataType>(tensor.type), next, tensor.total_bytes, true});
        next = fits ? aligned(next + tensor.total_bytes + kAround) : kAround;
      }
      if (!facts::is_array(kind) && described.arguments[field].tensors.empty()) {
        to.push_back({DataType::unknown, 0, 0, false});
      }
    }
    return fits;
  }

  void fill(u64 state) {
    for (const Range& input : inputs_) {
      for (u64 i = 0; i < input.bytes; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        bytes_[input.offset + i] = static_cast<std::uint8_t>(state >> 63 != 0 ? (state >> 40) % 4 : state >> 40);
      }
    }
    for (const Range& output : outputs_) {
      if (output.present) {
        std::memset(bytes_ + output.offset - kAround, kUntouched, output.bytes + 2 * kAround);
      }
    }
  }

  [[nodiscard]] bool is_untouched_around_outputs() const {
    const auto is_untouched = [&](u64 from) {
      return std::all_of(bytes_ + from, bytes_ + from + kAround, [](std::uint8_t byte) { return byte == kUntouched; });
    };
    return std::ranges::all_of(outputs_, [&](const Range& output) {
      return !output.present || (is_untouched(output.offset - kAround) && is_untouched(output.offset + output.bytes));
    });
  }

  [[nodiscard]] std::vector<std::uint8_t> results() const {
    std::vector<std::uint8_t> all;
    for (const Range& output : outputs_) {
      all.insert(all.end(), bytes_ + output.offset, bytes_ + output.offset + output.bytes);
    }
    return all;
  }

  // All NaNs count as equal.
  [[nodiscard]] bool are_same(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) const {
    if (a == b || a.size() != b.size()) {
      return a == b;
    }
    bool equal = true;
    std::size_t at = 0;
    for (const Range& output : outputs_) {
      if (output.present && !is_four_bits(output.type)) {
        visit_type(output.type, [&]<class T>() {
          for (std::size_t i = 0; i + sizeof(T) <= output.bytes; i += sizeof(T)) {
            T x;
            T y;
            std::memcpy(&x, a.data() + at + i, sizeof(T));
            std::memcpy(&y, b.data() + at + i, sizeof(T));
            equal = equal && same(x, y);
          }
        });
      } else {
        equal = equal && std::equal(a.begin() + static_cast<std::ptrdiff_t>(at),
                                    a.begin() + static_cast<std::ptrdiff_t>(at + output.bytes),
                                    b.begin() + static_cast<std::ptrdiff_t>(at));
      }
      at += output.bytes;
    }
    return equal;
  }

  DML_BUFFER_BINDING binding(const Range& range) const { return {buffer_.Get(), range.offset, range.bytes}; }

  void bind_memory(IDMLBindingTable* table, const DML_BINDING_PROPERTIES& needs) {
    const DML_BUFFER_BINDING temporary{temporary_.Get(), 0, needs.TemporaryResourceSize};
    if (needs.TemporaryResourceSize != 0) {
      const DML_BINDING_DESC desc = bind(temporary);
      table->BindTemporaryResource(&desc);
    }
  }

  // Returns the bytes of the outputs, or nullopt if the operator is rejected or too large.
  std::optional<std::vector<std::uint8_t>> run(const schema::Described& described, bool owned, const std::string& label,
                                               u64 seed, Counts& counts) {
    const WrittenDesc written(described);
    ComPtr<IDMLOperator> op;
    if (const HRESULT created = dml_.device->CreateOperator(&written.get(), IID_PPV_ARGS(&op)); created != S_OK) {
      EXPECT_TRUE(created == E_INVALIDARG || created == kUnsupported) << label << ": " << std::hex << created;
      EXPECT_NE(std::string(anydml_last_error()), "") << label;
      ++counts.rejected;
      return std::nullopt;
    }
    ComPtr<IDMLCompiledOperator> compiled;
    const HRESULT status = dml_.device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
    if (status != S_OK) {
      EXPECT_TRUE(status == E_INVALIDARG || status == E_OUTOFMEMORY) << label << ": " << std::hex << status;
      ++counts.rejected;
      return std::nullopt;
    }
    const DML_BINDING_PROPERTIES needs = compiled->GetBindingProperties();
    if (!position(described) || needs.TemporaryResourceSize > kBufferBytes ||
        needs.PersistentResourceSize > kBufferBytes) {
      ++counts.compiled;
      return std::nullopt;
    }
    fill(seed);
    initialize(compiled.Get(), owned);
    execute(compiled.Get(), owned);
    EXPECT_EQ(dml_.device->GetDeviceRemovedReason(), S_OK) << label << ": " << anydml_last_error();
    EXPECT_TRUE(is_untouched_around_outputs()) << label << ": bytes around an output were written";
    ++counts.run;
    return results();
  }

  void initialize(IDMLCompiledOperator* compiled, bool owned) {
    ComPtr<IDMLOperatorInitializer> initializer;
    ASSERT_EQ(dml_.device->CreateOperatorInitializer(1, &compiled, IID_PPV_ARGS(&initializer)), S_OK);
    const auto table = dml_.table(initializer.Get(), heap_.Get());
    bind_memory(table.Get(), initializer->GetBindingProperties());
    std::vector<DML_BUFFER_BINDING> buffers;
    for (const Range& input : inputs_) {
      buffers.push_back(input.present && owned ? binding(input) : DML_BUFFER_BINDING{});
    }
    const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(buffers.size()), buffers.data()};
    const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    if (owned && !buffers.empty()) {
      table->BindInputs(1, &inputs);
    }
    if (const u64 bytes = compiled->GetBindingProperties().PersistentResourceSize; bytes != 0) {
      const DML_BUFFER_BINDING persistent{persistent_.Get(), 0, bytes};
      const DML_BINDING_DESC desc = bind(persistent);
      table->BindOutputs(1, &desc);
    }
    dispatch(initializer.Get(), table.Get());
  }

  void execute(IDMLCompiledOperator* compiled, bool owned) {
    const auto table = dml_.table(compiled, heap_.Get());
    const DML_BINDING_PROPERTIES needs = compiled->GetBindingProperties();
    bind_memory(table.Get(), needs);
    const DML_BUFFER_BINDING persistent{persistent_.Get(), 0, needs.PersistentResourceSize};
    if (needs.PersistentResourceSize != 0) {
      const DML_BINDING_DESC desc = bind(persistent);
      table->BindPersistentResource(&desc);
    }
    const auto bind_all = [&](const std::vector<Range>& ranges, bool bound, auto&& call) {
      std::vector<DML_BUFFER_BINDING> buffers;
      std::vector<DML_BINDING_DESC> descs;
      for (const Range& range : ranges) {
        buffers.push_back(binding(range));
      }
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        descs.push_back(ranges[i].present && bound ? bind(buffers[i])
                                                   : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr});
      }
      call(static_cast<UINT>(descs.size()), descs.data());
    };
    bind_all(inputs_, !owned, [&](UINT count, const DML_BINDING_DESC* descs) { table->BindInputs(count, descs); });
    bind_all(outputs_, true, [&](UINT count, const DML_BINDING_DESC* descs) { table->BindOutputs(count, descs); });
    dispatch(compiled, table.Get());
  }

  void dispatch(IDMLDispatchable* dispatchable, IDMLBindingTable* table) {
    ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
    dml_.queue.list->SetDescriptorHeaps(1, heaps);
    dml_.recorder->RecordDispatch(dml_.queue.list.Get(), dispatchable, table);
    dml_.queue.finish();
  }

  Dml dml_;
  ComPtr<ID3D12DescriptorHeap> heap_ = create_heap(dml_.d3d12.Get(), 256);
  ComPtr<ID3D12Resource> buffer_ = create_buffer(dml_.d3d12.Get(), kBufferBytes, D3D12_HEAP_TYPE_CUSTOM);
  ComPtr<ID3D12Resource> temporary_ = create_buffer(dml_.d3d12.Get(), kBufferBytes);
  ComPtr<ID3D12Resource> persistent_ = create_buffer(dml_.d3d12.Get(), kBufferBytes);
  std::uint8_t* bytes_ = nullptr;
  std::vector<Range> inputs_;
  std::vector<Range> outputs_;
};

TEST(ChangedTensors, AreRejectedOrComputedWithinTheirBindings) {
  name_case_on_crash();
  const u64 seed = setting("ANYDML_CHANGED_SEED", 43);
  const u64 draws = setting("ANYDML_CHANGED_DRAWS", kSanitized ? 1 : 2);
  const u64 pairs = setting("ANYDML_CHANGED_PAIRS", kSanitized ? 5 : 20);
  const char* const only = std::getenv("ANYDML_CHANGED_OPERATOR");
  Program program;
  Counts counts;
  u64 changes = 0;
  u64 state = seed;
  const auto next = [&] { return (state = state * 6364136223846793005U + 1442695040888963407U) >> 33; };
  for (const facts::Operator& op : facts::operators()) {
    if (only != nullptr && op.name != only) {
      continue;
    }
    const u64 wanted = op.name.starts_with("MULTIHEAD_ATTENTION") ? 1 : draws;
    RandomOperators random(seed ^ std::hash<std::string_view>{}(op.name));
    for (u64 draw = 0; draw < wanted; ++draw) {
      const auto described = random.make(op);
      if (!described) {
        continue;
      }
      const std::string text = case_text(*described);
      program.attempt(*described, text, next(), counts);
      const std::vector<ChangedOperator> once = changed_tensors(*described, Strides::unsigned_32_bits);
      for (const ChangedOperator& changed : once) {
        program.attempt(changed.described, text + ": " + changed.change, next(), counts);
      }
      changes += once.size();
      for (u64 i = 0; i < pairs; ++i) {
        const ChangedOperator& first = once[next() % once.size()];
        const std::vector<ChangedOperator> twice = changed_tensors(first.described, Strides::unsigned_32_bits);
        if (!twice.empty()) {
          const ChangedOperator& second = twice[next() % twice.size()];
          program.attempt(second.described, text + ": " + first.change + "; " + second.change, next(), counts);
          ++changes;
        }
      }
    }
  }
  std::printf("%" PRIu64 " changes: %" PRIu64 " rejected, %" PRIu64 " compiled only, %" PRIu64 " run\n", changes,
              counts.rejected, counts.compiled, counts.run);
}

}  // namespace
}  // namespace anydml::test
