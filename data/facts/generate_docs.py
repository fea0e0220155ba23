#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the numbers, lists and tables in the documents that are derived from the facts, from the entries of src/ops
and from other documents.

usage: generate_docs.py            write them
       generate_docs.py --check    exit 1 and name the documents that are not current

A table or list is enclosed by `<!-- facts: NAME -->` and `<!-- end of facts -->`. A number inside a sentence has no
markers: COUNTS has a pattern for the words around it, and the documents in which it must occur.
"""
import json
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree may not be writable
import generate_directml  # noqa: E402
from generate_tables import Source  # noqa: E402
from entries import ROOT, read_entries  # noqa: E402

BLOCK = re.compile(r"(<!-- facts: ([\w-]+) -->\n).*?(<!-- end of facts -->)", re.DOTALL)
TYPES = ["FLOAT16", "FLOAT32", "FLOAT64", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT4", "UINT8", "UINT16", "UINT32",
         "UINT64"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def table(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)])


def filled(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


# ---- Tables and lists -----------------------------------------------------------------------------------------------

def level_key(level):
    return tuple(map(int, level.split("_")))


def history_of(operator, field, function):
    """Returns [(level, dimensions, types)] for a tensor, with only the levels at which something changed."""
    found = []
    for one in sorted(operator["support"], key=lambda one: level_key(one["feature_level"])):
        if one["tensor"] == field and function in one.get("for", [function]):
            types = ", ".join(sorted(one["data_types"], key=TYPES.index))
            if not found or found[-1][1:] != (one["dimension_counts"], types):
                found.append((one["feature_level"], one["dimension_counts"], types))
    return tuple(found)


def feature_level_rows(operators):
    """Tensors with the same support share lines, and so do REDUCE's functions."""
    for entry in read_entries():
        operator = operators[entry.operator]
        functions = sorted({name for one in operator["support"] for name in one.get("for", [])}) or [""]
        fields = [tensor["field"] for tensor in operator["tensors"]]
        alike = {}
        for function in functions:
            alike.setdefault(tuple(history_of(operator, field, function) for field in fields), []).append(function)
        for histories, names in alike.items():
            groups = {}
            for field, history in zip(fields, histories):
                groups.setdefault(history, []).append(field)
            for history, same in groups.items():
                tensors = "all" if len(groups) == 1 else ", ".join(same)
                which = tensors if names == [""] else f"{', '.join(names)}: {tensors}"
                yield from ((entry.operator, which, *change) for change in history)


def built_rows():
    built = sorted(entry.operator for entry in read_entries())
    prefixes = ("ELEMENT_WISE_", "ACTIVATION_")
    for prefix in prefixes:
        yield f"`{prefix}`", ", ".join(name.removeprefix(prefix) for name in built if name.startswith(prefix))
    yield "without a prefix", ", ".join(name for name in built if not name.startswith(prefixes))


def constraints_text(source):
    used = [source.entry_of(operator, text) for operator in source.operators for text in source.constraints_of(operator)]
    how = Counter(entry.how() for entry in used)
    functions = sorted({entry.function for entry in used if entry.function})
    return filled(
        f"{len(used)} constraints ({len(set(used))} distinct) are not groups of tensors that agree. Of these, "
        f"{how['expression']} are expressions, {how['function']} are checked by the functions "
        f"{', '.join(f'`{name}`' for name in functions)}, and {how['prose']} are prose: they concern the values in tensors, "
        f"or they require nothing.")


def blocks(source, api):
    operators = {operator["name"].removeprefix("DML_OPERATOR_"): operator for operator in source.operators}
    levels = next(enum for enum in api["enums"] if enum["name"] == "DML_FEATURE_LEVEL")["values"]
    names = [value["name"].removeprefix("DML_FEATURE_LEVEL_") for value in levels]
    return {
        "feature-levels": table(("operator", "tensors", "from level", "dimensions", "types"), feature_level_rows(operators)),
        "levels": filled(f"The levels are {', '.join(names[:-1])} and {names[-1]}."),
        "built": table(("prefix", "operators"), built_rows()),
        "constraints": constraints_text(source),
    }


# ---- Numbers inside sentences ---------------------------------------------------------------------------------------

def cases_of(page):
    """Returns the number of rows in a page's last table."""
    return len(re.findall(r"^\|", re.split(r"^\|---.*\n", read(page), flags=re.MULTILINE)[-1], re.MULTILINE))


