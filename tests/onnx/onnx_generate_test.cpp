// SPDX-License-Identifier: MIT
// The text generator through the C interface, with a small model of random weights: one layer of GroupQueryAttention.
#include <anydml/generate.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/language_model.h"
#include "onnx/onnx_models.h"

namespace anydml::test {
namespace {

struct ReleaseGenerator {
  void operator()(anydml_generator* generator) const { anydml_generator_release(generator); }
};
using GeneratorPointer = std::unique_ptr<anydml_generator, ReleaseGenerator>;

class OnnxGenerate : public testing::Test {
 protected:
  void write_config(const std::string& text) const { model_.write_config(text); }

  [[nodiscard]] GeneratorPointer create(std::int64_t slots = 0, std::int64_t cache = ANYDML_CACHE_FIXED,
                                        std::int64_t chunk = 0) const {
    anydml_generator_options options = ANYDML_GENERATOR_OPTIONS_INIT;
    options.slots = slots;
    options.cache = cache;
    options.chunk = chunk;
    anydml_generator* generator = nullptr;
    EXPECT_EQ(anydml_generator_create(folder_.c_str(), &options, &generator), ANYDML_OK) << anydml_last_error();
    return GeneratorPointer(generator);
  }

  // The most likely next token of a text, computed with an empty cache.
  [[nodiscard]] std::int64_t next_token(const Tokens& text) const {
    anydml_onnx_model* loaded = nullptr;
    EXPECT_EQ(anydml_onnx_load((folder_ + "/model.onnx").c_str(), nullptr, &loaded), ANYDML_OK) << anydml_last_error();
    const ModelPointer model(loaded);
    const auto count = static_cast<std::int64_t>(text.size());
    const std::int64_t sizes[] = {1, count};
    const std::int64_t nothing[] = {1, 1, 0, kSize};
    const Tokens ones(text.size(), 1);
    const ResultsPointer results = run(model, {anydml_const_tensor(ANYDML_INT64, 2, sizes, nullptr, text.data()),
                                               anydml_const_tensor(ANYDML_INT64, 2, sizes, nullptr, ones.data()),
                                               anydml_const_tensor(ANYDML_FLOAT32, 4, nothing, nullptr, nullptr),
                                               anydml_const_tensor(ANYDML_FLOAT32, 4, nothing, nullptr, nullptr)});
    const std::vector<float> logits = elements<float>(results, 0, static_cast<std::size_t>(count * kWords));
    const auto last = logits.end() - kWords;
    return std::distance(last, std::max_element(last, logits.end()));
  }

  const LanguageModel model_;
  const std::string& folder_ = model_.folder();
};

int start(const GeneratorPointer& generator, const std::vector<Tokens>& prompts,
          const anydml_generator_search& search) {
  std::vector<anydml_generator_prompt> given;
  for (const Tokens& one : prompts) {
    given.push_back({one.data(), one.size()});
  }
  return anydml_generator_start(generator.get(), given.data(), given.size(), &search);
}

anydml_generator_search search_for(std::int64_t tokens) {
  anydml_generator_search search = ANYDML_GENERATOR_SEARCH_INIT;
  search.max_new_tokens = tokens;
  search.flags = ANYDML_GENERATOR_IGNORE_END;
  return search;
}

// The tokens that follow each prompt.
std::vector<Tokens> generate(const GeneratorPointer& generator, const std::vector<Tokens>& prompts,
                             const anydml_generator_search& search) {
  EXPECT_EQ(start(generator, prompts, search), ANYDML_OK) << anydml_last_error();
  std::vector<Tokens> all(prompts.size());
  std::vector<anydml_generator_token> tokens(prompts.size());
  do {
    EXPECT_EQ(anydml_generator_step(generator.get(), tokens.data(), tokens.size()), ANYDML_OK) << anydml_last_error();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].token >= 0) {
        all[i].push_back(tokens[i].token);
      }
    }
  } while (!testing::Test::HasFailure() &&
           std::any_of(tokens.begin(), tokens.end(),
                       [](const anydml_generator_token& one) { return one.end == ANYDML_GENERATOR_CONTINUES; }));
  return all;
}

