// SPDX-License-Identifier: MIT
// Facts of the DirectML API as constexpr tables. Made by data/facts/generate_tables.py from the JSON files there.
// Included by the few files that need the tables at compile time; facts.h is what others use.
#pragma once

#include "facts/facts.h"

// clang-format off
namespace anydml::facts::tables {

inline constexpr FeatureLevelName kFeatureLevels[] = {
    {"1_0", static_cast<FeatureLevel>(0x1000)},
    {"2_0", static_cast<FeatureLevel>(0x2000)},
    {"2_1", static_cast<FeatureLevel>(0x2100)},
    {"3_0", static_cast<FeatureLevel>(0x3000)},
    {"3_1", static_cast<FeatureLevel>(0x3100)},
    {"4_0", static_cast<FeatureLevel>(0x4000)},
    {"4_1", static_cast<FeatureLevel>(0x4100)},
    {"5_0", static_cast<FeatureLevel>(0x5000)},
    {"5_1", static_cast<FeatureLevel>(0x5100)},
    {"5_2", static_cast<FeatureLevel>(0x5200)},
    {"6_0", static_cast<FeatureLevel>(0x6000)},
    {"6_1", static_cast<FeatureLevel>(0x6100)},
    {"6_2", static_cast<FeatureLevel>(0x6200)},
    {"6_3", static_cast<FeatureLevel>(0x6300)},
    {"6_4", static_cast<FeatureLevel>(0x6400)},
};

inline constexpr EnumValue kDML_TENSOR_DATA_TYPE_values[] = {
    {"DML_TENSOR_DATA_TYPE_UNKNOWN", 0},
    {"DML_TENSOR_DATA_TYPE_FLOAT32", 1},
    {"DML_TENSOR_DATA_TYPE_FLOAT16", 2},
    {"DML_TENSOR_DATA_TYPE_UINT32", 3},
    {"DML_TENSOR_DATA_TYPE_UINT16", 4},
    {"DML_TENSOR_DATA_TYPE_UINT8", 5},
    {"DML_TENSOR_DATA_TYPE_INT32", 6},
    {"DML_TENSOR_DATA_TYPE_INT16", 7},
    {"DML_TENSOR_DATA_TYPE_INT8", 8},
    {"DML_TENSOR_DATA_TYPE_FLOAT64", 9},
    {"DML_TENSOR_DATA_TYPE_UINT64", 10},
    {"DML_TENSOR_DATA_TYPE_INT64", 11},
    {"DML_TENSOR_DATA_TYPE_UINT4", 12},
    {"DML_TENSOR_DATA_TYPE_INT4", 13},
};
inline constexpr EnumValue kDML_TENSOR_TYPE_values[] = {
    {"DML_TENSOR_TYPE_INVALID", 0},
    {"DML_TENSOR_TYPE_BUFFER", 1},
};
inline constexpr EnumValue kDML_TENSOR_FLAGS_values[] = {
    {"DML_TENSOR_FLAG_NONE", 0},
    {"DML_TENSOR_FLAG_OWNED_BY_DML", 1},
};
inline constexpr EnumValue kDML_REDUCE_FUNCTION_values[] = {
    {"DML_REDUCE_FUNCTION_ARGMAX", 0},
    {"DML_REDUCE_FUNCTION_ARGMIN", 1},
    {"DML_REDUCE_FUNCTION_AVERAGE", 2},
    {"DML_REDUCE_FUNCTION_L1", 3},
    {"DML_REDUCE_FUNCTION_L2", 4},
    {"DML_REDUCE_FUNCTION_LOG_SUM", 5},
    {"DML_REDUCE_FUNCTION_LOG_SUM_EXP", 6},
    {"DML_REDUCE_FUNCTION_MAX", 7},
    {"DML_REDUCE_FUNCTION_MIN", 8},
    {"DML_REDUCE_FUNCTION_MULTIPLY", 9},
    {"DML_REDUCE_FUNCTION_SUM", 10},
    {"DML_REDUCE_FUNCTION_SUM_SQUARE", 11},
};
inline constexpr EnumValue kDML_MATRIX_TRANSFORM_values[] = {
    {"DML_MATRIX_TRANSFORM_NONE", 0},
    {"DML_MATRIX_TRANSFORM_TRANSPOSE", 1},
};
inline constexpr EnumValue kDML_CONVOLUTION_MODE_values[] = {
    {"DML_CONVOLUTION_MODE_CONVOLUTION", 0},
    {"DML_CONVOLUTION_MODE_CROSS_CORRELATION", 1},
};
inline constexpr EnumValue kDML_CONVOLUTION_DIRECTION_values[] = {
    {"DML_CONVOLUTION_DIRECTION_FORWARD", 0},
    {"DML_CONVOLUTION_DIRECTION_BACKWARD", 1},
};
inline constexpr EnumValue kDML_PADDING_MODE_values[] = {
    {"DML_PADDING_MODE_CONSTANT", 0},
    {"DML_PADDING_MODE_EDGE", 1},
    {"DML_PADDING_MODE_REFLECTION", 2},
    {"DML_PADDING_MODE_SYMMETRIC", 3},
    {"DML_PADDING_MODE_WRAP", 4},
};
inline constexpr EnumValue kDML_INTERPOLATION_MODE_values[] = {
    {"DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR", 0},
    {"DML_INTERPOLATION_MODE_LINEAR", 1},
};
inline constexpr EnumValue kDML_RECURRENT_NETWORK_DIRECTION_values[] = {
    {"DML_RECURRENT_NETWORK_DIRECTION_FORWARD", 0},
    {"DML_RECURRENT_NETWORK_DIRECTION_BACKWARD", 1},
    {"DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL", 2},
};
inline constexpr EnumValue kDML_ROUNDING_MODE_values[] = {
    {"DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN", 0},
    {"DML_ROUNDING_MODE_TOWARD_ZERO", 1},
    {"DML_ROUNDING_MODE_TOWARD_INFINITY", 2},
};
inline constexpr EnumValue kDML_IS_INFINITY_MODE_values[] = {
    {"DML_IS_INFINITY_MODE_EITHER", 0},
    {"DML_IS_INFINITY_MODE_POSITIVE", 1},
    {"DML_IS_INFINITY_MODE_NEGATIVE", 2},
};
inline constexpr EnumValue kDML_AXIS_DIRECTION_values[] = {
    {"DML_AXIS_DIRECTION_INCREASING", 0},
    {"DML_AXIS_DIRECTION_DECREASING", 1},
};
inline constexpr EnumValue kDML_DEPTH_SPACE_ORDER_values[] = {
    {"DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW", 0},
    {"DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH", 1},
};
inline constexpr EnumValue kDML_RANDOM_GENERATOR_TYPE_values[] = {
    {"DML_RANDOM_GENERATOR_TYPE_PHILOX_4X32_10", 0},
};
inline constexpr EnumValue kDML_MULTIHEAD_ATTENTION_MASK_TYPE_values[] = {
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE", 0},
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH", 1},
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START", 2},
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END", 3},
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN", 4},
};
inline constexpr EnumValue kDML_QUANTIZATION_TYPE_values[] = {
    {"DML_QUANTIZATION_TYPE_NONE", 0},
    {"DML_QUANTIZATION_TYPE_SCALE", 1},
    {"DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT", 2},
};
inline constexpr EnumValue kDML_EXECUTION_FLAGS_values[] = {
    {"DML_EXECUTION_FLAG_NONE", 0},
    {"DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION", 1},
    {"DML_EXECUTION_FLAG_DISABLE_META_COMMANDS", 2},
    {"DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE", 4},
};

inline constexpr Enum kEnums[] = {
    {"DML_TENSOR_DATA_TYPE", "DML_TENSOR_DATA_TYPE_", false, kDML_TENSOR_DATA_TYPE_values},
    {"DML_TENSOR_TYPE", "DML_TENSOR_TYPE_", false, kDML_TENSOR_TYPE_values},
    {"DML_TENSOR_FLAGS", "DML_TENSOR_FLAG_", true, kDML_TENSOR_FLAGS_values},
    {"DML_REDUCE_FUNCTION", "DML_REDUCE_FUNCTION_", false, kDML_REDUCE_FUNCTION_values},
    {"DML_MATRIX_TRANSFORM", "DML_MATRIX_TRANSFORM_", false, kDML_MATRIX_TRANSFORM_values},
    {"DML_CONVOLUTION_MODE", "DML_CONVOLUTION_MODE_", false, kDML_CONVOLUTION_MODE_values},
    {"DML_CONVOLUTION_DIRECTION", "DML_CONVOLUTION_DIRECTION_", false, kDML_CONVOLUTION_DIRECTION_values},
    {"DML_PADDING_MODE", "DML_PADDING_MODE_", false, kDML_PADDING_MODE_values},
    {"DML_INTERPOLATION_MODE", "DML_INTERPOLATION_MODE_", false, kDML_INTERPOLATION_MODE_values},
    {"DML_RECURRENT_NETWORK_DIRECTION", "DML_RECURRENT_NETWORK_DIRECTION_", false, kDML_RECURRENT_NETWORK_DIRECTION_values},
    {"DML_ROUNDING_MODE", "DML_ROUNDING_MODE_", false, kDML_ROUNDING_MODE_values},
    {"DML_IS_INFINITY_MODE", "DML_IS_INFINITY_MODE_", false, kDML_IS_INFINITY_MODE_values},
    {"DML_AXIS_DIRECTION", "DML_AXIS_DIRECTION_", false, kDML_AXIS_DIRECTION_values},
    {"DML_DEPTH_SPACE_ORDER", "DML_DEPTH_SPACE_ORDER_", false, kDML_DEPTH_SPACE_ORDER_values},
    {"DML_RANDOM_GENERATOR_TYPE", "DML_RANDOM_GENERATOR_TYPE_", false, kDML_RANDOM_GENERATOR_TYPE_values},
    {"DML_MULTIHEAD_ATTENTION_MASK_TYPE", "DML_MULTIHEAD_ATTENTION_MASK_TYPE_", false, kDML_MULTIHEAD_ATTENTION_MASK_TYPE_values},
    {"DML_QUANTIZATION_TYPE", "DML_QUANTIZATION_TYPE_", false, kDML_QUANTIZATION_TYPE_values},
    {"DML_EXECUTION_FLAGS", "DML_EXECUTION_FLAG_", true, kDML_EXECUTION_FLAGS_values},
};

inline constexpr Field kELEMENT_WISE_IDENTITY_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_IDENTITY_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_IDENTITY_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ABS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ABS_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ABS_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x09c6, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x09c6, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01c6, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01c6, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01c6, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01c6, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ACOS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ACOS_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ACOS_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ADD_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ADD_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_ADD_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 0, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x004e, ""},
    {FeatureLevel::v2_1, 2, 4, 5, 0x004e, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 5, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ASIN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ASIN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ASIN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ATAN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ATAN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ATAN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_CEIL_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CEIL_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_CEIL_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_CLIP_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"Min", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Max", "FLOAT", FieldType::real, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CLIP_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_CLIP_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_COS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_COS_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_COS_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_DIVIDE_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_DIVIDE_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_DIVIDE_support[] = {
    {FeatureLevel::v6_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x004e, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_EXP_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_EXP_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_EXP_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_FLOOR_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_FLOOR_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_FLOOR_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_LOG_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOG_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOG_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_AND_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_AND_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_AND_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_EQUALS_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_EQUALS_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_EQUALS_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_GREATER_THAN_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_GREATER_THAN_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_GREATER_THAN_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_LESS_THAN_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_LESS_THAN_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_LESS_THAN_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_NOT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_NOT_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_NOT_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_OR_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_OR_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_OR_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_XOR_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_XOR_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_XOR_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0028, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0028, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr Field kELEMENT_WISE_MAX_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MAX_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MAX_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_MEAN_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MEAN_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MEAN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x004e, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_MIN_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MIN_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MIN_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_MULTIPLY_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MULTIPLY_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MULTIPLY_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 0, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x004e, ""},
    {FeatureLevel::v2_1, 2, 4, 5, 0x004e, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 5, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_POW_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ExponentTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_POW_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x5},
};
inline constexpr Support kELEMENT_WISE_POW_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kELEMENT_WISE_POW_constraints[] = {
    "datatype: below 3_0 ExponentTensor.DataType == InputTensor.DataType",
};
inline constexpr Field kELEMENT_WISE_CONSTANT_POW_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"Exponent", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CONSTANT_POW_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_CONSTANT_POW_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_RECIP_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_RECIP_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_RECIP_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_SIN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_SIN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_SIN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_SQRT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_SQRT_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_SQRT_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_SUBTRACT_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_SUBTRACT_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_SUBTRACT_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 0, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x004e, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_TAN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_TAN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_TAN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_THRESHOLD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"Min", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_THRESHOLD_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_THRESHOLD_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_QUANTIZE_LINEAR_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"ZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v6_2, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_QUANTIZE_LINEAR_same[] = {
    {Same::dimension_count, 0xf},
    {Same::sizes, 0xf},
    {Same::datatype, 0xc},
};
inline constexpr Support kELEMENT_WISE_QUANTIZE_LINEAR_support[] = {
    {FeatureLevel::v6_2, 0, 1, 8, 0x0046, ""},
    {FeatureLevel::v6_2, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_2, 2, 1, 8, 0x0120, ""},
    {FeatureLevel::v6_2, 3, 1, 8, 0x0120, ""},
    {FeatureLevel::v6_0, 0, 1, 8, 0x0046, ""},
    {FeatureLevel::v6_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_0, 2, 1, 8, 0x0120, ""},
    {FeatureLevel::v6_0, 3, 1, 8, 0x0120, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0042, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0002, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0120, ""},
    {FeatureLevel::v3_0, 3, 1, 8, 0x0120, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0042, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0120, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0002, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0020, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0020, ""},
};
inline constexpr std::string_view kELEMENT_WISE_QUANTIZE_LINEAR_constraints[] = {
    "undefined: scale 0",
    "datatype: ScaleTensor FLOAT32 when InputTensor is INT32, else InputTensor.DataType",
    "null: ZeroPointTensor may be null from 6_2",
};
inline constexpr Field kELEMENT_WISE_DEQUANTIZE_LINEAR_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"ZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v6_2, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_DEQUANTIZE_LINEAR_same[] = {
    {Same::dimension_count, 0xf},
    {Same::sizes, 0xf},
    {Same::datatype, 0x5},
    {Same::datatype, 0xa},
};
inline constexpr Support kELEMENT_WISE_DEQUANTIZE_LINEAR_support[] = {
    {FeatureLevel::v6_2, 0, 1, 8, 0x01f8, ""},
    {FeatureLevel::v6_2, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_2, 2, 1, 8, 0x01f8, ""},
    {FeatureLevel::v6_2, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_0, 0, 1, 8, 0x01f8, ""},
    {FeatureLevel::v6_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_0, 2, 1, 8, 0x01f8, ""},
    {FeatureLevel::v6_0, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01f8, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0002, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01f8, ""},
    {FeatureLevel::v3_0, 3, 1, 8, 0x0002, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01f8, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01f8, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0002, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0020, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0020, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0002, ""},
};
inline constexpr std::string_view kELEMENT_WISE_DEQUANTIZE_LINEAR_constraints[] = {
    "undefined: scale 0",
    "null: ZeroPointTensor may be null from 6_2",
};
inline constexpr Field kACTIVATION_ELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_ELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_ELU_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_HARDMAX_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_HARDMAX_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_HARDMAX_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_HARDMAX_constraints[] = {
    "rank: InputTensor effective rank (DimensionCount without leading 1s) <= 2",
};
inline constexpr Field kACTIVATION_HARD_SIGMOID_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_HARD_SIGMOID_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_HARD_SIGMOID_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_IDENTITY_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_IDENTITY_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_IDENTITY_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_LEAKY_RELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_LEAKY_RELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_LEAKY_RELU_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_LINEAR_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_LINEAR_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_LINEAR_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_LOG_SOFTMAX_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_LOG_SOFTMAX_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_LOG_SOFTMAX_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_LOG_SOFTMAX_constraints[] = {
    "rank: InputTensor effective rank (DimensionCount without leading 1s) <= 2",
};
inline constexpr Field kACTIVATION_PARAMETERIZED_RELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"SlopeTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_PARAMETERIZED_RELU_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kACTIVATION_PARAMETERIZED_RELU_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x01c6, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x01c6, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x01c6, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_PARAMETRIC_SOFTPLUS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_PARAMETRIC_SOFTPLUS_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_PARAMETRIC_SOFTPLUS_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_RELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_RELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_RELU_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x01c6, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x01c6, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_SCALED_ELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Gamma", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SCALED_ELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SCALED_ELU_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_SCALED_TANH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SCALED_TANH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SCALED_TANH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_SIGMOID_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SIGMOID_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SIGMOID_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_SOFTMAX_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SOFTMAX_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SOFTMAX_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_SOFTMAX_constraints[] = {
    "rank: InputTensor effective rank (DimensionCount without leading 1s) <= 2",
};
inline constexpr Field kACTIVATION_SOFTPLUS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Steepness", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SOFTPLUS_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SOFTPLUS_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_SOFTPLUS_constraints[] = {
    "value: Steepness >= 1 (the limit is lifted at 6_4 per the level history)",
};
inline constexpr Field kACTIVATION_SOFTSIGN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SOFTSIGN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SOFTSIGN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_TANH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_TANH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_TANH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kACTIVATION_THRESHOLDED_RELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_THRESHOLDED_RELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_THRESHOLDED_RELU_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kCONVOLUTION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"FilterTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"Mode", "DML_CONVOLUTION_MODE", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"Direction", "DML_CONVOLUTION_DIRECTION", FieldType::enumeration, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 6},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 6},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 64, 8, FeatureLevel::v1_0, 6},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 72, 8, FeatureLevel::v1_0, 6},
    {"OutputPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 80, 8, FeatureLevel::v1_0, 6},
    {"GroupCount", "UINT", FieldType::natural, FieldKind::attribute, 88, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 96, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kCONVOLUTION_same[] = {
    {Same::datatype, 0xf},
    {Same::dimension_count, 0xf},
};
inline constexpr Support kCONVOLUTION_support[] = {
    {FeatureLevel::v4_0, 0, 3, 5, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 3, 5, 0x0006, ""},
    {FeatureLevel::v4_0, 2, 3, 5, 0x0006, ""},
    {FeatureLevel::v4_0, 3, 3, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kCONVOLUTION_constraints[] = {
    "size: InputTensor {N, Cin, [D], [H], W}; FilterTensor {FN, FC, [FD], [FH], FW}; OutputTensor {N, Cout, [D], [H], W}; BiasTensor {1, Cout, 1...}",
    "value: DimensionCount == InputTensor.DimensionCount - 2",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kGEMM_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"CTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"TransA", "DML_MATRIX_TRANSFORM", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"TransB", "DML_MATRIX_TRANSFORM", FieldType::enumeration, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 44, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 48, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGEMM_same[] = {
    {Same::datatype, 0xf},
    {Same::dimension_count, 0xf},
    {Same::sizes, 0xc},
};
inline constexpr Support kGEMM_support[] = {
    {FeatureLevel::v4_0, 0, 2, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 2, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 2, 2, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 3, 2, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kGEMM_constraints[] = {
    "size: A {[N],[C],M,K} or {..,K,M} if TransA; B {[N],[C],K,N} or {..,N,K} if TransB; C and Output {[N],[C],M,N}",
    "fused: from 6_1 also ACTIVATION_SOFTMAX and ACTIVATION_SOFTMAX1 (level history)",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kREDUCE_fields[] = {
    {"Function", "DML_REDUCE_FUNCTION", FieldType::enumeration, FieldKind::attribute, 0, 4, FeatureLevel::v1_0, -1},
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kREDUCE_same[] = {
    {Same::dimension_count, 0x6},
};
inline constexpr Support kREDUCE_support[] = {
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, "ARGMIN ARGMAX"},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0c48, "ARGMIN ARGMAX"},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, "ARGMIN ARGMAX"},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0c48, "ARGMIN ARGMAX"},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, "ARGMIN ARGMAX"},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0008, "ARGMIN ARGMAX"},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, "ARGMIN ARGMAX"},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0008, "ARGMIN ARGMAX"},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, "AVERAGE L2 LOG_SUM LOG_SUM_EXP"},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0006, "AVERAGE L2 LOG_SUM LOG_SUM_EXP"},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, "AVERAGE L2 LOG_SUM LOG_SUM_EXP"},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, "AVERAGE L2 LOG_SUM LOG_SUM_EXP"},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0c4e, "L1 SUM_SQUARE"},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0c4e, "L1 SUM_SQUARE"},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, "L1 SUM_SQUARE"},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0006, "L1 SUM_SQUARE"},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, "L1 SUM_SQUARE"},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, "L1 SUM_SQUARE"},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, "MIN MAX"},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0dfe, "MIN MAX"},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, "MIN MAX"},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, "MIN MAX"},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, "MIN MAX"},
    {FeatureLevel::v2_1, 2, 4, 4, 0x004e, "MIN MAX"},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, "MIN MAX"},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, "MIN MAX"},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0c4e, "MULTIPLY SUM"},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0c4e, "MULTIPLY SUM"},
    {FeatureLevel::v3_0, 1, 1, 8, 0x004e, "MULTIPLY SUM"},
    {FeatureLevel::v3_0, 2, 1, 8, 0x004e, "MULTIPLY SUM"},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, "MULTIPLY SUM"},
    {FeatureLevel::v2_1, 2, 4, 4, 0x004e, "MULTIPLY SUM"},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, "MULTIPLY SUM"},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, "MULTIPLY SUM"},
};
inline constexpr std::string_view kREDUCE_constraints[] = {
    "size: OutputTensor.Sizes[a] == 1 for a in Axes, else == InputTensor.Sizes[a]",
    "value: every Axes[i] < InputTensor.DimensionCount",
    "same_datatype: InputTensor OutputTensor unless Function is ARGMAX or ARGMIN",
};
inline constexpr Field kAVERAGE_POOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"IncludePadding", "BOOL", FieldType::boolean, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kAVERAGE_POOLING_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kAVERAGE_POOLING_support[] = {
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kAVERAGE_POOLING_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kLP_POOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"P", "UINT", FieldType::natural, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLP_POOLING_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kLP_POOLING_support[] = {
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kLP_POOLING_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kMAX_POOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kMAX_POOLING_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kMAX_POOLING_support[] = {
    {FeatureLevel::v5_0, 0, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x0126, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0126, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kMAX_POOLING_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kROI_POOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ROITensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"SpatialScale", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"PooledSize", "DML_SIZE_2D", FieldType::size_2d, FieldKind::attribute, 28, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kROI_POOLING_same[] = {
    {Same::datatype, 0x7},
};
inline constexpr Support kROI_POOLING_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kROI_POOLING_constraints[] = {
    "size: ROITensor {1,1,NumROIs,5} rows BatchID x1 y1 x2 y2, inclusive, x2 >= x1, y2 >= y1",
    "size: OutputTensor {NumROIs, C, PooledSize.Height, PooledSize.Width}",
};
inline constexpr Field kSLICE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Offsets", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"Sizes", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kSLICE_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kSLICE_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x00de, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x00de, ""},
};
inline constexpr std::string_view kSLICE_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
    "size: Sizes[i] == OutputTensor.Sizes[i]",
    "value: no element read out of bounds",
};
inline constexpr Field kCAST_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kCAST_same[] = {
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kCAST_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0dfe, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0dfe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x01b6, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x01b6, ""},
};
inline constexpr std::string_view kCAST_constraints[] = {
    "datatype: any supported type to any supported type, subject to DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT",
};
inline constexpr Field kSPLIT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputCount", "UINT", FieldType::natural, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"OutputTensors", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output_array, 16, 8, FeatureLevel::v1_0, 1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kSPLIT_same[] = {
    {Same::datatype, 0x5},
    {Same::dimension_count, 0x5},
};
inline constexpr Support kSPLIT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x00de, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x00de, ""},
};
inline constexpr std::string_view kSPLIT_constraints[] = {
    "value: OutputCount > 0",
    "value: Axis < InputTensor.DimensionCount",
    "size: all tensors equal except at Axis; InputTensor.Sizes[Axis] == sum of OutputTensors Sizes[Axis]",
};
inline constexpr Field kJOIN_fields[] = {
    {"InputCount", "UINT", FieldType::natural, FieldKind::attribute, 0, 4, FeatureLevel::v1_0, -1},
    {"InputTensors", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input_array, 8, 8, FeatureLevel::v1_0, 0},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kJOIN_same[] = {
    {Same::datatype, 0x6},
    {Same::dimension_count, 0x6},
};
inline constexpr Support kJOIN_support[] = {
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x00de, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x00de, ""},
};
inline constexpr std::string_view kJOIN_constraints[] = {
    "value: InputCount > 0",
    "value: Axis < OutputTensor.DimensionCount",
    "size: all tensors equal except at Axis; OutputTensor.Sizes[Axis] == sum of InputTensors Sizes[Axis]",
};
inline constexpr Field kPADDING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"PaddingMode", "DML_PADDING_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"PaddingValue", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 4},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
};
inline constexpr SameGroup kPADDING_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kPADDING_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kPADDING_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
    "size: OutputTensor.Sizes[i] == InputTensor.Sizes[i] + StartPadding[i] + EndPadding[i]",
    "value: PaddingMode SYMMETRIC from 3_0, WRAP from 6_4",
};
inline constexpr Field kVALUE_SCALE_2D_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Scale", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"ChannelCount", "UINT", FieldType::natural, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"Bias", "const FLOAT*", FieldType::reals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kVALUE_SCALE_2D_same[] = {
    {Same::datatype, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kVALUE_SCALE_2D_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kVALUE_SCALE_2D_constraints[] = {
    "value: ChannelCount is 1 or 3 and == InputTensor.Sizes[1]",
};
inline constexpr Field kUPSAMPLE_2D_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleSize", "DML_SIZE_2D", FieldType::size_2d, FieldKind::attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kUPSAMPLE_2D_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kUPSAMPLE_2D_support[] = {
    {FeatureLevel::v1_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kUPSAMPLE_2D_constraints[] = {
    "size: OutputTensor == InputTensor except H*ScaleSize.Height and W*ScaleSize.Width",
    "value: 0 < ScaleSize.Height <= UINT_MAX / InputHeight; 0 < ScaleSize.Width <= UINT_MAX / InputWidth",
};
inline constexpr Field kGATHER_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"IndexDimensions", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGATHER_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x5},
};
inline constexpr Support kGATHER_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kGATHER_constraints[] = {
    "size: OutputTensor = InputTensor.Sizes[0..Axis) ++ last IndexDimensions of IndicesTensor.Sizes ++ InputTensor.Sizes(Axis..], right-aligned, surplus leading 1s cropped",
    "value: Axis < InputTensor.DimensionCount",
    "value: IndexDimensions <= IndicesTensor.DimensionCount (page writes the range half-open)",
    "value: original input rank + IndexDimensions - 1 <= OutputTensor.DimensionCount",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kSPACE_TO_DEPTH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"BlockSize", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kSPACE_TO_DEPTH_same[] = {
    {Same::datatype, 0x3},
};
inline constexpr Support kSPACE_TO_DEPTH_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kSPACE_TO_DEPTH_constraints[] = {
    "size: OutputTensor {N, C*BlockSize*BlockSize, H / BlockSize, W / BlockSize} (from the page example; the page text repeats the inverse formula)",
};
inline constexpr Field kDEPTH_TO_SPACE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"BlockSize", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kDEPTH_TO_SPACE_same[] = {
    {Same::datatype, 0x3},
};
inline constexpr Support kDEPTH_TO_SPACE_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kDEPTH_TO_SPACE_constraints[] = {
    "size: OutputTensor {N, C / (BlockSize*BlockSize), H*BlockSize, W*BlockSize}",
};
inline constexpr Field kTILE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"RepeatsCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Repeats", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kTILE_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kTILE_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kTILE_constraints[] = {
    "value: RepeatsCount == InputTensor.DimensionCount",
    "value: Repeats[i] > 0",
    "size: OutputTensor.Sizes[i] == InputTensor.Sizes[i] * Repeats[i]",
};
inline constexpr Field kTOP_K_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputIndexTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"K", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kTOP_K_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kTOP_K_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0408, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0008, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr std::string_view kTOP_K_constraints[] = {
    "size: output Sizes == InputTensor.Sizes except Sizes[Axis] == K",
    "value: Axis < InputTensor.DimensionCount",
    "value: 0 < K < InputTensor.Sizes[Axis]",
};
inline constexpr Field kBATCH_NORMALIZATION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"MeanTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"VarianceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"Spatial", "BOOL", FieldType::boolean, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 56, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kBATCH_NORMALIZATION_same[] = {
    {Same::datatype, 0x3f},
    {Same::dimension_count, 0x3f},
    {Same::sizes, 0x21},
};
inline constexpr Support kBATCH_NORMALIZATION_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 4, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 5, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 5, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kBATCH_NORMALIZATION_constraints[] = {
    "size: each dimension of MeanTensor VarianceTensor ScaleTensor BiasTensor is 1 (broadcast) or InputTensor.Sizes of it",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kMEAN_VARIANCE_NORMALIZATION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"CrossChannel", "BOOL", FieldType::boolean, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"NormalizeVariance", "BOOL", FieldType::boolean, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 48, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMEAN_VARIANCE_NORMALIZATION_same[] = {
    {Same::sizes, 0x9},
    {Same::datatype, 0xf},
};
inline constexpr Support kMEAN_VARIANCE_NORMALIZATION_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kMEAN_VARIANCE_NORMALIZATION_constraints[] = {
    "size: each dimension of ScaleTensor and BiasTensor is 1 or InputTensor.Sizes of it",
    "null: below 5_2 ScaleTensor and BiasTensor are both present or both null; from 5_2 each may be null alone",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kLOCAL_RESPONSE_NORMALIZATION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"CrossChannel", "BOOL", FieldType::boolean, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"LocalSize", "UINT", FieldType::natural, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
    {"Bias", "FLOAT", FieldType::real, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLOCAL_RESPONSE_NORMALIZATION_same[] = {
    {Same::datatype, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kLOCAL_RESPONSE_NORMALIZATION_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kLOCAL_RESPONSE_NORMALIZATION_constraints[] = {
    "value: LocalSize >= 1",
};
inline constexpr Field kLP_NORMALIZATION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"P", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLP_NORMALIZATION_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kLP_NORMALIZATION_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kLP_NORMALIZATION_constraints[] = {
    "value: P is 1 or 2",
};
inline constexpr Field kRNN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"WeightTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"RecurrenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"HiddenInitTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"SequenceLengthsTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputSequenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputSingleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 56, 8, FeatureLevel::v1_0, -1},
    {"ActivationDescCount", "UINT", FieldType::natural, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
    {"ActivationDescs", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::attribute, 72, 8, FeatureLevel::v1_0, 8},
    {"Direction", "DML_RECURRENT_NETWORK_DIRECTION", FieldType::enumeration, FieldKind::attribute, 80, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kRNN_same[] = {
    {Same::datatype, 0xdf},
};
inline constexpr Support kRNN_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 5, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 6, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 7, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kRNN_constraints[] = {
    "size: Input {1,S,B,I}; Weight {1,D,H,I}; Recurrence {1,D,H,H}; Bias {1,1,D,2*H}; HiddenInit {1,D,B,H}; SequenceLengths {1,1,1,B}; OutputSequence {S,D,B,H}; OutputSingle {1,D,B,H}; D = 2 if BIDIRECTIONAL else 1",
    "value: ActivationDescCount == 1 per direction",
    "flag: OWNED_BY_DML not supported on any input",
};
inline constexpr Field kLSTM_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"WeightTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"RecurrenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"HiddenInitTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"CellMemInitTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"SequenceLengthsTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 48, 8, FeatureLevel::v1_0, -1},
    {"PeepholeTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 56, 8, FeatureLevel::v1_0, -1},
    {"OutputSequenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 64, 8, FeatureLevel::v1_0, -1},
    {"OutputSingleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 72, 8, FeatureLevel::v1_0, -1},
    {"OutputCellSingleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 80, 8, FeatureLevel::v1_0, -1},
    {"ActivationDescCount", "UINT", FieldType::natural, FieldKind::attribute, 88, 4, FeatureLevel::v1_0, -1},
    {"ActivationDescs", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::attribute, 96, 8, FeatureLevel::v1_0, 11},
    {"Direction", "DML_RECURRENT_NETWORK_DIRECTION", FieldType::enumeration, FieldKind::attribute, 104, 4, FeatureLevel::v1_0, -1},
    {"ClipThreshold", "float", FieldType::real, FieldKind::attribute, 108, 4, FeatureLevel::v1_0, -1},
    {"UseClipThreshold", "BOOL", FieldType::boolean, FieldKind::attribute, 112, 4, FeatureLevel::v1_0, -1},
    {"CoupleInputForget", "BOOL", FieldType::boolean, FieldKind::attribute, 116, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLSTM_same[] = {
    {Same::datatype, 0x7bf},
};
inline constexpr Support kLSTM_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 5, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 6, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 7, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 8, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 9, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 10, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kLSTM_constraints[] = {
    "size: Input {1,S,B,I}; Weight {1,D,4*H,I}; Recurrence {1,D,4*H,H}; Bias {1,1,D,8*H}; HiddenInit CellMemInit {1,D,B,H}; SequenceLengths {1,1,1,B}; Peephole {1,1,D,3*H}; OutputSequence {S,D,B,H}; OutputSingle OutputCellSingle {1,D,B,H}; D = 2 if BIDIRECTIONAL else 1",
    "order: gates i o f c; peepholes i o f",
    "value: ActivationDescCount == 3 per direction (f, g, h; forward then backward)",
    "flag: OWNED_BY_DML not supported on any input",
};
inline constexpr Field kGRU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"WeightTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"RecurrenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"HiddenInitTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"SequenceLengthsTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputSequenceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputSingleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 56, 8, FeatureLevel::v1_0, -1},
    {"ActivationDescCount", "UINT", FieldType::natural, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
    {"ActivationDescs", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::attribute, 72, 8, FeatureLevel::v1_0, 8},
    {"Direction", "DML_RECURRENT_NETWORK_DIRECTION", FieldType::enumeration, FieldKind::attribute, 80, 4, FeatureLevel::v1_0, -1},
    {"LinearBeforeReset", "BOOL", FieldType::boolean, FieldKind::attribute, 84, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGRU_same[] = {
    {Same::datatype, 0xdf},
};
inline constexpr Support kGRU_support[] = {
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 5, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 6, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 7, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kGRU_constraints[] = {
    "size: Input {1,S,B,I}; Weight {1,D,3*H,I}; Recurrence {1,D,3*H,H}; Bias {1,1,D,6*H}; HiddenInit {1,D,B,H}; SequenceLengths {1,1,1,B}; OutputSequence {S,D,B,H}; OutputSingle {1,D,B,H}; D = 2 if BIDIRECTIONAL else 1",
    "order: gates z r h",
    "value: ActivationDescCount == 2 per direction (f, g; forward then backward)",
    "flag: OWNED_BY_DML not supported on any input",
};
inline constexpr Field kELEMENT_WISE_SIGN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_SIGN_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_SIGN_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_IS_NAN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_IS_NAN_same[] = {
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_IS_NAN_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0028, ""},
};
inline constexpr Field kELEMENT_WISE_ERF_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ERF_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ERF_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_SINH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_SINH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_SINH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_COSH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_COSH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_COSH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_TANH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_TANH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_TANH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ASINH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ASINH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ASINH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ACOSH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ACOSH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ACOSH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_ATANH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ATANH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ATANH_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_IF_fields[] = {
    {"ConditionTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_IF_same[] = {
    {Same::dimension_count, 0xf},
    {Same::sizes, 0xf},
    {Same::datatype, 0xe},
};
inline constexpr Support kELEMENT_WISE_IF_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0020, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v5_0, 3, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0020, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 3, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0020, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0004, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0004, ""},
    {FeatureLevel::v2_0, 3, 4, 4, 0x0004, ""},
};
inline constexpr Field kELEMENT_WISE_ADD1_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ADD1_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_ADD1_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kELEMENT_WISE_ADD1_constraints[] = {
    "fused: FusedActivation only when OutputTensor is FLOAT16 or FLOAT32",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kACTIVATION_SHRINK_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Bias", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Threshold", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SHRINK_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SHRINK_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr Field kMAX_POOLING1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputIndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 16, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 3},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 3},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kMAX_POOLING1_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x3},
    {Same::sizes, 0x6},
};
inline constexpr Support kMAX_POOLING1_support[] = {
    {FeatureLevel::v5_0, 0, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 4, 5, 0x0408, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x0126, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0126, ""},
    {FeatureLevel::v3_0, 2, 4, 5, 0x0008, ""},
    {FeatureLevel::v2_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 5, 0x0008, ""},
};
inline constexpr std::string_view kMAX_POOLING1_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kMAX_UNPOOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMAX_UNPOOLING_same[] = {
    {Same::datatype, 0x5},
    {Same::sizes, 0x3},
    {Same::dimension_count, 0x5},
};
inline constexpr Support kMAX_UNPOOLING_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 4, 4, 0x0408, ""},
    {FeatureLevel::v5_0, 2, 4, 4, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v3_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr Field kDIAGONAL_MATRIX_fields[] = {
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 0, 8, FeatureLevel::v1_0, -1},
    {"Offset", "INT", FieldType::integer, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"Value", "FLOAT", FieldType::real, FieldKind::attribute, 12, 4, FeatureLevel::v1_0, -1},
};
inline constexpr Support kDIAGONAL_MATRIX_support[] = {
    {FeatureLevel::v5_1, 0, 2, 4, 0x0ffe, ""},
    {FeatureLevel::v4_0, 0, 2, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
};
inline constexpr Field kSCATTER_ELEMENTS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"UpdatesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kSCATTER_ELEMENTS_same[] = {
    {Same::dimension_count, 0xf},
    {Same::datatype, 0xd},
    {Same::sizes, 0x6},
    {Same::sizes, 0x9},
};
inline constexpr Support kSCATTER_ELEMENTS_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 3, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 3, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x01fe, ""},
    {FeatureLevel::v1_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v1_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v1_0, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kSCATTER_ELEMENTS_constraints[] = {
    "size: IndicesTensor.Sizes == InputTensor.Sizes except at Axis",
    "value: Axis < OutputTensor.DimensionCount",
    "invalid: two indices naming one output element (which write wins is unspecified)",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kONE_HOT_fields[] = {
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ValuesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kONE_HOT_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x6},
};
inline constexpr Support kONE_HOT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kONE_HOT_constraints[] = {
    "size: IndicesTensor.Sizes[Axis] == 1, other Sizes == OutputTensor.Sizes",
    "size: ValuesTensor holds >= 2 elements (0th OffValue, next OnValue)",
    "value: Axis < IndicesTensor.DimensionCount",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kRESAMPLE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"ScaleCount", "UINT", FieldType::natural, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kRESAMPLE_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE_support[] = {
    {FeatureLevel::v6_2, 0, 1, 4, 0x0126, ""},
    {FeatureLevel::v6_2, 1, 1, 4, 0x0126, ""},
    {FeatureLevel::v5_1, 0, 1, 4, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kRESAMPLE_constraints[] = {
    "value: ScaleCount == InputTensor.DimensionCount",
};
inline constexpr Field kELEMENT_WISE_BIT_SHIFT_LEFT_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_SHIFT_LEFT_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_BIT_SHIFT_LEFT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0438, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0438, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0438, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0038, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0038, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0038, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_BIT_SHIFT_RIGHT_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_SHIFT_RIGHT_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_BIT_SHIFT_RIGHT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0438, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0438, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0438, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0038, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0038, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0038, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_ROUND_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"RoundingMode", "DML_ROUNDING_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ROUND_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_ROUND_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_IS_INFINITY_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InfinityMode", "DML_IS_INFINITY_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_IS_INFINITY_same[] = {
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_IS_INFINITY_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0020, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0020, ""},
};
inline constexpr Field kELEMENT_WISE_MODULUS_TRUNCATE_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MODULUS_TRUNCATE_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MODULUS_TRUNCATE_support[] = {
    {FeatureLevel::v6_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
};
inline constexpr Field kELEMENT_WISE_MODULUS_FLOOR_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_MODULUS_FLOOR_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_MODULUS_FLOOR_support[] = {
    {FeatureLevel::v6_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v6_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
};
inline constexpr Field kFILL_VALUE_CONSTANT_fields[] = {
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 0, 8, FeatureLevel::v1_0, -1},
    {"ValueDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"Value", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr Support kFILL_VALUE_CONSTANT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kFILL_VALUE_CONSTANT_constraints[] = {
    "value: ValueDataType == OutputTensor.DataType",
};
inline constexpr Field kFILL_VALUE_SEQUENCE_fields[] = {
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 0, 8, FeatureLevel::v1_0, -1},
    {"ValueDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"ValueStart", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"ValueDelta", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr Support kFILL_VALUE_SEQUENCE_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kFILL_VALUE_SEQUENCE_constraints[] = {
    "value: ValueDataType == OutputTensor.DataType",
};
inline constexpr Field kCUMULATIVE_SUMMATION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"AxisDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"HasExclusiveSum", "BOOL", FieldType::boolean, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kCUMULATIVE_SUMMATION_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kCUMULATIVE_SUMMATION_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x004e, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x004e, ""},
};
inline constexpr std::string_view kCUMULATIVE_SUMMATION_constraints[] = {
    "value: Axis < InputTensor.DimensionCount",
};
inline constexpr Field kREVERSE_SUBSEQUENCES_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"SequenceLengthsTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kREVERSE_SUBSEQUENCES_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x5},
    {Same::sizes, 0x5},
};
inline constexpr Support kREVERSE_SUBSEQUENCES_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0408, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0008, ""},
    {FeatureLevel::v4_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0008, ""},
    {FeatureLevel::v3_0, 2, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kREVERSE_SUBSEQUENCES_constraints[] = {
    "size: SequenceLengthsTensor.Sizes[Axis] == 1, other Sizes == InputTensor.Sizes",
    "value: Axis < InputTensor.DimensionCount",
};
inline constexpr Field kGATHER_ELEMENTS_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGATHER_ELEMENTS_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x5},
    {Same::sizes, 0x6},
};
inline constexpr Support kGATHER_ELEMENTS_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kGATHER_ELEMENTS_constraints[] = {
    "size: IndicesTensor.Sizes == InputTensor.Sizes except at Axis",
    "value: Axis < InputTensor.DimensionCount",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kGATHER_ND_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"InputDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"IndicesDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGATHER_ND_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x5},
};
inline constexpr Support kGATHER_ND_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kGATHER_ND_constraints[] = {
    "size: last dimension of IndicesTensor = coordinates per tuple, <= InputTensor.DimensionCount",
    "size: OutputTensor = IndicesDimensionCount-1 leading sizes of the meaningful IndicesTensor ++ the trailing un-indexed InputTensor sizes, right-aligned, leading 1s prepended",
    "value: 1 <= InputDimensionCount <= InputTensor.DimensionCount",
    "value: 1 <= IndicesDimensionCount <= IndicesTensor.DimensionCount",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kSCATTER_ND_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"UpdatesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"InputDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"IndicesDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kSCATTER_ND_same[] = {
    {Same::dimension_count, 0xf},
    {Same::datatype, 0xd},
    {Same::sizes, 0x9},
};
inline constexpr Support kSCATTER_ND_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 3, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 3, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kSCATTER_ND_constraints[] = {
    "size: last dimension of IndicesTensor = coordinates per tuple, <= InputTensor.DimensionCount",
    "size: UpdatesTensor = leading sizes of the meaningful IndicesTensor ++ the trailing un-indexed InputTensor sizes, right-aligned, leading 1s prepended",
    "value: 1 <= InputDimensionCount <= InputTensor.DimensionCount (page writes the range half-open)",
    "value: 1 <= IndicesDimensionCount <= IndicesTensor.DimensionCount (page writes the range half-open)",
    "invalid: two indices naming one output element (which write wins is unspecified)",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kMAX_POOLING2_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputIndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 16, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 3},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 3},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 3},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 64, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kMAX_POOLING2_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x3},
    {Same::sizes, 0x6},
};
inline constexpr Support kMAX_POOLING2_support[] = {
    {FeatureLevel::v5_0, 0, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 4, 5, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 4, 5, 0x0408, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x0126, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0126, ""},
    {FeatureLevel::v3_0, 2, 4, 5, 0x0008, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v2_1, 2, 4, 5, 0x0008, ""},
};
inline constexpr std::string_view kMAX_POOLING2_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1 (the page omits Dilations from this formula)",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kSLICE1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"InputWindowOffsets", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"InputWindowSizes", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"InputWindowStrides", "const INT*", FieldType::integers, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kSLICE1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kSLICE1_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v2_1, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 5, 0x01fe, ""},
};
inline constexpr std::string_view kSLICE1_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
    "value: InputWindowSizes[i] > 0",
    "value: InputWindowOffsets[i] + InputWindowSizes[i] <= InputTensor.Sizes[i]",
    "value: InputWindowStrides[i] != 0",
    "size: 1 <= OutputTensor.Sizes[i] <= 1 + (InputWindowSizes[i] - 1) / abs(InputWindowStrides[i])",
};
inline constexpr Field kTOP_K1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputIndexTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"K", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
    {"AxisDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kTOP_K1_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kTOP_K1_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0408, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0008, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0008, ""},
};
inline constexpr std::string_view kTOP_K1_constraints[] = {
    "size: output Sizes == InputTensor.Sizes except Sizes[Axis] == K",
    "value: Axis < InputTensor.DimensionCount",
    "value: 0 < K < InputTensor.Sizes[Axis]",
};
inline constexpr Field kDEPTH_TO_SPACE1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"BlockSize", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Order", "DML_DEPTH_SPACE_ORDER", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kDEPTH_TO_SPACE1_same[] = {
    {Same::datatype, 0x3},
};
inline constexpr Support kDEPTH_TO_SPACE1_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kDEPTH_TO_SPACE1_constraints[] = {
    "size: OutputTensor {N, C / (BlockSize*BlockSize), H*BlockSize, W*BlockSize}",
};
inline constexpr Field kSPACE_TO_DEPTH1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"BlockSize", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Order", "DML_DEPTH_SPACE_ORDER", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kSPACE_TO_DEPTH1_same[] = {
    {Same::datatype, 0x3},
};
inline constexpr Support kSPACE_TO_DEPTH1_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 4, 4, 0x0ffe, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x01fe, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x01fe, ""},
};
inline constexpr std::string_view kSPACE_TO_DEPTH1_constraints[] = {
    "size: OutputTensor {N, C*BlockSize*BlockSize, H / BlockSize, W / BlockSize} (from the page example; the page text repeats the inverse formula)",
};
inline constexpr Field kMEAN_VARIANCE_NORMALIZATION1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
    {"NormalizeVariance", "BOOL", FieldType::boolean, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 56, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMEAN_VARIANCE_NORMALIZATION1_same[] = {
    {Same::datatype, 0xf},
    {Same::dimension_count, 0xf},
};
inline constexpr Support kMEAN_VARIANCE_NORMALIZATION1_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kMEAN_VARIANCE_NORMALIZATION1_constraints[] = {
    "size: ScaleTensor BiasTensor: below 4_0 the channel dimension must match InputTensor and the others are 1 or match; from 4_0 any dimension may be 1",
    "null: below 5_2 ScaleTensor and BiasTensor are both present or both null; from 5_2 each may be null alone",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kRESAMPLE1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 3},
    {"InputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
    {"OutputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kRESAMPLE1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE1_support[] = {
    {FeatureLevel::v6_2, 0, 1, 4, 0x0126, ""},
    {FeatureLevel::v6_2, 1, 1, 4, 0x0126, ""},
    {FeatureLevel::v5_1, 0, 1, 4, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kRESAMPLE1_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
};
inline constexpr Field kMATRIX_MULTIPLY_INTEGER_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"AZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"BZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 32, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMATRIX_MULTIPLY_INTEGER_same[] = {
    {Same::dimension_count, 0x15},
    {Same::datatype, 0xc},
    {Same::datatype, 0x3},
};
inline constexpr Support kMATRIX_MULTIPLY_INTEGER_support[] = {
    {FeatureLevel::v5_2, 0, 2, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 1, 1, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 2, 2, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 3, 1, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 4, 2, 4, 0x0040, ""},
    {FeatureLevel::v4_0, 0, 2, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 1, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 2, 2, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 3, 2, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 4, 2, 4, 0x0040, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 4, 4, 4, 0x0040, ""},
};
inline constexpr std::string_view kMATRIX_MULTIPLY_INTEGER_constraints[] = {
    "size: A {[N],[C],M,K}; B {[N],[C],K,N}; Output {[N],[C],M,N}; AZeroPoint all 1s or {1,1,M,1}; BZeroPoint all 1s or {1,1,1,N}",
};
inline constexpr Field kQUANTIZED_LINEAR_MATRIX_MULTIPLY_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"AScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"AZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"BScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"BZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 56, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 64, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kQUANTIZED_LINEAR_MATRIX_MULTIPLY_same[] = {
    {Same::dimension_count, 0xf6},
    {Same::dimension_count, 0x109},
    {Same::datatype, 0x28},
    {Same::datatype, 0x180},
    {Same::datatype, 0x5},
};
inline constexpr Support kQUANTIZED_LINEAR_MATRIX_MULTIPLY_support[] = {
    {FeatureLevel::v4_0, 0, 2, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 1, 1, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 2, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 3, 2, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 4, 1, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 5, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 6, 1, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 7, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 8, 2, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 4, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 5, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 6, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 7, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 8, 4, 4, 0x0120, ""},
};
inline constexpr std::string_view kQUANTIZED_LINEAR_MATRIX_MULTIPLY_constraints[] = {
    "size: A {[N],[C],M,K}; B {[N],[C],K,N}; Output {[N],[C],M,N}; AScale AZeroPoint OutputScale OutputZeroPoint all 1s or {1,1,M,1}; BScale BZeroPoint all 1s or {1,1,1,N}",
    "undefined: scale 0",
};
inline constexpr Field kCONVOLUTION_INTEGER_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"FilterTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"FilterZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 32, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 5},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 5},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 64, 8, FeatureLevel::v1_0, 5},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 72, 8, FeatureLevel::v1_0, 5},
    {"GroupCount", "UINT", FieldType::natural, FieldKind::attribute, 80, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kCONVOLUTION_INTEGER_same[] = {
    {Same::dimension_count, 0xa},
    {Same::dimension_count, 0x15},
    {Same::datatype, 0x3},
    {Same::datatype, 0xc},
};
inline constexpr Support kCONVOLUTION_INTEGER_support[] = {
    {FeatureLevel::v4_0, 0, 3, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 1, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 2, 3, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 3, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 4, 3, 4, 0x0040, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 4, 4, 4, 0x0040, ""},
};
inline constexpr std::string_view kCONVOLUTION_INTEGER_constraints[] = {
    "size: InputZeroPointTensor all 1s; FilterZeroPointTensor all 1s or {1, Cout, 1, 1}",
    "value: DimensionCount == 2 (text; the table allows 3-D tensors from 4_0)",
};
inline constexpr Field kQUANTIZED_LINEAR_CONVOLUTION_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"InputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"FilterTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"FilterScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"FilterZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 56, 8, FeatureLevel::v1_0, -1},
    {"OutputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 64, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 72, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 80, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 88, 8, FeatureLevel::v1_0, 10},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 96, 8, FeatureLevel::v1_0, 10},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 104, 8, FeatureLevel::v1_0, 10},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 112, 8, FeatureLevel::v1_0, 10},
    {"GroupCount", "UINT", FieldType::natural, FieldKind::attribute, 120, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kQUANTIZED_LINEAR_CONVOLUTION_same[] = {
    {Same::dimension_count, 0x249},
    {Same::datatype, 0x300},
    {Same::datatype, 0x5},
    {Same::datatype, 0x28},
};
inline constexpr Support kQUANTIZED_LINEAR_CONVOLUTION_support[] = {
    {FeatureLevel::v5_2, 0, 3, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 1, 1, 4, 0x0002, ""},
    {FeatureLevel::v5_2, 2, 1, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 3, 3, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 4, 1, 4, 0x0002, ""},
    {FeatureLevel::v5_2, 5, 1, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 6, 3, 4, 0x0040, ""},
    {FeatureLevel::v5_2, 7, 1, 4, 0x0002, ""},
    {FeatureLevel::v5_2, 8, 1, 4, 0x0120, ""},
    {FeatureLevel::v5_2, 9, 3, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 0, 3, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 1, 1, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 2, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 3, 3, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 4, 3, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 5, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 6, 3, 4, 0x0040, ""},
    {FeatureLevel::v4_0, 7, 1, 4, 0x0002, ""},
    {FeatureLevel::v4_0, 8, 1, 4, 0x0120, ""},
    {FeatureLevel::v4_0, 9, 3, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 0, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 1, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 2, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 3, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 4, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 5, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 6, 4, 4, 0x0040, ""},
    {FeatureLevel::v2_1, 7, 4, 4, 0x0002, ""},
    {FeatureLevel::v2_1, 8, 4, 4, 0x0120, ""},
    {FeatureLevel::v2_1, 9, 4, 4, 0x0120, ""},
};
inline constexpr std::string_view kQUANTIZED_LINEAR_CONVOLUTION_constraints[] = {
    "size: InputScale InputZeroPoint OutputScale OutputZeroPoint all 1s; FilterScale FilterZeroPoint all 1s or {1, Cout, 1, 1}; BiasTensor {1, Cout, 1, 1}",
    "value: DimensionCount == 2 (text; the table allows 3-D tensors from 4_0)",
    "undefined: scale 0",
};
inline constexpr Field kELEMENT_WISE_BIT_AND_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_AND_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_BIT_AND_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_BIT_OR_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_OR_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_BIT_OR_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_BIT_XOR_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_XOR_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_BIT_XOR_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_BIT_NOT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_NOT_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_BIT_NOT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0038, ""},
};
inline constexpr Field kELEMENT_WISE_BIT_COUNT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_BIT_COUNT_same[] = {
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_BIT_COUNT_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0038, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0028, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
};
inline constexpr Field kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_same[] = {
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
    {Same::datatype, 0x3},
};
inline constexpr Support kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0028, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0028, ""},
};
inline constexpr Field kACTIVATION_CELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_CELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_CELU_support[] = {
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
};
inline constexpr Field kACTIVATION_RELU_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_RELU_GRAD_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kACTIVATION_RELU_GRAD_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x01c6, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x01c6, ""},
    {FeatureLevel::v5_1, 2, 1, 8, 0x01c6, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_0, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x0006, ""},
};
inline constexpr Field kAVERAGE_POOLING_GRAD_fields[] = {
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"IncludePadding", "BOOL", FieldType::boolean, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kAVERAGE_POOLING_GRAD_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kAVERAGE_POOLING_GRAD_support[] = {
    {FeatureLevel::v3_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kAVERAGE_POOLING_GRAD_constraints[] = {
    "value: DimensionCount == spatial dimension count (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kMAX_POOLING_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 3},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 3},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 3},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 64, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kMAX_POOLING_GRAD_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x5},
};
inline constexpr Support kMAX_POOLING_GRAD_support[] = {
    {FeatureLevel::v4_0, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 4, 5, 0x0006, ""},
    {FeatureLevel::v4_0, 2, 4, 5, 0x0006, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kMAX_POOLING_GRAD_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount - 2 (text: 4-D only, so 2; the table allows 5-D from 4_0)",
};
inline constexpr Field kRANDOM_GENERATOR_fields[] = {
    {"InputStateTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputStateTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 16, 8, FeatureLevel::v1_0, -1},
    {"Type", "DML_RANDOM_GENERATOR_TYPE", FieldType::enumeration, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kRANDOM_GENERATOR_same[] = {
    {Same::dimension_count, 0x5},
    {Same::sizes, 0x5},
};
inline constexpr Support kRANDOM_GENERATOR_support[] = {
    {FeatureLevel::v4_0, 0, 1, 8, 0x0008, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0008, ""},
    {FeatureLevel::v4_0, 2, 1, 8, 0x0008, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0008, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0008, ""},
    {FeatureLevel::v3_0, 2, 4, 4, 0x0008, ""},
};
inline constexpr std::string_view kRANDOM_GENERATOR_constraints[] = {
    "datatype: InputStateTensor UINT32",
    "size: InputStateTensor {1,1,1,6}: elements 0-3 counter, 4-5 key",
    "value: Type == PHILOX_4X32_10",
};
inline constexpr Field kNONZERO_COORDINATES_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputCountTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputCoordinatesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr Support kNONZERO_COORDINATES_support[] = {
    {FeatureLevel::v4_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0008, ""},
    {FeatureLevel::v4_0, 2, 2, 8, 0x0008, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x0008, ""},
    {FeatureLevel::v3_0, 2, 4, 5, 0x0008, ""},
};
inline constexpr std::string_view kNONZERO_COORDINATES_constraints[] = {
    "size: OutputCountTensor all Sizes 1",
    "datatype: OutputCountTensor UINT32",
    "size: OutputCoordinatesTensor {1..., M, N}; M == elements of InputTensor; effective rank of InputTensor <= N <= InputTensor.DimensionCount",
};
inline constexpr Field kRESAMPLE_GRAD_fields[] = {
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 3},
    {"InputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 3},
    {"OutputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 3},
};
inline constexpr SameGroup kRESAMPLE_GRAD_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE_GRAD_support[] = {
    {FeatureLevel::v5_1, 0, 1, 4, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kRESAMPLE_GRAD_constraints[] = {
    "value: DimensionCount == InputGradientTensor.DimensionCount",
};
inline constexpr Field kSLICE_GRAD_fields[] = {
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"InputWindowOffsets", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"InputWindowSizes", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"InputWindowStrides", "const INT*", FieldType::integers, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kSLICE_GRAD_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kSLICE_GRAD_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 0, 4, 5, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 4, 5, 0x01fe, ""},
};
inline constexpr std::string_view kSLICE_GRAD_constraints[] = {
    "value: DimensionCount == InputGradientTensor.DimensionCount",
    "value: InputWindowStrides[i] != 0",
};
inline constexpr Field kADAM_OPTIMIZER_fields[] = {
    {"InputParametersTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputFirstMomentTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"InputSecondMomentTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"GradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"TrainingStepTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputParametersTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputFirstMomentTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputSecondMomentTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 56, 8, FeatureLevel::v1_0, -1},
    {"LearningRate", "FLOAT", FieldType::real, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
    {"Beta1", "FLOAT", FieldType::real, FieldKind::attribute, 68, 4, FeatureLevel::v1_0, -1},
    {"Beta2", "FLOAT", FieldType::real, FieldKind::attribute, 72, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 76, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kADAM_OPTIMIZER_same[] = {
    {Same::datatype, 0xef},
    {Same::dimension_count, 0xef},
    {Same::sizes, 0xef},
};
inline constexpr Support kADAM_OPTIMIZER_support[] = {
    {FeatureLevel::v3_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 5, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 6, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 7, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kADAM_OPTIMIZER_constraints[] = {
    "size: TrainingStepTensor all Sizes 1",
    "datatype: TrainingStepTensor UINT32 (page text; its table says FLOAT32 FLOAT16)",
    "value: Beta1 and Beta2 between 0 and 1",
};
inline constexpr Field kARGMIN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"AxisDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kARGMIN_same[] = {
    {Same::dimension_count, 0x3},
};
inline constexpr Support kARGMIN_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
};
inline constexpr std::string_view kARGMIN_constraints[] = {
    "size: OutputTensor.Sizes[a] == 1 for a in Axes, else == InputTensor.Sizes[a]",
    "value: every Axes[i] < InputTensor.DimensionCount",
};
inline constexpr Field kARGMAX_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"AxisDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kARGMAX_same[] = {
    {Same::dimension_count, 0x3},
};
inline constexpr Support kARGMAX_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
};
inline constexpr std::string_view kARGMAX_constraints[] = {
    "size: OutputTensor.Sizes[a] == 1 for a in Axes, else == InputTensor.Sizes[a]",
    "value: every Axes[i] < InputTensor.DimensionCount",
};
inline constexpr Field kROI_ALIGN_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ROITensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"BatchIndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"ReductionFunction", "DML_REDUCE_FUNCTION", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleX", "FLOAT", FieldType::real, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleY", "FLOAT", FieldType::real, FieldKind::attribute, 44, 4, FeatureLevel::v1_0, -1},
    {"OutOfBoundsInputValue", "FLOAT", FieldType::real, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"MinimumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"MaximumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kROI_ALIGN_same[] = {
    {Same::datatype, 0xb},
};
inline constexpr Support kROI_ALIGN_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v5_0, 1, 2, 4, 0x0006, ""},
    {FeatureLevel::v5_0, 2, 1, 4, 0x0408, ""},
    {FeatureLevel::v5_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 1, 2, 4, 0x0006, ""},
    {FeatureLevel::v3_0, 2, 1, 4, 0x0008, ""},
    {FeatureLevel::v3_0, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kROI_ALIGN_constraints[] = {
    "size: InputTensor {N, C, H, W}; OutputTensor {NumROIs, C, OutH, OutW}",
    "size: ROITensor {NumROIs, 4} with optional leading 1s; each row x1 y1 x2 y2",
    "size: BatchIndicesTensor {NumROIs} with optional leading 1s",
    "value: ReductionFunction is AVERAGE or MAX",
    "undefined: batch index outside [0, BatchCount)",
};
inline constexpr Field kGATHER_ND1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"IndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"InputDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"IndicesDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
    {"BatchDimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kGATHER_ND1_same[] = {
    {Same::dimension_count, 0x7},
    {Same::datatype, 0x5},
};
inline constexpr Support kGATHER_ND1_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v3_0, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_0, 1, 1, 8, 0x0c48, ""},
    {FeatureLevel::v3_0, 2, 1, 8, 0x01fe, ""},
};
inline constexpr std::string_view kGATHER_ND1_constraints[] = {
    "size: last dimension of IndicesTensor = coordinates per tuple, <= InputTensor.DimensionCount",
    "size: OutputTensor = IndicesDimensionCount-1 leading sizes of the meaningful IndicesTensor ++ the trailing un-indexed InputTensor sizes, right-aligned, leading 1s prepended",
    "value: 1 <= InputDimensionCount <= InputTensor.DimensionCount",
    "value: 1 <= IndicesDimensionCount <= IndicesTensor.DimensionCount",
    "value: BatchDimensionCount < both dimension counts",
    "index: negative indices allowed from 3_0 for signed types, counted from the end of the dimension",
};
inline constexpr Field kELEMENT_WISE_ATAN_YX_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_ATAN_YX_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_ATAN_YX_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kELEMENT_WISE_ATAN_YX_constraints[] = {
    "undefined: a == 0 and b == 0",
};
inline constexpr Field kELEMENT_WISE_CLIP_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"Min", "FLOAT", FieldType::real, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Max", "FLOAT", FieldType::real, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CLIP_GRAD_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_CLIP_GRAD_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v3_1, 0, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x01fe, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x01fe, ""},
};
inline constexpr Field kELEMENT_WISE_DIFFERENCE_SQUARE_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_DIFFERENCE_SQUARE_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_DIFFERENCE_SQUARE_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x004e, ""},
};
inline constexpr Field kLOCAL_RESPONSE_NORMALIZATION_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"CrossChannel", "BOOL", FieldType::boolean, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"LocalSize", "UINT", FieldType::natural, FieldKind::attribute, 28, 4, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"Bias", "FLOAT", FieldType::real, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLOCAL_RESPONSE_NORMALIZATION_GRAD_same[] = {
    {Same::datatype, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kLOCAL_RESPONSE_NORMALIZATION_GRAD_support[] = {
    {FeatureLevel::v3_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v3_1, 2, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kLOCAL_RESPONSE_NORMALIZATION_GRAD_constraints[] = {
    "value: LocalSize >= 1",
};
inline constexpr Field kCUMULATIVE_PRODUCT_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Axis", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"AxisDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"HasExclusiveProduct", "BOOL", FieldType::boolean, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kCUMULATIVE_PRODUCT_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kCUMULATIVE_PRODUCT_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0c4e, ""},
    {FeatureLevel::v4_0, 0, 1, 8, 0x004e, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x004e, ""},
    {FeatureLevel::v3_1, 0, 4, 4, 0x004e, ""},
    {FeatureLevel::v3_1, 1, 4, 4, 0x004e, ""},
};
inline constexpr std::string_view kCUMULATIVE_PRODUCT_constraints[] = {
    "value: Axis < InputTensor.DimensionCount",
};
inline constexpr Field kBATCH_NORMALIZATION_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"MeanTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"VarianceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputBiasGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 56, 8, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kBATCH_NORMALIZATION_GRAD_same[] = {
    {Same::datatype, 0xff},
    {Same::dimension_count, 0xff},
    {Same::sizes, 0xdc},
    {Same::sizes, 0x23},
};
inline constexpr Support kBATCH_NORMALIZATION_GRAD_support[] = {
    {FeatureLevel::v3_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 4, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 5, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 6, 1, 8, 0x0006, ""},
    {FeatureLevel::v3_1, 7, 1, 8, 0x0006, ""},
};
inline constexpr Field kELEMENT_WISE_QUANTIZED_LINEAR_ADD_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"AScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"AZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"BScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"BZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 56, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 64, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_QUANTIZED_LINEAR_ADD_same[] = {
    {Same::dimension_count, 0x1ff},
    {Same::datatype, 0x28},
    {Same::datatype, 0x180},
    {Same::datatype, 0x5},
};
inline constexpr Support kELEMENT_WISE_QUANTIZED_LINEAR_ADD_support[] = {
    {FeatureLevel::v4_0, 0, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0002, ""},
    {FeatureLevel::v4_0, 2, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 3, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 4, 1, 8, 0x0002, ""},
    {FeatureLevel::v4_0, 5, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 6, 1, 8, 0x0002, ""},
    {FeatureLevel::v4_0, 7, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 8, 1, 8, 0x0120, ""},
};
inline constexpr std::string_view kELEMENT_WISE_QUANTIZED_LINEAR_ADD_constraints[] = {
    "size: every scale and zero-point tensor holds 1 element",
    "undefined: scale 0",
};
inline constexpr Field kDYNAMIC_QUANTIZE_LINEAR_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kDYNAMIC_QUANTIZE_LINEAR_same[] = {
    {Same::dimension_count, 0xf},
    {Same::datatype, 0xa},
};
inline constexpr Support kDYNAMIC_QUANTIZE_LINEAR_support[] = {
    {FeatureLevel::v4_0, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 1, 8, 0x0120, ""},
    {FeatureLevel::v4_0, 2, 1, 8, 0x0002, ""},
    {FeatureLevel::v4_0, 3, 1, 8, 0x0120, ""},
};
inline constexpr std::string_view kDYNAMIC_QUANTIZE_LINEAR_constraints[] = {
    "size: OutputScaleTensor and OutputZeroPointTensor hold 1 element",
};
inline constexpr Field kROI_ALIGN1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ROITensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"BatchIndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"ReductionFunction", "DML_REDUCE_FUNCTION", FieldType::enumeration, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleX", "FLOAT", FieldType::real, FieldKind::attribute, 40, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleY", "FLOAT", FieldType::real, FieldKind::attribute, 44, 4, FeatureLevel::v1_0, -1},
    {"InputPixelOffset", "FLOAT", FieldType::real, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"OutputPixelOffset", "FLOAT", FieldType::real, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"OutOfBoundsInputValue", "FLOAT", FieldType::real, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
    {"MinimumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 60, 4, FeatureLevel::v1_0, -1},
    {"MaximumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
    {"AlignRegionsToCorners", "BOOL", FieldType::boolean, FieldKind::attribute, 68, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kROI_ALIGN1_same[] = {
    {Same::datatype, 0xb},
};
inline constexpr Support kROI_ALIGN1_support[] = {
    {FeatureLevel::v5_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v5_0, 1, 2, 4, 0x0006, ""},
    {FeatureLevel::v5_0, 2, 1, 4, 0x0408, ""},
    {FeatureLevel::v5_0, 3, 4, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 1, 2, 4, 0x0006, ""},
    {FeatureLevel::v4_0, 2, 1, 4, 0x0008, ""},
    {FeatureLevel::v4_0, 3, 4, 4, 0x0006, ""},
};
inline constexpr std::string_view kROI_ALIGN1_constraints[] = {
    "size: InputTensor {N, C, H, W}; OutputTensor {NumROIs, C, OutH, OutW}",
    "size: ROITensor {NumROIs, 4} with optional leading 1s; each row x1 y1 x2 y2",
    "size: BatchIndicesTensor {NumROIs} with optional leading 1s",
    "value: ReductionFunction is AVERAGE or MAX",
    "undefined: batch index outside [0, BatchCount)",
};
inline constexpr Field kROI_ALIGN_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"ROITensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"BatchIndicesTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputROIGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 40, 8, FeatureLevel::v1_0, -1},
    {"ReductionFunction", "DML_REDUCE_FUNCTION", FieldType::enumeration, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleX", "FLOAT", FieldType::real, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
    {"SpatialScaleY", "FLOAT", FieldType::real, FieldKind::attribute, 60, 4, FeatureLevel::v1_0, -1},
    {"InputPixelOffset", "FLOAT", FieldType::real, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
    {"OutputPixelOffset", "FLOAT", FieldType::real, FieldKind::attribute, 68, 4, FeatureLevel::v1_0, -1},
    {"MinimumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 72, 4, FeatureLevel::v1_0, -1},
    {"MaximumSamplesPerOutput", "UINT", FieldType::natural, FieldKind::attribute, 76, 4, FeatureLevel::v1_0, -1},
    {"AlignRegionsToCorners", "BOOL", FieldType::boolean, FieldKind::attribute, 80, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kROI_ALIGN_GRAD_same[] = {
    {Same::datatype, 0x37},
    {Same::sizes, 0x24},
};
inline constexpr Support kROI_ALIGN_GRAD_support[] = {
    {FeatureLevel::v4_1, 0, 4, 4, 0x0006, ""},
    {FeatureLevel::v4_1, 1, 4, 4, 0x0006, ""},
    {FeatureLevel::v4_1, 2, 2, 4, 0x0006, ""},
    {FeatureLevel::v4_1, 3, 1, 4, 0x0008, ""},
    {FeatureLevel::v4_1, 4, 4, 4, 0x0006, ""},
    {FeatureLevel::v4_1, 5, 2, 4, 0x0006, ""},
};
inline constexpr std::string_view kROI_ALIGN_GRAD_constraints[] = {
    "size: ROITensor {NumROIs, 4} with optional leading 1s",
    "size: BatchIndicesTensor {NumROIs} with optional leading 1s",
    "null: at least one of OutputGradientTensor OutputROIGradientTensor",
    "null: InputTensor required when OutputROIGradientTensor is present or ReductionFunction is MAX",
    "undefined: batch index outside [0, BatchCount)",
};
inline constexpr Field kBATCH_NORMALIZATION_TRAINING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"FusedAddTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputMeanTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputVarianceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 48, 8, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 64, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kBATCH_NORMALIZATION_TRAINING_same[] = {
    {Same::datatype, 0x7f},
    {Same::dimension_count, 0x7f},
    {Same::sizes, 0x66},
    {Same::sizes, 0x19},
};
inline constexpr Support kBATCH_NORMALIZATION_TRAINING_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 4, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 5, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 6, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kBATCH_NORMALIZATION_TRAINING_constraints[] = {
    "size: each dimension of ScaleTensor BiasTensor is 1 (broadcast) or InputTensor.Sizes of it",
    "fused: only with an activation that can be fused",
};
inline constexpr Field kBATCH_NORMALIZATION_TRAINING_GRAD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"MeanTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 16, 8, FeatureLevel::v1_0, -1},
    {"VarianceTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputBiasGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 56, 8, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kBATCH_NORMALIZATION_TRAINING_GRAD_same[] = {
    {Same::datatype, 0xff},
    {Same::dimension_count, 0xff},
    {Same::sizes, 0xdc},
    {Same::sizes, 0x23},
};
inline constexpr Support kBATCH_NORMALIZATION_TRAINING_GRAD_support[] = {
    {FeatureLevel::v4_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 3, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 4, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 5, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 6, 1, 8, 0x0006, ""},
    {FeatureLevel::v4_1, 7, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kBATCH_NORMALIZATION_TRAINING_GRAD_constraints[] = {
    "size: each dimension of MeanTensor VarianceTensor ScaleTensor is 1 (broadcast) or InputTensor.Sizes of it",
};
inline constexpr Field kELEMENT_WISE_CLIP1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ScaleBias", "const DML_SCALE_BIAS*", FieldType::scale_bias, FieldKind::optional_attribute, 16, 8, FeatureLevel::v1_0, -1},
    {"MinMaxDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Min", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, -1},
    {"Max", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CLIP1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_CLIP1_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
};
inline constexpr std::string_view kELEMENT_WISE_CLIP1_constraints[] = {
    "value: MinMaxDataType == OutputTensor.DataType",
};
inline constexpr Field kELEMENT_WISE_CLIP_GRAD1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 16, 8, FeatureLevel::v1_0, -1},
    {"MinMaxDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Min", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, -1},
    {"Max", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_CLIP_GRAD1_same[] = {
    {Same::datatype, 0x7},
    {Same::dimension_count, 0x7},
    {Same::sizes, 0x7},
};
inline constexpr Support kELEMENT_WISE_CLIP_GRAD1_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0dfe, ""},
    {FeatureLevel::v5_0, 2, 1, 8, 0x0dfe, ""},
};
inline constexpr std::string_view kELEMENT_WISE_CLIP_GRAD1_constraints[] = {
    "value: MinMaxDataType == OutputGradientTensor.DataType",
};
inline constexpr Field kPADDING1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"PaddingMode", "DML_PADDING_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"PaddingValueDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"PaddingValue", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 5},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 5},
};
inline constexpr SameGroup kPADDING1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kPADDING1_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x0ffe, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x0ffe, ""},
};
inline constexpr std::string_view kPADDING1_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
    "size: OutputTensor.Sizes[i] == InputTensor.Sizes[i] + StartPadding[i] + EndPadding[i]",
    "value: PaddingValueDataType == OutputTensor.DataType",
    "value: PaddingMode WRAP from 6_4",
};
inline constexpr Field kELEMENT_WISE_NEGATE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kELEMENT_WISE_NEGATE_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kELEMENT_WISE_NEGATE_support[] = {
    {FeatureLevel::v5_0, 0, 1, 8, 0x09c6, ""},
    {FeatureLevel::v5_0, 1, 1, 8, 0x09c6, ""},
};
inline constexpr Field kACTIVATION_GELU_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_GELU_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_GELU_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0006, ""},
};
inline constexpr Field kACTIVATION_SOFTMAX1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kACTIVATION_SOFTMAX1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SOFTMAX1_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_SOFTMAX1_constraints[] = {
    "value: every Axes[i] < InputTensor.DimensionCount",
};
inline constexpr Field kACTIVATION_LOG_SOFTMAX1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kACTIVATION_LOG_SOFTMAX1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_LOG_SOFTMAX1_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_LOG_SOFTMAX1_constraints[] = {
    "value: every Axes[i] < InputTensor.DimensionCount",
};
inline constexpr Field kACTIVATION_HARDMAX1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
};
inline constexpr SameGroup kACTIVATION_HARDMAX1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_HARDMAX1_support[] = {
    {FeatureLevel::v5_1, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kACTIVATION_HARDMAX1_constraints[] = {
    "value: every Axes[i] < InputTensor.DimensionCount",
};
inline constexpr Field kRESAMPLE2_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"RoundingDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 4},
    {"InputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
    {"OutputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 4},
};
inline constexpr SameGroup kRESAMPLE2_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE2_support[] = {
    {FeatureLevel::v6_2, 0, 1, 4, 0x0126, ""},
    {FeatureLevel::v6_2, 1, 1, 4, 0x0126, ""},
    {FeatureLevel::v5_1, 0, 1, 4, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 4, 0x0006, ""},
};
inline constexpr std::string_view kRESAMPLE2_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
};
inline constexpr Field kRESAMPLE_GRAD1_fields[] = {
    {"InputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputGradientTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"RoundingDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 4},
    {"InputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
    {"OutputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 4},
};
inline constexpr SameGroup kRESAMPLE_GRAD1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE_GRAD1_support[] = {
    {FeatureLevel::v5_1, 0, 1, 4, 0x0006, ""},
    {FeatureLevel::v5_1, 1, 1, 4, 0x0006, ""},
};
inline constexpr std::string_view kRESAMPLE_GRAD1_constraints[] = {
    "value: DimensionCount == InputGradientTensor.DimensionCount",
};
inline constexpr Field kDIAGONAL_MATRIX1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"ValueDataType", "DML_TENSOR_DATA_TYPE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Value", "DML_SCALAR_UNION", FieldType::scalar_union, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, -1},
    {"DiagonalFillBegin", "INT", FieldType::integer, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"DiagonalFillEnd", "INT", FieldType::integer, FieldKind::attribute, 36, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kDIAGONAL_MATRIX1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kDIAGONAL_MATRIX1_support[] = {
    {FeatureLevel::v5_1, 0, 2, 4, 0x0ffe, ""},
    {FeatureLevel::v5_1, 1, 2, 4, 0x0ffe, ""},
};
inline constexpr std::string_view kDIAGONAL_MATRIX1_constraints[] = {
    "value: ValueDataType == OutputTensor.DataType",
};
inline constexpr Field kMULTIHEAD_ATTENTION_fields[] = {
    {"QueryTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 0, 8, FeatureLevel::v1_0, -1},
    {"KeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"ValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"StackedQueryKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"StackedKeyValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"StackedQueryKeyValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 48, 8, FeatureLevel::v1_0, -1},
    {"MaskTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 56, 8, FeatureLevel::v1_0, -1},
    {"RelativePositionBiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 64, 8, FeatureLevel::v1_0, -1},
    {"PastKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 72, 8, FeatureLevel::v1_0, -1},
    {"PastValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 80, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 88, 8, FeatureLevel::v1_0, -1},
    {"OutputPresentKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 96, 8, FeatureLevel::v1_0, -1},
    {"OutputPresentValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 104, 8, FeatureLevel::v1_0, -1},
    {"Scale", "FLOAT", FieldType::real, FieldKind::attribute, 112, 4, FeatureLevel::v1_0, -1},
    {"MaskFilterValue", "FLOAT", FieldType::real, FieldKind::attribute, 116, 4, FeatureLevel::v1_0, -1},
    {"HeadCount", "UINT", FieldType::natural, FieldKind::attribute, 120, 4, FeatureLevel::v1_0, -1},
    {"MaskType", "DML_MULTIHEAD_ATTENTION_MASK_TYPE", FieldType::enumeration, FieldKind::attribute, 124, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMULTIHEAD_ATTENTION_same[] = {
    {Same::datatype, 0x3f7f},
};
inline constexpr Support kMULTIHEAD_ATTENTION_support[] = {
    {FeatureLevel::v6_1, 0, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 1, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 2, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 3, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 4, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 5, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 6, 1, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 7, 1, 5, 0x0040, ""},
    {FeatureLevel::v6_1, 8, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 9, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 10, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 11, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 12, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_1, 13, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kMULTIHEAD_ATTENTION_constraints[] = {
    "null: exactly one source each for query, key, value (plain or stacked)",
    "size: Query {B,S,hidden}; Key {B,KV,hidden}; Value {B,KV,vhidden}; StackedQueryKey {B,S,heads,2,head}; StackedKeyValue {B,KV,heads,2,head}; StackedQueryKeyValue {B,S,heads,3,head}; Bias {hidden+hidden+vhidden}; PastKey PastValue {B,heads,past,head}; Output {B,S,vhidden}; OutputPresent* {B,heads,KV or past+KV,head}; extra leading dimensions must be 1",
    "size: MaskTensor KEY_SEQUENCE_LENGTH {1,B}; KEY_SEQUENCE_END_START {2,B}; KEY_QUERY_SEQUENCE_LENGTH_START_END {3*B+2}",
};
inline constexpr Field kLP_POOLING1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 2},
    {"P", "UINT", FieldType::natural, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kLP_POOLING1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kLP_POOLING1_support[] = {
    {FeatureLevel::v6_2, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_2, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kLP_POOLING1_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1 (the page omits Dilations from this formula)",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kAVERAGE_POOLING1_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 2},
    {"IncludePadding", "BOOL", FieldType::boolean, FieldKind::attribute, 64, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kAVERAGE_POOLING1_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kAVERAGE_POOLING1_support[] = {
    {FeatureLevel::v6_2, 0, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_2, 1, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kAVERAGE_POOLING1_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1 (the page omits Dilations from this formula)",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
};
inline constexpr Field kACTIVATION_SWISH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"SigmoidInputScale", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_SWISH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_SWISH_support[] = {
    {FeatureLevel::v6_2, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_2, 1, 1, 8, 0x0006, ""},
};
inline constexpr Field kACTIVATION_HARD_SWISH_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"Alpha", "FLOAT", FieldType::real, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"Beta", "FLOAT", FieldType::real, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kACTIVATION_HARD_SWISH_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
    {Same::sizes, 0x3},
};
inline constexpr Support kACTIVATION_HARD_SWISH_support[] = {
    {FeatureLevel::v6_2, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_2, 1, 1, 8, 0x0006, ""},
};
inline constexpr Field kQUANTIZED_LINEAR_AVERAGE_POOLING_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"InputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"InputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"OutputZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 40, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 6},
    {"WindowSize", "const UINT*", FieldType::naturals, FieldKind::attribute, 64, 8, FeatureLevel::v1_0, 6},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 72, 8, FeatureLevel::v1_0, 6},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 80, 8, FeatureLevel::v1_0, 6},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 88, 8, FeatureLevel::v1_0, 6},
    {"IncludePadding", "BOOL", FieldType::boolean, FieldKind::attribute, 96, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kQUANTIZED_LINEAR_AVERAGE_POOLING_same[] = {
    {Same::dimension_count, 0x21},
    {Same::datatype, 0x5},
    {Same::datatype, 0x30},
};
inline constexpr Support kQUANTIZED_LINEAR_AVERAGE_POOLING_support[] = {
    {FeatureLevel::v6_2, 0, 4, 5, 0x0120, ""},
    {FeatureLevel::v6_2, 1, 1, 5, 0x0002, ""},
    {FeatureLevel::v6_2, 2, 1, 5, 0x0120, ""},
    {FeatureLevel::v6_2, 3, 1, 5, 0x0002, ""},
    {FeatureLevel::v6_2, 4, 1, 5, 0x0120, ""},
    {FeatureLevel::v6_2, 5, 4, 5, 0x0120, ""},
};
inline constexpr std::string_view kQUANTIZED_LINEAR_AVERAGE_POOLING_constraints[] = {
    "size: OutputTensor.Sizes[0..1] == InputTensor.Sizes[0..1]; OutputTensor.Sizes[i+2] == (InputTensor.Sizes[i+2] + StartPadding[i] + EndPadding[i] - WindowSize[i]) / Strides[i] + 1 (the page omits Dilations from this formula)",
    "value: DimensionCount == InputTensor.DimensionCount - 2 (2 for 4-D, 3 for 5-D)",
    "size: scale and zero-point tensors {1,1,1,1} or {1, C, 1, 1}",
    "undefined: scale 0",
};
inline constexpr Field kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_fields[] = {
    {"ATensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"AScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 8, 8, FeatureLevel::v1_0, -1},
    {"AZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"BTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 24, 8, FeatureLevel::v1_0, -1},
    {"BScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 32, 8, FeatureLevel::v1_0, -1},
    {"BZeroPointTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 48, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 56, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_same[] = {
    {Same::dimension_count, 0x36},
    {Same::dimension_count, 0xc9},
    {Same::sizes, 0xc0},
    {Same::datatype, 0x2d},
    {Same::datatype, 0xd2},
};
inline constexpr Support kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_support[] = {
    {FeatureLevel::v6_2, 0, 2, 4, 0x01f8, ""},
    {FeatureLevel::v6_2, 1, 1, 4, 0x0006, ""},
    {FeatureLevel::v6_2, 2, 1, 4, 0x01f8, ""},
    {FeatureLevel::v6_2, 3, 2, 4, 0x01f8, ""},
    {FeatureLevel::v6_2, 4, 1, 4, 0x0006, ""},
    {FeatureLevel::v6_2, 5, 1, 4, 0x01f8, ""},
    {FeatureLevel::v6_2, 6, 2, 4, 0x0006, ""},
    {FeatureLevel::v6_2, 7, 2, 4, 0x0006, ""},
};
inline constexpr std::string_view kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_constraints[] = {
    "size: A {[N],[C],M,K}; B {[N],[C],K,N}; Output and Bias {[N],[C],M,N}; AScale AZeroPoint all 1s or {1,1,M,1}; BScale BZeroPoint all 1s or {1,1,1,N}",
};
inline constexpr Field kMEAN_VARIANCE_NORMALIZATION2_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"ScaleTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
    {"AxisCount", "UINT", FieldType::natural, FieldKind::attribute, 32, 4, FeatureLevel::v1_0, -1},
    {"Axes", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
    {"UseMean", "BOOL", FieldType::boolean, FieldKind::attribute, 48, 4, FeatureLevel::v1_0, -1},
    {"UseVariance", "BOOL", FieldType::boolean, FieldKind::attribute, 52, 4, FeatureLevel::v1_0, -1},
    {"Epsilon", "FLOAT", FieldType::real, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
    {"FusedActivation", "const DML_OPERATOR_DESC*", FieldType::operators, FieldKind::optional_attribute, 64, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMEAN_VARIANCE_NORMALIZATION2_same[] = {
    {Same::datatype, 0xf},
    {Same::dimension_count, 0xf},
};
inline constexpr Support kMEAN_VARIANCE_NORMALIZATION2_support[] = {
    {FeatureLevel::v6_3, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_3, 1, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_3, 2, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_3, 3, 1, 8, 0x0006, ""},
};
inline constexpr std::string_view kMEAN_VARIANCE_NORMALIZATION2_constraints[] = {
    "size: each dimension of ScaleTensor and BiasTensor is 1 or InputTensor.Sizes of it",
};
inline constexpr Field kMULTIHEAD_ATTENTION1_fields[] = {
    {"QueryTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 0, 8, FeatureLevel::v1_0, -1},
    {"KeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 8, 8, FeatureLevel::v1_0, -1},
    {"ValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 16, 8, FeatureLevel::v1_0, -1},
    {"StackedQueryKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 24, 8, FeatureLevel::v1_0, -1},
    {"StackedKeyValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 32, 8, FeatureLevel::v1_0, -1},
    {"StackedQueryKeyValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 40, 8, FeatureLevel::v1_0, -1},
    {"BiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 48, 8, FeatureLevel::v1_0, -1},
    {"MaskTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 56, 8, FeatureLevel::v1_0, -1},
    {"RelativePositionBiasTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 64, 8, FeatureLevel::v1_0, -1},
    {"PastKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 72, 8, FeatureLevel::v1_0, -1},
    {"PastValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 80, 8, FeatureLevel::v1_0, -1},
    {"PastSequenceLengthsTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_input, 88, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 96, 8, FeatureLevel::v1_0, -1},
    {"OutputPresentKeyTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 104, 8, FeatureLevel::v1_0, -1},
    {"OutputPresentValueTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::optional_output, 112, 8, FeatureLevel::v1_0, -1},
    {"Scale", "FLOAT", FieldType::real, FieldKind::attribute, 120, 4, FeatureLevel::v1_0, -1},
    {"MaskFilterValue", "FLOAT", FieldType::real, FieldKind::attribute, 124, 4, FeatureLevel::v1_0, -1},
    {"QueryHeadCount", "UINT", FieldType::natural, FieldKind::attribute, 128, 4, FeatureLevel::v1_0, -1},
    {"KeyValueHeadCount", "UINT", FieldType::natural, FieldKind::attribute, 132, 4, FeatureLevel::v1_0, -1},
    {"MaskType", "DML_MULTIHEAD_ATTENTION_MASK_TYPE", FieldType::enumeration, FieldKind::attribute, 136, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kMULTIHEAD_ATTENTION1_same[] = {
    {Same::datatype, 0x777f},
};
inline constexpr Support kMULTIHEAD_ATTENTION1_support[] = {
    {FeatureLevel::v6_3, 0, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 1, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 2, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 3, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 4, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 5, 5, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 6, 1, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 7, 1, 5, 0x0040, ""},
    {FeatureLevel::v6_3, 8, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 9, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 10, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 11, 1, 5, 0x0046, ""},
    {FeatureLevel::v6_3, 12, 3, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 13, 4, 5, 0x0006, ""},
    {FeatureLevel::v6_3, 14, 4, 5, 0x0006, ""},
};
inline constexpr std::string_view kMULTIHEAD_ATTENTION1_constraints[] = {
    "null: exactly one source each for query, key, value (plain or stacked)",
    "size: as MULTIHEAD_ATTENTION with QueryHeadCount and KeyValueHeadCount (both undocumented)",
    "datatype: the page puts PastSequenceLengthsTensor in the same-datatype group and gives it FLOAT32 FLOAT16",
};
inline constexpr Field kQUANTIZE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"QuantizationType", "DML_QUANTIZATION_TYPE", FieldType::enumeration, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"QuantizationTensorCount", "UINT", FieldType::natural, FieldKind::attribute, 12, 4, FeatureLevel::v1_0, -1},
    {"QuantizationTensors", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input_array, 16, 8, FeatureLevel::v1_0, 2},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kQUANTIZE_same[] = {
    {Same::dimension_count, 0x19},
};
inline constexpr Support kQUANTIZE_support[] = {
    {FeatureLevel::v6_3, 0, 1, 8, 0x0006, ""},
    {FeatureLevel::v6_3, 3, 1, 8, 0x3126, ""},
    {FeatureLevel::v6_3, 4, 1, 8, 0x3120, ""},
};
inline constexpr Field kDEQUANTIZE_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"QuantizationType", "DML_QUANTIZATION_TYPE", FieldType::enumeration, FieldKind::attribute, 8, 4, FeatureLevel::v1_0, -1},
    {"QuantizationTensorCount", "UINT", FieldType::natural, FieldKind::attribute, 12, 4, FeatureLevel::v1_0, -1},
    {"QuantizationTensors", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input_array, 16, 8, FeatureLevel::v1_0, 2},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 24, 8, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kDEQUANTIZE_same[] = {
    {Same::dimension_count, 0x19},
};
inline constexpr Support kDEQUANTIZE_support[] = {
    {FeatureLevel::v6_3, 0, 1, 8, 0x3120, ""},
    {FeatureLevel::v6_3, 3, 1, 8, 0x3126, ""},
    {FeatureLevel::v6_3, 4, 1, 8, 0x0006, ""},
};
inline constexpr Field kRESAMPLE3_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"InterpolationMode", "DML_INTERPOLATION_MODE", FieldType::enumeration, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"RoundingDirection", "DML_AXIS_DIRECTION", FieldType::enumeration, FieldKind::attribute, 20, 4, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 24, 4, FeatureLevel::v1_0, -1},
    {"Scales", "const FLOAT*", FieldType::reals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 4},
    {"InputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 4},
    {"OutputPixelOffsets", "const FLOAT*", FieldType::reals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 4},
    {"Antialiased", "BOOL", FieldType::boolean, FieldKind::attribute, 56, 4, FeatureLevel::v1_0, -1},
};
inline constexpr SameGroup kRESAMPLE3_same[] = {
    {Same::datatype, 0x3},
    {Same::dimension_count, 0x3},
};
inline constexpr Support kRESAMPLE3_support[] = {
    {FeatureLevel::v6_4, 0, 1, 4, 0x0126, ""},
    {FeatureLevel::v6_4, 1, 1, 4, 0x0126, ""},
};
inline constexpr std::string_view kRESAMPLE3_constraints[] = {
    "value: DimensionCount == InputTensor.DimensionCount",
};
inline constexpr Field kFOLD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"WindowSizes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 2},
};
inline constexpr Support kFOLD_support[] = {
    {FeatureLevel::v6_4, 0, 3, 8, 0x0000, ""},
    {FeatureLevel::v6_4, 1, 3, 8, 0x0000, ""},
};
inline constexpr std::string_view kFOLD_constraints[] = {
    "size: InputTensor {N, C*prod(WindowSizes), BlockCount}; OutputTensor {N, C, spatial...}",
    "value: DimensionCount <= 6",
    "size: BlocksPerDimension[d] = (SpatialSize[d] + StartPadding[d] + EndPadding[d] - Dilations[d]*(WindowSizes[d]-1) - 1) / Strides[d] + 1; BlockCount = their product",
    "datatype: the page leaves the data types blank",
};
inline constexpr Field kUNFOLD_fields[] = {
    {"InputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::input, 0, 8, FeatureLevel::v1_0, -1},
    {"OutputTensor", "const DML_TENSOR_DESC*", FieldType::tensors, FieldKind::output, 8, 8, FeatureLevel::v1_0, -1},
    {"DimensionCount", "UINT", FieldType::natural, FieldKind::attribute, 16, 4, FeatureLevel::v1_0, -1},
    {"WindowSizes", "const UINT*", FieldType::naturals, FieldKind::attribute, 24, 8, FeatureLevel::v1_0, 2},
    {"Strides", "const UINT*", FieldType::naturals, FieldKind::attribute, 32, 8, FeatureLevel::v1_0, 2},
    {"Dilations", "const UINT*", FieldType::naturals, FieldKind::attribute, 40, 8, FeatureLevel::v1_0, 2},
    {"StartPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 48, 8, FeatureLevel::v1_0, 2},
    {"EndPadding", "const UINT*", FieldType::naturals, FieldKind::attribute, 56, 8, FeatureLevel::v1_0, 2},
};
inline constexpr Support kUNFOLD_support[] = {
    {FeatureLevel::v6_4, 0, 3, 8, 0x0000, ""},
    {FeatureLevel::v6_4, 1, 3, 8, 0x0000, ""},
};
inline constexpr std::string_view kUNFOLD_constraints[] = {
    "size: InputTensor {N, C, spatial...}; OutputTensor {N, C*prod(WindowSizes), BlockCount}",
    "value: 1 <= DimensionCount <= 6",
    "size: BlocksPerDimension[d] = (SpatialSize[d] + StartPadding[d] + EndPadding[d] - Dilations[d]*(WindowSizes[d]-1) - 1) / Strides[d] + 1; BlockCount = their product",
    "datatype: the page leaves the data types blank",
};

inline constexpr Operator kOperators[] = {
    {"ELEMENT_WISE_IDENTITY", 1, "DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x", kELEMENT_WISE_IDENTITY_fields, kELEMENT_WISE_IDENTITY_same, kELEMENT_WISE_IDENTITY_support, {}},
    {"ELEMENT_WISE_ABS", 2, "DML_ELEMENT_WISE_ABS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "abs(x)", kELEMENT_WISE_ABS_fields, kELEMENT_WISE_ABS_same, kELEMENT_WISE_ABS_support, {}},
    {"ELEMENT_WISE_ACOS", 3, "DML_ELEMENT_WISE_ACOS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "acos(x)", kELEMENT_WISE_ACOS_fields, kELEMENT_WISE_ACOS_same, kELEMENT_WISE_ACOS_support, {}},
    {"ELEMENT_WISE_ADD", 4, "DML_ELEMENT_WISE_ADD_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::any_input, "a + b", kELEMENT_WISE_ADD_fields, kELEMENT_WISE_ADD_same, kELEMENT_WISE_ADD_support, {}},
    {"ELEMENT_WISE_ASIN", 5, "DML_ELEMENT_WISE_ASIN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "asin(x)", kELEMENT_WISE_ASIN_fields, kELEMENT_WISE_ASIN_same, kELEMENT_WISE_ASIN_support, {}},
    {"ELEMENT_WISE_ATAN", 6, "DML_ELEMENT_WISE_ATAN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "atan(x)", kELEMENT_WISE_ATAN_fields, kELEMENT_WISE_ATAN_same, kELEMENT_WISE_ATAN_support, {}},
    {"ELEMENT_WISE_CEIL", 7, "DML_ELEMENT_WISE_CEIL_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "ceil(x)", kELEMENT_WISE_CEIL_fields, kELEMENT_WISE_CEIL_same, kELEMENT_WISE_CEIL_support, {}},
    {"ELEMENT_WISE_CLIP", 8, "DML_ELEMENT_WISE_CLIP_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::first_input, "max(Min, min(x, Max))", kELEMENT_WISE_CLIP_fields, kELEMENT_WISE_CLIP_same, kELEMENT_WISE_CLIP_support, {}},
    {"ELEMENT_WISE_COS", 9, "DML_ELEMENT_WISE_COS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "cos(x)", kELEMENT_WISE_COS_fields, kELEMENT_WISE_COS_same, kELEMENT_WISE_COS_support, {}},
    {"ELEMENT_WISE_DIVIDE", 10, "DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "a / b", kELEMENT_WISE_DIVIDE_fields, kELEMENT_WISE_DIVIDE_same, kELEMENT_WISE_DIVIDE_support, {}},
    {"ELEMENT_WISE_EXP", 11, "DML_ELEMENT_WISE_EXP_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "exp(x)", kELEMENT_WISE_EXP_fields, kELEMENT_WISE_EXP_same, kELEMENT_WISE_EXP_support, {}},
    {"ELEMENT_WISE_FLOOR", 12, "DML_ELEMENT_WISE_FLOOR_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "floor(x)", kELEMENT_WISE_FLOOR_fields, kELEMENT_WISE_FLOOR_same, kELEMENT_WISE_FLOOR_support, {}},
    {"ELEMENT_WISE_LOG", 13, "DML_ELEMENT_WISE_LOG_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "ln(x)", kELEMENT_WISE_LOG_fields, kELEMENT_WISE_LOG_same, kELEMENT_WISE_LOG_support, {}},
    {"ELEMENT_WISE_LOGICAL_AND", 14, "DML_ELEMENT_WISE_LOGICAL_AND_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "(a && b)", kELEMENT_WISE_LOGICAL_AND_fields, kELEMENT_WISE_LOGICAL_AND_same, kELEMENT_WISE_LOGICAL_AND_support, {}},
    {"ELEMENT_WISE_LOGICAL_EQUALS", 15, "DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::none, "(a == b)", kELEMENT_WISE_LOGICAL_EQUALS_fields, kELEMENT_WISE_LOGICAL_EQUALS_same, kELEMENT_WISE_LOGICAL_EQUALS_support, {}},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN", 16, "DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::none, "(a > b)", kELEMENT_WISE_LOGICAL_GREATER_THAN_fields, kELEMENT_WISE_LOGICAL_GREATER_THAN_same, kELEMENT_WISE_LOGICAL_GREATER_THAN_support, {}},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN", 17, "DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::none, "(a < b)", kELEMENT_WISE_LOGICAL_LESS_THAN_fields, kELEMENT_WISE_LOGICAL_LESS_THAN_same, kELEMENT_WISE_LOGICAL_LESS_THAN_support, {}},
    {"ELEMENT_WISE_LOGICAL_NOT", 18, "DML_ELEMENT_WISE_LOGICAL_NOT_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "!x", kELEMENT_WISE_LOGICAL_NOT_fields, kELEMENT_WISE_LOGICAL_NOT_same, kELEMENT_WISE_LOGICAL_NOT_support, {}},
    {"ELEMENT_WISE_LOGICAL_OR", 19, "DML_ELEMENT_WISE_LOGICAL_OR_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "(a || b)", kELEMENT_WISE_LOGICAL_OR_fields, kELEMENT_WISE_LOGICAL_OR_same, kELEMENT_WISE_LOGICAL_OR_support, {}},
    {"ELEMENT_WISE_LOGICAL_XOR", 20, "DML_ELEMENT_WISE_LOGICAL_XOR_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "(!!a) != (!!b)", kELEMENT_WISE_LOGICAL_XOR_fields, kELEMENT_WISE_LOGICAL_XOR_same, kELEMENT_WISE_LOGICAL_XOR_support, {}},
    {"ELEMENT_WISE_MAX", 21, "DML_ELEMENT_WISE_MAX_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "max(a, b)", kELEMENT_WISE_MAX_fields, kELEMENT_WISE_MAX_same, kELEMENT_WISE_MAX_support, {}},
    {"ELEMENT_WISE_MEAN", 22, "DML_ELEMENT_WISE_MEAN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "(a + b) / 2", kELEMENT_WISE_MEAN_fields, kELEMENT_WISE_MEAN_same, kELEMENT_WISE_MEAN_support, {}},
    {"ELEMENT_WISE_MIN", 23, "DML_ELEMENT_WISE_MIN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "min(a, b)", kELEMENT_WISE_MIN_fields, kELEMENT_WISE_MIN_same, kELEMENT_WISE_MIN_support, {}},
    {"ELEMENT_WISE_MULTIPLY", 24, "DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "a * b", kELEMENT_WISE_MULTIPLY_fields, kELEMENT_WISE_MULTIPLY_same, kELEMENT_WISE_MULTIPLY_support, {}},
    {"ELEMENT_WISE_POW", 25, "DML_ELEMENT_WISE_POW_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::first_input, "pow(input, exponent)", kELEMENT_WISE_POW_fields, kELEMENT_WISE_POW_same, kELEMENT_WISE_POW_support, kELEMENT_WISE_POW_constraints},
    {"ELEMENT_WISE_CONSTANT_POW", 26, "DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::first_input, "pow(x, Exponent)", kELEMENT_WISE_CONSTANT_POW_fields, kELEMENT_WISE_CONSTANT_POW_same, kELEMENT_WISE_CONSTANT_POW_support, {}},
    {"ELEMENT_WISE_RECIP", 27, "DML_ELEMENT_WISE_RECIP_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "1 / x", kELEMENT_WISE_RECIP_fields, kELEMENT_WISE_RECIP_same, kELEMENT_WISE_RECIP_support, {}},
    {"ELEMENT_WISE_SIN", 28, "DML_ELEMENT_WISE_SIN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "sin(x)", kELEMENT_WISE_SIN_fields, kELEMENT_WISE_SIN_same, kELEMENT_WISE_SIN_support, {}},
    {"ELEMENT_WISE_SQRT", 29, "DML_ELEMENT_WISE_SQRT_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "sqrt(x)", kELEMENT_WISE_SQRT_fields, kELEMENT_WISE_SQRT_same, kELEMENT_WISE_SQRT_support, {}},
    {"ELEMENT_WISE_SUBTRACT", 30, "DML_ELEMENT_WISE_SUBTRACT_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::one_input, "a - b", kELEMENT_WISE_SUBTRACT_fields, kELEMENT_WISE_SUBTRACT_same, kELEMENT_WISE_SUBTRACT_support, {}},
    {"ELEMENT_WISE_TAN", 31, "DML_ELEMENT_WISE_TAN_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "tan(x)", kELEMENT_WISE_TAN_fields, kELEMENT_WISE_TAN_same, kELEMENT_WISE_TAN_support, {}},
    {"ELEMENT_WISE_THRESHOLD", 32, "DML_ELEMENT_WISE_THRESHOLD_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::first_input, "max(x, Min)", kELEMENT_WISE_THRESHOLD_fields, kELEMENT_WISE_THRESHOLD_same, kELEMENT_WISE_THRESHOLD_support, {}},
    {"ELEMENT_WISE_QUANTIZE_LINEAR", 33, "DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "clamp(round(input / scale) + zero_point, Min, Max); UINT8: Min 0 Max 255; INT8: Min -128 Max 127", kELEMENT_WISE_QUANTIZE_LINEAR_fields, kELEMENT_WISE_QUANTIZE_LINEAR_same, kELEMENT_WISE_QUANTIZE_LINEAR_support, kELEMENT_WISE_QUANTIZE_LINEAR_constraints},
    {"ELEMENT_WISE_DEQUANTIZE_LINEAR", 34, "DML_ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "(input - zero_point) * scale", kELEMENT_WISE_DEQUANTIZE_LINEAR_fields, kELEMENT_WISE_DEQUANTIZE_LINEAR_same, kELEMENT_WISE_DEQUANTIZE_LINEAR_support, kELEMENT_WISE_DEQUANTIZE_LINEAR_constraints},
    {"ACTIVATION_ELU", 35, "DML_ACTIVATION_ELU_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x >= 0 ? x : Alpha * (exp(x) - 1)", kACTIVATION_ELU_fields, kACTIVATION_ELU_same, kACTIVATION_ELU_support, {}},
    {"ACTIVATION_HARDMAX", 36, "DML_ACTIVATION_HARDMAX_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::none, "1 at the first maximum of each row, 0 elsewhere", kACTIVATION_HARDMAX_fields, kACTIVATION_HARDMAX_same, kACTIVATION_HARDMAX_support, kACTIVATION_HARDMAX_constraints},
    {"ACTIVATION_HARD_SIGMOID", 37, "DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "max(0, min(Alpha * x + Beta, 1))", kACTIVATION_HARD_SIGMOID_fields, kACTIVATION_HARD_SIGMOID_same, kACTIVATION_HARD_SIGMOID_support, {}},
    {"ACTIVATION_IDENTITY", 38, "DML_ACTIVATION_IDENTITY_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "x", kACTIVATION_IDENTITY_fields, kACTIVATION_IDENTITY_same, kACTIVATION_IDENTITY_support, {}},
    {"ACTIVATION_LEAKY_RELU", 39, "DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x >= 0 ? x : Alpha * x", kACTIVATION_LEAKY_RELU_fields, kACTIVATION_LEAKY_RELU_same, kACTIVATION_LEAKY_RELU_support, {}},
    {"ACTIVATION_LINEAR", 40, "DML_ACTIVATION_LINEAR_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "Alpha * x + Beta", kACTIVATION_LINEAR_fields, kACTIVATION_LINEAR_same, kACTIVATION_LINEAR_support, {}},
    {"ACTIVATION_LOG_SOFTMAX", 41, "DML_ACTIVATION_LOG_SOFTMAX_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::none, "ln(exp(x_i) / sum_j(exp(x_j)))   along the last dimension of the effective 2-D tensor", kACTIVATION_LOG_SOFTMAX_fields, kACTIVATION_LOG_SOFTMAX_same, kACTIVATION_LOG_SOFTMAX_support, kACTIVATION_LOG_SOFTMAX_constraints},
    {"ACTIVATION_PARAMETERIZED_RELU", 42, "DML_ACTIVATION_PARAMETERIZED_RELU_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x >= 0 ? x : slope * x", kACTIVATION_PARAMETERIZED_RELU_fields, kACTIVATION_PARAMETERIZED_RELU_same, kACTIVATION_PARAMETERIZED_RELU_support, {}},
    {"ACTIVATION_PARAMETRIC_SOFTPLUS", 43, "DML_ACTIVATION_PARAMETRIC_SOFTPLUS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "Alpha * ln(1 + exp(Beta * x))", kACTIVATION_PARAMETRIC_SOFTPLUS_fields, kACTIVATION_PARAMETRIC_SOFTPLUS_same, kACTIVATION_PARAMETRIC_SOFTPLUS_support, {}},
    {"ACTIVATION_RELU", 44, "DML_ACTIVATION_RELU_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "max(0, x)", kACTIVATION_RELU_fields, kACTIVATION_RELU_same, kACTIVATION_RELU_support, {}},
    {"ACTIVATION_SCALED_ELU", 45, "DML_ACTIVATION_SCALED_ELU_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x > 0 ? Gamma * x : Gamma * (Alpha * exp(x) - Alpha)", kACTIVATION_SCALED_ELU_fields, kACTIVATION_SCALED_ELU_same, kACTIVATION_SCALED_ELU_support, {}},
    {"ACTIVATION_SCALED_TANH", 46, "DML_ACTIVATION_SCALED_TANH_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "Alpha * tanh(Beta * x)", kACTIVATION_SCALED_TANH_fields, kACTIVATION_SCALED_TANH_same, kACTIVATION_SCALED_TANH_support, {}},
    {"ACTIVATION_SIGMOID", 47, "DML_ACTIVATION_SIGMOID_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "1 / (1 + exp(-x))", kACTIVATION_SIGMOID_fields, kACTIVATION_SIGMOID_same, kACTIVATION_SIGMOID_support, {}},
    {"ACTIVATION_SOFTMAX", 48, "DML_ACTIVATION_SOFTMAX_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::none, "exp(x_i) / sum_j(exp(x_j))   along the last dimension of the effective 2-D tensor", kACTIVATION_SOFTMAX_fields, kACTIVATION_SOFTMAX_same, kACTIVATION_SOFTMAX_support, kACTIVATION_SOFTMAX_constraints},
    {"ACTIVATION_SOFTPLUS", 49, "DML_ACTIVATION_SOFTPLUS_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "ln(1 + exp(Steepness * x)) / Steepness", kACTIVATION_SOFTPLUS_fields, kACTIVATION_SOFTPLUS_same, kACTIVATION_SOFTPLUS_support, kACTIVATION_SOFTPLUS_constraints},
    {"ACTIVATION_SOFTSIGN", 50, "DML_ACTIVATION_SOFTSIGN_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "x / (1 + abs(x))", kACTIVATION_SOFTSIGN_fields, kACTIVATION_SOFTSIGN_same, kACTIVATION_SOFTSIGN_support, {}},
    {"ACTIVATION_TANH", 51, "DML_ACTIVATION_TANH_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::first_input, "(1 - exp(-2 * x)) / (1 + exp(-2 * x))", kACTIVATION_TANH_fields, kACTIVATION_TANH_same, kACTIVATION_TANH_support, {}},
    {"ACTIVATION_THRESHOLDED_RELU", 52, "DML_ACTIVATION_THRESHOLDED_RELU_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::first_input, "x > Alpha ? x : 0", kACTIVATION_THRESHOLDED_RELU_fields, kACTIVATION_THRESHOLDED_RELU_same, kACTIVATION_THRESHOLDED_RELU_support, {}},
    {"CONVOLUTION", 53, "DML_CONVOLUTION_OPERATOR_DESC", 104, FeatureLevel::v1_0, InPlace::none, "FusedActivation(conv(Input, Filter) + Bias broadcast per output channel)", kCONVOLUTION_fields, kCONVOLUTION_same, kCONVOLUTION_support, kCONVOLUTION_constraints},
    {"GEMM", 54, "DML_GEMM_OPERATOR_DESC", 56, FeatureLevel::v1_0, InPlace::none, "FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C)", kGEMM_fields, kGEMM_same, kGEMM_support, kGEMM_constraints},
    {"REDUCE", 55, "DML_REDUCE_OPERATOR_DESC", 40, FeatureLevel::v1_0, InPlace::none, "ARGMAX/ARGMIN: index; AVERAGE: sum(x)/n; L1: sum|x|; L2: sqrt(sum x^2); LOG_SUM: ln(sum x); LOG_SUM_EXP: ln(sum exp(x)); MAX; MIN; MULTIPLY: prod x; SUM: sum x; SUM_SQUARE: sum x^2 - over Axes", kREDUCE_fields, kREDUCE_same, kREDUCE_support, kREDUCE_constraints},
    {"AVERAGE_POOLING", 56, "DML_AVERAGE_POOLING_OPERATOR_DESC", 64, FeatureLevel::v1_0, InPlace::none, "sum(window) / n   n = window elements (IncludePadding) or non-padding window elements", kAVERAGE_POOLING_fields, kAVERAGE_POOLING_same, kAVERAGE_POOLING_support, kAVERAGE_POOLING_constraints},
    {"LP_POOLING", 57, "DML_LP_POOLING_OPERATOR_DESC", 64, FeatureLevel::v1_0, InPlace::none, "(X1^P + ... + Xn^P)^(1/P) over the window", kLP_POOLING_fields, kLP_POOLING_same, kLP_POOLING_support, kLP_POOLING_constraints},
    {"MAX_POOLING", 58, "DML_MAX_POOLING_OPERATOR_DESC", 56, FeatureLevel::v1_0, InPlace::none, "max(window)", kMAX_POOLING_fields, kMAX_POOLING_same, kMAX_POOLING_support, kMAX_POOLING_constraints},
    {"ROI_POOLING", 59, "DML_ROI_POOLING_OPERATOR_DESC", 40, FeatureLevel::v1_0, InPlace::none, "x = round(RoiX * SpatialScale) (same for y); H = y2-y1+1; W = x2-x1+1; StartY = Y*H/PooledSize.Height + y1; EndY = ((Y+1)*H + PooledSize.Height-1)/PooledSize.Height + y1 (same for X); out = max(region)", kROI_POOLING_fields, kROI_POOLING_same, kROI_POOLING_support, kROI_POOLING_constraints},
    {"SLICE", 60, "DML_SLICE_OPERATOR_DESC", 48, FeatureLevel::v1_0, InPlace::none, "out[c] = input[Offsets + Strides * c]", kSLICE_fields, kSLICE_same, kSLICE_support, kSLICE_constraints},
    {"CAST", 61, "DML_CAST_OPERATOR_DESC", 16, FeatureLevel::v1_0, InPlace::none, "out = (OutputTensor.DataType) x", kCAST_fields, kCAST_same, kCAST_support, kCAST_constraints},
    {"SPLIT", 62, "DML_SPLIT_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "OutputTensors = consecutive pieces of InputTensor along Axis", kSPLIT_fields, kSPLIT_same, kSPLIT_support, kSPLIT_constraints},
    {"JOIN", 63, "DML_JOIN_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "out = concatenation of InputTensors along Axis", kJOIN_fields, kJOIN_same, kJOIN_support, kJOIN_constraints},
    {"PADDING", 64, "DML_PADDING_OPERATOR_DESC", 48, FeatureLevel::v1_0, InPlace::none, "out[c] = input[c - StartPadding] inside, PaddingMode value outside", kPADDING_fields, kPADDING_same, kPADDING_support, kPADDING_constraints},
    {"VALUE_SCALE_2D", 65, "DML_VALUE_SCALE_2D_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "Scale * x + Bias[channel]", kVALUE_SCALE_2D_fields, kVALUE_SCALE_2D_same, kVALUE_SCALE_2D_support, kVALUE_SCALE_2D_constraints},
    {"UPSAMPLE_2D", 66, "DML_UPSAMPLE_2D_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "", kUPSAMPLE_2D_fields, kUPSAMPLE_2D_same, kUPSAMPLE_2D_support, kUPSAMPLE_2D_constraints},
    {"GATHER", 67, "DML_GATHER_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "out[lead, k..., trail] = input[lead, indices[k...], trail]   (split at Axis)", kGATHER_fields, kGATHER_same, kGATHER_support, kGATHER_constraints},
    {"SPACE_TO_DEPTH", 68, "DML_SPACE_TO_DEPTH_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::none, "order DEPTH_COLUMN_ROW: [N,C,(H,BH),(W,BW)] -> [N,(BH,BW,C),H,W]", kSPACE_TO_DEPTH_fields, kSPACE_TO_DEPTH_same, kSPACE_TO_DEPTH_support, kSPACE_TO_DEPTH_constraints},
    {"DEPTH_TO_SPACE", 69, "DML_DEPTH_TO_SPACE_OPERATOR_DESC", 24, FeatureLevel::v1_0, InPlace::none, "order DEPTH_COLUMN_ROW: [N,(BH,BW,C),H,W] -> [N,C,(H,BH),(W,BW)]", kDEPTH_TO_SPACE_fields, kDEPTH_TO_SPACE_same, kDEPTH_TO_SPACE_support, kDEPTH_TO_SPACE_constraints},
    {"TILE", 70, "DML_TILE_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "out[c] = input[c mod InputTensor.Sizes]", kTILE_fields, kTILE_same, kTILE_support, kTILE_constraints},
    {"TOP_K", 71, "DML_TOP_K_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "K largest along Axis, sorted descending, with their indices", kTOP_K_fields, kTOP_K_same, kTOP_K_support, kTOP_K_constraints},
    {"BATCH_NORMALIZATION", 72, "DML_BATCH_NORMALIZATION_OPERATOR_DESC", 64, FeatureLevel::v1_0, InPlace::none, "FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias)", kBATCH_NORMALIZATION_fields, kBATCH_NORMALIZATION_same, kBATCH_NORMALIZATION_support, kBATCH_NORMALIZATION_constraints},
    {"MEAN_VARIANCE_NORMALIZATION", 73, "DML_MEAN_VARIANCE_NORMALIZATION_OPERATOR_DESC", 56, FeatureLevel::v1_0, InPlace::none, "FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias); NormalizeVariance FALSE: FusedActivation(Scale * (Input - Mean) + Bias)", kMEAN_VARIANCE_NORMALIZATION_fields, kMEAN_VARIANCE_NORMALIZATION_same, kMEAN_VARIANCE_NORMALIZATION_support, kMEAN_VARIANCE_NORMALIZATION_constraints},
    {"LOCAL_RESPONSE_NORMALIZATION", 74, "DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC", 40, FeatureLevel::v1_0, InPlace::none, "Input / (Bias + (Alpha / LocalSize) * sum(Input^2 over the local region))^Beta", kLOCAL_RESPONSE_NORMALIZATION_fields, kLOCAL_RESPONSE_NORMALIZATION_same, kLOCAL_RESPONSE_NORMALIZATION_support, kLOCAL_RESPONSE_NORMALIZATION_constraints},
    {"LP_NORMALIZATION", 75, "DML_LP_NORMALIZATION_OPERATOR_DESC", 32, FeatureLevel::v1_0, InPlace::none, "", kLP_NORMALIZATION_fields, kLP_NORMALIZATION_same, kLP_NORMALIZATION_support, kLP_NORMALIZATION_constraints},
    {"RNN", 76, "DML_RNN_OPERATOR_DESC", 88, FeatureLevel::v1_0, InPlace::none, "Ht = f(Xt*Wi^T + H(t-1)*Ri^T + Wbi + Rbi); t ascending forward, descending backward with the B weights", kRNN_fields, kRNN_same, kRNN_support, kRNN_constraints},
    {"LSTM", 77, "DML_LSTM_OPERATOR_DESC", 120, FeatureLevel::v1_0, InPlace::none, "it = f(clip(Xt*Wi^T + H(t-1)*Ri^T + Pi.C(t-1) + Wbi + Rbi)); CoupleInputForget==0: ft = f(clip(Xt*Wf^T + H(t-1)*Rf^T + Pf.C(t-1) + Wbf + Rbf)), else ft = 1 - it; ct = g(clip(Xt*Wc^T + H(t-1)*Rc^T + Wbc + Rbc)); Ct = ft.C(t-1) + it.ct; ot = f(clip(Xt*Wo^T + H(t-1)*Ro^T + Po.Ct + Wbo + Rbo)); Ht = ot.h(Ct); t ascending forward, descending backward with the B weights", kLSTM_fields, kLSTM_same, kLSTM_support, kLSTM_constraints},
    {"GRU", 78, "DML_GRU_OPERATOR_DESC", 88, FeatureLevel::v1_0, InPlace::none, "zt = f(Xt*Wz^T + H(t-1)*Rz^T + Wbz + Rbz); rt = f(Xt*Wr^T + H(t-1)*Rr^T + Wbr + Rbr); LinearBeforeReset==0: ht = g(Xt*Wh^T + (rt.H(t-1))*Rh^T + Wbh + Rbh), else ht = g(Xt*Wh^T + (rt.(H(t-1)*Rh^T + Rbh)) + Wbh); Ht = (1-zt).ht + zt.H(t-1); t ascending forward, descending backward with the B weights", kGRU_fields, kGRU_same, kGRU_support, kGRU_constraints},
    {"ELEMENT_WISE_SIGN", 79, "DML_ELEMENT_WISE_SIGN_OPERATOR_DESC", 16, FeatureLevel::v2_0, InPlace::first_input, "x < 0 ? -1 : (x > 0 ? 1 : 0)   (-0.0 gives 0)", kELEMENT_WISE_SIGN_fields, kELEMENT_WISE_SIGN_same, kELEMENT_WISE_SIGN_support, {}},
    {"ELEMENT_WISE_IS_NAN", 80, "DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC", 16, FeatureLevel::v2_0, InPlace::none, "isnan(x) ? 1 : 0", kELEMENT_WISE_IS_NAN_fields, kELEMENT_WISE_IS_NAN_same, kELEMENT_WISE_IS_NAN_support, {}},
    {"ELEMENT_WISE_ERF", 81, "DML_ELEMENT_WISE_ERF_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "2 / sqrt(pi) * integrate( i = 0 to x, exp(-(i^2)) )", kELEMENT_WISE_ERF_fields, kELEMENT_WISE_ERF_same, kELEMENT_WISE_ERF_support, {}},
    {"ELEMENT_WISE_SINH", 82, "DML_ELEMENT_WISE_SINH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "sinh(x)", kELEMENT_WISE_SINH_fields, kELEMENT_WISE_SINH_same, kELEMENT_WISE_SINH_support, {}},
    {"ELEMENT_WISE_COSH", 83, "DML_ELEMENT_WISE_COSH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "cosh(x)", kELEMENT_WISE_COSH_fields, kELEMENT_WISE_COSH_same, kELEMENT_WISE_COSH_support, {}},
    {"ELEMENT_WISE_TANH", 84, "DML_ELEMENT_WISE_TANH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "tanh(x)", kELEMENT_WISE_TANH_fields, kELEMENT_WISE_TANH_same, kELEMENT_WISE_TANH_support, {}},
    {"ELEMENT_WISE_ASINH", 85, "DML_ELEMENT_WISE_ASINH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "asinh(x)", kELEMENT_WISE_ASINH_fields, kELEMENT_WISE_ASINH_same, kELEMENT_WISE_ASINH_support, {}},
    {"ELEMENT_WISE_ACOSH", 86, "DML_ELEMENT_WISE_ACOSH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "acosh(x)", kELEMENT_WISE_ACOSH_fields, kELEMENT_WISE_ACOSH_same, kELEMENT_WISE_ACOSH_support, {}},
    {"ELEMENT_WISE_ATANH", 87, "DML_ELEMENT_WISE_ATANH_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "atanh(x)", kELEMENT_WISE_ATANH_fields, kELEMENT_WISE_ATANH_same, kELEMENT_WISE_ATANH_support, {}},
    {"ELEMENT_WISE_IF", 88, "DML_ELEMENT_WISE_IF_OPERATOR_DESC", 32, FeatureLevel::v2_0, InPlace::none, "cond != 0 ? a : b", kELEMENT_WISE_IF_fields, kELEMENT_WISE_IF_same, kELEMENT_WISE_IF_support, {}},
    {"ELEMENT_WISE_ADD1", 89, "DML_ELEMENT_WISE_ADD1_OPERATOR_DESC", 32, FeatureLevel::v2_0, InPlace::any_input, "FusedActivation(a + b)", kELEMENT_WISE_ADD1_fields, kELEMENT_WISE_ADD1_same, kELEMENT_WISE_ADD1_support, kELEMENT_WISE_ADD1_constraints},
    {"ACTIVATION_SHRINK", 90, "DML_ACTIVATION_SHRINK_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::first_input, "x > Threshold ? x - Bias : (x < -Threshold ? x + Bias : 0)", kACTIVATION_SHRINK_fields, kACTIVATION_SHRINK_same, kACTIVATION_SHRINK_support, {}},
    {"MAX_POOLING1", 91, "DML_MAX_POOLING1_OPERATOR_DESC", 64, FeatureLevel::v2_0, InPlace::none, "max(window); OutputIndices = linear index of it in InputTensor", kMAX_POOLING1_fields, kMAX_POOLING1_same, kMAX_POOLING1_support, kMAX_POOLING1_constraints},
    {"MAX_UNPOOLING", 92, "DML_MAX_UNPOOLING_OPERATOR_DESC", 24, FeatureLevel::v2_0, InPlace::none, "out = 0; out[indices[c]] = input[c]   (linear indices into OutputTensor)", kMAX_UNPOOLING_fields, kMAX_UNPOOLING_same, kMAX_UNPOOLING_support, {}},
    {"DIAGONAL_MATRIX", 93, "DML_DIAGONAL_MATRIX_OPERATOR_DESC", 16, FeatureLevel::v2_0, InPlace::none, "out[..., y, x] = (y + Offset == x) ? Value : 0", kDIAGONAL_MATRIX_fields, {}, kDIAGONAL_MATRIX_support, {}},
    {"SCATTER_ELEMENTS", 94, "DML_SCATTER_ELEMENTS_OPERATOR_DESC", 40, FeatureLevel::v2_0, InPlace::none, "out = input; out[c with coordinate Axis replaced by indices[c]] = updates[c]", kSCATTER_ELEMENTS_fields, kSCATTER_ELEMENTS_same, kSCATTER_ELEMENTS_support, kSCATTER_ELEMENTS_constraints},
    {"ONE_HOT", 95, "DML_ONE_HOT_OPERATOR_DESC", 32, FeatureLevel::v2_0, InPlace::none, "out[c] = (c[Axis] == indices[c with Axis 0]) ? OnValue : OffValue", kONE_HOT_fields, kONE_HOT_same, kONE_HOT_support, kONE_HOT_constraints},
    {"RESAMPLE", 96, "DML_RESAMPLE_OPERATOR_DESC", 32, FeatureLevel::v2_0, InPlace::none, "OutputX = (InputX + 0.5) * Scale - 0.5", kRESAMPLE_fields, kRESAMPLE_same, kRESAMPLE_support, kRESAMPLE_constraints},
    {"ELEMENT_WISE_BIT_SHIFT_LEFT", 97, "DML_ELEMENT_WISE_BIT_SHIFT_LEFT_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::one_input, "(a << b)", kELEMENT_WISE_BIT_SHIFT_LEFT_fields, kELEMENT_WISE_BIT_SHIFT_LEFT_same, kELEMENT_WISE_BIT_SHIFT_LEFT_support, {}},
    {"ELEMENT_WISE_BIT_SHIFT_RIGHT", 98, "DML_ELEMENT_WISE_BIT_SHIFT_RIGHT_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::one_input, "(a >> b)", kELEMENT_WISE_BIT_SHIFT_RIGHT_fields, kELEMENT_WISE_BIT_SHIFT_RIGHT_same, kELEMENT_WISE_BIT_SHIFT_RIGHT_support, {}},
    {"ELEMENT_WISE_ROUND", 99, "DML_ELEMENT_WISE_ROUND_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::first_input, "HALVES_TO_NEAREST_EVEN: round to nearest, ties to even; TOWARD_ZERO: truncate; TOWARD_INFINITY: round to nearest, ties away from zero", kELEMENT_WISE_ROUND_fields, kELEMENT_WISE_ROUND_same, kELEMENT_WISE_ROUND_support, {}},
    {"ELEMENT_WISE_IS_INFINITY", 100, "DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::none, "isinf(x) && (InfinityMode == EITHER || (InfinityMode == POSITIVE && x > 0) || (InfinityMode == NEGATIVE && x < 0)) ? 1 : 0", kELEMENT_WISE_IS_INFINITY_fields, kELEMENT_WISE_IS_INFINITY_same, kELEMENT_WISE_IS_INFINITY_support, {}},
    {"ELEMENT_WISE_MODULUS_TRUNCATE", 101, "DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::one_input, "a - (b * trunc(a / b))", kELEMENT_WISE_MODULUS_TRUNCATE_fields, kELEMENT_WISE_MODULUS_TRUNCATE_same, kELEMENT_WISE_MODULUS_TRUNCATE_support, {}},
    {"ELEMENT_WISE_MODULUS_FLOOR", 102, "DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::one_input, "a - (b * floor(a / b))", kELEMENT_WISE_MODULUS_FLOOR_fields, kELEMENT_WISE_MODULUS_FLOOR_same, kELEMENT_WISE_MODULUS_FLOOR_support, {}},
    {"FILL_VALUE_CONSTANT", 103, "DML_FILL_VALUE_CONSTANT_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::none, "out[c] = Value", kFILL_VALUE_CONSTANT_fields, {}, kFILL_VALUE_CONSTANT_support, kFILL_VALUE_CONSTANT_constraints},
    {"FILL_VALUE_SEQUENCE", 104, "DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC", 32, FeatureLevel::v2_1, InPlace::none, "out[i] = ValueStart + i * ValueDelta   (i = element index)", kFILL_VALUE_SEQUENCE_fields, {}, kFILL_VALUE_SEQUENCE_support, kFILL_VALUE_SEQUENCE_constraints},
    {"CUMULATIVE_SUMMATION", 105, "DML_CUMULATIVE_SUMMATION_OPERATOR_DESC", 32, FeatureLevel::v2_1, InPlace::first_input, "out[i] = sum(x[j], j <= i along Axis in AxisDirection); exclusive: j < i, first = 0", kCUMULATIVE_SUMMATION_fields, kCUMULATIVE_SUMMATION_same, kCUMULATIVE_SUMMATION_support, kCUMULATIVE_SUMMATION_constraints},
    {"REVERSE_SUBSEQUENCES", 106, "DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC", 32, FeatureLevel::v2_1, InPlace::none, "first len elements along Axis reversed, the rest copied", kREVERSE_SUBSEQUENCES_fields, kREVERSE_SUBSEQUENCES_same, kREVERSE_SUBSEQUENCES_support, kREVERSE_SUBSEQUENCES_constraints},
    {"GATHER_ELEMENTS", 107, "DML_GATHER_ELEMENTS_OPERATOR_DESC", 32, FeatureLevel::v2_1, InPlace::none, "out[c] = input[c with coordinate Axis replaced by indices[c]]", kGATHER_ELEMENTS_fields, kGATHER_ELEMENTS_same, kGATHER_ELEMENTS_support, kGATHER_ELEMENTS_constraints},
    {"GATHER_ND", 108, "DML_GATHER_ND_OPERATOR_DESC", 32, FeatureLevel::v2_1, InPlace::none, "out[k..., trail] = input[indices[k..., :], trail]", kGATHER_ND_fields, kGATHER_ND_same, kGATHER_ND_support, kGATHER_ND_constraints},
    {"SCATTER_ND", 109, "DML_SCATTER_ND_OPERATOR_DESC", 40, FeatureLevel::v2_1, InPlace::none, "out = input; out[indices[k..., :], trail] = updates[k..., trail]", kSCATTER_ND_fields, kSCATTER_ND_same, kSCATTER_ND_support, kSCATTER_ND_constraints},
    {"MAX_POOLING2", 110, "DML_MAX_POOLING2_OPERATOR_DESC", 72, FeatureLevel::v2_1, InPlace::none, "max(dilated window); OutputIndices = linear index of it in InputTensor", kMAX_POOLING2_fields, kMAX_POOLING2_same, kMAX_POOLING2_support, kMAX_POOLING2_constraints},
    {"SLICE1", 111, "DML_SLICE1_OPERATOR_DESC", 48, FeatureLevel::v2_1, InPlace::none, "start[i] = InputWindowOffsets[i] + (InputWindowStrides[i] < 0 ? InputWindowSizes[i] - 1 : 0); out[c] = input[start + InputWindowStrides * c]", kSLICE1_fields, kSLICE1_same, kSLICE1_support, kSLICE1_constraints},
    {"TOP_K1", 112, "DML_TOP_K1_OPERATOR_DESC", 40, FeatureLevel::v2_1, InPlace::none, "K smallest ascending (AxisDirection INCREASING) or K largest descending (DECREASING) along Axis, with their indices", kTOP_K1_fields, kTOP_K1_same, kTOP_K1_support, kTOP_K1_constraints},
    {"DEPTH_TO_SPACE1", 113, "DML_DEPTH_TO_SPACE1_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::none, "DEPTH_COLUMN_ROW: [N,(BH,BW,C),H,W] -> [N,C,(H,BH),(W,BW)]; COLUMN_ROW_DEPTH: [N,(C,BH,BW),H,W] -> [N,C,(H,BH),(W,BW)]", kDEPTH_TO_SPACE1_fields, kDEPTH_TO_SPACE1_same, kDEPTH_TO_SPACE1_support, kDEPTH_TO_SPACE1_constraints},
    {"SPACE_TO_DEPTH1", 114, "DML_SPACE_TO_DEPTH1_OPERATOR_DESC", 24, FeatureLevel::v2_1, InPlace::none, "DEPTH_COLUMN_ROW: [N,C,(H,BH),(W,BW)] -> [N,(BH,BW,C),H,W]; COLUMN_ROW_DEPTH: -> [N,(C,BH,BW),H,W]", kSPACE_TO_DEPTH1_fields, kSPACE_TO_DEPTH1_same, kSPACE_TO_DEPTH1_support, kSPACE_TO_DEPTH1_constraints},
    {"MEAN_VARIANCE_NORMALIZATION1", 115, "DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC", 64, FeatureLevel::v2_1, InPlace::none, "FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias); NormalizeVariance FALSE: FusedActivation(Scale * (Input - Mean) + Bias)", kMEAN_VARIANCE_NORMALIZATION1_fields, kMEAN_VARIANCE_NORMALIZATION1_same, kMEAN_VARIANCE_NORMALIZATION1_support, kMEAN_VARIANCE_NORMALIZATION1_constraints},
    {"RESAMPLE1", 116, "DML_RESAMPLE1_OPERATOR_DESC", 48, FeatureLevel::v2_1, InPlace::none, "OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset", kRESAMPLE1_fields, kRESAMPLE1_same, kRESAMPLE1_support, kRESAMPLE1_constraints},
    {"MATRIX_MULTIPLY_INTEGER", 117, "DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC", 40, FeatureLevel::v2_1, InPlace::none, "(A - AZeroPoint) x (B - BZeroPoint)", kMATRIX_MULTIPLY_INTEGER_fields, kMATRIX_MULTIPLY_INTEGER_same, kMATRIX_MULTIPLY_INTEGER_support, kMATRIX_MULTIPLY_INTEGER_constraints},
    {"QUANTIZED_LINEAR_MATRIX_MULTIPLY", 118, "DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC", 72, FeatureLevel::v2_1, InPlace::none, "deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) + ZeroPoint, Min, Max); out = q(deq(A) x deq(B))", kQUANTIZED_LINEAR_MATRIX_MULTIPLY_fields, kQUANTIZED_LINEAR_MATRIX_MULTIPLY_same, kQUANTIZED_LINEAR_MATRIX_MULTIPLY_support, kQUANTIZED_LINEAR_MATRIX_MULTIPLY_constraints},
    {"CONVOLUTION_INTEGER", 119, "DML_CONVOLUTION_INTEGER_OPERATOR_DESC", 88, FeatureLevel::v2_1, InPlace::none, "conv(Input - InputZeroPoint, Filter - FilterZeroPoint), forward", kCONVOLUTION_INTEGER_fields, kCONVOLUTION_INTEGER_same, kCONVOLUTION_INTEGER_support, kCONVOLUTION_INTEGER_constraints},
    {"QUANTIZED_LINEAR_CONVOLUTION", 120, "DML_QUANTIZED_LINEAR_CONVOLUTION_OPERATOR_DESC", 128, FeatureLevel::v2_1, InPlace::none, "deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) + ZeroPoint, Min, Max); out = q(conv(deq(Input), deq(Filter)) + Bias), forward", kQUANTIZED_LINEAR_CONVOLUTION_fields, kQUANTIZED_LINEAR_CONVOLUTION_same, kQUANTIZED_LINEAR_CONVOLUTION_support, kQUANTIZED_LINEAR_CONVOLUTION_constraints},
    {"ELEMENT_WISE_BIT_AND", 121, "DML_ELEMENT_WISE_BIT_AND_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::any_input, "a & b", kELEMENT_WISE_BIT_AND_fields, kELEMENT_WISE_BIT_AND_same, kELEMENT_WISE_BIT_AND_support, {}},
    {"ELEMENT_WISE_BIT_OR", 122, "DML_ELEMENT_WISE_BIT_OR_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::any_input, "a | b", kELEMENT_WISE_BIT_OR_fields, kELEMENT_WISE_BIT_OR_same, kELEMENT_WISE_BIT_OR_support, {}},
    {"ELEMENT_WISE_BIT_XOR", 123, "DML_ELEMENT_WISE_BIT_XOR_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::any_input, "a ^ b", kELEMENT_WISE_BIT_XOR_fields, kELEMENT_WISE_BIT_XOR_same, kELEMENT_WISE_BIT_XOR_support, {}},
    {"ELEMENT_WISE_BIT_NOT", 124, "DML_ELEMENT_WISE_BIT_NOT_OPERATOR_DESC", 16, FeatureLevel::v3_0, InPlace::first_input, "~x", kELEMENT_WISE_BIT_NOT_fields, kELEMENT_WISE_BIT_NOT_same, kELEMENT_WISE_BIT_NOT_support, {}},
    {"ELEMENT_WISE_BIT_COUNT", 125, "DML_ELEMENT_WISE_BIT_COUNT_OPERATOR_DESC", 16, FeatureLevel::v3_0, InPlace::none, "popcount(x)", kELEMENT_WISE_BIT_COUNT_fields, kELEMENT_WISE_BIT_COUNT_same, kELEMENT_WISE_BIT_COUNT_support, {}},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", 126, "DML_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::none, "(a >= b)", kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_fields, kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_same, kELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL_support, {}},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", 127, "DML_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::none, "(a <= b)", kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_fields, kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_same, kELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL_support, {}},
    {"ACTIVATION_CELU", 128, "DML_ACTIVATION_CELU_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::first_input, "max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1))", kACTIVATION_CELU_fields, kACTIVATION_CELU_same, kACTIVATION_CELU_support, {}},
    {"ACTIVATION_RELU_GRAD", 129, "DML_ACTIVATION_RELU_GRAD_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::none, "x > 0 ? dY : 0   (x = InputTensor, dY = InputGradientTensor)", kACTIVATION_RELU_GRAD_fields, kACTIVATION_RELU_GRAD_same, kACTIVATION_RELU_GRAD_support, {}},
    {"AVERAGE_POOLING_GRAD", 130, "DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC", 64, FeatureLevel::v3_0, InPlace::none, "each gradient element is divided by its window divisor and added to every input position of its window", kAVERAGE_POOLING_GRAD_fields, kAVERAGE_POOLING_GRAD_same, kAVERAGE_POOLING_GRAD_support, kAVERAGE_POOLING_GRAD_constraints},
    {"MAX_POOLING_GRAD", 131, "DML_MAX_POOLING_GRAD_OPERATOR_DESC", 72, FeatureLevel::v3_0, InPlace::none, "each gradient element is added at the position of its window maximum; all other elements 0", kMAX_POOLING_GRAD_fields, kMAX_POOLING_GRAD_same, kMAX_POOLING_GRAD_support, kMAX_POOLING_GRAD_constraints},
    {"RANDOM_GENERATOR", 132, "DML_RANDOM_GENERATOR_OPERATOR_DESC", 32, FeatureLevel::v3_0, InPlace::none, "Philox 4x32-10 bits from the counter and key in InputStateTensor; counter += ceil(outputElements / 4)", kRANDOM_GENERATOR_fields, kRANDOM_GENERATOR_same, kRANDOM_GENERATOR_support, kRANDOM_GENERATOR_constraints},
    {"NONZERO_COORDINATES", 133, "DML_NONZERO_COORDINATES_OPERATOR_DESC", 24, FeatureLevel::v3_0, InPlace::none, "rows of OutputCoordinates = coordinates of non-zero elements in ascending element order; OutputCount = their number", kNONZERO_COORDINATES_fields, {}, kNONZERO_COORDINATES_support, kNONZERO_COORDINATES_constraints},
    {"RESAMPLE_GRAD", 134, "DML_RESAMPLE_GRAD_OPERATOR_DESC", 48, FeatureLevel::v3_0, InPlace::none, "transpose of RESAMPLE1: each gradient element is added, weighted, to the input elements it was sampled from", kRESAMPLE_GRAD_fields, kRESAMPLE_GRAD_same, kRESAMPLE_GRAD_support, kRESAMPLE_GRAD_constraints},
    {"SLICE_GRAD", 135, "DML_SLICE_GRAD_OPERATOR_DESC", 48, FeatureLevel::v3_0, InPlace::none, "out = 0; out[start + InputWindowStrides * c] = gradient[c], start as in SLICE1", kSLICE_GRAD_fields, kSLICE_GRAD_same, kSLICE_GRAD_support, kSLICE_GRAD_constraints},
    {"ADAM_OPTIMIZER", 136, "DML_ADAM_OPTIMIZER_OPERATOR_DESC", 80, FeatureLevel::v3_0, InPlace::each_output_but_training_step, "M' = Beta1*M + (1-Beta1)*G; V' = Beta2*V + (1-Beta2)*G*G; a = sqrt(1 - pow(Beta2,T)) / (1 - pow(Beta1,T)); X' = X - LearningRate * a * M' / (sqrt(V') + Epsilon); outputs X', M', V'", kADAM_OPTIMIZER_fields, kADAM_OPTIMIZER_same, kADAM_OPTIMIZER_support, kADAM_OPTIMIZER_constraints},
    {"ARGMIN", 137, "DML_ARGMIN_OPERATOR_DESC", 40, FeatureLevel::v3_0, InPlace::none, "index of the minimum over Axes, counted within the reduced axes", kARGMIN_fields, kARGMIN_same, kARGMIN_support, kARGMIN_constraints},
    {"ARGMAX", 138, "DML_ARGMAX_OPERATOR_DESC", 40, FeatureLevel::v3_0, InPlace::none, "index of the maximum over Axes, counted within the reduced axes", kARGMAX_fields, kARGMAX_same, kARGMAX_support, kARGMAX_constraints},
    {"ROI_ALIGN", 139, "DML_ROI_ALIGN_OPERATOR_DESC", 64, FeatureLevel::v3_0, InPlace::none, "", kROI_ALIGN_fields, kROI_ALIGN_same, kROI_ALIGN_support, kROI_ALIGN_constraints},
    {"GATHER_ND1", 140, "DML_GATHER_ND1_OPERATOR_DESC", 40, FeatureLevel::v3_0, InPlace::none, "out[batch, k..., trail] = input[batch, indices[batch, k..., :], trail]", kGATHER_ND1_fields, kGATHER_ND1_same, kGATHER_ND1_support, kGATHER_ND1_constraints},
    {"ELEMENT_WISE_ATAN_YX", 141, "DML_ELEMENT_WISE_ATAN_YX_OPERATOR_DESC", 24, FeatureLevel::v3_1, InPlace::one_input, "atan2(a, b)", kELEMENT_WISE_ATAN_YX_fields, kELEMENT_WISE_ATAN_YX_same, kELEMENT_WISE_ATAN_YX_support, kELEMENT_WISE_ATAN_YX_constraints},
    {"ELEMENT_WISE_CLIP_GRAD", 142, "DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC", 32, FeatureLevel::v3_1, InPlace::first_input, "(x <= Min || x >= Max) ? 0 : gradient", kELEMENT_WISE_CLIP_GRAD_fields, kELEMENT_WISE_CLIP_GRAD_same, kELEMENT_WISE_CLIP_GRAD_support, {}},
    {"ELEMENT_WISE_DIFFERENCE_SQUARE", 143, "DML_ELEMENT_WISE_DIFFERENCE_SQUARE_OPERATOR_DESC", 24, FeatureLevel::v3_1, InPlace::one_input, "(a - b) * (a - b)", kELEMENT_WISE_DIFFERENCE_SQUARE_fields, kELEMENT_WISE_DIFFERENCE_SQUARE_same, kELEMENT_WISE_DIFFERENCE_SQUARE_support, {}},
    {"LOCAL_RESPONSE_NORMALIZATION_GRAD", 144, "DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC", 48, FeatureLevel::v3_1, InPlace::none, "", kLOCAL_RESPONSE_NORMALIZATION_GRAD_fields, kLOCAL_RESPONSE_NORMALIZATION_GRAD_same, kLOCAL_RESPONSE_NORMALIZATION_GRAD_support, kLOCAL_RESPONSE_NORMALIZATION_GRAD_constraints},
    {"CUMULATIVE_PRODUCT", 145, "DML_CUMULATIVE_PRODUCT_OPERATOR_DESC", 32, FeatureLevel::v3_1, InPlace::first_input, "out[i] = prod(x[j], j <= i along Axis in AxisDirection); exclusive: j < i, first = 1", kCUMULATIVE_PRODUCT_fields, kCUMULATIVE_PRODUCT_same, kCUMULATIVE_PRODUCT_support, kCUMULATIVE_PRODUCT_constraints},
    {"BATCH_NORMALIZATION_GRAD", 146, "DML_BATCH_NORMALIZATION_GRAD_OPERATOR_DESC", 72, FeatureLevel::v3_1, InPlace::none, "OutputGradient = InputGradient * (Scale / sqrt(Variance + Epsilon)); OutputScaleGradient = sum(InputGradient * (Input - Mean) / sqrt(Variance + Epsilon)); OutputBiasGradient = sum(InputGradient)", kBATCH_NORMALIZATION_GRAD_fields, kBATCH_NORMALIZATION_GRAD_same, kBATCH_NORMALIZATION_GRAD_support, {}},
    {"ELEMENT_WISE_QUANTIZED_LINEAR_ADD", 147, "DML_ELEMENT_WISE_QUANTIZED_LINEAR_ADD_OPERATOR_DESC", 72, FeatureLevel::v4_0, InPlace::none, "v = (A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale; out = clamp(round(v / OutputScale) + OutputZeroPoint, Min, Max); UINT8: Min 0 Max 255; INT8: Min -128 Max 127", kELEMENT_WISE_QUANTIZED_LINEAR_ADD_fields, kELEMENT_WISE_QUANTIZED_LINEAR_ADD_same, kELEMENT_WISE_QUANTIZED_LINEAR_ADD_support, kELEMENT_WISE_QUANTIZED_LINEAR_ADD_constraints},
    {"DYNAMIC_QUANTIZE_LINEAR", 148, "DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC", 32, FeatureLevel::v4_0, InPlace::none, "OutputScale = (max(x) - min(x)) / (Max - Min); OutputZeroPoint = Min - min(x) / OutputScale; out = clamp(round(x / OutputScale) + OutputZeroPoint, Min, Max); UINT8: Min 0 Max 255; INT8: Min -128 Max 127", kDYNAMIC_QUANTIZE_LINEAR_fields, kDYNAMIC_QUANTIZE_LINEAR_same, kDYNAMIC_QUANTIZE_LINEAR_support, kDYNAMIC_QUANTIZE_LINEAR_constraints},
    {"ROI_ALIGN1", 149, "DML_ROI_ALIGN1_OPERATOR_DESC", 72, FeatureLevel::v4_0, InPlace::none, "r1,r2 = ROI corners * SpatialScale; n = clamp((r2 - r1) / outSize, MinimumSamplesPerOutput, MaximumSamplesPerOutput); step = (r2 - r1) / (outSize * n); sample s: in = (s - OutputPixelOffset) * step + r1 - InputPixelOffset; out = reduce(interpolate(in)) over the n samples per axis of the output element", kROI_ALIGN1_fields, kROI_ALIGN1_same, kROI_ALIGN1_support, kROI_ALIGN1_constraints},
    {"ROI_ALIGN_GRAD", 150, "DML_ROI_ALIGN_GRAD_OPERATOR_DESC", 88, FeatureLevel::v4_1, InPlace::none, "OutputGradient: transpose of ROI_ALIGN1; OutputROIGradient: bilinear image gradients * incoming gradient, weighted by distance to each ROI corner (see DirectML's documentation of this operator for the exact sums)", kROI_ALIGN_GRAD_fields, kROI_ALIGN_GRAD_same, kROI_ALIGN_GRAD_support, kROI_ALIGN_GRAD_constraints},
    {"BATCH_NORMALIZATION_TRAINING", 151, "DML_BATCH_NORMALIZATION_TRAINING_OPERATOR_DESC", 72, FeatureLevel::v4_1, InPlace::none, "FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias + FusedAdd)", kBATCH_NORMALIZATION_TRAINING_fields, kBATCH_NORMALIZATION_TRAINING_same, kBATCH_NORMALIZATION_TRAINING_support, kBATCH_NORMALIZATION_TRAINING_constraints},
    {"BATCH_NORMALIZATION_TRAINING_GRAD", 152, "DML_BATCH_NORMALIZATION_TRAINING_GRAD_OPERATOR_DESC", 72, FeatureLevel::v4_1, InPlace::none, "c0 = 1/sqrt(Variance+Epsilon); c1 = InputGradient*(Input-mean(Input)); gc = InputGradient-mean(InputGradient); ic = Input-mean(Input); OutputGradient = Scale*c0*(gc - ic*mean(c1)/(Variance+Epsilon)); OutputScaleGradient = sum(InputGradient*(Input-Mean)/sqrt(Variance+Epsilon)); OutputBiasGradient = sum(InputGradient)", kBATCH_NORMALIZATION_TRAINING_GRAD_fields, kBATCH_NORMALIZATION_TRAINING_GRAD_same, kBATCH_NORMALIZATION_TRAINING_GRAD_support, kBATCH_NORMALIZATION_TRAINING_GRAD_constraints},
    {"ELEMENT_WISE_CLIP1", 153, "DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC", 48, FeatureLevel::v5_0, InPlace::first_input, "max(Min, min(x, Max))", kELEMENT_WISE_CLIP1_fields, kELEMENT_WISE_CLIP1_same, kELEMENT_WISE_CLIP1_support, kELEMENT_WISE_CLIP1_constraints},
    {"ELEMENT_WISE_CLIP_GRAD1", 154, "DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC", 48, FeatureLevel::v5_0, InPlace::first_input, "(x <= Min || x >= Max) ? 0 : gradient", kELEMENT_WISE_CLIP_GRAD1_fields, kELEMENT_WISE_CLIP_GRAD1_same, kELEMENT_WISE_CLIP_GRAD1_support, kELEMENT_WISE_CLIP_GRAD1_constraints},
    {"PADDING1", 155, "DML_PADDING1_OPERATOR_DESC", 56, FeatureLevel::v5_0, InPlace::none, "out[c] = input[c - StartPadding] inside, PaddingMode value outside", kPADDING1_fields, kPADDING1_same, kPADDING1_support, kPADDING1_constraints},
    {"ELEMENT_WISE_NEGATE", 156, "DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC", 16, FeatureLevel::v5_0, InPlace::first_input, "-x", kELEMENT_WISE_NEGATE_fields, kELEMENT_WISE_NEGATE_same, kELEMENT_WISE_NEGATE_support, {}},
    {"ACTIVATION_GELU", 157, "DML_ACTIVATION_GELU_OPERATOR_DESC", 16, FeatureLevel::v5_1, InPlace::none, "0.5 * x * (1.0 + erf(x / sqrt(2)))", kACTIVATION_GELU_fields, kACTIVATION_GELU_same, kACTIVATION_GELU_support, {}},
    {"ACTIVATION_SOFTMAX1", 158, "DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC", 32, FeatureLevel::v5_1, InPlace::none, "exp(x_i) / sum_j(exp(x_j))   j over all elements of Axes", kACTIVATION_SOFTMAX1_fields, kACTIVATION_SOFTMAX1_same, kACTIVATION_SOFTMAX1_support, kACTIVATION_SOFTMAX1_constraints},
    {"ACTIVATION_LOG_SOFTMAX1", 159, "DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC", 32, FeatureLevel::v5_1, InPlace::none, "ln(exp(x_i) / sum_j(exp(x_j)))   j over all elements of Axes", kACTIVATION_LOG_SOFTMAX1_fields, kACTIVATION_LOG_SOFTMAX1_same, kACTIVATION_LOG_SOFTMAX1_support, kACTIVATION_LOG_SOFTMAX1_constraints},
    {"ACTIVATION_HARDMAX1", 160, "DML_ACTIVATION_HARDMAX1_OPERATOR_DESC", 32, FeatureLevel::v5_1, InPlace::none, "out[c] = (argmax(input over Axes, first wins) == index of c within Axes) ? 1 : 0", kACTIVATION_HARDMAX1_fields, kACTIVATION_HARDMAX1_same, kACTIVATION_HARDMAX1_support, kACTIVATION_HARDMAX1_constraints},
    {"RESAMPLE2", 161, "DML_RESAMPLE2_OPERATOR_DESC", 56, FeatureLevel::v5_1, InPlace::none, "OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset", kRESAMPLE2_fields, kRESAMPLE2_same, kRESAMPLE2_support, kRESAMPLE2_constraints},
    {"RESAMPLE_GRAD1", 162, "DML_RESAMPLE_GRAD1_OPERATOR_DESC", 56, FeatureLevel::v5_1, InPlace::none, "transpose of RESAMPLE2: each gradient element is added, weighted, to the input elements it was sampled from", kRESAMPLE_GRAD1_fields, kRESAMPLE_GRAD1_same, kRESAMPLE_GRAD1_support, kRESAMPLE_GRAD1_constraints},
    {"DIAGONAL_MATRIX1", 163, "DML_DIAGONAL_MATRIX1_OPERATOR_DESC", 40, FeatureLevel::v5_1, InPlace::none, "t = x - y; fill = (End >= Begin) ^ (t >= Begin) ^ (t < End); out[..., y, x] = fill ? Value : (InputTensor ? input[..., y, x] : 0)", kDIAGONAL_MATRIX1_fields, kDIAGONAL_MATRIX1_same, kDIAGONAL_MATRIX1_support, kDIAGONAL_MATRIX1_constraints},
    {"MULTIHEAD_ATTENTION", 164, "DML_MULTIHEAD_ATTENTION_OPERATOR_DESC", 128, FeatureLevel::v6_1, InPlace::none, "[+Bias on Q,K,V] -> Q x K^T * Scale -> [+RelativePositionBias] -> [+Mask] -> softmax -> x V", kMULTIHEAD_ATTENTION_fields, kMULTIHEAD_ATTENTION_same, kMULTIHEAD_ATTENTION_support, kMULTIHEAD_ATTENTION_constraints},
    {"LP_POOLING1", 165, "DML_LP_POOLING1_OPERATOR_DESC", 72, FeatureLevel::v6_2, InPlace::none, "(X1^P + ... + Xn^P)^(1/P) over the dilated window", kLP_POOLING1_fields, kLP_POOLING1_same, kLP_POOLING1_support, kLP_POOLING1_constraints},
    {"AVERAGE_POOLING1", 166, "DML_AVERAGE_POOLING1_OPERATOR_DESC", 72, FeatureLevel::v6_2, InPlace::none, "sum(dilated window) / n   n = window elements (IncludePadding) or non-padding window elements", kAVERAGE_POOLING1_fields, kAVERAGE_POOLING1_same, kAVERAGE_POOLING1_support, kAVERAGE_POOLING1_constraints},
    {"ACTIVATION_SWISH", 167, "DML_ACTIVATION_SWISH_OPERATOR_DESC", 24, FeatureLevel::v6_2, InPlace::first_input, "x * Sigmoid(SigmoidInputScale * x)", kACTIVATION_SWISH_fields, kACTIVATION_SWISH_same, kACTIVATION_SWISH_support, {}},
    {"ACTIVATION_HARD_SWISH", 168, "DML_ACTIVATION_HARD_SWISH_OPERATOR_DESC", 24, FeatureLevel::v6_2, InPlace::first_input, "x * HardSigmoid(x, Alpha, Beta)", kACTIVATION_HARD_SWISH_fields, kACTIVATION_HARD_SWISH_same, kACTIVATION_HARD_SWISH_support, {}},
    {"QUANTIZED_LINEAR_AVERAGE_POOLING", 169, "DML_QUANTIZED_LINEAR_AVERAGE_POOLING_OPERATOR_DESC", 104, FeatureLevel::v6_2, InPlace::none, "deq(x) = (x - ZeroPoint) * Scale; q(v) = clamp(round(v / Scale) + ZeroPoint, Min, Max); out = q(average_pool(deq(Input)))", kQUANTIZED_LINEAR_AVERAGE_POOLING_fields, kQUANTIZED_LINEAR_AVERAGE_POOLING_same, kQUANTIZED_LINEAR_AVERAGE_POOLING_support, kQUANTIZED_LINEAR_AVERAGE_POOLING_constraints},
    {"MATRIX_MULTIPLY_INTEGER_TO_FLOAT", 170, "DML_MATRIX_MULTIPLY_INTEGER_TO_FLOAT_OPERATOR_DESC", 64, FeatureLevel::v6_2, InPlace::none, "((A - AZeroPoint) * AScale) x ((B - BZeroPoint) * BScale) + Bias", kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_fields, kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_same, kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_support, kMATRIX_MULTIPLY_INTEGER_TO_FLOAT_constraints},
    {"MEAN_VARIANCE_NORMALIZATION2", 171, "DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC", 72, FeatureLevel::v6_3, InPlace::none, "", kMEAN_VARIANCE_NORMALIZATION2_fields, kMEAN_VARIANCE_NORMALIZATION2_same, kMEAN_VARIANCE_NORMALIZATION2_support, kMEAN_VARIANCE_NORMALIZATION2_constraints},
    {"MULTIHEAD_ATTENTION1", 172, "DML_MULTIHEAD_ATTENTION1_OPERATOR_DESC", 144, FeatureLevel::v6_3, InPlace::none, "", kMULTIHEAD_ATTENTION1_fields, kMULTIHEAD_ATTENTION1_same, kMULTIHEAD_ATTENTION1_support, kMULTIHEAD_ATTENTION1_constraints},
    {"QUANTIZE", 173, "DML_QUANTIZE_OPERATOR_DESC", 32, FeatureLevel::v6_3, InPlace::none, "out = clamp(round(Input / Scale) + ZeroPoint), Scale and ZeroPoint for each block", kQUANTIZE_fields, kQUANTIZE_same, kQUANTIZE_support, {}},
    {"DEQUANTIZE", 174, "DML_DEQUANTIZE_OPERATOR_DESC", 32, FeatureLevel::v6_3, InPlace::none, "out = (Input - ZeroPoint) * Scale, Scale and ZeroPoint for each block", kDEQUANTIZE_fields, kDEQUANTIZE_same, kDEQUANTIZE_support, {}},
    {"RESAMPLE3", 175, "DML_RESAMPLE3_OPERATOR_DESC", 64, FeatureLevel::v6_4, InPlace::none, "OutputX = (InputX + InputPixelOffset) * Scale + OutputPixelOffset", kRESAMPLE3_fields, kRESAMPLE3_same, kRESAMPLE3_support, kRESAMPLE3_constraints},
    {"FOLD", 176, "DML_FOLD_OPERATOR_DESC", 64, FeatureLevel::v6_4, InPlace::none, "sum overlapping blocks of a [N, C*prod(WindowSizes), BlockCount] input into [N, C, spatial...]", kFOLD_fields, {}, kFOLD_support, kFOLD_constraints},
    {"UNFOLD", 177, "DML_UNFOLD_OPERATOR_DESC", 64, FeatureLevel::v6_4, InPlace::none, "each window of [N, C, spatial...] becomes one column of [N, C*prod(WindowSizes), BlockCount]; padding reads 0", kUNFOLD_fields, {}, kUNFOLD_support, kUNFOLD_constraints},
};

inline constexpr Alias kOperatorAliases[] = {
    {"SCATTER", "SCATTER_ELEMENTS"},
};
inline constexpr Alias kStructAliases[] = {
    {"DML_SCATTER_OPERATOR_DESC", "DML_SCATTER_ELEMENTS_OPERATOR_DESC"},
};

}  // namespace anydml::facts::tables
// clang-format on
