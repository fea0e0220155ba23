// SPDX-License-Identifier: MIT
// Decomposes batch normalization for training and its gradients. Sums extend along the dimensions in which the
// coefficients (mean, variance, scale) have size 1. On devices that support it (DeviceTraits::has_row_moments), the
// step ROW_MOMENTS computes mean and variance, and the step ROW_GRADIENTS computes the sums of a gradient. Both steps
// read a row again while it is still in the cache. On other devices each sum is a reduction, which consumes its
// elements as they are computed if the device joins steps. A separate pass computes the elements of the output. All
// intermediate values are FLOAT32, even for FLOAT16.
//
// If two passes need the same CAST or difference, each pass computes it again. This costs nothing, whereas storing it
// would require another tensor in memory.
#include "ops/normalize/training.h"

#include <string_view>
#include <vector>

#include "base/shape.h"
#include "ops/arguments.h"
#include "ops/normalize/decomposition.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kTrainingName = "BATCH_NORMALIZATION_TRAINING";
constexpr std::string_view kGradientName = "BATCH_NORMALIZATION_GRAD";
constexpr std::string_view kTrainingGradientName = "BATCH_NORMALIZATION_TRAINING_GRAD";

// Input positions, first for the training operator, then for the gradient operators.
constexpr std::uint32_t kInput = 0;
constexpr std::uint32_t kScaleOfTraining = 1;
constexpr std::uint32_t kBiasOfTraining = 2;
constexpr std::uint32_t kFusedAdd = 3;
constexpr std::uint32_t kInputGradient = 1;
constexpr std::uint32_t kGivenMean = 2;
constexpr std::uint32_t kGivenVariance = 3;
constexpr std::uint32_t kScaleOfGradient = 4;

class BatchParts {
 public:
  BatchParts(const OpDesc& desc, const DeviceTraits& device)
      : desc_(desc),
        device_(device),
        list_(desc),
        input_(desc.tensors[kInput].tensor),
        reduced_(desc.outputs()[1].tensor),  // output 1 contains coefficients in all of these operators
        one_(input_) {
    for (std::uint32_t i = 0; i < input_.rank; ++i) {
      one_.sizes[i] = 1;
      has_lanes_ = input_.sizes[i] != 1 ? reduced_.sizes[i] == 1 : has_lanes_;
      if (reduced_.sizes[i] == 1) {
        axes_.emplace_back(u64{i});
        axis_bits_ |= 1U << i;
        count_ *= input_.sizes[i];
      }
    }
  }

  Result<Decomposition> training() {
    const auto found = moments();
    ANYDML_TRY(found);
    const auto [mean, variance] = found.value();
    const schema::Described* fused = fused_activation(desc_);
    const bool is_half = input_.type == DataType::FLOAT16;
    const bool has_addend = desc_.tensors[kFusedAdd].present;
    TensorDesc result = desc_.output().tensor;
    result.type = DataType::FLOAT32;
    if ((has_addend || is_half || fused != nullptr) && !set_packed_strides(result)) {
      return too_large();
    }
    std::uint32_t value = list_.add_as(
        "BATCH_NORMALIZATION", {wide(kInput), mean, variance, wide(kScaleOfTraining), wide(kBiasOfTraining)}, result,
        {{.field = "Spatial", .numbers = {Scalar(u64{1})}},
         {.field = "Epsilon", .numbers = {number_of(desc_, "Epsilon")}}});
    // The last operator writes the output itself.
    const auto add_last = [&](std::string_view op, const std::vector<std::uint32_t>& sources, bool is_last) {
      return list_.add_as(op, sources, is_last ? desc_.output().tensor : result, {});
    };
    if (has_addend) {
      value = add_last("ELEMENT_WISE_ADD", {value, wide(kFusedAdd)}, fused == nullptr && !is_half);
    }
    if (is_half) {
      result.type = DataType::FLOAT16;
      value = add_last("CAST", {value}, fused == nullptr);
    }
    if (fused != nullptr) {
      list_.add_nested_output(*fused, {value}, 0);
    } else {
      list_.set_output(0, value);
    }
    return list_.finish();
  }

  // Mean and variance are constants here, so this is the gradient of a multiplication.
  Result<Decomposition> gradient() {
    const std::uint32_t root = root_of_variance();
    const std::uint32_t factor = small("ELEMENT_WISE_DIVIDE", wide(kScaleOfGradient), root);
    const Sums of = sums(wide(kGivenMean));
    built("ELEMENT_WISE_DIVIDE", {of.products, root}, 1);
    built("ELEMENT_WISE_MULTIPLY", {wide(kInputGradient), factor}, 0);
    return list_.finish();
  }

