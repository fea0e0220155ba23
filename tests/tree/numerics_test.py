#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The digests of results change only together with ANYDML_NUMERICS_VERSION in include/anydml/anydml.h. The file
data/digests/numerics.txt has the version, and a hash of each line of the digests as they were released with it.

usage: numerics_test.py SOURCE             compares
       numerics_test.py SOURCE --update    records new lines, and changed lines if the version was increased; before 1.0.0,
                                           changed lines are recorded in any case
"""
import hashlib
import re
import sys
from pathlib import Path

# The files with digests, and how many words at the start of a line name it.
FILES = {"function_digests.txt": 2, "network_digests.txt": 2, "operator_digests.txt": 1}
HEADER = """# SPDX-License-Identifier: MIT
# The version of the numerics, and a hash of each line of the other files here: tests/tree/numerics_test.py explains it.
"""


def lines_of(path):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def current_lines(folder):
    """{name of a line: its hash}"""
    found = {}
    for name, words in FILES.items():
        for line in lines_of(folder / name):
            parts = line.split()
            key = "/".join([name.removesuffix("_digests.txt"), *parts[:words]])
            found[key] = hashlib.sha256(" ".join(parts[words:]).encode()).hexdigest()[:16]
    return found


def main(source, update):
    source = Path(source)
    record = source / "data" / "digests" / "numerics.txt"
    header = (source / "include" / "anydml" / "anydml.h").read_text(encoding="utf-8")
    version = int(re.search(r"^#define ANYDML_NUMERICS_VERSION (\d+)$", header, re.MULTILINE)[1])
    is_released = int(re.search(r"^#define ANYDML_VERSION_MAJOR (\d+)$", header, re.MULTILINE)[1]) > 0
    current = current_lines(record.parent)
    recorded_version, recorded = 0, {}
    if record.exists():
        first, *rest = lines_of(record)
        recorded_version = int(first.split()[1])
        recorded = dict(line.split() for line in rest)
    changed = sorted(key for key in recorded if recorded[key] != current.get(key))
    new = sorted(set(current) - set(recorded))
    may_change = version > recorded_version
    if update and (may_change or not changed or not is_released):
        record.write_text(HEADER + f"numerics {version}\n" + "".join(f"{key} {current[key]}\n" for key in sorted(current)))
        print(f"{record}: {len(changed)} changed, {len(new)} new, numerics version {version}")
        return 0
    wrong = []
    if changed:
        wrong.append(f"the digests of {', '.join(changed)} differ from those of numerics version {recorded_version}: increase "
                     "ANYDML_NUMERICS_VERSION and say in CHANGELOG.md which results differ, then use --update")
    if new:
        wrong.append(f"no record of the digests of {', '.join(new)}: use --update")
    if version != recorded_version and not changed:
        wrong.append(f"anydml.h has numerics version {version}, {record.name} has {recorded_version}: use --update")
    print("\n".join(wrong) or f"numerics version {version}: {len(current)} lines of digests as recorded")
    return 1 if wrong or not current else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["--update"]))
