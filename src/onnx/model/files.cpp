// SPDX-License-Identifier: MIT
#include "onnx/model/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/process.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// Which version of which file a mapping shows.
struct FileVersion {
  dev_t device;
  ino_t number;
  off_t size;
  std::int64_t seconds, nanoseconds;  // of the last change
  auto operator<=>(const FileVersion&) const = default;
};

struct MappedFiles {
  std::map<FileVersion, std::weak_ptr<const MappedFile>> by_version;
  std::map<std::uintptr_t, std::uintptr_t> ends;  // the addresses of all mapped files: the end of each by its start
};
constinit MappedFiles* g_files = nullptr;  // guarded by process_mutex; never freed: models may exist until the end

MappedFiles& mapped_files() {
  if (g_files == nullptr) {
    g_files = new MappedFiles;
  }
  return *g_files;
}

std::string reason_of(int error) { return std::system_category().message(error); }

class OpenFile {
 public:
  // Without O_NONBLOCK, opening a pipe would wait for a process that writes to it.
  explicit OpenFile(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

SharedFile mapped_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    throw Invalid("its name contains a null character");
  }
  const OpenFile file(path);
  if (file.number() < 0) {
    throw Invalid(reason_of(errno));
  }
  struct stat state {};
  if (fstat(file.number(), &state) != 0) {
    throw Invalid(reason_of(errno));
  }
  if (!S_ISREG(state.st_mode)) {
    throw Invalid(S_ISDIR(state.st_mode) ? reason_of(EISDIR) : "it is not a regular file");
  }
  const auto size = static_cast<std::uint64_t>(state.st_size);
  if (size > std::numeric_limits<std::size_t>::max() / 2) {
    throw Invalid(reason_of(EFBIG));
  }
  const FileVersion version = {state.st_dev, state.st_ino, state.st_size, state.st_ctim.tv_sec, state.st_ctim.tv_nsec};
  const auto created = std::make_shared<MappedFile>();  // its destructor takes the lock, so it is released after it
  const std::scoped_lock lock(process_mutex());
  MappedFiles& files = mapped_files();
  std::erase_if(files.by_version, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<const MappedFile>& known = files.by_version[version];
  if (SharedFile before = known.lock()) {
    return before;
  }
  if (size != 0) {  // mmap refuses empty ranges
    void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (start == MAP_FAILED) {
      throw Invalid(reason_of(errno));
    }
    created->bytes_ = {static_cast<const std::byte*>(start), size};
    files.ends[reinterpret_cast<std::uintptr_t>(start)] = reinterpret_cast<std::uintptr_t>(start) + size;
  }
  known = created;
  return created;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) {
    return;
  }
  const std::scoped_lock lock(process_mutex());
  mapped_files().ends.erase(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void release_pages(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto end = begin + bytes.size();
  // The first and the last page may contain parts of other arrays, which are probably still needed.
  const auto first = (begin + page - 1) / page * page;
  const auto last = end / page * page;
  if (first >= last) {
    return;
  }
  const std::scoped_lock lock(process_mutex());
  const auto& ends = mapped_files().ends;
  const auto next = ends.upper_bound(begin);
  if (next == ends.begin() || end > std::prev(next)->second) {
    return;  // In other memory this would replace the contents by zeros.
  }
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
}

PageReleaser::PageReleaser(std::vector<std::span<const std::byte>> parts) : parts_(std::move(parts)) {
  constexpr std::size_t kMinBytes = std::size_t{1} << 25;  // of all parts; for less, a thread is not worthwhile
  static constexpr auto kPause = std::chrono::milliseconds(2);
  std::size_t bytes = 0;
  for (const auto& part : parts_) {
    bytes += part.size();
  }
  if (bytes < kMinBytes) {
    return;
  }
  // Signals belong to the host program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!ended_.wait_for(lock, kPause, [this] { return is_ended_; })) {
        release();
      }
    });
  } catch (const std::system_error&) {  // only more memory is used
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

PageReleaser::~PageReleaser() {
  if (thread_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      is_ended_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  release();
}

void PageReleaser::release() const {
  for (const auto& part : parts_) {
    release_pages(part);
  }
}

}  // namespace anydml::onnx
