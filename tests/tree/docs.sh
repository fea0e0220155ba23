#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that the documents are correct: the README's program compiles and prints the documented output, the errors page
# has the library's own messages, and the example of a new operator compiles.
# usage: docs.sh SOURCE BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3
mkdir -p "$work"
cd "$work"

# block FILE FENCE N: the N-th fenced block of that kind, which must exist
block() {
  awk -v fence="\`\`\`$2" -v wanted="$3" '$0 == fence { n++; inside = n == wanted; next } /^```/ { inside = 0 } inside { print; lines++ }
    END { exit lines == 0 }' "$1" || { echo "$1 has no block $3 of $2" >&2 && return 1; }
}
# equal WHAT ACTUAL EXPECTED: two files, neither of which is empty. (A failure inside <(...) would go unnoticed, and two
# empty files are equal.)
equal() {
  if [ ! -s "$2" ] || [ ! -s "$3" ]; then
    echo "$1: $2 or $3 is empty" >&2 && exit 1
  fi
  diff "$3" "$2" || { echo "$1: the document differs" >&2 && exit 1; }
}

sed -n '/^## C and C++/,/^## dmlrun/p' "$source/README.md" >readme.md
block readme.md c 1 >first.c
block readme.md text 1 >expected.txt
# Runs the README's commands in a separate home folder, except for ./run, because the build already exists.
block readme.md sh 1 | sed -e 's:^\./run && ::' -e "s:build/release:$build:" >commands.sh
HOME=$PWD/home bash -eu commands.sh >output.txt
grep -v '^-- ' output.txt >actual.txt
equal README.md actual.txt expected.txt
libraries=(-I"$source/include" -L"$build/lib" -Wl,-rpath,"$build/lib" -lanydml)
c++ -x c++ -Wall -Wextra -Werror first.c -o first_cpp "${libraries[@]}"
./first_cpp >actual.txt
equal "README.md, in C++" actual.txt expected.txt
echo "README.md: the program compiles, in C++ too, and prints the documented output"
block "$source/docs/c.md" c 1 >page.c
cc -Wall -Wextra -Werror page.c -o page "${libraries[@]}"
./page >actual.txt
block "$source/docs/c.md" text 1 >expected.txt
equal docs/c.md actual.txt expected.txt
echo "docs/c.md: the program compiles and prints the documented output"

# The README's times for a command match the command's own help text.
for command in run test; do
  times=0
  said=$("$source/$command" --help | tr '\n' ' ' | tr -s ' ')
  while read -r time; do
    grep -qi "$time minutes" <<<"$said" || { echo "./$command --help does not mention '$time minutes', as README.md does" && exit 1; }
    times=$((times + 1))
  done < <(grep "^| \`./$command\` |" "$source/README.md" | cut -d'|' -f4 | tr ';' '\n' |
    sed -E 's/`[^`]*`//; s/ minutes//; s/^ *| *$//g')
  [ $times -gt 0 ] || { echo "README.md has no time for ./$command" && exit 1; }
done
echo "README.md: ./run and ./test say the same times"

"$build/tests/bad_input_test" | grep '^| ' >messages.txt
grep '^| ' "$source/docs/errors.md" | grep -vE '^\| (code|`ANYDML|case) ?' >documented.txt
grep -v '^| case ' messages.txt >returned.txt
equal docs/errors.md returned.txt documented.txt
echo "docs/errors.md: $(wc -l <messages.txt) messages, as the library returns them"

if [ -x "$build/tests/directml_bad_input_test" ]; then
  "$build/tests/directml_bad_input_test" | grep '^| ' >directml_messages.txt
  sed -n '/^| case | answer/,$p' "$source/docs/directml-errors.md" | tail -n +3 >documented.txt
  equal docs/directml-errors.md directml_messages.txt documented.txt
  echo "docs/directml-errors.md: $(wc -l <directml_messages.txt) messages, as the libraries return them"
  block "$source/docs/directml.md" cpp 1 >expected.txt
  tail -n +2 "$source/examples/directml_modulus.cpp" >actual.txt
  equal docs/directml.md actual.txt expected.txt
  block "$source/docs/directml.md" text 1 >expected.txt
  "$build/examples/directml_modulus" >actual.txt
  equal docs/directml.md actual.txt expected.txt
  echo "docs/directml.md: the program is the example, and prints the documented output"

  block "$source/docs/graphs.md" text 1 >expected.txt
  "$build/examples/directml_graph" >actual.txt
  equal docs/graphs.md actual.txt expected.txt
  block "$source/docs/graphs.md" text 2 >expected.txt
  ANYDML_LOG=graph "$build/examples/directml_graph" 2>&1 >/dev/null | sed -n '/^input0/,/bytes of values$/p' >actual.txt
  equal "docs/graphs.md, the graph" actual.txt expected.txt
  echo "docs/graphs.md: the example prints the documented output, and its graph is the documented one"

  # Runs the commands as typed in a clone, after the installation above; the example stands in for the user's program.
  sed -n '/^## DirectML/,/^## Python/p' "$source/README.md" >readme_directml.md
  ln -sfn "$source/examples" examples
  rm -f directml_commands.sh
  for page in readme_directml.md "$source/docs/directml.md" "$source/docs/porting.md"; do
    block "$page" sh 1 | sed 's:\./your_program:./directml_modulus:' >>directml_commands.sh
  done
  HOME=$PWD/home bash -eu directml_commands.sh >directml_output.txt
  echo "README.md, docs/directml.md, docs/porting.md: the programs compile and run as installed"
fi

if [ -x "$build/examples/networks/network" ]; then
  block "$source/docs/networks.md" cpp 1 >expected.txt
  sed -n '/^Value build/,/^}/p' "$source/examples/networks/superresolution.cpp" >actual.txt
  equal docs/networks.md actual.txt expected.txt
  # Everything but the times, which are the last line.
  block "$source/docs/networks.md" console 1 | tail -n +2 | head -n -2 >expected.txt
  "$build/examples/networks/network" mobilenet --runs 1 | head -n -2 >actual.txt
  equal "docs/networks.md, mobilenet" actual.txt expected.txt
  echo "docs/networks.md: the network is the example's, and gives the documented classes"
fi

if [ -x "$build/tools/dmlrun/dmlrun" ]; then
  block "$source/docs/dmlrun.md" json 1 >model.json
  "$build/tools/dmlrun/dmlrun" model.json >model.txt
  grep -qx "Resource 'Out': 1, 2, nan, nan" model.txt
  echo "docs/dmlrun.md: the model runs"
fi

block "$source/docs/adding-an-operator.md" cpp 1 >max.h
{
  cat max.h
  cat <<'CASES'
using namespace anydml;
static_assert(Max<int>{}(2, 3) == 3 && Max<float>{}(2, -3) == 2);
static_assert(to_bits(Max<float>{}(0.0f, -0.0f)) == 0 && to_bits(Max<float>{}(-0.0f, 0.0f)) == 0);  // docs/numerics.md
static_assert(to_bits(Max<float>{}(-0.0f, -0.0f)) == 0x80000000u);
constexpr float nan_of_max = Max<float>{}(from_bits<float>(0x7fc00000u), 1.0f);
constexpr float nan_of_other = Max<float>{}(1.0f, from_bits<float>(0x7fc00000u));
static_assert(nan_of_max != nan_of_max && nan_of_other != nan_of_other);
CASES
} >max.cpp
c++ -std=c++20 -fsyntax-only -I "$source/src" max.cpp
echo "docs/adding-an-operator.md: the definition compiles, and treats zeros and NaN as docs/numerics.md says"
