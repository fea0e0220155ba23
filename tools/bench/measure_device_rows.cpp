// SPDX-License-Identifier: MIT
#include "measure_device_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "call.h"
#include "client.h"
#include "data.h"
#include "machine.h"

namespace anydml::bench {
namespace {

using client::ComPtr;
using Buffer = ComPtr<ID3D12Resource>;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kRooms = kOutput + 1;
// Small tensors are there several times and taken in turn, so that a run does not find what the last left in a cache.
constexpr std::uint64_t kSetBytes = std::uint64_t{384} << 20;
constexpr std::uint64_t kMostSets = 64;
constexpr double kSampleSeconds = 4e-3;
constexpr std::uint64_t kMostRuns = 1000;
constexpr int kMostRounds = 101;
// Values are made once by the CPU, then copied over and over.
constexpr std::uint64_t kBlock = std::uint64_t{1} << 24;  // elements
constexpr std::int64_t kWindow = 1 << 16;                 // consecutive elements of a sample that is checked
constexpr std::uint64_t kAlignment = 256;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The memory of a case: of each room one set, and how many sets; and what the pass takes of it.
struct Needs {
  std::array<std::uint64_t, kRooms> room{};
  std::uint64_t sets = 1;
  std::uint64_t moved = 0;       // bytes of a run
  std::uint64_t pass_array = 0;  // bytes
  int pass_inputs = 0;
};

Needs needs_of(const Case& of, const Placement& placement) {
  const Row& row = *of.row;
  Needs needs;
  const auto add = [&](std::size_t room, std::int64_t extent, anydml_type type, bool is_walked) {
    const std::uint64_t size = anydml_type_size(type);
    needs.room[room] = static_cast<std::uint64_t>(extent) * size;
    needs.moved += is_walked ? static_cast<std::uint64_t>(placement.elements) * size : 0;
  };
  int streams = 0;
  for (const std::size_t i : row.tensors()) {
    streams += is_stream(of, i) ? 1 : 0;
    add(room_of(row, i), placement.inputs[i].extent, row.input_type(i, of.type), is_stream(of, i));
  }
  add(kOutput, placement.output.extent, row.output_type(of.type), true);
  needs.pass_inputs = std::min(streams, 2);
  needs.pass_array = round_up(needs.moved / static_cast<std::uint64_t>(needs.pass_inputs + 1), 4);
  std::uint64_t all = 0;
  for (std::size_t room = 0; room < kRooms; ++room) {
    const bool is_of_pass = room == kOutput || static_cast<int>(room) < needs.pass_inputs;
    needs.room[room] = round_up(std::max(needs.room[room], is_of_pass ? needs.pass_array : 0), kAlignment);
    all += needs.room[room];
  }
  needs.sets = std::clamp<std::uint64_t>(kSetBytes / all, 1, kMostSets);
  return needs;
}

std::array<std::uint64_t, kRooms> total_of(const std::vector<Case>& cases) {
  std::array<std::uint64_t, kRooms> most{};
  for (const Case& of : cases) {
    if (const auto placement = place(of)) {
      const Needs needs = needs_of(of, *placement);
      for (std::size_t room = 0; room < kRooms; ++room) {
        most[room] = std::max(most[room], needs.room[room] * needs.sets);
      }
    }
  }
  return most;
}

const Row& row_named(const char* name) {
  std::vector<const Row*> found;
  parse_operator(name, found);
  if (found.empty()) {
    throw DeviceFailure{std::string("the pass needs ") + name + ", which this device does not have"};
  }
  return *found.front();
}

}  // namespace

std::uint64_t device_row_bytes(const std::vector<Case>& cases) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : total_of(cases)) {
    sum += bytes;
  }
  return sum;
}

class DeviceRowMeasurer::State {
 public:
  State(const std::vector<Case>& cases, Settings settings, Reference& reference)
      : settings_(settings), reference_(reference), total_(total_of(cases)), team_(usable_cores()) {
    for (std::size_t room = 0; room < kRooms; ++room) {
      rooms_[room].buffer = device_.create_buffer(std::max(total_[room], kAlignment));
    }
    singles_ = device_.create_buffer(kAlignment * 8);
    const std::uint64_t most = *std::ranges::max_element(total_);
    staging_ =
        device_.create_committed(client::heap_of(D3D12_HEAP_TYPE_UPLOAD), std::clamp(most, kAlignment, kBlock * 8),
                                 D3D12_RESOURCE_STATE_GENERIC_READ, D3D12_RESOURCE_FLAG_NONE);
    sample_seconds_ = std::min(kSampleSeconds, settings_.min_time / 25);
  }

