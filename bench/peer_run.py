# SPDX-License-Identifier: MIT
"""Shared by the programs that measure other libraries: their options, a Python interpreter that has the libraries, and
a function that runs the program in that interpreter."""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def say(text):
    print(text, file=sys.stderr, flush=True)


def items(allowed):
    """Returns the type of an option: a comma-separated list of these values, or "all"."""
    def parse_items(text):
        chosen = list(allowed) if text == "all" else text.split(",")
        if not set(chosen) <= set(allowed):
            raise argparse.ArgumentTypeError(f"of {', '.join(allowed)}")
        return chosen
    return parse_items


def make_parser(program, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=f"{program} [LIBANYDML] [options]")
    parser.add_argument("library", nargs="?", default=str(ROOT / "build" / "release" / "lib" / "libanydml.so"),
                        metavar="LIBANYDML", help="build/release/lib/libanydml.so by default")
    parser.add_argument("--no-venv", dest="venv", action="store_false",
                        help="use the libraries of this Python")
    parser.add_argument("--venv-folder", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    return parser


def importable(python, package):
    return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0


def make_environment(folder, packages):
    """Returns the Python interpreter of a virtual environment that has the peers. Prints the names of peers that cannot
    be installed."""
    python = folder / "bin" / "python"
    if not python.exists():
        say(f"creating a virtual environment in {folder}")
        if subprocess.run([sys.executable, "-m", "venv", str(folder)]).returncode != 0:
            sys.exit("a virtual environment cannot be created (Debian: python3-venv); --no-venv does without one")
    for package in packages:
        if not importable(str(python), package):
            say(f"installing {package}")
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
            if subprocess.run(command).returncode != 0:
                say(f"{package} cannot be installed and is skipped")
    return str(python)


def python_of(options, packages):
    """Returns the Python interpreter that does the work. Checks that it has NumPy, and that the library to measure
    exists."""
    if not Path(options.library).exists():
        sys.exit(f"{options.library} does not exist: ./run builds it")
    python = make_environment(options.venv_folder, packages) if options.venv else sys.executable
    if not importable(python, "numpy"):
        sys.exit("NumPy is required, but this Python does not have it")
    return python


def run_again(python, arguments=(), environment=None):
    """Runs this program in a different Python interpreter with additional arguments. Returns the contents of --result,
    or None on failure."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [python, str(Path(sys.argv[0]).resolve()), *sys.argv[1:], *arguments, "--result", file.name]
        done = subprocess.run(command, env={**os.environ, **(environment or {})})
        return json.loads(Path(file.name).read_text()) if done.returncode == 0 else None


def about(program):
    """Returns the description of the machine for a report."""
    return {"program": program, "schema": 1, "cpu": cpu_name(), "architecture": platform.machine(),
            "c_library": " ".join(platform.libc_ver()), "python": platform.python_version()}


def cpu_name():
    for line in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines():
        if line.startswith("Model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
