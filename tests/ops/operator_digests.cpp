// SPDX-License-Identifier: MIT
// Compares whole operators with their earlier results, on whatever target and device the library uses: random instances
// of every implemented operator, over random elements that include special values, run through the C API. The file
// data/digests/operator_digests.txt has one line for each operator: its name, the number of cases, the number of
// elements of their outputs, and a digest of the results of each case. In a digest all NaNs are equal, and +0 and -0
// differ. Digests do not prove that results are right, which is the task of the oracles; they prove that targets and
// devices agree.
//
//   operator_digests                            compares; names each operator and case that differs, and where
//   operator_digests --operator NAME            the same for one operator
//   operator_digests --operator NAME --case N   prints one case: the operator, and every element of its outputs
//   operator_digests --update                   writes the digests of all operators, or only of --operator NAME
//
// To add an operator, implement it, run --update, and commit the table. Cases depend only on the operator's name and
// their number, so the lines of other operators do not change. An implemented operator that is not in the table is an
// error. If an operator's line changes although its meaning did not, some kernel gives different bits.
//
// ANYDML_ADAPTER, ANYDML_CPU_TARGET and ANYDML_THREADS work as usual. --table FILE: a different table.
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/bits.h"
#include "support/described_call.h"
#include "support/random_operator.h"
#include "support/sanitizers.h"

namespace {

using namespace anydml;
using namespace anydml::test;

// The rules for attention constrain so many tensors that drawing an instance takes a second, and a minute with
// sanitizers. Attention has its own tests.
int cases_of(std::string_view op) {
  constexpr int kCases = 32;
  return !op.starts_with("MULTIHEAD_ATTENTION") ? kCases : kSanitized ? 0 : 3;
}
constexpr int kDraws = 60;                     // per case, until one is accepted
constexpr std::uint64_t kMaxElements = 60000;  // of all tensors of a case together
constexpr std::int64_t kMiddleSizes[] = {1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 70};
constexpr std::int64_t kLargeSizes[] = {1, 1, 2, 3, 100, 257, 1000, 4099};

// Random sequences that are the same everywhere, unlike those of the standard library's distributions.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 operator()() {
    state_ += 0x9e37'79b9'7f4a'7c15;
    u64 mixed = (state_ ^ (state_ >> 30)) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
    return mixed ^ (mixed >> 31);
  }
  u64 below(u64 limit) { return (*this)() % limit; }

 private:
  u64 state_;
};

u64 mix(u64 sum, u64 word) {
  const u64 turned = (sum ^ word) * 0x9e37'79b9'7f4a'7c15 + 0x2545'f491'4f6c'dd1d;
  return turned ^ (turned >> 29);
}

u64 seed_of(std::string_view name, int number) {
  u64 seed = static_cast<u64>(number) + 1;
  for (const char letter : name) {
    seed = mix(seed, static_cast<unsigned char>(letter));
  }
  return seed;
}

std::uint64_t elements_of(const schema::GivenTensor& tensor) {
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const auto size = static_cast<std::uint64_t>(tensor.sizes[i]);
    count = size != 0 && count > kMaxElements / size ? kMaxElements + 1 : count * size;
  }
  return count;
}

// ---- Cases ----------------------------------------------------------------------------------------------------------

// A tensor's memory; elements have any strides.
struct Memory {
  std::vector<std::byte> bytes;
  std::int64_t first = 0;  // the element at index 0, in bytes
};

struct Case {
  std::optional<schema::Described> described;
  std::unique_ptr<DescribedCall> call;
  std::vector<Memory> inputs;
  std::vector<Memory> outputs;
};

// Dimensions in any order, with gaps, and reversed; an input may repeat a dimension.
void choose_strides(schema::GivenTensor& tensor, bool is_output, Random& random) {
  std::uint32_t order[kMaxRank];
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const auto position = static_cast<std::uint32_t>(random.below(i + 1));
    order[i] = order[position];
    order[position] = i;
  }
  std::int64_t stride = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const std::uint32_t axis = order[i];
    if (random.below(3) == 0) {
      stride += static_cast<std::int64_t>(random.below(3));
    }
    if (!is_output && random.below(8) == 0) {
      tensor.strides[axis] = 0;
      continue;
    }
    tensor.strides[axis] = random.below(4) == 0 ? -stride : stride;
    stride *= std::max<std::int64_t>(1, tensor.sizes[axis]);
  }
  tensor.has_strides = true;
}

