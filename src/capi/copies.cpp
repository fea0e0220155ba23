// SPDX-License-Identifier: MIT
#include "capi/copies.h"

#include <algorithm>

#include "base/checked.h"
#include "capi/device_memory.h"
#include "ops/elementwise/copy.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {

TensorDesc without_repeats(TensorDesc tensor) {
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    tensor.sizes[i] = tensor.strides[i] == 0 ? std::min<std::int64_t>(tensor.sizes[i], 1) : tensor.sizes[i];
  }
  return tensor;
}

class ElementCopy {
 public:
  explicit ElementCopy(const Device& device) : device_(&device) {}

  Status compile(std::string_view label, const TensorDesc& from, const TensorDesc& to) {
    Plan plan(1, 1);
    add_copy(plan, {.tensor = without_repeats(from), .slot = plan.input_slot(0)},
             {.tensor = without_repeats(to), .slot = plan.output_slot(0)});
    BackendProgram* compiled = nullptr;
    const BackendPlan flat = backend_plan(plan);
    const BackendStatus status = device_->backend->compile(device_->handle, &flat, &compiled);
    program_ = DeviceProgram(*device_->backend, compiled);
    return from_backend(label, *device_->backend, status);
  }
  Status run(Run& run, DeviceAddress from, DeviceAddress to) const {
    const DeviceAddress addresses[] = {from, to};
    return run.run(program_.get(), addresses);
  }

 private:
  const Device* device_;
  DeviceProgram program_;
};

namespace {

// Copies elements on the CPU and returns when the copy is complete. Bytes between elements do not belong to the tensor,
// and are neither read nor written.
Status copy_elements(std::string_view label, const TensorDesc& from_tensor, const void* from,
                     const TensorDesc& to_tensor, void* to) {
  const auto cpu = cpu_device();
  ANYDML_TRY(cpu);
  ElementCopy copy(*cpu.value());
  ANYDML_TRY(copy.compile(label, from_tensor, to_tensor));
  Run run(*cpu.value(), label);
  ANYDML_TRY(run.begin());
  ANYDML_TRY(copy.run(run, number_of(from), number_of(to)));
  return run.finish();
}

}  // namespace

std::optional<DeviceAddress> address_on(const Device& device, const std::byte* pointer, Reach reach) {
  if (device.info.shares_addresses == 0) {
    const auto found = device.named.find(pointer);
    return found ? std::optional(found->address) : std::nullopt;
  }
  const bool is_reached =
      device.info.unified_memory != 0 || device.backend->access(device.handle, pointer + reach.first) == Access::direct;
  return is_reached ? std::optional(number_of(pointer)) : std::nullopt;
}

Copies::Copies(const anydml_compiled& compiled, const anydml_compiled& program, const OperandSet& copied)
    : device_(*compiled.device),
      outside_(compiled.surface),
      inside_(program.surface),
      copied_(copied),
      updated_(program.updated),
      offsets_(inside_.tensors.size()),
      staged_(inside_.tensors.size()) {}
Copies::~Copies() = default;

Result<std::uint64_t> Copies::assign_locations(std::uint64_t before) {
  constexpr std::uint64_t kAlignment = 256;
  auto bytes = checked_align_bytes(before, kAlignment);
  for (std::size_t i = 0; i < offsets_.size() && bytes; ++i) {
    if (copied_.has(i)) {
      offsets_[i] = *bytes;
      const auto own = checked_align_bytes(bytes_of(inside_.tensors[i].reach), kAlignment);
      bytes = own ? checked_add_bytes(*bytes, *own) : std::nullopt;
    }
  }
  if (!bytes) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: the tensors span more bytes in total than 64 bits can count", outside_.label)};
  }
  return *bytes;
}

Status Copies::bring(Run& run, const Addresses& addresses, const Temporary& memory, Addresses& inside) {
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    if (!copied_.has(i)) {
      continue;
    }
    const Reach reach = inside_.tensors[i].reach;
    inside[i] = memory.address() + offsets_[i] - static_cast<std::uint64_t>(reach.first);
    const bool is_updated =
        i >= inside_.input_count && std::ranges::find(updated_, i - inside_.input_count) != updated_.end();
    if (i < inside_.input_count || is_updated) {
      ANYDML_TRY(bring_input(run, i, pointer_of(addresses[i]), memory));
    }
  }
  return {};
}

Status Copies::take_back(Run& run, const Addresses& addresses, const Temporary& memory) {
  for (std::size_t i = inside_.input_count; i < offsets_.size(); ++i) {
    if (!copied_.has(i)) {
      continue;
    }
    const Reach reach = inside_.tensors[i].reach;
    std::byte* to = pointer_of(addresses[i]) + reach.first;
    if (!is_dense(outside_.tensors[i].tensor)) {
      staged_[i] = std::make_unique_for_overwrite<std::byte[]>(bytes_of(reach));
      to = staged_[i].get();
    }
    ANYDML_TRY(run.copy(location_at(to), memory.location(offsets_[i]), bytes_of(reach)));
  }
  return {};
}

Status Copies::spread(const Addresses& addresses) const {
  for (std::size_t i = inside_.input_count; i < offsets_.size(); ++i) {
    if (staged_[i] != nullptr) {
      ANYDML_TRY(copy_elements(outside_.label, inside_.tensors[i].tensor,
                               staged_[i].get() - inside_.tensors[i].reach.first, outside_.tensors[i].tensor,
                               pointer_of(addresses[i])));
    }
  }
  return {};
}

// If the copy has the same layout as the input, the bytes are copied. Otherwise the copy is packed: the device gathers
// the elements if it can access them, and otherwise the CPU does.
Status Copies::bring_input(Run& run, std::size_t i, const std::byte* from, const Temporary& memory) {
  const OpTensor& outside = outside_.tensors[i];
  const OpTensor& inside = inside_.tensors[i];
  const MemoryLocation to = memory.location(offsets_[i]);
  if (same_layout(outside.tensor, inside.tensor)) {
    return run.copy(to, location_of(device_, from + inside.reach.first), bytes_of(inside.reach));
  }
  if (const auto reached = address_on(device_, from, outside.reach)) {
    auto& copy = gathered_.emplace_back(std::make_unique<ElementCopy>(device_));
    ANYDML_TRY(copy->compile(outside_.label, outside.tensor, inside.tensor));
    return copy->run(run, *reached, memory.address() + offsets_[i] - static_cast<std::uint64_t>(inside.reach.first));
  }
  staged_[i] = std::make_unique_for_overwrite<std::byte[]>(bytes_of(inside.reach));
  ANYDML_TRY(copy_elements(outside_.label, outside.tensor, from, inside.tensor, staged_[i].get()));
  return run.copy(to, location_at(staged_[i].get()), bytes_of(inside.reach));
}

}  // namespace anydml
