/* SPDX-License-Identifier: MIT */
/*
 * anydml's ONNX library: runs ONNX models with anydml's exact operators.
 *
 *   anydml_onnx_model* model;
 *   if (anydml_onnx_load("model.onnx", NULL, &model) != ANYDML_OK) puts(anydml_last_error());
 *   const int64_t sizes[] = {1, 3, 224, 224};
 *   anydml_tensor image = anydml_const_tensor(ANYDML_FLOAT32, 4, sizes, NULL, pixels);
 *   anydml_onnx_results* results;
 *   if (anydml_onnx_run_to_results(model, &image, 1, &results) != ANYDML_OK) puts(anydml_last_error());
 *   const anydml_tensor* scores = anydml_onnx_result_at(results, 0);
 *   ...
 *   anydml_onnx_results_release(results);
 *   anydml_onnx_release(model);
 *
 * examples/onnx.c is a complete program. A program links with libanydml_onnx and libanydml: pkg-config anydml-onnx, or
 * anydml::onnx in CMake.
 *
 * The rules of anydml.h hold for these functions too: they return ANYDML_OK or an error code, anydml_last_error()
 * explains the thread's most recent failure, any thread may call them at any time, and they never throw, abort or
 * print. Error codes: ANYDML_UNSUPPORTED if the model needs something that anydml does not support,
 * ANYDML_INVALID_ARGUMENT if the model, an input or the call is wrong. An error in a model names the node.
 *
 * Models may be untrusted: everything that a model declares is checked before it is used.
 *
 * Strings may occur inside a model, but a model whose inputs or outputs are strings is unsupported here. An output of
 * ZipMap, which ONNX defines as a sequence of maps, is a matrix of floats: a row for each map, with a column for each
 * of the node's classlabels.
 */
#ifndef ANYDML_ONNX_H
#define ANYDML_ONNX_H

#include "anydml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------------------------- */

/* The ONNX element types that anydml supports, with the numbers of TensorProto.DataType. Models may declare other
   numbers for values that they do not use. */
enum {
  ANYDML_ONNX_UNDEFINED = 0,
  ANYDML_ONNX_FLOAT = 1,
  ANYDML_ONNX_UINT8 = 2,
  ANYDML_ONNX_INT8 = 3,
  ANYDML_ONNX_UINT16 = 4,
  ANYDML_ONNX_INT16 = 5,
  ANYDML_ONNX_INT32 = 6,
  ANYDML_ONNX_INT64 = 7,
  ANYDML_ONNX_BOOL = 9, /* a byte that is 0 or 1: ANYDML_UINT8 */
  ANYDML_ONNX_FLOAT16 = 10,
  ANYDML_ONNX_DOUBLE = 11,
  ANYDML_ONNX_UINT32 = 12,
  ANYDML_ONNX_UINT64 = 13,
  ANYDML_ONNX_UINT4 = 21, /* two elements in a byte, as in ANYDML_UINT4 */
  ANYDML_ONNX_INT4 = 22
};

/* The type of the tensors that a run accepts and returns for an ONNX type, such as ANYDML_UINT8 for ANYDML_ONNX_BOOL;
   ANYDML_NONE for a number that is not one of these types. */
ANYDML_API anydml_type anydml_onnx_tensor_type(int32_t type);
/* ONNX's name of a type, such as "float" or "bool"; "undefined" for a number that is not one of ONNX's types. */
ANYDML_API const char* anydml_onnx_type_name(int32_t type);

/* ---- Loading --------------------------------------------------------------------------------------------------- */

/* A model that is checked once and runs many times. The first run for each combination of input types and sizes records
   its nodes as graphs, which are compiled and kept. */
typedef struct anydml_onnx_model anydml_onnx_model;

/* A record of the work on models; anydml_onnx_trace_create. */
typedef struct anydml_onnx_trace anydml_onnx_trace;

/* Receives a line of text, which is valid until the function returns. */
typedef void (*anydml_onnx_text_function)(void* context, const char* text);

/*
 * Options for a model. Begin with ANYDML_ONNX_OPTIONS_INIT, so that members of later versions have their defaults. The
 * rules for `size` are those of anydml_options.
 */
