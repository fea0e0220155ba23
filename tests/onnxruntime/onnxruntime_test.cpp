// SPDX-License-Identifier: MIT
// The ONNX Runtime provider without ONNX Runtime: the groups of nodes, the options, and the library's own functions
// with tables that pretend to be a runtime.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnxruntime/api.h"
#include "onnxruntime/devices.h"
#include "onnxruntime/groups.h"
#include "onnxruntime/model_file.h"
#include "onnxruntime/options.h"

namespace anydml::ort::test {
namespace {

// ---- Memory of devices ----------------------------------------------------------------------------------------------

TEST(Pool, UsesMemoryAgain) {
  DevicePool pool(nullptr);
  EXPECT_EQ(pool.take(0), nullptr);
  EXPECT_EQ(pool.take(SIZE_MAX), nullptr);
  void* const first = pool.take(1000);
  void* const second = pool.take(1000);
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first, second);
  pool.give_back(first);
  pool.give_back(first);  // it is unused already
  EXPECT_EQ(pool.take(1010), first);
  EXPECT_NE(pool.take(100000), first);
  pool.give_back(second);
  pool.give_back(nullptr);
}

TEST(Pool, KeepsNoMoreThanWasUsedAtOnce) {
  DevicePool pool(nullptr);
  for (std::size_t bytes = std::size_t{1} << 20; bytes < std::size_t{1} << 25; bytes += std::size_t{1} << 20) {
    void* const block = pool.take(bytes);
    ASSERT_NE(block, nullptr);
    pool.give_back(block);
    EXPECT_LE(pool.unused_bytes(), bytes + bytes / 4);
  }
}

// ---- Groups ---------------------------------------------------------------------------------------------------------

using Groups = std::vector<std::vector<std::size_t>>;

GroupedNode taken(std::vector<std::size_t> before) { return {true, std::move(before)}; }
GroupedNode left(std::vector<std::size_t> before) { return {false, std::move(before)}; }

TEST(Groups, OneGroupIfAllNodesAreTaken) {
  EXPECT_EQ(convex_groups({taken({}), taken({0}), taken({0}), taken({1, 2})}), (Groups{{0, 1, 2, 3}}));
}

TEST(Groups, ANodeOutsideDividesThePathsOverIt) {
  // 0 -> 1 (left) -> 2, and 0 -> 3 beside it: 0 and 3 form a group, and 2 another one.
  EXPECT_EQ(convex_groups({taken({}), left({0}), taken({1}), taken({0})}), (Groups{{0, 3}, {2}}));
}

TEST(Groups, NodesOutsideBeforeTheFirstDoNotDivide) {
  EXPECT_EQ(convex_groups({left({}), taken({0}), left({}), taken({2, 1})}), (Groups{{1, 3}}));
}

TEST(Groups, NodesMayHaveAnyOrder) {
  EXPECT_EQ(convex_groups({taken({1}), taken({2}), taken({})}), (Groups{{2, 1, 0}}));
}

TEST(Groups, AreConvexForRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 2 + random() % 24;
    std::vector<GroupedNode> nodes(count);
    for (std::size_t i = 0; i < count; ++i) {
      nodes[i].is_taken = random() % 3 != 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (random() % 4 == 0) {
          nodes[i].before.push_back(j);
        }
      }
    }
    std::vector<int> group_of(count, -1);
    const Groups groups = convex_groups(nodes);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t node : groups[g]) {
        EXPECT_EQ(group_of[node], -1);
        group_of[node] = static_cast<int>(g);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(group_of[i] >= 0, nodes[i].is_taken);
    }
    // For each group: the nodes that a path from it reaches over a node outside of it must not be in it.
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::vector<bool> has_left(count, false);
      for (std::size_t i = 0; i < count; ++i) {
        for (const std::size_t one : nodes[i].before) {
          const bool leaves = group_of[one] == static_cast<int>(g) && group_of[i] != static_cast<int>(g);
          has_left[i] = has_left[i] || leaves || has_left[one];
        }
        EXPECT_FALSE(has_left[i] && group_of[i] == static_cast<int>(g)) << "round " << round << ", node " << i;
      }
    }
  }
}

// ---- Options --------------------------------------------------------------------------------------------------------

