#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage() {
  cat <<'TEXT'
usage: scripts/site.sh [--serve]

Builds the site, with the documents and a reference of every operator, in build/site: open build/site/index.html. A
broken link is an error. The first time it installs mkdocs-material from PyPI into build/site-venv; after that it
needs no network.

  --serve   then serve it at http://127.0.0.1:8000 until Ctrl-C
  --help    print this text
TEXT
}

serve=
case ${1-} in
  '') ;;
  --serve) serve=yes ;;
  --help | -h) usage && exit ;;
  *) echo "scripts/site.sh: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
esac

if [ ! -x build/site-venv/bin/mkdocs ]; then
  python=$(python_with ensurepip)
  [ -n "$python" ] || { echo "scripts/site.sh: no Python with venv (Debian: python3-venv)" >&2 && exit 1; }
  "$python" -m venv build/site-venv
  build/site-venv/bin/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.5,<10'
fi
build/site-venv/bin/python data/site/generate_site.py build/site-src
# Not --quiet, which would also hide warnings from --strict.
if ! NO_MKDOCS_2_WARNING=1 build/site-venv/bin/mkdocs build --clean --strict --config-file build/site-src/mkdocs.yml \
  >build/site.log 2>&1; then
  grep -v '^INFO' build/site.log >&2
  exit 1
fi
echo "the site is in build/site: $(find build/site -name '*.html' | wc -l) pages"
[ -z "$serve" ] || exec build/site-venv/bin/python -m http.server --bind 127.0.0.1 --directory build/site 8000
