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
 *   - It returns ANYDML_OK (0) or an error code, or a pointer that is null on an error. anydml_last_error() then
 *     returns the thread's message, which names the operator, the tensor (by its name in DirectML: ATensor, BTensor,
 *     OutputTensor), the field, its value and the expected value. A call that fails writes nothing, except that work
 *     that ends with ANYDML_DEVICE_ERROR or ANYDML_INTERRUPTED may have written part of the results.
 *   - Any thread may call it at any time. It never throws, aborts or prints (unless ANYDML_LOG enables lines on
 *     standard error), and it neither depends on the caller's rounding and flush modes nor changes them.
 *   - It does not keep the caller's pointers after it returns, and never frees them, unless its comment says so. An
 *     object that a function creates (anydml_compiled, anydml_graph) belongs to the caller, who releases it. Every
 *     other returned pointer belongs to the library and stays valid until the process exits.
 *   - Results are defined to the bit and are the same on every machine, except for the sign and payload of a NaN. Most
 *     are exact or correctly rounded; float sums, averages and products over an axis are rounded in one fixed order
 *     (docs/numerics.md). Only matrix products may have other bits, and only on request: see anydml_options.flags.
 *
 * Programs that were compiled against an older version of this header run with a newer library. Structs that the
 * library returns may grow at their end, so a program must not copy them or create arrays of them. Structs that a
 * program passes and that may grow have their size as the first member.
 *
 * Environment, read once: ANYDML_ADAPTER (the default device), ANYDML_THREADS (1 to 1024), ANYDML_LOG (none, error,
 * info, graph, dispatch, onnxruntime), ANYDML_PLUGINS (the folder with plugins for more devices, or none),
 * ANYDML_CPU_TARGET (the instructions that kernels may use), ANYDML_ALLOW_HALF_PRECISION (0 or 1; if 1, all options
 * have that flag); and, for the DirectML libraries, ANYDML_DEBUG (0, 1 or abort), ANYDML_FEATURE_LEVEL (1_0 to 6_4) and
 * ANYDML_GRAPHICS (0 or 1). An empty value counts as unset. A call that needs an invalid value fails and explains it.
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

/* The version of this header, also as one number that can be compared: 2000 is 0.2.0, 1002003 is 1.2.3. */
#define ANYDML_VERSION_MAJOR 0
#define ANYDML_VERSION_MINOR 2
#define ANYDML_VERSION_PATCH 0
#define ANYDML_VERSION (ANYDML_VERSION_MAJOR * 1000000 + ANYDML_VERSION_MINOR * 1000 + ANYDML_VERSION_PATCH)

/* The version of the library that is running, "0.2.0" and 2000. */
ANYDML_API const char* anydml_version(void);
ANYDML_API uint32_t anydml_version_number(void);

/* The version of the definitions in docs/numerics.md, and the running library's. While this number is the same, so are
   the bits of every result, whatever the version of the library, the device or the number of threads. */
#define ANYDML_NUMERICS_VERSION 1
ANYDML_API uint32_t anydml_numerics_version(void);

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

enum {
  ANYDML_OK = 0,
  ANYDML_INVALID_ARGUMENT = 1, /* the call breaks a rule */
  ANYDML_UNSUPPORTED = 2,      /* a valid call for a feature that is not implemented, or that the device lacks */
  ANYDML_OUT_OF_MEMORY = 3,
  ANYDML_DEVICE_ERROR = 4,   /* the device failed or is unavailable */
  ANYDML_INTERNAL_ERROR = 5, /* a bug in this library: please report it */
  ANYDML_INTERRUPTED = 6     /* the thread's own function ended the call: see anydml_set_interrupt */
};

/* Explains why this thread's most recent failing call failed; an empty string if no call has failed. Valid until this
   thread's next failing call. Never null. */
ANYDML_API const char* anydml_last_error(void);
/* The name of a status, such as "OK" or "INVALID_ARGUMENT"; "UNKNOWN" for a number that is not one of these codes. */
ANYDML_API const char* anydml_status_name(int status);

/* ---- The whole process ----------------------------------------------------------------------------------------- */

