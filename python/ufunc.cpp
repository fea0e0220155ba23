// SPDX-License-Identifier: MIT
#include "ufunc.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "errors.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

void Ufunc::warn(int found) const {
  if (found == 0) {
    return;
  }
  const nb::object mask = nb::steal(PyArray_SimpleNew(0, nullptr, NPY_UINT8));
  if (!mask.is_valid()) {
    throw nb::python_error();
  }
  *static_cast<npy_uint8*>(PyArray_DATA(as_array(mask.ptr()))) = static_cast<npy_uint8>(found);
  const nb::object done = nb::steal(PyObject_CallOneArg(warner.ptr(), mask.ptr()));
  if (!done.is_valid()) {
    throw nb::python_error();
  }
}

namespace {

// The rows of the operands, followed by the row of the results.
struct LoopRow {
  char* data[kMaxOperands + 1];
  npy_intp steps[kMaxOperands + 1];

  [[nodiscard]] LoopRow from(npy_intp first) const {
    LoopRow rest = *this;
    for (int i = 0; i <= kMaxOperands; ++i) {
      rest.data[i] += first * steps[i];
    }
    return rest;
  }
  // Whether two of the rows share memory.
  [[nodiscard]] bool share(int one, int other, npy_intp count, npy_intp size) const {
    const auto low = [&](int i) { return data[i] + std::min<npy_intp>(0, (count - 1) * steps[i]); };
    const auto high = [&](int i) { return data[i] + std::max<npy_intp>(0, (count - 1) * steps[i]) + size; };
    return low(one) < high(other) && low(other) < high(one);
  }
};

int run_row(const Ufunc::Loop& loop, const LoopRow& row, npy_intp count) {
  const auto size = static_cast<npy_intp>(element_size(loop.type));
  const std::int64_t sizes[] = {count};
  std::int64_t strides[kMaxOperands + 1][1];
  anydml_tensor tensors[kMaxOperands + 1];
  for (int i = 0; i <= loop.of->inputs; ++i) {
    strides[i][0] = row.steps[i] / size;
    tensors[i] = {static_cast<anydml_type>(loop.type), 1, sizes, strides[i], row.data[i]};
  }
  return loop.of->run(tensors);
}

int faults_of_loop(const Ufunc::Loop& loop, const LoopRow& row, npy_intp count) {
  Row seen{{}, {}, loop.of->inputs, count};
  std::copy_n(row.data, kMaxOperands + 1, seen.data);
  std::copy_n(row.steps, kMaxOperands + 1, seen.steps);
  return faults_of_row(loop.of->faults, loop.type, seen);
}

// Runs a row of floats whose results overwrite operands. If recognizing faults requires these operands, the row runs in
// parts over copies of them.
template <class T>
int run_over_operands(const Ufunc::Loop& loop, const LoopRow& row, npy_intp count, const bool* is_over, int& faults) {
  constexpr npy_intp kPart = 1 << 18;
  static const T kOrdinary = narrow<T>(3);
  const int inputs = loop.of->inputs;
  LoopRow seen = row;
  const auto has_say = [&](int i) {
    return any_of_long_row<T>(row.data[i], row.steps[i], count, [](T value) { return has_a_say(value); });
  };
  bool any = false;
  for (int i = 0; i < inputs; ++i) {
    any = any || (is_over[i] && has_say(i));
    if (is_over[i]) {
      seen.data[i] = const_cast<char*>(reinterpret_cast<const char*>(&kOrdinary));
      seen.steps[i] = 0;
    }
  }
  if (!any) {
    const int code = run_row(loop, row, count);
    faults |= code == ANYDML_OK ? faults_of_loop(loop, seen, count) : 0;
    return code;
  }
  const npy_intp maximum = std::min(count, kPart);
  const std::unique_ptr<T[]> copies(new (std::nothrow) T[static_cast<std::size_t>(maximum * inputs)]);
  if (copies == nullptr) {
    return ANYDML_OUT_OF_MEMORY;
  }
  for (npy_intp start = 0; start < count; start += maximum) {
    const npy_intp many = std::min(maximum, count - start);
    LoopRow part = row.from(start);
    for (int i = 0; i < inputs; ++i) {
      if (is_over[i]) {
        T* const copy = &copies[static_cast<std::size_t>(maximum * i)];
        for (npy_intp j = 0; j < many; ++j) {
          copy[j] = load<T>(part.data[i] + j * row.steps[i]);
        }
        part.data[i] = reinterpret_cast<char*>(copy);
        part.steps[i] = sizeof(T);
      }
    }
    if (const int code = run_row(loop, part, many); code != ANYDML_OK) {
      return code;
    }
    faults |= faults_of_loop(loop, part, many);
  }
  return ANYDML_OK;
}

// Runs a row and adds its faults to the mask.
int run_watched(const Ufunc::Loop& loop, const LoopRow& row, npy_intp count, int& faults) {
  const int inputs = loop.of->inputs;
  if (!is_float_type(loop.type)) {
    if (loop.of->faults == Faults::modulus && (faults & FE_DIVBYZERO) == 0) {
      const bool by_zero = visit_type(loop.type, [&]<class T>() {
        const npy_intp many = row.steps[1] == 0 ? std::min<npy_intp>(count, 1) : count;
        return any_of_row<T>(row.data[1], row.steps[1], many, [](T value) { return is_zero(value); });
      });
      faults |= by_zero ? FE_DIVBYZERO : 0;
    }
    return run_row(loop, row, count);
  }
  bool is_over[kMaxOperands] = {};
  bool any = false;
  for (int i = 0; i < inputs; ++i) {  // results overwrite an operand element by element or not at all
    is_over[i] = row.share(i, inputs, count, static_cast<npy_intp>(element_size(loop.type)));
    any |= is_over[i];
  }
  if (any) {
    return visit_type(loop.type, [&]<class T>() {
      if constexpr (is_float<T>) {
        return run_over_operands<T>(loop, row, count, is_over, faults);
      } else {
        return static_cast<int>(ANYDML_OK);
      }
    });
  }
  const int code = run_row(loop, row, count);
  faults |= code == ANYDML_OK ? faults_of_loop(loop, row, count) : 0;
  return code;
}

void run_loop(char** data, const npy_intp* dimensions, const npy_intp* steps, void* which) {
  const Ufunc::Loop& loop = *static_cast<const Ufunc::Loop*>(which);
  const auto size = static_cast<npy_intp>(element_size(loop.type));
  const npy_intp count = dimensions[0];
  const int inputs = loop.of->inputs;
  std::fexcept_t flags;
  std::fegetexceptflag(&flags, FE_ALL_EXCEPT);
  LoopRow all{};
  std::copy_n(data, inputs + 1, all.data);
  std::copy_n(steps, inputs + 1, all.steps);
  // Reductions and accumulations read a result as the next operand. In all other cases, NumPy lets results overwrite
  // operands only element by element. A step that is not a multiple of the element size is not a valid stride here.
  bool whole = steps[inputs] != 0 && steps[inputs] % size == 0;
  for (int i = 0; i < inputs; ++i) {
    const bool in_place = data[i] == data[inputs] && steps[i] == steps[inputs];
    whole = whole && steps[i] % size == 0 && (in_place || !all.share(i, inputs, count, size));
  }
  const npy_intp many = whole ? max_elements.load(std::memory_order_relaxed) : 1;
  int faults = 0;
  int code = ANYDML_OK;
  for (npy_intp i = 0; i < count && code == ANYDML_OK; i += many) {
    code = run_watched(loop, all.from(i), std::min(many, count - i), faults);
  }
  if (code != ANYDML_OK) {
    const GilHeld held;
    PyErr_SetString(code == ANYDML_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError, anydml_last_error());
  }
  // NumPy reads the machine's flags after the last loop of a call, so the flags of earlier loops and casts must stay.
  // This loop adds only its own faults and ignores other flags raised in the meantime.
  std::fesetexceptflag(&flags, FE_ALL_EXCEPT);
  if (faults != 0) {
    std::feraiseexcept(faults);
  }
}

// The loop of a warner, whose input is a mask of faults.
void raise_faults(char** data, const npy_intp* dimensions, const npy_intp* steps, void*) {
  for (npy_intp i = 0; i < dimensions[0]; ++i) {
    const auto mask = static_cast<npy_uint8>(data[0][i * steps[0]]);
    data[1][i * steps[1]] = static_cast<char>(mask);
    std::feraiseexcept(mask);
  }
}

}  // namespace

