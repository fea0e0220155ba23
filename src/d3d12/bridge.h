// SPDX-License-Identifier: MIT
// libdirectml accesses libd3d12's objects only through these interfaces, which it requests with QueryInterface. An
// object without them is not ours. The ids contain the build hash, so an object from another build is not ours either.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "com/live_object.h"
#include "d3d12/debug_messages.h"
#include "d3d12/headers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace anydml {

// A descriptor in a descriptor heap. A descriptor that was never written is all zeros.
enum class DescriptorKind : std::uint32_t {
  none,
  binding,     // written by DirectML
  raw_view,    // an unordered access view; cleared with a pattern of four words
  typed_view,  // an unordered access view of 32-bit elements; cleared with one word
  other_view,  // a view that is never read here
};

struct Descriptor {
  std::uint64_t buffer;  // the buffer's number; numbers of released buffers are never reused
  std::uint64_t offset;
  std::uint64_t bytes;
  DescriptorKind kind;
  // For a view: the size of an element in bytes. For a binding, and for the empty descriptor of a binding table with
  // nothing bound: the table's number, which is never 0.
  std::uint32_t detail;
};
static_assert(sizeof(Descriptor) == 32);

struct BufferFacts {
  std::uint64_t buffer;
  std::uint64_t bytes;
  D3D12_HEAP_TYPE heap;
  D3D12_RESOURCE_FLAGS flags;
  const void* device;  // the device it belongs to
};

// A range of a buffer: its address, which programs use, and its location, which copies use.
struct BoundMemory {
  DeviceAddress address;
  MemoryLocation location;
};

// A descriptor that was read at submission, with the memory it refers to. The address is 0 if the buffer was released.
struct ResolvedDescriptor {
  Descriptor descriptor;
  BufferFacts facts;
  DeviceAddress address;  // already includes the descriptor's offset
  // Set if another binding table overwrote the descriptor in the heap. `descriptor` is then the recorded one, or empty
  // if none was recorded.
  bool overwritten;
};

// How DirectML work uses one of its bindings.
struct BindingUse {
  enum class Access { none, read, write } access;
  std::uint64_t bytes;
  const char* name;       // of the tensor or resource; valid as long as the work
  bool has_gaps = false;  // the tensor's strides skip some of the bytes
};

// DirectML work in a command list. It is immutable, so several submissions of it may be in flight at the same time.
struct IBridgeDispatch : IUnknown {
  // Called on the submitting thread. descriptors is null if their heap was destroyed. Returns false if the work must
  // not run; the owner of the work has then reported the reason.
  virtual bool submit(const ResolvedDescriptor* descriptors, std::uint32_t count) noexcept = 0;
  // Whether the work copies from or to its bindings.
  virtual bool copies() const noexcept = 0;
  // Writes a label for diagnostics: the kind of work and the name that the application gave it, zero-terminated and
  // truncated to the available space.
  virtual void copy_label(char* text, std::size_t room) noexcept = 0;
  // Adds the work to the queue, in the queue's order. If the work copies, `locations` contains the locations of the
  // bindings.
  virtual void run(BackendQueue* queue, const DeviceAddress* addresses, const MemoryLocation* locations) noexcept = 0;

  // For the debug layer.
  virtual BindingUse binding_use(std::uint32_t descriptor) noexcept = 0;
  // Whether the application has released the object that it dispatched.
  virtual bool is_released() noexcept = 0;
};

// removal: an error that removed a device.
enum class MessageSeverity { error, warning, info, removal };

// What happened to a message. off: the debug layer is off, so there is no message queue. denied: one of the
// application's filters denied the message, or the application muted the queue. received: a callback received it, or
// the log had already shown it. printed: it was printed.
enum class Posted { off, denied, received, printed };

