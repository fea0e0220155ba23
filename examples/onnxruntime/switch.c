/* SPDX-License-Identifier: MIT */
/* Runs a model with one float input in ONNX Runtime with anydml's provider: switch LIBRARY MODEL.onnx
   LIBRARY is the path of libonnxruntime-ep-anydml.so. This needs the headers of ONNX Runtime 1.23 or newer. */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const OrtApi* api;

static void check(OrtStatus* status) {
  if (status != NULL) exit((puts(api->GetErrorMessage(status)), 1));
}

/* All that a program adds to switch over: registers the library and adds the provider's first device to the options. */
static void add_anydml(OrtEnv* environment, OrtSessionOptions* options, const char* library) {
  check(api->RegisterExecutionProviderLibrary(environment, "anydml", library));
  const OrtEpDevice* const* devices;
  size_t count;
  check(api->GetEpDevices(environment, &devices, &count));
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(api->EpDevice_EpName(devices[i]), "AnyDmlExecutionProvider") == 0) {
      check(api->SessionOptionsAppendExecutionProvider_V2(options, environment, &devices[i], 1, NULL, NULL, 0));
      return;
    }
  }
  exit((puts("the library has no device"), 1));
}

int main(int count, char** arguments) {
  if (count != 3) exit((puts("usage: switch LIBRARY MODEL.onnx"), 2));
  api = OrtGetApiBase()->GetApi(23);
  if (api == NULL) exit((puts("this needs ONNX Runtime 1.23 or newer"), 1));
  OrtEnv* environment;
  OrtSessionOptions* options;
  OrtSession* session;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "switch", &environment));
  check(api->CreateSessionOptions(&options));
  add_anydml(environment, options, arguments[1]);
  check(api->CreateSession(environment, arguments[2], options, &session));

  OrtAllocator* allocator;
  char *input_name, *output_name;
  check(api->GetAllocatorWithDefaultOptions(&allocator));
  check(api->SessionGetInputName(session, 0, allocator, &input_name));
  check(api->SessionGetOutputName(session, 0, allocator, &output_name));

  /* Create an input of zeros. Dimensions without a fixed size get the size 1. */
  OrtTypeInfo* type;
  const OrtTensorTypeAndShapeInfo* form;
  int64_t sizes[16];
  size_t rank;
  check(api->SessionGetInputTypeInfo(session, 0, &type));
  check(api->CastTypeInfoToTensorInfo(type, &form));
  check(api->GetDimensionsCount(form, &rank));
  if (rank > 16) exit((puts("the input has more than 16 dimensions"), 1));
  check(api->GetDimensions(form, sizes, rank));
  for (size_t i = 0; i < rank; ++i) sizes[i] = sizes[i] < 0 ? 1 : sizes[i];
  OrtValue *input, *output = NULL;
  float* data;
  size_t bytes;
  check(api->CreateTensorAsOrtValue(allocator, sizes, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  check(api->GetTensorMutableData(input, (void**)&data));
  check(api->GetTensorSizeInBytes(input, &bytes));
  memset(data, 0, bytes);

  check(api->Run(session, NULL, (const char* const*)&input_name, (const OrtValue* const*)&input, 1,
                 (const char* const*)&output_name, 1, &output));
  check(api->GetTensorMutableData(output, (void**)&data));
  check(api->GetTensorSizeInBytes(output, &bytes));
  printf("%s: %zu bytes, the first element is %g\n", output_name, bytes, bytes != 0 ? (double)*data : 0);

  check(api->AllocatorFree(allocator, input_name));
  check(api->AllocatorFree(allocator, output_name));
  api->ReleaseValue(output);
  api->ReleaseValue(input);
  api->ReleaseTypeInfo(type);
  api->ReleaseSession(session); /* before the library is unregistered */
  api->ReleaseSessionOptions(options);
  check(api->UnregisterExecutionProviderLibrary(environment, "anydml"));
  api->ReleaseEnv(environment);
}
