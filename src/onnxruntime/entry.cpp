// SPDX-License-Identifier: MIT
// The functions that ONNX Runtime finds in the library by their names.
#include "onnxruntime/provider.h"

namespace {

using anydml::ort::ApiBase;
using anydml::ort::EpFactory;
using anydml::ort::ErrorCode;
using anydml::ort::Factory;
using anydml::ort::Logger;
using anydml::ort::Status;

// A status for a runtime whose tables are not known yet, or null if it has none.
Status* entry_failure(const ApiBase& base, ErrorCode code, const char* message) noexcept {
  const void* const api = base.GetApi(1);
  if (api == nullptr) {
    return nullptr;
  }
  using CreateStatus = Status*(ErrorCode, const char*);
  return (*static_cast<CreateStatus* const*>(api))(code, message);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) Status* CreateEpFactories(const char* registration, const ApiBase* base,
                                                                 const Logger*, EpFactory** factories,
                                                                 std::size_t max_factories,
                                                                 std::size_t* factory_count) noexcept {
  *factory_count = 0;
  try {
    if (max_factories == 0) {
      return entry_failure(*base, ErrorCode::kInvalidArgument, "anydml: there is no room for a provider factory");
    }
    factories[0] = new Factory(*base, registration != nullptr ? registration : "");
    *factory_count = 1;
    return nullptr;
  } catch (const anydml::ort::Failure& failure) {
    return entry_failure(*base, failure.code(), failure.what());
  } catch (const std::exception& error) {
    return entry_failure(*base, ErrorCode::kRuntimeException, error.what());
  } catch (...) {
    return entry_failure(*base, ErrorCode::kRuntimeException, "anydml: an unknown exception");
  }
}

__attribute__((visibility("default"))) Status* ReleaseEpFactory(EpFactory* factory) noexcept {
  delete static_cast<Factory*>(factory);
  return nullptr;
}

}  // extern "C"
