// SPDX-License-Identifier: MIT
// What all scripts here share: coefficients as constants named by their degree, all digits of them.
prec = 300!;
procedure print_constant(name, value) {
  display = hexadecimal!;
  print("inline constexpr f64 " @ name @ " = " @ value @ ";");
  display = decimal!;
};
procedure print_polynomial(name, p, first, last, step) {
  var i;
  display = decimal!;
  for i from first to last by step do {
    print_constant(name @ i, coeff(p, i));
  };
};
