// SPDX-License-Identifier: MIT
// Builds a C API graph and runs the same operators one by one, to compare the results.
#pragma once

#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace anydml::test {

using Sizes = std::vector<int64_t>;
using Bytes = std::vector<unsigned char>;

// A tensor's type, sizes and strides; only a view may have negative strides.
struct Form {
  anydml_type type = ANYDML_FLOAT32;
  Sizes sizes;
  Sizes strides;

  Form(anydml_type of, Sizes given) : type(of), sizes(std::move(given)), strides(sizes.size()) {
    int64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= sizes[i];
    }
  }
  Form(anydml_type of, Sizes given, Sizes steps) : type(of), sizes(std::move(given)), strides(std::move(steps)) {}

  [[nodiscard]] std::size_t bytes() const {
    int64_t last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) {
        return 0;
      }
      last += (sizes[i] - 1) * strides[i];
    }
    return static_cast<std::size_t>(last + 1) * anydml_type_size(type);
  }
  [[nodiscard]] anydml_tensor tensor(void* data = nullptr) const {
    return {type, static_cast<int32_t>(sizes.size()), sizes.data(), strides.data(), data};
  }
};

inline anydml_attribute number(const char* name, double value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}

// A graph, and the contents of each of its values as anydml_run computes them.
class Twin {
 public:
  struct Value {
    anydml_value id;
    Form form;
    Bytes data;
    int64_t at = 0;  // the offset of the element at index 0, in bytes
  };

  Twin() {
    EXPECT_EQ(anydml_graph_create(&graph_), ANYDML_OK);
    EXPECT_EQ(anydml_constants_create(&constants_), ANYDML_OK);
  }
  ~Twin() {
    anydml_graph_release(graph_);
    anydml_constants_release(constants_);
    anydml_compiled_release(compiled_);
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  std::size_t input(const Form& form, Bytes data) {
    anydml_value id = 0;
    const anydml_tensor tensor = form.tensor();
    check(anydml_graph_add_input(graph_, &tensor, &id));
    inputs_.push_back(values_.size());
    values_.push_back({id, form, std::move(data)});
    return values_.size() - 1;
  }
  std::size_t constant(const Form& form, Bytes data) {
    values_.push_back({0, form, std::move(data)});
    const anydml_tensor tensor = form.tensor(values_.back().data.data());  // valid even if values move
    is_shared_ = !is_shared_;                                              // alternates between the kinds
    check(is_shared_ ? anydml_graph_add_shared_constant(graph_, constants_, &tensor, &values_.back().id)
                     : anydml_graph_add_constant(graph_, &tensor, &values_.back().id));
    return values_.size() - 1;
  }
  std::size_t run(const char* op, const std::vector<std::size_t>& inputs, const Form& form,
                  std::vector<anydml_attribute> attributes = {}) {
    std::vector<anydml_tensor> tensors;
    std::vector<anydml_value> ids;
    for (const std::size_t input : inputs) {
      tensors.push_back(values_[input].form.tensor(values_[input].data.data() + values_[input].at));
      ids.push_back(values_[input].id);
    }
    Bytes result(form.bytes());
    const anydml_tensor output = form.tensor(result.data());
    check(anydml_run(nullptr, op, tensors.data(), tensors.size(), &output, 1, attributes.data(), attributes.size()));
    anydml_value id = 0;
    check(anydml_graph_add_operator(graph_, op, ids.data(), ids.size(), &output, 1, attributes.data(),
                                    attributes.size(), &id));
    values_.push_back({id, form, std::move(result)});
    return values_.size() - 1;
  }
  // An operator with several outputs; returns the indices of its results.
  std::vector<std::size_t> run(const char* op, const std::vector<std::size_t>& inputs, const std::vector<Form>& forms,
                               std::vector<anydml_attribute> attributes = {}) {
    std::vector<anydml_tensor> tensors;
    std::vector<anydml_value> ids;
    for (const std::size_t input : inputs) {
      tensors.push_back(values_[input].form.tensor(values_[input].data.data()));
      ids.push_back(values_[input].id);
    }
    std::vector<Bytes> results;
    std::vector<anydml_tensor> outputs;
    for (const Form& form : forms) {
      results.emplace_back(form.bytes());
    }
    for (std::size_t i = 0; i < forms.size(); ++i) {
      outputs.push_back(forms[i].tensor(results[i].data()));
    }
    check(anydml_run(nullptr, op, tensors.data(), tensors.size(), outputs.data(), outputs.size(), attributes.data(),
                     attributes.size()));
    std::vector<anydml_value> built(forms.size());
    check(anydml_graph_add_operator(graph_, op, ids.data(), ids.size(), outputs.data(), outputs.size(),
                                    attributes.data(), attributes.size(), built.data()));
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      numbers.push_back(values_.size());
      values_.push_back({built[i], forms[i], std::move(results[i])});
    }
    return numbers;
  }
  std::size_t view(std::size_t of, const Form& form, int64_t offset = 0) {
    anydml_value id = 0;
    const anydml_tensor tensor = form.tensor();
    check(offset == 0 ? anydml_graph_add_view(graph_, values_[of].id, &tensor, &id)
                      : anydml_graph_add_view_at(graph_, values_[of].id, &tensor, offset, &id));
    values_.push_back(
        {id, form, values_[of].data, values_[of].at + offset * static_cast<int64_t>(anydml_type_size(form.type))});
    return values_.size() - 1;
  }
  void output(std::size_t value) {
    check(anydml_graph_add_output(graph_, values_[value].id));
    // The expected output memory: from the element at index 0, and packed if a stride is negative.
    const Value& of = values_[value];
    const bool is_forward = std::ranges::all_of(of.form.strides, [](int64_t stride) { return stride >= 0; });
    Value seen{of.id, is_forward ? of.form : Form(of.form.type, of.form.sizes), {}};
    seen.data.resize(seen.form.bytes());
    const anydml_tensor from = of.form.tensor(const_cast<unsigned char*>(of.data.data()) + of.at);
    const anydml_tensor to = seen.form.tensor(seen.data.data());
    check(anydml_run(nullptr, "ELEMENT_WISE_IDENTITY", &from, 1, &to, 1, nullptr, 0));
    outputs_.push_back(std::move(seen));
  }
  // Compiles twice: the second graph reuses the shared constants that the first one prepared.
  void compile() {
    anydml_compiled* first = nullptr;
    check(anydml_graph_compile(graph_, nullptr, &first));
    check(anydml_graph_compile(graph_, nullptr, &compiled_));
    anydml_compiled_release(first);
  }

