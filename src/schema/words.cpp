// SPDX-License-Identifier: MIT
#include "schema/words.h"

#include "facts/facts.h"

namespace anydml {

std::string type_names(TypeSet types) {
  const facts::Enum& known = *facts::find_enum("DML_TENSOR_DATA_TYPE");
  std::string text;
  for (const facts::EnumValue& type : known.values) {
    if ((types >> type.value & 1) != 0) {
      text.append(text.empty() ? "" : ", ").append(type.name.substr(known.prefix.size()));
    }
  }
  return text;
}

}  // namespace anydml
