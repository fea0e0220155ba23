// SPDX-License-Identifier: MIT
#include "reference.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "call.h"

namespace anydml::bench {
namespace {

struct Header {
  std::array<char, 64> row{};  // by name, since the two processes may have different rows
  anydml_type type = ANYDML_NONE;
  int rank = 0;
  Extents sizes{};
  std::array<bool, 8> is_reduced{};
};

bool send_all(int socket, const void* from, std::size_t bytes) {
  const auto* next = static_cast<const std::byte*>(from);
  while (bytes != 0) {
    const ssize_t done = send(socket, next, bytes, MSG_NOSIGNAL);
    if (done < 0 && errno != EINTR) {
      return false;
    }
    next += std::max<ssize_t>(done, 0);
    bytes -= static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}

bool receive_all(int socket, void* to, std::size_t bytes) {
  auto* next = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ssize_t done = recv(socket, next, bytes, MSG_WAITALL);
    if (done == 0 || (done < 0 && errno != EINTR)) {
      return false;
    }
    next += std::max<ssize_t>(done, 0);
    bytes -= static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}

std::size_t input_bytes(const Row& row, std::size_t input, anydml_type type, const Placement& placement) {
  const std::size_t count = row.inputs[input].single ? 1 : static_cast<std::size_t>(placement.elements);
  return count * anydml_type_size(row.input_type(input, type));
}

std::size_t output_bytes(const Row& row, anydml_type type, const Placement& placement) {
  return static_cast<std::size_t>(placement.output_elements) * anydml_type_size(row.output_type(type));
}

// Serves requests until the other end is closed.
void answer(int socket) {
  for (Header header; receive_all(socket, &header, sizeof(header));) {
    const auto found = std::ranges::find(rows(), std::string_view(header.row.data()), &Row::name);
    if (found == rows().end()) {
      return;
    }
    const Row& row = *found;
    const Placement placement = place_packed(row, header.rank, header.sizes, header.is_reduced);
    std::vector<std::vector<std::byte>> inputs(row.inputs.size());
    std::vector<const void*> pointers;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].resize(input_bytes(row, i, header.type, placement));
      if (!receive_all(socket, inputs[i].data(), inputs[i].size())) {
        return;
      }
      pointers.push_back(inputs[i].data());
    }
    std::vector<std::byte> out(output_bytes(row, header.type, placement));
    Call call(row, header.type, placement);
    if (call.error().empty()) {
      call.run(pointers, out.data());
    }
    const bool good = call.error().empty();
    if (!send_all(socket, &good, sizeof(good)) || (good && !send_all(socket, out.data(), out.size()))) {
      return;
    }
  }
}

}  // namespace

Reference::Reference() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return;
  }
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    setenv("ANYDML_ADAPTER", "cpu", 1);
    setenv("ANYDML_CPU_TARGET", "generic", 1);
    setenv("ANYDML_THREADS", "1", 1);
    setenv("ANYDML_LOG", "none", 1);
    answer(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
}

Reference::~Reference() {
  if (socket_ >= 0) {
    close(socket_);
  }
  if (child_ > 0) {
    waitpid(child_, nullptr, 0);
  }
}

bool Reference::run(const Row& row, anydml_type type, const Placement& placement,
                    std::span<const std::vector<std::byte>> inputs, std::vector<std::byte>& out) {
  Header header;
  row.name.copy(header.row.data(), header.row.size() - 1);
  header.type = type;
  header.rank = placement.rank;
  header.sizes = placement.sizes;
  header.is_reduced = placement.is_reduced;
  if (child_ <= 0 || !send_all(socket_, &header, sizeof(header))) {
    return false;
  }
  for (const std::vector<std::byte>& input : inputs) {
    if (!send_all(socket_, input.data(), input.size())) {
      return false;
    }
  }
  bool good = false;
  out.resize(output_bytes(row, type, placement));
  return receive_all(socket_, &good, sizeof(good)) && good && receive_all(socket_, out.data(), out.size());
}

}  // namespace anydml::bench
