// SPDX-License-Identifier: MIT
#include "executor.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <thread>

#include "compile.h"
#include "files.h"
#include "fill.h"
#include "npy.h"
#include "ops/operators.h"
#include "profile.h"
#include "progress.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

using client::ComPtr;

// Only an invalid argument is the model's fault. Any other failure is the machine's.
[[noreturn]] void blame(const client::Failure& failure, std::string path) {
  throw ModelFailure{std::move(path), failure.what(), failure.result() == E_INVALIDARG};
}

// A ring buffer of timestamps from the device's clock, taken before and after each iteration.
class DeviceClock {
 public:
  DeviceClock(client::Device& device, std::uint64_t iterations, std::size_t maximum)
      : device_(device), capacity_(std::max<std::size_t>(1, std::min<std::uint64_t>(iterations, maximum))) {
    if (maximum == 0) {
      return;
    }
    D3D12_QUERY_HEAP_DESC desc{};
    desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
    desc.Count = static_cast<UINT>(2 * capacity_);
    client::check(device.d3d12()->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap_)), "CreateQueryHeap");
  }

  void read(bool at_end) {
    if (heap_) {
      const auto index = static_cast<UINT>(2 * (taken_ % capacity_) + (at_end ? 1 : 0));
      device_.list()->EndQuery(heap_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, index);
      taken_ += at_end ? 1 : 0;
    }
  }

  // The durations of the last iterations in milliseconds, oldest first.
  [[nodiscard]] std::vector<double> durations() {
    std::vector<double> all;
    const std::size_t kept = std::min(taken_, capacity_);
    if (!heap_ || kept == 0) {
      return all;
    }
    const std::uint64_t bytes = 2 * capacity_ * sizeof(std::uint64_t);
    const auto readback = device_.create_committed(client::heap_of(D3D12_HEAP_TYPE_READBACK), bytes,
                                                   D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_FLAG_NONE);
    device_.list()->ResolveQueryData(heap_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, static_cast<UINT>(2 * kept),
                                     readback.Get(), 0);
    device_.run();
    const client::Mapped mapped(readback.Get());
    const double per_millisecond = static_cast<double>(device_.timestamp_frequency()) / 1000;
    for (std::size_t i = taken_ - kept; i < taken_; ++i) {
      std::uint64_t readings[2];
      std::memcpy(readings, mapped.bytes().data() + (i % capacity_) * sizeof(readings), sizeof(readings));
      all.push_back(static_cast<double>(readings[1] - readings[0]) / per_millisecond);
    }
    return all;
  }

 private:
  client::Device& device_;
  std::size_t capacity_;
  std::size_t taken_ = 0;
  ComPtr<ID3D12QueryHeap> heap_;
};

using Buffers = std::vector<ComPtr<ID3D12Resource>>;  // in the order of the model's resources

// Returns one binding for each input or output, in the order of the ports, or null where nothing is bound.
std::vector<DML_BUFFER_BINDING> bindings_of(const Model& model, const Buffers& buffers,
                                            const Dispatchable& dispatchable, const std::vector<Binding>& bindings,
                                            bool inputs) {
  std::vector<DML_BUFFER_BINDING> all;
  for (std::size_t i = 0; i < dispatchable.ports.size(); ++i) {
    const Port& port = dispatchable.ports[i];
    if (port.is_output == inputs) {
      continue;
    }
    const auto found = std::ranges::find(bindings, i, &Binding::port);
    if (found == bindings.end()) {
      all.resize(all.size() + std::max<std::size_t>(port.tensors.size(), 1));
      continue;
    }
    for (const BindingSource& source : found->sources) {
      all.push_back(source.resource ? DML_BUFFER_BINDING{buffers[*source.resource].Get(), source.offset_bytes,
                                                         model.resources[*source.resource].bytes - source.offset_bytes}
                                    : DML_BUFFER_BINDING{});
    }
  }
  return all;
}

std::unique_ptr<client::Operation> create_operation(const Model& model, const Buffers& buffers,
                                                    const Dispatchable& dispatchable, client::Device& device) {
  std::vector<DML_BUFFER_BINDING> owned;
  if (!dispatchable.initial_bindings.empty()) {
    owned = bindings_of(model, buffers, dispatchable, dispatchable.initial_bindings, true);
  }
  return std::make_unique<client::Operation>(device, compile(dispatchable, device), owned);
}

