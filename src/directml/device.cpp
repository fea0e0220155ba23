// SPDX-License-Identifier: MIT
#include "directml/device.h"

#include <cstring>

#include "directml/objects.h"
#include "ops/operators.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr DML_EXECUTION_FLAGS kKnownFlags = DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION |
                                            DML_EXECUTION_FLAG_DISABLE_META_COMMANDS |
                                            DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE;

Status check_flags(DML_EXECUTION_FLAGS flags) {
  if ((flags & ~kKnownFlags) != 0) {
    return wrong(
        format_text("flags is {:#x}; expected a combination of ALLOW_HALF_PRECISION_COMPUTATION (1), "
                    "DISABLE_META_COMMANDS (2) and DESCRIPTORS_VOLATILE (4)",
                    static_cast<unsigned>(flags)));
  }
  return {};
}

CompileOptions compile_options(DML_EXECUTION_FLAGS flags) {
  return {.allow_half = (flags & DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION) != 0};
}

bool has_late_bindings(DML_EXECUTION_FLAGS flags) { return (flags & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE) != 0; }

// Whether tensors of this type exist at this level: level 3_0 added the 64-bit types, and level 6_3 added the 4-bit
// types.
bool is_type_supported(std::uint32_t number, facts::FeatureLevel level) {
  const auto type = static_cast<DataType>(number);
  return is_four_bits(type) ? level >= facts::FeatureLevel::v6_3
                            : is_element_type(type) && (element_size(type) < 8 || level >= facts::FeatureLevel::v3_0);
}

// Whether the device can compute with the type. Few operators accept 4-bit types, so these types are supported if
// dequantization supports them. Any other type is supported if addition supports it.
bool has_type(const CoreDevice& device, DataType type) {
  if (device.backend->lacks == nullptr) {
    return true;
  }
  const bool is_quantized = is_four_bits(type);
  const DataType other = is_quantized ? DataType::FLOAT32 : type;
  const DataType types[] = {type, other, other};
  const facts::Operator& op = *facts::find_operator(is_quantized ? "DEQUANTIZE" : "ELEMENT_WISE_ADD");
  const AskedOperator asked{
      .name = op.name, .part_of = op.name, .family = static_cast<std::uint32_t>(find_family(op)->id), .types = types};
  return device.backend->lacks(device.handle, &asked) == nullptr;
}

}  // namespace

bool DmlDevice::has_interface(REFIID riid) const noexcept {
  if (same_guid(riid, __uuidof(IDMLDevice1))) {
    return core().level() >= facts::FeatureLevel::v2_1;
  }
  return !same_guid(riid, __uuidof(IDMLDebugDevice)) || core().debug();
}

