// SPDX-License-Identifier: MIT
// The callable objects for operators and graphs: calls with a known form run immediately; all others go the long way,
// through Python code.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <anydml/anydml.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes.h"
#include "call.h"
#include "compiled.h"
#include "facts/facts.h"
#include "form.h"
#include "layout.h"
#include "short_way.h"
#include "ufunc.h"
#include "watch.h"

namespace anydml::python {

// Receives the arguments of a Python function, in a fixed order and without names.
class ShortFunction {
 public:
  explicit ShortFunction(nb::object long_way) : long_way_(std::move(long_way)) {}
  virtual ~ShortFunction() = default;
  ShortFunction(const ShortFunction&) = delete;
  ShortFunction& operator=(const ShortFunction&) = delete;

  virtual nb::object call(PyObject* const* values, std::size_t count) = 0;

  // For Python's garbage collector: the long way may refer back to this object.
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(long_way_.ptr());
    return 0;
  }
  void clear() { nb::object gone = std::move(long_way_); }

 protected:
  static void check_count(const std::string& name, std::size_t count, std::size_t expected) {
    if (count != expected) {
      raise(PyExc_TypeError,
            name + ": the number of arguments is " + std::to_string(count) + "; expected " + std::to_string(expected));
    }
  }
  [[nodiscard]] nb::object call_long_way(PyObject* const* values, std::size_t count) const {
    if (!long_way_.is_valid()) {
      raise(PyExc_RuntimeError, "the function is called while Python takes it apart");
    }
    const nb::object function = long_way_;
    PyObject* const result = in_python([&] { return PyObject_Vectorcall(function.ptr(), values, count, nullptr); });
    if (result == nullptr) {
      throw nb::python_error();
    }
    return nb::steal(result);
  }

 private:
  nb::object long_way_;
};

// ---- Ufuncs ---------------------------------------------------------------------------------------------------------

// The inputs, out, and the options of a ufunc: where, casting, order, dtype, subok, signature, device. If all options
// have their defaults, the call does not need NumPy.
class ShortUfunc final : public ShortFunction {
 public:
  ShortUfunc(const Ufunc& of, nb::object casting, nb::object order, nb::object long_way)
      : ShortFunction(std::move(long_way)), of_(of), casting_(std::move(casting)), order_(std::move(order)) {}

  nb::object call(PyObject* const* values, std::size_t count) override {
    constexpr std::size_t kOptions = 7;
    const auto inputs = static_cast<std::size_t>(of_.inputs);
    check_count(of_.name, count, inputs + 1 + kOptions);
    PyObject* const* const options = values + inputs + 1;
    PyObject* const usual[kOptions] = {Py_True, casting_.ptr(), order_.ptr(), Py_None, Py_True, Py_None, Py_None};
    if (std::equal(usual, usual + kOptions, options)) {
      const nb::handle given[kMostOperands] = {values[0], values[inputs - 1]};
      if (nb::object result = try_short(of_, given, values[inputs]); result.ptr() != Py_NotImplemented) {
        return result;
      }
    }
    return call_long_way(values, count);
  }

 private:
  const Ufunc& of_;
  nb::object casting_;
  nb::object order_;
};

// ---- Operators ------------------------------------------------------------------------------------------------------

// All arguments of a function come in one order: the inputs, the attributes, the options.
class ShortCall final : public ShortFunction {
 public:
  // array: which input is a sequence of tensors, or None. fields: DirectML's names of the attributes, with the optional
  // ones last. options: the function's options, out first and device last; only out, dtype, shape and device are
  // handled here, and any other option goes the long way. same: groups of inputs that share a type. fixed: attributes
  // that are the same in every call. long_way accepts the same arguments. equivalent, unless it is None, returns the
  // call that DirectML accepts in place of one that went the long way: (operator, inputs, attributes, the outputs'
  // sizes or None), or None if later calls must go the long way too.
  ShortCall(std::string name, std::size_t inputs, nb::handle array, nb::handle fields, std::size_t required,
            nb::handle options, nb::handle same, nb::dict fixed, nb::object long_way, nb::object equivalent)
      : ShortFunction(std::move(long_way)),
        name_(std::move(name)),
        known_(facts::find_operator(name_)),
        inputs_(inputs),
        array_(array.is_none() ? inputs : nb::cast<std::size_t>(array)),
        required_(required),
        fixed_(std::move(fixed)),
        equivalent_(std::move(equivalent)) {
    for (const nb::handle option : options) {
      const auto text = nb::cast<std::string>(option);
      is_ours_.push_back(text == "dtype" || text == "shape");
    }
    for (const nb::handle field : fields) {
      fields_.push_back(nb::borrow(field));
    }
    for (const nb::handle group : same) {
      std::vector<std::size_t>& all = same_.emplace_back();
      for (const nb::handle one : group) {
        all.push_back(nb::cast<std::size_t>(one));
      }
    }
  }

