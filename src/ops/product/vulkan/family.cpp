// SPDX-License-Identifier: MIT
// Prepares products of FLOAT32 matrices. GEMM of FLOAT16 consists of casts and this product, as on every device without
// kernels for packed weights.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/builder.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/primitives.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"
#include "shaders/product.h"

namespace anydml::vulkan {
namespace {

using namespace product_operands;

constexpr std::int64_t kTile = 64;  // product.comp
constexpr std::size_t kOperands = 4;

// The parameters of product.comp.
struct ProductParameters {
  MatrixStrides strides[kOperands];
  std::uint64_t batch_sizes[kBatchRank];
  std::uint32_t batch_rank;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t padding;
  std::uint64_t depth;
  std::uint32_t tiles_across;
  std::uint32_t tiles_of_matrix;
  float alpha;
  float beta;
  std::uint32_t has_c;
};
static_assert(kBatchRank == 6 && sizeof(MatrixStrides) == 64 && offsetof(ProductParameters, depth) == 320);

class ProductRun final : public PreparedStep {
 public:
  ProductRun(const ProductStep& step, bool has_c, Kernels& kernels) : step_(step), has_c_(has_c) {
    std::copy_n(&step.a, kOperands, parameters_.strides);
    std::copy_n(step.batch_sizes, kBatchRank, parameters_.batch_sizes);
    parameters_.batch_rank = step.batch_rank;
    parameters_.rows = static_cast<std::uint32_t>(step.rows);
    parameters_.columns = static_cast<std::uint32_t>(step.columns);
    parameters_.depth = static_cast<std::uint64_t>(step.depth);
    parameters_.tiles_across = static_cast<std::uint32_t>(ceil_div(step.columns, kTile));
    parameters_.tiles_of_matrix =
        static_cast<std::uint32_t>(ceil_div(step.columns, kTile) * ceil_div(step.rows, kTile));
    parameters_.alpha = step.scale.alpha;
    parameters_.beta = step.scale.beta;
    parameters_.has_c = has_c ? 1 : 0;
    for (const std::uint32_t is_aligned : {0U, 1U}) {
      KernelCode code;
      code.key = "product";
      code.make = [gpu = kernels.gpu()] {
        spirv::Builder builder;
        builder.adopt(k_product, spirv::function_library(),
                      [&gpu](std::string_view import) { return spirv::resolve_primitive(import, gpu.primitives); });
        return builder.finish_adopted(spirv::float_modes(builder, gpu));
      };
      kernels_[is_aligned] = kernels.find(std::move(code), std::span(&is_aligned, 1));
    }
  }

  // The number of groups; more than 32 bits can hold are refused.
  [[nodiscard]] static std::uint64_t groups_of(const ProductStep& step) {
    return static_cast<std::uint64_t>(ceil_div(step.rows, kTile) * ceil_div(step.columns, kTile)) *
           static_cast<std::uint64_t>(step.batches);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand == kOutput;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernels_[0], kernels_[1]}; }

  void record(Recorder& recorder) const override {
    bool is_aligned = true;
    for (std::size_t operand = 0; operand < kOperands; ++operand) {
      if (operand == kC && !has_c_) {
        continue;
      }
      const MatrixStrides& strides = parameters_.strides[operand];
      auto low = static_cast<std::uint64_t>(strides.row | strides.column) | recorder.low_bits(operand);
      for (std::uint32_t i = 0; i < step_.batch_rank; ++i) {
        low |= static_cast<std::uint64_t>(strides.batch[i]);
      }
      is_aligned = is_aligned && low % sizeof(float) == 0;
    }
    const std::uint64_t operations = static_cast<std::uint64_t>(kTile * kTile) * (parameters_.depth + 1);
    if (const std::uint64_t groups = groups_of(step_); groups != 0) {
      recorder.dispatch(*kernels_[is_aligned ? 1 : 0], static_cast<std::uint32_t>(groups), {}, operations);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "tiles of %lld x %lld", static_cast<long long>(kTile), static_cast<long long>(kTile));
  }

 private:
  ProductStep step_;
  bool has_c_;
  ProductParameters parameters_ = {};
  KernelRef kernels_[2];  // for any address, and for aligned ones
};

}  // namespace

extern const FamilyKernels product_family;
const FamilyKernels product_family = {
    .lacks = [](const GpuProperties&, const AskedOperator& op) -> const char* {
      return op.name == "PRODUCT" ? nullptr : "the Vulkan backend has only products of FLOAT32 and FLOAT16 matrices";
    },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      ProductStep step;
      std::memcpy(&step.kind, flat.parameters.data(), sizeof(step.kind));
      if (step.kind != ProductKind::product) {
        *why = "the Vulkan backend has only products of matrices";
        return nullptr;
      }
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      constexpr std::int64_t kMost = UINT32_MAX - kTile;
      if (step.panel != 0 || step.strip != 0 || step.halves != 0) {
        *why = "the Vulkan backend has no products of packed or FLOAT16 matrices";
        return nullptr;
      }
      if (step.rows > kMost || step.columns > kMost || ProductRun::groups_of(step) > UINT32_MAX) {
        *why = "the Vulkan backend computes products of up to 4,294,967,295 tiles of 64 x 64 outputs";
        return nullptr;
      }
      return std::make_unique<ProductRun>(step, flat.operands[kC].slot != kAbsentSlot, kernels);
    },
};

}  // namespace anydml::vulkan
