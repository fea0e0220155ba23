// SPDX-License-Identifier: MIT
// Chooses the kernels for a step that orders rows. If K is small, each part of a row is reduced to its first K words,
// and the words of all parts are reduced again until one part is left. Otherwise all words of a row are sorted in the
// workspace.
#include "backend/cuda/family.h"
#include "base/integers.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "ops/sort/cuda/launch.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kMaxElements = 0xffffffff;  // kernels count with 32-bit integers
constexpr u64 kMaxWorkspace = u64{256} << 20;      // bytes, if rows can be processed in several groups
constexpr u32 kMinOfSelection = 512;               // elements per row
constexpr u32 kMinOfPart = 4096;                   // elements, if there are few rows
constexpr u32 kMaxOfPart = 1 << 22;
constexpr u32 kPartUnit = 16;  // elements, so that parts start at vector boundaries

enum class Method : u32 { select, sort, whole };

[[nodiscard]] SortKind kind_of(DataType type) {
  switch (type) {
    case DataType::INT8:
    case DataType::INT16:
    case DataType::INT32:
    case DataType::INT64:
      return SortKind::signed_integer;
    case DataType::FLOAT16:
    case DataType::FLOAT32:
    case DataType::FLOAT64:
      return SortKind::floating;
    default:
      return SortKind::unsigned_integer;
  }
}

class SortRun final : public PreparedStep {
 public:
  SortRun(const SortStep& step, const GpuProperties& gpu)
      : size_(element_size(step.type)),
        word_(size_ == 8 ? kWideWord : kNarrowWord),
        tile_(tile_words(word_)),
        input_offset_(step.input_offset),
        values_offset_(step.values_offset),
        indices_offset_(step.indices_offset) {
    launch_.rows = static_cast<u32>(step.rows);
    launch_.count = static_cast<u32>(step.axis.size);
    launch_.k = static_cast<u32>(step.k);
    launch_.kind = kind_of(step.type);
    launch_.largest = step.largest != 0;
    launch_.has_wide_indices = step.index_size == 8;
    launch_.rank = step.rank;
    launch_.axis_input = step.axis.input;
    launch_.axis_values = step.axis.values;
    launch_.axis_indices = step.axis.indices;
    add_strides(step.axis);
    row_strides_ = 0;  // strides along a row are kept separately
    for (u32 i = 0; i < step.rank; ++i) {
      const SortLoop& loop = step.rest[i];
      launch_.sizes[i] = make_divisor(static_cast<u32>(loop.size));
      launch_.row_input[i] = loop.input;
      launch_.row_values[i] = loop.values;
      launch_.row_indices[i] = loop.indices;
      add_strides(loop);
    }
    choose(gpu);
  }

  [[nodiscard]] u64 workspace_bytes() const noexcept override {
    return group_ * (first_words_ + second_words_) * word_;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    SortLaunch all = launch_;
    all.input = bases[0] + input_offset_;
    all.values = bases[1] + values_offset_;
    all.indices = bases[2] + indices_offset_;
    const auto low = [](const std::byte* address, u64 strides) {
      return reinterpret_cast<std::uintptr_t>(address) | strides;
    };
    all.input_is_aligned = low(all.input, input_strides_) % size_ == 0;
    all.values_is_aligned = low(all.values, values_strides_) % size_ == 0;
    all.indices_is_aligned = low(all.indices, indices_strides_) % (launch_.has_wide_indices ? 8 : 4) == 0;
    all.has_vectors = launch_.axis_input == static_cast<std::int64_t>(size_) && low(all.input, row_strides_) % 16 == 0;
    for (u64 row = 0; row < launch_.rows; row += group_) {
      SortLaunch some = all;
      some.first_row = static_cast<u32>(row);
      some.rows = static_cast<u32>(std::min<u64>(group_, launch_.rows - row));
      const cudaError_t error =
          method_ == Method::whole ? sort_whole(some, workspace, stream) : sort_parts(some, workspace, stream);
      if (error != cudaSuccess) {
        return error;
      }
    }
    return cudaSuccess;
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const names[] = {"selected", "sorted in parts", "sorted whole"};
    std::snprintf(text, capacity, "%s, %u parts", names[static_cast<u32>(method_)], launch_.parts);
  }

 private:
  void add_strides(const SortLoop& loop) {
    input_strides_ |= static_cast<u64>(loop.input);
    row_strides_ |= static_cast<u64>(loop.input);
    values_strides_ |= static_cast<u64>(loop.values);
    indices_strides_ |= static_cast<u64>(loop.indices);
  }

