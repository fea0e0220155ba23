// SPDX-License-Identifier: MIT
#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "echo.h"
#include "table.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void put_line(std::string_view text) {
  put(text);
  std::putchar('\n');
  std::fflush(stdout);
}

// Names come from the model, so they must not end a line or control a terminal.
std::string shown(std::string_view name) { return echo(name, name.size()); }

double gigabytes_per_second(std::uint64_t bytes, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(bytes) / milliseconds / 1e6 : 0;
}

struct ReportStatistics {
  ColdAndHot cpu;
  ColdAndHot device;
  double rate;        // GB/s, according to the device's clock if it was read
  double throughput;  // dispatches per second, according to the CPU's clock
};

ReportStatistics statistics_of(const DispatchReport& report) {
  ReportStatistics all{};
  all.cpu = split_samples(report.cpu, report.warm_up);
  // Cold samples that the device's ring buffer has already dropped must not be excluded a second time.
  const std::size_t dropped = report.device.empty() ? 0 : report.cpu.size() - report.device.size();
  all.device = split_samples(report.device, report.warm_up > dropped ? report.warm_up - dropped : 0);
  all.rate = gigabytes_per_second(report.bytes, report.device.empty() ? all.cpu.hot.median : all.device.hot.median);
  all.throughput = all.cpu.hot.average > 0 ? 1000 / all.cpu.hot.average : 0;
  return all;
}

std::string difference_text(const Difference& of, DataType type) {
  std::string text =
      format_text("[{}] is {}, expected {}", of.index, element_text(of.value, type), element_text(of.expected, type));
  if (!std::isfinite(of.distance)) {
    return text;
  }
  text += format_text(", {:.6g} apart", of.distance);
  return is_float_type(type) ? text + format_text(" ({} ULP)", of.ulps) : text;
}

// Visits only the elements of the type, without the buffer's padding.
template <class Use>
void for_each_element(const Resource& resource, std::span<const std::byte> bytes, Use use) {
  const DataType type = resource.shown_type();
  const std::size_t size = element_size(type);
  const std::size_t count = std::min<std::size_t>(resource.value_bytes, bytes.size()) / size;
  for (std::size_t i = 0; i < count; ++i) {
    use(i, load_element(bytes.data() + i * size, type), type);
  }
}

class TextOutput final : public Output {
 public:
  TextOutput(int verbosity, std::string_view clock) : verbosity_(verbosity), clock_(clock) {}

