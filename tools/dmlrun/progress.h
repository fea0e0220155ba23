// SPDX-License-Identifier: MIT
// How far long work has come, on a terminal alone, and only once a second has passed.
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

  void clear();  // the line, before something else is printed

  // `fraction` of the work is done; `detail` is shown beside it.
  void show(double fraction, const std::string& detail);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  double last_shown_ = 0;
  Stopwatch since_;
};

}  // namespace anydml::dmlrun
