// SPDX-License-Identifier: MIT
#include "d3d12/command_list.h"

#include "base/reserve.h"
#include "d3d12/debug/states.h"
#include "d3d12/descriptor_heap.h"
#include "text/format.h"

namespace anydml {
namespace {

std::string type_text(D3D12_COMMAND_LIST_TYPE type) {
  switch (type) {
    case D3D12_COMMAND_LIST_TYPE_DIRECT:
      return "DIRECT";
    case D3D12_COMMAND_LIST_TYPE_COMPUTE:
      return "COMPUTE";
    case D3D12_COMMAND_LIST_TYPE_COPY:
      return "COPY";
    default:
      return format_text("{}", static_cast<int>(type));
  }
}

}  // namespace

HRESULT STDMETHODCALLTYPE CommandAllocator::Reset() noexcept {
  return com_boundary("ID3D12CommandAllocator::Reset", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    if (recording_.load(std::memory_order_acquire)) {
      return core().fail(E_FAIL, format_text("ID3D12CommandAllocator::Reset{}: an open list is recording with it; "
                                             "expected it closed first",
                                             quoted_name()));
    }
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr && use_ != nullptr) {
      tracker->reset({DebugObject::Kind::allocator, reinterpret_cast<std::uintptr_t>(use_.get())},
                     [&] { return "ID3D12CommandAllocator::Reset" + quoted_name(); });
      use_->resets.fetch_add(1, std::memory_order_acq_rel);
    }
    return S_OK;
  });
}

CommandAllocator::~CommandAllocator() {
  if (DebugTracker* tracker = core().tracker(); tracker != nullptr && use_ != nullptr) {
    report_release(*tracker, DebugObject::Kind::allocator, use_.get(), "ID3D12CommandAllocator");
    use_->released.store(true, std::memory_order_release);
  }
}

const std::shared_ptr<AllocatorUse>& CommandAllocator::debug_use() {
  if (use_ == nullptr) {
    use_ = std::make_shared<AllocatorUse>();
  }
  return use_;
}

void GraphicsCommandList::leave_allocator() noexcept {
  if (allocator_) {
    allocator_->end();
    allocator_.reset();
  }
}

std::string GraphicsCommandList::open(ID3D12CommandAllocator* allocator) {
  auto* known = own<CommandAllocator>(allocator, core());
  if (known == nullptr) {
    return "pAllocator is null or another device's; expected a command allocator of this device";
  }
  if (known->type() != type_) {
    return format_text("pAllocator{} is of type {}; expected {}, the list's", known->quoted_name(),
                       type_text(known->type()), type_text(type_));
  }
  // A submitted recording keeps its commands; otherwise their memory is reused. This happens before the list acquires
  // the allocator, so that the allocator stays free if the allocation fails.
  if (recording_->in_flight.load(std::memory_order_acquire) != 0) {
    recording_ = std::make_shared<Recording>();
  }
  if (!known->begin()) {
    return format_text("pAllocator{} is in use by another open list; expected one list at a time",
                       known->quoted_name());
  }
  allocator_ = ComPtr<CommandAllocator>::share(known);
  recording_->commands.clear();
  recording_->descriptors.clear();
  recording_->debug = {};
  if (core().tracker() != nullptr) {
    recording_->debug.allocator = known->debug_use();
    recording_->debug.resets = known->debug_use()->resets.load(std::memory_order_acquire);
    recording_->debug.allocator_name = known->quoted_name();
  }
  spoilt_message_.clear();
  spoilt_by_ = S_OK;
  state_ = State::open;
  return {};
}

