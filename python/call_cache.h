// SPDX-License-Identifier: MIT
// The call cache: a call that repeats an earlier one runs a compiled operator immediately.
//
// A call on a few elements takes less than a microsecond. In that time, the package cannot parse attributes, infer the
// shapes of results, check arguments and look up an operator. Each function that runs an operator, each ufunc and each
// graph therefore has a CallCache with its last calls.
//
// The key (CallKey) consists of everything that decides how a call runs and what it returns, except the elements and
// the addresses: the types, sizes and strides of arrays and PyTorch tensors in CPU memory, the kinds of Python numbers
// among the operands, which outputs the caller passes, and the values of all other arguments. CallArguments builds the
// key and collects the addresses in one pass over the arguments. Arguments without a key take the slow path: arrays on
// a GPU, subclasses of arrays, tensors whose operations PyTorch records or intercepts, and objects that may change
// unnoticed.
//
// The value (CachedCall) is the compiled operator or graph, with a description of its results: the type and shape of
// each output, and whether the caller passes it or the call creates it.
//
// A call with a cached key allocates its results, runs the compiled operator over the addresses, and returns. Any other
// call takes the slow path, through Python code for operators and graphs and through NumPy for ufuncs. The second
// occurrence of a key is compiled and cached, because many calls occur only once. If a cached call reports an invalid
// argument, such as overlapping memory, nothing has been written, and the slow path repeats the call to raise the
// error.
//
// An entry never becomes invalid by itself, because the key contains everything that it depends on. There are two
// exceptions. A recorded graph also depends on the objects that its function read: its entry has a watch (watch.h), and
// each call compares these objects. PyTorch may intercept operations on all tensors: CallArguments checks this in each
// call. A cache holds 32 entries, and a new entry replaces the oldest one.
//
//   call_key.h        the key                          fast_function.h  the callable object, and its slow path
//   call_arguments.h  arguments -> key and addresses   fast_operator.h  functions for operators: _run.py, _matmul.py
//   call_cache.h      cached calls and their cache     fast_ufunc.h     functions for ufuncs: _ufuncs.py
//                                                      fast_graph.h     graphs: _graphs.py
//
// Functions that run in every cached call are inline in these headers. Functions that run once for each entry are in
// the .cpp files.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "attributes.h"
#include "base/element.h"
#include "call_arguments.h"
#include "call_key.h"
#include "device_arrays.h"
#include "errors.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

inline constexpr std::int64_t kFewElements = 4096;      // calls on this many elements or more release the GIL
inline constexpr std::int64_t kFewOfOtherShapes = 512;  // the limit if each result depends on many elements

// Operands that replace the arguments of the call if the operator reads the same memory with different shapes.
struct OtherViews {
  std::vector<nb::object> inputs;                  // empty, or one for each input
  std::vector<std::vector<std::int64_t>> outputs;  // empty, or the sizes of each output
};

// A compiled operator or graph for calls with one key, and a description of its results.
struct CachedCall {
  enum class Kind { absent, given, created };
  struct Output {
    Kind kind = Kind::absent;
    int number = NPY_VOID;  // a NumPy type number, or a DataType for a tensor
    int rank = 0;
    npy_intp sizes[kMaxDimensions] = {};
    nb::object like;  // the dtype of an array, or a tensor to use as a template
  };
  static constexpr std::int64_t kMaxTemplateBytes = 1 << 16;  // the size limit of a template tensor

  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  std::shared_ptr<const anydml_compiled> compiled;
  nb::object owner;               // owns `compiled` if this object does not
  nb::object watch;               // a graph's weak reference to its watch, if it has one
  std::vector<DataType> numbers;  // the type of each input that is a number; empty without numbers
  std::size_t inputs = 0;
  std::vector<Output> outputs;
  std::vector<Operand> operands;  // an operator's inputs, then its outputs, without their memory
  bool several = false;           // the call returns a tuple
  bool releases = false;          // the call releases the GIL
  const Library* library = nullptr;

  // Compiles the operator for calls like one that succeeded. `groups` lists the inputs that share a type, and a number
  // gets the type of the arrays in its group. Returns false if such calls must always take the slow path.
  [[nodiscard]] bool compile(const char* op, const Attributes& attributes, const CallArguments& args, nb::handle result,
                             const std::vector<std::vector<std::size_t>>& groups, const OtherViews& views = {});

  // Records the origin of each output. Returns false if other calls with the same key may return different outputs.
  [[nodiscard]] bool read_result(const CallArguments& args, nb::handle result);

  // Returns the result, or null if the slow path must report an error.
  [[nodiscard]] nb::object run(const CallArguments& args) const {
    return run_by(args, [this](void* const* memory) {
      if (releases) {
        const GilReleased released;
        return execute(memory);
      }
      return execute(memory);
    });
  }

