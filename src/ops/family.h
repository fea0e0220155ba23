// SPDX-License-Identifier: MIT
// The interface of a family of operators to the layers that describe and run operators.
//
// This header defines the contract between a family and the other layers. make_op_desc (operators.h) checks an operator
// before a family works on it, and no layer below `check` validates anything again.
//
// Checks      In this order: each tensor separately, its type with `types`, the rules of DirectML's documentation,
//             outputs that overlap themselves, `check`, which rejects anything else that the family cannot compute, and
//             last whether a fused activation is implemented. Errors name the operator and the tensor or field.
// Tensors     Any number of inputs and outputs, up to 8 dimensions (0 for a scalar), sizes of 0 or more.
//             Element counts and byte offsets fit in 63 bits.
// Strides     In elements, one for each dimension, for inputs and outputs alike: positive or negative, in any order,
//             with gaps. The address points to the element at index 0, at any alignment; other elements may have
//             lower addresses. The stride of a dimension of size 1 has no meaning. An input may have stride 0 and may
//             overlap itself in any other way. The elements of an output never share an address, so strides are nonzero
//             in dimensions of more than one element. A kernel never writes bytes between the elements of an output.
// Overlaps    Inputs may overlap each other in any way. Two outputs never share a byte. An input and an output share no
//             byte, unless the operator may run in place of that input (may_be_in_place in op_desc.h): the output may
//             then be the same tensor as the input (same address, strides and element size). Any other overlap has
//             been resolved by a copy (C API) or rejected (DirectML) before a step runs.
// Absence     An optional tensor that is omitted keeps its position, with OpTensor::present false and its
//             PlacedTensor at kAbsentSlot. Its other members have no meaning.
// Emptiness   OpDesc::empty means that no output has elements. Such an operator reaches `check`, but not the
//             decomposition, the joins or the lowering. The family itself rejects inputs without elements if an output
//             has elements.
// Threads     Every function may be called from any thread at any time, keeps no state, and changes only the plan that
//             it receives. It may throw only std::bad_alloc.
// Steps       A step has at most kMaxStepOperands operands, and an element-wise step at most kMaxOperands. Its
//             parameters are plain data without pointers. It sees the results of all earlier steps of the plan.
//             Plan::take_temporary reserves memory that steps share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/element.h"
#include "base/result.h"
#include "facts/facts.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml {

enum class FamilyId : std::uint32_t {
#define ANYDML_FAMILY(name) name,
#include "ops/families.def"
};

struct OpDesc;
struct Decomposition;

// Operators of one family that are fused into one element-wise program. Values are numbered: first the loaded values,
// then the result of each member.
inline constexpr std::uint32_t kAbsentFromGroup = 0xffffffff;
struct GroupMember {
  const OpDesc* desc;
  std::span<const std::uint32_t> inputs;  // the value of each of its inputs; kAbsentFromGroup if absent
  std::uint32_t result;
};
// A value in memory, with the type and sizes that the group uses for it.
struct GroupOperand {
  std::uint32_t value;
  PlacedTensor placed;
};
struct OperatorGroup {
  std::span<const GroupMember> members;  // in dependency order
  std::span<const GroupOperand> loads;
  std::span<const GroupOperand> stores;  // loads and stores together: at most kMaxOperands
};

// The tensors that an operator can exchange with adjacent groups without going through memory, on a device that joins
// steps. Such tensors are packed.
struct Joins {
  std::uint64_t inputs = 0;   // bit i: it can read the elements of input i as the preceding group computes them
  std::uint64_t outputs = 0;  // bit i: it can pass the elements of output i to the following group as it computes them
};

// A tensor of an operator that occupies part of the memory of another tensor of that operator.
struct TensorView {
  std::uint32_t of;         // the input or output whose memory it shares
  TensorDesc tensor;        // its own type and sizes, with strides over that memory
  std::int64_t offset = 0;  // in bytes, from the element at index 0 of the other tensor to that of this one
};
using TensorViews = std::vector<std::optional<TensorView>>;  // for each input, or for each output

