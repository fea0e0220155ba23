// SPDX-License-Identifier: MIT
// Einsum of any equation and type: each element of the result is a sum of products over all labels that the result does
// not have. Floats are summed in double, and integers wrap.
#include <algorithm>
#include <array>
#include <string>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

// Labels are letters. The dimensions of "..." have the labels 128, 129, ..., counted from the last dimension.
constexpr int kFirstDots = 128;
constexpr int kLabelCount = kFirstDots + kMaxArrayRank;
using Labels = std::vector<int>;

struct EinsumTerm {
  std::string before, after;  // the letters before and after "..."
  bool has_dots = false;
};

struct EinsumEquation {
  std::string text;
  std::vector<EinsumTerm> terms;
  bool has_result = false;
  EinsumTerm result;
};

bool is_letter(char one) { return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z'); }

EinsumTerm einsum_term(const Node& node, const std::string& text, std::string_view part) {
  EinsumTerm term;
  const std::size_t dots = part.find("...");
  term.has_dots = dots != std::string_view::npos;
  term.before = part.substr(0, dots);
  term.after = term.has_dots ? part.substr(dots + 3) : std::string_view();
  for (const std::string& letters : {term.before, term.after}) {
    if (!std::all_of(letters.begin(), letters.end(), is_letter)) {
      fail("{}: equation is {}; expected letters, commas, '...' and '->'", node.label, quoted(text));
    }
  }
  return term;
}

EinsumEquation einsum_equation(const Node& node) {
  EinsumEquation equation;
  for (const char one : node.text("equation")) {
    if (one != ' ') {
      equation.text.push_back(one);
    }
  }
  std::string_view left = equation.text;
  const std::size_t arrow = left.find("->");
  equation.has_result = arrow != std::string_view::npos;
  if (equation.has_result) {
    equation.result = einsum_term(node, equation.text, left.substr(arrow + 2));
    left = left.substr(0, arrow);
  }
  while (true) {
    const std::size_t comma = left.find(',');
    equation.terms.push_back(einsum_term(node, equation.text, left.substr(0, comma)));
    if (comma == std::string_view::npos) {
      break;
    }
    left.remove_prefix(comma + 1);
  }
  if (equation.terms.size() != node.kinds.size()) {
    fail("{}: equation is {}, but the node has {} inputs", node.label, quoted(equation.text), node.kinds.size());
  }
  return equation;
}

// A label for each dimension of an operand.
Labels einsum_labels(const EinsumEquation& equation, const EinsumTerm& term, int rank) {
  const int dots = rank - static_cast<int>(term.before.size() + term.after.size());
  if (dots < 0 || (dots != 0 && !term.has_dots)) {
    fail("equation is {}, but {} does not match the {} dimensions of its operand", quoted(equation.text),
         quoted(term.before + (term.has_dots ? "..." : "") + term.after), rank);
  }
  Labels labels(term.before.begin(), term.before.end());
  for (int i = dots; i-- > 0;) {
    labels.push_back(kFirstDots + i);
  }
  labels.insert(labels.end(), term.after.begin(), term.after.end());
  return labels;
}

std::string label_text(int label) {
  return quoted(label < kFirstDots ? std::string(1, static_cast<char>(label)) : std::string("..."));
}

// What is summed: the sizes of the labels, and the strides of each operand along them.
struct EinsumLoops {
  std::array<std::int64_t, kLabelCount> sizes;  // -1: the label does not occur
  std::array<int, kLabelCount> uses{};          // how often each label occurs
  int dots = 0;                                 // the number of dimensions of "..."
  Labels outer, inner;                          // the labels of the result, and the others
  std::vector<std::array<std::int64_t, kLabelCount>> strides;

  EinsumLoops() { sizes.fill(-1); }
};

void add_operand(EinsumLoops& loops, const EinsumEquation& equation, const EinsumTerm& term, const Array& operand) {
  std::array<std::int64_t, kLabelCount>& strides = loops.strides.emplace_back();
  strides.fill(0);
  const Labels labels = einsum_labels(equation, term, operand.rank());  // fewer than kLabelCount: ranks are limited
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const std::int64_t size = operand.shape()[i];
    std::int64_t& common = loops.sizes[label];
    if (common != -1 && common != size && common != 1 && size != 1) {
      fail("equation is {}: {} is {} and {}", quoted(equation.text), label_text(labels[i]), common, size);
    }
    common = common == -1 || common == 1 ? size : common;
    strides[label] += size == 1 ? 0 : operand.strides()[i];
    ++loops.uses[label];
    loops.dots = std::max(loops.dots, labels[i] - kFirstDots + 1);
  }
}