typedef struct anydml_onnx_options {
  size_t size;                 /* sizeof(anydml_onnx_options) */
  const anydml_device* device; /* the device of the compiled graphs; null means the default */
  uint64_t flags;              /* 0, or ANYDML_ONNX_LITERAL etc., combined */
  /* If the model needs something that anydml does not support, this function is called once for each missing feature,
     described in a few words ("Softmax of bfloat16"), before the call returns ANYDML_UNSUPPORTED. May be null. */
  anydml_onnx_text_function on_unsupported;
  void* on_unsupported_context;
  const anydml_onnx_trace* trace; /* receives an event for each part of the work on the model; may be null */
  /* Compiled graphs are kept for the most recent combinations of input types and sizes: for so many of them, 1 to
     65536; 0 means 16. */
  size_t kept_forms;
} anydml_onnx_options;

/* By default, a model that was quantized with QuantizeLinear and DequantizeLinear computes with its integers, where
   these nodes describe an integer operator: MatMul, Gemm and Conv on dequantized floats multiply the integers. This is
   faster and closer to the exact result, but the bits differ from those of the model's own nodes, which compute with
   floats. docs/onnx.md lists the patterns. With this flag, the model's own nodes run. */
#define ANYDML_ONNX_LITERAL 2u
/* The compiled graphs have ANYDML_ALLOW_HALF_PRECISION: on a GPU, FLOAT16 products may have other bits. */
#define ANYDML_ONNX_ALLOW_HALF_PRECISION 4u
/* By default, MatMulNBits with accuracy_level 4 and weights in four bits rounds its activations to eight bits, block by
   block, and multiplies integers, as accuracy_level permits. This is faster and less accurate. docs/numerics.md defines
   the results (ANYDML_INTEGER_ACTIVATIONS), which are the same on every CPU; GPUs compute with floats. With the first
   flag, accuracy_level is ignored, and the activations are floats on every device. With the second flag, all products
   with constant weights in four bits have activations in eight bits. */
#define ANYDML_ONNX_FLOAT_ACTIVATIONS 8u
#define ANYDML_ONNX_INTEGER_ACTIVATIONS 16u
/* The default, which was once an option. */
#define ANYDML_ONNX_MULTIPLY_INTEGERS 1u

#define ANYDML_ONNX_OPTIONS_INIT \
  { sizeof(anydml_onnx_options), NULL, 0, NULL, NULL, NULL, 0 }

/* Loads a model from a file. The file is mapped, and so are the files with the model's external tensors, which must be
   in the model's folder or below it. The files must not change until the model is released. If options is null, the
   defaults apply. *model is null on error; otherwise it belongs to the caller, who passes it to anydml_onnx_release. */
ANYDML_API int anydml_onnx_load(const char* path, const anydml_onnx_options* options, anydml_onnx_model** model);
/* Loads a model from memory, which must stay valid and unchanged until the model is released: its weights are not
   copied. folder: the folder of the model's external tensors; if it is null, the model must not have any. */
ANYDML_API int anydml_onnx_load_memory(const void* bytes, size_t byte_count, const char* folder,
                                       const anydml_onnx_options* options, anydml_onnx_model** model);
/* Null is allowed. No run may be in progress. */
ANYDML_API void anydml_onnx_release(anydml_onnx_model* model);

/* ---- Inputs and outputs ---------------------------------------------------------------------------------------- */

/* An input or output of a model, as the model declares it. It belongs to the model. Later versions may append
   members. */
typedef struct anydml_onnx_value_info {
  const char* name;
  int32_t type;                       /* ANYDML_ONNX_FLOAT etc. */
  int32_t rank;                       /* -1 if the model does not declare a shape */
  const int64_t* sizes;               /* `rank` sizes; -1 means any size */
  const char* const* dimension_names; /* `rank` names, such as "batch"; "" for a dimension without a name */
  int32_t has_initializer; /* 1 if the model contains a value for this input, so that a run may omit it; otherwise 0 */
} anydml_onnx_value_info;

/* The number of inputs or outputs; 0 with an error if model is null. */
ANYDML_API size_t anydml_onnx_input_count(const anydml_onnx_model* model);
ANYDML_API size_t anydml_onnx_output_count(const anydml_onnx_model* model);
/* Returns null with an error if there is no such input or output. */
ANYDML_API const anydml_onnx_value_info* anydml_onnx_input_at(const anydml_onnx_model* model, size_t index);
ANYDML_API const anydml_onnx_value_info* anydml_onnx_output_at(const anydml_onnx_model* model, size_t index);

