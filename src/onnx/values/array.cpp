// SPDX-License-Identifier: MIT
#include "onnx/values/array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/float_bits.h"
#include "onnx/values/device_elements.h"
#include "onnx/values/dispatch.h"
#include "onnx/values/halves.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 47;  // more than a process can address
// The largest number of elements, and the largest size even of an array without elements. The number of bytes does not
// overflow; memory for so many is never allocated.
constexpr std::int64_t kMaxProduct = std::int64_t{1} << 58;
constexpr std::align_val_t kAlignment{64};

// Whether strides describe packed memory. The strides of dimensions of size 1 are irrelevant.
bool is_packed_layout(const Sizes& shape, const Sizes& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1) {
      if (strides[i] != expected) {
        return false;
      }
      expected *= shape[i];
    }
  }
  return true;
}

// The strides of the same elements in another shape, or nothing if there are none. Groups of old and new dimensions
// with equal products are matched; the dimensions of a group must be contiguous.
bool strides_in_shape(const Sizes& shape, const Sizes& strides, const Sizes& wanted, Sizes& result) {
  Sizes old_shape, old_strides;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) {
      old_shape.push_back(shape[i]);
      old_strides.push_back(strides[i]);
    }
  }
  result.assign(wanted.size(), 0);
  std::size_t old_begin = 0;
  std::size_t new_begin = 0;
  while (new_begin < wanted.size() && old_begin < old_shape.size()) {
    std::size_t old_end = old_begin + 1;
    std::size_t new_end = new_begin + 1;
    std::int64_t old_count = old_shape[old_begin];
    std::int64_t new_count = wanted[new_begin];
    while (old_count != new_count) {
      if (new_count < old_count) {
        if (new_end == wanted.size()) {
          return false;
        }
        new_count *= wanted[new_end++];
      } else {
        if (old_end == old_shape.size()) {
          return false;
        }
        old_count *= old_shape[old_end++];
      }
    }
    for (std::size_t i = old_begin; i + 1 < old_end; ++i) {
      if (old_strides[i] != old_shape[i + 1] * old_strides[i + 1]) {
        return false;
      }
    }
    result[new_end - 1] = old_strides[old_end - 1];
    for (std::size_t i = new_end - 1; i > new_begin; --i) {
      result[i - 1] = result[i] * wanted[i];
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  const std::int64_t last = new_begin > 0 ? result[new_begin - 1] : 1;
  std::fill(result.begin() + static_cast<std::ptrdiff_t>(new_begin), result.end(), last);
  return true;
}

// The stride of a dimension of size 1 is irrelevant. It is always 0, so that equal layouts have equal strides.
Sizes with_zeros(const Sizes& shape, Sizes strides) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[i] = shape[i] == 1 ? 0 : strides[i];
  }
  return strides;
}

// Copies elements of any strides, for ranks that operators do not accept.
void copy_by_index(const std::byte* from, const Sizes& shape, const Sizes& strides, std::size_t item, std::byte* to) {
  Sizes index(shape.size());
  const std::int64_t count = product(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      offset += index[axis] * strides[axis];
    }
    std::memcpy(to + static_cast<std::size_t>(i) * item, from + offset * static_cast<std::int64_t>(item), item);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        break;
      }
      index[axis] = 0;
    }
  }
}

// Calls `use` with the elements of a packed array, as a span of their C++ type.
template <class Use>
void visit_elements(const Array& packed, const Use& use) {
  switch (packed.kind()) {
    case Kind::kFloat:
      return use(packed.elements<float>());
    case Kind::kDouble:
      return use(packed.elements<double>());
    case Kind::kFloat16:
      return use(packed.elements<f16>());
    case Kind::kInt8:
      return use(packed.elements<std::int8_t>());
    case Kind::kInt16:
      return use(packed.elements<std::int16_t>());
    case Kind::kInt32:
      return use(packed.elements<std::int32_t>());
    case Kind::kInt64:
      return use(packed.elements<std::int64_t>());
    case Kind::kUint16:
      return use(packed.elements<std::uint16_t>());
    case Kind::kUint32:
      return use(packed.elements<std::uint32_t>());
    case Kind::kUint64:
      return use(packed.elements<std::uint64_t>());
    default:
      return use(packed.elements<std::uint8_t>());
  }
}

double as_number(f16 value) { return static_cast<double>(widen(value)); }
template <class T>
double as_number(T value) {
  return static_cast<double>(value);
}

std::int64_t as_integer(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) {
    return 0;
  }
  return value >= kLimit    ? std::numeric_limits<std::int64_t>::max()
         : value <= -kLimit ? std::numeric_limits<std::int64_t>::min()
                            : static_cast<std::int64_t>(value);
}

