// SPDX-License-Identifier: MIT
// Files that a model names: where they may lie, and how they are read and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anydml::dmlrun {

// .jpg, .jpeg and .png, which DxDispatch reads and writes on Windows.
[[nodiscard]] bool has_image_extension(std::string_view path);

struct Folders {
  std::filesystem::path input;   // the model's folder, or --input_path
  std::filesystem::path output;  // the current folder, or --output_path
  bool allow_outside = false;    // --allow-outside
};

// The regular file that a model's text names. Links are followed before the place is judged; without allow_outside it
// must lie under folders.input, with it also the current folder is tried. The error says what is wrong, not where in
// the model.
[[nodiscard]] Result<std::filesystem::path> find_input(const Folders& folders, std::string_view source);

// Where a model's text asks to write, under folders.output unless allow_outside. Nothing is created.
[[nodiscard]] Result<std::filesystem::path> find_output(const Folders& folders, std::string_view target);

[[nodiscard]] Result<std::uint64_t> file_bytes(const std::filesystem::path& path);

// Exactly to.size() bytes from offset on.
[[nodiscard]] Status read_file(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> to);

// A whole file of at most `limit` bytes.
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& path, std::uint64_t limit);

// Where the bytes of a file lie until it is whole: without a name, so that nothing is left of it however the process
// ends, where the file system can do that; or under a name that is removed when it ends by a signal that can be caught.
enum class Unfinished : std::uint8_t { without_name_if_possible, with_name };

// The parts one after the other, as the whole file: the path has either all of them or what was there before. Folders
// that are missing are made at the end. A link at the path itself is replaced, not followed: find_output has followed
// it.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts,
                                Unfinished unfinished = Unfinished::without_name_if_possible);

}  // namespace anydml::dmlrun
