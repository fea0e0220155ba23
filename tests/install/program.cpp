// SPDX-License-Identifier: MIT
#include <anydml/anydml.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

std::vector<std::int32_t> run(const char* op, std::vector<std::int32_t> a, std::vector<std::int32_t> b) {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(a.size())};
  std::vector<std::int32_t> out(a.size());
  const anydml_tensor inputs[] = {{ANYDML_INT32, 1, sizes, nullptr, a.data()},
                                  {ANYDML_INT32, 1, sizes, nullptr, b.data()}};
  const anydml_tensor output = {ANYDML_INT32, 1, sizes, nullptr, out.data()};
  if (anydml_run(nullptr, op, inputs, 2, &output, 1, nullptr, 0) != ANYDML_OK) {
    std::fprintf(stderr, "%s\n", anydml_last_error());
  }
  return out;
}

}  // namespace

int main() {
  const std::vector<std::int32_t> a{7, -7, 7, -7}, b{3, 3, -3, -3};
  const auto floor = run("ELEMENT_WISE_MODULUS_FLOOR", a, b);
  const auto truncate = run("ELEMENT_WISE_MODULUS_TRUNCATE", a, b);
  std::printf("floor %d %d %d %d, truncate %d %d %d %d\n", floor[0], floor[1], floor[2], floor[3], truncate[0],
              truncate[1], truncate[2], truncate[3]);
}
