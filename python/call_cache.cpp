// SPDX-License-Identifier: MIT
#include "call_cache.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "call.h"
#include "facts/facts.h"

namespace anydml::python {
namespace {

// Returns the type of the arrays that share a group with a number.
DataType type_beside(const CallArguments& args, std::size_t number,
                     const std::vector<std::vector<std::size_t>>& groups) {
  for (const std::vector<std::size_t>& group : groups) {
    if (std::ranges::find(group, number) == group.end()) {
      continue;
    }
    for (const std::size_t i : group) {
      if (i < args.inputs && (args.tag(i) == Tag::array || args.tag(i) == Tag::tensor)) {
        Operand beside;
        args.key.read(args.at[i], beside);
        return static_cast<DataType>(beside.tensor.type);
      }
    }
  }
  return DataType::unknown;
}

}  // namespace

bool CachedCall::compile(const char* op, const Attributes& attributes, const CallArguments& args, nb::handle result,
                         const std::vector<std::vector<std::size_t>>& groups, const OtherViews& views) {
  if (!read_result(args, result)) {
    return false;
  }
  operands.resize(inputs + outputs.size());
  std::vector<anydml_tensor> tensors;
  std::int64_t maximum = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i < inputs ? !read_input(args, i, groups) || !view_input(args, i, views)
                   : !read_output(args, i) || !view_output(i, views)) {
      return false;
    }
    tensors.push_back(operands[i].tensor);
    maximum = std::max(maximum, element_count(tensors.back()));
  }
  anydml_compiled* created = nullptr;
  if (is_too_large(maximum) ||
      anydml_compile(nullptr, op, tensors.data(), inputs, tensors.data() + inputs, outputs.size(), attributes.data(),
                     attributes.size(), &created) != ANYDML_OK) {
    return false;
  }
  compiled = {created, [](const anydml_compiled* one) { anydml_compiled_release(const_cast<anydml_compiled*>(one)); }};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind == Kind::created && anydml_compiled_keeps_elements(created, i) != 0) {
      return false;  // a cached call does not set new outputs to 0
    }
  }
  releases = maximum >= (has_one_shape(facts::find_operator(op)) ? kFewElements : kFewOfOtherShapes);
  return true;
}

bool CachedCall::read_input(const CallArguments& args, std::size_t i,
                            const std::vector<std::vector<std::size_t>>& groups) {
  if (args.tag(i) == Tag::number) {
    const DataType type = type_beside(args, i, groups);
    numbers.resize(inputs, DataType::unknown);
    numbers[i] = type;
    return type != DataType::unknown && operands[i].take_number(args.given[i], type);
  }
  if (args.tag(i) != Tag::nothing) {
    args.key.read(args.at[i], operands[i]);
  }
  return true;
}

bool CachedCall::read_result(const CallArguments& args, nb::handle result) {
  library = args.library;
  inputs = args.inputs;
  several = PyTuple_CheckExact(result.ptr());
  const std::size_t count = several ? static_cast<std::size_t>(PyTuple_GET_SIZE(result.ptr())) : 1;
  if (args.inputs + count > CallArguments::kMax) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* const one = several ? PyTuple_GET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i)) : result.ptr();
    const std::size_t position = args.inputs + i;
    PyObject* const given = position < args.count ? args.given[position] : Py_None;
    Output& output = outputs.emplace_back();
    if (one == Py_None) {
      continue;
    }
    if (given != Py_None && given != Py_True) {
      output.kind = Kind::given;
      if (one != given) {
        return false;
      }
    } else if (!read_made(output, one)) {
      return false;
    }
  }
  return true;
}