// The number of elements of a new array.
std::int64_t counted(const Sizes& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxArrayRank)) {
    fail("a value would have {} dimensions; anydml supports up to {}", shape.size(), kMaxArrayRank);
  }
  return product(shape);
}

void check_numbers(Kind kind) {
  if (!kArrayKinds.contains(kind)) {
    throw WrongType(std::string(kind_name(kind)) + " is not a type of numbers");
  }
}

template <class T>
void store_number(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

std::shared_ptr<void> new_memory(std::size_t bytes) {
  if (bytes > kMaxBytes) {
    throw NoMemory(format_text("a value has {} bytes, which is more than can be addressed", bytes));
  }
  void* const memory = ::operator new(std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow);
  if (memory == nullptr) {
    throw NoMemory(format_text("there is not enough memory for a value of {} bytes", bytes));
  }
  return {memory, [](void* one) { ::operator delete(one, kAlignment); }};
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = std::find(sizes.begin(), sizes.end(), 0) == sizes.end() ? 1 : 0;
  bool is_large = false;
  for (const std::int64_t size : sizes) {
    is_large = is_large || size > kMaxProduct || __builtin_mul_overflow(result, size, &result) || result > kMaxProduct;
  }
  if (is_large) {
    throw NoMemory(format_text("a value of shape {} has more elements than can be addressed",
                               listed(Sizes(sizes.begin(), sizes.end()))));
  }
  return result;
}

Sizes packed_strides(const Sizes& shape) {
  Sizes strides(shape.size());
  if (product(shape) == 0) {  // raises NoMemory if a stride would overflow
    return strides;           // no element needs them
  }
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = shape[i] == 1 ? 0 : stride;
    stride *= shape[i];
  }
  return strides;
}

Sizes broadcast_shapes(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes result = longer;
  const std::size_t moved = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[moved + i];
    if (size != shorter[i] && size != 1 && shorter[i] != 1) {
      fail("the shapes {} and {} do not broadcast to each other", listed(a), listed(b));
    }
    size = size == 1 ? shorter[i] : size;
  }
  return result;
}

// ---- Creation -------------------------------------------------------------------------------------------------------

std::shared_ptr<const Array::Layout> Array::layout_of(Sizes shape, Sizes strides) {
  auto layout = std::make_shared<Layout>();
  layout->count = counted(shape);
  layout->strides = with_zeros(shape, std::move(strides));
  layout->shape = std::move(shape);
  layout->is_packed = layout->count == 0 || is_packed_layout(layout->shape, layout->strides);
  for (std::size_t axis = 0; layout->count != 0 && axis < layout->shape.size(); ++axis) {
    const std::int64_t reach = (layout->shape[axis] - 1) * layout->strides[axis];
    (reach < 0 ? layout->low : layout->high) += reach;
  }
  return layout;
}

Array Array::empty(Kind kind, Sizes shape) {
  const std::int64_t count = product(shape);
  std::shared_ptr<void> memory = new_memory(bytes_of(kind, static_cast<std::size_t>(count)));
  const void* const data = memory.get();
  if (kind == Kind::kString) {
    std::uninitialized_value_construct_n(static_cast<std::string_view*>(memory.get()), count);
  }
  return wrap(kind, std::move(shape), data, std::move(memory));
}

Array Array::zeros(Kind kind, Sizes shape) {
  Array array = empty(kind, std::move(shape));
  std::memset(array.writable(), 0, array.bytes());
  return array;
}

Array Array::wrap(Kind kind, Sizes shape, const void* data, std::shared_ptr<const void> owner) {
  Sizes strides = packed_strides(shape);
  return wrap(kind, std::move(shape), std::move(strides), data, std::move(owner));
}

Array Array::wrap(Kind kind, Sizes shape, Sizes strides, const void* data, std::shared_ptr<const void> owner) {
  auto body = std::make_shared<Body>();
  body->kind = kind;
  body->layout = layout_of(std::move(shape), std::move(strides));
  body->data = data;
  body->owner = std::move(owner);
  return Array(std::move(body));
}

Array Array::wrap_on(const anydml_device* device, Kind kind, Sizes shape, Sizes strides, const void* data,
                     std::shared_ptr<const void> owner) {
  Array array = wrap(kind, std::move(shape), std::move(strides), data, std::move(owner));
  const auto [begin, end] = array.bounds();
  const auto* const first = reinterpret_cast<const void*>(begin);
  if (array.count() != 0 && onnx::is_on_device(device, first, end - begin)) {
    array.body_->elements = std::make_shared<const DeviceElements>(device, first, end - begin);
  }
  return array;
}

