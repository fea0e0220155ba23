// SPDX-License-Identifier: MIT
// The public C functions: each turns its arguments into a request of the plan layer and hands the plan to a backend.
#include "anydml/anydml.h"

#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/core.h"
#include "capi/boundary.h"
#include "capi/compiled.h"
#include "capi/devices.h"
#include "capi/execution.h"
#include "capi/recent_calls.h"
#include "facts/facts.h"
#include "ops/elementwise/lower.h"
#include "ops/op_desc.h"
#include "plan/plan.h"
#include "schema/words.h"
#include "text/format.h"

#define ANYDML_STRING_(x) #x
#define ANYDML_STRING(x) ANYDML_STRING_(x)

namespace anydml {
namespace {

Error bad_call(std::string_view op, std::string_view text) {
  return {ErrorKind::invalid_argument, format_text("{}: {}", op, text)};
}

// anydml_device is never defined: the public handle is a Device under the name C knows.
const anydml_device* to_public(const Device* device) { return reinterpret_cast<const anydml_device*>(device); }

Result<const Device*> choose_device(const anydml_device* wanted) {
  if (wanted == nullptr) {
    return default_device();
  }
  const auto all = devices();
  ANYDML_TRY(all);
  for (const Device* device : *all.value()) {
    if (to_public(device) == wanted) {
      return device;
    }
  }
  return bad_call("device", "is no device of this process; expected null or one of anydml_device_at");
}

Result<const Row*> choose_row(const char* name) {
  if (name == nullptr) {
    return bad_call("op", "is null; expected the name of an operator, such as ELEMENT_WISE_MODULUS_FLOOR");
  }
  const facts::Operator* op = facts::find_operator(name);
  if (op == nullptr) {
    const std::string_view meant = facts::nearest_operator_name(name);
    return bad_call("op", meant.empty() ? format_text("is '{:.64}'; expected the name of a DirectML operator, such as "
                                                      "ELEMENT_WISE_MODULUS_FLOOR: anydml_operator_at lists them",
                                                      name)
                                        : format_text("is '{:.64}'; did you mean {}?", name, meant));
  }
  const Row* found = find_row(*op);
  if (found == nullptr) {
    return Error{ErrorKind::unsupported,
                 format_text("{}: an operator of DirectML that is not built here yet", op->name)};
  }
  return found;
}

TensorSpec spec_of(const anydml_tensor& tensor) {
  return {.type = tensor.type, .rank = tensor.rank, .sizes = tensor.sizes, .strides = tensor.strides};
}

// What a caller passes to describe an operator, whether to run it or to compile it. Tensors come as pointers, since the
// two modulus functions take theirs one by one.
struct Call {
  const Row* row;
  std::span<const anydml_tensor* const> inputs;
  const anydml_tensor* output;
  std::span<const anydml_attribute> attributes;
};

Result<OpDesc> describe(const Call& call) {
  const Row& row = *call.row;
  std::array<TensorSpec, kMaxInputs> inputs{};
  for (std::size_t i = 0; i <= call.inputs.size(); ++i) {
    const anydml_tensor* tensor = i < call.inputs.size() ? call.inputs[i] : call.output;
    if (tensor == nullptr) {
      return invalid({row.name, row.tensors[i]}, "the tensor is null; expected a pointer to an anydml_tensor");
    }
    if (i < call.inputs.size()) {
      inputs[i] = spec_of(*tensor);
    }
  }
  const TensorSpec output = spec_of(*call.output);
  if (call.attributes.size() > kMaxAttributes) {
    return bad_call(row.name,
                    format_text("the number of attributes is {}; no operator takes so many", call.attributes.size()));
  }
  std::array<NamedScalar, kMaxAttributes> attributes{};
  for (std::size_t i = 0; i < call.attributes.size(); ++i) {
    const anydml_attribute& given = call.attributes[i];
    if (given.name == nullptr) {
      return bad_call(row.name, format_text("attributes[{}].name is null; expected the name of an attribute", i));
    }
    if (given.count != 0) {
      return bad_call(
          row.name, format_text("attribute {:.64}: count is {}; expected 0, a single number", given.name, given.count));
    }
    attributes[i].name = given.name;
    switch (given.type) {
      case ANYDML_FLOAT64:
        attributes[i].value = Scalar(given.value.f64);
        break;
      case ANYDML_INT64:
        attributes[i].value = Scalar(given.value.i64);
        break;
      case ANYDML_UINT64:
        attributes[i].value = Scalar(given.value.u64);
        break;
      default:
        return bad_call(row.name, format_text("attribute {}: type is {}; expected FLOAT64 (9), INT64 (11) or UINT64 "
                                              "(10), whatever the type of the tensors",
                                              given.name, given.type));
    }
  }
  return make_op_desc({.row = &row,
                       .inputs = std::span(inputs.data(), call.inputs.size()),
                       .output = &output,
                       .attributes = std::span(attributes.data(), call.attributes.size())});
}

// Which of the operator's attributes a name means, as a number; nothing when it has none of that name.
std::optional<std::uint32_t> attribute_number(const Row& row, std::string_view name) {
  const auto fields = row.facts->fields;
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    if (facts::is_attribute(fields[i].kind)) {
      if (fields[i].name == name) {
        return 4 * i;
      }
      if (fields[i].type == facts::FieldType::scale_bias && (name == "Scale" || name == "Bias")) {
        return 4 * i + (name == "Scale" ? 1 : 2);
      }
    }
  }
  return std::nullopt;
}

// The attributes' part of the key. False when one of them is wrong.
bool add_attributes(const Call& call, CallKey& key) {
  if (call.attributes.size() > kMaxAttributes) {
    return false;
  }
  for (const anydml_attribute& given : call.attributes) {
    const auto number = given.name != nullptr ? attribute_number(*call.row, given.name) : std::nullopt;
    if (!number || given.count != 0) {
      return false;
    }
    key.add(std::uint64_t{*number} << 32 | given.type);
    key.add(given.value.u64);  // the bits, whichever type they are of
  }
  return true;
}

// The call's key. False when something in it is wrong, which is left to who says so.
bool make_key(const anydml_device* wanted, const Call& call, CallKey& key) {
  key.add(reinterpret_cast<std::uintptr_t>(call.row));
  key.add(reinterpret_cast<std::uintptr_t>(wanted));
  for (std::size_t i = 0; i <= call.inputs.size(); ++i) {
    const anydml_tensor* tensor = i < call.inputs.size() ? call.inputs[i] : call.output;
    if (tensor == nullptr || tensor->rank < 0 || tensor->rank > static_cast<std::int32_t>(kMaxRank) ||
        (tensor->rank > 0 && tensor->sizes == nullptr)) {
      return false;
    }
    const auto rank = static_cast<std::size_t>(tensor->rank);
    key.add(std::uint64_t{tensor->type} << 32 | rank << 1 | (tensor->strides != nullptr ? 1 : 0));
    key.add(std::span(tensor->sizes, rank));
    key.add(std::span(tensor->strides, tensor->strides != nullptr ? rank : 0));
  }
  return add_attributes(call, key);
}

Status run_once(const anydml_device* wanted, const Call& call) {
  CallKey key;
  RecentCalls* const recent = make_key(wanted, call, key) ? RecentCalls::of_thread() : nullptr;
  const anydml_compiled* known = recent != nullptr ? recent->find(key) : nullptr;
  std::unique_ptr<anydml_compiled> made;
  if (known == nullptr) {
    const auto desc = describe(call);
    ANYDML_TRY(desc);
    const auto device = choose_device(wanted);
    ANYDML_TRY(device);
    auto compiled = compile(*device.value(), desc.value(), make_plan(desc.value()));
    ANYDML_TRY(compiled);
    made = std::move(compiled.value());
    known = made.get();
  }
  Addresses addresses{};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    addresses[i] = call.inputs[i]->data;
  }
  addresses[call.inputs.size()] = call.output->data;
  ANYDML_TRY(run_compiled(*known, addresses));
  if (made != nullptr && recent != nullptr) {
    recent->add(key, std::move(made));
  }
  return {};
}

