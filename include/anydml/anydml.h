/* SPDX-License-Identifier: MIT */
/*
 * anydml: exact tensor operators over plain memory.
 *
 *   const int64_t sizes[] = {4};
 *   const float a[] = {7, -7, 7, -7}, b[] = {3, 3, -3, -3};
 *   float out[4];
 *   anydml_tensor ta = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, a);
 *   anydml_tensor tb = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, NULL, b);
 *   anydml_tensor to = {ANYDML_FLOAT32, 1, sizes, NULL, out};
 *   if (anydml_modulus_floor(&ta, &tb, &to) != ANYDML_OK) puts(anydml_last_error());
 *   // out is {1, 2, -2, -1}
 *
 * Rules that hold for every function:
 *   - It returns ANYDML_OK (0) or an error code, or a pointer that is null on an error; anydml_last_error() then says
 *     what was wrong, for the calling thread: the operator, the tensor (by its name in DirectML: ATensor, BTensor,
 *     OutputTensor), the field, its value and what was expected. An error writes nothing,
 *     but for ANYDML_DEVICE_ERROR: a device that fails in the midst of its work leaves a part of the results behind.
 *   - Any thread may call it at any time. It never throws, aborts or prints (unless ANYDML_LOG asks for lines on
 *     standard error), and the caller's rounding and flush modes neither matter nor change.
 *   - It keeps no pointer of the caller's after it returns, and frees none, except where its comment says so. An object
 *     that a function makes (anydml_compiled, anydml_graph) belongs to the caller, who releases it; every other pointer
 *     that a function returns belongs to the library and lives as long as the process.
 *   - Results are defined to the bit and are the same on every machine, except for the sign and payload of a NaN. Most
 *     are exact or correctly rounded; sums, averages and products of floats over an axis are rounded, in one fixed
 *     order (docs/numerics.md). Only products of FLOAT16 have other bits, if the caller allows it
 *     (ANYDML_ALLOW_HALF_PRECISION).
 *
 * Programs that were compiled against an older version of this header run with a newer library. Structs that the
 * library returns may grow at their end, so a program neither copies them nor makes arrays of them. Structs that a
 * program passes and that may grow have their size as the first member.
 *
 * Environment, read once: ANYDML_ADAPTER (the default device), ANYDML_THREADS (1 to 1024), ANYDML_LOG (none, error,
 * info, graph, dispatch), ANYDML_PLUGINS (the folder of further devices, or none), ANYDML_CPU_TARGET (the instructions
 * that kernels may use), ANYDML_ALLOW_HALF_PRECISION (0 or 1; with 1 all options have that flag); for the DirectML
 * libraries ANYDML_FEATURE_LEVEL (1_0 to 6_4) and ANYDML_GRAPHICS (0 or 1). An empty value counts as unset. A value
 * that is not understood makes every call that needs it fail with a message that says so.
 */
#ifndef ANYDML_ANYDML_H
#define ANYDML_ANYDML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ANYDML_API __attribute__((visibility("default")))
#else
#define ANYDML_API
#endif

/* The version of this header, and the same as one number that can be compared: 2000 is 0.2.0, 1002003 is 1.2.3. */
#define ANYDML_VERSION_MAJOR 0
#define ANYDML_VERSION_MINOR 2
#define ANYDML_VERSION_PATCH 0
#define ANYDML_VERSION (ANYDML_VERSION_MAJOR * 1000000 + ANYDML_VERSION_MINOR * 1000 + ANYDML_VERSION_PATCH)

/* The version of the library that is running, "0.2.0" and 2000. */
ANYDML_API const char* anydml_version(void);
ANYDML_API uint32_t anydml_version_number(void);

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

enum {
  ANYDML_OK = 0,
  ANYDML_INVALID_ARGUMENT = 1, /* the call breaks a rule */
  ANYDML_UNSUPPORTED = 2,      /* a right call for something that is not built here */
  ANYDML_OUT_OF_MEMORY = 3,
  ANYDML_DEVICE_ERROR = 4,  /* the device failed, or is not there */
  ANYDML_INTERNAL_ERROR = 5 /* a bug of this library: please report it */
};

