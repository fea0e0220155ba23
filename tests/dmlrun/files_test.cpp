// SPDX-License-Identifier: MIT
#include "files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace anydml::dmlrun {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "dmlrun-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = fs::canonical(name);
    fs::create_directories(root_ / "in/sub");
    fs::create_directories(root_ / "out");
    fs::create_directories(root_ / "here");
    fs::create_directories(root_ / "in-too");
    put("in/a.npy", "inside");
    put("in/sub/b.npy", "below");
    put("outside.npy", "outside");
    put("in-too/a.npy", "beside");
    put("here/c.npy", "here");
    before_ = fs::current_path();
    fs::current_path(root_ / "here");
    folders_ = {root_ / "in", root_ / "out", false};
  }

  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(root_);
  }

  void put(const fs::path& path, std::string_view text) { std::ofstream(root_ / path) << text; }

  static std::string get(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path input(std::string_view source) {
    const auto found = find_input(folders_, source);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found ? found.value() : fs::path();
  }

  std::string input_error(std::string_view source) {
    const auto found = find_input(folders_, source);
    EXPECT_FALSE(found.ok()) << found.value();
    return found ? "" : found.error().message;
  }

  fs::path output(std::string_view target) {
    const auto found = find_output(folders_, target);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found ? found.value() : fs::path();
  }

  std::string output_error(std::string_view target) {
    const auto found = find_output(folders_, target);
    EXPECT_FALSE(found.ok()) << found.value();
    return found ? "" : found.error().message;
  }

  // Replaces the part of a message's paths that differs from run to run.
  std::string relative(std::string message) const {
    for (std::size_t at = 0; (at = message.find(root_.string(), at)) != std::string::npos;) {
      message.replace(at, root_.string().size(), "ROOT");
    }
    return message;
  }

  static std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  static Status write(const fs::path& path, const std::vector<std::string>& texts,
                      Unfinished unfinished = Unfinished::without_name_if_possible) {
    std::vector<std::span<const std::byte>> parts;
    for (const std::string& text : texts) {
      parts.push_back(std::as_bytes(std::span(text)));
    }
    return write_file(path, parts, unfinished);
  }

  fs::path root_;
  fs::path before_;
  Folders folders_;
};

TEST_F(Files, InputsLieUnderTheirFolder) {
  EXPECT_EQ(input("a.npy"), root_ / "in/a.npy");
  EXPECT_EQ(input("sub/b.npy"), root_ / "in/sub/b.npy");
  EXPECT_EQ(input("./sub/../a.npy"), root_ / "in/a.npy");
  EXPECT_EQ(input((root_ / "in/a.npy").string()), root_ / "in/a.npy");
  fs::create_symlink("sub/b.npy", root_ / "in/link");
  EXPECT_EQ(input("link"), root_ / "in/sub/b.npy");
  folders_.input = "../in/";  // relative to the current folder
  EXPECT_EQ(input("a.npy"), root_ / "in/a.npy");
  folders_.input.clear();  // the model was given without a folder
  EXPECT_EQ(input("c.npy"), root_ / "here/c.npy");
  folders_.input = "/";
  EXPECT_EQ(input((root_ / "in/a.npy").string().substr(1)), root_ / "in/a.npy");
}

