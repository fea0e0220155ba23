// SPDX-License-Identifier: MIT
#include "files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "echo.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownBytes = 300;  // the maximum number of a path's bytes that a message shows

std::string quoted(const fs::path& path) { return format_text("'{}'", echo(path.native(), kShownBytes)); }

std::error_code last_error() { return {errno, std::generic_category()}; }

Error failed(const fs::path& path, std::string_view what, const std::error_code& why) {
  return invalid(format_text("{} {}: {}", quoted(path), what, why.message()));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t bytes;
};

Result<OpenFile> open_regular(const fs::path& path) {
  // Without O_NONBLOCK, opening a FIFO would wait here for its other end.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &status) != 0) {
    return failed(path, "cannot be read", last_error());
  }
  if (!S_ISREG(status.st_mode)) {
    return invalid(format_text("{} is {}; expected a regular file", quoted(path),
                               S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  }
  return OpenFile{std::move(descriptor), static_cast<std::uint64_t>(status.st_size)};
}

// The caller must know that the file contains the requested bytes.
Status read_at(const OpenFile& file, const fs::path& path, std::uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t count = ::pread(file.descriptor.number(), to.data(), to.size(), static_cast<off_t>(offset));
    if (count < 0 && errno != EINTR) {
      return failed(path, "cannot be read", last_error());
    }
    if (count == 0) {
      return invalid(format_text("{} ends at byte {}; expected {}, its size when it was opened", quoted(path), offset,
                                 file.bytes));
    }
    if (count > 0) {
      offset += static_cast<std::uint64_t>(count);
      to = to.subspan(static_cast<std::size_t>(count));
    }
  }
  return {};
}

// Returns the path with every link resolved. The last components of the path need not exist.
fs::path resolve(const fs::path& path, std::error_code& error) {
  fs::path resolved = fs::absolute(path.empty() ? fs::path(".") : path, error);
  // The path is resolved twice. Components after a nonexistent one are not examined until each ".." is resolved, and
  // they may be links.
  for (int pass = 0; pass < 2 && !error; ++pass) {
    resolved = fs::weakly_canonical(resolved, error);
  }
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

bool lies_under(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

Status check_name(std::string_view name) {
  if (name.empty()) {
    return invalid("the file's name is empty; expected a path");
  }
  if (name.find('\0') != std::string_view::npos) {
    return invalid(format_text("'{}' contains a NUL byte; expected a path without one", echo(name, kShownBytes)));
  }
  return {};
}

struct Location {
  fs::path folder;  // the folder that was searched
  fs::path path;
};

// Resolves a name that check_name accepts, relative to the folder.
Result<Location> locate(const fs::path& folder, const fs::path& name) {
  std::error_code error;
  Location location;
  location.folder = resolve(folder, error);
  if (error) {
    return failed(folder, "cannot be resolved", error);
  }
  location.path = resolve(location.folder / name, error);
  if (error) {
    return failed(name, "cannot be found", error);
  }
  return location;
}

Status check_inside(const Location& location, const fs::path& name, std::string_view option) {
  if (lies_under(location.path, location.folder)) {
    return {};
  }
  return invalid(
      format_text("{} leads to {}, outside {}; expected a file in that folder: {} selects another folder, "
                  "--allow-outside allows files anywhere",
                  quoted(name), quoted(location.path), quoted(location.folder), option));
}

// The name of a file that must not outlive the process. The signal handler reads it.
std::atomic<const char*> unfinished_name = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

void remove_unfinished(int signal) {
  if (const char* name = unfinished_name.load()) {
    ::unlink(name);
  }
  ::raise(signal);  // this ends the process when the handler returns, because the default action is restored
}

// While this object exists, a signal that would end the process first removes the file with this name.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(fs::path name) : name_(std::move(name)) {
    unfinished_name = name_.c_str();
    struct sigaction action = {};
    action.sa_handler = remove_unfinished;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (std::size_t i = 0; i < std::size(kEnding); ++i) {
      // Signals are left alone if they are ignored, as under nohup, or already have a handler.
      if (::sigaction(kEnding[i], nullptr, &before_[i]) == 0 && before_[i].sa_handler == SIG_DFL) {
        ::sigaction(kEnding[i], &action, nullptr);
      }
    }
  }
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal() {
    for (std::size_t i = 0; i < std::size(kEnding); ++i) {
      if (before_[i].sa_handler == SIG_DFL) {
        ::sigaction(kEnding[i], &before_[i], nullptr);
      }
    }
    unfinished_name = nullptr;
  }

  [[nodiscard]] const fs::path& name() const { return name_; }

 private:
  static constexpr int kEnding[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,   SIGTERM,
                                    SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF};
  fs::path name_;
  struct sigaction before_[std::size(kEnding)] = {};
};

