// SPDX-License-Identifier: MIT
// Calls whose form was there before: nothing is inferred, checked or compiled again. What has no form, and a form that
// is not known, goes the long way.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device_arrays.h"
#include "form_key.h"
#include "gil.h"
#include "operand.h"

namespace anydml::python {

// A call as it is given: its form, and where its operands lie.
struct SeenCall {
  static constexpr std::size_t kMost = 24;  // operands

  FormKey key;
  std::size_t count = 0;
  std::size_t inputs = 0;
  void* memory[kMost];
  PyObject* given[kMost];
  std::uint16_t at[kMost];           // its place in the key
  const Library* library = nullptr;  // where they are PyTorch's tensors
  bool has_arrays = false;           // where they are NumPy's

  // An operand of an operator. Numbers take the type of the arrays beside them; None is absent.
  [[nodiscard]] bool take_input(PyObject* one) {
    if (PyArray_CheckExact(one)) {
      return take_array(one);
    }
    if (one == Py_None) {
      return take_other(one, Tag::nothing);
    }
    if (PyFloat_CheckExact(one) || PyLong_CheckExact(one)) {
      return take_other(one, Tag::number, PyFloat_CheckExact(one) ? 1 : 0);
    }
    return take_tensor(one);
  }

  // An argument of a graph: an array, or a constant, which is part of the form.
  [[nodiscard]] bool take_argument(PyObject* one) {
    if (PyArray_CheckExact(one)) {
      return take_array(one);
    }
    if (one == Py_None || PyFloat_CheckExact(one) || PyLong_CheckExact(one) || PyBool_Check(one) ||
        PyUnicode_CheckExact(one)) {
      return key.add_value(one);
    }
    return take_tensor(one);
  }

  // None and True may stand for a new array, and None for none.
  [[nodiscard]] bool take_out(PyObject* one) {
    if (one == Py_None || one == Py_True) {
      return take_other(one, one == Py_None ? Tag::nothing : Tag::yes);
    }
    return PyArray_CheckExact(one) ? PyArray_ISWRITEABLE(as_array(one)) && take_array(one) : take_tensor(one);
  }

  // One, or a list of them.
  [[nodiscard]] bool take_outs(PyObject* out) {
    inputs = count;
    if (!PyList_CheckExact(out) && !PyTuple_CheckExact(out)) {
      return take_out(out);
    }
    bool taken = key.add(Tag::tuple, static_cast<std::uint64_t>(Py_SIZE(out)));
    for (Py_ssize_t i = 0; i < Py_SIZE(out) && taken; ++i) {
      taken = take_out(PySequence_Fast_GET_ITEM(out, i));
    }
    return taken;
  }

 private:
  [[nodiscard]] bool add(PyObject* one, void* its_memory) {
    if (count == kMost) {
      return false;
    }
    memory[count] = its_memory;
    given[count] = one;
    at[count++] = static_cast<std::uint16_t>(key.size());
    return true;
  }
  [[nodiscard]] bool take_other(PyObject* one, Tag tag, std::uint64_t more = 0) {
    return add(one, nullptr) && key.add(tag, more);
  }
  [[nodiscard]] bool take_array(PyObject* one) {
    has_arrays = true;
    return library == nullptr && add(one, PyArray_DATA(as_array(one))) && key.add_array(as_array(one));
  }
  // Of PyTorch's own type, in the CPU's memory, and as its memory shows it.
  [[nodiscard]] bool take_tensor(PyObject* one) {
    if (has_arrays) {
      return false;
    }
    DeviceOperand operand;
    operand.locate_plain(one);
    if (!operand.viewed) {
      return false;
    }
    library = operand.library;
    return add(one, operand.memory()) && key.add_tensor(dlpack::type_of(operand.view.type), operand.view.rank,
                                                        operand.operand.sizes, operand.operand.strides);
  }
};

// What is known of a form: what was compiled for it, and what it returns.
struct Form {
  enum class Kind { absent, given, made };
  struct Output {
    Kind kind = Kind::absent;
    int numpy_type = NPY_VOID;
    int rank = 0;
    npy_intp sizes[kMostDimensions] = {};
    nb::object like;  // a tensor, where the output is one
  };
  static constexpr std::int64_t kMostKept = 1 << 16;  // bytes of a tensor that is kept to make others like it

  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  std::shared_ptr<const anydml_compiled> compiled;
  nb::object owner;               // of what was compiled, if it is somebody else's
  std::vector<DataType> numbers;  // of the inputs: the types that numbers take. Empty where there are none
  std::size_t inputs = 0;
  std::vector<Output> outputs;
  bool several = false;   // it returns a tuple
  bool releases = false;  // others may run Python meanwhile
  const Library* library = nullptr;