// Without a result in the equation, the result has the labels that occur once, in alphabetical order.
void choose_outer(EinsumLoops& loops, const EinsumEquation& equation) {
  std::array<bool, kLabelCount> is_outer{};
  const auto append = [&](int label) {
    if (loops.sizes[static_cast<std::size_t>(label)] == -1) {
      fail("equation is {}: {} is not in any operand", quoted(equation.text), label_text(label));
    }
    if (std::exchange(is_outer[static_cast<std::size_t>(label)], true)) {
      fail("equation is {}: {} occurs twice in the result", quoted(equation.text), label_text(label));
    }
    loops.outer.push_back(label);
  };
  const EinsumTerm& result = equation.result;
  for (const char letter : result.before) {
    append(letter);
  }
  if (!equation.has_result || result.has_dots) {
    for (int i = loops.dots; i-- > 0;) {
      append(kFirstDots + i);
    }
  } else if (loops.dots != 0) {
    fail("equation is {}: the result has no '...', but the operands have {} such dimensions", quoted(equation.text),
         loops.dots);
  }
  for (const char letter : result.after) {
    append(letter);
  }
  for (int label = 0; label < kLabelCount; ++label) {
    const auto at = static_cast<std::size_t>(label);
    if (!equation.has_result && label < kFirstDots && loops.uses[at] == 1) {
      append(label);
    } else if (loops.sizes[at] != -1 && !is_outer[at]) {
      loops.inner.push_back(label);
    }
  }
}

Sizes label_sizes(const EinsumLoops& loops, const Labels& labels) {
  Sizes sizes;
  for (const int label : labels) {
    sizes.push_back(loops.sizes[static_cast<std::size_t>(label)]);
  }
  return sizes;
}

// The offset of an index in an operand.
std::int64_t offset_at(const std::array<std::int64_t, kLabelCount>& strides, const Labels& labels, const Sizes& index) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    offset += strides[static_cast<std::size_t>(labels[i])] * index[i];
  }
  return offset;
}

// Sums products into the elements of the result, in order. T: double, or uint64, which wraps.
template <class T, class Store>
void sum_products(const EinsumLoops& loops, const std::vector<std::vector<T>>& operands, const Store& store) {
  Labels inner = loops.inner;
  const int last = inner.empty() ? -1 : inner.back();
  if (!inner.empty()) {
    inner.pop_back();
  }
  const Sizes outer_sizes = label_sizes(loops, loops.outer);
  const Sizes inner_sizes = label_sizes(loops, inner);
  const std::int64_t outer_count = product(outer_sizes);
  const std::int64_t inner_count = product(inner_sizes);
  const std::int64_t length = last < 0 ? 1 : loops.sizes[static_cast<std::size_t>(last)];
  const std::int64_t parts = length == 0 ? 0 : inner_count;
  std::vector<const T*> starts(operands.size());
  std::vector<const T*> at(operands.size());
  std::vector<std::int64_t> steps;
  for (const auto& strides : loops.strides) {
    steps.push_back(last < 0 ? 0 : strides[static_cast<std::size_t>(last)]);
  }
  Sizes outer_index(outer_sizes.size(), 0);
  Sizes inner_index(inner_sizes.size(), 0);
  for (std::int64_t position = 0; position < outer_count; ++position) {
    for (std::size_t i = 0; parts != 0 && i < operands.size(); ++i) {
      starts[i] = operands[i].data() + offset_at(loops.strides[i], loops.outer, outer_index);
    }
    T total = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        at[i] = starts[i] + offset_at(loops.strides[i], inner, inner_index);
      }
      for (std::int64_t k = 0; k < length; ++k) {
        T term = at[0][k * steps[0]];
        for (std::size_t i = 1; i < at.size(); ++i) {
          term *= at[i][k * steps[i]];
        }
        total += term;
      }
      advance(inner_index, inner_sizes);
    }
    store(static_cast<std::size_t>(position), total);
    advance(outer_index, outer_sizes);
  }
}

Array einsum_of(const EinsumEquation& equation, std::span<const Array> inputs) {
  EinsumLoops loops;
  Arrays operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i].packed());
    add_operand(loops, equation, equation.terms[i], operands[i]);
  }
  choose_outer(loops, equation);
  Array result = Array::empty(inputs[0].kind(), label_sizes(loops, loops.outer));
  with_element_type(result.kind(), [&](auto type) {
    using T = decltype(type);
    const auto to = writable_elements<T>(result);
    if constexpr (std::is_integral_v<T>) {
      std::vector<std::vector<std::uint64_t>> numbers;
      for (const Array& operand : operands) {
        const std::vector<std::int64_t> integers = operand.to_integers();
        numbers.emplace_back(integers.begin(), integers.end());
      }
      sum_products(loops, numbers, [&](std::size_t i, std::uint64_t total) { to[i] = static_cast<T>(total); });
    } else {
      std::vector<std::vector<double>> numbers;
      for (const Array& operand : operands) {
        numbers.push_back(operand.to_numbers());
      }
      sum_products(loops, numbers, [&](std::size_t i, double total) { to[i] = rounded_number<T>(total); });
    }
  });
  return result;
}

}  // namespace

Compute host_einsum(const Node& node) {
  return [equation = einsum_equation(node)](std::span<const Array> inputs) { return one(einsum_of(equation, inputs)); };
}

}  // namespace anydml::onnx