/* Log levels. Each level includes the levels before it. */
enum {
  ANYDML_LOG_NONE = 0,
  ANYDML_LOG_ERROR = 1,   /* messages from calls that fail */
  ANYDML_LOG_INFO = 2,    /* devices, and warnings from the DirectML libraries */
  ANYDML_LOG_GRAPH = 3,   /* each compiled graph, before and after its passes */
  ANYDML_LOG_DISPATCH = 4 /* each operator that runs */
};

/* Receives one log entry. `line` does not end with a newline, may contain several lines at ANYDML_LOG_GRAPH, and is
   valid until the function returns. */
typedef void (*anydml_log_function)(void* context, int level, const char* line);

/*
 * Sends the log to `function` instead of standard error: all entries up to `level`, and all entries that ANYDML_LOG
 * enables. The log of the DirectML libraries goes there too. If function is null, the log goes to standard error again,
 * and only ANYDML_LOG determines the level (level and context are not used).
 *
 * The thread that logs an entry calls the function, often in the middle of a call to the library; several threads may
 * do so at the same time. The function must return normally and must not call this library. Calls in progress on other
 * threads may still use the previous function, so its context must live until they have returned.
 */
ANYDML_API int anydml_set_log(anydml_log_function function, void* context, int level);

/* Sets the number of threads that the CPU device uses, 1 to 1024, instead of ANYDML_THREADS. All calls in the process
   share these threads, so the number must be set before the first call that uses a device. After that, the function
   accepts only the current number. */
ANYDML_API int anydml_set_threads(uint32_t count);

/* A program's own parallel loop: calls body(argument, i) for all i below `count`, or for some of them, each once, on
   any threads and in any order, and returns when these calls have returned. It must not call this library. */
typedef void (*anydml_parallel_function)(void* context, size_t count, void (*body)(void* argument, size_t i),
                                         void* argument);
/* Lets this thread's calls on the CPU device use the threads of a loop, so that they do not compete with the library's,
   which are used again if function is null. The results have the same bits. */
ANYDML_API int anydml_set_parallel(anydml_parallel_function function, void* context);

/* Returns 0 to continue the call in progress, and any other number to end it. */
typedef int (*anydml_interrupt_function)(void* context);

/*
 * Lets this thread's long calls on the CPU device end early, so that a program can react to a signal or a button. The
 * calling thread calls `function` about 20 times a second, between parts of the work; a call that takes less than 50 ms
 * never does so. A call that ends early returns ANYDML_INTERRUPTED. Its outputs are partly written, but everything
 * else, such as a compiled operator, can be used again. If function is null, this thread's calls do not end early. The
 * function must return normally. It may call this library.
 */
ANYDML_API int anydml_set_interrupt(anydml_interrupt_function function, void* context);
/* Calls this thread's interrupt function, if there is one. Returns ANYDML_INTERRUPTED if the program should end. */
ANYDML_API int anydml_ask_interrupt(void);

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
  ANYDML_UINT4 = 12, /* two elements in a byte, the first in the low half; only for QUANTIZE and DEQUANTIZE */
  ANYDML_INT4 = 13
};

/* The name of a type, such as "FLOAT32"; "UNKNOWN" for a value that is not a type. */
ANYDML_API const char* anydml_type_name(anydml_type type);
/* The size of an element in bytes; 0 for a value that is not a type, and for the 4-bit types. */
ANYDML_API size_t anydml_type_size(anydml_type type);

/*
 * Memory viewed as an array of up to eight dimensions. The library never writes to an input. It does not keep a
 * tensor's pointers after a call returns, except for the data of a graph's constants. This struct does not grow.
 */
typedef struct anydml_tensor {
  anydml_type type;
  int32_t rank;           /* 0 (a single element) to 8 */
  const int64_t* sizes;   /* `rank` sizes, 0 or more each; at most 2^32 - 1 elements. A size of 0 makes it empty */
  const int64_t* strides; /* `rank` strides, in elements: any sign, 0 repeats. Null: packed, last dimension fastest */
  void* data;             /* the element at index 0, at any alignment; may be null if the tensor is empty */
} anydml_tensor;

