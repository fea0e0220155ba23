/* SPDX-License-Identifier: MIT */
#include <anydml/anydml.h>
#include <stdio.h>

int main(void) {
  const int64_t sizes[] = {4};
  float a[] = {7, -7, 7, -7}, b[] = {3, 3, -3, -3}, floor[4], truncate[4];
  const anydml_tensor ta = {ANYDML_FLOAT32, 1, sizes, NULL, a};
  const anydml_tensor tb = {ANYDML_FLOAT32, 1, sizes, NULL, b};
  const anydml_tensor tf = {ANYDML_FLOAT32, 1, sizes, NULL, floor};
  const anydml_tensor tt = {ANYDML_FLOAT32, 1, sizes, NULL, truncate};
  if (anydml_modulus_floor(&ta, &tb, &tf) != ANYDML_OK || anydml_modulus_truncate(&ta, &tb, &tt) != ANYDML_OK) {
    fprintf(stderr, "%s\n", anydml_last_error());
    return 1;
  }
  printf("floor %g %g %g %g, truncate %g %g %g %g\n", floor[0], floor[1], floor[2], floor[3], truncate[0], truncate[1],
         truncate[2], truncate[3]);
  return 0;
}
