// SPDX-License-Identifier: MIT
// Checks the inputs whose true results are nearest to a midpoint of two FLOAT32 numbers (data/functions/hardest.txt),
// for the definitions and, if the library has the operator, for the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "oracles.h"
#include "rows.h"

namespace anydml::functions {
namespace {

struct Cases {
  std::vector<f32> inputs;
  std::vector<u32> results;
};

const std::map<std::string, Cases>& all_cases() {
  static const std::map<std::string, Cases> cases = [] {
    std::map<std::string, Cases> read;
    std::ifstream file(ANYDML_HARDEST);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      u32 input = 0;
      u32 result = 0;
      if (!line.starts_with('#') && words >> name >> std::hex >> input >> result) {
        read[name].inputs.push_back(from_bits<f32>(input));
        read[name].results.push_back(result);
      }
    }
    return read;
  }();
  return cases;
}

void expect_same(const Cases& cases, const std::vector<f32>& results, const std::string& of) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(to_bits(results[i]), cases.results[i])
        << of << " of " << std::hexfloat << cases.inputs[i] << " is " << results[i];
  }
}

class Hardest : public testing::TestWithParam<std::size_t> {};

TEST_P(Hardest, IsRight) {
  const Oracle& oracle = kOracles[GetParam()];
  const auto found = all_cases().find(std::string(oracle.name));
  ASSERT_NE(found, all_cases().end()) << ANYDML_HARDEST " has no " << oracle.name << ": prove --write-hardest adds it";
  const Cases& cases = found->second;
  ASSERT_GE(cases.inputs.size(), 20U) << oracle.name;
  std::vector<f32> results(cases.inputs.size());
  oracle.ours(cases.inputs.data(), results.data(), results.size());
  expect_same(cases, results, "the definition");
  for (const Row& row : kRows) {
    if (row.name == oracle.name && is_built(row, ANYDML_FLOAT32)) {
      ASSERT_TRUE(run_row(row, ANYDML_FLOAT32, results.data(), results.size(), cases.inputs.data()))
          << anydml_last_error();
      expect_same(cases, results, row.op);
    }
  }
}

TEST(HardestFile, NamesNoUnknownFunction) {
  for (const auto& [name, cases] : all_cases()) {
    EXPECT_NE(std::ranges::find(kOracles, name, &Oracle::name), std::end(kOracles)) << name;
  }
}

// The sign of the NaN from 0 * infinity differs between processors. It must not determine the sign of the 0.
TEST(ScaledTanh, OfInfinitiesTimesZeroHasTheirSigns) {
  const int64_t sizes[] = {4};
  f32 in[] = {INFINITY, -INFINITY, 1.0F, -1.0F};
  f32 out[4];
  const anydml_tensor input = {ANYDML_FLOAT32, 1, sizes, nullptr, in};
  const anydml_tensor output = {ANYDML_FLOAT32, 1, sizes, nullptr, out};
  anydml_attribute attributes[] = {{"Alpha", ANYDML_FLOAT64, 0, {}}, {"Beta", ANYDML_FLOAT64, 0, {}}};
  attributes[1].value.f64 = 1;
  ASSERT_EQ(anydml_run(nullptr, "ACTIVATION_SCALED_TANH", &input, 1, &output, 1, attributes, 2), ANYDML_OK)
      << anydml_last_error();
  for (std::size_t i = 0; i < std::size(in); ++i) {
    EXPECT_EQ(to_bits(out[i]), to_bits(in[i] > 0 ? 0.0F : -0.0F)) << in[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Hardest, testing::Range<std::size_t>(0, std::size(kOracles)),
                         [](const testing::TestParamInfo<std::size_t>& one) {
                           return std::string(kOracles[one.param].name);
                         });

}  // namespace
}  // namespace anydml::functions
