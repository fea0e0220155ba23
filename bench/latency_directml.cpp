// SPDX-License-Identifier: MIT
// Latency through the DirectML API, as a program of it has it: a list is recorded once and executed many times.
#include <cstdint>
#include <cstring>

#include "client.h"
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

template <class Body>
Latency repeat(const char* name, const char* what, double seconds, int parts, Body body) {
  std::vector<double> samples;
  body();
  const double begin = seconds_now();
  do {
    const double before = seconds_now();
    body();
    samples.push_back((seconds_now() - before) / parts);
  } while (seconds_now() - begin < seconds);
  const Timing timing = summarise(samples);
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
} catch (const client::Failure& failure) {
  throw LatencyFailure{failure.what()};
}

}  // namespace anydml::bench