  std::optional<Result> measure(const Case& of, std::string& error) {
    const auto placed = place(of);
    if (!placed) {
      error = "the layout does not fit the size";
      return std::nullopt;
    }
    const Row& row = *of.row;
    const Placement& placement = *placed;
    const Needs needs = needs_of(of, placement);
    prepare(of, needs);

    const Row& pass_row = row_named(needs.pass_inputs == 0   ? "fill_value_constant"
                                    : needs.pass_inputs == 1 ? "identity"
                                                             : "add");
    const Placement packed = place_packed(pass_row, 1, {static_cast<std::int64_t>(needs.pass_array / 4)}, {});
    Call pass(pass_row, ANYDML_UINT32, packed);
    Call kernel(row, of.type, placement);
    std::vector<Address> pass_inputs;
    for (int i = 0; i < needs.pass_inputs; ++i) {
      pass_inputs.push_back(address(static_cast<std::size_t>(i), needs));
    }
    std::vector<Address> inputs;
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      inputs.push_back(is_single(of, i) ? Address{singles_->GetGPUVirtualAddress() + i * kAlignment, 0}
                                        : address(room_of(row, i), needs));
    }
    const Address out = address(kOutput, needs);
    const Thing things[] = {{kernel, inputs, out, needs.sets}, {pass, pass_inputs, out, needs.sets}};
    for (const Thing& thing : things) {
      thing.run(0, true);
      if (!thing.call.error().empty()) {
        error = thing.call.error();
        return std::nullopt;
      }
    }

