// SPDX-License-Identifier: MIT
// Tries a device's own primitives on inputs that are hard for them, and compares the bits with base/integer_floats.h.
#include "backend/vulkan/trials.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/kernel.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/float_bits.h"
#include "base/integer_floats.h"

namespace anydml::vulkan {
namespace {

using spirv::Builder;
using spirv::Id;
using spirv::Op;
using spirv::Primitive;

constexpr std::uint32_t kGroups = 128;
constexpr std::size_t kInputs = std::size_t{kGroups} * spirv::kThreads;
struct Input {
  u64 values[3];
};

class Random {
 public:
  u64 operator()() {  // splitmix64
    u64 z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  u64 state_ = 52;
};

// A quarter of the numbers is near the limits of a class of numbers; half of them have exponents so close that sums
// cancel; of some, few digits are nonzero, so that results are ties.
template <class Format>
u64 random_float(Random& random) {
  using F = FormatParts<Format>;
  constexpr u64 kOne = static_cast<u64>(F::kBias) << F::kFractionBits;
  constexpr u64 kEdges[] = {
      0,          F::kHidden,         F::kInfinity, kOne,          kOne + F::kHidden, kOne - F::kHidden,
      F::kHidden, F::kHidden * 2 - 1, F::kQuietNan, F::kHidden / 2};
  const u64 bits = random();
  const u64 sign = bits & F::kSign;
  u64 fraction = random() & F::kFraction;
  switch (random() % 8) {
    case 0:
    case 1:
      return sign | ((kEdges[bits % std::size(kEdges)] + (bits >> 32) % 3 - 1) & F::kMagnitude);
    case 2:
      return bits & (F::kSign | F::kMagnitude);
    case 3:
      return sign | (fraction >> (random() % F::kFractionBits));  // subnormal
    case 4:
    case 5:
      fraction &= ~u64{0} << (random() % F::kFractionBits);
      break;
    default:
      break;
  }
  return sign | ((static_cast<u64>(F::kBias) - 8 + random() % 16) << F::kFractionBits) | fraction;
}

// A float of the format in the range of an integer with this many digits. Integers may be negative if they are signed.
template <class Format>
u64 float_in_range(Random& random, int digits, bool is_signed) {
  using F = FormatParts<Format>;
  const u64 exponent = static_cast<u64>(F::kBias) - 2 + random() % static_cast<u64>(digits + 2);
  return (is_signed ? random() & F::kSign : 0) | (exponent << F::kFractionBits) | (random() & F::kFraction);
}

struct Trial {
  Input (*make)(Random&);
  u64 (*compute)(const Input&);
  std::uint32_t result_bits;  // of a float; 0 for other results
};

template <class Bits>
using FormatOf = std::conditional_t<sizeof(Bits) == 4, Float32Format, Float64Format>;
template <class Bits>
using Exact = IntegerFloat<FormatOf<Bits>, IntegerMachine>;

template <class Bits>
Input make_floats(Random& random) {
  Input input = {};
  for (u64& value : input.values) {
    value = random_float<FormatOf<Bits>>(random);
  }
  if (random() % 3 == 0) {  // an addend that nearly cancels the product
    const Bits product = Exact<Bits>::multiply(static_cast<Bits>(input.values[0]), static_cast<Bits>(input.values[1]));
    input.values[2] = static_cast<Bits>((product ^ FormatParts<FormatOf<Bits>>::kSign) + random() % 3 - 1);
  }
  return input;
}
template <class Integer>
Input make_integers(Random& random) {
  return {{static_cast<std::make_unsigned_t<Integer>>(random() >> (random() % 64) << (random() % 8)), 0, 0}};
}
template <class Bits, int digits, bool is_signed>
Input make_in_range(Random& random) {
  return {{float_in_range<FormatOf<Bits>>(random, digits, is_signed), 0, 0}};
}

// Each trial calls the function of base/integer_floats.h with the name of the primitive.
#define ANYDML_FLOATS(bits, call, is_float)                                                                      \
  {make_floats<bits>,                                                                                            \
   [](const Input& input) -> u64 {                                                                               \
     [[maybe_unused]] const auto a = static_cast<bits>(input.values[0]), b = static_cast<bits>(input.values[1]), \
                                 c = static_cast<bits>(input.values[2]);                                         \
     return Exact<bits>::call;                                                                                   \
   },                                                                                                            \
   (is_float) ? sizeof(bits) * 8 : 0},
#define ANYDML_OF(bits, integer)                                                                               \
  {make_integers<integer>,                                                                                     \
   [](const Input& input) -> u64 { return Exact<bits>::of_##integer(static_cast<integer>(input.values[0])); }, \
   sizeof(bits) * 8},
#define ANYDML_TO(bits, integer, digits, is_signed)                                                                    \
  {make_in_range<bits, digits, is_signed>,                                                                             \
   [](const Input& input) -> u64 {                                                                                     \
     return static_cast<std::make_unsigned_t<integer>>(Exact<bits>::to_##integer(static_cast<bits>(input.values[0]))); \
   },                                                                                                                  \
   0},
#define ANYDML_FORMAT(bits, other)                                                                          \
  ANYDML_FLOATS(bits, add(a, b), true)                                                                      \
  ANYDML_FLOATS(bits, subtract(a, b), true)                                                                 \
  ANYDML_FLOATS(bits, multiply(a, b), true)                                                                 \
  ANYDML_FLOATS(bits, divide(a, b), true)                                                                   \
  ANYDML_FLOATS(bits, fused(a, b, c), true)                                                                 \
  ANYDML_FLOATS(bits, square_root(a), true)                                                                 \
  ANYDML_FLOATS(bits, equal(a, b), false)                                                                   \
  ANYDML_FLOATS(bits, less(a, b), false)                                                                    \
  ANYDML_FLOATS(bits, less_or_equal(a, b), false)                                                           \
  ANYDML_FLOATS(bits, round_down(a), true)                                                                  \
  ANYDML_FLOATS(bits, round_up(a), true)                                                                    \
  ANYDML_FLOATS(bits, round_towards_zero(a), true)                                                          \
  ANYDML_FLOATS(bits, round_away(a), true)                                                                  \
  ANYDML_FLOATS(bits, round_even(a), true)                                                                  \
  ANYDML_OF(bits, i32)                                                                                      \
  ANYDML_OF(bits, u32)                                                                                      \
  ANYDML_OF(bits, i64)                                                                                      \
  ANYDML_OF(bits, u64){                                                                                     \
      make_floats<other>,                                                                                   \
      [](const Input& input) -> u64 { return Exact<bits>::of_float(static_cast<other>(input.values[0])); }, \
      sizeof(bits) * 8},                                                                                    \
      ANYDML_TO(bits, i32, 31, true) ANYDML_TO(bits, u32, 32, false) ANYDML_TO(bits, i64, 63, true)         \
          ANYDML_TO(bits, u64, 64, false)

// In the order of primitive_list.h.
constexpr Trial kTrials[] = {
    ANYDML_FORMAT(u32, u64) ANYDML_FORMAT(u64, u32){
        [](Random& random) -> Input {
          return {{random() & 0xffff, 0, 0}};
        },
        [](const Input& input) -> u64 { return to_bits(widen_to<f32>(f16{static_cast<u16>(input.values[0])})); }, 32},
    {[](Random& random) -> Input {
       const u64 any = random_float<Float32Format>(random);
       return {{random() % 2 == 0 ? any : float_in_range<Float32Format>(random, 30, true) - (u64{24} << 23), 0, 0}};
     },
     [](const Input& input) -> u64 { return round_to<f16>(from_bits<f32>(static_cast<u32>(input.values[0]))).bits; },
     16},
    {[](Random& random) -> Input {
       return {{(random() | 1) >> (random() % 64) | 1, 0, 0}};
     },
     [](const Input& input) -> u64 { return static_cast<u64>(IntegerMachine::leading_zeros(input.values[0])); }, 0},
};
static_assert(std::size(kTrials) == spirv::kPrimitiveCount);

bool is_nan_of(std::uint32_t bits, u64 value) {
  switch (bits) {
    case 16:
      return (value & FormatParts<Float16Format>::kMagnitude) > FormatParts<Float16Format>::kInfinity;
    case 32:
      return (value & FormatParts<Float32Format>::kMagnitude) > FormatParts<Float32Format>::kInfinity;
    case 64:
      return (value & FormatParts<Float64Format>::kMagnitude) > FormatParts<Float64Format>::kInfinity;
    default:
      return false;
  }
}

// A kernel that applies a function of the library to each input, and another one to its result, if it has a name.
spirv::Words write_trial(const std::string& name, const std::string& next, std::uint64_t native,
                         const GpuProperties& gpu) {
  Builder builder;
  spirv::Kernel kernel(builder, 0);
  const spirv::Library::Function& function = *spirv::function_library().find(name);
  const spirv::Builder::Resolve resolve = [native](std::string_view import) {
    return spirv::resolve_primitive(import, native);
  };
  const Id called = builder.copy(spirv::function_library(), name, resolve);
  const Id called_next = next.empty() ? 0 : builder.copy(spirv::function_library(), next, resolve);
  builder.begin_main();
  const Id number = kernel.thread_number(64);
  const Id u32_type = kernel.u32_type();
  const Id u64_type = kernel.u64_type();
  const auto at = [&](std::uint32_t operand, std::uint64_t size) {
    const Id offset = builder.emit(Op::IMul, u64_type, {number, builder.constant_64(size)});
    return kernel.add_64(kernel.operand_address(operand), offset);
  };
  // The function's types: its declaration names the type of the result, and each parameter has one.
  std::vector<std::uint32_t> types;  // in the library: the result, then the parameters
  spirv::Library::for_each(function.words, [&](const spirv::Instruction& instruction) {
    if (instruction.op == Op::Function || instruction.op == Op::FunctionParameter) {
      types.push_back(instruction.words[0]);
    }
  });
  const auto width = [&](std::uint32_t type) {
    const spirv::Instruction& declared = *spirv::function_library().declaration_of(type);
    return declared.op == Op::TypeBool ? 1 : declared.words[1];
  };
  const Id input = at(0, sizeof(Input));
  spirv::Words call = {called};
  for (std::uint32_t i = 1; i < types.size(); ++i) {
    const Id value = kernel.load(kernel.add_constant(input, std::uint64_t{i - 1} * 8), u64_type, 8);
    call.push_back(width(types[i]) == 64 ? value : builder.emit(Op::UConvert, u32_type, {value}));
  }
  const std::uint32_t result_width = width(types[0]);
  Id result = builder.emit(Op::FunctionCall,
                           result_width == 1    ? builder.bool_type()
                           : result_width == 64 ? u64_type
                                                : u32_type,
                           call);
  if (called_next != 0) {  // between numbers of 32 bits
    result = builder.emit(Op::FunctionCall, u32_type, {called_next, result});
  }
  if (result_width == 1) {
    result = builder.emit(Op::Select, u64_type, {result, builder.constant_64(1), builder.constant_64(0)});
  } else if (result_width == 32) {
    result = builder.emit(Op::UConvert, u64_type, {result});
  }
  kernel.store(at(1, 8), u64_type, result, 8);
  builder.emit(Op::Return, {});
  return builder.finish_kernel(spirv::kThreads, spirv::float_modes(builder, gpu));
}

// Runs a trial's kernel on its inputs. The results are empty if it could not run.
std::vector<u64> run_trial(const std::string& name, const std::string& next, std::uint64_t native,
                           const GpuProperties& gpu, TrialRunner& runner, const std::vector<Input>& inputs) {
  std::vector<u64> results(inputs.size());
  KernelCode code;
  code.key = "trial of " + name + " " + next;
  const spirv::Words words = write_trial(name, next, native, gpu);
  code.words = words;
  if (!runner.run(code, {}, kGroups, std::as_bytes(std::span(inputs)), std::as_writable_bytes(std::span(results)))) {
    results.clear();
  }
  return results;
}

std::vector<Input> make_inputs(const Trial& trial) {
  Random random;
  std::vector<Input> inputs(kInputs);
  for (Input& input : inputs) {
    input = trial.make(random);
  }
  return inputs;
}

// Whether a number is rounded to FLOAT16 if it becomes a FLOAT32 again at once. There are compilers that leave out both
// conversions, although each of them alone is exact.
bool rounds_to_half(std::uint64_t native, const GpuProperties& gpu, TrialRunner& runner) {
  const std::vector<Input> inputs = make_inputs(kTrials[static_cast<std::uint32_t>(Primitive::f16_of_f32)]);
  const std::vector<u64> results = run_trial("native_f16_of_f32", "native_f32_of_f16", native, gpu, runner, inputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const f16 half = round_to<f16>(from_bits<f32>(static_cast<u32>(inputs[i].values[0])));
    const u64 expected = to_bits(widen_to<f32>(half));
    if (results[i] != expected && !(is_nan_of(32, results[i]) && is_nan_of(32, expected))) {
      return false;
    }
  }
  return !results.empty();
}

bool needs_float64(std::string_view name) { return name.find("f64") != std::string_view::npos; }

// Whether a FLOAT32 among these is subnormal, or was before it was rounded.
bool may_be_flushed(const Input& input, u64 result) {
  using F = FormatParts<Float32Format>;
  const auto is_small = [](u64 value) { return (value & F::kMagnitude) != 0 && (value & F::kMagnitude) < F::kHidden; };
  return std::ranges::any_of(input.values, is_small) || is_small(result) || (result & F::kMagnitude) == F::kHidden;
}

}  // namespace

bool spirv::is_exact(const std::string& function, Primitive primitive, std::uint64_t native, const GpuProperties& gpu,
                     TrialRunner& runner, bool may_flush) {
  if (function_library().find(function) == nullptr) {
    return false;
  }
  const Trial& trial = kTrials[static_cast<std::uint32_t>(primitive)];
  const std::vector<Input> inputs = make_inputs(trial);
  const std::vector<u64> results = run_trial(function, "", native, gpu, runner, inputs);
  if (results.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < kInputs; ++i) {
    const u64 expected = trial.compute(inputs[i]);
    if (may_flush && may_be_flushed(inputs[i], expected)) {
      continue;
    }
    if (results[i] != expected &&
        !(is_nan_of(trial.result_bits, results[i]) && is_nan_of(trial.result_bits, expected))) {
      return false;
    }
  }
  return true;
}

std::uint64_t try_primitives(const GpuProperties& gpu, TrialRunner& runner) {
  std::uint64_t native = 0;
  for (std::uint32_t i = 0; i < spirv::kPrimitiveCount; ++i) {
    const auto primitive = static_cast<Primitive>(i);
    const std::string name = "native_" + std::string(spirv::primitive_name(primitive));
    if ((gpu.has_float64 || !needs_float64(name)) && spirv::is_exact(name, primitive, native, gpu, runner)) {
      native |= spirv::primitive_bit(primitive);
    }
  }
  constexpr std::uint64_t kHalves =
      spirv::primitive_bit(Primitive::f16_of_f32) | spirv::primitive_bit(Primitive::f32_of_f16);
  if ((native & kHalves) == kHalves && !rounds_to_half(native, gpu, runner)) {
    native &= ~spirv::primitive_bit(Primitive::f32_of_f16);  // integers do not let a compiler see what cancels
  }
  for (std::uint32_t i = 0; i < spirv::kComposedCount; ++i) {
    const auto& [primitive, parts] = spirv::kComposed[i];
    const std::string name = "exact_" + std::string(spirv::primitive_name(primitive));
    if ((native & spirv::primitive_bit(primitive)) == 0 && (native & parts) == parts &&
        spirv::is_exact(name, primitive, native, gpu, runner)) {
      native |= spirv::composed_bit(i);
    }
  }
  if ((native & spirv::primitive_bit(Primitive::f32_fused)) == 0 &&
      spirv::is_exact("native_f32_fused", Primitive::f32_fused, native, gpu, runner, true) &&
      spirv::is_exact("quick_f32_fused", Primitive::f32_fused, native, gpu, runner)) {
    native |= spirv::kFusedFlushes;
  }
  return native;
}

std::uint32_t trials_version() { return 4; }

}  // namespace anydml::vulkan
