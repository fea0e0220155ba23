// SPDX-License-Identifier: MIT
#include "measure_device_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "data.h"
#include "device_parts.h"
#include "machine.h"

namespace anydml::bench {
namespace {

constexpr std::size_t kBuffers = kOutput + 1;

// The memory of a case: the bytes of one set of each operand, the number of sets, and the part that the pass uses.
struct Needs {
  std::array<std::uint64_t, kBuffers> bytes{};
  std::uint64_t sets = 1;
  std::uint64_t moved = 0;       // the number of bytes that a run moves
  std::uint64_t pass_array = 0;  // bytes
  int pass_inputs = 0;
};

Needs needs_of(const Case& of, const Placement& placement) {
  const Row& row = *of.row;
  Needs needs;
  const auto add = [&](std::size_t buffer, std::int64_t extent, anydml_type type, bool is_walked) {
    const std::uint64_t size = anydml_type_size(type);
    needs.bytes[buffer] = static_cast<std::uint64_t>(extent) * size;
    needs.moved += is_walked ? static_cast<std::uint64_t>(placement.elements) * size : 0;
  };
  int streams = 0;
  for (const std::size_t i : row.tensors()) {
    streams += is_stream(of, i) ? 1 : 0;
    add(buffer_of(row, i), placement.inputs[i].extent, row.input_type(i, of.type), is_stream(of, i));
  }
  add(kOutput, placement.output.extent, row.output_type(of.type), true);
  needs.pass_inputs = std::min(streams, 2);
  needs.pass_array = round_up(needs.moved / static_cast<std::uint64_t>(needs.pass_inputs + 1), 4);
  std::uint64_t all = 0;
  for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
    const bool is_of_pass = buffer == kOutput || static_cast<int>(buffer) < needs.pass_inputs;
    needs.bytes[buffer] = round_up(std::max(needs.bytes[buffer], is_of_pass ? needs.pass_array : 0), kDeviceAlignment);
    all += needs.bytes[buffer];
  }
  needs.sets = sets_for(all);
  return needs;
}

std::array<std::uint64_t, kBuffers> total_of(const std::vector<Case>& cases) {
  std::array<std::uint64_t, kBuffers> maximum{};
  for (const Case& of : cases) {
    if (const auto placement = lay_out(of)) {
      const Needs needs = needs_of(of, *placement);
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
        maximum[buffer] = std::max(maximum[buffer], needs.bytes[buffer] * needs.sets);
      }
    }
  }
  return maximum;
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
    for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) {
      buffers_[buffer].memory = std::make_unique<CallMemory>(std::max(total_[buffer], kDeviceAlignment));
    }
  }

  std::optional<Result> measure(const Case& of, std::string& error) {
    const auto placed = lay_out(of);
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
    std::vector<DeviceCall::BufferSets> pass_inputs;
    for (int i = 0; i < needs.pass_inputs; ++i) {
      pass_inputs.push_back(sets_in(static_cast<std::size_t>(i), needs));
    }
    std::vector<DeviceCall::BufferSets> inputs;
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      inputs.push_back(is_single(of, i) ? DeviceCall::BufferSets{singles_.first() + i * kDeviceAlignment, 0}
                                        : sets_in(buffer_of(row, i), needs));
    }
    const DeviceCall::BufferSets out = sets_in(kOutput, needs);
    DeviceCall pass(pass_row, ANYDML_UINT32, packed, pass_inputs, out, needs.sets);
    DeviceCall kernel(row, of.type, placement, inputs, out, needs.sets);
    DeviceCall* const things[] = {&kernel, &pass};
    for (DeviceCall* thing : things) {
      thing->run(0, true);
      if (!thing->error().empty()) {
        error = thing->error();
        return std::nullopt;
      }
    }

    Result result;
    result.of = of;
    result.elements = placement.elements;
    result.bytes = static_cast<std::int64_t>(needs.moved);
    Samples samples =
        time_long(2, settings_, [&](const auto& runs, int rounds) { return time_calls(things, runs, rounds); });
    result.kernel = summarize(samples[0]);
    result.pass = summarize(samples[1]);
    result.pass_by = pass_row.directml;
    kernel.run(0, true);  // overwrites the pass's output
    if (!kernel.error().empty() || !pass.error().empty()) {
      error = kernel.error() + pass.error();
      return std::nullopt;
    }
    result.check = check_sample(of, placement);
    return result;
  }

 private:
  struct OperandBuffer {
    std::unique_ptr<CallMemory> memory;
    Bytes block;  // the values, which are repeated
    anydml_type type = ANYDML_NONE;
    Operand operand = Operand::dividend;
    Data values;
    std::uint64_t bytes = 0;  // bytes to fill
  };

  [[nodiscard]] DeviceCall::BufferSets sets_in(std::size_t buffer, const Needs& needs) const {
    return {buffers_[buffer].memory->first(), needs.bytes[buffer]};
  }

  static bool is_single(const Case& of, std::size_t input) {
    return !is_stream(of, input) && (of.row->inputs[input].single || of.layout != Layout::row);
  }

  void fill_buffer(OperandBuffer& buffer, std::uint64_t bytes, anydml_type type, const Data& values, Operand operand) {
    if (buffer.type == type && buffer.values == values && buffer.operand == operand && buffer.bytes >= bytes) {
      return;
    }
    buffer.type = type;
    buffer.values = values;
    buffer.operand = operand;
    buffer.bytes = bytes;
    const std::uint64_t size = anydml_type_size(type);
    buffer.block.resize(std::min(kDeviceBlock * size, bytes / size * size));
    fill(buffer.block.data(), buffer.block.size() / size, type, values, operand, team_);
    buffer.memory->fill(bytes, buffer.block);
  }

  void prepare(const Case& of, const Needs& needs) {
    const Row& row = *of.row;
    ones_.assign(row.inputs.size(), {});
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      const anydml_type type = row.input_type(i, of.type);
      ones_[i].resize(anydml_type_size(type));
      fill_single(ones_[i].data(), type, of.data, row.inputs[i].holds);
      singles_.write(i * kDeviceAlignment, ones_[i]);
    }
    for (const std::size_t i : row.tensors()) {
      if (!is_single(of, i)) {
        fill_buffer(buffers_[buffer_of(row, i)], needs.bytes[buffer_of(row, i)] * needs.sets,
                    row.input_type(i, of.type), of.data, row.inputs[i].holds);
      }
    }
  }

  // For a fill, checks only the first window, because an element's value depends on its index.
  Check check_sample(const Case& of, const Placement& placement) {
    const Row& row = *of.row;
    const std::size_t size = anydml_type_size(row.output_type(of.type));
    std::vector<Bytes> inputs(row.inputs.size());
    Bytes out;
    const ReadBytes read = [&](std::uint64_t at, std::span<std::byte> bytes) {
      buffers_[kOutput].memory->read(at, bytes);
    };
    read_windows(read, placement, size, settings_.samples, row.family == RowKind::fill,
                 [&](std::int64_t element, const std::byte* result) {
                   out.insert(out.end(), result, result + size);
                   for (const std::size_t i : row.tensors()) {
                     const std::byte* const value = value_of(of, placement, i, element);
                     inputs[i].insert(inputs[i].end(), value, value + anydml_type_size(row.input_type(i, of.type)));
                   }
                 });
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
    const Bytes& block = buffers_[buffer_of(*of.row, input)].block;
    const auto at = static_cast<std::size_t>(placement.offset(placement.inputs[input].strides, element)) *
                    anydml_type_size(of.row->input_type(input, of.type));
    return block.data() + at % block.size();
  }

  Settings settings_;
  Reference& reference_;
  std::array<std::uint64_t, kBuffers> total_;
  Team team_;
  std::array<OperandBuffer, kBuffers> buffers_;
  CallMemory singles_{kDeviceAlignment * 8};
  std::vector<Bytes> ones_;  // the single elements' values
};

DeviceRowMeasurer::DeviceRowMeasurer(const std::vector<Case>& cases, Settings settings, Reference& reference)
    : state_(std::make_unique<State>(cases, settings, reference)) {}

DeviceRowMeasurer::~DeviceRowMeasurer() = default;

std::optional<Result> DeviceRowMeasurer::measure(const Case& of, std::string& error) {
  return state_->measure(of, error);
}

bool DeviceRowMeasurer::takes(const Case& of) {
  return of.row->family != RowKind::reduce && of.layout != Layout::inplace;
}

}  // namespace anydml::bench
