// SPDX-License-Identifier: MIT
#include "ops/elementwise/vulkan/element_kernel.h"

#include "backend/vulkan/fast_divisor.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/kernel.h"
#include "backend/vulkan/spirv/primitives.h"
#include "ops/elementwise/vulkan/tables.h"

namespace anydml::vulkan {
namespace {

using spirv::Id;
using spirv::Op;

// Word positions of the parameters.
struct Layout {
  explicit Layout(const ElementKernel& kernel)
      : operands(static_cast<std::uint32_t>(kernel.sizes.size())),
        word(kernel.is_wide ? 2 : 1),
        strides(kernel.rank * (kernel.is_wide ? 2 : 3)),
        offsets(strides + kernel.rank * operands * word),
        attributes(offsets + operands * word) {}
  [[nodiscard]] std::uint32_t size(std::uint32_t loop) const { return loop * (word == 2 ? 2 : 3); }
  [[nodiscard]] std::uint32_t stride(std::uint32_t loop, std::uint32_t operand) const {
    return strides + (loop * operands + operand) * word;
  }
  [[nodiscard]] std::uint32_t offset(std::uint32_t operand) const { return offsets + operand * word; }

  std::uint32_t operands;
  std::uint32_t word;  // 32-bit words in a stride
  std::uint32_t strides;
  std::uint32_t offsets;
  std::uint32_t attributes;
};

class Writer {
 public:
  Writer(const ElementKernel& kernel, const GpuProperties& gpu)
      : kernel_(kernel), gpu_(gpu), main_(builder_, sizeof(ElementConstants) / 8), layout_(kernel) {}

  std::vector<std::uint32_t> write() {
    builder_.begin_main();
    index_type_ = builder_.int_type(kernel_.is_wide ? 64 : 32);
    const Id thread = builder_.emit(Op::IAdd, index_type_, {main_.thread_number(kernel_.is_wide ? 64 : 32), own(0)});
    const Id is_inside = builder_.emit(Op::ULessThan, builder_.bool_type(), {thread, own(1)});
    if_(is_inside, [&] { write_elements(thread); });
    builder_.emit(Op::Return, {});
    return builder_.finish_kernel(spirv::kThreads, spirv::float_modes(builder_, gpu_));
  }

 private:
  template <class Then>
  void if_(Id condition, Then&& then) {
    const Id inside = builder_.new_id();
    const Id after = builder_.new_id();
    builder_.emit(Op::SelectionMerge, {after, 0});
    builder_.emit(Op::BranchConditional, {condition, inside, after});
    builder_.place(inside);
    then();
    builder_.emit(Op::Branch, {after});
    builder_.place(after);
  }

  Id u32_type() { return builder_.int_type(32); }
  Id carrier(std::uint32_t size) { return builder_.int_type(size == 8 ? 64 : 32); }
  Id own(std::uint32_t index) {
    const Id value = main_.own_constant(index);
    return kernel_.is_wide ? value : builder_.emit(Op::UConvert, u32_type(), {value});
  }
  Id parameter(std::uint32_t word) {
    return main_.load(main_.add_constant(parameters_, std::uint64_t{word} * 4), u32_type(), 4);
  }
  Id index_parameter(std::uint32_t word) {
    return kernel_.is_wide ? main_.load(main_.add_constant(parameters_, std::uint64_t{word} * 4), index_type_, 8)
                           : parameter(word);
  }

  void write_elements(Id thread) {
    parameters_ = main_.add_64(main_.parameters(), main_.own_constant(3));
    is_aligned_ = 0;
    if (kernel_.vector == 1) {
      is_aligned_ =
          builder_.emit(Op::INotEqual, builder_.bool_type(), {main_.own_constant(2), builder_.constant_64(0)});
    }
    const std::vector<Id> addresses = write_addresses(thread);
    // All loads come before all stores.
    std::vector<std::vector<Id>> values(kernel_.vector);
    for (std::uint32_t i = 0; i < kernel_.loads; ++i) {
      const std::vector<Id> elements = load(addresses[i], i);
      for (std::uint32_t v = 0; v < kernel_.vector; ++v) {
        values[v].push_back(elements[v % elements.size()]);
      }
    }
    write_calls(values);
    for (std::uint32_t i = 0; i < kernel_.stored.size(); ++i) {
      std::vector<Id> elements;
      for (std::uint32_t v = 0; v < kernel_.vector; ++v) {
        elements.push_back(values[v][kernel_.stored[i]]);
      }
      store(addresses[kernel_.loads + i], kernel_.loads + i, elements);
    }
  }

