#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workflows in .github call scripts of this repository, with options that these have. If yamllint and check-jsonschema
(from PyPI) are on PATH, these check the files too.

usage: workflows_test.py SOURCE
"""
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SCHEMAS = {"workflows/*.yml": "vendor.github-workflows", "dependabot.yml": "vendor.dependabot"}


def commands_of(text):
    """The commands of `run:` lines, and of the lists of commands in a matrix."""
    for line in re.findall(r"^\s*- run: (.*)$", text, re.MULTILINE):
        yield from line.split(" && ")
    for line in re.findall(r"^\s*command: \[(.*)\]$", text, re.MULTILINE):
        yield from re.findall(r'"([^"]*)"', line)


def wrong_commands(source, path):
    for command in commands_of(path.read_text(encoding="utf-8")):
        words = shlex.split(command)
        for word in words:
            if re.match(r"(\./)?(scripts|tests|fuzz|bench|src)/|\./(test|run)$", word) and not (source / word).exists():
                yield f"{path.name}: `{command}`: there is no {word}"
        program = source / words[0]
        if "/" in words[0] and not words[0].startswith("build/") and program.is_file():
            if not program.stat().st_mode & 0o100:
                yield f"{path.name}: {words[0]} is not executable"
            for option in (word for word in words[1:] if word.startswith("-")):
                if not re.search(rf"(?<![\w-]){option}(?![\w-])", program.read_text(encoding="utf-8")):
                    yield f"{path.name}: `{command}`: {words[0]} has no option {option}"


def wrong_owners(source):
    for line in (source / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines():
        name = line.split()[0] if line and not line.startswith("#") else "*"
        if name != "*" and not (source / name.lstrip("/")).exists():
            yield f"CODEOWNERS: there is no {name}"


def refused(source):
    """What the linters say, if they are installed."""
    folder = source / ".github"
    files = sorted(map(str, folder.rglob("*.yml")))
    commands = [["yamllint", "--strict", "-d", "{extends: default, rules: {document-start: disable, truthy: disable, "
                 "comments: {min-spaces-from-content: 2}, line-length: {max: 200}}}", *files]]
    commands += [["check-jsonschema", "--builtin-schema", schema, *sorted(map(str, folder.glob(pattern)))]
                 for pattern, schema in SCHEMAS.items()]
    for command in commands:
        if shutil.which(command[0]) is None:
            print(f"{command[0]} is not installed")
            continue
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            yield f"{' '.join(command[:3])}:\n{done.stdout}{done.stderr}"


def main(source):
    workflows = sorted((source / ".github" / "workflows").glob("*.yml"))
    wrong = [one for path in workflows for one in wrong_commands(source, path)] + [*wrong_owners(source), *refused(source)]
    count = sum(len(list(commands_of(path.read_text(encoding="utf-8")))) for path in workflows)
    if count < 15:
        wrong.append(f"only {count} commands were found")
    print("\n".join(wrong) or f"{len(workflows)} workflows: every script and option that they name exists")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
