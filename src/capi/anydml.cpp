// SPDX-License-Identifier: MIT
// The public C functions. Each function converts its arguments into a request to the plan layer and passes the plan to
// a backend.
#include "anydml/anydml.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/core.h"
#include "backend/cpu/thread_pool.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/call.h"
#include "capi/compiled.h"
#include "capi/execution.h"
#include "capi/infer.h"
#include "capi/interrupt.h"
#include "capi/operator_info.h"
#include "capi/options.h"
#include "capi/recent_calls.h"
#include "facts/facts.h"
#include "ops/op_desc.h"
#include "text/format.h"

#define ANYDML_STRING_(x) #x
#define ANYDML_STRING(x) ANYDML_STRING_(x)

namespace anydml {
namespace {

// Stores the addresses of the tensors that were passed. Optional tensors at the end may have been omitted.
void set_addresses(const Surface& surface, const Call& call, Addresses& addresses) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    addresses[i] = number_of(call.inputs[i].data);
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    addresses[surface.input_count + i] = number_of(call.outputs[i].data);
  }
}

Status run_once(const anydml_device* wanted, const Call& call) {
  CallKey key;
  RecentCalls* const recent = make_key(wanted, call, key) ? RecentCalls::of_thread() : nullptr;
  const anydml_compiled* known = recent != nullptr ? recent->find(key) : nullptr;
  std::unique_ptr<anydml_compiled> created;
  if (known == nullptr) {
    auto desc = check(call);
    ANYDML_TRY(desc);
    const auto device = choose_device(wanted);
    ANYDML_TRY(device);
    auto compiled = compile(*device.value(), std::move(desc.value()));
    ANYDML_TRY(compiled);
    created = std::move(compiled.value());
    known = created.get();
  }
  Addresses addresses(known->surface.tensors.size());
  set_addresses(known->surface, call, addresses);
  ANYDML_TRY(run_compiled(*known, addresses));
  if (created != nullptr && recent != nullptr) {
    recent->add(key, std::move(created));
  }
  return {};
}

// The arguments that anydml_run and anydml_compile have in common, as C callers pass them.
struct Arguments {
  const char* op;
  const anydml_tensor* inputs;
  size_t input_count;
  const anydml_tensor* outputs;
  size_t output_count;
  const anydml_attribute* attributes;
  size_t attribute_count;
};

// Converts the arguments to a call, after checking that their arrays are present.
Result<Call> read_call(const Arguments& given) {
  const auto op = choose_operator(given.op);
  ANYDML_TRY(op);
  const std::string_view name = op.value()->name;
  ANYDML_TRY(check_array(name, "inputs", given.inputs, given.input_count, "tensors"));
  ANYDML_TRY(check_array(name, "outputs", given.outputs, given.output_count, "tensors"));
  ANYDML_TRY(check_array(name, "attributes", given.attributes, given.attribute_count, "attributes"));
  return Call{.op = op.value(),
              .inputs = std::span(given.inputs, given.input_count),
              .outputs = std::span(given.outputs, given.output_count),
              .attributes = std::span(given.attributes, given.attribute_count)};
}

// Finds the inputs that are marked as constant, either in the options or with the older bit in their types.
Result<std::vector<bool>> find_constants(std::string_view op, const anydml_options& options,
                                         std::span<const anydml_tensor> inputs) {
  ANYDML_TRY(check_array(op, "options.constants", options.constants, options.constant_count, "positions"));
  std::vector<bool> constants(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    constants[i] = (inputs[i].type & ANYDML_CONSTANT) != 0;
  }
  for (std::size_t i = 0; i < options.constant_count; ++i) {
    const std::uint32_t position = options.constants[i];
    if (position >= inputs.size() || is_absent(inputs[position])) {
      return bad_call(op, format_text("options.constants[{}] is {}; expected the position of an input{}", i, position,
                                      position < inputs.size() ? " that is not absent"
                                                               : format_text(", less than {}", inputs.size())));
    }
    constants[position] = true;
  }
  return constants;
}

