// SPDX-License-Identifier: MIT
#include "directml/bindings.h"

#include "base/quoted.h"
#include "com/private_data.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr DeviceAddress kThere = 1;  // a placeholder for the real address, which is known at submission

const char* heap_name(D3D12_HEAP_TYPE heap) {
  return heap == D3D12_HEAP_TYPE_UPLOAD ? "an UPLOAD" : heap == D3D12_HEAP_TYPE_READBACK ? "a READBACK" : "another";
}

// Checks one range. A range that passes this check also passes it at submission, unless the application wrote the
// descriptor itself.
std::string check_range(const DmlCore& core, const Requirement& requirement, const ResolvedDescriptor& binding) {
  const auto buffer = [&] { return core.buffer_text(binding.descriptor.buffer); };
  const Descriptor& range = binding.descriptor;
  if (range.offset > binding.facts.bytes || range.bytes > binding.facts.bytes - range.offset) {
    return wrong(requirement, format_text("{} bytes from Offset {} do not lie in a {} of {} bytes", range.bytes,
                                          range.offset, buffer(), binding.facts.bytes));
  }
  if (range.bytes < requirement.bytes) {
    return wrong(requirement, format_text("SizeInBytes is {}{}; expected {} or more", range.bytes,
                                          core.in_buffer(range.buffer), requirement.bytes));
  }
  if (range.offset % requirement.alignment != 0) {
    return wrong(requirement, format_text("Offset is {}{}; expected a multiple of {}", range.offset,
                                          core.in_buffer(range.buffer), requirement.alignment));
  }
  const D3D12_HEAP_TYPE heap = binding.facts.heap;
  const bool upload = heap == D3D12_HEAP_TYPE_UPLOAD && requirement.may_be_upload;
  if (heap != D3D12_HEAP_TYPE_DEFAULT && heap != D3D12_HEAP_TYPE_CUSTOM && !upload) {
    return wrong(requirement, format_text("the {} is in {} heap; expected DEFAULT or CUSTOM{}", buffer(),
                                          heap_name(heap), requirement.may_be_upload ? " or UPLOAD" : ""));
  }
  if ((binding.facts.flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) == 0 && !requirement.may_be_upload) {
    return wrong(requirement,
                 format_text("the {} was created without ALLOW_UNORDERED_ACCESS; expected that flag", buffer()));
  }
  return {};
}

}  // namespace

std::string wrong(const Requirement& requirement, const std::string& what) {
  return format_text("{}: {}: {}", requirement.work.label(), requirement.name, what);
}

std::string take_buffer(DmlCore& core, const Requirement& requirement, const DML_BUFFER_BINDING& given,
                        ResolvedDescriptor& binding) {
  binding = {};
  if (given.Buffer == nullptr) {
    return {};
  }
  const auto buffer = query<IBridgeBuffer>(given.Buffer);
  if (!buffer) {
    return wrong(requirement, "Buffer is not a resource of this library; expected one of libd3d12's");
  }
  ResolvedDescriptor taken{};
  buffer->describe(&taken.facts);
  if (taken.facts.device != core.parent().identity()) {
    return wrong(requirement, format_text("{} belongs to another D3D12 device; expected one of this device's",
                                          with_name("Buffer", object_name(*given.Buffer))));
  }
  taken.descriptor = {.buffer = taken.facts.buffer,
                      .offset = given.Offset,
                      .bytes = given.SizeInBytes,
                      .kind = DescriptorKind::binding,
                      .detail = 0};
  taken.address = kThere;
  // A binding that needs no bytes may be empty, because programs bind a temporary resource of the size that the
  // operator reports, even if that is 0.
  const bool takes_rest = given.SizeInBytes == 0 && requirement.bytes != 0 && given.Offset <= taken.facts.bytes;
  if (takes_rest) {
    taken.descriptor.bytes = taken.facts.bytes - given.Offset;
    if (taken.descriptor.bytes < requirement.bytes) {
      return wrong(requirement,
                   format_text("SizeInBytes is 0, which means the rest of the {}, and that is {} bytes from Offset {}; "
                               "expected {} or more",
                               core.buffer_text(taken.descriptor.buffer), taken.descriptor.bytes, given.Offset,
                               requirement.bytes));
    }
  }
  if (std::string what = check_range(core, requirement, taken); !what.empty()) {
    return what;
  }
  if (takes_rest) {
    core.warn(("IDMLBindingTable: " +
               wrong(requirement, format_text("SizeInBytes is 0; the rest of the {} is bound, {} bytes from Offset {}, "
                                              "but other implementations may fail; expected the size, {} or more",
                                              core.buffer_text(taken.descriptor.buffer), taken.descriptor.bytes,
                                              given.Offset, requirement.bytes)))
                  .c_str());
  }
  binding = taken;
  return {};
}

std::string take_binding(DmlCore& core, const Requirement& requirement, const DML_BINDING_DESC& given,
                         ResolvedDescriptor& binding) {
  binding = {};
  if (given.Type == DML_BINDING_TYPE_NONE) {
    return {};
  }
  if (given.Type != DML_BINDING_TYPE_BUFFER) {
    return wrong(requirement, format_text("the binding's Type is {}; expected DML_BINDING_TYPE_BUFFER (1)",
                                          static_cast<unsigned>(given.Type)));
  }
  if (given.Desc == nullptr) {
    return wrong(requirement, "the binding's Desc is null; expected a DML_BUFFER_BINDING");
  }
  return take_buffer(core, requirement, *static_cast<const DML_BUFFER_BINDING*>(given.Desc), binding);
}

std::string check_present(const DmlCore& core, const Requirement& requirement, const ResolvedDescriptor& binding) {
  if (binding.descriptor.kind == DescriptorKind::none) {
    return wrong(requirement, binding.overwritten
                                  ? "another binding table overwrote its descriptor after the dispatch was recorded; "
                                    "expected separate descriptors until the list is executed"
                                  : "nothing is bound; expected a buffer");
  }
  if (binding.descriptor.kind != DescriptorKind::binding) {
    return wrong(requirement, "its descriptor was overwritten by a view; expected the binding table's own");
  }
  if (binding.address == 0) {
    return wrong(requirement, format_text("the {} bound to it was released before the list was executed",
                                          core.buffer_text(binding.descriptor.buffer)));
  }
  if (binding.facts.device != core.parent().identity()) {
    return wrong(requirement, "Buffer belongs to another D3D12 device; expected one of this device's");
  }
  return check_range(core, requirement, binding);
}

Requirement persistent_requirement(const Execution& target) {
  return {target, "persistent resource", target.properties().PersistentResourceSize, kResourceAlignment, false};
}

Requirement temporary_requirement(const Work& work) {
  return {work, "temporary resource", work.properties().TemporaryResourceSize, kResourceAlignment, false};
}

}  // namespace anydml
