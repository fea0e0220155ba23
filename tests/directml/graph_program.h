// SPDX-License-Identifier: MIT
// Building blocks for graph tests: a graph as a client describes it, and a run in memory with guard bytes.
#pragma once

#include <deque>
#include <memory>

#include "directml/harness.h"

namespace anydml::test {

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// The arrays that a DML_GRAPH_DESC points to. The input and output counts follow from the edges unless they are set
// explicitly.
class GraphBuilder {
 public:
  UINT add(IDMLOperator* op, const char* name = nullptr) {
    const auto& node = operators.emplace_back(DML_OPERATOR_GRAPH_NODE_DESC{op, name});
    nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &node});
    return static_cast<UINT>(nodes.size() - 1);
  }
  UINT add_constant(const void* data, std::size_t bytes) {
    const auto& node = constants.emplace_back(DML_CONSTANT_DATA_GRAPH_NODE_DESC{data, bytes, nullptr});
    nodes.push_back({DML_GRAPH_NODE_TYPE_CONSTANT, &node});
    return static_cast<UINT>(nodes.size() - 1);
  }
  void input(UINT graph_input, UINT node, UINT node_input, const char* name = nullptr) {
    const auto& edge = input_descs.emplace_back(DML_INPUT_GRAPH_EDGE_DESC{graph_input, node, node_input, name});
    input_edges.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
    input_count = std::max(input_count, graph_input + 1);
  }
  void connect(UINT from, UINT node, UINT node_input, UINT from_output = 0, const char* name = nullptr) {
    const auto& edge =
        inner_descs.emplace_back(DML_INTERMEDIATE_GRAPH_EDGE_DESC{from, from_output, node, node_input, name});
    inner_edges.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edge});
  }
  void output(UINT from, UINT graph_output, UINT from_output = 0, const char* name = nullptr) {
    const auto& edge = output_descs.emplace_back(DML_OUTPUT_GRAPH_EDGE_DESC{from, from_output, graph_output, name});
    output_edges.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &edge});
    output_count = std::max(output_count, graph_output + 1);
  }
  // Adds an operator with its inputs: -1 - n stands for graph input n, and other numbers are node numbers.
  UINT add(const ComPtr<IDMLOperator>& op, const std::vector<int>& sources, const char* name = nullptr) {
    kept_.push_back(op);
    const UINT node = add(op.Get(), name);
    for (UINT i = 0; i < sources.size(); ++i) {
      if (sources[i] < 0) {
        input(static_cast<UINT>(-1 - sources[i]), node, i);
      } else {
        connect(static_cast<UINT>(sources[i]), node, i);
      }
    }
    return node;
  }

  [[nodiscard]] DML_GRAPH_DESC desc() const {
    return {input_count,
            output_count,
            static_cast<UINT>(nodes.size()),
            nodes.data(),
            static_cast<UINT>(input_edges.size()),
            input_edges.data(),
            static_cast<UINT>(output_edges.size()),
            output_edges.data(),
            static_cast<UINT>(inner_edges.size()),
            inner_edges.data()};
  }
  HRESULT compile(const Dml& dml, ComPtr<IDMLCompiledOperator>& compiled,
                  DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) const {
    ComPtr<IDMLDevice1> device;
    EXPECT_EQ(dml.device.As(&device), S_OK);
    const DML_GRAPH_DESC described = desc();
    return device->CompileGraph(&described, flags, IID_PPV_ARGS(&compiled));
  }
  [[nodiscard]] ComPtr<IDMLCompiledOperator> compile(const Dml& dml) const {
    ComPtr<IDMLCompiledOperator> compiled;
    EXPECT_EQ(compile(dml, compiled), S_OK) << anydml_last_error();
    return compiled;
  }

  UINT input_count = 0;
  UINT output_count = 0;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operators;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> input_descs;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> inner_descs;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> output_descs;
  std::vector<DML_GRAPH_NODE_DESC> nodes;
  std::vector<DML_GRAPH_EDGE_DESC> input_edges;
  std::vector<DML_GRAPH_EDGE_DESC> inner_edges;
  std::vector<DML_GRAPH_EDGE_DESC> output_edges;

 private:
  std::vector<ComPtr<IDMLOperator>> kept_;
};