/* Creates a tensor from const data, for use as an input: the library never writes to inputs. */
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
  tensor.data = (void*)(uintptr_t)data; /* through a number: some compilers warn about a cast that drops const */
#endif
  return tensor;
}

/* ---- The two modulus operators --------------------------------------------------------------------------------- */

/*
 * out = a mod b, element by element. All three tensors must have the same type, which may be any of the eleven.
 *
 * a and b are broadcast to out's sizes under NumPy's rule: sizes are compared from the last dimension, and a size of 1
 * or a missing dimension repeats. out may be a or b itself (in place). If it overlaps them in any other way, the result
 * is as if they had been copied first. out must not overlap itself.
 *
 * floor (Python's %, numpy.remainder): a - b * floor(a / b); a result that is not 0 has b's sign.
 * truncate (C's % and fmod, numpy.fmod): a - b * trunc(a / b); a result that is not 0 has a's sign.
 * Integers: b = 0 gives 0. Floats: b = 0, an infinite a or a NaN gives NaN. The result is correctly rounded.
 */
ANYDML_API int anydml_modulus_floor(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out);
ANYDML_API int anydml_modulus_truncate(const anydml_tensor* a, const anydml_tensor* b, const anydml_tensor* out);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* A device that runs operators. Devices live as long as the process, so a program does not release them. If a device
   has its own memory, as a GPU does, a tensor's data may be in that memory (for example from cudaMalloc) or in the
   CPU's memory, which the call copies to the device and back. */
typedef struct anydml_device anydml_device;

/* Belongs to the library and stays valid until the process exits. Later versions may append members. */
typedef struct anydml_device_info {
  const char* name;        /* "cpu": the name that anydml_find_device and ANYDML_ADAPTER accept */
  const char* description; /* for human readers */
  uint64_t memory_bytes;
  uint32_t threads;    /* the number of CPU threads; 0 for other devices */
  uint32_t own_memory; /* 1 if the device has memory that the CPU cannot read; otherwise 0 */
} anydml_device_info;

/* The number of devices; the first is the default. Returns 0 with an error if an ANYDML_* variable is invalid. */
ANYDML_API size_t anydml_device_count(void);
/* Returns null with an error if no device has that number. */
ANYDML_API const anydml_device* anydml_device_at(size_t index);
/* Finds a device by its name, or by part of its description, ignoring case; null means the default. Returns null with
   an error if no device matches. */
ANYDML_API const anydml_device* anydml_find_device(const char* name);
/* A null device means the default. Returns null with an error if the device does not exist. */
ANYDML_API const anydml_device_info* anydml_device_get_info(const anydml_device* device);

/* ---- Memory of a device ---------------------------------------------------------------------------------------- */

/*
 * Tensors may be in the CPU's memory on every device: data that the device cannot access is copied to the device and
 * back. The device's own memory avoids the copies. It can be allocated with the device's own libraries (cudaMalloc), or
 * with a memory object, which works on every device, even if the process cannot address the device's memory. Tensors
 * refer to the memory through anydml_memory_pointer, and pointer arithmetic selects later bytes. Calls on the memory's
 * device accept it. Only the CPU device's memory may be read or written through it.
 */
typedef struct anydml_memory anydml_memory;

/* The CPU can access the memory too, at the address from anydml_memory_map. A GPU may access it more slowly. */
#define ANYDML_MEMORY_MAPPABLE 1u

/* Allocates zeroed memory. A null device means the default. flags: 0 or ANYDML_MEMORY_MAPPABLE. *memory is null on
   error; otherwise it belongs to the caller, who passes it to anydml_memory_release. */
ANYDML_API int anydml_memory_create(const anydml_device* device, size_t bytes, uint64_t flags, anydml_memory** memory);
/* Lets the device use the caller's memory without copies: either CPU memory that the device can access, or device
   memory from another source. It must live as long as the object. ANYDML_INVALID_ARGUMENT: the device cannot use it. */
