// SPDX-License-Identifier: MIT
#include "directml/random_graph.h"

#include <algorithm>
#include <numeric>

#include "ops/operators.h"

namespace anydml::test {
namespace {

std::vector<std::uint64_t> offsets_of(const Tensor& tensor) {  // the offset of each element, in elements
  std::vector<std::uint64_t> offsets = {0};
  std::uint64_t packed = 1;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    const std::uint64_t stride = tensor.strides.empty() ? packed : tensor.strides[i];
    packed *= tensor.sizes[i];
    const std::size_t count = offsets.size();
    for (std::uint64_t at = 1; at < tensor.sizes[i]; ++at) {
      for (std::size_t k = 0; k < count; ++k) {
        offsets.push_back(offsets[k] + at * stride);
      }
    }
  }
  return offsets;
}

std::vector<DML_TENSOR_DATA_TYPE> types_in(unsigned set) {
  std::vector<DML_TENSOR_DATA_TYPE> types;
  for (int type = 1; type < 12; ++type) {
    if ((set >> type & 1U) != 0) {
      types.push_back(static_cast<DML_TENSOR_DATA_TYPE>(type));
    }
  }
  return types;
}

}  // namespace

std::vector<const facts::Operator*> built_operators() {
  std::vector<const facts::Operator*> built;
  for (const facts::Operator& op : facts::operators()) {
    // Operators with several outputs, or with tensors of different sizes, are in random_networks_test.
    static constexpr FamilyId kGenerated[] = {FamilyId::elementwise, FamilyId::fill, FamilyId::reduce,
                                              FamilyId::normalize};
    const Family* family = find_family(op);
    const auto outputs =
        std::ranges::count_if(op.fields, [](const auto& field) { return facts::is_output(field.kind); });
    if (family != nullptr && outputs == 1 && std::ranges::find(kGenerated, family->id) != std::end(kGenerated)) {
      built.push_back(&op);
    }
  }
  return built;
}

// The storage that a description points to.
struct RandomGraph::Attempt {
  std::deque<Tensor> tensors;
  std::deque<std::vector<std::uint64_t>> blocks;

  template <class T>
  T* allocate(std::size_t count) {
    return reinterpret_cast<T*>(blocks.emplace_back(count * sizeof(T) / sizeof(std::uint64_t) + 1).data());
  }
};

RandomGraph::RandomGraph(const Dml& dml, std::uint64_t seed, std::size_t max_nodes, Sizes of)
    : dml_(dml), random_(seed) {
  static const auto built = built_operators();
  static constexpr UINT kCounts[] = {1, 2, 7, 24, 60, 96, 210, 360};  // the first five are small
  for (int i = 0; i < 2; ++i) {
    // Some shapes have more elements than one tile, or more than one thread's share.
    const UINT count = of == Sizes::small ? kCounts[random_() % 5]
                       : one_in(24)       ? (one_in(4) ? 151'200 : 5'040)
                                          : kCounts[random_() % std::size(kCounts)];
    for (UINT first = 1; first <= count; ++first) {
      if (count % first == 0 && (shapes_.size() < 8 || one_in(3))) {
        shapes_.push_back({first, count / first});
      }
    }
  }
  liked_ = static_cast<DML_TENSOR_DATA_TYPE>(one_in(2) ? 1 : 1 + random_() % 11);
  const bool large = std::ranges::any_of(shapes_, [](const auto& sizes) { return sizes[0] * sizes[1] > 1000; });
  const std::size_t count = 1 + random_() % (large ? std::min<std::size_t>(max_nodes, 20) : max_nodes);
  const auto reduces = [](const facts::Operator* op) { return op->name == "REDUCE" || op->name.starts_with("ARGM"); };
  std::vector<const facts::Operator*> reductions;
  std::ranges::copy_if(built, std::back_inserter(reductions), reduces);
  while (nodes_.size() < count) {
    // Few operators are reductions, but the steps before and after them are of special interest.
    follows_reduction_ = !nodes_.empty() && reduces(nodes_.back().op) && !one_in(4);
    if (!try_node(*one_of(!follows_reduction_ && one_in(6) ? reductions : built))) {
      ++refused_;
    }
  }
  for (Input& input : inputs_) {
    input.values = random_bytes(input.bytes);
  }
  choose_outputs();
}

std::vector<UINT> RandomGraph::random_sizes(unsigned lowest_rank, unsigned max_rank) {
  std::vector<UINT> sizes = one_of(shapes_);
  while (sizes.size() < lowest_rank || (sizes.size() < max_rank && one_in(2))) {
    const std::size_t at = random_() % (sizes.size() + 1);
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1U);
    const std::size_t other = random_() % sizes.size();  // this dimension gives some of its factors to the new one
    for (const UINT factor : {2U, 3U, 5U}) {
      if (sizes[other] % factor == 0 && one_in(2)) {
        sizes[other] /= factor;
        sizes[at] *= factor;
      }
    }
  }
  while (sizes.size() > max_rank) {
    sizes[0] *= sizes[1];
    sizes.erase(sizes.begin() + 1);
  }
  return sizes;
}

