// SPDX-License-Identifier: MIT
// Loading models, and questions about them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "anydml/onnx.h"
#include "backend/core.h"
#include "onnx/api/boundary.h"
#include "onnx/api/model_handle.h"
#include "onnx/api/options.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kFirstOptionsSize = offsetof(anydml_onnx_options, on_unsupported_context) + sizeof(void*);

int report_failure(int code, const char* message) noexcept {
  const CoreTable* core = core_of_this_build("libanydml_onnx.so");
  if (core == nullptr) {
    return ANYDML_INTERNAL_ERROR;
  }
  core->report_answer(message);
  return code;
}

const anydml_onnx_value_info* info_at(const char* function, const anydml_onnx_model* model,
                                      ValueInfos anydml_onnx_model::*member, const char* what, std::size_t index) {
  const anydml_onnx_value_info* found = nullptr;
  boundary([&] {
    check_pointer(function, "model", model, "a model from anydml_onnx_load");
    const ValueInfos& values = model->*member;
    if (index >= values.infos.size()) {
      bad_call(function, format_text("index is {}; the model has {} {}", index, values.infos.size(), what));
    }
    found = &values.infos[index];
  });
  return found;
}

std::size_t info_count(const char* function, const anydml_onnx_model* model, ValueInfos anydml_onnx_model::*member) {
  std::size_t count = 0;
  boundary([&] {
    check_pointer(function, "model", model, "a model from anydml_onnx_load");
    count = (model->*member).infos.size();
  });
  return count;
}

// The options that report_exception may use: those of a caller whose struct has all the members.
const anydml_onnx_options* checked_options(const anydml_onnx_options* options) {
  return options != nullptr && options->size >= kFirstOptionsSize && options->size <= kMaxOptionsSize ? options
                                                                                                      : nullptr;
}

}  // namespace

