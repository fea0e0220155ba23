#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes functions.tar.xz, the SPIR-V library of the Vulkan plugin: every variant of every element-wise definition, and
our versions of the primitives (src/backend/vulkan/spirv/library).

usage: make_functions.py             compiles the library; needs the PyPI package ziglang 0.17, spirv-tools and g++
       make_functions.py --check     says whether functions.tar.xz was compiled from the current sources
       make_functions.py --output F  writes F instead; --python P: the Python that has ziglang

clang's code is repaired (spirv_repair.py) and checked by spirv-val; functions that are invalid nevertheless are
compiled again with other options. The program join_library merges all modules into one."""
import argparse
import concurrent.futures
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

import spirv_repair

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"
LIBRARY = SOURCE / "backend/vulkan/spirv/library"
ELEMENTS = SOURCE / "ops/elementwise/vulkan/library"
ZIGLANG = "0.17.0"
OPTIONS = ["-target", "spirv1.6-unknown-vulkan1.3-library", "-std=c++20", "-O2", "-ffp-contract=off", "-nostdinc",
           "-isystem", str(SOURCE / "backend/cuda/shims"), f"-I{SOURCE}"]
# Options that are tried in order. The second keep clang from using OpBitCount for integers of 8 bits.
ATTEMPTS = [[], ["-fconvergent-functions"]]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def run_or_stop(*command):
    done = run(*command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def included(path, found):
    """Adds a file and all files of the tree that it includes, also by the primitives' macro."""
    if path in found:
        return
    found.add(path)
    text = path.read_text()
    for name in re.findall(r'"([\w/.-]+\.(?:h|def))"', text) + re.findall(r"include <(\w+)>", text):
        for folder in (SOURCE, path.parent, SOURCE / "backend/cuda/shims"):
            if (folder / name).is_file():
                included(folder / name, found)


def fingerprint():
    """A hash of everything that the library depends on."""
    files = set()
    for path in [*LIBRARY.glob("*"), *ELEMENTS.glob("*"), HERE / "make_functions.py", HERE / "spirv_dispatch.py",
                 HERE / "spirv_repair.py"]:
        included(path, files)
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(HERE.parent.parent)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def carrier(size):
    return "u64" if size == 8 else "u32"


def write_function(op, number, words, sizes):
    """The exported function of one variant (exported.h)."""
    result = carrier(sizes[-1])
    parameters = [f"{carrier(size)} v{i}" for i, size in enumerate(sizes[:-1])] + [f"u32 w{i}" for i in range(words)]
    elements = ", ".join(f"element_of<Signature<S>::Input<{i}>>(v{i})" for i in range(len(sizes) - 1))
    scalar = ", ".join(f"w{i}" for i in range(words))
    return (f'extern "C" {result} {op}_{number}({", ".join(parameters)}) {{\n'
            f"  using S = VariantAt<All, {number}>::Type;\n"
            f"  return carried<{result}>(scalar_of<S>({scalar})({elements}));\n}}\n")


def write_source(op, definition, variants):
    text = '#include "ops/elementwise/vulkan/library/exported.h"\n'
    text += "using namespace anydml;\nusing namespace anydml::vulkan;\n"
    text += f"using All = decltype(variants_over<{definition}>(AllTypes{{}}));\n"
    return text + "".join(write_function(op, *variant) for variant in variants)


