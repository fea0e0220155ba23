// SPDX-License-Identifier: MIT
// Converts an operator's attributes from Python to the C API. The facts table defines whether a field is a number, a
// sequence, a name or an operator. The library performs all other checks.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.h"
#include "python_api.h"

namespace anydml::python {

class Attributes {
 public:
  Attributes() = default;
  // op is null if the operator is unknown; the library then reports the error.
  Attributes(const facts::Operator* op, const nb::dict& given);
  Attributes(const Attributes&) = delete;  // all_ points into the other members
  Attributes& operator=(const Attributes&) = delete;

  [[nodiscard]] const anydml_attribute* data() const { return all_.data(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  // Appends all names and values to the key, so that calls with equal keys have equal attributes.
  void add_to(std::string& key) const;

 private:
  enum class Form { number, numbers, name_or_number, one_operator, operators };
  struct Number {
    bool is_integer = false;
    bool is_large = false;  // greater than INT64's maximum, but within UINT64
    double real = 0;
    std::int64_t integer = 0;
    std::uint64_t natural = 0;
  };

  static constexpr std::uint32_t array_of(std::uint32_t type) { return type | ANYDML_ARRAY; }

  static const facts::Field* find_field(const facts::Operator* op, std::string_view name);

  // Whether an attribute may be infinite or NaN. This is allowed if it is compared with elements, used as an element or
  // used as an exponent. All other attributes are factors or terms, where such a value would silently turn ordinary
  // elements into NaN.
  static bool may_be_infinite(const facts::Operator& op, const facts::Field& field);

  static void check_finite(const anydml_attribute& attribute, nb::handle value);

  static Form form_of(const facts::Field& field);

  // Chooses a form for a field that is unknown, so that the library can report the error.
  static Form form_of(nb::handle value);

  anydml_attribute make(const std::string& name, nb::handle value, Form form);

  static void set_number(anydml_attribute& attribute, const Number& number);

  // Stores the numbers as integers if all of them are integers, so that none is rounded.
  void set_numbers(anydml_attribute& attribute, const std::string& name, nb::handle value);

  static std::vector<nb::object> items_of(const std::string& name, nb::handle value, const char* expected);

  anydml_operator read_operator(const std::string& name, nb::handle value);

  // Reads a number as Python does: an integer through __index__, any other number through __float__.
  static Number read_number(const std::string& name, nb::handle value, const char* expected);

  static nb::object as_integer(nb::handle value);

  // NumPy's complex numbers have a __float__ that drops the imaginary part.
  static bool is_complex(nb::handle value);

  static void leave_type_errors_aside();

  static void add_bytes(std::string& key, const void* bytes, std::size_t count);

  static void add_attribute(std::string& key, const anydml_attribute& one);

  std::vector<anydml_attribute> all_;
  std::deque<std::string> texts_;  // these are deques because all_ points to their elements, which must not move
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<std::int64_t>> integers_;
  std::deque<std::vector<anydml_operator>> operators_;
  std::vector<std::unique_ptr<Attributes>> nested_;
};

}  // namespace anydml::python
