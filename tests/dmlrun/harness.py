# SPDX-License-Identifier: MIT
"""Shared by the tests for dmlrun: the paths of the program and of the folders, and a function that runs the program.

Each test's command line is DMLRUN SOURCE WORK [PYTHON_WITH_NUMPY].
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

DMLRUN, SOURCE, WORK = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
EXAMPLES = SOURCE / "examples" / "models"
BAD = SOURCE / "tests" / "dmlrun" / "bad"
NUMPY = next((argument for argument in sys.argv[4:] if not argument.startswith("-")), None)


def run(*arguments, folder=None, environment=None, status=0, binary=False):
    done = subprocess.run([DMLRUN, *map(str, arguments)], capture_output=True, cwd=folder,
                          env={**os.environ, **(environment or {})})
    if not binary:
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    assert status is None or done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def empty_folder(name):
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
