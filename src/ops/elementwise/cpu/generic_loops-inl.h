// SPDX-License-Identifier: MIT
// Runs an entry's scalar definition in a plain loop: correct on every machine, and the reference for the vector
// kernels. One loop handles all layouts. Its speed hardly matters, since every target in use has vector kernels for all
// entries.
#pragma once

#include <cstring>
#include <utility>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/scalar/signature.h"

namespace anydml {
namespace {

// Uses memcpy, since tensors may be misaligned; compilers turn it into one instruction.
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

template <class ScalarOp, std::size_t... kInputs>
void loop(const KernelArguments& arguments, std::index_sequence<kInputs...>) noexcept {
  using Types = Signature<ScalarOp>;
  using Output = typename Types::Output;
  const auto scalar = make_scalar<ScalarOp>(*arguments.attributes);
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth_row = static_cast<std::ptrdiff_t>(row);
    const std::byte* const inputs[] = {arguments.inputs[kInputs].data +
                                       nth_row * arguments.inputs[kInputs].row_stride...};
    std::byte* const output = arguments.output.data + nth_row * arguments.output.row_stride;
    for (std::size_t column = 0; column < arguments.columns; ++column) {
      const auto nth = static_cast<std::ptrdiff_t>(column);
      store<Output>(output + nth * arguments.output.stride,
                    scalar(load<typename Types::template Input<kInputs>>(inputs[kInputs] +
                                                                         nth * arguments.inputs[kInputs].stride)...));
    }
  }
}

template <class ScalarOp>
void kernel(const KernelArguments& arguments) noexcept {
  loop<ScalarOp>(arguments, std::make_index_sequence<Signature<ScalarOp>::kInputs>{});
}

// Puts the loops for an entry's variants into the table. for_each(use) calls use.template operator()<Scalar>() for each
// variant.
template <class ForEach>
void put_generic_entry(KernelTable& table, EntryId id, ForEach for_each) {
  std::uint32_t variant = 0;
  for_each([&]<class Scalar>() { table.at(entry(id), variant++).fill(kernel<Scalar>); });
}

}  // namespace
}  // namespace anydml
