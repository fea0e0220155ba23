// SPDX-License-Identifier: MIT
#include "onnx/program/blocks.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace anydml::onnx {
namespace {

constexpr std::size_t kFewSteps = 4;      // a shorter block gains nothing
constexpr std::size_t kMaxPeriods = 4;    // lengths of blocks that are tried
constexpr std::size_t kMaxOutside = 256;  // values from before a block; comparing more would take too long

bool may_repeat(const Step& step) { return step.recipe != 0 && step.on_host.empty() && !step.is_of_weights; }

// The distances at which most steps are repeated, those first that cover the most steps.
std::vector<std::size_t> likely_periods(const std::vector<Step>& steps) {
  std::unordered_map<std::uint32_t, std::size_t> last;  // the last step with each recipe
  std::unordered_map<std::size_t, std::size_t> counts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!may_repeat(steps[i])) {
      continue;
    }
    const auto [found, is_new] = last.try_emplace(steps[i].recipe, i);
    if (const std::size_t period = i - found->second; !is_new && period >= kFewSteps) {
      ++counts[period];
    }
    found->second = i;
  }
  std::vector<std::pair<std::size_t, std::size_t>> periods;  // steps, period
  for (const auto& [period, count] : counts) {
    periods.emplace_back(period * count, period);
  }
  std::sort(periods.begin(), periods.end(), std::greater<>());
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < std::min(periods.size(), kMaxPeriods); ++i) {
    result.push_back(periods[i].second);
  }
  return result;
}

// The number of each result of some consecutive steps, counted over all of them.
std::unordered_map<ValueIndex, std::size_t> results_of(const std::vector<Step>& steps, std::size_t begin,
                                                       std::size_t count) {
  std::unordered_map<ValueIndex, std::size_t> results;
  std::size_t next = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    for (const ValueIndex one : steps[i].given) {
      if (one != kAbsent) {
        results.emplace(one, next);
      }
      ++next;
    }
  }
  return results;
}

Block block_of(const std::vector<Step>& steps, std::size_t begin, std::size_t count) {
  Block block;
  block.count = count;
  const auto results = results_of(steps, begin, count);
  std::unordered_map<ValueIndex, std::size_t> outside;
  for (std::size_t i = begin; i < begin + count; ++i) {
    auto& taken = block.taken.emplace_back();
    for (const ValueIndex one : steps[i].taken) {
      if (one == kAbsent) {
        taken.push_back({});
      } else if (const auto result = results.find(one); result != results.end()) {
        taken.push_back({RecordedBlock::From::kResult, result->second});
      } else {
        const auto [found, is_new] = outside.try_emplace(one, block.outside.size());
        if (is_new) {
          block.outside.push_back(one);
        }
        taken.push_back({RecordedBlock::From::kOutside, found->second});
      }
    }
  }
  return block;
}

}  // namespace

Blocks::Blocks(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs, std::size_t value_count)
    : numbers_(steps.size()), is_covered_(steps.size()) {
  for (const std::size_t period : likely_periods(steps)) {
    std::size_t begin = 0;
    while (begin + period < steps.size()) {
      std::size_t end = begin;
      while (end + period < steps.size() && !is_covered_[end] && !is_covered_[end + period] && may_repeat(steps[end]) &&
             steps[end].recipe == steps[end + period].recipe && may_repeat(steps[end + period])) {
        ++end;
      }
      if (end - begin >= period) {
        add_run(steps, begin, period, (end - begin) / period + 1);
      }
      begin = std::max(end, begin + 1);
    }
  }
  find_used(steps, outputs, value_count);
}

// Adds consecutive blocks of steps with the same recipes. Blocks between which values pass in another way have another
// kind.
void Blocks::add_run(const std::vector<Step>& steps, std::size_t begin, std::size_t period, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Block block = block_of(steps, begin + i * period, period);
    const bool is_like_last = i != 0 && !blocks_.empty() && block.taken == blocks_.back().taken;
    block.kind = is_like_last ? blocks_.back().kind : ++kinds_;
    if (block.outside.size() > kMaxOutside) {
      return;
    }
    blocks_.push_back(std::move(block));
    numbers_[begin + i * period] = static_cast<std::uint32_t>(blocks_.size());
    std::fill_n(is_covered_.begin() + static_cast<std::ptrdiff_t>(begin + i * period), period, true);
  }
}

void Blocks::find_used(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs,
                       std::size_t value_count) {
  if (blocks_.empty()) {
    return;
  }
  std::vector<std::size_t> last(value_count);  // the step after the last one that uses the value
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const ValueIndex one : steps[i].taken) {
      if (one != kAbsent) {
        last[static_cast<std::size_t>(one)] = i + 1;
      }
    }
  }
  for (const ValueIndex one : outputs) {
    if (one != kAbsent) {
      last[static_cast<std::size_t>(one)] = steps.size() + 1;
    }
  }
  for (std::size_t begin = 0; begin < steps.size(); ++begin) {
    if (numbers_[begin] == 0) {
      continue;
    }
    Block& block = blocks_[numbers_[begin] - 1];
    std::size_t next = 0;
    for (std::size_t i = begin; i < begin + block.count; ++i) {
      for (const ValueIndex one : steps[i].given) {
        if (one != kAbsent && last[static_cast<std::size_t>(one)] > begin + block.count) {
          block.used.push_back({one, next});
        }
        ++next;
      }
    }
  }
}

}  // namespace anydml::onnx
