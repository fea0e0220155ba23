// SPDX-License-Identifier: MIT
#include "directml/work.h"

#include <algorithm>

#include "base/quoted.h"
#include "com/com_object.h"
#include "directml/bindings.h"
#include "text/format.h"

namespace anydml {

bool Work::submit(const ResolvedDescriptor* descriptors, std::uint32_t count) noexcept {
  if (core_->removed()) {
    return false;
  }
  bool good = false;
  const HRESULT result = com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
    const std::string what =
        descriptors == nullptr && properties_.RequiredDescriptorCount != 0
            ? label() + ": the descriptor heap of its binding table was released before the list was executed"
            : check_submission(descriptors);
    good = what.empty();
    if (!good) {
      core_->remove(E_INVALIDARG, "ExecuteCommandLists: " + what + "; the DirectML device is removed");
    } else if (descriptors != nullptr) {
      warn_of_overwriting(descriptors, count);
    }
    return S_OK;
  });
  if (FAILED(result)) {
    core_->remove(result, "ExecuteCommandLists: an allocation failed; the DirectML device is removed");
    return false;
  }
  return good;
}

std::uint32_t Work::next_number() noexcept {
  static constinit std::atomic<std::uint32_t> last = 0;
  std::uint32_t number = 0;
  while (number == 0) {
    number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return number;
}

void Work::warn_of_overwriting(const ResolvedDescriptor* descriptors, std::uint32_t count) {
  const auto overwritten = std::count_if(descriptors, descriptors + count,
                                         [](const ResolvedDescriptor& descriptor) { return descriptor.overwritten; });
  if (overwritten != 0 && !warned_of_overwriting_.exchange(true)) {
    core_->parent().report(
        DebugMessage::descriptors_overwritten,
        format_text("ExecuteCommandLists: {}: another binding table overwrote {} of its {} descriptors after "
                    "the dispatch was recorded; the recorded bindings are used, but other implementations may use "
                    "the other table's; expected separate descriptors until the list is executed",
                    label(), overwritten, count)
            .c_str());
  }
}

void Work::set_released() noexcept {
  released_.store(true, std::memory_order_release);
  core_->parent().dispatch_released(this);
}

std::string Work::label() const {
  const std::scoped_lock lock(name_mutex_);
  return with_name(kind_, name_);
}

void Work::copy_label(char* text, std::size_t room) noexcept {
  std::size_t length = 0;
  com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
    length = label().copy(text, room - 1);
    return S_OK;
  });
  text[length] = '\0';
}

void Work::set_name(std::string given) {
  const std::scoped_lock lock(name_mutex_);
  name_ = std::move(given);
}

std::string Work::bind_temporary(const DML_BINDING_DESC* given, Bindings& bindings,
                                 ResolvedDescriptor& temporary) const {
  temporary = {};
  if (given != nullptr) {
    if (std::string what = take_binding(*core_, temporary_requirement(*this), *given, temporary); !what.empty()) {
      return what;
    }
  }
  if (has_temporary()) {
    bindings.back() = temporary;
  }
  return {};
}

}  // namespace anydml
