// SPDX-License-Identifier: MIT
// Products and convolutions from OpenBLAS, oneDNN and XNNPACK behind one C interface, for bench/product_peers.py. The
// HAS_... macros show which libraries are available. Each object keeps its weights in the form that its library
// prefers; creating the object is not timed.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if HAS_OPENBLAS
#include <cblas.h>
#endif
#if HAS_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif
#if HAS_XNNPACK
#include <pthreadpool.h>
#include <xnnpack.h>
#endif

namespace {

using Work = std::function<void()>;

#if HAS_ONEDNN

using Memory = dnnl::memory;

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

OneDnn& onednn() {
  static OneDnn all;
  return all;
}

// Converts the elements to the memory format that a primitive requires.
Memory brought_to(const Memory::desc& wanted, Memory given) {
  if (wanted == given.get_desc()) {
    return given;
  }
  Memory to(wanted, onednn().engine);
  dnnl::reorder(given, to).execute(onednn().stream, given, to);
  onednn().stream.wait();
  return to;
}

Memory::data_type onednn_type(int bits) {
  return bits == 8 ? Memory::data_type::s8 : bits == 16 ? Memory::data_type::f16 : Memory::data_type::f32;
}

Work onednn_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, int bits, void* a, void* b,
                    void* out) {
  using Tag = Memory::format_tag;
  const auto type = onednn_type(bits);
  const auto out_type = bits == 8 ? Memory::data_type::s32 : type;
  const dnnl::engine& engine = onednn().engine;
  const dnnl::matmul::primitive_desc described(
      {{{rows, depth}, type, Tag::ab}, {{depth, columns}, type, Tag::any}, {{rows, columns}, out_type, Tag::ab}},
      engine);
  const Memory weights = brought_to(described.weights_desc(), Memory({{depth, columns}, type, Tag::ab}, engine, b));
  const Memory source(described.src_desc(), engine, a);
  const Memory result(described.dst_desc(), engine, out);
  return [primitive = dnnl::matmul(described), source, weights, result] {
    primitive.execute(onednn().stream, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
    onednn().stream.wait();
  };
}

#endif

#if HAS_XNNPACK

pthreadpool_t pool(int threads) {
  static const pthreadpool_t built = threads > 1 ? pthreadpool_create(static_cast<std::size_t>(threads)) : nullptr;
  return built;
}

struct OperatorDeleter {
  void operator()(xnn_operator_t one) const { xnn_delete_operator(one); }
};

Work xnnpack_work(xnn_status built, xnn_operator_t operation, xnn_status ready, int threads) {
  if (built != xnn_status_success || ready != xnn_status_success) {
    return nullptr;
  }
  const std::shared_ptr<xnn_operator> owned(operation, OperatorDeleter());
  return [owned, threads] { xnn_run_operator(owned.get(), pool(threads)); };
}

constexpr float kAll = 3.0e38F;

Work xnnpack_product(std::size_t rows, std::size_t columns, std::size_t depth, int bits, const void* a, const void* b,
                     void* out, int threads) {
  if (xnn_initialize(nullptr) != xnn_status_success) {
    return nullptr;
  }
  xnn_operator_t one = nullptr;
  xnn_status built = xnn_status_unsupported_parameter;
  xnn_status ready = built;
  if (bits == 32) {
    built = xnn_create_fully_connected_nc_f32(depth, columns, depth, columns, static_cast<const float*>(b), nullptr,
                                              -kAll, kAll, XNN_FLAG_TRANSPOSE_WEIGHTS, &one);
    ready = built != xnn_status_success ? built
                                        : xnn_setup_fully_connected_nc_f32(one, rows, static_cast<const float*>(a),
                                                                           static_cast<float*>(out), pool(threads));
  } else if (bits == 16) {
    built = xnn_create_fully_connected_nc_f16(depth, columns, depth, columns, b, nullptr, -6.0e4F, 6.0e4F,
                                              XNN_FLAG_TRANSPOSE_WEIGHTS, &one);
    ready = built != xnn_status_success ? built : xnn_setup_fully_connected_nc_f16(one, rows, a, out, pool(threads));
  } else if (bits == 8) {
    built = xnn_create_fully_connected_nc_qs8(depth, columns, depth, columns, 0, 0.5F, 0.5F,
                                              static_cast<const std::int8_t*>(b), nullptr, 0, 64.0F, -128, 127,
                                              XNN_FLAG_TRANSPOSE_WEIGHTS, &one);
    ready = built != xnn_status_success
                ? built
                : xnn_setup_fully_connected_nc_qs8(one, rows, static_cast<const std::int8_t*>(a),
                                                   static_cast<std::int8_t*>(out), pool(threads));
  }
  return xnnpack_work(built, one, ready, threads);
}

#endif

}  // namespace

