// SPDX-License-Identifier: MIT
#include "cursor.h"

#include <algorithm>
#include <charconv>

#include "base/edit_distance.h"
#include "echo.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-' || letter == '$';
  });
}

constexpr std::size_t kMaxOfName = 80;

}  // namespace

std::string in_quotes(std::string_view text) { return format_text("'{}'", echo(text, kMaxOfName)); }

std::string path_step(std::string_view name) {
  const std::string shown = echo(name, kMaxOfName);
  return is_plain_name(name) ? format_text(".{}", shown) : format_text("[\"{}\"]", shown);
}

std::string suggestion(std::string_view written, std::span<const std::string_view> names) {
  const auto begins_alike = [&](std::string_view name) {
    return std::ranges::mismatch(written, name).in1 - written.begin();
  };
  std::string_view best;
  std::size_t minimum = max_suggestion_distance(written);
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(written, name);
    if (distance < minimum || (distance == minimum && !best.empty() && begins_alike(name) > begins_alike(best))) {
      minimum = distance;
      best = name;
    }
  }
  return best.empty() ? std::string() : format_text("; did you mean {}?", in_quotes(best));
}

void Problems::add(std::string path, std::string reason) {
  if (!full()) {
    list_.push_back({std::move(path), std::move(reason)});
  }
}

bool Problems::any_under(std::string_view path) const {
  return std::ranges::any_of(list_, [path](const Problem& problem) {
    const std::string_view at = problem.path;
    return at.starts_with(path) && (at.size() == path.size() || at[path.size()] == '.' || at[path.size()] == '[');
  });
}

std::string_view kind_text(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "a boolean";
    case JsonKind::number:
      return "a number";
    case JsonKind::string:
      return "a string";
    case JsonKind::array:
      return "an array";
    case JsonKind::object:
      break;
  }
  return "an object";
}

std::string Cursor::path() const {
  if (parent_ == nullptr) {
    return {};
  }
  const std::string before = parent_->path();
  if (index_ != kNoIndex) {
    return format_text("{}[{}]", before, index_);
  }
  const std::string step = path_step(name_);
  return before.empty() && step.starts_with('.') ? step.substr(1) : before + step;
}

void Cursor::fail(std::string reason) const {
  if (!problems_->full()) {
    problems_->add(path(), std::move(reason));
  }
}

bool Cursor::expect(JsonKind kind, std::string_view what) const {
  if (json_.is(kind)) {
    return true;
  }
  fail(format_text("is {}; expected {}", kind_text(json_.kind()), what));
  return false;
}

std::optional<std::string_view> Cursor::string(std::string_view what) const {
  return expect(JsonKind::string, what) ? std::optional(json_.text()) : std::nullopt;
}

std::optional<bool> Cursor::boolean() const {
  return expect(JsonKind::boolean, "true or false") ? std::optional(json_.text() == "true") : std::nullopt;
}

std::optional<std::uint64_t> Cursor::unsigned_integer(std::uint64_t maximum) const {
  if (!expect(JsonKind::number, "a whole number")) {
    return std::nullopt;
  }
  const std::string_view digits = json_.text();
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc{} || end != digits.data() + digits.size() || value > maximum) {
    fail(format_text("is {}; expected a whole number from 0 to {}", echo(digits, 40), maximum));
    return std::nullopt;
  }
  return value;
}

void Cursor::report_repeated_names() const {
  std::vector<std::string_view> names;
  names.reserve(json_.size());
  json_.for_each_member([&](std::string_view name, Json) { names.push_back(name); });
  std::ranges::sort(names);
  for (auto again = std::ranges::adjacent_find(names); again != names.end();
       again = std::adjacent_find(std::upper_bound(again, names.end(), *again), names.end())) {
    member(*again, json_).fail("appears more than once; expected each name once");
  }
}

Members::Members(const Cursor& at, std::string_view what) : at_(at), ok_(false) {
  ok_ = at.for_each_member(what, [&](std::string_view name, const Cursor& value) {
    members_.push_back({name, value.json(), false});
  });
}

bool Members::has(std::string_view name) const {
  return std::ranges::find(members_, name, &Member::name) != members_.end();
}

std::optional<Cursor> Members::optional(std::string_view name) {
  known_.push_back(name);
  std::optional<Cursor> first;
  for (Member& member : members_) {  // duplicates were already reported; only the first is read
    if (member.name == name) {
      member.asked = true;
      if (!first) {
        first = at_.member(name, member.value);
      }
    }
  }
  return first;
}

std::optional<Cursor> Members::required(std::string_view name) {
  auto found = optional(name);
  if (!found && ok_) {
    at_.fail(format_text("'{}' is missing", name));
  }
  return found;
}

void Members::finish() {
  for (const Member& member : members_) {
    if (!member.asked && !at_.problems().full()) {
      at_.member(member.name, member.value).fail(format_text("unknown field{}", suggestion(member.name, known_)));
    }
  }
}

}  // namespace anydml::dmlrun
