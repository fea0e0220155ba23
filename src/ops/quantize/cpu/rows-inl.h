// SPDX-License-Identifier: MIT
// The kernels, compiled once per target and once as portable code. This file is included inside each target's
// namespace, so it has no include guard.

inline f32 load_number(const std::byte* base, std::int64_t element, DataType type) {
  if (type == DataType::FLOAT16) {
    f16 half;
    std::memcpy(&half, base + element * 2, sizeof(half));
    return widen(half);
  }
  f32 value;
  std::memcpy(&value, base + element * 4, sizeof(value));
  return value;
}

inline void store_number(std::byte* base, std::int64_t element, DataType type, f32 value) {
  if (type == DataType::FLOAT16) {
    const f16 half = narrow<f16>(value);
    std::memcpy(base + element * 2, &half, sizeof(half));
  } else {
    std::memcpy(base + element * 4, &value, sizeof(value));
  }
}

// Loads `count` elements, starting with `first`, `stride` elements apart.
inline void load_numbers(const std::byte* base, std::int64_t first, std::int64_t stride, std::int64_t count,
                         DataType type, f32* to) {
  if (stride == 1 && type == DataType::FLOAT16) {
    widen_halves(base + first * 2, count, to);
  } else if (stride == 1) {
    std::memcpy(to, base + first * 4, static_cast<std::size_t>(count) * sizeof(f32));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = load_number(base, first + i * stride, type);
    }
  }
}

inline void store_numbers(const f32* from, std::int64_t count, std::byte* base, std::int64_t first, std::int64_t stride,
                          DataType type) {
  if (stride == 1 && type == DataType::FLOAT16) {
    narrow_halves(from, count, base + first * 2);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      store_number(base, first + i * stride, type, from[i]);
    }
  }
}

inline void load_codes(const std::byte* base, std::int64_t first, std::int64_t stride, std::int64_t count,
                       DataType type, i16* to) {
  const i32 flip = code_range(type).flip;
  const bool four_bits = is_four_bits(type);
  if (stride != 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<i16>(load_code(base, first + i * stride, four_bits, flip));
    }
    return;
  }
  if (!four_bits) {
    const auto* const bytes = reinterpret_cast<const u8*>(base + first);
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<i16>(code_of_bits(bytes[i], flip));
    }
    return;
  }
  const std::int64_t before = count != 0 ? first & 1 : 0;  // 1 if the first element is in the high half of a byte
  if (before != 0) {
    to[0] = static_cast<i16>(load_code(base, first, true, flip));
  }
  const auto* const bytes = reinterpret_cast<const u8*>(base + ((first + before) >> 1));
  const std::int64_t pairs = (count - before) / 2;
  i16* const whole = to + before;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < pairs; ++i) {
    whole[2 * i] = static_cast<i16>(code_of_bits(bytes[i] & 15U, flip));
    whole[2 * i + 1] = static_cast<i16>(code_of_bits(static_cast<u32>(bytes[i]) >> 4, flip));
  }
  if ((count - before) % 2 != 0) {
    to[count - 1] = static_cast<i16>(load_code(base, first + count - 1, true, flip));
  }
}

// Four-bit codes are packed and start at a byte boundary. After an odd number of codes, the high half of the last byte
// is 0.
inline void store_codes(const i16* from, std::int64_t count, std::byte* base, std::int64_t first, std::int64_t stride,
                        DataType type) {
  if (!is_four_bits(type)) {
    if (stride == 1) {
      std::byte* const to = base + first;
      ANYDML_INDEPENDENT
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<std::byte>(from[i]);
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      base[first + i * stride] = static_cast<std::byte>(from[i]);
    }
    return;
  }
  auto* const bytes = reinterpret_cast<u8*>(base + (first >> 1));
  const std::int64_t pairs = count / 2;
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < pairs; ++i) {
    bytes[i] = static_cast<u8>((from[2 * i] & 15) | (from[2 * i + 1] & 15) << 4);
  }
  if (count % 2 != 0) {
    bytes[pairs] = static_cast<u8>(from[count - 1] & 15);
  }
}