// A two-dimensional convolution. Images and filters are in ONNX's order, except that XNNPACK reads and writes images
// with the channels last, and reads filters in the order output channel, row, column, input channel.
struct Convolution {
  std::int64_t batch, groups, channels, filters, height, width, kernel_h, kernel_w, stride, padding, dilation;

  [[nodiscard]] std::int64_t out(std::int64_t size, std::int64_t kernel) const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  [[nodiscard]] std::int64_t out_h() const { return out(height, kernel_h); }
  [[nodiscard]] std::int64_t out_w() const { return out(width, kernel_w); }
};

namespace {

#if HAS_ONEDNN
// The images stay in the form that oneDNN prefers, as between the layers of a network.
Work onednn_convolution(const Convolution& c, void* image, void* filter, void* out) {
  using Tag = Memory::format_tag;
  const auto type = Memory::data_type::f32;
  const dnnl::engine& engine = onednn().engine;
  const Memory::dims source_sizes{c.batch, c.channels, c.height, c.width};
  const Memory::dims result_sizes{c.batch, c.filters, c.out_h(), c.out_w()};
  const bool grouped = c.groups != 1;
  const Memory::dims weight_sizes =
      grouped ? Memory::dims{c.groups, c.filters / c.groups, c.channels / c.groups, c.kernel_h, c.kernel_w}
              : Memory::dims{c.filters, c.channels, c.kernel_h, c.kernel_w};
  const dnnl::convolution_forward::primitive_desc described({dnnl::prop_kind::forward_inference,
                                                             dnnl::algorithm::convolution_direct,
                                                             {source_sizes, type, Tag::any},
                                                             {weight_sizes, type, Tag::any},
                                                             {result_sizes, type, Tag::any},
                                                             {c.stride, c.stride},
                                                             {c.dilation - 1, c.dilation - 1},
                                                             {c.padding, c.padding},
                                                             {c.padding, c.padding}},
                                                            engine);
  const Memory source = brought_to(described.src_desc(), Memory({source_sizes, type, Tag::nchw}, engine, image));
  const Memory weights = brought_to(described.weights_desc(),
                                    Memory({weight_sizes, type, grouped ? Tag::goihw : Tag::oihw}, engine, filter));
  const bool is_plain = described.dst_desc() == Memory::desc(result_sizes, type, Tag::nchw);
  const Memory result = is_plain ? Memory(described.dst_desc(), engine, out) : Memory(described.dst_desc(), engine);
  return [primitive = dnnl::convolution_forward(described), source, weights, result] {
    primitive.execute(onednn().stream, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}});
    onednn().stream.wait();
  };
}
#endif

