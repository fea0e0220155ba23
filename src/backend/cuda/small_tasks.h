// SPDX-License-Identifier: MIT
// Steps over few elements, gathered until something else comes: a launch takes longer than they do. Those that touch
// nothing of one another's run at once; those that do, in waves, in one block that runs on from one to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/cuda/family.h"

namespace anydml::cuda {

class SmallTasks {
 public:
  // After those before it. Returns false if these must be launched first, as those of another family must, or if there
  // is no memory.
  [[nodiscard]] bool add(const Family& family, SmallTask task) noexcept;
  // Launches what was added, if anything was.
  [[nodiscard]] cudaError_t launch(cudaStream_t stream) noexcept;

 private:
  // Who last touched a piece of memory, in waves of this batch. Pieces are coarse: two tasks that merely lie close to
  // one another then come one after the other, which is right and a little slower.
  struct Piece {
    std::uintptr_t number = 0;
    std::uint64_t found = 0;  // when it was first looked for in its batch
    std::uint64_t written = 0;
    std::uint64_t read = 0;
  };
  static constexpr std::uintptr_t kPieceBytes = 4096;
  static constexpr std::size_t kPieces = 1 << 13;  // a power of two; some for each of a batch's tasks
  static constexpr std::size_t kMostTouched = (kSmallInputs + 1) * (kMaxSmallElements * sizeof(f64) / kPieceBytes + 1);

  Piece* find(std::uintptr_t number) noexcept;
  template <class Use>
  void for_each_piece(const SmallTask& task, Use use) noexcept;

  const Family* family_ = nullptr;  // of all of them
  std::vector<SmallTask> tasks_;
  std::unique_ptr<Piece[]> pieces_;
  std::size_t pieces_used_ = 0;  // by this batch
  std::uint64_t first_wave_ = 1;
  std::uint64_t wave_ = 1;  // numbers are never used again, so that pieces of earlier batches count for nothing
};

}  // namespace anydml::cuda
