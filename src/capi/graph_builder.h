// SPDX-License-Identifier: MIT
// A graph as it grows by calls of the C API. Each call is checked by itself and leaves the graph as it was if it is
// wrong; whatever an operator takes was there before it, so there is no cycle.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "anydml/anydml.h"
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
  // The same, of data that stays where it is: other graphs may have it too.
  Result<anydml_value> add_shared_constant(std::shared_ptr<SharedConstants> shared, const anydml_tensor& tensor);
  // offset: in elements of the view, from the element at index 0 of the value to its own.
  Result<anydml_value> add_view(std::string_view function, anydml_value of, const anydml_tensor& tensor,
                                std::int64_t offset);
  // The values of the outputs go to `values`, which has a place for each.
  Status add_operator(const facts::Operator& op, std::span<const anydml_value> inputs,
                      std::span<const anydml_tensor> outputs, std::span<const anydml_attribute> attributes,
                      anydml_value* values);
  Status add_output(anydml_value value);

  Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, const CompileOptions& options) const;

 private:
  // Bytes from somewhere, and how they are seen.
  struct Value {
    TensorDesc tensor;
    GraphSource source;
    std::uint64_t bytes = 0;  // of the source, which may be none
  };

  // who: a function that gives the beginning of an error message.
  template <class Who>
  Result<const Value*> find(anydml_value value, const Who& who) const;
  anydml_value add(const Value& value);
  Result<TensorDesc> read(const std::string& name, const anydml_tensor& tensor) const;
  // The same, of a tensor that begins with its element at index 0.
  Result<TensorDesc> read_forward(const std::string& name, const anydml_tensor& tensor) const;
  // Whether what the value's maker writes is what the value is, byte for byte.
  [[nodiscard]] bool is_whole(const Value& value) const;
  // used: of the inputs, which an output comes from.
  void make_surface(const std::vector<bool>& used, anydml_compiled& compiled) const;

  std::uint64_t number_;  // of the graph in this process: the upper half of its values
  Graph graph_;
  std::vector<GivenConstant> constants_;
  std::shared_ptr<SharedConstants> shared_;  // whose constants are among them; may be null
  std::vector<TensorDesc> inputs_;
  std::vector<TensorDesc> outputs_;
  std::vector<Value> values_;
};

}  // namespace anydml
