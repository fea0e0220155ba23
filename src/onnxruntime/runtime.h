// SPDX-License-Identifier: MIT
// Calls of the runtime's functions, and the boundary of the functions that the runtime calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxruntime/api.h"

namespace anydml::ort {

// A failure that becomes a status of the runtime.
class Failure : public std::runtime_error {
 public:
  Failure(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// What a call returns: nothing if the function returns a status, which is raised.
template <class Result>
using Answer = std::conditional_t<std::is_same_v<Result, Status*>, void, Result>;

// The tables of the runtime that loaded this library.
class Runtime {
 public:
  // Raises Failure if the runtime is older than the interface.
  explicit Runtime(const ApiBase& base);

  // Calls a function of the runtime. A status that it returns is raised as a Failure.
  template <std::size_t kIndex, class Result, class... Parameters>
  Answer<Result> operator()(Member<kIndex, Result(Parameters...)>,
                            std::type_identity_t<Parameters>... arguments) const {
    return call(function_at<Result(Parameters...)>(api_, kIndex), arguments...);
  }
  template <std::size_t kIndex, class Result, class... Parameters>
  Answer<Result> operator()(EpMember<kIndex, Result(Parameters...)>,
                            std::type_identity_t<Parameters>... arguments) const {
    return call(function_at<Result(Parameters...)>(ep_api_, kIndex), arguments...);
  }

  // Calls a function whose last parameter receives the result, and returns the result.
  template <std::size_t kIndex, class... Parameters, class... Arguments>
  auto get(Member<kIndex, Call(Parameters...)> member, Arguments... arguments) const {
    using Last = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;
    std::remove_pointer_t<Last> result{};
    (*this)(member, arguments..., &result);
    return result;
  }

  // The same for a function that may fail: whether it succeeded.
  template <std::size_t kIndex, class... Parameters>
  bool try_call(Member<kIndex, Call(Parameters...)>, std::type_identity_t<Parameters>... arguments) const {
    Status* const status = function_at<Call(Parameters...)>(api_, kIndex)(arguments...);
    if (status != nullptr) {
      (*this)(kReleaseStatus, status);
    }
    return status == nullptr;
  }

  // The elements of a list, for which one function gives the number and another one the elements.
  template <class Count, std::size_t kIndex, class Object, class Element>
  auto list(Count count, Member<kIndex, Call(Object, Element*, std::size_t)> elements, Object of) const {
    std::vector<Element> all(get(count, of));
    if (!all.empty()) {
      (*this)(elements, of, all.data(), all.size());
    }
    return all;
  }

  // Whether the runtime's version is 1.`minor` or newer.
  [[nodiscard]] bool has_version(int minor, int patch = 0) const;
  [[nodiscard]] const std::string& version() const { return version_; }

  // A status with a message; null if there is no memory for it.
  Status* status(ErrorCode code, const char* message) const noexcept {
    return function_at<Call(ErrorCode, const char*)>(api_, 0)(code, message);
  }

  // Runs the body of a function that the runtime calls. No exception leaves it.
  template <class Body>
  Status* boundary(const Body& body) const noexcept {
    try {
      body();
      return nullptr;
    } catch (const Failure& failure) {
      return status(failure.code(), failure.what());
    } catch (const std::bad_alloc&) {
      return status(ErrorCode::kFail, "anydml: out of memory");
    } catch (const std::exception& error) {
      return status(ErrorCode::kRuntimeException, error.what());
    } catch (...) {
      return status(ErrorCode::kRuntimeException, "anydml: an unknown exception");
    }
  }

 private:
  template <class Function>
  static Function* function_at(const void* table, std::size_t index) {
    using Pointer = Function*;
    return static_cast<const Pointer*>(table)[index];
  }
  template <class Result, class... Parameters>
  Answer<Result> call(Result (*function)(Parameters...), Parameters... arguments) const {
    if constexpr (!std::is_same_v<Result, Status*>) {
      return function(arguments...);
    } else if (Status* const status = function(arguments...); status != nullptr) {
      raise(status);
    }
  }
  [[noreturn]] void raise(Status* status) const;

  const void* api_;
  const void* ep_api_;
  std::string version_;
  int minor_ = 0;
  int patch_ = 0;
};

}  // namespace anydml::ort
