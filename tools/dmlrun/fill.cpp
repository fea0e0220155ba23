// SPDX-License-Identifier: MIT
#include "fill.h"

#include <algorithm>

#include "cursor.h"
#include "files.h"

namespace anydml::dmlrun {

void fill_values(const Resource& resource, std::span<std::byte> bytes) {
  struct Filler {
    std::span<std::byte> values;
    const Resource& resource;
    void operator()(const std::vector<std::byte>& list) const { std::ranges::copy(list, values.begin()); }
    void operator()(const ConstantValues& constant) const { fill_constant(values, constant.value, resource.type); }
    void operator()(const SequenceValues& sequence) const {
      fill_sequence(values, sequence.first, sequence.step, resource.type);
    }
    void operator()(const RandomValues& random) const { fill_random(values, random, resource.type); }
    void operator()(const FileValues& file) const {
      if (const auto read = read_file(file.path, file.offset, values); !read) {
        throw ModelFailure{"resources" + path_step(resource.name), read.error().message, false};
      }
    }
  };
  std::visit(Filler{bytes.first(resource.value_bytes), resource}, resource.values);
}

}  // namespace anydml::dmlrun
