// SPDX-License-Identifier: MIT
// Runs the fuzzers' code over the inputs that the fuzzers found interesting and over the invalid models.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int fuzz_npy(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_model(const std::uint8_t* data, std::size_t size);

namespace {

int run_all(const std::string& folder, int (*fuzz)(const std::uint8_t*, std::size_t)) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(fuzz(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0) << entry.path();
      ++files;
    }
  }
  return files;
}

TEST(Corpus, Npy) { EXPECT_GT(run_all(DMLRUN_TESTS "/corpus/npy", fuzz_npy), 20); }
TEST(Corpus, Models) { EXPECT_GT(run_all(DMLRUN_TESTS "/corpus/model", fuzz_model), 50); }
TEST(Corpus, BadModels) { EXPECT_GT(run_all(DMLRUN_TESTS "/bad", fuzz_model), 50); }

}  // namespace