Memory memory_of(const anydml_tensor& tensor) {
  // For four-bit elements this is more than enough.
  const auto size = static_cast<std::int64_t>(element_alignment(static_cast<DataType>(tensor.type)));
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t packed = 1;
  for (int i = tensor.rank; i-- > 0;) {
    const std::int64_t stride = tensor.strides != nullptr ? tensor.strides[i] : packed;
    packed *= tensor.sizes[i];
    const std::int64_t reach = std::max<std::int64_t>(0, tensor.sizes[i] - 1) * stride;
    (reach < 0 ? low : high) += reach;
  }
  Memory memory;
  memory.bytes.resize(static_cast<std::size_t>((high - low + 1) * size));
  memory.first = -low * size;
  return memory;
}

enum class Numbers { tame, mixed, any };

// The bits of an element of a type. Some integers are small, so that they can serve as indices.
template <class T>
u64 element_bits(Numbers numbers, Random& random) {
  const u64 choice = random.below(16);
  if (numbers == Numbers::any || (numbers == Numbers::mixed && choice < 3)) {
    return bits_of(from_raw<T>(random()));
  }
  if constexpr (is_float<T>) {
    using Parts = FloatParts<T>;
    if (numbers == Numbers::mixed && choice == 3) {
      constexpr u64 kMagnitudes[] = {
          0, 0, 1, Parts::kFraction, Parts::kHidden, Parts::kInfinity - 1, Parts::kInfinity, Parts::kQuietNan};
      return bits_of(from_raw<T>(kMagnitudes[random.below(8)] | (random.below(2) != 0 ? Parts::kSign : 0)));
    }
    const auto eighths = static_cast<compute_t<T>>(static_cast<i64>(random.below(129)) - 64);
    return bits_of(narrow<T>(eighths / 8));
  } else {
    const i64 small = static_cast<i64>(random.below(8)) - (std::is_signed_v<T> ? 3 : 0);
    return bits_of(static_cast<T>(small));
  }
}

void fill(Memory& memory, DataType type, Numbers numbers, Random& random) {
  visit_type(type, [&]<class T>() {
    for (std::size_t at = 0; at < memory.bytes.size(); at += sizeof(T)) {
      const T element = from_raw<T>(element_bits<T>(numbers, random));
      std::memcpy(memory.bytes.data() + at, &element, sizeof(T));
    }
  });
}

// Replaces the first input's type, wherever it occurs, with another type that the library supports; the
// documentation lists fewer types.
void change_types(schema::Described& described, std::uint32_t types, Random& random) {
  std::uint32_t from = 0;
  auto to = static_cast<std::uint32_t>(1 + random.below(kDataTypeLimit - 1));
  while ((types >> to & 1) == 0) {
    to = to % std::uint32_t{kDataTypeLimit - 1} + 1;
  }
  for (schema::Argument& argument : described.arguments) {
    for (schema::GivenTensor& tensor : argument.tensors) {
      from = from == 0 ? tensor.type : from;
      tensor.type = tensor.type == from ? to : tensor.type;
    }
  }
}

// A draw is accepted or rejected identically everywhere, because the CPU always decides, no matter which device runs
// it.
std::optional<schema::Described> draw(const facts::Operator& op, const anydml_operator_info& info, int number,
                                      Random& random) {
  const anydml_device* const cpu = anydml_find_device("cpu");
  for (int i = 0; i < kDraws; ++i) {
    const bool small = number % 3 == 0 || i > kDraws / 2;
    std::span<const std::int64_t> sizes = RandomOperators::kSmallSizes;
    if (!small) {
      sizes = number % 3 == 1 ? std::span<const std::int64_t>(kMiddleSizes) : kLargeSizes;
    }
    RandomOperators operators(random(), sizes);
    auto result = operators.make(op, facts::kNewestLevel, small ? 4000 : 100);
    std::uint64_t elements = 0;
    for (std::size_t field = 0; result && field < op.fields.size(); ++field) {
      for (schema::GivenTensor& tensor : result->arguments[field].tensors) {
        elements += elements_of(tensor);
        if (random.below(4) == 0) {
          choose_strides(tensor, facts::is_output(op.fields[field].kind), random);
        }
      }
    }
    if (!result || elements > kMaxElements) {
      continue;
    }
    schema::Described changed = *result;
    if (info.types != 0 && random.below(3) == 0) {
      change_types(changed, info.types, random);
    }
    for (schema::Described* const one : {&changed, &*result}) {
      if (DescribedCall(*one).is_taken(cpu)) {
        return *one;
      }
    }
  }
  return std::nullopt;
}

