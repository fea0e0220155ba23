// SPDX-License-Identifier: MIT
// FLOAT16 products on tensor cores, using cuBLASLt. The library uses column-major matrices and treats a row-major
// matrix as its transpose. The step therefore requests the transposed output, computed as the product of the transposed
// B and the transposed A.
#include "ops/product/half.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/family.h"
#include "backend/cuda/on_device.h"
#include "ops/product/cuda/run.h"
#include "ops/product/operands.h"

namespace anydml::cuda {
namespace {

using namespace product_operands;
constexpr std::uint64_t kMaxWorkspace = std::uint64_t{32} << 20;  // the size that the cuBLASLt documentation recommends
constexpr std::uintptr_t kWorkspaceAlignment = 256;
constexpr std::uint32_t kAligned = 16;  // bytes; a larger alignment does not help

using Handle = std::unique_ptr<void, int (*)(void*)>;

// Creates the library's descriptors and records whether any creation failed.
class Maker {
 public:
  Maker(const CublasLt& library, const ProductStep& step) : library_(library), step_(step) {}

  [[nodiscard]] bool is_good() const { return good_; }

  Handle matmul() {
    void* handle = nullptr;
    check(library_.matmul_create(&handle, kBlasCompute32F, kBlasReal32F));
    return {handle, library_.matmul_destroy};
  }
  Handle preference(std::uint32_t alignment) {
    void* handle = nullptr;
    check(library_.preference_create(&handle));
    const auto set = [&](int attribute, const auto& value) {
      if (good_) {
        check(library_.preference_set(handle, attribute, &value, sizeof(value)));
      }
    };
    set(kBlasMaxWorkspace, kMaxWorkspace);
    set(kBlasReductions, kBlasInFloat);  // partial sums rounded to FLOAT16 would violate the error bound
    const auto of_output = static_cast<std::uint32_t>(products::output_bytes(step_));
    for (int i = 0; i < 4; ++i) {
      set(kBlasAlignments + i, i < 2 ? alignment : std::max(alignment, of_output));
    }
    return {handle, library_.preference_destroy};
  }
  // The layout of the transposed matrix. trans: the attribute that says whether to transpose the matrix back, or 0 if
  // it must not be transposed.
  Handle layout(const MatrixStrides& strides, std::int64_t rows, std::int64_t columns, std::int64_t element_bytes,
                void* matmul, int trans) {
    const auto lines = products::lines_of(strides, rows, columns, element_bytes);
    if (!lines.has_value() || !good_) {
      good_ = false;
      return {nullptr, library_.layout_destroy};
    }
    void* handle = nullptr;
    const int type = element_bytes == sizeof(f16) ? kBlasReal16F : kBlasReal32F;
    const auto length = static_cast<std::uint64_t>(lines->are_rows ? columns : rows);
    const auto count = static_cast<std::uint64_t>(lines->are_rows ? rows : columns);
    check(library_.layout_create(&handle, type, length, count, lines->pitch));
    Handle layout(handle, library_.layout_destroy);
    if (good_ && step_.batch_rank != 0) {
      const auto batches = static_cast<std::int32_t>(step_.batches);
      const std::int64_t stride = strides.batch[0] / element_bytes;
      check(library_.layout_set(handle, kBlasBatchCount, &batches, sizeof(batches)));
      check(library_.layout_set(handle, kBlasBatchStride, &stride, sizeof(stride)));
    }
    if (good_ && trans != 0) {
      const std::int32_t form = lines->are_rows ? kBlasPlain : kBlasTransposed;
      check(library_.matmul_set(matmul, trans, &form, sizeof(form)));
    }
    return layout;
  }

 private:
  void check(int status) { good_ = good_ && status == kBlasSuccess; }

  const CublasLt& library_;
  const ProductStep& step_;
  bool good_ = true;
};

class HalfProductRun final : public PreparedStep {
 public:
  HalfProductRun(const ProductStep& step, bool has_c, const CublasLtDevice& device)
      : HalfProductRun(step, has_c, device, Maker(*device.library, step)) {}

