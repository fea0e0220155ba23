// SPDX-License-Identifier: MIT
// Describes how a model runs.
#include <algorithm>
#include <cctype>
#include <map>

#include "onnx/program/model.h"
#include "onnx/program/program.h"

namespace anydml::onnx {
namespace {

// "CAST, ADD" for a list of operators; other texts unchanged.
std::string uses_text(const Step& step) {
  if (!step.on_host.empty()) {
    return "the host: " + step.on_host;
  }
  if (step.uses.empty()) {
    return "a view";
  }
  const bool are_operators =
      std::none_of(step.uses.begin(), step.uses.end(), [](unsigned char one) { return std::islower(one) != 0; });
  std::string text;
  for (const char one : step.uses) {
    text += one == ' ' && are_operators ? std::string(", ") : std::string(1, one);
  }
  return text;
}

void explain_program(const Program& program, const std::string& indent, std::string& text) {
  const auto line = [&](const std::string& one) { text += indent + one + "\n"; };
  std::map<std::pair<std::string, std::string>, int> counts;
  std::size_t hosted = 0;
  for (const Step& step : program.steps()) {
    ++counts[{step.op, uses_text(step)}];
    hosted += step.on_host.empty() ? 0U : 1U;
  }
  line(format_text("{} steps, {} nodes computed once as constants, {} steps on the host", program.steps().size(),
                   program.folded.size(), hosted));
  for (const auto& [names, count] : counts) {
    line(format_text("  {:5} {:28} by {}", count, names.first, names.second));
  }
  std::map<std::string, int> patterns;
  for (const std::string& one : program.patterns) {
    ++patterns[one];
  }
  for (const auto& [pattern, count] : patterns) {
    line(format_text("  with integers: {} {}", count, pattern));
  }
  for (const Step& step : program.steps()) {
    if (!step.on_host.empty()) {
      line(format_text("  on the host: {}: {}", step.label, step.on_host));
    }
  }
  for (const Program::PieceReport& piece : program.pieces()) {
    const std::string reason = piece.why.empty() ? "" : (piece.is_graph ? "; it ends where " : ": ") + piece.why;
    line(format_text("  steps {} to {}: {}{}", piece.begin, piece.end - 1, piece.is_graph ? "a graph" : "node by node",
                     reason));
  }
  for (const Step& step : program.steps()) {
    for (const auto& body : step.bodies) {
      if (!body->steps().empty()) {
        line(format_text("  of {}:", step.label));
        explain_program(*body, indent + "    ", text);
      }
    }
  }
}

}  // namespace

std::string Model::explain() {
  std::string text;
  explain_program(program(std::vector<bool>(inputs_.size())), "", text);
  return text;
}

}  // namespace anydml::onnx