Case make_case(const facts::Operator& op, const anydml_operator_info& info, int number) {
  Random random(seed_of(op.name, number));
  Case result;
  result.described = draw(op, info, number, random);
  if (!result.described) {
    return result;
  }
  result.call = std::make_unique<DescribedCall>(*result.described);
  const auto numbers = static_cast<Numbers>(random.below(8) == 0 ? 2 : random.below(2));
  for (anydml_tensor& tensor : result.call->inputs) {
    Memory& memory = result.inputs.emplace_back();
    if (tensor.type != ANYDML_NONE) {
      memory = memory_of(tensor);
      fill(memory, static_cast<DataType>(tensor.type), numbers, random);
      tensor.data = memory.bytes.data() + memory.first;
    }
  }
  for (anydml_tensor& tensor : result.call->outputs) {
    Memory& memory = result.outputs.emplace_back();
    if (tensor.type != ANYDML_NONE) {
      memory = memory_of(tensor);
      tensor.data = memory.bytes.data() + memory.first;
    }
  }
  return result;
}

// Calls use(bits) for each element of an output, row by row.
template <class Use>
std::uint64_t for_each_element(const anydml_tensor& tensor, const Use& use) {
  std::int64_t strides[kMaxRank];
  std::int64_t packed = 1;
  for (int i = tensor.rank; i-- > 0;) {
    strides[i] = tensor.strides != nullptr ? tensor.strides[i] : packed;
    packed *= tensor.sizes[i];
  }
  const auto count = tensor.type == ANYDML_NONE ? 0 : packed;
  for (std::int64_t number = 0; number < count; ++number) {
    std::int64_t offset = 0;
    std::int64_t rest = number;
    for (int i = tensor.rank; i-- > 0; rest /= tensor.sizes[i]) {
      offset += rest % tensor.sizes[i] * strides[i];
    }
    if (is_four_bits(static_cast<DataType>(tensor.type))) {
      const auto byte = static_cast<unsigned>(static_cast<const std::byte*>(tensor.data)[offset >> 1]);
      use(byte >> (4 * (offset & 1)) & 15U);
      continue;
    }
    use(visit_type(static_cast<DataType>(tensor.type), [&]<class T>() {
      T element;
      std::memcpy(&element, static_cast<const std::byte*>(tensor.data) + offset * static_cast<std::int64_t>(sizeof(T)),
                  sizeof(T));
      if constexpr (is_float<T>) {
        element = is_nan(element) ? quiet_nan<T>() : element;
      }
      return bits_of(element);
    }));
  }
  return static_cast<std::uint64_t>(count);
}

// ---- The table ------------------------------------------------------------------------------------------------------

struct Line {
  std::uint64_t elements = 0;
  std::vector<std::string> digests;  // "-": no instance was found for the case

  [[nodiscard]] std::string text(std::string_view name) const {
    std::string result = std::string(name) + " " + std::to_string(digests.size()) + " " + std::to_string(elements);
    for (const std::string& digest : digests) {
      result += " " + digest;
    }
    return result;
  }
};
using Table = std::map<std::string, Line>;

constexpr const char* kHead =
    "# SPDX-License-Identifier: MIT\n"
    "# Digests of whole operators, which tests/ops/operator_digests.cpp makes and explains: the operator, its cases,\n"
    "# the elements of their outputs, and a digest for each case. operator_digests --update writes this file.\n";

Table read_table(const std::string& path) {
  Table table;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    std::string name;
    std::size_t cases = 0;
    if (text.empty() || text.front() == '#') {
      continue;
    }
    Line line;
    words >> name >> cases >> line.elements;
    for (std::string digest; words >> digest;) {
      line.digests.push_back(digest);
    }
    table[name] = line;
  }
  return table;
}

// Writes the operators in the order of DirectML's operator numbers.
bool write_table(const std::string& path, const Table& table) {
  std::ofstream file(path);
  file << kHead;
  for (const facts::Operator& op : facts::operators()) {
    if (const auto line = table.find(std::string(op.name)); line != table.end()) {
      file << line->second.text(op.name) << "\n";
    }
  }
  return static_cast<bool>(file.flush());
}

