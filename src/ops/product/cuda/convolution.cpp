// SPDX-License-Identifier: MIT
// Prepares the kernels of a convolution step. All classes of outputs share one launch, unless there are too many
// classes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ops/product/cuda/run.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"

namespace anydml::cuda {
namespace {

using namespace convolution_operands;
constexpr std::int64_t kMaxDirectThreads = 256;
constexpr std::int64_t kMaxLaunches = 4096;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kVector = 4;  // elements
static_assert(kLaunchAxes == kWindowAxes);

[[nodiscard]] u32 narrow(std::int64_t value) { return static_cast<u32>(value); }

// Whether positions along a dimension fit into the 32-bit integers that the kernels use.
[[nodiscard]] bool fits(const Windows& windows, const WindowAxis& axis) {
  constexpr std::int64_t kMax = std::int64_t{1} << 29;
  const std::int64_t outputs = windows.is_backward != 0 ? axis.output : axis.output * axis.stride;
  return axis.input < kMax && outputs < kMax && axis.taps * axis.dilation < kMax && axis.padding < kMax;
}

[[nodiscard]] std::int64_t launches_of(const Windows& windows) {
  std::int64_t launches = 1;
  for (u32 i = 0; i < kWindowAxes; ++i) {
    launches *= ceil_div(window_classes(windows, i), kLaunchClasses);
  }
  return launches;
}

// The number of values of k in the only class, or the average over all classes.
[[nodiscard]] std::int64_t depth_of(const ConvolutionStep& step) {
  const std::int64_t classes = all_window_classes(step.windows);
  return step.channels * (classes == 1 ? window_classes_of(step.windows, 0).taps() : step.taps() / classes);
}

[[nodiscard]] ClassLaunch class_of(const WindowClass& from) {
  return {.outputs = make_divisor(narrow(from.outputs)),
          .taps = make_divisor(narrow(std::max<std::int64_t>(from.taps.count, 1))),
          .tap_count = narrow(from.taps.count),
          .first_output = narrow(from.first_output),
          .output_stride = narrow(from.output_stride),
          .first_tap = narrow(from.taps.first),
          .tap_step = narrow(from.taps.step),
          .first = static_cast<i32>(from.first),
          .output_move = static_cast<i32>(from.output_move),
          .tap_move = static_cast<i32>(from.tap_move)};
}

[[nodiscard]] std::uint64_t axis_strides(const ConvolutionStep& step, std::int64_t WindowAxis::*stride) {
  std::uint64_t all = 0;
  for (const WindowAxis& axis : step.windows.axes) {
    all |= static_cast<std::uint64_t>(axis.*stride);
  }
  return all;
}

// The parameters for the plane kernels if they can run this convolution; otherwise `taps` is 0.
[[nodiscard]] PlaneForm plane_form(const ConvolutionStep& step) {
  constexpr std::int64_t kMaxGrid = 65'535;  // thread blocks in the grid's second dimension
  constexpr std::int64_t kFewRows = 4;       // more rows would be slow, since each row reads the planes again
  const WindowAxis& depth = step.windows.axes[0];
  const WindowAxis& down = step.windows.axes[1];
  const WindowAxis& along = step.windows.axes[2];
  const bool is_flat = depth.input == 1 && depth.output == 1 && depth.taps == 1 && depth.padding == 0;
  const bool is_square = down.taps == along.taps && down.stride == along.stride && down.dilation == 1 &&
                         along.dilation == 1 && (down.taps == 3 || down.taps == 5) && down.stride <= 2;
  const bool is_planes = step.windows.is_backward == 0 && step.windows.is_flipped == 0 && step.channels == 1 &&
                         step.rows <= kFewRows && is_flat && is_square && step.groups * step.rows <= kMaxGrid;
  return is_planes ? PlaneForm{.taps = narrow(down.taps), .stride = narrow(down.stride)} : PlaneForm{};
}

// One launch, which covers some classes along each dimension.
struct Part {
  ConvolutionLaunch launch;
  TileChoice choice;
  u32 blocks;
  u32 threads;  // threads per block in the direct kernel
};

class ConvolutionRun final : public PreparedStep {
 public:
  ConvolutionRun(const ConvolutionStep& step, const GpuProperties& gpu, bool has_bias, Neighbor after)
      : step_(step),
        after_(std::move(after)),
        has_bias_(has_bias),
        is_direct_(is_direct(step, gpu)),
        planes_(plane_form(step)) {
    std::int64_t counts[kWindowAxes];
    for (u32 i = 0; i < kWindowAxes; ++i) {
      counts[i] = window_classes(step.windows, i);
    }
    std::int64_t first[kWindowAxes];
    for (first[0] = 0; first[0] < counts[0]; first[0] += kLaunchClasses) {
      for (first[1] = 0; first[1] < counts[1]; first[1] += kLaunchClasses) {
        for (first[2] = 0; first[2] < counts[2]; first[2] += kLaunchClasses) {
          add_part(first, gpu);
        }
      }
    }
  }

