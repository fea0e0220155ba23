// SPDX-License-Identifier: MIT
#include "ops/elementwise/entries.h"

#include <algorithm>
#include <iterator>

#include "facts/facts_tables.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"

namespace anydml {
namespace {

consteval const facts::Operator* facts_of(std::string_view name) {
  for (const facts::Operator& op : facts::tables::kOperators) {
    if (op.name == name) {
      return &op;
    }
  }
  throw "elementwise.def names an operator that DirectML does not have";
}

template <class Scalar>
consteval Variant variant_of() {
  using Types = Signature<Scalar>;
  return []<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
    return Variant{kDataTypeOf<typename Types::template Input<kInputs>>..., kDataTypeOf<typename Types::Output>};
  }
  (std::make_index_sequence<Types::kInputs>{});
}

// The variants of one entry, in numbering order.
template <class ForEach>
struct VariantsOf {
  static constexpr std::size_t kCount = [] {
    std::size_t count = 0;
    ForEach::visit([&count]<class Scalar>() { ++count; });
    return count;
  }();
  static constexpr std::array<Variant, kCount> kAll = [] {
    std::array<Variant, kCount> all{};
    std::size_t next = 0;
    ForEach::visit([&]<class Scalar>() { all[next++] = variant_of<Scalar>(); });
    return all;
  }();
  static constexpr std::uint8_t kInputs = [] {
    std::size_t inputs = 0;
    ForEach::visit([&inputs]<class Scalar>() { inputs = Signature<Scalar>::kInputs; });
    return static_cast<std::uint8_t>(inputs);
  }();
  static constexpr std::array<TypeSet, kMaxInputs + 1> kTypes = [] {
    std::array<TypeSet, kMaxInputs + 1> types{};
    for (const Variant& variant : kAll) {
      for (std::size_t i = 0; i <= kInputs; ++i) {
        types[i] |= type_bit(variant[i]);
      }
    }
    return types;
  }();
};
#define ANYDML_ENTRY(op, Definition)         \
  struct ForEachOf_##op {                    \
    template <class Use>                     \
    static constexpr void visit(Use&& use) { \
      for_each_variant<Definition>(use);     \
    }                                        \
  };                                         \
  using VariantsOf_##op = VariantsOf<ForEachOf_##op>;
#include "ops/elementwise/elementwise.def"

consteval std::array<std::string_view, kMaxInputs + 1> tensors_of(const facts::Operator& op) {
  std::array<std::string_view, kMaxInputs + 1> names;
  names.fill("tensor");  // a message may name one tensor more than the operator has
  std::size_t position = 0;
  for (const auto wanted : {facts::is_input, facts::is_output}) {
    for (const facts::Field& field : op.fields) {
      if (wanted(field.kind)) {
        names.at(position++) = field.name;
      }
    }
  }
  return names;
}

using TensorNames = std::array<std::string_view, kMaxInputs + 1>;

template <class Variants>
consteval Entry make_entry(EntryId id, std::string_view name, const facts::Operator* facts,
                           const TensorNames& tensors) {
  return {.id = id,
          .name = name,
          .facts = facts,
          .variants = Variants::kAll,
          .first_variant = 0,
          .inputs = Variants::kInputs,
          .types = Variants::kTypes,
          .tensors = tensors};
}

constexpr std::array<Entry, kEntryCount> kEntries = [] {
  std::array<Entry, kEntryCount> all = {{
#define ANYDML_ENTRY(op, Definition) \
  make_entry<VariantsOf_##op>(EntryId::op, #op, facts_of(#op), tensors_of(*facts_of(#op))),
#define ANYDML_INTERNAL_ENTRY(op, Definition) make_entry<VariantsOf_##op>(EntryId::op, #op, nullptr, {}),
#define ANYDML_INTERNAL_TYPED_ENTRY(op, Definition) ANYDML_INTERNAL_ENTRY(op, Definition)
#include "ops/elementwise/elementwise.def"
  }};
  std::uint32_t first = 0;
  for (Entry& entry : all) {
    entry.first_variant = first;
    first += static_cast<std::uint32_t>(entry.variants.size());
  }
  return all;
}();
static_assert(kEntries.back().first_variant + kEntries.back().variants.size() < kNoVariant);

