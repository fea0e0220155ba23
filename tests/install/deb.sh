#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the two .debs, or uses the ones in a folder, unpacks them into a separate root, and examines them as the system
# would. With the runtime package alone, ldconfig finds libanydml and libanydml_onnx but none of the libraries with
# unprefixed names, and dmlrun runs. With the development package, a C program and a DirectML program compile; the
# latter runs with the package's rpath and, if built without it, with LD_LIBRARY_PATH. Together the packages contain
# exactly the files of an installation.
# usage: deb.sh SOURCE BUILD WORK [FOLDER]
set -euo pipefail
source=$1 build=$2 work=$3 folder=${4-}
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "$*" >&2 && exit 1; }
if [ -z "$folder" ]; then
  cpack -G DEB --config "$build/CPackConfig.cmake" -B "$PWD" >cpack.log || { cat cpack.log >&2 && exit 1; }
  folder=$PWD
fi
runtime=$(ls "$folder"/anydml_*.deb) dev=$(ls "$folder"/anydml-dev_*.deb)
for deb in "$runtime" "$dev"; do
  dpkg-deb -I "$deb" | grep -E '^ (Package|Version|Architecture|Depends|Recommends)'
done
version=$(dpkg-deb -f "$runtime" Version)
[ "$(dpkg-deb -f "$dev" Depends)" = "anydml (= $version)" ] || fail "anydml-dev does not depend on anydml $version"
grep -q directx-headers-dev <<<"$(dpkg-deb -f "$dev" Recommends)" || fail "anydml-dev does not recommend directx-headers-dev"
! grep -q directx-headers-dev <<<"$(dpkg-deb -f "$runtime" Recommends)" || fail "anydml recommends headers"

# The runtime package
dpkg-deb -x "$runtime" root
strays=$(find root -path '*/share/doc' -prune -o \( -name '*.h' -o -name '*.pc' -o -name '*.cmake' -o -name libanydml.so -o -name libanydml_onnx.so \) -print)
[ -z "$strays" ] || fail "files for development in the runtime package: $strays"
mkdir -p root/etc
printf '/usr/lib\n' >root/etc/ld.so.conf
PATH=$PATH:/usr/sbin:/sbin
ldconfig -r root 2>/dev/null
listed=$(ldconfig -r root -p)
rm -r root/etc
# Here-strings, not pipes: grep -q exits early, and pipefail would report the writer's broken pipe.
grep -q 'libanydml\.so\.0' <<<"$listed"
grep -q 'libanydml_onnx\.so\.0' <<<"$listed"
if grep -E 'lib(directml|d3d12|dxcore)\.so' <<<"$listed"; then
  fail "ldconfig lists libraries that must not be on the default path"
fi
echo "ldconfig -p: libanydml.so.0 and libanydml_onnx.so.0, and no libdirectml, libd3d12 or libdxcore"
if [ -x root/usr/bin/dmlrun ]; then
  [ "$(root/usr/bin/dmlrun --version)" = "dmlrun $version" ]
  grep -q "Resource 'Out': 6, 10, -2" <<<"$(root/usr/bin/dmlrun root/usr/share/doc/anydml/examples/models/add.json)"
  echo "dmlrun: runs an example from the runtime package"
fi

# Both packages
dpkg-deb -x "$dev" dev
compiled=$(grep -rlP '^\x7fELF' dev || true)
[ -z "$compiled" ] || fail "compiled code in the development package: $compiled"
cp -a dev/. root
files() { (cd "$1" && find . -not -type d | sort); }
cmake --install "$build" --prefix "$PWD/installed" >/dev/null
diff <(files installed) <(files root/usr) || fail "the packages and an installation contain different files"
echo "together the packages contain every file of an installation: $(files dev | wc -l) of $(files root | wc -l) are in anydml-dev"
root=$PWD/root/usr/lib
expected=$("$build/examples/directml_modulus")
export PKG_CONFIG_PATH=$root/pkgconfig
[ "$(pkg-config --modversion anydml)" = "$version" ]
# shellcheck disable=SC2046
cc -std=c11 -Werror "$source/tests/install/program.c" -o c_program $(pkg-config --cflags --libs anydml)
[ "$(LD_LIBRARY_PATH=$root ./c_program)" = "floor 1 2 -2 -1, truncate 1 -1 1 -1" ]
echo "a C program: compiled against anydml-dev, correct output"
flags=$(pkg-config --cflags --libs anydml-directml)
# shellcheck disable=SC2086
c++ -std=c++14 "$source/examples/directml_modulus.cpp" -o by_rpath $flags
# shellcheck disable=SC2086
c++ -std=c++14 "$source/examples/directml_modulus.cpp" -o by_path $(sed 's:-Wl,-rpath,[^ ]*::' <<<"$flags")
[ "$(./by_rpath)" = "$expected" ]
# An installed anydml would come first in the rpath; otherwise the library must be this package's.
[ -e /usr/lib/anydml ] || grep -q "libdirectml.so => .*root/usr/lib" <<<"$(ldd by_rpath)"
echo "a program with the package's rpath: the same output"
if ./by_path >/dev/null 2>&1; then
  fail "the program found libraries that were not on its path"
fi
[ "$(LD_LIBRARY_PATH=$root/anydml ./by_path)" = "$expected" ]
echo "a program with LD_LIBRARY_PATH: the same output"
