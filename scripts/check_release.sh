#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs each file from dist/ in a clean environment under build/dist/check, and uses it there.
# usage: scripts/check_release.sh [PYTHON]...     interpreters for the wheels, if they are not on PATH
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD work=$PWD/build/dist/check
stage() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
fail() { echo "scripts/check_release.sh: $*" >&2 && exit 1; }
rm -rf "$work"
mkdir -p "$work/nowhere"
version=$(sed -nE 's/^project\(anydml VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)

stage "SHA256SUMS"
(cd dist && sha256sum --quiet -c SHA256SUMS)
diff <(cd dist && find . -type f -not -name SHA256SUMS -printf '%P\n' | sort) <(cut -c67- dist/SHA256SUMS | sort) ||
  fail "SHA256SUMS does not match the files in dist/"

# python_of TAG [PYTHON]...: the interpreter that accepts wheels with the tag
python_of() {
  local tag=$1 candidate
  shift
  for candidate in "$@" "python${tag:2:1}.${tag:3}" python3; do
    [ "$("$candidate" -c 'import sys; print("cp%d%d" % sys.version_info[:2])' 2>/dev/null)" = "$tag" ] || continue
    echo "$candidate"
    return
  done
}

cat >"$work/use.py" <<'PYTHON'
import sys
import numpy as np
import anydml

assert anydml.__version__ == sys.argv[1], anydml.__version__
assert anydml.__file__.startswith(sys.prefix), anydml.__file__
assert anydml.modulus_floor(np.float32([5, -5.5]), 0.1).tolist() == [0.09999992698431015, 8.195638656616211e-08]
a = np.arange(-1_000_000, 1_000_000, dtype=np.int32)
assert (anydml.modulus_floor(a, 7) == a % 7).all() and (anydml.modulus_truncate(a, 7) == np.fmod(a, 7)).all()
assert anydml.reduce(np.float32([[1, 2], [3, 4]]), function="SUM", axes=[1], shape=(2, 1)).tolist() == [[3], [7]]
print("anydml", anydml.__version__, "with NumPy", np.__version__, "and Python", sys.version.split()[0], "computes right")
PYTHON
cat >"$work/use_onnx.py" <<'PYTHON'
import numpy as np
import onnx.parser
import anydml.onnx

model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 13]> g (int64[N] t) => (int64[N] y) {'
                                ' c = Constant <value = int64 {24}> () y = Mod (t, c) }')
assert anydml.onnx.run_model(model, [np.array([25, -1])])[0].tolist() == [1, 23]
print("anydml.onnx with onnx", onnx.__version__, "runs a model")
PYTHON

cat >"$work/use_provider.py" <<'PYTHON'
import numpy as np
import onnx.parser
import onnxruntime
import onnxruntime_ep_anydml as provider

onnxruntime.register_execution_provider_library("anydml", provider.get_library_path())
options = onnxruntime.SessionOptions()
options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
options.add_provider_for_devices([one for one in onnxruntime.get_ep_devices() if one.ep_name == provider.get_ep_name()][:1], {})
model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 13]> g (float[N] t) => (float[N] y) { y = Neg (t) }')
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
assert session.run(None, {"t": np.float32([1, -2])})[0].tolist() == [-1, 2]
print("onnxruntime", onnxruntime.__version__, "runs a model in", provider.get_ep_name())
PYTHON

# The README's first example, and the output that it shows
python3 - "$work" <<'PYTHON'
import re
import sys
from pathlib import Path

code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", Path("README.md").read_text(encoding="utf-8"), re.DOTALL).groups()
Path(sys.argv[1], "readme.py").write_text(code, encoding="utf-8")
Path(sys.argv[1], "readme.txt").write_text(output, encoding="utf-8")
PYTHON

# for_older_systems WHEEL FOLDER: the libraries in the folder, which the wheel was unpacked to, need no newer symbols of
# glibc than the wheel's tag says.
for_older_systems() {
  local tag newest
  tag=$(sed -nE 's/.*manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/p' <<<"$1")
  newest=$(find "$2" -name '*.so*' -type f -print0 | xargs -0 objdump -T | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -V | tail -n 1)
  [ -n "$newest" ] || fail "$1 needs no symbol of glibc, which cannot be"
  [ "$(printf '%s\n' "$newest" "$tag" | sort -V | tail -n 1)" = "$tag" ] || fail "$1 needs glibc $newest"
  echo "needs glibc $newest; its tag says $tag"
}