TEST_F(Files, InputsOutsideAreRefused) {
  const std::string advice =
      ", outside 'ROOT/in'; expected a file in that folder: --input_path selects another folder, --allow-outside "
      "allows files anywhere";
  EXPECT_EQ(relative(input_error("../outside.npy")), "'../outside.npy' leads to 'ROOT/outside.npy'" + advice);
  EXPECT_EQ(relative(input_error((root_ / "outside.npy").string())),
            "'ROOT/outside.npy' leads to 'ROOT/outside.npy'" + advice);
  // The message does not reveal whether the file exists.
  EXPECT_EQ(relative(input_error("../absent")), "'../absent' leads to 'ROOT/absent'" + advice);
  EXPECT_EQ(relative(input_error("../in-too/a.npy")), "'../in-too/a.npy' leads to 'ROOT/in-too/a.npy'" + advice);
  EXPECT_EQ(relative(input_error("missing/../../outside.npy")),
            "'missing/../../outside.npy' leads to 'ROOT/outside.npy'" + advice);
  fs::create_symlink("../outside.npy", root_ / "in/file_link");
  EXPECT_EQ(relative(input_error("file_link")), "'file_link' leads to 'ROOT/outside.npy'" + advice);
  fs::create_symlink("..", root_ / "in/folder_link");
  EXPECT_EQ(relative(input_error("folder_link/outside.npy")),
            "'folder_link/outside.npy' leads to 'ROOT/outside.npy'" + advice);
  EXPECT_EQ(relative(input_error("missing/../folder_link/outside.npy")),
            "'missing/../folder_link/outside.npy' leads to 'ROOT/outside.npy'" + advice);
}

TEST_F(Files, InputsAreRegularFilesThatAreThere) {
  EXPECT_EQ(input_error(""), "the file's name is empty; expected a path");
  EXPECT_EQ(input_error(std::string_view("a.npy\0b", 7)),
            "'a.npy\\x00b' contains a NUL byte; expected a path without one");
  EXPECT_EQ(relative(input_error("x.npy")),
            "'x.npy' does not exist (looked in 'ROOT/in'); --input_path selects another folder");
  EXPECT_EQ(relative(input_error("a.npy/x")),
            "'a.npy/x' does not exist (looked in 'ROOT/in'); --input_path selects another folder");
  EXPECT_EQ(relative(input_error((root_ / "in/x.npy").string())), "'ROOT/in/x.npy' does not exist");
  EXPECT_EQ(input_error("sub"), "'sub' is a folder; expected a file");
  EXPECT_EQ(input_error("."), "'.' is a folder; expected a file");
  ASSERT_EQ(mkfifo((root_ / "in/pipe").c_str(), 0600), 0);
  EXPECT_EQ(input_error("pipe"), "'pipe' is a pipe, socket or device; expected a regular file");
  fs::create_symlink("nowhere", root_ / "in/dangling");
  EXPECT_EQ(relative(input_error("dangling")),
            "'dangling' does not exist (looked in 'ROOT/in'); --input_path selects another folder");
  fs::create_symlink("loop", root_ / "in/loop");
  EXPECT_EQ(input_error("loop"), "'loop' cannot be found: Too many levels of symbolic links");
  EXPECT_EQ(input_error(std::string(5000, 'n')),
            "'" + std::string(300, 'n') + "...' cannot be found: File name too long");
}

TEST_F(Files, InputsMustBeReadable) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root reads everything";
  }
  fs::permissions(root_ / "in/a.npy", fs::perms::none);
  EXPECT_EQ(input_error("a.npy"), "'a.npy' cannot be read: Permission denied");
  fs::permissions(root_ / "in/sub", fs::perms::none);
  EXPECT_EQ(input_error("sub/b.npy"), "'sub/b.npy' cannot be found: Permission denied");
  fs::permissions(root_ / "in/sub", fs::perms::owner_all);
}

TEST_F(Files, AllowOutsideTakesInputsFromAnywhere) {
  folders_.allow_outside = true;
  EXPECT_EQ(input("a.npy"), root_ / "in/a.npy");
  EXPECT_EQ(input("../outside.npy"), root_ / "outside.npy");
  EXPECT_EQ(input((root_ / "outside.npy").string()), root_ / "outside.npy");
  EXPECT_EQ(input("c.npy"), root_ / "here/c.npy");
  EXPECT_EQ(relative(input_error("x.npy")),
            "'x.npy' does not exist (looked in 'ROOT/in' and 'ROOT/here'); --input_path selects another folder");
  EXPECT_EQ(input_error("/dev/zero"), "'/dev/zero' is a pipe, socket or device; expected a regular file");
}

