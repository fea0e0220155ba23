// SPDX-License-Identifier: MIT
// Steps over few elements, collected until other work follows, because a launch takes longer than they do. Independent
// steps run at once; dependent steps run in waves, in one block that continues from one wave to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/cuda/family.h"

namespace anydml::cuda {

class SmallTasks {
 public:
  // Adds a task after the earlier ones. Returns false if those must be launched first, as those of another family must,
  // or if there is no memory.
  [[nodiscard]] bool add(const Family& family, SmallTask task) noexcept;
  // Launches the added tasks, if there are any.
  [[nodiscard]] cudaError_t launch(cudaStream_t stream) noexcept;

 private:
  // The wave of this batch that last touched a piece of memory. Pieces are coarse: two tasks that merely lie close
  // together then run one after the other, which is correct and slightly slower.
  struct Piece {
    std::uintptr_t number = 0;
    std::uint64_t found = 0;  // when it was first used in its batch
    std::uint64_t written = 0;
    std::uint64_t read = 0;
  };
  static constexpr std::uintptr_t kPieceBytes = 4096;
  static constexpr std::size_t kPieces = 1 << 13;  // a power of two; several for each task of a batch
  static constexpr std::size_t kMostTouched = (kSmallInputs + 1) * (kMaxSmallElements * sizeof(f64) / kPieceBytes + 1);

  Piece* find(std::uintptr_t number) noexcept;
  template <class Use>
  void for_each_piece(const SmallTask& task, Use use) noexcept;

  const Family* family_ = nullptr;  // of all of them
  std::vector<SmallTask> tasks_;
  std::unique_ptr<Piece[]> pieces_;
  std::size_t pieces_used_ = 0;  // by this batch
  std::uint64_t first_wave_ = 1;
  std::uint64_t wave_ = 1;  // numbers are never reused, so that pieces of earlier batches do not count
};

}  // namespace anydml::cuda