HRESULT STDMETHODCALLTYPE GraphicsCommandList::Reset(ID3D12CommandAllocator* allocator,
                                                     ID3D12PipelineState* state) noexcept {
  return com_boundary("ID3D12GraphicsCommandList::Reset", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    const auto wrong = [&](const std::string& what) {
      return core().fail(E_INVALIDARG, format_text("ID3D12GraphicsCommandList::Reset{}: {}", quoted_name(), what));
    };
    if (state_ == State::open) {
      core().fail(E_FAIL, format_text("ID3D12GraphicsCommandList::Reset{}: the list is open; expected it closed first",
                                      quoted_name()));
      return E_FAIL;
    }
    if (state != nullptr) {
      return wrong("pInitialState is not null; expected null, since pipeline states are not supported");
    }
    const std::string why = open(allocator);
    return why.empty() ? S_OK : wrong(why);
  });
}

HRESULT STDMETHODCALLTYPE GraphicsCommandList::Close() noexcept {
  return com_boundary("ID3D12GraphicsCommandList::Close", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    if (state_ != State::open) {
      return core().fail(E_FAIL,
                         format_text("ID3D12GraphicsCommandList::Close{}: the list is already closed", quoted_name()));
    }
    leave_allocator();
    views_.reset();  // a closed list keeps no heap alive
    if (FAILED(spoilt_by_)) {
      state_ = State::spoilt;
      return core().answer(  // the invalid call itself was already reported
          spoilt_by_, format_text("ID3D12GraphicsCommandList::Close{}: a call on the list was wrong: {}", quoted_name(),
                                  spoilt_message_));
    }
    state_ = State::closed;
    return S_OK;
  });
}

void GraphicsCommandList::spoil(HRESULT code, const std::string& message) noexcept {
  core().fail(code, message);
  if (SUCCEEDED(spoilt_by_)) {  // only the first error counts
    spoilt_by_ = code;
    try {
      spoilt_message_ = message;
    } catch (...) {
      spoilt_message_.clear();
    }
  }
}

template <class Body>
void GraphicsCommandList::record(const char* method, const Body& body) noexcept {
  const HRESULT result = com_boundary(method, [&]() -> HRESULT {
    if (core().removed()) {
      return S_OK;
    }
    const std::string wrong =
        state_ == State::open ? body() : std::string("the list is closed; expected it open, after Reset");
    if (!wrong.empty()) {
      spoil(E_INVALIDARG, format_text("ID3D12GraphicsCommandList::{}{}: {}", method, quoted_name(), wrong));
    }
    return S_OK;
  });
  if (FAILED(result) && SUCCEEDED(spoilt_by_)) {
    spoilt_by_ = result;
  }
}

void GraphicsCommandList::not_built(const char* method) noexcept {
  const HRESULT result = com_boundary(method, [&]() -> HRESULT {
    spoil(E_NOTIMPL, format_text("ID3D12GraphicsCommandList::{}{} is not implemented: this device supports buffers and "
                                 "DirectML's operators, but not textures, shaders or drawing",
                                 method, quoted_name()));
    return S_OK;
  });
  if (FAILED(result) && SUCCEEDED(spoilt_by_)) {
    spoilt_by_ = E_NOTIMPL;
  }
}

void STDMETHODCALLTYPE GraphicsCommandList::ClearState(ID3D12PipelineState* state) noexcept {
  if (state != nullptr) {
    not_built("ClearState");
  }
}

// DirectML clients only ever set these to null, because no root signature or pipeline state can be created here.
void STDMETHODCALLTYPE GraphicsCommandList::SetComputeRootSignature(ID3D12RootSignature* signature) noexcept {
  if (signature != nullptr) {
    not_built("SetComputeRootSignature");
  }
}

void STDMETHODCALLTYPE GraphicsCommandList::SetPipelineState(ID3D12PipelineState* state) noexcept {
  if (state != nullptr) {
    not_built("SetPipelineState");
  }
}

std::string GraphicsCommandList::check_range(const char* name, ID3D12Resource* resource, std::uint64_t offset,
                                             std::uint64_t bytes, Resource*& found) const {
  found = own<Resource>(resource, core());
  if (found == nullptr) {
    return format_text("{} is null or another device's; expected a buffer of this device", name);
  }
  if (offset > found->bytes() || bytes > found->bytes() - offset) {
    return format_text("{}{}: {} bytes from offset {} do not lie in a buffer of {}", name, found->quoted_name(), bytes,
                       offset, found->bytes());
  }
  return {};
}

