// SPDX-License-Identifier: MIT
#include "onnx_device_arrays.h"

#include <algorithm>
#include <utility>

#include "device_call.h"
#include "errors.h"
#include "gil.h"

namespace anydml::python {

using onnx::Kind;

OnnxDeviceArrays::OnnxDeviceArrays(const onnx::Model& model)
    : model_(model),
      device_(model.device() != nullptr ? model.device() : anydml_find_device(nullptr)),
      outputs_(model.outputs().size()) {}

std::optional<onnx::Array> OnnxDeviceArrays::take(nb::handle given, const std::string& name) {
  DeviceOperand found;
  found.takes_truths = true;
  found.locate(given);
  if (!found.on_gpu()) {
    return std::nullopt;
  }
  DeviceOperand& one = operands_.emplace_back(found);
  if (const anydml_device* const where = device_of(one.device); where != device_) {
    raise(PyExc_ValueError, "input '" + name + "' is on " + anydml_device_get_info(where)->name +
                                ", and the model on " + anydml_device_get_info(device_)->name +
                                "; expected that device, or a NumPy array");
  }
  one.read(Order::after_pending, false);
  const anydml_tensor& tensor = one.operand.tensor;
  const Kind kind = one.is_of_truths() ? Kind::kBool : onnx::kind_of_api(tensor.type);
  onnx::Sizes shape(tensor.sizes, tensor.sizes + tensor.rank);
  if (onnx::product(shape) == 0) {
    return onnx::Array::empty(kind, std::move(shape));
  }
  onnx::Sizes strides(tensor.strides, tensor.strides + tensor.rank);
  try {
    return onnx::Array::wrap_on(model_.memory_device(), kind, std::move(shape), std::move(strides), tensor.data,
                                nullptr);
  } catch (const onnx::Invalid& error) {
    raise(PyExc_ValueError, "input '" + name + "': " + error.what());
  }
}

void OnnxDeviceArrays::choose(nb::handle on_device) {
  is_on_device_ = on_device.is_none() ? !operands_.empty() : nb::cast<bool>(on_device);
}

bool OnnxDeviceArrays::has_output(Kind kind) const { return is_on_device_ && !onnx::kFourBitKinds.contains(kind); }

void* OnnxDeviceArrays::new_output(std::size_t position, Kind kind, const onnx::Sizes& shape) {
  Output& output = outputs_[position].emplace();
  const auto rank = static_cast<int>(shape.size());
  const bool is_of_truths = kind == Kind::kBool;
  const auto type = static_cast<DataType>(onnx::api_type(kind));
  if (rank > kMaxDimensions) {
    raise(PyExc_ValueError, "an output has " + std::to_string(rank) + " dimensions; arrays on a device have up to " +
                                std::to_string(kMaxDimensions));
  }
  if (!operands_.empty() && operands_.front().library->empty.is_none()) {
    output.memory.emplace(device_, type, rank, shape.data(), is_of_truths);
    return output.memory->address();
  }
  if (!operands_.empty()) {
    output.object = DeviceCall::new_array(operands_.front(), type, rank, shape.data(), is_of_truths);
  } else {
    nb::list sizes;
    for (const std::int64_t size : shape) {
      sizes.append(size);
    }
    const std::string dtype = is_of_truths ? "bool" : type_text(type);
    output.object = in_python([&] {
      return nb::object(nb::module_::import_("anydml").attr("DeviceArray")(nb::tuple(sizes), dtype,
                                                                           anydml_device_get_info(device_)->name));
    });
  }
  output.array.fresh = true;
  output.array.takes_truths = true;
  output.array.locate(output.object);
  output.array.read(Order::after_pending, true);
  return output.array.operand.tensor.data;
}

nb::object OnnxDeviceArrays::output(std::size_t position) {
  std::optional<Output>& output = outputs_[position];
  if (output.has_value() && output->memory.has_value()) {
    const DeviceOperand& like = operands_.front();
    const nb::object memory = nb::cast(std::move(*output->memory));
    output->object = in_python([&] { return like.library->adopt(like.given, memory); });
    output->memory.reset();
  }
  return output.has_value() ? output->object : nb::object();
}

}  // namespace anydml::python
