// SPDX-License-Identifier: MIT
// Operands are combined from left to right with reductions, transpositions and matrix products.
#include "onnx/rows/einsum.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace anydml::onnx {
namespace {

// The name of a dimension: a letter of the equation, or -1 - i for dimension i of "...", counted from the last.
using EinsumLabel = int;
using EinsumLabels = std::vector<EinsumLabel>;

constexpr std::string_view kEinsumDots = "...";

// An operand, or the product of several operands, with a label for each dimension.
struct EinsumTerm {
  EinsumLabels labels;
  Array array;
};

// A list of labels, as text: the letters before and after "...".
struct EinsumText {
  std::string before, after;
  bool has_dots = false;
};

struct EinsumEquation {
  std::string text;  // as the node has it, for messages
  std::vector<EinsumText> operands;
  std::optional<EinsumText> result;
};

struct EinsumSizes {
  std::map<EinsumLabel, std::int64_t> sizes;
  std::map<EinsumLabel, std::size_t> last_use;  // the position of the last operand with this label
  EinsumLabels wanted;                          // the labels of the result
};

bool has_label(const EinsumLabels& labels, EinsumLabel label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int label_position(const EinsumLabels& labels, EinsumLabel label) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

std::string label_text(EinsumLabel label) {
  return quoted(label < 0 ? std::to_string(-1 - label) : std::string(1, static_cast<char>(label)));
}

bool is_einsum_letter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }

// ---- The equation ---------------------------------------------------------------------------------------------------

EinsumText parsed_labels(const Node& node, const std::string& equation, std::string_view part) {
  EinsumText parsed;
  const std::size_t dots = part.find(kEinsumDots);
  parsed.has_dots = dots != std::string_view::npos;
  parsed.before = part.substr(0, dots);
  parsed.after = parsed.has_dots ? part.substr(dots + kEinsumDots.size()) : std::string_view();
  const std::string letters = parsed.before + parsed.after;
  if (!std::all_of(letters.begin(), letters.end(), is_einsum_letter)) {
    fail("{}: equation is {}; expected letters, commas, '...' and '->'", node.label, quoted(equation));
  }
  if (std::set<char>(letters.begin(), letters.end()).size() != letters.size()) {
    refuse(node, "with equation " + equation, "a label that occurs twice in a term is a diagonal");
  }
  return parsed;
}

EinsumEquation parsed_equation(const Node& node) {
  EinsumEquation parsed;
  parsed.text = node.text("equation");
  std::string text = parsed.text;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t arrow = text.find("->");
  const std::string_view left = std::string_view(text).substr(0, arrow);
  const auto commas = static_cast<std::size_t>(std::count(left.begin(), left.end(), ','));
  if (commas + 1 != node.kinds.size()) {
    fail("{}: equation is {}, but the node has {} inputs", node.label, quoted(text), node.kinds.size());
  }
  std::size_t start = 0;
  for (std::size_t i = 0; i <= commas; ++i) {
    const std::size_t end = std::min(left.find(',', start), left.size());
    parsed.operands.push_back(parsed_labels(node, text, left.substr(start, end - start)));
    start = end + 1;
  }
  if (arrow != std::string::npos) {
    parsed.result = parsed_labels(node, text, std::string_view(text).substr(arrow + 2));
  }
  return parsed;
}

// ---- The labels of the arrays ---------------------------------------------------------------------------------------

EinsumTerm labeled_operand(const EinsumEquation& equation, const EinsumText& text, const Array& array) {
  const int letters = static_cast<int>(text.before.size() + text.after.size());
  const int more = array.rank() - letters;
  if (more < 0 || (more > 0 && !text.has_dots)) {
    const std::string part = text.before + (text.has_dots ? "..." : "") + text.after;
    fail("equation is {}, but {} does not match the {} dimensions of its operand", quoted(equation.text), quoted(part),
         array.rank());
  }
  EinsumTerm term{{text.before.begin(), text.before.end()}, array};
  for (int i = more; i > 0; --i) {
    term.labels.push_back(-i);
  }
  term.labels.insert(term.labels.end(), text.after.begin(), text.after.end());
  return term;
}

// The dimensions of "..." in the operand in which there are the most.
EinsumLabels dots_of(const std::vector<EinsumTerm>& terms) {
  EinsumLabels most;
  for (const EinsumTerm& term : terms) {
    EinsumLabels dots;
    std::copy_if(term.labels.begin(), term.labels.end(), std::back_inserter(dots),
                 [](EinsumLabel label) { return label < 0; });
    most = dots.size() > most.size() ? dots : most;
  }
  return most;
}

EinsumLabels wanted_labels(const EinsumEquation& equation, const std::vector<EinsumTerm>& terms) {
  const EinsumLabels dots = dots_of(terms);
  EinsumLabels wanted;
  if (equation.result) {
    wanted.assign(equation.result->before.begin(), equation.result->before.end());
    if (equation.result->has_dots) {
      wanted.insert(wanted.end(), dots.begin(), dots.end());
    }
    wanted.insert(wanted.end(), equation.result->after.begin(), equation.result->after.end());
    return wanted;
  }
  wanted = dots;  // and the letters that occur once, in alphabetical order
  std::map<char, int> counts;
  for (const EinsumText& operand : equation.operands) {
    for (const char letter : operand.before + operand.after) {
      ++counts[letter];
    }
  }
  for (const auto& [letter, count] : counts) {
    if (count == 1) {
      wanted.push_back(letter);
    }
  }
  return wanted;
}

EinsumSizes sizes_of_labels(const EinsumEquation& equation, const std::vector<EinsumTerm>& terms) {
  EinsumSizes found;
  for (std::size_t position = 0; position < terms.size(); ++position) {
    const EinsumTerm& term = terms[position];
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const EinsumLabel label = term.labels[i];
      const std::int64_t size = term.array.shape()[i];
      std::int64_t& known = found.sizes.try_emplace(label, size).first->second;
      if (known != size && known != 1 && size != 1) {
        fail("equation is {}: {} is {} and {}", quoted(equation.text), label_text(label), known, size);
      }
      known = std::max(known, size);
      found.last_use[label] = position;
    }
  }
  found.wanted = wanted_labels(equation, terms);
  return found;
}