void STDMETHODCALLTYPE GraphicsCommandList::CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from,
                                                             UINT64 from_offset, UINT64 bytes) noexcept {
  record("CopyBufferRegion", [&]() -> std::string {
    Resource* target = nullptr;
    Resource* source = nullptr;
    if (std::string wrong = check_range("pDstBuffer", to, to_offset, bytes, target); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = check_range("pSrcBuffer", from, from_offset, bytes, source); !wrong.empty()) {
      return wrong;
    }
    if (target->heap_type() == D3D12_HEAP_TYPE_UPLOAD) {
      return format_text("pDstBuffer{} is in an UPLOAD heap, which is read-only; expected another heap",
                         target->quoted_name());
    }
    if (source->heap_type() == D3D12_HEAP_TYPE_READBACK) {
      return format_text("pSrcBuffer{} is in a READBACK heap, which is write-only; expected another heap",
                         source->quoted_name());
    }
    if (target == source && to_offset < from_offset + bytes && from_offset < to_offset + bytes && bytes != 0) {
      return format_text("the source and the destination overlap in one buffer{}; expected ranges that do not",
                         source->quoted_name());
    }
    if (bytes != 0) {
      recording_->commands.emplace_back(CopyCommand{target->number(), to_offset, source->number(), from_offset, bytes});
    }
    return {};
  });
}

void STDMETHODCALLTYPE GraphicsCommandList::CopyResource(ID3D12Resource* to, ID3D12Resource* from) noexcept {
  record("CopyResource", [&]() -> std::string {
    Resource* target = nullptr;
    Resource* source = nullptr;
    if (std::string wrong = check_range("pDstResource", to, 0, 0, target); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = check_range("pSrcResource", from, 0, 0, source); !wrong.empty()) {
      return wrong;
    }
    if (target == source) {
      return format_text("pDstResource and pSrcResource are the same buffer{}; expected two buffers",
                         source->quoted_name());
    }
    if (target->bytes() != source->bytes()) {
      return format_text("the sizes of pDstResource{} and pSrcResource{} are {} and {} bytes; expected equal sizes",
                         target->quoted_name(), source->quoted_name(), target->bytes(), source->bytes());
    }
    if (target->heap_type() == D3D12_HEAP_TYPE_UPLOAD) {
      return format_text("pDstResource{} is in an UPLOAD heap, which is read-only; expected another heap",
                         target->quoted_name());
    }
    if (source->heap_type() == D3D12_HEAP_TYPE_READBACK) {
      return format_text("pSrcResource{} is in a READBACK heap, which is write-only; expected another heap",
                         source->quoted_name());
    }
    recording_->commands.emplace_back(CopyCommand{target->number(), 0, source->number(), 0, source->bytes()});
    return {};
  });
}

