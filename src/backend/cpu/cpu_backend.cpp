// SPDX-License-Identifier: MIT
#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "anydml_build/hash.h"
#include "backend/cpu/loop_runner.h"
#include "backend/cpu/thread_pool.h"
#include "base/buffer_memory.h"
#include "base/clock.h"
#include "base/float_environment.h"
#include "base/memory.h"
#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/vector_kernels.h"

namespace anydml {

struct BackendDevice {
  ThreadPool* pool;
  KernelTable kernels;
  std::uint64_t memory_bytes;
  std::atomic<std::uint64_t> promised_bytes{0};  // to buffers
  BufferMemory buffers;
  std::string model;
};

namespace {

constexpr BackendStatus kOk{BackendCode::ok, nullptr};
constexpr BackendStatus kOutOfMemory{BackendCode::out_of_memory, "the CPU device has no memory for this"};

// A tile is what a kernel gets, a chunk the tiles that a thread takes at a time: enough work to pay for handing it
// over, some ten microseconds, and of large tensors a share of what each thread will do. In bytes of all operands; a
// kernel without vectors takes some ten times as long for them.
constexpr std::int64_t kTileBytes = 128 << 10;
constexpr std::int64_t kPlainTileBytes = 12 << 10;
constexpr std::int64_t kMaxTilesOfChunk = 16;
constexpr std::int64_t kChunksOfThread = 16;
// Results between the instructions of a program stay in a buffer of this many elements, in the first-level cache.
constexpr std::int64_t kTileElements = 512;

template <class Unit>
void copy_units(const KernelArguments& arguments) noexcept {
  const auto& from = arguments.inputs[0];
  const auto& to = arguments.output;
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth_row = static_cast<std::ptrdiff_t>(row);
    const std::byte* source = from.data + nth_row * from.row_stride;
    std::byte* target = to.data + nth_row * to.row_stride;
    for (std::size_t column = 0; column < arguments.columns; ++column) {
      std::memcpy(target, source, sizeof(Unit));
      source += from.stride;
      target += to.stride;
    }
  }
}

Kernel find_copy(DataType type) {
  return visit_type(type, []<class T>() -> Kernel { return copy_units<T>; });
}

struct PreparedStep {
  Step step;
  Kernel kernels[kMaxInstructions] = {};  // one for each instruction; the first is the copy of a copy step
  Tiling tiling = {};
  std::int64_t tiles_of_chunk = 1;
};

std::int64_t stride_of_rows(const LoopNest& nest, std::uint32_t operand) {
  return nest.rank >= 2 ? nest.loops[nest.rank - 2].strides[operand] : 0;
}

// One instruction over a whole block.
void run_single(const PreparedStep& prepared, std::byte* const* bases, const Block& block) {
  const LoopNest& nest = prepared.step.nest;
  const std::uint32_t output = nest.operands - 1;
  KernelArguments arguments{};
  arguments.rows = static_cast<std::size_t>(block.rows);
  arguments.columns = static_cast<std::size_t>(block.columns);
  for (std::uint32_t i = 0; i < output; ++i) {
    arguments.inputs[i] = {bases[i] + block.offsets[i], stride_of_rows(nest, i), nest.innermost().strides[i]};
  }
  arguments.output = {bases[output] + block.offsets[output], stride_of_rows(nest, output),
                      nest.innermost().strides[output]};
  arguments.attributes = &prepared.step.program[0].attributes;
  prepared.kernels[0](arguments);
}

// Several instructions, tile by tile, so that what one hands to the next never leaves the cache.
void run_tiles(const PreparedStep& prepared, std::byte* const* bases, const Block& block) {
  const LoopNest& nest = prepared.step.nest;
  const std::uint32_t output = nest.operands - 1;
  alignas(64) std::byte results[kMaxInstructions][kTileElements * sizeof(f64)];
  for (std::int64_t row = 0; row < block.rows; ++row) {
    for (std::int64_t column = 0; column < block.columns; column += kTileElements) {
      const auto address = [&](std::uint32_t operand) {
        return bases[operand] + block.offsets[operand] + row * stride_of_rows(nest, operand) +
               column * nest.innermost().strides[operand];
      };
      std::int64_t elements[kMaxInstructions] = {};  // the bytes of each result
      for (std::uint32_t i = 0; i < prepared.step.instruction_count; ++i) {
        const Instruction& instruction = prepared.step.program[i];
        const Row& of = anydml::row(row_of(instruction));
        elements[i] = static_cast<std::int64_t>(element_size(of.variants[instruction.variant][of.inputs]));
        KernelArguments arguments{};
        arguments.rows = 1;
        arguments.columns = static_cast<std::size_t>(std::min(kTileElements, block.columns - column));
        for (std::uint32_t source = 0; source < of.inputs; ++source) {
          const std::uint32_t from = instruction.sources[source];
          arguments.inputs[source] =
              from < kMaxOperands
                  ? KernelArguments::Input{address(from), 0, nest.innermost().strides[from]}
                  : KernelArguments::Input{results[from - kMaxOperands], 0, elements[from - kMaxOperands]};
        }
        arguments.output = i + 1 == prepared.step.instruction_count
                               ? KernelArguments::Output{address(output), 0, nest.innermost().strides[output]}
                               : KernelArguments::Output{results[i], 0, elements[i]};
        arguments.attributes = &instruction.attributes;
        prepared.kernels[i](arguments);
      }
    }
  }
}

// Between instructions values are contiguous, but the ends of a program walk the operands as they lie.
InnerLayout kernel_layout(const Step& step) {
  return step.instruction_count == 1 || step.nest.inner == InnerLayout::contiguous ? step.nest.inner
                                                                                   : InnerLayout::strided;
}

struct StepRun {
  const PreparedStep* prepared;
  std::byte* bases[kMaxOperands];
};

void run_chunk(void* context, std::uint64_t chunk) noexcept {
  const auto& run = *static_cast<const StepRun*>(context);
  const PreparedStep& prepared = *run.prepared;
  const std::int64_t begin = static_cast<std::int64_t>(chunk) * prepared.tiles_of_chunk;
  const std::int64_t end = std::min(prepared.tiling.tiles, begin + prepared.tiles_of_chunk);
  const auto run_block = prepared.step.instruction_count > 1 ? run_tiles : run_single;
  for_each_tile(prepared.step.nest, prepared.tiling, begin, end,
                [&](const Block& block) { run_block(prepared, run.bases, block); });
}

// Cuts a step into tiles and chunks.
void divide(PreparedStep& prepared, bool vectors, unsigned threads) {
  const LoopNest& nest = prepared.step.nest;
  std::int64_t bytes = 0;  // of one element of every operand
  for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
    bytes += static_cast<std::int64_t>(element_size(prepared.step.types[operand]));
  }
  const std::int64_t elements = (vectors ? kTileBytes : kPlainTileBytes) / bytes;
  prepared.tiling = make_tiling(nest, elements);
  // Tiles may be much smaller than that, as those of short rows in many dimensions are.
  const std::int64_t least = std::max<std::int64_t>(1, elements / (prepared.tiling.rows * prepared.tiling.columns));
  const std::int64_t share = prepared.tiling.tiles / (kChunksOfThread * threads);
  prepared.tiles_of_chunk = std::clamp(share, least, least * kMaxTilesOfChunk);
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
#if defined(__aarch64__)
  return "aarch64 CPU";
#elif defined(__x86_64__)
  return "x86-64 CPU";
#else
  return "CPU";
#endif
}

