// SPDX-License-Identifier: MIT
#include "executor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "files.h"
#include "npy.h"
#include "operator_desc.h"
#include "progress.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

using client::ComPtr;

// The machine's fault or the model's: what is not about memory or the device comes of what the model asked for.
[[noreturn]] void blame(const client::Failure& failure, std::string path) {
  if (failure.result() == E_OUTOFMEMORY) {
    throw failure;
  }
  throw ModelFailure{std::move(path), failure.what()};
}

void fill_buffer(const Resource& resource, std::span<std::byte> bytes) {
  const std::span<std::byte> values = bytes.first(resource.value_bytes);
  struct Filler {
    std::span<std::byte> values;
    const Resource& resource;
    void operator()(const std::vector<std::byte>& list) const { std::ranges::copy(list, values.begin()); }
    void operator()(const ConstantValues& constant) const { fill_sequence(values, constant.value, 0, resource.type); }
    void operator()(const SequenceValues& sequence) const {
      fill_sequence(values, sequence.first, sequence.step, resource.type);
    }
    void operator()(const FileValues& file) const {
      if (const auto read = read_file(file.path, file.offset, values); !read) {
        throw ModelFailure{"resources" + path_step(resource.name), read.error().message};
      }
    }
  };
  std::visit(Filler{values, resource}, resource.values);
}

