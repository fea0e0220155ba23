// SPDX-License-Identifier: MIT
// Calls that repeat a known form: nothing is inferred, checked or compiled again. Calls without a form, or with an
// unknown form, go the long way.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "attributes.h"
#include "call.h"
#include "compiled.h"
#include "device_arrays.h"
#include "facts/facts.h"
#include "form_key.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"

namespace anydml::python {

// The arguments of a call: its form, and the memory of its operands.
struct SeenCall {
  static constexpr std::size_t kMost = 24;  // operands

  FormKey key;
  std::size_t count = 0;
  std::size_t inputs = 0;
  void* memory[kMost];
  PyObject* given[kMost];
  std::uint16_t at[kMost];           // each operand's place in the key
  const Library* library = nullptr;  // set if the operands are PyTorch tensors
  bool has_arrays = false;           // whether operands are NumPy arrays
  nb::object held[2];                // copies of lists

  // Adds an operand of an operator. Numbers take the type of the arrays beside them; None means absent.
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

  // Adds an argument of a graph: an array, or a constant, which is part of the form.
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

  // None and True may ask for a new array; None may also leave the output out.
  [[nodiscard]] bool take_out(PyObject* one) {
    if (one == Py_None || one == Py_True) {
      return take_other(one, one == Py_None ? Tag::nothing : Tag::yes);
    }
    return PyArray_CheckExact(one) ? PyArray_ISWRITEABLE(as_array(one)) && take_array(one) : take_tensor(one);
  }

  // Adds one output, or a list of outputs.
  [[nodiscard]] bool take_outs(PyObject* out) {
    inputs = count;
    if (!PyList_CheckExact(out) && !PyTuple_CheckExact(out)) {
      return take_out(out);
    }
    return take_each(out, [&](PyObject* one) { return take_out(one); });
  }

  // Adds the items of a list or tuple. Other threads may change a list meanwhile, so its items are held.
  template <class Take>
  [[nodiscard]] bool take_each(PyObject* all, Take take) {
    if (PyList_CheckExact(all)) {
      nb::object& items = held[held[0].is_valid() ? 1 : 0];
      items = nb::steal(PyList_AsTuple(all));
      if (!items.is_valid()) {
        throw nb::python_error();
      }
      all = items.ptr();
    }
    bool taken = key.add(Tag::tuple, static_cast<std::uint64_t>(PyTuple_GET_SIZE(all)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all) && taken; ++i) {
      taken = take(PyTuple_GET_ITEM(all, i));
    }
    return taken;
  }

  [[nodiscard]] Tag tag(std::size_t i) const { return static_cast<Tag>(key.words()[at[i]] & 0xff); }

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
  // Adds a tensor of PyTorch's own type in CPU memory, whose values are exactly the elements in memory.
  [[nodiscard]] bool take_tensor(PyObject* one) {
    if (has_arrays) {
      return false;
    }
    DeviceOperand operand;
    operand.locate_plain(one);
    if (!operand.viewed || (library == nullptr && operand.library->is_watched())) {
      return false;
    }
    library = operand.library;
    return add(one, operand.memory()) && key.add_tensor(dlpack::type_of(operand.view.type), operand.view.rank,
                                                        operand.operand.sizes, operand.operand.strides);
  }
};

inline constexpr std::int64_t kFewElements = 4096;      // calls with this many elements or more release the GIL
inline constexpr std::int64_t kFewOfOtherShapes = 512;  // the same if a result depends on many elements

// How the operator's operands differ from the arguments of a call: other views of the same memory.
struct OtherViews {
  std::vector<nb::object> inputs;                  // empty, or one for each input
  std::vector<std::vector<std::int64_t>> outputs;  // empty, or the sizes of each output
};

// A known form: its compiled operator, and a description of its results.
struct Form {
  enum class Kind { absent, given, made };
  struct Output {
    Kind kind = Kind::absent;
    int number = NPY_VOID;  // of its type: NumPy's, or ours if it is a tensor
    int rank = 0;
    npy_intp sizes[kMostDimensions] = {};
    nb::object like;  // its dtype, or a similar tensor if the output is a tensor
  };
  static constexpr std::int64_t kMostKept = 1 << 16;  // bytes of a tensor kept as a template

  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  std::shared_ptr<const anydml_compiled> compiled;
  nb::object owner;               // owns `compiled` if the form does not
  nb::object watch;               // a weak reference to the description of objects that must not have changed, if any
  std::vector<DataType> numbers;  // for each input, the type of a number; empty without numbers
  std::size_t inputs = 0;
  std::vector<Output> outputs;
  std::vector<Operand> operands;  // an operator's inputs, then outputs, without their memory
  bool several = false;           // it returns a tuple
  bool releases = false;          // the call releases the GIL
  const Library* library = nullptr;