/* ---- Running --------------------------------------------------------------------------------------------------- */

/*
 * Provides memory for an output, once its type and sizes are known. type: ONNX's element type. tensor: its type in this
 * library, rank and sizes; data and strides are null. Unlike in anydml.h, the rank may be up to 64. The memory must
 * have room for the packed elements, at any alignment, and stay valid until the run returns. It may be in the CPU's
 * memory or, if the function belongs to anydml_onnx_run, in the memory of the model's device. If the function returns
 * null for a tensor with elements, the run ends with ANYDML_OUT_OF_MEMORY.
 *
 * The thread that runs the model calls the function, at most once for each output of a run, in any order. It must
 * return normally, and must not use the model.
 *
 * The memory may be exactly that of an input, which then changes, but not overlap an input otherwise. A cache for
 * GroupQueryAttention whose present has as many rows as its past is then updated in place: only the new rows are
 * written. In other memory, the rows after the new ones are 0.
 */
typedef void* (*anydml_onnx_output_function)(void* context, size_t output, int32_t type, const anydml_tensor* tensor);

/*
 * Runs a model. inputs: one tensor for each input of the model, in order, with any strides. An input with an
 * initializer may be absent: its tensor's type is ANYDML_NONE, or it and all inputs after it are omitted. Any number of
 * threads may run one model at the same time. If a run fails, memory that the function has provided may have been
 * written.
 *
 * Each input and each output is either in the CPU's memory or in the memory of the model's device (anydml.h, "Memory of
 * a device"). The compiled graphs use the device's memory in place. Values between two graphs stay on the device too.
 * Copies to the CPU are made for nodes that run on the host, for the elements of small inputs on which shapes depend,
 * and for tensors that graphs do not accept: four-bit types, negative strides, unaligned memory. If the device's API
 * has streams, such as CUDA's, the run begins after earlier work on the default stream; it returns when it is done.
 */
ANYDML_API int anydml_onnx_run(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count,
                               anydml_onnx_output_function output, void* context);

/* The outputs of a run, in memory that the library allocates. */
typedef struct anydml_onnx_results anydml_onnx_results;

/* Like anydml_onnx_run, but allocates the memory of the outputs. *results is null on error; otherwise it belongs to the
   caller, who passes it to anydml_onnx_results_release. It remains valid after the model is released. */
ANYDML_API int anydml_onnx_run_to_results(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count,
                                          anydml_onnx_results** results);
/* The number of outputs; 0 with an error if results is null. */
ANYDML_API size_t anydml_onnx_result_count(const anydml_onnx_results* results);
/* An output, packed. It belongs to `results`. Returns null with an error if there is no such output. */
ANYDML_API const anydml_tensor* anydml_onnx_result_at(const anydml_onnx_results* results, size_t index);
/* Null is allowed. */
ANYDML_API void anydml_onnx_results_release(anydml_onnx_results* results);

/* ---- Reports --------------------------------------------------------------------------------------------------- */

/* Calls the function with each line of a report. The report describes how the model's nodes run, which nodes run on the
   host and, after a run, the graphs. */
ANYDML_API int anydml_onnx_explain(anydml_onnx_model* model, anydml_onnx_text_function function, void* context);

/* The time of a node. Valid until the function that receives it returns. Later versions may append members. */
typedef struct anydml_onnx_node_time {
  const char* op;    /* "Conv" */
  const char* label; /* for messages: "Conv 'name'" */
  double seconds;    /* the average of the rounds */
} anydml_onnx_node_time;
typedef void (*anydml_onnx_time_function)(void* context, const anydml_onnx_node_time* time);

/* Runs the model's nodes one by one, `rounds` times (1 or more), and calls the function for each node. In a graph,
   several nodes run in one pass, so a normal run takes less time than the sum. */
ANYDML_API int anydml_onnx_profile(anydml_onnx_model* model, const anydml_tensor* inputs, size_t input_count,
                                   uint32_t rounds, anydml_onnx_time_function function, void* context);