template <class Body>
HRESULT DmlDevice::create(const char* method, REFIID riid, void** out, const Body& body) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  return unless_removed(method, [&]() -> HRESULT {
    if (out == nullptr) {
      return core().fail(method, wrong("ppv is null; expected a pointer that receives the object"));
    }
    auto created = body();
    if (!created) {
      return core().fail(method, created.error());
    }
    const HRESULT result = hand_out(created.value(), riid, out);
    return FAILED(result)
               ? core().fail(result, format_text("{}: riid names an interface that the object does not have", method))
               : result;
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query,
                                                         UINT data_size, void* data) noexcept {
  constexpr const char* kMethod = "IDMLDevice::CheckFeatureSupport";
  return unless_removed(kMethod, [&]() -> HRESULT {
    const auto refuse = [&](const std::string& what) {
      return core().answer(E_INVALIDARG, format_text("{}: {}", kMethod, what));
    };
    const auto bad_sizes = [&](std::size_t expected_query, std::size_t expected_data) -> HRESULT {
      return refuse(format_text("the query has {} bytes and the answer {}{}; expected {} and {}", query_size, data_size,
                                query == nullptr || data == nullptr ? ", or a pointer is null" : "", expected_query,
                                expected_data));
    };
    switch (static_cast<unsigned>(feature)) {
      case DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: {
        DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT asked{};
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT answer{};
        if (query == nullptr || data == nullptr || query_size != sizeof(asked) || data_size != sizeof(answer)) {
          return bad_sizes(sizeof(asked), sizeof(answer));
        }
        std::memcpy(&asked, query, sizeof(asked));
        const auto number = static_cast<std::uint32_t>(asked.DataType);
        const bool is_supported =
            is_type_supported(number, core().level()) && has_type(core().device(), static_cast<DataType>(number));
        answer.IsSupported = is_supported ? TRUE : FALSE;
        std::memcpy(data, &answer, sizeof(answer));
        return S_OK;
      }
      case DML_FEATURE_FEATURE_LEVELS: {
        DML_FEATURE_QUERY_FEATURE_LEVELS asked{};
        DML_FEATURE_DATA_FEATURE_LEVELS answer{};
        if (query == nullptr || data == nullptr || query_size != sizeof(asked) || data_size != sizeof(answer)) {
          return bad_sizes(sizeof(asked), sizeof(answer));
        }
        std::memcpy(&asked, query, sizeof(asked));
        if (asked.RequestedFeatureLevelCount == 0 || asked.RequestedFeatureLevels == nullptr) {
          return refuse("the list of feature levels is empty; expected levels to choose from");
        }
        // Unknown levels are skipped, because newer programs ask for them.
        unsigned highest = 0;
        for (UINT i = 0; i < asked.RequestedFeatureLevelCount; ++i) {
          const auto level = static_cast<unsigned>(asked.RequestedFeatureLevels[i]);
          if (facts::find_level(level) && level <= static_cast<unsigned>(core().level())) {
            highest = std::max(highest, level);
          }
        }
        if (highest == 0) {
          return refuse(format_text("none of the requested feature levels is supported; this device offers {}",
                                    facts::level_name(core().level())));
        }
        answer.MaxSupportedFeatureLevel = static_cast<DML_FEATURE_LEVEL>(highest);
        std::memcpy(data, &answer, sizeof(answer));
        return S_OK;
      }
      default:
        return core().answer(kUnsupported, format_text("{}: feature is {}; expected TENSOR_DATA_TYPE_SUPPORT (0) or "
                                                       "FEATURE_LEVELS (1)",
                                                       kMethod, static_cast<unsigned>(feature)));
    }
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** out) noexcept {
  return create("IDMLDevice::CreateOperator", riid, out, [&]() -> Result<DmlOperator*> {
    const auto def = make_operator(desc, core().level());
    ANYDML_TRY(def);
    return new DmlOperator(*this, shared_core(), def.value());
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                                     void** out) noexcept {
  return create("IDMLDevice::CompileOperator", riid, out, [&]() -> Result<DmlCompiledOperator*> {
    const auto* known = own<DmlOperator>(op, core());
    if (known == nullptr) {
      return wrong(
          format_text("op is {}; expected an operator of this device", op == nullptr ? "null" : "another device's"));
    }
    ANYDML_TRY(check_flags(flags));
    auto execution = Execution::compile(shared_core(), graph_of(known->def(), known->name()), has_late_bindings(flags),
                                        compile_options(flags));
    ANYDML_TRY(execution);
    return new DmlCompiledOperator(*this, shared_core(), op, std::move(execution.value()));
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid,
                                                  void** out) noexcept {
  return create("IDMLDevice1::CompileGraph", riid, out, [&]() -> Result<DmlCompiledOperator*> {
    if (desc == nullptr) {
      return wrong("desc is null; expected a DML_GRAPH_DESC");
    }
    ANYDML_TRY(check_flags(flags));
    auto def = read_graph(*desc, core());
    ANYDML_TRY(def);
    auto execution =
        Execution::compile(shared_core(), std::move(def.value()), has_late_bindings(flags), compile_options(flags));
    ANYDML_TRY(execution);
    return new DmlCompiledOperator(*this, shared_core(), nullptr, std::move(execution.value()));
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators,
                                                               REFIID riid, void** out) noexcept {
  return create("IDMLDevice::CreateOperatorInitializer", riid, out, [&]() -> Result<DmlOperatorInitializer*> {
    auto created = ComPtr<DmlOperatorInitializer>::adopt(new DmlOperatorInitializer(*this, shared_core()));
    if (std::string what = created->set_targets(count, operators); !what.empty()) {
      return wrong(std::move(what));
    }
    created->AddRef();
    return created.get();
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CreateCommandRecorder(REFIID riid, void** out) noexcept {
  return create("IDMLDevice::CreateCommandRecorder", riid, out,
                [&]() -> Result<DmlCommandRecorder*> { return new DmlCommandRecorder(*this, shared_core()); });
}

HRESULT STDMETHODCALLTYPE DmlDevice::CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid,
                                                        void** out) noexcept {
  return create("IDMLDevice::CreateBindingTable", riid, out, [&]() -> Result<DmlBindingTable*> {
    auto created = ComPtr<DmlBindingTable>::adopt(new DmlBindingTable(*this, shared_core()));
    if (std::string what = created->set_desc(desc); !what.empty()) {
      return wrong(std::move(what));
    }
    created->AddRef();
    return created.get();
  });
}

// Everything is always resident, so these check their arguments and do nothing.
HRESULT DmlDevice::check_residents(const char* method, UINT count, IDMLPageable* const* objects) noexcept {
  return unless_removed(method, [&]() -> HRESULT {
    if (objects == nullptr && count != 0) {
      return core().fail(method, wrong(format_text("ppObjects is null; expected {} objects", count)));
    }
    for (UINT i = 0; i < count; ++i) {
      if (own<DmlCompiledOperator>(objects[i], core()) == nullptr &&
          own<DmlOperatorInitializer>(objects[i], core()) == nullptr) {
        return core().fail(method, wrong(format_text("ppObjects[{}] is {}; expected a compiled operator or an "
                                                     "initializer of this device",
                                                     i, objects[i] == nullptr ? "null" : "another device's")));
      }
    }
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE DmlDevice::Evict(UINT count, IDMLPageable* const* objects) noexcept {
  return check_residents("IDMLDevice::Evict", count, objects);
}

HRESULT STDMETHODCALLTYPE DmlDevice::MakeResident(UINT count, IDMLPageable* const* objects) noexcept {
  return check_residents("IDMLDevice::MakeResident", count, objects);
}

HRESULT STDMETHODCALLTYPE DmlDevice::GetParentDevice(REFIID riid, void** out) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  return unless_removed("IDMLDevice::GetParentDevice", [&] { return parent_->QueryInterface(riid, out); });
}

}  // namespace anydml