ANYDML_API int anydml_memory_wrap(const anydml_device* device, void* data, size_t bytes, anydml_memory** memory);
/* Null is allowed. No call may use the memory afterwards. */
ANYDML_API void anydml_memory_release(anydml_memory* memory);
/* The pointer that tensors use to refer to the first byte; null for null. */
ANYDML_API void* anydml_memory_pointer(const anydml_memory* memory);
/* The size in bytes; 0 for null. */
ANYDML_API size_t anydml_memory_bytes(const anydml_memory* memory);
/* Returns the address at which the CPU can read and write the memory, valid as long as the object lives. Fails if the
   CPU cannot access the memory. */
ANYDML_API int anydml_memory_map(anydml_memory* memory, void** data);
/* Copy bytes to and from the memory, starting at an offset. These functions return when the copy is complete. */
ANYDML_API int anydml_memory_write(anydml_memory* memory, size_t offset, const void* from, size_t bytes);
ANYDML_API int anydml_memory_read(const anydml_memory* memory, size_t offset, void* to, size_t bytes);
/* Finds out whether a tensor's pointer refers to memory of the device (*is_on_device is 1) or to the CPU's (0).
   ANYDML_INVALID_ARGUMENT: the library knows that it is other memory, or that it has fewer bytes. */
ANYDML_API int anydml_memory_find(const anydml_device* device, const void* data, size_t bytes, int* is_on_device);
/* Copies bytes within the memory of the device and the CPU, or between them. The pointers are those that tensors use,
   and the ranges must not overlap. Returns when the copy is complete. */
ANYDML_API int anydml_memory_copy(const anydml_device* device, void* to, const void* from, size_t bytes);

/* ---- Any implemented operator ---------------------------------------------------------------------------------- */

/* clang-format off */
/*
 * An operator parameter that is not a tensor, under its DirectML field name ("Min"):
 *
 *   a number                 {"Min", ANYDML_FLOAT64, 0, {.f64 = 0.5}}; also INT64 and UINT64
 *   an enumeration value     {"Mode", ANYDML_TEXT, 0, {.text = "NEAREST_NEIGHBOR"}}, with or without DirectML's prefix;
 *                            or its number
 *   an array of numbers      {"Axes", ANYDML_INT64 | ANYDML_ARRAY, 2, {.i64s = axes}}. The field with its length
 *                            (AxisCount, DimensionCount) is omitted; arrays that share one must have the same count
 *   a DML_SIZE_2D            an array of two numbers, the width and the height
 *   an operator              {"FusedActivation", ANYDML_OPERATOR, 0, {.operators = &relu}}, where relu is an
 *                            anydml_operator without tensors; ANYDML_OPERATOR | ANYDML_ARRAY for several
 *   a scalar union           a number; the field that names its type may be omitted, and defaults to the output's
 *   a ScaleBias              the two attributes "Scale" and "Bias"
 *
 * Fields that are optional in DirectML may be omitted. Numbers are rounded to the type of their field or tensor. A
 * finite number beyond the range of a float type is an error. A number that an integer type cannot represent (300 or
 * 1.7 for UINT8) is also an error. For integers, the bounds Min and Max only need to be whole.
 */
/* clang-format on */
enum {
  ANYDML_TEXT = 0x100,
  ANYDML_OPERATOR = 0x101,
  ANYDML_ARRAY = 0x8000 /* combined with one of the types above or with a number type */
};

typedef struct anydml_operator {
  const char* name;
  const struct anydml_attribute* attributes;
  size_t attribute_count;
} anydml_operator;

typedef struct anydml_attribute {
  const char* name;
  uint32_t type;  /* ANYDML_FLOAT64, ANYDML_INT64, ANYDML_UINT64, ANYDML_TEXT or ANYDML_OPERATOR: selects the
                     member of value; with ANYDML_ARRAY, it selects one of the pointers */
  uint32_t count; /* the length of an array; otherwise 0 */
  union {
    double f64;
    int64_t i64;
    uint64_t u64;
    const char* text;
    const double* f64s;
    const int64_t* i64s;
    const uint64_t* u64s;
    const anydml_operator* operators; /* one operator, or `count` operators */
  } value;
} anydml_attribute;

