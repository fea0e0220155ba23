// SPDX-License-Identifier: MIT
// Describes where each element of an operator's output comes from, as copies and as views.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/scalar.h"
#include "ops/decomposition.h"
#include "ops/move/copies.h"
#include "ops/op_desc.h"

namespace anydml::moves {

// The numbers in a field; empty if it is absent or if the operator has no such field.
[[nodiscard]] std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view field);

// tensors: the inputs, then the outputs, with their locations. A tensor without an address needs no copy: it was
// computed in place, or is never read.
using LowerMove = void (*)(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_parts(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_slice(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// Copies the input's elements and writes 0 everywhere else.
void lower_slice_gradient(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_padding(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// For a padding or the gradient of a slice, copies only the input's elements.
void copy_padded(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_tile(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_blocks(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// UNFOLD without padding; an operator with padding is decomposed.
void lower_unfold(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_reversal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_diagonal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);

// UNFOLD: pads the input, then unfolds the padded tensor. VALUE_SCALE_2D: scales each channel separately.
[[nodiscard]] Result<Decomposition> decompose_unfold(const OpDesc& desc);
[[nodiscard]] Result<Decomposition> decompose_value_scale(const OpDesc& desc);

// Whether the elements of a slice are adjacent, possibly in reverse order.
[[nodiscard]] bool is_dense_slice(const OpDesc& desc, const TensorDesc& slice);

// Views of the input, for SPLIT and slices; views in the output, for JOIN, paddings and the gradients of slices.
[[nodiscard]] TensorViews views_of_inputs(const OpDesc& desc);
[[nodiscard]] TensorViews views_in_outputs(const OpDesc& desc);

}  // namespace anydml::moves