int report_exception(const anydml_onnx_options* options) noexcept {
  try {
    throw;
  } catch (const Unsupported& error) {
    const anydml_onnx_options* given = checked_options(options);
    if (given != nullptr && given->on_unsupported != nullptr) {
      for (const std::string& need : error.needs()) {
        given->on_unsupported(given->on_unsupported_context, need.c_str());
      }
    }
    return report_failure(ANYDML_UNSUPPORTED, error.what());
  } catch (const Invalid& error) {
    return report_failure(ANYDML_INVALID_ARGUMENT, error.what());
  } catch (const WrongType& error) {
    return report_failure(ANYDML_INVALID_ARGUMENT, error.what());
  } catch (const NoMemory& error) {
    return report_failure(ANYDML_OUT_OF_MEMORY, error.what());
  } catch (const DeviceFailure& error) {
    return report_failure(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return report_failure(ANYDML_OUT_OF_MEMORY, "out of memory: an allocation of this call failed");
  } catch (const std::exception& error) {
    return report_failure(ANYDML_INTERNAL_ERROR, error.what());
  } catch (...) {
    return report_failure(ANYDML_INTERNAL_ERROR, "an unknown exception");
  }
}

anydml_onnx_options read_options(const char* function, const anydml_onnx_options* given) {
  const anydml_onnx_options defaults = ANYDML_ONNX_OPTIONS_INIT;
  const anydml_onnx_options options =
      copied_options(function, "options", "anydml_onnx_options", defaults, given, kFirstOptionsSize);
  constexpr std::uint64_t kIntegers = ANYDML_ONNX_MULTIPLY_INTEGERS | ANYDML_ONNX_LITERAL;
  constexpr std::uint64_t kActivations = ANYDML_ONNX_FLOAT_ACTIVATIONS | ANYDML_ONNX_INTEGER_ACTIVATIONS;
  const bool is_known = (options.flags & ~(kIntegers | kActivations | ANYDML_ONNX_ALLOW_HALF_PRECISION)) == 0;
  if (!is_known || (options.flags & kIntegers) == kIntegers || (options.flags & kActivations) == kActivations) {
    bad_call(
        function,
        format_text("options.flags is {:#x}; expected 0 or a combination of ANYDML_ONNX_MULTIPLY_INTEGERS ({:#x}) "
                    "or ANYDML_ONNX_LITERAL ({:#x}), ANYDML_ONNX_ALLOW_HALF_PRECISION ({:#x}), and "
                    "ANYDML_ONNX_FLOAT_ACTIVATIONS ({:#x}) or ANYDML_ONNX_INTEGER_ACTIVATIONS ({:#x})",
                    options.flags, ANYDML_ONNX_MULTIPLY_INTEGERS, ANYDML_ONNX_LITERAL, ANYDML_ONNX_ALLOW_HALF_PRECISION,
                    ANYDML_ONNX_FLOAT_ACTIVATIONS, ANYDML_ONNX_INTEGER_ACTIVATIONS));
  }
  constexpr std::size_t kMaxForms = 65536;
  if (options.kept_forms > kMaxForms) {
    bad_call(function, format_text("options.kept_forms is {}; expected 0 to {}", options.kept_forms, kMaxForms));
  }
  if (options.device != nullptr && anydml_device_get_info(options.device) == nullptr) {
    bad_call(function, anydml_last_error());
  }
  return options;
}

void ValueInfos::add(const ValueMessage& value, bool has_initializer) {
  std::vector<std::int64_t>& own_sizes = sizes.emplace_back();
  std::vector<const char*>& names = dimension_names.emplace_back();
  for (const Dimension& dimension : value.shape) {
    own_sizes.push_back(std::max<std::int64_t>(dimension.size, -1));
    names.push_back(dimension.name.c_str());
  }
  const auto number = static_cast<std::int32_t>(value.kind);
  // The vectors' own arrays stay where they are when the outer vectors grow.
  infos.push_back({.name = value.name.c_str(),
                   .type = value.keys               ? ANYDML_ONNX_FLOAT
                           : number <= kMaxDataType ? number
                                                    : ANYDML_ONNX_UNDEFINED,
                   .rank = value.has_shape ? static_cast<std::int32_t>(own_sizes.size()) : -1,
                   .sizes = own_sizes.data(),
                   .dimension_names = names.data(),
                   .has_initializer = has_initializer ? 1 : 0});
}

std::shared_ptr<Trace> trace_of(const anydml_onnx_options& options) {
  return options.trace == nullptr ? nullptr : options.trace->trace;
}

namespace {

void refuse_strings(const char* what, const std::vector<ValueMessage>& values) {
  for (const ValueMessage& value : values) {
    if (value.kind == Kind::kString) {
      throw Unsupported(
          format_text("{} {} has strings, which the C interface does not support", what, quoted(value.name)),
          {format_text("an {} of strings", what)});
    }
  }
}

}  // namespace

ModelOptions model_options_of(const anydml_onnx_options& options) {
  ModelOptions own;
  own.device = options.device;
  own.is_literal = (options.flags & ANYDML_ONNX_LITERAL) != 0;
  own.allows_half = (options.flags & ANYDML_ONNX_ALLOW_HALF_PRECISION) != 0;
  own.activations = (options.flags & ANYDML_ONNX_FLOAT_ACTIVATIONS) != 0     ? Activations::kFloat
                    : (options.flags & ANYDML_ONNX_INTEGER_ACTIVATIONS) != 0 ? Activations::kInteger
                                                                             : Activations::kOfModel;
  own.kept_forms = options.kept_forms != 0 ? options.kept_forms : own.kept_forms;
  own.trace = trace_of(options);
  return own;
}

anydml_onnx_model* make_model(ModelMessage message, const anydml_onnx_options& options) {
  return new anydml_onnx_model(std::move(message), model_options_of(options));
}

}  // namespace anydml::onnx

anydml_onnx_model::anydml_onnx_model(anydml::onnx::ModelMessage message, const anydml::onnx::ModelOptions& options)
    : model(std::move(message), options) {
  anydml::onnx::refuse_strings("input", model.inputs());
  anydml::onnx::refuse_strings("output", model.outputs());
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    inputs.add(model.inputs()[i], model.has_initializer(i));
  }
  for (const anydml::onnx::ValueMessage& value : model.outputs()) {
    outputs.add(value, false);
  }
}

using anydml::onnx::bad_call;
using anydml::onnx::boundary;
using anydml::onnx::check_array;
using anydml::onnx::check_pointer;

anydml_type anydml_onnx_tensor_type(int32_t type) {
  using anydml::onnx::Kind;
  switch (type) {
    case ANYDML_ONNX_INT4:
      return ANYDML_INT4;
    case ANYDML_ONNX_UINT4:
      return ANYDML_UINT4;
    default: {
      const auto kind = static_cast<Kind>(type);
      const bool is_known = type >= 0 && type <= anydml::onnx::kMaxDataType;
      return is_known && anydml::onnx::kArrayKinds.contains(kind) ? anydml::onnx::api_type(kind)
                                                                  : anydml_type{ANYDML_NONE};
    }
  }
}

