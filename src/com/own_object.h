// SPDX-License-Identifier: MIT
// How a library knows its own objects again: a pointer from the application is no more than a promise until it answers.
#pragma once

#include <wsl/winadapter.h>

#include "anydml_build/hash.h"
#include "com/com_ptr.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace anydml {

struct IOwnObject : IUnknown {
  // The object itself when it is of the class with that key, else null.
  virtual void* own_object(const void* key) noexcept = 0;
};

// Its address is the key: one for each class of each library.
template <class T>
inline char kClassKey = 0;

}  // namespace anydml

#pragma GCC diagnostic pop

// With the hash of the build: an object of another build is none of ours.
#define ANYDML_HASH_BYTE(i) static_cast<unsigned char>(anydml::kBuildHash >> (8 * (i)))
__CRT_UUID_DECL(anydml::IOwnObject, 0x1b8be54e, 0x5f6e, 0x4f0b, ANYDML_HASH_BYTE(7), ANYDML_HASH_BYTE(6),
                ANYDML_HASH_BYTE(5), ANYDML_HASH_BYTE(4), ANYDML_HASH_BYTE(3), ANYDML_HASH_BYTE(2), ANYDML_HASH_BYTE(1),
                ANYDML_HASH_BYTE(0));
#undef ANYDML_HASH_BYTE

namespace anydml {

// Null when the pointer is, or when the object is another's. Adds no reference: the application's holds for the call.
template <class T>
[[nodiscard]] T* own_object(IUnknown* pointer) {
  const auto object = query<IOwnObject>(pointer);
  return object ? static_cast<T*>(object->own_object(&kClassKey<T>)) : nullptr;
}

}  // namespace anydml
