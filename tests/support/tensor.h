// SPDX-License-Identifier: MIT
// Shorthands for C API tensors in tests.
#pragma once

#include <anydml/anydml.h>

#include <vector>

#include "support/layouts.h"

namespace anydml::test {

template <class T>
anydml_tensor tensor_of(const Layout& layout, void* data) {
  return {static_cast<anydml_type>(kDataTypeOf<T>), static_cast<int32_t>(layout.sizes.size()), layout.sizes.data(),
          layout.strides.data(), data};
}

}  // namespace anydml::test