const char* anydml_onnx_type_name(int32_t type) {
  const bool is_known = type >= 0 && type <= anydml::onnx::kMaxDataType;
  // The names are literals, which end with a null character.
  return anydml::onnx::kind_name(is_known ? static_cast<anydml::onnx::Kind>(type) : anydml::onnx::Kind::kUndefined)
      .data();
}

int anydml_onnx_load(const char* path, const anydml_onnx_options* options, anydml_onnx_model** model) {
  return boundary(
      [&] {
        check_pointer("anydml_onnx_load", "model", model, "a pointer to store the result");
        *model = nullptr;
        check_pointer("anydml_onnx_load", "path", path, "the path of a file");
        const anydml_onnx_options own = anydml::onnx::read_options("anydml_onnx_load", options);
        const anydml::onnx::TraceScope scope(anydml::onnx::trace_of(own).get());
        anydml::onnx::TraceEvent event;
        anydml::onnx::ModelMessage message = anydml::onnx::read_model(path);
        event.end("Session", "read", anydml::onnx::TraceArguments().text("path", path));
        *model = anydml::onnx::make_model(std::move(message), own);
      },
      options);
}

int anydml_onnx_load_memory(const void* bytes, size_t byte_count, const char* folder,
                            const anydml_onnx_options* options, anydml_onnx_model** model) {
  constexpr const char* kFunction = "anydml_onnx_load_memory";
  return boundary(
      [&] {
        check_pointer(kFunction, "model", model, "a pointer to store the result");
        *model = nullptr;
        check_array(kFunction, "bytes", bytes, byte_count);
        const anydml_onnx_options own = anydml::onnx::read_options(kFunction, options);
        const anydml::onnx::TraceScope scope(anydml::onnx::trace_of(own).get());
        anydml::onnx::TraceEvent event;
        anydml::onnx::ModelMessage message =
            anydml::onnx::parse_model({static_cast<const std::byte*>(bytes), byte_count}, nullptr, "the bytes");
        event.end("Session", "read", anydml::onnx::TraceArguments().number("bytes", byte_count));
        if (folder != nullptr) {
          message.folder = *folder == '\0' ? "." : folder;
          message.has_folder = true;
        }
        *model = anydml::onnx::make_model(std::move(message), own);
      },
      options);
}

void anydml_onnx_release(anydml_onnx_model* model) { delete model; }

size_t anydml_onnx_input_count(const anydml_onnx_model* model) {
  return anydml::onnx::info_count("anydml_onnx_input_count", model, &anydml_onnx_model::inputs);
}

size_t anydml_onnx_output_count(const anydml_onnx_model* model) {
  return anydml::onnx::info_count("anydml_onnx_output_count", model, &anydml_onnx_model::outputs);
}

const anydml_onnx_value_info* anydml_onnx_input_at(const anydml_onnx_model* model, size_t index) {
  return anydml::onnx::info_at("anydml_onnx_input_at", model, &anydml_onnx_model::inputs, "inputs", index);
}

const anydml_onnx_value_info* anydml_onnx_output_at(const anydml_onnx_model* model, size_t index) {
  return anydml::onnx::info_at("anydml_onnx_output_at", model, &anydml_onnx_model::outputs, "outputs", index);
}

int anydml_onnx_explain(anydml_onnx_model* model, anydml_onnx_text_function function, void* context) {
  constexpr const char* kFunction = "anydml_onnx_explain";
  return boundary([&] {
    check_pointer(kFunction, "model", model, "a model from anydml_onnx_load");
    if (function == nullptr) {
      bad_call(kFunction, "function is null; expected a function that receives lines");
    }
    std::string text = model->model.explain();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end < text.size()) {
        text[end] = '\0';
      }
      function(context, text.c_str() + begin);
      begin = end + 1;
    }
  });
}

int anydml_onnx_trace_create(anydml_onnx_trace** trace) {
  return boundary([&] {
    check_pointer("anydml_onnx_trace_create", "trace", trace, "a pointer to store the result");
    *trace = nullptr;
    *trace = new anydml_onnx_trace;
  });
}

void anydml_onnx_trace_release(anydml_onnx_trace* trace) { delete trace; }

int anydml_onnx_trace_lines(const anydml_onnx_trace* trace, anydml_onnx_text_function function, void* context) {
  constexpr const char* kFunction = "anydml_onnx_trace_lines";
  return boundary([&] {
    check_pointer(kFunction, "trace", trace, "a trace from anydml_onnx_trace_create");
    if (function == nullptr) {
      bad_call(kFunction, "function is null; expected a function that receives lines");
    }
    trace->trace->for_each_line([&](const std::string& line) { function(context, line.c_str()); });
  });
}
