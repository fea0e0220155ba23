// SPDX-License-Identifier: MIT
// The table of the ONNX operators that anydml runs: one row for each operator and range of opsets. docs/onnx.md and
// --explain are generated from it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/rows/node.h"
#include "onnx/values/activations.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// Computes the results of a node. The inputs are in the node's order; absent inputs are absent Arrays. The vector may
// be shorter than the schema's inputs: use `input`.
using Compute = std::function<Arrays(std::span<const Array>)>;

[[nodiscard]] inline Array input(std::span<const Array> inputs, std::size_t position) {
  return position < inputs.size() ? inputs[position] : Array();
}

// Returns the function that computes a node, after checking its attributes; a null function if this node must be
// expanded into other nodes (Row::expand).
using Make = Compute (*)(const Node& node);
// The types of the outputs, for operators whose schema does not determine them. Node::results is not known yet. The
// types that attributes name (to, dtype, output_dtype, and the type of a tensor) are Node::named_kind.
using ResultKinds = std::vector<Kind> (*)(const Node& node);
// The nodes that replace a node, with the names of its inputs and outputs. Only for operators that ONNX defines in
// terms of other operators.
class Expansion;
using Expand = void (*)(Expansion& expansion);

struct Row {
  std::string_view op;  // of another domain with the domain: "ai.onnx.ml.Scaler", as in the schemas
  int first_opset = 1;  // the first version of the schema that the row accepts
  int last_opset = 0;   // the last one; 0: the newest
  Make make = nullptr;
  // The operators it may dispatch, without ELEMENT_WISE_ and ACTIVATION_, separated by spaces.
  std::string_view uses = {};
  KindSet kinds = {};  // the accepted types of the first input; empty: all that ONNX and anydml both support
  ResultKinds result = nullptr;
  bool reads_constants = false;  // whether `make` reads Node::fixed, which is empty otherwise
  bool is_view = false;          // whether the results may share the inputs' memory
  bool is_on_host = false;       // computed without DirectML's operators; `uses` then says what it is
  Expand expand = nullptr;       // the nodes that define it, if `make` is null or returns a null function
  // If the node is or may be expanded: returns a function of its inputs that raises Invalid if an attribute or a shape
  // is wrong, and has no results. Otherwise the expanded nodes would report names that are not in the model.
  Make check = nullptr;
  bool takes_strings = false;  // whether it accepts and returns strings; such a node runs on the host
};

// The tables of rows, one for each source file.
[[nodiscard]] std::span<const Row> element_rows();        // elements.cpp
[[nodiscard]] std::span<const Row> quantization_rows();   // quantization.cpp
[[nodiscard]] std::span<const Row> function_rows();       // functions.cpp
[[nodiscard]] std::span<const Row> reduction_rows();      // reductions.cpp
[[nodiscard]] std::span<const Row> product_rows();        // products.cpp, einsum.cpp
[[nodiscard]] std::span<const Row> convolution_rows();    // convolutions.cpp
[[nodiscard]] std::span<const Row> pooling_rows();        // pooling.cpp
[[nodiscard]] std::span<const Row> normalization_rows();  // normalizations.cpp
[[nodiscard]] std::span<const Row> recurrent_rows();      // recurrent.cpp
[[nodiscard]] std::span<const Row> attention_rows();      // attention.cpp
[[nodiscard]] std::span<const Row> image_rows();          // images.cpp, cubic.cpp, regions.cpp, samples.cpp
[[nodiscard]] std::span<const Row> shape_rows();          // shapes.cpp
[[nodiscard]] std::span<const Row> moving_rows();         // moves.cpp: nodes that move elements with operators
[[nodiscard]] std::span<const Row> generator_rows();      // generators.cpp: ConstantOfShape, EyeLike, Range, Trilu
[[nodiscard]] std::span<const Row> gather_rows();         // gathers.cpp
[[nodiscard]] std::span<const Row> definition_rows();     // definitions.cpp: nodes that ONNX defines by other nodes
[[nodiscard]] std::span<const Row> host_rows();           // host/*.cpp
[[nodiscard]] std::span<const Row> string_rows();         // host/strings.cpp: nodes that take strings
[[nodiscard]] std::span<const Row> ml_rows();             // ml/*.cpp: the operators of ai.onnx.ml

// The name of a node's operator in the rows and schemas; empty if its domain has none.
[[nodiscard]] std::string row_name(const NodeMessage& node);
// The rows of an operator and an opset, in the order in which they are tried: first the rows that use DirectML's
// operators, then the rows that compute on the host.
[[nodiscard]] std::vector<const Row*> rows_of(std::string_view op, int since);
[[nodiscard]] bool has_rows(std::string_view op);
[[nodiscard]] std::vector<const Row*> all_rows();

// An operator of another domain, such as com.microsoft. It is expanded into ONNX's nodes of the newest opset, or
// computed by one step. If it may be either, the step computes with integers, and the nodes are for models that run as
// they are written (ModelOptions::is_literal).
struct DomainRow {
  std::string_view domain;  // empty: ONNX Runtime's own operator, which models have in ONNX's domain
  std::string_view op;
  Expand expand = nullptr;
  // Returns the function that computes the node, and appends the types of the outputs to `results`.
  Compute (*make)(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) = nullptr;
  // The same for a product that may round its activations.
  Compute (*make_product)(const NodeMessage& node, const std::vector<Kind>& kinds, Activations activations,
                          std::vector<Kind>& results) = nullptr;
  std::string_view uses = {};  // for `make`
  bool needs_cpu = false;      // only the CPU has kernels, so on a device with its own memory the step runs on the host
};
[[nodiscard]] std::span<const DomainRow> contrib_rows();            // contrib.cpp
[[nodiscard]] std::span<const DomainRow> contrib_quantized_rows();  // contrib_quantized.cpp
[[nodiscard]] std::span<const DomainRow> contrib_attention_rows();  // contrib_attention.cpp
[[nodiscard]] std::span<const DomainRow> contrib_rotary_rows();     // rotary.cpp
[[nodiscard]] std::span<const DomainRow> group_query_rows();        // contrib_group_query.cpp
[[nodiscard]] std::span<const DomainRow> block_gather_rows();       // contrib_gather.cpp
[[nodiscard]] std::span<const DomainRow> expert_rows();             // contrib_experts.cpp
[[nodiscard]] std::span<const DomainRow> training_rows();           // training.cpp
[[nodiscard]] const DomainRow* find_domain_row(std::string_view domain, std::string_view op);
// The same for a node. ONNX's own operators have none.
[[nodiscard]] const DomainRow* find_domain_row(const NodeMessage& node);
[[nodiscard]] std::vector<const DomainRow*> all_domain_rows();
// All rows for the documentation, a line each, with tabs between the parts. For ONNX's own operators: "operators",
// "definition" or "host", and for those of ai.onnx.ml, "ml"; the operator; the first and the last opset; what it uses;
// and the types of the input that determines its type, separated by spaces. For operators of other domains: "domain",
// the domain, the operator, and what it uses.
[[nodiscard]] std::string rows_as_text();

// The result of a node with one output.
[[nodiscard]] inline Arrays one(Array result) {
  Arrays results;
  results.push_back(std::move(result));
  return results;
}

}  // namespace anydml::onnx