// ---- Running --------------------------------------------------------------------------------------------------------

// --upwards: the caller of each operator sets the rounding mode to upward, which must not change any bit.
bool rounds_upwards = false;

// The digest of a case; adds its number of elements to `elements`.
std::string digest_of(const Case& result, std::uint64_t& elements) {
  if (!result.described) {
    return "-";
  }
  std::fesetround(rounds_upwards ? FE_UPWARD : FE_TONEAREST);
  const int status = result.call->run(nullptr);
  std::fesetround(FE_TONEAREST);
  if (status != ANYDML_OK) {
    return status == ANYDML_UNSUPPORTED ? "lacking" : "failed";  // only the CPU accepted the draw
  }
  u64 sum = 1;
  for (const anydml_tensor& output : result.call->outputs) {
    sum = mix(sum, output.type);
    const std::uint64_t count = for_each_element(output, [&sum](u64 bits) { sum = mix(sum, bits); });
    sum = mix(sum, count);
    elements += count;
  }
  char text[16];
  std::snprintf(text, sizeof(text), "%08" PRIx32, static_cast<std::uint32_t>(sum ^ (sum >> 32)));
  return text;
}

std::string description(const schema::Described& described) {
  std::string text(described.op->name);
  for (std::size_t i = 0; i < described.op->fields.size(); ++i) {
    for (const schema::GivenTensor& tensor : described.arguments[i].tensors) {
      text += " " + std::string(described.op->fields[i].name) + "=" +
              std::string(type_name(static_cast<DataType>(tensor.type))) + "[";
      for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) {
        text += (axis == 0 ? "" : ",") + std::to_string(tensor.sizes[axis]);
        text += tensor.has_strides ? " by " + std::to_string(tensor.strides[axis]) : "";
      }
      text += "]";
    }
  }
  return text + " " + schema::attributes_text(*described.op, described.arguments);
}

std::vector<std::string> lines_of(const Case& result) {
  std::vector<std::string> lines;
  for (std::size_t output = 0; output < result.call->outputs.size(); ++output) {
    std::uint64_t number = 0;
    for_each_element(result.call->outputs[output], [&](u64 bits) {
      char text[80];
      std::snprintf(text, sizeof(text), "output %zu, element %" PRIu64 ": %016" PRIx64, output, number++, bits);
      lines.emplace_back(text);
    });
  }
  return lines;
}

// The lines that this program prints for a case with the generic kernels.
std::vector<std::string> generic_lines(const std::string& name, int number) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length < 0) {
    return {};
  }
  const std::string command = "ANYDML_ADAPTER=cpu ANYDML_CPU_TARGET=generic ANYDML_THREADS=1 '" +
                              std::string(path, static_cast<std::size_t>(length)) + "' --operator " + name +
                              " --case " + std::to_string(number);
  std::vector<std::string> lines;
  std::FILE* const pipe = popen(command.c_str(), "r");
  char text[4096];
  while (pipe != nullptr && std::fgets(text, sizeof(text), pipe) != nullptr) {
    std::string line(text);
    line.erase(line.find_last_not_of('\n') + 1);
    if (line.starts_with("output ")) {
      lines.push_back(line);
    }
  }
  if (pipe != nullptr) {
    pclose(pipe);
  }
  return lines;
}

void report(const std::string& name, int number, const Case& result, const std::string& found,
            const std::string& expected) {
  std::printf("%s, case %d: the digest is %s; expected %s\n", name.c_str(), number, found.c_str(), expected.c_str());
  if (!result.described) {
    return;
  }
  std::printf("  %s\n", description(*result.described).c_str());
  if (found == "failed") {
    std::printf("  %s\n", anydml_last_error());
    return;
  }
  const std::vector<std::string> own = lines_of(result);
  const std::vector<std::string> generic = generic_lines(name, number);
  const auto [here, there] = std::ranges::mismatch(own, generic);
  if (here == own.end()) {
    std::printf("  the generic kernels give the same, so the case or its meaning changed\n");
  } else {
    std::printf("  %s\n  generic kernels: %s\n", here->c_str(), there == generic.end() ? "nothing" : there->c_str());
  }
}

