// SPDX-License-Identifier: MIT
// Measures latency through the DirectML API as a client does: a list is recorded once and executed many times.
#include <cstdint>
#include <cstring>
#include <memory>

#include "check.h"
#include "client.h"
#include "data.h"
#include "latency.h"
#include "measure.h"

namespace anydml::bench {
namespace {

constexpr UINT kElements = 16;
constexpr UINT kBytes = kElements * sizeof(float);

// A device, and one modulus_floor of 16 elements with its bindings.
class Program {
 public:
  Program() : a_(create_buffer(-50, 7.5F)), b_(create_buffer(-2.5F, 0.3F)), out_(create_buffer(0, 0)) {
    const DML_BUFFER_BINDING inputs[] = {{a_.Get(), 0, kBytes}, {b_.Get(), 0, kBytes}};
    const DML_BUFFER_BINDING output{out_.Get(), 0, kBytes};
    operation_.bind(inputs, {&output, 1});
  }

  void record(std::uint64_t dispatches) {
    if (recorded_) {
      device_.reopen();
    }
    recorded_ = true;
    operation_.record(device_, dispatches);
    device_.close();
  }
  void execute() { device_.execute(); }
  void wait() const { device_.wait(); }
  void poll() const { device_.poll(); }

 private:
  client::ComPtr<ID3D12Resource> create_buffer(float first, float step) {
    auto buffer = device_.create_buffer(kBytes);
    device_.write(buffer.Get(), [&](std::span<std::byte> bytes) {
      for (UINT i = 0; i < kElements; ++i) {
        const float value = first + step * static_cast<float>(i);
        std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
      }
    });
    return buffer;
  }

  static client::Operation create_operation(client::Device& device) {
    const UINT sizes[] = {1, 1, 1, kElements};
    const DML_BUFFER_TENSOR_DESC buffer{
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, kBytes, 0};
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus{&tensor, &tensor, &tensor};
    return {device, {DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &modulus}};
  }

  client::Device device_;
  client::ComPtr<ID3D12Resource> a_, b_, out_;
  client::Operation operation_ = create_operation(device_);
  bool recorded_ = false;
};

// A list of a thousand dispatches of 1,024 elements, either independent or each reading the previous one's output. As
// in real programs, the bindings are in a descriptor heap, and barriers separate writes from reads.
class ThousandDispatches {
 public:
  static constexpr int kDispatches = 1000;

  explicit ThousandDispatches(bool dependent) : dependent_(dependent) {
    const DML_BUFFER_TENSOR_DESC buffer{
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 1, &kCount, nullptr, kSize, 0};
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus{&tensor, &tensor, &tensor};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &modulus};
    const DML_BUFFER_BINDING divisor{b_.Get(), 0, kSize};
    const auto add = [&](const DML_BUFFER_BINDING& from, const DML_BUFFER_BINDING& to) {
      const DML_BUFFER_BINDING inputs[] = {from, divisor};
      operations_.push_back(std::make_unique<client::Operation>(device_, desc));
      operations_.back()->bind(inputs, {&to, 1});
    };
    const DML_BUFFER_BINDING first{a_.Get(), 0, kSize};
    if (dependent) {
      const DML_BUFFER_BINDING second{out_.Get(), 0, kSize};
      add(first, second);
      add(second, first);
    } else {
      for (UINT64 i = 0; i < kDispatches; ++i) {
        add(first, {out_.Get(), i * kSize, kSize});
      }
    }
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    for (std::size_t i = 0; i < kDispatches; ++i) {
      operations_[i % operations_.size()]->record(device_);
      if (dependent) {
        device_.list()->ResourceBarrier(1, &barrier);
      }
    }
    device_.close();
  }

  void run() {
    device_.execute();
    device_.wait();
  }