  // The address of the thread's element of each operand.
  std::vector<Id> write_addresses(Id thread) {
    std::vector<Id> coordinates(kernel_.rank);
    Id rest = thread;
    for (std::uint32_t loop = kernel_.rank; loop-- > 1;) {
      const Id size = index_parameter(layout_.size(loop));
      const Id quotient = divide(rest, loop, size);
      coordinates[loop] =
          builder_.emit(Op::ISub, index_type_, {rest, builder_.emit(Op::IMul, index_type_, {quotient, size})});
      rest = quotient;
    }
    coordinates[0] = rest;
    std::vector<Id> addresses;
    for (std::uint32_t operand = 0; operand < layout_.operands; ++operand) {
      Id offset = index_parameter(layout_.offset(operand));
      for (std::uint32_t loop = 0; loop < kernel_.rank; ++loop) {
        const Id stride = index_parameter(layout_.stride(loop, operand));
        offset = builder_.emit(Op::IAdd, index_type_,
                               {offset, builder_.emit(Op::IMul, index_type_, {coordinates[loop], stride})});
      }
      if (!kernel_.is_wide) {
        offset = builder_.emit(Op::SConvert, main_.u64_type(), {offset});
      }
      addresses.push_back(main_.add_64(main_.operand_address(operand), offset));
    }
    return addresses;
  }

  Id divide(Id number, std::uint32_t loop, Id size) {
    if (kernel_.is_wide) {
      return builder_.emit(Op::UDiv, index_type_, {number, size});
    }
    const Id wide = main_.u64_type();
    const Id multiplier = parameter(layout_.size(loop) + 1);
    const Id product = builder_.emit(
        Op::IMul, wide, {builder_.emit(Op::UConvert, wide, {number}), builder_.emit(Op::UConvert, wide, {multiplier})});
    const Id high = builder_.emit(Op::UConvert, u32_type(),
                                  {builder_.emit(Op::ShiftRightLogical, wide, {product, builder_.constant(32)})});
    const Id quotient = builder_.emit(Op::ShiftRightLogical, u32_type(), {high, parameter(layout_.size(loop) + 2)});
    const Id is_one = builder_.emit(Op::IEqual, builder_.bool_type(), {multiplier, builder_.constant(0)});
    return builder_.emit(Op::Select, u32_type(), {is_one, number, quotient});
  }

  void write_calls(std::vector<std::vector<Id>>& values) {
    std::uint32_t word = layout_.attributes;
    const auto resolve = [this](std::string_view import) { return spirv::resolve_primitive(import, gpu_.primitives); };
    for (const ElementKernel::Call& call : kernel_.calls) {
      const VariantFunction& function = *find_variant_function(call.entry, call.variant);
      const Id called = builder_.copy(spirv::function_library(), function_name(call.entry, call.variant), resolve);
      spirv::Words attributes;
      for (std::uint32_t i = 0; i < function.words; ++i) {
        attributes.push_back(parameter(word++));
      }
      for (std::vector<Id>& of_element : values) {
        spirv::Words operands = {called};
        for (std::uint32_t i = 0; i < function.inputs; ++i) {
          operands.push_back(of_element[call.sources[i]]);
        }
        operands.insert(operands.end(), attributes.begin(), attributes.end());
        of_element.push_back(builder_.emit(Op::FunctionCall, carrier(function.sizes[function.inputs]), operands));
      }
    }
  }

