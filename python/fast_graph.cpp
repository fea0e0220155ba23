// SPDX-License-Identifier: MIT
#include "fast_graph.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "call_key.h"
#include "compiled.h"
#include "errors.h"
#include "layout.h"
#include "operand.h"
#include "watch.h"

namespace anydml::python {

nb::object ShortGraph::call(const nb::tuple& arguments, nb::handle out) {
  SeenCall seen;
  if (see(arguments, out, seen)) {
    if (const Forms::Known form = forms_.find(seen.key); form && (!form->watch.is_valid() || holds(*form))) {
      if (nb::object result = form->run(seen); result.is_valid()) {
        return result;
      }
    }
  }
  return nb::borrow(Py_NotImplemented);
}

void ShortGraph::keep(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result,
                      nb::handle watch) {
  try {
    keep_form(arguments, out, compiled, result, watch);
  } catch (nb::python_error&) {  // the call itself went well
  } catch (const std::bad_alloc&) {
  }
}

bool ShortGraph::holds(const Form& form) {
  const nb::object watch = nb::steal(PyObject_CallNoArgs(form.watch.ptr()));
  if (!watch.is_valid()) {
    throw nb::python_error();
  }
  return !watch.is_none() && watch_holds(nb::getattr(watch, "tree"), nullptr, true);
}

void ShortGraph::keep_form(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result,
                           nb::handle watch) {
  SeenCall seen;
  const auto& graph = nb::cast<const Compiled&>(compiled);
  auto form = std::make_shared<Form>();
  if (!see(arguments, out, seen) ||
      (form->library = seen.library, form->inputs = seen.inputs, !form->take_result(seen, result))) {
    PyErr_Clear();
    return;
  }
  if (seen.inputs != graph.inputs() || form->outputs.size() != graph.outputs()) {
    return;
  }
  std::int64_t most = 0;
  for (std::size_t i = 0; i < seen.inputs + form->outputs.size(); ++i) {
    if (i < seen.inputs || form->outputs[i - seen.inputs].kind == Form::Kind::given) {
      Operand operand;
      seen.key.read(seen.at[i], operand);
      if (!graph.takes(i, operand)) {
        return;
      }
    }
    most = std::max(most, element_count(graph.expected(i).tensor));
  }
  form->compiled = std::shared_ptr<const anydml_compiled>(graph.get(), [](const anydml_compiled*) {});
  form->owner = nb::borrow(compiled);
  if (!watch.is_none()) {
    form->watch = nb::borrow(watch);
  }
  form->releases = most >= kFewOfOtherShapes;
  forms_.add(seen.key, std::move(form));
}

bool ShortGraph::see(const nb::tuple& arguments, nb::handle out, SeenCall& seen) {
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments.ptr());
  bool taken = seen.key.add(Tag::tuple, static_cast<std::uint64_t>(count));
  for (Py_ssize_t i = 0; i < count && taken; ++i) {
    taken = seen.take_argument(PyTuple_GET_ITEM(arguments.ptr(), i));
  }
  return taken && seen.take_outs(out.ptr());
}

}  // namespace anydml::python