  // Says of each output where it comes from. False where another call may not do it again.
  [[nodiscard]] bool take_result(const SeenCall& seen, nb::handle result) {
    several = PyTuple_CheckExact(result.ptr());
    const std::size_t count = several ? static_cast<std::size_t>(PyTuple_GET_SIZE(result.ptr())) : 1;
    if (seen.inputs + count > SeenCall::kMost) {
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      PyObject* const one = several ? PyTuple_GET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i)) : result.ptr();
      const std::size_t place = seen.inputs + i;
      PyObject* const given = place < seen.count ? seen.given[place] : Py_None;
      Output& output = outputs.emplace_back();
      if (one == Py_None) {
        continue;
      }
      if (given != Py_None && given != Py_True) {
        output.kind = Kind::given;
        if (one != given) {
          return false;
        }
      } else if (!take_made(output, one)) {
        return false;
      }
    }
    return true;
  }

  // The result; none where the long way has to say what is wrong.
  [[nodiscard]] nb::object run(const SeenCall& seen) const {
    void* memory[2 * SeenCall::kMost];
    alignas(8) char scalars[SeenCall::kMost][8];
    std::copy_n(seen.memory, inputs, memory);
    if (!numbers.empty() && !read_numbers(seen, memory, scalars)) {
      return {};
    }
    nb::object result;
    if (several) {
      result = checked(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Output& output = outputs[i];
      nb::object one;
      memory[inputs + i] = nullptr;
      if (output.kind == Kind::given) {
        one = nb::borrow(seen.given[inputs + i]);
        memory[inputs + i] = seen.memory[inputs + i];
      } else if (output.kind == Kind::absent) {
        one = nb::none();
      } else if (library == nullptr) {
        one = checked(PyArray_EMPTY(output.rank, output.sizes, output.numpy_type, 0));
        memory[inputs + i] = PyArray_DATA(as_array(one.ptr()));
      } else {
        one = in_python([&] { return library->empty_like(output.like); });
        DeviceOperand made;
        made.locate(one);
        if (!made.viewed) {
          return {};
        }
        memory[inputs + i] = made.memory();
      }
      if (several) {
        PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), one.release().ptr());
      } else {
        result = std::move(one);
      }
    }
    const int code = execute(memory);
    if (code == ANYDML_INVALID_ARGUMENT) {  // which is found out before anything is written
      return {};
    }
    if (code != ANYDML_OK) {
      raise_last(code);
    }
    return result;
  }

 private:
  static nb::object checked(PyObject* made) {
    if (made == nullptr) {
      throw nb::python_error();
    }
    return nb::steal(made);
  }

  [[nodiscard]] int execute(void* const* memory) const {
    const auto run = [&] {
      return anydml_compiled_run(compiled.get(), memory, inputs, memory + inputs, outputs.size());
    };
    if (releases) {
      const GilReleased released;
      return run();
    }
    return run();
  }

  [[nodiscard]] bool read_numbers(const SeenCall& seen, void** memory, char (*scalars)[8]) const {
    for (std::size_t i = 0; i < inputs; ++i) {
      if (numbers[i] != DataType::unknown) {
        Operand operand;
        if (!operand.take_number(seen.given[i], numbers[i])) {
          return false;
        }
        std::memcpy(scalars[i], operand.scalar, sizeof(operand.scalar));
        memory[i] = scalars[i];
      }
    }
    return true;
  }

  // A new array is packed; a tensor is remembered by another one.
  [[nodiscard]] bool take_made(Output& output, PyObject* one) const {
    output.kind = Kind::made;
    if (PyArray_CheckExact(one)) {
      PyArrayObject* const array = as_array(one);
      output.numpy_type = PyArray_TYPE(array);
      output.rank = PyArray_NDIM(array);
      if (library != nullptr || output.rank > kMostDimensions || !PyArray_IS_C_CONTIGUOUS(array)) {
        return false;
      }
      std::copy_n(PyArray_DIMS(array), output.rank, output.sizes);
      const nb::object plain = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(output.numpy_type)));
      return plain.ptr() == reinterpret_cast<PyObject*>(PyArray_DESCR(array));
    }
    DeviceOperand operand;
    operand.locate_plain(one);
    if (library == nullptr || !operand.viewed || operand.library != library ||
        dlpack::type_of(operand.view.type) == DataType::unknown || operand.view.rank > kMostDimensions) {
      return false;
    }
    std::int64_t bytes = operand.view.type.bits / 8;
    for (int i = operand.view.rank - 1; i >= 0; --i) {
      output.sizes[i] = operand.operand.sizes[i];
      bytes *= operand.operand.sizes[i];
    }
    output.rank = operand.view.rank;
    output.numpy_type = static_cast<int>(dlpack::type_of(operand.view.type));
    if (bytes > kMostKept) {
      return false;
    }
    output.like = in_python([&] { return library->empty_like(nb::handle(one)); });
    return true;
  }
};