TEST_F(OnnxGenerate, TakesTheMostLikelyToken) {
  const GeneratorPointer generator = create();
  const Tokens made = generate(generator, {kPrompt}, search_for(12)).front();
  Tokens text = kPrompt;
  for (const std::int64_t token : made) {
    EXPECT_EQ(token, next_token(text));
    text.push_back(token);
  }
  EXPECT_EQ(made.size(), 12U);
  std::size_t count = 0;
  const float* const logits = anydml_generator_logits(generator.get(), 0, &count);
  ASSERT_EQ(count, static_cast<std::size_t>(kWords)) << anydml_last_error();
  EXPECT_EQ(std::distance(logits, std::max_element(logits, logits + count)), made.back());
}

// The kind of cache, the chunks of a prompt and other texts of a batch have no influence, not even on one bit of the
// logits.
TEST_F(OnnxGenerate, CachesChunksAndBatchesChangeNothing) {
  const std::vector<Tokens> prompts = {kPrompt, {5}, {9, 9, 2, 31, 16, 4, 22, 37, 0, 11, 13}};
  const GeneratorPointer whole = create();
  std::vector<Tokens> expected;
  std::vector<std::vector<float>> logits;
  for (const Tokens& prompt : prompts) {
    expected.push_back(generate(whole, {prompt}, search_for(9)).front());
    const float* const one = anydml_generator_logits(whole.get(), 0, nullptr);
    logits.emplace_back(one, one + kWords);
  }
  for (const std::int64_t cache : {ANYDML_CACHE_FIXED, ANYDML_CACHE_DOUBLING, ANYDML_CACHE_GROWING}) {
    for (const std::int64_t chunk : {1, 4, 128}) {
      const GeneratorPointer generator = create(cache == ANYDML_CACHE_DOUBLING ? 3 : 20, cache, chunk);
      EXPECT_EQ(generate(generator, prompts, search_for(9)), expected) << "cache " << cache << ", chunk " << chunk;
      for (std::size_t i = 0; i < prompts.size(); ++i) {
        const float* const one = anydml_generator_logits(generator.get(), i, nullptr);
        EXPECT_TRUE(std::equal(one, one + kWords, logits[i].begin())) << "cache " << cache << ", chunk " << chunk;
      }
    }
  }
}

TEST_F(OnnxGenerate, KeepsTheRowsOfTheSameBeginning) {
  const GeneratorPointer generator = create();
  Tokens text = kPrompt;
  const Tokens made = generate(generator, {kPrompt}, search_for(5)).front();
  text.insert(text.end(), made.begin(), made.end());
  text.push_back(7);
  const Tokens expected = generate(create(), {text}, search_for(5)).front();
  EXPECT_EQ(generate(generator, {text}, search_for(5)).front(), expected);
  EXPECT_EQ(generate(generator, {text}, search_for(5)).front(), expected);
  text.resize(4);
  EXPECT_EQ(generate(generator, {text}, search_for(5)), generate(create(), {text}, search_for(5)));
}

TEST_F(OnnxGenerate, SeedsGiveTheSameTokens) {
  const GeneratorPointer generator = create();
  anydml_generator_search search = search_for(20);
  search.temperature = 0.7;
  search.top_k = 12;
  search.top_p = 0.9;
  search.repetition_penalty = 1.1;
  search.seed = 5;
  const std::vector<Tokens> first = generate(generator, {kPrompt, kPrompt}, search);
  EXPECT_EQ(generate(generator, {kPrompt, kPrompt}, search), first);
  EXPECT_EQ(generate(create(0, ANYDML_CACHE_GROWING), {kPrompt}, search).front(), first.front());
  EXPECT_NE(first[0], first[1]);  // each text of a batch has its own draws
  search.seed = 6;
  EXPECT_NE(generate(generator, {kPrompt}, search).front(), first.front());
}

