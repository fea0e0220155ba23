// SPDX-License-Identifier: MIT
// Reads the elements of tensors, from the message or from a file next to the model. Models may be untrusted: everything
// that a tensor declares about its size and location is checked before memory is allocated or a file is opened.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "onnx/model/files.h"
#include "onnx/model/message.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kMaxWide = ~Wide{0};
constexpr std::size_t kMaxDigits = 100;
constexpr std::size_t kMaxShown = 200;  // characters of a name in a message
// Smaller tensors are copied if their address is unaligned. Larger ones are used where they are: protobuf aligns
// nothing, so three of four float tensors in a file are unaligned, and copies of them would double the memory of the
// weights. The operators accept any alignment (see anydml_tensor), and GEMM is as fast with unaligned weights: 64 x
// 1024 times 1024 x 1024 takes between 1.25 and 1.33 ms at every offset. Code that needs pointers to elements uses
// Array::packed.
constexpr std::size_t kSmallBytes = 4096;

// ---- Sizes ----------------------------------------------------------------------------------------------------------

// A product of sizes, which stays at the largest number if it does not fit.
Wide wide_product(const Sizes& sizes) {
  Wide result = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      return 0;
    }
    const auto factor = static_cast<Wide>(size);
    result = result > kMaxWide / factor ? kMaxWide : result * factor;
  }
  return result;
}

std::string wide_text(Wide number) {
  if (number == kMaxWide) {
    return "more than 10^38";
  }
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide wide_bytes(Kind kind, Wide count) {
  if (kFourBitKinds.contains(kind)) {
    return count / 2 + count % 2;
  }
  const Wide size = item_size(kind);
  return count > kMaxWide / size ? kMaxWide : count * size;
}

void check_dims(const Sizes& dims, const std::string& what) {
  if (dims.size() > static_cast<std::size_t>(kMaxArrayRank)) {
    fail("{}: dims are {} numbers; expected {} at most", what, dims.size(), kMaxArrayRank);
  }
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t size) { return size < 0; })) {
    fail("{}: dims are {}; expected 0 or more", what, listed(dims));
  }
  // An empty tensor could have any other sizes, but its strides must fit in 64 bits.
  Sizes nonzero;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(nonzero), [](std::int64_t size) { return size != 0; });
  if (nonzero.size() != dims.size() && wide_product(nonzero) > (Wide{1} << 62)) {
    fail("{}: dims are {}; expected sizes with a product of 2^62 at most", what, listed(dims));
  }
}

const char* field_name(Kind kind) {
  switch (kind) {
    case Kind::kFloat:
      return "float_data";
    case Kind::kDouble:
      return "double_data";
    case Kind::kInt64:
      return "int64_data";
    case Kind::kUint32:
    case Kind::kUint64:
      return "uint64_data";
    default:
      return "int32_data";
  }
}

// ---- Arrays ---------------------------------------------------------------------------------------------------------

// Four-bit integers, each in its own byte. The first of a pair is in the low bits.
Array widened(Kind kind, const Sizes& dims, std::span<const std::byte> packed) {
  Array array = Array::empty(array_kind(kind), dims);
  auto* const to = static_cast<std::uint8_t*>(array.writable());
  const auto count = static_cast<std::size_t>(array.count());
  const std::uint8_t sign = kind == Kind::kInt4 ? 8 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<unsigned>(std::to_integer<std::uint8_t>(packed[i / 2]) >> (i % 2 * 4)) & 15U;
    to[i] = static_cast<std::uint8_t>((bits ^ sign) - sign);
  }
  release_pages(packed);
  return array;
}

// Whether four-bit elements get a byte each.
enum class Halves : bool { kWidened, kKept };

