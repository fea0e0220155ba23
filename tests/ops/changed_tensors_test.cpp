// SPDX-License-Identifier: MIT
// Changes one tensor of every operator (support/changed_tensors.h) and calls it through the C API. Either the call is
// rejected with a message, or it runs between guard pages and writes only the elements of its outputs. Each call is
// made with all inputs passed to every run and with all inputs constant; both must give the same results.
//
// ANYDML_CHANGED_DRAWS: how many instances of each operator are drawn. ANYDML_CHANGED_PAIRS: how many pairs of changes
// are applied to each instance. ANYDML_CHANGED_SEED: the seed. ANYDML_CHANGED_OPERATOR: only this operator.
// ANYDML_ADAPTER, ANYDML_CPU_TARGET and ANYDML_THREADS work as usual.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "plan/tensor.h"
#include "support/bits.h"
#include "support/changed_tensors.h"
#include "support/described_call.h"
#include "support/guarded_memory.h"
#include "support/random_operator.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;  // per tensor; operators with larger ones are only compiled
constexpr std::byte kUntouched{0x5a};

struct Random {
  u64 next() {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 33;
  }
  u64 state;
};

struct Counts {
  u64 rejected = 0;
  u64 compiled = 0;  // but not run, because a tensor would need too much memory
  u64 run = 0;
};

// A tensor in guarded memory, placed at its end or at its beginning.
class Operand {
 public:
  explicit Operand(const anydml_tensor& given, std::size_t number, bool at_end)
      : type_(static_cast<DataType>(given.type)) {
    if (given.type == ANYDML_NONE) {
      return;
    }
    const auto result = make_tensor(
        {"test", "tensor"}, {.type = given.type, .rank = given.rank, .sizes = given.sizes, .strides = given.strides});
    is_described_ = result.ok();
    if (!is_described_) {
      return;
    }
    tensor_ = result.value();
    reach_ = reach_of(tensor_);
    fits_ = static_cast<std::size_t>(reach_.end - reach_.first) <= kMaxBytes;
    if (fits_) {
      memory_ = memory_of(number);
      first_ = at_end ? memory_->end() - reach_.end : memory_->begin() - reach_.first;
    }
  }

  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] std::byte* first() const { return first_; }

  // Elements of any kind, including indices that are valid, nearly valid and absurd.
  void fill(u64& state) const {
    for (std::byte* at = begin(); at != end();) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const u64 choice = state >> 60;
      const u64 word = choice < 8 ? (state >> 33) % 4 : choice < 10 ? ~u64{0} : state ^ state >> 29;
      const std::size_t bytes =
          std::min<std::size_t>(std::max<std::size_t>(1, element_size(type_)), static_cast<std::size_t>(end() - at));
      if (choice < 8 && is_float_type()) {
        fill_small_float(at, bytes, word);
      } else {
        std::memcpy(at, &word, bytes);
      }
      at += bytes;
    }
  }

  void clear() const {
    if (memory_ != nullptr) {
      std::memset(window_begin(), std::to_integer<int>(kUntouched),
                  static_cast<std::size_t>(window_end() - window_begin()));
    }
  }

  [[nodiscard]] std::vector<std::byte> bytes() const { return {begin(), end()}; }

  // Marks the bytes of elements; no other byte may change.
  [[nodiscard]] bool has_only_elements_written() const {
    if (memory_ == nullptr || is_four_bits(type_)) {  // four-bit outputs have no gaps
      return true;
    }
    std::vector<bool> owned(static_cast<std::size_t>(window_end() - window_begin()));
    const auto element = element_size(type_);
    const std::int64_t count = element_count(tensor_);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      const std::byte* at = first_;
      for (std::uint32_t d = tensor_.rank; d-- > 0; rest /= tensor_.sizes[d]) {
        at += rest % tensor_.sizes[d] * tensor_.strides[d] * static_cast<std::int64_t>(element);
      }
      std::fill_n(owned.begin() + (at - window_begin()), element, true);
    }
    for (std::size_t i = 0; i < owned.size(); ++i) {
      if (!owned[i] && window_begin()[i] != kUntouched) {
        return false;
      }
    }
    return true;
  }

  // Describes the first element that differs, or returns an empty string. All NaNs are equal.
  [[nodiscard]] std::string difference(const std::vector<std::byte>& before) const {
    const std::vector<std::byte> now = bytes();
    if (now == before || is_four_bits(type_) || type_ == DataType::unknown) {
      return now == before ? "" : "bytes differ";
    }
    std::string text;
    visit_type(type_, [&]<class T>() {
      for (std::size_t at = 0; at + sizeof(T) <= now.size() && text.empty(); at += sizeof(T)) {
        T a;
        T b;
        std::memcpy(&a, now.data() + at, sizeof(T));
        std::memcpy(&b, before.data() + at, sizeof(T));
        if (!same(a, b)) {
          text = "element " + std::to_string(at / sizeof(T)) + " in memory is " + show(a) + ", before " + show(b);
        }
      }
    });
    return text;
  }

 private:
  static GuardedMemory* memory_of(std::size_t number) {
    static std::vector<std::unique_ptr<GuardedMemory>> memories;
    while (memories.size() <= number) {
      memories.push_back(std::make_unique<GuardedMemory>(kMaxBytes));
    }
    return memories[number].get();
  }

  [[nodiscard]] bool is_float_type() const {
    return type_ == DataType::FLOAT32 || type_ == DataType::FLOAT16 || type_ == DataType::FLOAT64;
  }
  static void fill_small_float(std::byte* at, std::size_t bytes, u64 number) {
    const f32 single = static_cast<f32>(number);
    const f64 twice = static_cast<f64>(number);
    const f16 half = narrow<f16>(single);
    std::memcpy(at,
                bytes == 8   ? static_cast<const void*>(&twice)
                : bytes == 4 ? static_cast<const void*>(&single)
                             : &half,
                bytes);
  }

  [[nodiscard]] std::byte* begin() const { return memory_ == nullptr ? nullptr : first_ + reach_.first; }
  [[nodiscard]] std::byte* end() const { return memory_ == nullptr ? nullptr : first_ + reach_.end; }
  // The surrounding bytes that are checked.
  static constexpr std::ptrdiff_t kAround = 64;
  [[nodiscard]] std::byte* window_begin() const {
    return std::max(memory_->begin(), begin() - std::min(kAround, begin() - memory_->begin()));
  }
  [[nodiscard]] std::byte* window_end() const { return end() + std::min(kAround, memory_->end() - end()); }

  DataType type_;
  TensorDesc tensor_;
  Reach reach_;
  GuardedMemory* memory_ = nullptr;
  std::byte* first_ = nullptr;
  bool is_described_ = false;
  bool fits_ = true;
};

