// SPDX-License-Identifier: MIT
#include "cuda/kernels_harness.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {

using test::Random;

bool g_quick = false;

namespace {

constexpr std::size_t kArena = std::size_t{1} << 21;
constexpr std::size_t kGap = 64;

template <class Scalar, std::size_t... kInputs>
u64 apply_scalar(const Attributes& attributes, const u64* elements, std::index_sequence<kInputs...>) {
  using Types = Signature<Scalar>;
  return test::bits_of(
      make_scalar<Scalar>(attributes)(test::from_raw<typename Types::template Input<kInputs>>(elements[kInputs])...));
}

template <EntryId entry, class... Scalars>
void add_variants(Variants<Scalars...>, std::vector<VariantInfo>& all) {
  std::uint16_t variant = 0;
  const auto add = [&]<class Scalar>() {
    using Types = Signature<Scalar>;
    VariantInfo info{};
    info.entry = entry;
    info.variant = variant++;
    info.inputs = static_cast<std::uint32_t>(Types::kInputs);
    [&]<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
      ((info.types[kInputs] = kDataTypeOf<typename Types::template Input<kInputs>>), ...);
    }
    (std::make_index_sequence<Types::kInputs>{});
    info.types[Types::kInputs] = kDataTypeOf<typename Types::Output>;
    info.apply = [](const Attributes& attributes, const u64* elements) {
      return apply_scalar<Scalar>(attributes, elements, std::make_index_sequence<Types::kInputs>{});
    };
    all.push_back(info);
  };
  (add.template operator()<Scalars>(), ...);
}

template <class Visit>
void for_each(const std::vector<std::int64_t>& sizes, std::int64_t count, Visit&& visit) {
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(index);
    for (std::size_t dimension = sizes.size(); dimension-- > 0;) {
      if (++index[dimension] < sizes[dimension]) {
        break;
      }
      index[dimension] = 0;
    }
  }
}

u64 read_bits(const std::byte* from, std::size_t bytes) {
  u64 bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

}  // namespace

const std::vector<VariantInfo>& all_variants() {
  static const std::vector<VariantInfo> kAll = [] {
    std::vector<VariantInfo> all;
#define ANYDML_ENTRY(op, Definition) add_variants<EntryId::op>(VariantsOf<EntryId::op>{}, all);
#include "ops/elementwise/elementwise.def"
    return all;
  }();
  return kAll;
}

const VariantInfo* find_variant_info(EntryId entry, std::span<const DataType> inputs) {
  for (const VariantInfo& variant : all_variants()) {
    if (variant.entry == entry && variant.inputs == inputs.size() &&
        std::equal(inputs.begin(), inputs.end(), variant.types)) {
      return &variant;
    }
  }
  return nullptr;
}

const char* entry_name(EntryId entry) {
  switch (entry) {
#define ANYDML_ENTRY(op, Definition) \
  case EntryId::op:                  \
    return #op;
#include "ops/elementwise/elementwise.def"
    case EntryId::count_:
      break;
  }
  return "";
}

std::string name_of(const VariantInfo& variant) {
  std::string name = entry_name(variant.entry);
  for (std::uint32_t i = 0; i <= variant.inputs; ++i) {
    name += i == variant.inputs ? " -> " : " ";
    name += type_name(variant.types[i]);
  }
  return name;
}

bool same_bits(DataType type, u64 a, u64 b) {
  return visit_type(type, [&]<class T>() { return test::same(test::from_raw<T>(a), test::from_raw<T>(b)); });
}

std::string show_bits(DataType type, u64 bits) {
  return visit_type(type, [&]<class T>() { return test::show(test::from_raw<T>(bits)); });
}

u64 draw_bits(DataType type, Random& random) {
  return visit_type(type, [&]<class T>() { return test::bits_of(test::any_value<T>(random)); });
}

Attributes test_attributes() {
  Attributes attributes;
  attributes.values[0] = Scalar(-2.5);
  attributes.values[1] = Scalar(100.25);
  return attributes;
}

TensorDesc tensor_of(DataType type, const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  TensorDesc tensor;
  tensor.type = type;
  tensor.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes);
  std::copy(strides.begin(), strides.end(), tensor.strides);
  return tensor;
}

Program program_of(const VariantInfo& variant) {
  Program program;
  program.types.assign(variant.types, variant.types + variant.inputs + 1);
  program.loads = variant.inputs;
  Instruction& instruction = program.instructions.emplace_back();
  instruction = {.entry = variant.entry, .variant = variant.variant, .sources = {}, .attributes = test_attributes()};
  for (std::uint16_t i = 0; i < variant.inputs; ++i) {
    instruction.sources[i] = i;
  }
  program.variants = {&variant};
  program.stored = {static_cast<std::uint16_t>(variant.inputs)};
  program.name = name_of(variant);
  return program;
}

