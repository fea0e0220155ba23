// SPDX-License-Identifier: MIT
// network NAME: builds one of the networks with weights from a seed, runs the network and shows its output. ./run
// network builds and runs this program.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "client.h"
#include "networks.h"
#include "show.h"

namespace networks {
namespace {

using anydml::client::Device;
using anydml::client::Operation;
using Clock = std::chrono::steady_clock;

struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Call {
  const Kind* kind = nullptr;
  Scale scale{};
  UINT runs = 10;
  bool as_json = false;
  std::string save;     // file for the output's elements
  std::string picture;  // file for an image
};

void print_usage() {
  std::printf(
      "usage: network                    lists the networks\n"
      "       network NAME [options]     builds one, runs it and shows the result\n\n"
      "  --batch N        inputs per run (1)\n"
      "  --size N         pixels along a side, time steps or tokens\n"
      "  --depth N        residual blocks (style) or layers (transformer)\n"
      "  --runs N         timed runs (10)\n"
      "  --picture FILE   write the first image as PGM or PPM\n"
      "  --save FILE      write the output's elements as FLOAT32\n"
      "  --json           print the times as JSON instead of the result\n\n"
      "ANYDML_ADAPTER=cuda runs it on a GPU; ANYDML_THREADS sets the number of CPU threads.\n\n");
  for (const Kind& kind : kKinds) {
    std::printf("  %-16s %s\n", kind.name, kind.about);
  }
}

UINT number_of(const std::string& option, std::string_view text, UINT minimum, UINT maximum) {
  UINT number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < minimum || number > maximum) {
    throw WrongUse(option + ": is '" + std::string(text) + "'; expected a number from " + std::to_string(minimum) +
                   " to " + std::to_string(maximum));
  }
  return number;
}

Call read_call(const std::vector<std::string>& words) {
  Call call;
  call.kind = find_kind(words[0]);
  if (call.kind == nullptr) {
    throw WrongUse("unknown network '" + words[0] + "'; ./run network lists all networks");
  }
  call.scale = call.kind->usual;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "--json") {
      call.as_json = true;
      continue;
    }
    const bool is_known = option == "--batch" || option == "--size" || option == "--depth" || option == "--runs" ||
                          option == "--save" || option == "--picture";
    if (!is_known || i + 1 == words.size()) {
      throw WrongUse(is_known ? option + ": expected a value" : "unknown option '" + option + "'");
    }
    const std::string& value = words[++i];
    if (option == "--batch") {
      call.scale.batch = number_of(option, value, 1, 1024);
    } else if (option == "--size") {
      call.scale.size = number_of(option, value, call.kind->small.size, 4096);
    } else if (option == "--depth") {
      call.scale.depth = number_of(option, value, 1, 64);
    } else if (option == "--runs") {
      call.runs = number_of(option, value, 1, 100'000);
    } else {
      (option == "--save" ? call.save : call.picture) = value;
    }
  }
  if (!call.picture.empty() && !call.kind->makes_image) {
    throw WrongUse(std::string("--picture: the output of ") + call.kind->name + " is not an image");
  }
  return call;
}

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The network, with its buffers on a device.
class Running {
 public:
  Running(Device& device, const Network& network) : device_(device), operation_(make(device, network)) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      bindings_.push_back(network.inputs[i].is_owned
                              ? DML_BUFFER_BINDING{}
                              : DML_BUFFER_BINDING{buffers_[i].Get(), 0, network.inputs[i].contents.size()});
      if (network.inputs[i].is_owned) {
        buffers_[i].Reset();  // the graph has kept everything it needs from the owned inputs
      }
    }
    std::uint64_t bytes = sizeof(float);
    for (const UINT size : network.output_sizes) {
      bytes *= size;
    }
    output_ = device.create_buffer(bytes);
    const DML_BUFFER_BINDING output{output_.Get(), 0, bytes};
    operation_.bind(bindings_, {&output, 1});
    operation_.record(device);
    device.close();
  }

  void run() {
    device_.execute();
    device_.wait();
  }

  [[nodiscard]] std::vector<float> read() {
    device_.reopen();
    std::vector<float> elements;
    device_.read(output_.Get(), [&](std::span<const std::byte> bytes) {
      elements.resize(bytes.size() / sizeof(float));
      std::memcpy(elements.data(), bytes.data(), bytes.size());
    });
    return elements;
  }

 private:
  Operation make(Device& device, const Network& network) {
    std::vector<DML_BUFFER_BINDING> owned;
    for (const GraphInput& input : network.inputs) {
      buffers_.push_back(device.create_buffer(input.contents.size()));
      device.write(buffers_.back().Get(),
                   [&](std::span<std::byte> bytes) { std::ranges::copy(input.contents, bytes.begin()); });
      owned.push_back(input.is_owned ? DML_BUFFER_BINDING{buffers_.back().Get(), 0, input.contents.size()}
                                     : DML_BUFFER_BINDING{});
    }
    return {device, network.compiled, owned};
  }

  Device& device_;
  std::vector<ComPtr<ID3D12Resource>> buffers_;
  std::vector<DML_BUFFER_BINDING> bindings_;
  Operation operation_;
  ComPtr<ID3D12Resource> output_;
};

