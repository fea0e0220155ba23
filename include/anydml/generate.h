/* SPDX-License-Identifier: MIT */
/*
 * Generates text with a language model, token by token. The model is in a folder that onnxruntime-genai's builder
 * wrote, which contains an ONNX model and genai_config.json.
 *
 *   anydml_generator* generator;
 *   if (anydml_generator_create("folder", NULL, &generator) != ANYDML_OK) puts(anydml_last_error());
 *   const int64_t words[] = {504, 3575, 282, 4649, 314};
 *   const anydml_generator_prompt prompt = {words, 5};
 *   anydml_generator_search search = ANYDML_GENERATOR_SEARCH_INIT;
 *   search.max_new_tokens = 20;
 *   if (anydml_generator_start(generator, &prompt, 1, &search) != ANYDML_OK) puts(anydml_last_error());
 *   anydml_generator_token next = {0, ANYDML_GENERATOR_CONTINUES};
 *   while (next.end == ANYDML_GENERATOR_CONTINUES) {
 *     if (anydml_generator_step(generator, &next, 1) != ANYDML_OK) puts(anydml_last_error());
 *     ...
 *   }
 *   anydml_generator_release(generator);
 *
 * examples/generate.c is a complete program. Tokens are numbers: a tokenizer converts text to tokens and back. This
 * library does not contain one.
 *
 * The rules of onnx.h hold here too, with one exception: only one thread at a time may use a generator.
 * docs/language-models.md defines how tokens are chosen. The same options give the same tokens on every machine.
 */
#ifndef ANYDML_GENERATE_H
#define ANYDML_GENERATE_H

#include "onnx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Creation -------------------------------------------------------------------------------------------------- */

typedef struct anydml_generator anydml_generator;

/* What happens to the cache of keys and values as the text becomes longer. */
enum {
  ANYDML_CACHE_FIXED = 0,    /* it has room for `slots` tokens; a full cache is an error */
  ANYDML_CACHE_DOUBLING = 1, /* it begins with `slots` tokens and doubles, up to the model's context length */
  ANYDML_CACHE_GROWING = 2   /* it has as many rows as there are tokens; every token needs a new compiled graph */
};

/*
 * Options for a generator. Begin with ANYDML_GENERATOR_OPTIONS_INIT, so that members of later versions have their
 * defaults. The rules for `size` are those of anydml_options.
 */
typedef struct anydml_generator_options {
  size_t size;                      /* sizeof(anydml_generator_options) */
  const anydml_onnx_options* model; /* options for the model, such as its device; null means the defaults */
  int64_t slots;                    /* tokens in the cache; 0 means 4096. The model's context length is the maximum */
  int64_t chunk; /* how many tokens of prompts run at once, at most: a power of two up to 65536; 0 means 128 */
  int64_t cache; /* ANYDML_CACHE_FIXED etc. Some models always have a growing cache: see docs/language-models.md */
} anydml_generator_options;

#define ANYDML_GENERATOR_OPTIONS_INIT \
  { sizeof(anydml_generator_options), NULL, 0, 0, ANYDML_CACHE_FIXED }

/* Reads genai_config.json in the folder and loads the model. If options is null, the defaults apply. *generator is null
   on error; otherwise it belongs to the caller, who passes it to anydml_generator_release. */
ANYDML_API int anydml_generator_create(const char* folder, const anydml_generator_options* options,
                                       anydml_generator** generator);
/* Null is allowed. */
ANYDML_API void anydml_generator_release(anydml_generator* generator);

/* Facts about a generator. They belong to the generator. Later versions may append members. */
typedef struct anydml_generator_info {
  int64_t context_length;    /* the most tokens of a text */
  int64_t vocabulary;        /* the number of different tokens; 0 if genai_config.json does not say */
  int64_t slots;             /* tokens in the cache; 0 if it grows */
  int64_t cache;             /* ANYDML_CACHE_FIXED etc. */
  const int64_t* end_tokens; /* `end_token_count` tokens, each of which ends a text */
  size_t end_token_count;
} anydml_generator_info;

