// SPDX-License-Identifier: MIT
// Work that can be bound, recorded and run: executing one compiled operator, or initializing several.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "com/com_object.h"
#include "com/com_ptr.h"
#include "d3d12/bridge.h"
#include "directml/device_core.h"
#include "directml/operator_desc.h"
#include "directml/read_graph.h"
#include "programs/programs.h"

namespace anydml {

// The descriptors of a binding table as they were bound. A nonzero address means that the binding is present.
using Bindings = std::vector<ResolvedDescriptor>;

// Bindings are checked individually when they are set, together when the work is recorded, and again when it is
// submitted, because the descriptors are meanwhile in the application's memory. Each check returns an error message, or
// an empty string.
class Work : public ComObject<IBridgeDispatch> {
 public:
  bool submit(const ResolvedDescriptor* descriptors, std::uint32_t count) noexcept final;
  bool is_released() noexcept final { return released_.load(std::memory_order_acquire); }
  // Notes that the application has released the object that it dispatched. Work in flight may still need this object.
  void set_released() noexcept;

  [[nodiscard]] const DML_BINDING_PROPERTIES& properties() const { return properties_; }

  void copy_label(char* text, std::size_t room) noexcept final;

  // For messages: the kind of work, and the name that the application gave it.
  [[nodiscard]] std::string label() const;
  void set_name(std::string given);
  virtual std::string bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const = 0;
  virtual std::string bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const = 0;
  virtual std::string bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const = 0;
  // The temporary resource is stored separately, and also among the bindings if the work needs it. A binding that is
  // not needed must still be valid.
  std::string bind_temporary(const DML_BINDING_DESC* given, Bindings& bindings, ResolvedDescriptor& temporary) const;
  // Whether bindings may still be set between recording and submission.
  [[nodiscard]] virtual bool binds_late() const { return false; }
  // The number that identifies the descriptors of a table created or reset for this work. Each table has its own
  // number, unless bindings may come late. In that case all tables of the work share one number, and one table may
  // complete the bindings that another table started.
  [[nodiscard]] std::uint32_t table_number() const { return binds_late() ? number_ : next_number(); }
  // Called at recording. Bindings that may come later are checked at submission.
  virtual std::string check_recording(const Bindings& bindings, const ResolvedDescriptor& temporary) const = 0;

 protected:
  Work(std::shared_ptr<DmlCore> core, std::string_view kind) : core_(std::move(core)), kind_(kind) {}

  virtual std::string check_submission(const ResolvedDescriptor* bindings) = 0;

  [[nodiscard]] DmlCore& core() const { return *core_; }
  [[nodiscard]] const std::shared_ptr<DmlCore>& shared_core() const { return core_; }

  [[nodiscard]] bool has_temporary() const { return properties_.TemporaryResourceSize != 0; }

  DML_BINDING_PROPERTIES properties_{};

 private:
  // Never 0; repeats only after 4 billion calls.
  static std::uint32_t next_number() noexcept;
  // Warns, only once, if other tables overwrote descriptors, in which case the recorded bindings are used.
  void warn_of_overwriting(const ResolvedDescriptor* descriptors, std::uint32_t count);

  const std::shared_ptr<DmlCore> core_;
  const std::string_view kind_;
  const std::uint32_t number_ = next_number();
  std::atomic<bool> warned_of_overwriting_{false};
  std::atomic<bool> released_{false};
  mutable std::mutex name_mutex_;
  std::string name_;
};

// A compiled operator or graph. Its descriptors are the inputs, the outputs, the persistent resource, and finally the
// temporary resource. The last two exist only if they are needed.
class Execution final : public Work {
 public:
  static Result<ComPtr<Execution>> compile(std::shared_ptr<DmlCore> core, GraphDef def, bool late_bindings,
                                           const CompileOptions& options);
  ~Execution() override;

  std::string bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string check_recording(const Bindings& bindings, const ResolvedDescriptor& temporary) const override;
  [[nodiscard]] bool binds_late() const override { return late_bindings_; }
  [[nodiscard]] bool copies() const noexcept override { return false; }
  void run(BackendQueue* queue, const DeviceAddress* addresses, const MemoryLocation* locations) noexcept override;

  BindingUse binding_use(std::uint32_t descriptor) noexcept override;

  [[nodiscard]] const Surface& surface() const { return surface_; }
  [[nodiscard]] bool has_persistent() const { return properties_.PersistentResourceSize != 0; }
  // Fills the persistent resource with the owned inputs and the values that depend only on them. The arrays have an
  // entry for every input.
  [[nodiscard]] BackendStatus initialize(BackendQueue* queue, const DeviceAddress* inputs,
                                         const MemoryLocation* locations, const BoundMemory& persistent,
                                         DeviceAddress temporary) const noexcept;
  // The temporary memory that initialize needs.
  [[nodiscard]] std::uint64_t initialize_temporary_bytes() const { return initialize_.temporary_bytes(); }

