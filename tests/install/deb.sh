#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the .deb, unpacks it into a root of its own, and looks at it as the system would: ldconfig finds libanydml and
# none of the libraries with bare names; a DirectML program built against it runs by the package's rpath and, built
# without one, by LD_LIBRARY_PATH.
# usage: deb.sh SOURCE BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$PWD" >cpack.log || { cat cpack.log >&2 && exit 1; }
deb=$(ls anydml_*.deb)
dpkg-deb -I "$deb" | grep -E '^ (Package|Version|Architecture|Depends)'
dpkg-deb -x "$deb" root
mkdir -p root/etc
printf '/usr/lib\n' >root/etc/ld.so.conf
PATH=$PATH:/usr/sbin:/sbin
ldconfig -r root 2>/dev/null
listed=$(ldconfig -r root -p)
# Here-strings, not pipes: grep -q leaves early, and pipefail would count the writer's broken pipe.
grep -q 'libanydml\.so\.0' <<<"$listed"
if grep -E 'lib(directml|d3d12|dxcore)\.so' <<<"$listed"; then
  echo "ldconfig lists libraries that must not be on the default path" >&2 && exit 1
fi
echo "ldconfig -p: libanydml.so.0, and no libdirectml, libd3d12 or libdxcore"
root=$PWD/root/usr/lib
expected=$("$build/examples/directml_modulus")
export PKG_CONFIG_PATH=$root/pkgconfig
flags=$(pkg-config --cflags --libs anydml-directml)
# shellcheck disable=SC2086
c++ -std=c++14 "$source/examples/directml_modulus.cpp" -o by_rpath $flags
# shellcheck disable=SC2086
c++ -std=c++14 "$source/examples/directml_modulus.cpp" -o by_path $(sed 's:-Wl,-rpath,[^ ]*::' <<<"$flags")
[ "$(./by_rpath)" = "$expected" ]
# An anydml that is installed would come first in the rpath; otherwise it is this package's.
[ -e /usr/lib/anydml ] || grep -q "libdirectml.so => .*root/usr/lib" <<<"$(ldd by_rpath)"
echo "a program with the package's rpath: the same output"
if ./by_path >/dev/null 2>&1; then
  echo "the program found libraries that were not on its path" >&2 && exit 1
fi
[ "$(LD_LIBRARY_PATH=$root/anydml ./by_path)" = "$expected" ]
echo "a program with LD_LIBRARY_PATH: the same output"
