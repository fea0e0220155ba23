// SPDX-License-Identifier: MIT
// ONNX Runtime's interface for plugins, as far as this library uses it: the C interface of version 23, whose members
// keep their positions and parameters in all later versions. The runtime passes tables of functions; a function is
// found by its position in the table. Nothing here needs ONNX Runtime's headers or libraries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anydml::ort {

inline constexpr std::uint32_t kApiVersion = 23;

// ---- Objects of the runtime -----------------------------------------------------------------------------------------

struct Status;
struct Logger;
struct Value;
struct ValueInfo;
struct TypeInfo;
struct TensorInfo;  // TensorTypeAndShapeInfo
struct Graph;
struct GraphSupport;  // EpGraphSupportInfo
struct GraphNode;
struct Attribute;
struct KernelContext;
struct NodeComputeContext;
struct SessionOptions;
struct RunOptions;
struct HardwareDevice;
struct EpDevice;
struct KeyValuePairs;
struct MemoryInfo;
struct MemoryDevice;
struct SyncStream;
struct SyncStreamImplementation;
struct ExternalInfo;  // ExternalInitializerInfo

enum class ErrorCode : std::int32_t {
  kFail = 1,
  kInvalidArgument = 2,
  kRuntimeException = 6,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
  kNotFound = 14,
};
enum class ValueKind : std::int32_t { kUnknown = 0, kTensor = 1 };
enum class AttributeKind : std::int32_t {
  kUndefined = 0,
  kInt = 1,
  kInts = 2,
  kFloat = 3,
  kFloats = 4,
  kString = 5,
  kStrings = 6,
  kGraph = 7,
  kTensor = 8,
};
enum class HardwareKind : std::int32_t { kCpu = 0, kGpu = 1, kNpu = 2 };
enum class MemoryPlace : std::int32_t { kCpu = 0, kGpu = 1 };
enum class Severity : std::int32_t { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3 };

// ---- Objects of this library ----------------------------------------------------------------------------------------
// The members have the names and the order of the runtime's interface. A null member stands for a default.

struct Api;

struct ApiBase {
  const Api* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};

struct Ep;
struct NodeComputeInfo;

struct Allocator {
  std::uint32_t version;
  void* (*Alloc)(Allocator*, std::size_t);
  void (*Free)(Allocator*, void*);
  const MemoryInfo* (*Info)(const Allocator*);
  void* (*Reserve)(Allocator*, std::size_t);
  Status* (*GetStats)(Allocator*, KeyValuePairs**);
  void* (*AllocOnStream)(Allocator*, std::size_t, SyncStream*);
};

struct DataTransfer {
  std::uint32_t version;
  void (*Release)(DataTransfer*);
  bool (*CanCopy)(const DataTransfer*, const MemoryDevice*, const MemoryDevice*);
  Status* (*CopyTensors)(DataTransfer*, const Value**, Value**, SyncStream**, std::size_t);
};

struct EpFactory {
  std::uint32_t version;
  const char* (*GetName)(const EpFactory*);
  const char* (*GetVendor)(const EpFactory*);
  Status* (*GetSupportedDevices)(EpFactory*, const HardwareDevice* const*, std::size_t, EpDevice**, std::size_t,
                                 std::size_t*);
  Status* (*CreateEp)(EpFactory*, const HardwareDevice* const*, const KeyValuePairs* const*, std::size_t,
                      const SessionOptions*, const Logger*, Ep**);
  void (*ReleaseEp)(EpFactory*, Ep*);
  std::uint32_t (*GetVendorId)(const EpFactory*);
  const char* (*GetVersion)(const EpFactory*);
  Status* (*ValidateCompiledModelCompatibilityInfo)(EpFactory*, const HardwareDevice* const*, std::size_t, const char*,
                                                    std::int32_t*);
  Status* (*CreateAllocator)(EpFactory*, const MemoryInfo*, const KeyValuePairs*, Allocator**);
  void (*ReleaseAllocator)(EpFactory*, Allocator*);
  Status* (*CreateDataTransfer)(EpFactory*, DataTransfer**);
  bool (*IsStreamAware)(const EpFactory*);
  Status* (*CreateSyncStreamForDevice)(EpFactory*, const MemoryDevice*, const KeyValuePairs*,
                                       SyncStreamImplementation**);
};

