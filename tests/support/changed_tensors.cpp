// SPDX-License-Identifier: MIT
#include "support/changed_tensors.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/element.h"
#include "schema/infer.h"
#include "schema/tensor_rules.h"
#include "support/random_operator.h"

namespace anydml::test {
namespace {

using schema::Described;
using schema::GivenTensor;

void set_packed(GivenTensor& tensor) {
  std::int64_t stride = 1;
  for (std::uint32_t i = tensor.rank; i-- > 0;) {
    tensor.strides[i] = stride;
    stride *= std::max<std::int64_t>(1, tensor.sizes[i]);
  }
  tensor.has_strides = true;
}

void insert_size(GivenTensor& tensor, std::uint32_t at, std::int64_t size) {
  std::copy_backward(tensor.sizes + at, tensor.sizes + tensor.rank, tensor.sizes + tensor.rank + 1);
  tensor.sizes[at] = size;
  ++tensor.rank;
  tensor.has_strides = false;
}

void erase_size(GivenTensor& tensor, std::uint32_t at) {
  std::copy(tensor.sizes + at + 1, tensor.sizes + tensor.rank, tensor.sizes + at);
  tensor.sizes[--tensor.rank] = 0;
  tensor.has_strides = false;
}

class Changes {
 public:
  Changes(const Described& described, Strides strides) : right_(described), strides_(strides) {}

  std::vector<ChangedOperator> make() {
    for (field_ = 0; field_ < right_.op->fields.size(); ++field_) {
      for (number_ = 0; number_ < right_.arguments[field_].tensors.size(); ++number_) {
        change_sizes();
        change_rank();
        change_type();
        change_strides();
        leave_out();
      }
      number_ = 0;
      change_numbers();
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const GivenTensor& right() const { return right_.arguments[field_].tensors[number_]; }

  template <class Change>
  void add(const std::string& text, const Change& change) {
    Described changed = right_;
    GivenTensor& tensor = changed.arguments[field_].tensors[number_];
    change(tensor);
    set_total_bytes(tensor);
    keep({name() + text, std::move(changed)});
  }

  // Keeps two versions of the changed operator: one as given, and one with outputs that fit the changed inputs.
  void keep(ChangedOperator changed) {
    if (!facts::is_output(right_.op->fields[field_].kind)) {
      const schema::Inference inferred = schema::infer_outputs(without_outputs(changed.described), facts::kNewestLevel);
      if (inferred.faults.empty() && inferred.unknown.empty()) {
        result_.push_back({changed.change + ", outputs to match", inferred.described});
        for (std::size_t field = 0; field < right_.op->fields.size(); ++field) {
          if (facts::is_output(right_.op->fields[field].kind)) {
            std::ranges::for_each(result_.back().described.arguments[field].tensors, set_total_bytes);
          }
        }
      }
    }
    result_.push_back(std::move(changed));
  }

  // Attributes: each number plus and minus one, and at the limits of its type; arrays with one number too many or too
  // few.
  void change_numbers() {
    const facts::Field& field = right_.op->fields[field_];
    if (!facts::is_attribute(field.kind) || facts::is_count(*right_.op, field_)) {
      return;
    }
    const std::vector<Scalar>& numbers = right_.arguments[field_].numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string location = std::string(field.name) + "[" + std::to_string(i) + "]";
      for (const std::int64_t by : {1, -1}) {
        keep({location + (by > 0 ? " + 1" : " - 1"),
              with_number(i, Scalar(numbers[i].as<f64>() + static_cast<f64>(by)))});
      }
      for (const std::int64_t number : {0LL, 0x7fff'ffffLL, 0xffff'ffffLL, -0x8000'0000LL}) {
        keep({location + " = " + std::to_string(number), with_number(i, Scalar(static_cast<f64>(number)))});
      }
    }
    if (facts::is_array(field.kind) || field.count_field < 0 || field.type == facts::FieldType::operators) {
      return;
    }
    for (const bool more : {true, false}) {
      Described changed = right_;
      std::vector<Scalar>& array = changed.arguments[field_].numbers;
      if (more || !array.empty()) {
        array.resize(array.size() + (more ? 1U : std::size_t{0} - 1U));
        keep({std::string(field.name) + (more ? " one longer" : " one shorter"), std::move(changed)});
      }
    }
  }

  [[nodiscard]] Described with_number(std::size_t i, Scalar number) const {
    Described changed = right_;
    changed.arguments[field_].numbers[i] = number;
    return changed;
  }

  [[nodiscard]] std::string name() const {
    const std::string field(right_.op->fields[field_].name);
    return facts::is_array(right_.op->fields[field_].kind) ? field + "[" + std::to_string(number_) + "]" : field;
  }

  static void set_total_bytes(GivenTensor& tensor) {
    const auto sizes = std::span(tensor.sizes, tensor.rank);
    const auto strides = std::span(tensor.strides, tensor.has_strides ? tensor.rank : 0);
    const bool is_counted = std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; }) &&
                            std::ranges::all_of(strides, [](std::int64_t stride) { return stride >= 0; });
    tensor.total_bytes =
        is_counted ? implied_bytes(tensor.type, sizes, tensor.has_strides ? tensor.strides : nullptr).value_or(0) : 0;
  }