/*
 * A trace in Chrome's trace event format, which https://ui.perfetto.dev and chrome://tracing open. It has an event with
 * the time and the thread for reading and preparing a model, for recording and compiling each graph, for each run and,
 * within a run, for each compiled graph and each node that runs by itself, with the types and shapes of its inputs and
 * outputs. The nodes inside of a graph run together; anydml_onnx_profile adds an event for each of them. A trace
 * contains up to 64 MiB of events; it counts the others. A model without a trace loses no time.
 *
 *   anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
 *   anydml_onnx_trace_create(&trace);
 *   options.trace = trace;
 *   anydml_onnx_load("model.onnx", &options, &model);
 *   ...
 *   anydml_onnx_trace_lines(trace, print_line, file);
 */
/* *trace is null on error; otherwise it belongs to the caller, who passes it to anydml_onnx_trace_release. */
ANYDML_API int anydml_onnx_trace_create(anydml_onnx_trace** trace);
/* Null is allowed. Models that were loaded with the trace remain valid. */
ANYDML_API void anydml_onnx_trace_release(anydml_onnx_trace* trace);
/* Calls the function with each line of a JSON document that contains the events so far. */
ANYDML_API int anydml_onnx_trace_lines(const anydml_onnx_trace* trace, anydml_onnx_text_function function,
                                       void* context);

/* One row of the table of ONNX operators that this library runs. It belongs to the library. Later versions may append
   members. */
typedef struct anydml_onnx_operator_info {
  const char* domain;  /* "" for ONNX's own operators, otherwise for example "com.microsoft" */
  const char* name;    /* "Conv" */
  int32_t first_opset; /* the versions of the operator that the row accepts; 1 and 0 in other domains */
  int32_t last_opset;  /* 0 means the newest */
  uint32_t types;      /* the accepted types of the first input, a mask: types & (1u << ANYDML_ONNX_FLOAT); 0: all types
                          that both ONNX and this library support */
  int32_t is_on_host;  /* 1 if computed on the host, without DirectML's operators; `uses` then says how */
  int32_t is_expanded; /* 1 if the other ONNX operators that define it may replace it */
  const char* uses;    /* DirectML's operators that it may run, without ELEMENT_WISE_ and ACTIVATION_, separated by
                          spaces */
} anydml_onnx_operator_info;

/* Ordered by domain and name. Returns 0, or null for an index past the end, with an error. */
ANYDML_API size_t anydml_onnx_operator_count(void);
ANYDML_API const anydml_onnx_operator_info* anydml_onnx_operator_at(size_t index);

/* ---- Models from a caller that has parsed them already --------------------------------------------------------- */

/*
 * A graph that is built node by node, in an order in which each node follows the nodes that compute its inputs:
 *
 *   anydml_onnx_builder* builder;
 *   anydml_onnx_builder_create(&builder);
 *   anydml_onnx_builder_set_opset(builder, "", 17);
 *   anydml_onnx_builder_add_input(builder, "x", ANYDML_ONNX_FLOAT, 2, sizes, NULL);
 *   anydml_onnx_builder_add_initializer(builder, "w", &weights);
 *   const char* inputs[] = {"x", "w"};
 *   const char* outputs[] = {"y"};
 *   anydml_onnx_node node = {"MatMul", NULL, "product", inputs, 2, outputs, 1, NULL, 0};
 *   anydml_onnx_builder_add_node(builder, &node);
 *   anydml_onnx_builder_add_output(builder, "y", ANYDML_ONNX_UNDEFINED, -1, NULL, NULL);
 *   anydml_onnx_builder_finish(builder, NULL, &model);
 *   anydml_onnx_builder_release(builder);
 *
 * Names and strings are UTF-8 and are copied. The data of tensors is not copied: it must stay valid and unchanged until
 * the builder and every model that was built from it have been released. A builder must not be used by two threads at
 * the same time. A call that fails does not change it. anydml_onnx_builder_finish checks the graph as a whole.
 */
typedef struct anydml_onnx_builder anydml_onnx_builder;

/* *builder is null on error. */
ANYDML_API int anydml_onnx_builder_create(anydml_onnx_builder** builder);
/* Null is allowed. Models that were built from it remain valid. */
ANYDML_API void anydml_onnx_builder_release(anydml_onnx_builder* builder);

/* Sets the version of a domain's operators. A domain of null or "" means ONNX's own operators. Not needed for a graph
   that is an attribute. */
ANYDML_API int anydml_onnx_builder_set_opset(anydml_onnx_builder* builder, const char* domain, int64_t version);
/* Adds the next input. type: ANYDML_ONNX_FLOAT etc. A rank of -1 means any shape. sizes: `rank` sizes; -1 means any
   size. dimension_names: null, or `rank` names, each of which may be null. An input of a graph that is an attribute may
   have the type ANYDML_ONNX_UNDEFINED. */
