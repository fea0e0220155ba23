// SPDX-License-Identifier: MIT
// The interface of a kernel in GLSL (backend/vulkan/family.h). A kernel includes this file after #version, declares its
// push constants as
//
//   layout(push_constant, std430) uniform Push {
//     KernelHeader header;
//     ...                     // its own constants, at most 104 bytes
//   } push;
//
// and its group size, which specialization constants may set.
#ifndef ANYDML_KERNEL_GLSL
#define ANYDML_KERNEL_GLSL
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer OperandTable { uint64_t address[]; };

struct KernelHeader {
  OperandTable operands;
  uint64_t parameters;
  uint first_group;
  uint columns;
};

// The number of this group within its dispatch, which the backend may split into parts. No part has groups that do not
// belong to the dispatch.
#define group_index() (push.header.first_group + gl_WorkGroupID.y * push.header.columns + gl_WorkGroupID.x)
// The address of an operand; the workspace comes after the operands.
#define operand_address(i) (push.header.operands.address[i])

#endif