/* Why the last call of this thread that failed did so; an empty string if none has. Valid until this thread's next
   failing call. Never null. */
ANYDML_API const char* anydml_last_error(void);
/* "OK", "INVALID_ARGUMENT"; "UNKNOWN" for a number that is none of these codes. */
ANYDML_API const char* anydml_status_name(int status);

/* ---- The whole process ----------------------------------------------------------------------------------------- */

/* How much the log says: each level includes those before it. */
enum {
  ANYDML_LOG_NONE = 0,
  ANYDML_LOG_ERROR = 1,   /* the messages of calls that fail */
  ANYDML_LOG_INFO = 2,    /* devices, and warnings of the DirectML libraries */
  ANYDML_LOG_GRAPH = 3,   /* each graph that is compiled, before and after its passes */
  ANYDML_LOG_DISPATCH = 4 /* each operator that runs */
};

/* Takes one entry of the log. `line` has no end of line at its end, may hold several lines at the level of graphs, and
   is valid until the function returns. */
typedef void (*anydml_log_function)(void* context, int level, const char* line);

/*
 * From now on the log goes to `function` instead of standard error: all entries up to `level`, and all entries that
 * ANYDML_LOG asks for. The log of the DirectML libraries goes there too. If function is null, the log goes to standard
 * error again, and ANYDML_LOG alone decides (level and context are not used).
 *
 * The function is called by the thread that has something to say, often in the middle of a call, and by several threads
 * at once. It must return normally and must not call this library. A call that is under way in another thread may still
 * use the function that was set before, so its context has to live until such calls have returned.
 */
ANYDML_API int anydml_set_log(anydml_log_function function, void* context, int level);

/* How many threads the CPU device computes with, 1 to 1024, instead of ANYDML_THREADS. All calls of the process share
   these threads, so the number is set once: before the first call that uses a device. Afterwards only the number that
   is already set is accepted. */
ANYDML_API int anydml_set_threads(uint32_t count);

/* ---- Tensors --------------------------------------------------------------------------------------------------- */

/* Element types; the values are those of DML_TENSOR_DATA_TYPE. */
typedef uint32_t anydml_type;
enum {
  ANYDML_NONE = 0, /* no tensor: see anydml_run */
  ANYDML_FLOAT32 = 1,
  ANYDML_FLOAT16 = 2, /* IEEE binary16 in two bytes: _Float16, or its bits in a uint16_t */
  ANYDML_UINT32 = 3,
  ANYDML_UINT16 = 4,
  ANYDML_UINT8 = 5,
  ANYDML_INT32 = 6,
  ANYDML_INT16 = 7,
  ANYDML_INT8 = 8,
  ANYDML_FLOAT64 = 9,
  ANYDML_UINT64 = 10,
  ANYDML_INT64 = 11,
  ANYDML_UINT4 = 12, /* two elements in a byte, the first in the low half; QUANTIZE and DEQUANTIZE alone take these */
  ANYDML_INT4 = 13
};

/* "FLOAT32"; "UNKNOWN" for a value that is not a type. */
ANYDML_API const char* anydml_type_name(anydml_type type);
/* In bytes; 0 for a value that is not a type, and for the types of four bits. */
ANYDML_API size_t anydml_type_size(anydml_type type);

/*
 * Memory seen as an array of up to eight dimensions. The library never writes to an input, and keeps no pointer of a
 * tensor after a call returns, except the data of a graph's constants. This struct does not grow.
 */
typedef struct anydml_tensor {
  anydml_type type;
  int32_t rank;           /* 0 (a single element) to 8 */
  const int64_t* sizes;   /* `rank` of them, 0 or more each; at most 2^32 - 1 elements. A size of 0: an empty tensor */
  const int64_t* strides; /* `rank` of them, in elements: any sign, 0 repeats. Null: packed, last dimension fastest */
  void* data;             /* the element at index 0, at any alignment; may be null if the tensor is empty */
} anydml_tensor;