#if HAS_XNNPACK
Work xnnpack_convolution(const Convolution& c, const void* image, const void* filter, void* out, int threads) {
  if (xnn_initialize(nullptr) != xnn_status_success) {
    return nullptr;
  }
  const auto padding = static_cast<std::uint32_t>(c.padding);
  const auto stride = static_cast<std::uint32_t>(c.stride);
  const auto dilation = static_cast<std::uint32_t>(c.dilation);
  const auto channels = static_cast<std::size_t>(c.channels);
  const auto filters = static_cast<std::size_t>(c.filters);
  const auto groups = static_cast<std::size_t>(c.groups);
  xnn_operator_t one = nullptr;
  const xnn_status built = xnn_create_convolution2d_nhwc_f32(
      padding, padding, padding, padding, static_cast<std::uint32_t>(c.kernel_h),
      static_cast<std::uint32_t>(c.kernel_w), stride, stride, dilation, dilation, static_cast<std::uint32_t>(groups),
      channels / groups, filters / groups, channels, filters, static_cast<const float*>(filter), nullptr, -kAll, kAll,
      0, &one);
  const xnn_status ready =
      built != xnn_status_success
          ? built
          : xnn_setup_convolution2d_nhwc_f32(one, static_cast<std::size_t>(c.batch), static_cast<std::size_t>(c.height),
                                             static_cast<std::size_t>(c.width), static_cast<const float*>(image),
                                             static_cast<float*>(out), pool(threads));
  return xnnpack_work(built, one, ready, threads);
}
#endif

// Returns null if the library is missing or does not support the operation.
Work* held(Work work) { return work ? new (std::nothrow) Work(std::move(work)) : nullptr; }

template <class Make>
Work* created_by(Make make) {
  try {
    return held(make());
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

extern "C" {

Work* openblas_product([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns,
                       [[maybe_unused]] std::int64_t depth, [[maybe_unused]] int bits, [[maybe_unused]] void* a,
                       [[maybe_unused]] void* b, [[maybe_unused]] void* out, [[maybe_unused]] int threads) {
#if HAS_OPENBLAS
  if (bits == 32) {
    openblas_set_num_threads(threads);
    return held([=] {
      const auto m = static_cast<int>(rows);
      const auto n = static_cast<int>(columns);
      const auto k = static_cast<int>(depth);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, static_cast<const float*>(a), k,
                  static_cast<const float*>(b), n, 0.0F, static_cast<float*>(out), n);
    });
  }
#endif
  return nullptr;
}

Work* onednn_product_of([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns,
                        [[maybe_unused]] std::int64_t depth, [[maybe_unused]] int bits, [[maybe_unused]] void* a,
                        [[maybe_unused]] void* b, [[maybe_unused]] void* out, [[maybe_unused]] int threads) {
#if HAS_ONEDNN
  return created_by([&] { return onednn_product(rows, columns, depth, bits, a, b, out); });
#else
  return nullptr;
#endif
}

Work* xnnpack_product_of([[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t columns,
                         [[maybe_unused]] std::int64_t depth, [[maybe_unused]] int bits, [[maybe_unused]] void* a,
                         [[maybe_unused]] void* b, [[maybe_unused]] void* out, [[maybe_unused]] int threads) {
#if HAS_XNNPACK
  return created_by([&] {
    return xnnpack_product(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                           static_cast<std::size_t>(depth), bits, a, b, out, threads);
  });
#else
  return nullptr;
#endif
}

Work* onednn_convolution_of([[maybe_unused]] const Convolution* of, [[maybe_unused]] void* image,
                            [[maybe_unused]] void* filter, [[maybe_unused]] void* out, [[maybe_unused]] int threads) {
#if HAS_ONEDNN
  return created_by([&] { return onednn_convolution(*of, image, filter, out); });
#else
  return nullptr;
#endif
}

Work* xnnpack_convolution_of([[maybe_unused]] const Convolution* of, [[maybe_unused]] void* image,
                             [[maybe_unused]] void* filter, [[maybe_unused]] void* out, [[maybe_unused]] int threads) {
#if HAS_XNNPACK
  return created_by([&] { return xnnpack_convolution(*of, image, filter, out, threads); });
#else
  return nullptr;
#endif
}

void peer_run(const Work* work) { (*work)(); }
void peer_release(Work* work) { delete work; }

}  // extern "C"
