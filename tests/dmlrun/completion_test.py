#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests dmlrun's shell completion by requesting the same completions from bash, zsh and fish, if installed.

usage: completion_test.py DMLRUN SOURCE WORK
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

from harness import WORK, empty_folder, run

QUESTIONS = {
    "op": ["operators"],
    "he": ["help"],
    "help oper": ["operators"],
    "check --feat": ["--feature-level"],
    "check --feature-level 2": ["2_0", "2_1"],
    "check --feature-level=2": ["2_0", "2_1"],
    "model.json --iter": ["--iterations"],
    "--iter": ["--iterations"],
    "model.json -q c": ["compute"],
    "-v ": ["0", "1", "2"],
    "-i ": [],
    "modulus --type UINT1": ["UINT16"],
    "modulus --output an": ["an.npy"],
    "check --input_path fol": ["folder"],
    "check an": ["an.npy"],
    "operators ELEMENT_WISE_MOD": ["ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"],
    "operators --mis": ["--missing"],
    "run-op": ["run-operator"],
    "run-operator HARDM": ["HARDMAX", "HARDMAX1"],
    "run-operator RELU --input an": ["an.npy"],
    "skeleton --attr": ["--attribute"],
    "model.json --inpu": ["--input", "--input-path", "--input_path"],
    "completion ": ["bash", "fish", "zsh"],
}
OF_BENCH = {
    "bench --list-": ["--list-operators"],
    "bench --operators reduce_su": ["reduce_sum", "reduce_sum_square"],
    "bench --operators add,reduce_su": ["reduce_sum", "reduce_sum_square"],
    "bench --operators=add,reduce_su": ["reduce_sum", "reduce_sum_square"],
    "bench --layouts stri": ["stride2", "stride2_all"],
    "bench --sizes l": ["l1", "l2"],
    "bench --types FLOAT32,INT1": ["INT16"],
    "bench --pass s": ["streaming"],
    "bench --json an": ["an.npy"],
}


def ask_bash(script, lines, folder):
    """bash passes the line to a completion function split at spaces and at =."""
    answers = []
    for line in lines:
        words = ["dmlrun", *(part for word in line.split(" ") for part in re.findall(r"=|[^=]+", word) or [""])]
        quoted = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["bash", "-c", f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
                               "_dmlrun; printf '%s\\n' \"${COMPREPLY[@]}\""],
                              capture_output=True, text=True, cwd=folder, check=True)
        answers.append(done.stdout.split())
    return answers


def ask_fish(script, lines, folder):
    home = {**os.environ, "HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "home")}
    return [[offer.split("\t")[0] for offer in subprocess.run(
        ["fish", "-c", f"source {script}; complete -C 'dmlrun {line}'"], capture_output=True, text=True, cwd=folder,
        env=home, check=True).stdout.splitlines()] for line in lines]


def ask_zsh(script, lines, folder):
    """zsh completes only in its line editor, so the test types the lines on a terminal and logs the offers."""
    offers, setup = folder / "home" / "offers", folder / "home" / "setup.zsh"
    offers.touch()
    setup.write_text(f"""
PROMPT=; unsetopt beep; autoload -Uz compinit; compinit -D -u; source {script}
compadd() {{
  if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a offered; builtin compadd -A offered "$@"
  print -rl -- $offered >>{offers}; builtin compadd "$@"
}}
ended() {{ print -r -- --end-- >>{offers} }}
ask() {{ comppostfuncs=(ended); zle list-choices; BUFFER= }}
zle -N ask; bindkey '^T' ask
print ready >>{offers}
""")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})

    def wait_for(text, count):
        until = time.monotonic() + 60
        while offers.read_text().count(text) < count:
            assert time.monotonic() < until, offers.read_text()
            if select.select([terminal], [], [], 0.02)[0]:
                os.read(terminal, 65536)

    try:
        os.write(terminal, f" source {setup}\n".encode())
        wait_for("ready", 1)
        for index, line in enumerate(lines):
            os.write(terminal, f"dmlrun {line}".encode() + b"\x14")
            wait_for("--end--", index + 1)
    finally:
        os.close(terminal)  # a shell without a terminal exits
        os.waitpid(child, 0)
    return [part.split() for part in offers.read_text().split("ready\n", 1)[1].split("--end--\n")[:-1]]


def last_word(offer):
    """Shells differ in whether an offer repeats the text before it, such as --types=FLOAT32, before INT16."""
    return offer.split("=")[-1].split(",")[-1].rstrip("/")


class Completion(unittest.TestCase):
    def test_each_shell(self):
        has_bench = run("bench", "--help", status=None).returncode == 0  # builds with sanitizers do not have it
        questions = {**QUESTIONS, **(OF_BENCH if has_bench else {})}
        for shell, ask in (("bash", ask_bash), ("zsh", ask_zsh), ("fish", ask_fish)):
            if not shutil.which(shell):
                print(f"{shell} is not installed; its completion was not tested")
                continue
            folder = empty_folder(shell)
            (folder / "home").mkdir()
            (folder / "folder").mkdir()
            (folder / "an.npy").touch()
            script = WORK / f"completion.{shell}"
            script.write_text(run("completion", shell).stdout)
            subprocess.run([shell, "-n", script], check=True)
            for (line, expected), offers in zip(questions.items(), ask(script, list(questions), folder)):
                with self.subTest(shell=shell, line=line):
                    self.assertEqual(sorted({last_word(offer) for offer in offers}), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