class Executor {
 public:
  Executor(const Model& model, const ExecutionOptions& options, MemoryBudget& memory, client::Device& device,
           Output& output)
      : model_(model), options_(options), memory_(memory), device_(device), output_(output) {}

  // Returns whether all comparisons found the expected values.
  bool run() {
    create_buffers();
    create_operations();
    for (std::size_t i = 0; i < model_.commands.size(); ++i) {
      const Command& command = model_.commands[i];
      if (options_.print_commands) {
        output_.command(i, command_text(command));
      }
      try {
        std::visit([&](const auto& what) { run_command(what, command.path); }, command.what);
      } catch (const client::Failure& failure) {
        blame(failure, command.path);
      }
    }
    return as_expected_;
  }

 private:
  void create_buffers() {
    Progress progress("Preparing buffers");
    for (std::size_t i = 0; i < model_.resources.size(); ++i) {
      const Resource& resource = model_.resources[i];
      progress.show(static_cast<double>(i) / static_cast<double>(model_.resources.size()), in_quotes(resource.name));
      buffers_.push_back(device_.create_buffer(resource.bytes));
      device_.write(buffers_.back().Get(), [&](std::span<std::byte> bytes) { fill_values(resource, bytes); });
    }
  }

  void create_operations() {
    for (const Dispatchable& dispatchable : model_.dispatchables) {
      const Stopwatch watch;
      try {
        operations_.push_back(create_operation(model_, buffers_, dispatchable, device_));
      } catch (const client::Failure& failure) {
        blame(failure, desc_path(dispatchable));
      }
      output_.initialized(dispatchable.name, watch.milliseconds());
    }
  }

  // The bytes that a dispatch reads and writes.
  [[nodiscard]] static std::uint64_t bytes_moved(const Dispatchable& dispatchable) {
    std::uint64_t bytes = 0;
    for (const Port& port : dispatchable.ports) {
      for (const Port::Need& tensor : port.tensors) {
        bytes += tensor.bytes;
      }
    }
    return bytes;
  }

