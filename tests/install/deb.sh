#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the .deb, unpacks it into a root of its own, and looks at it as the system would: ldconfig finds libanydml and
# none of the libraries with bare names; a DirectML program runs by the package's rpath and by LD_LIBRARY_PATH.
# usage: deb.sh BUILD WORK
set -euo pipefail
build=$1 work=$2
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
echo "$listed" | grep -q 'libanydml\.so\.0'
if echo "$listed" | grep -E 'lib(directml|d3d12|dxcore)\.so'; then
  echo "ldconfig lists libraries that must not be on the default path" >&2 && exit 1
fi
echo "ldconfig -p: libanydml.so.0, and no libdirectml, libd3d12 or libdxcore"
program=$build/examples/directml_modulus
expected=$("$program")
[ "$(LD_LIBRARY_PATH=$PWD/root/usr/lib/anydml:$PWD/root/usr/lib "$program")" = "$expected" ]
echo "a program run with LD_LIBRARY_PATH: the same output"