  // Compiles the operator for calls like one that succeeded. type_beside(input) is the type that a number takes.
  // Returns false if such calls must go the long way.
  template <class TypeBeside>
  [[nodiscard]] bool compile(const char* op, const Attributes& attributes, const SeenCall& seen, nb::handle result,
                             TypeBeside type_beside, const OtherViews& views = {}) {
    if (!take_result(seen, result)) {
      return false;
    }
    operands.resize(inputs + outputs.size());
    std::vector<anydml_tensor> tensors;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i < inputs ? !read_input(seen, i, type_beside) || !look_at(seen, i, views)
                     : !read_output(seen, i) || !look_at_output(i, views)) {
        return false;
      }
      tensors.push_back(operands[i].tensor);
      most = std::max(most, element_count(tensors.back()));
    }
    anydml_compiled* made = nullptr;
    if (is_too_large(most) ||
        anydml_compile(nullptr, op, tensors.data(), inputs, tensors.data() + inputs, outputs.size(), attributes.data(),
                       attributes.size(), &made) != ANYDML_OK) {
      return false;
    }
    compiled = {made, [](const anydml_compiled* one) { anydml_compiled_release(const_cast<anydml_compiled*>(one)); }};
    releases = most >= (has_one_shape(facts::find_operator(op)) ? kFewElements : kFewOfOtherShapes);
    return true;
  }

  // Records the origin of each output. Returns false if another call may not repeat it.
  [[nodiscard]] bool take_result(const SeenCall& seen, nb::handle result) {
    library = seen.library;
    inputs = seen.inputs;
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

  // Returns the result, or nothing if the long way must report an error.
  [[nodiscard]] nb::object run(const SeenCall& seen) const {
    return run_by(seen, [this](void* const* memory) {
      if (releases) {
        const GilReleased released;
        return execute(memory);
      }
      return execute(memory);
    });
  }

  // `memory` holds the addresses of the inputs, then of the outputs.
  [[nodiscard]] int execute(void* const* memory) const {
    return anydml_compiled_run(compiled.get(), memory, inputs, memory + inputs, outputs.size());
  }

  // Does the same with a function run(addresses), which returns the status code.
  template <class Run>
  [[nodiscard]] nb::object run_by(const SeenCall& seen, Run run) const {
    void* memory[2 * SeenCall::kMost];
    alignas(8) char scalars[SeenCall::kMost][8];
    std::copy_n(seen.memory, inputs, memory);
    if (!numbers.empty() && !read_numbers(seen, memory, scalars)) {
      return {};
    }
    nb::object result;
    nb::handle written[SeenCall::kMost];
    std::size_t written_count = 0;
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
        written[written_count++] = one;
      } else if (output.kind == Kind::absent) {
        one = nb::none();
      } else if (library == nullptr) {
        auto* const dtype = reinterpret_cast<PyArray_Descr*>(nb::object(output.like).release().ptr());
        one = checked(
            PyArray_NewFromDescr(&PyArray_Type, dtype, output.rank, output.sizes, nullptr, nullptr, 0, nullptr));
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
    const int code = run(static_cast<void* const*>(memory));
    if (code == ANYDML_INVALID_ARGUMENT) {  // found before anything is written
      return {};
    }
    if (code != ANYDML_OK) {
      raise_last(code);
    }
    tell_written(library, written, written_count);
    return result;
  }

 private:
  static nb::object checked(PyObject* made) {
    if (made == nullptr) {
      throw nb::python_error();
    }
    return nb::steal(made);
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

  template <class TypeBeside>
  [[nodiscard]] bool read_input(const SeenCall& seen, std::size_t i, TypeBeside type_beside) {
    if (seen.tag(i) == Tag::number) {
      const DataType type = type_beside(i);
      numbers.resize(inputs, DataType::unknown);
      numbers[i] = type;
      return type != DataType::unknown && operands[i].take_number(seen.given[i], type);
    }
    if (seen.tag(i) != Tag::nothing) {
      seen.key.read(seen.at[i], operands[i]);
    }
    return true;
  }

  // Replaces an input by another view of its memory, if there is one.
  [[nodiscard]] bool look_at(const SeenCall& seen, std::size_t i, const OtherViews& views) {
    if (views.inputs.empty() || views.inputs[i].ptr() == seen.given[i]) {
      return true;
    }
    PyObject* const one = views.inputs[i].ptr();
    if (PyArray_CheckExact(one)) {
      return PyArray_DATA(as_array(one)) == seen.memory[i] && operands[i].take(as_array(one));
    }
    if (library == nullptr) {
      return false;
    }
    DeviceOperand view;
    view.locate_plain(one);
    if (!view.viewed || view.library != library || view.memory() != seen.memory[i] ||
        view.view.rank > kMostDimensions) {
      return false;
    }
    std::copy_n(view.operand.sizes, view.view.rank, operands[i].sizes);
    std::copy_n(view.operand.strides, view.view.rank, operands[i].strides);
    operands[i].tensor = {static_cast<anydml_type>(dlpack::type_of(view.view.type)), view.view.rank, operands[i].sizes,
                          operands[i].strides, nullptr};
    return true;
  }

  // Gives a new output, which is packed, other sizes.
  [[nodiscard]] bool look_at_output(std::size_t i, const OtherViews& views) {
    if (views.outputs.empty() || outputs[i - inputs].kind == Kind::absent) {
      return true;
    }
    const std::vector<std::int64_t>& sizes = views.outputs[i - inputs];
    if (outputs[i - inputs].kind != Kind::made || sizes.size() > kMostDimensions) {
      return false;
    }
    const std::int64_t count = element_count(operands[i].tensor);
    std::int64_t packed = 1;
    for (std::size_t j = sizes.size(); j-- > 0;) {
      operands[i].sizes[j] = sizes[j];
      operands[i].strides[j] = packed;
      packed *= sizes[j];
    }
    operands[i].tensor.rank = static_cast<int>(sizes.size());
    return packed == count;
  }

  [[nodiscard]] bool read_output(const SeenCall& seen, std::size_t i) {
    const Output& output = outputs[i - inputs];
    if (output.kind == Kind::given) {
      seen.key.read(seen.at[i], operands[i]);
    } else if (output.kind == Kind::made) {
      const DataType type = library != nullptr          ? static_cast<DataType>(output.number)
                            : output.number == NPY_BOOL ? DataType::UINT8  // holds 0 and 1
                                                        : type_of(output.number);
      std::int64_t packed = 1;
      for (int j = output.rank - 1; j >= 0; --j) {
        operands[i].sizes[j] = output.sizes[j];
        operands[i].strides[j] = packed;
        packed *= output.sizes[j];
      }
      operands[i].tensor = {static_cast<anydml_type>(type), output.rank, operands[i].sizes, operands[i].strides,
                            nullptr};
      return type != DataType::unknown;
    }
    return true;
  }

  // A new array is packed; for a tensor, a similar tensor is kept as a template.
  [[nodiscard]] bool take_made(Output& output, PyObject* one) const {
    output.kind = Kind::made;
    if (PyArray_CheckExact(one)) {
      PyArrayObject* const array = as_array(one);
      output.number = PyArray_TYPE(array);
      output.rank = PyArray_NDIM(array);
      if (library != nullptr || output.rank > kMostDimensions || !PyArray_IS_C_CONTIGUOUS(array)) {
        return false;
      }
      std::copy_n(PyArray_DIMS(array), output.rank, output.sizes);
      output.like = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(output.number)));
      return output.like.ptr() == reinterpret_cast<PyObject*>(PyArray_DESCR(array));
    }
    DeviceOperand operand;
    operand.locate_plain(one);
    if (library == nullptr || !operand.viewed || operand.library != library ||
        dlpack::type_of(operand.view.type) == DataType::unknown || operand.view.rank > kMostDimensions) {
      return false;
    }
    std::int64_t packed = 1;
    for (int i = operand.view.rank - 1; i >= 0; --i) {
      output.sizes[i] = operand.operand.sizes[i];
      if (output.sizes[i] > 1 && operand.operand.strides[i] != packed) {
        return false;
      }
      packed *= output.sizes[i];
    }
    output.rank = operand.view.rank;
    output.number = static_cast<int>(dlpack::type_of(operand.view.type));
    if (packed * (operand.view.type.bits / 8) > kMostKept) {
      return false;
    }
    output.like = in_python([&] { return library->empty_like(nb::handle(one)); });
    return true;
  }
};