  // Elements of up to 32 bits are carried in 32 bits, whose upper bits functions ignore.
  std::vector<Id> load(Id address, std::uint32_t operand) {
    const std::uint32_t size = kernel_.sizes[operand];
    if (kernel_.vector == 1 || (kernel_.stays >> operand & 1) != 0) {
      return {load_one(address, size)};
    }
    const std::uint32_t bytes = size * kernel_.vector;
    if (bytes < 4) {
      const Id both = load_aligned(address, bytes);
      return {both, builder_.emit(Op::ShiftRightLogical, u32_type(), {both, builder_.constant(8)})};
    }
    std::vector<Id> words;
    if (bytes == 4) {
      words.push_back(main_.load(address, u32_type(), 4));
    } else {
      const Id all = main_.load(address, builder_.vector_type(u32_type(), bytes / 4), bytes);
      for (std::uint32_t i = 0; i < bytes / 4; ++i) {
        words.push_back(builder_.emit(Op::CompositeExtract, u32_type(), {all, i}));
      }
    }
    std::vector<Id> elements;
    for (std::uint32_t v = 0; v < kernel_.vector; ++v) {
      if (size == 8) {
        const Id pair = builder_.emit(Op::CompositeConstruct, builder_.vector_type(u32_type(), 2),
                                      {words[v * 2], words[v * 2 + 1]});
        elements.push_back(builder_.emit(Op::Bitcast, main_.u64_type(), {pair}));
      } else {
        const std::uint32_t shift = v * size % 4 * 8;
        const Id word = words[v * size / 4];
        elements.push_back(
            shift == 0 ? word : builder_.emit(Op::ShiftRightLogical, u32_type(), {word, builder_.constant(shift)}));
      }
    }
    return elements;
  }

  void store(Id address, std::uint32_t operand, const std::vector<Id>& elements) {
    const std::uint32_t size = kernel_.sizes[operand];
    if (kernel_.vector == 1) {
      store_one(address, size, elements[0]);
      return;
    }
    const std::uint32_t bytes = size * kernel_.vector;
    std::vector<Id> words((bytes + 3) / 4);
    for (std::uint32_t v = 0; v < kernel_.vector; ++v) {
      if (size == 8) {
        const Id pair = builder_.emit(Op::Bitcast, builder_.vector_type(u32_type(), 2), {elements[v]});
        words[v * 2] = builder_.emit(Op::CompositeExtract, u32_type(), {pair, 0});
        words[v * 2 + 1] = builder_.emit(Op::CompositeExtract, u32_type(), {pair, 1});
        continue;
      }
      Id& word = words[v * size / 4];
      const std::uint32_t shift = v * size % 4 * 8;
      if (shift == 0) {
        word = elements[v];
      } else {
        const Id above = builder_.emit(Op::ShiftLeftLogical, u32_type(), {elements[v], builder_.constant(shift)});
        word = builder_.emit(Op::BitwiseOr, u32_type(), {word, above});
      }
    }
    if (bytes < 4) {
      store_aligned(address, bytes, words[0]);
    } else if (bytes == 4) {
      main_.store(address, u32_type(), words[0], 4);
    } else {
      const Id type = builder_.vector_type(u32_type(), bytes / 4);
      main_.store(address, type, builder_.emit(Op::CompositeConstruct, type, words), bytes);
    }
  }

  // One element at an aligned address.
  Id load_aligned(Id address, std::uint32_t size) {
    const Id value = main_.load(address, builder_.int_type(size * 8), size);
    return size < 4 ? builder_.emit(Op::UConvert, u32_type(), {value}) : value;
  }
  void store_aligned(Id address, std::uint32_t size, Id value) {
    const Id type = builder_.int_type(size * 8);
    main_.store(address, type, size < 4 ? builder_.emit(Op::UConvert, type, {value}) : value, size);
  }