  // Mean and variance depend on the input. The gradient of the scale uses the given mean, which may differ from the
  // mean of the input, for example because it was rounded.
  Result<Decomposition> training_gradient() {
    const std::uint32_t spread = spread_of_variance();
    const std::uint32_t root = small_of_one("ELEMENT_WISE_SQRT", spread);
    const std::uint32_t factor = small("ELEMENT_WISE_DIVIDE", wide(kScaleOfGradient), root);
    const std::uint32_t count = constant(static_cast<f32>(count_));
    const Sums of = sums(kNoValue);
    const std::uint32_t mean_gradient = small("ELEMENT_WISE_DIVIDE", of.gradients, count);
    const std::uint32_t slope = small("ELEMENT_WISE_DIVIDE", small("ELEMENT_WISE_DIVIDE", of.products, count), spread);
    const std::uint32_t shift =
        small("ELEMENT_WISE_MULTIPLY", small("ELEMENT_WISE_SUBTRACT", of.mean, wide(kGivenMean)), of.gradients);
    built("ELEMENT_WISE_DIVIDE", {small("ELEMENT_WISE_ADD", of.products, shift), root}, 1);
    const std::uint32_t centered = at_input("ELEMENT_WISE_SUBTRACT", wide(kInputGradient), mean_gradient);
    const std::uint32_t share =
        at_input("ELEMENT_WISE_MULTIPLY", at_input("ELEMENT_WISE_SUBTRACT", wide(kInput), of.mean), slope);
    built("ELEMENT_WISE_MULTIPLY", {at_input("ELEMENT_WISE_SUBTRACT", centered, share), factor}, 0);
    return list_.finish();
  }

 private:
  std::uint32_t wide(std::uint32_t input) {
    return list_.tensor(input).type == DataType::FLOAT32
               ? input
               : list_.add("CAST", {input}, DataType::FLOAT32, list_.tensor(input));
  }
  std::uint32_t at_input(std::string_view op, std::uint32_t a, std::uint32_t b) {
    return list_.add(op, {a, b}, DataType::FLOAT32, input_);
  }
  std::uint32_t small(std::string_view op, std::uint32_t a, std::uint32_t b) {
    return list_.add(op, {a, b}, DataType::FLOAT32, reduced_);
  }
  std::uint32_t small_of_one(std::string_view op, std::uint32_t value) {
    return list_.add(op, {value}, DataType::FLOAT32, reduced_);
  }

  // Adds an operator that computes this output of the whole operator in FLOAT32, and adds a CAST if the output has a
  // different type.
  std::uint32_t built(std::string_view op, const std::vector<std::uint32_t>& sources, std::uint32_t output,
                      const std::vector<OpAttribute>& attributes = {}) {
    const TensorDesc& tensor = desc_.outputs()[output].tensor;
    if (tensor.type == DataType::FLOAT32) {
      const std::uint32_t value = list_.add_as(op, sources, tensor, attributes);
      list_.set_output(output, value);
      return value;
    }
    const std::uint32_t value = list_.add(op, sources, DataType::FLOAT32, tensor, attributes);
    list_.add_output("CAST", {value}, output);
    return value;
  }

  // Without axes there is nothing to add up, because each element is its own sum.
  std::uint32_t reduced(std::string_view function, std::uint32_t elements, std::uint32_t output = kNoOutput) {
    const std::string_view op = axes_.empty() ? "ELEMENT_WISE_IDENTITY" : "REDUCE";
    std::vector<OpAttribute> attributes;
    if (!axes_.empty()) {
      const u64 value = *facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"), function);
      attributes = {{.field = "Function", .numbers = {Scalar(value)}}, {.field = "Axes", .numbers = axes_}};
    }
    return output == kNoOutput ? list_.add(op, {elements}, DataType::FLOAT32, reduced_, attributes)
                               : built(op, {elements}, output, attributes);
  }

