// SPDX-License-Identifier: MIT
#include "capi/arguments.h"

#include "facts/facts.h"
#include "ops/operators.h"
#include "text/format.h"

namespace anydml {

Error bad_call(std::string_view who, std::string_view text) {
  return {ErrorKind::invalid_argument, format_text("{}: {}", who, text)};
}

Result<const Device*> choose_device(const anydml_device* wanted) {
  if (wanted == nullptr) {
    return default_device();
  }
  const auto all = devices();
  ANYDML_TRY(all);
  for (const Device* device : *all.value()) {
    if (to_public(device) == wanted) {
      return device;
    }
  }
  return bad_call("device", "is not a device of this process; expected null or a device from anydml_device_at");
}

Result<const facts::Operator*> choose_operator(const char* name) {
  if (name == nullptr) {
    return bad_call("op", "is null; expected the name of an operator, such as ELEMENT_WISE_MODULUS_FLOOR");
  }
  const facts::Operator* op = facts::find_operator(name);
  if (op == nullptr) {
    const std::string_view meant = facts::nearest_operator_name(name);
    return bad_call("op", meant.empty() ? format_text("is '{:.64}'; expected the name of a DirectML operator, such as "
                                                      "ELEMENT_WISE_MODULUS_FLOOR: anydml_operator_at lists them",
                                                      name)
                                        : format_text("is '{:.64}'; did you mean {}?", name, meant));
  }
  return op;
}

Status check_array(std::string_view who, std::string_view name, const void* array, std::size_t count,
                   std::string_view of) {
  return array != nullptr || count == 0
             ? Status()
             : bad_call(who, format_text("{} is null; expected an array of {} {}", name, count, of));
}

Result<OpDesc> check(const Call& call) {
  ANYDML_TRY(check_built(*call.op));
  const auto described = describe(call);
  ANYDML_TRY(described);
  return make_op_desc(described.value(), SchemaState::unchecked);
}

}  // namespace anydml