// The arguments that anydml_run and anydml_compile share, as C passes them.
struct Arguments {
  const char* op;
  const anydml_tensor* inputs;
  size_t input_count;
  const anydml_tensor* outputs;
  size_t output_count;
  const anydml_attribute* attributes;
  size_t attribute_count;
};

// Calls use(call) with the arguments as a Call, once its arrays are known to be there.
template <class Use>
Status with_call(const Arguments& given, Use use) {
  const auto row = choose_row(given.op);
  ANYDML_TRY(row);
  const std::string_view name = row.value()->name;
  if (given.inputs == nullptr && given.input_count != 0) {
    return bad_call(name, format_text("inputs is null; expected an array of {} tensors", given.input_count));
  }
  if (given.input_count > kMaxInputs) {
    return bad_call(
        name, format_text("the number of input tensors is {}; expected {}", given.input_count, row.value()->inputs));
  }
  if (given.output_count != 1) {
    return bad_call(name, format_text("the number of output tensors is {}; expected 1", given.output_count));
  }
  if (given.attributes == nullptr && given.attribute_count != 0) {
    return bad_call(name, format_text("attributes is null; expected an array of {} attributes", given.attribute_count));
  }
  std::array<const anydml_tensor*, kMaxInputs> pointers{};
  for (std::size_t i = 0; i < given.input_count; ++i) {
    pointers[i] = &given.inputs[i];
  }
  return use(Call{.row = row.value(),
                  .inputs = std::span<const anydml_tensor* const>(pointers.data(), given.input_count),
                  .output = given.outputs,
                  .attributes = std::span(given.attributes, given.attribute_count)});
}

