// SPDX-License-Identifier: MIT
#include "device_call.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "call.h"
#include "cuda_streams.h"
#include "dlpack_devices.h"
#include "errors.h"
#include "gil.h"
#include "keyed_cache.h"
#include "layout.h"
#include "python_api.h"

namespace anydml::python {
namespace {

// The last compiled operators, keyed by everything in a call except its addresses.
KeyedCache<std::shared_ptr<const anydml_compiled>>& compiled_calls() {
  static auto* const all = new KeyedCache<std::shared_ptr<const anydml_compiled>>;
  return *all;
}

}  // namespace

std::size_t cached_device_calls() { return compiled_calls().size(); }

void DeviceCall::set_rules(nb::handle same, nb::handle rules, bool one_shape) {
  for (const nb::handle group : same) {
    same_.push_back(numbers_in<std::size_t>(group));
  }
  for (const nb::handle given : rules) {
    OutputToMake& rule = rules_.emplace_back();
    rule.present = nb::cast<bool>(given[0]);
    rule.type = type_named(nb::cast<std::string>(given[1]));
    rule.has_type = rule.type != DataType::unknown;
    rule.has_shape = !nb::object(given[2]).is_none();
    if (rule.has_shape) {
      rule.shape = numbers_in(given[2]);
    }
  }
  one_shape_ = one_shape;
}

bool DeviceCall::locate(const nb::handle* inputs, std::size_t count, const nb::handle* outs, std::size_t out_count) {
  count_ = count;
  operands_.resize(count + out_count);
  numbers_.resize(count);
  bool any = false;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    operands_[i].locate(i < count ? inputs[i] : outs[i - count]);
    any |= operands_[i].on_gpu();
  }
  return any;
}

nb::object DeviceCall::new_array(const DeviceOperand& like, DataType type, int rank, const std::int64_t* sizes,
                                 bool is_of_truths) {
  const nb::object shape = nb::steal(PyTuple_New(rank));
  for (int i = 0; i < rank; ++i) {
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLongLong(sizes[i]));
  }
  if (type_of(like) == type && like.is_of_truths() == is_of_truths) {
    return in_python([&] { return like.library->empty(like.given, shape); });
  }
  const std::string kind = is_of_truths ? "bool" : type_text(type);
  return in_python([&] { return like.library->empty(like.given, shape, nb::str(kind.c_str())); });
}

std::vector<nb::object> DeviceCall::run(const char* op, const Attributes& attributes, nb::handle device_name) {
  choose_library();
  keeps_elements_ = keeps_elements(op);
  read_arrays();
  choose_device(device_name);
  read_numbers();
  broadcast();
  infer_outputs(op, attributes);
  std::vector<nb::object> results;
  std::vector<std::optional<DeviceMemory>> created(operands_.size() - count_);
  for (std::size_t i = count_; i < operands_.size(); ++i) {
    results.push_back(make_out(i, created[i - count_]));
  }
  launch(op, attributes);
  tell_of_outs();
  adopt(results, created);
  return results;
}

nb::tuple DeviceCall::layouts() {
  choose_library_of_arrays();
  nb::list all;
  for (DeviceOperand& one : operands_) {
    read(one, false);
    nb::list shape;
    nb::list strides;
    for (int i = 0; i < one.operand.tensor.rank; ++i) {
      shape.append(one.operand.sizes[i]);
      strides.append(one.operand.strides[i]);
    }
    all.append(
        nb::make_tuple(one.is_of_truths() ? "bool" : type_text(type_of(one)), nb::tuple(shape), nb::tuple(strides)));
  }
  const char* const name = anydml_device_get_info(device_of(where_))->name;
  return nb::make_tuple(name, has_streams(where_) ? nb::object(nb::int_(where_.id)) : nb::none(), all);
}

