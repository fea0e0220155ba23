#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a device fulfills the contract of src/backend/backend.h and computes the exact bits of every operator.

usage: scripts/conform.py [options] DEVICE

DEVICE is a name, such as cpu or cuda:0, or the path of a plugin, libanydml-NAME.so, whose first device is used. Each
part runs test programs on that device. A check is one test of a program, or one case of an operator. A check counts as
lacking if the device reports that it does not support something that the check needs. Lacking checks are not failures,
and their reasons are listed.

  --plugins FOLDER   the folder of plugins (default: ANYDML_PLUGINS, or the folder of the path)
  --build FOLDER     the build whose tests run (default: the newest in build/ that has them)
  --only PART,PART   run only these parts
  --list             list the parts and their programs
  --limit SECONDS    the time after which a program counts as hung (default: 900)
  --verbose          also print the programs' own output
  --help             print this text

The exit status is 0 if nothing failed, 1 if something did, and 2 if the suite could not run.
See docs/adding-a-device.md.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The parts, from the backend's table upward: a description, and the test programs with arguments. {FAILS} is the
# variable that makes a device fail at its first run (tests/device/lost_test.cpp).
PARTS = {
    "table": ("the backend's table: memory, queues, marks, copies, fills, timestamps, programs, refusals",
              [["device_conformance", "--gtest_filter=-DeviceLost.*"]]),
    "operators": ("every operator's digests", [["operator_digests"]]),
    "calls": ("calls to the C API, on memory of every kind", [["api_test"], ["api_forms_test"], ["memory_objects_test"]]),
    "graphs": ("graphs, joined and apart, and random ones",
               [["graph_api_test"], ["graph_sharing_test"], ["graph_joins_test"], ["graph_test"], ["random_graphs_test"]]),
    "networks": ("networks, whole and random", [["random_networks_test"], ["networks_test"]]),
    "d3d12": ("D3D12: devices, queues, fences, waits",
              [["d3d12_test"], ["asynchronous_test"], ["waiting_test"], ["cancellation_test"]]),
    "directml": ("DirectML: operators, bindings, threads, wrong use",
                 [["directml_test"], ["threads_test"], ["typed_operators_test"], ["directml_bad_input_test"]]),
    # The second program runs only if the first one could make the device fail.
    "lost": ("a device that fails: its table, and D3D12 and DirectML above it",
             [["device_conformance", "--gtest_filter=DeviceLost.*"],
              ["{FAILS}=1", "asynchronous_test", "--gtest_filter=AsynchronousFault.*"]]),
}

LACKING = re.compile(r"has no kernels for this operator| lacks |^lacking: ")
MAX_LINES = 14  # the lines shown for a failure
MAX_FAILURES = 12


class Outcome:
    """The checks of one part."""

    def __init__(self):
        self.passed, self.failed, self.lacking, self.seconds = 0, [], [], 0.0
        self.forgiven = 0  # tests that failed because the device lacks an operator

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.lacking += other.lacking

    def row(self, name):
        checks = self.passed + len(self.failed) + len(self.lacking)
        return f"{name:10} {checks:7} {self.passed:7} {len(self.failed):7} {len(self.lacking):8} {self.seconds:8.1f}"


def read_tests(text):
    """Reads a GoogleTest program's output: (test, lines) for each failure, (test, reason) for each lacking check."""
    outcome, name, lines = Outcome(), None, []
    for line in text.splitlines():
        if begun := re.match(r"\[ RUN      \] (\S+)", line):
            name, lines = begun[1], []
        elif name is not None and (ended := re.match(r"(.*)\[ *(OK|FAILED|SKIPPED) *\] (\S+?)(,| \(|$)", line)) and ended[3] == name:
            reasons = [one.strip() for one in lines if one.strip()]
            if ended[2] == "OK":
                outcome.passed += 1
            elif ended[2] == "SKIPPED":
                shown = [one for one in reasons if not re.search(r": Skipped$", one)]
                outcome.lacking.append((name, shown[-1] if shown else "no reason given"))
            elif lack := next((one for one in reasons if LACKING.search(one)), None):
                outcome.lacking.append((name, lack))
                outcome.forgiven += 1
            else:
                outcome.failed.append((name, reasons))
            name = None
        else:
            lines.append(line)
    if name is not None:  # the program ended during this test
        outcome.failed.append((name, [one for one in lines if one.strip()]))
    return outcome


