// SPDX-License-Identifier: MIT
#include "call_key.h"

#include <structmember.h>

#include <algorithm>
#include <cstdint>

#include "gil.h"

namespace anydml::python {

void CallKey::read(std::size_t at, Operand& operand) const {
  const std::uint64_t word = words_[at];
  const bool is_array = static_cast<Tag>(word & 0xff) == Tag::array;
  const auto number = static_cast<int>(word >> 8 & 0xff);
  const auto rank = static_cast<int>(word >> 16 & 0xff);
  const DataType type = !is_array            ? static_cast<DataType>(number)
                        : number == NPY_BOOL ? DataType::UINT8
                                             : type_of(number);
  const std::int64_t size = is_array ? static_cast<std::int64_t>(element_size(type)) : 1;
  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    operand.sizes[i] = static_cast<std::int64_t>(words_[at + 1 + static_cast<std::size_t>(i)]);
    operand.strides[i] = operand.sizes[i] == 1
                             ? 0
                             : static_cast<std::int64_t>(words_[at + 1 + static_cast<std::size_t>(rank + i)]) / size;
    empty = empty || operand.sizes[i] == 0;
  }
  if (empty) {
    std::fill_n(operand.strides, rank, 0);
  }
  operand.tensor = {static_cast<anydml_type>(type), rank, operand.sizes, operand.strides, nullptr};
}

bool CallKey::add_other(PyObject* value, int depth) {
  PyTypeObject* const kind = Py_TYPE(value);
  if (PyType_Check(value)) {  // built-in types of Python and NumPy never change
    return (reinterpret_cast<PyTypeObject*>(value)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 && add(Tag::type) &&
           add_word(reinterpret_cast<std::uint64_t>(value));
  }
  if (PyArray_DescrCheck(value)) {
    const int number = reinterpret_cast<PyArray_Descr*>(value)->type_num;
    if (!is_taken(number)) {
      return false;
    }
    const nb::object plain = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
    return plain.ptr() == value && add(Tag::element_type, static_cast<std::uint64_t>(number));
  }
  if (PyArray_IsScalar(value, Number) && (kind->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
    const nb::object of = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(value)));
    const int number = of.is_valid() ? reinterpret_cast<PyArray_Descr*>(of.ptr())->type_num : NPY_VOID;
    if (!is_taken(number)) {
      PyErr_Clear();
      return false;
    }
    std::uint64_t bits = 0;
    PyArray_ScalarAsCtype(value, &bits);
    return add(Tag::scalar, static_cast<std::uint64_t>(number)) && add_word(bits);
  }
  return depth < kDepth && add_operator(value, depth);
}

bool CallKey::add_operator(PyObject* value, int depth) {
  const OperatorType& type = operator_type();
  if (Py_TYPE(value) != type.type) {
    return false;
  }
  const auto slot = [&](Py_ssize_t offset) {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(value) + offset);
  };
  PyObject* const name = slot(type.name);
  PyObject* const all = slot(type.attributes);
  if (name == nullptr || all == nullptr || !PyUnicode_CheckExact(name) || !PyDict_CheckExact(all)) {
    return false;
  }
  bool taken = add(Tag::nested_operator, static_cast<std::uint64_t>(PyDict_GET_SIZE(all))) && add_text(name);
  PyObject* key = nullptr;
  PyObject* one = nullptr;
  for (Py_ssize_t position = 0; taken && PyDict_Next(all, &position, &key, &one) != 0;) {
    taken = PyUnicode_CheckExact(key) && add_text(key) && add_value(one, depth + 1);
  }
  return taken;
}

const CallKey::OperatorType& CallKey::operator_type() {
  static OperatorType known;
  if (known.type == nullptr) {
    nb::object found =
        in_python([] { return nb::getattr(nb::module_::import_("anydml._core"), "Operator", nb::none()); });
    const auto offset = [&](const char* name) {
      const nb::object member = nb::getattr(found, name, nb::none());
      return Py_TYPE(member.ptr()) == &PyMemberDescr_Type
                 ? reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member->offset
                 : Py_ssize_t{0};
    };
    known.name = offset("name");
    known.attributes = offset("attributes");
    if (known.name > 0 && known.attributes > 0) {
      known.type = reinterpret_cast<PyTypeObject*>(found.release().ptr());
    }
  }
  return known;
}

}  // namespace anydml::python