inline void dequantize_block(const i16* codes, std::int64_t count, i32 zero, f32 scale, std::byte* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    const f32 value = number_of_code(codes[i], zero, scale);
    std::memcpy(to + i * 4, &value, sizeof(value));
  }
}

// Consecutive blocks, each with a scale and a zero point. kLength: the length of a block, or 0 if it is not one of the
// common lengths.
template <std::int64_t kLength>
void dequantize_blocks(const i16* codes, std::int64_t blocks, std::int64_t length, const i16* zeros, const f32* scales,
                       std::byte* to) {
  const std::int64_t each = kLength != 0 ? kLength : length;
  for (std::int64_t block = 0; block < blocks; ++block) {
    dequantize_block(codes + block * each, each, zeros[block], scales[block], to + block * each * 4);
  }
}

inline void dequantize_each(const i16* codes, std::int64_t count, const i16* zeros, const f32* scales, std::byte* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    const f32 value = number_of_code(codes[i], zeros[i], scales[i]);
    std::memcpy(to + i * 4, &value, sizeof(value));
  }
}

inline void quantize_block(const std::byte* from, std::int64_t count, i32 zero, f32 scale, CodeRange range,
                           i16* codes) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    f32 value;
    std::memcpy(&value, from + i * 4, sizeof(value));
    codes[i] = static_cast<i16>(quantized_code(value, scale, zero, range));
  }
}

inline void quantize_each(const std::byte* from, std::int64_t count, const i16* zeros, const f32* scales,
                          CodeRange range, i16* codes) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    f32 value;
    std::memcpy(&value, from + i * 4, sizeof(value));
    codes[i] = static_cast<i16>(quantized_code(value, scales[i], zeros[i], range));
  }
}

// A position in the loops, as an element offset into each operand.
class QuantizePosition {
 public:
  QuantizePosition(const QuantizeStep& step, std::int64_t element) : step_(step) {
    for (std::uint32_t loop = step.rank; loop-- > 0; element /= step.loops[loop].size) {
      indices_[loop] = element % step.loops[loop].size;
      for (std::uint32_t i = 0; i < kQuantizeOperands; ++i) {
        offsets_[i] += indices_[loop] * step.loops[loop].strides[i];
      }
    }
  }

  [[nodiscard]] std::int64_t offset(QuantizeOperand operand) const { return offsets_[operand]; }
  // Returns the number of remaining iterations of the innermost loop.
  [[nodiscard]] std::int64_t left() const { return step_.loops[step_.rank - 1].size - indices_[step_.rank - 1]; }

  // Returns how many times the innermost loop can run completely, from this position, before any loop outside the
  // second innermost loop advances.
  [[nodiscard]] std::int64_t whole_loops() const {
    const std::uint32_t around = step_.rank - 2;
    return step_.rank < 2 || indices_[step_.rank - 1] != 0 ? 0 : step_.loops[around].size - indices_[around];
  }

  // Advances by at most the remaining count.
  void advance(std::int64_t count) { advance_loop(step_.rank - 1, count); }
  void advance_loops(std::int64_t count) { advance_loop(step_.rank - 2, count); }

 private:
  void advance_loop(std::uint32_t loop, std::int64_t count) {
    move(loop, count);
    while (indices_[loop] == step_.loops[loop].size && loop != 0) {
      move(loop, -indices_[loop]);
      move(--loop, 1);
    }
  }

  void move(std::uint32_t loop, std::int64_t count) {
    indices_[loop] += count;
    for (std::uint32_t i = 0; i < kQuantizeOperands; ++i) {
      offsets_[i] += count * step_.loops[loop].strides[i];
    }
  }

  const QuantizeStep& step_;
  std::int64_t indices_[kMaxQuantizeLoops] = {};
  std::int64_t offsets_[kQuantizeOperands] = {};
};

