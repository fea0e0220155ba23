// SPDX-License-Identifier: MIT
// Straightforward convolutions of one image with nested loops. The innermost loop runs along a row, and the loops visit
// only the taps inside the image. The order of summation differs from the one in docs/numerics.md.

typedef struct {
  long groups, ins, outs;  // channels per group
  long height, width, kernel_height, kernel_width, out_height, out_width;
  long stride, dilation, padding;
} shape;

// Finds the positions i in [0, count) with 0 <= i * stride + shift < size.
static long first_of(long shift, long stride) { return shift >= 0 ? 0 : (-shift + stride - 1) / stride; }
static long end_of(long shift, long stride, long size, long count) {
  const long end = shift >= size ? 0 : (size - shift + stride - 1) / stride;
  return end < count ? end : count;
}

void forward(const shape* s, const float* x, const float* w, float* out) {
  for (long i = 0; i < s->groups * s->outs * s->out_height * s->out_width; ++i) out[i] = 0;
  for (long o = 0; o < s->groups * s->outs; ++o)
    for (long c = 0; c < s->ins; ++c)
      for (long j = 0; j < s->kernel_height; ++j)
        for (long k = 0; k < s->kernel_width; ++k) {
          const float factor = w[((o * s->ins + c) * s->kernel_height + j) * s->kernel_width + k];
          const float* const plane = x + (o / s->outs * s->ins + c) * s->height * s->width;
          const long down = j * s->dilation - s->padding, right = k * s->dilation - s->padding;
          const long end = end_of(down, s->stride, s->height, s->out_height);
          const long last = end_of(right, s->stride, s->width, s->out_width);
          for (long y = first_of(down, s->stride); y < end; ++y) {
            float* const to = out + (o * s->out_height + y) * s->out_width;
            const float* const from = plane + (y * s->stride + down) * s->width + right;
            for (long i = first_of(right, s->stride); i < last; ++i) to[i] += factor * from[i * s->stride];
          }
        }
}

void backward(const shape* s, const float* x, const float* w, float* out) {
  for (long i = 0; i < s->groups * s->outs * s->out_height * s->out_width; ++i) out[i] = 0;
  for (long c = 0; c < s->groups * s->ins; ++c)
    for (long o = 0; o < s->outs; ++o)
      for (long y = 0; y < s->height; ++y)
        for (long i = 0; i < s->width; ++i) {
          const float factor = x[(c * s->height + y) * s->width + i];
          const long down = y * s->stride - s->padding, right = i * s->stride - s->padding;
          const long end = end_of(down, s->dilation, s->out_height, s->kernel_height);
          const long last = end_of(right, s->dilation, s->out_width, s->kernel_width);
          for (long j = first_of(down, s->dilation); j < end; ++j) {
            const long row = (c / s->ins * s->outs + o) * s->out_height + j * s->dilation + down;
            float* const to = out + row * s->out_width + right;
            const float* const taps = w + ((c * s->outs + o) * s->kernel_height + j) * s->kernel_width;
            for (long k = first_of(right, s->dilation); k < last; ++k) to[k * s->dilation] += factor * taps[k];
          }
        }
}
