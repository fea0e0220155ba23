#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything that the documents name exists: links and their anchors, files, environment variables, commands and options.
docs.sh and tests/python/test_docs.py run the programs that the documents show, and data/facts/generate_docs.py --check
compares their numbers.

usage: documents_test.py SOURCE [DMLRUN]           the tree; with DMLRUN also the options of dmlrun
       documents_test.py --installed FOLDER        the links of installed documents
"""
import fnmatch
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

SKIPPED = {"build", "dist", ".git", ".cache", ".venv", "__pycache__"}
# Files that documents name but the tree does not have: third-party files, and files that a command writes.
ELSEWHERE = re.compile(
    r"^(/|~|build/|dist/|FOLDER/|root/|https?:)|<|\$|^(\w+/)*(windows|wrl/client|dxgi1_6|d3dx12|basetsd)\.h$"
    r"|^onnxruntime_c_api\.h$|^DirectMLX?\.h$|^(model|MODEL|add|x|bench|peers|times|program|run1|xeon(-peers)?)\.(json|py|npy|svg)$"
    r"|^(graph|times)\.svg$|^(tables|report)\.md$|^(first|operators|reduce_bench)\.(c|cpp|json)$|^\.\w+$|^XDG_")
SUFFIXES = ("h", "cpp", "c", "cu", "cuh", "py", "pyi", "md", "sh", "def", "txt", "json", "cmake", "ipynb", "svg", "css", "yml")


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in SKIPPED]
            self.files += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
        self.folders = {parent.as_posix() for name in self.files for parent in Path(name).parents}
        self.pages = sorted(name for name in self.files if name.endswith(".md") and not name.startswith("tests/"))

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def has(self, name):
        """Whether there is a file or folder with this name, or with a path that ends with it."""
        name = name.removeprefix("./").rstrip("/")
        if "*" in name:
            return any(fnmatch.fnmatch(file, pattern) for file in self.files for pattern in (name, f"*/{name}"))
        return any(one == name or one.endswith(f"/{name}") for one in (*self.files, *self.folders))


def without_blocks(text):
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(text):
    """Anchors of the headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one.lower())).replace(" ", "-") for one in headings}


def links_of(text):
    return re.findall(r"\]\(([^)\s]+)\)", without_blocks(text))


def broken_links(tree, is_absent=lambda target: False):
    """is_absent: links to files that an installation leaves out."""
    for page in tree.pages:
        for link in links_of(tree.text(page)):
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if is_absent(target):
                continue
            if target not in tree.files and target not in tree.folders:
                yield f"{page}: the link to {link} is broken"
            elif anchor and target.endswith(".md") and anchor not in anchors_of(tree.text(target)):
                yield f"{page}: {target} has no heading #{anchor}"


def missing_files(tree):
    for page in tree.pages:
        if page == "CHANGELOG.md":  # older sections name files that no longer exist
            continue
        for span in re.findall(r"`([^`\n]+)`", without_blocks(tree.text(page))):
            for word in span.split():
                word = word.strip("(),;:'\"")
                is_path = re.fullmatch(r"[\w.*-]+(/[\w.*-]+)+/?", word) and "." in word.rsplit("/", 1)[-1]
                is_file = re.fullmatch(rf"[\w-][\w.-]*\.({'|'.join(SUFFIXES)})", word)
                if (is_path or is_file) and ".*" not in word and not ELSEWHERE.search(word) and not tree.has(word):
                    yield f"{page}: there is no file `{word}`"


def environment_of(tree):
    return set(re.findall(r'reader\("(ANYDML_\w+)"\)', tree.text("src/base/environment.cpp")))


def wrong_environment(tree):
    """Lists of the variables must be complete, and no document may name a variable that nothing reads."""
    known = environment_of(tree)
    security = tree.text("SECURITY.md")
    lists = {
        "docs/directml.md": tree.text("docs/directml.md").split("## Environment")[1],
        "include/anydml/anydml.h": re.search(r"Environment, read once:.*?\*/", tree.text("include/anydml/anydml.h"), re.DOTALL)[0],
        "tools/dmlrun/dmlrun.1": tree.text("tools/dmlrun/dmlrun.1").split(".SH ENVIRONMENT")[1].split(".SH ")[0],
        "SECURITY.md": security[security.index("environment variables"):],
    }
    for name, text in lists.items():
        if missing := known - set(re.findall(r"ANYDML_\w+", text)):
            yield f"{name}: the list of environment variables lacks {', '.join(sorted(missing))}"
    sources = [tree.text(name) for name in tree.files if re.search(r"\.(cpp|h|cu|cuh|py|sh|cmake|def|map)$|CMakeLists\.txt$|^run$|^test$", name)
               and name != "tests/tree/documents_test.py"]
    for page in tree.pages:
        for name in sorted(set(re.findall(r"\bANYDML_[A-Z0-9_]*[A-Z0-9]\b(?![_*])", tree.text(page)))):
            if not any(re.search(rf"\b{name}\b", text) for text in sources):
                yield f"{page}: nothing in the tree reads or defines {name}"