struct Ep {
  std::uint32_t version;
  const char* (*GetName)(const Ep*);
  Status* (*GetCapability)(Ep*, const Graph*, GraphSupport*);
  Status* (*Compile)(Ep*, const Graph**, const GraphNode**, std::size_t, NodeComputeInfo**, GraphNode**);
  void (*ReleaseNodeComputeInfos)(Ep*, NodeComputeInfo**, std::size_t);
  Status* (*GetPreferredDataLayout)(Ep*, std::int32_t*);
  Status* (*ShouldConvertDataLayoutForOp)(Ep*, const char*, const char*, std::int32_t, int*);
  Status* (*SetDynamicOptions)(Ep*, const char* const*, const char* const*, std::size_t);
  Status* (*OnRunStart)(Ep*, const RunOptions*);
  Status* (*OnRunEnd)(Ep*, const RunOptions*, bool);
  Status* (*CreateAllocator)(Ep*, const MemoryInfo*, Allocator**);
  Status* (*CreateSyncStreamForDevice)(Ep*, const MemoryDevice*, SyncStreamImplementation**);
  const char* (*GetCompiledModelCompatibilityInfo)(Ep*, const Graph*);
};

struct NodeComputeInfo {
  std::uint32_t version;
  Status* (*CreateState)(NodeComputeInfo*, NodeComputeContext*, void**);
  Status* (*Compute)(NodeComputeInfo*, void*, KernelContext*);
  void (*ReleaseState)(NodeComputeInfo*, void*);
};

struct FusionOptions {
  std::uint32_t version;
  bool drop_constant_initializers;
};
static_assert(sizeof(FusionOptions) == 8);

// ---- The runtime's functions ----------------------------------------------------------------------------------------

// A member of the table Api, or of the table EpApi: its position and its type.
template <std::size_t kIndex, class Function>
struct Member {};
template <std::size_t kIndex, class Function>
struct EpMember {};

using Call = Status*;

inline constexpr Member<0, Call(ErrorCode, const char*)> kCreateStatus;
inline constexpr Member<1, ErrorCode(const Status*)> kGetErrorCode;
inline constexpr Member<2, const char*(const Status*)> kGetErrorMessage;
inline constexpr Member<93, void(Status*)> kReleaseStatus;

inline constexpr Member<51, Call(Value*, void**)> kTensorMutableData;
inline constexpr Member<378, Call(const Value*, const void**)> kTensorData;
inline constexpr Member<318, Call(const Value*, std::size_t*)> kTensorBytes;
inline constexpr Member<65, Call(const Value*, TensorInfo**)> kTensorInfo;
inline constexpr Member<60, Call(const TensorInfo*, std::int32_t*)> kElementType;
inline constexpr Member<61, Call(const TensorInfo*, std::size_t*)> kRank;
inline constexpr Member<62, Call(const TensorInfo*, std::int64_t*, std::size_t)> kSizes;
inline constexpr Member<99, void(TensorInfo*)> kReleaseTensorInfo;
inline constexpr Member<96, void(Value*)> kReleaseValue;
// From version 24 on: the type and the sizes of a tensor, which stay valid as long as the tensor.
inline constexpr Member<414, Call(const Value*, std::int32_t*, const std::int64_t**, std::size_t*)> kTensorForm;

