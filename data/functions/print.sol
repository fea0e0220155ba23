// SPDX-License-Identifier: MIT
// Procedures that all scripts in this folder share. They print coefficients with all digits, as constants named after
// their degree.
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
// Like print_polynomial, but changes the last digits of each coefficient by the numbers that search.py found. Positive
// numbers increase its magnitude.
procedure print_moved_polynomial(name, p, first, moves) {
  var i, c, place;
  for i from 0 to length(moves) - 1 do {
    c = coeff(p, first + i);
    place = 2^(exponent(c) + precision(c) - 53);
    display = decimal!;
    print_constant(name @ (first + i), c * (1 + moves[i] * place / abs(c)));
  };
};
