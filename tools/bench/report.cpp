// SPDX-License-Identifier: MIT
#include "report.h"

#include <fmt/format.h>
#include <rapidjson/filewritestream.h>
#include <rapidjson/prettywriter.h>

#include <algorithm>
#include <cstdio>

#include "pass.h"

namespace anydml::bench {
namespace {

constexpr int kSchema = 1;

std::string_view name_of(PassKind kind) {
  return kind == PassKind::streaming && has_streaming_pass() ? "streaming" : "plain";
}

using Writer = rapidjson::PrettyWriter<rapidjson::FileWriteStream>;

void put(Writer& writer, const char* key, std::string_view value) {
  writer.Key(key);
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}
void put(Writer& writer, const char* key, double value) {
  writer.Key(key);
  writer.Double(value);
}
void put(Writer& writer, const char* key, std::int64_t value) {
  writer.Key(key);
  writer.Int64(value);
}

void put_timing(Writer& writer, const char* key, const Timing& timing) {
  writer.Key(key);
  writer.StartObject();
  put(writer, "median_s", timing.median);
  put(writer, "min_s", timing.min);
  put(writer, "rounds", std::int64_t{timing.rounds});
  writer.EndObject();
}

void put_machine(Writer& writer, const BenchEnvironment& machine) {
  writer.Key("machine");
  writer.StartObject();
  put(writer, "cpu", machine.cpu);
  put(writer, "architecture", machine.architecture);
  put(writer, "cores", std::int64_t{machine.cores});
  put(writer, "threads", std::int64_t{machine.threads});
  put(writer, "adapter", machine.adapter);
  put(writer, "device", machine.device);
  put(writer, "memory_bytes", static_cast<std::int64_t>(machine.memory_bytes));
  put(writer, "target", machine.target);
  put(writer, "system", machine.system);
  put(writer, "compiler", machine.compiler);
  put(writer, "c_library", machine.c_library);
  put(writer, "huge_pages", machine.huge_pages);
  put(writer, "l1_bytes", static_cast<std::int64_t>(machine.l1_bytes));
  put(writer, "l2_bytes", static_cast<std::int64_t>(machine.l2_bytes));
  put(writer, "l3_bytes", static_cast<std::int64_t>(machine.l3_bytes));
  writer.EndObject();
}

void put_result(Writer& writer, const Result& result) {
  writer.StartObject();
  put(writer, "name", result.of.name());
  put(writer, "type", anydml_type_name(result.of.type));
  put(writer, "operator", result.of.row->name);
  put(writer, "directml_operator", result.of.row->directml);
  put(writer, "output_type", anydml_type_name(result.of.row->output_type(result.of.type)));
  put(writer, "layout", name_of(result.of.layout));
  put(writer, "size", result.of.size.name);
  put(writer, "data", bench::name_of(result.of.data));
  if (result.of.data.kind == Data::Kind::gap) {
    put(writer, "gap", std::int64_t{result.of.data.gap});
  }
  put(writer, "elements", result.elements);
  put(writer, "bytes", result.bytes);
  put_timing(writer, "kernel", result.kernel);
  put_timing(writer, "pass", result.pass);
  if (!result.pass_by.empty()) {
    put(writer, "pass_by", result.pass_by);
  } else {
    put(writer, "pass_threads", std::int64_t{result.pass_threads});
  }
  put(writer, "ns_per_element", result.ns_per_element());
  put(writer, "gb_per_second", result.gb_per_second());
  put(writer, "pass_gb_per_second", result.pass_gb_per_second());
  put(writer, "fraction", result.fraction());
  if (result.factor) {
    put(writer, "factor", *result.factor);
  }
  put(writer, "checked", static_cast<std::int64_t>(result.check.checked));
  put(writer, "wrong", static_cast<std::int64_t>(result.check.wrong));
  if (!result.check.first_wrong.empty()) {
    put(writer, "first_wrong", result.check.first_wrong);
  }
  writer.EndObject();
}

}  // namespace

std::string header_text(const BenchEnvironment& machine, const Settings& settings) {
  if (machine.threads == 0) {
    return fmt::format(
        "anydml {}, {} kernels, on {}: {}, {} MiB\n"
        "in a machine with {} ({}), {} cores; {}; built with {}\n"
        "pass: ADD, IDENTITY or FILL_VALUE_CONSTANT of UINT32, or a copy, of the same number of bytes, on the same "
        "device; median "
        "of "
        "at least {} rounds, {} s per case\n"
        "clock: the device's; the wall clock for FLOAT64, which DirectML's modulus does not support, and for other "
        "operators, "
        "which use the C API\n",
        machine.version, machine.target.empty() ? "unknown" : machine.target, machine.adapter, machine.device,
        machine.memory_bytes >> 20, machine.cpu, machine.architecture, machine.cores, machine.c_library,
        machine.compiler, settings.min_rounds, settings.min_time);
  }
  return fmt::format(
      "anydml {}, {} kernels, on {} ({}), {} thread{} of {}\n"
      "device: {}; caches {} KiB, {} KiB, {} KiB; {}; built with {}; huge pages: {}\n"
      "pass: {}, with the same number of threads, or one if that is faster; median of at least {} rounds over {} s per "
      "case, "
      "or {} rounds for slow ones\n",
      machine.version, machine.target.empty() ? "unknown" : machine.target, machine.cpu, machine.architecture,
      machine.threads, machine.threads == 1 ? "" : "s", machine.cores, machine.device, machine.l1_bytes >> 10,
      machine.l2_bytes >> 10, machine.l3_bytes >> 10, machine.c_library, machine.compiler, machine.huge_pages,
      name_of(settings.pass), settings.min_rounds, settings.min_time, Settings::kSlowRounds);
}

std::string column_names(std::size_t width) {
  return fmt::format("{:8} {:{}} {:11} {:>9} {:9} {:>10} {:>8} {:>9} {:>9} {:>7}\n", "type", "operator", width,
                     "layout", "size", "data", "ns/element", "GB/s", "pass GB/s", "fraction", "factor");
}

std::string row_text(const Result& result, std::size_t width) {
  std::string row = fmt::format("{:8} {:{}} {:11} {:>9} {:9} {:10.4f} {:8.2f} {:9.2f} {:7.1f} % {:>7}",
                                anydml_type_name(result.of.type), result.of.row->name, width, name_of(result.of.layout),
                                result.of.size.name, bench::name_of(result.of.data), result.ns_per_element(),
                                result.gb_per_second(), result.pass_gb_per_second(), result.fraction() * 100,
                                result.factor ? fmt::format("{:.2f}", *result.factor) : "");
  row.erase(row.find_last_not_of(' ') + 1);
  row += result.is_above_pass() ? "  ABOVE THE PASS" : result.is_unsteady() ? "  unsteady" : "";
  if (result.check.wrong != 0) {
    row += fmt::format("\n  WRONG: {} of {} checked; {}", result.check.wrong, result.check.checked,
                       result.check.first_wrong);
  }
  return row + "\n";
}

std::string legend_text(bool has_factors) {
  std::string text =
      "\nns/element  the median time per element; for a reduction, per element read\n"
      "GB/s        all bytes read and written, divided by that time; an input of one element or one row does "
      "not "
      "count\n"
      "pass GB/s   the same bytes divided by the time of the pass, which moves packed arrays and computes almost "
      "nothing\n"
      "fraction    the time of the pass divided by the time of the operator: at 100 % the operator is as fast as the "
      "pass\n";
  if (has_factors) {
    text +=
        "factor      the time per element relative to the layout `tensor`, for the same type, operator, size and "
        "data\n";
  }
  return text;
}

std::string warning_text(const Report& report) {
  std::string text;
  if (report.is_busy) {
    text += fmt::format(
        "\nWARNING: the machine is busy: other processes used {:.1f} cores during the measurement. Measure again when "
        "they are idle.\n",
        report.others_busy_cores);
  }
  const auto count = [&](bool (Result::*has)() const) {
    return std::ranges::count_if(report.results, [&](const Result& result) { return (result.*has)(); });
  };
  if (const auto above = count(&Result::is_above_pass); above != 0) {
    text += fmt::format(
        "\nWARNING: {} of {} cases exceed {:.0f} % of the pass's speed. The pass should be faster: something "
        "disturbed it, or the tensors are so small that call overhead dominates.\n",
        above, report.results.size(), 100 * Result::kAbovePass);
  }
  if (const auto unsteady = count(&Result::is_unsteady); unsteady != 0) {
    text += fmt::format(
        "\nWARNING: {} of {} cases are unsteady: the median time is more than {} times the minimum. Other "
        "processes, "
        "or other virtual machines on the host, disturbed them.\n",
        unsteady, report.results.size(), Timing::kUnsteady);
  }
  return text;
}

std::string latency_text(const std::vector<Latency>& latencies) {
  std::string text = fmt::format("{:74} {:>11} {:>11}\n", "latency", "median ns", "min ns");
  for (const Latency& latency : latencies) {
    text += fmt::format("{:74} {:11.1f} {:11.1f}\n", latency.what, latency.median_ns, latency.min_ns);
  }
  return text;
}

std::string scaling_text(const std::vector<Scaling>& scalings) {
  std::string text = fmt::format("{:48} {:>7} {:>10} {:>8} {:>9} {:>9}\n", "scaling", "threads", "ns/element",
                                 "speed-up", "fraction", "pass GB/s");
  for (const Scaling& scaling : scalings) {
    for (const ScalingPoint& point : scaling.points) {
      text += fmt::format("{:48} {:7} {:10.4f} {:8.2f} {:7.1f} % {:9.2f}\n", scaling.name, point.threads,
                          point.ns_per_element, scaling.points.front().ns_per_element / point.ns_per_element,
                          point.fraction * 100, point.pass_gb_per_second);
    }
  }
  return text;
}

bool write_json(const Report& report, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return false;
  }
  char buffer[1 << 14];
  rapidjson::FileWriteStream stream(file, buffer, sizeof(buffer));
  Writer writer(stream);
  writer.SetIndent(' ', 1);
  writer.StartObject();
  put(writer, "program", "anydml-bench");
  put(writer, "schema", std::int64_t{kSchema});
  put(writer, "version", report.machine.version);
  put_machine(writer, report.machine);
  writer.Key("arguments");
  writer.StartArray();
  for (const std::string& argument : report.arguments) {
    writer.String(argument.c_str());
  }
  writer.EndArray();
  writer.Key("settings");
  writer.StartObject();
  put(writer, "min_time_s", report.settings.min_time);
  put(writer, "min_rounds", std::int64_t{report.settings.min_rounds});
  put(writer, "pass", name_of(report.settings.pass));
  put(writer, "seed", static_cast<std::int64_t>(kSeed));
  writer.EndObject();
  put(writer, "others_busy_cores", report.others_busy_cores);
  writer.Key("is_busy");
  writer.Bool(report.is_busy);
  writer.Key("cases");
  writer.StartArray();
  for (const Result& result : report.results) {
    put_result(writer, result);
  }
  writer.EndArray();
  writer.Key("latency");
  writer.StartArray();
  for (const Latency& latency : report.latencies) {
    writer.StartObject();
    put(writer, "name", latency.name);
    put(writer, "what", latency.what);
    put(writer, "median_ns", latency.median_ns);
    put(writer, "min_ns", latency.min_ns);
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("scaling");
  writer.StartArray();
  for (const Scaling& scaling : report.scalings) {
    writer.StartObject();
    put(writer, "name", scaling.name);
    put(writer, "type", scaling.type);
    put(writer, "operator", scaling.op);
    writer.Key("points");
    writer.StartArray();
    for (const ScalingPoint& point : scaling.points) {
      writer.StartObject();
      put(writer, "threads", std::int64_t{point.threads});
      put(writer, "ns_per_element", point.ns_per_element);
      put(writer, "speed_up", scaling.points.front().ns_per_element / point.ns_per_element);
      put(writer, "fraction", point.fraction);
      put(writer, "pass_gb_per_second", point.pass_gb_per_second);
      writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  stream.Put('\n');
  stream.Flush();
  return std::fclose(file) == 0;
}

}  // namespace anydml::bench
