// SPDX-License-Identifier: MIT
// Cases of invalid operator descriptions: the rules for every operator's tensors, and rules for individual operators.
#include "directml/bad_input.h"

namespace anydml::test {

std::vector<Case> description_cases() {
  return {
      {"CreateOperator: desc is null", E_INVALIDARG, "desc is null; expected a DML_OPERATOR_DESC",
       [](Program& p) {
         void* out = &out;
         const HRESULT result = p.dml.device->CreateOperator(nullptr, __uuidof(IDMLOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"CreateOperator: ppv is null", E_INVALIDARG, "ppv is null",
       [](Program& p) { return p.dml.device->CreateOperator(&p.described, __uuidof(IDMLOperator), nullptr); }},
      {"CreateOperator: riid of an interface that operators lack", E_NOINTERFACE, "riid",
       [](Program& p) {
         void* out = &out;
         const HRESULT result = p.dml.device->CreateOperator(&p.described, __uuidof(IDMLCompiledOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"the operator's Desc is null", E_INVALIDARG, "ELEMENT_WISE_MODULUS_FLOOR: Desc is null",
       creating([](Program& p) { p.described.Desc = nullptr; })},
      {"operator type INVALID", E_INVALIDARG, "Type is 0",
       creating([](Program& p) { p.described.Type = DML_OPERATOR_INVALID; })},
      {"unknown operator type", E_INVALIDARG, "Type is 255",
       creating([](Program& p) { p.described.Type = number_as<DML_OPERATOR_TYPE>(255); })},
      {"a tensor is null", E_INVALIDARG, "BTensor: the tensor is null",
       creating([](Program& p) { p.desc.BTensor = nullptr; })},
      {"the output is null", E_INVALIDARG, "OutputTensor: the tensor is null",
       creating([](Program& p) { p.desc.OutputTensor = nullptr; })},
      {"tensor type INVALID", E_INVALIDARG, "ATensor: Type is 0; expected DML_TENSOR_TYPE_BUFFER",
       creating([](Program& p) { p.a.desc.Type = DML_TENSOR_TYPE_INVALID; })},
      {"unknown tensor type", E_INVALIDARG, "OutputTensor: Type is 3",
       creating([](Program& p) { p.out.desc.Type = number_as<DML_TENSOR_TYPE>(3); })},
      {"a tensor's Desc is null", E_INVALIDARG, "ATensor: Desc is null",
       creating([](Program& p) { p.a.desc.Desc = nullptr; })},
      {"data type UNKNOWN", E_INVALIDARG, "ATensor: DataType is UNKNOWN",
       creating([](Program& p) { retype(p.a, DML_TENSOR_DATA_TYPE_UNKNOWN); })},
      {"unknown data type", E_INVALIDARG, "BTensor: DataType is 15", creating([](Program& p) { retype(p.b, 15); })},
      {"a data type of 4 bits", E_INVALIDARG, "ATensor: DataType is INT4",
       creating([](Program& p) { retype_all(p, DML_TENSOR_DATA_TYPE_INT4); })},
      {"FLOAT64, which modulus never takes", E_INVALIDARG, "ATensor: DataType is FLOAT64; expected FLOAT32",
       creating([](Program& p) { retype_all(p, DML_TENSOR_DATA_TYPE_FLOAT64); })},
      {"types that differ between inputs", E_INVALIDARG, "BTensor: type is FLOAT16; expected FLOAT32",
       creating([](Program& p) { retype(p.b, DML_TENSOR_DATA_TYPE_FLOAT16); })},
      {"an output of another type", E_INVALIDARG, "OutputTensor: type is INT32; expected FLOAT32",
       creating([](Program& p) { retype(p.out, DML_TENSOR_DATA_TYPE_INT32); })},
      {"zero dimensions", E_INVALIDARG, "ATensor: DimensionCount is 0; expected 1 to 8",
       creating([](Program& p) { p.a.buffer.DimensionCount = 0; })},
      {"nine dimensions", E_INVALIDARG, "ATensor: DimensionCount is 9; expected 1 to 8",
       creating([](Program& p) { resize_all(p, std::vector<UINT>(9, 1)); })},
      {"2^32 - 1 dimensions", E_INVALIDARG, "ATensor: DimensionCount is 4294967295",
       creating([](Program& p) { p.a.buffer.DimensionCount = UINT32_MAX; })},
      {"dimension counts that differ", E_INVALIDARG, "BTensor: sizes are [2, 3, 4]; expected exactly [1, 2, 3, 4]",
       creating([](Program& p) {
         resize(p.b, {2, 3, 4});
       })},
      {"Sizes is null", E_INVALIDARG, "ATensor: Sizes is null; expected 4 sizes",
       creating([](Program& p) { p.a.buffer.Sizes = nullptr; })},
      {"a size of zero", E_INVALIDARG, "OutputTensor: Sizes[2] is 0; expected 1 or more",
       creating([](Program& p) { p.out.sizes[2] = 0; })},
      {"sizes that differ", E_INVALIDARG, "ATensor: sizes are [1, 2, 3, 5]; expected exactly [1, 2, 3, 4]",
       creating([](Program& p) {
         resize(p.a, {1, 2, 3, 5});
       })},
      {"a size of 1 where the output has more", E_INVALIDARG, "to repeat it, give those sizes and a stride of 0",
       creating([](Program& p) {
         resize(p.b, {1, 2, 3, 1});
       })},
      {"more than 2^32 - 1 elements", E_INVALIDARG, "hold too many elements; expected at most 4294967295",
       creating([](Program& p) {
         resize_all(p, {65536, 65536});
       })},
      {"sizes whose product passes 64 bits", E_INVALIDARG, "span more than 72057594037927936 bytes",
       creating([](Program& p) {
         resize_all(p, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
       })},
      {"a total size too small", E_INVALIDARG, "ATensor: TotalTensorSizeInBytes is 92; expected 96 or more",
       creating([](Program& p) { p.a.buffer.TotalTensorSizeInBytes = 92; })},
      {"a total size of zero", E_INVALIDARG, "TotalTensorSizeInBytes is 0; expected 96 or more",
       creating([](Program& p) { p.b.buffer.TotalTensorSizeInBytes = 0; })},
      {"a total size of 2^63 for two tensors owned by DirectML", E_INVALIDARG,
       "ATensor: TotalTensorSizeInBytes is 9223372036854775808; expected 72057594037927936 at most",
       creating([](Program& p) {
         for (Tensor* owned : {&p.a, &p.b}) {
           owned->buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
           owned->buffer.TotalTensorSizeInBytes = std::uint64_t{1} << 63;
         }
       })},
      {"a total size that is not a multiple of 4", E_INVALIDARG,
       "TotalTensorSizeInBytes is 98; expected 96 or more, the extent of the elements, and a multiple of 4",
       creating([](Program& p) { p.a.buffer.TotalTensorSizeInBytes = 98; })},
      {"strides that pass the total size", E_INVALIDARG, "BTensor: TotalTensorSizeInBytes is 96; expected 188 or more",
       creating([](Program& p) {
         resize(p.b, {1, 2, 3, 4}, {24, 24, 8, 2});
         p.b.buffer.TotalTensorSizeInBytes = 96;
       })},
      {"strides whose reach passes 32 bits, with a size that does not", E_INVALIDARG,
       "ATensor: TotalTensorSizeInBytes is 96; expected 68719476700 or more", creating([](Program& p) {
         p.a.strides = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX - 2};
         p.a.sizes = {1, 1, 2, 4};
         p.a.point();
         resize(p.b, {1, 1, 2, 4});
         resize(p.out, {1, 1, 2, 4});
         p.a.buffer.TotalTensorSizeInBytes = 96;
       })},
      {"strides whose reach passes 64 bits", E_INVALIDARG, "span more than 72057594037927936 bytes",
       creating([](Program& p) {
         resize_all(p, {UINT32_MAX, 1}, {UINT32_MAX, 1});
       })},
      {"an output with stride 0", E_INVALIDARG, "OutputTensor: strides [12, 12, 4, 0]", creating([](Program& p) {
         resize(p.out, {1, 2, 3, 4}, {12, 12, 4, 0});
       })},
      {"an output whose elements collide", E_INVALIDARG, "put two elements at the same address",
       creating([](Program& p) {
         resize(p.out, {1, 2, 3, 4}, {1, 3, 2, 1});
       })},
      {"an alignment that is not a power of two", E_INVALIDARG, "GuaranteedBaseOffsetAlignment is 24",
       creating([](Program& p) { p.a.buffer.GuaranteedBaseOffsetAlignment = 24; })},
      {"an alignment below an element", E_INVALIDARG, "GuaranteedBaseOffsetAlignment is 2",
       creating([](Program& p) { p.a.buffer.GuaranteedBaseOffsetAlignment = 2; })},
      {"unknown tensor flags", E_INVALIDARG, "ATensor: Flags is 0x2",
       creating([](Program& p) { p.a.buffer.Flags = number_as<DML_TENSOR_FLAGS>(2); })},
      {"an output owned by DirectML", E_INVALIDARG, "OutputTensor: Flags is OWNED_BY_DML",
       creating([](Program& p) { p.out.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML; })},
  };
}

namespace {

// Operators other than the one in Program.
template <DML_OPERATOR_TYPE Type, class Desc, class Fill>
std::function<HRESULT(Program&)> creating_other(Fill fill) {
  return [fill](Program& p) {
    Desc desc{};
    fill(p, desc);
    const DML_OPERATOR_DESC described{Type, &desc};
    void* out = &out;
    const HRESULT result = p.dml.device->CreateOperator(&described, __uuidof(IDMLOperator), &out);
    EXPECT_EQ(out, nullptr);
    return result;
  };
}

template <class Fill>
std::function<HRESULT(Program&)> creating_reduce(Fill fill) {
  return creating_other<DML_OPERATOR_REDUCE, DML_REDUCE_OPERATOR_DESC>([fill](Program& p, auto& desc) {
    static constexpr UINT kAxes[] = {0, 3};
    resize(p.out, {1, 2, 3, 1});
    desc = {DML_REDUCE_FUNCTION_SUM, &p.a.desc, &p.out.desc, 2, kAxes};
    fill(desc);
  });
}

template <class Fill>
std::function<HRESULT(Program&)> creating_fused(Fill fill) {
  return creating_other<DML_OPERATOR_ELEMENT_WISE_ADD1, DML_ELEMENT_WISE_ADD1_OPERATOR_DESC>(
      [fill](Program& p, auto& desc) {
        desc.ATensor = &p.a.desc;
        desc.BTensor = &p.b.desc;
        desc.OutputTensor = &p.out.desc;
        fill(desc);
      });
}

// A GRU whose weights DirectML would own.
HRESULT create_owning_gru(Program& p) {
  const Tensor inputs(kFloat, {1, 2, 1, 1});
  const Tensor weights(kFloat, {1, 1, 3, 1}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
  const Tensor recurrence(kFloat, {1, 1, 3, 1});
  const Tensor last(kFloat, {1, 1, 1, 1});
  const DML_ACTIVATION_SIGMOID_OPERATOR_DESC sigmoid{};
  const DML_ACTIVATION_TANH_OPERATOR_DESC tangent{};
  const DML_OPERATOR_DESC activations[] = {{DML_OPERATOR_ACTIVATION_SIGMOID, &sigmoid},
                                           {DML_OPERATOR_ACTIVATION_TANH, &tangent}};
  DML_GRU_OPERATOR_DESC desc{};
  desc.InputTensor = &inputs.desc;
  desc.WeightTensor = &weights.desc;
  desc.RecurrenceTensor = &recurrence.desc;
  desc.OutputSingleTensor = &last.desc;
  desc.ActivationDescCount = 2;
  desc.ActivationDescs = activations;
  desc.Direction = DML_RECURRENT_NETWORK_DIRECTION_FORWARD;
  p.described = {DML_OPERATOR_GRU, &desc};
  return p.create();
}

}  // namespace

std::vector<Case> rule_cases() {
  return {
      {"a tensor of a recurrent network owned by DirectML", E_INVALIDARG,
       "GRU: WeightTensor.Flags is OWNED_BY_DML; expected NONE, since GRU accepts no tensor owned by DirectML; bind it "
       "at "
       "execution, or in a graph let ACTIVATION_IDENTITY take the owned tensor",
       create_owning_gru},
      {"an axis that the tensor does not have", E_INVALIDARG, "REDUCE: Axes[1] is 4; expected less than",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) {
         static constexpr UINT kAxes[] = {0, 4};
         desc.Axes = kAxes;
       })},
      {"a size that does not follow from the others", E_INVALIDARG, "OutputTensor.Sizes[3] is 1; expected InputTensor",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.AxisCount = 1; })},
      {"an array that is null", E_INVALIDARG, "REDUCE: Axes is null; expected 2 numbers",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.Axes = nullptr; })},
      {"an array of 2^32 - 1 numbers", E_INVALIDARG, "REDUCE: AxisCount is 4294967295; expected 8 at most",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.AxisCount = UINT32_MAX; })},
      {"a value that an enumeration does not have", E_INVALIDARG, "REDUCE: Function is 99; expected a DML_REDUCE",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.Function = number_as<DML_REDUCE_FUNCTION>(99); })},
      {"an operator that cannot be fused", E_INVALIDARG,
       "FusedActivation: ELEMENT_WISE_ABS cannot be fused into ELEMENT_WISE_ADD1",
       creating_fused([](DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc) {
         static constexpr DML_ELEMENT_WISE_ABS_OPERATOR_DESC kAbs{};
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ELEMENT_WISE_ABS, &kAbs};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator with a tensor", E_INVALIDARG, "ACTIVATION_RELU: InputTensor is given; expected null",
       creating_fused([](DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc) {
         static DML_ACTIVATION_RELU_OPERATOR_DESC relu;
         relu = {desc.ATensor, nullptr};
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ACTIVATION_RELU, &relu};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator of no type", E_INVALIDARG,
       "ELEMENT_WISE_ADD1: FusedActivation: Type is 0; expected the number of an",
       creating_fused([](DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc) {
         static constexpr DML_OPERATOR_DESC kFused{};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator whose Desc is null", E_INVALIDARG,
       "ELEMENT_WISE_ADD1: FusedActivation: Desc is null; expected a DML_ACTIV",
       creating_fused([](DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc) {
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ACTIVATION_RELU, nullptr};
         desc.FusedActivation = &kFused;
       })},
      {"operators fused into one another endlessly", E_INVALIDARG, "is nested too deeply",
       creating_fused([](DML_ELEMENT_WISE_ADD1_OPERATOR_DESC& desc) {
         static DML_ELEMENT_WISE_ADD1_OPERATOR_DESC inner;
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ELEMENT_WISE_ADD1, &inner};
         inner.FusedActivation = &kFused;
         desc.FusedActivation = &kFused;
       })},
      {"a value whose type is UNKNOWN", E_INVALIDARG, "ValueDataType is UNKNOWN; expected the type of a number",
       creating_other<DML_OPERATOR_FILL_VALUE_CONSTANT, DML_FILL_VALUE_CONSTANT_OPERATOR_DESC>(
           [](Program& p, auto& desc) { desc.OutputTensor = &p.out.desc; })},
  };
}

}  // namespace anydml::test
