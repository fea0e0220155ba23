// SPDX-License-Identifier: MIT
// Files that are mapped into memory instead of read, so that a model's weights need no memory of their own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace anydml::onnx {

// A regular file in memory, read-only. The pages are the kernel's copy of the file, so the file must not become shorter
// while it is mapped. Writing to a file replaces its contents in an unspecified way.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend std::shared_ptr<const MappedFile> mapped_file(const std::string& path);
  std::span<const std::byte> bytes_;
};
using SharedFile = std::shared_ptr<const MappedFile>;

// Maps a file. As long as a mapping exists, the same version of the file is not mapped again, so models that use one
// file also share its packed weights, which are identified by their addresses. Raises Invalid with the reason, without
// the path, if the file cannot be mapped.
[[nodiscard]] SharedFile mapped_file(const std::string& path);

// Tells the kernel that the pages of a part of a mapped file are not needed for now. They are loaded again if the part
// is read again. Memory that is not part of a mapped file is left alone, so this can be called for any array.
void release_pages(std::span<const std::byte> bytes);

// Releases the pages of parts of mapped files repeatedly while it exists, and once more when it is destroyed. Without
// it, packing the weights one after another would leave their entire file in memory, in addition to the packed form.
class PageReleaser {
 public:
  explicit PageReleaser(std::vector<std::span<const std::byte>> parts);
  ~PageReleaser();
  PageReleaser(const PageReleaser&) = delete;
  PageReleaser& operator=(const PageReleaser&) = delete;

 private:
  void release() const;

  const std::vector<std::span<const std::byte>> parts_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace anydml::onnx
