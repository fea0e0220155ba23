// SPDX-License-Identifier: MIT
// Procedures that all scripts here share. They print coefficients with all digits, as constants named by their degree.
prec = 300!;
procedure print_constant(name, value) {
  display = hexadecimal!;
  print("inline constexpr f64 " @ name @ " = " @ value @ ";");
  display = decimal!;
};
procedure print_single(name, value) {
  display = hexadecimal!;
  print("inline constexpr f32 " @ name @ " = " @ value @ "f;");
  display = decimal!;
};
procedure print_polynomial(name, p, first, last, step) {
  var i;
  display = decimal!;
  for i from first to last by step do {
    print_constant(name @ i, coeff(p, i));
  };
};
// The same, with the last digits of each coefficient changed, away from 0, by the numbers that search.py found.
procedure print_moved_polynomial(name, p, first, moves) {
  var i, c, place;
  for i from 0 to length(moves) - 1 do {
    c = coeff(p, first + i);
    place = 2^(exponent(c) + precision(c) - 53);
    display = decimal!;
    print_constant(name @ (first + i), c * (1 + moves[i] * place / abs(c)));
  };
};
