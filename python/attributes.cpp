// SPDX-License-Identifier: MIT
#include "attributes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"
#include "errors.h"
#include "gil.h"
#include "python_api.h"

namespace anydml::python {

Attributes::Attributes(const facts::Operator* op, const nb::dict& given) {
  for (const auto& [name, value] : given) {
    const std::string& text = texts_.emplace_back(name_of(name, "an attribute's name", "a str"));
    const facts::Field* field = find_field(op, text);
    all_.push_back(make(text, value, field == nullptr ? form_of(value) : form_of(*field)));
    if (field != nullptr && !may_be_infinite(*op, *field)) {
      check_finite(all_.back(), value);
    }
  }
}

void Attributes::add_to(std::string& key) const {
  for (const anydml_attribute& one : all_) {
    add_attribute(key, one);
  }
}

const facts::Field* Attributes::find_field(const facts::Operator* op, std::string_view name) {
  if (op == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find_if(op->fields, [&](const facts::Field& field) {
    return facts::is_attribute(field.kind) &&
           (field.name == name || (field.type == facts::FieldType::scale_bias && (name == "Scale" || name == "Bias")));
  });
  return found == op->fields.end() ? nullptr : &*found;
}

bool Attributes::may_be_infinite(const facts::Operator& op, const facts::Field& field) {
  constexpr std::string_view kCompared[] = {"ClipThreshold", "Exponent",     "MaskFilterValue", "Max",
                                            "Min",           "PaddingValue", "Threshold",       "OutOfBoundsInputValue",
                                            "Value",         "ValueStart"};
  const bool is_real = field.type == facts::FieldType::real || field.type == facts::FieldType::reals ||
                       field.type == facts::FieldType::scale_bias || field.type == facts::FieldType::scalar_union;
  return !is_real || std::ranges::find(kCompared, field.name) != std::end(kCompared) ||
         op.name == "ACTIVATION_THRESHOLDED_RELU";  // Alpha is the threshold here
}

void Attributes::check_finite(const anydml_attribute& attribute, nb::handle value) {
  const bool is_array = attribute.type == array_of(ANYDML_FLOAT64);
  if (!is_array && attribute.type != ANYDML_FLOAT64) {
    return;
  }
  for (std::uint32_t i = 0; i < (is_array ? attribute.count : 1); ++i) {
    if (!std::isfinite(is_array ? attribute.value.f64s[i] : attribute.value.f64)) {
      raise(PyExc_ValueError, attribute.name + std::string(" is ") + plain_text(value) +
                                  (is_array ? "; expected finite numbers" : "; expected a finite number"));
    }
  }
}

Attributes::Form Attributes::form_of(const facts::Field& field) {
  switch (field.type) {
    case facts::FieldType::enumeration:
      return Form::name_or_number;
    case facts::FieldType::reals:
    case facts::FieldType::naturals:
    case facts::FieldType::integers:
    case facts::FieldType::size_2d:
      return Form::numbers;
    case facts::FieldType::operators:
      return field.count_field >= 0 ? Form::operators : Form::one_operator;
    default:
      return Form::number;
  }
}

Attributes::Form Attributes::form_of(nb::handle value) {
  return PyUnicode_Check(value.ptr()) != 0 ? Form::name_or_number : Form::number;
}

anydml_attribute Attributes::make(const std::string& name, nb::handle value, Form form) {
  anydml_attribute attribute{};
  attribute.name = name.c_str();
  switch (form) {
    case Form::number:
      set_number(attribute, read_number(name, value, "a number"));
      break;
    case Form::name_or_number:
      if (PyUnicode_Check(value.ptr()) != 0) {
        std::string& text = texts_.emplace_back(name_of(value, name, "a name"));
        std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
        attribute.type = ANYDML_TEXT;
        attribute.value.text = text.c_str();
      } else {
        set_number(attribute, read_number(name, value, "the name of a value, a str, or its number"));
      }
      break;
    case Form::numbers:
      set_numbers(attribute, name, value);
      break;
    case Form::one_operator:
      attribute.type = ANYDML_OPERATOR;
      attribute.value.operators = &operators_.emplace_back(1, read_operator(name, value)).front();
      break;
    case Form::operators: {
      std::vector<anydml_operator>& all = operators_.emplace_back();
      for (const nb::object& one : items_of(name, value, "a sequence of anydml.Operator")) {
        all.push_back(read_operator(name + "[" + std::to_string(all.size()) + "]", one));
      }
      attribute.type = array_of(ANYDML_OPERATOR);
      attribute.count = static_cast<std::uint32_t>(all.size());
      attribute.value.operators = all.data();
      break;
    }
  }
  return attribute;
}

void Attributes::set_number(anydml_attribute& attribute, const Number& number) {
  if (!number.is_integer) {
    attribute.type = ANYDML_FLOAT64;
    attribute.value.f64 = number.real;
  } else if (number.is_large) {
    attribute.type = ANYDML_UINT64;
    attribute.value.u64 = number.natural;
  } else {
    attribute.type = ANYDML_INT64;
    attribute.value.i64 = number.integer;
  }
}

void Attributes::set_numbers(anydml_attribute& attribute, const std::string& name, nb::handle value) {
  std::vector<Number> all;
  for (const nb::object& one : items_of(name, value, "a sequence of numbers")) {
    all.push_back(read_number(name + "[" + std::to_string(all.size()) + "]", one, "a number"));
  }
  attribute.count = static_cast<std::uint32_t>(all.size());
  if (std::ranges::all_of(all, [](const Number& one) { return one.is_integer && !one.is_large; })) {
    std::vector<std::int64_t>& values = integers_.emplace_back();
    std::ranges::transform(all, std::back_inserter(values), &Number::integer);
    attribute.type = array_of(ANYDML_INT64);
    attribute.value.i64s = values.data();
  } else {
    std::vector<double>& values = reals_.emplace_back();
    std::ranges::transform(all, std::back_inserter(values), &Number::real);
    attribute.type = array_of(ANYDML_FLOAT64);
    attribute.value.f64s = values.data();
  }
}

std::vector<nb::object> Attributes::items_of(const std::string& name, nb::handle value, const char* expected) {
  // Attributes are read several times, but an iterator can be read only once.
  const bool is_refused =
      PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0 || PyIter_Check(value.ptr());
  const nb::object fast =
      is_refused ? nb::object() : nb::steal(in_python([&] { return PySequence_Fast(value.ptr(), "no sequence"); }));
  if (!fast.is_valid()) {
    if (!is_refused) {
      leave_type_errors_aside();
    }
    raise(PyExc_TypeError, name + " is " + text_of(value) + "; expected " + expected);
  }
  std::vector<nb::object> items;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); ++i) {
    items.push_back(nb::borrow(PySequence_Fast_GET_ITEM(fast.ptr(), i)));
  }
  return items;
}

