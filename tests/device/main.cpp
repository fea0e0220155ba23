// SPDX-License-Identifier: MIT
// device_conformance checks a device against backend.h through its backend's table. scripts/conform.py runs it together
// with the tests for the layers above.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "anydml_build/hash.h"
#include "backend/core.h"
#include "device/device.h"

namespace anydml::device {

Device g_device;

namespace {

constexpr const char* kUsage =
    R"(usage: device_conformance [--device NAME] [--plugins FOLDER] [--limit SECONDS] [GoogleTest's options]
       device_conformance --plugin FILE [--index N] ...

Checks a device against the contract of src/backend/backend.h, through its backend's table.

  --device NAME      the device, as ANYDML_ADAPTER names it: cpu, cuda:0 (ANYDML_ADAPTER, or the first)
  --plugins FOLDER   the folder of plugins, as in ANYDML_PLUGINS
  --plugin FILE      the path of a plugin, which this program loads itself
  --index N          which of the plugin's devices (0)
  --limit SECONDS    time after which a test counts as hung (ANYDML_TEST_LIMIT, or 120)
  --describe         describes the device and exits
  --help             this text, and GoogleTest's options
)";

// ---- A test that hangs ----------------------------------------------------------------------------------------------

char g_hung[256];

void end_hung(int) {
  static_cast<void>(!write(STDOUT_FILENO, g_hung, std::strlen(g_hung)));
  _exit(3);
}

class Limit final : public testing::EmptyTestEventListener {
 public:
  explicit Limit(unsigned seconds) : seconds_(seconds) { std::signal(SIGALRM, end_hung); }
  void OnTestStart(const testing::TestInfo& test) override {
    std::snprintf(g_hung, sizeof(g_hung),
                  "%s.%s hangs: it has not ended after %u seconds; expected all work to finish, and no function "
                  "but wait to block\n",
                  test.test_suite_name(), test.name(), seconds_);
    alarm(seconds_);
  }
  void OnTestEnd(const testing::TestInfo&) override { alarm(0); }

 private:
  unsigned seconds_;
};

// ---- The device -----------------------------------------------------------------------------------------------------

[[noreturn]] void leave(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "device_conformance: %s\n", text.c_str());
  std::exit(2);
}

const BackendTable& load_plugin(const std::string& file) {
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    leave(std::string("--plugin: ") + dlerror());
  }
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry));
  if (entry == nullptr) {
    leave("--plugin: " + file + " has no function " + kPluginEntry + "; expected one with C linkage (backend.h)");
  }
  const char* message = nullptr;
  const BackendTable* const table = entry(&message);
  if (table == nullptr) {
    leave("--plugin: " + file + ": " + (message != nullptr ? message : "it found no devices and gave no reason"));
  }
  if (table->build != kBuildHash) {
    leave("--plugin: " + file +
          " was built from different headers than this program; expected a plugin of this tree, with kBuildHash as "
          "`build`");
  }
  return *table;
}

const BackendSettings& settings() {
  static const char* const threads = std::getenv("ANYDML_THREADS");
  static const char* const target = std::getenv("ANYDML_CPU_TARGET");
  static const BackendSettings built{
      .threads = threads != nullptr ? static_cast<std::uint32_t>(std::strtoul(threads, nullptr, 10)) : 0,
      .cpu_target = target != nullptr ? target : ""};
  return built;
}

BackendDevice* open_index(const BackendTable& table, std::uint32_t index, std::string& why) {
  BackendDevice* opened = nullptr;
  const BackendStatus status = table.open(index, &settings(), &opened);
  if (status.code != BackendCode::ok || opened == nullptr) {
    why = std::string("open of device ") + std::to_string(index) + ": " +
          (status.message != nullptr ? status.message : "no device, and no reason given");
    return nullptr;
  }
  return opened;
}

// Finds the table of the device that the library chooses, and the device's index in it.
void find_by_name() {
  const CoreTable* const core = core_of_this_build("device_conformance");
  if (core == nullptr || core->device_count() == 0) {
    std::exit(2);  // the reason has already been reported
  }
  const CoreDevice& chosen = *core->device(0);
  g_device.table = chosen.backend;
  for (g_device.index = 0; g_device.index < chosen.backend->device_count(); ++g_device.index) {
    std::string why;
    BackendDevice* const opened = open_index(*chosen.backend, g_device.index, why);
    if (opened == nullptr) {
      continue;  // try the table's next device
    }
    BackendDeviceInfo info{};
    chosen.backend->describe(opened, &info);
    chosen.backend->close(opened);
    if (std::string_view(info.name) == chosen.info->name) {
      return;
    }
  }
  leave(std::string("device ") + chosen.info->name +
        " is open in the library and cannot be opened again; expected `open` to work more than once");
}

