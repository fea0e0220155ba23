// SPDX-License-Identifier: MIT
// Collects steps over few elements until other work follows, because a launch takes longer than the steps themselves.
// Independent steps run at the same time. Dependent steps run in waves, one after another in one launch. Dependencies
// are determined from the memory that steps touch, in the same way for every device; only the launch differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "base/element.h"

namespace anydml {

inline constexpr std::uint32_t kSmallInputs = 3;

// A step over few elements that runs together with other steps of its family in one launch. It reads and writes
// operands of one type. Each operand is contiguous or repeated, and its address is a multiple of the element size. The
// addresses are the device's; the host may not be able to use them.
struct SmallTask {
  std::uint16_t code;            // selects one of the family's operations
  std::uint8_t type;             // DataType
  std::uint8_t broadcast : 4;    // bit i: input i is a single element
  std::uint8_t begins_wave : 1;  // the task must see the writes of earlier tasks, or it overwrites their inputs
  std::uint32_t count;
  std::uint64_t operands[kSmallInputs + 1];  // inputs first, with 0 for absent ones; then the output
};
static_assert(sizeof(SmallTask) == 40);  // many tasks are passed as one kernel parameter

// The limits for one launch on a device.
struct SmallTaskLimits {
  std::uint32_t tasks;            // per launch
  std::uint32_t elements;         // per task
  std::uint64_t narrow_elements;  // of a wave that one group of threads finishes in about the time of a launch
};

// The tasks added to one queue since its last launch. Only the address of a Family is used.
template <class Family, SmallTaskLimits kLimits>
class SmallTaskBatch {
 public:
  // Adds a task after the earlier tasks. Returns false if the earlier tasks must be launched first, for example because
  // they belong to a different family, or if there is no memory.
  [[nodiscard]] bool add(const Family& family, SmallTask task) noexcept;

  // Launches and removes all tasks. Calls start(family, tasks, in_waves) for each launch, in order, until a call
  // returns false. If in_waves is true, tasks that begin a wave must see the results of earlier tasks; otherwise all
  // tasks may run at the same time.
  template <class Start>
  void launch(const Start& start) noexcept {
    if (!tasks_.empty()) {
      launch_all(start);
    }
  }

 private:
  // The waves of this batch that last touched a piece of memory. Pieces are coarse: two tasks whose memory is merely
  // close together run one after the other, which is still correct but slightly slower.
  struct Piece {
    std::uint64_t number = 0;
    std::uint64_t found = 0;  // the wave that first used the piece in its batch
    std::uint64_t written = 0;
    std::uint64_t read = 0;
  };
  static constexpr std::uint64_t kPieceBytes = 4096;
  static constexpr std::size_t kPieces = 1 << 13;  // a power of two; several pieces for each task in a batch
  static constexpr std::size_t kMaxTouched = (kSmallInputs + 1) * (kLimits.elements * sizeof(f64) / kPieceBytes + 1);
  static_assert(kPieces / 2 + kMaxTouched < kPieces);  // a lookup always finds its piece or a free piece

  Piece* find(std::uint64_t number) noexcept;
  template <class Use>
  static void for_each_piece(const SmallTask& task, const Use& use) noexcept;
  template <class Start>
  void launch_all(const Start& start) noexcept;

  const Family* family_ = nullptr;  // the family of all tasks
  std::vector<SmallTask> tasks_;
  std::unique_ptr<Piece[]> pieces_;
  std::size_t pieces_used_ = 0;  // pieces used by this batch
  std::uint64_t first_wave_ = 1;
  std::uint64_t wave_ = 1;  // numbers are never reused, so pieces from earlier batches are ignored
};

// A batch uses at most half of the pieces plus the pieces of one task, so a piece is always free.
template <class Family, SmallTaskLimits kLimits>
auto SmallTaskBatch<Family, kLimits>::find(std::uint64_t number) noexcept -> Piece* {
  std::size_t index = static_cast<std::size_t>(number * 0x9e3779b97f4a7c15U >> 40) % kPieces;
  for (;; index = (index + 1) % kPieces) {
    Piece& piece = pieces_[index];
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

// Calls use(number, is_written) for each piece. Written pieces come last.
template <class Family, SmallTaskLimits kLimits>
template <class Use>
void SmallTaskBatch<Family, kLimits>::for_each_piece(const SmallTask& task, const Use& use) noexcept {
  const std::uint64_t element = element_size(static_cast<DataType>(task.type));
  for (std::uint32_t i = 0; i <= kSmallInputs; ++i) {
    const std::uint64_t first = task.operands[i];
    if (first == 0) {
      continue;
    }
    const bool stays = i < kSmallInputs && (task.broadcast >> i & 1) != 0;
    const std::uint64_t last = first + (stays ? 1 : task.count) * element - 1;
    for (std::uint64_t number = first / kPieceBytes; number <= last / kPieceBytes; ++number) {
      use(number, i == kSmallInputs);
    }
  }
}

template <class Family, SmallTaskLimits kLimits>
bool SmallTaskBatch<Family, kLimits>::add(const Family& family, SmallTask task) noexcept {
  if (pieces_ == nullptr) {
    pieces_.reset(new (std::nothrow) Piece[kPieces]);
    try {
      tasks_.reserve(kLimits.tasks);
    } catch (...) {
      pieces_.reset();
    }
  }
  if (pieces_ == nullptr || tasks_.size() == kLimits.tasks || pieces_used_ > kPieces / 2 ||
      (!tasks_.empty() && family_ != &family)) {
    return false;
  }
  family_ = &family;
  Piece* touched[kMaxTouched];
  std::size_t count = 0;
  std::size_t read = 0;  // the number of pieces that are only read, which come first
  bool conflicts = false;
  for_each_piece(task, [&](std::uint64_t number, bool written) {
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

// Each wide wave has its own launch, and consecutive narrow waves share a launch.
template <class Family, SmallTaskLimits kLimits>
template <class Start>
void SmallTaskBatch<Family, kLimits>::launch_all(const Start& start) noexcept {
  const std::span<const SmallTask> all = tasks_;
  bool good = true;
  std::size_t narrow_begin = 0;
  const auto launch_narrow = [&](std::size_t end) {
    const std::size_t count = end - narrow_begin;
    good = good && (count == 0 || start(*family_, all.subspan(narrow_begin, count), count > 1));
  };
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin + 1;
    std::uint64_t elements = all[begin].count;
    while (end < all.size() && all[end].begins_wave == 0) {
      elements += all[end++].count;
    }
    if (elements > kLimits.narrow_elements) {
      launch_narrow(begin);
      good = good && start(*family_, all.subspan(begin, end - begin), false);
      narrow_begin = end;
    }
    begin = end;
  }
  launch_narrow(all.size());
  tasks_.clear();
  pieces_used_ = 0;
  first_wave_ = ++wave_;
}

}  // namespace anydml