std::vector<UINT> RandomGraph::random_strides(const std::vector<UINT>& sizes, bool for_output) {
  if (!one_in(3)) {
    return {};
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (one_in(3)) {
    std::ranges::shuffle(order, random_);
  }
  std::vector<UINT> strides(sizes.size());
  UINT next = one_in(8) ? 2 : 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const bool repeats = !for_output && one_in(4);
    strides[order[i]] = repeats ? 0 : next;
    next *= repeats ? 1 : sizes[order[i]];
    next += one_in(6) ? 1 + static_cast<UINT>(random_() % 5) : 0;
  }
  return strides;
}

// Returns mostly moderate numbers of some type, and occasionally arbitrary bytes.
Bytes RandomGraph::random_bytes(std::uint64_t count) {
  Bytes bytes(count);
  const auto kind = random_() % 4;
  for (std::uint64_t i = 0; i < count; i += 4) {
    std::uint32_t word = static_cast<std::uint32_t>(random_());
    if (kind < 2) {
      const float number = static_cast<float>(static_cast<int>(random_() % 4001) - 2000) / 128;
      std::memcpy(&word, &number, sizeof(word));
    } else if (kind == 2) {
      word &= 0x03030303;
    }
    std::memcpy(bytes.data() + i, &word, std::min<std::uint64_t>(4, count - i));
  }
  return bytes;
}

// Tries to find strides with which the tensor reads only written bytes of the node's output.
bool RandomGraph::try_view(Tensor& tensor, const RandomNode& node) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    tensor.strides = attempt < 2 ? random_strides(tensor.sizes, false) : std::vector<UINT>();
    tensor.point();
    if (tensor.implied_bytes() > node.bytes) {
      continue;
    }
    const std::uint64_t size = tensor.element_bytes();
    bool good = true;
    if (!node.written.empty()) {
      for (const std::uint64_t at : offsets_of(tensor)) {
        for (std::uint64_t byte = 0; byte < size; ++byte) {
          good = good && node.written[at * size + byte];
        }
      }
    }
    if (good) {
      tensor.buffer.TotalTensorSizeInBytes = node.bytes;
      return true;
    }
  }
  return false;
}

void RandomGraph::take_new_input(Tensor& tensor, RandomSource& source) {
  const bool is_constant = one_in(6);
  tensor.strides = random_strides(tensor.sizes, false);
  tensor.point();
  tensor.buffer.TotalTensorSizeInBytes = tensor.implied_bytes() + (one_in(8) ? 4 * (random_() % 9) : 0);
  if (is_constant) {
    source = {.kind = RandomSource::constant, .index = constants_.size()};
    constants_.push_back(random_bytes(tensor.buffer.TotalTensorSizeInBytes));
  } else {
    source = {.kind = RandomSource::input, .index = inputs_.size()};
    inputs_.push_back({.bytes = tensor.buffer.TotalTensorSizeInBytes, .owned = one_in(3), .values = {}});
  }
}

RandomSource RandomGraph::find_source(Tensor& tensor) {
  RandomSource source;
  for (int attempt = 0; attempt < 6 && !nodes_.empty() && !one_in(6); ++attempt) {
    // The source is usually one of the latest nodes. The node after a reduction reads that reduction.
    const std::size_t back = follows_reduction_ && attempt == 0 ? 0
                             : one_in(2)                        ? random_() % std::min<std::size_t>(nodes_.size(), 4)
                                                                : random_() % nodes_.size();
    const std::size_t node = nodes_.size() - 1 - back;
    if (try_view(tensor, nodes_[node])) {
      return {.kind = RandomSource::node, .index = node};
    }
  }
  if (inputs_.empty() || one_in(3)) {
    take_new_input(tensor, source);
    return source;
  }
  source = {.kind = RandomSource::input, .index = random_() % inputs_.size()};
  Input& input = inputs_[source.index];
  tensor.strides = random_strides(tensor.sizes, false);
  tensor.point();
  tensor.buffer.TotalTensorSizeInBytes = tensor.implied_bytes();
  input.bytes = std::max(input.bytes, tensor.buffer.TotalTensorSizeInBytes);
  return source;
}