  // Must be called after a run. Throws LatencyFailure if a result is wrong.
  void check_results() {
    device_.reopen();
    const std::vector<float> b = read(b_.Get());
    const std::vector<float> a = read(a_.Get());
    const std::vector<float> out = read(out_.Get());
    // With dependent dispatches, each buffer ends up as the remainder of the other. Taking the remainder again gives
    // the same value or, if the first remainder was rounded to the divisor, 0, which stays 0.
    std::vector<const Row*> floor;
    parse_operator("modulus_floor", floor);
    const Placement packed = place_packed(*floor.front(), 1, {kCount}, {});
    const Case of{ANYDML_FLOAT32, floor.front(), Layout::tensor, {}, {}};
    for (std::size_t i = 0; i * kCount < out.size(); ++i) {
      const Check found = check_modulus(of, packed, a.data(), b.data(), out.data() + i * kCount, kCount);
      if (found.wrong != 0) {
        throw LatencyFailure{"dispatch " + std::to_string(i) + ": " + found.first_wrong};
      }
    }
  }

 private:
  static constexpr UINT kCount = 1024;
  static constexpr UINT kSize = kCount * sizeof(float);

  client::ComPtr<ID3D12Resource> create_buffer(UINT64 bytes, Operand operand) {
    auto buffer = device_.create_buffer(bytes);
    Team alone(1);
    device_.write(buffer.Get(), [&](std::span<std::byte> to) {
      fill(to.data(), to.size() / sizeof(float), ANYDML_FLOAT32, {}, operand, alone);
    });
    return buffer;
  }

  std::vector<float> read(ID3D12Resource* buffer) {
    std::vector<float> values(buffer->GetDesc().Width / sizeof(float));
    device_.read(buffer, [&](std::span<const std::byte> from) {
      std::memcpy(values.data(), from.data(), values.size() * sizeof(float));
    });
    return values;
  }

  bool dependent_;
  client::Device device_;
  client::ComPtr<ID3D12Resource> a_ = create_buffer(kSize, Operand::dividend);
  client::ComPtr<ID3D12Resource> b_ = create_buffer(kSize, Operand::divisor);
  client::ComPtr<ID3D12Resource> out_ =
      create_buffer(dependent_ ? kSize : UINT64{kSize} * kDispatches, Operand::divisor);
  std::vector<std::unique_ptr<client::Operation>> operations_;
};

template <class Body>
Latency repeat(const char* name, const char* what, double seconds, int parts, Body body) {
  constexpr std::size_t kMinSamples = 50;
  std::vector<double> samples;
  body();
  const double begin = seconds_now();
  do {
    const double before = seconds_now();
    body();
    samples.push_back((seconds_now() - before) / parts);
  } while (seconds_now() - begin < seconds || samples.size() < kMinSamples);
  const Timing timing = summarize(samples);
  return {name, what, timing.median * 1e9, timing.min * 1e9};
}

}  // namespace

void measure_directml_latency(double seconds, std::vector<Latency>& to) try {
  Program program;
  program.record(1);
  to.push_back(repeat("dispatch_wait", "one dispatch of 16 FLOAT32, ExecuteCommandLists to SetEventOnCompletion",
                      seconds, 1, [&] {
                        program.execute();
                        program.wait();
                      }));
  to.push_back(
      repeat("dispatch_poll", "one dispatch of 16 FLOAT32, ExecuteCommandLists to GetCompletedValue", seconds, 1, [&] {
        program.execute();
        program.poll();
      }));
  constexpr int kDispatches = 1000;
  to.push_back(repeat("record", "recording, a dispatch in a list of 1,000", seconds, kDispatches,
                      [&] { program.record(kDispatches); }));
  to.push_back(repeat("dispatch_of_1000", "executing, a dispatch in a list of 1,000, to SetEventOnCompletion", seconds,
                      kDispatches, [&] {
                        program.execute();
                        program.wait();
                      }));
  for (const bool dependent : {false, true}) {
    ThousandDispatches list(dependent);
    to.push_back(repeat(dependent ? "dependent_1024" : "independent_1024",
                        dependent ? "executing, one of 1,000 dispatches of 1,024 FLOAT32, each reads the last"
                                  : "executing, one of 1,000 dispatches of 1,024 FLOAT32, independent",
                        seconds, ThousandDispatches::kDispatches, [&] { list.run(); }));
    list.check_results();
  }
} catch (const client::Failure& failure) {
  throw LatencyFailure{failure.what()};
}

}  // namespace anydml::bench