// The last forms of one function. Used with the GIL held.
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

  // Whether the form occurred exactly once before, recently. A form that occurs only once is not worth compiling, and a
  // form that could not be kept is not tried again.
  [[nodiscard]] bool is_second(const FormKey& key) {
    const std::uint64_t hash = hash_of(key);
    for (Asked& one : asked_) {
      if (one.hash == hash) {
        return one.times++ == 1;
      }
    }
    asked_[next_asked_++ % asked_.size()] = {hash, 1};
    return false;
  }

  void add(const FormKey& key, std::shared_ptr<Form> form) {
    form->key.assign(key.words(), key.words() + key.size());
    form->hash = hash_of(key);
    Known gone = std::move(form);  // later the oldest form, whose destructor may run Python
    if (const auto before = std::ranges::find_if(all_, [&](const Known& one) { return is(*one, key); });
        before != all_.end()) {
      before->swap(gone);
    } else if (all_.size() < kMost) {
      all_.push_back(std::move(gone));
    } else {
      all_[oldest_++ % kMost].swap(gone);
      for (Asked& one : asked_) {
        one.times = one.hash == gone->hash ? 1 : one.times;  // the form may return
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  struct Asked {
    std::uint64_t hash;
    std::uint64_t times;
  };

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
  std::array<Asked, kMost> asked_{};
  std::size_t next_asked_ = 0;
};

}  // namespace anydml::python
