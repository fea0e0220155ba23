// SPDX-License-Identifier: MIT
// Releases and reacquires the GIL. Python may end while daemon threads are inside a call. Before 3.14, Python ends a
// thread that then requests the GIL with pthread_exit, which unwinds the stack. nanobind's functions are noexcept, so
// the process would abort, after destructors had touched Python objects without the GIL. Instead, such a thread waits
// here for the process to end, as it does in Python 3.14 and later.
#pragma once

#include <nanobind/nanobind.h>

#include <anydml/anydml.h>
#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace anydml::python {

[[noreturn, gnu::cold, gnu::noinline]] inline void wait_for_end_of_process() {
  for (;;) {
    pause();  // pause returns after each signal
  }
}

// Runs code that may release and reacquire the GIL, mainly Python code. It is not inlined, because small calls get
// slower when the surrounding functions grow.
template <class Function>
[[gnu::noinline]] decltype(auto) in_python(Function function) {
#ifdef __GLIBCXX__  // other standard libraries have no name for this exception
  try {
    return function();
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();  // waits inside the handler, because glibc aborts if the handler returns
  }
#else
  return function();
#endif
}

// Signals interrupt calls only on this thread, because Python runs handlers only there.
inline std::atomic<unsigned long> main_thread{0};

inline int ask_python(void*);

// Releases the GIL during its lifetime, so that other threads can run. On the main thread, a signal can interrupt a
// call to the core during this time. The call then returns ANYDML_INTERRUPTED, and the signal handler's exception is
// set.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) { anydml_set_interrupt(ask_python, nullptr); }
  ~GilReleased() {
    anydml_set_interrupt(nullptr, nullptr);
    in_python([this] { PyEval_RestoreThread(state_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the GIL during its lifetime, whether or not the thread held it before.
class GilHeld {
 public:
  GilHeld() {
    if (Py_IsInitialized() == 0) {  // Python is shutting down, and objects that the next call needs may be gone
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

// Whether a signal handler has raised an exception, which stays set. A handler may call this module.
inline int ask_python(void*) {
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) {
    return 0;
  }
  const GilHeld held;
  const int raised = in_python([] { return PyErr_CheckSignals(); });
  anydml_set_interrupt(ask_python, nullptr);  // calls to this module from the handler remove it
  return raised;
}

// Remembers the main thread. In a forked child, this is the thread that called fork.
inline void find_main_thread() {
  namespace nb = nanobind;
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
}

}  // namespace anydml::python