// Readings of the device's clock before and after each iteration, in a ring.
class DeviceClock {
 public:
  DeviceClock(client::Device& device, std::uint64_t iterations, std::size_t most)
      : device_(device), capacity_(std::max<std::size_t>(1, std::min<std::uint64_t>(iterations, most))) {
    if (most == 0) {
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

  // Milliseconds of the last iterations, the oldest first.
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

using Buffers = std::vector<ComPtr<ID3D12Resource>>;  // as the model's resources

// One for each input, or each output, in the order of the struct; null where nothing is bound.
std::vector<DML_BUFFER_BINDING> bindings_of(const Model& model, const Buffers& buffers, const OperatorModel& op,
                                            const std::vector<Binding>& bindings, bool inputs) {
  std::vector<DML_BUFFER_BINDING> all;
  for (std::size_t i = 0; i < op.facts->fields.size(); ++i) {
    const facts::FieldKind kind = op.facts->fields[i].kind;
    if (inputs ? !facts::is_input(kind) : !facts::is_output(kind)) {
      continue;
    }
    const auto found = std::ranges::find(bindings, i, &Binding::field);
    if (found == bindings.end()) {
      all.resize(all.size() + (tensors_of(op.fields[i]) == nullptr ? 1 : tensors_of(op.fields[i])->size()));
      continue;
    }
    for (const BindingSource& source : found->sources) {
      all.push_back({buffers[source.resource].Get(), source.offset_bytes,
                     model.resources[source.resource].bytes - source.offset_bytes});
    }
  }
  return all;
}

std::unique_ptr<client::Operation> create_operation(const Model& model, const Buffers& buffers,
                                                    const Dispatchable& dispatchable, client::Device& device) {
  const OperatorDesc desc(dispatchable.op);
  std::vector<DML_BUFFER_BINDING> owned;
  if (!dispatchable.initial_bindings.empty()) {
    owned = bindings_of(model, buffers, dispatchable.op, dispatchable.initial_bindings, true);
  }
  return std::make_unique<client::Operation>(device, desc.get(),
                                             static_cast<DML_EXECUTION_FLAGS>(dispatchable.execution_flags), owned);
}

class Executor {
 public:
  Executor(const Model& model, const ExecutionOptions& options, client::Device& device, Output& output)
      : model_(model), options_(options), device_(device), output_(output) {}

  void run() {
    create_buffers();
    create_operations();
    for (std::size_t i = 0; i < model_.commands.size(); ++i) {
      const Command& command = model_.commands[i];
      if (options_.print_commands) {
        output_.command(i, command_text(command));
      }
      try {
        std::visit([&](const auto& what) { run_command(what); }, command.what);
      } catch (const client::Failure& failure) {
        blame(failure, command.path);
      }
    }
  }

 private:
  void create_buffers() {
    Progress progress("Preparing buffers");
    for (std::size_t i = 0; i < model_.resources.size(); ++i) {
      const Resource& resource = model_.resources[i];
      progress.show(static_cast<double>(i) / static_cast<double>(model_.resources.size()), resource.name);
      buffers_.push_back(device_.create_buffer(resource.bytes));
      device_.write(buffers_.back().Get(), [&](std::span<std::byte> bytes) { fill_buffer(resource, bytes); });
    }
  }

  void create_operations() {
    for (const Dispatchable& dispatchable : model_.dispatchables) {
      const Stopwatch watch;
      try {
        operations_.push_back(create_operation(model_, buffers_, dispatchable, device_));
      } catch (const client::Failure& failure) {
        blame(failure, dispatchable.path);
      }
      output_.initialised(dispatchable.name, watch.milliseconds());
    }
  }

  // Bytes that a dispatch reads and writes.
  [[nodiscard]] static std::uint64_t bytes_moved(const OperatorModel& op) {
    std::uint64_t bytes = 0;
    for (const FieldValue& field : op.fields) {
      if (const auto* tensors = tensors_of(field)) {
        for (const TensorValue& tensor : *tensors) {
          bytes += tensor.total_bytes;
        }
      }
    }
    return bytes;
  }

  void run_command(const DispatchCommand& command) {
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    client::Operation& operation = *operations_[command.dispatchable];
    const auto inputs = bindings_of(model_, buffers_, dispatchable.op, command.bindings, true);
    const auto outputs = bindings_of(model_, buffers_, dispatchable.op, command.bindings, false);
    const std::uint64_t most = options_.milliseconds_to_run ? ~std::uint64_t{0} : options_.iterations;
    DeviceClock clock(device_, most, options_.device_samples);
    std::vector<double> cpu;
    Progress progress(format_text("Dispatch '{}'", dispatchable.name));
    const Stopwatch whole;
    for (std::uint64_t i = 0; i < most; ++i) {
      const Stopwatch iteration;
      operation.bind(inputs, outputs);
      const Stopwatch dispatching;
      clock.read(false);
      operation.record(device_, options_.repeat);
      clock.read(true);
      device_.close();
      device_.execute();
      device_.wait();
      cpu.push_back(dispatching.milliseconds() / static_cast<double>(options_.repeat));
      device_.reopen();
      const double elapsed = whole.milliseconds();
      progress.show(options_.milliseconds_to_run ? elapsed / *options_.milliseconds_to_run
                                                 : static_cast<double>(i + 1) / static_cast<double>(most),
                    format_text("{} iterations, {:.3f} ms the last", i + 1, cpu.back()));
      const double pause = std::max(0.0, options_.minimum_interval - iteration.milliseconds());
      if (options_.milliseconds_to_run && elapsed + pause >= *options_.milliseconds_to_run) {
        break;
      }
      if (pause > 0 && i + 1 < most) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      }
    }
    progress.clear();
    auto device_times = clock.durations();
    for (double& time : device_times) {
      time /= static_cast<double>(options_.repeat);
    }
    output_.dispatched({.name = dispatchable.name,
                        .iterations = cpu.size(),
                        .cpu = cpu,
                        .device = device_times,
                        .warm_up = options_.warm_up,
                        .bytes = bytes_moved(dispatchable.op)});
  }

  void run_command(const PrintCommand& command) {
    device_.read(buffers_[command.resource].Get(), [&](std::span<const std::byte> bytes) {
      output_.values(model_.resources[command.resource], bytes, command.verbose);
    });
  }

  void run_command(const WriteFileCommand& command) {
    const Resource& resource = model_.resources[command.resource];
    device_.read(buffers_[command.resource].Get(), [&](std::span<const std::byte> bytes) {
      const auto values = bytes.first(resource.value_bytes);
      std::string header;
      if (has_npy_extension(command.target)) {
        const DataType type = resource.type == DataType::unknown ? DataType::UINT8 : resource.type;
        auto shape = command.dimensions;
        if (shape.empty()) {
          shape.push_back(values.size() / element_size(type));
        }
        header = make_npy_header(type, shape);
      }
      const std::span<const std::byte> parts[] = {std::as_bytes(std::span(header)), values};
      if (const auto wrote = write_file(command.path, parts); !wrote) {
        throw ModelFailure{"", format_text("{}: {}", command.path.string(), wrote.error().message)};
      }
    });
    output_.written(resource.name, command.path.string());
  }

  [[nodiscard]] std::string command_text(const Command& command) const {
    struct Text {
      const Model& model;
      std::string operator()(const DispatchCommand& what) const {
        return format_text("dispatch '{}'", model.dispatchables[what.dispatchable].name);
      }
      std::string operator()(const PrintCommand& what) const {
        return format_text("print '{}'", model.resources[what.resource].name);
      }
      std::string operator()(const WriteFileCommand& what) const {
        return format_text("writeFile '{}' to '{}'", model.resources[what.resource].name, what.target);
      }
    };
    return std::visit(Text{model_}, command.what);
  }

  const Model& model_;
  const ExecutionOptions& options_;
  client::Device& device_;
  Output& output_;
  Buffers buffers_;
  std::vector<std::unique_ptr<client::Operation>> operations_;
};

}  // namespace

void try_operators(const Model& model, client::Device& device, Problems& problems) {
  for (const Dispatchable& dispatchable : model.dispatchables) {
    const OperatorDesc desc(dispatchable.op);
    ComPtr<IDMLOperator> op;
    try {
      client::check(device.dml()->CreateOperator(&desc.get(), IID_PPV_ARGS(&op)), "CreateOperator");
    } catch (const client::Failure& failure) {
      problems.add(dispatchable.path, failure.what());
    }
  }
}

void rehearse_dispatches(const Model& model, const client::DeviceOptions& device_options, Problems& problems) {
  for (const Command& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command.what);
    if (dispatch == nullptr) {
      continue;
    }
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    try {
      client::Device device(device_options);  // a new one each time: a fault removes it
      Buffers buffers(model.resources.size());
      for (const auto* bindings : {&dispatchable.initial_bindings, &dispatch->bindings}) {
        for (const Binding& binding : *bindings) {
          for (const BindingSource& source : binding.sources) {
            if (!buffers[source.resource]) {
              buffers[source.resource] = device.create_buffer(model.resources[source.resource].bytes);
            }
          }
        }
      }
      const auto operation = create_operation(model, buffers, dispatchable, device);
      operation->bind(bindings_of(model, buffers, dispatchable.op, dispatch->bindings, true),
                      bindings_of(model, buffers, dispatchable.op, dispatch->bindings, false));
      operation->record(device);
      device.close();
    } catch (const client::Failure& failure) {
      problems.add(command.path, failure.what());
    }
  }
}

void execute_model(const Model& model, const ExecutionOptions& options, client::Device& device, Output& output) {
  Executor(model, options, device, output).run();
}

}  // namespace anydml::dmlrun
