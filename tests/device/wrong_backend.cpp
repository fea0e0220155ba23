// SPDX-License-Identifier: MIT
// A plugin that breaks the contract of backend.h in the one way that ANYDML_WRONG names, so that conform_test.py can
// check that the suite detects it. In all other respects it is the CPU backend.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "base/process.h"

namespace anydml {

namespace {

constexpr std::uint64_t kShift = 4096;

bool is(std::string_view wrong) {
  static const char* const told = std::getenv("ANYDML_WRONG");
  return told != nullptr && told == wrong;
}

BackendStatus open(std::uint32_t index, const BackendSettings* settings, BackendDevice** device) {
  const std::scoped_lock lock(process_mutex());  // this library's own copy of the mutex
  return cpu_backend().open(index, settings, device);
}

void describe(const BackendDevice* device, BackendDeviceInfo* info) {
  cpu_backend().describe(device, info);
  std::snprintf(info->name, sizeof(info->name), is("name") ? "right" : "wrong:0");
}

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) {
  const bool shifted = is("alignment") && kind != MemoryKind::temporary && bytes < kShift * 100;
  BackendStatus status = cpu_backend().allocate(device, kind, shifted ? bytes + kShift : bytes, block);
  if (status.code != BackendCode::ok) {
    status.code = is("refusal") ? BackendCode::failed : status.code;
    return status;
  }
  if (is("zeros") && bytes != 0 && kind == MemoryKind::upload_buffer) {
    block->host[bytes - 1] = std::byte{1};
  }
  if (shifted) {
    *block = {.handle = reinterpret_cast<BackendMemory*>(block->host + kShift),
              .address = block->address + kShift,
              .host = block->host + kShift};
  }
  return status;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) {
  if (is("alignment") && kind != MemoryKind::temporary && bytes < kShift * 100) {
    handle = reinterpret_cast<BackendMemory*>(reinterpret_cast<std::byte*>(handle) - kShift);
    bytes += kShift;
  }
  cpu_backend().release(device, kind, bytes, handle);
}

// Rounds offsets down, like a device that copies whole words.
BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) {
  if (is("copy") && to.block != nullptr && from.block != nullptr) {
    to.offset -= to.offset % 4;
  }
  return cpu_backend().copy(queue, to, from, bytes);
}

BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) {
  return cpu_backend().fill(queue, to, bytes, pattern, is("fill") ? 4 : pattern_bytes);
}

// Writes microseconds instead of nanoseconds.
BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) {
  const BackendStatus status = cpu_backend().timestamp(queue, to);
  if (is("timestamp")) {
    auto* const time = reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(to.block) + to.offset);
    *time /= 1000;
  }
  return status;
}

BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) {
  BackendStatus status = cpu_backend().compile(device, plan, program);
  if (status.code == BackendCode::failed && is("program")) {  // reports success, with a program that does nothing
    const BackendPlan nothing{
        .words = nullptr, .word_count = 0, .temporary_bytes = 0, .temporary_slot = plan->temporary_slot};
    status = cpu_backend().compile(device, &nothing, program);
  }
  if (status.code == BackendCode::not_joined && is("joined")) {
    status.code = BackendCode::failed;
  }
  if (status.code != BackendCode::ok && is("message")) {
    status.message = nullptr;
  }
  return status;
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) {
  cpu_backend().explain(program, text, capacity);
  if (is("text")) {
    text[capacity - 1] = 'x';
    text[capacity] = '\0';
  }
}

BackendStatus mark(BackendQueue* queue, BackendMark** mark) {
  static_cast<void>(cpu_backend().mark(queue, mark));
  if (is("wait")) {
    *mark = reinterpret_cast<BackendMark*>(queue);
  }
  return {BackendCode::ok, nullptr};
}

BackendStatus wait(BackendMark*) {
  while (is("wait")) {
    pause();
  }
  return {BackendCode::ok, nullptr};
}

BackendTable make_table() {
  BackendTable table = cpu_backend();
  table.name = "wrong";
  table.open = open;
  table.describe = describe;
  table.allocate = allocate;
  table.release = release;
  table.copy = copy;
  table.fill = fill;
  table.timestamp = timestamp;
  table.compile = compile;
  table.explain = explain;
  table.mark = mark;
  table.wait = wait;
  if (is("bytes")) {
    table.buffer_bytes = [](const BackendDevice*) { return std::uint64_t{0}; };
  }
  if (is("temporary")) {
    table.temporary_bytes = [](const BackendProgram*) { return std::uint64_t{0}; };
  }
  if (is("missing")) {
    table.follow = nullptr;
  }
  return table;
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static const anydml::BackendTable table = anydml::make_table();
  return &table;
}