// The only interface with a fixed id: its first method shows whether both libraries agree on the other interfaces.
struct IBridgeDevice : IUnknown {
  virtual std::uint64_t build() noexcept = 0;  // kBuildHash
  virtual const void* identity() noexcept = 0;
  virtual std::uint32_t adapter_index() noexcept = 0;
  virtual HRESULT removed_reason() noexcept = 0;
  // logged: whether the log has already shown the message.
  virtual Posted post_message(MessageSeverity severity, const char* text, bool logged) noexcept = 0;
  // Logs and posts a mistake that has its own id.
  virtual void report(DebugMessage message, const char* text) noexcept = 0;
  // Turns the debug layer on for this device.
  virtual void enable_debug() noexcept = 0;
  // Whether the debug layer is on. The flag lives as long as the device, so that others can read it without a call.
  virtual const std::atomic<bool>& debugging_flag() noexcept = 0;
  // Counts the references to this device that come from the state that a DirectML device shares with its work: 1 adds a
  // reference, and -1 removes one.
  virtual void count_internal(int change) noexcept = 0;
  // Notes that a DirectML device on this device was removed.
  virtual void note_removal() noexcept = 0;
  // Includes the object in reports about live objects until it is removed. Returns false if there is no memory for
  // this.
  virtual bool add_live_object(const LiveObject& object) noexcept = 0;
  virtual void remove_live_object(const void* object) noexcept = 0;
  // Whether a live heap of views contains `count` descriptors at these handles. A handle of 0 is not checked.
  virtual bool contains_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                    std::uint32_t count) noexcept = 0;
  virtual bool write_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                                 std::uint32_t count) noexcept = 0;
  // Writes the null-terminated name of a buffer, which may have been released, truncated to the available space.
  virtual void buffer_name(std::uint64_t buffer, char* text, std::size_t room) noexcept = 0;
  // Notes that the application has released the object that the work belongs to. The work may still be in flight.
  virtual void dispatch_released(IBridgeDispatch* dispatch) noexcept = 0;
};

struct IBridgeBuffer : IUnknown {
  virtual void describe(BufferFacts* facts) noexcept = 0;
};

struct IBridgeCommandList : IUnknown {
  virtual const void* device_identity() noexcept = 0;
  // table: the number in the descriptors that the dispatch's binding table writes. recorded: the table's current
  // bindings, or null if bindings may still be set later; they replace descriptors that another table overwrites before
  // the list is executed. Fails with E_OUTOFMEMORY, or with E_INVALIDARG and a reason that completes a sentence.
  // Failure does not invalidate the list.
  virtual HRESULT record_dispatch(IBridgeDispatch* dispatch, D3D12_GPU_DESCRIPTOR_HANDLE first, std::uint32_t count,
                                  std::uint32_t table, const ResolvedDescriptor* recorded,
                                  const char** why) noexcept = 0;
};

}  // namespace anydml

#pragma GCC diagnostic pop

WINADAPTER_IID(anydml::IBridgeDevice, 0x6f1d2c31, 0x8a57, 0x4c0e, 0x9b, 0x64, 0x2d, 0x17, 0x5e, 0x90, 0xa1, 0x06);

#define ANYDML_HASH_BYTE(i) static_cast<unsigned char>(anydml::kBuildHash >> (8 * (i)))
#define ANYDML_BRIDGE_ID(Interface, number)                                                                            \
  WINADAPTER_IID(Interface, 0x6f1d2c31, 0x8a57, number, ANYDML_HASH_BYTE(7), ANYDML_HASH_BYTE(6), ANYDML_HASH_BYTE(5), \
                 ANYDML_HASH_BYTE(4), ANYDML_HASH_BYTE(3), ANYDML_HASH_BYTE(2), ANYDML_HASH_BYTE(1),                   \
                 ANYDML_HASH_BYTE(0))
ANYDML_BRIDGE_ID(anydml::IBridgeBuffer, 2);
ANYDML_BRIDGE_ID(anydml::IBridgeCommandList, 3);
ANYDML_BRIDGE_ID(anydml::IBridgeDispatch, 5);
#undef ANYDML_BRIDGE_ID
#undef ANYDML_HASH_BYTE