TEST_F(OnnxGenerate, TextsEnd) {
  const GeneratorPointer generator = create();
  const Tokens all = generate(generator, {kPrompt}, search_for(8)).front();
  anydml_generator_search search = search_for(0);
  search.stop_tokens = &all[3];
  search.stop_token_count = 1;
  const auto first = std::find(all.begin(), all.end(), all[3]) + 1;
  EXPECT_EQ(generate(generator, {kPrompt}, search).front(), Tokens(all.begin(), first));
  // The default of max_length comes from the folder.
  EXPECT_EQ(generate(generator, {kPrompt}, search_for(0)).front().size(), 48 - kPrompt.size());
  search = search_for(0);
  search.max_length = 20;
  EXPECT_EQ(generate(generator, {kPrompt}, search).front().size(), 20 - kPrompt.size());

  EXPECT_EQ(start(generator, {kPrompt, {4}}, search_for(4)), ANYDML_OK);
  anydml_generator_token tokens[2];
  EXPECT_EQ(anydml_generator_step(generator.get(), tokens, 2), ANYDML_OK);
  EXPECT_EQ(anydml_generator_end(generator.get(), 0), ANYDML_OK);
  EXPECT_EQ(anydml_generator_step(generator.get(), tokens, 2), ANYDML_OK);
  EXPECT_EQ(tokens[0].token, -1);
  EXPECT_EQ(tokens[0].end, ANYDML_GENERATOR_ENDED);
  EXPECT_GE(tokens[1].token, 0);
  EXPECT_EQ(tokens[1].end, ANYDML_GENERATOR_CONTINUES);
}

TEST_F(OnnxGenerate, AFullCacheIsAnError) {
  const GeneratorPointer generator = create(10);
  EXPECT_EQ(start(generator, {kPrompt}, search_for(0)), ANYDML_OK);
  anydml_generator_token token{};
  for (int i = 0; i < 4; ++i) {  // the last token needs no row yet
    EXPECT_EQ(anydml_generator_step(generator.get(), &token, 1), ANYDML_OK) << anydml_last_error();
  }
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_step(generator.get(), &token, 1),
                 "the cache is full: text 0 has 11 tokens, and the cache has 10 slots");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {Tokens(11, 1)}, search_for(0)),
                 "prompt 0 has 11 tokens and the cache 10 slots");
}

// Such a token does not exist in the model, and no run may have it.
TEST_F(OnnxGenerate, TheTokenForPaddingMayBeOutsideOfTheVocabulary) {
  const std::vector<Tokens> prompts = {kPrompt, {5}};
  const std::vector<Tokens> expected = generate(create(), prompts, search_for(4));
  write_config(config_text("\"context_length\"", "\"pad_token_id\": 40, \"context_length\""));
  EXPECT_EQ(generate(create(), prompts, search_for(4)), expected);
}

TEST_F(OnnxGenerate, AnUnknownVocabularyHasTokensOf32Bits) {
  write_config(config_text(" \"vocab_size\": 40,"));
  const GeneratorPointer generator = create();
  EXPECT_EQ(anydml_generator_get_info(generator.get())->vocabulary, 0);
  for (const std::int64_t token : {std::int64_t{-1}, std::int64_t{1} << 31, (std::int64_t{1} << 32) + 5}) {
    EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {{1, token}}, search_for(4)), "expected 0 to 2147483647");
  }
}