std::vector<nb::object> DeviceCall::run(const anydml_compiled* compiled, const std::vector<Operand>& expected,
                                        const std::vector<bool>& truths, nb::handle device_name) {
  packs_ = true;
  choose_library_of_arrays();
  for (std::size_t i = count_; i < expected.size(); ++i) {
    const anydml_tensor& tensor = expected[i].tensor;
    rules_.push_back({.has_type = true,
                      .type = static_cast<DataType>(tensor.type),
                      .has_shape = true,
                      .shape = {expected[i].sizes, expected[i].sizes + tensor.rank}});
  }
  read_arrays();
  choose_device(device_name);
  std::vector<nb::object> results;
  std::vector<std::optional<DeviceMemory>> created(operands_.size() - count_);
  std::vector<void*> memory;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i >= count_) {
      keeps_elements_ = anydml_compiled_keeps_elements(compiled, i - count_) != 0;
      results.push_back(make_out(i, created[i - count_], truths[i - count_]));
    }
    if (!is_laid_out(operands_[i].operand, expected[i])) {
      raise(PyExc_ValueError, (i < count_ ? "inputs[" + std::to_string(i) : "out[" + std::to_string(i - count_)) +
                                  "] differs in type, shape or strides from the array it was compiled for");
    }
    memory.push_back(operands_[i].operand.tensor.data);
  }
  launch_compiled(compiled, memory);
  tell_of_outs();
  adopt(results, created);
  return results;
}

bool DeviceCall::is_laid_out(const Operand& array, const Operand& expected) {
  const int rank = expected.tensor.rank;
  if (array.tensor.type != expected.tensor.type || array.tensor.rank != rank ||
      !std::equal(array.sizes, array.sizes + rank, expected.sizes)) {
    return false;
  }
  const bool is_empty = std::find(array.sizes, array.sizes + rank, 0) != array.sizes + rank;
  for (int i = 0; i < rank && !is_empty; ++i) {
    if (array.sizes[i] != 1 && array.strides[i] != expected.strides[i]) {
      return false;
    }
  }
  return true;
}

void DeviceCall::tell_of_outs() const {
  for (std::size_t i = count_; i < operands_.size(); ++i) {
    if (!operands_[i].fresh && operands_[i].library != nullptr) {
      tell_written(operands_[i].library, &operands_[i].given, 1);
    }
  }
}

void DeviceCall::adopt(std::vector<nb::object>& results, std::vector<std::optional<DeviceMemory>>& created) {
  for (std::size_t i = 0; i < created.size(); ++i) {
    if (created[i]) {
      const nb::object memory = nb::cast(std::move(*created[i]));
      results[i] = in_python([&] { return home_->adopt(operands_[like_].given, memory); });
    }
  }
}

bool DeviceCall::is_absent(std::size_t i) const {
  return operands_[i].given.is_none() && (i >= count_ || !rules_.empty());
}

DataType DeviceCall::type_of(const DeviceOperand& one) { return static_cast<DataType>(one.operand.tensor.type); }

void DeviceCall::choose_library() {
  const auto first = std::find_if(operands_.begin(), operands_.end(), is_on_gpu);
  where_ = first->device;
  like_ = static_cast<std::size_t>(first - operands_.begin());
  home_ = first->library;
  waits_ = !home_->tells_stream || !has_streams(where_);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    DeviceOperand& one = operands_[i];
    if (is_absent(i)) {
      continue;
    }
    one.locate_pinned();
    const bool is_beside = backend_of(one.device) == backend_of(where_);
    if (one.on_gpu() && !(is_beside && one.device.id == where_.id)) {
      raise(PyExc_TypeError, "arrays are on " + device_name(where_) + " and " + device_name(one.device) +
                                 "; expected one device: move them yourself");
    }
    if (!is_beside && (i >= count_ || !one.may_be_number())) {  // pinned memory is not a number
      refuse_mixture(one);
    }
    // No stream orders accesses to pinned memory.
    waits_ = waits_ || one.is_pinned() || (one.reached() && !one.library->self.is(home_->self));
  }
  bool any_input = false;
  for (std::size_t i = 0; i < count_; ++i) {
    any_input = any_input || !is_absent(i);
  }
  if (like_ >= count_ && any_input) {  // without inputs, the work runs on the device of out
    raise(PyExc_TypeError, "out is on " + device_name(where_) + ", and no input is; expected at least one input there");
  }
  if (!waits_) {
    find_stream();
  }
}