inline constexpr Member<289, Call(const ValueInfo*, const char**)> kValueName;
inline constexpr Member<290, Call(const ValueInfo*, const TypeInfo**)> kValueType;
inline constexpr Member<56, Call(const TypeInfo*, ValueKind*)> kTypeKind;
inline constexpr Member<55, Call(const TypeInfo*, const TensorInfo**)> kTypeAsTensor;
inline constexpr Member<390, bool(const TensorInfo*)> kHasShape;  // from version 24 on
inline constexpr Member<323, Call(const ValueInfo*, const GraphNode**, std::size_t*)> kValueProducer;
inline constexpr Member<326, Call(const ValueInfo*, const Value**)> kInitializerValue;
inline constexpr Member<327, Call(const ValueInfo*, ExternalInfo**)> kExternalInfo;
inline constexpr Member<331, Call(const ValueInfo*, bool*)> kIsConstant;
inline constexpr Member<332, Call(const ValueInfo*, bool*)> kIsFromOuterScope;
inline constexpr Member<369, void(ExternalInfo*)> kReleaseExternalInfo;
inline constexpr Member<370, const char*(const ExternalInfo*)> kExternalPath;
inline constexpr Member<371, std::int64_t(const ExternalInfo*)> kExternalOffset;
inline constexpr Member<372, std::size_t(const ExternalInfo*)> kExternalBytes;

inline constexpr Member<333, Call(const Graph*, const char**)> kGraphName;
inline constexpr Member<334, Call(const Graph*, const char**)> kModelPath;
inline constexpr Member<336, Call(const Graph*, std::size_t*)> kOpsetCount;
inline constexpr Member<337, Call(const Graph*, const char**, std::int64_t*, std::size_t)> kOpsets;
inline constexpr Member<338, Call(const Graph*, std::size_t*)> kGraphInputCount;
inline constexpr Member<339, Call(const Graph*, const ValueInfo**, std::size_t)> kGraphInputs;
inline constexpr Member<340, Call(const Graph*, std::size_t*)> kGraphOutputCount;
inline constexpr Member<341, Call(const Graph*, const ValueInfo**, std::size_t)> kGraphOutputs;
inline constexpr Member<342, Call(const Graph*, std::size_t*)> kInitializerCount;
inline constexpr Member<343, Call(const Graph*, const ValueInfo**, std::size_t)> kInitializers;
inline constexpr Member<344, Call(const Graph*, std::size_t*)> kNodeCount;
inline constexpr Member<345, Call(const Graph*, const GraphNode**, std::size_t)> kNodes;
inline constexpr Member<346, Call(const Graph*, const GraphNode**)> kParentNode;

inline constexpr Member<348, Call(const GraphNode*, std::size_t*)> kNodeId;
inline constexpr Member<349, Call(const GraphNode*, const char**)> kNodeName;
inline constexpr Member<350, Call(const GraphNode*, const char**)> kNodeOperator;
inline constexpr Member<351, Call(const GraphNode*, const char**)> kNodeDomain;
inline constexpr Member<352, Call(const GraphNode*, int*)> kNodeSince;
inline constexpr Member<353, Call(const GraphNode*, std::size_t*)> kNodeInputCount;
inline constexpr Member<354, Call(const GraphNode*, const ValueInfo**, std::size_t)> kNodeInputs;
inline constexpr Member<355, Call(const GraphNode*, std::size_t*)> kNodeOutputCount;
inline constexpr Member<356, Call(const GraphNode*, const ValueInfo**, std::size_t)> kNodeOutputs;
inline constexpr Member<357, Call(const GraphNode*, std::size_t*)> kImplicitInputCount;
inline constexpr Member<358, Call(const GraphNode*, const ValueInfo**, std::size_t)> kImplicitInputs;
inline constexpr Member<359, Call(const GraphNode*, std::size_t*)> kAttributeCount;
inline constexpr Member<360, Call(const GraphNode*, const Attribute**, std::size_t)> kAttributes;
inline constexpr Member<365, Call(const GraphNode*, std::size_t*)> kSubgraphCount;
inline constexpr Member<366, Call(const GraphNode*, const Graph**, std::size_t, const char**)> kSubgraphs;
inline constexpr Member<368, Call(const GraphNode*, const char**)> kNodeEp;

