// SPDX-License-Identifier: MIT
// Fuzzes the model reader. Reading and checking must terminate, with or without problems, and must not touch any file.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace anydml;
  using namespace anydml::dmlrun;
  auto parsed = JsonDocument::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!parsed) {
    return 0;
  }
  const JsonDocument& document = parsed.value();
  const ReadOptions options{.folders = {.input = "/nonexistent", .output = "/nonexistent"}, .max_memory = 1 << 20};
  Problems problems;
  const Model model = read_model(document, options, problems);
  for (const facts::FeatureLevel level : {facts::FeatureLevel::v1_0, facts::FeatureLevel::v2_1, facts::kNewestLevel}) {
    Problems of_level;
    check_level(model, level, of_level);
    (void)find_not_built(model);
  }
  for (const Problem& problem : problems.list()) {  // each must be a one-line message
    if (problem.reason.empty() || (problem.path + problem.reason).find('\n') != std::string::npos) {
      std::abort();
    }
  }
  // Invariants that a run relies on.
  if (problems.none()) {
    for (const Resource& resource : model.resources) {
      if (resource.bytes > options.max_memory || resource.value_bytes > resource.bytes || resource.bytes % 4 != 0) {
        std::abort();
      }
    }
    for (const Command& command : model.commands) {
      if (const auto* dispatch = std::get_if<DispatchCommand>(&command.what)) {
        for (const Binding& binding : dispatch->bindings) {
          const Port& port = model.dispatchables.at(dispatch->dispatchable).ports.at(binding.port);
          if (port.tensors.size() != binding.sources.size()) {
            std::abort();
          }
          for (const BindingSource& source : binding.sources) {
            if (source.resource && source.offset_bytes >= model.resources.at(*source.resource).bytes) {
              std::abort();
            }
          }
        }
      }
    }
  }
  return 0;
}