void DeviceCall::choose_library_of_arrays() {
  for (DeviceOperand& one : operands_) {
    one.takes_truths = true;
  }
  choose_library();
  for (std::size_t i = 0; i < count_; ++i) {
    if (!operands_[i].reached()) {
      refuse_mixture(operands_[i]);
    }
  }
}

void DeviceCall::choose_device(nb::handle name) {
  device_ = device_of(where_);
  if (!name.is_none() && find_device(name) != device_) {
    raise(PyExc_ValueError, "device is " + text_of(name) + ", and the arrays are on " +
                                anydml_device_get_info(device_)->name + "; expected that device, or none");
  }
}

void DeviceCall::find_stream() {
  if (home_->exchange != nullptr) {
    const std::int32_t type = own_memory(backend_of(where_))->number;
    if (in_python([&] { return home_->exchange->current_stream(type, where_.id, &stream_); }) != 0) {
      throw nb::python_error();
    }
    return;
  }
  const nb::object number = in_python([&] { return home_->stream(where_.id); });
  stream_ = PyLong_AsVoidPtr(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
}

void DeviceCall::read_arrays() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    DeviceOperand& one = operands_[i];
    if (!one.reached()) {
      continue;
    }
    if (i >= count_ && one.library->immutable) {
      raise(PyExc_TypeError, "arrays of " + one.library->name + " are immutable: out cannot be one");
    }
    read(one, i >= count_);
  }
  if (rules_.empty()) {
    std::vector<std::size_t> all(operands_.size());
    std::iota(all.begin(), all.end(), 0);
    check_types(all);
    return;
  }
  for (const std::vector<std::size_t>& group : same_) {
    check_types(group);
  }
}

void DeviceCall::check_types(const std::vector<std::size_t>& group) const {
  DataType first = DataType::unknown;
  for (const std::size_t i : group) {
    const DataType type = type_of(operands_[i]);
    if (first != DataType::unknown && type != DataType::unknown && type != first) {
      raise(PyExc_TypeError, "arrays are of " + type_text(first) + " and " + type_text(type) +
                                 "; expected one type: arrays on a GPU are not converted");
    }
    first = first == DataType::unknown ? type : first;
  }
}

DataType DeviceCall::type_beside(std::size_t number) const {
  for (const std::vector<std::size_t>& group : same_) {
    if (std::ranges::find(group, number) != group.end()) {
      for (const std::size_t i : group) {
        if (operands_[i].reached()) {
          return type_of(operands_[i]);
        }
      }
    }
  }
  return type_of(operands_[like_]);
}

void DeviceCall::read_numbers() {
  for (std::size_t i = 0; i < count_; ++i) {
    DeviceOperand& one = operands_[i];
    if (one.reached() || is_absent(i)) {
      continue;
    }
    const DataType type = type_beside(i);
    const std::optional<std::int64_t> bits = number_bits(one, type);
    if (!bits) {
      refuse_mixture(one);
    }
    const nb::object array = number_on_device(*bits, type);
    DeviceOperand read_back;
    read_back.fresh = true;
    read_back.locate(array);
    read(read_back, false);
    one = read_back;
    one.operand.tensor = {static_cast<anydml_type>(type), 0, nullptr, nullptr, read_back.operand.tensor.data};
    numbers_[i] = array;
  }
}

nb::object DeviceCall::number_on_device(std::int64_t bits, DataType type) {
  const std::size_t size = element_size(type);
  const auto make = [&] { return in_python([&] { return home_->number(operands_[like_].given, bits, size); }); };
  if (waits_ || !cuda_streams::is_default(stream_)) {
    return make();
  }
  using Key = std::tuple<PyObject*, const anydml_device*, std::size_t, std::int64_t>;
  constexpr std::size_t kMax = 64;
  static auto* const kept = new std::map<Key, nb::object>;
  const Key key{home_->self.ptr(), device_, size, bits};
  if (const auto known = kept->find(key); known != kept->end()) {
    return known->second;
  }
  nb::object created = make();
  std::map<Key, nb::object> gone;  // destroyed last: releasing an array may let other threads run and use this map
  if (kept->size() >= kMax) {
    gone.swap(*kept);
  }
  kept->emplace(key, created);
  return created;
}