  // Returns null if the library can run this product, and otherwise the reason why it cannot.
  [[nodiscard]] const char* why_not() const {
    return is_created_ && aligned_.state == kBlasSuccess ? nullptr
                                                         : "cuBLASLt has no algorithm for a product of FLOAT16";
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    const std::uint64_t maximum = std::max(aligned_.workspace_bytes, unaligned_.workspace_bytes);
    return maximum == 0 ? 0 : maximum + kWorkspaceAlignment;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    const auto bits = [&](std::size_t operand) { return reinterpret_cast<std::uintptr_t>(bases[operand]); };
    const std::uintptr_t factors = bits(kA) | bits(kB);
    const std::uintptr_t results = bits(kOutput) | (has_c_ ? bits(kC) : 0);
    const bool is_aligned = (factors | results) % kAligned == 0;
    const bool is_odd = factors % sizeof(f16) != 0 || results % element_bytes_ != 0;
    if (is_odd || (!is_aligned && unaligned_.state != kBlasSuccess)) {
      return launch_odd(bases, stream);
    }
    const BlasChoice& choice = is_aligned ? aligned_ : unaligned_;
    workspace += -reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment;
    // Without C, the output is passed to the library instead. The library does not read it if beta is 0.
    const f32 beta = has_c_ ? step_.scale.beta : 0;
    return error_of_blas(device_.library->multiply(device_.handle, matmul_.get(), &step_.scale.alpha, bases[kB],
                                                   b_.get(), bases[kA], a_.get(), &beta, bases[has_c_ ? kC : kOutput],
                                                   has_c_ ? c_.get() : output_.get(), bases[kOutput], output_.get(),
                                                   &choice.algorithm, workspace, choice.workspace_bytes, stream));
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "FLOAT16 by cuBLASLt %zu, not the defined bits", device_.library->version());
  }

 private:
  HalfProductRun(const ProductStep& step, bool has_c, const CublasLtDevice& device, Maker make)
      : step_(step),
        has_c_(has_c),
        device_(device),
        element_bytes_(static_cast<std::uint64_t>(products::output_bytes(step))),
        matmul_(make.matmul()),
        a_(make.layout(step.a, step.rows, step.depth, sizeof(f16), matmul_.get(), kBlasTransB)),
        b_(make.layout(step.b, step.depth, step.columns, sizeof(f16), matmul_.get(), kBlasTransA)),
        c_(has_c ? make.layout(step.c, step.rows, step.columns, products::output_bytes(step), nullptr, 0)
                 : Handle(nullptr, device.library->layout_destroy)),
        output_(make.layout(step.output, step.rows, step.columns, products::output_bytes(step), nullptr, 0)) {
    choose(make, kAligned, aligned_);
    choose(make, sizeof(f16), unaligned_);
    is_created_ = make.is_good();
  }

  void choose(Maker& make, std::uint32_t alignment, BlasChoice& choice) {
    const Handle preference = make.preference(alignment);
    BlasChoice best{};
    int found = 0;
    const bool good =
        make.is_good() &&
        device_.library->choose(device_.handle, matmul_.get(), b_.get(), a_.get(), has_c_ ? c_.get() : output_.get(),
                                output_.get(), preference.get(), 1, &best, &found) == kBlasSuccess &&
        found == 1 && best.state == kBlasSuccess;
    if (good) {
      choice = best;
    }
  }

  [[nodiscard]] cudaError_t launch_odd(std::byte* const* bases, cudaStream_t stream) const noexcept {
    const auto matrix = [&](const MatrixStrides& strides, const std::byte* at) -> HalfMatrixLaunch {
      return {.at = at,
              .row_stride = strides.row,
              .column_stride = strides.column,
              .batch_stride = step_.batch_rank != 0 ? strides.batch[0] : 0};
    };
    return start_odd_half_product({.a = matrix(step_.a, bases[kA]),
                                   .b = matrix(step_.b, bases[kB]),
                                   .c = matrix(step_.c, has_c_ ? bases[kC] : nullptr),
                                   .output = matrix(step_.output, bases[kOutput]),
                                   .rows = step_.rows,
                                   .columns = step_.columns,
                                   .depth = step_.depth,
                                   .outputs = step_.rows * step_.columns * step_.batches,
                                   .scale = step_.scale,
                                   .half_output = (step_.halves & kHalfOutput) != 0},
                                  stream);
  }

  ProductStep step_;
  bool has_c_;
  bool is_created_ = false;
  const CublasLtDevice& device_;
  std::uint64_t element_bytes_;  // element size of C and the output
  Handle matmul_;
  Handle a_;
  Handle b_;
  Handle c_;
  Handle output_;
  // The first choice is for addresses that are multiples of 16 bytes, and the second is for addresses that are
  // multiples only of the element size.
  BlasChoice aligned_{.algorithm = {}, .workspace_bytes = 0, .state = -1, .waves = 0, .reserved = {}};
  BlasChoice unaligned_ = aligned_;
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_half_product(const Step& flat, const GpuProperties& gpu, const char** why) {
  ProductStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const bool has_c = flat.operands[kC].slot != kAbsentSlot;
  if (!products::fits_half_product(step, has_c)) {
    *why = "cuBLASLt does not support the layout of a FLOAT16 product";
    return nullptr;
  }
  const OnDevice on_device(gpu.device);
  if (on_device.error() != cudaSuccess) {
    *why = "the device of a FLOAT16 product cannot be used";
    return nullptr;
  }
  const CublasLtDevice* const device = find_cublaslt(gpu, why);
  if (device == nullptr) {
    return nullptr;
  }
  auto run = std::make_unique<HalfProductRun>(step, has_c, *device);
  *why = run->why_not();
  if (*why != nullptr) {
    return nullptr;
  }
  return run;
}

}  // namespace anydml::cuda