anydml_operator Attributes::read_operator(const std::string& name, nb::handle value) {
  const nb::object kind = in_python([] { return nb::object(nb::module_::import_("anydml._core").attr("Operator")); });
  if (PyObject_IsInstance(value.ptr(), kind.ptr()) != 1) {
    PyErr_Clear();
    raise(PyExc_TypeError, name + " is " + text_of(value) + "; expected an anydml.Operator");
  }
  const std::string& op = texts_.emplace_back(operator_name(value.attr("name")));
  const nb::object attributes = value.attr("attributes");
  nested_.push_back(std::make_unique<Attributes>(facts::find_operator(op), nb::cast<nb::dict>(attributes)));
  return {op.c_str(), nested_.back()->data(), nested_.back()->size()};
}

Attributes::Number Attributes::read_number(const std::string& name, nb::handle value, const char* expected) {
  Number number;
  if (const nb::object integer = as_integer(value); integer.is_valid()) {
    int overflow = 0;
    number.is_integer = true;
    number.integer = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    number.real = static_cast<double>(number.integer);
    if (overflow > 0) {
      number.is_large = true;
      number.natural = PyLong_AsUnsignedLongLong(integer.ptr());
      number.real = static_cast<double>(number.natural);
    }
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      raise(PyExc_ValueError,
            name + " is " + text_of(value) + ", which does not fit in 64 bits; expected a smaller integer");
    }
    return number;
  }
  const PyNumberMethods* methods = Py_TYPE(value.ptr())->tp_as_number;
  if (methods != nullptr && methods->nb_float != nullptr && !is_complex(value)) {
    number.real = in_python([&] { return PyFloat_AsDouble(value.ptr()); });
    if (PyErr_Occurred() == nullptr) {
      return number;
    }
    leave_type_errors_aside();
  }
  raise(PyExc_TypeError, name + " is " + text_of(value) + "; expected " + expected);
}

nb::object Attributes::as_integer(nb::handle value) {
  if (PyFloat_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) {
    return {};
  }
  nb::object integer = nb::steal(in_python([&] { return PyNumber_Index(value.ptr()); }));
  if (!integer.is_valid()) {
    leave_type_errors_aside();  // float arrays and tensors have an __index__ that raises TypeError
  }
  return integer;
}

bool Attributes::is_complex(nb::handle value) {
  return PyArray_Check(value.ptr()) != 0 ? PyArray_ISCOMPLEX(reinterpret_cast<PyArrayObject*>(value.ptr()))
                                         : PyArray_IsScalar(value.ptr(), ComplexFloating);
}

void Attributes::leave_type_errors_aside() {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
    throw nb::python_error();
  }
  PyErr_Clear();
}

void Attributes::add_bytes(std::string& key, const void* bytes, std::size_t count) {
  key.append(static_cast<const char*>(bytes), count);
}

void Attributes::add_attribute(std::string& key, const anydml_attribute& one) {
  key.append(one.name).push_back('\0');
  add_bytes(key, &one.type, sizeof(one.type));
  add_bytes(key, &one.count, sizeof(one.count));
  if (one.type == ANYDML_TEXT) {
    key.append(one.value.text).push_back('\0');
  } else if ((one.type & ~std::uint32_t{ANYDML_ARRAY}) == ANYDML_OPERATOR) {
    const std::size_t count = (one.type & ANYDML_ARRAY) != 0 ? one.count : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const anydml_operator& nested = one.value.operators[i];
      key.append(nested.name).push_back('\0');
      add_bytes(key, &nested.attribute_count, sizeof(nested.attribute_count));
      for (std::size_t j = 0; j < nested.attribute_count; ++j) {
        add_attribute(key, nested.attributes[j]);
      }
    }
  } else if ((one.type & ANYDML_ARRAY) != 0) {
    add_bytes(key, one.value.f64s, one.count * sizeof(double));  // numbers of every kind are 8 bytes wide
  } else {
    add_bytes(key, &one.value, sizeof(one.value));
  }
}

}  // namespace anydml::python