  nb::object call(PyObject* const* values, std::size_t count) override {
    check_count(name_, count, inputs_ + fields_.size() + is_ours_.size());
    SeenCall seen;
    const bool has_form = see(values, seen);
    if (has_form) {
      if (const Forms::Known form = forms_.find(seen.key)) {
        if (nb::object result = form->run(seen); result.is_valid()) {
          return result;
        }
        return call_long_way(values, count);
      }
    }
    nb::object result = call_long_way(values, count);
    if (has_form && forms_.is_second(seen.key)) {
      try {
        keep(values, seen.key, result);
      } catch (nb::python_error&) {  // the call itself succeeded
      } catch (const std::bad_alloc&) {
      }
    }
    return result;
  }

 private:
  [[nodiscard]] PyObject* option(PyObject* const* values, std::size_t i) const {
    return values[inputs_ + fields_.size() + i];
  }

  [[nodiscard]] bool see(PyObject* const* values, SeenCall& seen) const {
    if (option(values, is_ours_.size() - 1) != Py_None) {  // the device
      return false;
    }
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (i != array_) {
        if (!seen.take_input(values[i])) {
          return false;
        }
      } else if (!see_sequence(values[i], seen)) {
        return false;
      }
    }
    if (!seen.take_outs(option(values, 0))) {
      return false;
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!seen.key.add_value(values[inputs_ + i])) {
        return false;
      }
    }
    for (std::size_t i = 1; i + 1 < is_ours_.size(); ++i) {
      if (is_ours_[i] ? !seen.key.add_value(option(values, i)) : option(values, i) != Py_None) {
        return false;
      }
    }
    return true;
  }

  static bool see_sequence(PyObject* all, SeenCall& seen) {
    if (!PyList_CheckExact(all) && !PyTuple_CheckExact(all)) {
      return false;
    }
    return seen.take_each(all, [&](PyObject* one) { return seen.take_input(one); });
  }

  // Compiles a call that just went the long way, for the next such call. The arrays may have changed meanwhile.
  [[gnu::noinline]] void keep(PyObject* const* values, const FormKey& key, nb::handle result) {
    SeenCall seen;
    if (!see(values, seen) || !is_same(seen.key, key)) {
      PyErr_Clear();
      return;
    }
    nb::dict given = nb::steal<nb::dict>(PyDict_Copy(fixed_.ptr()));
    if (!given.is_valid()) {
      throw nb::python_error();
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      PyObject* const value = values[inputs_ + i];
      if (i < required_ || value != Py_None) {
        given[fields_[i]] = nb::borrow(value);
      }
    }
    std::string name = name_;
    OtherViews views;
    if (!equivalent_.is_none() && !replace(name, given, views, seen, result)) {
      return;
    }
    const Attributes attributes(name == name_ ? known_ : facts::find_operator(name), given);
    auto form = std::make_shared<Form>();
    if (form->compile(
            name.c_str(), attributes, seen, result, [&](std::size_t i) { return type_beside(seen, i); }, views)) {
      forms_.add(key, std::move(form));
    }
  }

  // Replaces the call by its equivalent. Returns false if there is none.
  bool replace(std::string& name, nb::dict& given, OtherViews& views, const SeenCall& seen, nb::handle result) const {
    const nb::tuple inputs = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(seen.inputs)));
    if (!inputs.is_valid()) {
      throw nb::python_error();
    }
    for (std::size_t i = 0; i < seen.inputs; ++i) {
      PyTuple_SET_ITEM(inputs.ptr(), static_cast<Py_ssize_t>(i), nb::borrow(seen.given[i]).release().ptr());
    }
    const nb::object made = in_python([&] { return equivalent_(name_, inputs, given, result); });
    if (made.is_none()) {
      return false;
    }
    name = nb::cast<std::string>(made[0]);
    for (const nb::handle one : made[1]) {
      views.inputs.push_back(nb::borrow(one));
    }
    given = nb::cast<nb::dict>(made[2]);
    if (!made[3].is_none()) {
      for (const nb::handle sizes : made[3]) {
        std::vector<std::int64_t>& all = views.outputs.emplace_back();
        for (const nb::handle size : sizes) {
          all.push_back(nb::cast<std::int64_t>(size));
        }
      }
    }
    return views.inputs.size() == seen.inputs;
  }

  static bool is_same(const FormKey& a, const FormKey& b) {
    return a.size() == b.size() && std::equal(a.words(), a.words() + a.size(), b.words());
  }

  // The type of the arrays beside a number.
  [[nodiscard]] DataType type_beside(const SeenCall& seen, std::size_t number) const {
    for (const std::vector<std::size_t>& group : same_) {
      if (array_ == inputs_ && std::ranges::find(group, number) != group.end()) {
        for (const std::size_t i : group) {
          if (i < seen.inputs && (seen.tag(i) == Tag::array || seen.tag(i) == Tag::tensor)) {
            Operand beside;
            seen.key.read(seen.at[i], beside);
            return static_cast<DataType>(beside.tensor.type);
          }
        }
      }
    }
    return DataType::unknown;
  }

  std::string name_;
  const facts::Operator* known_;
  std::size_t inputs_;
  std::size_t array_;  // inputs_ if no input is a sequence
  std::size_t required_;
  std::vector<bool> is_ours_;  // whether each option is part of the form
  std::vector<nb::object> fields_;
  std::vector<std::vector<std::size_t>> same_;
  nb::dict fixed_;
  nb::object equivalent_;
  Forms forms_;
};