// The inputs that are known when a graph is initialized: constants, and values that depend only on them. If a known
// input is the only output of an operator, a family may read the inputs of that operator instead (decomposition.h).
struct KnownInputs {
  std::vector<bool> are_known;
  std::vector<const OpDesc*> makers;  // empty, or for each input the operator that computes it from known inputs, or
                                      // null; the input begins where the operator's output begins

  bool operator[](std::size_t input) const { return are_known[input]; }
  [[nodiscard]] const OpDesc* maker(std::size_t input) const { return makers.empty() ? nullptr : makers[input]; }
  bool operator==(const KnownInputs&) const = default;
};

struct Family {
  FamilyId id;
  // Whether the operator belongs to the family.
  bool (*has)(const facts::Operator& op);
  // The types allowed for a tensor of one of its operators, by position: the inputs come first, then the outputs.
  TypeSet (*types)(const facts::Operator& op, std::size_t position);
  // Whether each element of an output depends only on the inputs' elements at the same index. There is one output,
  // unless the operator is composed. Inputs are broadcast to the first output's sizes with NumPy's rule before `check`,
  // with stride 0 along repeated dimensions, and an output may share the memory of an input.
  bool by_element;
  // Rejects operators that the rules of the documentation allow but the family does not: unsupported combinations of
  // types, meaningless attribute values.
  Status (*check)(const OpDesc& desc);
  // Adds the operator's steps for this device. tensors: the inputs, then the outputs, including absent ones, and their
  // locations; types, sizes and strides are those of `desc`. Null if the family implements lower_together instead.
  void (*lower)(const OpDesc& desc, const DeviceTraits& device, std::span<const PlacedTensor> tensors, Plan& plan);
  // Adds one step for several operators; null if the family computes each operator separately. Allowed only if
  // by_element is set.
  void (*lower_together)(const OperatorGroup& group, Plan& plan);
  // Null if no operator of the family can be joined with others. A tensor that `lower` receives at kForwardedSlot has
  // no memory; exactly one step of the operator uses it as an operand.
  Joins (*joins)(const OpDesc& desc, const DeviceTraits& device);
  // The operator's decomposition on this device (decomposition.h), which may contain composed operators; empty if the
  // operator has its own steps. Null if no operator of the family is composed.
  Result<Decomposition> (*decompose)(const OpDesc& desc, const DeviceTraits& device, const KnownInputs& known);
  // For each output that only contains elements of one input, as for a SLICE: their location in that input's memory.
  // Readers of the output then read the input. If the function is null, or returns no value for an output, the operator
  // computes that output. The function handles all outputs together, because the location of a part depends on the
  // sizes of the parts before it.
  TensorViews (*views_of_inputs)(const OpDesc& desc) = nullptr;
  // The reverse: for each input whose elements become a part of one output, as for a JOIN, their location in that
  // output's memory. The operator that computes them then writes them there, and `lower` receives that input at
  // kAbsentSlot. If the function is null, or returns no value for an input, this is not possible.
  TensorViews (*views_in_outputs)(const OpDesc& desc) = nullptr;
  // Whether the kernels allow an output in place of this input, provided that DirectML's documentation allows it. If
  // the function is null, they allow it if and only if by_element is set.
  bool (*in_place)(const OpDesc& desc, std::size_t input) = nullptr;
  // Whether a run of this operator may write only some elements of an output and keep the others, so that new memory
  // for the output must have defined contents. If the function is null, every run writes every element.
  bool (*keeps_elements)(const facts::Operator& op) = nullptr;
};

// Whether new memory for an output of this operator must have defined contents.
[[nodiscard]] inline bool keeps_elements(const Family& family, const facts::Operator& op) {
  return family.keeps_elements != nullptr && family.keeps_elements(op);
}

}  // namespace anydml