/*
 * Runs an operator once. `op` is DirectML's name with or without DML_OPERATOR_, such as "ELEMENT_WISE_ADD"; inputs and
 * outputs are in the order of the operator's fields. A null device means the default. An optional tensor is absent
 * if its type is ANYDML_NONE, so that the tensors after it keep their positions, or if it and all tensors after it are
 * omitted. If an operator accepts an array of tensors, the array contains all tensors that the other fields do not use.
 *
 * Element-wise operators broadcast their inputs under NumPy's rule, like the modulus operators. All other operators
 * require the sizes in DirectML's documentation. Overlaps are as for the modulus operators; outputs must not overlap.
 */
ANYDML_API int anydml_run(const anydml_device* device, const char* op, const anydml_tensor* inputs, size_t input_count,
                          const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                          size_t attribute_count);

/* The type and the sizes of an output, before memory for it is allocated. This struct does not grow. */
typedef struct anydml_shape {
  anydml_type type; /* ANYDML_UNKNOWN_TYPE: to be inferred; ANYDML_NONE: an absent optional output */
  int32_t rank;     /* ANYDML_UNKNOWN_RANK: the sizes are to be inferred */
  int64_t sizes[8]; /* `rank` sizes */
} anydml_shape;
#define ANYDML_UNKNOWN_TYPE 0x7fffffffu
#define ANYDML_UNKNOWN_RANK (-1)
#define ANYDML_UNKNOWN_SHAPE                        \
  {                                                 \
    ANYDML_UNKNOWN_TYPE, ANYDML_UNKNOWN_RANK, { 0 } \
  }

/*
 * Completes the types and sizes of outputs from the inputs and attributes, using the rules in DirectML's documentation,
 * or NumPy's rule if inputs broadcast. It works for all DirectML operators, including those that are not implemented.
 * `outputs` has an element for each output, in the order of the operator's fields. The caller fills in the parts that
 * are already known:
 *
 *   anydml_shape shape = ANYDML_UNKNOWN_SHAPE;
 *   int status = anydml_infer_outputs("REDUCE", &input, 1, &shape, 1, attributes, 2);
 *
 * The data of the inputs is not read and may be null. If the rules do not determine a value, such as the size of FOLD's
 * output, the call fails, the error names the value, and `outputs` does not change. The caller can then fill in the
 * value and call again. The function performs no other checks; anydml_run and the other functions do.
 */
ANYDML_API int anydml_infer_outputs(const char* op, const anydml_tensor* inputs, size_t input_count,
                                    anydml_shape* outputs, size_t output_count, const anydml_attribute* attributes,
                                    size_t attribute_count);

/* An operator or graph compiled for fixed types, sizes and strides of tensors. It runs many times, over any memory. */
typedef struct anydml_compiled anydml_compiled;

/*
 * Options for compiling. Begin with ANYDML_OPTIONS_INIT, so that members of later versions have their defaults:
 *   const uint32_t weights[] = {1};                      // the second input
 *   anydml_options options = ANYDML_OPTIONS_INIT;
 *   options.constants = weights;
 *   options.constant_count = 1;
 * Programs for older headers pass a smaller size. A larger one is accepted if all unknown members are 0.
 */
typedef struct anydml_options {
  size_t size;                 /* sizeof(anydml_options) */
  const anydml_device* device; /* null means the default */
  const uint32_t* constants;   /* the inputs of an operator that never change; graphs have anydml_graph_add_constant */
  size_t constant_count;
  uint64_t flags; /* 0, or ANYDML_ALLOW_HALF_PRECISION and ANYDML_INTEGER_ACTIVATIONS, combined */
} anydml_options;

/* FLOAT16 matrix products (GEMM) may run on a GPU's tensor cores, which add in FLOAT32 in their own order. Their bits
   depend on the GPU and its libraries (docs/numerics.md has the bound); other devices compute the defined bits. */
#define ANYDML_ALLOW_HALF_PRECISION 1u
/* GEMMs whose weights DEQUANTIZE computes from known codes of four bits round their activations to eight bits, block by
   block, and multiply integers, which is faster and less accurate. docs/numerics.md defines the results, which are the
   same on every CPU. Devices whose kernels do not read codes ignore this flag. */