// ---- The computation ------------------------------------------------------------------------------------------------

// Sums over the labels that are not needed anymore.
template <class IsKept>
EinsumTerm summed_labels(const EinsumTerm& term, const IsKept& is_kept) {
  std::vector<std::int64_t> axes;
  Sizes shape = term.array.shape();
  Sizes left;
  EinsumLabels labels;
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    if (is_kept(term.labels[i])) {
      labels.push_back(term.labels[i]);
      left.push_back(shape[i]);
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
      shape[i] = 1;
    }
  }
  if (axes.empty()) {
    return term;
  }
  const Array built = dispatch("REDUCE", {term.array}, {{"Function", "SUM"}, {"Axes", axes}}, {shape});
  return {labels, built.reshape(left)};
}

Sizes sizes_for(const EinsumLabels& labels, const EinsumSizes& sizes) {
  Sizes result;
  for (const EinsumLabel label : labels) {
    result.push_back(sizes.sizes.at(label));
  }
  return result;
}

EinsumLabels chained_labels(const EinsumLabels& a, const EinsumLabels& b, const EinsumLabels& c) {
  EinsumLabels result = a;
  result.insert(result.end(), b.begin(), b.end());
  result.insert(result.end(), c.begin(), c.end());
  return result;
}

// The dimensions of a term in another order, with their full sizes, as matrices.
Array as_matrices(const EinsumTerm& term, const EinsumLabels& order, const EinsumSizes& sizes, const Sizes& matrices) {
  std::vector<int> axes;
  for (const EinsumLabel label : order) {
    axes.push_back(label_position(term.labels, label));
  }
  const Array arranged = term.array.transpose(axes);
  return (arranged.rank() != 0 ? arranged.broadcast_to(sizes_for(order, sizes)) : arranged).reshape(matrices);
}

// A matrix product: labels that both operands have are batch dimensions if they are kept, and are summed otherwise.
template <class IsKept>
EinsumTerm einsum_product(const EinsumTerm& first, const EinsumTerm& second, const IsKept& is_kept,
                          const EinsumSizes& sizes) {
  const EinsumTerm a =
      summed_labels(first, [&](EinsumLabel label) { return is_kept(label) || has_label(second.labels, label); });
  const EinsumTerm b =
      summed_labels(second, [&](EinsumLabel label) { return is_kept(label) || has_label(a.labels, label); });
  EinsumLabels batch, inner, rows, columns;
  for (const EinsumLabel label : a.labels) {
    (!has_label(b.labels, label) ? rows : is_kept(label) ? batch : inner).push_back(label);
  }
  std::copy_if(b.labels.begin(), b.labels.end(), std::back_inserter(columns),
               [&a](EinsumLabel label) { return !has_label(a.labels, label); });
  const auto count = [&sizes](const EinsumLabels& labels) { return product(sizes_for(labels, sizes)); };
  const Array left =
      as_matrices(a, chained_labels(batch, rows, inner), sizes, {count(batch), count(rows), count(inner)});
  const Array right =
      as_matrices(b, chained_labels(batch, inner, columns), sizes, {count(batch), count(inner), count(columns)});
  const Sizes shape{count(batch), count(rows), count(columns)};
  const bool is_empty = product(shape) == 0 || count(inner) == 0;
  const Array built = is_empty ? Array::zeros(a.array.kind(), shape) : gemm(left, right, shape);
  const EinsumLabels order = chained_labels(batch, rows, columns);
  return {order, built.reshape(sizes_for(order, sizes))};
}

Array einsum(const EinsumEquation& equation, std::span<const Array> inputs) {
  std::vector<EinsumTerm> terms;
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    terms.push_back(labeled_operand(equation, equation.operands[i], inputs[i]));
  }
  const EinsumSizes sizes = sizes_of_labels(equation, terms);
  EinsumTerm built = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const auto is_kept = [&sizes, i](EinsumLabel label) {
      return has_label(sizes.wanted, label) || sizes.last_use.at(label) > i;
    };
    built = einsum_product(built, terms[i], is_kept, sizes);
  }
  built = summed_labels(built, [&sizes](EinsumLabel label) { return has_label(sizes.wanted, label); });
  std::vector<int> order;
  for (const EinsumLabel label : sizes.wanted) {
    if (!has_label(built.labels, label)) {
      fail("equation is {}: {} is not in any operand", quoted(equation.text), label_text(label));
    }
    order.push_back(label_position(built.labels, label));
  }
  return identity(built.array.transpose(order));
}

}  // namespace

Compute make_einsum(const Node& node) {
  return [equation = parsed_equation(node)](std::span<const Array> inputs) { return one(einsum(equation, inputs)); };
}

}  // namespace anydml::onnx
