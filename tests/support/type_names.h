// SPDX-License-Identifier: MIT
// Names for typed tests: Reduce/float16.Something instead of Reduce/1.Something.
#pragma once

#include <string>

#include "base/element.h"

namespace anydml {

struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    return std::string(type_name(kDataTypeOf<T>));
  }
};

}  // namespace anydml