TEST_F(Files, OutputsLieUnderTheirFolder) {
  EXPECT_EQ(output("a.npy"), root_ / "out/a.npy");
  EXPECT_EQ(output("new/folder/a.npy"), root_ / "out/new/folder/a.npy");
  EXPECT_EQ(output("new/../a.npy"), root_ / "out/a.npy");
  EXPECT_EQ(output((root_ / "out/a.npy").string()), root_ / "out/a.npy");
  EXPECT_FALSE(fs::exists(root_ / "out/new"));
  put("out/there", "");
  EXPECT_EQ(output("there"), root_ / "out/there");
  folders_.output = root_ / "later/";
  EXPECT_EQ(output("x/y"), root_ / "later/x/y");
  folders_.output.clear();
  EXPECT_EQ(output("y"), root_ / "here/y");
}

TEST_F(Files, OutputsOutsideAreRefused) {
  const std::string advice =
      ", outside 'ROOT/out'; expected a file in that folder: --output_path selects another folder, --allow-outside "
      "allows files anywhere";
  EXPECT_EQ(relative(output_error("../x")), "'../x' leads to 'ROOT/x'" + advice);
  EXPECT_EQ(relative(output_error((root_ / "x").string())), "'ROOT/x' leads to 'ROOT/x'" + advice);
  EXPECT_EQ(relative(output_error("new/../../x")), "'new/../../x' leads to 'ROOT/x'" + advice);
  fs::create_symlink("..", root_ / "out/up");
  fs::create_symlink("../outside.npy", root_ / "out/file");
  EXPECT_EQ(relative(output_error("up/x")), "'up/x' leads to 'ROOT/x'" + advice);
  EXPECT_EQ(relative(output_error("up/new/x")), "'up/new/x' leads to 'ROOT/new/x'" + advice);
  EXPECT_EQ(relative(output_error("new/../up/new/x")), "'new/../up/new/x' leads to 'ROOT/new/x'" + advice);
  EXPECT_EQ(relative(output_error("file")), "'file' leads to 'ROOT/outside.npy'" + advice);
  folders_.allow_outside = true;
  EXPECT_EQ(output("../x"), root_ / "x");
  EXPECT_EQ(output("file"), root_ / "outside.npy");
}

TEST_F(Files, OutputsAreFilesOrNotThereYet) {
  EXPECT_EQ(output_error(""), "the file's name is empty; expected a path");
  EXPECT_EQ(output_error(std::string_view("\0", 1)), "'\\x00' contains a NUL byte; expected a path without one");
  EXPECT_EQ(output_error("new/"), "'new/' names a folder; expected a file");
  EXPECT_EQ(output_error("."), "'.' is a folder; expected a file");
  fs::create_directory(root_ / "out/sub");
  EXPECT_EQ(output_error("sub"), "'sub' is a folder; expected a file");
  put("out/file", "");
  EXPECT_EQ(relative(output_error("file/x/y")), "'file/x/y': 'ROOT/out/file' is a file; expected a folder");
  ASSERT_EQ(mkfifo((root_ / "out/pipe").c_str(), 0600), 0);
  EXPECT_EQ(relative(output_error("pipe")),
            "'pipe': 'ROOT/out/pipe' is a pipe, socket or device; expected a regular file or a new one");
  fs::create_symlink("../nowhere", root_ / "out/dangling");
  for (const char* name : {"dangling", "dangling/x"}) {
    EXPECT_EQ(relative(output_error(name)),
              "'" + std::string(name) + "': 'ROOT/out/dangling' is a dangling link; expected none");
  }
}

