// SPDX-License-Identifier: MIT
// A graph that is built through calls to the C API. Each call is checked on its own, and an invalid call does not
// change the graph. An operator's inputs already exist when it is added, so a graph has no cycles.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "anydml/anydml.h"
#include "capi/call.h"
#include "capi/compiled.h"
#include "capi/graph_memory.h"
#include "capi/shared_constants.h"
#include "graph/graph.h"

namespace anydml {

class GraphBuilder {
 public:
  GraphBuilder();

  Result<anydml_value> add_input(const anydml_tensor& tensor);
  Result<anydml_value> add_constant(const anydml_tensor& tensor);
  // Like add_constant, but for data that stays at its address, so that other graphs can also use it.
  Result<anydml_value> add_shared_constant(std::shared_ptr<SharedConstants> shared, const anydml_tensor& tensor);
  // offset: the distance from the value's element at index 0 to the view's, in elements of the view.
  Result<anydml_value> add_view(std::string_view function, anydml_value of, const anydml_tensor& tensor,
                                std::int64_t offset);
  // Writes the values of the outputs to `values`, which has room for all of them.
  Status add_operator(const facts::Operator& op, std::span<const anydml_value> inputs,
                      std::span<const anydml_tensor> outputs, std::span<const anydml_attribute> attributes,
                      anydml_value* values);
  // offsets: in bytes, or null if all are 0. Writes the values of the outputs to `values`.
  Status repeat_operator(anydml_value like, std::span<const anydml_value> inputs, const std::int64_t* offsets,
                         std::span<anydml_value> values);
  Status add_output(anydml_value value);
  // For the operators that are added afterwards.
  void set_integer_activations(bool are_integers) { integer_activations_ = are_integers; }

  Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, const CompileOptions& options) const;

 private:
  // The source of some bytes, and the tensor that describes them.
  struct Value {
    const TensorDesc* tensor = nullptr;  // in tensors_, or in the operator that computes the value
    GraphSource source;
    std::uint64_t bytes = 0;  // the size of the source; 0 if it is absent
  };

  // who: a function that returns the beginning of an error message.
  template <class Who>
  Result<const Value*> find(anydml_value value, const Who& who) const;
  anydml_value add(const Value& value);
  [[nodiscard]] const TensorDesc* keep(const TensorDesc& tensor) { return &tensors_.emplace_back(tensor); }
  Result<TensorDesc> read(const std::string& name, const anydml_tensor& tensor) const;
  // Like read, but the element at index 0 must come first in memory.
  Result<TensorDesc> read_forward(const std::string& name, const anydml_tensor& tensor) const;
  // Whether the value covers exactly the bytes that its producer writes.
  [[nodiscard]] bool is_whole(const Value& value) const;
  // Checks the call, or finds an equal call that was checked. An OpDesc does not change, so nodes share it.
  Result<std::shared_ptr<const OpDesc>> described(const Call& call);
  // used: for each input, whether an output depends on it.
  void make_surface(const std::vector<bool>& used, anydml_compiled& compiled) const;

  std::uint64_t number_;  // the graph's number in this process, used as the upper half of its values
  Graph graph_;
  bool integer_activations_ = false;  // of the next operators
  std::vector<GivenConstant> constants_;
  std::shared_ptr<SharedConstants> shared_;  // the owner of the shared constants; may be null
  std::vector<TensorDesc> inputs_;
  std::vector<TensorDesc> outputs_;
  std::vector<Value> values_;
  std::deque<TensorDesc> tensors_;  // of inputs, constants and views
  // The checked descriptions, by their keys. Networks repeat their layers, and checking an operator takes longer than
  // adding it.
  std::unordered_map<std::string, std::shared_ptr<const OpDesc>> described_;
  std::string key_;
};

}  // namespace anydml
