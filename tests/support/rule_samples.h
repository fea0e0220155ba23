// SPDX-License-Identifier: MIT
// Valid descriptions of every operator that has rules in data/facts/rules.txt, such that each of these rules applies to
// at least one of them. They include the examples on DirectML's pages, completed with the required attributes.
#pragma once

#include <string_view>

namespace anydml::test {

inline constexpr std::string_view kRightOperators[] = {
    "ELEMENT_WISE_POW InputTensor=f32[1,1,1,4] ExponentTensor=f32[1,1,1,4] OutputTensor=f32[1,1,1,4]",
    "ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32[4] ScaleTensor=f32[4] ZeroPointTensor=u8[4] OutputTensor=u8[4]",
    "ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=i32[4] ScaleTensor=f32[4] ZeroPointTensor=u8[4] OutputTensor=u8[4]",
    "ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=u8[4] ScaleTensor=f32[4] ZeroPointTensor=u8[4] OutputTensor=f32[4]",
    "ACTIVATION_HARDMAX InputTensor=f32[1,1,2,3] OutputTensor=f32[1,1,2,3]",
    "ACTIVATION_LOG_SOFTMAX InputTensor=f32[1,1,2,3] OutputTensor=f32[1,1,2,3]",
    "ACTIVATION_SOFTMAX InputTensor=f32[1,1,1,1] OutputTensor=f32[1,1,1,1]",
    "ACTIVATION_SOFTPLUS InputTensor=f32[3] OutputTensor=f32[3] Steepness=1",
    "CONVOLUTION InputTensor=f32[1,2,8,8] FilterTensor=f32[6,2,3,3] BiasTensor=f32[1,6,1,1] OutputTensor=f32[1,6,6,6] "
    "Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] "
    "GroupCount=1 FusedActivation=ACTIVATION_RELU",
    "CONVOLUTION InputTensor=f32[1,4,8] FilterTensor=f32[4,3,3] OutputTensor=f32[1,6,10] Direction=BACKWARD "
    "Strides=[1] Dilations=[1] StartPadding=[0] EndPadding=[0] OutputPadding=[0] GroupCount=2",
    "GEMM ATensor=f32[5,2,3] BTensor=f32[5,3,4] CTensor=f32[5,2,4] OutputTensor=f32[5,2,4] TransA=NONE TransB=NONE",
    "GEMM ATensor=f32[3,2] BTensor=f32[4,3] OutputTensor=f32[2,4] TransA=TRANSPOSE TransB=TRANSPOSE "
    "FusedActivation=ACTIVATION_SOFTMAX",
    "REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=f32[1,3] Axes=[0]",
    "REDUCE Function=ARGMAX InputTensor=f32[3,3] OutputTensor=u32[1,1] Axes=[0,1]",
    "ARGMIN InputTensor=f32[3,3] OutputTensor=u32[1,3] Axes=[0]",
    "ARGMAX InputTensor=f32[3,3] OutputTensor=u32[3,1] Axes=[1]",
    "AVERAGE_POOLING InputTensor=f32[2,3,8,9] OutputTensor=f32[2,3,3,9] Strides=[3,1] WindowSize=[2,3] "
    "StartPadding=[0,1] EndPadding=[0,1]",
    "LP_POOLING InputTensor=f32[2,3,8,9] OutputTensor=f32[2,3,7,9] Strides=[1,1] WindowSize=[2,3] StartPadding=[0,1] "
    "EndPadding=[0,1]",
    "MAX_POOLING InputTensor=f32[1,1,4,4,4] OutputTensor=f32[1,1,2,2,2] Strides=[2,2,2] WindowSize=[2,2,2] "
    "StartPadding=[0,0,0] EndPadding=[0,0,0]",
    "MAX_POOLING1 InputTensor=f32[2,3,8,9] OutputTensor=f32[2,3,7,9] OutputIndicesTensor=u32[2,3,7,9] Strides=[1,1] "
    "WindowSize=[2,3] StartPadding=[0,1] EndPadding=[0,1]",
    "MAX_POOLING2 InputTensor=f32[1,1,8,8] OutputTensor=f32[1,1,4,6] Strides=[1,1] WindowSize=[3,3] "
    "StartPadding=[0,0] EndPadding=[0,0] Dilations=[2,1]",
    "LP_POOLING1 InputTensor=f32[1,1,8,8] OutputTensor=f32[1,1,6,6] Strides=[1,1] WindowSize=[3,3] StartPadding=[0,0] "
    "EndPadding=[0,0] Dilations=[1,1]",
    "AVERAGE_POOLING1 InputTensor=f32[1,1,8,8] OutputTensor=f32[1,1,6,6] Strides=[1,1] WindowSize=[3,3] "
    "StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]",
    "QUANTIZED_LINEAR_AVERAGE_POOLING InputTensor=u8[1,3,8,8] InputScaleTensor=f32[1,3,1,1] InputZeroPointTensor=u8[1] "
    "OutputScaleTensor=f32[1,1,1,1] OutputZeroPointTensor=u8[1,3,1,1] OutputTensor=u8[1,3,6,6] Strides=[1,1] "
    "WindowSize=[3,3] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]",
    "QUANTIZED_LINEAR_AVERAGE_POOLING InputTensor=u8[1,3,8,8] InputScaleTensor=f32[3] "
    "InputZeroPointTensor=u8[1,3,1,1] OutputScaleTensor=f32[1,1,1,1] OutputTensor=u8[1,3,6,6] Strides=[1,1] "
    "WindowSize=[3,3] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]",
    "ROI_POOLING InputTensor=f32[1,3,8,8] ROITensor=f32[1,1,5,5] OutputTensor=f32[5,3,2,4] PooledSize=[4,2]",
    "SLICE InputTensor=f32[1,1,4,4] OutputTensor=f32[1,1,3,2] Offsets=[0,0,1,0] Sizes=[1,1,3,2] Strides=[1,1,1,2]",
    "SLICE1 InputTensor=f32[1,1,4,4] OutputTensor=f32[1,1,2,2] InputWindowOffsets=[0,0,0,1] "
    "InputWindowSizes=[1,1,4,3] InputWindowStrides=[1,1,2,-2]",
    "SLICE_GRAD InputGradientTensor=f32[2,2] OutputGradientTensor=f32[4,4] InputWindowOffsets=[0,0] "
    "InputWindowSizes=[4,4] InputWindowStrides=[2,2]",
    "CAST InputTensor=f32[3] OutputTensor=i8[3]",
    "SPLIT InputTensor=f32[1,1,6,2] OutputTensors=f32[1,1,2,2]|f32[1,1,1,2]|f32[1,1,3,2] Axis=2",
    "JOIN InputTensors=f32[1,1,2,3]|f32[1,1,2,4] OutputTensor=f32[1,1,2,7] Axis=3",
    "PADDING InputTensor=f32[1,1,4,4] OutputTensor=f32[1,1,8,10] PaddingMode=EDGE StartPadding=[0,0,1,2] "
    "EndPadding=[0,0,3,4]",
    "PADDING1 InputTensor=f32[4] OutputTensor=f32[8] PaddingMode=WRAP PaddingValueDataType=FLOAT32 StartPadding=[1] "
    "EndPadding=[3]",
    "PADDING1 InputTensor=f32[4] OutputTensor=f32[8] PaddingMode=EDGE PaddingValueDataType=FLOAT32 StartPadding=[1] "
    "EndPadding=[3]",
    "VALUE_SCALE_2D InputTensor=f32[1,3,2,2] OutputTensor=f32[1,3,2,2] Bias=[0,1,2]",
    "UPSAMPLE_2D InputTensor=f32[1,3,2,2] OutputTensor=f32[1,3,6,4] ScaleSize=[2,3]",
    "GATHER InputTensor=f32[4] IndicesTensor=u32[5] OutputTensor=f32[5] Axis=0 IndexDimensions=1",
    "GATHER InputTensor=f32[3,2] IndicesTensor=u32[1,4] OutputTensor=f32[4,2] Axis=0 IndexDimensions=1",
    "GATHER InputTensor=f32[3,2] IndicesTensor=u32[1,2] OutputTensor=f32[3,2] Axis=1 IndexDimensions=1",
    "GATHER InputTensor=f32[1,3,3] IndicesTensor=u32[1,1,2] OutputTensor=f32[3,1,2] Axis=2 IndexDimensions=2",
    "GATHER InputTensor=f32[1,3,2] IndicesTensor=u32[1,2,2] OutputTensor=f32[2,2,2] Axis=1 IndexDimensions=2",
    "SPACE_TO_DEPTH InputTensor=f32[1,2,4,6] OutputTensor=f32[1,8,2,3] BlockSize=2",
    "SPACE_TO_DEPTH1 InputTensor=u32[1,2,4,6] OutputTensor=u32[1,8,2,3] BlockSize=2",
    "DEPTH_TO_SPACE InputTensor=f32[1,8,2,3] OutputTensor=f32[1,2,4,6] BlockSize=2",
    "DEPTH_TO_SPACE1 InputTensor=u32[1,8,2,3] OutputTensor=u32[1,2,4,6] BlockSize=2",
    "TILE InputTensor=f32[1,1,2,3] OutputTensor=f32[1,1,6,9] Repeats=[1,1,3,3]",
    "TOP_K InputTensor=f32[1,1,3,4] OutputValueTensor=f32[1,1,3,2] OutputIndexTensor=u32[1,1,3,2] Axis=3 K=2",
    "TOP_K1 InputTensor=f32[1,1,3,4] OutputValueTensor=f32[1,1,2,4] OutputIndexTensor=u32[1,1,2,4] Axis=2 K=2",
    "BATCH_NORMALIZATION InputTensor=f32[2,3,4] MeanTensor=f32[1,3,1] VarianceTensor=f32[1,3,4] ScaleTensor=f32[1,1,1] "
    "BiasTensor=f32[1,3,1] OutputTensor=f32[2,3,4] FusedActivation=ACTIVATION_GELU",
    "MEAN_VARIANCE_NORMALIZATION InputTensor=f32[2,3,4,4] ScaleTensor=f32[1,3,1,1] BiasTensor=f32[1,3,1,1] "
    "OutputTensor=f32[2,3,4,4]",
    "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[2,3,4,4] ScaleTensor=f32[1,3,1,1] BiasTensor=f32[1,3,1,1] "
    "OutputTensor=f32[2,3,4,4] Axes=[2,3]",
    "MEAN_VARIANCE_NORMALIZATION2 InputTensor=f32[2,3] ScaleTensor=f32[1,3] BiasTensor=f32[2,1] OutputTensor=f32[2,3] "
    "Axes=[0]",
    "LOCAL_RESPONSE_NORMALIZATION InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,2,2] LocalSize=1",
    "LOCAL_RESPONSE_NORMALIZATION_GRAD InputTensor=f32[1,1,2,2] InputGradientTensor=f32[1,1,2,2] "
    "OutputGradientTensor=f32[1,1,2,2] LocalSize=3",
    "LP_NORMALIZATION InputTensor=f32[2,3] OutputTensor=f32[2,3] Axis=1 P=2",
    "RNN InputTensor=f32[1,5,3,4] WeightTensor=f32[1,1,6,4] RecurrenceTensor=f32[1,1,6,6] BiasTensor=f32[1,1,1,12] "
    "HiddenInitTensor=f32[1,1,3,6] SequenceLengthsTensor=u32[1,1,1,3] OutputSequenceTensor=f32[5,1,3,6] "
    "OutputSingleTensor=f32[1,1,3,6] ActivationDescs=ACTIVATION_TANH Direction=FORWARD",
    "LSTM InputTensor=f32[1,5,3,4] WeightTensor=f32[1,2,24,4] RecurrenceTensor=f32[1,2,24,6] BiasTensor=f32[1,1,2,48] "
    "HiddenInitTensor=f32[1,2,3,6] CellMemInitTensor=f32[1,2,3,6] SequenceLengthsTensor=u32[1,1,1,3] "
    "PeepholeTensor=f32[1,1,2,18] OutputSequenceTensor=f32[5,2,3,6] OutputSingleTensor=f32[1,2,3,6] "
    "OutputCellSingleTensor=f32[1,2,3,6] ActivationDescs=ACTIVATION_SIGMOID|ACTIVATION_TANH|ACTIVATION_TANH|"
    "ACTIVATION_SIGMOID|ACTIVATION_TANH|ACTIVATION_TANH Direction=BIDIRECTIONAL",
    "GRU InputTensor=f32[1,5,3,4] WeightTensor=f32[1,1,18,4] RecurrenceTensor=f32[1,1,18,6] BiasTensor=f32[1,1,1,36] "
    "HiddenInitTensor=f32[1,1,3,6] SequenceLengthsTensor=u32[1,1,1,3] OutputSequenceTensor=f32[5,1,3,6] "
    "OutputSingleTensor=f32[1,1,3,6] ActivationDescs=ACTIVATION_SIGMOID|ACTIVATION_TANH Direction=BACKWARD",
    "ELEMENT_WISE_ADD1 ATensor=f32[3] BTensor=f32[3] OutputTensor=f32[3] FusedActivation=ACTIVATION_RELU",
    "SCATTER_ELEMENTS InputTensor=f32[3,3] IndicesTensor=u32[2,3] UpdatesTensor=f32[2,3] OutputTensor=f32[3,3] Axis=0",
    "GATHER_ELEMENTS InputTensor=f32[3,3] IndicesTensor=u32[2,3] OutputTensor=f32[2,3] Axis=0",
    "ONE_HOT IndicesTensor=u32[1,1,3,1] ValuesTensor=f32[1,1,1,2] OutputTensor=f32[1,1,3,4] Axis=3",
    "ONE_HOT IndicesTensor=i32[1,1,3,1] ValuesTensor=f32[1,1,3,1] OutputTensor=f32[1,1,3,4] Axis=3",
    "RESAMPLE InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,4,4] Scales=[1,1,2,2]",
    "RESAMPLE1 InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,4,4] Scales=[1,1,2,2] InputPixelOffsets=[0,0,0,0] "
    "OutputPixelOffsets=[0,0,0,0]",
    "RESAMPLE2 InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,4,4] Scales=[1,1,2,2] InputPixelOffsets=[0,0,0,0] "
    "OutputPixelOffsets=[0,0,0,0]",
    "RESAMPLE3 InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,4,4] Scales=[1,1,2,2] InputPixelOffsets=[0,0,0,0] "
    "OutputPixelOffsets=[0,0,0,0]",
    "RESAMPLE_GRAD InputGradientTensor=f32[1,1,4,4] OutputGradientTensor=f32[1,1,2,2] Scales=[1,1,2,2] "
    "InputPixelOffsets=[0,0,0,0] OutputPixelOffsets=[0,0,0,0]",
    "RESAMPLE_GRAD1 InputGradientTensor=f32[1,1,4,4] OutputGradientTensor=f32[1,1,2,2] Scales=[1,1,2,2] "
    "InputPixelOffsets=[0,0,0,0] OutputPixelOffsets=[0,0,0,0]",
    "FILL_VALUE_CONSTANT OutputTensor=f32[3] ValueDataType=FLOAT32",
    "FILL_VALUE_SEQUENCE OutputTensor=u8[1,1,2,2] ValueDataType=UINT8",
    "DIAGONAL_MATRIX1 InputTensor=f32[4,5] OutputTensor=f32[4,5] ValueDataType=FLOAT32",
    "CUMULATIVE_SUMMATION InputTensor=f32[1,1,3,4] OutputTensor=f32[1,1,3,4] Axis=3",
    "CUMULATIVE_PRODUCT InputTensor=f32[1,1,3,4] OutputTensor=f32[1,1,3,4] Axis=0",
    "REVERSE_SUBSEQUENCES InputTensor=f32[1,1,3,4] SequenceLengthsTensor=u32[1,1,3,1] OutputTensor=f32[1,1,3,4] Axis=3",
    "GATHER_ND InputTensor=f32[2,2] IndicesTensor=u32[2,1] OutputTensor=f32[2,2] InputDimensionCount=2 "
    "IndicesDimensionCount=2",
    "GATHER_ND InputTensor=f32[1,2,2,2] IndicesTensor=u32[1,1,2,2] OutputTensor=f32[1,1,2,2] InputDimensionCount=3 "
    "IndicesDimensionCount=2",
    "GATHER_ND InputTensor=f32[3,4,5,6,7] IndicesTensor=u32[1,1,1,2,3] OutputTensor=f32[1,1,2,6,7] "
    "InputDimensionCount=5 IndicesDimensionCount=2",
    "GATHER_ND1 InputTensor=f32[1,3,2,2] IndicesTensor=u32[1,3,2,2] OutputTensor=f32[1,1,3,2] InputDimensionCount=3 "
    "IndicesDimensionCount=3 BatchDimensionCount=1",
    "SCATTER_ND InputTensor=f32[3,4,5,6,7] IndicesTensor=u32[1,1,1,2,3] UpdatesTensor=f32[1,1,2,6,7] "
    "OutputTensor=f32[3,4,5,6,7] InputDimensionCount=5 IndicesDimensionCount=2",
    "MATRIX_MULTIPLY_INTEGER ATensor=u8[2,3,4] AZeroPointTensor=u8[3,1] BTensor=i8[2,4,5] BZeroPointTensor=i8[5] "
    "OutputTensor=i32[2,3,5]",
    "MATRIX_MULTIPLY_INTEGER ATensor=u8[2,3,4] AZeroPointTensor=u8[1] BTensor=i8[2,4,5] BZeroPointTensor=i8[1,5] "
    "OutputTensor=i32[2,3,5]",
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY ATensor=u8[2,3,4] AScaleTensor=f32[3,1] AZeroPointTensor=u8[3,1] "
    "BTensor=i8[2,4,5] BScaleTensor=f32[1,5] BZeroPointTensor=i8[1,5] OutputScaleTensor=f32[1,1] "
    "OutputZeroPointTensor=u8[3,1] OutputTensor=u8[2,3,5]",
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT ATensor=u8[2,3,4] AScaleTensor=f32[3,1] AZeroPointTensor=u8[3,1] "
    "BTensor=u8[2,4,5] BScaleTensor=f32[1,5] BZeroPointTensor=u8[1,5] BiasTensor=f32[2,3,5] OutputTensor=f32[2,3,5]",
    "CONVOLUTION_INTEGER InputTensor=u8[1,2,8,8] InputZeroPointTensor=u8[1,1,1,1] FilterTensor=i8[6,2,3,3] "
    "FilterZeroPointTensor=i8[1,6,1,1] OutputTensor=i32[1,6,6,6] Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] "
    "EndPadding=[0,0]",
    "CONVOLUTION_INTEGER InputTensor=u8[1,2,8] FilterTensor=i8[6,2,3] FilterZeroPointTensor=i8[6] "
    "OutputTensor=i32[1,6,6] Strides=[1] Dilations=[1] StartPadding=[0] EndPadding=[0]",
    "QUANTIZED_LINEAR_CONVOLUTION InputTensor=u8[1,2,8,8] InputScaleTensor=f32[1] InputZeroPointTensor=u8[1] "
    "FilterTensor=i8[6,2,3,3] FilterScaleTensor=f32[1,6,1,1] FilterZeroPointTensor=i8[1,6,1,1] "
    "BiasTensor=i32[1,6,1,1] OutputScaleTensor=f32[1] OutputZeroPointTensor=u8[1] OutputTensor=u8[1,6,6,6] "
    "Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0]",
    "QUANTIZED_LINEAR_CONVOLUTION InputTensor=u8[1,2,8] InputScaleTensor=f32[1] FilterTensor=i8[6,2,3] "
    "FilterScaleTensor=f32[1] OutputScaleTensor=f32[1] OutputTensor=u8[1,6,6] Strides=[1] Dilations=[1] "
    "StartPadding=[0] EndPadding=[0]",
    "AVERAGE_POOLING_GRAD InputGradientTensor=f32[1,1,6,6] OutputGradientTensor=f32[1,1,8,8] Strides=[1,1] "
    "WindowSize=[3,3] StartPadding=[0,0] EndPadding=[0,0]",
    "MAX_POOLING_GRAD InputTensor=f32[1,1,8,8] InputGradientTensor=f32[1,1,6,6] OutputGradientTensor=f32[1,1,8,8] "
    "Strides=[1,1] WindowSize=[3,3] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]",
    "RANDOM_GENERATOR InputStateTensor=u32[1,1,1,6] OutputTensor=u32[1,1,3,4] OutputStateTensor=u32[1,1,1,6]",
    "RANDOM_GENERATOR InputStateTensor=u32[1,1,1,1,6] OutputTensor=u32[3,4]",
    "NONZERO_COORDINATES InputTensor=f32[1,1,2,4] OutputCountTensor=u32[1,1,1,1] OutputCoordinatesTensor=u32[1,1,8,3]",
    "NONZERO_COORDINATES InputTensor=f32[1,1,12,5] OutputCountTensor=u32[1,1,1,1] "
    "OutputCoordinatesTensor=u32[1,1,60,2]",
    "ADAM_OPTIMIZER InputParametersTensor=f32[1,1,1,4] InputFirstMomentTensor=f32[1,1,1,4] "
    "InputSecondMomentTensor=f32[1,1,1,4] GradientTensor=f32[1,1,1,4] TrainingStepTensor=u32[1,1,1,1] "
    "OutputParametersTensor=f32[1,1,1,4] OutputFirstMomentTensor=f32[1,1,1,4] OutputSecondMomentTensor=f32[1,1,1,4] "
    "Beta1=0.9 Beta2=0.999",
    "ROI_ALIGN InputTensor=f32[1,3,8,8] ROITensor=f32[5,4] BatchIndicesTensor=u32[5] OutputTensor=f32[5,3,2,2] "
    "ReductionFunction=MAX",
    "ROI_ALIGN InputTensor=f32[1,3,8,8] ROITensor=f32[1,5,4] BatchIndicesTensor=u32[1,5] OutputTensor=f32[5,3,2,2] "
    "ReductionFunction=MAX",
    "ROI_ALIGN1 InputTensor=f32[1,3,8,8] ROITensor=f32[1,1,5,4] BatchIndicesTensor=u32[1,1,1,5] "
    "OutputTensor=f32[5,3,2,2] ReductionFunction=AVERAGE",
    "ROI_ALIGN_GRAD InputTensor=f32[1,3,8,8] InputGradientTensor=f32[5,3,2,2] ROITensor=f32[1,5,4] "
    "BatchIndicesTensor=u32[1,5] OutputGradientTensor=f32[1,3,8,8] OutputROIGradientTensor=f32[1,5,4] "
    "ReductionFunction=MAX",
    "ROI_ALIGN_GRAD InputGradientTensor=f32[5,3,2,2] ROITensor=f32[5,4] BatchIndicesTensor=u32[5] "
    "OutputGradientTensor=f32[1,3,8,8] ReductionFunction=AVERAGE",
    "ELEMENT_WISE_ATAN_YX ATensor=f32[3] BTensor=f32[3] OutputTensor=f32[3]",
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD ATensor=u8[3] AScaleTensor=f32[1] AZeroPointTensor=u8[1] BTensor=u8[3] "
    "BScaleTensor=f32[1] BZeroPointTensor=u8[1] OutputScaleTensor=f32[1] OutputZeroPointTensor=u8[1] "
    "OutputTensor=u8[3]",
    "QUANTIZE InputTensor=f32[2,4] QuantizationType=SCALE QuantizationTensors=f32[2,2] OutputTensor=u8[2,4]",
    "QUANTIZE InputTensor=f32[2,4] QuantizationType=SCALE_ZERO_POINT QuantizationTensors=f32[2,2]|u8[2,2] "
    "OutputTensor=u8[2,4]",
    "DEQUANTIZE InputTensor=u8[2,4] QuantizationType=SCALE QuantizationTensors=f32[2,2] OutputTensor=f32[2,4]",
    "DEQUANTIZE InputTensor=u8[2,4] QuantizationType=SCALE_ZERO_POINT QuantizationTensors=f32[2,2]|u8[2,2] "
    "OutputTensor=f32[2,4]",
    "DYNAMIC_QUANTIZE_LINEAR InputTensor=f32[3] OutputTensor=u8[3] OutputScaleTensor=f32[1] "
    "OutputZeroPointTensor=u8[1]",
    "BATCH_NORMALIZATION_GRAD InputTensor=f32[2,3] InputGradientTensor=f32[2,3] MeanTensor=f32[1,3] "
    "VarianceTensor=f32[1,3] ScaleTensor=f32[1,3] OutputGradientTensor=f32[2,3] OutputScaleGradientTensor=f32[1,3] "
    "OutputBiasGradientTensor=f32[1,3]",
    "BATCH_NORMALIZATION_TRAINING InputTensor=f32[2,3] ScaleTensor=f32[1,3] BiasTensor=f32[1,3] OutputTensor=f32[2,3] "
    "OutputMeanTensor=f32[1,3] OutputVarianceTensor=f32[1,3]",
    "BATCH_NORMALIZATION_TRAINING_GRAD InputTensor=f32[2,3] InputGradientTensor=f32[2,3] MeanTensor=f32[1,3] "
    "VarianceTensor=f32[1,3] ScaleTensor=f32[1,3] OutputGradientTensor=f32[2,3] OutputScaleGradientTensor=f32[1,3] "
    "OutputBiasGradientTensor=f32[1,3]",
    "ELEMENT_WISE_CLIP1 InputTensor=i8[3] OutputTensor=i8[3] MinMaxDataType=INT8 Min=-1 Max=1",
    "ELEMENT_WISE_CLIP_GRAD1 InputTensor=f32[3] InputGradientTensor=f32[3] OutputGradientTensor=f32[3] "
    "MinMaxDataType=FLOAT32",
    "ACTIVATION_SOFTMAX1 InputTensor=f32[2,2,2] OutputTensor=f32[2,2,2] Axes=[2]",
    "ACTIVATION_LOG_SOFTMAX1 InputTensor=f32[2,2,2] OutputTensor=f32[2,2,2] Axes=[0,2]",
    "ACTIVATION_HARDMAX1 InputTensor=f32[2,2,2] OutputTensor=f32[2,2,2] Axes=[1]",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,3,8] KeyTensor=f32[2,4,8] ValueTensor=f32[2,4,6] BiasTensor=f32[22] "
    "MaskTensor=i32[8] OutputTensor=f32[2,3,6] HeadCount=2 MaskType=KEY_QUERY_SEQUENCE_LENGTH_START_END",
    "MULTIHEAD_ATTENTION QueryTensor=f32[1,2,3,8] KeyTensor=f32[1,2,4,8] ValueTensor=f32[1,2,4,8] "
    "BiasTensor=f32[1,24] MaskTensor=i32[1,2,2] PastKeyTensor=f32[1,2,2,5,4] PastValueTensor=f32[1,2,2,5,4] "
    "OutputTensor=f32[1,2,3,8] OutputPresentKeyTensor=f32[1,2,2,9,4] OutputPresentValueTensor=f32[1,2,2,9,4] "
    "HeadCount=2 MaskType=KEY_SEQUENCE_END_START",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,3,8] KeyTensor=f32[2,4,8] ValueTensor=f32[2,4,8] MaskTensor=i32[1,1,2] "
    "OutputTensor=f32[2,3,8] OutputPresentKeyTensor=f32[2,2,4,4] HeadCount=2 MaskType=KEY_SEQUENCE_LENGTH",
    "MULTIHEAD_ATTENTION StackedQueryKeyTensor=f32[2,3,2,2,4] ValueTensor=f32[2,4,8] BiasTensor=f32[24] "
    "OutputTensor=f32[2,3,8] HeadCount=2",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,3,8] StackedKeyValueTensor=f32[2,5,2,2,4] OutputTensor=f32[2,3,8] "
    "HeadCount=2",
    "MULTIHEAD_ATTENTION StackedQueryKeyValueTensor=f32[2,3,2,3,4] BiasTensor=f32[24] OutputTensor=f32[2,3,8] "
    "HeadCount=2",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,3,8] KeyTensor=f32[2,4,8] ValueTensor=f32[2,4,6] MaskTensor=i32[1,8] "
    "OutputTensor=f32[2,3,6] HeadCount=2 MaskType=KEY_QUERY_SEQUENCE_LENGTH_START_END",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,3,8] PastKeyTensor=f32[2,2,5,4] PastValueTensor=f32[2,2,5,4] "
    "OutputTensor=f32[2,3,8] HeadCount=2",
    "MULTIHEAD_ATTENTION1 QueryTensor=f32[1,2,3,8] KeyTensor=f32[1,2,4,4] ValueTensor=f32[1,2,4,4] "
    "PastKeyTensor=f32[1,2,1,5,4] PastValueTensor=f32[1,2,1,5,4] OutputTensor=f32[1,2,3,8] "
    "OutputPresentKeyTensor=f32[1,2,1,9,4] OutputPresentValueTensor=f32[1,2,1,9,4] QueryHeadCount=2 "
    "KeyValueHeadCount=1",
    "MULTIHEAD_ATTENTION1 StackedQueryKeyTensor=f32[2,3,2,2,4] ValueTensor=f32[2,3,8] OutputTensor=f32[2,3,8] "
    "QueryHeadCount=2 KeyValueHeadCount=2",
    "MULTIHEAD_ATTENTION1 QueryTensor=f32[2,3,16] StackedKeyValueTensor=f32[2,5,2,2,4] "
    "PastSequenceLengthsTensor=i32[1,2] OutputTensor=f32[2,3,16] OutputPresentKeyTensor=f32[2,2,5,4] "
    "OutputPresentValueTensor=f32[2,2,5,4] QueryHeadCount=4 KeyValueHeadCount=2",
    "MULTIHEAD_ATTENTION1 StackedQueryKeyValueTensor=f32[2,3,2,3,4] OutputTensor=f32[2,3,8] "
    "OutputPresentKeyTensor=f32[2,2,3,4] OutputPresentValueTensor=f32[2,2,3,4] QueryHeadCount=2 KeyValueHeadCount=2",
    "FOLD InputTensor=f32[1,9,4] OutputTensor=f32[1,1,4,4] WindowSizes=[3,3] Strides=[1,1] Dilations=[1,1] "
    "StartPadding=[0,0] EndPadding=[0,0]",
    "FOLD InputTensor=f32[2,64,1] OutputTensor=f32[2,1,2,2,2,2,2,2] WindowSizes=[2,2,2,2,2,2] Strides=[1,1,1,1,1,1] "
    "Dilations=[1,1,1,1,1,1] StartPadding=[0,0,0,0,0,0] EndPadding=[0,0,0,0,0,0]",
    "UNFOLD InputTensor=f32[1,1,5,5] OutputTensor=f32[1,9,15] WindowSizes=[3,3] Strides=[1,1] Dilations=[1,1] "
    "StartPadding=[1,0] EndPadding=[1,0]",
    "UNFOLD InputTensor=f32[1,1,5] OutputTensor=f32[1,3,3] WindowSizes=[3] Strides=[1] Dilations=[1] StartPadding=[0] "
    "EndPadding=[0]",
};

}  // namespace anydml::test