void check_table(const BackendTable& table) {
  if (table.name == nullptr || *table.name == '\0') {
    leave("the table has no name; expected one such as \"cuda\"");
  }
  const std::pair<const char*, bool> required[] = {
      {"device_count", table.device_count != nullptr},
      {"open", table.open != nullptr},
      {"close", table.close != nullptr},
      {"describe", table.describe != nullptr},
      {"allocate", table.allocate != nullptr},
      {"release", table.release != nullptr},
      {"buffer_bytes", table.buffer_bytes != nullptr},
      {"compile", table.compile != nullptr},
      {"temporary_bytes", table.temporary_bytes != nullptr},
      {"destroy", table.destroy != nullptr},
      {"create_queue", table.create_queue != nullptr},
      {"destroy_queue", table.destroy_queue != nullptr},
      {"copy", table.copy != nullptr},
      {"fill", table.fill != nullptr},
      {"run", table.run != nullptr},
      {"timestamp", table.timestamp != nullptr},
      {"mark", table.mark != nullptr},
      {"destroy_mark", table.destroy_mark != nullptr},
      {"is_passed", table.is_passed != nullptr},
      {"wait", table.wait != nullptr},
      {"follow", table.follow != nullptr},
      {"explain", table.explain != nullptr},
  };
  for (const auto& [name, is_there] : required) {
    if (!is_there) {
      leave(std::string("the table has no function ") + name + "; backend.h says which may be null");
    }
  }
}

void describe() {
  const BackendDeviceInfo& info = g_device.info;
  std::printf("%s: %s\n%llu MiB of memory%s%s%s\n", info.name, info.description,
              static_cast<unsigned long long>(info.memory_bytes >> 20),
              info.unified_memory != 0 ? ", shared with the CPU" : "",
              info.shares_addresses != 0 ? ", in the process's address space" : ", in its own address space",
              info.asynchronous != 0 ? "; asynchronous" : "; synchronous");
}

}  // namespace

BackendDevice* open_another() {
  std::string why;
  BackendDevice* const opened = open_index(*g_device.table, g_device.index, why);
  EXPECT_NE(opened, nullptr) << why;
  return opened;
}

int main(int count, char** arguments) {
  std::string plugin;
  std::uint32_t index = 0;
  const char* const told_limit = std::getenv("ANYDML_TEST_LIMIT");
  unsigned limit = told_limit != nullptr ? static_cast<unsigned>(std::strtoul(told_limit, nullptr, 10)) : 120;
  bool only_describe = false;
  std::vector<char*> rest = {arguments[0]};
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    if (option.starts_with("--gtest")) {
      rest.push_back(arguments[i]);
      continue;
    }
    if (option == "--help" || option == "-h") {
      std::printf("%s\n", kUsage);
      rest.push_back(arguments[i]);
      continue;
    }
    if (option == "--describe") {
      only_describe = true;
      continue;
    }
    const bool known = option == "--device" || option == "--plugins" || option == "--plugin" || option == "--index" ||
                       option == "--limit";
    if (!known || i + 1 == count) {
      leave(known ? std::string(option) + " needs a value\n" + kUsage
                  : "unknown option '" + std::string(option) + "'\n" + kUsage);
    }
    const char* const value = arguments[++i];
    if (option == "--device") {
      setenv("ANYDML_ADAPTER", value, 1);
    } else if (option == "--plugins") {
      char* const whole = realpath(value, nullptr);  // the path is resolved because the library rejects relative paths
      setenv("ANYDML_PLUGINS", whole != nullptr ? whole : value, 1);
      std::free(whole);
    } else if (option == "--plugin") {
      plugin = value;
    } else {
      (option == "--index" ? index : limit) = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    }
  }
  auto rest_count = static_cast<int>(rest.size());
  rest.push_back(nullptr);
  testing::InitGoogleTest(&rest_count, rest.data());
  if (testing::GTEST_FLAG(list_tests) ||
      std::any_of(arguments, arguments + count, [](std::string_view one) { return one == "--help" || one == "-h"; })) {
    return RUN_ALL_TESTS();
  }
  if (plugin.empty()) {
    find_by_name();
  } else {
    g_device.table = &load_plugin(plugin);
    g_device.index = index;
  }
  check_table(*g_device.table);
  const std::uint32_t devices = g_device.table->device_count();
  if (g_device.index >= devices) {
    leave("device " + std::to_string(g_device.index) + " was requested; the table has " + std::to_string(devices));
  }
  std::string why;
  g_device.handle = open_index(*g_device.table, g_device.index, why);
  if (g_device.handle == nullptr) {
    leave(why);
  }
  g_device.table->describe(g_device.handle, &g_device.info);
  describe();
  int result = 0;
  if (!only_describe) {
    testing::UnitTest::GetInstance()->listeners().Append(new Limit(limit));
    result = RUN_ALL_TESTS();
  }
  g_device.table->close(g_device.handle);
  return result;
}

}  // namespace anydml::device

int main(int count, char** arguments) { return anydml::device::main(count, arguments); }