// The array with these bytes, whose number has been checked.
Array array_from(Kind kind, const Sizes& dims, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                 Halves halves) {
  if (bytes.empty()) {
    return Array::empty(array_kind(kind), dims);
  }
  if (kFourBitKinds.contains(kind)) {
    return halves == Halves::kWidened ? widened(kind, dims, bytes)
                                      : Array::wrap(kind, dims, bytes.data(), std::move(owner));
  }
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % item_size(kind) == 0;
  if (is_aligned || bytes.size() >= kSmallBytes) {
    return Array::wrap(kind, dims, bytes.data(), std::move(owner));
  }
  Array array = Array::empty(kind, dims);
  std::memcpy(array.writable(), bytes.data(), bytes.size());
  return array;
}

Array array_in_message(const TensorMessage& tensor, Kind kind, const std::string& what, Halves halves) {
  const Wide count = wide_product(tensor.dims);
  const bool is_packed = kFourBitKinds.contains(kind);  // each entry of int32_data has a byte with two integers
  if (tensor.has_raw_data) {
    const Wide needed = wide_bytes(kind, count);
    if (needed != tensor.raw_data.size()) {
      fail("{}: dims are {}, which need {} bytes of raw_data; the model has {}", what, listed(tensor.dims),
           wide_text(needed), tensor.raw_data.size());
    }
    return array_from(kind, tensor.dims, tensor.raw_data, tensor.owner, halves);
  }
  const Wide needed = is_packed ? wide_bytes(kind, count) : count;
  if (needed != tensor.element_count) {
    fail("{}: dims are {}, which need {} elements of {}; the model has {}", what, listed(tensor.dims),
         wide_text(needed), field_name(kind), tensor.element_count);
  }
  const std::span<const std::byte> bytes =
      tensor.elements ? std::span<const std::byte>(*tensor.elements) : std::span<const std::byte>();
  return array_from(kind, tensor.dims, bytes, tensor.elements, halves);
}

Array strings_in_message(const TensorMessage& tensor, const std::string& what) {
  const Wide needed = wide_product(tensor.dims);
  if (tensor.has_raw_data) {
    fail("{}: it has raw_data; expected string_data, as ONNX requires for strings", what);
  }
  if (needed != tensor.strings.size()) {
    fail("{}: dims are {}, which need {} elements of string_data; the model has {}", what, listed(tensor.dims),
         wide_text(needed), tensor.strings.size());
  }
  return Array::strings(tensor.dims, tensor.strings);
}

// ---- External data --------------------------------------------------------------------------------------------------

const std::string* entry_of(const TensorMessage& tensor, std::string_view key) {
  const std::string* found = nullptr;
  for (const auto& [name, value] : tensor.external_data) {
    if (name == key) {
      found = &value;  // the last one counts
    }
  }
  return found;
}

// A number of bytes in decimal, without leading zeros; null stays null.
std::optional<std::string> digits_of(const TensorMessage& tensor, std::string_view key, const std::string& what) {
  const std::string* const text = entry_of(tensor, key);
  if (text == nullptr) {
    return std::nullopt;
  }
  if (text->empty() || text->size() > kMaxDigits ||
      !std::all_of(text->begin(), text->end(), [](char one) { return one >= '0' && one <= '9'; })) {
    fail("{}: {} is {} in its external_data; expected a number of bytes, 0 or more", what, key,
         onnx::quoted(text->substr(0, kMaxDigits)));
  }
  const std::size_t first = text->find_first_not_of('0');
  return first == std::string::npos ? "0" : text->substr(first);
}

Wide wide_number(const std::string& digits) {
  Wide number = 0;
  for (const char digit : digits) {
    const auto more = static_cast<Wide>(digit - '0');
    number = number > (kMaxWide - more) / 10 ? kMaxWide : number * 10 + more;
  }
  return number;
}

[[noreturn]] void fail_location(const std::string& what, const std::string& location, const std::string& reason) {
  fail("{}: location is {}, which is not a valid file name: {}", what, onnx::quoted(location.substr(0, kMaxShown)),
       reason);
}

