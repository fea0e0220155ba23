// SPDX-License-Identifier: MIT
// Calls over arrays on a GPU: what is made beside them, and the work on their own device.
//
// Where all arrays of a call are of one library that tells its stream (PyTorch, CuPy), the work goes onto that stream
// and the call returns before it is done: what the library does next on the stream comes after it, and its allocator
// gives memory to others in the stream's order too. Otherwise nothing is known of what comes next. Then every array is
// asked, by DLPack, to be ready for CUDA's default stream, and the call waits until its work there is done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/core.h"
#include "call.h"
#include "device_arrays.h"
#include "dlpack.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"

namespace anydml::python {

// ---- Memory for libraries that give none ---------------------------------------------------------------------------

// Memory of a device for a new array, which a library takes over by DLPack: one whose arrays are never written, such as
// JAX, has no function to make one that somebody else may write to.
class DeviceMemory {
 public:
  DeviceMemory(const anydml_device* device, std::int32_t id, DataType type, int rank, const std::int64_t* sizes)
      : id_(id), type_(type), sizes_(sizes, sizes + rank) {
    std::uint64_t bytes = element_size(type);
    for (const std::int64_t size : sizes_) {
      bytes *= static_cast<std::uint64_t>(size);
    }
    const CoreTable& core = *anydml_private_core();
    for (std::uint32_t i = 0; i < core.device_count(); ++i) {
      if (anydml_device_at(i) == device) {
        memory_ = std::make_shared<Memory>(core.device(i), bytes);
      }
    }
  }
  [[nodiscard]] void* address() const { return memory_->address; }
  [[nodiscard]] nb::tuple device() const { return nb::make_tuple(dlpack::kCuda, id_); }

  // The work that wrote it is done, so that no stream has to wait.
  [[nodiscard]] nb::object capsule() const {
    struct Export {
      dlpack::Managed managed;
      std::vector<std::int64_t> sizes;
      std::shared_ptr<Memory> memory;
    };
    auto* made = new Export{{}, sizes_, memory_};
    made->managed.tensor = {memory_->address,
                            {dlpack::kCuda, id_},
                            static_cast<std::int32_t>(sizes_.size()),
                            dlpack::element_type(type_),
                            made->sizes.data(),
                            nullptr,
                            0};
    made->managed.context = made;
    made->managed.deleter = [](dlpack::Managed* managed) { delete static_cast<Export*>(managed->context); };
    PyObject* capsule = PyCapsule_New(&made->managed, "dltensor", [](PyObject* unused) {
      if (PyCapsule_IsValid(unused, "dltensor") != 0) {
        auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(unused, "dltensor"));
        managed->deleter(managed);
      }
    });
    if (capsule == nullptr) {
      delete made;
      throw nb::python_error();
    }
    return nb::steal(capsule);
  }

 private:
  struct Memory {
    Memory(const CoreDevice* of, std::uint64_t count) : device(of), bytes(count) {
      const BackendStatus status = of->backend->allocate(of->handle, MemoryKind::temporary, bytes, &address);
      if (status.code != BackendCode::ok) {
        raise(status.code == BackendCode::out_of_memory ? PyExc_MemoryError : PyExc_RuntimeError, status.message);
      }
    }
    ~Memory() {
      if (address != nullptr) {
        device->backend->release(device->handle, MemoryKind::temporary, bytes, address);
      }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    const CoreDevice* device;
    std::uint64_t bytes;
    void* address = nullptr;
  };

  std::int32_t id_;
  DataType type_;
  std::vector<std::int64_t> sizes_;
  std::shared_ptr<Memory> memory_;
};

// ---- The call ------------------------------------------------------------------------------------------------------

// What was compiled last, by all that a call says but its addresses. Used with the GIL held.
class CompiledCalls {
 public:
  static constexpr std::size_t kMost = 256;
  using Compiled = std::shared_ptr<const anydml_compiled>;

  static CompiledCalls& of_process() {
    static auto* const all = new CompiledCalls;
    return *all;
  }
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

  template <class Make>
  Compiled get(const std::string& key, Make make) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      return known->second;
    }
    Compiled made(make(), [](const anydml_compiled* compiled) {
      anydml_compiled_release(const_cast<anydml_compiled*>(compiled));
    });
    if (by_key_.size() == kMost) {
      by_key_.erase(oldest_.front());
      oldest_.pop_front();
    }
    by_key_.emplace(key, made);
    oldest_.push_back(key);
    return made;
  }

 private:
  std::unordered_map<std::string, Compiled> by_key_;
  std::deque<std::string> oldest_;
};