  // If a run is limited by time rather than by iterations, the number of timings is not known in advance.
  void keep_timing(std::vector<double>& timings, double milliseconds, const std::string& path) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 16;
    if (options_.milliseconds_to_run && timings.size() % kAtOnce == 0) {
      memory_.borrow(MemoryBudget::For::dispatches, (timings.size() + kAtOnce) * MemoryBudget::kPerTiming,
                     [&](std::string sentence) {
                       throw ModelFailure{path, std::move(sentence), false};
                     });
    }
    timings.push_back(milliseconds);
  }

  struct Times {
    std::vector<double> cpu;     // in milliseconds, for each iteration
    std::vector<double> device;  // of the last iterations
  };

  // Runs the operation as often as the options request.
  Times measure(client::Operation& operation, std::span<const DML_BUFFER_BINDING> inputs,
                std::span<const DML_BUFFER_BINDING> outputs, const std::string& title, const std::string& path) {
    const std::uint64_t maximum = options_.milliseconds_to_run ? ~std::uint64_t{0} : options_.iterations;
    DeviceClock clock(device_, maximum, options_.device_samples);
    Times times;
    if (!options_.milliseconds_to_run) {
      times.cpu.reserve(options_.iterations);
    }
    Progress progress(title);
    const Stopwatch whole;
    for (std::uint64_t i = 0; i < maximum; ++i) {
      const Stopwatch iteration;
      operation.bind(inputs, outputs);
      const Stopwatch dispatching;
      clock.read(false);
      operation.record(device_, options_.repeat);
      clock.read(true);
      device_.close();
      device_.execute();
      device_.wait();
      keep_timing(times.cpu, dispatching.milliseconds() / static_cast<double>(options_.repeat), path);
      device_.reopen();
      const double elapsed = whole.milliseconds();
      progress.show(options_.milliseconds_to_run ? elapsed / *options_.milliseconds_to_run
                                                 : static_cast<double>(i + 1) / static_cast<double>(maximum),
                    format_text("{} iterations, {:.3f} ms the last", i + 1, times.cpu.back()));
      const double pause = std::max(0.0, options_.minimum_interval - iteration.milliseconds());
      if (options_.milliseconds_to_run && elapsed + pause >= *options_.milliseconds_to_run) {
        break;
      }
      if (pause > 0 && i + 1 < maximum) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      }
    }
    progress.clear();
    times.device = clock.durations();
    for (double& time : times.device) {
      time /= static_cast<double>(options_.repeat);
    }
    return times;
  }

  void run_command(const DispatchCommand& command, const std::string& path) {
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    const auto inputs = bindings_of(model_, buffers_, dispatchable, command.bindings, true);
    const auto outputs = bindings_of(model_, buffers_, dispatchable, command.bindings, false);
    const Times times = measure(*operations_[command.dispatchable], inputs, outputs,
                                format_text("Dispatch {}", in_quotes(dispatchable.name)), path);
    output_.dispatched({.name = dispatchable.name,
                        .iterations = times.cpu.size(),
                        .cpu = times.cpu,
                        .device = times.device,
                        .warm_up = options_.warm_up,
                        .bytes = bytes_moved(dispatchable)});
    if (options_.profile) {
      profile(command, median_of(times), path);
    }
  }

  // The median according to the device's clock if that was read, or else according to the CPU's clock.
  [[nodiscard]] double median_of(const Times& times) const {
    return split_samples(times.device.empty() ? times.cpu : times.device, options_.warm_up).hot.median;
  }

  // The inputs that are present. Each is bound by the command or at initialization.
  [[nodiscard]] std::vector<DML_BUFFER_BINDING> inputs_there(const DispatchCommand& command) const {
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    const auto given = bindings_of(model_, buffers_, dispatchable, command.bindings, true);
    const auto owned = bindings_of(model_, buffers_, dispatchable, dispatchable.initial_bindings, true);
    std::vector<DML_BUFFER_BINDING> there;
    std::size_t next = 0;
    for (const Port& port : dispatchable.ports) {
      for (std::size_t i = 0; !port.is_output && i < std::max<std::size_t>(port.tensors.size(), 1); ++i, ++next) {
        if (!port.tensors.empty()) {
          there.push_back(given[next].Buffer != nullptr ? given[next] : owned[next]);
        }
      }
    }
    return there;
  }

  // Times each step separately, with the dispatch's inputs and separate memory for everything that steps write.
  void profile(const DispatchCommand& command, double whole, const std::string& path) {
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    const auto steps = steps_of(dispatchable);
    if (!steps) {
      throw ModelFailure{path, steps.error().message, false};
    }
    const auto inputs = inputs_there(command);
    std::map<StepValue, ComPtr<ID3D12Resource>> created;
    MemoryBudget memory = memory_;
    const auto take = [&](MemoryBudget::For what, std::uint64_t bytes) {
      memory.take(what, MemoryBudget::of_buffer(bytes), [&](std::string sentence) {
        throw ModelFailure{path, std::move(sentence), false};
      });
    };
    std::vector<StepReport> reports;
    for (const ProfileStep& step : steps.value()) {
      std::vector<DML_BUFFER_BINDING> owned;
      std::vector<DML_BUFFER_BINDING> read;
      std::vector<DML_BUFFER_BINDING> written;
      for (std::size_t i = 0; i < step.values.size(); ++i) {
        const StepValue& value = step.values[i];
        const Port& port = step.part.ports[i];
        if (port.is_output) {
          const std::uint64_t bytes = (value.bytes + 3) & ~std::uint64_t{3};
          take(MemoryBudget::For::temporary, bytes);
          ComPtr<ID3D12Resource>& buffer = created[value];
          buffer = device_.create_buffer(bytes);
          written.push_back({buffer.Get(), 0, bytes});
          continue;
        }
        const DML_BUFFER_BINDING binding = value.is_input ? inputs[value.index] : binding_of(created.at(value).Get());
        owned.push_back(port.tensors[0].owned ? binding : DML_BUFFER_BINDING{});
        read.push_back(port.tensors[0].owned ? DML_BUFFER_BINDING{} : binding);
      }
      const bool has_owned = std::ranges::any_of(owned, [](const auto& one) { return one.Buffer != nullptr; });
      const auto compiled = compile(step.part, device_);
      const auto needs = client::needs_of(device_, compiled.Get());
      take(MemoryBudget::For::temporary, needs.persistent + needs.temporary + needs.initial);
      client::Operation operation(device_, compiled, has_owned ? owned : std::vector<DML_BUFFER_BINDING>());
      const Times times = measure(operation, read, written,
                                  format_text("Step {} of {}", reports.size() + 1, steps.value().size()), path);
      reports.push_back({.nodes = step.nodes, .is_once = step.is_once, .milliseconds = median_of(times)});
    }
    output_.profiled({.name = dispatchable.name, .whole = whole, .steps = reports});
  }

  static DML_BUFFER_BINDING binding_of(ID3D12Resource* buffer) { return {buffer, 0, buffer->GetDesc().Width}; }

  void run_command(const PrintCommand& command, const std::string&) {
    device_.read(buffers_[command.resource].Get(), [&](std::span<const std::byte> bytes) {
      output_.values(model_.resources[command.resource], bytes, command.verbose);
    });
  }

  void run_command(const WriteFileCommand& command, const std::string& path) {
    const Resource& resource = model_.resources[command.resource];
    device_.read(buffers_[command.resource].Get(), [&](std::span<const std::byte> bytes) {
      const auto values = bytes.first(resource.value_bytes);
      std::string header;
      if (has_npy_extension(command.target)) {
        auto shape = command.dimensions;
        if (shape.empty()) {
          shape.push_back(resource.shown_elements());
        }
        header = make_npy_header(resource.shown_type(), shape);
      }
      const std::span<const std::byte> parts[] = {std::as_bytes(std::span(header)), values};
      if (const auto wrote = write_file(command.path, parts); !wrote) {
        throw ModelFailure{path + ".targetPath", wrote.error().message, false};
      }
    });
    output_.written(resource.name, command.path.string());
  }

  void run_command(const CompareCommand& command, const std::string&) {
    const Resource& resource = model_.resources[command.resource];
    device_.read(buffers_[command.resource].Get(), [&](std::span<const std::byte> values) {
      device_.read(buffers_[command.expected].Get(), [&](std::span<const std::byte> expected) {
        const auto comparison =
            compare_elements(values.first(resource.value_bytes), expected.first(resource.value_bytes),
                             resource.shown_type(), command.tolerance);
        as_expected_ = as_expected_ && comparison.different == 0;
        output_.compared(resource, comparison, command.tolerance);
      });
    });
  }

  [[nodiscard]] std::string command_text(const Command& command) const {
    struct Text {
      const Model& model;
      std::string operator()(const DispatchCommand& what) const {
        return format_text("dispatch {}", in_quotes(model.dispatchables[what.dispatchable].name));
      }
      std::string operator()(const PrintCommand& what) const {
        return format_text("print {}", in_quotes(model.resources[what.resource].name));
      }
      std::string operator()(const WriteFileCommand& what) const {
        return format_text("writeFile {} to {}", in_quotes(model.resources[what.resource].name),
                           in_quotes(what.target));
      }
      std::string operator()(const CompareCommand& what) const {
        return format_text("compare {} with {}", in_quotes(model.resources[what.resource].name),
                           in_quotes(model.resources[what.expected].name));
      }
    };
    return std::visit(Text{model_}, command.what);
  }

  const Model& model_;
  const ExecutionOptions& options_;
  MemoryBudget& memory_;
  client::Device& device_;
  Output& output_;
  Buffers buffers_;
  std::vector<std::unique_ptr<client::Operation>> operations_;
  bool as_expected_ = true;
};