// The path of a file in the model's folder or one of its subfolders, without links.
std::string checked_path(const std::string& folder, const std::string& location, const std::string& what) {
  namespace fs = std::filesystem;
  if (location.find('\0') != std::string::npos) {
    fail_location(what, location, "embedded null byte");
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) {
    fail("{}: the model's folder cannot be opened: {}", what, error.message());
  }
  const fs::path path = fs::weakly_canonical(root / location, error);
  if (error) {
    fail_location(what, location, error.message());
  }
  const bool is_inside = std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
  if (!is_inside) {
    fail("{} is in {}, which is outside the model's folder", what, onnx::quoted(location));
  }
  const fs::file_status status = fs::status(path, error);
  if (error && !fs::exists(status) && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    fail_location(what, location, error.message());
  }
  if (!fs::is_regular_file(status)) {
    fail("{}: location is {}, but there is no such file next to the model", what, onnx::quoted(location));
  }
  return path.string();
}

Array array_in_file(const TensorMessage& tensor, Kind kind, const ModelMessage& model, const std::string& what,
                    Halves halves) {
  if (!kArrayKinds.contains(kind) && !kFourBitKinds.contains(kind)) {
    throw Unsupported(what + " has a type that anydml does not support", {"external tensor"});
  }
  if (!model.has_folder) {
    fail("{} is in a file that was not loaded; pass the path of the model", what);
  }
  const std::string* const location = entry_of(tensor, "location");
  if (location == nullptr || location->empty()) {
    fail("{}: its external_data has no location; expected the name of a file next to the model", what);
  }
  const std::string offset = digits_of(tensor, "offset", what).value_or("0");
  const std::optional<std::string> length = digits_of(tensor, "length", what);
  const Wide needed = wide_bytes(kind, wide_product(tensor.dims));
  if (length && wide_number(*length) != needed) {
    fail("{}: length is {} in its external_data; expected {}, since dims are {}", what, *length, wide_text(needed),
         listed(tensor.dims));
  }
  const std::string path = checked_path(model.folder, *location, what);
  SharedFile file;
  try {
    file = mapped_file(path);
  } catch (const Invalid& error) {
    fail("{}: location is {}, which cannot be read: {}", what, onnx::quoted(*location), error.what());
  }
  const std::span<const std::byte> bytes = file->bytes();
  const Wide first = wide_number(offset);
  if (first > bytes.size() || needed > bytes.size() - first) {
    fail("{} needs {} bytes at offset {} of {}, which has {}", what, wide_text(needed), offset, onnx::quoted(*location),
         bytes.size());
  }
  const auto part = bytes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(needed));
  return array_from(kind, tensor.dims, part, std::move(file), halves);
}

Array array_as(Halves halves, const TensorMessage& tensor, const ModelMessage& model, const std::string& what) {
  if (tensor.array) {
    return tensor.array;
  }
  const std::string name = what.empty() ? "tensor " + onnx::quoted(tensor.name) : what;
  const Kind kind = checked_kind(tensor.data_type, name + ": data_type");
  check_dims(tensor.dims, name);
  if (tensor.is_external) {
    return array_in_file(tensor, kind, model, name, halves);
  }
  if (tensor.has_segment) {
    fail("{}: it is a segment of a larger tensor, which anydml does not support", name);
  }
  if (kind == Kind::kUndefined) {
    fail("{}: data_type is missing", name);
  }
  if (kind == Kind::kString) {
    return strings_in_message(tensor, name);
  }
  if (!kArrayKinds.contains(kind) && !kFourBitKinds.contains(kind)) {
    return {};
  }
  return array_in_message(tensor, kind, name, halves);
}

}  // namespace

Array array_of(const TensorMessage& tensor, const ModelMessage& model, const std::string& what) {
  return array_as(Halves::kWidened, tensor, model, what);
}

Array halves_of(const TensorMessage& tensor, const ModelMessage& model) {
  return array_as(Halves::kKept, tensor, model, {});
}

}  // namespace anydml::onnx