  // Compiles a kernel that includes the following step. Returns null on success, or the reason why the steps cannot be
  // joined. All parts must use the same kernel.
  [[nodiscard]] const char* join(const GpuProperties& gpu) {
    const Part& part = parts_.front();
    const bool is_split = part.choice.splits > 1;
    const std::string tiles = "convolution_tiles<" + std::to_string(part.choice.tile) + "u, ";
    const std::string planes =
        "convolution_planes<" + std::to_string(planes_.taps) + "u, " + std::to_string(planes_.stride) + "u, ";
    return after_.compile<ConvolutionLaunch>(
        "planes.cuh", "ConvolutionLaunch",
        planes_.taps != 0 ? planes
        : is_direct_      ? "convolution_direct<"
        : is_split        ? "convolution_sums<"
                          : tiles,
        is_direct_ || is_split || planes_.taps != 0 ? 0 : tile_bytes(part.choice.tile), gpu);
  }
  [[nodiscard]] bool fits_grid() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.blocks != 0; });
  }

  // If there are several launches, k is never split.
  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return is_direct_ || planes_.taps != 0 ? 0 : parts_.front().choice.workspace_bytes();
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    for (const Part& part : parts_) {
      ConvolutionLaunch launch = part.launch;
      set_addresses(launch, bases);
      launch.split.sums = workspace_bytes() != 0 ? reinterpret_cast<f32*>(workspace) : nullptr;
      if (const cudaError_t error = launch_part(part, launch, bases, stream); error != cudaSuccess) {
        return error;
      }
    }
    return cudaSuccess;
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const joined = after_.is_there() ? "joined, " : "";
    const TileChoice& choice = parts_.front().choice;
    if (planes_.taps != 0) {
      std::snprintf(text, capacity, "%sconvolution of planes, %u x %u taps", joined, planes_.taps, planes_.taps);
    } else if (is_direct_) {
      std::snprintf(text, capacity, "%sconvolution, %u threads", joined, parts_.front().threads);
    } else {
      std::snprintf(text, capacity, "%sconvolution, tiles of %u x %u, k in %u part%s", joined, tile_rows(choice.tile),
                    tile_columns(choice.tile), choice.splits, choice.splits == 1 ? "" : "s");
    }
  }

 private:
  void add_part(const std::int64_t (&first)[kLaunchAxes], const GpuProperties& gpu) {
    const bool has_one_class = all_window_classes(step_.windows) == 1;
    Part& part = parts_.emplace_back();
    ConvolutionLaunch& launch = part.launch;
    const WindowPart windows = set_windows(step_, first, launch);
    std::int64_t down = step_.rows;
    std::int64_t across = 0;
    if (planes_.taps != 0) {
      down = ceil_div(launch.axes[1].of_class[0].outputs.divisor, kPlaneRows);
      across = ceil_div(launch.axes[2].of_class[0].outputs.divisor, plane_columns(planes_.stride));
      launch.down = make_divisor(narrow(down));
      launch.across = make_divisor(narrow(across));
      across = ceil_div(step_.images * down * across, kPlaneThreads);
      part.blocks = across <= kMaxBlocks ? narrow(across) : 0;
      return;
    }
    if (is_direct_) {
      const DirectShape shape = direct_shape(windows.columns);
      part.threads = shape.threads;
      across = shape.across;
    } else {
      const TiledOutputs outputs{.rows = step_.rows,
                                 .columns = windows.columns,
                                 .matrices = step_.groups * windows.classes,
                                 .depth = depth_of(step_)};
      part.choice =
          parts_.size() == 1 ? choose_tiles(outputs, kWindowTiles, has_one_class, gpu) : parts_.front().choice;
      launch.split = part.choice.split;
      if (!has_one_class) {  // the depth differs between classes
        launch.split.blocks_of_split = narrow(kMaxDepth / kProductBlock);
      }
      down = ceil_div(step_.rows, tile_rows(part.choice.tile));
      across = ceil_div(windows.columns, tile_columns(part.choice.tile));
    }
    part.blocks = set_blocks(windows, down, across, launch);
  }

  void set_addresses(ConvolutionLaunch& launch, std::byte* const* bases) const {
    launch.input = bases[kInput];
    launch.filter = bases[kFilter];
    launch.bias = has_bias_ ? bases[kBias] : nullptr;
    launch.output = after_.is_there() ? nullptr : bases[kOutput];
    launch.input_is_aligned = is_multiple(launch.input, input_strides(step_), sizeof(f32));
    launch.filter_is_aligned = is_multiple(launch.filter, filter_strides(step_), sizeof(f32));
    launch.bias_is_aligned = is_multiple(launch.bias, static_cast<std::uint64_t>(step_.bias_channel), sizeof(f32));
    launch.output_is_aligned = is_multiple(launch.output, output_strides(step_), sizeof(f32));
    launch.has_input_vectors = has_input_vectors(launch.input);
    launch.has_vectors = all_window_classes(step_.windows) == 1 && has_pixel_vectors(step_, launch.output, sizeof(f32));
  }

  // Whether the input and the output line up at the middle tap and groups of four input elements start at multiples of
  // 16 bytes.
  [[nodiscard]] bool has_input_vectors(const std::byte* input) const {
    ConvolutionStep others = step_;
    WindowAxis& along = others.windows.axes[kWindowAxes - 1];
    const bool is_packed = along.input_step == sizeof(f32);
    along.input_step = 0;
    return is_packed && along.padding == along.taps / 2 && along.input % kVector == 0 &&
           is_multiple(input, input_strides(others), kVector * sizeof(f32));
  }

  [[nodiscard]] cudaError_t launch_part(const Part& part, const ConvolutionLaunch& launch, std::byte* const* bases,
                                        cudaStream_t stream) const noexcept {
    if (planes_.taps != 0) {
      const u32 channels = narrow(step_.groups * step_.rows);
      return after_.is_there()
                 ? after_.launch(launch, {.blocks = {.x = part.blocks, .y = channels}, .threads = {.x = kPlaneThreads}},
                                 bases, stream)
                 : start_planes(launch, planes_, dim3(part.blocks, channels), stream);
    }
    if (is_direct_) {
      return after_.is_there()
                 ? after_.launch(launch, {.blocks = {.x = part.blocks}, .threads = {.x = part.threads}}, bases, stream)
                 : start_direct_convolution(launch, part.blocks, part.threads, stream);
    }
    const TileChoice& choice = part.choice;
    if (choice.splits == 1 && after_.is_there()) {
      return after_.launch(launch,
                           {.blocks = {.x = part.blocks},
                            .threads = {.x = tile_threads(choice.tile)},
                            .shared_bytes = tile_bytes(choice.tile)},
                           bases, stream);
    }
    const TileGrid grid{.tile = choice.tile, .blocks = part.blocks, .splits = choice.splits};
    if (const cudaError_t error = start_convolution(launch, grid, stream); error != cudaSuccess || choice.splits == 1) {
      return error;
    }
    if (!after_.is_there()) {
      return start_convolution_sums(launch, stream);
    }
    const u32 blocks = (launch.split.outputs - 1) / kSumThreads + 1;
    return after_.launch(launch, {.blocks = {.x = blocks}, .threads = {.x = kSumThreads}}, bases, stream);
  }

  ConvolutionStep step_;
  JoinedKernel after_;
  bool has_bias_;
  bool is_direct_;
  PlaneForm planes_;
  std::vector<Part> parts_;
};

}  // namespace