// The scales and zero points for elements of the innermost loop: either one of each for all elements, or one of each
// for every element.
struct QuantizeParameters {
  bool is_one;  // the same for all elements
  f32 scale;
  i32 zero;
};

class QuantizeChunks {
 public:
  QuantizeChunks(const QuantizeStep& step, std::byte* const* operands, std::byte* scratch)
      : step_(step),
        inner_(step.loops[step.rank - 1]),
        operands_(operands),
        numbers_(reinterpret_cast<f32*>(scratch)),
        scales_(numbers_ + kQuantizeChunk),
        codes_(reinterpret_cast<i16*>(scales_ + kQuantizeChunk)),
        zeros_(codes_ + kQuantizeChunk),
        input_in_order_(is_in_order(step, kQuantizeInput)),
        output_in_order_(is_in_order(step, kQuantizeOutput)),
        has_blocks_(input_in_order_ && output_in_order_ && inner_.strides[kQuantizeScale] == 0 &&
                    inner_.strides[kQuantizeZero] == 0) {}

  void run(std::int64_t first, std::int64_t end) {
    QuantizePosition position(step_, first);
    for (std::int64_t at = first; at < end; at += kQuantizeChunk) {
      const std::int64_t count = std::min(kQuantizeChunk, end - at);
      if (step_.is_quantize != 0) {
        quantize(position, at, count);
      } else {
        dequantize(position, at, count);
      }
    }
  }

 private:
  QuantizeParameters parameters(const QuantizePosition& position, std::int64_t count) {
    const std::byte* const scale = operands_[kQuantizeScale];
    const std::byte* const zero = operands_[kQuantizeZero];
    const std::int64_t scale_stride = inner_.strides[kQuantizeScale];
    const std::int64_t zero_stride = inner_.strides[kQuantizeZero];
    if (count == 1 || (scale_stride == 0 && zero_stride == 0)) {
      const i32 flip = code_range(step_.codes).flip;
      return {.is_one = true,
              .scale = load_number(scale, position.offset(kQuantizeScale), step_.scales),
              .zero = step_.has_zero == 0
                          ? step_.zero
                          : load_code(zero, position.offset(kQuantizeZero), is_four_bits(step_.codes), flip)};
    }
    load_parameters(position, inner_, count);
    return {.is_one = false, .scale = 0, .zero = 0};
  }

  // Loads the parameters for `count` iterations of a loop into the buffers.
  void load_parameters(const QuantizePosition& position, const QuantizeLoop& loop, std::int64_t count) {
    load_numbers(operands_[kQuantizeScale], position.offset(kQuantizeScale), loop.strides[kQuantizeScale], count,
                 step_.scales, scales_);
    if (step_.has_zero == 0) {
      std::fill_n(zeros_, count, static_cast<i16>(step_.zero));
    } else {
      load_codes(operands_[kQuantizeZero], position.offset(kQuantizeZero), loop.strides[kQuantizeZero], count,
                 step_.codes, zeros_);
    }
  }

  // Processes all remaining whole blocks, for contiguous tensors. Returns the number of processed elements.
  std::int64_t dequantize_blocks_at(QuantizePosition& position, std::int64_t part, std::int64_t count,
                                    std::byte* computed) {
    const std::int64_t length = inner_.size;
    const std::int64_t blocks = std::min(position.whole_loops(), (count - part) / length);
    if (!has_blocks_ || blocks < 2) {
      return 0;
    }
    load_parameters(position, step_.loops[step_.rank - 2], blocks);
    const i16* const codes = codes_ + part;
    switch (length) {
      case 16:
        dequantize_blocks<16>(codes, blocks, length, zeros_, scales_, computed);
        break;
      case 32:
        dequantize_blocks<32>(codes, blocks, length, zeros_, scales_, computed);
        break;
      case 64:
        dequantize_blocks<64>(codes, blocks, length, zeros_, scales_, computed);
        break;
      default:
        dequantize_blocks<0>(codes, blocks, length, zeros_, scales_, computed);
    }
    position.advance_loops(blocks);
    return blocks * length;
  }

