// SPDX-License-Identifier: MIT
#pragma once

#include <cfenv>

namespace anydml::cuda {

// Sets the rounding mode to nearest while a step is prepared, so that the conversion of attributes to the tensor's type
// does not depend on the caller's rounding mode.
class RoundToNearest {
 public:
  RoundToNearest() : before_(std::fegetround()) { std::fesetround(FE_TONEAREST); }
  ~RoundToNearest() { std::fesetround(before_); }
  RoundToNearest(const RoundToNearest&) = delete;
  RoundToNearest& operator=(const RoundToNearest&) = delete;

 private:
  int before_;
};

}  // namespace anydml::cuda