// No exception leaves the table: what can throw here is allocation.
template <class Body>
BackendStatus guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return {BackendCode::failed, "the CPU device failed unexpectedly"};
  }
}

// The generic kernels, and over them those of the target that was asked for, or of the best.
BackendStatus choose_kernels(std::string_view wanted, KernelTable& table) {
  table = generic_kernels();
  const auto targets = vector_targets();
  const auto found = wanted.empty() ? targets.begin() : std::ranges::find(targets, wanted, &KernelTarget::name);
  if (found != targets.end()) {
    found->replace(table);
    table.target = found->name;
  } else if (!wanted.empty() && wanted != table.target) {
    static std::string message;  // of the first failure; open is called under the process mutex
    message.assign("ANYDML_CPU_TARGET is '")
        .append(wanted.substr(0, 64))
        .append("'; expected one that this machine runs: ");
    for (const KernelTarget& target : targets) {
      message.append(target.name).append(", ");
    }
    message.append(table.target);
    return {BackendCode::failed, message.c_str()};
  }
  return kOk;
}

BackendStatus open(std::uint32_t index, const BackendSettings* settings, BackendDevice** device) {
  return guarded([&]() -> BackendStatus {
    if (index != 0) {
      return {BackendCode::failed, "there is one CPU device, with index 0"};
    }
    auto opened = std::make_unique<BackendDevice>();
    if (const BackendStatus status =
            choose_kernels(settings->cpu_target == nullptr ? "" : settings->cpu_target, opened->kernels);
        status.code != BackendCode::ok) {
      return status;
    }
    opened->memory_bytes = read_memory_state().limit;
    opened->model = cpu_model();
    opened->pool = &ThreadPool::of_process(settings->threads);
    *device = opened.release();
    return kOk;
  });
}

