// SPDX-License-Identifier: MIT
#include "onnx/program/lives.h"

#include <algorithm>
#include <unordered_set>

namespace anydml::onnx {

Lives::Lives(const std::vector<Step>& steps, const std::vector<ValueIndex>& outputs,
             const std::vector<bool>& is_constant)
    : steps_(steps),
      is_constant_(is_constant),
      last_(is_constant.size(), -1),
      ends_(steps.size() + 1),
      next_on_host_(steps.size()) {
  std::vector<bool> computed(is_constant.size());
  std::vector<bool> is_wanted(is_constant.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const ValueIndex value : steps[i].taken) {
      take(value, i, computed, is_wanted);
    }
    for (const ValueIndex value : steps[i].given) {
      if (value != kAbsent) {
        const auto at = static_cast<std::size_t>(value);
        computed[at] = true;
        last_[at] = std::max(last_[at], static_cast<std::int64_t>(i));
      }
    }
  }
  for (const ValueIndex value : outputs) {
    take(value, steps.size(), computed, is_wanted);
  }
  for (std::size_t value = 0; value < last_.size(); ++value) {
    if (last_[value] >= 0 && static_cast<std::size_t>(last_[value]) < steps.size()) {
      ends_[static_cast<std::size_t>(last_[value]) + 1].push_back(static_cast<ValueIndex>(value));
    }
  }
  std::size_t next = steps.size();
  for (std::size_t i = steps.size(); i-- > 0;) {
    next = steps[i].on_host.empty() ? next : i;
    next_on_host_[i] = next;
  }
}

void Lives::take(ValueIndex value, std::size_t position, std::vector<bool>& computed, std::vector<bool>& is_wanted) {
  if (value == kAbsent || is_constant_[static_cast<std::size_t>(value)]) {
    return;
  }
  const auto at = static_cast<std::size_t>(value);
  last_[at] = static_cast<std::int64_t>(position);
  if (!computed[at] && !is_wanted[at]) {
    is_wanted[at] = true;
    wanted_.push_back(value);
  }
}

std::vector<ValueIndex> Lives::taken_from(std::size_t position) const {
  std::vector<ValueIndex> values;
  std::unordered_set<ValueIndex> seen;  // taken or computed
  for (std::size_t i = position; i < next_on_host_[position]; ++i) {
    for (const ValueIndex value : steps_[i].taken) {
      if (value != kAbsent && !is_constant_[static_cast<std::size_t>(value)] && seen.insert(value).second) {
        values.push_back(value);
      }
    }
    seen.insert(steps_[i].given.begin(), steps_[i].given.end());
  }
  return values;
}

std::vector<ValueIndex> Lives::computed_between(std::size_t begin, std::size_t end) const {
  std::vector<ValueIndex> values;
  for (std::size_t i = begin; i < end; ++i) {
    for (const ValueIndex value : steps_[i].given) {
      if (value != kAbsent && last_[static_cast<std::size_t>(value)] >= static_cast<std::int64_t>(end)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

bool Lives::is_used_by_graphs(ValueIndex value, std::size_t position) const {
  const std::int64_t last = last_[static_cast<std::size_t>(value)];
  const auto end = static_cast<std::size_t>(std::max<std::int64_t>(last + 1, 0));
  return end > steps_.size() ||
         std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(std::min(position, end)),
                     steps_.begin() + static_cast<std::ptrdiff_t>(end), [value](const Step& step) {
                       return step.on_host.empty() &&
                              std::find(step.taken.begin(), step.taken.end(), value) != step.taken.end();
                     });
}

}  // namespace anydml::onnx