def read_digests(text):
    """Reads the output of operator_digests: its cases, operators that differ, and operators that the device lacks."""
    outcome = Outcome()
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("skipped: "):
            lack = line.removeprefix("skipped: ")
            outcome.lacking.append((re.split(r"[: ]", lack)[0], lack))
        elif differs := re.match(r"(\w+), case \d+: the digest is|(\w+)(?:: no case| has no digests| is not built)", line):
            outcome.failed.append((differs[1] or differs[2],
                                   [line] + [one for one in lines[i + 1:i + 4] if one.startswith("  ")]))
    if summary := re.search(r"^(\d+) cases", text, re.MULTILINE):
        outcome.passed = int(summary[1]) - len(outcome.failed) - len(outcome.lacking)
    return outcome


class Device:
    def __init__(self, name, plugins, tests, limit):
        self.tests, self.limit = tests, limit
        self.variables = {}
        given = ["--device", name]
        if "/" in name or name.endswith(".so"):
            path = Path(name).resolve()
            plugins = plugins or path.parent
            given = ["--plugin", str(path)]
        if plugins is None and name == "cpu":
            plugins = "none"
        if plugins := plugins or os.environ.get("ANYDML_PLUGINS"):
            self.variables["ANYDML_PLUGINS"] = plugins if plugins == "none" else str(Path(plugins).resolve())
        done = self.start([tests / "device_conformance", "--describe", *given], {})
        if done.returncode != 0:
            raise LookupError(done.stdout.strip() or f"device_conformance ended with {done.returncode}")
        self.description = done.stdout.strip().splitlines()
        self.name = self.description[0].split(": ")[0]
        if self.name != "cpu":  # cpu is the default, and some programs check more if the variable is not set
            self.variables["ANYDML_ADAPTER"] = self.name
        self.fails = f"ANYDML_{self.name.partition(':')[0].upper()}_FAILS"

    def start(self, command, settings):
        others = {name: value for name, value in os.environ.items() if name not in ("ANYDML_ADAPTER", "ANYDML_PLUGINS")}
        environment = {"ANYDML_THREADS": "2", **others, **self.variables, **settings}
        if not any("Fault" in str(one) or "=DeviceLost" in str(one) for one in command):
            environment.pop("ANYDML_TEST_TRAP", None)  # this library would break the device
        return subprocess.run([str(one) for one in command], env=environment, cwd=self.tests, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.limit)

    def run(self, words):
        """Runs a program, and returns its outcome and its output."""
        settings = dict(one.replace("{FAILS}", self.fails).split("=", 1) for one in words if "=" in one and one[0] != "-")
        program, *arguments = [one for one in words if "=" not in one or one[0] == "-"]
        if not (self.tests / program).exists():
            outcome = Outcome()
            how = f"not built: cmake --build {self.tests.parent} --target {program}"
            outcome.failed.append((program, [how], None, None))
            return outcome, ""
        try:
            done = self.start([self.tests / program, *arguments], settings)
            text, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            text = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
            code = None
        outcome = read_digests(text) if program == "operator_digests" else read_tests(text)
        if code is None or code < 0 or code > 1 or (code == 1 and not outcome.failed and not outcome.forgiven):
            how = (f"it did not end within {self.limit} seconds" if code is None else
                   f"killed by signal {-code}" if code < 0 else f"exited with {code}")
            tail = [one for one in text.splitlines() if one.strip()][-MAX_LINES:]
            if outcome.failed and code != 1:  # the program ended during the last of these tests
                outcome.failed[-1][1].append(f"{program}: {how}")
            else:
                outcome.failed.append((program, [*tail, how]))
        command = " ".join([f"{name}={value}" for name, value in {**self.variables, **settings}.items()] +
                           [str(self.tests / program), *arguments])
        outcome.failed = [(f"{program}: {test}", lines, command, test) for test, lines in outcome.failed]
        outcome.lacking = [(f"{program}: {test}", why) for test, why in outcome.lacking]
        return outcome, text