void close(BackendDevice* device) { delete device; }

void describe(const BackendDevice* device, BackendDeviceInfo* info) {
  *info = {};
  std::snprintf(info->name, sizeof(info->name), "cpu");
  std::snprintf(info->description, sizeof(info->description), "%s, %u thread%s", device->model.c_str(),
                device->pool->threads(), device->pool->threads() == 1 ? "" : "s");
  info->memory_bytes = device->memory_bytes;
  info->threads = device->pool->threads();
  info->unified_memory = 1;
}

BackendStatus allocate_buffer(BackendDevice* device, std::uint64_t bytes, void** address) {
  // Pages not yet touched are missing from what the kernel counts as used, so what was promised is counted here too.
  // The state of the machine is read only for requests that could matter to it.
  constexpr std::uint64_t kLarge = std::uint64_t{16} << 20;
  constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 56;
  if (bytes > std::min(device->memory_bytes, kAddressSpace) ||
      (bytes >= kLarge && bytes > read_memory_state().available)) {
    return kOutOfMemory;
  }
  const std::uint64_t whole = whole_units(bytes);
  if (device->promised_bytes.fetch_add(whole) + whole > device->memory_bytes) {
    device->promised_bytes.fetch_sub(whole);
    return kOutOfMemory;
  }
  try {
    *address = device->buffers.allocate(bytes);
  } catch (...) {
  }
  if (*address == nullptr) {
    device->promised_bytes.fetch_sub(whole);
    return kOutOfMemory;
  }
  return kOk;
}

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void** address) {
  return guarded([&]() -> BackendStatus {
    *address = nullptr;
    if (kind != MemoryKind::temporary) {
      return allocate_buffer(device, bytes, address);
    }
    *address = ::operator new (bytes, std::align_val_t{kTemporaryAlignment}, std::nothrow);
    return *address == nullptr ? kOutOfMemory : kOk;
  });
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void* address) {
  if (kind == MemoryKind::temporary) {
    ::operator delete (address, std::align_val_t{kTemporaryAlignment});
    return;
  }
  device->buffers.release(address, bytes);
  device->promised_bytes.fetch_sub(whole_units(bytes));
}

// Its work is done when it is given: a queue holds nothing but whose it is.
BackendDevice* device_of(BackendQueue* queue) { return reinterpret_cast<BackendDevice*>(queue); }

BackendStatus create_queue(BackendDevice* device, void* stream, BackendQueue** queue) {
  if (stream != nullptr) {
    return {BackendCode::failed, "the CPU device has no streams"};
  }
  *queue = reinterpret_cast<BackendQueue*>(device);
  return kOk;
}

BackendStatus copy(BackendQueue*, void* to, const void* from, std::uint64_t bytes) {
  std::memmove(to, from, bytes);
  return kOk;
}

BackendStatus fill(BackendQueue*, void* to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) {
  // The pattern once, then what is there already, doubling.
  auto* const first = static_cast<std::byte*>(to);
  std::uint64_t done = std::min<std::uint64_t>(bytes, pattern_bytes);
  std::memcpy(first, pattern, done);
  while (done < bytes) {
    const std::uint64_t more = std::min(done, bytes - done);
    std::memcpy(first + done, first, more);
    done += more;
  }
  return kOk;
}