  void change_sizes() {
    for (std::uint32_t i = 0; i < right().rank; ++i) {
      const std::string size = ".Sizes[" + std::to_string(i) + "]";
      for (const std::int64_t by : {1, -1, 7}) {
        add(size + (by < 0 ? " - 1" : " + " + std::to_string(by)), [&](GivenTensor& tensor) {
          tensor.sizes[i] += by;
          tensor.has_strides = false;
        });
      }
      if (right().sizes[i] != 0) {
        add(size + " = 0", [&](GivenTensor& tensor) {
          tensor.sizes[i] = 0;
          tensor.has_strides = false;
        });
      }
    }
  }

  void change_rank() {
    if (right().rank < kMaxRank) {
      for (const std::int64_t size : {1, 2}) {
        add(" with a first dimension of " + std::to_string(size),
            [&](GivenTensor& tensor) { insert_size(tensor, 0, size); });
        add(" with a last dimension of " + std::to_string(size),
            [&](GivenTensor& tensor) { insert_size(tensor, tensor.rank, size); });
      }
      add(" with eight dimensions", [](GivenTensor& tensor) {
        while (tensor.rank < kMaxRank) {
          insert_size(tensor, 0, 1);
        }
      });
    }
    for (std::uint32_t i = 0; i < right().rank; ++i) {
      add(" without dimension " + std::to_string(i), [&](GivenTensor& tensor) { erase_size(tensor, i); });
    }
    if (right().rank > 1) {
      add(" as a scalar", [](GivenTensor& tensor) {
        tensor.rank = 0;
        tensor.has_strides = false;
      });
    }
  }

  void change_type() {
    for (const DataType type : {DataType::INT4, DataType::UINT4}) {
      if (right().type != static_cast<std::uint32_t>(type)) {
        add(type == DataType::INT4 ? " of INT4" : " of UINT4", [&](GivenTensor& tensor) {
          tensor.type = static_cast<std::uint32_t>(type);
          tensor.has_strides = false;
        });
      }
    }
  }

  void change_strides() {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t i = 0; i < right().rank; ++i) {
      const std::string stride = ".Strides[" + std::to_string(i) + "]";
      const auto set = [&](const std::string& text, auto value) {
        add(stride + text, [&](GivenTensor& tensor) {
          set_packed(tensor);
          tensor.strides[i] = value(tensor.strides[i]);
        });
      };
      if (strides_ == Strides::any) {
        set(" backwards", [](std::int64_t stride_before) { return -stride_before; });
        set(" = 2^63 - 1", [](std::int64_t) { return kMax; });
        set(" = -2^63", [](std::int64_t) { return -kMax - 1; });
        set(" = 2^60", [](std::int64_t) { return std::int64_t{1} << 60; });
      } else {
        set(" = 2^32 - 1", [](std::int64_t) { return std::int64_t{0xffff'ffff}; });
        set(" = 2^31", [](std::int64_t) { return std::int64_t{1} << 31; });
      }
      set(" = 0", [](std::int64_t) { return std::int64_t{0}; });
    }
    if (strides_ == Strides::any && right().rank > 0) {
      add(" backwards", [](GivenTensor& tensor) {
        set_packed(tensor);
        for (std::uint32_t i = 0; i < tensor.rank; ++i) {
          tensor.strides[i] = -tensor.strides[i];
        }
      });
    }
  }

  void leave_out() {
    Described changed = right_;
    schema::Argument& argument = changed.arguments[field_];
    argument.tensors.erase(argument.tensors.begin() + static_cast<std::ptrdiff_t>(number_));
    argument.present = !argument.tensors.empty();
    const facts::Field& field = right_.op->fields[field_];
    if (field.count_field >= 0) {
      changed.arguments[static_cast<std::size_t>(field.count_field)].numbers = {
          Scalar(static_cast<std::uint64_t>(argument.tensors.size()))};
    }
    keep({name() + " left out", std::move(changed)});
  }

  const Described& right_;
  const Strides strides_;
  std::size_t field_ = 0;
  std::size_t number_ = 0;
  std::vector<ChangedOperator> result_;
};

std::string text_of(const schema::GivenTensor& tensor) {
  std::string text = std::to_string(tensor.type) + "{";
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.sizes[i]);
  }
  return text + "}";
}

}  // namespace

std::string case_text(const schema::Described& described) {
  std::string text(described.op->name);
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    for (const schema::GivenTensor& tensor : described.arguments[field].tensors) {
      text += " " + std::string(described.op->fields[field].name) + "=" + text_of(tensor);
    }
  }
  return text + " " + schema::attributes_text(*described.op, described.arguments);
}

std::vector<ChangedOperator> changed_tensors(const Described& described, Strides strides) {
  return Changes(described, strides).make();
}

Described with_owned_inputs(Described described) {
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    if (facts::is_input(described.op->fields[field].kind)) {
      for (GivenTensor& tensor : described.arguments[field].tensors) {
        tensor.flags |= schema::kOwnedByDml;
      }
    }
  }
  return described;
}

}  // namespace anydml::test