// ---- Graphs ---------------------------------------------------------------------------------------------------------

class ShortGraph {
 public:
  // Returns the result, or NotImplemented if the form is unknown, or if something has changed that the function read.
  nb::object call(const nb::tuple& arguments, nb::handle out) {
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

  // Keeps the form of a call that went the long way, with its arrays as they are now. watch: a weak reference to a
  // watch that describes the objects that the function read, or None.
  void keep(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result, nb::handle watch) {
    try {
      keep_form(arguments, out, compiled, result, watch);
    } catch (nb::python_error&) {  // the call itself went well
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  [[gnu::noinline]] static bool holds(const Form& form) {
    const nb::object watch = nb::steal(PyObject_CallNoArgs(form.watch.ptr()));
    if (!watch.is_valid()) {
      throw nb::python_error();
    }
    return !watch.is_none() && watch_holds(nb::getattr(watch, "tree"), nullptr, true);
  }

  void keep_form(const nb::tuple& arguments, nb::handle out, nb::handle compiled, nb::handle result, nb::handle watch) {
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

  static bool see(const nb::tuple& arguments, nb::handle out, SeenCall& seen) {
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments.ptr());
    bool taken = seen.key.add(Tag::tuple, static_cast<std::uint64_t>(count));
    for (Py_ssize_t i = 0; i < count && taken; ++i) {
      taken = seen.take_argument(PyTuple_GET_ITEM(arguments.ptr(), i));
    }
    return taken && seen.take_outs(out.ptr());
  }

  Forms forms_;
};

// ---- The type -------------------------------------------------------------------------------------------------------

// A type made with Python's C API, because only such a type can be called without a tuple of arguments.
struct ShortFunctionObject {
  PyObject base;
  vectorcallfunc entry;
  ShortFunction* function;
};

inline PyObject* call_short(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) noexcept {
  try {
    if (names != nullptr && PyTuple_GET_SIZE(names) > 0) {
      raise(PyExc_TypeError, "arguments are given by name; expected none");
    }
    return reinterpret_cast<ShortFunctionObject*>(self)
        ->function->call(values, static_cast<std::size_t>(PyVectorcall_NARGS(count)))
        .release()
        .ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

inline nb::object make_callable(std::unique_ptr<ShortFunction> function) {
  static PyTypeObject* const type = [] {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(ShortFunctionObject, entry), READONLY, nullptr}, {}};
    const auto visit_all = [](PyObject* self, visitproc visit, void* arg) {
      Py_VISIT(Py_TYPE(self));
      const ShortFunction* const function = reinterpret_cast<ShortFunctionObject*>(self)->function;
      return function == nullptr ? 0 : function->visit(visit, arg);
    };
    const auto clear = [](PyObject* self) {
      if (ShortFunction* const function = reinterpret_cast<ShortFunctionObject*>(self)->function; function != nullptr) {
        function->clear();
      }
      return 0;
    };
    const auto release = [](PyObject* self) {
      PyTypeObject* const kind = Py_TYPE(self);
      PyObject_GC_UnTrack(self);
      delete reinterpret_cast<ShortFunctionObject*>(self)->function;
      kind->tp_free(self);
      Py_DECREF(kind);
    };
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(static_cast<destructor>(release))},
                                  {Py_tp_traverse, reinterpret_cast<void*>(static_cast<traverseproc>(visit_all))},
                                  {Py_tp_clear, reinterpret_cast<void*>(static_cast<inquiry>(clear))},
                                  {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                  {Py_tp_members, members},
                                  {0, nullptr}};
    static PyType_Spec spec = {"anydml._core.ShortFunction", sizeof(ShortFunctionObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC, slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  if (type == nullptr) {
    throw nb::python_error();
  }
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) {
    throw nb::python_error();
  }
  auto* const self = reinterpret_cast<ShortFunctionObject*>(object);
  self->entry = call_short;
  self->function = function.release();
  return nb::steal(object);
}

}  // namespace anydml::python
