// SPDX-License-Identifier: MIT
#include "onnx/generate/cache.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "onnx/values/device_elements.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {

Pages::Pages(const anydml_device* device, std::size_t bytes)
    : memory_(device != nullptr ? new_device_memory(device, std::max<std::size_t>(bytes, 1))
                                : std::shared_ptr<void>(std::calloc(std::max<std::size_t>(bytes, 1), 1), std::free)) {
  if (memory_ == nullptr) {
    throw NoMemory(format_text("there is not enough memory for {} bytes of keys or values", bytes));
  }
}

KeyValueCache::KeyValueCache(const Decoder& decoder, std::int64_t batch, std::int64_t rows)
    : decoder_(decoder),
      device_(decoder.model().memory_device()),
      batch_(batch),
      rows_(rows),
      tensors_(decoder.cache().size()) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const CacheTensor& form = decoder.cache()[i];
    Tensor& tensor = tensors_[i];
    tensor.past_rows = form.window != 0 ? form.window : rows;
    tensor.past = pages_for(form, tensor.past_rows);
  }
}

Pages KeyValueCache::pages_for(const CacheTensor& form, std::int64_t rows) const {
  const Sizes shape = {batch_, form.heads, rows, form.head_size, static_cast<std::int64_t>(item_size(form.kind))};
  return Pages(device_, static_cast<std::size_t>(product(shape)));
}

Array KeyValueCache::past(std::size_t number) const {
  const CacheTensor& form = decoder_.cache()[number];
  const Tensor& tensor = tensors_[number];
  Sizes shape = {batch_, form.heads, tensor.past_rows, form.head_size};
  if (tensor.past_rows == 0) {
    return Array::empty(form.kind, std::move(shape));
  }
  Sizes strides = packed_strides(shape);
  return Array::wrap_on(device_, form.kind, std::move(shape), std::move(strides), tensor.past.data(), nullptr);
}

void* KeyValueCache::present(std::size_t number, const Sizes& shape) {
  const CacheTensor& form = decoder_.cache()[number];
  Tensor& tensor = tensors_[number];
  const bool has_rank = shape.size() == 4;
  if (!has_rank || shape != Sizes{batch_, form.heads, shape[2], form.head_size} ||
      (rows_ != 0 && shape[2] != tensor.past_rows)) {
    fail("an output of keys or values has the shape {}; expected [{}, {}, {}, {}]", listed(shape), batch_, form.heads,
         rows_ != 0 ? std::to_string(tensor.past_rows) : "any number", form.head_size);
  }
  if (is_in_place(number)) {
    return tensor.past.data();
  }
  tensor.present = pages_for(form, shape[2]);
  tensor.present_rows = shape[2];
  return tensor.present.data();
}

void KeyValueCache::keep() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!is_in_place(i)) {
      tensors_[i].past = std::move(tensors_[i].present);
      tensors_[i].past_rows = tensors_[i].present_rows;
    }
  }
}

void KeyValueCache::enlarge(std::int64_t rows) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const CacheTensor& form = decoder_.cache()[i];
    Tensor& tensor = tensors_[i];
    if (form.window != 0) {
      continue;
    }
    Pages larger = pages_for(form, rows);
    const std::size_t row = static_cast<std::size_t>(form.head_size) * item_size(form.kind);
    const auto from_step = row * static_cast<std::size_t>(tensor.past_rows);
    const auto to_step = row * static_cast<std::size_t>(rows);
    const auto heads = static_cast<std::size_t>(batch_ * form.heads);
    for (std::size_t head = 0; head < heads; ++head) {
      copy_between(device_, static_cast<std::byte*>(larger.data()) + head * to_step,
                   static_cast<const std::byte*>(tensor.past.data()) + head * from_step, from_step);
    }
    tensor.past = std::move(larger);
    tensor.past_rows = rows;
  }
  rows_ = rows;
}

}  // namespace anydml::onnx
