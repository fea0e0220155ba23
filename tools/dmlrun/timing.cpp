// SPDX-License-Identifier: MIT
#include "timing.h"

#include <algorithm>
#include <numeric>

namespace anydml::dmlrun {

Statistics summarize(std::span<const double> samples) {
  if (samples.empty()) {
    return {};
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  // The nearest-rank method: the result is always a measured sample, never a number between two samples.
  const auto percentile = [&](std::size_t percent) { return sorted[(sorted.size() * percent + 99) / 100 - 1]; };
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  return {.count = sorted.size(),
          .average = sum / static_cast<double>(sorted.size()),
          .min = sorted.front(),
          .median = sorted[sorted.size() / 2],
          .p90 = percentile(90),
          .p99 = percentile(99),
          .max = sorted.back()};
}

ColdAndHot split_samples(std::span<const double> samples, std::size_t warm_up) {
  const std::size_t cold = samples.empty() ? 0 : std::min(samples.size() - 1, warm_up);
  return {summarize(samples.first(cold)), summarize(samples.subspan(cold))};
}

}  // namespace anydml::dmlrun
