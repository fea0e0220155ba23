// SPDX-License-Identifier: MIT
// Every row and type as a loop over its scalar definition.
#include <cstring>
#include <utility>

#include "ops/elementwise/cpu/kernels.h"

namespace anydml {
namespace {

// Through memcpy: tensors come at any address, and the compiler makes one instruction of it.
template <class T>
T load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

template <class ScalarOp, class T, bool kContiguous, std::size_t... kInputs>
void loop(const KernelArguments& arguments, std::index_sequence<kInputs...>) noexcept {
  const auto scalar = make_scalar<ScalarOp>(*arguments.attributes);
  const auto advance = [](std::int64_t stride, std::size_t column) {
    return static_cast<std::ptrdiff_t>(column) * (kContiguous ? static_cast<std::ptrdiff_t>(sizeof(T)) : stride);
  };
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth_row = static_cast<std::ptrdiff_t>(row);
    const std::byte* const inputs[] = {arguments.inputs[kInputs].data +
                                       nth_row * arguments.inputs[kInputs].row_stride...};
    std::byte* const output = arguments.output.data + nth_row * arguments.output.row_stride;
    for (std::size_t column = 0; column < arguments.columns; ++column) {
      store<T>(output + advance(arguments.output.stride, column),
               scalar(load<T>(inputs[kInputs] + advance(arguments.inputs[kInputs].stride, column))...));
    }
  }
}

template <class ScalarOp, class T, bool kContiguous>
void kernel(const KernelArguments& arguments) noexcept {
  loop<ScalarOp, T, kContiguous>(arguments, std::make_index_sequence<scalar_inputs<ScalarOp, T>()>{});
}

template <template <class> class ScalarOp, class T>
constexpr void fill_type(KernelTable& table, RowId row) {
  if constexpr (scalar_inputs<ScalarOp<T>, T>() != 0) {
    auto& slots = table.kernels[static_cast<std::size_t>(row)][static_cast<std::size_t>(kDataTypeOf<T>)];
    for (Kernel& slot : slots) {
      slot = kernel<ScalarOp<T>, T, false>;
    }
    slots[static_cast<std::size_t>(InnerLayout::contiguous)] = kernel<ScalarOp<T>, T, true>;
  }
}

template <template <class> class ScalarOp>
constexpr void fill_row(KernelTable& table, RowId row) {
#define ANYDML_FILL(T, name, value) fill_type<ScalarOp, T>(table, row);
  ANYDML_FOR_EACH_TYPE(ANYDML_FILL)
#undef ANYDML_FILL
}

constexpr KernelTable make_table() {
  KernelTable table{.target = "generic", .kernels = {}};
#define ANYDML_ROW(op, Scalar, ulp) fill_row<Scalar>(table, RowId::op);
#include "ops/elementwise/elementwise.def"
  return table;
}

constexpr KernelTable kGeneric = make_table();

}  // namespace

const KernelTable& generic_kernels() { return kGeneric; }

}  // namespace anydml