// Tokens share one compiled form, and prompts of up to 16 tokens five.
TEST_F(OnnxGenerate, OneFormServesAllTokens) {
  anydml_onnx_trace* trace = nullptr;
  ASSERT_EQ(anydml_onnx_trace_create(&trace), ANYDML_OK);
  anydml_onnx_options model = ANYDML_ONNX_OPTIONS_INIT;
  model.trace = trace;
  anydml_generator_options options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.model = &model;
  anydml_generator* created = nullptr;
  ASSERT_EQ(anydml_generator_create(folder_.c_str(), &options, &created), ANYDML_OK) << anydml_last_error();
  const GeneratorPointer generator(created);
  static const char* part;
  const auto events_with = [&](const char* text) {
    part = text;
    std::size_t count = 0;
    anydml_onnx_trace_lines(
        trace,
        [](void* context, const char* line) {
          *static_cast<std::size_t*>(context) += std::string_view(line).find(part) != std::string_view::npos;
        },
        &count);
    return count;
  };
  generate(generator, {{1}}, search_for(30));
  EXPECT_EQ(events_with("\"Compile\""), 1U);
  for (std::size_t length = 1; length <= 16; ++length) {
    generate(generator, {Tokens(length, static_cast<std::int64_t>(length))}, search_for(20));
  }
  EXPECT_EQ(events_with("\"Compile\""), 5U);
  EXPECT_GT(events_with("{\"float\":[1,1,40]}"), 0U);  // the logits: those of one token of a prompt
  EXPECT_EQ(events_with("{\"float\":[1,16,40]}"), 0U);
  anydml_onnx_trace_release(trace);
}

TEST_F(OnnxGenerate, DescribesTheModel) {
  const anydml_generator_info* info = nullptr;
  const GeneratorPointer generator = create(1000);
  info = anydml_generator_get_info(generator.get());
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->slots, kContext);
  EXPECT_EQ(info->context_length, kContext);
  EXPECT_EQ(info->vocabulary, kWords);
  EXPECT_EQ(info->cache, ANYDML_CACHE_FIXED);
  ASSERT_EQ(info->end_token_count, 1U);
  EXPECT_EQ(info->end_tokens[0], kEnd);
}

TEST_F(OnnxGenerate, WrongCalls) {
  anydml_generator* none = nullptr;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(nullptr, nullptr, &none), "folder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(folder_.c_str(), nullptr, nullptr),
                 "generator is null");
  anydml_generator_options options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.size = 3;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(folder_.c_str(), &options, &none),
                 "options.size is 3; expected sizeof(anydml_generator_options)");
  options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.slots = -1;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(folder_.c_str(), &options, &none), "slots is -1");
  options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.chunk = 12;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(folder_.c_str(), &options, &none),
                 "chunk is 12; expected a power of two");
  options = ANYDML_GENERATOR_OPTIONS_INIT;
  options.cache = 3;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_create(folder_.c_str(), &options, &none), "cache is 3");
  EXPECT_EQ(none, nullptr);

  EXPECT_EQ(anydml_generator_get_info(nullptr), nullptr);
  EXPECT_TRUE(says("generator is null"));
  const GeneratorPointer generator = create();
  anydml_generator_token token{};
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_step(generator.get(), &token, 1), "there are no texts");
  const anydml_generator_search search = search_for(4);
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {}, search), "there are no prompts");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {kPrompt, {}}, search), "prompt 1 has no tokens");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {{1, 40}}, search), "the token 40; expected 0 to 39");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {Tokens(48, 1)}, search),
                 "prompt 0 has 48 tokens and max_length is 48");
  EXPECT_EQ(start(generator, {kPrompt}, search), ANYDML_OK);
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_step(generator.get(), nullptr, 1), "tokens is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_step(generator.get(), &token, 0),
                 "there is room for 0 tokens; expected 1");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_generator_end(generator.get(), 1), "there is no text 1");
  EXPECT_EQ(anydml_generator_logits(generator.get(), 1, nullptr), nullptr);
  anydml_generator_release(nullptr);
}