  void choose(const GpuProperties& gpu) {
    const u32 count = launch_.count;
    const u32 k = launch_.k;
    launch_.part = count;
    launch_.parts = 1;
    if (k <= kMaxSelected && k <= count / 4 && count >= kMinOfSelection) {
      method_ = Method::select;
      const u64 wanted = 8 * u64{std::max(1U, gpu.multiprocessors)};  // thread blocks
      const u32 for_rows = static_cast<u32>(std::max<u64>(1, wanted / launch_.rows));
      const u32 parts = std::max(std::min(for_rows, ceil_div(count, kMinOfPart)), ceil_div(count, kMaxOfPart));
      launch_.part = (ceil_div(count, parts) + kPartUnit - 1) / kPartUnit * kPartUnit;
    } else if (count <= tile_ || k <= tile_ / 2) {
      method_ = Method::sort;
      launch_.part = std::min(count, tile_);
      launch_.padded = std::bit_ceil(launch_.part);
    } else {
      method_ = Method::whole;
      first_words_ = std::bit_ceil(u64{count});
    }
    launch_.parts = ceil_div(count, launch_.part);
    if (method_ != Method::whole && launch_.parts > 1) {
      first_words_ = u64{launch_.parts} * k;
      second_words_ = (first_words_ + tile_ - 1) / tile_ * k;
    }
    const u64 of_row = (first_words_ + second_words_) * word_;
    group_ = of_row == 0 ? launch_.rows : std::clamp<u64>(kMaxWorkspace / of_row, 1, launch_.rows);
  }

  [[nodiscard]] const SortStarts& starts() const {
    return size_ == 1 ? kSortStarts1 : size_ == 2 ? kSortStarts2 : size_ == 4 ? kSortStarts4 : kSortStarts8;
  }

  // Words move between the two halves of the workspace until only one part of each row is left.
  [[nodiscard]] cudaError_t sort_parts(SortLaunch some, std::byte* workspace, cudaStream_t stream) const {
    std::byte* from = workspace;
    std::byte* to = workspace + group_ * first_words_ * word_;
    some.to = some.parts > 1 ? from : nullptr;
    cudaError_t error = method_ == Method::select ? starts().select(some, stream) : starts().sort(some, stream);
    if (some.parts == 1) {
      return error;
    }
    while (some.parts > 1 && error == cudaSuccess) {
      some.from = from;
      some.to = to;
      some.count = some.pitch = some.parts * some.k;
      some.part = std::min(some.count, tile_);
      some.padded = std::bit_ceil(some.part);
      some.parts = ceil_div(some.count, some.part);
      error = start_sort_words(word_, some, stream);
      std::swap(from, to);
    }
    some.from = from;
    some.pitch = some.k;
    return error == cudaSuccess ? starts().write(some, stream) : error;
  }

  [[nodiscard]] cudaError_t sort_whole(SortLaunch some, std::byte* workspace, cudaStream_t stream) const {
    some.from = some.to = workspace;
    some.pitch = static_cast<u32>(first_words_);
    cudaError_t error = starts().load(some, stream);
    if (error == cudaSuccess) {
      error = start_whole_sort(word_, {.words = workspace, .total = some.rows * first_words_, .padded = first_words_},
                               stream);
    }
    return error == cudaSuccess ? starts().write(some, stream) : error;
  }

  Method method_ = Method::select;
  std::size_t size_;  // bytes per element
  std::size_t word_;
  u32 tile_;
  SortLaunch launch_{};
  std::int64_t input_offset_;
  std::int64_t values_offset_;
  std::int64_t indices_offset_;
  u64 input_strides_ = 0;  // the OR of all strides; only the lowest bits matter
  u64 row_strides_ = 0;
  u64 values_strides_ = 0;
  u64 indices_strides_ = 0;
  u64 group_ = 1;        // rows per group
  u64 first_words_ = 0;  // per row in the workspace
  u64 second_words_ = 0;
};

}  // namespace

extern const FamilyKernels sort_family;
const FamilyKernels sort_family = {
    .prepare = [](const Step& flat, const GpuProperties& gpu, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      SortStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.rows > kMaxElements / step.axis.size || step.axis.size > std::int64_t{1} << 31) {
        *why = "the CUDA backend sorts at most 4,294,967,295 elements, and rows of at most 2,147,483,648";
        return nullptr;
      }
      return std::make_unique<SortRun>(step, gpu);
    },
};

}  // namespace anydml::cuda
