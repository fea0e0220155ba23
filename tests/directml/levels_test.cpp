// SPDX-License-Identifier: MIT
// Tests that a device capped by ANYDML_FEATURE_LEVEL answers as DirectML would at that level. The test runs once for
// each level of interest. Its expected answers are written by hand and not read from the tables.
#include <cstdlib>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr DML_TENSOR_DATA_TYPE kEightTypes[] = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16,
                                                DML_TENSOR_DATA_TYPE_UINT32,  DML_TENSOR_DATA_TYPE_UINT16,
                                                DML_TENSOR_DATA_TYPE_UINT8,   DML_TENSOR_DATA_TYPE_INT32,
                                                DML_TENSOR_DATA_TYPE_INT16,   DML_TENSOR_DATA_TYPE_INT8};
constexpr DML_TENSOR_DATA_TYPE kWideTypes[] = {DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT64};

unsigned cap() {
  const char* text = std::getenv("ANYDML_FEATURE_LEVEL");
  return text == nullptr ? 0x6400
                         : static_cast<unsigned>(text[0] - '0') << 12 | static_cast<unsigned>(text[2] - '0') << 8;
}

HRESULT create_modulus(const Dml& dml, DML_TENSOR_DATA_TYPE type, UINT rank, bool floor) {
  const Tensor tensor(type, std::vector<UINT>(rank, 2));
  const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC desc{&tensor.desc, &tensor.desc, &tensor.desc};
  ComPtr<IDMLOperator> op;
  return dml.create_operator(
      floor ? DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR : DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE, &desc, op);
}

TEST(Levels, ModulusTakesWhatItsLevelSays) {
  const Dml dml;
  for (const bool floor : {true, false}) {
    for (UINT rank = 1; rank <= 8; ++rank) {
      const bool rank_fits = cap() >= 0x3000 || rank == 4;
      for (const auto type : kEightTypes) {
        EXPECT_EQ(create_modulus(dml, type, rank, floor), cap() >= 0x2100 && rank_fits ? S_OK : E_INVALIDARG)
            << "rank " << rank << " type " << type;
      }
      for (const auto type : kWideTypes) {
        EXPECT_EQ(create_modulus(dml, type, rank, floor), cap() >= 0x6000 ? S_OK : E_INVALIDARG)
            << "rank " << rank << " type " << type;
      }
      EXPECT_EQ(create_modulus(dml, DML_TENSOR_DATA_TYPE_FLOAT64, rank, floor), E_INVALIDARG);
    }
  }
  EXPECT_EQ(create_modulus(dml, DML_TENSOR_DATA_TYPE_INT64, 9, true), E_INVALIDARG);
}

TEST(Levels, TheDeviceNamesItsLevelAndNoHigher) {
  const Dml dml;
  const DML_FEATURE_LEVEL all[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1,
                                   DML_FEATURE_LEVEL_3_0, DML_FEATURE_LEVEL_3_1, DML_FEATURE_LEVEL_4_0,
                                   DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0, DML_FEATURE_LEVEL_5_1,
                                   DML_FEATURE_LEVEL_5_2, DML_FEATURE_LEVEL_6_0, DML_FEATURE_LEVEL_6_1,
                                   DML_FEATURE_LEVEL_6_2, DML_FEATURE_LEVEL_6_3, DML_FEATURE_LEVEL_6_4};
  const DML_FEATURE_QUERY_FEATURE_LEVELS query{static_cast<UINT>(std::size(all)), all};
  DML_FEATURE_DATA_FEATURE_LEVELS data{};
  ASSERT_EQ(dml.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof(query), &query, sizeof(data), &data),
            S_OK);
  EXPECT_EQ(static_cast<unsigned>(data.MaxSupportedFeatureLevel), cap());
  for (const auto level : all) {
    ComPtr<IDMLDevice> device;
    EXPECT_EQ(DMLCreateDevice1(dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, level, IID_PPV_ARGS(&device)),
              static_cast<unsigned>(level) <= cap() ? S_OK : kUnsupported);
  }
  ComPtr<IDMLDevice1> device1;  // introduced with 2_1
  EXPECT_EQ(dml.device.As(&device1), cap() >= 0x2100 ? S_OK : E_NOINTERFACE);
}

TEST(Levels, TensorsOf64BitsCameWith3_0AndOf4BitsWith6_3) {
  const Dml dml;
  for (int type = 0; type <= 14; ++type) {
    EXPECT_EQ(dml.supports(type),
              type >= 1 && (type <= 8 || (type <= 11 && cap() >= 0x3000) || (type <= 13 && cap() >= 0x6300)))
        << type;
  }
}

TEST(Levels, OtherRowsFollowTheirTables) {
  const Dml dml;
  // IDENTITY supports FLOAT32 in four dimensions at every level, and 64-bit integers since 4_1.
  const auto identity = [&](DML_TENSOR_DATA_TYPE type) {
    const Tensor tensor(type, {1, 1, 1, 4});
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{&tensor.desc, &tensor.desc, nullptr};
    ComPtr<IDMLOperator> op;
    return dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op);
  };
  EXPECT_EQ(identity(DML_TENSOR_DATA_TYPE_FLOAT32), S_OK);
  EXPECT_EQ(identity(DML_TENSOR_DATA_TYPE_INT64), cap() >= 0x4100 ? S_OK : E_INVALIDARG);
  EXPECT_EQ(create_modulus(dml, DML_TENSOR_DATA_TYPE_FLOAT32, 4, true), cap() >= 0x2100 ? S_OK : E_INVALIDARG);
  if (cap() < 0x2100) {
    EXPECT_NE(std::string(anydml_last_error()).find("is of feature level 2_1; this device offers"), std::string::npos)
        << anydml_last_error();
  }
}

}  // namespace
}  // namespace anydml::test