BackendStatus timestamp(BackendQueue*, std::uint64_t* ticks) {
  *ticks = monotonic_nanoseconds();
  return kOk;
}

}  // namespace

struct BackendProgram {
  const BackendDevice* device;
  std::vector<PreparedStep> steps;
};

namespace {

BackendStatus compile(BackendDevice* device, const Step* steps, std::uint32_t step_count, BackendProgram** program) {
  return guarded([&]() -> BackendStatus {
    auto compiled = std::make_unique<BackendProgram>();
    compiled->device = device;
    compiled->steps.reserve(step_count);
    for (std::uint32_t i = 0; i < step_count; ++i) {
      PreparedStep& prepared = compiled->steps.emplace_back(PreparedStep{.step = steps[i]});
      const Step& step = prepared.step;
      if (step.kind == StepKind::copy) {
        prepared.kernels[0] = find_copy(step.types[0]);
        divide(prepared, false, device->pool->threads());
        continue;
      }
      const InnerLayout layout = kernel_layout(step);
      bool vectors = true;
      for (std::uint32_t j = 0; j < step.instruction_count; ++j) {
        const Instruction& instruction = step.program[j];
        prepared.kernels[j] = device->kernels.find(row_of(instruction), instruction.variant, layout);
        if (prepared.kernels[j] == nullptr) {
          return {BackendCode::failed, "the plan asks for a type that its operator is not defined for"};
        }
        vectors =
            vectors && prepared.kernels[j] != generic_kernels().find(row_of(instruction), instruction.variant, layout);
      }
      divide(prepared, vectors, device->pool->threads());
    }
    *program = compiled.release();
    return kOk;
  });
}

void destroy(BackendProgram* program) { delete program; }

BackendStatus run(BackendQueue* queue, const BackendProgram* program, void* const* addresses) {
  const DefaultFloatEnvironment modes;
  ThreadPool& pool = *device_of(queue)->pool;
  for (const PreparedStep& prepared : program->steps) {
    const Step& step = prepared.step;
    StepRun step_run{.prepared = &prepared, .bases = {}};
    for (std::uint32_t i = 0; i < step.nest.operands; ++i) {
      step_run.bases[i] = static_cast<std::byte*>(addresses[step.slots[i]]) + step.slot_offsets[i];
    }
    pool.run(static_cast<std::uint64_t>(parts(prepared.tiling.tiles, prepared.tiles_of_chunk)), run_chunk, &step_run);
  }
  return kOk;
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) {
  if (program->steps.empty()) {
    std::snprintf(text, capacity, "nothing to do");
    return;
  }
  const Step& last = program->steps.back().step;
  std::snprintf(text, capacity, "%s, %u loop%s, %s kernel%s", layout_name(kernel_layout(last)), last.nest.rank,
                last.nest.rank == 1 ? "" : "s", program->device->kernels.target,
                program->steps.size() > 1 ? ", inputs staged" : "");
}

constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "cpu",
    .device_count = [] { return std::uint32_t{1}; },
    .open = open,
    .close = close,
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .buffer_bytes = [](const BackendDevice* device) { return device->promised_bytes.load(); },
    .access = [](BackendDevice*, const void*) { return Access::direct; },
    .compile = compile,
    .destroy = destroy,
    .create_queue = create_queue,
    .destroy_queue = [](BackendQueue*) {},
    .copy = copy,
    .fill = fill,
    .run = run,
    .timestamp = timestamp,
    .mark =
        [](BackendQueue*, BackendMark** mark) {
          *mark = nullptr;
          return kOk;
        },
    .destroy_mark = [](BackendMark*) {},
    .is_passed = [](BackendMark*) { return std::uint32_t{1}; },
    .wait = [](BackendMark*) { return kOk; },
    .follow = [](BackendQueue*, BackendMark*) { return kOk; },
    .explain = explain,
};

}  // namespace

const BackendTable& cpu_backend() { return kTable; }

}  // namespace anydml
