// SPDX-License-Identifier: MIT
// Runs a program that loads the DirectML libraries by name, so that it finds our libraries first.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "commands.h"
#include "cursor.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// Returns the folder that contains a loaded library.
std::string folder_of(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const auto path = std::filesystem::absolute(info.dli_fname, ignored);
  return std::filesystem::weakly_canonical(path.parent_path(), ignored).string();
}

}  // namespace

int execute_program(const std::vector<std::string>& command, bool strict) {
  if (command.empty()) {
    return report_error("no program was given; expected dmlrun exec [--strict] -- PROGRAM [ARGUMENTS]", kWrong);
  }
  const std::string folder = folder_of(reinterpret_cast<const void*>(&DMLCreateDevice1));
  if (folder.empty()) {
    return report_error("the folder of libdirectml.so could not be found", kFailed);
  }
  std::string path = folder;
  if (const char* before = std::getenv("LD_LIBRARY_PATH"); before != nullptr && *before != '\0') {
    path += std::string(":") + before;
  }
  setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  if (strict) {
    setenv("ANYDML_DEBUG", "abort", 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int fault = errno;
  // As in shells, the status is 127 if the program does not exist and 126 if it cannot be run.
  return report_error(format_text("{}: {}", in_quotes(command[0]), std::strerror(fault)), fault == ENOENT ? 127 : 126);
}

}  // namespace anydml::dmlrun