#define ANYDML_INTEGER_ACTIVATIONS 2u

#define ANYDML_OPTIONS_INIT \
  { sizeof(anydml_options), NULL, NULL, 0, 0 }

/*
 * Compiles an operator without running it. The other parameters are the same as for anydml_run. Only the data of
 * constant inputs is read. It is copied to the device's memory, so that the caller may free it, and anydml_compiled_run
 * accepts any address in its place, even null. The first run needs no initialization. If options is null, the defaults
 * apply. *compiled is null on error; otherwise it belongs to the caller, who passes it to anydml_compiled_release.
 */
ANYDML_API int anydml_compile_with(const anydml_options* options, const char* op, const anydml_tensor* inputs,
                                   size_t input_count, const anydml_tensor* outputs, size_t output_count,
                                   const anydml_attribute* attributes, size_t attribute_count,
                                   anydml_compiled** compiled);
/* Like anydml_compile_with, with a device instead of options. ANYDML_CONSTANT, added to the type of a tensor, is the
   older way to mark a constant input. */
#define ANYDML_CONSTANT 0x80000000u
ANYDML_API int anydml_compile(const anydml_device* device, const char* op, const anydml_tensor* inputs,
                              size_t input_count, const anydml_tensor* outputs, size_t output_count,
                              const anydml_attribute* attributes, size_t attribute_count, anydml_compiled** compiled);
/* Runs a compiled operator or graph over the given memory. Any number of threads may call this at the same time. */
ANYDML_API int anydml_compiled_run(const anydml_compiled* compiled, const void* const* inputs, size_t input_count,
                                   void* const* outputs, size_t output_count);
/* Like anydml_compiled_run, but on a stream from the device's own API, such as a cudaStream_t (null means its default
   stream), and over memory that the device can access. The call may return before the work on the stream is done, and
   `compiled` must live until then. Not available on the CPU. */
ANYDML_API int anydml_compiled_run_on_stream(const anydml_compiled* compiled, void* stream, const void* const* inputs,
                                             size_t input_count, void* const* outputs, size_t output_count);
/* Returns 1 if a run may write only a part of this output, so that new memory for it should be set to 0, as for the
   present tensors of MULTIHEAD_ATTENTION1; otherwise 0. Returns 0 with an error if there is no such output. */
ANYDML_API int anydml_compiled_keeps_elements(const anydml_compiled* compiled, size_t output);
/* Null is allowed. No run may be in progress. */
ANYDML_API void anydml_compiled_release(anydml_compiled* compiled);

/* ---- Graphs ---------------------------------------------------------------------------------------------------- */

/*
 * Operators that are compiled together and run as one. A chain of element-wise operators runs in one pass over memory,
 * intermediate values with disjoint lifetimes share memory, and values that depend only on constants are computed when
 * the graph is compiled. The results have the same bits as if the operators ran one by one.
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
 * examples/graph.c contains this code as a complete program. Each call is checked on its own, and a call that fails
 * does not change the graph. An operator accepts only values that already exist, so a graph has no cycles.
 */
typedef struct anydml_graph anydml_graph;

/* A tensor in one graph: a type, sizes and strides, but no data until the graph runs. 0 is never a value. */
typedef uint64_t anydml_value;

/* *graph is null on error. */
ANYDML_API int anydml_graph_create(anydml_graph** graph);
/* Null is allowed. Everything that was compiled from the graph remains valid. */
ANYDML_API void anydml_graph_release(anydml_graph* graph);

/* The functions below read `data` of a tensor only for constants. Only views may have negative strides. */
/* Adds the next input. Runs receive its address at this position; it may be null if no output depends on the input. */
ANYDML_API int anydml_graph_add_input(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value);
/* Adds a value that is the same in every run. Each anydml_graph_compile reads the data, so keep it until then. */
ANYDML_API int anydml_graph_add_constant(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value);
/*
 * Constants that several graphs share, such as the weights of a model that is compiled for several shapes. Graphs that
 * were compiled from the same anydml_constants share one copy of each constant, and of each value that depends only on
 * shared constants, such as packed weights. The copy exists as long as one of the graphs. The first graph computes the
 * values, so the later graphs compile faster.
 *
 *   anydml_constants* weights;
 *   anydml_constants_create(&weights);
 *   anydml_graph_add_shared_constant(graph, weights, &tensor, &value);   // in each of the graphs
 *
 * A constant is identified by its address: the data must stay there, unchanged, until the anydml_constants and
 * everything that was compiled from the data have been released. A device that can access the data reads it in place.
 */
