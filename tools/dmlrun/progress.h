// SPDX-License-Identifier: MIT
// Shows the progress of long operations on a terminal, starting after one second.
#pragma once

#include <cstdint>
#include <string>

#include "timing.h"

namespace anydml::dmlrun {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void clear();  // clears the line before something else is printed

  // Shows that `fraction` of the work is done, with `detail` next to it.
  void show(double fraction, const std::string& detail);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  double last_shown_ = 0;
  Stopwatch since_;
};

}  // namespace anydml::dmlrun