def missing_messages(tree):
    """Every mistake that the debug layer finds is in its document, with its id."""
    page = tree.text("docs/debugging.md")
    text = re.sub(r"\s+", " ", tree.text("src/d3d12/debug_messages.def"))
    for name, number in re.findall(r"ANYDML_DEBUG_MESSAGE\((\w+), (?:D3D12_MESSAGE_ID_)?(\w+),", text):
        if name != "name" and number not in page:
            yield f"docs/debugging.md: {number}, the id of {name}, is missing"
    page = re.sub(r"\s+", " ", page)
    methods = re.findall(r'ANYDML_MESSAGE_ID\("[\w:]+", "[^"]*", (\w+), (\d+)\)', tree.text("src/d3d12/message_ids.def"))
    rows = {f"| {number} | {category} |" for category, number in methods}
    objects = re.findall(r'ANYDML_LIVE_OBJECT\("(\w+)", (\d+)\)', tree.text("src/d3d12/live_objects.def"))
    for missing in sorted(rows | {f"{number} `{name}`" for name, number in objects}):
        if missing not in page:
            yield f"docs/debugging.md: '{missing}' is missing"


# ---- Commands -------------------------------------------------------------------------------------------------------

def commands_of(text):
    """The commands that a document tells the reader to type, in blocks and in sentences, without comments."""
    lines = []
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        is_console = block.startswith("$ ")
        lines += [line.removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines()
                  if not is_console or line.startswith("$ ")]
    lines += re.findall(r"`((?:\./run|\./test|dmlrun|scripts/|tests/|python3? )[^`\n]*)`", without_blocks(text))
    for line in lines:
        yield from (part.strip() for part in re.split(r" && | \| ", re.sub(r"(^|\s)#.*", "", line)))


class Help:
    def __init__(self, tree, dmlrun):
        self.tree, self.dmlrun, self.known = tree, dmlrun, {}

    def of(self, *command):
        if command not in self.known:
            done = subprocess.run([*command, "--help"], cwd=self.tree.root, capture_output=True, text=True)
            self.known[command] = done.stdout if done.returncode == 0 else ""
        return self.known[command]

    def dmlrun_commands(self):
        return re.findall(r"^  ([\w-]+) ", self.of(self.dmlrun).partition("Subcommands:")[2].partition("\n\n")[0], re.MULTILINE)

    def of_words(self, words):
        """The text that must mention the options of a command, or None if the command is not ours."""
        program = words[0]
        if program == "./test" or re.fullmatch(r"(scripts|tests)/.*\.(sh|py)", program):
            # The source of a script without a help text documents its options.
            return (self.of(f"./{program.removeprefix('./')}") if program == "./test" else "") + self.tree.text(program.removeprefix("./"))
        if program in ("./run", "dmlrun"):
            if self.dmlrun is None:
                return None
            own = self.of("./run") if program == "./run" else ""
            words = [word for word in words[1:] if word not in ("--no-install", "--help")]
            command = words[0] if words and words[0] in self.dmlrun_commands() else "run"
            return own + self.of(self.dmlrun, command) + self.of(self.dmlrun)
        if re.fullmatch(r"python3?", program) and len(words) > 1:
            module = words[2] if words[1] == "-m" and len(words) > 2 else None
            if module is not None and module.startswith("anydml"):
                name = module.replace(".", "/")
                files = [f"python/{name}.py", f"python/{name}/__main__.py"]
                return "".join(self.tree.text(file) for file in files if file in self.tree.files) or None
            return self.tree.text(words[1]) if words[1] in self.tree.files else None
        return None


def wrong_commands(tree, dmlrun):
    helps, count = Help(tree, dmlrun), 0
    for page in tree.pages:
        for command in commands_of(tree.text(page)):
            try:
                words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
            except ValueError:
                continue  # part of a shell program
            for word in words:
                if re.match(r"(\./)?(scripts|bench|examples|data|tests|src|tools|docs)/", word) and not tree.has(word):
                    yield f"{page}: `{command}`: there is no file {word}"
            text = helps.of_words(words) if words else None
            if text is None:
                continue
            given = words[:words.index("--")] if "--" in words else words
            for option in (word.partition("=")[0] for word in given if re.match(r"--?[A-Za-z]", word)):
                count += 1
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
                    yield f"{page}: `{command}`: the help text has no {option}"
    if dmlrun is not None:
        run = tree.text("run")
        accepted = re.search(r"\*\.onnx \| ([^)]*)\)", run)[1].split(" | ")
        shown = re.search(r"dmlrun: ([^(]*)\(", helps.of("./run"))[1]
        for command in helps.dmlrun_commands():
            if command not in accepted:
                yield f"./run: does not accept dmlrun's command {command}"
            if command not in ("run", "help") and not re.search(rf"\b{command}\b", shown):
                yield f"./run --help: does not mention dmlrun's command {command}"
    if count < 40:
        yield f"only {count} options were found in the documents"


def main(arguments):
    if arguments[:1] == ["--installed"]:
        tree = Tree(Path(arguments[1]).resolve())
        sources = ("src/", "tests/", "include/", "bench/", "data/", "tools/", "scripts/", "python/", "packages.txt")
        wrong = list(broken_links(tree, lambda target: target.startswith(sources)))
    else:
        tree = Tree(Path(arguments[0]).resolve())
        dmlrun = str(Path(arguments[1]).resolve()) if len(arguments) > 1 else None
        wrong = [*broken_links(tree), *missing_files(tree), *wrong_environment(tree), *missing_messages(tree),
                 *wrong_commands(tree, dmlrun)]
    print("\n".join(wrong) or f"{len(tree.pages)} documents: everything that they name exists")
    return 1 if wrong or not tree.pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
