// SPDX-License-Identifier: MIT
// Calls on GPU arrays: creates the missing results on the same device, and runs the work there.
//
// If all arrays of a call belong to one library that reports its stream (PyTorch, CuPy), the work is enqueued on that
// stream, and the call returns before the work is done. The library's later work on the stream follows it, and the
// library's allocator also reuses memory in stream order. Otherwise the library's later work is not ordered after ours,
// or the device has no streams. The call then asks DLPack to synchronize every array, with CUDA's default stream on a
// CUDA device, and waits for its work to finish.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attributes.h"
#include "device_arrays.h"
#include "device_memory.h"
#include "dlpack.h"
#include "infer.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// For tests: the number of operators that are kept compiled for later calls on GPU arrays.
std::size_t cached_device_calls();

class DeviceCall {
 public:
  // `same` lists the inputs that share a type. `rules` has (wanted, name of a type or "", shape or None) for each
  // output. Without rules, all arrays have one type and are broadcast to one shape.
  void set_rules(nb::handle same, nb::handle rules, bool one_shape);

  // None in `outs` requests a new array. Returns false if no array is on a GPU.
  bool locate(const nb::handle* inputs, std::size_t count, const nb::handle* outs, std::size_t out_count);

  [[nodiscard]] DeviceOperand& operand(std::size_t i) { return operands_[i]; }

  // Creates an array in C order on the same device as an existing array.
  [[nodiscard]] static nb::object new_array(const DeviceOperand& like, DataType type, int rank,
                                            const std::int64_t* sizes, bool is_of_truths = false);

  std::vector<nb::object> run(const char* op, const Attributes& attributes, nb::handle device_name);

  // Returns the name of the device, its number for the library's stream functions (None without streams), and the type,
  // shape and strides in elements of each array.
  nb::tuple layouts();

  // Runs `compiled`, which expects arrays like `expected`: inputs, then outputs. `truths` marks the outputs that are
  // bool.
  std::vector<nb::object> run(const anydml_compiled* compiled, const std::vector<Operand>& expected,
                              const std::vector<bool>& truths, nb::handle device_name);

 private:
  // Strides of dimensions with one element do not matter.
  static bool is_laid_out(const Operand& array, const Operand& expected);

  // Reports to each library which of the caller's arrays are written.
  void tell_of_outs() const;

  // Turns results in our own memory into the library's arrays.
  void adopt(std::vector<nb::object>& results, std::vector<std::optional<DeviceMemory>>& created);

  static bool is_on_gpu(const DeviceOperand& one) { return one.on_gpu(); }

  // Inputs may be absent only if the call has rules.
  [[nodiscard]] bool is_absent(std::size_t i) const;
  [[nodiscard]] static DataType type_of(const DeviceOperand& one);

  // Checks that all arrays are on one GPU, and chooses the library and the stream.
  void choose_library();

  // Like choose_library(), for calls without numbers. These calls may contain bool arrays.
  void choose_library_of_arrays();

  void choose_device(nb::handle name);

  void find_stream();

  void read_arrays();

  void check_types(const std::vector<std::size_t>& group) const;

  // Returns the type of the arrays in a number's group.
  [[nodiscard]] DataType type_beside(std::size_t number) const;

  void read(DeviceOperand& one, bool writes) const { one.read(waits_ ? Order::after_pending : Order::none, writes); }

  // Replaces each number with a zero-dimensional array that the library creates from the number's bits.
  void read_numbers();

  // Creates a new array in each call, except on the default stream, where arrays are cached: this stream always exists,
  // and its earlier work on a cached array precedes this call. Any other stream may have been destroyed and its address
  // reused.
  nb::object number_on_device(std::int64_t bits, DataType type);

  // Broadcasts the inputs to one shape as NumPy does, if the operator requires a single shape.
  void broadcast();

  // Infers the types and shapes of the results that the call must create.
  void infer_outputs(const char* op, const Attributes& attributes);

  [[nodiscard]] std::string shapes_text() const;

  // Returns null if `created` contains our own memory for the output, and None if the output is absent.
  nb::object make_out(std::size_t i, std::optional<DeviceMemory>& created, bool is_of_truths = false);

  // Creates an array in the order of an operand of the same shape, or else in C order.
  nb::object new_array(DataType type, int rank, const std::int64_t* sizes) const;

  void launch(const char* op, const Attributes& attributes);

  void launch_part(const char* op, const Attributes& attributes, const anydml_tensor* tensors);

  void launch_compiled(const anydml_compiled* compiled, const std::vector<void*>& memory) const;

  void add(const void* bytes, std::size_t count) { key_.append(static_cast<const char*>(bytes), count); }

  [[noreturn]] void refuse_mixture(const DeviceOperand& other) const;

  std::vector<DeviceOperand> operands_;  // the inputs, then the outputs
  std::vector<nb::object> numbers_;      // arrays created for numbers
  std::vector<std::vector<std::size_t>> same_;
  std::vector<OutputToMake> rules_;  // empty if all arrays have one type
  bool one_shape_ = true;
  bool keeps_elements_ = false;  // a run may write only a part of the next output
  bool packs_ = false;           // new arrays are in C order, regardless of the operands' order
  std::size_t count_ = 0;
  std::size_t like_ = 0;  // the first array on the GPU
  const Library* home_ = nullptr;
  const anydml_device* device_ = nullptr;
  dlpack::Device where_{};  // the device of that array
  bool waits_ = false;
  void* stream_ = nullptr;
  int rank_ = 0;
  std::int64_t sizes_[kMaxDimensions] = {};
  std::string key_;
};

}  // namespace anydml::python