std::string option_error(const Settings& settings) {
  try {
    ProviderOptions options = read_provider_options(settings);
    open_device(options);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Options, AreReadFromTheSession) {
  const ProviderOptions options = read_provider_options({{"session.use_env_allocators", "1"},
                                                         {"ep.anydmlexecutionprovider.device", "cpu"},
                                                         {"ep.anydmlexecutionprovider.activations", "float"},
                                                         {"ep.anydmlexecutionprovider.literal", "1"},
                                                         {"ep.anydmlexecutionprovider.half_precision", "1"},
                                                         {"ep.anydmlexecutionprovider.kept_forms", "3"},
                                                         {"ep.anydmlexecutionprovider.threads", "2"},
                                                         {"ep.otherprovider.device", "nonsense"}});
  EXPECT_EQ(options.device_name, "cpu");
  EXPECT_EQ(options.threads, 2U);
  const anydml_onnx_options given = options.for_models();
  EXPECT_EQ(given.flags, ANYDML_ONNX_LITERAL | ANYDML_ONNX_ALLOW_HALF_PRECISION | ANYDML_ONNX_FLOAT_ACTIVATIONS);
  EXPECT_EQ(given.kept_forms, 3U);
}

TEST(Options, Activations) {
  const auto flags = [](const char* text) {
    return read_provider_options({{"ep.anydmlexecutionprovider.activations", text}}).for_models().flags;
  };
  EXPECT_EQ(flags("model"), 0U);
  EXPECT_EQ(flags("float"), ANYDML_ONNX_FLOAT_ACTIVATIONS);
  EXPECT_EQ(flags("integer"), ANYDML_ONNX_INTEGER_ACTIVATIONS);
  EXPECT_EQ(option_error({{"ep.anydmlexecutionprovider.activations", "4"}}),
            "AnyDmlExecutionProvider: option activations is \"4\"; expected model, float or integer");
}

TEST(Options, ErrorsNameTheOptionAndTheReason) {
  EXPECT_EQ(option_error({{"ep.anydmlexecutionprovider.literal", "perhaps"}}),
            "AnyDmlExecutionProvider: option literal is \"perhaps\"; expected 0 or 1");
  EXPECT_EQ(option_error({{"ep.anydmlexecutionprovider.threads", "0"}}),
            "AnyDmlExecutionProvider: option threads is \"0\"; expected a number from 1 to 1024");
  EXPECT_EQ(option_error({{"ep.anydmlexecutionprovider.kept_forms", "1x"}}),
            "AnyDmlExecutionProvider: option kept_forms is \"1x\"; expected a number from 1 to 65536");
  EXPECT_EQ(option_error({{"ep.anydmlexecutionprovider.colour", "red"}}),
            "AnyDmlExecutionProvider: there is no option colour; the options are activations, device, "
            "half_precision, kept_forms, literal and threads");
  EXPECT_NE(option_error({{"ep.anydmlexecutionprovider.device", "nowhere"}}).find("expected the name of a device"),
            std::string::npos);
  EXPECT_NE(option_error({{"ep.context_enable", "1"}}).find("EPContext"), std::string::npos);
  EXPECT_EQ(option_error({{"ep.context_enable", "0"}}), "");
}

TEST(Options, WeightlessSessionsAreRefusedByName) {
  for (const auto& [name, value] : Settings{
           {"ep.enable_weightless", "1"}, {"ep.enable_weightless_mode", "1"}, {"ep.enable_weightless_mode", "2"}}) {
    const std::string error = option_error({{name, value}});
    EXPECT_NE(error.find("option " + name + " is " + value + ", but the provider has no weightless sessions"),
              std::string::npos)
        << error;
  }
  EXPECT_EQ(option_error({{"ep.enable_weightless", "0"}, {"ep.enable_weightless_mode", "0"}}), "");
}

// ---- The model's file -----------------------------------------------------------------------------------------------

std::string field(unsigned number, const std::string& bytes) {
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}

// A model whose graph has the initializer "w" with these bytes.
std::string model_with(const std::string& weights) {
  const std::string version = {8, 8};
  return version + field(7, field(2, "graph") + field(5, field(8, "v")) + field(5, field(8, "w") + field(9, weights)));
}

class ModelFiles : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  // Where the file has the bytes as "w".
  std::optional<std::uint64_t> offset(const std::string& contents, const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << contents;
    return ModelFile(path_).offset_of("w", std::as_bytes(std::span(bytes)));
  }

  const std::string path_ = ::testing::TempDir() + "onnxruntime_test_" + std::to_string(getpid());
};