inline const anydml_device* device_with_id(std::int32_t id) {
  static auto* const known = new std::map<std::int32_t, const anydml_device*>;
  const anydml_device*& device = (*known)[id];
  if (device == nullptr) {
    const std::string name = "cuda:" + std::to_string(id);
    device = anydml_find_device(name.c_str());
    if (device == nullptr) {
      raise(PyExc_RuntimeError, "an array is on " + name +
                                    ", and anydml has no such device: the plugin libanydml-cuda.so is missing or does "
                                    "not work here (docs/python.md says where it goes); arrays in the CPU's memory are "
                                    "taken without it. " +
                                    anydml_last_error());
    }
  }
  return device;
}

class DeviceCall {
 public:
  // out: None for a new array. False where no array is on a GPU.
  bool locate(const nb::handle* inputs, std::size_t count, nb::handle out) {
    count_ = count;
    if (count > kMostInputs) {
      raise(PyExc_ValueError, "the number of inputs is " + std::to_string(count) + "; no operator takes so many");
    }
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      operands_[i].locate(inputs[i]);
      any |= operands_[i].on_gpu();
    }
    given_out_ = !out.is_none();
    if (given_out_) {
      operands_[count].locate(out);
      any |= operands_[count].on_gpu();
    }
    return any;
  }

  nb::object run(const char* op, const Attributes& attributes, nb::handle device_name) {
    choose_library();
    read_arrays();
    choose_device(device_name);
    read_numbers();
    broadcast();
    std::optional<DeviceMemory> made;
    const nb::object result = make_out(made);
    launch(op, attributes);
    if (!made) {
      return result;
    }
    const nb::object memory = nb::cast(std::move(*made));
    return in_python([&] { return home_->adopt(operands_[like_].given, memory); });
  }

 private:
  static bool is_on_gpu(const DeviceOperand& one) { return one.on_gpu(); }
  DeviceOperand& out() { return operands_[count_]; }

  [[nodiscard]] std::size_t given() const { return count_ + (given_out_ ? 1 : 0); }

  // All arrays on one GPU; whose library and stream.
  void choose_library() {
    const DeviceOperand* first = std::find_if(operands_, operands_ + given(), is_on_gpu);
    id_ = first->device.id;
    like_ = static_cast<std::size_t>(first - operands_);
    home_ = first->library;
    waits_ = !home_->tells_stream;
    for (std::size_t i = 0; i < given(); ++i) {
      DeviceOperand& one = operands_[i];
      one.locate_pinned();
      if (one.on_gpu() && one.device.id != id_) {
        raise(PyExc_TypeError, "arrays are on cuda:" + std::to_string(id_) + " and cuda:" +
                                   std::to_string(one.device.id) + "; expected one device: move them yourself");
      }
      if (!one.reached() && (i == count_ || !one.may_be_number())) {
        refuse_mixture(one);
      }
      // Pinned memory is ordered by nobody's stream.
      waits_ = waits_ || one.device.type == dlpack::kCudaHost || (one.reached() && !one.library->self.is(home_->self));
    }
    if (like_ == count_) {
      raise(PyExc_TypeError, "out is on cuda:" + std::to_string(id_) + ", and no input is; expected an array there");
    }
    if (!waits_) {
      find_stream();
    }
  }

  void choose_device(nb::handle name) {
    device_ = device_with_id(id_);
    if (!name.is_none() && find_device(name) != device_) {
      raise(PyExc_ValueError, "device is " + text_of(name) + ", and the arrays are on cuda:" + std::to_string(id_) +
                                  "; expected that device, or none");
    }
  }

  void find_stream() {
    if (home_->exchange != nullptr) {
      if (in_python([&] { return home_->exchange->current_stream(dlpack::kCuda, id_, &stream_); }) != 0) {
        throw nb::python_error();
      }
      return;
    }
    const nb::object number = in_python([&] { return home_->stream(id_); });
    stream_ = PyLong_AsVoidPtr(number.ptr());
    if (PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
  }

  void read_arrays() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (operands_[i].reached()) {
        read(operands_[i], false);
      }
    }
    type_ = static_cast<DataType>(operands_[like_].operand.tensor.type);
    if (given_out_) {
      if (out().library->immutable) {
        raise(PyExc_TypeError, "arrays of " + out().library->name + " are never written: out cannot be one");
      }
      read(out(), true);
    }
    for (std::size_t i = 0; i < given(); ++i) {
      const auto other = static_cast<DataType>(operands_[i].operand.tensor.type);
      if (other != DataType::unknown && other != type_) {
        raise(PyExc_TypeError, "arrays are of " + type_text(type_) + " and " + type_text(other) +
                                   "; expected one type: on a GPU none is converted to another");
      }
    }
  }

  void read(DeviceOperand& one, bool writes) const { one.read(waits_ ? kDefaultOrder : kNoOrder, writes); }

  // A number is an array without dimensions, with the number's bits, made by the library.
  void read_numbers() {
    for (std::size_t i = 0; i < count_; ++i) {
      DeviceOperand& one = operands_[i];
      if (one.reached()) {
        continue;
      }
      const std::optional<std::int64_t> bits = number_bits(one, type_);
      if (!bits) {
        refuse_mixture(one);
      }
      const nb::object array = number_on_device(*bits);
      DeviceOperand read_back;
      read_back.fresh = true;
      read_back.locate(array);
      read(read_back, false);
      one = read_back;
      one.operand.tensor = {static_cast<anydml_type>(type_), 0, nullptr, nullptr, read_back.operand.tensor.data};
      numbers_[i] = array;
    }
  }

  // Made anew each time, but on the default stream, which is always there: what it did for the number before comes
  // before this call. Another stream may be gone, and its address be another's.
  nb::object number_on_device(std::int64_t bits) {
    const std::size_t size = element_size(type_);
    const auto make = [&] { return in_python([&] { return home_->number(operands_[like_].given, bits, size); }); };
    const auto stream = reinterpret_cast<std::uintptr_t>(stream_);
    if (waits_ || stream > 1) {
      return make();
    }
    using Key = std::tuple<PyObject*, std::int32_t, std::size_t, std::int64_t>;
    constexpr std::size_t kMost = 64;
    static auto* const kept = new std::map<Key, nb::object>;
    const Key key{home_->self.ptr(), id_, size, bits};
    if (const auto known = kept->find(key); known != kept->end()) {
      return known->second;
    }
    nb::object made = make();
    std::map<Key, nb::object> gone;  // aside first: who releases an array may let other threads in here
    if (kept->size() >= kMost) {
      gone.swap(*kept);
    }
    kept->emplace(key, made);
    return made;
  }

  // The shape of the result by NumPy's rule.
  void broadcast() {
    for (std::size_t i = 0; i < count_; ++i) {
      rank_ = std::max(rank_, operands_[i].operand.tensor.rank);
    }
    std::fill_n(sizes_, rank_, 1);
    for (std::size_t i = 0; i < count_; ++i) {
      const Operand& one = operands_[i].operand;
      for (int j = 0; j < one.tensor.rank; ++j) {
        std::int64_t& size = sizes_[rank_ - one.tensor.rank + j];
        if (size != one.sizes[j] && size != 1 && one.sizes[j] != 1) {
          raise(PyExc_ValueError, "the shapes of the arrays cannot be broadcast to one: " + shapes_text());
        }
        size = size == 1 ? one.sizes[j] : size;
      }
    }
  }

  [[nodiscard]] std::string shapes_text() const {
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

  nb::object make_out(std::optional<DeviceMemory>& made) {
    if (given_out_) {
      return nb::borrow(out().given);
    }
    if (home_->empty.is_none()) {
      made.emplace(device_, id_, type_, rank_, sizes_);
      Operand& packed = out().operand;
      std::int64_t stride = 1;
      for (int i = rank_ - 1; i >= 0; --i) {
        packed.sizes[i] = sizes_[i];
        packed.strides[i] = stride;
        stride *= sizes_[i];
      }
      packed.tensor = {static_cast<anydml_type>(type_), rank_, packed.sizes, packed.strides, made->address()};
      return {};
    }
    // In the order of an operand of the same shape, in C's otherwise.
    nb::object result;
    for (std::size_t i = 0; i < count_ && !result.is_valid(); ++i) {
      const DeviceOperand& one = operands_[i];
      if (one.on_gpu() && !numbers_[i].is_valid() && one.library->self.is(home_->self) &&
          one.operand.tensor.rank == rank_ && std::equal(sizes_, sizes_ + rank_, one.operand.sizes)) {
        result = in_python([&] { return home_->empty_like(one.given); });
      }
    }
    if (!result.is_valid()) {
      const nb::object shape = nb::steal(PyTuple_New(rank_));
      for (int i = 0; i < rank_; ++i) {
        PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLongLong(sizes_[i]));
      }
      result = in_python([&] { return home_->empty(operands_[like_].given, shape); });
    }
    out().fresh = true;
    out().locate(result);
    read(out(), true);
    return result;
  }

  void launch(const char* op, const Attributes& attributes) {
    anydml_tensor tensors[kMostInputs + 1];
    for (std::size_t i = 0; i <= count_; ++i) {
      const Operand& one = operands_[i].operand;
      tensors[i] = one.tensor;
      tensors[i].sizes = one.sizes;  // those of this copy of it
      tensors[i].strides = one.strides;
    }
    if (!is_too_large(element_count(tensors[count_]))) {
      launch_part(op, attributes, tensors);
      return;
    }
    Part whole;
    if (!whole.take(tensors, count_ + 1)) {
      raise(PyExc_ValueError, "the shapes of the arrays cannot be broadcast to that of out: " + shapes_text());
    }
    bool mixes = !has_nested_places(out().operand);
    for (std::size_t i = 0; i < count_; ++i) {
      const Operand& one = operands_[i].operand;
      mixes = mixes || (share_memory(one, out().operand) && !is_in_place(one, out().operand));
    }
    if (mixes) {
      raise(PyExc_ValueError, "out has " + std::to_string(element_count(tensors[count_])) +
                                  " elements and lies over an input, or itself; expected at most " +
                                  std::to_string(most_elements) + " then");
    }
    whole.run([&](const anydml_tensor* part) {
      launch_part(op, attributes, part);
      return ANYDML_OK;
    });
  }

  void launch_part(const char* op, const Attributes& attributes, const anydml_tensor* tensors) {
    const void* sources[kMostInputs] = {};
    key_.clear();
    add(&device_, sizeof(device_));
    for (std::size_t i = 0; i <= count_; ++i) {
      const auto rank = static_cast<std::size_t>(tensors[i].rank);
      const std::int64_t kind[] = {static_cast<std::int64_t>(tensors[i].type), tensors[i].rank};
      add(kind, sizeof(kind));
      add(tensors[i].sizes, rank * sizeof(tensors[i].sizes[0]));
      add(tensors[i].strides, rank * sizeof(tensors[i].strides[0]));
      if (i < count_) {
        sources[i] = tensors[i].data;
      }
    }
    for (const anydml_attribute& attribute : attributes.all) {
      key_.append(attribute.name).push_back('\0');
      add(&attribute.type, sizeof(attribute.type));
      add(&attribute.value, sizeof(attribute.value));
    }
    key_ += op;
    const CompiledCalls::Compiled compiled = CompiledCalls::of_process().get(key_, [&] {
      anydml_compiled* fresh = nullptr;
      const int failed = anydml_compile(device_, op, tensors, count_, &tensors[count_], 1, attributes.all.data(),
                                        attributes.all.size(), &fresh);
      if (failed != ANYDML_OK) {
        raise_last(failed);
      }
      return fresh;
    });
    void* const targets[] = {tensors[count_].data};
    int code = ANYDML_OK;
    {
      const GilReleased released;  // a launch waits where many are under way
      code = waits_ ? anydml_compiled_run(compiled.get(), sources, count_, targets, 1)
                    : anydml_compiled_run_on_stream(compiled.get(), stream_, sources, count_, targets, 1);
    }
    if (code != ANYDML_OK) {
      raise_last(code);
    }
  }

  void add(const void* bytes, std::size_t count) { key_.append(static_cast<const char*>(bytes), count); }

  [[noreturn]] void refuse_mixture(const DeviceOperand& other) const {
    raise(PyExc_TypeError,
          "an array is on cuda:" + std::to_string(id_) + " and another operand, a " + type_of_object(other.given) +
              ", is not; nothing is moved behind your back: move it there first (torch: "
              "x.to(device), CuPy: cupy.asarray(x)), or bring the array to the CPU. Python numbers are "
              "taken as they are");
  }

  DeviceOperand operands_[kMostInputs + 1];  // the inputs, then the output
  nb::object numbers_[kMostInputs];          // arrays made for numbers
  std::size_t count_ = 0;
  bool given_out_ = false;
  std::size_t like_ = 0;  // the first input on the GPU
  const Library* home_ = nullptr;
  const anydml_device* device_ = nullptr;
  std::int32_t id_ = 0;
  bool waits_ = false;
  void* stream_ = nullptr;
  DataType type_ = DataType::unknown;
  int rank_ = 0;
  std::int64_t sizes_[kMostDimensions] = {};
  std::string key_;
};

}  // namespace anydml::python
