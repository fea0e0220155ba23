// SPDX-License-Identifier: MIT
// The fast path for graphs: calls that are in the call cache (call_cache.h).
#pragma once

#include "call_arguments.h"
#include "call_cache.h"
#include "python_api.h"

namespace anydml::python {

class FastGraph {
 public:
  // Returns the result. Returns NotImplemented if the call is not cached, or if an object that the recorded function
  // read has changed.
  nb::object call(const nb::tuple& arguments, nb::handle out);

  // Caches a call that took the slow path; its arrays may have changed since. `watch` is None, or a weak reference to a
  // watch of the objects that the recorded function read.
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