typedef struct anydml_constants anydml_constants;

/* *constants is null on error. */
ANYDML_API int anydml_constants_create(anydml_constants** constants);
/* Null is allowed. Graphs that use constants from it remain valid. */
ANYDML_API void anydml_constants_release(anydml_constants* constants);
/* Like anydml_graph_add_constant. All shared constants of a graph must belong to one anydml_constants. */
ANYDML_API int anydml_graph_add_shared_constant(anydml_graph* graph, anydml_constants* constants,
                                                const anydml_tensor* tensor, anydml_value* value);
/* Like anydml_run, but the inputs are values; 0 means an absent input. `values` receives a value for each output. */
ANYDML_API int anydml_graph_add_operator(anydml_graph* graph, const char* op, const anydml_value* inputs,
                                         size_t input_count, const anydml_tensor* outputs, size_t output_count,
                                         const anydml_attribute* attributes, size_t attribute_count,
                                         anydml_value* values);
/* Sets flags for the operators added afterwards: 0 or ANYDML_INTEGER_ACTIVATIONS, as in anydml_options for a graph. */
ANYDML_API int anydml_graph_set_operator_flags(anydml_graph* graph, uint64_t flags);
/*
 * Adds an operator like the one that computes `like`, which must be the value of an output, not a view: with the same
 * attributes, flags, types, sizes and strides, but with other inputs. Input i begins `offsets[i]` bytes after the
 * element at index 0 of inputs[i], within the bytes of that input, constant or operator's output, or is absent (0) as
 * it is in the other operator. offsets may be null if all are 0. `values` receives a value for each of `value_count`
 * outputs. Networks of equal layers are built faster in this way: nothing is checked again.
 */
ANYDML_API int anydml_graph_repeat_operator(anydml_graph* graph, anydml_value like, const anydml_value* inputs,
                                            const int64_t* offsets, size_t input_count, anydml_value* values,
                                            size_t value_count);
/*
 * Adds a view: the bytes of an existing value with a different type, different sizes or different strides. A view can
 * be a slice, a reshape, a transpose or a reversal, or it can read the bits as a different type. `offset` is the
 * position of the view's element at index 0, counted in elements of the view from the element at index 0 of `of`. Every
 * element of the view must be within the bytes of the original value: an input, a constant or an operator's output. A
 * view of a view may access all of the original value. Nothing is copied.
 *
 *   anydml_tensor reversed = {ANYDML_FLOAT32, 1, sizes_3, strides_minus_1, NULL};
 *   anydml_graph_add_view_at(graph, x, &reversed, 2, &value);        // of x with three elements: x[2], x[1], x[0]
 */
ANYDML_API int anydml_graph_add_view_at(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor,
                                        int64_t offset, anydml_value* value);
/* Like anydml_graph_add_view_at, with offset 0. */
ANYDML_API int anydml_graph_add_view(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor,
                                     anydml_value* value);
/* Makes a value the next output. Runs receive its address at this position and write it with the value's strides, or
   packed if a stride is negative. Any value may be an output, even an input or a view, and may be added more than once,
   but no two of its elements may share memory. */
ANYDML_API int anydml_graph_add_output(anydml_graph* graph, anydml_value value);

/* Compiles everything that the graph's outputs depend on. The result runs like a compiled operator: over any memory,
   and on many threads at the same time. If an output overlaps an input, the result is as if the input had been copied
   first. Two outputs must not overlap. Memory for intermediate values is allocated for the duration of a run. The graph
   may be extended afterwards and compiled again. A null device means the default. *compiled is null on error. */