  void running_on(std::string_view, std::string_view adapter, std::string_view) override {
    put_line(format_text("Running on '{}'", shown(adapter)));
  }
  void command(std::size_t index, std::string_view text) override {
    put_line(format_text("Command {}: {}", index, text));
  }
  void initialized(std::string_view dispatchable, double milliseconds) override {
    if (verbosity_ >= 1) {
      put_line(format_text("Initialize '{}': {:.4f} ms", shown(dispatchable), milliseconds));
    }
  }
  void dispatched(const DispatchReport& report) override {
    const ReportStatistics all = statistics_of(report);
    if (verbosity_ == 0) {
      std::string line = format_text("Dispatch '{}': {} iterations, {:.4f} ms median (CPU)", shown(report.name),
                                     report.iterations, all.cpu.hot.median);
      if (all.device.hot.count > 0) {
        line += format_text(", {:.6f} ms median ({})", all.device.hot.median, clock_);
      }
      put_line(line + format_text(", {:.3g} GB/s", all.rate));
      return;
    }
    put_line(format_text("Dispatch '{}': {} iterations, {:.3g} GB/s, {:.6g} dispatches/s", shown(report.name),
                         report.iterations, all.rate, all.throughput));
    put_statistics("CPU", "(Cold)", all.cpu.cold);
    put_statistics(clock_, "(Cold)", all.device.cold);
    put_statistics("CPU", "(Hot) ", all.cpu.hot);
    put_statistics(clock_, "(Hot) ", all.device.hot);
    const std::size_t dropped = report.device.empty() ? 0 : report.cpu.size() - report.device.size();
    if (dropped > 0) {
      put_line(format_text("{} samples buffer has {} samples overwritten.", clock_, dropped));
    }
    if (verbosity_ >= 2) {
      put_line("The timings of each iteration: ");
      for (std::size_t i = 0; i < report.cpu.size(); ++i) {
        std::string line = format_text("iteration {}: {:.4f} ms (CPU)", i, report.cpu[i]);
        if (i >= dropped && !report.device.empty()) {
          line += format_text(", {:.4f} ms ({})", report.device[i - dropped], clock_);
        }
        put_line(line);
      }
    }
  }
  void profiled(const ProfileReport& report) override {
    double sum = 0;
    for (const StepReport& step : report.steps) {
      sum += step.is_once ? 0 : step.milliseconds;
    }
    Table table(
        {{"step", Table::Align::right}, {"ms", Table::Align::right}, {"%", Table::Align::right}, {"operators"}});
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
      const StepReport& step = report.steps[i];
      table.add({format_text("{}", i), format_text("{:.4f}", step.milliseconds),
                 step.is_once ? "once" : format_text("{:.1f}", sum > 0 ? 100 * step.milliseconds / sum : 0.0),
                 shown(step.nodes)});
    }
    put_line(
        format_text("Profile '{}': each step timed separately, {:.4f} ms in total; the whole dispatch {:.4f} ms ({})",
                    shown(report.name), sum, report.whole, clock_));
    table.print(stdout);
    std::fflush(stdout);
  }
  void compared(const Resource& resource, const Comparison& of, const Tolerance& tolerance) override {
    const DataType type = resource.shown_type();
    std::string line = format_text("Compare '{}': ", shown(resource.name));
    if (of.different == 0) {
      line += format_text("all {} elements are as expected, {}", of.elements, tolerance_text(tolerance));
      if (!tolerance.is_exact()) {
        line += format_text("; {:.6g} apart at most", of.largest_distance);
        line += is_float_type(type) ? format_text(" ({} ULP)", of.largest_ulps) : std::string();
      }
    } else {
      line += format_text("{} of {} elements are not as expected, {}; first {}; worst {}", of.different, of.elements,
                          tolerance_text(tolerance), difference_text(of.first, type), difference_text(of.worst, type));
    }
    put_line(line);
  }
  void values(const Resource& resource, std::span<const std::byte> bytes, bool verbose) override {
    put(format_text("Resource '{}':", shown(resource.name)));
    for_each_element(resource, bytes, [&](std::size_t i, ElementBits element, DataType type) {
      const std::string text = element_text(element, type);
      if (verbose) {
        put(format_text("\n[{}] {} ({})", i, text, element_hex(element, type)));
      } else {
        put(i == 0 ? " " : ", ");
        put(text);
      }
    });
    put_line("");
  }
  void written(std::string_view resource, std::string_view path) override {
    put_line(format_text("Resource '{}' written to '{}'", shown(resource), shown(path)));
  }
  void tensor(std::string_view what, std::string_view name, std::string_view form, std::string_view values) override {
    put_line(format_text("{} '{}': {}{}{}", what == "input" ? "Input" : "Output", shown(name), form,
                         values.empty() ? "" : ", ", echo(values)));
  }
  void explained(std::span<const std::string> lines) override {
    for (const std::string& line : lines) {
      put_line(shown(line));
    }
  }
  void traced(std::string_view path) override { put_line(format_text("Trace written to '{}'", shown(path))); }
  void finish(const std::function<void(JsonWriter&)>&) override {}

 private:
  static void put_statistics(std::string_view clock, std::string_view which, const Statistics& of) {
    if (of.count > 0) {
      put_line(
          format_text("{} Timings {} : {} samples, {:.4f} ms average, {:.4f} ms min, {:.4f} ms median, {:.4f} ms max, "
                      "{:.4f} ms p90, {:.4f} ms p99",
                      clock, which, of.count, of.average, of.min, of.median, of.max, of.p90, of.p99));
    }
  }

  int verbosity_;
  std::string_view clock_;
};