// The forms that are known to one function, the last ones. Used with the GIL held.
class Forms {
 public:
  static constexpr std::size_t kMost = 32;
  using Known = std::shared_ptr<const Form>;

  [[nodiscard]] Known find(const FormKey& key) {
    if (last_ < all_.size() && is(*all_[last_], key)) {
      return all_[last_];
    }
    const std::uint64_t hash = hash_of(key);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i]->hash == hash && is(*all_[i], key)) {
        last_ = i;
        return all_[i];
      }
    }
    return nullptr;
  }

  // Whether it was asked before, lately: a form that comes once is not worth compiling.
  [[nodiscard]] bool is_repeated(const FormKey& key) {
    const std::uint64_t hash = hash_of(key);
    const bool known = std::ranges::find(asked_, hash) != asked_.end();
    if (!known) {
      asked_[next_asked_++ % asked_.size()] = hash;
    }
    return known;
  }

  void add(const FormKey& key, std::shared_ptr<Form> form) {
    form->key.assign(key.words(), key.words() + key.size());
    form->hash = hash_of(key);
    Known gone = std::move(form);  // the oldest then, which may run Python as it goes
    if (all_.size() < kMost) {
      all_.push_back(std::move(gone));
    } else {
      all_[oldest_++ % kMost].swap(gone);
    }
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  static bool is(const Form& form, const FormKey& key) {
    return form.key.size() == key.size() &&
           std::memcmp(form.key.data(), key.words(), key.size() * sizeof(std::uint64_t)) == 0;
  }
  static std::uint64_t hash_of(const FormKey& key) {
    std::uint64_t hash = key.size();
    for (std::size_t i = 0; i < key.size(); ++i) {
      hash = (hash ^ key.words()[i]) * 0x9e37'79b9'7f4a'7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::vector<Known> all_;
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
  std::array<std::uint64_t, kMost> asked_{};
  std::size_t next_asked_ = 0;
};

}  // namespace anydml::python