struct GivenAddresses {
  const void* const* inputs;
  size_t input_count;
  void* const* outputs;
  size_t output_count;
};

// Calls use(addresses) with what was given for a compiled operator, once it is known to be as many as it takes.
template <class Use>
Status with_addresses(const char* function, const anydml_compiled* compiled, const GivenAddresses& given, Use use) {
  if (compiled == nullptr) {
    return bad_call(function, "compiled is null; expected what anydml_compile made");
  }
  const OpDesc& desc = compiled->desc;
  if (given.inputs == nullptr || given.outputs == nullptr) {
    return bad_call(desc.row->name, given.inputs == nullptr
                                        ? format_text("inputs is null; expected {} addresses", desc.input_count)
                                        : "outputs is null; expected 1 address");
  }
  if (given.input_count != desc.input_count || given.output_count != 1) {
    return bad_call(desc.row->name,
                    given.input_count != desc.input_count
                        ? format_text("the number of inputs is {}; expected {}", given.input_count, desc.input_count)
                        : format_text("the number of outputs is {}; expected 1", given.output_count));
  }
  Addresses addresses{};
  for (std::size_t i = 0; i < given.input_count; ++i) {
    addresses[i] = const_cast<void*>(given.inputs[i]);  // plans write to the output and the temporary alone
  }
  addresses[given.input_count] = given.outputs[0];
  return use(addresses);
}

int modulus(RowId id, const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out) noexcept {
  return boundary([&]() -> Status {
    const std::array<const anydml_tensor*, 2> inputs = {a, b};
    return run_once(nullptr, {.row = &row(id), .inputs = inputs, .output = out, .attributes = {}});
  });
}

// Types that DirectML's newest level admits for the operator's first input.
TypeSet newest_types(const facts::Operator& op) {
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (facts::is_input(op.fields[i].kind)) {
      const auto admitted = facts::admitted(op, i, facts::kNewestLevel);
      return admitted ? admitted->types : 0;
    }
  }
  return 0;
}

// Made at the first call, without a lock: of threads that make it at once the first one's counts. Never destroyed.
const std::vector<anydml_operator_info>& operator_list() {
  static std::atomic<const std::vector<anydml_operator_info>*> process = nullptr;
  const std::vector<anydml_operator_info>* known = process.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto mine = std::make_unique<std::vector<anydml_operator_info>>();
    for (const facts::Operator& op : facts::operators()) {
      const Row* row = find_row(op);
      mine->push_back({.name = op.name.data(),
                       .directml_value = op.value,
                       .feature_level = facts::level_name(op.introduced).data(),
                       .formula = op.formula.data(),
                       .directml_types = newest_types(op),
                       .is_built = row != nullptr ? 1 : 0,
                       .input_count = row != nullptr ? row->inputs : 0U,
                       .types = row != nullptr ? row->types[0] : 0U});
    }
    if (process.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel)) {
      known = mine.release();
    }
  }
  return *known;
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::CoreTable* anydml_private_core() {
  static constexpr anydml::CoreTable kTable = {
      .build = anydml::kBuildHash,
      .device_count = [] { return static_cast<std::uint32_t>(anydml_device_count()); },
      .device = [](std::uint32_t index) -> const anydml::CoreDevice* {
        const anydml_device* device = anydml_device_at(index);
        return device == nullptr ? nullptr : &reinterpret_cast<const anydml::Device*>(device)->core;
      },
      .report = [](const char* message) { anydml::set_last_error(message); },
  };
  return &kTable;
}

using anydml::bad_call;
using anydml::boundary;
using anydml::format_text;
using anydml::Status;

const char* anydml_version(void) {
  return ANYDML_STRING(ANYDML_VERSION_MAJOR) "." ANYDML_STRING(ANYDML_VERSION_MINOR) "." ANYDML_STRING(
      ANYDML_VERSION_PATCH);
}

const char* anydml_last_error(void) { return anydml::last_error(); }

// The views below are made from literals, so they end in a null character.
const char* anydml_type_name(anydml_type type) { return anydml::type_name(static_cast<anydml::DataType>(type)).data(); }