class Compiler:
    def __init__(self, folder, python):
        self.folder, self.clang, self.notes = Path(folder), [python, "-m", "ziglang", "clang", *OPTIONS], []

    def compile(self, name, source, options):
        """Whether the module NAME.spv was compiled, repaired, and is valid."""
        module = self.folder / f"{name}.spv"
        done = run(*self.clang, *options, "-c", source, "-o", module, cwd=self.folder,
                   env={**os.environ, "TMPDIR": str(self.folder)})
        if done.returncode:
            if "error:" in done.stderr and "frontend command failed" not in done.stderr:
                sys.exit(done.stderr)
            return False
        repaired = spirv_repair.Module(run_or_stop("spirv-dis", "--raw-id", module))
        repaired.drop_parameter_attributes()
        repaired.narrow_switches()
        switches = repaired.add_merges()
        text = self.folder / f"{name}.spvasm"
        text.write_text(repaired.text())
        run_or_stop("spirv-as", "--target-env", "spv1.6", "--preserve-numeric-ids", text, "-o", module)
        is_valid = run("spirv-val", "--target-env", "vulkan1.3", module).returncode == 0
        if is_valid and switches:
            self.notes.append(f"{name}: {switches} functions as loops around a switch")
        return is_valid

    def compile_one(self, name, source):
        for options in ATTEMPTS:
            if self.compile(name, source, options):
                if options:
                    self.notes.append(f"{name}: {' '.join(options)}")
                return [name]
        sys.exit(f"{name} could not be compiled to valid SPIR-V")

    def compile_entry(self, op, definition, variants):
        source = self.folder / f"{op}.cpp"
        source.write_text(write_source(op, definition, variants))
        if self.compile(op, source, ATTEMPTS[0]):
            return [op]
        modules = []
        for variant in variants:
            one = self.folder / f"{op}_{variant[0]}.cpp"
            one.write_text(write_source(op, definition, [variant]))
            modules += self.compile_one(one.stem, one)
        return modules


def read_variants(folder):
    lister = Path(folder) / "list_variants"
    run_or_stop("g++", "-std=c++20", f"-I{SOURCE}", ELEMENTS / "list_variants.cpp", "-o", lister)
    entries = defaultdict(list)
    for line in run_or_stop(lister).splitlines():
        op, definition, number, words, *sizes = line.split()
        entries[op, definition].append((int(number), int(words), [int(size) for size in sizes]))
    return entries


def make(output, python, keep):
    version = run_or_stop(python, "-m", "ziglang", "version").strip()
    if version != ZIGLANG:
        sys.exit(f"The library is compiled by ziglang {ZIGLANG}, but this is {version}.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or temporary
        Path(folder).mkdir(exist_ok=True)
        compiler = Compiler(folder, python)
        join = Path(folder) / "join_library"
        sources = [SOURCE / f"backend/vulkan/spirv/{name}.cpp" for name in ("builder", "instructions", "library")]
        run_or_stop("g++", "-O1", "-std=c++20", f"-I{SOURCE}", LIBRARY / "join_library.cpp", *sources, "-o", join)
        modules = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(compiler.compile_one, source.stem, source)
                    for source in sorted(LIBRARY.glob("primitives_*.cpp"))]
            jobs += [pool.submit(compiler.compile_entry, *key, variants)
                     for key, variants in read_variants(folder).items()]
            for job in jobs:
                modules += job.result()
        for source in sorted(LIBRARY.glob("*.spvasm")):
            run_or_stop("spirv-as", "--target-env", "spv1.6", source, "-o", Path(folder) / f"{source.stem}.spv")
            modules.append(source.stem)
        joined = Path(folder) / "functions.spv"
        run_or_stop(join, joined, *(Path(folder) / f"{name}.spv" for name in modules))
        run_or_stop("spirv-val", "--target-env", "vulkan1.3", joined)
        data = joined.read_bytes()
        with tarfile.open(output, "w:xz", preset=9) as archive:
            member = tarfile.TarInfo("functions.spv")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        (HERE / "functions.txt").write_text(f"{fingerprint()}\n")
        print("\n".join(sorted(compiler.notes)))
        print(f"{len(data)} bytes, {Path(output).stat().st_size} compressed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--output", default=HERE / "functions.tar.xz")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--keep", help="a folder for the modules, which is kept")
    given = parser.parse_args()
    if given.check:
        if (HERE / "functions.txt").read_text().strip() != fingerprint():
            sys.exit("data/vulkan/functions.tar.xz was compiled from other sources: run data/vulkan/make_functions.py")
        return
    make(given.output, given.python, given.keep)


if __name__ == "__main__":
    main()