int compile_operator(const char* function, const anydml_options* given, const Arguments& arguments,
                     anydml_compiled** compiled) noexcept {
  return boundary([&]() -> Status {
    if (compiled == nullptr) {
      return bad_call(function, "compiled is null; expected a pointer to store the result");
    }
    *compiled = nullptr;
    const auto options = read_options(function, given);
    ANYDML_TRY(options);
    const auto call = read_call(arguments);
    ANYDML_TRY(call);
    const auto constants = find_constants(call.value().op->name, options.value(), call.value().inputs);
    ANYDML_TRY(constants);
    auto desc = check(call.value());
    ANYDML_TRY(desc);
    const auto device = choose_device(options.value().device);
    ANYDML_TRY(device);
    std::vector<ConstantInput> kept;
    for (std::size_t i = 0; i < constants.value().size(); ++i) {
      if (constants.value()[i]) {
        kept.push_back({.input = i, .data = call.value().inputs[i].data});
      }
    }
    auto created = compile(*device.value(), std::move(desc.value()), kept, compile_options(options.value()));
    ANYDML_TRY(created);
    *compiled = created.value().release();
    return {};
  });
}

struct GivenAddresses {
  const void* const* inputs;
  size_t input_count;
  void* const* outputs;
  size_t output_count;
};

// Calls use(addresses) with the addresses for a compiled operator, after checking how many there are.
template <class Use>
Status with_addresses(const char* function, const anydml_compiled* compiled, const GivenAddresses& given, Use use) {
  if (compiled == nullptr) {
    return bad_call(function, "compiled is null; expected an object from anydml_compile");
  }
  const Surface& surface = compiled->surface;
  // Absent tensors at the end may be omitted here, like in the call that compiled the operator.
  const auto check_count = [&](const void* array, std::size_t count, std::span<const OpTensor> tensors,
                               std::string_view what) -> Status {
    const std::size_t expected = tensors.size();
    while (count < tensors.size() && !tensors.back().present) {
      tensors = tensors.first(tensors.size() - 1);
    }
    if (array == nullptr && !tensors.empty()) {
      return bad_call(surface.label,
                      format_text("{}s is null; expected {} address{}", what, expected, expected == 1 ? "" : "es"));
    }
    if (count != tensors.size()) {
      return bad_call(surface.label,
                      format_text("the number of {}s is {}; expected {}{}", what, count,
                                  tensors.size() < expected ? format_text("{} to ", tensors.size()) : "", expected));
    }
    return {};
  };
  ANYDML_TRY(check_count(given.inputs, given.input_count, surface.tensors.first(surface.input_count), "input"));
  ANYDML_TRY(check_count(given.outputs, given.output_count, surface.tensors.subspan(surface.input_count), "output"));
  Addresses addresses(surface.tensors.size());
  for (std::size_t i = 0; i < given.input_count; ++i) {
    addresses[i] = number_of(given.inputs[i]);
  }
  for (std::size_t i = 0; i < given.output_count; ++i) {
    addresses[surface.input_count + i] = number_of(given.outputs[i]);
  }
  for (const anydml_compiled::Constant& constant : compiled->constants) {
    addresses[constant.input] = number_of(constant.pointer);
  }
  return use(addresses);
}

// Runs an operator whose tensors are the parameters of a dedicated function.
int run_binary(const facts::Operator& op, const anydml_tensor* a, const anydml_tensor* b,
               const anydml_tensor* out) noexcept {
  return boundary([&]() -> Status {
    constexpr std::string_view kNames[] = {"ATensor", "BTensor", "OutputTensor"};
    std::array<anydml_tensor, 3> tensors;
    std::size_t next = 0;
    for (const anydml_tensor* tensor : {a, b, out}) {
      if (tensor == nullptr) {
        return invalid({op.name, kNames[next]}, "the tensor is null; expected a pointer to an anydml_tensor");
      }
      tensors[next++] = *tensor;
    }
    return run_once(
        nullptr,
        {.op = &op, .inputs = std::span(tensors).first(2), .outputs = std::span(tensors).last(1), .attributes = {}});
  });
}

