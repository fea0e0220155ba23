// SPDX-License-Identifier: MIT
// Fuzzes DirectML's descriptions and CompileGraph. Operators are created from descriptions with some members changed,
// and connected to graphs by arbitrary numbers. Each call succeeds, or fails with E_INVALIDARG or E_OUTOFMEMORY and a
// message.
#include "directml/graph_program.h"
#include "facts/facts.h"
#include "fuzz/input.h"
#include "support/written_desc.h"

namespace anydml::fuzz {
namespace {

using test::ComPtr;

void require_answer(HRESULT result, const std::string& what) {
  require(SUCCEEDED(result) || result == E_INVALIDARG || result == E_OUTOFMEMORY || result == DXGI_ERROR_UNSUPPORTED ||
              result == E_NOTIMPL,
          what + " returned another status");
  require(SUCCEEDED(result) || anydml_last_error()[0] != '\0', what + " failed without a message");
}

// Changes members of the description. Arrays keep their lengths, because a length that is too large is a pointer to
// memory that does not exist.
void change(schema::Described& described, Input& input) {
  schema::Argument& argument = described.arguments[input.below(described.arguments.size())];
  const bool is_count =
      facts::is_count(*described.op, static_cast<std::size_t>(&argument - described.arguments.data()));
  if (!argument.numbers.empty() && !is_count) {
    argument.numbers[input.below(argument.numbers.size())] = Scalar(static_cast<i64>(input.extreme()));
  }
  if (argument.tensors.empty()) {
    return;
  }
  schema::GivenTensor& tensor = argument.tensors[input.below(argument.tensors.size())];
  const auto axis = input.below(kMaxRank);
  switch (input.below(7)) {
    case 0:
      tensor.sizes[axis] = static_cast<i64>(input.extreme() & UINT32_MAX);
      break;
    case 1:
      tensor.strides[axis] = static_cast<i64>(input.extreme() & UINT32_MAX);
      tensor.has_strides = true;
      break;
    case 2:
      tensor.type = input.byte();
      break;
    case 3:
      tensor.rank = input.byte() % (kMaxRank + 1);
      break;
    case 4:
      tensor.total_bytes = input.extreme();
      break;
    case 5:
      tensor.alignment = static_cast<std::uint32_t>(input.extreme());
      break;
    default:
      tensor.flags = input.byte();
  }
}

void set_bytes(schema::Described& described) {
  for (schema::Argument& argument : described.arguments) {
    for (schema::GivenTensor& tensor : argument.tensors) {
      std::uint64_t count = 1;
      for (std::uint32_t i = 0; i < tensor.rank; ++i) {
        count *= static_cast<std::uint64_t>(tensor.sizes[i]);
      }
      tensor.total_bytes = (count * std::max<std::size_t>(1, anydml_type_size(tensor.type)) + 3) & ~std::uint64_t{3};
    }
  }
}

void run(Input input) {
  static const test::Dml dml;
  static const ComPtr<IDMLDevice1> device = [] {
    ComPtr<IDMLDevice1> found;
    require(SUCCEEDED(dml.device.As(&found)), "IDMLDevice1");
    return found;
  }();
  test::GraphBuilder graph;
  std::vector<ComPtr<IDMLOperator>> operators;
  const auto all = facts::operators();
  const auto count = 1 + input.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const facts::Operator& op = all[input.below(all.size())];
    auto described = input.operators(48).make(op, facts::kNewestLevel, 8);
    if (!described) {
      note(kNothing);
      continue;
    }
    set_bytes(*described);
    for (std::uint64_t changes = input.below(4); changes > 1; --changes) {
      change(*described, input);
    }
    const test::WrittenDesc desc(*described);
    ComPtr<IDMLOperator> created;
    const HRESULT result = device->CreateOperator(&desc.get(), IID_PPV_ARGS(&created));
    require_answer(result, std::string("CreateOperator of ") + std::string(op.name));
    note(FAILED(result) ? kRejected : kRan);
    if (FAILED(result)) {
      continue;
    }
    ComPtr<IDMLCompiledOperator> compiled;
    require_answer(device->CompileOperator(created.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
                   std::string("CompileOperator of ") + std::string(op.name));
    static_cast<void>(graph.add(created.Get()));
    operators.push_back(created);
  }
  for (auto edges = input.below(8); edges > 0 && !operators.empty(); --edges) {
    const auto small = [&input] { return static_cast<UINT>(input.one_in(16) ? input.extreme() : input.below(4)); };
    switch (input.below(3)) {
      case 0:
        graph.input(static_cast<UINT>(input.below(4)), small(), small());
        break;
      case 1:
        graph.connect(small(), small(), small(), small());
        break;
      default:
        graph.output(small(), static_cast<UINT>(input.below(4)), small());
    }
  }
  DML_GRAPH_DESC desc = graph.desc();
  if (input.one_in(8)) {
    desc.InputCount = static_cast<UINT>(input.extreme());
  }
  if (input.one_in(8)) {
    desc.OutputCount = static_cast<UINT>(input.extreme());
  }
  ComPtr<IDMLCompiledOperator> compiled;
  require_answer(device->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), "CompileGraph");
}

}  // namespace
}  // namespace anydml::fuzz

std::string fuzz_summary() { return anydml::fuzz::summary(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  anydml::fuzz::run(anydml::fuzz::Input(data, size));
  return 0;
}
