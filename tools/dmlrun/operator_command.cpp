// SPDX-License-Identifier: MIT
// dmlrun run-operator and dmlrun skeleton, which run or print a single-operator model.
#include <cstdio>

#include "commands.h"
#include "text/format.h"

namespace anydml::dmlrun {

int run_operator(const OperatorArguments& arguments) {
  auto result = operator_model(arguments.op);
  if (!result) {
    return report_error(result.error().message, kWrong);
  }
  const OperatorText& model = result.value();
  RunArguments run = arguments.run;
  run.model.models = {std::string(model.name)};
  run.model.text = model.model;
  run.model.allow_outside = true;  // the user chooses the files
  const auto name_all = [&](std::vector<std::string>& texts, std::string_view option) -> Status {
    for (std::string& text : texts) {
      auto named = with_resource(model, text);
      if (!named) {
        return Error{named.error().kind, format_text("{}: {}", option, named.error().message)};
      }
      text = std::move(named.value());
    }
    return {};
  };
  for (const Status& named :
       {name_all(run.requests.outputs, "--output"), name_all(run.requests.expected, "--expect")}) {
    if (!named) {
      return report_error(named.error().message, kWrong);
    }
  }
  const int status = run_model(run);
  for (const std::string& name : model.unprinted) {
    if (status == kDone && run.requests.outputs.empty() && run.requests.expected.empty() && !run.model.json) {
      std::printf("Resource '%s' has too many elements to be printed; --output %s=FILE.npy writes them\n", name.c_str(),
                  name.c_str());
    }
  }
  return status;
}

int show_skeleton(const OperatorRequest& request) {
  const auto result = operator_model(request);
  if (!result) {
    return report_error(result.error().message, kWrong);
  }
  std::fwrite(result.value().model.data(), 1, result.value().model.size(), stdout);
  return kDone;
}

}  // namespace anydml::dmlrun