class JsonOutput final : public Output {
 public:
  void running_on(std::string_view model, std::string_view adapter, std::string_view level) override {
    json_.begin_object().key("model").text(model).key("adapter").text(adapter);
    if (!level.empty()) {
      json_.key("featureLevel").text(level);
    }
    json_.key("commands").begin_array();
  }
  void command(std::size_t, std::string_view) override {}
  void initialized(std::string_view, double) override {}
  void dispatched(const DispatchReport& report) override {
    const ReportStatistics all = statistics_of(report);
    json_.begin_object().key("type").text("dispatch").key("dispatchable").text(report.name);
    json_.key("iterations").number(report.iterations);
    statistics("cpuMilliseconds", all.cpu.hot);
    statistics("deviceMilliseconds", all.device.hot);
    json_.key("bytes").number(report.bytes).key("gigabytesPerSecond").real(all.rate);
    json_.key("dispatchesPerSecond").real(all.throughput).end_object();
  }
  void profiled(const ProfileReport& report) override {
    json_.begin_object().key("type").text("profile").key("dispatchable").text(report.name);
    json_.key("deviceMilliseconds").real(report.whole).key("steps").begin_array();
    for (const StepReport& step : report.steps) {
      json_.begin_object().key("operators").text(step.nodes).key("once").boolean(step.is_once);
      json_.key("deviceMilliseconds").real(step.milliseconds).end_object();
    }
    json_.end_array().end_object();
  }
  void compared(const Resource& resource, const Comparison& of, const Tolerance& tolerance) override {
    const DataType type = resource.shown_type();
    json_.begin_object().key("type").text("compare").key("resource").text(resource.name);
    json_.key("tolerance").text(tolerance_text(tolerance)).key("elements").number(of.elements);
    json_.key("different").number(of.different);
    distance("largestDistance", of.largest_distance);
    if (of.different > 0) {
      for (const auto& [key, difference] : {std::pair{"first", &of.first}, std::pair{"worst", &of.worst}}) {
        json_.key(key).begin_object().key("index").number(difference->index);
        json_.key("value");
        element(difference->value, type);
        json_.key("expected");
        element(difference->expected, type);
        distance("distance", difference->distance);
        json_.end_object();
      }
    }
    json_.end_object();
  }
  void values(const Resource& resource, std::span<const std::byte> bytes, bool) override {
    json_.begin_object().key("type").text("print").key("resource").text(resource.name);
    json_.key("dataType").text(type_name(resource.shown_type()));
    json_.one_line(true).key("values").begin_array();
    for_each_element(resource, bytes,
                     [&](std::size_t, ElementBits element, DataType type) { this->element(element, type); });
    json_.end_array().one_line(false).end_object();
  }
  void written(std::string_view resource, std::string_view path) override {
    json_.begin_object().key("type").text("writeFile").key("resource").text(resource).key("path").text(path);
    json_.end_object();
  }
  void tensor(std::string_view what, std::string_view name, std::string_view form, std::string_view values) override {
    json_.begin_object().key("type").text(what).key("name").text(name).key("form").text(form);
    if (!values.empty()) {
      json_.key("values").text(values);
    }
    json_.end_object();
  }
  void explained(std::span<const std::string> lines) override {
    json_.begin_object().key("type").text("explain").key("lines").begin_array();
    for (const std::string& line : lines) {
      json_.text(line);
    }
    json_.end_array().end_object();
  }
  void traced(std::string_view path) override {
    json_.begin_object().key("type").text("trace").key("path").text(path).end_object();
  }
  void finish(const std::function<void(JsonWriter&)>& add) override {
    json_.one_line(false).close_to(1);  // also closes the commands
    if (add) {
      add(json_);
    }
    json_.close_to(0).print(stdout);
  }

 private:
  void element(ElementBits value, DataType type) {
    const std::string text = element_text(value, type);
    if (text.find_first_of("ni") != std::string::npos) {  // nan and inf, which are not JSON numbers
      json_.text(text);
    } else {
      json_.digits(text == "-0" ? "-0.0" : text);  // JSON readers parse -0 as an integer
    }
  }
  void distance(std::string_view name, double value) {
    json_.key(name);
    std::isfinite(value) ? json_.real(value) : json_.text("inf");
  }
  void statistics(std::string_view name, const Statistics& of) {
    json_.key(name);
    if (of.count == 0) {
      json_.null();
      return;
    }
    json_.begin_object().key("samples").number(of.count).key("average").real(of.average).key("min").real(of.min);
    json_.key("median").real(of.median).key("p90").real(of.p90).key("p99").real(of.p99).key("max").real(of.max);
    json_.end_object();
  }

  JsonWriter json_{stdout};  // a model may print any number of values, so none is kept
};

}  // namespace

std::unique_ptr<Output> text_output(int verbosity, std::string_view clock) {
  return std::make_unique<TextOutput>(verbosity, clock);
}

std::unique_ptr<Output> json_output() { return std::make_unique<JsonOutput>(); }

}  // namespace anydml::dmlrun
