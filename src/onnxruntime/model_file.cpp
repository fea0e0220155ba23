// SPDX-License-Identifier: MIT
#include "onnxruntime/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace anydml::ort {
namespace {

// The numbers of fields in ONNX's messages.
constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kGraphInitializer = 5;
constexpr std::uint64_t kTensorName = 8;
constexpr std::uint64_t kTensorRawData = 9;

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) {
      return number;
    }
  }
  return std::nullopt;
}

// Calls a function with the number and the bytes of each field that has a length, and skips the other fields. Ends at
// the first byte that does not belong to a message.
template <class Use>
void for_each_field(std::string_view message, const Use& use) {
  while (!message.empty()) {
    const auto key = take_varint(message);
    if (!key.has_value()) {
      return;
    }
    std::uint64_t skipped = 0;
    switch (*key % 8) {
      case 0:
        if (!take_varint(message).has_value()) {
          return;
        }
        continue;
      case 1:
        skipped = 8;
        break;
      case 2: {
        const auto size = take_varint(message);
        if (!size.has_value() || *size > message.size()) {
          return;
        }
        use(*key / 8, message.substr(0, *size));
        skipped = *size;
        break;
      }
      case 5:
        skipped = 4;
        break;
      default:
        return;
    }
    if (skipped > message.size()) {
      return;
    }
    message.remove_prefix(skipped);
  }
}

}  // namespace

ModelFile::ModelFile(const std::string& path) : path_(path) {
  const int file = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return;
  }
  struct stat state {};
  if (fstat(file, &state) == 0 && S_ISREG(state.st_mode) && state.st_size > 0) {
    const auto size = static_cast<std::size_t>(state.st_size);
    void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start != MAP_FAILED) {
      bytes_ = {static_cast<const char*>(start), size};
    }
  }
  close(file);
  for_each_field(bytes_, [this](std::uint64_t field, std::string_view bytes) {
    if (field == kModelGraph) {
      read_graph(bytes);
    }
  });
}

ModelFile::~ModelFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
}

void ModelFile::read_graph(std::string_view graph) {
  for_each_field(graph, [this](std::uint64_t field, std::string_view bytes) {
    if (field == kGraphInitializer) {
      read_tensor(bytes);
    }
  });
}

void ModelFile::read_tensor(std::string_view tensor) {
  std::string_view name, data;
  for_each_field(tensor, [&](std::uint64_t field, std::string_view bytes) {
    if (field == kTensorName) {
      name = bytes;
    } else if (field == kTensorRawData) {
      data = bytes;
    }
  });
  if (!data.empty()) {
    weights_.emplace(name, data);
  }
}

std::optional<std::uint64_t> ModelFile::offset_of(const std::string& name, std::span<const std::byte> bytes) const {
  const auto found = weights_.find(name);
  if (found == weights_.end() || found->second.size() != bytes.size() ||
      std::memcmp(found->second.data(), bytes.data(), bytes.size()) != 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(found->second.data() - bytes_.data());
}

}  // namespace anydml::ort