  // Runs over copies of the inputs and describes the first difference.
  [[nodiscard]] std::string difference() const {
    std::vector<Bytes> given;
    std::vector<const void*> inputs;
    for (const std::size_t input : inputs_) {
      given.push_back(values_[input].data);
      inputs.push_back(given.back().data());
    }
    std::vector<Bytes> results;
    std::vector<void*> outputs;
    for (const Value& output : outputs_) {
      results.emplace_back(output.form.bytes());
      outputs.push_back(results.back().data());
    }
    if (anydml_compiled_run(compiled_, inputs.data(), inputs.size(), outputs.data(), outputs.size()) != ANYDML_OK) {
      return anydml_last_error();
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!same(outputs_[i].form, results[i], outputs_[i].data)) {
        return "output " + std::to_string(i) + " differs";
      }
    }
    return "";
  }

  [[nodiscard]] const Value& operator[](std::size_t value) const { return values_[value]; }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  [[nodiscard]] const anydml_compiled* compiled() const { return compiled_; }

  // Compares element by element; the bytes in between are undefined.
  static bool same(const Form& form, const Bytes& a, const Bytes& b, std::size_t dimension = 0, int64_t at = 0) {
    const std::size_t size = anydml_type_size(form.type);
    if (dimension == form.sizes.size()) {
      const unsigned char* const one = &a[static_cast<std::size_t>(at) * size];
      const unsigned char* const other = &b[static_cast<std::size_t>(at) * size];
      return std::memcmp(one, other, size) == 0 || (form.type == ANYDML_FLOAT32 && is_nan(one) && is_nan(other));
    }
    for (int64_t i = 0; i < form.sizes[dimension]; ++i) {
      if (!same(form, a, b, dimension + 1, at + i * form.strides[dimension])) {
        return false;
      }
    }
    return true;
  }

 private:
  static bool is_nan(const unsigned char* bytes) {
    float number = 0;
    std::memcpy(&number, bytes, sizeof(number));
    return number != number;
  }

  static void check(int code) { ASSERT_EQ(code, ANYDML_OK) << anydml_last_error(); }

  anydml_graph* graph_ = nullptr;
  anydml_constants* constants_ = nullptr;
  bool is_shared_ = false;
  anydml_compiled* compiled_ = nullptr;
  std::vector<Value> values_;
  std::vector<std::size_t> inputs_;
  std::vector<Value> outputs_;
};

inline anydml_attribute axes_of(const std::vector<int64_t>& axes) {
  anydml_attribute attribute = {"Axes", uint32_t{ANYDML_INT64} | ANYDML_ARRAY, static_cast<uint32_t>(axes.size()), {}};
  attribute.value.i64s = axes.data();
  return attribute;
}

inline anydml_attribute function(const char* name) {
  anydml_attribute attribute = {"Function", ANYDML_TEXT, 0, {}};
  attribute.value.text = name;
  return attribute;
}
inline anydml_attribute sum() { return function("SUM"); }

}  // namespace anydml::test
