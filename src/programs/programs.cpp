// SPDX-License-Identifier: MIT
#include "programs/programs.h"

#include <atomic>

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
  if (status.code == BackendCode::ok && !programs.plans.initialise.words().empty()) {
    status = compile_plan(device, programs.plans.initialise, programs.initialise);
  }
  return status;
}

// A process compiles many graphs on the same device, and they all fail for the same reason.
void log_once(std::string_view who, const BackendDeviceInfo& device, const char* why) {
  static std::atomic<bool> logged{false};
  if (log_enabled(LogLevel::info) && !logged.exchange(true)) {
    std::string text(who);
    text.append(": device ").append(device.name).append(" cannot join the steps of this graph: ");
    log_line(LogLevel::info, text, why, "; graphs like it run with their steps apart");
  }
}

}  // namespace

Result<GraphPrograms> compile_programs(const Graph& graph, const CoreDevice& device, std::string_view who,
                                       std::string* text) {
  // Families compute with floats too, and the caller may have set any rounding.
  const DefaultFloatEnvironment modes;
  GraphPrograms programs;
  DeviceTraits traits = device.info->traits;
  for (;;) {
    const std::size_t text_before = text != nullptr ? text->size() : 0;
    auto plans = compile_graph(graph, traits, text);
    ANYDML_TRY(plans);
    programs.plans = std::move(plans.value());
    const BackendStatus status = compile_plans(device, programs);
    if (status.code == BackendCode::not_joined && traits.joins_from != 0) {
      log_once(who, *device.info, status.message);
      traits.joins_from = 0;
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
