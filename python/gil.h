// SPDX-License-Identifier: MIT
// The way out of the GIL and back. Python may end while daemon threads are in the midst of a call. Before 3.14 it ends
// a thread that asks for the GIL then by pthread_exit, which unwinds the stack: nanobind's functions let nothing out,
// so that the process would abort, and on the way there destructors would touch Python's objects without the GIL. Such
// a thread waits here for the end of the process instead, as it does in Python itself from 3.14 on.
#pragma once

#include <nanobind/nanobind.h>

#include <cxxabi.h>
#include <unistd.h>

namespace anydml::python {

[[noreturn, gnu::cold, gnu::noinline]] inline void wait_for_end_of_process() {
  for (;;) {
    pause();  // signals wake it
  }
}

// Whatever may let other threads have the GIL, and ask for it again: Python code above all. Apart, since calls of a few
// elements get slower where the functions around it grow.
template <class Function>
[[gnu::noinline]] decltype(auto) in_python(Function function) {
#ifdef __GLIBCXX__  // other libraries have no name for it
  try {
    return function();
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();  // inside of the handler: glibc ends the process when one is left
  }
#else
  return function();
#endif
}

// Others have the GIL while it lives.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() {
    in_python([this] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the GIL while it lives, whether it was held before or not.
class GilHeld {
 public:
  GilHeld() {
    if (Py_IsInitialized() == 0) {  // 0 from when Python begins to end. What the next call needs may be gone by now
      wait_for_end_of_process();
    }
    state_ = in_python([] { return PyGILState_Ensure(); });
  }
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace anydml::python
