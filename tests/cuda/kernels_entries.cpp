// SPDX-License-Identifier: MIT
// Compares programs, and every variant of every entry in every shape, with the scalar definitions on the host.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/kernels_harness.h"

namespace anydml::cuda {
namespace {

std::string kernels_of(const LayoutCheck& check) {
  std::string text;
  for (const KernelShape shape :
       {KernelShape::vector, KernelShape::transposed, KernelShape::strided, KernelShape::interpreted}) {
    const u64 count = check.shapes[static_cast<std::size_t>(shape)];
    text += count == 0 ? "" : (text.empty() ? "" : ", ") + std::to_string(count) + " " + shape_name(shape);
  }
  return text;
}

void check_program(LayoutCheck& check, const Program& program, int rounds) {
  const auto below = [&](u64 maximum) { return static_cast<std::int64_t>(check.random() % maximum); };
  for (std::int64_t length = 0; length <= 70; length += g_quick ? 23 : 1) {
    check.rows_case(program, 1, length);
  }
  for (int i = 0; i < rounds; ++i) {
    check.rows_case(program, 1, 1000 + below(9000));
    check.rows_case(program, 2 + below(9), 16 * (1 + below(20)));
    check.rows_case(program, 2 + below(9), 1 + below(400));
    check.random_case(program);
    if (program.instructions[0].entry == EntryId::ELEMENT_WISE_MODULUS_FLOOR || i % 8 == 0) {
      check.crossed_case(program);
    }
  }
}

// Whether the variant operates on the bits of floats. A NaN's bits are unspecified, and such a variant would expose
// them if it followed another operation.
bool shows_bits(const VariantInfo& variant) {
  return is_float_type(variant.types[0]) &&
         std::string_view(entry_name(variant.entry)).find("_BIT_") != std::string_view::npos;
}

// The variant of SCALE_BIAS for the first input's type.
const VariantInfo* scale_bias_of(const VariantInfo& variant) {
  if (shows_bits(variant)) {
    return nullptr;
  }
  return find_variant_info(EntryId::SCALE_BIAS, std::span(variant.types, 1));
}

}  // namespace

void check_entries() {
  for (u16 id = 0; id < static_cast<u16>(EntryId::count_); ++id) {
    const auto entry = static_cast<EntryId>(id);
    LayoutCheck check(test::kSeed + id);
    LayoutCheck scaled(test::kSeed + 1000 + id);
    u64 fast = 0;
    for (const VariantInfo& variant : all_variants()) {
      if (variant.entry != entry) {
        continue;
      }
      const int rounds = g_quick ? 2 : entry == EntryId::CAST ? 12 : 40;
      const Program program = program_of(variant);
      check_program(check, program, rounds);
      if (const VariantInfo* const scale_bias = scale_bias_of(variant);
          scale_bias != nullptr && entry != EntryId::CAST) {
        fast += find_scaled_kernels(entry, variant.variant) != nullptr ? 1 : 0;
        check_program(scaled, scaled_program_of(*scale_bias, variant), rounds / 4 + 1);
      }
    }
    report(std::string(entry_name(entry)) + " (" + kernels_of(check) + ")", check.elements, check.different);
    if (scaled.elements != 0) {
      report("SCALE_BIAS, " + std::string(entry_name(entry)) + ", " + std::to_string(fast) +
                 " variants in one kernel (" + kernels_of(scaled) + ")",
             scaled.elements, scaled.different);
    }
  }
}

namespace {

// Returns a program over values of any type that stores several of its results.
Program random_program(test::Random& random, std::size_t max_instructions) {
  const auto& variants = all_variants();
  Program program;
  program.name = "a program";
  const std::size_t stores = 1 + random() % (kMaxOperands - 1);
  program.loads = static_cast<u32>(1 + random() % (kMaxOperands - stores));
  std::vector<DataType> values;
  for (u32 i = 0; i < program.loads; ++i) {
    values.push_back(static_cast<DataType>(1 + random() % 11));
  }
  program.types = values;
  const std::size_t wanted = 1 + random() % max_instructions;
  while (program.instructions.size() < wanted) {
    const VariantInfo& variant = variants[random() % variants.size()];
    if (shows_bits(variant)) {
      continue;
    }
    Instruction instruction{
        .entry = variant.entry, .variant = variant.variant, .sources = {}, .attributes = test_attributes()};
    bool found = true;
    for (u32 input = 0; input < variant.inputs; ++input) {
      std::vector<u16> fitting;
      for (std::size_t value = 0; value < values.size(); ++value) {
        if (values[value] == variant.types[input]) {
          fitting.push_back(static_cast<u16>(value));
        }
      }
      found = found && !fitting.empty();
      instruction.sources[input] = fitting.empty() ? u16{0} : fitting[random() % fitting.size()];
    }
    if (found) {
      program.instructions.push_back(instruction);
      program.variants.push_back(&variant);
      values.push_back(variant.output());
    }
  }
  for (std::size_t i = 0; i < stores; ++i) {  // the last result comes first, then any results
    const u64 back = i == 0 ? 0 : random() % program.instructions.size();
    program.stored.push_back(static_cast<u16>(values.size() - 1 - back));
    program.types.push_back(values[program.stored.back()]);
  }
  return program;
}

}  // namespace

void check_programs() {
  LayoutCheck check(test::kSeed + 7);
  test::Random random(test::kSeed + 8);
  u64 instructions = 0;
  for (int i = 0; i < (g_quick ? 20 : 1500); ++i) {
    const Program program = random_program(random, i % 10 == 0 ? 100 : 12);
    instructions += program.instructions.size();
    check.random_case(program);
    check.rows_case(program, 1 + static_cast<std::int64_t>(check.random() % 4),
                    1 + static_cast<std::int64_t>(check.random() % 500));
  }
  report("programs of " + std::to_string(instructions) + " instructions (" + kernels_of(check) + ")", check.elements,
         check.different);
}

// Checks that small tasks compute the scalar definitions of the entries they support.
void check_small_tasks() {
  constexpr std::size_t kBuffers = 24;
  constexpr std::size_t kBytes = kMaxSmallElements * 8 + 64;
  test::Random random(test::kSeed);
  std::byte* device = nullptr;
  CHECK(cudaMalloc(&device, kBuffers * kBytes));
  for (const bool waves : {false, true}) {
    u64 elements = 0;
    u64 different = 0;
    for (int round = 0; round < (g_quick ? 6 : 120); ++round) {
      std::vector<std::byte> host(kBuffers * kBytes);
      std::generate(host.begin(), host.end(), [&] { return static_cast<std::byte>(random()); });
      CHECK(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
      const auto type = static_cast<DataType>(1 + random() % 11);  // one type per round, so that a NaN stays a NaN
      const std::size_t size = element_size(type);
      std::vector<const VariantInfo*> variants;
      for (const VariantInfo& variant : all_variants()) {
        if (takes_small_tasks(variant.entry) && variant.output() == type) {
          variants.push_back(&variant);
        }
      }
      std::vector<SmallTask> tasks;
      u64 read = 0;  // buffers used by the current wave
      u64 written = 0;
      const std::size_t maximum = waves ? (round % 4 == 0 ? kMaxSmallTasks : 1 + random() % 130) : kBuffers / 3;
      const bool one_entry = waves && round % 5 == 0;
      while (tasks.size() < maximum) {
        const VariantInfo& variant = *variants[one_entry ? 0 : random() % variants.size()];
        const std::size_t inputs = variant.inputs;
        const auto count = static_cast<std::int64_t>(random() % 3 == 0   ? 1 + random() % 70
                                                     : random() % 2 == 0 ? 1024
                                                                         : 1 + random() % kMaxSmallElements);
        std::vector<TensorDesc> tensors;
        std::byte* bases[kMaxOperands] = {};
        std::size_t positions[kMaxOperands] = {};
        u64 reads = 0;
        u64 writes = 0;
        bool repeated[kMaxOperands] = {};
        for (std::size_t i = 0; i <= inputs; ++i) {
          const std::size_t buffer = waves ? random() % kBuffers : tasks.size() * 3 + i;
          repeated[i] = !one_entry && i < inputs && random() % 4 == 0 && count > 1;
          positions[i] = buffer * kBytes + (!one_entry && random() % 3 == 0 ? random() % 4 * size : 0);
          tensors.push_back(tensor_of(type, {count}, {repeated[i] ? 0 : 1}));
          (i < inputs ? reads : writes) |= u64{1} << buffer;
          bases[i] = device + positions[i];
        }
        if ((reads & writes) != 0) {
          continue;
        }
        PreparedElements prepared;
        prepare_or_exit(prepared, step_of(program_of(variant), tensors));
        SmallTask task;
        if (!prepared.make_small_task(bases, task)) {
          report_error(name_of(variant) + ": expected a small task");
          break;
        }
        task.begins_wave = ((reads | writes) & written) != 0 || (writes & read) != 0;
        if (task.begins_wave) {
          read = written = 0;
        }
        read |= reads;
        written |= writes;
        tasks.push_back(task);
        for (std::size_t element = 0; element < static_cast<std::size_t>(count); ++element) {
          u64 values[kMaxInputs] = {};
          for (std::size_t i = 0; i < inputs; ++i) {
            std::memcpy(&values[i], &host[positions[i] + (repeated[i] ? 0 : element * size)], size);
          }
          const u64 result = variant.apply(Attributes{}, values);
          std::memcpy(&host[positions[inputs] + element * size], &result, size);
        }
        elements += static_cast<u64>(count);
      }
      CHECK(waves ? launch_in_waves(tasks.data(), static_cast<u32>(tasks.size()), nullptr)
                  : launch_at_once(tasks.data(), static_cast<u32>(tasks.size()), nullptr));
      std::vector<std::byte> found(host.size());
      CHECK(cudaMemcpy(found.data(), device, found.size(), cudaMemcpyDeviceToHost));
      for (std::size_t at = 0; at < host.size(); at += size) {
        u64 wanted = 0;
        u64 got = 0;
        std::memcpy(&wanted, &host[at], size);
        std::memcpy(&got, &found[at], size);
        // NEGATE and ABS preserve a NaN's payload, so after them all NaNs must count as equal.
        if (!same_bits(type, wanted, got) && different++ < 5) {
          std::printf("  round %d: %s, expected %s\n", round, show_bits(type, got).c_str(),
                      show_bits(type, wanted).c_str());
        }
      }
    }
    report(waves ? "small tasks in waves" : "small tasks at once", elements, different);
  }
  CHECK(cudaFree(device));
}

}  // namespace anydml::cuda
