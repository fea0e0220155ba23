// SPDX-License-Identifier: MIT
#include "backend/cuda/recordings.h"

#include <algorithm>

namespace anydml::cuda {
namespace {

void destroy(cudaGraphExec_t graph) noexcept {
  if (graph != nullptr) {  // CUDA keeps a running graph until it ends
    static_cast<void>(cudaGraphExecDestroy(graph));
    static_cast<void>(cudaGetLastError());
  }
}

}  // namespace

Recordings::~Recordings() { keep(nullptr); }

Recordings::Advice Recordings::advise(const std::uint64_t* addresses, std::size_t count) noexcept {
  if (is_hopeless_) {
    return Advice::run;
  }
  for (found_ = 0; found_ < entries_.size(); ++found_) {
    Entry& entry = entries_[found_];
    if (std::equal(entry.addresses.begin(), entry.addresses.end(), addresses, addresses + count)) {
      entry.used = ++clock_;
      return entry.graph != nullptr ? Advice::replay : Advice::record;
    }
  }
  try {
    if (entries_.size() < kMaxEntries) {
      entries_.reserve(kMaxEntries);
      found_ = entries_.size();
      entries_.emplace_back();
    } else {
      found_ = static_cast<std::size_t>(std::ranges::min_element(entries_, {}, &Entry::used) - entries_.begin());
      destroy(entries_[found_].graph);
      entries_[found_].graph = nullptr;
      entries_[found_].addresses.clear();
    }
    Entry& entry = entries_[found_];
    entry.used = ++clock_;
    entry.addresses.assign(addresses, addresses + count);
  } catch (...) {
    keep(nullptr);
  }
  return Advice::run;
}

void Recordings::keep(cudaGraphExec_t graph) noexcept {
  if (graph != nullptr) {
    entries_[found_].graph = graph;
    return;
  }
  is_hopeless_ = true;
  for (const Entry& entry : entries_) {
    destroy(entry.graph);
  }
  entries_.clear();
}

}  // namespace anydml::cuda
