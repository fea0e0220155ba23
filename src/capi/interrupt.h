// SPDX-License-Identifier: MIT
// The function that a thread's long calls use to ask whether to end early (anydml_set_interrupt).
#pragma once

#include "anydml/anydml.h"
#include "backend/backend.h"

namespace anydml {

void set_interrupt(anydml_interrupt_function function, void* context) noexcept;

// The interrupt for this thread's runs; null if the thread has not set a function.
[[nodiscard]] const Interrupt* interrupt_of_thread() noexcept;

// Whether this thread is running its interrupt function, in the middle of a different call.
[[nodiscard]] bool is_asking() noexcept;

}  // namespace anydml
