// SPDX-License-Identifier: MIT
// Runs the networks in examples/networks at a small size, in the way that DirectML's clients use graphs. All or some of
// the weights are OWNED_BY_DML, edges reinterpret bytes with different sizes, and a transposed convolution's output is
// one larger than its natural size. All memory is initially NaN. Each network's result must match its digest in
// data/digests/network_digests.txt, on every target and device and with any number of threads. Each row of a batch must
// equal the result for that row alone. bench/networks.py compares the same networks with PyTorch.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "directml/graph_program.h"
#include "networks.h"
#include "support/failing_new.h"

namespace networks {

// The name of a parameter in messages.
void PrintTo(const Kind& kind, std::ostream* to) { *to << kind.name; }

}  // namespace networks

namespace anydml::test {
namespace {

using networks::Kind;

// As in all tests, all NaNs count as equal, but there should be none.
std::string digest_of(const std::vector<float>& elements) {
  std::uint64_t sum = elements.size();
  for (const float element : elements) {
    std::uint32_t word = 0;
    std::memcpy(&word, &element, sizeof(word));
    const std::uint64_t turned = (sum ^ (std::isnan(element) ? 0x7fc0'0000u : word)) * 0x9e37'79b9'7f4a'7c15;
    sum = turned ^ (turned >> 29);
  }
  std::ostringstream text;
  text << std::hex << sum;
  return text.str();
}

// "name batch": "elements digest"
std::map<std::string, std::string> read_digests() {
  std::map<std::string, std::string> digests;
  std::ifstream file(ANYDML_NETWORK_DIGESTS);
  for (std::string line; std::getline(file, line);) {
    const std::size_t middle = line.find(' ', line.find(' ') + 1);
    if (!line.starts_with('#') && middle != std::string::npos) {
      digests[line.substr(0, middle)] = line.substr(middle + 1);
    }
  }
  return digests;
}

struct BuiltNetwork {
  BuiltNetwork(Dml& dml, const Kind& kind, UINT batch, const networks::Builder::Options& options = {}) {
    ComPtr<IDMLDevice1> device;
    EXPECT_EQ(dml.device.As(&device), S_OK);
    networks::Scale scale = kind.small;
    scale.batch = batch;
    const networks::Network network = networks::make_network(device.Get(), kind, scale, options);
    GraphInputs inputs;
    for (const networks::GraphInput& input : network.inputs) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.contents.data());
      inputs.values.emplace_back(bytes, bytes + input.contents.size());
      inputs.owned.push_back(input.is_owned);
    }
    std::uint64_t bytes = sizeof(float);
    for (const UINT size : network.output_sizes) {
      bytes *= size;
    }
    run = std::make_unique<GraphRun>(dml, network.compiled, inputs, std::vector{bytes});
  }
  std::unique_ptr<GraphRun> run;
};

class Networks : public testing::TestWithParam<Kind> {
 protected:
  // Runs the network twice, overwriting everything except the inputs and the persistent memory in between. A GPU runs
  // it a third time, because it records the launches of the second run.
  std::vector<float> result(UINT batch, const networks::Builder::Options& options = {}) {
    const BuiltNetwork built(dml_, GetParam(), batch, options);
    built.run->run();
    const Bytes first = built.run->output(0);
    for (int again = 0; again < (std::getenv("ANYDML_ADAPTER") != nullptr ? 2 : 1); ++again) {
      built.run->spoil();
      built.run->record_execute();
      dml_.queue.finish();
      built.run->read();
      EXPECT_EQ(first, built.run->output(0));
    }
    return values_of<float>(first);
  }

  void compare(UINT batch, const std::vector<float>& elements) {
    const std::string name = std::string(GetParam().name) + " " + std::to_string(batch);
    const std::string digest = std::to_string(elements.size()) + " " + digest_of(elements);
    EXPECT_EQ(digests_[name], digest) << "the line of data/digests/network_digests.txt: " << name << " " << digest;
  }

  Dml dml_;
  std::map<std::string, std::string> digests_ = read_digests();
};

TEST_P(Networks, GiveTheSameBitsEverywhere) {
  const std::vector<float> one = result(1);
  compare(1, one);
  EXPECT_TRUE(std::ranges::all_of(one, [](float element) { return std::isfinite(element); }));
  EXPECT_NE(*std::ranges::min_element(one), *std::ranges::max_element(one));
  if (!GetParam().makes_image) {
    float sum = 0;
    for (const float probability : one) {
      sum += probability;
    }
    EXPECT_NEAR(sum, 1, 1e-4);
  }

  const std::vector<float> two = result(2);
  compare(2, two);
  ASSERT_EQ(two.size(), 2 * one.size());
  EXPECT_EQ(bytes_of(std::vector(two.begin(), two.begin() + static_cast<std::ptrdiff_t>(one.size()))), bytes_of(one));

  // Like some clients, this does not own every parameter and allows half precision. FLOAT32 is unaffected.
  networks::Builder::Options options;
  options.owns_parameters = false;
  options.flags = DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION;
  EXPECT_EQ(bytes_of(result(1, options)), bytes_of(one));
}

TEST_P(Networks, RunWithoutAllocations) {
  if (std::getenv("ANYDML_ADAPTER") != nullptr) {
    GTEST_SKIP() << "the driver and the list of pending work allocate; only the CPU backend guarantees not to";
  }
  const BuiltNetwork built(dml_, GetParam(), 1);
  built.run->run();
  built.run->record_execute();
  dml_.queue.submit();
  dml_.queue.wait();
  const long before = g_allocations;
  for (int i = 0; i < 4; ++i) {
    dml_.queue.execute();
    dml_.queue.wait();
  }
  EXPECT_EQ(g_allocations - before, 0);
  EXPECT_EQ(dml_.device->GetDeviceRemovedReason(), S_OK);
}

INSTANTIATE_TEST_SUITE_P(Each, Networks, testing::ValuesIn(networks::kKinds),
                         [](const auto& information) { return std::string(information.param.name); });

}  // namespace
}  // namespace anydml::test