// Ranges of one buffer, aligned to 256 bytes but not more, with 0xFF bytes between them.
class Ranges {
 public:
  std::size_t add(std::uint64_t bytes) {
    ranges_.push_back({end_, bytes});
    end_ = (end_ + bytes + kGap + 255) / 256 * 256;
    end_ += end_ % 512 == 0 ? 256 : 0;
    return ranges_.size() - 1;
  }
  std::size_t add(const Bytes& contents) {
    contents_.emplace_back(ranges_.size(), contents);
    return add(contents.size());
  }
  void create(Queue& queue) {
    buffer_ = create_buffer(queue.device.Get(), end_);
    fill(queue);
  }
  void fill(Queue& queue) {
    Bytes bytes(end_, 0xFF);
    for (const auto& [range, contents] : contents_) {
      std::ranges::copy(contents, bytes.begin() + static_cast<std::ptrdiff_t>(ranges_[range].first));
    }
    upload(queue, buffer_.Get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] DML_BUFFER_BINDING operator[](std::size_t range) const {
    return {buffer_.Get(), ranges_[range].first, ranges_[range].bytes};
  }
  void read(Queue& queue) { read_ = download(queue, buffer_.Get()); }
  [[nodiscard]] Bytes bytes(std::size_t range) const {
    const auto begin = read_.begin() + static_cast<std::ptrdiff_t>(ranges_[range].first);
    return {begin, begin + static_cast<std::ptrdiff_t>(ranges_[range].bytes)};
  }
  // Whether all bytes outside the ranges were unchanged at the last read().
  [[nodiscard]] bool is_untouched_between() const {
    std::size_t at = 0;
    const auto clean = [&](std::size_t until) {
      return std::all_of(read_.begin() + static_cast<std::ptrdiff_t>(at),
                         read_.begin() + static_cast<std::ptrdiff_t>(until), [](auto byte) { return byte == 0xFF; });
    };
    for (const Range& range : ranges_) {
      if (!clean(range.first)) {
        return false;
      }
      at = range.first + range.bytes;
    }
    return clean(read_.size());
  }
  [[nodiscard]] ID3D12Resource* buffer() const { return buffer_.Get(); }

 private:
  static constexpr std::uint64_t kGap = 64;
  struct Range {
    std::uint64_t first;
    std::uint64_t bytes;
  };
  std::vector<Range> ranges_;
  std::vector<std::pair<std::size_t, Bytes>> contents_;
  std::uint64_t end_ = 256;
  ComPtr<ID3D12Resource> buffer_;
  Bytes read_;
};

// The inputs bound to a graph.
struct GraphInputs {
  std::vector<Bytes> values;  // nothing is bound for an empty value
  std::vector<bool> owned;    // if empty, no input is owned
  [[nodiscard]] bool is_owned(std::size_t i) const { return i < owned.size() && owned[i]; }
};

// A compiled graph with its own buffers for everything that it binds.
class GraphRun {
 public:
  GraphRun(Dml& dml, ComPtr<IDMLCompiledOperator> compiled, const GraphInputs& inputs,
           const std::vector<std::uint64_t>& outputs)
      : dml_(dml), compiled_(std::move(compiled)) {
    IDMLCompiledOperator* targets[] = {compiled_.Get()};
    EXPECT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer_)), S_OK);
    const auto needs = compiled_->GetBindingProperties();
    const auto first_needs = initializer_->GetBindingProperties();
    for (const Bytes& value : inputs.values) {
      given_.add(value);
    }
    for (const std::uint64_t bytes : outputs) {
      result_.add(bytes);
    }
    kept_.add(needs.PersistentResourceSize);
    scratch_.add(needs.TemporaryResourceSize);
    scratch_.add(first_needs.TemporaryResourceSize);
    for (Ranges* ranges : {&given_, &result_, &kept_, &scratch_}) {
      ranges->create(dml.queue);
    }
    heap_ = create_heap(dml.d3d12.Get(), needs.RequiredDescriptorCount + first_needs.RequiredDescriptorCount + 1);
    table_ = dml.table(compiled_.Get(), heap_.Get());
    first_table_ = dml.table(initializer_.Get(), heap_.Get(), needs.RequiredDescriptorCount);
    bind_first(inputs, needs, first_needs);
    bind(inputs, outputs.size(), needs);
  }

  void record_initialize(ID3D12GraphicsCommandList* list = nullptr) { record(initializer_.Get(), first_table_, list); }
  void record_execute(ID3D12GraphicsCommandList* list = nullptr) { record(compiled_.Get(), table_, list); }
  // Initializes and executes in one list, with only a barrier between the two.
  void run() {
    record_initialize();
    uav_barrier(dml_.queue.list.Get());
    record_execute();
    dml_.queue.finish();
    read();
  }
  void read() {
    ASSERT_EQ(dml_.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    for (Ranges* ranges : {&given_, &result_, &kept_, &scratch_}) {
      ranges->read(dml_.queue);
      EXPECT_TRUE(ranges->is_untouched_between());
    }
  }
  // Overwrites every buffer except the persistent one and the inputs.
  void spoil() {
    result_.fill(dml_.queue);
    scratch_.fill(dml_.queue);
  }
  [[nodiscard]] Bytes output(std::size_t i) const { return result_.bytes(i); }
  template <class T>
  [[nodiscard]] std::vector<T> output_as(std::size_t i) const {
    return values_of<T>(output(i));
  }
  [[nodiscard]] IDMLBindingTable* table() const { return table_.Get(); }
  [[nodiscard]] const Ranges& given() const { return given_; }
  [[nodiscard]] const Ranges& result() const { return result_; }
  [[nodiscard]] DML_BUFFER_BINDING kept() const { return kept_[0]; }

 private:
  void record(IDMLDispatchable* what, const ComPtr<IDMLBindingTable>& table, ID3D12GraphicsCommandList* list) {
    list = list != nullptr ? list : dml_.queue.list.Get();
    ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
    list->SetDescriptorHeaps(1, heaps);
    dml_.recorder->RecordDispatch(list, what, table.Get());
  }
  void bind_first(const GraphInputs& inputs, const DML_BINDING_PROPERTIES& needs,
                  const DML_BINDING_PROPERTIES& first_needs) {
    std::vector<DML_BUFFER_BINDING> buffers(inputs.values.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffers[i] = inputs.is_owned(i) ? given_[i] : DML_BUFFER_BINDING{};
    }
    if (std::ranges::count(inputs.owned, true) != 0) {
      const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(buffers.size()), buffers.data()};
      const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
      first_table_->BindInputs(1, &input);
    }
    if (needs.PersistentResourceSize != 0) {
      const auto kept = kept_[0];
      const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &kept};
      first_table_->BindOutputs(1, &output);
      table_->BindPersistentResource(&output);
    }
    if (first_needs.TemporaryResourceSize != 0) {
      const auto scratch = scratch_[1];
      const DML_BINDING_DESC temporary{DML_BINDING_TYPE_BUFFER, &scratch};
      first_table_->BindTemporaryResource(&temporary);
    }
  }
  void bind(const GraphInputs& inputs, std::size_t outputs, const DML_BINDING_PROPERTIES& needs) {
    std::vector<DML_BUFFER_BINDING> buffers(inputs.values.size() + outputs);
    std::vector<DML_BINDING_DESC> descs(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool is_input = i < inputs.values.size();
      const bool none = is_input && (inputs.values[i].empty() || inputs.is_owned(i));
      buffers[i] = none ? DML_BUFFER_BINDING{} : is_input ? given_[i] : result_[i - inputs.values.size()];
      // Alternate between the two ways to leave a tensor unbound.
      descs[i] = none && i % 2 == 0 ? DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr}
                                    : DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffers[i]};
    }
    table_->BindInputs(static_cast<UINT>(inputs.values.size()), descs.data());
    table_->BindOutputs(static_cast<UINT>(outputs), descs.data() + inputs.values.size());
    if (needs.TemporaryResourceSize != 0) {
      const auto scratch = scratch_[0];
      const DML_BINDING_DESC temporary{DML_BINDING_TYPE_BUFFER, &scratch};
      table_->BindTemporaryResource(&temporary);
    }
  }

  Dml& dml_;
  ComPtr<IDMLCompiledOperator> compiled_;
  ComPtr<IDMLOperatorInitializer> initializer_;
  Ranges given_;
  Ranges result_;
  Ranges kept_;
  Ranges scratch_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  ComPtr<IDMLBindingTable> table_;
  ComPtr<IDMLBindingTable> first_table_;
};

}  // namespace anydml::test
