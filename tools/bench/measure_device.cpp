// SPDX-License-Identifier: MIT
#include "measure_device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>

#include "data.h"
#include "device_parts.h"
#include "machine.h"

namespace anydml::bench {
namespace {

using client::ComPtr;
using Operations = std::vector<std::unique_ptr<client::Operation>>;  // one for each set of tensors
// Records run number `run`.
using Recording = std::function<void(std::uint64_t run)>;

// The memory of a case: the bytes of one set, and the number of sets.
struct BytesOfSets {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t out = 0;
  std::uint64_t sets = 1;
};

bool has_single(Layout layout, Operand operand) {
  return layout == (operand == Operand::dividend ? Layout::dividend : Layout::scalar);
}

// Returns how many arrays of the output's size a case reads. Every case writes one.
int arrays_read(Layout layout) {
  return layout == Layout::scalar || layout == Layout::dividend || layout == Layout::row ? 1 : 2;
}

BytesOfSets bytes_of_sets(const Case& of, const Placement& placement) {
  const std::uint64_t size = anydml_type_size(of.type);
  // The pass reads packed arrays of the elements.
  const auto bytes = [&](std::int64_t extent, bool absent) {
    return absent ? 0
                  : round_up(static_cast<std::uint64_t>(std::max(extent, placement.elements)) * size, kDeviceAlignment);
  };
  BytesOfSets of_sets;
  of_sets.a = bytes(placement.inputs[0].extent, has_single(of.layout, Operand::dividend));
  of_sets.b = bytes(placement.inputs[1].extent, has_single(of.layout, Operand::divisor));
  of_sets.out = bytes(placement.output.extent, false);  // if the case runs in place, only the pass uses this memory
  if (of.layout != Layout::inplace) {
    of_sets.sets = sets_for(of_sets.a + of_sets.b + of_sets.out);
  }
  return of_sets;
}

struct Total {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t out = 0;
  std::uint64_t block = 0;
};

Total total_of(const std::vector<Case>& cases) {
  Total maximum;
  for (const Case& of : cases) {
    if (const auto placement = lay_out(of)) {
      const BytesOfSets of_sets = bytes_of_sets(of, *placement);
      maximum.a = std::max(maximum.a, of_sets.a * of_sets.sets);
      maximum.b = std::max(maximum.b, of_sets.b * of_sets.sets);
      maximum.out = std::max(maximum.out, of_sets.out * of_sets.sets);
      maximum.block = std::max(maximum.block, kDeviceBlock * anydml_type_size(of.type));
    }
  }
  maximum.block = std::min(maximum.block, std::max({maximum.a, maximum.b, kDeviceAlignment}));
  return maximum;
}

DML_BUFFER_TENSOR_DESC tensor_of(anydml_type type, std::span<const UINT> sizes, const UINT* strides,
                                 std::uint64_t elements) {
  return {static_cast<DML_TENSOR_DATA_TYPE>(type),
          DML_TENSOR_FLAG_NONE,
          static_cast<UINT>(sizes.size()),
          sizes.data(),
          strides,
          round_up(elements * anydml_type_size(type), 4),
          0};
}

// A tensor of a placement in DirectML's form.
struct Tensor {
  UINT sizes[8] = {};
  UINT strides[8] = {};
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{DML_TENSOR_TYPE_BUFFER, &buffer};

  Tensor(anydml_type type, const Placement& placement, const Extents& from, std::int64_t extent) {
    const auto rank = static_cast<std::size_t>(placement.rank);
    for (std::size_t i = 0; i < rank; ++i) {
      sizes[i] = static_cast<UINT>(placement.sizes[i]);
      strides[i] = static_cast<UINT>(from[i]);
    }
    buffer = tensor_of(type, {sizes, rank}, strides, static_cast<std::uint64_t>(extent));
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return buffer.TotalTensorSizeInBytes; }
};

}  // namespace

std::uint64_t device_bytes(const std::vector<Case>& cases) {
  const Total total = total_of(cases);
  return total.a + total.b + total.out;
}

class DeviceMeasurer::State {
 public:
  State(const std::vector<Case>& cases, Settings settings)
      : settings_(settings), cases_(cases), total_(total_of(cases)), team_(usable_cores()) {
    a_ = create(total_.a);
    b_ = create(total_.b);
    out_ = create(total_.out);
    single_ = create(kDeviceAlignment);
  }