size_t anydml_type_size(anydml_type type) { return anydml::element_size(static_cast<anydml::DataType>(type)); }

int anydml_modulus_floor(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out) {
  return anydml::modulus(anydml::RowId::ELEMENT_WISE_MODULUS_FLOOR, a, b, out);
}

int anydml_modulus_truncate(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out) {
  return anydml::modulus(anydml::RowId::ELEMENT_WISE_MODULUS_TRUNCATE, a, b, out);
}

size_t anydml_device_count(void) {
  size_t count = 0;
  boundary([&]() -> Status {
    const auto all = anydml::devices();
    ANYDML_TRY(all);
    count = all.value()->size();
    return {};
  });
  return count;
}

const anydml_device* anydml_device_at(size_t index) {
  const anydml::Device* device = nullptr;
  boundary([&]() -> Status {
    const auto all = anydml::devices();
    ANYDML_TRY(all);
    if (index >= all.value()->size()) {
      return bad_call("anydml_device_at",
                      format_text("index is {}; expected less than {}", index, all.value()->size()));
    }
    device = (*all.value())[index];
    return {};
  });
  return anydml::to_public(device);
}

const anydml_device* anydml_find_device(const char* name) {
  const anydml::Device* device = nullptr;
  boundary([&]() -> Status {
    const auto found = name == nullptr ? anydml::choose_device(nullptr) : anydml::find_device(name);
    ANYDML_TRY(found);
    device = found.value();
    return {};
  });
  return anydml::to_public(device);
}

const anydml_device_info* anydml_device_get_info(const anydml_device* device) {
  const anydml_device_info* info = nullptr;
  boundary([&]() -> Status {
    const auto chosen = anydml::choose_device(device);
    ANYDML_TRY(chosen);
    info = &chosen.value()->public_info;
    return {};
  });
  return info;
}

int anydml_run(const anydml_device* device, const char* op, const anydml_tensor* inputs, size_t input_count,
               const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
               size_t attribute_count) {
  return boundary([&] {
    return anydml::with_call({op, inputs, input_count, outputs, output_count, attributes, attribute_count},
                             [&](const anydml::Call& call) { return anydml::run_once(device, call); });
  });
}

int anydml_compile(const anydml_device* device, const char* op, const anydml_tensor* inputs, size_t input_count,
                   const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                   size_t attribute_count, anydml_compiled** compiled) {
  return boundary([&]() -> Status {
    if (compiled == nullptr) {
      return bad_call("anydml_compile", "compiled is null; expected a place for the answer");
    }
    *compiled = nullptr;
    return anydml::with_call({op, inputs, input_count, outputs, output_count, attributes, attribute_count},
                             [&](const anydml::Call& call) -> Status {
                               const auto desc = anydml::describe(call);
                               ANYDML_TRY(desc);
                               const auto chosen = anydml::choose_device(device);
                               ANYDML_TRY(chosen);
                               auto made =
                                   anydml::compile(*chosen.value(), desc.value(), anydml::make_plan(desc.value()));
                               ANYDML_TRY(made);
                               *compiled = made.value().release();
                               return {};
                             });
  });
}

int anydml_compiled_run(const anydml_compiled* compiled, const void* const* inputs, size_t input_count,
                        void* const* outputs, size_t output_count) {
  return boundary([&] {
    return anydml::with_addresses(
        "anydml_compiled_run", compiled, {inputs, input_count, outputs, output_count},
        [&](const anydml::Addresses& addresses) { return anydml::run_compiled(*compiled, addresses); });
  });
}

int anydml_compiled_run_on_stream(const anydml_compiled* compiled, void* stream, const void* const* inputs,
                                  size_t input_count, void* const* outputs, size_t output_count) {
  return boundary([&] {
    return anydml::with_addresses(
        "anydml_compiled_run_on_stream", compiled, {inputs, input_count, outputs, output_count},
        [&](const anydml::Addresses& addresses) { return anydml::run_on_stream(*compiled, stream, addresses); });
  });
}

void anydml_compiled_release(anydml_compiled* compiled) {
  const anydml::CancellationDeferred deferred;
  delete compiled;
}

size_t anydml_operator_count(void) { return anydml::facts::operators().size(); }

const anydml_operator_info* anydml_operator_at(size_t index) {
  const anydml_operator_info* info = nullptr;
  boundary([&]() -> Status {
    const auto& all = anydml::operator_list();
    if (index >= all.size()) {
      return bad_call("anydml_operator_at", format_text("index is {}; expected less than {}", index, all.size()));
    }
    info = &all[index];
    return {};
  });
  return info;
}
