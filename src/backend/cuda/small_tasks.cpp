// SPDX-License-Identifier: MIT
#include "backend/cuda/small_tasks.h"

#include <new>

#include "base/element.h"

namespace anydml::cuda {
namespace {

// Of a wave that one block does in about the time of a launch.
constexpr std::uint64_t kNarrowElements = 8192;

constexpr std::uint32_t kOutput = kSmallInputs;

}  // namespace

// Of a batch no more pieces are used than half of them, so there is always a free one.
SmallTasks::Piece* SmallTasks::find(std::uintptr_t number) noexcept {
  std::size_t place = static_cast<std::size_t>(number * 0x9e3779b97f4a7c15U >> 40) % kPieces;
  for (;; place = (place + 1) % kPieces) {
    Piece& piece = pieces_[place];
    if (piece.found < first_wave_) {  // from an earlier batch, or unused
      piece = {.number = number, .found = wave_, .written = 0, .read = 0};
      ++pieces_used_;
      return &piece;
    }
    if (piece.number == number) {
      return &piece;
    }
  }
}

// use(number, whether it is written)
template <class Use>
void SmallTasks::for_each_piece(const SmallTask& task, Use use) noexcept {
  const std::size_t element = element_size(static_cast<DataType>(task.type));
  for (std::uint32_t i = 0; i <= kOutput; ++i) {
    if (task.operands[i] == nullptr) {
      continue;
    }
    const bool stays = i < kOutput && (task.broadcast >> i & 1) != 0;
    const auto first = reinterpret_cast<std::uintptr_t>(task.operands[i]);
    const std::uintptr_t last = first + (stays ? 1 : task.count) * element - 1;
    for (std::uintptr_t number = first / kPieceBytes; number <= last / kPieceBytes; ++number) {
      use(number, i == kOutput);
    }
  }
}

bool SmallTasks::add(const Family& family, SmallTask task) noexcept {
  if (pieces_ == nullptr) {
    pieces_.reset(new (std::nothrow) Piece[kPieces]);
    try {
      tasks_.reserve(kMaxSmallTasks);
    } catch (...) {
      pieces_.reset();
    }
  }
  if (pieces_ == nullptr || tasks_.size() == kMaxSmallTasks || pieces_used_ > kPieces / 2 ||
      (!tasks_.empty() && family_ != &family)) {
    return false;
  }
  family_ = &family;
  Piece* touched[kMostTouched];
  std::size_t count = 0;
  std::size_t read = 0;  // the first of them
  bool conflicts = false;
  for_each_piece(task, [&](std::uintptr_t number, bool written) {
    Piece* const piece = find(number);
    conflicts = conflicts || piece->written == wave_ || (written && piece->read == wave_);
    touched[count++] = piece;
    read += written ? 0 : 1;
  });
  wave_ += conflicts ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    (i < read ? touched[i]->read : touched[i]->written) = wave_;
  }
  task.begins_wave = conflicts ? 1 : 0;
  tasks_.push_back(task);
  return true;
}

cudaError_t SmallTasks::launch(cudaStream_t stream) noexcept {
  const std::size_t count = tasks_.size();
  if (count == 0) {
    return cudaSuccess;
  }
  // Wide waves each get a launch of their own, and narrow ones that follow one another share one.
  cudaError_t error = cudaSuccess;
  std::size_t narrow_begin = 0;
  const auto launch_narrow = [&](std::size_t end) {
    const auto tasks = static_cast<std::uint32_t>(end - narrow_begin);
    if (tasks != 0 && error == cudaSuccess) {
      error = tasks == 1 ? family_->launch_at_once(&tasks_[narrow_begin], 1, stream)
                         : family_->launch_in_waves(&tasks_[narrow_begin], tasks, stream);
    }
  };
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin + 1;
    std::uint64_t elements = tasks_[begin].count;
    while (end < count && tasks_[end].begins_wave == 0) {
      elements += tasks_[end++].count;
    }
    if (elements > kNarrowElements) {
      launch_narrow(begin);
      if (error == cudaSuccess) {
        error = family_->launch_at_once(&tasks_[begin], static_cast<std::uint32_t>(end - begin), stream);
      }
      narrow_begin = end;
    }
    begin = end;
  }
  launch_narrow(count);
  tasks_.clear();
  pieces_used_ = 0;
  first_wave_ = ++wave_;
  return error;
}

}  // namespace anydml::cuda
