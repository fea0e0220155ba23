// SPDX-License-Identifier: MIT
#include "fast_operator.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes.h"
#include "base/element.h"
#include "call.h"
#include "call_arguments.h"
#include "call_cache.h"
#include "call_key.h"
#include "errors.h"
#include "facts/facts.h"
#include "fast_function.h"
#include "gil.h"
#include "operand.h"

namespace anydml::python {
namespace {

// The arguments are the inputs, then the attributes, then the options.
class FastOperator final : public FastFunction {
 public:
  FastOperator(std::string name, std::size_t inputs, nb::handle array, nb::handle fields, std::size_t required,
               nb::handle options, nb::handle same, nb::object slow_path, nb::dict fixed, nb::object equivalent);

  nb::object call(PyObject* const* values, std::size_t count) override {
    check_count(name_, count, inputs_ + fields_.size() + is_ours_.size());
    CallArguments args;
    const bool has_key = read_arguments(values, args);
    if (has_key) {
      if (const CallCache::Entry cached = cache_.find(args.key)) {
        if (nb::object result = cached->run(args); result.is_valid()) {
          return result;
        }
        return call_slow_path(values, count);
      }
    }
    nb::object result = call_slow_path(values, count);
    if (has_key && cache_.is_worth_caching(args.key)) {
      try_to_cache([&] { add_to_cache(values, args.key, result); });
    }
    return result;
  }

 private:
  [[nodiscard]] PyObject* option(PyObject* const* values, std::size_t i) const {
    return values[inputs_ + fields_.size() + i];
  }

  [[nodiscard]] bool read_arguments(PyObject* const* values, CallArguments& args) const {
    if (option(values, is_ours_.size() - 1) != Py_None) {  // the device
      return false;
    }
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (i != array_) {
        if (!args.add_input(values[i])) {
          return false;
        }
      } else if (!read_sequence(values[i], args)) {
        return false;
      }
    }
    if (!args.add_outs(option(values, 0))) {
      return false;
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!args.key.add_value(values[inputs_ + i])) {
        return false;
      }
    }
    for (std::size_t i = 1; i + 1 < is_ours_.size(); ++i) {
      if (is_ours_[i] ? !args.key.add_value(option(values, i)) : option(values, i) != Py_None) {
        return false;
      }
    }
    return true;
  }

  static bool read_sequence(PyObject* all, CallArguments& args) {
    if (!PyList_CheckExact(all) && !PyTuple_CheckExact(all)) {
      return false;
    }
    return args.add_each(all, [&](PyObject* one) { return args.add_input(one); });
  }

  // Compiles and caches a call that just took the slow path, unless its arrays have changed since.
  [[gnu::noinline]] void add_to_cache(PyObject* const* values, const CallKey& key, nb::handle result);

  // Replaces the call with its equivalent. Returns false if it has none.
  bool replace(std::string& name, nb::dict& given, OtherViews& views, const CallArguments& args,
               nb::handle result) const;

  std::string name_;
  const facts::Operator* known_;
  std::size_t inputs_;
  std::size_t array_;  // inputs_ if no input is a sequence
  std::size_t required_;
  std::vector<bool> is_ours_;  // whether each option is part of the key
  std::vector<nb::object> fields_;
  std::vector<std::vector<std::size_t>> same_;  // empty if an input is a sequence
  nb::dict fixed_;
  nb::object equivalent_;
  CallCache cache_;
};

FastOperator::FastOperator(std::string name, std::size_t inputs, nb::handle array, nb::handle fields,
                           std::size_t required, nb::handle options, nb::handle same, nb::object slow_path,
                           nb::dict fixed, nb::object equivalent)
    : FastFunction(std::move(slow_path)),
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
  if (array_ != inputs_) {
    return;  // a sequence of tensors changes the positions of the inputs
  }
  for (const nb::handle group : same) {
    same_.push_back(numbers_in<std::size_t>(group));
  }
}

void FastOperator::add_to_cache(PyObject* const* values, const CallKey& key, nb::handle result) {
  CallArguments args;
  if (!read_arguments(values, args) || args.key != key) {
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
  if (!equivalent_.is_none() && !replace(name, given, views, args, result)) {
    return;
  }
  const Attributes attributes(name == name_ ? known_ : facts::find_operator(name), given);
  auto cached = std::make_shared<CachedCall>();
  if (cached->compile(name.c_str(), attributes, args, result, same_, views)) {
    cache_.add(key, std::move(cached));
  }
}

bool FastOperator::replace(std::string& name, nb::dict& given, OtherViews& views, const CallArguments& args,
                           nb::handle result) const {
  const nb::tuple inputs = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(args.inputs)));
  if (!inputs.is_valid()) {
    throw nb::python_error();
  }
  for (std::size_t i = 0; i < args.inputs; ++i) {
    PyTuple_SET_ITEM(inputs.ptr(), static_cast<Py_ssize_t>(i), nb::borrow(args.given[i]).release().ptr());
  }
  const nb::object replacement = in_python([&] { return equivalent_(name_, inputs, given, result); });
  if (replacement.is_none()) {
    return false;
  }
  name = nb::cast<std::string>(replacement[0]);
  for (const nb::handle one : replacement[1]) {
    views.inputs.push_back(nb::borrow(one));
  }
  given = nb::cast<nb::dict>(replacement[2]);
  if (!replacement[3].is_none()) {
    for (const nb::handle sizes : replacement[3]) {
      views.outputs.push_back(numbers_in(sizes));
    }
  }
  return views.inputs.size() == args.inputs;
}

}  // namespace

nb::object make_fast_operator(std::string name, std::size_t inputs, nb::handle array, nb::handle fields,
                              std::size_t required, nb::handle options, nb::handle same, nb::object slow_path,
                              nb::dict fixed, nb::object equivalent) {
  return make_callable(std::make_unique<FastOperator>(std::move(name), inputs, array, fields, required, options, same,
                                                      std::move(slow_path), std::move(fixed), std::move(equivalent)));
}

}  // namespace anydml::python
