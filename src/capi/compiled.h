// SPDX-License-Identifier: MIT
// A compiled operator, as the C API hands it out.
#pragma once

#include "anydml/anydml.h"
#include "capi/devices.h"
#include "ops/op_desc.h"

struct anydml_compiled {
  anydml::OpDesc desc;
  const anydml::Device* device;
  anydml::BackendProgram* program = nullptr;

  ~anydml_compiled() {
    if (program != nullptr) {
      device->backend->destroy(program);
    }
  }
};
