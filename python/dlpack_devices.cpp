// SPDX-License-Identifier: MIT
#include "dlpack_devices.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "errors.h"

namespace anydml::python {

const DeviceType* find_device_type(std::int32_t number) {
  if (number <= dlpack::kCpu) {
    return nullptr;
  }
  const auto* const found = std::ranges::find(kDeviceTypes, number, &DeviceType::number);
  return found != std::end(kDeviceTypes) ? found : nullptr;
}

const DeviceType* own_memory(std::string_view backend) {
  const auto* const found = std::ranges::find(kDeviceTypes, backend, &DeviceType::backend);
  return found != std::end(kDeviceTypes) ? found : nullptr;
}

std::string_view backend_of(dlpack::Device where) {
  const DeviceType* const type = find_device_type(where.type);
  return type != nullptr ? type->backend : std::string_view();
}

std::string device_name(dlpack::Device where) {
  if (where.type == dlpack::kExtension) {
    const anydml_device* const device = anydml_device_at(static_cast<std::size_t>(where.id));
    return device != nullptr ? anydml_device_get_info(device)->name : "a device that does not exist";
  }
  return std::string(backend_of(where)) + ":" + std::to_string(where.id);
}

bool has_streams(dlpack::Device where) {
  const DeviceType* const type = find_device_type(where.type);
  return type != nullptr && type->has_streams;
}

const anydml_device* device_of(dlpack::Device where) {
  static auto* const known = new std::map<std::pair<std::int32_t, std::int32_t>, const anydml_device*>;
  const anydml_device*& device = (*known)[{where.type, where.id}];
  if (device != nullptr) {
    return device;
  }
  const std::string name = device_name(where);
  for (std::size_t i = 0; device == nullptr && i < anydml_device_count(); ++i) {
    const anydml_device* const one = anydml_device_at(i);
    device = anydml_device_get_info(one)->name == name ? one : nullptr;
  }
  if (device == nullptr) {
    // The search by name reports why the plugin failed.
    const std::string why = anydml_find_device(name.c_str()) == nullptr ? anydml_last_error() : "";
    raise(PyExc_RuntimeError,
          "an array is on " + name + ", and anydml has no such device: the plugin libanydml-" +
              std::string(backend_of(where)) +
              ".so is missing or has failed (docs/python-reference.md says where to install it); arrays in "
              "CPU memory do not need it. " +
              why);
  }
  return device;
}

dlpack::Device dlpack_device(const anydml_device* device) {
  const std::string_view name = anydml_device_get_info(device)->name;
  const std::size_t colon = name.find(':');
  const DeviceType* const type = own_memory(name.substr(0, colon));
  if (type == nullptr || colon == std::string_view::npos) {
    dlpack::Device where{dlpack::kExtension, 0};
    while (anydml_device_at(static_cast<std::size_t>(where.id)) != device) {
      ++where.id;
    }
    return where;
  }
  dlpack::Device where{type->number, 0};
  std::from_chars(name.data() + colon + 1, name.data() + name.size(), where.id);
  return where;
}

}  // namespace anydml::python
