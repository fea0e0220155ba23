#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how long a build's files took to compile: by part of the tree, by target, and the longest files.

usage: build_times.py [BUILD] [--top N]

BUILD is build/release by default. The times are processor time if ./run or ./test compiled the files without ccache
(scripts/record_time.sh); such times hardly depend on what else the machine does, and half of their sum is how long the
build takes on two free cores. Otherwise they are the elapsed times in ninja's log, which also has links and generated
files. Of a file that was compiled again, the last time counts.
"""
import argparse
import collections
import re
import sys
from pathlib import Path

PARTS = {  # the first match counts
    "tests, fuzz": r"(tests|fuzz)/",
    "Python module": r"python/",
    "benchmark": r"tools/bench/",
    "tools, examples": r"(tools|examples)/",
    "Vulkan and CUDA plugins": r"src/backend/(vulkan|cuda)/",
    "kernels for the CPU": r"src/ops/.*_cpu\.dir/",
    "ONNX": r"src/onnx",
    "other layers": r"src/",
}


def times_of(build):
    """Seconds by output, and the kind of time."""
    recorded, log = build / "compile_times.txt", build / ".ninja_log"
    if recorded.exists():
        rows = (line.split(maxsplit=2) for line in recorded.read_text(encoding="utf-8").splitlines())
        return {row[2]: float(row[0]) + float(row[1]) for row in rows if len(row) == 3}, "processor time"
    if log.exists():
        rows = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
        return {row[3]: (int(row[1]) - int(row[0])) / 1000 for row in rows}, "elapsed time"
    sys.exit(f"build_times.py: {build} has no record of a build")


def target_of(output):
    parts = re.match(r"(.*/)?CMakeFiles/([^/]+)\.dir/", output)
    return f"{parts[1] or ''}{parts[2]}" if parts else output


def part_of(output):
    return next((part for part, pattern in PARTS.items() if re.match(pattern, output)), "other")


def table(title, rows, count=None):
    print(f"\n{title:60} {'files':>6} {'seconds':>8} {'share':>6}")
    total = sum(seconds for seconds, _ in rows.values())
    for name, (seconds, files) in sorted(rows.items(), key=lambda row: -row[1][0])[:count]:
        print(f"{name[-60:]:60} {files:6} {seconds:8.1f} {seconds / total:6.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=Path("build/release"))
    parser.add_argument("--top", type=int, default=25, help="the targets and files to list (default: 25)")
    options = parser.parse_args()
    times, kind = times_of(options.build)
    total = sum(times.values())
    print(f"{options.build}: {len(times)} outputs, {total / 60:.1f} minutes of {kind}")
    for title, key, count in (("part", part_of, None), ("target", target_of, options.top), ("file", str, options.top)):
        rows = collections.defaultdict(lambda: (0.0, 0))
        for output, seconds in times.items():
            before = rows[key(output)]
            rows[key(output)] = (before[0] + seconds, before[1] + 1)
        table(title, rows, count)


if __name__ == "__main__":
    main()
