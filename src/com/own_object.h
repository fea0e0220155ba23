// SPDX-License-Identifier: MIT
// Lets a library recognize its own objects. A pointer from the application may refer to an object from any library, so
// the library queries the object itself.
#pragma once

#include <wsl/winadapter.h>

#include "anydml_build/hash.h"
#include "com/com_ptr.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace anydml {

struct IOwnObject : IUnknown {
  // Returns the object itself if the key belongs to its class, otherwise null.
  virtual void* own_object(const void* key) noexcept = 0;
};

// The address of this variable is the key. Every class in every library has a different key.
template <class T>
inline char kClassKey = 0;

}  // namespace anydml

#pragma GCC diagnostic pop

// The id contains the build hash: an object from another build is not ours.
#define ANYDML_HASH_BYTE(i) static_cast<unsigned char>(anydml::kBuildHash >> (8 * (i)))
__CRT_UUID_DECL(anydml::IOwnObject, 0x1b8be54e, 0x5f6e, 0x4f0b, ANYDML_HASH_BYTE(7), ANYDML_HASH_BYTE(6),
                ANYDML_HASH_BYTE(5), ANYDML_HASH_BYTE(4), ANYDML_HASH_BYTE(3), ANYDML_HASH_BYTE(2), ANYDML_HASH_BYTE(1),
                ANYDML_HASH_BYTE(0));
#undef ANYDML_HASH_BYTE

namespace anydml {

// Returns null if the pointer is null or the object is not ours. Adds no reference: the application keeps its own
// reference during the call.
template <class T>
[[nodiscard]] T* own_object(IUnknown* pointer) {
  const auto object = query<IOwnObject>(pointer);
  return object ? static_cast<T*>(object->own_object(&kClassKey<T>)) : nullptr;
}

}  // namespace anydml
