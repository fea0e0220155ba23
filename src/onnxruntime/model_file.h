// SPDX-License-Identifier: MIT
// The file of the model that a session loads. Its weights are used where they are, instead of copies of the runtime's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace anydml::ort {

class ModelFile {
 public:
  // A file that cannot be read, or that is not an ONNX model, has no weights.
  explicit ModelFile(const std::string& path);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Where the file has these bytes as the initializer with this name; nothing if it has none, or others: the runtime's
  // optimizer may have changed them.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(const std::string& name, std::span<const std::byte> bytes) const;

 private:
  void read_graph(std::string_view graph);
  void read_tensor(std::string_view tensor);

  const std::string path_;
  std::string_view bytes_;
  std::unordered_map<std::string_view, std::string_view> weights_;  // by name
};

}  // namespace anydml::ort
