// SPDX-License-Identifier: MIT
// Changes the bytes of models at random and loads the results. Only the errors in onnx/values/errors.h may occur; a
// sanitizer finds the rest.
//
//   model_fuzz [--run] [--rounds N] [--seconds N] [--seed N] [--largest BYTES] [model or folder]...
//
// With --run, models that load are also prepared and run with a few elements for each input; a run ends after a second.
// Round k of a seed is always the same for the same files: --seed S --first K --rounds 1 repeats it. The round is
// printed if it fails, also after a signal. --save FILE writes the changed model of the last round.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <random>

#include "onnx/message_bytes.h"
#include "onnx/tested_model.h"

namespace anydml::onnx {
namespace {

using Random = std::mt19937_64;

// ---- Changes --------------------------------------------------------------------------------------------------------

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// One field of a message in a model.
struct Field {
  std::size_t begin;  // of the tag
  std::size_t value;  // of the value, after its length
  std::size_t end;
  std::size_t length_at;  // of the length; the same as value if there is none
};

bool read_number(const std::string& bytes, std::size_t& at, std::size_t end, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    number |= static_cast<std::uint64_t>(byte & 127U) << shift;
    if (byte < 128) {
      return true;
    }
  }
  return false;
}

// Finds the fields of a message, or nothing if the bytes are not a message.
std::vector<Field> fields_in(const std::string& bytes, std::size_t begin, std::size_t end) {
  std::vector<Field> fields;
  while (begin < end) {
    std::size_t at = begin;
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    if (!read_number(bytes, at, end, tag) || tag >> 3U == 0) {
      return {};
    }
    Field field{.begin = begin, .value = at, .end = 0, .length_at = at};
    switch (tag & 7U) {
      case 0:
        if (!read_number(bytes, at, end, length)) {
          return {};
        }
        field.end = at;
        break;
      case 1:
        field.end = at + 8;
        break;
      case 2:
        if (!read_number(bytes, at, end, length) || length > end - at) {
          return {};
        }
        field.value = at;
        field.end = at + length;
        break;
      case 5:
        field.end = at + 4;
        break;
      default:
        return {};
    }
    if (field.end > end) {
      return {};
    }
    fields.push_back(field);
    begin = field.end;
  }
  return fields;
}

std::string number_bytes(std::uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7U) {
    bytes.push_back(static_cast<char>(number | 128U));
  }
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

std::uint64_t interesting_number(Random& random) {
  static constexpr std::uint64_t kNumbers[] = {0,  1,  2,   3,   7,    8,          16,         21,
                                               22, 27, 127, 128, 4096, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  switch (below(random, 4)) {
    case 0:
      return ~std::uint64_t{0} - below(random, 4);
    case 1:
      return std::uint64_t{1} << below(random, 64);
    case 2:
      return random();
    default:
      return kNumbers[below(random, std::size(kNumbers))];
  }
}

// Changes a field deep in the model, and corrects the lengths of the messages around it, so that the change reaches the
// code behind the parser.
class FieldChange {
 public:
  FieldChange(std::string& bytes, const std::string& other, Random& random)
      : bytes_(bytes), other_(other), random_(random) {}

  void apply() {
    std::size_t begin = 0;
    std::size_t end = bytes_.size();
    std::vector<Field> way;
    while (way.size() < 12) {
      const std::vector<Field> fields = fields_in(bytes_, begin, end);
      if (fields.empty()) {
        break;
      }
      way.push_back(fields[below(random_, fields.size())]);
      begin = way.back().value;
      end = way.back().end;
      if (way.back().value == way.back().length_at || below(random_, 5) == 0) {
        break;
      }
    }
    if (way.empty()) {
      return;
    }
    const Field last = way.back();
    way.pop_back();
    replace(last, changed(last), way);
  }

 private:
  // The new bytes of the field.
  std::string changed(const Field& field) {
    const std::string whole = bytes_.substr(field.begin, field.end - field.begin);
    const std::string tag = bytes_.substr(field.begin, field.length_at - field.begin);
    const bool has_length = field.value != field.length_at;
    switch (below(random_, 8)) {
      case 0:
        return {};
      case 1:
        return whole + whole;
      case 2: {  // many copies
        std::string many;
        for (std::size_t i = below(random_, 40); i > 0 && many.size() < 100'000; --i) {
          many += whole;
        }
        return many;
      }
      case 3:  // a field of another model, or of another place in this one
        return taken(other_);
      case 4:
        return whole + taken(bytes_);
      case 5: {  // a different field number
        std::string moved = whole;
        moved[0] = static_cast<char>((static_cast<unsigned char>(moved[0]) & 7U) | (1 + below(random_, 15)) << 3U);
        return moved;
      }
      case 6:
        if (has_length) {
          std::string value = bytes_.substr(field.value, field.end - field.value);
          value.resize(below(random_, value.size() + 9));
          return tag + number_bytes(value.size()) + value;
        }
        [[fallthrough]];
      default:
        if (!has_length) {
          return tag + number_bytes(interesting_number(random_));
        }
        std::string packed = number_bytes(interesting_number(random_)) + number_bytes(interesting_number(random_));
        return tag + number_bytes(packed.size()) + packed;
    }
  }

  // A random field of a random message.
  std::string taken(const std::string& from) {
    std::size_t begin = 0;
    std::size_t end = from.size();
    std::string result;
    for (int depth = 0; depth < 12; ++depth) {
      const std::vector<Field> fields = fields_in(from, begin, end);
      if (fields.empty()) {
        break;
      }
      const Field field = fields[below(random_, fields.size())];
      if (field.end - field.begin < 100'000) {
        result = from.substr(field.begin, field.end - field.begin);
      }
      if (field.value == field.length_at || below(random_, 4) == 0) {
        break;
      }
      begin = field.value;
      end = field.end;
    }
    return result;
  }

  void replace(const Field& field, const std::string& with, const std::vector<Field>& around) {
    std::string now = with;
    std::size_t begin = field.begin;
    std::size_t end = field.end;
    for (std::size_t i = around.size(); i-- > 0;) {
      const Field& outer = around[i];
      const std::string value =
          bytes_.substr(outer.value, begin - outer.value) + now + bytes_.substr(end, outer.end - end);
      now = bytes_.substr(outer.begin, outer.length_at - outer.begin) + number_bytes(value.size()) + value;
      begin = outer.begin;
      end = outer.end;
    }
    bytes_.replace(begin, end - begin, now);
  }

  std::string& bytes_;
  const std::string& other_;
  Random& random_;
};

void change(std::string& bytes, const std::string& other, Random& random) {
  const std::size_t at = below(random, bytes.size());
  switch (below(random, 12)) {
    case 0:
      if (!bytes.empty()) {
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 1U << below(random, 8));
      }
      break;
    case 1:
      if (!bytes.empty()) {
        bytes[at] = static_cast<char>(random());
      }
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.erase(at, below(random, 16));
      break;
    case 4:
      bytes.insert(at, number_bytes(interesting_number(random)));
      break;
    case 5: {  // a piece of another model
      const std::size_t from = below(random, other.size());
      const std::string piece = other.substr(from, below(random, 200));
      bytes.replace(at, below(random, 2) == 0 ? piece.size() : 0, piece);
      break;
    }
    default:
      FieldChange(bytes, other, random).apply();
  }
}

// ---- The program ----------------------------------------------------------------------------------------------------

struct FuzzSettings {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t rounds = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t largest = 1 << 20;
  std::string save;
  bool is_run = false;
};

struct Corpus {
  std::vector<std::string> models;
  std::vector<std::string> folders;
};

char failure[100];  // written by the signal handler, which may not format text

void report(int signal) {
  static_cast<void>(!write(STDERR_FILENO, failure, std::char_traits<char>::length(failure)));
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));
}

