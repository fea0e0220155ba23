// SPDX-License-Identifier: MIT
// Finds, reads and writes the files that a model names, and checks that their folders are allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anydml::dmlrun {

// Recognizes .jpg, .jpeg and .png, which DxDispatch reads and writes on Windows.
[[nodiscard]] bool has_image_extension(std::string_view path);

struct Folders {
  std::filesystem::path input;   // the model's folder, or --input_path
  std::filesystem::path output;  // the current directory, or --output_path
  bool allow_outside = false;    // --allow-outside
};

// For files that the user chooses, and not the model.
inline const Folders kAnywhere{.input = ".", .output = ".", .allow_outside = true};

// Finds the regular file that a model names. Links are followed before the location is checked. Without allow_outside
// the file must be in folders.input; with it, the current directory is tried too. The error gives the reason, but not
// the location in the model.
[[nodiscard]] Result<std::filesystem::path> find_input(const Folders& folders, std::string_view source);

// Resolves the path that a model asks to write, in folders.output unless allow_outside. Nothing is created.
[[nodiscard]] Result<std::filesystem::path> find_output(const Folders& folders, std::string_view target);

[[nodiscard]] Result<std::uint64_t> file_bytes(const std::filesystem::path& path);

// Reads exactly to.size() bytes, starting at `offset`.
[[nodiscard]] Status read_file(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> to);

// Reads a whole file of at most `limit` bytes.
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& path, std::uint64_t limit);

// How a file is stored until it is complete. Without a name, nothing remains however the process ends, but not every
// file system supports this. A temporary name is removed if a catchable signal ends the process.
enum class Unfinished : std::uint8_t { without_name_if_possible, with_name };

// Writes the parts one after another as one file. The path always refers to either the complete file or its previous
// content. Missing folders are created at the end. A link at the path itself is replaced, not followed, because
// find_output has already followed it.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts,
                                Unfinished unfinished = Unfinished::without_name_if_possible);

}  // namespace anydml::dmlrun
