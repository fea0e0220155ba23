// SPDX-License-Identifier: MIT
#include "bench.h"

int main(int argc, char** argv) {
  return anydml::bench::run(std::vector<std::string>(argv + 1, argv + argc), {"/proc/self/exe"});
}