struct CompiledReleaser {
  void operator()(anydml_compiled* compiled) const { anydml_compiled_release(compiled); }
};
using Compiled = std::unique_ptr<anydml_compiled, CompiledReleaser>;

class Attempt {
 public:
  Attempt(const schema::Described& described, u64 seed) : op_(described.op->name), call_(described), state_(seed) {
    const bool at_end = (seed & 1) == 0;
    std::size_t number = 0;
    for (anydml_tensor& tensor : call_.inputs) {
      add(inputs_, tensor, number++, at_end);
    }
    for (anydml_tensor& tensor : call_.outputs) {
      add(outputs_, tensor, number++, at_end);
    }
  }

  void run(const std::string& label, Counts& counts) {
    note_case(label.c_str());
    for (const Operand& input : inputs_) {
      input.fill(state_);
    }
    const Compiled plain = compile(label, {}, counts);
    if (plain == nullptr) {
      return;
    }
    std::vector<std::uint32_t> all(call_.inputs.size());
    std::iota(all.begin(), all.end(), 0U);
    std::erase_if(all, [&](std::uint32_t i) { return call_.inputs[i].type == ANYDML_NONE; });
    if (!fits_) {
      ++counts.compiled;
      return;
    }
    std::vector<std::vector<std::byte>> results;
    if (!execute(label, plain.get())) {
      return;
    }
    for (const Operand& output : outputs_) {
      results.push_back(output.bytes());
    }
    ++counts.run;
    const Compiled folded = compile(label + ", all inputs constant", all, counts);
    if (folded == nullptr) {
      ADD_FAILURE() << label << ": with all inputs constant: " << anydml_last_error();
      return;
    }
    if (!execute(label + ", all inputs constant", folded.get())) {
      return;
    }
    ++counts.run;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      EXPECT_EQ(outputs_[i].difference(results[i]), "")
          << label << ": output " << i << " differs with all inputs constant";
    }
  }

 private:
  void add(std::vector<Operand>& to, anydml_tensor& tensor, std::size_t number, bool at_end) {
    to.emplace_back(tensor, number, at_end);
    fits_ = fits_ && to.back().fits();
    tensor.data = to.back().first();
    addresses_.push_back(tensor.data);
  }

  Compiled compile(const std::string& label, const std::vector<std::uint32_t>& constants, Counts& counts) {
    note_case(label.c_str());
    anydml_options options = ANYDML_OPTIONS_INIT;
    options.constants = constants.data();
    options.constant_count = constants.size();
    anydml_compiled* compiled = nullptr;
    const int status =
        anydml_compile_with(&options, op_.c_str(), call_.inputs.data(), call_.inputs.size(), call_.outputs.data(),
                            call_.outputs.size(), call_.attributes.data(), call_.attributes.size(), &compiled);
    if (status != ANYDML_OK) {
      ++counts.rejected;
      EXPECT_NE(std::strstr(anydml_last_error(), op_.c_str()), nullptr) << label << ": " << anydml_last_error();
      EXPECT_EQ(compiled, nullptr);
      if (std::getenv("ANYDML_CHANGED_SHOW") != nullptr) {
        std::printf("%s\n    %s\n", label.c_str(), anydml_last_error());
      }
    }
    return Compiled(compiled);
  }

  bool execute(const std::string& label, const anydml_compiled* compiled) {
    for (const Operand& output : outputs_) {
      output.clear();
    }
    const int status = anydml_compiled_run(compiled, addresses_.data(), inputs_.size(),
                                           addresses_.data() + inputs_.size(), outputs_.size());
    EXPECT_EQ(status, ANYDML_OK) << label << ": " << anydml_last_error();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      EXPECT_TRUE(outputs_[i].has_only_elements_written())
          << label << ": output " << i << ": bytes outside the elements were written";
    }
    return status == ANYDML_OK;
  }

  std::string op_;
  DescribedCall call_;
  u64 state_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  std::vector<void*> addresses_;
  bool fits_ = true;
};

