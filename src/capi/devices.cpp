// SPDX-License-Identifier: MIT
#include "capi/devices.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <iterator>
#include <mutex>
#include <string>

#include "backend/cpu/cpu_backend.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/process.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr const BackendTable& (*kBackends[])() = {cpu_backend};

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// By exact name first, so that "cpu" never means a description with those letters in it.
std::vector<Device>::const_iterator search(const std::vector<Device>& devices, std::string_view name) {
  const auto exact = std::ranges::find_if(devices, [name](const Device& device) {
    return name.size() == std::string_view(device.info.name).size() && contains_ignoring_case(device.info.name, name);
  });
  return exact != devices.end() ? exact : std::ranges::find_if(devices, [name](const Device& device) {
    return contains_ignoring_case(device.info.description, name);
  });
}

Error no_such_device(std::string_view wanted_by, std::string_view name, const std::vector<Device>& devices) {
  std::string known;
  for (const Device& device : devices) {
    known += format_text("{}{} ({})", known.empty() ? "" : ", ", device.info.name, device.info.description);
  }
  return {ErrorKind::invalid_argument,
          format_text("{} is '{}'; expected the name or a part of the description of a device: {}", wanted_by, name,
                      known)};
}

Result<std::vector<Device>> open_devices() {
  const auto& settings = environment();
  ANYDML_TRY(settings);
  std::vector<Device> opened;
  for (const auto backend : kBackends) {
    const BackendTable& table = backend();
    if (table.version != kBackendVersion || table.step_size != sizeof(Step) || table.rows_hash != kRowsHash) {
      return Error{ErrorKind::device, format_text("device {}: built for another version of anydml", table.name)};
    }
    for (std::uint32_t i = 0; i < table.device_count(); ++i) {
      const BackendSettings backend_settings{.threads = settings.value().threads,
                                             .cpu_target = settings.value().cpu_target.c_str()};
      BackendDevice* handle = nullptr;
      const BackendStatus status = table.open(i, &backend_settings, &handle);
      if (status.code == BackendCode::failed && !settings.value().cpu_target.empty()) {
        show_errors();
      }
      ANYDML_TRY(from_backend("opening", table, status));
      Device device{.backend = &table, .handle = {handle, table.close}, .info = {}, .public_info = {}, .core = {}};
      table.describe(handle, &device.info);
      opened.push_back(std::move(device));
    }
  }
  return opened;
}

}  // namespace

Result<const std::vector<Device>*> devices() {
  static std::atomic<const std::vector<Device>*> process = nullptr;  // never destroyed: threads may outlive main
  if (const auto* known = process.load(std::memory_order_acquire); known != nullptr) {
    return known;
  }
  const std::scoped_lock lock(process_mutex());
  if (process.load(std::memory_order_relaxed) == nullptr) {
    auto opened = open_devices();
    ANYDML_TRY(opened);
    auto kept = std::make_unique<std::vector<Device>>(std::move(opened.value()));
    const std::string& wanted = environment().value().adapter;
    if (!wanted.empty()) {
      const auto found = search(*kept, wanted);
      if (found == kept->end()) {
        show_errors();
        return no_such_device("environment: ANYDML_ADAPTER", wanted, *kept);
      }
      const auto chosen = kept->begin() + (found - kept->cbegin());
      std::rotate(kept->begin(), chosen, chosen + 1);
    }
    for (const Device& device : *kept) {
      log_line(LogLevel::info, format_text("device {}: {}", device.info.name, device.info.description));
    }
    for (Device& device : *kept) {  // in their final places
      device.public_info = {.name = device.info.name,
                            .description = device.info.description,
                            .memory_bytes = device.info.memory_bytes,
                            .threads = device.info.threads};
      device.core = {.backend = device.backend, .handle = device.handle.get(), .info = &device.info};
    }
    process.store(kept.release(), std::memory_order_release);
  }
  return process.load(std::memory_order_relaxed);
}

Status from_backend(std::string_view who, const BackendTable& backend, BackendStatus status) {
  if (status.code == BackendCode::ok) {
    return {};
  }
  return Error{kind_of(status.code), format_text("{}: device {}: {}", who, backend.name, status.message)};
}

Result<const Device*> find_device(std::string_view name) {
  const auto all = devices();
  ANYDML_TRY(all);
  const auto found = search(*all.value(), name);
  if (name.empty() || found == all.value()->end()) {
    return no_such_device("anydml_find_device: name", name, *all.value());
  }
  return &*found;
}

}  // namespace anydml
