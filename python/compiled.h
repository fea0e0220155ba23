// SPDX-License-Identifier: MIT
// Operators and graphs that are compiled for arrays of fixed types, shapes and strides.
#pragma once

#include <anydml/anydml.h>

#include <vector>

#include "call.h"
#include "graph.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// An operator or a graph over arrays of fixed types, shapes and strides.
class Compiled {
 public:
  Compiled(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device);
  // Compiles a graph. `inputs` and `outs` are arrays like the graph's inputs and outputs.
  Compiled(const Graph& graph, nb::handle inputs, nb::handle outs, nb::handle device);
  ~Compiled() { anydml_compiled_release(compiled_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  [[nodiscard]] const anydml_compiled* get() const { return compiled_; }
  [[nodiscard]] std::size_t inputs() const { return call_.inputs; }
  [[nodiscard]] std::size_t outputs() const { return call_.outputs(); }
  // The layout of an array that the operator was compiled for; inputs come before outputs.
  [[nodiscard]] const Operand& expected(std::size_t which) const { return call_.operands[which]; }
  [[nodiscard]] bool takes(std::size_t which, const Operand& operand) const;

  // Whether a run may write only a part of this output, so that a new array for it must be set to 0.
  [[nodiscard]] bool keeps_elements(std::size_t output) const {
    return anydml_compiled_keeps_elements(compiled_, output) != 0;
  }

  void run(nb::handle inputs, nb::handle outs) const;

  // Runs over arrays on a GPU. None in `outs` requests a new array; `truths` marks the outputs that are bool.
  [[nodiscard]] nb::list run_on_device(nb::handle inputs, nb::handle outs, const nb::list& truths,
                                       nb::handle device) const;

 private:
  // Releases the arrays, because their memory is not needed, but remembers which of them are absent.
  void forget_arrays();

  static void check_count(std::size_t count, std::size_t expected, const char* what);

  // Returns an array's memory if the array has the layout that the operator was compiled for.
  [[nodiscard]] void* data_of(nb::handle array, std::size_t which) const;

  Call call_;
  anydml_compiled* compiled_ = nullptr;
};

}  // namespace anydml::python