// Commands run in order here, each after the previous one, so barriers only need to be validated.
void STDMETHODCALLTYPE GraphicsCommandList::ResourceBarrier(UINT count,
                                                            const D3D12_RESOURCE_BARRIER* barriers) noexcept {
  record("ResourceBarrier", [&]() -> std::string {
    if (barriers == nullptr && count != 0) {
      return format_text("pBarriers is null; expected {} barriers", count);
    }
    const auto is_own_or_null = [&](ID3D12Resource* resource) {
      return resource == nullptr || own<Resource>(resource, core()) != nullptr;
    };
    for (UINT i = 0; i < count; ++i) {
      const D3D12_RESOURCE_BARRIER& barrier = barriers[i];
      switch (barrier.Type) {
        case D3D12_RESOURCE_BARRIER_TYPE_TRANSITION: {
          const auto& transition = barrier.Transition;
          if (own<Resource>(transition.pResource, core()) == nullptr) {
            return format_text(
                "pBarriers[{}].Transition.pResource is null or another device's; expected a buffer of this device", i);
          }
          if (transition.Subresource != 0 && transition.Subresource != D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES) {
            return format_text("pBarriers[{}].Transition.Subresource is {}; expected 0 or ALL_SUBRESOURCES", i,
                               transition.Subresource);
          }
          if (transition.StateBefore == transition.StateAfter) {
            return format_text(
                "pBarriers[{}].Transition: StateBefore and StateAfter are both {:#x}; expected two "
                "states",
                i, static_cast<unsigned>(transition.StateBefore));
          }
          break;
        }
        case D3D12_RESOURCE_BARRIER_TYPE_ALIASING:
          if (!is_own_or_null(barrier.Aliasing.pResourceBefore) || !is_own_or_null(barrier.Aliasing.pResourceAfter)) {
            return format_text("pBarriers[{}].Aliasing names a buffer of another device", i);
          }
          break;
        case D3D12_RESOURCE_BARRIER_TYPE_UAV:
          if (!is_own_or_null(barrier.UAV.pResource)) {
            return format_text("pBarriers[{}].UAV.pResource is another device's", i);
          }
          break;
        default:
          return format_text("pBarriers[{}].Type is {}; expected TRANSITION, ALIASING or UAV", i,
                             static_cast<int>(barrier.Type));
      }
      if (core().tracker() != nullptr) {
        record_for_debugging(barrier);
      }
    }
    return {};
  });
}

void GraphicsCommandList::check_named_states(const D3D12_RESOURCE_TRANSITION_BARRIER& transition) {
  const auto* buffer = own<Resource>(transition.pResource, core());
  for (const bool is_after : {false, true}) {
    const StateMistake mistake = check_named_state(is_after ? transition.StateAfter : transition.StateBefore,
                                                   buffer->allows_unordered_access(), type_);
    if (!mistake.text.empty()) {
      core().report(
          mistake.message,
          format_text("ID3D12GraphicsCommandList::ResourceBarrier{}: the transition of buffer{} has {} {}",
                      quoted_name(), buffer->quoted_name(), is_after ? "StateAfter" : "StateBefore", mistake.text)
              .c_str());
    }
  }
}

void GraphicsCommandList::record_for_debugging(const D3D12_RESOURCE_BARRIER& barrier) {
  DebugBarrier recorded{.type = barrier.Type,
                        .flags = barrier.Flags,
                        .buffer = 0,
                        .before = D3D12_RESOURCE_STATE_COMMON,
                        .after = D3D12_RESOURCE_STATE_COMMON,
                        .heap = D3D12_HEAP_TYPE_DEFAULT,
                        .next_command = recording_->commands.size()};
  const auto set_buffer = [&](ID3D12Resource* resource) {
    if (const auto* buffer = own<Resource>(resource, core()); buffer != nullptr) {
      recorded.buffer = buffer->number();
      recorded.heap = buffer->heap_type();
    }
  };
  switch (barrier.Type) {
    case D3D12_RESOURCE_BARRIER_TYPE_TRANSITION:
      set_buffer(barrier.Transition.pResource);
      recorded.before = barrier.Transition.StateBefore;
      recorded.after = barrier.Transition.StateAfter;
      check_named_states(barrier.Transition);
      break;
    case D3D12_RESOURCE_BARRIER_TYPE_ALIASING:
      set_buffer(barrier.Aliasing.pResourceBefore);
      break;
    default:
      set_buffer(barrier.UAV.pResource);
      break;
  }
  recording_->debug.barriers.push_back(recorded);
}