/* Returns null with an error if generator is null. */
ANYDML_API const anydml_generator_info* anydml_generator_get_info(const anydml_generator* generator);

/* ---- Generating ------------------------------------------------------------------------------------------------ */

/* The beginning of a text. This struct does not grow. */
typedef struct anydml_generator_prompt {
  const int64_t* tokens; /* `count` tokens; 1 or more */
  size_t count;
} anydml_generator_prompt;

/*
 * How tokens are chosen, and when a text ends. Begin with ANYDML_GENERATOR_SEARCH_INIT, so that members of later
 * versions have their defaults. The rules for `size` are those of anydml_options. A negative temperature, top_p,
 * repetition_penalty or top_k means the default in genai_config.json.
 */
typedef struct anydml_generator_search {
  size_t size;               /* sizeof(anydml_generator_search) */
  double temperature;        /* 0: always the most likely token; greater numbers make unlikely tokens more likely */
  double top_p;              /* only the most likely tokens, up to this total probability: above 0, up to 1 */
  double repetition_penalty; /* above 1 makes tokens of the text so far less likely, below 1 more likely */
  int64_t top_k;             /* only this number of the most likely tokens; 0: no limit */
  uint64_t seed;
  int64_t max_length;         /* tokens in the prompt and the result together; 0: the default in genai_config.json */
  int64_t max_new_tokens;     /* tokens in the result; 0: no limit */
  const int64_t* stop_tokens; /* `stop_token_count` additional tokens, each of which ends a text */
  size_t stop_token_count;
  uint64_t flags; /* 0 or ANYDML_GENERATOR_IGNORE_END */
} anydml_generator_search;

/* The end tokens of the model do not end a text. */
#define ANYDML_GENERATOR_IGNORE_END 1u

#define ANYDML_GENERATOR_SEARCH_INIT \
  { sizeof(anydml_generator_search), -1, -1, -1, -1, 0, 0, 0, NULL, 0, 0 }

/* Runs prompts, each of which begins a text, and ends earlier texts. Prompts may have different lengths. If a prompt
   and the earlier text with the same index begin with the same tokens, these need not run again; this does not change
   any result. If search is null, the defaults apply. */
ANYDML_API int anydml_generator_start(anydml_generator* generator, const anydml_generator_prompt* prompts,
                                      size_t prompt_count, const anydml_generator_search* search);

/* Whether a text has more tokens. */
enum {
  ANYDML_GENERATOR_CONTINUES = 0,
  ANYDML_GENERATOR_STOP_TOKEN = 1, /* its last token is one of the stop tokens */
  ANYDML_GENERATOR_LENGTH = 2,     /* it has max_length or max_new_tokens tokens */
  ANYDML_GENERATOR_ENDED = 3       /* anydml_generator_end ended it */
};

/* The next token of a text. This struct does not grow. */
typedef struct anydml_generator_token {
  int64_t token; /* -1 if the text had ended before */
  int64_t end;   /* ANYDML_GENERATOR_CONTINUES, or the reason why the text ended */
} anydml_generator_token;

/* Generates the next token of each text. token_count: the number of prompts. An error, such as a full cache or an
   interrupted run, leaves the texts as they were before the call. */
ANYDML_API int anydml_generator_step(anydml_generator* generator, anydml_generator_token* tokens, size_t token_count);

/* Ends a text, so that the following steps do not continue it. */
ANYDML_API int anydml_generator_end(anydml_generator* generator, size_t text);

/* The logits from which the last token of a text was chosen, or the first one will be: FLOAT32, as many as the model
   returns, before penalties. They are valid until the next call with this generator. Returns null with an error if
   there is no such text. count may be null. */
ANYDML_API const float* anydml_generator_logits(const anydml_generator* generator, size_t text, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* ANYDML_GENERATE_H */