// Looked up when the library is loaded, because a function-local static would be initialized under a lock that a fork
// can leave locked.
const facts::Operator& g_modulus_floor = *facts::find_operator("ELEMENT_WISE_MODULUS_FLOOR");
const facts::Operator& g_modulus_truncate = *facts::find_operator("ELEMENT_WISE_MODULUS_TRUNCATE");

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::CoreTable* anydml_private_core() {
  static constexpr anydml::CoreTable kTable = {
      .build = anydml::kBuildHash,
      .device_count =
          [] {
            const auto count = static_cast<std::uint32_t>(anydml_device_count());
            if (count == 0 && !anydml::log_enabled(anydml::LogLevel::error)) {  // otherwise the log shows it
              anydml::log_failure(anydml::last_error());
            }
            return count;
          },
      .device = [](std::uint32_t index) -> const anydml::CoreDevice* {
        const anydml_device* device = anydml_device_at(index);
        return device == nullptr ? nullptr : &reinterpret_cast<const anydml::Device*>(device)->core;
      },
      .report = [](const char* message) { return anydml::log_failure(anydml::keep_last_error(message)); },
      .report_answer = [](const char* message) { return anydml::set_last_error(message); },
      .log = &anydml::g_own_log_state,
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

uint32_t anydml_version_number(void) { return ANYDML_VERSION; }

uint32_t anydml_numerics_version(void) { return ANYDML_NUMERICS_VERSION; }

const char* anydml_last_error(void) { return anydml::last_error(); }

const char* anydml_status_name(int status) {
  switch (status) {
    case ANYDML_OK:
      return "OK";
    case ANYDML_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case ANYDML_UNSUPPORTED:
      return "UNSUPPORTED";
    case ANYDML_OUT_OF_MEMORY:
      return "OUT_OF_MEMORY";
    case ANYDML_DEVICE_ERROR:
      return "DEVICE_ERROR";
    case ANYDML_INTERNAL_ERROR:
      return "INTERNAL_ERROR";
    case ANYDML_INTERRUPTED:
      return "INTERRUPTED";
    default:
      return "UNKNOWN";
  }
}

int anydml_set_log(anydml_log_function function, void* context, int level) {
  return boundary([&]() -> Status {
    if (function != nullptr && (level < ANYDML_LOG_NONE || level > ANYDML_LOG_DISPATCH)) {
      return bad_call("anydml_set_log",
                      format_text("level is {}; expected ANYDML_LOG_NONE (0) to ANYDML_LOG_DISPATCH (4)", level));
    }
    anydml::set_log_function(function, context, static_cast<anydml::LogLevel>(level));
    return {};
  });
}

int anydml_set_threads(uint32_t count) {
  return boundary([&] { return anydml::set_threads(count); });
}

int anydml_set_parallel(anydml_parallel_function function, void* context) {
  anydml::ThreadPool::set_parallel_of_thread({function, context});
  return ANYDML_OK;
}

int anydml_set_interrupt(anydml_interrupt_function function, void* context) {
  anydml::set_interrupt(function, context);
  return ANYDML_OK;
}

int anydml_ask_interrupt(void) {
  return boundary([]() -> anydml::Status {
    const anydml::Interrupt* const interrupt = anydml::interrupt_of_thread();
    if (interrupt != nullptr && interrupt->is_wanted(interrupt->context) != 0) {
      return anydml::Error{anydml::ErrorKind::interrupted, "interrupted by the caller"};
    }
    return {};
  });
}

// The views below are created from literals, so a null character follows them.
const char* anydml_type_name(anydml_type type) { return anydml::type_name(static_cast<anydml::DataType>(type)).data(); }

size_t anydml_type_size(anydml_type type) { return anydml::element_size(static_cast<anydml::DataType>(type)); }

int anydml_modulus_floor(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out) {
  return anydml::run_binary(anydml::g_modulus_floor, a, b, out);
}

int anydml_modulus_truncate(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out) {
  return anydml::run_binary(anydml::g_modulus_truncate, a, b, out);
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
  return boundary([&]() -> Status {
    const auto call = anydml::read_call({op, inputs, input_count, outputs, output_count, attributes, attribute_count});
    ANYDML_TRY(call);
    return anydml::run_once(device, call.value());
  });
}

int anydml_infer_outputs(const char* op, const anydml_tensor* inputs, size_t input_count, anydml_shape* outputs,
                         size_t output_count, const anydml_attribute* attributes, size_t attribute_count) {
  return boundary([&]() -> Status {
    const auto call = anydml::read_call({op, inputs, input_count, nullptr, 0, attributes, attribute_count});
    ANYDML_TRY(call);
    ANYDML_TRY(anydml::check_array(call.value().op->name, "outputs", outputs, output_count, "shapes"));
    return anydml::complete_outputs(call.value(), {outputs, output_count});
  });
}

int anydml_compile(const anydml_device* device, const char* op, const anydml_tensor* inputs, size_t input_count,
                   const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                   size_t attribute_count, anydml_compiled** compiled) {
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.device = device;
  return anydml::compile_operator("anydml_compile", &options,
                                  {op, inputs, input_count, outputs, output_count, attributes, attribute_count},
                                  compiled);
}

int anydml_compile_with(const anydml_options* options, const char* op, const anydml_tensor* inputs, size_t input_count,
                        const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                        size_t attribute_count, anydml_compiled** compiled) {
  return anydml::compile_operator("anydml_compile_with", options,
                                  {op, inputs, input_count, outputs, output_count, attributes, attribute_count},
                                  compiled);
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
        [&](const anydml::Addresses& addresses) {
          return anydml::run_on_stream(*compiled, static_cast<anydml::BackendStream*>(stream), addresses);
        });
  });
}