bool windows_fit(const ConvolutionStep& step) {
  const WindowAxis* const axes = step.windows.axes;
  const bool fits_positions =
      std::all_of(axes, axes + kWindowAxes, [&](const WindowAxis& axis) { return fits(step.windows, axis); });
  std::int64_t left = kMaxElements;  // the factor by which the output count may still grow
  for (const std::int64_t size :
       {step.images, step.groups, step.rows, axes[0].output, axes[1].output, axes[2].output}) {
    left /= size;
  }
  std::int64_t depth = kMaxDepth;
  for (const std::int64_t size : {step.channels, axes[0].taps, axes[1].taps, axes[2].taps}) {
    depth /= std::max<std::int64_t>(size, 1);
  }
  return fits_positions && left != 0 && depth != 0;
}

bool is_direct(const ConvolutionStep& step, const GpuProperties& gpu) {
  constexpr std::int64_t kFewRows = 4;
  constexpr std::int64_t kMinRows = 2;  // with more rows, even a mostly empty tile is faster for long sums
  constexpr std::int64_t kShortSum = 2 * kProductBlock;
  constexpr std::int64_t kThreads = 512;  // per multiprocessor
  const bool has_many = step.images * step.groups * step.rows * step.pixels() >= kThreads * gpu.multiprocessors;
  return depth_of(step) <= kShortSum ? step.rows <= kFewRows : step.rows <= kMinRows && has_many;
}