// Returns the memory that one dispatch command uses while it runs, for the recorded list and the timings.
std::uint64_t bytes_of_dispatching(const ExecutionOptions& options) {
  const std::uint64_t iterations = options.milliseconds_to_run ? 0 : options.iterations;  // counted during the run
  const std::uint64_t samples = options.milliseconds_to_run
                                    ? options.device_samples
                                    : std::min<std::uint64_t>(options.iterations, options.device_samples);
  return options.repeat * MemoryBudget::kPerRecordedDispatch + iterations * MemoryBudget::kPerTiming +
         samples * MemoryBudget::kPerDeviceTiming;
}

// Returns the additional memory for copying to and from a device with its own memory. While a buffer is filled, only
// the buffers before it exist. While a buffer is read, all buffers and the operators' memory exist.
std::uint64_t bytes_of_staging(const Model& model, const MemoryBudget& memory) {
  std::uint64_t reached = 0;
  std::uint64_t filling = 0;
  for (const Resource& resource : model.resources) {
    const std::uint64_t bytes = MemoryBudget::of_buffer(resource.bytes);
    reached += bytes;
    filling = std::max(filling, reached + bytes);
  }
  const std::uint64_t all =
      reached + memory.taken(MemoryBudget::For::kept) + memory.taken(MemoryBudget::For::temporary);
  std::uint64_t reading = 0;
  const auto read = [&](std::size_t resource, std::uint64_t times = 1) {
    reading = std::max(reading, times * MemoryBudget::of_buffer(model.resources[resource].bytes));
  };
  for (const Command& command : model.commands) {
    if (const auto* print = std::get_if<PrintCommand>(&command.what)) {
      read(print->resource);
    } else if (const auto* write = std::get_if<WriteFileCommand>(&command.what)) {
      read(write->resource);
    } else if (const auto* compare = std::get_if<CompareCommand>(&command.what)) {
      read(compare->resource, 2);  // both resources have the same length
    }
  }
  return std::max(reading, filling > all ? filling - all : 0);
}

}  // namespace