  void dequantize(QuantizePosition& position, std::int64_t at, std::int64_t count) {
    const std::byte* const from = operands_[kQuantizeInput];
    std::byte* const to = operands_[kQuantizeOutput];
    const bool direct = output_in_order_ && step_.numbers == DataType::FLOAT32;
    if (input_in_order_) {
      load_codes(from, at, 1, count, step_.codes, codes_);
    }
    const auto computed_at = [&](std::int64_t part) {
      return direct ? to + (at + part) * 4 : reinterpret_cast<std::byte*>(numbers_ + part);
    };
    for (std::int64_t part = 0; part < count;) {
      if (const std::int64_t done = dequantize_blocks_at(position, part, count, computed_at(part)); done != 0) {
        part += done;
        continue;
      }
      const std::int64_t length = std::min(position.left(), count - part);
      i16* const codes = codes_ + part;
      if (!input_in_order_) {
        load_codes(from, position.offset(kQuantizeInput), inner_.strides[kQuantizeInput], length, step_.codes, codes);
      }
      if (const auto [is_one, scale, zero] = parameters(position, length); is_one) {
        dequantize_block(codes, length, zero, scale, computed_at(part));
      } else {
        dequantize_each(codes, length, zeros_, scales_, computed_at(part));
      }
      if (!output_in_order_) {
        store_numbers(numbers_ + part, length, to, position.offset(kQuantizeOutput), inner_.strides[kQuantizeOutput],
                      step_.numbers);
      }
      position.advance(length);
      part += length;
    }
    if (output_in_order_ && !direct) {
      store_numbers(numbers_, count, to, at, 1, step_.numbers);
    }
  }

  void quantize(QuantizePosition& position, std::int64_t at, std::int64_t count) {
    const std::byte* const from = operands_[kQuantizeInput];
    std::byte* const to = operands_[kQuantizeOutput];
    const bool direct = input_in_order_ && step_.numbers == DataType::FLOAT32;
    const CodeRange range = code_range(step_.codes);
    if (input_in_order_ && !direct) {
      load_numbers(from, at, 1, count, step_.numbers, numbers_);
    }
    for (std::int64_t part = 0; part < count;) {
      const std::int64_t length = std::min(position.left(), count - part);
      if (!input_in_order_) {
        load_numbers(from, position.offset(kQuantizeInput), inner_.strides[kQuantizeInput], length, step_.numbers,
                     numbers_ + part);
      }
      const std::byte* const taken =
          direct ? from + (at + part) * 4 : reinterpret_cast<const std::byte*>(numbers_ + part);
      if (const auto [is_one, scale, zero] = parameters(position, length); is_one) {
        quantize_block(taken, length, zero, scale, range, codes_ + part);
      } else {
        quantize_each(taken, length, zeros_, scales_, range, codes_ + part);
      }
      if (!output_in_order_) {
        store_codes(codes_ + part, length, to, position.offset(kQuantizeOutput), inner_.strides[kQuantizeOutput],
                    step_.codes);
      }
      position.advance(length);
      part += length;
    }
    if (output_in_order_) {
      store_codes(codes_, count, to, at, 1, step_.codes);
    }
  }

  const QuantizeStep& step_;
  const QuantizeLoop& inner_;
  std::byte* const* operands_;
  f32* numbers_;
  f32* scales_;
  i16* codes_;
  i16* zeros_;
  bool input_in_order_;
  bool output_in_order_;
  bool has_blocks_;  // the innermost loop has a single scale and zero point
};

void run_chunks(const QuantizeStep& step, std::int64_t first, std::int64_t end, std::byte* const* operands,
                std::byte* scratch) noexcept {
  QuantizeChunks(step, operands, scratch).run(first, end);
}
