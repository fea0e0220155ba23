// SPDX-License-Identifier: MIT
#include "d3d12/info_queue.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/environment.h"
#include "com/hresult.h"

namespace anydml {
namespace {

constinit std::atomic<bool> g_debug_layer = false;

template <class T>
bool contains(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class T>
void append(std::vector<T>& list, UINT count, const T* values) {
  if (values != nullptr) {
    list.insert(list.end(), values, values + count);
  }
}

void append_side(MessageStore::Filter::Side& side, const D3D12_INFO_QUEUE_FILTER_DESC& entries) {
  append(side.categories, entries.NumCategories, entries.pCategoryList);
  append(side.severities, entries.NumSeverities, entries.pSeverityList);
  append(side.ids, entries.NumIDs, entries.pIDList);
}

template <class T>
void found_at(std::byte*& at, const std::vector<T>& from, UINT& count, T*& list) {
  count = static_cast<UINT>(from.size());
  list = from.empty() ? nullptr : reinterpret_cast<T*>(at);
  if (!from.empty()) {
    std::memcpy(at, from.data(), from.size() * sizeof(T));
  }
  at += from.size() * sizeof(T);
}

}  // namespace

bool debug_layer_requested() noexcept {
  try {
    const auto& settings = environment();
    return settings.ok() && settings.value().debug != DebugSetting::off;
  } catch (...) {  // no memory to read the settings
    return false;
  }
}

bool debug_layer_enabled() noexcept { return g_debug_layer.load(std::memory_order_acquire); }
void set_debug_layer_enabled(bool enabled) noexcept { g_debug_layer.store(enabled, std::memory_order_release); }

bool MessageStore::Filter::passes(const Message& message) const {
  const auto allowed = [](const auto& list, auto value) { return list.empty() || contains(list, value); };
  return allowed(allow.categories, message.category) && allowed(allow.severities, message.severity) &&
         allowed(allow.ids, message.id) && !contains(deny.categories, message.category) &&
         !contains(deny.severities, message.severity) && !contains(deny.ids, message.id);
}

void MessageStore::Filter::add(const D3D12_INFO_QUEUE_FILTER& entries) {
  append_side(allow, entries.AllowList);
  append_side(deny, entries.DenyList);
}

HRESULT MessageStore::Filter::copy_to(D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) const {
  if (bytes == nullptr) {
    return E_INVALIDARG;
  }
  SIZE_T needed = sizeof(D3D12_INFO_QUEUE_FILTER);
  for (const Side* side : {&allow, &deny}) {
    needed += (side->categories.size() + side->severities.size() + side->ids.size()) * sizeof(int);
  }
  const SIZE_T room = *bytes;
  *bytes = needed;
  if (filter == nullptr) {
    return S_OK;
  }
  if (room < needed) {
    return E_INVALIDARG;
  }
  auto* at = reinterpret_cast<std::byte*>(filter + 1);
  const auto write_side = [&at](const Side& side, D3D12_INFO_QUEUE_FILTER_DESC& desc) {
    found_at(at, side.categories, desc.NumCategories, desc.pCategoryList);
    found_at(at, side.severities, desc.NumSeverities, desc.pSeverityList);
    found_at(at, side.ids, desc.NumIDs, desc.pIDList);
  };
  write_side(allow, filter->AllowList);
  write_side(deny, filter->DenyList);
  return S_OK;
}

// A callback invocation in progress. It ends even if the callback throws. Invocations on the same thread are linked
// from the innermost to the outermost.
struct MessageStore::RunningCall {
  RunningCall(MessageStore& of_store, Callback& of_callback)
      : store(of_store), callback(of_callback), outer(innermost) {
    innermost = this;
  }
  ~RunningCall() {
    innermost = outer;
    store.end_call(callback);
  }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  MessageStore& store;
  Callback& callback;
  RunningCall* const outer;
  static thread_local RunningCall* innermost;
};
thread_local MessageStore::RunningCall* MessageStore::RunningCall::innermost = nullptr;

bool MessageStore::begin_call(Callback& callback) {
  const std::scoped_lock lock(mutex_);
  callback.running += callback.registered ? 1 : 0;
  return callback.registered;
}

void MessageStore::end_call(Callback& callback) {
  const std::scoped_lock lock(mutex_);
  --callback.running;
  call_ended_.notify_all();
}

MessageStore::Fate MessageStore::add(Message message) {
  std::vector<std::shared_ptr<Callback>> callbacks;
  bool passes = true;
  {
    const std::scoped_lock lock(mutex_);
    if (muted_) {
      return Fate::denied;
    }
    callbacks = callbacks_;
    passes = stack(Stage::storage).back().passes(message);
    ++(passes ? allowed_ : denied_);
    if (passes && limit_ != 0) {
      if (limit_ != UINT64_MAX && messages_.size() >= limit_) {
        messages_.pop_front();  // drop the oldest
        ++discarded_;
      }
      messages_.push_back(message);
    }
  }
  for (const auto& callback : callbacks) {
    if ((passes || callback->ignores_filters) && begin_call(*callback)) {
      const RunningCall call(*this, *callback);
      callback->function(message.category, message.severity, message.id, message.text.c_str(), callback->context);
    }
  }
  return !passes ? Fate::denied : callbacks.empty() ? Fate::unheard : Fate::heard;
}

HRESULT MessageStore::set_limit(UINT64 limit) {
  const std::scoped_lock lock(mutex_);
  limit_ = limit;
  while (messages_.size() > limit_) {
    messages_.pop_front();
    ++discarded_;
  }
  return S_OK;
}

void MessageStore::clear() {
  const std::scoped_lock lock(mutex_);
  messages_.clear();
}

HRESULT MessageStore::get(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) const {
  if (bytes == nullptr) {
    return E_INVALIDARG;
  }
  const std::scoped_lock lock(mutex_);
  // The index counts the messages that pass the retrieval filter.
  const Filter& filter = stack(Stage::retrieval).back();
  const auto found_at = std::find_if(messages_.begin(), messages_.end(), [&](const Message& candidate) {
    return filter.passes(candidate) && index-- == 0;
  });
  if (found_at == messages_.end()) {
    *bytes = 0;
    return E_INVALIDARG;
  }
  const Message& found = *found_at;
  const SIZE_T room = *bytes;
  *bytes = sizeof(D3D12_MESSAGE) + found.text.size() + 1;
  if (message == nullptr) {
    return S_OK;
  }
  if (room < *bytes) {
    return E_INVALIDARG;
  }
  char* text = reinterpret_cast<char*>(message + 1);
  std::memcpy(text, found.text.c_str(), found.text.size() + 1);
  *message = {found.category, found.severity, found.id, text, found.text.size() + 1};
  return S_OK;
}

UINT64 MessageStore::limit() const {
  const std::scoped_lock lock(mutex_);
  return limit_;
}

UINT64 MessageStore::stored() const {
  const std::scoped_lock lock(mutex_);
  return messages_.size();
}

UINT64 MessageStore::retrievable() const {
  const std::scoped_lock lock(mutex_);
  const Filter& filter = stack(Stage::retrieval).back();
  return static_cast<UINT64>(std::count_if(messages_.begin(), messages_.end(),
                                           [&](const Message& message) { return filter.passes(message); }));
}

UINT64 MessageStore::allowed() const {
  const std::scoped_lock lock(mutex_);
  return allowed_;
}

UINT64 MessageStore::denied() const {
  const std::scoped_lock lock(mutex_);
  return denied_;
}

UINT64 MessageStore::discarded() const {
  const std::scoped_lock lock(mutex_);
  return discarded_;
}

HRESULT MessageStore::add_filter_entries(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter) {
  if (filter == nullptr) {
    return E_INVALIDARG;
  }
  const std::scoped_lock lock(mutex_);
  stack(stage).back().add(*filter);
  return S_OK;
}

HRESULT MessageStore::get_filter(Stage stage, D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) const {
  const std::scoped_lock lock(mutex_);
  return stack(stage).back().copy_to(filter, bytes);
}

void MessageStore::clear_filter(Stage stage) {
  const std::scoped_lock lock(mutex_);
  stack(stage).back() = {};
}

HRESULT MessageStore::push_filter(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter, bool copy) {
  Filter pushed;
  if (filter != nullptr) {
    pushed.add(*filter);
  }
  const std::scoped_lock lock(mutex_);
  stack(stage).push_back(copy ? Filter(stack(stage).back()) : std::move(pushed));
  return S_OK;
}

void MessageStore::pop_filter(Stage stage) {
  const std::scoped_lock lock(mutex_);
  if (stack(stage).size() > 1) {
    stack(stage).pop_back();
  }
}

UINT MessageStore::filter_stack_size(Stage stage) const {
  const std::scoped_lock lock(mutex_);
  return static_cast<UINT>(stack(stage).size());
}

HRESULT MessageStore::register_callback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags, void* context,
                                        DWORD* cookie) {
  if (function == nullptr || cookie == nullptr) {
    return E_INVALIDARG;
  }
  const std::scoped_lock lock(mutex_);
  callbacks_.push_back(
      std::make_shared<Callback>(Callback{.function = function,
                                          .ignores_filters = (flags & D3D12_MESSAGE_CALLBACK_IGNORE_FILTERS) != 0,
                                          .context = context,
                                          .cookie = ++last_cookie_}));
  *cookie = last_cookie_;
  return S_OK;
}

HRESULT MessageStore::unregister_callback(DWORD cookie) {
  std::unique_lock lock(mutex_);
  const auto found = std::ranges::find_if(callbacks_, [cookie](const auto& known) { return known->cookie == cookie; });
  if (found == callbacks_.end()) {
    return E_INVALIDARG;
  }
  const std::shared_ptr<Callback> callback = *found;
  callbacks_.erase(found);
  callback->registered = false;
  // Do not wait within a callback: this thread might wait for itself, or for a thread that is waiting for it.
  if (RunningCall::innermost == nullptr) {
    call_ended_.wait(lock, [&] { return callback->running == 0; });
  }
  return S_OK;
}

void MessageStore::unregister_all() noexcept {
  std::unique_lock lock(mutex_);
  const auto callbacks = std::move(callbacks_);
  callbacks_.clear();
  for (const auto& callback : callbacks) {
    callback->registered = false;
  }
  if (RunningCall::innermost == nullptr) {
    call_ended_.wait(lock, [&] {
      return std::ranges::all_of(callbacks, [](const auto& callback) { return callback->running == 0; });
    });
  }
}

void MessageStore::break_if_asked(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                                  D3D12_MESSAGE_ID id) const {
  if (!breaks_on(category) && !breaks_on(severity) && !breaks_on(id)) {
    return;
  }
  sigset_t trap;  // unblocked below, because the queues' threads block all signals
  sigset_t before;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &trap, &before);
  raise(SIGTRAP);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void MessageStore::set_muted(bool muted) {
  const std::scoped_lock lock(mutex_);
  muted_ = muted;
}

bool MessageStore::muted() const {
  const std::scoped_lock lock(mutex_);
  return muted_;
}

}  // namespace anydml
