// SPDX-License-Identifier: MIT
// What an application hangs on an object: bytes and interfaces by GUID, and a name, which is such bytes too. Safe to
// use from several threads. D3D12 and DirectML objects keep the same rules.
#pragma once

#include <wsl/winadapter.h>

#include <cstring>
#include <cwchar>
#include <mutex>
#include <string>
#include <vector>

#include "com/com_object.h"
#include "com/com_ptr.h"
#include "com/hresult.h"

namespace anydml {

// The GUID under which D3D12 keeps an object's name, as wide characters without the terminator.
inline constexpr GUID kObjectNameWide = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

class PrivateData {
 public:
  // *size: the room at data on entry, the amount on return. data may be null, to ask for the amount.
  HRESULT get(REFGUID guid, UINT* size, void* data) const {
    if (size == nullptr) {
      return E_INVALIDARG;
    }
    const std::scoped_lock lock(mutex_);
    const Entry* entry = find(guid);
    if (entry == nullptr) {
      *size = 0;
      return kNotFound;
    }
    const UINT room = *size;
    *size = entry->object ? static_cast<UINT>(sizeof(IUnknown*)) : static_cast<UINT>(entry->bytes.size());
    if (data == nullptr) {
      return S_OK;
    }
    if (room < *size) {
      return kMoreData;
    }
    if (entry->object) {
      IUnknown* object = entry->object.get();
      object->AddRef();
      std::memcpy(data, &object, sizeof(object));
    } else if (!entry->bytes.empty()) {
      std::memcpy(data, entry->bytes.data(), entry->bytes.size());
    }
    return S_OK;
  }

  // Null data with size 0 forgets the entry.
  HRESULT set(REFGUID guid, UINT size, const void* data) {
    if (data == nullptr && size != 0) {
      return E_INVALIDARG;
    }
    Entry entry{.guid = guid, .bytes = {}, .object = {}};
    if (data != nullptr) {
      const auto* first = static_cast<const unsigned char*>(data);
      entry.bytes.assign(first, first + size);
    }
    replace(std::move(entry), data != nullptr);
    return S_OK;
  }

  HRESULT set_interface(REFGUID guid, const IUnknown* object) {
    replace({.guid = guid, .bytes = {}, .object = ComPtr<IUnknown>::share(const_cast<IUnknown*>(object))},
            object != nullptr);
    return S_OK;
  }

  HRESULT set_name(const wchar_t* name) {
    if (name == nullptr) {
      return set(kObjectNameWide, 0, nullptr);
    }
    return set(kObjectNameWide, static_cast<UINT>(std::wcslen(name) * sizeof(wchar_t)), name);
  }

  // For messages: what is not plain ASCII becomes '?'; empty when the object has no name.
  [[nodiscard]] std::string name() const {
    const std::scoped_lock lock(mutex_);
    std::string text;
    if (const Entry* entry = find(kObjectNameWide); entry != nullptr) {
      for (std::size_t i = 0; i + sizeof(wchar_t) <= entry->bytes.size(); i += sizeof(wchar_t)) {
        wchar_t letter = 0;
        std::memcpy(&letter, entry->bytes.data() + i, sizeof(letter));
        text.push_back(letter >= 32 && letter < 127 ? static_cast<char>(letter) : '?');
      }
    }
    return text;
  }

 private:
  struct Entry {
    GUID guid;
    std::vector<unsigned char> bytes;
    ComPtr<IUnknown> object;
  };

  const Entry* find(REFGUID guid) const {
    for (const Entry& entry : entries_) {
      if (same_guid(entry.guid, guid)) {
        return &entry;
      }
    }
    return nullptr;
  }

  void replace(Entry entry, bool keep) {
    Entry old;  // released after the lock: its destructor may call back
    const std::scoped_lock lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (same_guid(it->guid, entry.guid)) {
        old = std::move(*it);
        if (keep) {
          *it = std::move(entry);
        } else {
          entries_.erase(it);
        }
        return;
      }
    }
    if (keep) {
      entries_.push_back(std::move(entry));
    }
  }

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace anydml
