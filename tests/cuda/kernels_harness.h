// SPDX-License-Identifier: MIT
// Code shared by the parts of kernels_test. Numbers and types identify variants here, instead of templates, so that
// each case is compiled only once for all variants.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cuda/standalone.h"
#include "ops/elementwise/cuda/prepared.h"
#include "support/distributions.h"

namespace anydml::cuda {

extern bool g_quick;  // whether to use few elements, for tools that track every access
void report(const std::string& name, u64 elements, u64 different);
void report_error(const std::string& what);  // reports a failure outside of any case

// The parts of kernels_test.
void check_entries();
void check_programs();
void check_small_tasks();
void check_modulus();
void check_products();
void check_convolutions();
void check_integer_products();
void check_integer_convolutions();
void check_reductions(u32 part = 0, u32 parts = 1);  // checks one of `parts` groups of functions
void check_moves();
void check_normalizations();

// A variant of an entry, with its scalar definition.
struct VariantInfo {
  EntryId entry;
  std::uint16_t variant;
  std::uint32_t inputs;
  DataType types[kMaxInputs + 1];                                   // the types of the inputs, then of the output
  u64 (*apply)(const Attributes& attributes, const u64* elements);  // the scalar definition, on bits

  [[nodiscard]] DataType output() const { return types[inputs]; }
};
[[nodiscard]] const std::vector<VariantInfo>& all_variants();
[[nodiscard]] const VariantInfo* find_variant_info(EntryId entry, std::span<const DataType> inputs);
[[nodiscard]] const char* entry_name(EntryId entry);
[[nodiscard]] std::string name_of(const VariantInfo& variant);

// Compares bits; all NaNs are equal.
[[nodiscard]] bool same_bits(DataType type, u64 a, u64 b);
[[nodiscard]] std::string show_bits(DataType type, u64 bits);
[[nodiscard]] u64 draw_bits(DataType type, test::Random& random);

[[nodiscard]] Attributes test_attributes();

// A program with the types of its operands: loads, then stores.
struct Program {
  std::vector<DataType> types;
  std::uint32_t loads = 0;
  std::vector<Instruction> instructions;
  std::vector<const VariantInfo*> variants;  // the variants of the instructions
  std::vector<std::uint16_t> stored;
  std::string name;
};
[[nodiscard]] Program program_of(const VariantInfo& variant);
[[nodiscard]] Program scaled_program_of(const VariantInfo& scale_bias, const VariantInfo& variant);

// A tensor; sizes and strides are in elements.
[[nodiscard]] TensorDesc tensor_of(DataType type, const std::vector<std::int64_t>& sizes,
                                   const std::vector<std::int64_t>& strides);
[[nodiscard]] ElementStep step_of(const Program& program, const std::vector<TensorDesc>& tensors);
void prepare_or_exit(PreparedElements& prepared, const ElementStep& step);

// Runs programs on the device and on the host and compares them. Memory not covered by the tensors is filled with
// random bytes, and must not change.
class LayoutCheck {
 public:
  explicit LayoutCheck(u64 seed);
  ~LayoutCheck();

  // Any sizes and layouts.
  void random_case(const Program& program);
  // Rows of a given length, with each operand contiguous or broadcast along them.
  void rows_case(const Program& program, std::int64_t height, std::int64_t width);
  // Inputs that are transposed.
  void crossed_case(const Program& program);

  u64 random() { return random_(); }
  u64 elements = 0;
  u64 different = 0;
  u64 shapes[4] = {};  // how often each KernelShape was chosen

 private:
  struct Layout {
    std::vector<std::int64_t> strides;  // in elements
    std::size_t base = 0;               // the byte offset, from the start of the arena, of the element at index 0
    std::size_t element = 0;            // bytes
  };
  Layout draw_layout(const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& order, bool input,
                     bool plain);
  void assign_base(Layout& layout, const std::vector<std::int64_t>& sizes, std::size_t& used);
  void run(const Program& program, const std::vector<std::int64_t>& sizes, std::vector<Layout> layouts);
  int instead_of(const Program& program, const std::vector<Layout>& layouts, std::size_t store);

  test::Random random_;
  std::byte* device_ = nullptr;
  std::vector<std::byte> host_;
  std::vector<std::byte> found_;
};

}  // namespace anydml::cuda
