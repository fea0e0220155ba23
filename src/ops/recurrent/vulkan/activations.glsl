// SPDX-License-Identifier: MIT
// The activations of recurrent networks. Those that a network does not use keep their bodies here, which are short, so
// that drivers do not compile all definitions for every network (family.cpp).

uint import_ELEMENT_WISE_CLIP_0(const in uint x, const in uint a, const in uint b, const in uint c) { return x; }
uint import_ACTIVATION_SIGMOID_0(const in uint x) { return x; }
uint import_ELEMENT_WISE_TANH_0(const in uint x) { return x; }
uint import_ACTIVATION_RELU_0(const in uint x) { return x; }
uint import_ACTIVATION_LINEAR_0(const in uint x, const in uint a, const in uint b) { return x; }
uint import_ACTIVATION_HARD_SIGMOID_0(const in uint x, const in uint a, const in uint b) { return x; }
uint import_ACTIVATION_SCALED_TANH_0(const in uint x, const in uint a, const in uint b, const in uint c,
                                     const in uint d) {
  return x;
}
uint import_ACTIVATION_LEAKY_RELU_0(const in uint x, const in uint a) { return x; }
uint import_ACTIVATION_THRESHOLDED_RELU_0(const in uint x, const in uint a) { return x; }
uint import_ACTIVATION_ELU_0(const in uint x, const in uint a, const in uint b) { return x; }
uint import_ACTIVATION_CELU_0(const in uint x, const in uint a, const in uint b, const in uint c, const in uint d) {
  return x;
}
uint import_ACTIVATION_SCALED_ELU_0(const in uint x, const in uint a, const in uint b, const in uint c,
                                    const in uint d) {
  return x;
}
uint import_ACTIVATION_SOFTPLUS_0(const in uint x, const in uint a, const in uint b, const in uint c, const in uint d) {
  return x;
}
uint import_ACTIVATION_PARAMETRIC_SOFTPLUS_0(const in uint x, const in uint a, const in uint b, const in uint c,
                                             const in uint d) {
  return x;
}
uint import_ACTIVATION_SOFTSIGN_0(const in uint x) { return x; }
uint import_ACTIVATION_SHRINK_0(const in uint x, const in uint a, const in uint b, const in uint c) { return x; }
uint import_ACTIVATION_GELU_0(const in uint x) { return x; }

// function: its number in recurrent.def. w: the attributes of its definition.
uint activate(uint function, uint w[4], uint x) {
  switch (function) {
    case 1:
      return import_ACTIVATION_SIGMOID_0(x);
    case 2:
      return import_ELEMENT_WISE_TANH_0(x);
    case 3:
      return import_ACTIVATION_RELU_0(x);
    case 4:
      return import_ACTIVATION_LINEAR_0(x, w[0], w[1]);
    case 5:
      return import_ACTIVATION_HARD_SIGMOID_0(x, w[0], w[1]);
    case 6:
      return import_ACTIVATION_SCALED_TANH_0(x, w[0], w[1], w[2], w[3]);
    case 7:
      return import_ACTIVATION_LEAKY_RELU_0(x, w[0]);
    case 8:
      return import_ACTIVATION_THRESHOLDED_RELU_0(x, w[0]);
    case 9:
      return import_ACTIVATION_ELU_0(x, w[0], w[1]);
    case 10:
      return import_ACTIVATION_CELU_0(x, w[0], w[1], w[2], w[3]);
    case 11:
      return import_ACTIVATION_SCALED_ELU_0(x, w[0], w[1], w[2], w[3]);
    case 12:
      return import_ACTIVATION_SOFTPLUS_0(x, w[0], w[1], w[2], w[3]);
    case 13:
      return import_ACTIVATION_PARAMETRIC_SOFTPLUS_0(x, w[0], w[1], w[2], w[3]);
    case 14:
      return import_ACTIVATION_SOFTSIGN_0(x);
    case 15:
      return import_ACTIVATION_SHRINK_0(x, w[0], w[1], w[2]);
    case 16:
      return import_ACTIVATION_GELU_0(x);
    default:
      return x;  // IDENTITY
  }
}
