// SPDX-License-Identifier: MIT
#include "value_words.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

#include "cursor.h"
#include "echo.h"
#include "json_writer.h"
#include "text/format.h"
#include "values.h"

namespace anydml::dmlrun {
namespace {

constexpr std::string_view kValueWords[] = {"zeros", "ones", "random", "normal", "sequence"};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// Numbers are written unchanged; the model reader reports anything else.
void write_number(JsonWriter& json, std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
                         text.find_first_of("0123456789") != std::string_view::npos;
  is_number&& parse_element(text, DataType::FLOAT64) ? json.digits(text) : json.text(text);
}

bool is_list_of_numbers(std::string_view text) {
  const auto parts = split(text, ',');
  return std::ranges::all_of(parts, [](std::string_view part) { return parse_element(part, DataType::FLOAT64).ok(); });
}

}  // namespace

std::optional<NamedText> split_name(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return std::nullopt;
  }
  return NamedText{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Result<std::string> initial_values(std::string_view words, std::uint64_t count, std::uint64_t seed) {
  JsonWriter json;
  const auto parts = split(words, ':');
  const std::string_view first = parts[0];
  const auto number = [&](std::size_t part, std::string_view key) {
    if (part < parts.size()) {
      json.key(key);
      write_number(json, parts[part]);
    }
  };
  std::error_code ignored;
  if (std::ranges::find(kValueWords, first) != std::end(kValueWords)) {
    const bool takes_numbers = first != "zeros" && first != "ones";
    if (parts.size() != 1 && !(takes_numbers && parts.size() == 3)) {
      return invalid(takes_numbers ? format_text("{} is invalid; expected {}, optionally with two numbers: {}:{}",
                                                 in_quotes(words), first, first,
                                                 first == "random"   ? "LOW:HIGH"
                                                 : first == "normal" ? "MEAN:DEVIATION"
                                                                     : "START:STEP")
                                   : format_text("{} is invalid; expected {}", in_quotes(words), first));
    }
    json.begin_object().key("valueCount").number(count);
    if (first == "zeros" || first == "ones") {
      json.key("value").number(first == "ones" ? 1 : 0);
    } else if (first == "sequence") {
      json.key("valueStart");
      write_number(json, parts.size() > 1 ? parts[1] : "0");
      json.key("valueDelta");
      write_number(json, parts.size() > 1 ? parts[2] : "1");
    } else {
      const bool uniform = first == "random";
      json.key("random").text(uniform ? "uniform" : "normal").key("seed").number(seed);
      number(1, uniform ? "low" : "mean");
      number(2, uniform ? "high" : "deviation");
    }
    json.end_object();
  } else if (is_list_of_numbers(words)) {
    const auto items = split(words, ',');
    if (items.size() == 1 && count > 1) {
      json.begin_object().key("valueCount").number(count).key("value");
      write_number(json, items[0]);
      json.end_object();
    } else {
      json.one_line(true).begin_array();
      for (const std::string_view item : items) {
        write_number(json, item);
      }
      json.end_array();
    }
  } else if (words.find_first_of("./") == std::string_view::npos && !std::filesystem::exists(words, ignored)) {
    const std::string meant = suggestion(first, kValueWords);
    return invalid(format_text("{} is neither a file nor values{}", in_quotes(words),
                               meant.empty()
                                   ? "; expected zeros, ones, random, normal, sequence, numbers such as 1,2,3, "
                                     "or the path of a file"
                                   : meant));
  } else {
    json.begin_object().key("sourcePath").text(words).end_object();
  }
  return json.kept();
}

}  // namespace anydml::dmlrun