Program scaled_program_of(const VariantInfo& scale_bias, const VariantInfo& variant) {
  Program program = program_of(variant);
  Instruction scaled{
      .entry = scale_bias.entry, .variant = scale_bias.variant, .sources = {}, .attributes = test_attributes()};
  program.instructions.insert(program.instructions.begin(), scaled);
  program.variants.insert(program.variants.begin(), &scale_bias);
  program.instructions[1].sources[0] = static_cast<std::uint16_t>(program.loads);
  program.stored = {static_cast<std::uint16_t>(program.loads + 1)};
  program.name = "SCALE_BIAS, " + program.name;
  return program;
}

ElementStep step_of(const Program& program, const std::vector<TensorDesc>& tensors) {
  ElementStep step{.nest = make_loop_nest(tensors),
                   .types = {},
                   .loads = program.loads,
                   .program = program.instructions,
                   .stored = program.stored};
  std::copy(program.types.begin(), program.types.end(), step.types);
  return step;
}

void prepare_or_exit(PreparedElements& prepared, const ElementStep& step) {
  if (const char* const why = prepared.prepare(step, machine_of_tests()); why != nullptr) {
    std::fprintf(stderr, "cannot prepare a step: %s\n", why);
    std::exit(1);
  }
}

LayoutCheck::LayoutCheck(u64 seed) : random_(seed) { CHECK(cudaMalloc(&device_, kArena)); }
LayoutCheck::~LayoutCheck() { cudaFree(device_); }

// Only inputs have zero strides.
LayoutCheck::Layout LayoutCheck::draw_layout(const std::vector<std::int64_t>& sizes,
                                             const std::vector<std::size_t>& order, bool input, bool plain) {
  Layout layout;
  layout.strides.assign(sizes.size(), 0);
  std::int64_t stride = !plain && random_() % 8 == 0 ? 1 + static_cast<std::int64_t>(random_() % 3) : 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t dimension = order[i];
    if (input && !plain && random_() % 6 == 0) {
      continue;  // repeated
    }
    layout.strides[dimension] = !plain && random_() % 8 == 0 ? -stride : stride;
    stride *= std::max<std::int64_t>(sizes[dimension], 1);
    if (!plain && random_() % 4 == 0) {
      stride += static_cast<std::int64_t>(random_() % 9);
    } else if (!plain && random_() % 3 == 0) {
      stride = (stride + 15) / 16 * 16;
    }
  }
  return layout;
}

// The base is aligned to 16 bytes, to the element size, or not at all.
void LayoutCheck::assign_base(Layout& layout, const std::vector<std::int64_t>& sizes, std::size_t& used) {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t reach = std::max<std::int64_t>(sizes[i] - 1, 0) * layout.strides[i];
    (reach < 0 ? minimum : maximum) += reach;
  }
  std::size_t base = (used + kGap + static_cast<std::size_t>(-minimum) * layout.element + 15) / 16 * 16;
  switch (random_() % 6) {
    case 0:
      base += random_() % 4 * layout.element;
      break;
    case 1:
      base += random_() % 16;
      break;
    default:
      break;
  }
  layout.base = base;
  used = base + static_cast<std::size_t>(maximum + 1) * layout.element;
}

// Returns an input that this output may overwrite, which has the same element size and is not broadcast.
int LayoutCheck::instead_of(const Program& program, const std::vector<Layout>& layouts, std::size_t store) {
  const std::size_t input = random_() % program.loads;
  const auto& strides = layouts[input].strides;
  const bool fits = element_size(program.types[input]) == element_size(program.types[store]) &&
                    std::none_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
  return random_() % 3 == 0 && fits ? static_cast<int>(input) : -1;
}