  // `memory` has the addresses of the inputs, then of the outputs.
  [[nodiscard]] int execute(void* const* memory) const {
    return anydml_compiled_run(compiled.get(), memory, inputs, memory + inputs, outputs.size());
  }

  // Like run(), but calls a function run(addresses) that returns a status code.
  template <class Run>
  [[nodiscard]] nb::object run_by(const CallArguments& args, Run run) const {
    void* memory[2 * CallArguments::kMax];
    alignas(8) char scalars[CallArguments::kMax][8];
    std::copy_n(args.memory, inputs, memory);
    if (!numbers.empty() && !read_numbers(args, memory, scalars)) {
      return {};
    }
    nb::object result;
    nb::handle written[CallArguments::kMax];
    std::size_t written_count = 0;
    if (several) {
      result = checked(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Output& output = outputs[i];
      nb::object one;
      memory[inputs + i] = nullptr;
      if (output.kind == Kind::given) {
        one = nb::borrow(args.given[inputs + i]);
        memory[inputs + i] = args.memory[inputs + i];
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
        DeviceOperand created;
        created.locate(one);
        if (!created.viewed) {
          return {};
        }
        memory[inputs + i] = created.memory();
      }
      if (several) {
        PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), one.release().ptr());
      } else {
        result = std::move(one);
      }
    }
    const int code = run(static_cast<void* const*>(memory));
    if (code == ANYDML_INVALID_ARGUMENT) {  // nothing has been written
      return {};
    }
    if (code != ANYDML_OK) {
      raise_last(code);
    }
    tell_written(library, written, written_count);
    return result;
  }

 private:
  static nb::object checked(PyObject* created) {
    if (created == nullptr) {
      throw nb::python_error();
    }
    return nb::steal(created);
  }

  [[nodiscard]] bool read_numbers(const CallArguments& args, void** memory, char (*scalars)[8]) const {
    for (std::size_t i = 0; i < inputs; ++i) {
      if (numbers[i] != DataType::unknown) {
        Operand operand;
        if (!operand.take_number(args.given[i], numbers[i])) {
          return false;
        }
        std::memcpy(scalars[i], operand.scalar, sizeof(operand.scalar));
        memory[i] = scalars[i];
      }
    }
    return true;
  }

  [[nodiscard]] bool read_input(const CallArguments& args, std::size_t i,
                                const std::vector<std::vector<std::size_t>>& groups);

  // Replaces an input with a different view of its memory, if the call has one.
  [[nodiscard]] bool view_input(const CallArguments& args, std::size_t i, const OtherViews& views);

  // Replaces the sizes of a new output, which is packed.
  [[nodiscard]] bool view_output(std::size_t i, const OtherViews& views);

  [[nodiscard]] bool read_output(const CallArguments& args, std::size_t i);

  // Describes a result that the call created, which must be packed.
  [[nodiscard]] bool read_made(Output& output, PyObject* one) const;
};

// Calls a function that adds an entry to a cache. If that fails, nothing is cached and no error is raised, because the
// call itself has succeeded.
template <class Add>
void try_to_cache(Add add) {
  try {
    add();
  } catch (nb::python_error&) {
  } catch (const std::bad_alloc&) {
  }
}

// The last calls to one function. Callers must hold the GIL.
class CallCache {
 public:
  static constexpr std::size_t kMax = 32;
  using Entry = std::shared_ptr<const CachedCall>;

  [[nodiscard]] Entry find(const CallKey& key) {
    if (last_ < all_.size() && is(*all_[last_], key)) {
      return all_[last_];
    }
    const std::uint64_t hash = key.hash();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i]->hash == hash && is(*all_[i], key)) {
        last_ = i;
        return all_[i];
      }
    }
    return nullptr;
  }

  // Counts an uncached call. Returns true for the second recent occurrence of its key, because a call that occurs only
  // once is not worth compiling. A call that could not be cached is not tried again.
  [[nodiscard]] bool is_worth_caching(const CallKey& key) {
    const std::uint64_t hash = key.hash();
    for (Candidate& one : candidates_) {
      if (one.hash == hash) {
        return one.times++ == 1;
      }
    }
    candidates_[next_candidate_++ % candidates_.size()] = {hash, 1};
    return false;
  }

  void add(const CallKey& key, std::shared_ptr<CachedCall> cached);

  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  struct Candidate {
    std::uint64_t hash;
    std::uint64_t times;
  };

  static bool is(const CachedCall& cached, const CallKey& key) { return key.is(cached.key.data(), cached.key.size()); }

  std::vector<Entry> all_;
  std::size_t last_ = 0;
  std::size_t oldest_ = 0;
  std::array<Candidate, kMax> candidates_{};
  std::size_t next_candidate_ = 0;
};

}  // namespace anydml::python
