// SPDX-License-Identifier: MIT
// Tests, without a GPU, the source that is generated for programs. The tests check the text of the source and compile
// it with NVRTC, if that is available. Testing the results of the kernels requires a GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/cuda/recent_objects.h"
#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/interpreter.h"

namespace anydml::cuda {

// The interpreter's table is device code. This replacement describes the entries, without attributes.
bool find_function(EntryId id, std::uint32_t variant, CodeFunction& function) noexcept {
  const Entry& of = entry(id);
  if (variant >= of.variants.size()) {
    return false;
  }
  function = {};
  function.inputs = of.inputs;
  for (std::size_t i = 0; i <= of.inputs; ++i) {
    function.element_sizes[i] = static_cast<std::uint8_t>(element_size(of.variants[variant][i]));
  }
  return true;
}

namespace {

// A step with the entry and a copy of its result.
ElementStep step_of(const Entry& of, std::uint32_t variant) {
  const DataType result = of.variants[variant][of.inputs];
  const Entry& identity = entry(EntryId::ELEMENT_WISE_IDENTITY);
  ElementStep step{};
  step.loads = of.inputs;
  for (std::uint16_t i = 0; i < of.inputs; ++i) {
    step.types[i] = of.variants[variant][i];
  }
  step.types[of.inputs] = result;
  Instruction first{.entry = of.id, .variant = static_cast<std::uint16_t>(variant), .sources = {}, .attributes = {}};
  for (std::uint16_t i = 0; i < of.inputs; ++i) {
    first.sources[i] = i;
  }
  Instruction second{.entry = identity.id,
                     .variant = static_cast<std::uint16_t>(find_variant(identity, result)),
                     .sources = {of.inputs},
                     .attributes = {}};
  step.program = {first, second};
  step.stored = {static_cast<std::uint16_t>(of.inputs + 1)};
  return step;
}

TEST(FusedSource, SaysTheProgram) {
  FusedSource source;
  ASSERT_TRUE(write_fused(step_of(entry(EntryId::ELEMENT_WISE_ADD), 0), source));
  EXPECT_NE(source.source.text.find("u32 operator()(u32 v0, u32 v1) const"), std::string::npos) << source.source.text;
  EXPECT_NE(
      source.source.text.find("const auto v2 = call_by_bits<VariantAt<decltype(variants_over<Add>(AllTypes{})), 0>"),
      std::string::npos)
      << source.source.text;
  EXPECT_EQ(source.set.inputs, 2);
  EXPECT_EQ(source.set.vector_elements, 4);
}

TEST(FusedSource, LeavesOutWhatKernelsDoNotTake) {
  ElementStep several = step_of(entry(EntryId::ELEMENT_WISE_ADD), 0);
  several.stored = {2, 3};
  FusedSource source;
  EXPECT_FALSE(write_fused(several, source));
  ElementStep other_size = step_of(entry(EntryId::ELEMENT_WISE_ADD), 0);
  other_size.types[0] = DataType::FLOAT16;
  EXPECT_FALSE(write_fused(other_size, source));
}

TEST(FusedSource, SeveralStoresGoElementByElement) {
  ElementStep several = step_of(entry(EntryId::ELEMENT_WISE_ADD), 0);
  several.stored = {2, 3};
  several.types[3] = DataType::FLOAT32;
  InlinedSource source;
  ASSERT_TRUE(write_each(several, source));
  EXPECT_NE(source.text.find("void operator()(u32 index) const"), std::string::npos) << source.text;
  EXPECT_NE(source.text.find("store_element<u32>(launch.addresses[2] + offsets[2], v2"), std::string::npos);
  EXPECT_NE(source.text.find("store_element<u32>(launch.addresses[3] + offsets[3], v3"), std::string::npos);
  KernelBinary binary;
  std::string why;
  if (!runtime_compiler().empty()) {
    EXPECT_TRUE(compile_source(each_kernel(source), "sm_90", binary, why)) << why;
  }
}

TEST(RecentObjects, KeepsWhatIsUsedAndWhatWasAskedForLast) {
  RecentObjects<int> kept(2);
  const auto add = [&](const char* name) {
    auto value = std::make_shared<int>(1);
    kept.add(name, value);
    return value;
  };
  const auto used = add("used");
  add("b");
  add("c");  // evicts "b", because "used" is in use
  EXPECT_EQ(kept.find("b"), nullptr);
  ASSERT_NE(kept.find("used"), nullptr);
  EXPECT_EQ(*kept.find("used"), used);
  const auto also_used = add("d");
  EXPECT_EQ(kept.find("c"), nullptr);
  add("e");  // the new value is kept although the limit is two, because two values are in use
  EXPECT_NE(kept.find("e"), nullptr);
  kept.add("none", nullptr);
  EXPECT_EQ(kept.find("e"), nullptr);
  ASSERT_NE(kept.find("none"), nullptr);
  EXPECT_EQ(*kept.find("none"), nullptr);
  EXPECT_EQ(kept.size(), 3U);
}

// Compiling an entry takes almost a second, so only every fourth entry is compiled unless all are requested.
TEST(FusedSource, EntriesCompile) {
  const std::size_t step = std::getenv("ANYDML_TEST_ALL_ENTRIES") != nullptr ? 1 : 4;
  for (std::size_t i = 0; i < entries().size(); i += step) {
    const Entry& of = entries()[i];
    FusedSource source;
    ASSERT_TRUE(write_fused(step_of(of, 0), source)) << of.name;
    KernelBinary binary;
    std::string why;
    const bool compiled = compile_source(source.source, "sm_90", binary, why);
    if (!compiled && why.find("was not found") != std::string::npos) {
      GTEST_SKIP() << why;
    }
    EXPECT_TRUE(compiled) << of.name << ": " << why;
    EXPECT_FALSE(binary.code.empty());
    EXPECT_NE(binary.names[0], binary.names[1]);
  }
}

}  // namespace
}  // namespace anydml::cuda