inline constexpr Member<363, Call(const Attribute*, AttributeKind*)> kAttributeKind;
inline constexpr Member<364, Call(const Attribute*, const char**)> kAttributeName;
inline constexpr Member<272, Call(const Attribute*, AttributeKind, void*, std::size_t, std::size_t*)> kReadAttribute;
inline constexpr Member<362, Call(const Attribute*, Value**)> kAttributeTensor;

inline constexpr Member<88, Call(const KernelContext*, std::size_t*)> kContextInputCount;
inline constexpr Member<90, Call(const KernelContext*, std::size_t, const Value**)> kContextInput;
inline constexpr Member<91, Call(KernelContext*, std::size_t, const std::int64_t*, std::size_t, Value**)>
    kContextOutput;
inline constexpr Member<274, Call(const KernelContext*, void (*)(void*, std::size_t), std::size_t, std::size_t, void*)>
    kContextParallelFor;

inline constexpr Member<237, Call(const SessionOptions*, const char*, int*)> kHasConfig;
inline constexpr Member<238, Call(const SessionOptions*, const char*, char*, std::size_t*)> kConfig;
inline constexpr Member<379, Call(const SessionOptions*, KeyValuePairs**)> kAllConfig;
inline constexpr Member<295, void(KeyValuePairs**)> kCreatePairs;
inline constexpr Member<296, void(KeyValuePairs*, const char*, const char*)> kAddPair;
inline constexpr Member<298, void(const KeyValuePairs*, const char* const**, const char* const**, std::size_t*)> kPairs;
inline constexpr Member<300, void(KeyValuePairs*)> kReleasePairs;
inline constexpr Member<307, HardwareKind(const HardwareDevice*)> kHardwareKind;
inline constexpr Member<308, std::uint32_t(const HardwareDevice*)> kHardwareVendor;

inline constexpr Member<320, Call(const char*, MemoryPlace, std::uint32_t, std::int32_t, std::int32_t, std::size_t,
                                  std::int32_t, MemoryInfo**)>
    kCreateMemoryInfo;
inline constexpr Member<94, void(MemoryInfo*)> kReleaseMemoryInfo;
inline constexpr Member<72, Call(const MemoryInfo*, int*)> kMemoryInfoId;
inline constexpr Member<322, std::uint32_t(const MemoryInfo*)> kMemoryInfoVendor;

using GetEpApi = const void*();
inline constexpr Member<317, GetEpApi> kGetEpApi;

inline constexpr EpMember<0, Call(EpFactory*, const HardwareDevice*, const KeyValuePairs*, const KeyValuePairs*,
                                  EpDevice**)>
    kCreateEpDevice;
inline constexpr EpMember<1, void(EpDevice*)> kReleaseEpDevice;
inline constexpr EpMember<2, Call(GraphSupport*, const GraphNode* const*, std::size_t, const FusionOptions*)>
    kAddNodesToFuse;
inline constexpr EpMember<5, Call(EpDevice*, const MemoryInfo*)> kAddAllocatorInfo;
inline constexpr EpMember<7, const MemoryDevice*(const Value*)> kValueMemory;
inline constexpr EpMember<9, MemoryPlace(const MemoryDevice*)> kMemoryPlace;
inline constexpr EpMember<11, std::uint32_t(const MemoryDevice*)> kMemoryVendor;
inline constexpr EpMember<12, std::uint32_t(const MemoryDevice*)> kMemoryId;
// From version 24 on.
inline constexpr EpMember<16, Call(HardwareKind, std::uint32_t, std::uint32_t, const char*, const KeyValuePairs*,
                                   HardwareDevice**)>
    kCreateHardwareDevice;
inline constexpr EpMember<17, void(HardwareDevice*)> kReleaseHardwareDevice;

}  // namespace anydml::ort
