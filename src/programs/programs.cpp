// SPDX-License-Identifier: MIT
#include "programs/programs.h"

#include <atomic>

#include "base/environment.h"
#include "base/float_environment.h"
#include "base/log.h"

namespace anydml {
namespace {

BackendStatus compile_plan(const CoreDevice& device, const Plan& plan, DeviceProgram& program) {
  const BackendPlan flat = backend_plan(plan);
  BackendProgram* compiled = nullptr;
  const BackendStatus status = device.backend->compile(device.handle, &flat, &compiled);
  program = DeviceProgram(*device.backend, compiled);
  return status;
}

BackendStatus compile_plans(const CoreDevice& device, GraphPrograms& programs) {
  BackendStatus status = compile_plan(device, programs.plans.run, programs.run);
  if (status.code == BackendCode::ok && !programs.plans.initialize.words().empty()) {
    status = compile_plan(device, programs.plans.initialize, programs.initialize);
  }
  return status;
}

// A failure that is logged only once: a process may compile many graphs on the same device, and all of them fail for
// the same reason.
struct Refusal {
  std::string_view what;
  std::string_view instead;
  std::atomic<bool> logged{false};

  void log_once(std::string_view who, const BackendDeviceInfo& device, const char* why) {
    if (log_enabled(LogLevel::info) && !logged.exchange(true)) {
      std::string text(who);
      text.append(": device ").append(device.name).append(" cannot ").append(what).append(" of this graph: ");
      log_line(LogLevel::info, text, why, instead);
    }
  }
};
Refusal g_not_joined{.what = "join the steps", .instead = "; such graphs run with separate steps"};
Refusal g_not_half{.what = "run the FLOAT16 products", .instead = "; such graphs run with the defined bits"};

// Converts the device's answer to a message for callers who may not know how the operator is decomposed.
LacksOperator lacks_of(const CoreDevice& device) {
  if (device.backend->lacks == nullptr) {
    return {};
  }
  return [&device](const AskedOperator& op) -> std::string {
    const char* const why = device.backend->lacks(device.handle, &op);
    if (why == nullptr) {
      return {};
    }
    std::string message("device ");
    message.append(device.info->name).append(" lacks ");
    if (op.name != op.part_of) {
      message.append(op.name).append(", a part of ");
    }
    return message.append("this operator: ").append(why);
  };
}

}  // namespace

Result<DeviceTraits> lowering_traits(const DeviceTraits& device, const CompileOptions& options) {
  const Result<Environment>& variables = environment();
  ANYDML_TRY(variables);
  DeviceTraits traits = device;
  traits.half_products = device.half_products && (options.allow_half || variables.value().allow_half);
  traits.integer_activations = device.reads_codes && options.integer_activations;
  return traits;
}

Result<GraphPrograms> compile_programs(const Graph& graph, const CoreDevice& device, std::string_view who,
                                       std::string* text, const CompileOptions& options) {
  // Lowering also computes with floats, and the caller may have set any rounding mode.
  const DefaultFloatEnvironment modes;
  GraphPrograms programs;
  const auto allowed = lowering_traits(device.info->traits, options);
  ANYDML_TRY(allowed);
  DeviceTraits traits = allowed.value();
  const LacksOperator lacks = lacks_of(device);
  for (;;) {
    const std::size_t text_before = text != nullptr ? text->size() : 0;
    auto plans = compile_graph(graph, traits, text, options.sharing, lacks);
    ANYDML_TRY(plans);
    programs.plans = std::move(plans.value());
    const BackendStatus status = compile_plans(device, programs);
    const bool unjoined = status.code == BackendCode::not_joined && traits.joins_from != 0;
    // If the failure has a different cause, it occurs again with its own message when the graph is compiled with the
    // defined bits.
    const bool unlike = status.code == BackendCode::failed && traits.half_products;
    if (unjoined || unlike) {
      (unjoined ? g_not_joined : g_not_half).log_once(who, *device.info, status.message);
      traits.joins_from = unjoined ? 0 : traits.joins_from;
      traits.half_products = traits.half_products && !unlike;
      if (text != nullptr) {
        text->resize(text_before);
      }
      continue;
    }
    ANYDML_TRY(from_backend(who, *device.backend, status));
    return programs;
  }
}

}  // namespace anydml