  // One element at any address: at once if the dispatch has only aligned elements, otherwise by bytes.
  Id load_one(Id address, std::uint32_t size) {
    if (size == 1 || is_aligned_ == 0) {
      return load_aligned(address, size);
    }
    const Id result = builder_.variable(carrier(size));
    branch(
        [&] {
          builder_.emit(Op::Store, {result, load_aligned(address, size)});
        },
        [&] {
          Id whole = 0;
          for (std::uint32_t i = 0; i < size; ++i) {
            Id byte = load_aligned(main_.add_constant(address, i), 1);
            byte = size == 8 ? builder_.emit(Op::UConvert, main_.u64_type(), {byte}) : byte;
            const Id placed =
                i == 0 ? byte : builder_.emit(Op::ShiftLeftLogical, carrier(size), {byte, builder_.constant(i * 8)});
            whole = i == 0 ? placed : builder_.emit(Op::BitwiseOr, carrier(size), {whole, placed});
          }
          builder_.emit(Op::Store, {result, whole});
        });
    return builder_.emit(Op::Load, carrier(size), {result});
  }
  void store_one(Id address, std::uint32_t size, Id value) {
    if (size == 1 || is_aligned_ == 0) {
      store_aligned(address, size, value);
      return;
    }
    branch(
        [&] { store_aligned(address, size, value); },
        [&] {
          for (std::uint32_t i = 0; i < size; ++i) {
            const Id shifted = builder_.emit(Op::ShiftRightLogical, carrier(size), {value, builder_.constant(i * 8)});
            main_.store(main_.add_constant(address, i), builder_.int_type(8),
                        builder_.emit(Op::UConvert, builder_.int_type(8), {shifted}), 1);
          }
        });
  }
  template <class Aligned, class ByBytes>
  void branch(Aligned&& aligned, ByBytes&& by_bytes) {
    const Id yes = builder_.new_id();
    const Id no = builder_.new_id();
    const Id after = builder_.new_id();
    builder_.emit(Op::SelectionMerge, {after, 0});
    builder_.emit(Op::BranchConditional, {is_aligned_, yes, no});
    builder_.place(yes);
    aligned();
    builder_.emit(Op::Branch, {after});
    builder_.place(no);
    by_bytes();
    builder_.emit(Op::Branch, {after});
    builder_.place(after);
  }

  const ElementKernel& kernel_;
  const GpuProperties& gpu_;
  spirv::Builder builder_;
  spirv::Kernel main_;
  Layout layout_;
  Id index_type_ = 0;
  Id parameters_ = 0;
  Id is_aligned_ = 0;  // a condition; 0 if elements are always aligned
};

}  // namespace

std::string ElementKernel::key() const {
  std::string text = "elementwise";
  const auto add = [&text](std::uint32_t number) { text.append(" ").append(std::to_string(number)); };
  for (const std::uint32_t number : {rank, vector, stays, is_wide ? 1U : 0U, loads}) {
    add(number);
  }
  text += ':';
  for (const std::uint8_t size : sizes) {
    add(size);
  }
  for (const Call& call : calls) {
    text.append("; ").append(function_name(call.entry, call.variant));
    const std::uint32_t inputs = find_variant_function(call.entry, call.variant)->inputs;
    for (std::uint32_t i = 0; i < inputs; ++i) {
      add(call.sources[i]);
    }
  }
  text += " =";
  for (const std::uint16_t value : stored) {
    add(value);
  }
  return text;
}

std::vector<std::uint32_t> write_parameters(const ElementKernel& kernel, const LoopNest& nest,
                                            const std::vector<std::uint32_t>& attributes) {
  const Layout layout(kernel);
  std::vector<std::uint32_t> words(layout.attributes);
  const auto put = [&](std::uint32_t at, std::int64_t number) {
    words[at] = static_cast<std::uint32_t>(number);
    if (kernel.is_wide) {
      words[at + 1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> 32);
    }
  };
  for (std::uint32_t loop = 0; loop < kernel.rank; ++loop) {
    put(layout.size(loop), nest.loops[loop].size);
    if (!kernel.is_wide) {
      const FastDivisor divisor = make_divisor(static_cast<std::uint32_t>(nest.loops[loop].size));
      words[layout.size(loop) + 1] = divisor.multiplier;
      words[layout.size(loop) + 2] = divisor.shift;
    }
    for (std::uint32_t operand = 0; operand < layout.operands; ++operand) {
      put(layout.stride(loop, operand), nest.loops[loop].strides[operand]);
    }
  }
  for (std::uint32_t operand = 0; operand < layout.operands; ++operand) {
    put(layout.offset(operand), nest.offsets[operand]);
  }
  words.insert(words.end(), attributes.begin(), attributes.end());
  return words;
}

std::vector<std::uint32_t> write_kernel(const ElementKernel& kernel, const GpuProperties& gpu) {
  return Writer(kernel, gpu).write();
}

}  // namespace anydml::vulkan