def find_tests(build):
    if build is not None:
        tests = Path(build).resolve() / "tests"
        if (tests / "device_conformance").exists():
            return tests
        raise LookupError(f"--build: {build} has no tests/device_conformance; expected a build of this tree with tests")
    found = sorted((ROOT / "build").glob("*/tests/device_conformance"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise LookupError("no build contains the suite; create one, for example with\n"
                          "  cmake --preset release && cmake --build --preset release")
    return found[-1].parent


def say_reasons(lacking):
    """Prints each reason once, with the checks that it affects."""
    reasons = {}
    for name, why in lacking:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        shown = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        print(f"  {why}\n      {shown}")


def say_failures(failed):
    for name, lines, command, test in failed[:MAX_FAILURES]:
        print(f"\n  {name}")
        for line in lines[:MAX_LINES]:
            print(f"    {line}")
        if len(lines) > MAX_LINES:
            print(f"    ... {len(lines) - MAX_LINES} more lines")
        if command is not None:
            alone = f" --operator {test}" if command.endswith("operator_digests") else f" '--gtest_filter={test}'"
            print(f"    run alone: {re.sub(' --gtest.*', '', command)}{alone}")
    if len(failed) > MAX_FAILURES:
        print(f"\n  ... {len(failed) - MAX_FAILURES} more failures")


def run_parts(device, names, verbose):
    total = Outcome()
    print(f"{'part':10} {'checks':>7} {'passed':>7} {'failed':>7} {'lacking':>8} {'seconds':>8}", flush=True)
    for name in names:
        outcome, begin = Outcome(), time.monotonic()
        for words in PARTS[name][1]:
            one, text = device.run(words)
            outcome.add(one)
            if verbose:
                print(text)
            if name == "lost" and one.passed == 0:
                break
        outcome.seconds = time.monotonic() - begin
        print(outcome.row(name), flush=True)
        total.add(outcome)
        total.seconds += outcome.seconds
    print(total.row("all"))
    return total


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/conform.py [options] DEVICE; see --help")
    parser.add_argument("device", nargs="?")
    parser.add_argument("--plugins")
    parser.add_argument("--build")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    if given.list:
        for name, (text, programs) in PARTS.items():
            print(f"{name:10} {text}\n{'':10} {', '.join(words[0] if '=' not in words[0] else words[1] for words in programs)}")
        return 0
    names = [name for name in given.only.split(",") if name] or list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        print(f"conform.py: --only: there is no part '{unknown[0]}'; expected one of {', '.join(PARTS)}", file=sys.stderr)
        return 2
    if given.device is None:
        print("conform.py: no device was given; expected a name, such as cpu, or the path of a plugin", file=sys.stderr)
        return 2
    try:
        device = Device(given.device, given.plugins, find_tests(given.build), given.limit)
    except (LookupError, subprocess.TimeoutExpired) as error:
        print(f"conform.py: {error}", file=sys.stderr)
        return 2
    print("\n".join(device.description) + "\n")
    total = run_parts(device, names, given.verbose)
    if total.lacking:
        print("\nlacking, with reasons and affected checks:")
        say_reasons(total.lacking)
    if total.failed:
        print("\nfailed:")
        say_failures(total.failed)
    parts = "all parts" if names == list(PARTS) else ", ".join(names)
    checks = total.passed + len(total.failed)
    print(f"\n{device.name}: " + (f"{len(total.failed)} of {checks} checks failed" if total.failed else
                                  f"conforms in {checks} checks of {parts}"))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
