// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/kernel.h"

#include <cstddef>

#include "backend/vulkan/family.h"

namespace anydml::vulkan::spirv {

static_assert(offsetof(KernelHeader, operands) == 0 && offsetof(KernelHeader, parameters) == 8 &&
              offsetof(KernelHeader, first_group) == 16 && offsetof(KernelHeader, columns) == 20 &&
              sizeof(KernelHeader) == 24);

Kernel::Kernel(Builder& builder, std::uint32_t own_constants) : builder_(builder) {
  Words members = {u64_type(), u64_type(), u32_type(), u32_type()};
  members.insert(members.end(), own_constants, u64_type());
  const Id block = builder.declare_anew(Op::TypeStruct, members);
  builder.decorate(block, Decoration::block);
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    const std::uint32_t offset = member < 2 ? member * 8 : member < 4 ? 16 + (member - 2) * 4 : 24 + (member - 4) * 8;
    builder.decorate_member(block, member, Decoration::offset, {offset});
  }
  const auto variable = [&](Storage storage, Id type) {
    return builder.declare_anew(Op::Variable,
                                {builder.pointer_type(storage, type), static_cast<std::uint32_t>(storage)});
  };
  push_ = variable(Storage::push_constant, block);
  const Id three = builder.vector_type(u32_type(), 3);
  group_ = variable(Storage::input, three);
  builder.decorate(group_, Decoration::built_in, {static_cast<std::uint32_t>(BuiltIn::workgroup_id)});
  lane_ = variable(Storage::input, three);
  builder.decorate(lane_, Decoration::built_in, {static_cast<std::uint32_t>(BuiltIn::local_invocation_id)});
}

Id Kernel::constant_member(std::uint32_t member, std::uint32_t bits) {
  const Id type = builder_.int_type(bits);
  const Id at = builder_.emit(Op::AccessChain, builder_.pointer_type(Storage::push_constant, type),
                              {push_, builder_.constant(member)});
  return builder_.emit(Op::Load, type, {at});
}

Id Kernel::built_in(BuiltIn which, std::uint32_t component) {
  const Id three = builder_.vector_type(u32_type(), 3);
  const Id all = builder_.emit(Op::Load, three, {which == BuiltIn::workgroup_id ? group_ : lane_});
  return builder_.emit(Op::CompositeExtract, u32_type(), {all, component});
}

Id Kernel::thread_number(std::uint32_t bits) {
  const Id row = builder_.emit(Op::IMul, u32_type(), {built_in(BuiltIn::workgroup_id, 1), constant_member(3, 32)});
  const Id within = builder_.emit(Op::IAdd, u32_type(), {row, built_in(BuiltIn::workgroup_id, 0)});
  Id group = builder_.emit(Op::IAdd, u32_type(), {constant_member(2, 32), within});
  Id lane = built_in(BuiltIn::local_invocation_id, 0);
  const Id type = builder_.int_type(bits);
  Id threads = builder_.constant(kThreads);
  if (bits == 64) {
    group = builder_.emit(Op::UConvert, type, {group});
    lane = builder_.emit(Op::UConvert, type, {lane});
    threads = builder_.constant_64(kThreads);
  }
  return builder_.emit(Op::IAdd, type, {builder_.emit(Op::IMul, type, {group, threads}), lane});
}

Id Kernel::pointer(Id address, Id type) {
  return builder_.emit(Op::ConvertUToPtr, builder_.pointer_type(Storage::physical, type), {address});
}

Id Kernel::load(Id address, Id type, std::uint32_t align) {
  return builder_.emit(Op::Load, type, {pointer(address, type), 2, align});  // 2: Aligned
}

void Kernel::store(Id address, Id type, Id value, std::uint32_t align) {
  builder_.emit(Op::Store, {pointer(address, type), value, 2, align});
}

Id Kernel::operand_address(std::uint32_t operand) {
  return load(add_constant(operands(), std::uint64_t{operand} * 8), u64_type(), 8);
}

}  // namespace anydml::vulkan::spirv