void DeviceCall::broadcast() {
  if (!one_shape_) {
    return;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    rank_ = std::max(rank_, operands_[i].operand.tensor.rank);
  }
  std::fill_n(sizes_, rank_, 1);
  for (std::size_t i = 0; i < count_; ++i) {
    if (!broadcast_with(operands_[i].operand, rank_, sizes_)) {
      raise(PyExc_ValueError, "the shapes of the arrays cannot be broadcast to one: " + shapes_text());
    }
  }
}

void DeviceCall::infer_outputs(const char* op, const Attributes& attributes) {
  bool any = false;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    OutputToMake& rule = rules_[i];
    const DeviceOperand& out = operands_[count_ + i];
    rule.fresh = out.given.is_none();
    if (!rule.fresh) {
      rule.present = rule.has_type = rule.has_shape = true;
      rule.type = type_of(out);
      rule.shape.assign(out.operand.sizes, out.operand.sizes + out.operand.tensor.rank);
    }
    any = any || (rule.present && !(rule.has_type && rule.has_shape));
  }
  if (any) {
    std::vector<anydml_tensor> inputs;
    for (std::size_t i = 0; i < count_; ++i) {
      inputs.push_back(operands_[i].operand.tensor);
      inputs.back().sizes = operands_[i].operand.sizes;
      inputs.back().strides = operands_[i].operand.strides;
    }
    infer(op, inputs, attributes, rules_);
  }
}

std::string DeviceCall::shapes_text() const {
  std::string text;
  for (std::size_t i = 0; i < count_; ++i) {
    const Operand& one = operands_[i].operand;
    text += i == 0 ? "(" : ", (";
    for (int j = 0; j < one.tensor.rank; ++j) {
      text += (j == 0 ? "" : ", ") + std::to_string(one.sizes[j]);
    }
    text += ")";
  }
  return text;
}

nb::object DeviceCall::make_out(std::size_t i, std::optional<DeviceMemory>& created, bool is_of_truths) {
  DeviceOperand& out = operands_[i];
  if (!out.given.is_none()) {
    return nb::borrow(out.given);
  }
  const OutputToMake* rule = rules_.empty() ? nullptr : &rules_[i - count_];
  if (rule != nullptr && !rule->present) {
    return nb::none();
  }
  const DataType type = rule == nullptr ? type_of(operands_[like_]) : rule->type;
  const int rank = rule == nullptr ? rank_ : static_cast<int>(rule->shape.size());
  const std::int64_t* sizes = rule == nullptr ? sizes_ : rule->shape.data();
  if (rank > kMaxDimensions) {
    raise(PyExc_ValueError, "shape has " + std::to_string(rank) + " dimensions; expected at most eight");
  }
  if (home_->empty.is_none()) {
    created.emplace(device_, type, rank, sizes, is_of_truths);
    out.operand.set_packed(type, rank, sizes, created->address());
    if (keeps_elements_) {
      created->set_to_zero();
    }
    return {};
  }
  const nb::object result =
      packs_ ? new_array(operands_[like_], type, rank, sizes, is_of_truths) : new_array(type, rank, sizes);
  if (keeps_elements_) {
    in_python([&] { return nb::bool_(PyObject_SetItem(result.ptr(), Py_Ellipsis, nb::int_(0).ptr()) == 0); });
  }
  out.fresh = true;
  out.locate(result);
  read(out, true);
  return result;
}

nb::object DeviceCall::new_array(DataType type, int rank, const std::int64_t* sizes) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const DeviceOperand& one = operands_[i];
    if (one.on_gpu() && !numbers_[i].is_valid() && one.library->self.is(home_->self) && type_of(one) == type &&
        one.operand.tensor.rank == rank && std::equal(sizes, sizes + rank, one.operand.sizes)) {
      return in_python([&] { return home_->empty_like(one.given); });
    }
  }
  return new_array(operands_[like_], type, rank, sizes);
}

