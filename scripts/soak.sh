# SPDX-License-Identifier: MIT
# Implements ./test --soak, which runs for the given number of minutes: two fifths without sanitizers, where memory use
# can be watched, two fifths with AddressSanitizer and UndefinedBehaviorSanitizer, and one fifth for Python. Each run
# uses a different seed, which is printed.

# soak_program BUILD SECONDS: the CPU, then the tests' asynchronous device, then random descriptions.
soak_program() {
  local tests=build/$1/tests seconds=$2 seed end
  seed=$(date +%s)
  for adapter in cpu later; do
    stage "$1: everything at once on $adapter, seed $seed"
    ANYDML_PLUGINS=$PWD/$tests/plugins ANYDML_ADAPTER=$adapter ANYDML_SOAK_SEED=$seed \
      ANYDML_SOAK_SECONDS=$((seconds * 2 / 5)) ASAN_OPTIONS=detect_leaks=0 "$tests/soak_test" --gtest_brief=1
  done
  stage "$1: random descriptions, starting with seed $seed"
  end=$((SECONDS + seconds / 5))
  while [ $SECONDS -lt $end ]; do
    ANYDML_PLUGINS=none ANYDML_FUZZ_SEED=$((seed++)) "$tests/description_fuzz_test" --gtest_brief=1
  done
}

# soak_python SECONDS: random views of arrays compared with NumPy.
soak_python() {
  local seed end
  seed=$(date +%s)
  stage "python: random views, starting with seed $seed"
  end=$((SECONDS + $1))
  while [ $SECONDS -lt $end ]; do
    (cd build/python && ANYDML_SEED=$((seed++)) venv/bin/python -m pytest -q -p no:cacheprovider ../../tests/python/test_views.py)
  done
}

soak_for() {
  local seconds=$(($1 * 60)) name
  for name in release asan; do
    stage "$name: build"
    cmake --preset $name -DANYDML_BUILD_TESTS=ON -DANYDML_BUILD_CUDA=OFF >/dev/null
    cmake --build --preset $name --target soak_test description_fuzz_test anydml_later
  done
  install_python_package
  soak_program release $((seconds * 2 / 5))
  soak_program asan $((seconds * 2 / 5))
  soak_python $((seconds / 5))
}