Ufunc::Ufunc(std::string python, std::string directml, int input_count)
    : name(std::move(python)), op(std::move(directml)), inputs(input_count) {
  static_assert((FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW) < 256);
  const anydml_operator_info* info = nullptr;
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    info = op == anydml_operator_at(i)->name ? anydml_operator_at(i) : info;
  }
  if (info == nullptr || info->is_built == 0 || inputs < 1 || inputs > kMaxOperands ||
      info->input_count != static_cast<std::uint32_t>(inputs)) {
    raise(PyExc_ValueError, op + " is not an implemented operator with " + std::to_string(inputs) + " inputs");
  }
  const std::string_view what = op;
  direct = what == "ELEMENT_WISE_MODULUS_FLOOR"      ? anydml_modulus_floor
           : what == "ELEMENT_WISE_MODULUS_TRUNCATE" ? anydml_modulus_truncate
                                                     : nullptr;
  faults = direct != nullptr                                            ? Faults::modulus
           : what == "ELEMENT_WISE_LOG" || what == "ELEMENT_WISE_ATANH" ? Faults::function_with_poles
           : what == "ELEMENT_WISE_POW"                                 ? Faults::pow
                                                                        : Faults::function;
  for (const TypePair& pair : kTypes) {
    if ((info->types >> static_cast<std::uint32_t>(pair.type) & 1) != 0) {
      loops.push_back({this, pair.type});
      functions.push_back(run_loop);
      types.insert(types.end(), static_cast<std::size_t>(inputs + 1), static_cast<char>(pair.numpy));
    }
  }
  for (Loop& loop : loops) {
    data.push_back(&loop);
  }
  static PyUFuncGenericFunction raising[] = {raise_faults};
  static void* nothing[] = {nullptr};
  static char masks[] = {NPY_UINT8, NPY_UINT8};
  ufunc = nb::steal(PyUFunc_FromFuncAndData(functions.data(), data.data(), types.data(), static_cast<int>(loops.size()),
                                            inputs, 1, PyUFunc_None, name.c_str(),
                                            "The ufunc of the function with the same name.", 0));
  warner = nb::steal(PyUFunc_FromFuncAndData(raising, nothing, masks, 1, 1, 1, PyUFunc_None, name.c_str(),
                                             "Raises the faults of the function with the same name.", 0));
  if (!ufunc.is_valid() || !warner.is_valid()) {
    throw nb::python_error();
  }
}

}  // namespace anydml::python