void STDMETHODCALLTYPE GraphicsCommandList::SetDescriptorHeaps(UINT count,
                                                               ID3D12DescriptorHeap* const* heaps) noexcept {
  record("SetDescriptorHeaps", [&]() -> std::string {
    if (heaps == nullptr && count != 0) {
      return format_text("ppDescriptorHeaps is null; expected {} heaps", count);
    }
    std::shared_ptr<DescriptorStorage> views;
    for (UINT i = 0; i < count; ++i) {
      const auto* heap = own<DescriptorHeap>(heaps[i], core());
      if (heap == nullptr) {
        return format_text("ppDescriptorHeaps[{}] is null or another device's; expected a heap of this device", i);
      }
      if (!heap->storage()->visible) {
        return format_text("ppDescriptorHeaps[{}]{} is not shader-visible; expected a shader-visible heap", i,
                           heap->quoted_name());
      }
      if (heap->storage()->type == D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV) {
        if (views != nullptr) {
          return format_text("ppDescriptorHeaps[{}]{} is a second heap of type CBV_SRV_UAV; expected one of each type",
                             i, heap->quoted_name());
        }
        views = heap->storage();
      }
    }
    views_ = std::move(views);
    return {};
  });
}

void STDMETHODCALLTYPE GraphicsCommandList::ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                                                         D3D12_CPU_DESCRIPTOR_HANDLE cpu,
                                                                         ID3D12Resource* resource, const UINT* values,
                                                                         UINT rect_count, const D3D12_RECT*) noexcept {
  record("ClearUnorderedAccessViewUint", [&]() -> std::string {
    Resource* buffer = nullptr;
    if (std::string wrong = check_range("pResource", resource, 0, 0, buffer); !wrong.empty()) {
      return wrong;
    }
    if (values == nullptr) {
      return "Values is null; expected four numbers";
    }
    if (rect_count != 0) {
      return format_text("NumRects is {}; expected 0 for a buffer", rect_count);
    }
    const DescriptorSlot in_heap = core().find_descriptors(gpu, 1);
    if (!in_heap || in_heap.heap != views_) {
      return "ViewGPUHandleInCurrentHeap is not in the heap that SetDescriptorHeaps set";
    }
    const DescriptorSlot slot = core().find_descriptors(cpu, 1);
    if (!slot) {
      return "ViewCPUHandle is not in a descriptor heap of this device";
    }
    const Descriptor view = *slot.get();
    if (view.kind != DescriptorKind::raw_view && view.kind != DescriptorKind::typed_view) {
      return "ViewCPUHandle is not an unordered access view";
    }
    if (view.buffer != buffer->number()) {
      return format_text("ViewCPUHandle is a view of another buffer{}; expected one of pResource{}",
                         with_name("", core().buffer_name(view.buffer)), buffer->quoted_name());
    }
    if (view.kind == DescriptorKind::typed_view && view.detail != sizeof(UINT)) {
      return format_text("the view has elements of {} bytes; expected a RAW view or one of 32-bit elements",
                         view.detail);
    }
    recording_->commands.emplace_back(ClearCommand{view, {values[0], values[1], values[2], values[3]}});
    return {};
  });
}

void STDMETHODCALLTYPE GraphicsCommandList::DiscardResource(ID3D12Resource* resource,
                                                            const D3D12_DISCARD_REGION*) noexcept {
  record("DiscardResource", [&]() -> std::string {
    Resource* buffer = nullptr;
    return check_range("pResource", resource, 0, 0, buffer);  // keeping the contents is allowed
  });
}

std::string GraphicsCommandList::check_query(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, std::uint64_t end,
                                             std::shared_ptr<QueryStorage>& queries) const {
  const auto* known = own<QueryHeap>(heap, core());
  if (known == nullptr) {
    return "pQueryHeap is null or another device's; expected a query heap of this device";
  }
  if (type != D3D12_QUERY_TYPE_TIMESTAMP) {
    return format_text("Type is {}; expected TIMESTAMP (2)", static_cast<int>(type));
  }
  if (end > known->storage()->count()) {
    return format_text("query {} is past the {} of the heap{}", end - 1, known->storage()->count(),
                       known->quoted_name());
  }
  queries = known->storage();
  return {};
}

void STDMETHODCALLTYPE GraphicsCommandList::BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) noexcept {
  record("BeginQuery",
         []() -> std::string { return "a TIMESTAMP query, the only kind supported, uses EndQuery only"; });
}