int anydml_compiled_keeps_elements(const anydml_compiled* compiled, size_t output) {
  int keeps = 0;
  boundary([&]() -> Status {
    if (compiled == nullptr) {
      return bad_call("anydml_compiled_keeps_elements", "compiled is null; expected a compiled operator or graph");
    }
    const std::size_t outputs = compiled->surface.tensors.size() - compiled->surface.input_count;
    if (output >= outputs) {
      return bad_call("anydml_compiled_keeps_elements",
                      format_text("output is {}; expected less than {}", output, outputs));
    }
    const auto& updated = compiled->updated;
    keeps = std::ranges::find(updated, output) != updated.end() ? 1 : 0;
    return {};
  });
  return keeps;
}

void anydml_compiled_release(anydml_compiled* compiled) {
  const anydml::CancellationDeferred deferred;
  delete compiled;
}

size_t anydml_operator_count(void) { return anydml::facts::operators().size(); }

const anydml_operator_info* anydml_operator_at(size_t index) {
  const anydml_operator_info* info = nullptr;
  boundary([&]() -> Status {
    const auto all = anydml::operator_infos();
    if (index >= all.size()) {
      return bad_call("anydml_operator_at", format_text("index is {}; expected less than {}", index, all.size()));
    }
    info = &all[index];
    return {};
  });
  return info;
}

const anydml_operator_info* anydml_find_operator(const char* name) {
  const anydml_operator_info* info = nullptr;
  boundary([&]() -> Status {
    const auto op = anydml::choose_operator(name);
    ANYDML_TRY(op);
    info = &anydml::operator_info(*op.value());
    return {};
  });
  return info;
}