  std::optional<Result> measure(const Case& of, std::string& error) {
    const auto placed = lay_out(of);
    if (!placed) {
      error = "the layout does not fit the size";
      return std::nullopt;
    }
    prepare(of);
    const Placement& placement = *placed;
    const BytesOfSets of_sets = bytes_of_sets(of, placement);
    const bool in_place = of.layout == Layout::inplace;
    const auto array =
        static_cast<std::uint64_t>(placement.elements) * static_cast<std::uint64_t>(anydml_type_size(of.type));
    const int arrays = arrays_read(of.layout) + 1;

    Result result;
    result.of = of;
    result.elements = placement.elements;
    result.bytes = static_cast<std::int64_t>(array) * arrays;

    const bool by_calls = of.type == ANYDML_FLOAT64;
    const Operations kernels = by_calls ? Operations() : create_kernels(of, placement, of_sets);
    const Operations passes = by_calls ? Operations() : create_passes(of, of_sets, array);
    const auto kernel_call = by_calls ? create_kernel_call(of, placement, of_sets) : nullptr;
    const auto pass_call = by_calls ? create_pass_call(of, of_sets, array) : nullptr;
    const Recording recordings[] = {[&](std::uint64_t run) { record(passes, run); },
                                    [&](std::uint64_t run) { record(kernels, run); }};
    DeviceCall* const calls[] = {pass_call.get(), kernel_call.get()};
    const auto time_both = [&](std::size_t first, std::size_t count, const std::vector<std::uint64_t>& runs,
                               int rounds) {
      return by_calls ? time_calls(std::span(calls).subspan(first, count), runs, rounds)
                      : time(std::span(recordings).subspan(first, count), runs, rounds);
    };

    std::vector<double> kernel_samples;
    if (in_place) {
      // A run overwrites the dividends, and dividing the remainders again takes almost no time, so the dividends are
      // restored before each run.
      for (int round = 0; round < std::max(settings_.min_rounds, 3) + 1; ++round) {
        fill_dividends(of, of_sets);
        const double sample = time_both(1, 1, {1}, 1)[0][0];
        if (round != 0) {
          kernel_samples.push_back(sample);
        }
      }
    }
    const std::size_t things = in_place ? 1 : 2;
    Samples samples =
        time_long(things, settings_, [&](const auto& runs, int rounds) { return time_both(0, things, runs, rounds); });
    result.pass = summarize(samples[0]);
    result.pass_by = arrays == 3 ? "ELEMENT_WISE_ADD" : "ELEMENT_WISE_IDENTITY";
    result.kernel = summarize(in_place ? kernel_samples : samples[1]);
    if (arrays == 2) {
      const Recording copy = [&](std::uint64_t run) { record_copy(of, of_sets, array, run % of_sets.sets); };
      samples = time_long(1, settings_, [&](const auto& runs, int rounds) { return time({&copy, 1}, runs, rounds); });
      if (const Timing copied = summarize(samples[0]); copied.median < result.pass.median) {
        result.pass = copied;
        result.pass_by = "CopyBufferRegion";
      }
    }

    // This run overwrites the pass's results, and its output is checked.
    if (in_place) {
      fill_dividends(of, of_sets);
    } else {
      run_once(recordings[0], calls[0]);
    }
    run_once(recordings[1], calls[1]);
    for (const DeviceCall* call : calls) {
      if (call != nullptr && !call->error().empty()) {
        error = call->error();
        return std::nullopt;
      }
    }
    result.check = check_sample(of, placement);
    if (in_place) {
      fill_dividends(of, of_sets);  // other layouts share the dividends
    }
    return result;
  }