# Only the environment is on PATH: no compiler, no CMake. The current folder is not the repository.
alone() {
  local environment=$1
  shift
  (cd "$work/nowhere" && env -i HOME="$work/nowhere" PATH="$environment/bin" LANG=C.UTF-8 "$@")
}
pip_install() {
  local environment=$1
  shift
  alone "$environment" python -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary :all: "$@"
}

for wheel in dist/anydml-*.whl; do
  name=${wheel##*/}
  stage "$name in an empty environment without a compiler"
  tag=$(cut -d- -f3 <<<"$name")
  python=$(python_of "$tag" "$@")
  [ -n "$python" ] || fail "no Python for $name is on PATH: pass it as an argument"
  grep -qE -- "-manylinux_[0-9]+_[0-9]+_$(uname -m)\.whl$" <<<"$name" || fail "$name has no manylinux tag"
  # libstdc++ is inside the module. If its symbols were visible, other modules' C++ code would share some of them and
  # crash.
  "$python" -m zipfile -e "$wheel" "$work/$tag-unpacked"
  for_older_systems "$name" "$work/$tag-unpacked"
  shared=$(nm -D --defined-only "$work/$tag-unpacked"/anydml/_core.*.so | grep -E '_ZNS[ot]|_ZSt' | grep -E 'locale|ostream|ctype' || true)
  [ -z "$shared" ] || fail "the module of $name exports libstdc++ symbols: $shared"
  "$python" -m venv "$work/$tag"
  ! alone "$work/$tag" python -c 'import shutil, sys; sys.exit(not any(map(shutil.which, ["cc", "c++", "gcc", "cmake"])))' ||
    fail "a compiler is on PATH"
  pip_install "$work/$tag" "$source/$wheel"
  alone "$work/$tag" python -m anydml
  alone "$work/$tag" python "$work/use.py" "$version"
  alone "$work/$tag" python "$work/readme.py" | diff "$work/readme.txt" -
  echo "the README's first example prints what the README shows"
  pip_install "$work/$tag" "$source/${wheel}[onnx]"
  alone "$work/$tag" python "$work/use_onnx.py"
  if pip_install "$work/$tag" 'numpy<2' 2>/dev/null; then # NumPy 1 has wheels for Python 3.12 and older
    alone "$work/$tag" python "$work/use.py" "$version"
  fi
done

for wheel in dist/onnxruntime_ep_anydml-*.whl; do
  name=${wheel##*/}
  stage "$name beside onnxruntime, in an empty environment without a compiler"
  grep -qE -- "-py3-none-manylinux_[0-9]+_[0-9]+_$(uname -m)\.whl$" <<<"$name" || fail "$name is not for every Python, or has no manylinux tag"
  python=$(python_of "$tag" "$@")
  "$python" -m zipfile -e "$wheel" "$work/provider-unpacked"
  for_older_systems "$name" "$work/provider-unpacked"
  # The wheel's own library gives the bits that every operator must have.
  if [ -x build/release/tests/operator_digests ]; then
    library=$(find "$work/provider-unpacked" -name 'libanydml.so*' -type f | head -n 1)
    LD_LIBRARY_PATH=$(dirname "$library") LD_PRELOAD=$library ANYDML_PLUGINS=none build/release/tests/operator_digests
  else
    echo "build/release/tests/operator_digests was not built: the digests of the wheel's library were not compared"
  fi
  "$python" -m venv "$work/provider"
  pip_install "$work/provider" "$source/$wheel" onnx 'onnxruntime>=1.23'
  alone "$work/provider" python "$work/use_provider.py"
done

stage "anydml-$version.tar.gz, compiled by pip"
strays=$(comm -23 <(tar -tzf "dist/anydml-$version.tar.gz" | cut -d/ -f2- | sort) <({ git ls-files && echo PKG-INFO; } | sort))
[ -z "$strays" ] || fail "the source archive has files that git does not track: $strays"
python=$(python_of "$(cut -d- -f3 <<<"${name}")" "$@")
"$python" -m venv "$work/source"
"$work/source/bin/python" -m pip install --quiet --disable-pip-version-check "dist/anydml-$version.tar.gz"
alone "$work/source" python -m anydml
alone "$work/source" python "$work/use.py" "$version"

stage "anydml and anydml-dev, unpacked into a separate root"
tests/install/deb.sh "$source" "$source/build/dist/packages" "$work/deb" "$source/dist"

if command -v apt-get >/dev/null; then # checks that the packages' dependencies are available; installs nothing
  apt-get --simulate --no-install-recommends install ./dist/anydml{,-dev}_*.deb | grep -E '^Inst anydml'
fi

stage "each file of dist/ was installed and used"
