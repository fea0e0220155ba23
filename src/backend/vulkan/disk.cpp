// SPDX-License-Identifier: MIT
#include "backend/vulkan/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace anydml::vulkan {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

// Before the bytes of a file. Drivers check only the header of their own data, so a damaged file must not reach them.
struct FileHeader {
  char magic[8];
  std::uint64_t bytes;
  std::uint64_t hash;
};
constexpr char kMagic[8] = {'a', 'n', 'y', 'd', 'm', 'l', 'v', '1'};

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte one : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(one)) * 0x100000001b3ULL;
  }
  return hash;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  bool read(void* to, std::uint64_t bytes) const {
    for (auto* next = static_cast<char*>(to); bytes != 0;) {
      const ssize_t got = ::read(descriptor_, next, bytes);
      if (got <= 0) {
        return false;
      }
      next += got;
      bytes -= static_cast<std::uint64_t>(got);
    }
    return true;
  }
  bool write(const void* from, std::uint64_t bytes) const {
    for (const auto* next = static_cast<const char*>(from); bytes != 0;) {
      const ssize_t put = ::write(descriptor_, next, bytes);
      if (put <= 0) {
        return false;
      }
      next += put;
      bytes -= static_cast<std::uint64_t>(put);
    }
    return true;
  }

 private:
  int descriptor_;
};

}  // namespace

std::string cache_file(const Candidate& candidate, const char* purpose) {
  const char* const chosen = ::secure_getenv("ANYDML_VULKAN_CACHE");
  const char* const cache = ::secure_getenv("XDG_CACHE_HOME");
  const char* const home = ::secure_getenv("HOME");
  std::string folder;
  if (chosen != nullptr && std::strcmp(chosen, "none") == 0) {
    return {};
  }
  if (chosen != nullptr && chosen[0] == '/') {
    folder = chosen;
  } else if (cache != nullptr && cache[0] == '/') {
    ::mkdir(cache, 0700);
    folder = std::string(cache) + "/anydml";
  } else if (home != nullptr && home[0] == '/') {
    ::mkdir((std::string(home) + "/.cache").c_str(), 0700);
    folder = std::string(home) + "/.cache/anydml";
  } else {
    return {};
  }
  ::mkdir(folder.c_str(), 0700);
  char version[16];
  std::snprintf(version, sizeof(version), "%08x", candidate.driver_version);
  return folder + "/vulkan-" + purpose + "-" + candidate.driver_uuid + "-" + version + "-" + candidate.uuid;
}

std::vector<std::byte> read_cache(const std::string& path) {
  const File file(path.empty() ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  FileHeader header{};
  if (!file.is_open() || !file.read(&header, sizeof(header)) ||
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.bytes > kMaxBytes) {
    return {};
  }
  std::vector<std::byte> bytes(header.bytes);
  if (!file.read(bytes.data(), bytes.size()) || hash_of(bytes) != header.hash) {
    return {};
  }
  return bytes;
}

void write_cache(const std::string& path, std::span<const std::byte> bytes) {
  if (path.empty()) {
    return;
  }
  std::string name = path + "-XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    return;
  }
  bool good = false;
  {
    const File file(descriptor);
    FileHeader header{.magic = {}, .bytes = bytes.size(), .hash = hash_of(bytes)};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    good = file.write(&header, sizeof(header)) && file.write(bytes.data(), bytes.size());
  }
  if (!good || ::rename(name.c_str(), path.c_str()) != 0) {
    ::unlink(name.c_str());
  }
}

}  // namespace anydml::vulkan
