// SPDX-License-Identifier: MIT
// Runs a model with one float input in ONNX Runtime with anydml's provider: switch LIBRARY MODEL.onnx
// LIBRARY is the path of libonnxruntime-ep-anydml.so. This needs the headers of ONNX Runtime 1.23 or newer.
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <vector>

namespace {

// All that a program adds to switch over: registers the library and adds the provider's first device to the options.
void add_anydml(Ort::Env& environment, Ort::SessionOptions& options, const char* library) {
  environment.RegisterExecutionProviderLibrary("anydml", library);
  for (const auto& device : environment.GetEpDevices()) {
    if (std::string_view(device.EpName()) == "AnyDmlExecutionProvider") {
      options.AppendExecutionProvider_V2(environment, {device}, Ort::KeyValuePairs());
      return;
    }
  }
  throw Ort::Exception("the library has no device", ORT_FAIL);
}

void run(Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  const auto input_name = session.GetInputNameAllocated(0, allocator);
  const auto output_name = session.GetOutputNameAllocated(0, allocator);
  // Create an input of zeros. Dimensions without a fixed size get the size 1.
  const auto type = session.GetInputTypeInfo(0);
  std::vector<std::int64_t> sizes = type.GetTensorTypeAndShapeInfo().GetShape();
  for (auto& size : sizes) {
    size = size < 0 ? 1 : size;
  }
  auto input = Ort::Value::CreateTensor<float>(allocator, sizes.data(), sizes.size());
  std::fill_n(input.GetTensorMutableData<float>(), input.GetTensorTypeAndShapeInfo().GetElementCount(), 0.0f);
  const char* const inputs[] = {input_name.get()};
  const char* const outputs[] = {output_name.get()};
  const auto results = session.Run(Ort::RunOptions(), inputs, &input, 1, outputs, 1);
  const auto count = results[0].GetTensorTypeAndShapeInfo().GetElementCount();
  std::cout << outputs[0] << ": " << count << " elements, the first is "
            << (count != 0 ? *results[0].GetTensorData<float>() : 0) << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cout << "usage: switch LIBRARY MODEL.onnx\n";
    return 2;
  }
  try {
    Ort::Env environment(ORT_LOGGING_LEVEL_WARNING, "switch");
    Ort::SessionOptions options;
    add_anydml(environment, options, arguments[1]);
    {
      Ort::Session session(environment, arguments[2], options);
      run(session);
    }  // a session ends before the library is unregistered
    environment.UnregisterExecutionProviderLibrary("anydml");
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}