    Result result;
    result.of = of;
    result.elements = placement.elements;
    result.bytes = static_cast<std::int64_t>(needs.moved);
    time_both(things, result);
    result.pass_by = pass_row.directml;
    things[0].run(0, true);  // over what the pass has written
    if (!kernel.error().empty() || !pass.error().empty()) {
      error = kernel.error() + pass.error();
      return std::nullopt;
    }
    result.check = check_sample(of, placement);
    return result;
  }

 private:
  struct Room {
    Buffer buffer;
    Bytes block;  // its values, again and again
    anydml_type type = ANYDML_NONE;
    Operand operand = Operand::dividend;
    Data values;
    std::uint64_t bytes = 0;  // that are filled
  };
  struct Address {
    std::uint64_t first;
    std::uint64_t step;  // to the next set
    [[nodiscard]] void* of_run(std::uint64_t run, std::uint64_t sets) const {
      return reinterpret_cast<void*>(static_cast<std::uintptr_t>(first + run % sets * step));
    }
  };
  struct Thing {
    Call& call;
    const std::vector<Address>& inputs;
    Address out;
    std::uint64_t sets;
    // Gives the device run number `number`; or all that was given is done at its end.
    void run(std::uint64_t number, bool to_the_end) const {
      const void* from[8] = {};
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        from[i] = inputs[i].of_run(number, sets);
      }
      const std::span<const void* const> given(from, inputs.size());
      to_the_end ? call.run(given, out.of_run(number, sets)) : call.start(given, out.of_run(number, sets));
    }
    [[nodiscard]] double seconds(std::uint64_t& next, std::uint64_t runs) const {
      const double begin = seconds_now();
      for (std::uint64_t i = 1; i <= runs; ++i) {
        run(next++, i == runs);
      }
      return (seconds_now() - begin) / static_cast<double>(runs);
    }
  };

  [[nodiscard]] Address address(std::size_t room, const Needs& needs) const {
    return {rooms_[room].buffer->GetGPUVirtualAddress(), needs.room[room]};
  }

  static bool is_single(const Case& of, std::size_t input) {
    return !is_stream(of, input) && (of.row->inputs[input].single || of.layout != Layout::row);
  }

  void time_both(std::span<const Thing> things, Result& result) const {
    std::uint64_t next[2] = {};
    std::uint64_t runs[2] = {1, 1};
    double round_seconds = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      double least = things[i].seconds(next[i], 1);
      for (int turn = 0; turn < 2; ++turn) {
        least = std::min(least, things[i].seconds(next[i], 1));
      }
      runs[i] = static_cast<std::uint64_t>(
          std::clamp(std::ceil(sample_seconds_ / least), 1.0, static_cast<double>(kMostRuns)));
      round_seconds += least * static_cast<double>(runs[i]);
    }
    const auto rounds =
        static_cast<int>(std::clamp(settings_.min_time / round_seconds, static_cast<double>(settings_.min_rounds),
                                    static_cast<double>(kMostRounds)));
    std::vector<double> samples[2];
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < 2; ++i) {
        samples[i].push_back(things[i].seconds(next[i], runs[i]));
      }
    }
    result.kernel = summarise(samples[0]);
    result.pass = summarise(samples[1]);
  }

  void fill_room(Room& room, std::uint64_t bytes, anydml_type type, const Data& values, Operand operand) {
    if (room.type == type && room.values == values && room.operand == operand && room.bytes >= bytes) {
      return;
    }
    room.type = type;
    room.values = values;
    room.operand = operand;
    room.bytes = bytes;
    const std::uint64_t size = anydml_type_size(type);
    room.block.resize(std::min(kBlock * size, bytes / size * size));
    fill(room.block.data(), room.block.size() / size, type, values, operand, team_);
    std::memcpy(client::Mapped(staging_.Get()).bytes().data(), room.block.data(), room.block.size());
    for (std::uint64_t at = 0; at < bytes; at += room.block.size()) {
      device_.list()->CopyBufferRegion(room.buffer.Get(), at, staging_.Get(), 0,
                                       std::min<std::uint64_t>(room.block.size(), bytes - at));
    }
    device_.run();
  }

  void prepare(const Case& of, const Needs& needs) {
    const Row& row = *of.row;
    ones_.assign(row.inputs.size(), {});
    device_.write(singles_.Get(), [&](std::span<std::byte> bytes) {
      for (std::size_t i = 0; i < row.inputs.size(); ++i) {
        const anydml_type type = row.input_type(i, of.type);
        ones_[i].resize(anydml_type_size(type));
        fill_single(ones_[i].data(), type, of.data, row.inputs[i].holds);
        std::ranges::copy(ones_[i], bytes.begin() + static_cast<std::ptrdiff_t>(i * kAlignment));
      }
    });
    for (const std::size_t i : row.tensors()) {
      if (!is_single(of, i)) {
        fill_room(rooms_[room_of(row, i)], needs.room[room_of(row, i)] * needs.sets, row.input_type(i, of.type),
                  of.data, row.inputs[i].holds);
      }
    }
  }

  // Windows of consecutive elements, spread over the first set with its first and last elements among them. Of a fill
  // the first window: what an element is depends on where it is.
  Check check_sample(const Case& of, const Placement& placement) {
    const Row& row = *of.row;
    const std::size_t size = anydml_type_size(row.output_type(of.type));
    const std::int64_t window = std::min({settings_.samples, placement.elements, kWindow});
    const bool is_fill = row.family == Family::fill;
    const std::int64_t windows = is_fill ? 1 : (std::min(settings_.samples, placement.elements) + window - 1) / window;
    std::vector<Bytes> inputs(row.inputs.size());
    Bytes out;
    for (std::int64_t i = 0; i < windows; ++i) {
      const std::int64_t begin = windows == 1 ? 0 : (placement.elements - window) / (windows - 1) * i;
      const std::int64_t end = i + 1 == windows && !is_fill ? placement.elements : begin + window;
      const std::int64_t first = placement.offset(placement.output.strides, begin);
      const std::int64_t last = placement.offset(placement.output.strides, end - 1);
      const std::uint64_t bytes = static_cast<std::uint64_t>(last - first + 1) * size;
      const auto readback = device_.create_committed(client::heap_of(D3D12_HEAP_TYPE_READBACK), bytes,
                                                     D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_FLAG_NONE);
      device_.list()->CopyBufferRegion(readback.Get(), 0, rooms_[kOutput].buffer.Get(),
                                       static_cast<std::uint64_t>(first) * size, bytes);
      device_.run();
      const client::Mapped mapped(readback.Get());
      for (std::int64_t element = begin; element < end; ++element) {
        const auto at = static_cast<std::size_t>(placement.offset(placement.output.strides, element) - first) * size;
        const std::byte* const result = mapped.bytes().data() + at;
        out.insert(out.end(), result, result + size);
        for (const std::size_t input : row.tensors()) {
          const std::byte* const value = value_of(of, placement, input, element);
          inputs[input].insert(inputs[input].end(), value, value + anydml_type_size(row.input_type(input, of.type)));
        }
      }
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (row.inputs[i].single) {
        inputs[i] = ones_[i];
      }
    }
    const Placement packed = place_packed(row, 1, {static_cast<std::int64_t>(out.size() / size)}, {});
    return check_packed(row, of.type, packed, inputs, out, reference_);
  }

  [[nodiscard]] const std::byte* value_of(const Case& of, const Placement& placement, std::size_t input,
                                          std::int64_t element) const {
    if (is_single(of, input)) {
      return ones_[input].data();
    }
    const Bytes& block = rooms_[room_of(*of.row, input)].block;
    const auto at = static_cast<std::size_t>(placement.offset(placement.inputs[input].strides, element)) *
                    anydml_type_size(of.row->input_type(input, of.type));
    return block.data() + at % block.size();
  }

  Settings settings_;
  Reference& reference_;
  std::array<std::uint64_t, kRooms> total_;
  Team team_;
  double sample_seconds_ = 0;
  client::Device device_{{.custom_heaps = false}};
  std::array<Room, kRooms> rooms_;
  Buffer singles_, staging_;
  std::vector<Bytes> ones_;  // what the single elements are
};

DeviceRowMeasurer::DeviceRowMeasurer(const std::vector<Case>& cases, Settings settings, Reference& reference) try
    : state_(std::make_unique<State>(cases, settings, reference)) {
} catch (const client::Failure& failure) {
  throw DeviceFailure{failure.what()};
}

DeviceRowMeasurer::~DeviceRowMeasurer() = default;

std::optional<Result> DeviceRowMeasurer::measure(const Case& of, std::string& error) try {
  return state_->measure(of, error);
} catch (const client::Failure& failure) {
  throw DeviceFailure{of.name() + ": " + failure.what()};
}

bool DeviceRowMeasurer::takes(const Case& of) {
  return of.row->family != Family::reduce && of.layout != Layout::inplace;
}

}  // namespace anydml::bench