TEST_F(OnnxGenerate, WrongSearches) {
  const GeneratorPointer generator = create();
  const auto fails = [&](auto change, const char* part) {
    anydml_generator_search search = search_for(4);
    change(search);
    EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, start(generator, {kPrompt}, search), part);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using Search = anydml_generator_search;
  fails([](Search& one) { one.temperature = kNan; }, "temperature is nan");
  fails([](Search& one) { one.temperature = 1e-60; }, "temperature is 1e-60");
  fails([](Search& one) { one.top_p = 0.9; }, "top_p is given and temperature is 0");
  fails([](Search& one) { one.top_k = 9; }, "top_k is given and temperature is 0");
  fails([](Search& one) { one.temperature = 1, one.top_p = 0; }, "top_p is 0; expected a number above 0");
  fails([](Search& one) { one.temperature = 1, one.top_p = 1.5; }, "top_p is 1.5");
  fails([](Search& one) { one.repetition_penalty = 0; }, "repetition_penalty is 0");
  fails([](Search& one) { one.max_new_tokens = -1; }, "max_new_tokens is -1");
  fails([](Search& one) { one.max_length = 65; }, "max_length is 65 and the model's context_length 64");
  fails([](Search& one) { one.stop_token_count = 2; }, "search.stop_tokens is null");
  fails([](Search& one) { one.flags = 2; }, "search.flags is 0x2");
  fails([](Search& one) { one.size = 1; }, "search.size is 1; expected sizeof(anydml_generator_search)");
}

TEST_F(OnnxGenerate, WrongFolders) {
  const auto fails = [&](const std::string& text, int code, const char* part) {
    write_config(text);
    anydml_generator* generator = nullptr;
    EXPECT_FAILURE(code, anydml_generator_create(folder_.c_str(), nullptr, &generator), part);
    EXPECT_EQ(generator, nullptr);
  };
  constexpr int kInvalid = ANYDML_INVALID_ARGUMENT;
  fails("{", kInvalid, "it is not JSON at byte 1");
  fails(std::string(100'000, '['), kInvalid, "it is not JSON");
  fails("[]", kInvalid, "model.decoder: the field is missing");
  fails(config_text("\"head_size\": 8,"), kInvalid, "model.decoder.head_size: the field is missing");
  fails(config_text("\"head_size\": 8", "\"head_size\": 0"), kInvalid,
        "model.decoder.head_size: expected an integer from 1");
  fails(config_text("\"head_size\": 8", "\"head_size\": 16"), kInvalid,
        "model.decoder.head_size is 16, but the model's input 'past_key_values.0.key' has the size 8");
  fails(config_text("model.onnx", "../model.onnx"), kInvalid, "model.decoder.filename: it is '../model.onnx'");
  fails(config_text("model.onnx", "other.onnx"), kInvalid, "other.onnx");
  fails(config_text("past_key_values.%d.key", "past.%s.key"), kInvalid,
        "model.decoder.inputs.past_key_names: it is 'past.%s.key'; expected a name with one %d");
  fails(config_text("past_key_values.%d.key", "past.%d.key"), kInvalid,
        "model.decoder.inputs.past_key_names: the model has no input 'past.0.key'");
  for (const char* member : {"\"logits\": \"present.0.key\"", "\"present_value_names\": \"present.%d.key\""}) {
    fails(config_text("\"inputs\": {", "\"outputs\": {" + std::string(member) + "}, \"inputs\": {"), kInvalid,
          "has two meanings");
  }
  fails(config_text("\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2"), kInvalid, "'past_key_values.1.key'");
  fails(config_text("\"filename\"", "\"pipeline\": [], \"filename\""), ANYDML_UNSUPPORTED, "model.decoder.pipeline");
  fails(config_text("\"inputs\": {", "\"inputs\": {\"attention_mask\": \"mask\", "), ANYDML_UNSUPPORTED,
        "the model has an input 'attention_mask', which is not supported");
  fails(config_text("\"do_sample\": false", "\"do_sample\": 3"), kInvalid, "search.do_sample: expected true or false");
  fails(config_text("[39]", "[39, -1]"), kInvalid, "model.eos_token_id: expected an integer");
}

}  // namespace
}  // namespace anydml::test