void LayoutCheck::run(const Program& program, const std::vector<std::int64_t>& sizes, std::vector<Layout> layouts) {
  std::size_t used = kGap;
  bool taken[kMaxOperands] = {};  // inputs that an output overwrites
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    layouts[i].element = element_size(program.types[i]);
    const int over = i < program.loads ? -1 : instead_of(program, layouts, i);
    if (over >= 0 && !taken[over]) {
      taken[over] = true;
      layouts[i] = layouts[static_cast<std::size_t>(over)];
    } else {
      assign_base(layouts[i], sizes, used);
    }
  }
  used += kGap;
  if (used > kArena) {
    return;
  }
  host_.resize(used);
  std::generate(host_.begin(), host_.end(), [&] { return static_cast<std::byte>(random_()); });
  std::vector<TensorDesc> tensors;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    tensors.push_back(tensor_of(program.types[i], sizes, layouts[i].strides));
  }
  const auto offset_of = [&](std::size_t operand, const std::vector<std::int64_t>& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      offset += index[i] * layouts[operand].strides[i];
    }
    return static_cast<std::size_t>(static_cast<std::int64_t>(layouts[operand].base) +
                                    offset * static_cast<std::int64_t>(layouts[operand].element));
  };
  const ElementStep step = step_of(program, tensors);
  const std::int64_t count = step.nest.count;
  for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
    for (std::size_t i = 0; i < program.loads; ++i) {
      const u64 bits = draw_bits(program.types[i], random_);
      std::memcpy(&host_[offset_of(i, index)], &bits, layouts[i].element);
    }
  });
  CHECK(cudaMemcpy(device_, host_.data(), used, cudaMemcpyHostToDevice));
  PreparedElements prepared;
  prepare_or_exit(prepared, step);
  ++shapes[static_cast<std::size_t>(prepared.shape())];
  std::byte* bases[kMaxOperands] = {};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    bases[i] = device_ + layouts[i].base;
  }
  CHECK(prepared.launch(bases, nullptr, nullptr));
  found_.resize(used);
  CHECK(cudaMemcpy(found_.data(), device_, used, cudaMemcpyDeviceToHost));

  // Everything is read before anything is written, because an output may overwrite an input.
  std::vector<u64> expected;
  for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
    std::vector<u64> values;
    for (std::size_t i = 0; i < program.loads; ++i) {
      values.push_back(read_bits(&host_[offset_of(i, index)], layouts[i].element));
    }
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      u64 inputs[kMaxInputs] = {};
      for (std::size_t source = 0; source < program.variants[i]->inputs; ++source) {
        inputs[source] = values[program.instructions[i].sources[source]];
      }
      values.push_back(program.variants[i]->apply(program.instructions[i].attributes, inputs));
    }
    for (const std::uint16_t stored : program.stored) {
      expected.push_back(values[stored]);
    }
  });
  std::size_t next = 0;
  for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
    for (std::size_t i = program.loads; i < layouts.size(); ++i) {
      const std::size_t at = offset_of(i, index);
      const u64 found = read_bits(&found_[at], layouts[i].element);
      const u64 wanted = expected[next++];
      if (!same_bits(program.types[i], found, wanted) && different++ < 8) {
        std::printf("  %s, %s: store %zu of %zu is %s, expected %s\n", program.name.c_str(),
                    shape_name(prepared.shape()), i - program.loads, next - 1,
                    show_bits(program.types[i], found).c_str(), show_bits(program.types[i], wanted).c_str());
      }
      std::memcpy(&host_[at], &found, layouts[i].element);
    }
  });
  if (std::memcmp(host_.data(), found_.data(), used) != 0) {
    std::printf("  %s, %s: wrote outside its elements\n", program.name.c_str(), shape_name(prepared.shape()));
    ++different;
  }
  elements += static_cast<u64>(count) * program.stored.size();
}

void LayoutCheck::random_case(const Program& program) {
  const std::size_t rank = 1 + random_() % 8;
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t maximum = std::max<std::int64_t>(1, 3000 / count);
    const std::int64_t size = rank <= 2 ? 1 + static_cast<std::int64_t>(random_() % 90)
                                        : 1 + static_cast<std::int64_t>(random_() % (random_() % 3 == 0 ? 40 : 5));
    sizes.push_back(std::min(size, maximum));
    count *= sizes.back();
  }
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    order[i] = i;
  }
  std::vector<Layout> layouts;
  for (std::size_t i = 0; i < program.types.size(); ++i) {
    std::vector<std::size_t> own = order;
    if (random_() % 3 == 0) {
      std::shuffle(own.begin(), own.end(), random_);
    }
    layouts.push_back(draw_layout(sizes, own, i < program.loads, random_() % 3 == 0));
  }
  run(program, sizes, layouts);
}

void LayoutCheck::rows_case(const Program& program, std::int64_t height, std::int64_t width) {
  const std::int64_t pitch = width + (random_() % 2 == 0 ? 0 : 16 - width % 16);
  std::vector<Layout> layouts(program.types.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const u64 form = i < program.loads ? random_() % 4 : 0;
    layouts[i].strides = form == 1   ? std::vector<std::int64_t>{1, 0}
                         : form == 2 ? std::vector<std::int64_t>{0, 1}
                                     : std::vector<std::int64_t>{pitch, 1};
  }
  run(program, {height, width}, layouts);
}

void LayoutCheck::crossed_case(const Program& program) {
  const std::int64_t outer = 1 + static_cast<std::int64_t>(random_() % 3);
  const auto padded = [&](std::int64_t size) { return random_() % 6 != 0 ? (size + 3) / 4 * 4 : size; };
  const std::int64_t height = padded(16 + static_cast<std::int64_t>(random_() % 160));
  const std::int64_t width = padded(16 + static_cast<std::int64_t>(random_() % 160));
  std::vector<Layout> layouts(program.types.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const std::int64_t across = padded(width);
    const std::int64_t down = padded(height);
    const bool input = i < program.loads;
    layouts[i].strides = input && random_() % 2 == 0 ? std::vector<std::int64_t>{down * width, 1, down}
                                                     : std::vector<std::int64_t>{across * height, across, 1};
    if (input && random_() % 8 == 0) {
      layouts[i].strides[random_() % 3] = 0;
    }
  }
  run(program, {outer, height, width}, layouts);
}

}  // namespace anydml::cuda