// `inner` is an activation within another operator, and has no tensors.
void RandomGraph::set_attributes(Attempt& attempt, const facts::Operator& op, void* desc, DML_TENSOR_DATA_TYPE type,
                                 bool inner) {
  static const std::vector<float> reals = {0.0F, 0.5F, 1.0F, -1.5F, 2.0F, 0.01F, 6.0F};
  static const auto activations = [] {
    std::vector<const facts::Operator*> found;
    for (const facts::Operator* one : built_operators()) {
      if (one->name.starts_with("ACTIVATION_") && find_family(*one)->by_element) {
        found.push_back(one);
      }
    }
    return found;
  }();
  for (const facts::Field& field : op.fields) {
    std::byte* member = static_cast<std::byte*>(desc) + field.offset;
    const auto set = [&](const auto& value) {
      std::memcpy(member, &value, std::min(sizeof(value), std::size_t{field.size}));
    };
    switch (field.type) {
      case facts::FieldType::real:
        set(one_of(reals));
        break;
      case facts::FieldType::natural:
        set(static_cast<UINT>(random_() % 4));  // array counts are set by the code that builds the arrays
        break;
      case facts::FieldType::integer:
        set(static_cast<INT>(random_() % 7) - 3);
        break;
      case facts::FieldType::boolean:
        set(static_cast<BOOL>(random_() % 2));
        break;
      case facts::FieldType::enumeration: {
        const facts::Enum& known = *facts::find_enum(field.spelling);
        set(field.spelling == "DML_TENSOR_DATA_TYPE" ? static_cast<std::uint32_t>(type)
                                                     : known.values[random_() % known.values.size()].value);
        break;
      }
      case facts::FieldType::scale_bias:
        if (one_in(3) && !inner) {
          set(static_cast<const void*>(new (attempt.allocate<DML_SCALE_BIAS>(1))
                                           DML_SCALE_BIAS{one_of(reals), one_of(reals)}));
        }
        break;
      case facts::FieldType::scalar_union:
        set(random_() & 0x00ff00ff00ff00ff);
        break;
      case facts::FieldType::operators:
        if (one_in(3) && !inner) {
          const facts::Operator& fused = *one_of(activations);
          auto* fused_desc = attempt.allocate<std::byte>(fused.desc_size);
          set_attributes(attempt, fused, fused_desc, type, true);
          set(static_cast<const void*>(new (attempt.allocate<DML_OPERATOR_DESC>(1))
                                           DML_OPERATOR_DESC{static_cast<DML_OPERATOR_TYPE>(fused.value), fused_desc}));
        }
        break;
      default:
        break;
    }
  }
}

bool RandomGraph::try_node(const facts::Operator& op) {
  const Family& family = *find_family(op);
  const auto kept_inputs = inputs_;
  const auto kept_constants = constants_.size();
  Attempt attempt;
  RandomNode node;
  node.op = &op;
  std::map<std::size_t, DML_TENSOR_DATA_TYPE> type_of;  // the types by field
  unsigned lowest_rank = 1;
  unsigned max_rank = 8;
  std::size_t position = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (facts::is_attribute(op.fields[i].kind)) {
      continue;
    }
    const auto admitted = facts::admitted(op, i, facts::kNewestLevel);
    unsigned set = family.types(op, position++);
    if (admitted) {
      lowest_rank = std::max(lowest_rank, unsigned{admitted->min_rank});
      max_rank = std::min(max_rank, unsigned{admitted->max_rank});
      set &= admitted->types != 0 ? unsigned{admitted->types} : set;
    }
    const auto types = types_in(set);
    if (types.empty()) {
      return false;
    }
    type_of[i] = std::ranges::find(types, liked_) != types.end() && !one_in(3) ? liked_ : one_of(types);
    for (const facts::SameGroup& same : op.same) {
      if (same.what == facts::Same::datatype && (same.fields >> i & 1U) != 0) {
        for (auto& [other, type] : type_of) {
          type_of[i] = (same.fields >> other & 1U) != 0 && other < i ? type : type_of[i];
        }
      }
    }
  }
  std::vector<UINT> sizes = random_sizes(lowest_rank, std::max(lowest_rank, max_rank));
  if (follows_reduction_ && nodes_.back().sizes.size() >= lowest_rank && nodes_.back().sizes.size() <= max_rank) {
    sizes = nodes_.back().sizes;
  }
  std::vector<UINT> reduced = sizes;
  std::vector<std::uint64_t> block(op.desc_size / 8 + 1);
  auto* desc = reinterpret_cast<std::byte*>(block.data());
  set_attributes(attempt, op, desc, type_of.rbegin()->second, false);
  for (const facts::Field& field : op.fields) {
    if (field.name == "Axes") {
      auto* axes = attempt.allocate<UINT>(sizes.size());
      UINT count = 0;
      for (UINT axis = 0; axis < sizes.size(); ++axis) {
        if (one_in(2)) {
          axes[count++] = axis;
          reduced[axis] = family.id == FamilyId::reduce ? 1 : sizes[axis];
        }
      }
      std::memcpy(desc + field.offset, static_cast<const void*>(&axes), sizeof(axes));
      std::memcpy(desc + op.fields[static_cast<std::size_t>(field.count_field)].offset, &count, sizeof(count));
    }
  }
  for (const auto& [field, type] : type_of) {
    const facts::Field& of = op.fields[field];
    const bool is_output = facts::is_output(of.kind);
    if (of.kind == facts::FieldKind::optional_input && one_in(2)) {
      node.sources.emplace_back();
      continue;
    }
    Tensor& tensor = attempt.tensors.emplace_back(type, is_output ? reduced : sizes);
    if (is_output) {
      tensor.strides = random_strides(tensor.sizes, true);
      tensor.point();
      tensor.buffer.TotalTensorSizeInBytes = tensor.implied_bytes();
      node.type = type;
      node.sizes = reduced;
      node.bytes = tensor.buffer.TotalTensorSizeInBytes;
      const auto offsets = offsets_of(tensor);
      const std::uint64_t size = tensor.element_bytes();
      if (offsets.size() * size != node.bytes) {
        node.written.resize(node.bytes);
        for (const std::uint64_t at : offsets) {
          std::fill_n(node.written.begin() + static_cast<std::ptrdiff_t>(at * size), size, true);
        }
      }
    } else {
      node.sources.push_back(find_source(tensor));
      node.sources.back().type = type;
    }
    tensor.buffer.GuaranteedBaseOffsetAlignment = one_in(8) ? 16U << random_() % 5 : 0;
    const void* pointer = &tensor.desc;
    std::memcpy(desc + of.offset, &pointer, sizeof(pointer));
  }
  const auto type = static_cast<DML_OPERATOR_TYPE>(op.value);
  if (FAILED(dml_.create_operator(type, desc, node.alone))) {
    inputs_ = kept_inputs;
    constants_.resize(kept_constants);
    return false;
  }
  std::size_t next = 0;
  for (const RandomSource& source : node.sources) {
    if (source.kind != RandomSource::none) {
      Tensor& tensor = attempt.tensors[next++];
      const bool owned = source.kind == RandomSource::input && inputs_[source.index].owned;
      tensor.buffer.Flags = owned ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE;
    }
  }
  EXPECT_EQ(dml_.create_operator(type, desc, node.in_graph), S_OK) << anydml_last_error();
  nodes_.push_back(std::move(node));
  return true;
}

