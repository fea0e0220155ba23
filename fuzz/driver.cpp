// SPDX-License-Identifier: MIT
// Runs a fuzz target without libFuzzer: over the files of its corpus, and over changed copies of them. The same
// arguments always run the same inputs.
//
//   fuzz_NAME [--mutations N] [--seed N] FOLDER
//
// If an input ends the program, its bytes are in ./fuzz_input, which `fuzz_NAME FOLDER` repeats from any folder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// A target's outcomes, or empty if every input was rejected early: then the target tests nothing.
std::string __attribute__((weak)) fuzz_summary();

namespace {

using Bytes = std::vector<std::uint8_t>;

// Keeps the input in a file, which remains if the input ends the program.
void run(const Bytes& bytes) {
  static const int file = open("fuzz_input", O_CREAT | O_RDWR, 0644);
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::perror("fuzz_input");
    std::exit(2);
  }
  const Bytes exact(bytes);  // AddressSanitizer notices accesses after its end
  static_cast<void>(LLVMFuzzerTestOneInput(exact.data(), exact.size()));
}

Bytes changed(Bytes bytes, const Bytes& other, std::mt19937_64& random) {
  const auto below = [&random](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (auto changes = 1 + below(4); changes > 0; --changes) {
    const auto at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2: {  // the rest of another input
        const auto from = below(other.size());
        bytes.resize(at);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        break;
      }
      default:
        if (!bytes.empty()) {
          bytes[at] = static_cast<std::uint8_t>(below(2) == 0 ? random() : bytes[at] ^ 1U << below(8));
        }
    }
  }
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t mutations = 0;
  std::uint64_t seed = 1;
  std::vector<Bytes> inputs;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if ((argument == "--mutations" || argument == "--seed") && i + 1 < count) {
      (argument == "--seed" ? seed : mutations) = std::strtoull(arguments[++i], nullptr, 10);
      continue;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argument)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());  // the same inputs everywhere
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no inputs: expected a folder of files\n");
    return 2;
  }
  for (const Bytes& bytes : inputs) {
    run(bytes);
  }
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < mutations; ++i) {
    const Bytes& other = inputs[random() % inputs.size()];
    run(changed(inputs[random() % inputs.size()], other, random));
  }
  std::filesystem::remove("fuzz_input");
  std::printf("%zu inputs and %llu changed ones, seed %llu\n", inputs.size(),
              static_cast<unsigned long long>(mutations), static_cast<unsigned long long>(seed));
  if (fuzz_summary != nullptr) {
    const std::string summary = fuzz_summary();
    std::printf("%s\n", summary.c_str());
    return summary.empty() ? 1 : 0;
  }
  return 0;
}