struct Options {
  std::string table = ANYDML_OPERATOR_DIGESTS;
  std::string name;
  int number = -1;
  int every = 1;  // the step from one case to the next
  bool update = false;
};

int print_case(const facts::Operator& op, const anydml_operator_info& info, int number) {
  const Case result = make_case(op, info, number);
  std::uint64_t elements = 0;
  const std::string digest = digest_of(result, elements);
  std::printf("%s\n", result.described ? description(*result.described).c_str() : "no instance was found");
  if (digest == "failed") {
    std::printf("%s\n", anydml_last_error());
    return 1;
  }
  std::printf("digest %s\n", digest.c_str());
  for (const std::string& line : result.described ? lines_of(result) : std::vector<std::string>()) {
    std::printf("%s\n", line.c_str());
  }
  return 0;
}

int run(const Options& options) {
  Table table = read_table(options.table);
  int faults = 0;
  int lacking = 0;
  std::uint64_t cases = 0;
  std::uint64_t elements = 0;
  bool found_name = options.name.empty();
  for (const facts::Operator& op : facts::operators()) {
    const std::string name(op.name);
    const anydml_operator_info* const info = anydml_find_operator(name.c_str());
    if (!options.name.empty() && options.name != name) {
      continue;
    }
    found_name = true;
    const auto known = table.find(name);
    if (info == nullptr || info->is_built == 0) {
      if (known != table.end() && options.update) {
        table.erase(known);
      } else if (known != table.end() || !options.name.empty()) {
        std::printf("%s is not built\n", name.c_str());
        ++faults;
      }
      continue;
    }
    if (options.number >= 0) {
      return print_case(op, *info, options.number);
    }
    Line line;
    const int drawn = cases_of(name);
    if (drawn == 0) {
      continue;
    }
    int empty = 0;
    int generated_cases = 0;
    for (int number = 0; number < drawn; number += options.every) {
      ++generated_cases;
      const Case result = make_case(op, *info, number);
      line.digests.push_back(digest_of(result, line.elements));
      const std::string& found = line.digests.back();
      empty += result.described ? 0 : 1;
      if (found == "lacking" && !options.update) {
        std::printf("skipped: %s\n", anydml_last_error());
        ++lacking;
        continue;  // the device may support the types of another case
      }
      const bool differs = known != table.end() && (static_cast<std::size_t>(number) >= known->second.digests.size() ||
                                                    known->second.digests[static_cast<std::size_t>(number)] != found);
      if (found == "failed" || (differs && !options.update)) {
        report(name, number, result, found,
               differs ? known->second.digests.at(static_cast<std::size_t>(number)) : "one");
        ++faults;
        break;  // one failure per operator is enough
      }
    }
    if (empty == generated_cases && options.every == 1) {
      std::printf("%s: no case was found\n", name.c_str());
      ++faults;
    }
    if (known == table.end() && !options.update) {
      std::printf("%s has no digests: operator_digests --update adds them\n", name.c_str());
      ++faults;
    }
    if (options.update) {
      table[name] = line;
    }
    cases += line.digests.size();
    elements += line.elements;
  }
  if (!found_name) {
    std::printf("%s is not an operator\n", options.name.c_str());
    return 1;
  }
  if (options.update && faults == 0 && !write_table(options.table, table)) {
    std::printf("%s cannot be written\n", options.table.c_str());
    return 1;
  }
  std::printf("%" PRIu64 " cases, %" PRIu64 " elements: %d operators differ, the device lacks %d cases\n", cases,
              elements, faults, lacking);
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    const bool has_value = i + 1 < count;
    if (option == "--update") {
      options.update = true;
    } else if (option == "--operator" && has_value) {
      options.name = arguments[++i];
    } else if (option == "--case" && has_value) {
      options.number = std::atoi(arguments[++i]);
    } else if (option == "--every" && has_value) {
      options.every = std::max(std::atoi(arguments[++i]), 1);
    } else if (option == "--upwards") {
      rounds_upwards = true;
    } else if (option == "--table" && has_value) {
      options.table = arguments[++i];
    } else {
      std::printf(
          "usage: operator_digests [--operator NAME [--case N]] [--every N] [--update] "
          "[--table FILE] [--upwards]\n");
      return 2;
    }
  }
  if (options.update && options.every != 1) {
    std::printf("--update requires every case\n");
    return 2;
  }
  return run(options);
}
