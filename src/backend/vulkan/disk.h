// SPDX-License-Identifier: MIT
// Files that keep the results of slow work for the next process: pipelines and trials. Each belongs to a device and a
// version of its driver. Wrong or damaged files are ignored.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backend/vulkan/catalog.h"

namespace anydml::vulkan {

// The path of a file for this device; empty if there is no folder for it. ANYDML_VULKAN_CACHE names the folder, or is
// "none"; by default it is $XDG_CACHE_HOME/anydml or ~/.cache/anydml.
[[nodiscard]] std::string cache_file(const Candidate& candidate, const char* purpose);

// Returns nothing if there is no such file, or it is not complete.
[[nodiscard]] std::vector<std::byte> read_cache(const std::string& path);
// Replaces the file at once, so that other processes never see a part of it. Failures have no effect.
void write_cache(const std::string& path, std::span<const std::byte> bytes);

}  // namespace anydml::vulkan