std::vector<float> floats_of(const GraphInput& input) {
  std::vector<float> elements(input.contents.size() / sizeof(float));
  std::memcpy(elements.data(), input.contents.data(), input.contents.size());
  return elements;
}

void write_elements(const std::string& path, const std::vector<float>& elements) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(elements.data()),
             static_cast<std::streamsize>(elements.size() * sizeof(float)));
  if (!file.flush()) {
    throw std::runtime_error(path + " cannot be written");
  }
}

void run_network(const Call& call) {
  Device device;
  ComPtr<IDMLDevice1> dml;
  anydml::client::check(device.dml()->QueryInterface(IID_PPV_ARGS(&dml)), "QueryInterface");
  const auto begin = Clock::now();
  const Network network = make_network(dml.Get(), *call.kind, call.scale);
  Running running(device, network);
  running.run();
  const double first = milliseconds_since(begin);
  std::vector<double> times(call.runs);
  for (double& time : times) {
    const auto start = Clock::now();
    running.run();
    time = milliseconds_since(start);
  }
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  const std::vector<float> output = running.read();
  if (!call.save.empty()) {
    write_elements(call.save, output);
  }
  if (!call.picture.empty()) {
    write_image(call.picture, output, network.output_sizes);
  }
  if (call.as_json) {
    std::printf(
        "{\"network\": \"%s\", \"batch\": %u, \"size\": %u, \"depth\": %u, \"nodes\": %zu, \"weights\": %llu, "
        "\"first_ms\": %.3f, \"run_ms\": %.4f, \"least_ms\": %.4f}\n",
        call.kind->name, call.scale.batch, call.scale.size, call.scale.depth, network.nodes,
        static_cast<unsigned long long>(network.weights), first, median, times[0]);
    return;
  }
  if (call.kind->makes_image) {
    show_images(floats_of(network.inputs[0]), network.input_sizes, output, network.output_sizes);
  } else {
    show_classes(output, network.output_sizes);
  }
  std::printf(
      "\n%s: %zu nodes, %llu weights, batch %u. %.0f ms to build, compile and run once; then %.2f ms, the "
      "median of %u runs\n",
      call.kind->name, network.nodes, static_cast<unsigned long long>(network.weights), call.scale.batch, first, median,
      call.runs);
}

}  // namespace
}  // namespace networks

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    networks::print_usage();
    return 0;
  }
  try {
    networks::run_network(networks::read_call(words));
  } catch (const networks::WrongUse& wrong) {
    std::fprintf(stderr, "network: %s\n", wrong.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network: %s\n", error.what());
    return 1;
  }
  return 0;
}