 private:
  [[nodiscard]] Buffer create(std::uint64_t bytes) {
    return device_.create_buffer(std::max<std::uint64_t>(bytes, kDeviceAlignment));
  }

  void record(const Operations& operations, std::uint64_t run) {
    operations[run % operations.size()]->record(device_);
    // A program needs this barrier between runs that may write the same memory, because a device could otherwise run
    // them concurrently.
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    device_.list()->ResourceBarrier(1, &barrier);
  }

  void run_once(const Recording& recording, DeviceCall* call) {
    if (call != nullptr) {
      call->run(0, true);
    } else {
      recording(0);
      device_.run();
    }
  }

  void record_copy(const Case& of, const BytesOfSets& of_sets, std::uint64_t bytes, std::uint64_t set) {
    const bool from_b = of.layout == Layout::dividend;
    device_.list()->CopyBufferRegion(out_.Get(), set * of_sets.out, (from_b ? b_ : a_).Get(),
                                     set * (from_b ? of_sets.b : of_sets.a), bytes);
  }

  Operations create_kernels(const Case& of, const Placement& placement, const BytesOfSets& of_sets) {
    const Tensor a(of.type, placement, placement.inputs[0].strides, placement.inputs[0].extent);
    const Tensor b(of.type, placement, placement.inputs[1].strides, placement.inputs[1].extent);
    const Tensor out(of.type, placement, placement.output.strides, placement.output.extent);
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC floor{&a.desc, &b.desc, &out.desc};
    const DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC truncate{&a.desc, &b.desc, &out.desc};
    const DML_OPERATOR_DESC desc = of.row->name == "modulus_floor"
                                       ? DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &floor}
                                       : DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE, &truncate};
    Operations operations;
    for (std::uint64_t set = 0; set < of_sets.sets; ++set) {
      const auto input = [&](const Buffer& buffer, std::uint64_t bytes, Operand operand, const Tensor& tensor) {
        return has_single(of.layout, operand) ? DML_BUFFER_BINDING{single_.Get(), 0, tensor.bytes()}
                                              : DML_BUFFER_BINDING{buffer.Get(), set * bytes, tensor.bytes()};
      };
      const DML_BUFFER_BINDING inputs[] = {input(a_, of_sets.a, Operand::dividend, a),
                                           input(b_, of_sets.b, Operand::divisor, b)};
      const DML_BUFFER_BINDING output{of.layout == Layout::inplace ? a_.Get() : out_.Get(),
                                      of.layout == Layout::inplace ? 0 : set * of_sets.out, out.bytes()};
      operations.push_back(std::make_unique<client::Operation>(device_, desc));
      operations.back()->bind(inputs, {&output, 1});
    }
    return operations;
  }

  Operations create_passes(const Case& of, const BytesOfSets& of_sets, std::uint64_t array) {
    const UINT sizes[] = {static_cast<UINT>((array + 3) / 4)};
    const DML_BUFFER_TENSOR_DESC buffer = tensor_of(ANYDML_UINT32, sizes, nullptr, sizes[0]);
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add{&tensor, &tensor, &tensor};
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity{&tensor, &tensor, nullptr};
    const bool two = arrays_read(of.layout) == 2;
    const DML_OPERATOR_DESC desc = two ? DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_ADD, &add}
                                       : DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
    Operations operations;
    for (std::uint64_t set = 0; set < of_sets.sets; ++set) {
      const std::uint64_t bytes = buffer.TotalTensorSizeInBytes;
      const DML_BUFFER_BINDING a{a_.Get(), set * of_sets.a, bytes};
      const DML_BUFFER_BINDING b{b_.Get(), set * of_sets.b, bytes};
      const DML_BUFFER_BINDING both[] = {a, b};
      const DML_BUFFER_BINDING one[] = {of.layout == Layout::dividend ? b : a};
      const DML_BUFFER_BINDING output{out_.Get(), set * of_sets.out, bytes};
      operations.push_back(std::make_unique<client::Operation>(device_, desc));
      operations.back()->bind(two ? std::span<const DML_BUFFER_BINDING>(both) : one, {&output, 1});
    }
    return operations;
  }

  [[nodiscard]] std::unique_ptr<DeviceCall> create_kernel_call(const Case& of, const Placement& placement,
                                                               const BytesOfSets& of_sets) const {
    using BufferSets = DeviceCall::BufferSets;
    const auto sets_of = [&](const Buffer& buffer, std::uint64_t bytes, Operand operand) {
      return has_single(of.layout, operand) ? BufferSets{single_->GetGPUVirtualAddress(), 0}
                                            : BufferSets{buffer->GetGPUVirtualAddress(), bytes};
    };
    const std::vector<BufferSets> inputs{sets_of(a_, of_sets.a, Operand::dividend),
                                         sets_of(b_, of_sets.b, Operand::divisor)};
    return std::make_unique<DeviceCall>(*of.row, of.type, placement, inputs,
                                        of.layout == Layout::inplace
                                            ? BufferSets{a_->GetGPUVirtualAddress(), of_sets.a}
                                            : BufferSets{out_->GetGPUVirtualAddress(), of_sets.out},
                                        of_sets.sets);
  }

  [[nodiscard]] std::unique_ptr<DeviceCall> create_pass_call(const Case& of, const BytesOfSets& of_sets,
                                                             std::uint64_t array) const {
    using BufferSets = DeviceCall::BufferSets;
    const bool two = arrays_read(of.layout) == 2;
    const Row& row = row_named(two ? "add" : "identity");
    const BufferSets a{a_->GetGPUVirtualAddress(), of_sets.a};
    const BufferSets b{b_->GetGPUVirtualAddress(), of_sets.b};
    return std::make_unique<DeviceCall>(row, ANYDML_UINT32,
                                        place_packed(row, 1, {static_cast<std::int64_t>((array + 3) / 4)}, {}),
                                        two ? std::vector{a, b} : std::vector{of.layout == Layout::dividend ? b : a},
                                        BufferSets{out_->GetGPUVirtualAddress(), of_sets.out}, of_sets.sets);
  }

  // Takes `rounds` samples of each item in one list, alternating between items. A sample of item i consists of runs[i]
  // runs.
  Samples time(std::span<const Recording> things, const std::vector<std::uint64_t>& runs, int rounds) {
    const auto samples = static_cast<UINT>(things.size()) * static_cast<UINT>(rounds);
    D3D12_QUERY_HEAP_DESC desc{};
    desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
    desc.Count = 2 * samples;
    ComPtr<ID3D12QueryHeap> heap;
    client::check(device_.d3d12()->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)), "CreateQueryHeap");
    const auto readback =
        device_.create_committed(client::heap_of(D3D12_HEAP_TYPE_READBACK), desc.Count * sizeof(UINT64),
                                 D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_FLAG_NONE);
    UINT query = 0;
    std::vector<std::uint64_t> next(things.size());  // every sample continues with the set after the last one used
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < things.size(); ++i) {
        device_.list()->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query++);
        for (std::uint64_t run = 0; run < runs[i]; ++run) {
          things[i](next[i]++);
        }
        device_.list()->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query++);
      }
    }
    device_.list()->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, desc.Count, readback.Get(), 0);
    device_.run();
    const client::Mapped mapped(readback.Get());
    const auto frequency = static_cast<double>(device_.timestamp_frequency());
    Samples seconds(things.size());
    for (std::size_t sample = 0; sample < samples; ++sample) {
      UINT64 readings[2];
      std::memcpy(readings, mapped.bytes().data() + sample * sizeof(readings), sizeof(readings));
      const std::size_t i = sample % things.size();
      // The result is never 0, even if the clock did not advance, because the caller divides by it.
      const double ticks = std::max(1.0, static_cast<double>(readings[1] - readings[0]));
      seconds[i].push_back(ticks / frequency / static_cast<double>(runs[i]));
    }
    return seconds;
  }

  void fill_dividends(const Case& of, const BytesOfSets& of_sets) {
    if (of.layout == Layout::inplace) {
      staging_.fill(a_, of_sets.a, block_a_);
    }
  }

  void prepare(const Case& of) {
    const std::uint64_t size = anydml_type_size(of.type);
    const auto write_single = [&](Operand operand) {
      device_.write(single_.Get(),
                    [&](std::span<std::byte> bytes) { fill_single(bytes.data(), of.type, of.data, operand); });
      one_.resize(size);
      fill_single(one_.data(), of.type, of.data, operand);
    };
    if (has_single(of.layout, Operand::dividend)) {
      write_single(Operand::dividend);
    } else if (has_single(of.layout, Operand::divisor)) {
      write_single(Operand::divisor);
    }
    if (filled_ && filled_->type == of.type && filled_->data == of.data) {
      return;
    }
    std::vector<Case> alike;
    std::ranges::copy_if(cases_, std::back_inserter(alike),
                         [&](const Case& other) { return other.type == of.type && other.data == of.data; });
    const Total needed = total_of(alike);
    const auto fill_operand = [&](const Buffer& buffer, std::uint64_t bytes, Operand operand, Bytes& block) {
      block.resize(std::min({kDeviceBlock * size, total_.block, std::max(bytes, size)}) / size * size);
      fill(block.data(), block.size() / size, of.type, of.data, operand, team_);
      staging_.fill(buffer, bytes, block);
    };
    fill_operand(a_, needed.a, Operand::dividend, block_a_);
    fill_operand(b_, needed.b, Operand::divisor, block_b_);
    filled_ = of;
  }

  Check check_sample(const Case& of, const Placement& placement) {
    const std::size_t size = anydml_type_size(of.type);
    Bytes a;
    Bytes b;
    Bytes out;
    const auto element_of = [&](const Bytes& block, Operand operand, const Extents& strides, std::int64_t element) {
      return has_single(of.layout, operand)
                 ? one_.data()
                 : block.data() + static_cast<std::size_t>(placement.offset(strides, element)) * size % block.size();
    };
    read_windows(reader_of(device_, of.layout == Layout::inplace ? a_ : out_), placement, size, settings_.samples,
                 false, [&](std::int64_t element, const std::byte* z) {
                   const auto* x = element_of(block_a_, Operand::dividend, placement.inputs[0].strides, element);
                   const auto* y = element_of(block_b_, Operand::divisor, placement.inputs[1].strides, element);
                   a.insert(a.end(), x, x + size);
                   b.insert(b.end(), y, y + size);
                   out.insert(out.end(), z, z + size);
                 });
    const Placement packed = place_packed(*of.row, 1, {static_cast<std::int64_t>(out.size() / size)}, {});
    return check_modulus(of, packed, a.data(), b.data(), out.data(), packed.elements);
  }

  Settings settings_;
  std::vector<Case> cases_;
  Total total_;
  Team team_;
  client::Device device_{{.custom_heaps = false}};
  Staging staging_{device_, total_.block};
  Buffer a_, b_, out_, single_;
  Bytes block_a_, block_b_, one_;  // the buffers' contents
  std::optional<Case> filled_;     // the case whose type and data the buffers contain
};

DeviceMeasurer::DeviceMeasurer(const std::vector<Case>& cases, Settings settings) try
    : state_(std::make_unique<State>(cases, settings)) {
} catch (const client::Failure& failure) {
  throw DeviceFailure{failure.what()};
}

DeviceMeasurer::~DeviceMeasurer() = default;

std::optional<Result> DeviceMeasurer::measure(const Case& of, std::string& error) try {
  return state_->measure(of, error);
} catch (const client::Failure& failure) {
  throw DeviceFailure{of.name() + ": " + failure.what()};
}

}  // namespace anydml::bench