void add_file(Corpus& corpus, const std::filesystem::path& path, const FuzzSettings& settings) {
  if (std::filesystem::file_size(path) > settings.largest) {
    return;
  }
  std::ifstream file(path, std::ios::binary);
  corpus.models.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  corpus.folders.push_back(path.parent_path().empty() ? "." : path.parent_path().string());
}

void add_path(Corpus& corpus, const std::filesystem::path& path, const FuzzSettings& settings) {
  if (!std::filesystem::is_directory(path)) {
    add_file(corpus, path, settings);
    return;
  }
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().extension() == ".onnx") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());  // the order of a folder's entries is not defined
  for (const auto& one : found) {
    add_file(corpus, one, settings);
  }
}

int fuzz(const Corpus& corpus, const FuzzSettings& settings) {
  const auto start = Clock::now();
  std::size_t intact = 0;
  for (std::size_t i = 0; i < corpus.models.size(); ++i) {
    intact += load(corpus.models[i], corpus.folders[i], settings.is_run) ? 1U : 0U;
  }
  std::uint64_t round = settings.first;
  std::uint64_t loaded = 0;
  double slowest = 0;
  std::uint64_t slowest_round = 0;
  for (; round - settings.first < settings.rounds; ++round) {
    const auto begin = Clock::now();
    if (std::chrono::duration<double>(begin - start).count() > settings.seconds) {
      break;
    }
    std::snprintf(failure, sizeof failure, "failed: --seed %llu --first %llu --rounds 1\n",
                  static_cast<unsigned long long>(settings.seed), static_cast<unsigned long long>(round));
    std::seed_seq mixed{settings.seed, settings.seed >> 32U, round, round >> 32U};
    Random random(mixed);
    const std::size_t position = below(random, corpus.models.size());
    std::string bytes = corpus.models[position];
    const std::string& other = corpus.models[below(random, corpus.models.size())];
    for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
      change(bytes, other, random);
    }
    if (!settings.save.empty()) {
      std::ofstream(settings.save, std::ios::binary) << bytes;
    }
    try {
      loaded += load(bytes, corpus.folders[position], settings.is_run) ? 1U : 0U;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s%s\n", failure, error.what());
      return 1;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds > slowest) {
      slowest = seconds;
      slowest_round = round;
    }
  }
  std::printf("%zu of %zu models load; %llu of %llu changed ones do; the slowest round, %llu, took %.3f s; seed %llu\n",
              intact, corpus.models.size(), static_cast<unsigned long long>(loaded),
              static_cast<unsigned long long>(round - settings.first), static_cast<unsigned long long>(slowest_round),
              slowest, static_cast<unsigned long long>(settings.seed));
  return 0;
}