/* A tensor whose data is const, for inputs: the library never writes to an input. */
static inline anydml_tensor anydml_const_tensor(anydml_type type, int32_t rank, const int64_t* sizes,
                                                const int64_t* strides, const void* data) {
  anydml_tensor tensor;
  tensor.type = type;
  tensor.rank = rank;
  tensor.sizes = sizes;
  tensor.strides = strides;
#ifdef __cplusplus
  tensor.data = const_cast<void*>(data);
#else
  tensor.data = (void*)(uintptr_t)data; /* by way of a number, since some compilers warn of a cast that drops const */
#endif
  return tensor;
}

/* ---- The two modulus operators --------------------------------------------------------------------------------- */

/*
 * out = a mod b, element by element; all three of one type, any of the eleven.
 *
 * a and b are broadcast to out's sizes by NumPy's rule: sizes are compared from the last dimension, and a size of 1 or
 * a dimension that is missing repeats. out may be a or b itself (in place); where it overlaps them in any other way the
 * result is as if they had been copied first. out must not overlap itself.
 *
 * floor (Python's %, numpy.remainder): a - b * floor(a / b); a result that is not 0 has b's sign.
 * truncate (C's % and fmod, numpy.fmod): a - b * trunc(a / b); a result that is not 0 has a's sign.
 * Integers: b = 0 gives 0. Floats: b = 0, an infinite a or a NaN gives NaN; never an approximation.
 */
