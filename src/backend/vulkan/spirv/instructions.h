// SPDX-License-Identifier: MIT
// The part of SPIR-V that this backend reads and writes: the instructions of functions over numbers, and what an entry
// point needs around them. Numbers and rules are those of the SPIR-V specification, version 1.5.
#pragma once

#include <cstdint>

namespace anydml::vulkan::spirv {

inline constexpr std::uint32_t kMagic = 0x07230203;
inline constexpr std::uint32_t kVersion = 0x00010500;  // that every device with Vulkan 1.2 accepts
inline constexpr std::uint32_t kHeaderWords = 5;

// ANYDML_INSTRUCTION(name, number, kind, operands)
//   kind      module    an instruction outside of functions that this backend writes itself
//             declared  a type, constant or global variable: it precedes the functions, and equal ones are shared
//             inside    an instruction of a function
//             both      a variable or an undefined value, which may be in either place
//   operands  a letter for each operand: t the type of the result, r the result, i an id, l a literal word, I any
//   number
//             of ids, L any number of literal words, W any number of pairs of a literal word and an id
#define ANYDML_FOR_EACH_INSTRUCTION(X)         \
  X(Undef, 1, both, "tr")                      \
  X(Source, 3, module, "L")                    \
  X(SourceExtension, 4, module, "L")           \
  X(Name, 5, module, "iL")                     \
  X(MemberName, 6, module, "ilL")              \
  X(Extension, 10, module, "L")                \
  X(ExtInstImport, 11, module, "rL")           \
  X(ExtInst, 12, inside, "trilI")              \
  X(MemoryModel, 14, module, "ll")             \
  X(EntryPoint, 15, module, "lL")              \
  X(ExecutionMode, 16, module, "ilL")          \
  X(Capability, 17, module, "l")               \
  X(TypeVoid, 19, declared, "r")               \
  X(TypeBool, 20, declared, "r")               \
  X(TypeInt, 21, declared, "rll")              \
  X(TypeFloat, 22, declared, "rl")             \
  X(TypeVector, 23, declared, "ril")           \
  X(TypeArray, 28, declared, "rii")            \
  X(TypeRuntimeArray, 29, declared, "ri")      \
  X(TypeStruct, 30, declared, "rI")            \
  X(TypePointer, 32, declared, "rli")          \
  X(TypeFunction, 33, declared, "rI")          \
  X(ConstantTrue, 41, declared, "tr")          \
  X(ConstantFalse, 42, declared, "tr")         \
  X(Constant, 43, declared, "trL")             \
  X(ConstantComposite, 44, declared, "trI")    \
  X(ConstantNull, 46, declared, "tr")          \
  X(Function, 54, inside, "trli")              \
  X(FunctionParameter, 55, inside, "tr")       \
  X(FunctionEnd, 56, inside, "")               \
  X(FunctionCall, 57, inside, "triI")          \
  X(Variable, 59, both, "trlI")                \
  X(Load, 61, inside, "triL")                  \
  X(Store, 62, inside, "iiL")                  \
  X(AccessChain, 65, inside, "triI")           \
  X(InBoundsAccessChain, 66, inside, "triI")   \
  X(Decorate, 71, module, "ilL")               \
  X(MemberDecorate, 72, module, "illL")        \
  X(CompositeConstruct, 80, inside, "trI")     \
  X(CompositeExtract, 81, inside, "triL")      \
  X(CompositeInsert, 82, inside, "triiL")      \
  X(ConvertFToU, 109, inside, "tri")           \
  X(ConvertFToS, 110, inside, "tri")           \
  X(ConvertSToF, 111, inside, "tri")           \
  X(ConvertUToF, 112, inside, "tri")           \
  X(UConvert, 113, inside, "tri")              \
  X(SConvert, 114, inside, "tri")              \
  X(FConvert, 115, inside, "tri")              \
  X(ConvertPtrToU, 117, inside, "tri")         \
  X(ConvertUToPtr, 120, inside, "tri")         \
  X(Bitcast, 124, inside, "tri")               \
  X(SNegate, 126, inside, "tri")               \
  X(FNegate, 127, inside, "tri")               \
  X(IAdd, 128, inside, "trii")                 \
  X(FAdd, 129, inside, "trii")                 \
  X(ISub, 130, inside, "trii")                 \
  X(FSub, 131, inside, "trii")                 \
  X(IMul, 132, inside, "trii")                 \
  X(FMul, 133, inside, "trii")                 \
  X(UDiv, 134, inside, "trii")                 \
  X(SDiv, 135, inside, "trii")                 \
  X(FDiv, 136, inside, "trii")                 \
  X(UMod, 137, inside, "trii")                 \
  X(SRem, 138, inside, "trii")                 \
  X(SMod, 139, inside, "trii")                 \
  X(IAddCarry, 149, inside, "trii")            \
  X(ISubBorrow, 150, inside, "trii")           \
  X(UMulExtended, 151, inside, "trii")         \
  X(SMulExtended, 152, inside, "trii")         \
  X(IsNan, 156, inside, "tri")                 \
  X(LogicalEqual, 164, inside, "trii")         \
  X(LogicalNotEqual, 165, inside, "trii")      \
  X(LogicalOr, 166, inside, "trii")            \
  X(LogicalAnd, 167, inside, "trii")           \
  X(LogicalNot, 168, inside, "tri")            \
  X(Select, 169, inside, "triii")              \
  X(IEqual, 170, inside, "trii")               \
  X(INotEqual, 171, inside, "trii")            \
  X(UGreaterThan, 172, inside, "trii")         \
  X(SGreaterThan, 173, inside, "trii")         \
  X(UGreaterThanEqual, 174, inside, "trii")    \
  X(SGreaterThanEqual, 175, inside, "trii")    \
  X(ULessThan, 176, inside, "trii")            \
  X(SLessThan, 177, inside, "trii")            \
  X(ULessThanEqual, 178, inside, "trii")       \
  X(SLessThanEqual, 179, inside, "trii")       \
  X(FOrdEqual, 180, inside, "trii")            \
  X(FOrdLessThan, 184, inside, "trii")         \
  X(FOrdLessThanEqual, 188, inside, "trii")    \
  X(ShiftRightLogical, 194, inside, "trii")    \
  X(ShiftRightArithmetic, 195, inside, "trii") \
  X(ShiftLeftLogical, 196, inside, "trii")     \
  X(BitwiseOr, 197, inside, "trii")            \
  X(BitwiseXor, 198, inside, "trii")           \
  X(BitwiseAnd, 199, inside, "trii")           \
  X(Not, 200, inside, "tri")                   \
  X(BitFieldUExtract, 203, inside, "triii")    \
  X(BitCount, 205, inside, "tri")              \
  X(Phi, 245, inside, "trI")                   \
  X(LoopMerge, 246, inside, "iil")             \
  X(SelectionMerge, 247, inside, "il")         \
  X(Label, 248, inside, "r")                   \
  X(Branch, 249, inside, "i")                  \
  X(BranchConditional, 250, inside, "iii")     \
  X(Switch, 251, inside, "iiW")                \
  X(Return, 253, inside, "")                   \
  X(ReturnValue, 254, inside, "i")             \
  X(Unreachable, 255, inside, "")

enum class Op : std::uint16_t {
#define ANYDML_OP(name, number, kind, operands) name = number,
  ANYDML_FOR_EACH_INSTRUCTION(ANYDML_OP)
#undef ANYDML_OP
};

enum class Kind : std::uint8_t { unknown, module, declared, inside, both };

struct Grammar {
  Kind kind = Kind::unknown;
  const char* operands = "";
};
// The grammar of an instruction; of kind unknown if this backend does not know it.
[[nodiscard]] Grammar grammar_of(std::uint32_t op);

enum class Storage : std::uint32_t {
  input = 1,
  workgroup = 4,
  private_ = 6,
  function = 7,
  push_constant = 9,
  physical = 5349,  // PhysicalStorageBuffer
};
enum class Capability : std::uint32_t {
  shader = 1,
  linkage = 5,
  float16 = 9,
  float64 = 10,
  int64 = 11,
  int16 = 22,
  int8 = 39,
  storage_16 = 4433,  // StorageBuffer16BitAccess
  storage_8 = 4448,   // StorageBuffer8BitAccess
  denorm_preserve = 4464,
  signed_zero_inf_nan_preserve = 4466,
  rounding_mode_rte = 4467,
  physical_addresses = 5347,  // PhysicalStorageBufferAddresses
};
enum class Decoration : std::uint32_t {
  block = 2,
  array_stride = 6,
  built_in = 11,
  aliased = 20,
  aliased_pointer = 5356,
  offset = 35,
  linkage = 41,  // LinkageAttributes
  no_contraction = 42,
};
enum class Mode : std::uint32_t {
  local_size = 17,
  denorm_preserve = 4459,
  signed_zero_inf_nan_preserve = 4461,
  rounding_mode_rte = 4462,
};
enum class BuiltIn : std::uint32_t { workgroup_id = 26, local_invocation_id = 27 };
inline constexpr std::uint32_t kExport = 0;  // linkage types
inline constexpr std::uint32_t kImport = 1;

// Instructions of GLSL.std.450.
enum class Glsl : std::uint32_t {
  round_even = 2,
  trunc = 3,
  floor = 8,
  ceil = 9,
  sqrt = 31,
  fma = 50,
  pack_half = 58,
  unpack_half = 62,
  find_u_msb = 75,
};

}  // namespace anydml::vulkan::spirv