// Whether the facts require the same sizes for all tensors. Plans use NumPy's broadcasting rule, so DirectML's stricter
// rule has to come from the facts.
constexpr bool wants_same_sizes(const facts::Operator& op) {
  std::uint32_t tensors = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    tensors |= facts::is_attribute(op.fields[i].kind) ? 0U : 1U << i;
  }
  return std::ranges::any_of(op.same, [tensors](const facts::SameGroup& group) {
    return group.what == facts::Same::sizes && group.fields == tensors;
  });
}

// The position of a field's tensor in a variant.
constexpr std::size_t position_of(const facts::Operator& op, std::size_t wanted) {
  std::size_t inputs = 0;
  for (std::size_t field = 0; field < op.fields.size(); ++field) {
    inputs += facts::is_input(op.fields[field].kind) ? 1U : 0U;
  }
  std::size_t before = 0;
  for (std::size_t field = 0; field < wanted; ++field) {
    before += facts::is_input(op.fields[field].kind) ? 1U : 0U;
  }
  return facts::is_output(op.fields[wanted].kind) ? inputs : before;
}

// An entry must define a scalar for each type that the facts list for each of its tensors, and it must have the number
// of tensors that the facts list.
constexpr bool keeps_promises(const Entry& entry, const facts::Operator& op) {
  const auto inputs = std::ranges::count_if(op.fields, facts::is_input, &facts::Field::kind);
  const auto outputs = std::ranges::count_if(op.fields, facts::is_output, &facts::Field::kind);
  const auto attributes = std::ranges::count_if(op.fields, facts::is_attribute, &facts::Field::kind);
  const bool has_types = std::ranges::all_of(op.support, [&](const facts::Support& support) {
    return (support.types & ~entry.types[position_of(op, support.field)]) == 0;
  });
  return has_types && wants_same_sizes(op) && inputs == entry.inputs && outputs == 1 &&
         attributes <= static_cast<std::ptrdiff_t>(Attributes::kMax);
}
#define ANYDML_INTERNAL_ENTRY(op, Definition)
#define ANYDML_INTERNAL_TYPED_ENTRY(op, Definition)
#define ANYDML_ALIAS_ENTRY(op, entry) \
  static_assert(keeps_promises(kEntries[static_cast<std::size_t>(EntryId::entry)], *facts_of(#op)));
#define ANYDML_ENTRY(op, Definition) \
  static_assert(keeps_promises(kEntries[static_cast<std::size_t>(EntryId::op)], *facts_of(#op)));
#include "ops/elementwise/elementwise.def"

// Operators that share another operator's entry, and the entries of operators whose last input is absent.
struct OtherEntry {
  const facts::Operator* op;
  EntryId entry;
};
constexpr OtherEntry kAliases[] = {
#define ANYDML_ENTRY(op, Definition)
#define ANYDML_ALIAS_ENTRY(op, entry) {facts_of(#op), EntryId::entry},
#include "ops/elementwise/elementwise.def"
};
constexpr OtherEntry kAbsent[] = {
#define ANYDML_ENTRY(op, Definition)
#define ANYDML_ABSENT_ENTRY(op, entry) {facts_of(#op), EntryId::entry},
#include "ops/elementwise/elementwise.def"
};

}  // namespace

std::span<const Entry> entries() { return kEntries; }

const Entry& entry(EntryId id) { return kEntries[static_cast<std::size_t>(id)]; }

std::uint32_t variant_count() {
  return kEntries.back().first_variant + static_cast<std::uint32_t>(kEntries.back().variants.size());
}

const Entry* find_entry(const facts::Operator& op) {
  if (const auto found = std::ranges::find(kEntries, &op, &Entry::facts); found != kEntries.end()) {
    return &*found;
  }
  const auto other = std::ranges::find(kAliases, &op, &OtherEntry::op);
  return other == std::end(kAliases) ? nullptr : &entry(other->entry);
}

const Entry* find_entry_without_last(const facts::Operator& op) {
  const auto found = std::ranges::find(kAbsent, &op, &OtherEntry::op);
  return found == std::end(kAbsent) ? nullptr : &entry(found->entry);
}

std::uint32_t find_variant(const Entry& entry, const Variant& types) {
  const auto same = [&](const Variant& variant) {
    return std::equal(variant.begin(), variant.begin() + entry.inputs + 1, types.begin());
  };
  const auto found = std::ranges::find_if(entry.variants, same);
  return found == entry.variants.end() ? kNoVariant : static_cast<std::uint32_t>(found - entry.variants.begin());
}

std::uint32_t find_variant(const Entry& entry, DataType type) {
  Variant types{};
  types.fill(type);
  return find_variant(entry, types);
}

}  // namespace anydml
