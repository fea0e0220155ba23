// SPDX-License-Identifier: MIT
#include "onnx/values/recorder.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/process.h"
#include "onnx/values/halves.h"

namespace anydml::onnx {
namespace {

constinit anydml_constants* g_constants = nullptr;  // guarded by process_mutex; never released

// The constants of all models. Their packed forms are kept as long as a compiled graph uses them, and each graph is
// released before its model's arrays are, so an address never stands for elements that are gone.
anydml_constants* process_constants() {
  const std::scoped_lock lock(process_mutex());
  if (g_constants == nullptr) {
    check_status(anydml_constants_create(&g_constants));
  }
  return g_constants;
}

bool has_negative_stride(const Array& array) {
  return std::any_of(array.strides().begin(), array.strides().end(), [](std::int64_t one) { return one < 0; });
}

}  // namespace

void check_status(int status) {
  switch (status) {
    case ANYDML_OK:
      return;
    case ANYDML_INVALID_ARGUMENT:
    case ANYDML_UNSUPPORTED:
      throw Invalid(anydml_last_error());
    case ANYDML_OUT_OF_MEMORY:
      throw NoMemory(anydml_last_error());
    default:
      throw DeviceFailure(status, anydml_last_error());
  }
}

FixedArrays::FixedArrays(std::vector<Array> arrays) : arrays_(std::move(arrays)), constants_(process_constants()) {
  std::erase_if(arrays_, [](const Array& one) { return one.count() == 0; });
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (const Array& one : arrays_) {
    if (one.is_packed()) {
      identities_.insert(one.identity());
    }
    ranges.push_back(one.bounds());
  }
  std::sort(ranges.begin(), ranges.end());
  for (const auto& [begin, end] : ranges) {
    if (!ranges_.empty() && begin < ranges_.back().second) {
      ranges_.back().second = std::max(end, ranges_.back().second);
    } else {
      ranges_.emplace_back(begin, end);
    }
  }
}

bool FixedArrays::contains(const Array& array) const {
  if (identities_.contains(array.identity())) {
    return true;
  }
  if (array.count() == 0 || (!array.is_packed() && has_negative_stride(array))) {
    return false;
  }
  const auto [begin, end] = array.bounds();
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                      [](std::uintptr_t one, const auto& range) { return one < range.first; });
  return after != ranges_.begin() && end <= std::prev(after)->second;
}

Recorder::Recorder(const FixedArrays& fixed) : fixed_(fixed) {
  anydml_graph* graph = nullptr;
  check_status(anydml_graph_create(&graph));
  graph_.reset(graph);
}

Array Recorder::symbol(Kind kind, Sizes shape, Sizes strides, std::uint64_t source) {
  auto body = std::make_shared<Array::Body>();
  body->kind = kind;
  body->layout = Array::layout_of(std::move(shape), std::move(strides));
  body->recorder = this;
  body->source = source;
  body->value = source;
  return Array(std::move(body));
}

Array Recorder::input(const Array& like) {
  const Array plain = like.plain();
  const Sizes strides = like.count() != 0 ? plain.strides() : packed_strides(plain.shape());
  const anydml_tensor tensor{api_type(plain.kind()), plain.rank(), plain.shape().data(), strides.data(), nullptr};
  anydml_value value = 0;
  check_status(anydml_graph_add_input(graph_.get(), &tensor, &value));
  const Array result = symbol(plain.kind(), plain.shape(), strides, value);
  return like.kind() == Kind::kBool ? result.view_as(Kind::kBool) : result;
}

Array Recorder::known(const Array& array) {
  Array plain = array.plain();
  plain = fixed_.contains(plain) ? plain : plain.packed();
  const Sizes strides = array.count() != 0 ? plain.strides() : packed_strides(plain.shape());
  const Array result = symbol(plain.kind(), plain.shape(), strides, constant(plain));
  return array.kind() == Kind::kBool ? result.view_as(Kind::kBool) : result;
}

std::uint64_t Recorder::constant(const Array& array) {
  const ElementReads::Paused paused;  // these addresses are passed on, and their elements do not matter
  const auto [begin, end] = constants_.equal_range(array.data());
  for (auto one = begin; one != end; ++one) {
    const Array& other = one->second.array;
    if (other.kind() == array.kind() && other.shape() == array.shape() && other.strides() == array.strides()) {
      return one->second.value;
    }
  }
  anydml_value value = 0;
  if (fixed_.contains(array)) {
    const anydml_tensor tensor = tensor_of(array);
    check_status(anydml_graph_add_shared_constant(graph_.get(), fixed_.constants(), &tensor, &value));
  } else {
    // A shared constant keeps its strides, so this one does too: a repeated operator expects the strides of the first.
    kept_.push_back(has_negative_stride(array) ? array.packed() : array);
    const anydml_tensor tensor = tensor_of(kept_.back());
    check_status(anydml_graph_add_constant(graph_.get(), &tensor, &value));
  }
  constants_.emplace(array.data(), Constant{array, value});
  return value;
}

std::uint64_t Recorder::value_of(const Array& symbol) {
  Array::Body& body = *symbol.body_;
  if (body.value == 0) {
    const anydml_tensor tensor = tensor_of(symbol);
    check_status(anydml_graph_add_view_at(body.recorder->graph_.get(), body.source, &tensor,
                                          body.layout->count == 0 ? 0 : body.offset, &body.value));
  }
  return body.value;
}