bool CachedCall::view_input(const CallArguments& args, std::size_t i, const OtherViews& views) {
  if (views.inputs.empty() || views.inputs[i].ptr() == args.given[i]) {
    return true;
  }
  PyObject* const one = views.inputs[i].ptr();
  if (PyArray_CheckExact(one)) {
    return PyArray_DATA(as_array(one)) == args.memory[i] && operands[i].take(as_array(one));
  }
  if (library == nullptr) {
    return false;
  }
  DeviceOperand view;
  view.locate_plain(one);
  if (!view.viewed || view.library != library || view.memory() != args.memory[i] || view.view.rank > kMaxDimensions) {
    return false;
  }
  std::copy_n(view.operand.sizes, view.view.rank, operands[i].sizes);
  std::copy_n(view.operand.strides, view.view.rank, operands[i].strides);
  operands[i].tensor = {static_cast<anydml_type>(dlpack::type_of(view.view.type)), view.view.rank, operands[i].sizes,
                        operands[i].strides, nullptr};
  return true;
}

bool CachedCall::view_output(std::size_t i, const OtherViews& views) {
  if (views.outputs.empty() || outputs[i - inputs].kind == Kind::absent) {
    return true;
  }
  const std::vector<std::int64_t>& sizes = views.outputs[i - inputs];
  if (outputs[i - inputs].kind != Kind::created || sizes.size() > kMaxDimensions) {
    return false;
  }
  const std::int64_t count = element_count(operands[i].tensor);
  operands[i].set_packed(static_cast<DataType>(operands[i].tensor.type), static_cast<int>(sizes.size()), sizes.data());
  return element_count(operands[i].tensor) == count;
}

bool CachedCall::read_output(const CallArguments& args, std::size_t i) {
  const Output& output = outputs[i - inputs];
  if (output.kind == Kind::given) {
    args.key.read(args.at[i], operands[i]);
  } else if (output.kind == Kind::created) {
    const DataType type = library != nullptr          ? static_cast<DataType>(output.number)
                          : output.number == NPY_BOOL ? DataType::UINT8  // a byte, 0 or 1
                                                      : type_of(output.number);
    operands[i].set_packed(type, output.rank, output.sizes);
    return type != DataType::unknown;
  }
  return true;
}

bool CachedCall::read_made(Output& output, PyObject* one) const {
  output.kind = Kind::created;
  if (PyArray_CheckExact(one)) {
    PyArrayObject* const array = as_array(one);
    output.number = PyArray_TYPE(array);
    output.rank = PyArray_NDIM(array);
    if (library != nullptr || output.rank > kMaxDimensions || !PyArray_IS_C_CONTIGUOUS(array)) {
      return false;
    }
    std::copy_n(PyArray_DIMS(array), output.rank, output.sizes);
    output.like = nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(output.number)));
    return output.like.ptr() == reinterpret_cast<PyObject*>(PyArray_DESCR(array));
  }
  DeviceOperand operand;
  operand.locate_plain(one);
  if (library == nullptr || !operand.viewed || operand.library != library ||
      dlpack::type_of(operand.view.type) == DataType::unknown || operand.view.rank > kMaxDimensions) {
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
  if (packed * (operand.view.type.bits / 8) > kMaxTemplateBytes) {
    return false;
  }
  output.like = in_python([&] { return library->empty_like(nb::handle(one)); });
  return true;
}

void CallCache::add(const CallKey& key, std::shared_ptr<CachedCall> cached) {
  cached->key.assign(key.words(), key.words() + key.size());
  cached->hash = key.hash();
  Entry gone = std::move(cached);  // swapped below with the replaced entry, whose destructor may run Python code
  if (const auto before = std::ranges::find_if(all_, [&](const Entry& one) { return is(*one, key); });
      before != all_.end()) {
    before->swap(gone);
  } else if (all_.size() < kMax) {
    all_.push_back(std::move(gone));
  } else {
    all_[oldest_++ % kMax].swap(gone);
    for (Candidate& one : candidates_) {
      one.times = one.hash == gone->hash ? 1 : one.times;  // the next occurrence of this key is cached again
    }
  }
}

}  // namespace anydml::python
