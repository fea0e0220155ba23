// SPDX-License-Identifier: MIT
// A compiled operator, as the C API hands it out.
#pragma once

#include <vector>

#include "anydml/anydml.h"
#include "capi/devices.h"
#include "ops/op_desc.h"

struct anydml_compiled {
  // An input whose data was given when the operator was compiled, kept in the device's memory.
  struct Constant {
    std::size_t input;
    std::uint64_t bytes;
    void* memory;   // the first byte it reaches
    void* address;  // the element at index 0
  };

  anydml::OpDesc desc;
  const anydml::Device* device;
  anydml::BackendProgram* program = nullptr;
  std::uint64_t temporary_bytes = 0;  // that a run of the program needs
  std::vector<Constant> constants;

  anydml_compiled() = default;
  anydml_compiled(const anydml_compiled&) = delete;
  anydml_compiled& operator=(const anydml_compiled&) = delete;
  ~anydml_compiled() {
    if (program != nullptr) {
      device->backend->destroy(program);
    }
    for (const Constant& constant : constants) {
      device->backend->release(device->handle, anydml::MemoryKind::temporary, constant.bytes, constant.memory);
    }
  }
};
