// SPDX-License-Identifier: MIT
#include "scaling.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <rapidjson/istreamwrapper.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace anydml::bench {
namespace {

// The table of the child is not shown; what it says of failures is.
bool start_and_wait(std::vector<std::string> command) {
  std::vector<char*> words;
  for (std::string& word : command) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct TemporaryFile {
  std::string path;
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/anydml-bench-XXXXXX";
    if (const int file = mkstemp(path.data()); file >= 0) {
      close(file);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path.c_str()); }
};

}  // namespace

std::vector<unsigned> thread_counts(unsigned cores) {
  std::vector<unsigned> counts;
  for (unsigned count = 1; count < cores; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(cores);
  return counts;
}

bool measure_scaling(const std::vector<std::string>& self, const std::vector<std::string>& arguments,
                     const std::vector<unsigned>& counts, std::vector<Scaling>& to, std::string& error) {
  for (const unsigned count : counts) {
    const TemporaryFile file;
    std::vector<std::string> command = self;
    command.insert(command.end(), arguments.begin(), arguments.end());
    for (const std::string& word :
         {std::string("--threads"), std::to_string(count), std::string("--json"), file.path}) {
      command.push_back(word);
    }
    if (!start_and_wait(command)) {
      error = "the benchmark by " + std::to_string(count) + " threads failed";
      return false;
    }
    std::ifstream stream(file.path);
    rapidjson::IStreamWrapper wrapped(stream);
    rapidjson::Document document;
    document.ParseStream(wrapped);
    if (document.HasParseError() || !document.IsObject() || !document.HasMember("cases")) {
      error = "the benchmark by " + std::to_string(count) + " threads left no figures";
      return false;
    }
    for (const auto& entry : document["cases"].GetArray()) {
      const std::string name = entry["name"].GetString();
      auto found = std::find_if(to.begin(), to.end(), [&](const Scaling& one) { return one.name == name; });
      if (found == to.end()) {
        found = to.insert(to.end(), {name, entry["type"].GetString(), entry["operator"].GetString(), {}});
      }
      found->points.push_back({count, entry["ns_per_element"].GetDouble(), entry["pass_gb_per_second"].GetDouble(),
                               entry["fraction"].GetDouble()});
    }
  }
  return true;
}

}  // namespace anydml::bench