def counts(source, api):
    """Returns (pattern, its numbers, documents that must have it). Any document that contains the pattern must have
    these numbers."""
    built, known = len(read_entries()), len(source.operators)
    suite = re.search(r"^\| \*\*all\*\* \| (\d+) \| (\d+) \|", read("docs/onnx.md"), re.MULTILINE)
    abi = re.search(r"(\d+) facts,", "\n".join(generate_directml.abi_program(api)))
    wrong = {name: (int(torch.replace(",", "")), int(numpy.replace(",", ""))) for name, numpy, torch in re.findall(
        r"^\| (exp|sin) \| \*\*0\*\* [^|]*\| ([\d,]+) [^|]*\| ([\d,]+) ",
        read("docs/numerics.md").partition("| FLOAT32: wrong answers")[2].partition("| FLOAT16: wrong")[0], re.MULTILINE)}
    interfaces = sum(one["name"] != "IUnknown" for one in api["interfaces"])
    return [
        (r"([\d,]+) of DirectML's ([\d,]+)\b", (built, known), ()),
        (r"(?:DirectML's|[Aa]ll|[Tt]he) ([\d,]+) operators\b", (known,), ("README.md", "tools/dmlrun/dmlrun.1")),
        (r"([\d,]+) mistakes\b", (cases_of("docs/directml-errors.md"),), ("README.md",)),
        (r"([\d,]+) wrong models\b", (cases_of("docs/dmlrun-errors.md"),), ("docs/dmlrun.md",)),
        (r"([\d,]+) structs, ([\d,]+) enumerations, ([\d,]+) interfaces", (len(api["structs"]), len(api["enums"]), interfaces),
         ("docs/directml.md",)),
        (r"([\d,]+) facts\b", (int(abi[1]),), ("data/README.md", "docs/architecture.md")),
        (r"results of EXP, PyTorch [\d.]+ rounds ([\d,]+) incorrectly and NumPy [\d.]+ rounds ([\d,]+)", wrong["exp"], ("README.md",)),
        (r"for SIN the counts are ([\d,]+) and ([\d,]+)\.", wrong["sin"], ("README.md",)),
        (r"([\d,]+) of the ([\d,]+) tests of ONNX's suite", (int(suite[2]), int(suite[1])), ("CHANGELOG.md",)),
    ]


def documents():
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "data" / "README.md",
            ROOT / "python" / "anydml" / "__init__.py", ROOT / "tools" / "dmlrun" / "dmlrun.1", ROOT / "include" / "anydml" / "anydml.h"]


def with_numbers(text, pattern, numbers):
    def put(found):
        whole, begin = found[0], found.start()
        for group in range(len(numbers), 0, -1):
            whole = f"{whole[:found.start(group) - begin]}{numbers[group - 1]:,}{whole[found.end(group) - begin:]}"
        return whole
    # A sentence may continue on the next line.
    return re.sub(pattern.replace(" ", r"\s+"), put, text)


def current():
    """Returns {path: text} for every document, with the numbers and tables that are derived from the facts."""
    api = json.loads(read("data/facts/api.json"))
    source = Source()
    result, numbers = blocks(source, api), counts(source, api)
    used, wanted = set(), {}
    for path in documents():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        # The changelog's entries for older versions must not change.
        head, history = re.match(r"(.*?^## .*?)(^## .*)?\Z", text, re.DOTALL | re.MULTILINE).groups() \
            if name == "CHANGELOG.md" else (text, None)
        for pattern, values, required in numbers:
            if name in required and not re.search(pattern.replace(" ", r"\s+"), head):
                sys.exit(f"{name}: expected a text like '{pattern}'; data/facts/generate_docs.py has its number")
            head = with_numbers(head, pattern, values)
        text = head + (history or "")
        for block in BLOCK.finditer(text):
            if block[2] not in result:
                sys.exit(f"{name}: 'facts: {block[2]}' is unknown to data/facts/generate_docs.py")
            used.add(block[2])
        wanted[path] = BLOCK.sub(lambda found: f"{found[1]}\n{result[found[2]]}\n\n{found[3]}", text)
    if unused := set(result) - used:
        sys.exit(f"no document has a block for {', '.join(sorted(unused))}")
    return wanted


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit("usage: generate_docs.py [--check]")
    wrong = {path: text for path, text in current().items() if path.read_text(encoding="utf-8") != text}
    for path, text in wrong.items():
        if not arguments:
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}" + (" is out of date; python3 data/facts/generate_docs.py writes it" if arguments else ""))
    return 1 if arguments and wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
