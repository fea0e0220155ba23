// SPDX-License-Identifier: MIT
// Calls of graphs.
#pragma once

#include "call_arguments.h"
#include "call_cache.h"
#include "python_api.h"

namespace anydml::python {

class FastGraph {
 public:
  // Returns the result, or NotImplemented if the form is unknown, or if something has changed that the function read.
  nb::object call(const nb::tuple& arguments, nb::handle out);

  // Keeps the form of a call that took the slow path, with its arrays as they are now. watch: a weak reference to a
  // watch that describes the objects that the function read, or None.
  void add(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result, nb::handle watch) {
    try_to_cache([&] { add_to_cache(arguments, out, compiled, result, watch); });
  }

 private:
  [[gnu::noinline]] static bool holds(const CachedCall& cached);

  void add_to_cache(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result,
                    nb::handle watch);

  static bool read_arguments(const nb::tuple& arguments, nb::handle out, CallArguments& args);

  CallCache cache_;
};

}  // namespace anydml::python