Array Array::empty_on(const anydml_device* device, Kind kind, Sizes shape) {
  Sizes strides = packed_strides(shape);
  const std::size_t bytes = static_cast<std::size_t>(product(shape)) * item_size(kind);
  std::shared_ptr<void> memory = new_device_memory(device, bytes);
  const void* const data = memory.get();
  return wrap_on(device, kind, std::move(shape), std::move(strides), data, std::move(memory));
}

Array Array::scalar(Kind kind, double value) {
  Array array = empty(kind, {});
  switch (kind) {
    case Kind::kDouble:
      store_number(array.writable(), value);
      break;
    case Kind::kFloat:
      store_number(array.writable(), static_cast<float>(value));
      break;
    case Kind::kFloat16:
      store_number(array.writable(), round_to<f16>(value));
      break;
    default:
      return scalar(kind, as_integer(value));
  }
  return array;
}

Array Array::scalar(Kind kind, std::int64_t value) {
  if (is_float(kind)) {
    return scalar(kind, static_cast<double>(value));
  }
  Array array = empty(kind, {});
  std::memcpy(array.writable(), &value, item_size(kind));  // little-endian: the low bytes
  return array;
}

Array Array::strings(Sizes shape, std::span<const std::string_view> texts) {
  if (static_cast<std::size_t>(product(shape)) != texts.size()) {
    fail("the shape {} does not have {} strings", listed(shape), texts.size());
  }
  std::size_t bytes = texts.size_bytes();
  for (const std::string_view text : texts) {
    bytes += text.size();
  }
  std::shared_ptr<void> memory = new_memory(bytes);
  auto* const views = static_cast<std::string_view*>(memory.get());
  auto* to = static_cast<char*>(memory.get()) + texts.size_bytes();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::construct_at(views + i, to, texts[i].size());
    to = std::copy(texts[i].begin(), texts[i].end(), to);
  }
  return wrap(Kind::kString, std::move(shape), views, std::move(memory));
}

