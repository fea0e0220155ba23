// SPDX-License-Identifier: MIT
#include "ops/product/cpu/coded_pack.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/product/coded.h"
#include "ops/product/cpu/coded_kernels.h"

namespace anydml {
namespace {

using namespace coded_pack_operands;

constexpr std::int64_t kWordBytes = 4;

class CodedPackRun final : public cpu::PreparedStep {
 public:
  CodedPackRun(const CodedPackStep& step, std::int64_t panels)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.form.panels(), panels))), step_(step), panels_(panels) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * panels_;
    const std::int64_t end = std::min(first + panels_, step_.form.panels());
    for (std::int64_t panel = first; panel < end; ++panel) {
      pack(panel, operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "panels of %u columns, %u-bit codes", step_.form.width, step_.form.bits);
  }

 private:
  // A code or zero point as it is stored in the packed form.
  [[nodiscard]] u32 code_at(const std::byte* base, std::int64_t element) const {
    const bool four = step_.form.bits == 4;
    const auto byte = static_cast<u32>(base[four ? element >> 1 : element]);
    return (four ? byte >> (4 * (element & 1)) & 15U : byte) ^ step_.flip;
  }

  void pack(std::int64_t panel, std::byte* const* operands) const {
    const CodedForm& form = step_.form;
    const CodedPanel at = coded_panel(form, operands[kPacked], panel);
    const auto writable = [](const std::byte* from) { return const_cast<std::byte*>(from); };  // in the output
    const std::int64_t first = panel * form.width;
    const std::int64_t count = std::min<std::int64_t>(form.width, form.columns - first);
    if (count < form.width) {
      std::memset(writable(at.codes), 0, static_cast<std::size_t>(form.code_bytes()));
      std::memset(writable(at.scales), 0, static_cast<std::size_t>(form.scale_bytes()));
      std::memset(writable(at.zeros), 0, static_cast<std::size_t>(form.zero_bytes()));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = first + i;
      if (form.bits == 4) {
        pack_words(operands[kCodes], column, writable(at.codes) + i * kWordBytes);
      } else {
        pack_bytes(operands[kCodes], column, writable(at.codes) + i);
      }
      const std::int64_t of_scale = column / step_.columns_of_scale;
      for (std::int64_t block = 0; block < form.blocks(); ++block) {
        const std::int64_t scale = block * step_.scales.k + of_scale * step_.scales.column;
        const auto size = form.scale_size();
        std::memcpy(writable(at.scales) + (block * form.width + i) * size, operands[kScales] + scale * size,
                    static_cast<std::size_t>(size));
        if (form.has_zeros != 0) {
          writable(at.zeros)[block * form.width + i] =
              static_cast<std::byte>(code_at(operands[kZeros], block * step_.zeros.k + of_scale * step_.zeros.column));
        }
      }
    }
  }

  void pack_bytes(const std::byte* codes, std::int64_t column, std::byte* to) const {
    const std::int64_t element = column * step_.codes.column;
    for (std::int64_t k = 0; k < step_.form.depth; ++k, to += step_.form.width) {
      *to = static_cast<std::byte>(code_at(codes, element + k * step_.codes.k));
    }
  }

  void pack_words(const std::byte* codes, std::int64_t column, std::byte* to) const {
    const std::int64_t element = column * step_.codes.column;
    const std::int64_t depth = step_.form.depth;
    const std::int64_t step = step_.form.width * kWordBytes;
    std::int64_t k = 0;
    // If the codes of a column are consecutive, four bytes are a word.
    if (step_.codes.k == 1 && element % 2 == 0) {
      const std::byte* from = codes + element / 2;
      for (; k + kCodesOfWord <= depth; k += kCodesOfWord, from += kWordBytes, to += step) {
        u32 word;
        std::memcpy(&word, from, sizeof(word));
        word ^= step_.flip * 0x11111111U;
        std::memcpy(to, &word, sizeof(word));
      }
    }
    for (; k < depth; k += kCodesOfWord, to += step) {
      u32 word = 0;
      for (std::int64_t i = 0; i < std::min(kCodesOfWord, depth - k); ++i) {
        word |= code_at(codes, element + (k + i) * step_.codes.k) << (4 * i);
      }
      std::memcpy(to, &word, sizeof(word));
    }
  }

  CodedPackStep step_;
  std::int64_t panels_;  // per piece
};

}  // namespace

f32 coded_element(const CodedForm& form, const std::byte* packed, std::int64_t k, std::int64_t column) {
  const CodedPanel panel = coded_panel(form, packed, column / form.width);
  const std::int64_t i = column % form.width;
  i32 code = 0;
  if (form.bits == 4) {
    u32 word;
    std::memcpy(&word, panel.codes + (k / kCodesOfWord * form.width + i) * kWordBytes, sizeof(word));
    code = static_cast<i32>(word >> (4 * (k % kCodesOfWord)) & 15U);
  } else {
    code = static_cast<i32>(panel.codes[k * form.width + i]);
  }
  const std::int64_t of_block = k / form.block * form.width + i;
  const i32 zero = form.has_zeros != 0 ? static_cast<i32>(panel.zeros[of_block]) : form.zero;
  return coded_weight(code, zero, coded_scale(form, panel, of_block), form.half_weights != 0);
}

std::unique_ptr<cpu::PreparedStep> prepare_coded_pack(const Step& flat) {
  CodedPackStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  constexpr std::int64_t kElementsOfPiece = 1 << 16;
  return std::make_unique<CodedPackRun>(
      step, std::max<std::int64_t>(1, kElementsOfPiece / (step.form.depth * step.form.width)));
}

}  // namespace anydml
