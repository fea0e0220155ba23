// SPDX-License-Identifier: MIT
#include "fast_graph.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "call_key.h"
#include "compiled.h"
#include "errors.h"
#include "layout.h"
#include "operand.h"
#include "watch.h"

namespace anydml::python {

nb::object FastGraph::call(const nb::tuple& arguments, nb::handle out) {
  CallArguments args;
  if (read_arguments(arguments, out, args)) {
    if (const CallCache::Entry cached = cache_.find(args.key);
        cached && (!cached->watch.is_valid() || holds(*cached))) {
      if (nb::object result = cached->run(args); result.is_valid()) {
        return result;
      }
    }
  }
  return nb::borrow(Py_NotImplemented);
}

bool FastGraph::holds(const CachedCall& cached) {
  const nb::object watch = nb::steal(PyObject_CallNoArgs(cached.watch.ptr()));
  if (!watch.is_valid()) {
    throw nb::python_error();
  }
  return !watch.is_none() && watch_holds(nb::getattr(watch, "tree"), nullptr, true);
}

void FastGraph::add_to_cache(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result,
                             nb::handle watch) {
  CallArguments args;
  const auto& graph = nb::cast<const Compiled&>(compiled);
  auto cached = std::make_shared<CachedCall>();
  if (!read_arguments(arguments, out, args) || !cached->read_result(args, result)) {
    PyErr_Clear();
    return;
  }
  if (args.inputs != graph.inputs() || cached->outputs.size() != graph.outputs()) {
    return;
  }
  for (std::size_t i = 0; i < graph.outputs(); ++i) {
    if (graph.keeps_elements(i)) {
      return;  // a cached call does not set new outputs to 0
    }
  }
  std::int64_t max_elements = 0;
  for (std::size_t i = 0; i < args.inputs + cached->outputs.size(); ++i) {
    if (i < args.inputs || cached->outputs[i - args.inputs].kind == CachedCall::Kind::given) {
      Operand operand;
      args.key.read(args.at[i], operand);
      if (!graph.takes(i, operand)) {
        return;
      }
    }
    max_elements = std::max(max_elements, element_count(graph.expected(i).tensor));
  }
  cached->compiled = std::shared_ptr<const anydml_compiled>(graph.get(), [](const anydml_compiled*) {});
  cached->owner = nb::borrow(compiled);
  if (!watch.is_none()) {
    cached->watch = nb::borrow(watch);
  }
  cached->releases = max_elements >= kFewOfOtherShapes;
  cache_.add(args.key, std::move(cached));
}

bool FastGraph::read_arguments(const nb::tuple& arguments, nb::handle out, CallArguments& args) {
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments.ptr());
  bool taken = args.key.add(Tag::tuple, static_cast<std::uint64_t>(count));
  for (Py_ssize_t i = 0; i < count && taken; ++i) {
    taken = args.add_graph_argument(PyTuple_GET_ITEM(arguments.ptr(), i));
  }
  return taken && args.add_outs(out.ptr());
}

}  // namespace anydml::python
