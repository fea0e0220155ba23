// SPDX-License-Identifier: MIT
// The function by which a thread's long calls ask whether to end early (anydml_set_interrupt).
#pragma once

#include "anydml/anydml.h"
#include "backend/backend.h"

namespace anydml {

void set_interrupt(anydml_interrupt_function function, void* context) noexcept;

// The interrupt for the runs of this thread; null if the thread has set no function.
[[nodiscard]] const Interrupt* interrupt_of_thread() noexcept;

// Whether this thread is running its interrupt function, in the middle of another call.
[[nodiscard]] bool is_asking() noexcept;

}  // namespace anydml
