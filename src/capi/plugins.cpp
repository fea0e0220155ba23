// SPDX-License-Identifier: MIT
#include "capi/plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "anydml_build/hash.h"
#include "base/log.h"
#include "text/format.h"

namespace anydml {
namespace {

namespace fs = std::filesystem;

// The folder of the library that contains this code.
fs::path own_folder() {
  Dl_info info{};
  std::error_code failed;
  if (dladdr(reinterpret_cast<const void*>(&load_plugins), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  const fs::path library = fs::canonical(info.dli_fname, failed);
  return failed ? fs::path() : library.parent_path();
}

bool is_plugin(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("libanydml-") && name.ends_with(".so");
}

// Sorted, so that devices always have the same order.
std::vector<fs::path> plugins_in(const fs::path& folder, std::error_code& failed) {
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (is_plugin(entry->path())) {
      found.push_back(entry->path());
    }
  }
  std::ranges::sort(found);
  return found;
}

// Returns the table, or null and the reason.
const BackendTable* load(const fs::path& file, std::string& why) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed)) {  // opening a FIFO would wait for a writer
    why = failed ? failed.message() : "it is not a regular file";
    return nullptr;
  }
  // Never closed, because its devices live as long as the process.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* error = dlerror();
    why = error != nullptr ? error : "it cannot be loaded";
    return nullptr;
  }
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry));
  if (entry == nullptr) {
    why = format_text("it has no function {}", kPluginEntry);
    return nullptr;
  }
  const char* message = nullptr;
  const BackendTable* table = entry(&message);
  why = table == nullptr ? (message != nullptr ? message : "it has no devices here") : why_not_ours(*table);
  return why.empty() ? table : nullptr;
}

}  // namespace

std::string why_not_ours(const BackendTable& table) {
  if (table.build == kBuildHash) {
    return {};
  }
  return format_text("it was built from other sources of anydml ({:016x}); expected those of this library ({:016x})",
                     table.build, kBuildHash);
}

Result<Plugins> load_plugins(const std::string& setting) {
  Plugins plugins;
  if (setting == "none") {
    plugins.notes.emplace_back("ANYDML_PLUGINS is 'none'");
    return plugins;
  }
  std::vector<fs::path> files;
  if (!setting.empty()) {
    std::error_code failed;
    files = plugins_in(setting, failed);
    if (failed) {
      show_errors();
      return Error{ErrorKind::invalid_argument,
                   format_text("environment: ANYDML_PLUGINS is '{}'; expected a folder that can be read: {}", setting,
                               failed.message())};
    }
  } else if (const fs::path own = own_folder(); !own.empty()) {
    for (const fs::path& folder : {own / "anydml", own}) {
      std::error_code missing;  // most installations have no such folder
      files = plugins_in(folder, missing);
      if (!files.empty()) {
        break;
      }
    }
  }
  if (files.empty()) {
    plugins.notes.push_back(
        format_text("no plugin libanydml-*.so is {}", setting.empty() ? "installed" : "in " + setting));
  }
  for (const fs::path& file : files) {
    std::string why;
    if (const BackendTable* table = load(file, why); table != nullptr) {
      plugins.backends.push_back(table);
    } else {
      plugins.notes.push_back(format_text("{}: {}", file.filename().string(), why));
      log_line(LogLevel::info, plugins.notes.back());
    }
  }
  return plugins;
}

}  // namespace anydml
