// SPDX-License-Identifier: MIT
// Tests the linker of SPIR-V modules and the kernels that are written with it, without a device: what it links, what it
// refuses, and that spirv-val (if the build machine has it) finds the kernels valid.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/vulkan/spirv/builder.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/kernel.h"
#include "backend/vulkan/spirv/loop_guard.h"
#include "backend/vulkan/spirv/primitives.h"
#include "ops/elementwise/entries.h"
#include "ops/elementwise/vulkan/element_kernel.h"
#include "ops/elementwise/vulkan/tables.h"

namespace anydml::vulkan {
namespace {

using spirv::Builder;
using spirv::Id;
using spirv::Library;
using spirv::Op;
using spirv::Primitive;
using spirv::Words;

constexpr std::uint64_t kAllNative = (std::uint64_t{1} << spirv::kPrimitiveCount) - 1;

GpuProperties gpu_with(std::uint64_t primitives) {
  GpuProperties gpu;
  gpu.has_float64 = true;
  gpu.modes_are_independent = true;
  gpu.modes_32 = gpu.modes_64 = {true, true, true};
  gpu.primitives = primitives;
  return gpu;
}

// round_away has no native version on any device.
std::uint64_t possible(std::uint64_t native) {
  return native & ~spirv::primitive_bit(Primitive::f32_round_away) & ~spirv::primitive_bit(Primitive::f64_round_away);
}

std::size_t count_of(const Words& words, Op op) {
  std::size_t count = 0;
  Library::for_each(std::span(words).subspan(spirv::kHeaderWords),
                    [&](const spirv::Instruction& instruction) { count += instruction.op == op ? 1 : 0; });
  return count;
}

// The complaint of spirv-val, or nothing. ANYDML_SPIRV_VAL is its path, or empty.
std::string complaint_about(const Words& words) {
  const std::string tool = ANYDML_SPIRV_VAL;
  if (tool.empty()) {
    return {};
  }
  const std::string path = testing::TempDir() + "/anydml_spirv_test_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  std::string output;
  const std::string options = " --target-env vulkan1.2 --scalar-block-layout ";
  std::FILE* const pipe = popen((tool + options + path + " 2>&1").c_str(), "r");
  char line[256];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe) != nullptr) {
    output += line;
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  std::remove(path.c_str());
  return status == 0 ? std::string() : output + "(status " + std::to_string(status) + ")";
}

const Words& library_words() {
  static const Words words = [] {
    std::ifstream file(ANYDML_VULKAN_FUNCTIONS, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    Words read(bytes.size() / 4);
    std::copy_n(bytes.data(), read.size() * 4, reinterpret_cast<char*>(read.data()));
    return read;
  }();
  return words;
}

std::string refusal_of(const Words& words) {
  std::string why;
  return Library::read(words, why) ? std::string() : why;
}

// A module with a function that returns its argument, under this name.
Words small_library(const std::string& name, const std::string& calls = {}) {
  Words words = {spirv::kMagic, spirv::kVersion, 0, 20, 0};
  const auto add = [&words](Op op, Words operands) {
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | static_cast<std::uint32_t>(op));
    words.insert(words.end(), operands.begin(), operands.end());
  };
  const auto link = [&](Id id, const std::string& of, std::uint32_t kind) {
    Words operands = {id, static_cast<std::uint32_t>(spirv::Decoration::linkage)};
    operands.resize(2 + of.size() / 4 + 1);
    std::copy(of.begin(), of.end(), reinterpret_cast<char*>(operands.data() + 2));
    operands.push_back(kind);
    add(Op::Decorate, operands);
  };
  link(3, name, spirv::kExport);
  if (!calls.empty()) {
    link(8, calls, spirv::kImport);
  }
  add(Op::TypeInt, {1, 32, 0});
  add(Op::TypeFunction, {2, 1, 1});
  if (!calls.empty()) {
    add(Op::Function, {1, 8, 0, 2});
    add(Op::FunctionParameter, {1, 9});
    add(Op::FunctionEnd, {});
  }
  add(Op::Function, {1, 3, 0, 2});
  add(Op::FunctionParameter, {1, 4});
  add(Op::Label, {5});
  if (calls.empty()) {
    add(Op::ReturnValue, {4});
  } else {
    add(Op::FunctionCall, {1, 10, 8, 4});
    add(Op::ReturnValue, {10});
  }
  add(Op::FunctionEnd, {});
  return words;
}

TEST(SpirvLibrary, HasAllDefinitionsAndPrimitives) {
  const Library& library = spirv::function_library();
  for (const Entry& entry : entries()) {
    for (std::uint32_t variant = 0; variant < entry.variants.size(); ++variant) {
      EXPECT_NE(library.find(function_name(entry.id, variant)), nullptr) << function_name(entry.id, variant);
      const VariantFunction* const function = find_variant_function(entry.id, variant);
      ASSERT_NE(function, nullptr);
      EXPECT_EQ(function->inputs, entry.inputs);
      for (std::uint32_t i = 0; i <= function->inputs; ++i) {
        EXPECT_EQ(function->sizes[i], element_size(entry.variants[variant][i]));
      }
    }
    EXPECT_EQ(find_variant_function(entry.id, static_cast<std::uint32_t>(entry.variants.size())), nullptr);
  }
  for (std::uint32_t i = 0; i < spirv::kPrimitiveCount; ++i) {
    const std::string import = "import_" + std::string(spirv::primitive_name(static_cast<Primitive>(i)));
    EXPECT_NE(library.find(spirv::resolve_primitive(import, 0)), nullptr) << import;
    EXPECT_NE(library.find(spirv::resolve_primitive(import, possible(kAllNative))), nullptr) << import;
    EXPECT_TRUE(library.find(import) == nullptr || library.find(import)->is_import) << import;
  }
}

TEST(SpirvLibrary, ComposesPrimitivesOnlyFromThoseThatWereTried) {
  EXPECT_EQ(spirv::resolve_primitive("import_f64_fused", 0), "integer_f64_fused");
  EXPECT_EQ(spirv::resolve_primitive("import_f64_fused", spirv::composed_bit(4)), "exact_f64_fused");
  EXPECT_EQ(spirv::resolve_primitive("import_f64_of_f32", spirv::composed_bit(0)), "exact_f64_of_f32");
  EXPECT_EQ(spirv::resolve_primitive("import_f32_fused", spirv::kFusedFlushes), "quick_f32_fused");
  EXPECT_EQ(spirv::resolve_primitive("import_f32_slowly_fused", spirv::kFusedFlushes), "integer_f32_fused");
  EXPECT_EQ(spirv::resolve_primitive("import_f64_fused", spirv::primitive_bit(Primitive::f64_fused)),
            "native_f64_fused");
  EXPECT_EQ(spirv::resolve_primitive("integer_f64_fused", kAllNative), "integer_f64_fused");
  EXPECT_NE(spirv::describe_primitives(kAllNative & ~spirv::primitive_bit(Primitive::f32_fused))
                .find("in integers: f32_fused"),
            std::string::npos);
}

TEST(SpirvLibrary, RefusesOtherModules) {
  EXPECT_EQ(refusal_of(small_library("f")), "");
  EXPECT_EQ(refusal_of({}), "it is not a SPIR-V module");
  EXPECT_EQ(refusal_of({1, 2, 3, 4, 5}), "it is not a SPIR-V module");
  const Words good = small_library("f");
  const auto changed = [&](std::size_t at, std::uint32_t word) {
    Words words = good;
    words.at(at) = word;
    return refusal_of(words);
  };
  EXPECT_EQ(changed(3, 0), "its header is damaged");
  EXPECT_EQ(changed(3, 0xffffffff), "its header is damaged");
  EXPECT_NE(changed(spirv::kHeaderWords, 71), "");                                  // an instruction without a length
  EXPECT_NE(changed(spirv::kHeaderWords, 0xffff0047), "");                          // longer than the module
  EXPECT_NE(changed(spirv::kHeaderWords, good[spirv::kHeaderWords] ^ 0x1234), "");  // unknown
  Words cut = good;
  cut.pop_back();
  EXPECT_EQ(refusal_of(cut), "a function does not end");
  Words twice = good;
  const std::size_t declared = spirv::kHeaderWords + 5;  // after the decoration
  twice.insert(twice.begin() + declared, {4U << 16 | 21, 1, 32, 0});
  EXPECT_NE(refusal_of(twice), "");
}

// Damaged modules are refused, or link to some module, but never crash.
TEST(SpirvLibrary, SurvivesDamage) {
  std::mt19937 random(52);
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Words words = small_library("f", round % 2 == 0 ? "g" : "");
    for (std::uint32_t change = 0; change <= random() % 3; ++change) {
      std::uint32_t& word = words[random() % words.size()];
      word = random() % 2 == 0 ? word ^ (1U << random() % 32) : static_cast<std::uint32_t>(random() % 24);
    }
    words.resize(words.size() - (random() % 8 == 0 ? random() % words.size() : 0));
    std::string why;
    const auto library = Library::read(words, why);
    refused += library ? 0U : 1U;
    if (library && library->find("f") != nullptr) {
      try {
        Builder builder;
        static_cast<void>(builder.copy(*library, "f", [](std::string_view) { return std::string(); }));
        static_cast<void>(builder.finish_library());
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000U);
}

TEST(SpirvLibrary, IsReadOnlyIfItIsWhole) {
  std::string why;
  ASSERT_GT(library_words().size(), 1000U);
  EXPECT_TRUE(Library::read(library_words(), why)) << why;
  EXPECT_FALSE(Library::read(std::span(library_words()).first(library_words().size() / 2), why));
}

TEST(SpirvBuilder, LinksImportsAndRefusesCycles) {
  const Words calls_g = small_library("f", "g");
  const Words calls_f = small_library("g", "f");
  std::string why;
  const auto f = Library::read(calls_g, why);
  const auto g = Library::read(calls_f, why);
  ASSERT_TRUE(f && g);
  Builder library;
  const auto keep = [](std::string_view) { return std::string(); };
  const Id first = library.copy(*f, "f", keep);
  EXPECT_EQ(library.copy(*f, "f", keep), first);  // copied once
  EXPECT_EQ(count_of(library.finish_library(), Op::Function), 2U);
  Builder lacking;
  EXPECT_THROW(static_cast<void>(lacking.copy(*f, "h", keep)), std::runtime_error);
  Builder cycle;
  EXPECT_THROW(static_cast<void>(cycle.copy(*f, "f", [](std::string_view) { return std::string("f"); })),
               std::runtime_error);
}

ElementKernel kernel_of(EntryId entry, std::uint32_t variant, std::uint32_t rank, std::uint32_t vector, bool wide) {
  const VariantFunction& function = *find_variant_function(entry, variant);
  ElementKernel kernel;
  kernel.rank = rank;
  kernel.vector = vector;
  kernel.is_wide = wide;
  kernel.loads = function.inputs;
  kernel.sizes.assign(function.sizes, function.sizes + function.inputs + 1);
  ElementKernel::Call call = {entry, static_cast<std::uint16_t>(variant), {}};
  for (std::uint32_t i = 0; i < function.inputs; ++i) {
    call.sources[i] = static_cast<std::uint16_t>(i);
  }
  kernel.calls = {call};
  kernel.stored = {static_cast<std::uint16_t>(function.inputs)};
  return kernel;
}

TEST(ElementKernels, AreValid) {
  std::uint32_t number = 0;
  for (const Entry& entry : entries()) {
    // A few variants of each entry, with all primitives native, composed, and ours in turn.
    for (std::uint32_t variant = number % 3; variant < entry.variants.size();
         variant += 1 + static_cast<std::uint32_t>(entry.variants.size() / 2)) {
      const std::uint64_t native = number % 3 == 0   ? possible(kAllNative)
                                   : number % 3 == 1 ? 0
                                                     : std::uint64_t{15} << spirv::kPrimitiveCount;
      const std::vector<std::uint8_t> sizes = kernel_of(entry.id, variant, 1, 1, false).sizes;
      const std::uint32_t widest = *std::ranges::max_element(sizes);
      const std::uint32_t vector = number % 2 == 0 ? 1 : 16 / widest;
      const ElementKernel kernel = kernel_of(entry.id, variant, 1 + number % 4, vector, number % 5 == 0);
      const Words words = write_kernel(kernel, gpu_with(native));
      EXPECT_EQ(complaint_about(words), "") << kernel.key();
      EXPECT_EQ(count_of(words, Op::SRem) + count_of(words, Op::SMod), 0U) << kernel.key();  // Vulkan defines neither
      ++number;
    }
  }
  EXPECT_GT(number, kEntryCount);
}

TEST(ElementKernels, RoundEveryOperationAndRequestModes) {
  const auto add = static_cast<std::uint32_t>(0);  // FLOAT32 is the first type
  const Words native = write_kernel(kernel_of(EntryId::ELEMENT_WISE_ADD, add, 1, 4, false), gpu_with(kAllNative));
  EXPECT_EQ(count_of(native, Op::FAdd), 1U);
  EXPECT_EQ(count_of(native, Op::FunctionCall), 5U);  // four elements, and the primitive in their function
  std::size_t contractions = 0;
  std::size_t modes = 0;
  Library::for_each(std::span(native).subspan(spirv::kHeaderWords), [&](const spirv::Instruction& instruction) {
    contractions += instruction.op == Op::Decorate && instruction.words[1] == 42 ? 1U : 0U;
    modes += instruction.op == Op::ExecutionMode ? 1 : 0;
  });
  EXPECT_EQ(contractions, 1U);
  EXPECT_EQ(modes, 4U);  // the group's size, and three modes for FLOAT32
  const Words ours = write_kernel(kernel_of(EntryId::ELEMENT_WISE_ADD, add, 1, 4, false), gpu_with(0));
  EXPECT_EQ(count_of(ours, Op::FAdd), 0U);
  EXPECT_EQ(count_of(ours, Op::TypeFloat), 0U);  // no trace of the device's floats
}

// The words of a shader that the build compiled, as a list in C.
Words shader_words(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::ranges::replace_if(
      text, [](char letter) { return letter == '{' || letter == '}' || letter == ','; }, ' ');
  std::istringstream numbers(text);
  Words words;
  for (std::string number; numbers >> number;) {
    words.push_back(static_cast<std::uint32_t>(std::stoul(number, nullptr, 0)));
  }
  return words;
}

TEST(Shaders, AreValidWhenTheyAreLinked) {
  std::size_t linked = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(ANYDML_VULKAN_SHADERS)) {
    if (file.path().extension() != ".inc") {
      continue;
    }
    SCOPED_TRACE(file.path().filename().string());
    const Words words = shader_words(file.path());
    ASSERT_GT(words.size(), spirv::kHeaderWords);
    const std::string_view text(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0]));
    if (text.find("import_") == std::string_view::npos) {
      EXPECT_EQ(complaint_about(words), "");
      EXPECT_EQ(complaint_about(spirv::guard_loops(words)), "");
      continue;
    }
    for (const std::uint64_t native : {possible(kAllNative), std::uint64_t{0}}) {
      const Words kernel = spirv::linked_kernel("test", words, gpu_with(native)).make();
      EXPECT_EQ(complaint_about(kernel), "");
      EXPECT_EQ(complaint_about(spirv::guard_loops(kernel)), "");
      EXPECT_EQ(count_of(kernel, Op::SRem) + count_of(kernel, Op::SMod), 0U);
      if (native == 0) {
        EXPECT_EQ(count_of(kernel, Op::TypeFloat), 0U);
      }
    }
    ++linked;
  }
  EXPECT_GT(linked, 0U);
}

}  // namespace
}  // namespace anydml::vulkan
