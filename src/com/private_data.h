// SPDX-License-Identifier: MIT
// Data that an application attaches to an object: bytes and interfaces under GUIDs. The object's name is stored as
// bytes under a separate GUID. The class is thread-safe. D3D12 and DirectML objects follow the same rules.
#pragma once

#include <wsl/winadapter.h>

#include <cstdint>
#include <cstring>
#include <cwchar>
#include <mutex>
#include <string>
#include <vector>

#include "base/quoted.h"
#include "com/com_object.h"
#include "com/com_ptr.h"
#include "com/hresult.h"
#include "com/live_object.h"

namespace anydml {

// The GUID under which D3D12 keeps an object's name, as wide characters without the terminator.
inline constexpr GUID kObjectNameWide = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

// An invalid character becomes bytes that are not UTF-8, which messages escape.
inline void append_utf8(std::string& text, std::uint32_t letter) {
  const auto append = [&text](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (letter < 0x80) {
    append(letter);
  } else if (letter < 0x800) {
    append(0xc0 | letter >> 6);
    append(0x80 | (letter & 0x3f));
  } else if (letter < 0x10000) {
    append(0xe0 | letter >> 12);
    append(0x80 | (letter >> 6 & 0x3f));
    append(0x80 | (letter & 0x3f));
  } else if (letter < 0x110000) {
    append(0xf0 | letter >> 18);
    append(0x80 | (letter >> 12 & 0x3f));
    append(0x80 | (letter >> 6 & 0x3f));
    append(0x80 | (letter & 0x3f));
  } else {
    append(0xff);
  }
}

[[nodiscard]] inline std::string name_of_wide(const unsigned char* wide, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i + sizeof(wchar_t) <= bytes && text.size() <= kMaxQuotedBytes; i += sizeof(wchar_t)) {
    wchar_t letter = 0;
    std::memcpy(&letter, wide + i, sizeof(letter));
    append_utf8(text, static_cast<std::uint32_t>(letter));
  }
  return text;
}

class PrivateData {
 public:
  // *size is the capacity of data on entry, and the size of the entry on return. data may be null, to query the size.
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

  // Null data with size 0 removes the entry.
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

  // The object's name in reports about live objects. It is empty if there was no memory for the name.
  void copy_name(LiveState& state) const noexcept {
    try {
      const std::string text = escaped(name(), kMaxQuotedBytes);
      state.name[text.copy(state.name, sizeof(state.name) - 1)] = '\0';
    } catch (...) {
      state.name[0] = '\0';
    }
  }

  // The name for messages, in UTF-8, truncated to the longest name that messages show; empty if the object has no name.
  [[nodiscard]] std::string name() const {
    const std::scoped_lock lock(mutex_);
    const Entry* entry = find(kObjectNameWide);
    return entry == nullptr ? std::string() : name_of_wide(entry->bytes.data(), entry->bytes.size());
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
    Entry old;  // destroyed after the lock is released, because its destructor may call back
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

// The name of an object that may belong to a different library. It is read through GetPrivateData, which every D3D12
// and DirectML object has.
template <class Object>
[[nodiscard]] std::string object_name(Object& object) {
  UINT bytes = 0;
  if (FAILED(object.GetPrivateData(kObjectNameWide, &bytes, nullptr)) || bytes == 0) {
    return {};
  }
  std::vector<unsigned char> wide(bytes);
  return FAILED(object.GetPrivateData(kObjectNameWide, &bytes, wide.data())) ? std::string()
                                                                             : name_of_wide(wide.data(), wide.size());
}

}  // namespace anydml
