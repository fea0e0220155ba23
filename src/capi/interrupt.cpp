// SPDX-License-Identifier: MIT
#include "capi/interrupt.h"

namespace anydml {
namespace {

constinit thread_local anydml_interrupt_function t_function = nullptr;
constinit thread_local void* t_context = nullptr;
constinit thread_local int t_asking = 0;

// All threads share this object, because a run calls it on the thread that started the run.
constexpr Interrupt kInterrupt = {.is_wanted = [](void*) -> std::int32_t {
                                    if (t_function == nullptr) {
                                      return 0;  // the thread's function has unregistered itself
                                    }
                                    ++t_asking;
                                    const int wanted = t_function(t_context);
                                    --t_asking;
                                    return wanted != 0 ? 1 : 0;
                                  },
                                  .context = nullptr};

}  // namespace

void set_interrupt(anydml_interrupt_function function, void* context) noexcept {
  t_function = function;
  t_context = context;
}

const Interrupt* interrupt_of_thread() noexcept { return t_function != nullptr ? &kInterrupt : nullptr; }

bool is_asking() noexcept { return t_asking != 0; }

}  // namespace anydml