void DeviceCall::launch(const char* op, const Attributes& attributes) {
  std::vector<anydml_tensor> tensors;
  for (const DeviceOperand& one : operands_) {
    tensors.push_back(one.operand.tensor);
    tensors.back().sizes = one.operand.sizes;  // the copied tensor must point into this operand
    tensors.back().strides = one.operand.strides;
  }
  if (!one_shape_ || !is_too_large(element_count(tensors[count_]))) {
    launch_part(op, attributes, tensors.data());
    return;
  }
  Part whole;
  if (!whole.take(tensors.data(), tensors.size())) {
    raise(PyExc_ValueError, "the shapes of the arrays cannot be broadcast to that of out: " + shapes_text());
  }
  const Operand& out = operands_[count_].operand;
  bool mixes = !has_nested_strides(out);
  for (std::size_t i = 0; i < count_; ++i) {
    const Operand& one = operands_[i].operand;
    mixes = mixes || (!is_absent(i) && share_memory(one, out) && !is_in_place(one, out));
  }
  if (mixes) {
    raise(PyExc_ValueError, "out has " + std::to_string(element_count(tensors[count_])) +
                                " elements and overlaps an input or itself; expected at most " +
                                std::to_string(max_elements) + " then");
  }
  whole.run([&](const anydml_tensor* part) {
    launch_part(op, attributes, part);
    return ANYDML_OK;
  });
}

void DeviceCall::launch_part(const char* op, const Attributes& attributes, const anydml_tensor* tensors) {
  const std::size_t outputs = operands_.size() - count_;
  std::vector<void*> memory;
  key_.clear();
  add(&device_, sizeof(device_));
  add(&count_, sizeof(count_));
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const auto rank = static_cast<std::size_t>(tensors[i].rank);
    const std::int64_t kind[] = {static_cast<std::int64_t>(tensors[i].type), tensors[i].rank};
    add(kind, sizeof(kind));
    add(tensors[i].sizes, rank * sizeof(tensors[i].sizes[0]));
    add(tensors[i].strides, rank * sizeof(tensors[i].strides[0]));
    memory.push_back(tensors[i].data);
  }
  attributes.add_to(key_);
  key_ += op;
  const auto compiled = compiled_calls().get(key_, [&] {
    anydml_compiled* fresh = nullptr;
    const int failed = anydml_compile(device_, op, tensors, count_, &tensors[count_], outputs, attributes.data(),
                                      attributes.size(), &fresh);
    if (failed != ANYDML_OK) {
      raise_last(failed);
    }
    return std::shared_ptr<const anydml_compiled>(
        fresh, [](const anydml_compiled* one) { anydml_compiled_release(const_cast<anydml_compiled*>(one)); });
  });
  launch_compiled(compiled.get(), memory);
}

void DeviceCall::launch_compiled(const anydml_compiled* compiled, const std::vector<void*>& memory) const {
  int code = ANYDML_OK;
  {
    const GilReleased released;  // a launch blocks while too many launches are in flight
    void* const* outs = memory.data() + count_;
    const std::size_t outputs = memory.size() - count_;
    code = waits_ ? anydml_compiled_run(compiled, memory.data(), count_, outs, outputs)
                  : anydml_compiled_run_on_stream(compiled, stream_, memory.data(), count_, outs, outputs);
  }
  if (code != ANYDML_OK) {
    raise_last(code);
  }
}

void DeviceCall::refuse_mixture(const DeviceOperand& other) const {
  raise(PyExc_TypeError,
        "an array is on " + device_name(where_) + " and another operand, a " + type_of_object(other.given) +
            ", is not; nothing is moved behind your back: move it there first (torch: x.to(device), CuPy: "
            "cupy.asarray(x)), or bring the array to the CPU. Python numbers are accepted");
}

}  // namespace anydml::python