ANYDML_API int anydml_graph_compile(const anydml_graph* graph, const anydml_device* device, anydml_compiled** compiled);
/* Like anydml_graph_compile, with options, which may be null. */
ANYDML_API int anydml_graph_compile_with(const anydml_graph* graph, const anydml_options* options,
                                         anydml_compiled** compiled);

/* ---- Information about operators ------------------------------------------------------------------------------- */

/* The structs below belong to the library and stay valid until the process exits. Later versions may append members. */

/* One of an operator's tensors. anydml_run accepts inputs and outputs in this order, including optional tensors. */
typedef struct anydml_tensor_info {
  const char* name;        /* "ATensor" */
  int32_t is_output;       /* 1 or 0, like the two members below */
  int32_t is_optional;     /* it may be absent */
  int32_t is_array;        /* any number of tensors */
  uint32_t directml_types; /* a mask, types & (1u << ANYDML_FLOAT32): the types that DirectML's newest level accepts */
  uint32_t types;          /* the types accepted here, which may be more; 0 if the operator is not implemented */
} anydml_tensor_info;

/* One of an enumeration's values. */
typedef struct anydml_enumerator {
  const char* name; /* "NEAREST_NEIGHBOR" */
  uint32_t value;
} anydml_enumerator;

/* An operator parameter that is not a tensor: see anydml_attribute. */
typedef struct anydml_attribute_info {
  const char* name;        /* "Axes" */
  uint32_t type;           /* for anydml_attribute: ANYDML_FLOAT64, ANYDML_INT64, ANYDML_UINT64, ANYDML_TEXT or
                              ANYDML_OPERATOR, with ANYDML_ARRAY for several. Numbers of the other types are also
                              accepted if they fit */
  uint32_t count;          /* for an array with a fixed number of elements: that number; otherwise 0 */
  int32_t is_optional;     /* 1 or 0, like the two members below */
  int32_t is_boolean;      /* a number that is 0 or 1 */
  int32_t is_flags;        /* the enumerators are bits, which a number may combine */
  const char* spelling;    /* the spelling of its type in DirectML.h: "DML_INTERPOLATION_MODE", "FLOAT" */
  size_t enumerator_count; /* for ANYDML_TEXT; otherwise 0 */
  const anydml_enumerator* const* enumerators; /* `enumerator_count` pointers */
} anydml_attribute_info;

typedef struct anydml_operator_info {
  const char* name;          /* "ELEMENT_WISE_MODULUS_FLOOR" */
  uint32_t directml_value;   /* DML_OPERATOR_TYPE */
  const char* feature_level; /* the DirectML feature level that introduced it, "2_1" */
  const char* formula;       /* from DirectML's documentation */
  uint32_t directml_types;   /* a mask, types & (1u << ANYDML_FLOAT32): the types DirectML's newest level accepts for
                                its first input, or for its output if it has none */
  int32_t is_built;          /* 1 if the operator is implemented; if 0, the two members below are 0 */
  uint32_t input_count;      /* includes optional inputs; an array counts as one */
  uint32_t types; /* the types its first input, or its output, accepts here, which may be more than DirectML's */
  /* The members below are valid even if the operator is not implemented. */
  uint32_t output_count; /* includes optional outputs; an array counts as one */
  size_t tensor_count;
  const anydml_tensor_info* const* tensors; /* `tensor_count` pointers, in the order of DirectML's fields */
  size_t attribute_count;
  const anydml_attribute_info* const* attributes; /* `attribute_count` pointers, in the same order */
  int32_t keeps_elements; /* 1 if a run may write only a part of an output, so new memory for it should be set to 0 */
} anydml_operator_info;

/* All DirectML operators, implemented or not, ordered by number. An index past the end returns null with an error. */
ANYDML_API size_t anydml_operator_count(void);
ANYDML_API const anydml_operator_info* anydml_operator_at(size_t index);
/* Finds an operator by name, with or without DML_OPERATOR_; also DYNAMIC_QUANTIZE_LSTM, which DirectML lacks. */
ANYDML_API const anydml_operator_info* anydml_find_operator(const char* name);

#ifdef __cplusplus
}
#endif

#endif /* ANYDML_ANYDML_H */