WindowPart set_windows(const ConvolutionStep& step, const std::int64_t (&first)[kLaunchAxes],
                       ConvolutionLaunch& launch) {
  WindowPart part{.classes = 1, .columns = step.images};
  for (u32 i = 0; i < kWindowAxes; ++i) {
    const WindowAxis& axis = step.windows.axes[i];
    const std::int64_t here = std::min<std::int64_t>(window_classes(step.windows, i) - first[i], kLaunchClasses);
    AxisLaunch& axis_launch = launch.axes[i];
    axis_launch.input_step = axis.input_step;
    axis_launch.filter_step = axis.filter_step;
    axis_launch.output_step = axis.output_step;
    axis_launch.input = narrow(axis.input);
    axis_launch.output = narrow(axis.output);
    axis_launch.classes = make_divisor(narrow(here));
    for (std::int64_t n = 0; n < here; ++n) {
      axis_launch.of_class[n] = class_of(window_class(step.windows, i, first[i] + n));
    }
    part.classes *= here;
    part.columns *= axis_launch.of_class[0].outputs.divisor;
  }
  launch.input_image = step.input_image;
  launch.input_channel = step.input_channel;
  launch.filter_group = step.filter_group;
  launch.filter_row = step.filter_row;
  launch.filter_channel = step.filter_channel;
  launch.bias_channel = step.bias_channel;
  launch.output_image = step.output_image;
  launch.output_channel = step.output_channel;
  launch.images = narrow(step.images);
  launch.channels = narrow(step.channels);
  launch.pixels = narrow(step.pixels());
  launch.groups = make_divisor(narrow(step.groups));
  launch.rows = make_divisor(narrow(step.rows));
  launch.columns = make_divisor(narrow(part.columns));
  return part;
}

u32 set_blocks(const WindowPart& part, std::int64_t down, std::int64_t across, ConvolutionLaunch& launch) {
  launch.down = make_divisor(narrow(down));
  launch.across = make_divisor(narrow(across));
  const std::int64_t blocks = down * across * std::int64_t{launch.groups.divisor} * part.classes;
  return blocks <= kMaxBlocks ? narrow(blocks) : 0;
}

DirectShape direct_shape(std::int64_t columns) {
  const std::int64_t threads =
      std::clamp(ceil_div(ceil_div(columns, kDirectPixels), kWarp) * kWarp, kWarp, kMaxDirectThreads);
  return {.threads = narrow(threads), .across = ceil_div(columns, threads * kDirectPixels)};
}

std::uint64_t input_strides(const ConvolutionStep& step) {
  return axis_strides(step, &WindowAxis::input_step) |
         static_cast<std::uint64_t>(step.input_image | step.input_channel);
}
std::uint64_t filter_strides(const ConvolutionStep& step) {
  return axis_strides(step, &WindowAxis::filter_step) |
         static_cast<std::uint64_t>(step.filter_group | step.filter_row | step.filter_channel);
}
std::uint64_t output_strides(const ConvolutionStep& step) {
  return axis_strides(step, &WindowAxis::output_step) |
         static_cast<std::uint64_t>(step.output_image | step.output_channel);
}

bool has_pixel_vectors(const ConvolutionStep& step, const void* output, std::int64_t element_bytes) {
  std::int64_t near = element_bytes;
  bool is_packed = step.pixels() % kVector == 0;
  for (u32 i = kWindowAxes; i-- > 0;) {
    const WindowAxis& axis = step.windows.axes[i];
    is_packed = is_packed && (axis.output == 1 || axis.output_step == near);
    near *= axis.output;
  }
  return is_packed && is_multiple(output, static_cast<std::uint64_t>(step.output_image | step.output_channel),
                                  static_cast<std::uint64_t>(kVector * element_bytes));
}

std::unique_ptr<PreparedStep> prepare_convolution(const Step& flat, const GpuProperties& gpu, Neighbors neighbors,
                                                  const char** why) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.strip != 0) {
    *why = "the CUDA backend requires an unpacked filter";
    return nullptr;
  }
  if (!windows_fit(step)) {
    *why = kTooManyElements;
    return nullptr;
  }
  if (launches_of(step.windows) > kMaxLaunches) {
    *why = "the stride of a backward convolution is too large for the CUDA backend";
    return nullptr;
  }
  auto run =
      std::make_unique<ConvolutionRun>(step, gpu, flat.operands[kBias].slot != kAbsentSlot, std::move(neighbors.after));
  *why = run->fits_grid() ? run->join(gpu) : kTooManyElements;
  if (*why != nullptr) {
    return nullptr;
  }
  return run;
}

}  // namespace anydml::cuda