void RandomGraph::choose_outputs() {
  std::vector<bool> is_read(nodes_.size());
  for (const RandomNode& node : nodes_) {
    for (const RandomSource& source : node.sources) {
      if (source.kind == RandomSource::node) {
        is_read[source.index] = true;
      }
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i + 1 == nodes_.size() || (is_read[i] ? one_in(8) : !one_in(4))) {
      outputs_.push_back(i);
      if (one_in(8)) {
        outputs_.push_back(i);
      }
    }
  }
  std::ranges::shuffle(outputs_, random_);
}

GraphInputs RandomGraph::inputs() const {
  GraphInputs given;
  for (const Input& input : inputs_) {
    given.values.push_back(input.values);
    given.owned.push_back(input.owned);
  }
  return given;
}

void RandomGraph::describe(GraphBuilder& graph) const {
  const std::size_t count = nodes_.size();
  std::vector<UINT> constants;
  for (const Bytes& data : constants_) {
    constants.push_back(graph.add_constant(data.data(), data.size()));
  }
  // The node numbers in the description, which adds every third node first.
  std::vector<UINT> number(count);
  for (std::size_t rest : {2U, 0U, 1U}) {
    for (std::size_t i = rest; i < count; i += 3) {
      number[i] = graph.add(nodes_[i].in_graph.Get());
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (UINT input = 0; input < nodes_[i].sources.size(); ++input) {
      const RandomSource& source = nodes_[i].sources[input];
      if (source.kind == RandomSource::input) {
        graph.input(static_cast<UINT>(source.index), number[i], input);
      } else if (source.kind == RandomSource::constant) {
        graph.connect(constants[source.index], number[i], input);
      } else if (source.kind == RandomSource::node) {
        graph.connect(number[source.index], number[i], input);
      }
    }
  }
  for (UINT i = 0; i < outputs_.size(); ++i) {
    graph.output(number[outputs_[i]], i);
  }
  graph.input_count = static_cast<UINT>(inputs_.size());
}

std::string RandomGraph::text() const {
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    text += std::to_string(i) + " " + std::string(nodes_[i].op->name) + "(";
    for (const RandomSource& source : nodes_[i].sources) {
      static constexpr const char* kNames[] = {"-", "input", "constant", "%"};
      text += ' ';
      text += kNames[source.kind];
      text += source.kind != RandomSource::none ? std::to_string(source.index) : std::string();
    }
    text += " )\n";
  }
  return text;
}

}  // namespace anydml::test
