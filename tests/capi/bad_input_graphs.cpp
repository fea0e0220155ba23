// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "bad_input.h"

namespace anydml::test {
namespace {

// A graph that has x as its input and contains one mistake.
template <class Build>
std::function<int(Call&)> graph(Build build) {
  return [build](Call& call) {
    call.fill();
    anydml_graph* result = nullptr;
    anydml_value x = 0;
    EXPECT_EQ(anydml_graph_create(&result), ANYDML_OK);
    EXPECT_EQ(anydml_graph_add_input(result, &call.a, &x), ANYDML_OK);
    const int code = build(call, result, x);
    anydml_graph_release(result);
    return code;
  };
}

// A valid graph that computes -x, run incorrectly.
template <class Run>
std::function<int(Call&)> compiled_graph(Run run) {
  return graph([run](Call& call, anydml_graph* result, anydml_value x) {
    anydml_value y = 0;
    anydml_compiled* ready = nullptr;
    EXPECT_EQ(anydml_graph_add_operator(result, "ELEMENT_WISE_NEGATE", &x, 1, &call.out, 1, nullptr, 0, &y), ANYDML_OK);
    EXPECT_EQ(anydml_graph_add_output(result, y), ANYDML_OK);
    EXPECT_EQ(anydml_graph_compile(result, nullptr, &ready), ANYDML_OK);
    const int code = run(call, ready);
    anydml_compiled_release(ready);
    return code;
  });
}

// Compiles the valid call with invalid options.
template <class Change>
std::function<int(Call&)> compile_with(Change change) {
  return [change](Call& call) {
    call.fill();
    const anydml_tensor inputs[] = {call.a, call.b};
    anydml_options options = ANYDML_OPTIONS_INIT;
    change(options);
    anydml_compiled* result = nullptr;
    const int code = anydml_compile_with(&options, call.op, inputs, 2, &call.out, 1, nullptr, 0, &result);
    EXPECT_EQ(result, nullptr);
    return code;
  };
}

const Case kCases[] = {
    {"the pointer for a new graph is null", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_create: graph is null; expected a pointer to store the result",
     [](Call&) { return anydml_graph_create(nullptr); }},
    {"an input added to a null graph", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_input: graph is null; expected a graph from anydml_graph_create",
     graph([](Call& c, anydml_graph*, anydml_value x) { return anydml_graph_add_input(nullptr, &c.a, &x); })},
    {"a graph input whose tensor is null", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_input: tensor is null; expected a pointer to an anydml_tensor",
     graph([](Call&, anydml_graph* g, anydml_value x) { return anydml_graph_add_input(g, nullptr, &x); })},
    {"the pointer for a new value is null", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_input: value is null; expected a pointer to store the result",
     graph([](Call& c, anydml_graph* g, anydml_value) { return anydml_graph_add_input(g, &c.a, nullptr); })},
    {"a graph input of an unknown type", ANYDML_INVALID_ARGUMENT,
     "graph: input 1: type is 99; expected one of the element types, 1 (FLOAT32) to 13 (INT4)",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       c.a.type = 99;
       return anydml_graph_add_input(g, &c.a, &x);
     })},
    {"a graph input with a negative stride", ANYDML_INVALID_ARGUMENT,
     "graph: input 1: strides are [3, -1]; expected 0 or more: a value of a graph begins with its first "
     "element",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       const int64_t back[] = {3, -1};
       c.a.strides = back;
       return anydml_graph_add_input(g, &c.a, &x);
     })},
    {"a constant without data", ANYDML_INVALID_ARGUMENT,
     "graph: constant 0: data is null; expected the data of a constant",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       c.a.data = nullptr;
       return anydml_graph_add_constant(g, &c.a, &x);
     })},
    {"a shared constant whose owner is null", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_shared_constant: constants is null; expected an object from anydml_constants_create",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       return anydml_graph_add_shared_constant(g, nullptr, &c.a, &x);
     })},
    {"shared constants of two owners", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_shared_constant: constants differs from the one before; expected one anydml_constants for all "
     "constants of a graph",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       anydml_constants* all[2] = {};
       int code = ANYDML_OK;
       for (anydml_constants*& one : all) {
         EXPECT_EQ(anydml_constants_create(&one), ANYDML_OK);
         code = anydml_graph_add_shared_constant(g, one, &c.a, &x);
       }
       for (anydml_constants* one : all) {
         anydml_constants_release(one);
       }
       return code;
     })},
    {"a view larger than its value", ANYDML_INVALID_ARGUMENT,
     "graph: view: FLOAT64 with sizes [2, 3] and strides [3, 1] covers the bytes 0 to 48; expected the bytes 0 "
     "to "
     "24, the extent of the value",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       c.a.type = ANYDML_FLOAT64;
       return anydml_graph_add_view(g, x, &c.a, &x);
     })},
    {"a view of value 0", ANYDML_INVALID_ARGUMENT, "anydml_graph_add_view: value: is 0; expected a value of the graph",
     graph([](Call& c, anydml_graph* g, anydml_value x) { return anydml_graph_add_view(g, 0, &c.a, &x); })},
    {"a graph operator on a value of another graph", ANYDML_INVALID_ARGUMENT,
     "node 0: ELEMENT_WISE_ABS: inputs[0]: is a value of another graph, or not a value; expected one of this "
     "graph's",
     graph([](Call& c, anydml_graph*, anydml_value x) {
       anydml_graph* other = nullptr;
       anydml_value y = 0;
       EXPECT_EQ(anydml_graph_create(&other), ANYDML_OK);
       const int code = anydml_graph_add_operator(other, "ELEMENT_WISE_ABS", &x, 1, &c.out, 1, nullptr, 0, &y);
       anydml_graph_release(other);
       return code;
     })},
    {"a graph operator on a value that was never returned", ANYDML_INVALID_ARGUMENT,
     "node 0: ELEMENT_WISE_ABS: inputs[0]: is not a value; expected one that this graph returned",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       x += 7;
       return anydml_graph_add_operator(g, "ELEMENT_WISE_ABS", &x, 1, &c.out, 1, nullptr, 0, &x);
     })},
    {"a graph operator whose sizes do not match", ANYDML_INVALID_ARGUMENT,
     "node 0: ELEMENT_WISE_ABS: InputTensor: sizes are [2, 3]; expected sizes that broadcast to [2, 4], "
     "the "
     "sizes of OutputTensor",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       c.out_sizes = {2, 4};
       return anydml_graph_add_operator(g, "ELEMENT_WISE_ABS", &x, 1, &c.out, 1, nullptr, 0, &x);
     })},
    {"a graph operator without an array for its values", ANYDML_INVALID_ARGUMENT,
     "ELEMENT_WISE_ABS: values is null; expected an array of 1 values",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       return anydml_graph_add_operator(g, "ELEMENT_WISE_ABS", &x, 1, &c.out, 1, nullptr, 0, nullptr);
     })},
    {"too many inputs for a graph operator", ANYDML_INVALID_ARGUMENT,
     "node 0: ELEMENT_WISE_ABS: the number of input tensors is 2; expected 1",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       const anydml_value both[] = {x, x};
       return anydml_graph_add_operator(g, "ELEMENT_WISE_ABS", both, 2, &c.out, 1, nullptr, 0, &x);
     })},
    {"a graph output that repeats elements", ANYDML_INVALID_ARGUMENT,
     "graph: output 0: strides [0, 1] with sizes [2, 3] put two elements at the same address; expected each "
     "element of an output to have its own address",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       const int64_t repeated[] = {0, 1};
       c.a.strides = repeated;
       EXPECT_EQ(anydml_graph_add_view(g, x, &c.a, &x), ANYDML_OK);
       return anydml_graph_add_output(g, x);
     })},
    {"a graph without outputs", ANYDML_INVALID_ARGUMENT,
     "graph: it has no output; expected one or more from anydml_graph_add_output",
     graph([](Call&, anydml_graph* g, anydml_value) {
       anydml_compiled* result = nullptr;
       return anydml_graph_compile(g, nullptr, &result);
     })},
    {"the pointer for a compiled graph is null", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_compile: compiled is null; expected a pointer to store the result",
     graph([](Call&, anydml_graph* g, anydml_value) { return anydml_graph_compile(g, nullptr, nullptr); })},
    {"too few addresses for a compiled graph", ANYDML_INVALID_ARGUMENT, "graph: the number of outputs is 0; expected 1",
     compiled_graph([](Call& c, const anydml_compiled* g) {
       const void* inputs[] = {c.a.data};
       return anydml_compiled_run(g, inputs, 1, &c.out.data, 0);
     })},
    {"a null address for a compiled graph", ANYDML_INVALID_ARGUMENT,
     "graph: input 0: data is null; expected the address of the element at index 0",
     compiled_graph([](Call& c, const anydml_compiled* g) {
       const void* inputs[] = {nullptr};
       return anydml_compiled_run(g, inputs, 1, &c.out.data, 1);
     })},
    {"a view of value 0, at an offset", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_add_view_at: value: is 0; expected a value of the graph",
     graph([](Call& c, anydml_graph* g, anydml_value x) { return anydml_graph_add_view_at(g, 0, &c.a, 1, &x); })},
    {"a view that begins before its value", ANYDML_INVALID_ARGUMENT,
     "graph: view: FLOAT32 with sizes [2, 3] and strides [3, 1] covers the bytes -4 to 20; expected the bytes 0 "
     "to "
     "24, the extent of the value",
     graph([](Call& c, anydml_graph* g, anydml_value x) { return anydml_graph_add_view_at(g, x, &c.a, -1, &x); })},
    {"a view reversed from its first element", ANYDML_INVALID_ARGUMENT,
     "graph: view: FLOAT32 with sizes [2, 3] and strides [3, -1] covers the bytes -8 to 16; expected the bytes 0 "
     "to 24, the extent of the value",
     graph([](Call& c, anydml_graph* g, anydml_value x) {
       const int64_t back[] = {3, -1};
       c.a.strides = back;
       return anydml_graph_add_view_at(g, x, &c.a, 0, &x);
     })},
    {"a view whose offset overflows", ANYDML_INVALID_ARGUMENT,
     "graph: view: FLOAT32 with sizes [2, 3] and strides [3, 1] covers more bytes than can be counted; expected "
     "the bytes 0 to 24, the extent of the value",
     graph(
         [](Call& c, anydml_graph* g, anydml_value x) { return anydml_graph_add_view_at(g, x, &c.a, INT64_MAX, &x); })},
    {"graph options with constants", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_compile_with: options.constant_count is 1; expected 0: anydml_graph_add_constant makes the "
     "constants "
     "of a graph",
     graph([](Call&, anydml_graph* g, anydml_value) {
       const uint32_t positions[] = {0};
       anydml_options options = ANYDML_OPTIONS_INIT;
       options.constants = positions;
       options.constant_count = 1;
       anydml_compiled* result = nullptr;
       return anydml_graph_compile_with(g, &options, &result);
     })},
    {"unknown flags of operators", ANYDML_INVALID_ARGUMENT,
     "anydml_graph_set_operator_flags: flags is 0x3; expected 0 or ANYDML_INTEGER_ACTIVATIONS (0x2)",
     graph([](Call&, anydml_graph* g, anydml_value) {
       return anydml_graph_set_operator_flags(g, ANYDML_ALLOW_HALF_PRECISION | ANYDML_INTEGER_ACTIVATIONS);
     })},

    // Options.
    {"options without their size", ANYDML_INVALID_ARGUMENT,
     "anydml_compile_with: options.size is 0; expected sizeof(anydml_options), which is 40",
     compile_with([](anydml_options& options) { options.size = 0; })},
    {"unknown flags", ANYDML_INVALID_ARGUMENT,
     "anydml_compile_with: options.flags is 0x6; expected 0, or ANYDML_ALLOW_HALF_PRECISION (0x1) and "
     "ANYDML_INTEGER_ACTIVATIONS (0x2), combined",
     compile_with([](anydml_options& options) { options.flags = 6; })},
    {"a constant that is not an input", ANYDML_INVALID_ARGUMENT,
     "ELEMENT_WISE_MODULUS_FLOOR: options.constants[1] is 2; expected the position of an input, less than 2",
     compile_with([](anydml_options& options) {
       static constexpr uint32_t kPositions[] = {1, 2};
       options.constants = kPositions;
       options.constant_count = 2;
     })},
    {"constants that are null", ANYDML_INVALID_ARGUMENT,
     "ELEMENT_WISE_MODULUS_FLOOR: options.constants is null; expected an array of 2 positions",
     compile_with([](anydml_options& options) { options.constant_count = 2; })},

    // Process-wide settings.
    {"an unknown log level", ANYDML_INVALID_ARGUMENT,
     "anydml_set_log: level is 5; expected ANYDML_LOG_NONE (0) to ANYDML_LOG_DISPATCH (4)",
     [](Call&) { return anydml_set_log([](void*, int, const char*) {}, nullptr, 5); }},
    {"no threads", ANYDML_INVALID_ARGUMENT, "anydml_set_threads: count is 0; expected 1 to 1024",
     [](Call&) { return anydml_set_threads(0); }},
    {"a lookup of an unknown operator", ANYDML_INVALID_ARGUMENT, "op: is 'GEM'; did you mean GEMM?",
     [](Call&) { return anydml_find_operator("GEM") == nullptr ? ANYDML_INVALID_ARGUMENT : ANYDML_OK; }},
};

}  // namespace

std::span<const Case> graph_cases() { return kCases; }

}  // namespace anydml::test