void STDMETHODCALLTYPE GraphicsCommandList::EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type,
                                                     UINT index) noexcept {
  record("EndQuery", [&]() -> std::string {
    std::shared_ptr<QueryStorage> queries;
    if (std::string wrong = check_query(heap, type, std::uint64_t{index} + 1, queries); !wrong.empty()) {
      return wrong;
    }
    recording_->commands.emplace_back(TimestampCommand{std::move(queries), index});
    return {};
  });
}

void STDMETHODCALLTYPE GraphicsCommandList::ResolveQueryData(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT first,
                                                             UINT count, ID3D12Resource* to,
                                                             UINT64 to_offset) noexcept {
  record("ResolveQueryData", [&]() -> std::string {
    std::shared_ptr<QueryStorage> queries;
    if (std::string wrong = check_query(heap, type, std::uint64_t{first} + count, queries); !wrong.empty()) {
      return wrong;
    }
    Resource* target = nullptr;
    if (std::string wrong =
            check_range("pDestinationBuffer", to, to_offset, std::uint64_t{count} * sizeof(UINT64), target);
        !wrong.empty()) {
      return wrong;
    }
    if (to_offset % sizeof(UINT64) != 0) {
      return format_text("AlignedDestinationBufferOffset is {}; expected a multiple of 8", to_offset);
    }
    if (target->heap_type() == D3D12_HEAP_TYPE_UPLOAD) {
      return format_text("pDestinationBuffer{} is in an UPLOAD heap, which is read-only; expected another heap",
                         target->quoted_name());
    }
    if (count != 0) {
      recording_->commands.emplace_back(ResolveCommand{std::move(queries), first, count, target->number(), to_offset});
    }
    return {};
  });
}

HRESULT GraphicsCommandList::record_dispatch(IBridgeDispatch* dispatch, D3D12_GPU_DESCRIPTOR_HANDLE first,
                                             std::uint32_t count, std::uint32_t table,
                                             const ResolvedDescriptor* recorded, const char** why) noexcept {
  return com_boundary("IDMLCommandRecorder::RecordDispatch", [&]() -> HRESULT {
    const auto wrong = [why](const char* what) {
      *why = what;
      return E_INVALIDARG;
    };
    if (state_ != State::open) {
      return wrong("is closed; expected it open");
    }
    if (type_ != D3D12_COMMAND_LIST_TYPE_DIRECT && type_ != D3D12_COMMAND_LIST_TYPE_COMPUTE) {
      return wrong("is of type COPY; expected DIRECT or COMPUTE");
    }
    DescriptorSlot slot;
    if (count != 0) {
      slot = core().find_descriptors(first, count);
      if (!slot || slot.heap != views_) {
        return wrong(
            "has not set the descriptor heap of the binding table's GPUDescriptorHandle; expected "
            "SetDescriptorHeaps with it first");
      }
    }
    std::vector<Descriptor>& kept = recording_->descriptors;
    const std::size_t first_recorded = recorded != nullptr ? kept.size() : DispatchCommand::kNothingRecorded;
    if (recorded != nullptr) {
      reserve_more(kept, count);
      for (std::uint32_t i = 0; i < count; ++i) {
        kept.push_back(recorded[i].descriptor);
      }
    }
    recording_->commands.emplace_back(DispatchCommand{ComPtr<IBridgeDispatch>::share(dispatch), slot.heap, slot.index,
                                                      count, table, dispatch->copies(), first_recorded});
    return S_OK;
  });
}

std::string GraphicsCommandList::why_not_executable(D3D12_COMMAND_LIST_TYPE queue_type) const {
  switch (state_) {
    case State::open:
      return "is open; expected it closed";
    case State::spoilt:
      return "failed to close, because " + spoilt_message_;
    case State::closed:
      break;
  }
  if (FAILED(spoilt_by_)) {
    return "was used after it was closed; expected calls on open lists only";
  }
  if (queue_type != type_) {
    return format_text("is of type {}; expected {}, the queue's", type_text(type_), type_text(queue_type));
  }
  return {};
}

}  // namespace anydml