std::uint64_t Recorder::source_of(const Array& array) { return array && array.is_symbol() ? array.body_->source : 0; }

std::int64_t Recorder::offset_of(const Array& array) {
  const Array::Body& body = *array.body_;
  return array.is_symbol() ? bytes_between(body.kind, body.offset)
                           : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(body.data));
}

Recorder* Recorder::of(const Array& symbol) { return symbol.body_->recorder; }

namespace {

class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) { key_.clear(); }
  void bytes(const void* from, std::size_t count) { key_.append(static_cast<const char*>(from), count); }
  template <class Number>
  void number(Number one) {
    bytes(&one, sizeof(one));
  }
  template <class Number>
  void numbers(const std::vector<Number>& many) {
    number(many.size());
    bytes(many.data(), many.size() * sizeof(Number));
  }
  void text(const char* one) { bytes(one, std::strlen(one) + 1); }

  // Returns false for activations, which are not part of keys.
  bool option(const Option& option) {
    text(option.name);
    number(option.value.index());
    return std::visit(
        [this](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::vector<Activation>>) {
            return value.empty();
          } else if constexpr (std::is_same_v<Value, const char*>) {
            text(value);
            return true;
          } else if constexpr (std::is_arithmetic_v<Value>) {
            number(value);
            return true;
          } else {
            numbers(value);
            return true;
          }
        },
        option.value);
  }

 private:
  std::string& key_;
};

}  // namespace

const std::vector<OutputForm>& Recorder::forms(const char* op, const Call& call, const Arrays& inputs,
                                               const Options& options, const std::vector<Out>& outs) {
  KeyWriter key(key_);
  key.text(op);
  key.number(inputs.size());
  for (const Array& one : inputs) {
    key.number(one ? one.kind() : Kind::kUndefined);
    if (one) {
      key.numbers(one.shape());
    }
  }
  key.number(outs.size());
  for (const Out& out : outs) {
    key.number(out.kind);
    key.number(out.is_wanted);
    key.number(out.shape.has_value());
    if (out.shape.has_value()) {
      key.numbers(*out.shape);
    }
  }
  const bool has_key =
      std::all_of(options.begin(), options.end(), [&key](const Option& one) { return key.option(one); });
  if (!has_key) {
    last_forms_ = call.infer(outs);
    return last_forms_;
  }
  const auto found = forms_.find(key_);
  return found != forms_.end() ? found->second : forms_.emplace(key_, call.infer(outs)).first->second;
}

Arrays Recorder::add(const char* op, const Arrays& inputs, const Options& options, const std::vector<Out>& outs) {
  const ElementReads::Paused paused;  // operators read elements only when the graph runs
  const Call call(op, inputs, options);
  const std::vector<OutputForm>& forms = this->forms(op, call, inputs, options, outs);
  std::vector<anydml_value> values;
  values.reserve(inputs.size());
  for (const Array& one : inputs) {
    values.push_back(!one ? 0 : one.is_symbol() ? value_of(one) : constant(one));
  }
  std::vector<anydml_tensor> tensors;
  std::vector<Sizes> strides;
  strides.reserve(forms.size());
  for (const OutputForm& form : forms) {
    strides.push_back(packed_strides(form.shape));
    tensors.push_back({form.kind == Kind::kUndefined ? anydml_type{ANYDML_NONE} : api_type(form.kind),
                       static_cast<std::int32_t>(form.shape.size()), form.shape.data(), strides.back().data(),
                       nullptr});
  }
  if (integer_activations_ != has_flags_) {
    check_status(anydml_graph_set_operator_flags(graph_.get(), integer_activations_ ? ANYDML_INTEGER_ACTIVATIONS : 0U));
    has_flags_ = integer_activations_;
  }
  std::vector<anydml_value> created(tensors.size());
  check_status(anydml_graph_add_operator(graph_.get(), op, values.data(), values.size(), tensors.data(), tensors.size(),
                                         call.attributes().data(), call.attributes().size(), created.data()));
  if (trace_ != nullptr) {
    note_operator(inputs, created);
  }
  Arrays results;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    results.push_back(forms[i].kind == Kind::kUndefined
                          ? Array()
                          : symbol(forms[i].kind, forms[i].shape, std::move(strides[i]), created[i]));
  }
  return results;
}

void Recorder::output(const Array& symbol) {
  Array plain = symbol.plain();
  if (!plain.is_packed()) {
    plain = add("ELEMENT_WISE_IDENTITY", {plain}, {}, {Out{}}).front();
  }
  check_status(anydml_graph_add_output(graph_.get(), value_of(plain)));
}

CompiledGraph Recorder::compile(const GraphOptions& options) const {
  anydml_compiled* compiled = nullptr;
  anydml_options given = ANYDML_OPTIONS_INIT;
  given.device = options.device;
  given.flags = (options.allows_half ? ANYDML_ALLOW_HALF_PRECISION : 0U) |
                (options.has_integer_activations ? ANYDML_INTEGER_ACTIVATIONS : 0U);
  check_status(anydml_graph_compile_with(graph_.get(), &given, &compiled));
  return CompiledGraph(compiled);
}

}  // namespace anydml::onnx