ANYDML_API int anydml_modulus_floor(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out);
ANYDML_API int anydml_modulus_truncate(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* Where operators run. Devices live as long as the process: there is nothing to release. On one that has memory of its
   own, such as a GPU, the data of a tensor may be there (what cudaMalloc gave, say) or in the CPU's memory, which is
   copied there and back within the call. */
typedef struct anydml_device anydml_device;

/* Owned by the library, for the life of the process; later versions may append fields. */
typedef struct anydml_device_info {
  const char* name;        /* "cpu": what anydml_find_device and ANYDML_ADAPTER take */
  const char* description; /* for people */
  uint64_t memory_bytes;
  uint32_t threads; /* CPU threads at work; 0 for other devices */
} anydml_device_info;

/* How many devices there are; the first is the default. 0 with an error if ANYDML_* variables are not understood. */
ANYDML_API size_t anydml_device_count(void);
/* Null with an error when there is none with that number. */
ANYDML_API const anydml_device* anydml_device_at(size_t index);
/* By name, or by a part of its description in any case; null name: the default. Null with an error if none fits. */
ANYDML_API const anydml_device* anydml_find_device(const char* name);
/* device null: the default. Null with an error if there is no such device. */
ANYDML_API const anydml_device_info* anydml_device_get_info(const anydml_device* device);

/* ---- Any operator that is built -------------------------------------------------------------------------------- */

/* clang-format off */
/*
 * What an operator takes besides tensors, under the name of its field in DirectML ("Min"):
 *
 *   a number                 {"Min", ANYDML_FLOAT64, 0, {.f64 = 0.5}}; INT64 and UINT64 likewise
 *   one of an enumeration    {"Mode", ANYDML_TEXT, 0, {.text = "NEAREST_NEIGHBOR"}}, with or without DirectML's prefix;
 *                            or its number
 *   an array of numbers      {"Axes", ANYDML_INT64 | ANYDML_ARRAY, 2, {.i64s = axes}}. The field that counts it
 *                            (AxisCount, DimensionCount) is not given; arrays that share one have the same count
 *   a DML_SIZE_2D            an array of two numbers, the width and the height
 *   an operator              {"FusedActivation", ANYDML_OPERATOR, 0, {.operators = &relu}}, where relu is an
 *                            anydml_operator without tensors; ANYDML_OPERATOR | ANYDML_ARRAY for several
 *   a scalar union           a number; the field beside it that names its type may be left out, and is the output's
 *   a ScaleBias              the two attributes "Scale" and "Bias"
 *
 * Whatever is optional in DirectML may be left out. Numbers become the type of the tensor they are for as CAST does.
 */
/* clang-format on */
enum {
  ANYDML_TEXT = 0x100,
  ANYDML_OPERATOR = 0x101,
  ANYDML_ARRAY = 0x8000 /* with a type of the above, or of numbers */
};

typedef struct anydml_operator {
  const char* name;
  const struct anydml_attribute* attributes;
  size_t attribute_count;
} anydml_operator;

typedef struct anydml_attribute {
  const char* name;
  uint32_t type;  /* ANYDML_FLOAT64, ANYDML_INT64, ANYDML_UINT64, ANYDML_TEXT or ANYDML_OPERATOR: which member of value
                     is meant; with ANYDML_ARRAY one of the pointers */
  uint32_t count; /* of an array; otherwise 0 */
  union {
    double f64;
    int64_t i64;
    uint64_t u64;
    const char* text;
    const double* f64s;
    const int64_t* i64s;
    const uint64_t* u64s;
    const anydml_operator* operators; /* one, or as many as count says */
  } value;
} anydml_attribute;

/*
 * Runs an operator once. `op` is DirectML's name with or without DML_OPERATOR_, "ELEMENT_WISE_ADD"; inputs and
 * outputs come in the order of the operator's fields. device null: the default. A tensor that is optional in DirectML
 * is absent if its type is ANYDML_NONE, so that those after it keep their places, or if it and all after it are left
 * out. Where an operator takes an array of tensors, the array has what the others leave.
 *
 * Element-wise operators broadcast their inputs by NumPy's rule, as the modulus operators do; others want the sizes
 * that DirectML's documents ask for. Overlaps are as for the modulus operators; two outputs must not overlap.
 */
ANYDML_API int anydml_run(const anydml_device* device, const char* op, const anydml_tensor* inputs, size_t input_count,
                          const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                          size_t attribute_count);

/* The type and the sizes of an output, before there is memory for it. This struct does not grow. */
typedef struct anydml_shape {
  anydml_type type; /* ANYDML_UNKNOWN_TYPE: to be inferred; ANYDML_NONE: an optional output that is absent */
  int32_t rank;     /* ANYDML_UNKNOWN_RANK: the sizes are to be inferred */
  int64_t sizes[8]; /* `rank` of them */
} anydml_shape;
#define ANYDML_UNKNOWN_TYPE 0x7fffffffu
#define ANYDML_UNKNOWN_RANK (-1)
#define ANYDML_UNKNOWN_SHAPE                        \
  {                                                 \
    ANYDML_UNKNOWN_TYPE, ANYDML_UNKNOWN_RANK, { 0 } \
  }

/*
 * Completes the types and sizes of outputs from the inputs and attributes, by the rules of DirectML's documents; where
 * inputs broadcast, by NumPy's rule. It works for all operators of DirectML, also for operators that are not built.
 * `outputs` has an element for each output, in the order of the operator's fields, which says what the caller knows
 * already:
 *
 *   anydml_shape shape = ANYDML_UNKNOWN_SHAPE;
 *   int status = anydml_infer_outputs("REDUCE", &input, 1, &shape, 1, attributes, 2);
 *
 * The data of the inputs is not read and may be null. If the rules leave something open, such as the size of FOLD's
 * output, the call fails, the error names it, and `outputs` stays as it was; the caller fills it in and calls again.
 * Nothing else is checked: anydml_run and the others do that.
 */
ANYDML_API int anydml_infer_outputs(const char* op, const anydml_tensor* inputs, size_t input_count,
                                    anydml_shape* outputs, size_t output_count, const anydml_attribute* attributes,
                                    size_t attribute_count);

/* An operator, or a graph, over tensors of fixed types, sizes and strides, to be run many times over any memory. */
typedef struct anydml_compiled anydml_compiled;

/*
 * How something is compiled. Begin with ANYDML_OPTIONS_INIT, so that members of later versions have their defaults:
 *
 *   const uint32_t weights[] = {1};                      // the second input
 *   anydml_options options = ANYDML_OPTIONS_INIT;
 *   options.constants = weights;
 *   options.constant_count = 1;
 *
 * A smaller size than the library's is of a program that was compiled against an older header. From a newer header the
 * library accepts options as long as the members that it does not know are 0.
 */
typedef struct anydml_options {
  size_t size;                 /* sizeof(anydml_options) */
  const anydml_device* device; /* null: the default */
  const uint32_t* constants;   /* the positions of the inputs that are the same in every run, such as a model's weights;
                                  of an operator. A graph has anydml_graph_add_constant instead */
  size_t constant_count;
  uint64_t flags; /* 0, or ANYDML_ALLOW_HALF_PRECISION */
} anydml_options;

/* Products of FLOAT16 matrices (GEMM) may run on the tensor cores of a GPU, which add in FLOAT32 in an order of their
   own. Their results then have other bits than the defined ones and depend on the GPU and on its libraries;
   docs/numerics.md has the bound. Devices without such products compute the defined bits. */
#define ANYDML_ALLOW_HALF_PRECISION 1u

#define ANYDML_OPTIONS_INIT \
  { sizeof(anydml_options), NULL, NULL, 0, 0 }

/*
 * As anydml_run, but nothing runs yet. Only the data of constant inputs is read: it is copied into the device's memory,
 * so that the caller's may go, and anydml_compiled_run takes any address in its place, null too. Nothing has to be
 * initialised before the first run. options null: the defaults. *compiled is null on error, and otherwise the caller's,
 * who passes it to anydml_compiled_release.
 */
ANYDML_API int anydml_compile_with(const anydml_options* options, const char* op, const anydml_tensor* inputs,
                                   size_t input_count, const anydml_tensor* outputs, size_t output_count,
                                   const anydml_attribute* attributes, size_t attribute_count,
                                   anydml_compiled** compiled);

/* The older spelling of an input that is constant: this bit is added to the type of its tensor. */
#define ANYDML_CONSTANT 0x80000000u

/* As anydml_compile_with for a device, with ANYDML_CONSTANT in the types of constant inputs. */
ANYDML_API int anydml_compile(const anydml_device* device, const char* op, const anydml_tensor* inputs,
                              size_t input_count, const anydml_tensor* outputs, size_t output_count,
                              const anydml_attribute* attributes, size_t attribute_count, anydml_compiled** compiled);
/* Runs it over other memory; any number of threads may do so at once. */
ANYDML_API int anydml_compiled_run(const anydml_compiled* compiled, const void* const* inputs, size_t input_count,
                                   void* const* outputs, size_t output_count);
/* On a stream of the device's own API, such as a cudaStream_t (null: its default stream), over memory that the device
   reaches: the work is the stream's, and the call may return before it is done. Not for the CPU. `compiled` must live
   until it is done. */
ANYDML_API int anydml_compiled_run_on_stream(const anydml_compiled* compiled, void* stream, const void* const* inputs,
                                             size_t input_count, void* const* outputs, size_t output_count);
/* Null is fine. No run may be under way. */
ANYDML_API void anydml_compiled_release(anydml_compiled* compiled);

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

/*
 * Operators that feed one another, compiled together and run as one: element-wise operators in a row are one pass over
 * memory, values in between share memory by lifetime, and what follows from constants alone is computed when the graph
 * is compiled. The results are those of the same operators one by one, bit for bit.
 *
 *   anydml_graph* graph;                                             // relu(x + bias) over 2 x 3 elements
 *   anydml_value x, bias, sum, y;
 *   anydml_tensor wide = {ANYDML_FLOAT32, 2, sizes_2x3, NULL, NULL};
 *   anydml_tensor row = {ANYDML_FLOAT32, 1, sizes_3, NULL, data_of_bias};
 *   anydml_graph_create(&graph);
 *   anydml_graph_add_input(graph, &wide, &x);
 *   anydml_graph_add_constant(graph, &row, &bias);
 *   anydml_value terms[] = {x, bias};
 *   anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", terms, 2, &wide, 1, NULL, 0, &sum);
 *   anydml_graph_add_operator(graph, "ACTIVATION_RELU", &sum, 1, &wide, 1, NULL, 0, &y);
 *   anydml_graph_add_output(graph, y);
 *   anydml_graph_compile(graph, NULL, &compiled);                    // then anydml_compiled_run, as often as you like
 *   anydml_graph_release(graph);
 *
 * examples/graph.c is this as a whole program. Each call is checked by itself, and one that fails leaves the graph as
 * it was. An operator takes values that were there before, so a graph has no cycle.
 */
typedef struct anydml_graph anydml_graph;

/* A tensor in a graph: its type, sizes and strides, and bytes that are known when the graph runs. 0 is none; a value of
   one graph is none of another's. */
typedef uint64_t anydml_value;

/* *graph is null on error. */
ANYDML_API int anydml_graph_create(anydml_graph** graph);
/* Null is fine. What was compiled from it lives on. */
ANYDML_API void anydml_graph_release(anydml_graph* graph);

/* In the functions below `data` of a tensor is read for constants only. Only the strides of a view may be below 0. */

/* The next input: runs get its address at this place. Null will do for one that no output comes from. */
ANYDML_API int anydml_graph_add_input(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value);
/* A value that is the same in every run. Its data is read by anydml_graph_compile, once for each call, and must be
   there until then. */
ANYDML_API int anydml_graph_add_constant(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value);
/*
 * Constants that several graphs have, such as the weights of a model that is compiled for several shapes. Graphs that
 * were compiled from the same anydml_constants keep each shared constant, and each value that follows from such
 * constants alone, such as packed weights, in memory once, for as long as one of them lives: the first graph computes
 * it, and the others compile faster.
 *
 *   anydml_constants* weights;
 *   anydml_constants_create(&weights);
 *   anydml_graph_add_shared_constant(graph, weights, &tensor, &value);   // in each of the graphs
 *
 * A constant is known by its address: the data must be there, and stay as it is, until the anydml_constants and all
 * that was compiled from the data has been released. A device that reaches the data reads it where it is.
 */
typedef struct anydml_constants anydml_constants;

/* *constants is null on error. */
ANYDML_API int anydml_constants_create(anydml_constants** constants);
/* Null is fine. Graphs that took constants of it live on. */
ANYDML_API void anydml_constants_release(anydml_constants* constants);
/* As anydml_graph_add_constant. All shared constants of a graph are of one anydml_constants. */
ANYDML_API int anydml_graph_add_shared_constant(anydml_graph* graph, anydml_constants* constants,
                                                const anydml_tensor* tensor, anydml_value* value);
/* As anydml_run, with values in place of the inputs, 0 for one that is absent. `values` has a place for each output. */
ANYDML_API int anydml_graph_add_operator(anydml_graph* graph, const char* op, const anydml_value* inputs,
                                         size_t input_count, const anydml_tensor* outputs, size_t output_count,
                                         const anydml_attribute* attributes, size_t attribute_count,
                                         anydml_value* values);
/*
 * The bytes of a value seen with another type, other sizes or other strides: a slice, a reshaping, a transposition, a
 * reversal, bits. `offset` says where the view's element at index 0 is, counted in elements of the view from the
 * element at index 0 of `of`. Every element of the view must lie within the bytes of the value that was there first: of
 * an input, a constant or an operator's output, which a view of a view sees whole. Nothing is copied.
 *
 *   anydml_tensor reversed = {ANYDML_FLOAT32, 1, sizes_3, strides_minus_1, NULL};
 *   anydml_graph_add_view_at(graph, x, &reversed, 2, &value);        // of x with three elements: x[2], x[1], x[0]
 */
ANYDML_API int anydml_graph_add_view_at(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor,
                                        int64_t offset, anydml_value* value);
/* The same at offset 0. */
ANYDML_API int anydml_graph_add_view(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor,
                                     anydml_value* value);
/* Makes a value the next output: runs get its address at this place, and it lies there with the value's strides, or
   packed if one of them is below 0. Any value may be an output, an input or a view too, and more than once; two
   elements of it must not be one. */
ANYDML_API int anydml_graph_add_output(anydml_graph* graph, anydml_value value);

/* Compiles what the graph's outputs come from, to be run as a compiled operator is: over any memory, by many threads at
   once; where an output overlaps an input, the result is as if the input had been copied first, and two outputs must
   not overlap. Memory for values in between is allocated for the time of a run. The graph may grow afterwards and be
   compiled again. device null: the default. *compiled is null on error. */
ANYDML_API int anydml_graph_compile(const anydml_graph* graph, const anydml_device* device, anydml_compiled** compiled);
/* The same with options, which may be null. */
ANYDML_API int anydml_graph_compile_with(const anydml_graph* graph, const anydml_options* options,
                                         anydml_compiled** compiled);

/* ---- What there is --------------------------------------------------------------------------------------------- */

/* The structs below are the library's, for the life of the process; later versions may append members. */

/* A tensor of an operator. The inputs of anydml_run are those that are no outputs, in this order, and so are its
 * outputs. */
typedef struct anydml_tensor_info {
  const char* name;        /* "ATensor" */
  int32_t is_output;       /* 1 or 0, as the two members below */
  int32_t is_optional;     /* it may be absent */
  int32_t is_array;        /* any number of tensors */
  uint32_t directml_types; /* a mask, types & (1u << ANYDML_FLOAT32): the types that DirectML's newest level admits */
  uint32_t types;          /* the types that it takes here, which may be more; 0 if the operator is not built */
} anydml_tensor_info;

/* One of an enumeration's values. */
typedef struct anydml_enumerator {
  const char* name; /* "NEAREST_NEIGHBOR" */
  uint32_t value;
} anydml_enumerator;

/* What an operator takes besides tensors: see anydml_attribute. */
typedef struct anydml_attribute_info {
  const char* name;        /* "Axes" */
  uint32_t type;           /* for anydml_attribute: ANYDML_FLOAT64, ANYDML_INT64, ANYDML_UINT64, ANYDML_TEXT or
                              ANYDML_OPERATOR, with ANYDML_ARRAY for several. A number of another of these types is taken too
                              if it fits */
  uint32_t count;          /* of an array that always has so many elements; otherwise 0 */
  int32_t is_optional;     /* 1 or 0, as the two members below */
  int32_t is_boolean;      /* a number that is 0 or 1 */
  int32_t is_flags;        /* the enumerators are bits, which a number may combine */
  const char* spelling;    /* of its type in DirectML.h: "DML_INTERPOLATION_MODE", "FLOAT" */
  size_t enumerator_count; /* of ANYDML_TEXT; otherwise 0 */
  const anydml_enumerator* const* enumerators; /* pointers to them */
} anydml_attribute_info;

typedef struct anydml_operator_info {
  const char* name;          /* "ELEMENT_WISE_MODULUS_FLOOR" */
  uint32_t directml_value;   /* DML_OPERATOR_TYPE */
  const char* feature_level; /* the DirectML feature level that brought it, "2_1" */
  const char* formula;       /* as DirectML documents it */
  uint32_t directml_types;   /* a mask, types & (1u << ANYDML_FLOAT32): the types DirectML's newest level admits for its
                                first input, or for its output if it has none */
  int32_t is_built;          /* 1: it runs here; 0: known, but not built yet, and the two below are 0 */
  uint32_t input_count;      /* optional ones too; an array counts as one */
  uint32_t types; /* the types its first input, or its output, takes here, which may be more than DirectML's */
  /* The members below are there whether it is built or not. */
  uint32_t output_count; /* optional ones too; an array counts as one */
  size_t tensor_count;
  const anydml_tensor_info* const* tensors; /* pointers to them, in the order of DirectML's fields */
  size_t attribute_count;
  const anydml_attribute_info* const* attributes; /* likewise */
} anydml_operator_info;

/* All operators of DirectML, built or not, in the order of their numbers. Null with an error past the last. */
ANYDML_API size_t anydml_operator_count(void);
ANYDML_API const anydml_operator_info* anydml_operator_at(size_t index);
/* By DirectML's name, with or without DML_OPERATOR_. Null with an error if DirectML has no such operator. */
ANYDML_API const anydml_operator_info* anydml_find_operator(const char* name);

#ifdef __cplusplus
}
#endif

#endif /* ANYDML_ANYDML_H */