TEST_F(ModelFiles, HaveTheBytesOfWeights) {
  const std::string model = model_with("abcd");
  EXPECT_EQ(offset(model, "abcd"), model.find("abcd"));
  EXPECT_EQ(offset(model, "abce"), std::nullopt);
  EXPECT_EQ(offset(model, "abc"), std::nullopt);
  EXPECT_EQ(offset("", "abcd"), std::nullopt);
  EXPECT_EQ(ModelFile("").offset_of("w", {}), std::nullopt);
  EXPECT_EQ(ModelFile(::testing::TempDir()).offset_of("w", {}), std::nullopt);
}

TEST_F(ModelFiles, MayBeWrong) {
  const std::string model = model_with("abcd");
  for (std::size_t size = 0; size < model.size(); ++size) {
    EXPECT_EQ(offset(model.substr(0, size), "abcd"), std::nullopt);  // a length exceeds the file
  }
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string changed = model;
    for (int i = 0; i < 3; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    const auto found = offset(changed, "abcd");
    EXPECT_TRUE(!found.has_value() || changed.substr(*found, 4) == "abcd");
  }
}

// ---- The library ----------------------------------------------------------------------------------------------------

struct FakeStatus {
  ErrorCode code;
  std::string message;
};

Status* fake_create_status(ErrorCode code, const char* message) {
  return reinterpret_cast<Status*>(new FakeStatus{code, message});
}

// The tables of a runtime with only the functions that the tests need.
std::array<void*, 512> g_functions{};
std::array<void*, 16> g_ep_functions{};
std::string g_version;

const void* fake_ep_api() { return g_ep_functions.data(); }
const Api* fake_get_api(std::uint32_t version) {
  return version <= kApiVersion ? reinterpret_cast<const Api*>(g_functions.data()) : nullptr;
}
const char* fake_version() { return g_version.c_str(); }

using Create = Status*(const char*, const ApiBase*, const Logger*, EpFactory**, std::size_t, std::size_t*);
using Release = Status*(EpFactory*);

class Library : public ::testing::Test {
 protected:
  void SetUp() override {
    g_functions[0] = reinterpret_cast<void*>(&fake_create_status);
    g_functions[317] = reinterpret_cast<void*>(&fake_ep_api);
    g_version = "1.23.2";
    void* const library = dlopen(ANYDML_PROVIDER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    create_ = reinterpret_cast<Create*>(dlsym(library, "CreateEpFactories"));
    release_ = reinterpret_cast<Release*>(dlsym(library, "ReleaseEpFactory"));
    ASSERT_NE(create_, nullptr);
    ASSERT_NE(release_, nullptr);
    EXPECT_EQ(dlsym(library, "GetProvider"), nullptr);  // the runtime would take it for a library of another kind
  }

  // Returns the message of a failure and releases its status.
  static std::string message_of(Status* status) {
    auto* const fake = reinterpret_cast<FakeStatus*>(status);
    const std::string message = fake->message;
    delete fake;
    return message;
  }

  const ApiBase base_ = {&fake_get_api, &fake_version};
  Create* create_ = nullptr;
  Release* release_ = nullptr;
};

TEST_F(Library, CreatesAFactory) {
  EpFactory* factory = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(create_("name", &base_, nullptr, &factory, 1, &count), nullptr);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(factory->version, kApiVersion);
  EXPECT_EQ(std::string(factory->GetName(factory)), kProviderName);
  EXPECT_EQ(std::string(factory->GetVendor(factory)), "anydml");
  DataTransfer* transfer = nullptr;
  EXPECT_EQ(factory->CreateDataTransfer(factory, &transfer), nullptr);
  EXPECT_EQ(transfer, nullptr);
  EXPECT_EQ(release_(factory), nullptr);
}

TEST_F(Library, RefusesOldRuntimesByTheirVersion) {
  g_version = "1.22.1";
  EpFactory* factory = nullptr;
  std::size_t count = 7;
  Status* const status = create_("name", &base_, nullptr, &factory, 1, &count);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(message_of(status), "anydml needs ONNX Runtime 1.23 or newer; this is 1.22.1");
  EXPECT_EQ(count, 0U);
}

TEST_F(Library, RefusesARuntimeWithoutRoom) {
  EpFactory* factory = nullptr;
  std::size_t count = 0;
  Status* const status = create_("name", &base_, nullptr, &factory, 0, &count);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(message_of(status), "anydml: there is no room for a provider factory");
}

}  // namespace
}  // namespace anydml::ort::test
