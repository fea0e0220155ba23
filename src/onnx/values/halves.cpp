// SPDX-License-Identifier: MIT
#include "onnx/values/halves.h"

#include <utility>

#include "onnx/values/recorder.h"

namespace anydml::onnx {

Array Recorder::halves_of_bytes(const Array& bytes, Sizes shape, Sizes strides) {
  auto body = std::make_shared<Array::Body>(*bytes.body_);
  body->kind = Kind::kUint4;
  body->layout = Array::layout_of(std::move(shape), std::move(strides));
  body->offset = 2 * body->offset;
  body->value = 0;
  return Array(std::move(body));
}

Array Recorder::bytes_of_halves(const Array& halves) {
  auto body = std::make_shared<Array::Body>(*halves.body_);
  Sizes shape = halves.shape();
  shape.back() /= 2;
  body->kind = Kind::kUint8;
  body->layout = Array::layout_of(shape, packed_strides(shape));
  body->offset = halves.body_->offset / 2;
  body->value = 0;
  return Array(std::move(body));
}

Array bytes_of_halves(const Array& halves) { return Recorder::bytes_of_halves(halves); }

Array halves_of_bytes(const Array& bytes, Sizes shape, Sizes strides) {
  return Recorder::halves_of_bytes(bytes, std::move(shape), std::move(strides));
}

Array dispatch_beside(const Array& other, const char* op, const Arrays& inputs, const Options& options,
                      const Out& out) {
  return other.is_symbol() ? std::move(Recorder::of(other)->add(op, inputs, options, {out}).front())
                           : dispatch(op, inputs, options, out);
}

}  // namespace anydml::onnx
