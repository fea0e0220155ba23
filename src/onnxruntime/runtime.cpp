// SPDX-License-Identifier: MIT
#include "onnxruntime/runtime.h"

#include <charconv>
#include <tuple>

#include "text/format.h"

namespace anydml::ort {
namespace {

constexpr int kFirstMinor = 23;

// The second and the third number of a version such as "1.23.2".
std::pair<int, int> numbers_of(const std::string& version) {
  int numbers[3] = {0, 0, 0};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& number : numbers) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || next == end || *next != '.') {
      break;
    }
    at = next + 1;
  }
  constexpr int kThousand = 1000;
  return numbers[0] > 1 ? std::pair(kThousand, 0) : std::pair(numbers[1], numbers[2]);
}

}  // namespace

Runtime::Runtime(const ApiBase& base) : api_(nullptr), ep_api_(nullptr), version_(base.GetVersionString()) {
  std::tie(minor_, patch_) = numbers_of(version_);
  if (minor_ < kFirstMinor) {
    throw Failure(ErrorCode::kNotImplemented,
                  format_text("anydml needs ONNX Runtime 1.{} or newer; this is {}", kFirstMinor, version_));
  }
  api_ = base.GetApi(kApiVersion);
  if (api_ == nullptr) {
    throw Failure(ErrorCode::kNotImplemented,
                  format_text("ONNX Runtime {} has no interface of version {}", version_, kApiVersion));
  }
  ep_api_ = (*this)(kGetEpApi);
}

bool Runtime::has_version(int minor, int patch) const { return minor_ != minor ? minor_ > minor : patch_ >= patch; }

void Runtime::raise(Status* status) const {
  const ErrorCode code = (*this)(kGetErrorCode, status);
  const std::string message = (*this)(kGetErrorMessage, status);
  (*this)(kReleaseStatus, status);
  throw Failure(code, message);
}

}  // namespace anydml::ort
