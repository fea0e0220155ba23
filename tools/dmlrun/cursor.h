// SPDX-License-Identifier: MIT
// Reads a JSON document: a value with its path, and a list of problems. Reading continues after an error, so that one
// pass finds all errors.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace anydml::dmlrun {

struct Problem {
  std::string path;  // such as "resources.A.initialValues[3]"; empty for the whole document
  std::string reason;
};

class Problems {
 public:
  void add(std::string path, std::string reason);
  [[nodiscard]] bool none() const { return list_.empty(); }
  [[nodiscard]] std::span<const Problem> list() const { return list_; }
  [[nodiscard]] bool any_under(std::string_view path) const;  // at the path or within it
  // A full list ignores further errors, because a file can have millions of them.
  [[nodiscard]] bool full() const { return list_.size() >= kMax; }

 private:
  static constexpr std::size_t kMax = 100;
  std::vector<Problem> list_;
};

// Returns one step of a path: ".name" or, for ambiguous names, ["a b"]. Control characters are escaped.
[[nodiscard]] std::string path_step(std::string_view name);

// Prepares text from a file for a message: quoted and shortened, with control characters escaped.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Returns "; did you mean 'x'?" with the nearest name, or an empty string.
[[nodiscard]] std::string suggestion(std::string_view written, std::span<const std::string_view> names);

class Cursor {
 public:
  Cursor(Json root, Problems& problems) : json_(root), problems_(&problems) {}

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] std::string path() const;
  [[nodiscard]] Problems& problems() const { return *problems_; }
  void fail(std::string reason) const;

  // The parent must outlive the child.
  [[nodiscard]] Cursor member(std::string_view name, Json value) const { return {*this, name, kNoIndex, value}; }
  [[nodiscard]] Cursor item(std::size_t index, Json value) const { return {*this, {}, index, value}; }

  // These functions report an error and return nothing if the value is wrong. `what` names the expected value.
  [[nodiscard]] bool expect(JsonKind kind, std::string_view what) const;
  [[nodiscard]] std::optional<std::string_view> string(std::string_view what = "a string") const;
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<std::uint64_t> unsigned_integer(
      std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max()) const;

  // Calls use(Cursor) for each item of an array. Reports any other value and returns false.
  template <class Use>
  bool for_each_item(std::string_view what, Use use) const {
    if (!expect(JsonKind::array, what)) {
      return false;
    }
    std::size_t index = 0;
    json_.for_each_item([&](Json value) { use(item(index++, value)); });
    return true;
  }
  // Calls use(std::string_view, Cursor) for each member of an object. Reports repeated names.
  template <class Use>
  bool for_each_member(std::string_view what, Use use) const {
    if (!expect(JsonKind::object, what)) {
      return false;
    }
    report_repeated_names();
    json_.for_each_member([&](std::string_view name, Json value) { use(name, member(name, value)); });
    return true;
  }

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);
  Cursor(const Cursor& parent, std::string_view name, std::size_t index, Json value)
      : json_(value), problems_(parent.problems_), parent_(&parent), name_(name), index_(index) {}
  void report_repeated_names() const;

  Json json_;
  Problems* problems_;
  const Cursor* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = kNoIndex;
};

// An object with known members, which are requested by name; finish() reports all members that were not requested.
class Members {
 public:
  Members(const Cursor& at, std::string_view what);

  [[nodiscard]] bool ok() const { return ok_; }  // whether the value is an object
  [[nodiscard]] std::optional<Cursor> optional(std::string_view name);
  [[nodiscard]] std::optional<Cursor> required(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] const Cursor& at() const { return at_; }
  void finish();

 private:
  struct Member {
    std::string_view name;
    Json value;
    bool asked;
  };
  const Cursor& at_;
  bool ok_;
  std::vector<Member> members_;
  std::vector<std::string_view> known_;
};

[[nodiscard]] std::string_view kind_text(JsonKind kind);  // "a string"

}  // namespace anydml::dmlrun
