// SPDX-License-Identifier: MIT
// Random DirectML graphs of all implemented operators, with random layouts and views of the same bytes. The graphs read
// only bytes that were written, so each node records which bytes of its output it wrote.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "directml/graph_program.h"
#include "facts/facts.h"
#include "ops/family.h"

namespace anydml::test {

// Every implemented operator whose tensors all have the same sizes, apart from reduced axes. The graphs of
// random_networks_test cover the remaining operators.
[[nodiscard]] std::vector<const facts::Operator*> built_operators();

struct RandomSource {
  enum Kind { none, input, constant, node } kind = none;
  std::size_t index = 0;
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;  // the type that it is read as
};

struct RandomNode {
  const facts::Operator* op = nullptr;
  std::vector<RandomSource> sources;                         // one for each input
  ComPtr<IDMLOperator> in_graph;                             // may own inputs
  ComPtr<IDMLOperator> alone;                                // the same operator, which owns nothing
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;  // of its output
  std::vector<UINT> sizes;                                   // of its output
  std::uint64_t bytes = 0;
  std::vector<bool> written;  // which bytes of the output; empty if all
};

class RandomGraph {
 public:
  enum class Sizes : std::uint8_t { small, any };
  RandomGraph(const Dml& dml, std::uint64_t seed, std::size_t max_nodes, Sizes of = Sizes::any);

  [[nodiscard]] const std::vector<RandomNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::size_t>& outputs() const { return outputs_; }
  [[nodiscard]] GraphInputs inputs() const;
  [[nodiscard]] const std::vector<Bytes>& constants() const { return constants_; }
  // The order of the nodes differs from the order of execution.
  void describe(GraphBuilder& graph) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  struct Attempt;  // an attempt to add a node
  struct Input {
    std::uint64_t bytes = 0;
    bool owned = false;
    Bytes values;
  };

  [[nodiscard]] bool one_in(std::uint64_t n) { return random_() % n == 0; }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& list) {
    return list[random_() % list.size()];
  }
  [[nodiscard]] std::vector<UINT> random_sizes(unsigned lowest_rank, unsigned max_rank);
  [[nodiscard]] std::vector<UINT> random_strides(const std::vector<UINT>& sizes, bool for_output);
  [[nodiscard]] Bytes random_bytes(std::uint64_t count);
  [[nodiscard]] RandomSource find_source(Tensor& tensor);
  [[nodiscard]] bool try_view(Tensor& tensor, const RandomNode& node);
  void take_new_input(Tensor& tensor, RandomSource& source);
  void set_attributes(Attempt& attempt, const facts::Operator& op, void* desc, DML_TENSOR_DATA_TYPE type, bool inner);
  [[nodiscard]] bool try_node(const facts::Operator& op);
  void choose_outputs();

  const Dml& dml_;
  std::mt19937_64 random_;
  std::vector<std::vector<UINT>> shapes_;  // the shapes that this graph prefers
  DML_TENSOR_DATA_TYPE liked_ = DML_TENSOR_DATA_TYPE_FLOAT32;
  bool follows_reduction_ = false;  // the current attempt reads the last node, at its sizes
  std::vector<Input> inputs_;
  std::vector<Bytes> constants_;
  std::vector<RandomNode> nodes_;
  std::vector<std::size_t> outputs_;
  std::uint64_t refused_ = 0;  // the number of rejected descriptions
};

}  // namespace anydml::test