MemoryBudget rehearse_model(const Model& model, const ExecutionOptions& options,
                            const client::DeviceOptions& device_options, Problems& problems) {
  using For = MemoryBudget::For;
  MemoryBudget memory = model.memory;
  const auto resources_read = [&](const std::vector<Binding>& bindings) {
    return std::ranges::all_of(bindings, [&](const Binding& binding) {
      return std::ranges::all_of(binding.sources, [&](const BindingSource& source) {
        return !source.resource || model.resources[*source.resource].bytes != 0;
      });
    });
  };
  const auto say_at = [&](const std::string& path) {
    return [&problems, path](std::string sentence) { problems.add(path, std::move(sentence)); };
  };
  const auto take_needs = [&](const Dispatchable& dispatchable, const std::string& path, client::Device& device) {
    const auto needs = client::needs_of(device, compile(dispatchable, device).Get());
    return memory.take(For::kept, MemoryBudget::of_buffer(needs.persistent), say_at(path)) &&
           memory.borrow(For::temporary, MemoryBudget::of_buffer(needs.initial), say_at(path)) &&
           memory.take(For::temporary, MemoryBudget::of_buffer(needs.temporary), say_at(path));
  };
  // Each rehearsal uses its own device, because a failure removes the device.
  const auto rehearse = [&](const Dispatchable& dispatchable, const std::vector<Binding>* bindings,
                            const std::string& path) {
    try {
      client::Device device(device_options);
      if (bindings == nullptr && !take_needs(dispatchable, path, device)) {
        return false;
      }
      Buffers buffers(model.resources.size());
      for (const auto* all : {&dispatchable.initial_bindings, bindings}) {
        for (const Binding& binding : all == nullptr ? std::span<const Binding>() : std::span(*all)) {
          for (const BindingSource& source : binding.sources) {
            if (source.resource && !buffers[*source.resource]) {
              buffers[*source.resource] = device.create_buffer(model.resources[*source.resource].bytes);
            }
          }
        }
      }
      const auto operation = create_operation(model, buffers, dispatchable, device);
      if (bindings != nullptr) {
        operation->bind(bindings_of(model, buffers, dispatchable, *bindings, true),
                        bindings_of(model, buffers, dispatchable, *bindings, false));
        operation->record(device);
        device.close();
      }
      return true;
    } catch (const client::Failure& failure) {
      problems.add(path, failure.what());
      return false;
    } catch (const ModelFailure& failure) {  // a file of constants was shorter than its reported size
      problems.add(failure.path, failure.reason);
      return false;
    }
  };
  if (problems.full()) {
    return memory;  // if the list of problems is full, it does not show which dispatchables are wrong
  }
  std::vector<bool> sound;
  for (const Dispatchable& dispatchable : model.dispatchables) {
    const bool built = std::ranges::all_of(
        dispatchable.nodes, [](const NodeModel& node) { return find_family(*node.op.facts) != nullptr; });
    sound.push_back(!dispatchable.nodes.empty() && built && !problems.any_under(dispatchable.path) &&
                    resources_read(dispatchable.initial_bindings) &&
                    rehearse(dispatchable, nullptr, desc_path(dispatchable)));
  }
  for (const Command& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command.what);
    if (dispatch != nullptr && !problems.any_under(command.path) && sound[dispatch->dispatchable] &&
        resources_read(dispatch->bindings)) {
      rehearse(model.dispatchables[dispatch->dispatchable], &dispatch->bindings, command.path);
    }
  }
  for (const Command& command : model.commands) {
    if (std::holds_alternative<DispatchCommand>(command.what)) {
      memory.borrow(For::dispatches, bytes_of_dispatching(options), say_at(command.path));
    }
  }
  if (!client::Device(device_options).shares_memory()) {
    memory.borrow(For::staging, bytes_of_staging(model, memory), say_at(""));
  }
  return memory;
}

bool execute_model(const Model& model, const ExecutionOptions& options, MemoryBudget& memory, client::Device& device,
                   Output& output) {
  return Executor(model, options, memory, device, output).run();
}

}  // namespace anydml::dmlrun
