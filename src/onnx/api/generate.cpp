// SPDX-License-Identifier: MIT
// The C interface of the text generator.
#include "anydml/generate.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onnx/api/boundary.h"
#include "onnx/api/model_handle.h"
#include "onnx/api/options.h"
#include "onnx/generate/generator.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kFirstGeneratorSize = offsetof(anydml_generator_options, cache) + sizeof(std::int64_t);
constexpr std::size_t kFirstSearchSize = offsetof(anydml_generator_search, flags) + sizeof(std::uint64_t);

GeneratorOptions generator_options_of(const anydml_generator_options& given, const anydml_onnx_options& model) {
  GeneratorOptions options;
  options.model = model_options_of(model);
  options.slots = given.slots != 0 ? given.slots : options.slots;
  options.chunk = given.chunk != 0 ? given.chunk : options.chunk;
  options.cache = static_cast<CacheMode>(given.cache);
  return options;
}

// Negative numbers stand for the model's defaults. NaN does not, and the check of the options refuses it.
std::optional<double> if_given(double value) { return value < 0 ? std::nullopt : std::optional(value); }

SearchRequest request_of(const char* function, const anydml_generator_search& given) {
  check_array(function, "search.stop_tokens", given.stop_tokens, given.stop_token_count);
  if ((given.flags & ~std::uint64_t{ANYDML_GENERATOR_IGNORE_END}) != 0) {
    bad_call(function, format_text("search.flags is {:#x}; expected 0 or ANYDML_GENERATOR_IGNORE_END ({:#x})",
                                   given.flags, ANYDML_GENERATOR_IGNORE_END));
  }
  SearchRequest request;
  request.temperature = if_given(given.temperature);
  request.top_p = if_given(given.top_p);
  request.repetition_penalty = if_given(given.repetition_penalty);
  request.top_k = given.top_k < 0 ? std::nullopt : std::optional(given.top_k);
  request.seed = given.seed;
  request.max_length = given.max_length;
  request.max_new_tokens = given.max_new_tokens;
  request.stop_tokens.assign(given.stop_tokens, given.stop_tokens + given.stop_token_count);
  request.ignores_end = (given.flags & ANYDML_GENERATOR_IGNORE_END) != 0;
  return request;
}

std::vector<Tokens> prompts_of(const char* function, const anydml_generator_prompt* prompts, std::size_t count) {
  check_array(function, "prompts", prompts, count);
  std::vector<Tokens> texts;
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    check_array(function, format_text("prompts[{}].tokens", i), prompts[i].tokens, prompts[i].count);
    texts.emplace_back(prompts[i].tokens, prompts[i].tokens + prompts[i].count);
  }
  return texts;
}

// Adds the name of the function to the message of an error in its arguments.
template <class Body>
void with_name(const char* function, const Body& body) {
  try {
    body();
  } catch (const Invalid& error) {
    bad_call(function, error.what());
  }
}

}  // namespace
}  // namespace anydml::onnx

struct anydml_generator {
  anydml_generator(const char* folder, const anydml::onnx::GeneratorOptions& options) : generator(folder, options) {
    const anydml::onnx::GenerateConfig& config = generator.config();
    info = {.context_length = config.context_length,
            .vocabulary = config.words,
            .slots = generator.slots(),
            .cache = static_cast<std::int64_t>(generator.cache_mode()),
            .end_tokens = config.end_tokens.data(),
            .end_token_count = config.end_tokens.size()};
  }

  anydml::onnx::Generator generator;
  anydml_generator_info info{};
};

using anydml::onnx::boundary;
using anydml::onnx::check_array;
using anydml::onnx::check_pointer;

namespace {

constexpr const char* kExpected = "a generator from anydml_generator_create";

}  // namespace

int anydml_generator_create(const char* folder, const anydml_generator_options* options, anydml_generator** generator) {
  constexpr const char* kFunction = "anydml_generator_create";
  const anydml_onnx_options* given = nullptr;  // receives the list of what is missing
  // The model's options are known only after those of the generator were checked.
  anydml_generator_options own = ANYDML_GENERATOR_OPTIONS_INIT;
  const int code = boundary([&] {
    check_pointer(kFunction, "generator", generator, "a pointer to store the result");
    *generator = nullptr;
    check_pointer(kFunction, "folder", folder, "the path of a folder");
    own = anydml::onnx::copied_options(kFunction, "options", "anydml_generator_options", own, options,
                                       anydml::onnx::kFirstGeneratorSize);
    given = own.model;
  });
  if (code != ANYDML_OK) {
    return code;
  }
  return boundary(
      [&] {
        const anydml_onnx_options model = anydml::onnx::read_options(kFunction, given);
        anydml::onnx::with_name(kFunction, [&] {
          *generator = new anydml_generator(folder, anydml::onnx::generator_options_of(own, model));
        });
      },
      given);
}

void anydml_generator_release(anydml_generator* generator) { delete generator; }

const anydml_generator_info* anydml_generator_get_info(const anydml_generator* generator) {
  const anydml_generator_info* info = nullptr;
  boundary([&] {
    check_pointer("anydml_generator_get_info", "generator", generator, kExpected);
    info = &generator->info;
  });
  return info;
}

int anydml_generator_start(anydml_generator* generator, const anydml_generator_prompt* prompts, size_t prompt_count,
                           const anydml_generator_search* search) {
  constexpr const char* kFunction = "anydml_generator_start";
  return boundary([&] {
    check_pointer(kFunction, "generator", generator, kExpected);
    const anydml_generator_search defaults = ANYDML_GENERATOR_SEARCH_INIT;
    const anydml_generator_search own = anydml::onnx::copied_options(kFunction, "search", "anydml_generator_search",
                                                                     defaults, search, anydml::onnx::kFirstSearchSize);
    const anydml::onnx::SearchRequest request = anydml::onnx::request_of(kFunction, own);
    std::vector<anydml::onnx::Tokens> texts = anydml::onnx::prompts_of(kFunction, prompts, prompt_count);
    anydml::onnx::with_name(kFunction, [&] { generator->generator.start(std::move(texts), request); });
  });
}

int anydml_generator_step(anydml_generator* generator, anydml_generator_token* tokens, size_t token_count) {
  constexpr const char* kFunction = "anydml_generator_step";
  return boundary([&] {
    check_pointer(kFunction, "generator", generator, kExpected);
    check_array(kFunction, "tokens", tokens, token_count);
    std::vector<anydml::onnx::GeneratedToken> made(token_count);
    anydml::onnx::with_name(kFunction, [&] { generator->generator.step(made); });
    for (std::size_t i = 0; i < token_count; ++i) {
      tokens[i] = {made[i].token, static_cast<std::int64_t>(made[i].end)};
    }
  });
}

int anydml_generator_end(anydml_generator* generator, size_t text) {
  constexpr const char* kFunction = "anydml_generator_end";
  return boundary([&] {
    check_pointer(kFunction, "generator", generator, kExpected);
    anydml::onnx::with_name(kFunction, [&] { generator->generator.end(text); });
  });
}

const float* anydml_generator_logits(const anydml_generator* generator, size_t text, size_t* count) {
  constexpr const char* kFunction = "anydml_generator_logits";
  const float* found = nullptr;
  boundary([&] {
    check_pointer(kFunction, "generator", generator, kExpected);
    anydml::onnx::with_name(kFunction, [&] {
      const std::span<const float> logits = generator->generator.logits(text);
      found = logits.data();
      if (count != nullptr) {
        *count = logits.size();
      }
    });
  });
  return found;
}
