// SPDX-License-Identifier: MIT
// The messages of one device, for ID3D12InfoQueue1: they are filtered, stored up to a limit, and passed to callbacks.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d3d12/headers.h"

namespace anydml {

// Whether ANYDML_DEBUG turns the debug layer on for every device.
[[nodiscard]] bool debug_layer_requested() noexcept;
// Whether the application enabled the debug layer for devices that are not already being debugged.
[[nodiscard]] bool debug_layer_enabled() noexcept;
void set_debug_layer_enabled(bool enabled) noexcept;

class MessageStore {
 public:
  struct Message {
    D3D12_MESSAGE_CATEGORY category;
    D3D12_MESSAGE_SEVERITY severity;
    D3D12_MESSAGE_ID id;
    std::string text;
  };

  // Lists of allowed and denied messages. An empty list imposes no restriction.
  struct Filter {
    struct Side {
      std::vector<D3D12_MESSAGE_CATEGORY> categories;
      std::vector<D3D12_MESSAGE_SEVERITY> severities;
      std::vector<D3D12_MESSAGE_ID> ids;
    };
    Side allow;
    Side deny;

    [[nodiscard]] bool passes(const Message& message) const;
    void add(const D3D12_INFO_QUEUE_FILTER& entries);
    HRESULT copy_to(D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) const;
  };

  // Storage and retrieval each have a stack of filters. Only the top filter applies.
  enum class Stage { storage, retrieval };

  MessageStore() : filters_{{Filter{}}, {Filter{}}} {}

  // denied: the filter denied the message, or messages are muted. unheard: no callback is registered.
  enum class Fate { denied, unheard, heard };
  // Stores the message and calls the callbacks, without holding a lock while they run.
  Fate add(Message message);

  HRESULT set_limit(UINT64 limit);
  void clear();
  HRESULT get(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) const;
  [[nodiscard]] UINT64 limit() const;
  [[nodiscard]] UINT64 stored() const;
  [[nodiscard]] UINT64 retrievable() const;
  [[nodiscard]] UINT64 allowed() const;
  [[nodiscard]] UINT64 denied() const;
  [[nodiscard]] UINT64 discarded() const;

  HRESULT add_filter_entries(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter);
  HRESULT get_filter(Stage stage, D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) const;
  void clear_filter(Stage stage);
  HRESULT push_filter(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter, bool copy);
  void pop_filter(Stage stage);
  [[nodiscard]] UINT filter_stack_size(Stage stage) const;

  HRESULT register_callback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags, void* context,
                            DWORD* cookie);
  // Returns when no thread is running the callback. If called within a callback, returns immediately.
  HRESULT unregister_callback(DWORD cookie);
  // Unregisters all callbacks. Called when the application has released the device, and with it everything that the
  // callbacks use.
  void unregister_all() noexcept;

  // Which messages raise SIGTRAP, for a debugger.
  void set_break(D3D12_MESSAGE_CATEGORY category, bool enabled) { set_break(breaks_.categories, category, enabled); }
  void set_break(D3D12_MESSAGE_SEVERITY severity, bool enabled) { set_break(breaks_.severities, severity, enabled); }
  void set_break(D3D12_MESSAGE_ID id, bool enabled) { set_break(breaks_.ids, id, enabled); }
  [[nodiscard]] bool breaks_on(D3D12_MESSAGE_CATEGORY category) const {
    return has_break(breaks_.categories, category);
  }
  [[nodiscard]] bool breaks_on(D3D12_MESSAGE_SEVERITY severity) const {
    return has_break(breaks_.severities, severity);
  }
  [[nodiscard]] bool breaks_on(D3D12_MESSAGE_ID id) const { return has_break(breaks_.ids, id); }
  // Raises SIGTRAP if the application asked for a break on such messages.
  void break_if_asked(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID id) const;

  void set_muted(bool muted);
  [[nodiscard]] bool muted() const;

 private:
  struct Callback {
    D3D12MessageFunc function;
    bool ignores_filters;
    void* context;
    DWORD cookie;
    bool registered = true;
    unsigned running = 0;  // the number of calls in progress
  };
  struct RunningCall;

  template <class T>
  void set_break(std::vector<T>& list, T value, bool enabled) {
    const std::scoped_lock lock(mutex_);
    std::erase(list, value);
    if (enabled) {
      list.push_back(value);
    }
  }
  template <class T>
  [[nodiscard]] bool has_break(const std::vector<T>& list, T value) const {
    const std::scoped_lock lock(mutex_);
    return std::find(list.begin(), list.end(), value) != list.end();
  }
  bool begin_call(Callback& callback);
  void end_call(Callback& callback);

  [[nodiscard]] std::vector<Filter>& stack(Stage stage) { return filters_[static_cast<int>(stage)]; }
  [[nodiscard]] const std::vector<Filter>& stack(Stage stage) const { return filters_[static_cast<int>(stage)]; }

  mutable std::mutex mutex_;
  std::deque<Message> messages_;
  std::vector<Filter> filters_[2];  // never empty
  Filter::Side breaks_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::condition_variable call_ended_;
  DWORD last_cookie_ = 0;
  UINT64 limit_ = D3D12_INFO_QUEUE_DEFAULT_MESSAGE_COUNT_LIMIT;
  UINT64 allowed_ = 0;
  UINT64 denied_ = 0;
  UINT64 discarded_ = 0;
  bool muted_ = false;
};

}  // namespace anydml
