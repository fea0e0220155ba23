// SPDX-License-Identifier: MIT
#include "scaling.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "json.h"

namespace anydml::bench {
namespace {

// The child's table is hidden; its error messages are shown.
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

// A benchmark case as text.
using Members = std::map<std::string, std::string, std::less<>>;

double number(const Members& one, std::string_view name) {
  const auto found = one.find(name);
  return found == one.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

// The cases in a run's JSON file; empty if the file has a different format.
std::vector<Members> read_cases(const std::string& path) {
  std::ifstream stream(path);
  const auto document = dmlrun::JsonDocument::parse(
      std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()));
  std::vector<Members> cases;
  if (!document.ok() || !document.value().root().is(dmlrun::JsonKind::object)) {
    return cases;
  }
  document.value().root().for_each_member([&](std::string_view name, const dmlrun::Json& value) {
    if (name != "cases" || !value.is(dmlrun::JsonKind::array)) {
      return;
    }
    value.for_each_item([&](const dmlrun::Json& item) {
      Members one = {{"name", ""}, {"type", ""}, {"operator", ""}};
      if (item.is(dmlrun::JsonKind::object)) {
        item.for_each_member([&](std::string_view member, const dmlrun::Json& content) {
          if (!content.is(dmlrun::JsonKind::array) && !content.is(dmlrun::JsonKind::object)) {
            one.insert_or_assign(std::string(member), std::string(content.text()));
          }
        });
      }
      cases.push_back(std::move(one));
    });
  });
  return cases;
}

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
      error = "the benchmark with " + std::to_string(count) + " threads failed";
      return false;
    }
    const std::vector<Members> cases = read_cases(file.path);
    if (cases.empty()) {
      error = "the benchmark with " + std::to_string(count) + " threads wrote no figures";
      return false;
    }
    for (const Members& one : cases) {
      const std::string& name = one.at("name");
      auto found = std::find_if(to.begin(), to.end(), [&](const Scaling& other) { return other.name == name; });
      if (found == to.end()) {
        found = to.insert(to.end(), {name, one.at("type"), one.at("operator"), {}});
      }
      found->points.push_back(
          {count, number(one, "ns_per_element"), number(one, "pass_gb_per_second"), number(one, "fraction")});
    }
  }
  return true;
}

}  // namespace anydml::bench