ANYDML_API int anydml_onnx_builder_add_input(anydml_onnx_builder* builder, const char* name, int32_t type, int32_t rank,
                                             const int64_t* sizes, const char* const* dimension_names);
/* Adds the next output, with the same parameters. The type ANYDML_ONNX_UNDEFINED means an undeclared type. */
ANYDML_API int anydml_onnx_builder_add_output(anydml_onnx_builder* builder, const char* name, int32_t type,
                                              int32_t rank, const int64_t* sizes, const char* const* dimension_names);

/* A constant tensor, packed in memory. Four-bit elements are packed two in a byte. This struct does not grow. */
typedef struct anydml_onnx_tensor {
  int32_t type; /* ANYDML_ONNX_FLOAT etc. */
  int32_t rank; /* 0 to 64 */
  const int64_t* sizes;
  const void* data; /* at any alignment; may be null if the tensor is empty */
} anydml_onnx_tensor;

/* Adds a constant. An input with the same name may replace it in a run. */
ANYDML_API int anydml_onnx_builder_add_initializer(anydml_onnx_builder* builder, const char* name,
                                                   const anydml_onnx_tensor* tensor);

/* Adds a constant whose elements are in a file, such as a model's external weights: packed, beginning at a byte of the
   file. tensor->data is ignored. The file is mapped, so the elements need no memory of their own once they are packed
   for a device. It must not change until the builder and every model that was built from it have been released. */
ANYDML_API int anydml_onnx_builder_add_file_initializer(anydml_onnx_builder* builder, const char* name,
                                                        const anydml_onnx_tensor* tensor, const char* path,
                                                        uint64_t offset);

/* The types of attributes; the numbers are those of AttributeProto.AttributeType. */
enum {
  ANYDML_ONNX_ATTRIBUTE_FLOAT = 1,
  ANYDML_ONNX_ATTRIBUTE_INT = 2,
  ANYDML_ONNX_ATTRIBUTE_STRING = 3,
  ANYDML_ONNX_ATTRIBUTE_TENSOR = 4,
  ANYDML_ONNX_ATTRIBUTE_GRAPH = 5,
  ANYDML_ONNX_ATTRIBUTE_FLOATS = 6,
  ANYDML_ONNX_ATTRIBUTE_INTS = 7,
  ANYDML_ONNX_ATTRIBUTE_STRINGS = 8
};

/* An attribute of a node: {"axis", ANYDML_ONNX_ATTRIBUTE_INT, 0, {.i = 1}}. This struct does not grow. */
typedef struct anydml_onnx_attribute {
  const char* name;
  int32_t type;   /* ANYDML_ONNX_ATTRIBUTE_FLOAT etc.: selects the member of value */
  uint32_t count; /* the length of floats, ints or strings; otherwise 0 */
  union {
    float f;
    int64_t i;
    const char* s;
    const anydml_onnx_tensor* t;
    const anydml_onnx_builder* g; /* the graph as it is at the time of the call */
    const float* floats;
    const int64_t* ints;
    const char* const* strings;
  } value;
} anydml_onnx_attribute;

/* A node. This struct does not grow. */
typedef struct anydml_onnx_node {
  const char* op_type;       /* "Conv" */
  const char* domain;        /* null or "": ONNX's own */
  const char* name;          /* for messages; may be null */
  const char* const* inputs; /* `input_count` names; null or "" for an absent input */
  size_t input_count;
  const char* const* outputs; /* `output_count` names; null or "" for an output that nothing uses */
  size_t output_count;
  const anydml_onnx_attribute* attributes; /* `attribute_count` attributes */
  size_t attribute_count;
} anydml_onnx_node;

ANYDML_API int anydml_onnx_builder_add_node(anydml_onnx_builder* builder, const anydml_onnx_node* node);

/* Checks the graph and creates a model, as anydml_onnx_load does. The builder may be extended afterwards, and used
   again. */
ANYDML_API int anydml_onnx_builder_finish(const anydml_onnx_builder* builder, const anydml_onnx_options* options,
                                          anydml_onnx_model** model);

#ifdef __cplusplus
}
#endif

#endif /* ANYDML_ONNX_H */