  // Called by Initialization. set_persistent_address records the address of the persistent resource. set_initialized
  // records that the resource is filled, and returns false if it already was.
  void set_persistent_address(DeviceAddress address) noexcept {
    persistent_address_.store(address, std::memory_order_release);
  }
  [[nodiscard]] bool set_initialized() noexcept { return !initialized_.exchange(true, std::memory_order_acq_rel); }

 private:
  Execution(std::shared_ptr<DmlCore> core, GraphDef& def, bool late_bindings);
  Status compile_plans(const GraphDef& def, const CompileOptions& options);
  Status keep_constants(std::span<const std::span<const std::byte>> constants);
  [[nodiscard]] Status from_backend(const BackendStatus& status) const;
  // Calls use(addresses) with one address for each slot of the plans.
  template <class Use>
  [[nodiscard]] BackendStatus with_addresses(const DeviceAddress* inputs, DeviceAddress persistent,
                                             const DeviceAddress* outputs, DeviceAddress temporary,
                                             const Use& use) const noexcept;
  std::string check_submission(const ResolvedDescriptor* bindings) override;
  // Called if the operator was never initialized. Either warns and returns true, or removes the device and returns
  // false.
  bool run_uninitialized() noexcept;
  [[nodiscard]] std::string check_all(const ResolvedDescriptor* bindings) const;
  // Finds outputs that share bytes with another binding.
  [[nodiscard]] std::string check_hazards(const ResolvedDescriptor* bindings) const;
  // Like check_hazards, but for large numbers of tensors, where comparing every pair would take too long.
  [[nodiscard]] std::string check_many_hazards(const ResolvedDescriptor* bindings) const;
  template <class IsLookedAt>
  [[nodiscard]] std::string check_outputs(const ResolvedDescriptor* bindings, const IsLookedAt& is_looked_at) const;
  // Finds a temporary resource that shares bytes with another binding.
  [[nodiscard]] std::string check_temporary(const ResolvedDescriptor* bindings,
                                            const ResolvedDescriptor& temporary) const;
  [[nodiscard]] std::size_t persistent_slot() const { return surface_.tensor_count(); }
  [[nodiscard]] std::size_t temporary_slot() const { return persistent_slot() + (has_persistent() ? 1 : 0); }
  [[nodiscard]] std::string check_in_place(const ResolvedDescriptor* bindings, std::size_t input,
                                           std::size_t output) const;
  // Reads the bindings of `tensors` tensors, starting with `first`.
  [[nodiscard]] std::string bind_tensors(std::size_t first, std::uint32_t tensors, UINT count,
                                         const DML_BINDING_DESC* given, Bindings& bindings) const;

  const Surface surface_;
  const bool late_bindings_;
  std::size_t nodes_;
  GraphPlans plans_;
  DeviceProgram initialize_;  // empty if only copies are needed
  DeviceProgram program_;
  MemoryBlock constants_ = {};
  std::atomic<bool> initialized_{false};
  std::atomic<bool> warned_{false};
  std::atomic<DeviceAddress> persistent_address_{0};
};

// The initialization of compiled operators. Its descriptors are, for each operator, the owned inputs and then the
// persistent resource, if any. The last descriptor is the temporary resource, if an operator needs one.
class Initialization final : public Work {
 public:
  Initialization(std::shared_ptr<DmlCore> core, std::vector<ComPtr<Execution>> targets);

  std::string bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const override;
  std::string check_recording(const Bindings& bindings, const ResolvedDescriptor& temporary) const override;
  void run(BackendQueue* queue, const DeviceAddress* addresses, const MemoryLocation* locations) noexcept override;
  BindingUse binding_use(std::uint32_t descriptor) noexcept override;

 private:
  ~Initialization() override = default;
  [[nodiscard]] bool copies() const noexcept override { return true; }
  std::string check_submission(const ResolvedDescriptor* bindings) override;
  [[nodiscard]] std::string check_all(const ResolvedDescriptor* bindings) const;
  [[nodiscard]] std::string check_temporary(const ResolvedDescriptor* bindings) const;

  // The meaning of a descriptor.
  struct Slot {
    std::size_t target;
    std::size_t input;  // kPersistent stands for the persistent resource
  };
  static constexpr std::size_t kPersistent = static_cast<std::size_t>(-1);
  [[nodiscard]] const Execution& target(const Slot& slot) const { return *targets_[slot.target].get(); }

  const std::vector<ComPtr<Execution>> targets_;
  std::vector<Slot> slots_;
};

}  // namespace anydml