TEST(ChangedTensors, AreRejectedOrComputedWithinTheirMemory) {
  name_case_on_crash();
  const u64 seed = setting("ANYDML_CHANGED_SEED", 43);
  const u64 draws = setting("ANYDML_CHANGED_DRAWS", kSanitized ? 1 : 4);
  const char* const only = std::getenv("ANYDML_CHANGED_OPERATOR");
  const u64 pairs = setting("ANYDML_CHANGED_PAIRS", kSanitized ? 10 : 40);
  Random state{seed};
  Counts counts;
  u64 operators = 0;
  u64 changes = 0;
  for (const facts::Operator& op : facts::operators()) {
    if (only != nullptr && op.name != only) {
      continue;
    }
    // Drawing an instance of these operators takes a second, because their rules constrain so many tensors.
    const u64 wanted = op.name.starts_with("MULTIHEAD_ATTENTION") ? 1 : draws;
    RandomOperators random(seed ^ std::hash<std::string_view>{}(op.name));
    u64 result = 0;
    for (u64 draw = 0; draw < wanted; ++draw) {
      const auto described = random.make(op);
      if (!described) {
        continue;
      }
      ++result;
      const std::string text = case_text(*described);
      Attempt(*described, seed + draw).run(text, counts);
      const std::vector<ChangedOperator> once = changed_tensors(*described, Strides::any);
      for (const ChangedOperator& changed : once) {
        for (const u64 way : {0U, 1U}) {
          Attempt(changed.described, seed + draw + way).run(text + ": " + changed.change, counts);
        }
        ++changes;
      }
      for (u64 i = 0; i < pairs; ++i) {
        const ChangedOperator& first = once[state.next() % once.size()];
        const std::vector<ChangedOperator> twice = changed_tensors(first.described, Strides::any);
        if (twice.empty()) {
          continue;
        }
        const ChangedOperator& second = twice[state.next() % twice.size()];
        Attempt(second.described, state.next()).run(text + ": " + first.change + "; " + second.change, counts);
        ++changes;
      }
    }
    EXPECT_GT(result, 0U) << op.name << " was never drawn";
    ++operators;
  }
  std::printf("%" PRIu64 " operators, %" PRIu64 " changes: %" PRIu64 " calls rejected, %" PRIu64
              " compiled only, %" PRIu64 " run\n",
              operators, changes, counts.rejected, counts.compiled, counts.run);
}

}  // namespace
}  // namespace anydml::test