Array Array::integers(const std::vector<std::int64_t>& numbers) {
  return of(Kind::kInt64, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

// ---- Views ----------------------------------------------------------------------------------------------------------

Array Array::view(Sizes shape, Sizes strides, std::int64_t moved) const {
  auto body = std::make_shared<Body>();
  body->kind = body_->kind;
  body->layout = layout_of(std::move(shape), std::move(strides));
  if (is_symbol()) {
    body->recorder = body_->recorder;
    body->source = body_->source;
    body->offset = body_->offset + moved;
  } else {
    body->data = static_cast<const std::byte*>(body_->data) + moved * static_cast<std::int64_t>(item_size(body_->kind));
    body->owner = body_->owner;
    body->elements = body_->elements;
  }
  return Array(std::move(body));
}

Array Array::reshape(Sizes shape) const {
  if (product(shape) != count()) {
    fail("cannot reshape {} elements to the shape {}", count(), listed(shape));
  }
  if (is_packed()) {
    Sizes strides = packed_strides(shape);
    return view(std::move(shape), std::move(strides), 0);
  }
  Sizes strides;
  if (strides_in_shape(body_->layout->shape, body_->layout->strides, shape, strides)) {
    return view(std::move(shape), std::move(strides), 0);
  }
  return copied().reshape(std::move(shape));
}

Array Array::transpose(const std::vector<int>& order) const {
  Sizes shape, strides;
  for (const int axis : order) {
    shape.push_back(size(axis));
    strides.push_back(body_->layout->strides[static_cast<std::size_t>(axis)]);
  }
  return view(std::move(shape), std::move(strides), 0);
}

Array Array::transpose() const {
  return view({body_->layout->shape.rbegin(), body_->layout->shape.rend()},
              {body_->layout->strides.rbegin(), body_->layout->strides.rend()}, 0);
}

Array Array::slice(int axis, std::int64_t start, std::int64_t count, std::int64_t step) const {
  const auto at = static_cast<std::size_t>(axis);
  Sizes shape = body_->layout->shape;
  Sizes strides = body_->layout->strides;
  const std::int64_t moved = count == 0 ? 0 : start * strides[at];
  shape[at] = count;
  strides[at] *= count > 0 ? step : 1;
  return view(std::move(shape), std::move(strides), moved);
}

Array Array::at(int axis, std::int64_t index) const {
  const auto where = static_cast<std::ptrdiff_t>(axis);
  Sizes shape = body_->layout->shape;
  Sizes strides = body_->layout->strides;
  const std::int64_t moved = index * strides[static_cast<std::size_t>(axis)];
  shape.erase(shape.begin() + where);
  strides.erase(strides.begin() + where);
  return view(std::move(shape), std::move(strides), moved);
}

Array Array::insert_axis(int axis) const {
  Sizes shape = body_->layout->shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return reshape(std::move(shape));
}

Array Array::drop_axis(int axis) const { return at(axis, 0); }

Array Array::with_rank(int rank) const {
  Sizes shape(static_cast<std::size_t>(std::max(rank - this->rank(), 0)), 1);
  shape.insert(shape.end(), body_->layout->shape.begin(), body_->layout->shape.end());
  return reshape(std::move(shape));
}

Array Array::broadcast_to(Sizes shape) const {
  const std::size_t own = body_->layout->shape.size();
  if (shape.size() < own) {
    fail("the shape {} does not broadcast to {}", listed(body_->layout->shape), listed(shape));
  }
  const std::size_t more = shape.size() - own;
  Sizes strides(shape.size(), 0);
  for (std::size_t i = 0; i < own; ++i) {
    if (body_->layout->shape[i] != 1) {
      if (body_->layout->shape[i] != shape[more + i]) {
        fail("the shape {} does not broadcast to {}", listed(body_->layout->shape), listed(shape));
      }
      strides[more + i] = body_->layout->strides[i];
    }
  }
  return view(std::move(shape), std::move(strides), 0);
}

Array Array::view_as(Kind kind) const {
  auto body = std::make_shared<Body>(*body_);
  body->kind = kind;
  body->value = 0;
  return Array(std::move(body));
}

Array Array::copied() const {
  if (is_symbol()) {
    const Array copy = onnx::identity(*this);
    return kind() == Kind::kBool ? copy.view_as(Kind::kBool) : copy;
  }
  Array copy = empty(kind(), shape());
  if (count() == 0) {
    return copy;
  }
  if (kind() != Kind::kString && rank() <= kMaxRank) {
    dispatch_into("ELEMENT_WISE_IDENTITY", {*this}, {}, copy);
  } else {
    copy_by_index(static_cast<const std::byte*>(data()), shape(), strides(), item_size(kind()),
                  static_cast<std::byte*>(copy.writable()));
  }
  if (kind() == Kind::kString) {
    return strings(shape(), copy.elements<std::string_view>());  // with characters of its own
  }
  return copy;
}

// ---- Elements -------------------------------------------------------------------------------------------------------

const void* Array::data() const {
  if (is_symbol()) {
    throw ElementsNeeded(body_->source);
  }
  if (ElementReads::current != nullptr) {
    ElementReads::current->addresses_.push_back(reinterpret_cast<std::uintptr_t>(body_->data));
  }
  return body_->elements != nullptr ? body_->elements->on_cpu(body_->data) : body_->data;
}

std::pair<std::uintptr_t, std::uintptr_t> Array::bounds() const {
  const Layout& layout = *body_->layout;
  const auto start = reinterpret_cast<std::uintptr_t>(body_->data);
  const auto after = static_cast<std::int64_t>(bytes_of(body_->kind, static_cast<std::size_t>(layout.high + 1)));
  return {start + static_cast<std::uintptr_t>(bytes_between(body_->kind, layout.low)),
          start + static_cast<std::uintptr_t>(after)};
}

thread_local constinit ElementReads* ElementReads::current = nullptr;

bool ElementReads::includes(std::pair<std::uintptr_t, std::uintptr_t> bounds) const {
  return std::any_of(addresses_.begin(), addresses_.end(),
                     [bounds](std::uintptr_t one) { return bounds.first <= one && one < bounds.second; });
}

void* Array::writable() { return const_cast<void*>(data()); }

Array Array::packed() const {
  // Weights in a model's file may be at any address, which operators accept but C++ pointers to elements do not.
  const bool is_aligned = count() == 0 || is_on_device() || item_size(kind()) <= 1 ||
                          reinterpret_cast<std::uintptr_t>(data()) % item_size(kind()) == 0;
  return is_packed() && is_aligned ? *this : copied();
}

std::vector<std::int64_t> Array::to_integers() const {
  check_numbers(kind());
  const Array all = packed();
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(count()));
  visit_elements(all, [&numbers](auto elements) {
    for (const auto one : elements) {
      if constexpr (std::is_integral_v<std::decay_t<decltype(one)>>) {
        numbers.push_back(static_cast<std::int64_t>(one));
      } else {
        numbers.push_back(as_integer(as_number(one)));
      }
    }
  });
  return numbers;
}

std::vector<double> Array::to_numbers() const {
  check_numbers(kind());
  const Array all = packed();
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(count()));
  visit_elements(all, [&numbers](auto elements) {
    for (const auto one : elements) {
      numbers.push_back(as_number(one));
    }
  });
  return numbers;
}

std::int64_t Array::integer() const {
  if (count() != 1) {
    fail("expected one number, but the tensor has the shape {}", listed(shape()));
  }
  return to_integers().front();
}

double Array::number() const {
  if (count() != 1) {
    fail("expected one number, but the tensor has the shape {}", listed(shape()));
  }
  return to_numbers().front();
}

}  // namespace anydml::onnx