TEST_F(Files, AreReadInPart) {
  std::string text(3, '.');
  ASSERT_TRUE(read_file(root_ / "in/a.npy", 2, std::as_writable_bytes(std::span(text))).ok());
  EXPECT_EQ(text, "sid");
  EXPECT_TRUE(read_file(root_ / "in/a.npy", 6, {}).ok());
  EXPECT_EQ(file_bytes(root_ / "in/a.npy").value(), 6U);
  for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    const auto status = read_file(root_ / "in/a.npy", offset, std::as_writable_bytes(std::span(text)));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(relative(status.error().message),
              "'ROOT/in/a.npy' holds 6 bytes; expected 3 from byte " + std::to_string(offset) + " on");
  }
}

TEST_F(Files, AreReadWhole) {
  EXPECT_EQ(read_whole_file(root_ / "in/a.npy", 6).value(), "inside");
  put("empty", "");
  EXPECT_EQ(read_whole_file(root_ / "empty", 0).value(), "");
  EXPECT_EQ(relative(read_whole_file(root_ / "in/a.npy", 5).error().message),
            "'ROOT/in/a.npy' holds 6 bytes; expected at most 5");
}

TEST_F(Files, ThatAreNoneCannotHangTheReader) {
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(relative(read_whole_file(root_ / "pipe", 100).error().message),
            "'ROOT/pipe' is a pipe or device; expected a regular file");
  EXPECT_EQ(relative(file_bytes(root_ / "in").error().message), "'ROOT/in' is a folder; expected a regular file");
  EXPECT_EQ(relative(file_bytes(root_ / "absent").error().message),
            "'ROOT/absent' cannot be read: No such file or directory");
}

constexpr Unfinished kBoth[] = {Unfinished::without_name_if_possible, Unfinished::with_name};

TEST_F(Files, AreWrittenAlikeWithAndWithoutAName) {
  for (const Unfinished unfinished : kBoth) {
    const mode_t mask = umask(027);
    const Status status = write(root_ / "out/new/folder/x.bin", {"one", "", "two"}, unfinished);
    umask(mask);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(get(root_ / "out/new/folder/x.bin"), "onetwo");
    EXPECT_EQ(fs::status(root_ / "out/new/folder/x.bin").permissions(), fs::perms(0640));
    ASSERT_TRUE(write(root_ / "out/new/folder/x.bin", {"three"}, unfinished).ok());
    fs::create_symlink("x.bin", root_ / "out/new/folder/link");
    ASSERT_TRUE(write(root_ / "out/new/folder/link", {"four"}, unfinished).ok());
    EXPECT_FALSE(fs::is_symlink(root_ / "out/new/folder/link"));
    EXPECT_EQ(get(root_ / "out/new/folder/x.bin") + get(root_ / "out/new/folder/link"), "threefour");
    EXPECT_EQ(entries(root_ / "out/new/folder"), 2U);
    fs::remove_all(root_ / "out/new");
  }
}

// Each signal ends a process while it is writing. The old contents must survive, and no other file may appear.
TEST_F(Files, LeaveNothingBehindWhenTheProcessIsEnded) {
  const std::byte byte{'x'};
  const std::vector<std::span<const std::byte>> slow(std::size_t{1} << 22, std::span(&byte, 1));  // one write per byte
  put("out/there", "before");
  const int unnamed = open((root_ / "out").c_str(), O_TMPFILE | O_WRONLY, 0600);
  close(unnamed);
  for (const Unfinished unfinished : kBoth) {
    for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU}) {
      if (signal == SIGKILL && (unnamed < 0 || unfinished == Unfinished::with_name)) {
        continue;  // no cleanup is possible then
      }
      for (const char* name : {"out/there", "out/new/folder/file"}) {
        const fs::path path = root_ / name;
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
          const rlimit none = {0, 0};
          setrlimit(RLIMIT_CORE, &none);
          (void)write_file(path, slow, unfinished);
          _exit(0);
        }
        // Wait until the child has opened the unfinished file, so that one of its descriptors leads into this folder.
        const fs::path descriptors = "/proc/" + std::to_string(child) + "/fd";
        bool writing = false;
        for (int i = 0; i < 100000 && !writing; ++i) {
          std::error_code gone;
          for (const auto& one : fs::directory_iterator(descriptors, gone)) {
            writing = writing || fs::read_symlink(one.path(), gone).string().starts_with((root_ / "out").string());
          }
        }
        EXPECT_TRUE(writing);
        kill(child, signal);
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal << " " << status;
        EXPECT_EQ(entries(root_ / "out"), 1U) << signal;
        EXPECT_EQ(get(root_ / "out/there"), "before");
      }
    }
  }
}