int run(const std::vector<std::string>& words) {
  FuzzSettings settings;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto number = [&] { return std::strtoull(words.at(++i).c_str(), nullptr, 10); };
    if (words[i] == "--seed") {
      settings.seed = number();
    } else if (words[i] == "--first") {
      settings.first = number();
    } else if (words[i] == "--rounds") {
      settings.rounds = number();
    } else if (words[i] == "--seconds") {
      settings.seconds = static_cast<double>(number());
    } else if (words[i] == "--largest") {
      settings.largest = number();
    } else if (words[i] == "--run") {
      settings.is_run = true;
    } else if (words[i] == "--save") {
      settings.save = words.at(++i);
    } else {
      paths.push_back(words[i]);
    }
  }
  Corpus corpus;
  corpus.models.push_back(test::small_model().data());
  corpus.folders.emplace_back(".");
  for (const std::string& path : paths) {
    add_path(corpus, path, settings);
  }
  if (settings.rounds == std::numeric_limits<std::uint64_t>::max() && settings.seconds > 1e18) {
    settings.rounds = 10'000;
  }
  check_status(anydml_set_interrupt(is_late, nullptr));
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    std::signal(signal, report);
  }
  return fuzz(corpus, settings);
}

}  // namespace
}  // namespace anydml::onnx

int main(int count, char** words) {
  try {
    return anydml::onnx::run(std::vector<std::string>(words + 1, words + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_fuzz: %s\n", error.what());
    return 2;
  }
}
