// SPDX-License-Identifier: MIT
#include <cstdio>

#include "commands.h"
#include "json_writer.h"
#include "memory_budget.h"
#include "table.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

std::string version_text(std::uint64_t version) {
  return format_text("{}.{}.{}.{}", version >> 48, version >> 32 & 0xffff, version >> 16 & 0xffff, version & 0xffff);
}

std::string_view level_of(const client::Adapter& adapter) {
  const client::Device device({.adapter = adapter.adapter.Get()});
  const auto level = facts::find_level(static_cast<std::uint32_t>(device.feature_level()));
  return level ? facts::level_name(*level) : "unknown";
}

std::string luid_text(const client::Adapter& adapter) {
  return format_text("{:08x}:{:08x}", static_cast<std::uint32_t>(adapter.luid_high), adapter.luid_low);
}

std::string_view kind_of(const client::Adapter& adapter) {
  return !adapter.is_hardware ? "software" : adapter.is_integrated ? "integrated" : "discrete";
}

}  // namespace

int show_adapters(bool as_json) {
  try {
    const auto adapters = client::list_adapters();
    if (as_json) {
      JsonWriter json;
      json.begin_array();
      for (const client::Adapter& adapter : adapters) {
        json.begin_object().key("description").text(adapter.description).key("kind").text(kind_of(adapter));
        json.key("featureLevel")
            .text(level_of(adapter))
            .key("driverVersion")
            .text(version_text(adapter.driver_version));
        json.key("dedicatedMemoryBytes").number(adapter.dedicated_memory);
        json.key("sharedMemoryBytes").number(adapter.shared_memory).key("luid").text(luid_text(adapter)).end_object();
      }
      json.end_array().print(stdout);
      return kDone;
    }
    Table table({{"adapter"},
                 {"kind"},
                 {"feature level"},
                 {"memory", Table::Align::right},
                 {"version", Table::Align::left, true},
                 {"luid", Table::Align::left, true}});
    for (const client::Adapter& adapter : adapters) {
      table.add({adapter.description, std::string(kind_of(adapter)), std::string(level_of(adapter)),
                 bytes_text(adapter.dedicated_memory != 0 ? adapter.dedicated_memory : adapter.shared_memory),
                 version_text(adapter.driver_version), luid_text(adapter)});
    }
    table.print(stdout);
  } catch (const client::Failure& failure) {
    return report_error(failure.what(), kFailed);
  }
  return kDone;
}

}  // namespace anydml::dmlrun