TEST_F(Files, DoNotTakeOverSignalsThatAreIgnoredOrHandled) {
  const std::byte byte{'x'};
  const std::vector<std::span<const std::byte>> slow(std::size_t{1} << 16, std::span(&byte, 1));
  const auto handler = std::signal(SIGHUP, SIG_IGN);
  raise(SIGHUP);
  ASSERT_TRUE(write_file(root_ / "out/x", slow, Unfinished::with_name).ok());
  raise(SIGHUP);
  std::signal(SIGHUP, handler);
  struct sigaction after = {};
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST_F(Files, AreWrittenWhole) {
  const mode_t mask = umask(027);
  const Status status = write(root_ / "out/new/folder/x.bin", {"one", "", "two"});
  umask(mask);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(get(root_ / "out/new/folder/x.bin"), "onetwo");
  EXPECT_EQ(fs::status(root_ / "out/new/folder/x.bin").permissions(), fs::perms(0640));
  EXPECT_EQ(entries(root_ / "out/new/folder"), 1U);
  ASSERT_TRUE(write(root_ / "out/new/folder/x.bin", {"three"}).ok());
  EXPECT_EQ(get(root_ / "out/new/folder/x.bin"), "three");
  ASSERT_TRUE(write("plain", {}).ok());  // writes to the current folder
  EXPECT_EQ(get(root_ / "here/plain"), "");
  const std::string large(std::size_t{1} << 22, 'x');
  ASSERT_TRUE(write("large", {large, large}).ok());
  EXPECT_EQ(file_bytes("large").value(), 2 * large.size());
}

TEST_F(Files, ThatCannotBeWrittenLeaveNoTrace) {
  put("out/x", "before");
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {1000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write(root_ / "out/x", {std::string(600, 'a'), std::string(600, 'b')});
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(relative(status.error().message), "'ROOT/out/x' cannot be written: File too large");
  EXPECT_EQ(get(root_ / "out/x"), "before");
  EXPECT_EQ(entries(root_ / "out"), 1U);
}

TEST_F(Files, ThatCannotBeWrittenMakeNoFolders) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {1000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const Unfinished unfinished : kBoth) {
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status status = write(root_ / "out/new/x", {std::string(2000, 'a')}, unfinished);
    setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(entries(root_ / "out"), 0U);
  }
  std::signal(SIGXFSZ, handler);
}

TEST_F(Files, AreNotWrittenOverFoldersAndDevices) {
  EXPECT_EQ(relative(write(root_ / "out", {"x"}).error().message), "'ROOT/out' is a folder; expected a file");
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(relative(write(root_ / "pipe", {"x"}).error().message),
            "'ROOT/pipe' is a pipe, socket or device; expected a regular file or a new one");
  EXPECT_EQ(relative(write(root_ / "outside.npy/x", {"x"}).error().message),
            "'ROOT/outside.npy' cannot be created: Not a directory");
  if (geteuid() != 0) {
    fs::permissions(root_ / "out", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(relative(write(root_ / "out/x", {"x"}).error().message),
              "'ROOT/out' cannot be written to: Permission denied");
    fs::permissions(root_ / "out", fs::perms::owner_all);
  }
}

}  // namespace
}  // namespace anydml::dmlrun
