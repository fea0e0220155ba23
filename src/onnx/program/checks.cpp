// SPDX-License-Identifier: MIT
// Checks of a whole model, before its graph is built.
#include <algorithm>
#include <map>

#include "onnx/program/builder.h"
#include "onnx/schema/schema.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxNamed = 4;  // the maximum number of nodes of one operator that a message lists
constexpr std::int64_t kFirstIrWithOpsets = 3;

bool is_supported(const NodeMessage& node) {
  if (has_rows(row_name(node)) || find_domain_row(node) != nullptr) {
    return true;
  }
  return is_default_domain(node.domain) && (is_control(node.op_type) || node.op_type == "Constant");
}

}  // namespace

void for_each_node(const std::vector<NodeMessage>& nodes, const std::function<void(const NodeMessage&)>& use) {
  for (const NodeMessage& node : nodes) {
    use(node);
    for (const AttributeMessage& attribute : node.attributes) {
      if (attribute.g != nullptr) {
        for_each_node(attribute.g->nodes, use);
      }
      for (const auto& inner : attribute.graphs) {
        for_each_node(inner->nodes, use);
      }
    }
  }
}

void refuse_unknown(const ModelMessage& model) {
  std::map<std::string, std::vector<std::string>> found;
  for_each_node(model.graph.nodes, [&found](const NodeMessage& node) {
    if (!is_supported(node)) {
      const std::string name = is_default_domain(node.domain) ? node.op_type : node.domain + "." + node.op_type;
      found[printable(name)].push_back(quoted(node.name.empty() ? joined(node.outputs) : node.name));
    }
  });
  if (!found.empty()) {
    std::vector<std::string> parts, needs;
    for (auto& [name, nodes] : found) {
      const std::string more =
          nodes.size() > kMaxNamed ? format_text(" and {} more", nodes.size() - kMaxNamed) : std::string();
      nodes.resize(std::min(nodes.size(), kMaxNamed));
      parts.push_back(format_text("{} ({}{})", name, joined(nodes), more));
      needs.push_back(name);
    }
    throw Unsupported("not an operator that anydml runs: " + joined(parts), needs);
  }
  if (!model.graph.sparse_initializers.empty()) {
    throw Unsupported(format_text("initializer {} is sparse; anydml supports only dense tensors",
                                  quoted(model.graph.sparse_initializers.front())),
                      {"sparse initializer"});
  }
}

int opset_of(const ModelMessage& model) {
  const auto found = std::find_if(model.opset_imports.begin(), model.opset_imports.end(),
                                  [](const OpsetImport& one) { return is_default_domain(one.domain); });
  std::int64_t version = 1;
  if (found != model.opset_imports.end()) {
    version = found->version;
  } else if (model.ir_version >= kFirstIrWithOpsets) {
    for_each_node(model.graph.nodes, [](const NodeMessage& node) {
      if (is_default_domain(node.domain)) {
        fail("the model does not declare which opset of ONNX's operators it uses");
      }
    });
  }
  if (version < 1) {
    fail("the model uses opset {}; expected 1 or more", version);
  }
  if (version > newest_opset()) {
    fail("the model uses opset {}, but anydml supports opsets up to {}", version, newest_opset());
  }
  return static_cast<int>(version);
}

int ml_opset_of(const ModelMessage& model) {
  const auto found = std::find_if(model.opset_imports.begin(), model.opset_imports.end(),
                                  [](const OpsetImport& one) { return one.domain == kMlDomain; });
  if (found == model.opset_imports.end()) {
    for_each_node(model.graph.nodes, [](const NodeMessage& node) {
      if (node.domain == kMlDomain) {
        fail("the model does not declare which opset of {} it uses", kMlDomain);
      }
    });
    return 0;
  }
  if (found->version < 1 || found->version > newest_ml_opset()) {
    fail("the model uses opset {} of {}, but anydml supports opsets 1 to {}", found->version, kMlDomain,
         newest_ml_opset());
  }
  return static_cast<int>(found->version);
}

}  // namespace anydml::onnx