// Finds an unused name in the folder. try_it(name) returns 0 if it was able to use the name, or an error number.
template <class Try>
std::error_code take_name(const fs::path& folder, Try try_it) {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  static_assert(kLetters.size() == 64);
  int fault = EEXIST;
  for (int attempt = 0; attempt < 100 && (fault == EEXIST || fault == EINTR); ++attempt) {
    unsigned char random[6] = {};
    if (::getrandom(random, sizeof(random), 0) != sizeof(random)) {
      return last_error();
    }
    std::string name = ".dmlrun-";
    for (const unsigned char byte : random) {
      name.push_back(kLetters[byte % 64]);
    }
    fault = try_it(folder / name);
  }
  return {fault, std::generic_category()};
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return false;
    }
    if (count == 0) {
      errno = EIO;
      return false;
    }
    bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return true;
}

using Parts = std::span<const std::span<const std::byte>>;

bool write_parts(int descriptor, Parts parts) {
  return std::ranges::all_of(parts, [&](std::span<const std::byte> part) { return write_all(descriptor, part); });
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? Status(failed(folder, "cannot be created", error)) : Status();
}

// Returns no value if the file system does not support unnamed files.
std::optional<Status> write_unnamed(const fs::path& path, const fs::path& folder, const fs::path& nearest,
                                    Parts parts) {
#if defined(O_TMPFILE)
  const Descriptor descriptor(::open(nearest.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  // An unnamed file is given a name through /proc.
  const std::string source = format_text("/proc/self/fd/{}", descriptor.number());
  if (descriptor.number() < 0 || ::access(source.c_str(), F_OK) != 0) {
    return std::nullopt;
  }
  if (!write_parts(descriptor.number(), parts)) {
    return failed(path, "cannot be written", last_error());
  }
  if (const Status result = make_folder(folder); !result) {
    return result;
  }
  const auto link_as = [&](const fs::path& name) {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  int fault = link_as(path);
  if (fault == EEXIST) {
    // Linking does not replace an existing file, but renaming does. The file briefly has two names.
    std::optional<RemovedOnSignal> name;
    std::error_code why = take_name(folder, [&](fs::path one) {
      name.emplace(std::move(one));
      return link_as(name->name());
    });
    if (!why && ::rename(name->name().c_str(), path.c_str()) != 0) {
      why = last_error();
      ::unlink(name->name().c_str());
    }
    fault = why.value();
  }
  return fault == 0 ? Status() : failed(path, "cannot be written", {fault, std::generic_category()});
#else
  return std::nullopt;
#endif
}

Status write_named(const fs::path& path, const fs::path& folder, const fs::path& nearest, Parts parts) {
  std::optional<RemovedOnSignal> name;
  std::optional<Descriptor> descriptor;
  // The file gets the default permissions for new files. mkostemp uses different ones, and the umask cannot be read
  // without changing it.
  if (const auto why = take_name(nearest, [&](fs::path one) {
        name.emplace(std::move(one));
        descriptor.emplace(::open(name->name().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        return descriptor->number() >= 0 ? 0 : errno;
      })) {
    return failed(nearest, "cannot be written to", why);
  }
  Status status;
  if (!write_parts(descriptor->number(), parts) || !descriptor->close()) {
    status = failed(path, "cannot be written", last_error());
  } else {
    status = make_folder(folder);
    if (status && ::rename(name->name().c_str(), path.c_str()) != 0) {
      status = failed(path, "cannot be written", last_error());
    }
  }
  if (!status) {
    ::unlink(name->name().c_str());
  }
  return status;
}

}  // namespace

bool has_image_extension(std::string_view path) {
  return ends_in_any_case(path, ".jpg") || ends_in_any_case(path, ".jpeg") || ends_in_any_case(path, ".png");
}

Result<fs::path> find_input(const Folders& folders, std::string_view source) {
  ANYDML_TRY(check_name(source));
  const fs::path name(source);
  auto location = locate(folders.input, name);
  ANYDML_TRY(location);
  std::string looked = quoted(location.value().folder);
  if (!folders.allow_outside) {
    ANYDML_TRY(check_inside(location.value(), name, "--input_path"));
  }
  std::error_code error;
  fs::file_status status = fs::status(location.value().path, error);
  if (status.type() == fs::file_type::not_found && folders.allow_outside && name.is_relative()) {
    location = locate(".", name);
    ANYDML_TRY(location);
    looked.append(" and ").append(quoted(location.value().folder));
    status = fs::status(location.value().path, error);
  }
  const fs::path& path = location.value().path;
  switch (status.type()) {
    case fs::file_type::regular:
      break;
    case fs::file_type::not_found:
      return invalid(name.is_absolute()
                         ? format_text("{} does not exist", quoted(name))
                         : format_text("{} does not exist (looked in {}); --input_path selects another folder",
                                       quoted(name), looked));
    case fs::file_type::none:
      return failed(name, "cannot be found", error);
    case fs::file_type::directory:
      return invalid(format_text("{} is a folder; expected a file", quoted(name)));
    default:
      return invalid(format_text("{} is a pipe, socket or device; expected a regular file", quoted(name)));
  }
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    return failed(name, "cannot be read", last_error());
  }
  return path;
}

Result<fs::path> find_output(const Folders& folders, std::string_view target) {
  ANYDML_TRY(check_name(target));
  const fs::path name(target);
  if (!name.has_filename()) {
    return invalid(format_text("{} names a folder; expected a file", quoted(name)));
  }
  const auto location = locate(folders.output, name);
  ANYDML_TRY(location);
  const fs::path& path = location.value().path;
  if (!folders.allow_outside) {
    ANYDML_TRY(check_inside(location.value(), name, "--output_path"));
  }
  // The checks apply to the part of the path that exists: the file itself or its nearest existing parent folder.
  fs::path nearest = path;
  std::error_code error;
  fs::file_status status = fs::symlink_status(nearest, error);
  while (status.type() == fs::file_type::not_found) {
    nearest = nearest.parent_path();
    status = fs::symlink_status(nearest, error);
  }
  switch (status.type()) {
    case fs::file_type::none:
      return failed(name, "cannot be examined", error);
    case fs::file_type::symlink:
      return invalid(format_text("{}: {} is a dangling link; expected none", quoted(name), quoted(nearest)));
    case fs::file_type::directory:
      if (nearest == path) {
        return invalid(format_text("{} is a folder; expected a file", quoted(name)));
      }
      return path;
    case fs::file_type::regular:
      if (nearest != path) {
        return invalid(format_text("{}: {} is a file; expected a folder", quoted(name), quoted(nearest)));
      }
      return path;
    default:
      return invalid(format_text("{}: {} is a pipe, socket or device; expected a regular file or a new one",
                                 quoted(name), quoted(nearest)));
  }
}

Result<std::uint64_t> file_bytes(const fs::path& path) {
  const auto file = open_regular(path);
  ANYDML_TRY(file);
  return file.value().bytes;
}

Status read_file(const fs::path& path, std::uint64_t offset, std::span<std::byte> to) {
  const auto file = open_regular(path);
  ANYDML_TRY(file);
  const std::uint64_t bytes = file.value().bytes;
  if (offset > bytes || to.size() > bytes - offset) {
    return invalid(
        format_text("{} holds {} bytes; expected {} from byte {} on", quoted(path), bytes, to.size(), offset));
  }
  return read_at(file.value(), path, offset, to);
}

Result<std::string> read_whole_file(const fs::path& path, std::uint64_t limit) {
  const auto file = open_regular(path);
  ANYDML_TRY(file);
  const std::uint64_t bytes = file.value().bytes;
  if (bytes > limit) {
    return invalid(format_text("{} holds {} bytes; expected at most {}", quoted(path), bytes, limit));
  }
  std::string text;
  try {
    text.resize(bytes);
  } catch (const std::exception&) {
    return Error{
        ErrorKind::out_of_memory,
        format_text("{} holds {} bytes, more than the machine has memory for; expected less", quoted(path), bytes)};
  }
  ANYDML_TRY(read_at(file.value(), path, 0, std::as_writable_bytes(std::span(text))));
  return text;
}

Status write_file(const fs::path& path, std::span<const std::span<const std::byte>> parts, Unfinished unfinished) {
  std::error_code error;
  const fs::file_status before = fs::symlink_status(path, error);
  if (before.type() == fs::file_type::directory) {
    return invalid(format_text("{} is a folder; expected a file", quoted(path)));
  }
  if (fs::exists(before) && before.type() != fs::file_type::regular && before.type() != fs::file_type::symlink) {
    // Renaming would replace the device with a file.
    return invalid(format_text("{} is a pipe, socket or device; expected a regular file or a new one", quoted(path)));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  // Missing folders are created only when the file is ready. Until then, the nearest existing folder is used.
  fs::path nearest = folder;
  while (fs::status(nearest, error).type() == fs::file_type::not_found) {
    nearest = nearest.has_parent_path() ? nearest.parent_path() : fs::path(".");
  }
  if (!fs::is_directory(nearest, error)) {
    return failed(folder, "cannot be created", error ? error : std::make_error_code(std::errc::not_a_directory));
  }
  if (unfinished == Unfinished::without_name_if_possible) {
    if (const auto status = write_unnamed(path, folder, nearest, parts)) {
      return *status;
    }
  }
  return write_named(path, folder, nearest, parts);
}

}  // namespace anydml::dmlrun
