# SPDX-License-Identifier: MIT
# What ./test --soak does, for as many minutes as it is given: a half without sanitizers, where memory can be watched, a
# half with AddressSanitizer and UndefinedBehaviorSanitizer. Another seed each time, which is printed.

# soak_program BUILD SECONDS: the device and the device of the tests that works later, then descriptions.
soak_program() {
  local tests=build/$1/tests seconds=$2 seed end
  seed=$(date +%s)
  for adapter in cpu later; do
    stage "$1: everything at once on $adapter, seed $seed"
    ANYDML_PLUGINS=$PWD/$tests/plugins ANYDML_ADAPTER=$adapter ANYDML_SOAK_SEED=$seed \
      ANYDML_SOAK_SECONDS=$((seconds * 2 / 5)) ASAN_OPTIONS=detect_leaks=0 "$tests/soak_test" --gtest_brief=1
  done
  stage "$1: descriptions at random, from seed $seed on"
  end=$((SECONDS + seconds / 5))
  while [ $SECONDS -lt $end ]; do
    ANYDML_PLUGINS=none ANYDML_FUZZ_SEED=$((seed++)) "$tests/description_fuzz_test" --gtest_brief=1
  done
}

soak_for() {
  local seconds=$(($1 * 60)) name
  for name in release asan; do
    stage "$name: build"
    cmake --preset $name -DANYDML_BUILD_TESTS=ON -DANYDML_BUILD_CUDA=OFF >/dev/null
    cmake --build --preset $name --target soak_test description_fuzz_test anydml_later
  done
  soak_program release $((seconds / 2))
  soak_program asan $((seconds / 2))
}
