// SPDX-License-Identifier: MIT
// Reads the small files that Linux uses to describe the machine. It avoids C++ streams, because they crash in a Python
// module that contains its own copy of the standard library if another copy in the process owns the locales.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace anydml {

// Returns everything that can be read, or an empty string if the file does not exist. May throw std::bad_alloc.
[[nodiscard]] inline std::string read_text_file(const std::string& path) {
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  std::string text;
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "re"));
  if (file != nullptr) {
    char part[4096];
    for (std::size_t size = 0; (size = std::fread(part, 1, sizeof(part), file.get())) != 0;) {
      text.append(part, size);
    }
  }
  return text;
}

// Calls use(line) for each line, without its newline, until a call returns false.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (!use(std::string(text.substr(0, end)))) {
      return;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace anydml
