// SPDX-License-Identifier: MIT
// A program that declares the interface ids itself, as programs written for WSL do, and includes only DirectML.h.
#include <wsl/winadapter.h>

#include <directx/d3d12.h>
#include <dxguids/dxguids.h>

#include "DirectML.h"

WINADAPTER_IID(IDMLDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f);
WINADAPTER_IID(IDMLDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2);

// Calls that a program with its own ids makes. They are compiled but never run.
HRESULT use(ID3D12Device* d3d12, IDMLDevice** device, IDMLOperator** op) {
  const HRESULT result = DMLCreateDevice1(d3d12, DML_CREATE_DEVICE_FLAG_DEBUG | DML_CREATE_DEVICE_FLAG_NONE,
                                          DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(device));
  const UINT sizes[DML_TENSOR_DIMENSION_COUNT_MAX1] = {1, 2, 3, 4};
  DML_BUFFER_TENSOR_DESC buffer = {};
  buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
  buffer.DimensionCount = 4;
  buffer.Sizes = sizes;
  buffer.TotalTensorSizeInBytes = 96;
  const DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
  DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus = {&tensor, &tensor, &tensor};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &modulus};
  return FAILED(result) ? result : (*device)->CreateOperator(&desc, __uuidof(IDMLDevice), reinterpret_cast<void**>(op));
}
