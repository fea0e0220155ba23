// SPDX-License-Identifier: MIT
// The source of each element of an operator's output, as copies and as views.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/scalar.h"
#include "ops/move/copies.h"
#include "ops/op_desc.h"
#include "ops/parts.h"

namespace anydml::moves {

// The numbers of a field; none if it is absent, or if the operator has no such field.
[[nodiscard]] std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view field);

// tensors: the inputs, then the outputs, and their locations. A tensor without an address needs no copy: it is already
// computed in place, or never read.
using LowerMove = void (*)(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_parts(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_slice(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// The elements of the input with 0 everywhere else.
void lower_slice_gradient(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_padding(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// Only the elements of the input of a padding, or of a slice's gradient.
void copy_padded(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_tile(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_blocks(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
// Of an input that is not padded, or was padded before (parts.h).
void lower_unfold(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_reversal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);
void lower_diagonal(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies);

// UNFOLD: a padding, and an UNFOLD of its result. VALUE_SCALE_2D: each channel scaled separately.
[[nodiscard]] Result<OpParts> unfold_parts(const OpDesc& desc);
[[nodiscard]] Result<OpParts> value_scale_parts(const OpDesc& desc);

// Whether the elements of a slice are adjacent, or adjacent in reverse.
[[nodiscard]] bool is_dense_slice(const OpDesc& desc, const TensorDesc& slice);

// Of a SPLIT and of slices; of a JOIN, of paddings and of the gradients of slices.
[[nodiscard]] TensorViews views_of_inputs(const OpDesc& desc);
[[nodiscard]] TensorViews places_in_outputs(const OpDesc& desc);

}  // namespace anydml::moves
