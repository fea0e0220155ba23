// SPDX-License-Identifier: MIT
// The tool's commands. Each returns the exit status: 0 for success, 1 if the machine fails, 2 if the request is wrong,
// 3 if a value differs from the expected value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executor.h"
#include "operator_model.h"
#include "requests.h"

namespace anydml::dmlrun {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrong = 2;
inline constexpr int kDifferent = 3;

struct ModelArguments {
  std::vector<std::string> models;  // one model to run; "-" is the standard input
  std::string text;                 // the model itself if it is not a file; its name is in `models`
  std::string input_path;
  std::string output_path;
  bool allow_outside = false;
  std::uint64_t max_memory = 0;  // 0: half of the machine's memory
  std::string feature_level;     // empty: the newest level
  bool json = false;
};

// For ONNX models alone.
struct OnnxArguments {
  std::vector<std::string> sizes = {};  // NAME=N, for symbolic dimensions
  std::string trace = {};               // the file to write; empty for none
  bool explain = false;
  bool literal = false;          // compute quantized models with dequantized floats
  std::string activations = {};  // of products with weights in four bits: "model", "float", "integer", or empty

  [[nodiscard]] bool any() const {
    return !sizes.empty() || !trace.empty() || explain || literal || !activations.empty();
  }
};

struct RunArguments {
  ModelArguments model;
  OnnxArguments onnx;
  Requests requests;
  ExecutionOptions execution;
  int verbosity = 0;
  std::string adapter;  // part of its name
  std::string queue = "direct";
  bool show_adapters = false;
  bool show_dependencies = false;
  bool debug = false;
  bool custom_heaps = true;
};

struct OperatorArguments {
  OperatorRequest op;
  RunArguments run;  // without a model
};

struct GraphArguments {
  ModelArguments model;
  bool dot = false;
  bool as_given = false;
};

struct OperatorsArguments {
  std::string name;  // the whole name or a part of it
  bool built = false;
  bool missing = false;
  bool json = false;
};

struct ModulusArguments {
  bool floor = false;
  bool truncate = false;
  std::string type;
  std::string a;
  std::string b;
  std::string output;
};

int run_model(const RunArguments& arguments);
int run_operator(const OperatorArguments& arguments);
int show_skeleton(const OperatorRequest& request);
int check_models(const ModelArguments& arguments);
int show_graphs(const GraphArguments& arguments);
int show_adapters(bool json);
int show_operators(const OperatorsArguments& arguments);
int calculate_modulus(const ModulusArguments& arguments);
// strict: with ANYDML_DEBUG=abort, so that the first error ends the program.
int execute_program(const std::vector<std::string>& command, bool strict);

// Prints "dmlrun: reason" on standard error.
int report_error(const std::string& reason, int status);

}  // namespace anydml::dmlrun