  struct Moments {
    std::uint32_t mean;
    std::uint32_t variance;
  };
  // Computes the moments of the input, which are outputs 1 and 2.
  Result<Moments> moments() {
    if (!has_row_moments(desc_, axis_bits_, device_)) {
      const std::uint32_t mean = reduced("AVERAGE", wide(kInput), 1);
      const std::uint32_t squares = at_input("ELEMENT_WISE_DIFFERENCE_SQUARE", wide(kInput), mean);
      return Moments{mean, reduced("AVERAGE", squares, 2)};
    }
    const bool is_half = input_.type == DataType::FLOAT16;
    TensorDesc results[] = {desc_.outputs()[1].tensor, desc_.outputs()[2].tensor};
    for (TensorDesc& one : results) {
      one.type = DataType::FLOAT32;
      if (is_half && !set_packed_strides(one)) {
        return too_large();
      }
    }
    const std::uint32_t mean = add_row_moments(axis_bits_, results, list_);
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (is_half) {
        list_.add_output("CAST", {mean + i}, 1 + i);
      } else {
        list_.set_output(1 + i, mean + i);
      }
    }
    return Moments{mean, mean + 1};
  }

  [[nodiscard]] Error too_large() const {
    return {ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc_.op->name)};
  }

  // The sum of the gradient, which is output 2, and the sum of the gradient times (input - mean). If `mean` is
  // kNoValue, the mean of the input is computed and used.
  struct Sums {
    std::uint32_t mean;
    std::uint32_t gradients;
    std::uint32_t products;
  };
  Sums sums(std::uint32_t mean) {
    TensorDesc result = reduced_;
    result.type = DataType::FLOAT32;
    if (!has_lanes_ || !has_row_moments(desc_, axis_bits_, device_) || !set_packed_strides(result)) {
      mean = mean == kNoValue ? reduced("AVERAGE", wide(kInput)) : mean;
      const std::uint32_t gradients = reduced("SUM", wide(kInputGradient), 2);
      return {mean, gradients, reduced("SUM", product_with_difference(mean))};
    }
    const std::uint32_t first = add_row_gradients(axis_bits_, mean, result, list_);
    const std::uint32_t gradients = mean == kNoValue ? first + 1 : first;
    list_.add_output(reduced_.type == DataType::FLOAT32 ? "ELEMENT_WISE_IDENTITY" : "CAST", {gradients}, 2);
    return {mean == kNoValue ? first : mean, gradients, gradients + 1};
  }

  std::uint32_t product_with_difference(std::uint32_t mean) {
    return at_input("ELEMENT_WISE_MULTIPLY", wide(kInputGradient),
                    at_input("ELEMENT_WISE_SUBTRACT", wide(kInput), mean));
  }

  // Variance + Epsilon
  std::uint32_t spread_of_variance() {
    return list_.add(
        "ACTIVATION_LINEAR", {wide(kGivenVariance)}, DataType::FLOAT32, reduced_,
        {{.field = "Alpha", .numbers = {Scalar(1.0)}}, {.field = "Beta", .numbers = {number_of(desc_, "Epsilon")}}});
  }
  std::uint32_t root_of_variance() { return small_of_one("ELEMENT_WISE_SQRT", spread_of_variance()); }

  std::uint32_t constant(f32 value) {
    return list_.add("FILL_VALUE_CONSTANT", {}, DataType::FLOAT32, one_,
                     {{.field = "ValueDataType", .numbers = {Scalar(static_cast<u64>(DataType::FLOAT32))}},
                      {.field = "Value", .numbers = {Scalar(f64{value})}}});
  }

  static constexpr std::uint32_t kNoOutput = 0xffffffff;

  const OpDesc& desc_;
  const DeviceTraits& device_;
  DecompositionBuilder list_;
  const TensorDesc& input_;
  const TensorDesc& reduced_;
  TensorDesc one_;  // has one element
  std::vector<Scalar> axes_;
  std::uint32_t axis_bits_ = 0;
  bool has_lanes_ = false;  // sums extend along the innermost dimension
  std::int64_t count_ = 1;  // elements per sum
};

}  // namespace

bool is_batch_training(const facts::Operator& op) {
  return op.name == kTrainingName || op.name == kGradientName || op.name == kTrainingGradientName;
}

// The documented rules already require matching sizes.
Status check_batch_training(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[kInput];
  if (!desc.empty && element_count(input.tensor) == 0) {
    return invalid(desc, input,
                   format_text("sizes are {}; expected at least one element per sum",
                               shape_text(input.tensor.sizes, input.tensor.rank)));
  }
  return {};
}

Result<Decomposition> decompose_batch_training(const OpDesc& desc, const DeviceTraits& device) {
  BatchParts parts(desc, device);
  return desc.op->name == kTrainingName   ? parts.training()
         : desc.op->name == kGradientName ? parts.gradient()
                                          : parts.training_gradient();
}

}  // namespace anydml
