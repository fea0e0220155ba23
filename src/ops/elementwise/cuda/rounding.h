// SPDX-License-Identifier: MIT
#pragma once

#include <cfenv>

namespace anydml::cuda {

// Attributes are converted to the tensor's type when a step is prepared, rounded to nearest whatever the caller's
// rounding mode is.
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
