# SPDX-License-Identifier: MIT
"""Generates the site's page on each DirectML operator, and the page that lists them all, from the facts, the rules, the
entries of src/ops and data/python/examples.py. generate_site.py writes them."""
from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(ROOT / "data" / "facts"), str(ROOT / "data" / "python")]
sys.path.append(str(ROOT / "bench"))
import examples  # noqa: E402
import python_rule as python  # noqa: E402
import site_pictures  # noqa: E402
from entries import OPS, read_entries  # noqa: E402
from figures import reports, tables  # noqa: E402
from generate_tables import IN_PLACE, Source, enum_prefix, field_type, is_group, struct_of  # noqa: E402
Facts = dict[str, Any]

# The chapters in the list of operators. An operator belongs to the first chapter whose pattern matches its name.
CHAPTERS = (
    ("Element-wise", r"^ELEMENT_WISE_|^CAST$|^FILL_VALUE_"),
    ("Activations", r"^ACTIVATION_"),
    ("Reductions and sums", r"^REDUCE$|^ARG|^CUMULATIVE_|^TOP_K"),
    ("Convolution and pooling", r"CONVOLUTION|POOLING|^ROI_|^FOLD$|^UNFOLD$"),
    ("Matrices and attention", r"GEMM|MATRIX_MULTIPLY|ATTENTION"),
    ("Recurrent networks", r"^RNN$|^LSTM$|^GRU$"),
    ("Normalization", r"NORMALIZATION"),
    ("Quantization", r"QUANTIZE"),
    ("Resampling", r"RESAMPLE|UPSAMPLE|VALUE_SCALE"),
    ("Moving and choosing elements", r""),
)
IN_PLACE_TEXT = {"none": "no", "first_input": "OutputTensor may use InputTensor's memory",
                 "one_input": "the output may use the memory of one input",
                 "any_input": "the output may use the memory of any input",
                 "each_output_but_training_step": "each output may use the memory of any input except "
                                                  "TrainingStepTensor"}
SAME = {"datatype": "have the same DataType", "dimension_count": "have the same DimensionCount",
        "sizes": "have the same Sizes"}
FUNCTIONS = {"fused_activation": "whether the operator can be fused", "gather_shape": "the shape of the result",
             "gather_nd_shape": "the shape of the result", "scatter_nd_shape": "the shape of the result"}
DEFINED = "Every bit of the result is defined and the same on every device, except the sign and payload of a NaN:"


class Section(NamedTuple):
    title: str
    anchor: str
    text: str


def code(text: str) -> str:
    """Formats code so that it also works in a table cell, where a bar would end the cell."""
    return f"`{text}`" if "|" not in text else f"<code>{plain(text)}</code>"


def plain(text: str) -> str:
    """Escapes characters that have a meaning in Markdown."""
    for letter, escaped in (("&", "&amp;"), ("<", "&lt;"), ("|", "&#124;"), ("*", "&#42;"), ("_", "&#95;"), ("[", "&#91;")):
        text = text.replace(letter, escaped)
    return text


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows), ""]


def formula_lines(formula: str) -> list[str]:
    """Writes one line for each case."""
    return [line for part in formula.split("; ") for line in textwrap.wrap(part, 80, subsequent_indent="    ")]


def types_text(types: Iterable[str]) -> str:
    """Lists types, abbreviating runs of three or more: FLOAT16, FLOAT32, INT8 to INT64."""
    if not types:
        return "the documents leave them blank"
    return python.types_text([one for one in python.TYPE_ORDER if one in types]).upper().replace(" TO ", " to ").replace(
        " AND ", ", ")


def breakable(name: str) -> str:
    """Allows line breaks after underscores, for narrow screens."""
    return name.replace("_", "_<wbr>")


def level(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("_")))


def page_name(name: str) -> str:
    return f"{name.lower()}.md"


def has_cuda(name: str) -> bool:
    """Whether the operator's family in src/ops has CUDA kernels."""
    return any((OPS / entry.family / "cuda").is_dir() for entry in read_entries() if entry.operator == name)


def chapter(name: str) -> str:
    return next(title for title, pattern in CHAPTERS if re.search(pattern, name))


# ---- What the documents say about it --------------------------------------------------------------------------------

def sections(page: str) -> list[Section]:
    """Splits a document into its first lines and each `##` section."""
    parts = re.split(r"^## (.*)$", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    title = re.match(r"# (.*)", parts[0])
    found = [Section(title[1] if title else page, "", parts[0])]
    for heading, text in zip(parts[1::2], parts[2::2]):
        found.append(Section(heading, "#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-"), text))
    return found


def mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(python.short_name(name).upper())}\b", text) is not None


def row_about(section: Section, name: str) -> str | None:
    """Returns the second cell of the row about the operator; a row for LOGICAL_ covers all names with that prefix."""
    short = python.short_name(name).upper()
    for cells in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section.text, re.MULTILINE):
        words = re.findall(r"\w+", cells[0])
        if short in words or any(word.endswith("_") and short.startswith(word) for word in words):
            return cells[1]
    return None


def numerics(name: str) -> list[str]:
    """Refers to the operator's definition in numerics.md. Its later sections describe the implementation."""
    found = [one for one in sections("numerics.md") if one.title in ("The other operators", "Reductions")]
    first = sections("numerics.md")[0]
    candidates = [first] if "MODULUS" in name else found
    for section in candidates:
        row = row_about(section, name) if section is not first else None
        if row or mentions(section.text, name):
            where = f"[{section.title if section is first else f'Numerics: {section.title.lower()}'}]"
            text = f"{DEFINED} {where}(../../numerics.md{section.anchor})."
            row = re.sub(r"\]\((#|\w)", lambda link: f"](../../{'numerics.md#' if link[1] == '#' else link[1]}", row or "")
            return ["## To the bit", "", text, "", *([f"> {row}", ""] if row else [])]
    if name in python.built_names():
        return ["## To the bit", "", f"{DEFINED} [Numerics: every result, to the bit](../../numerics.md).", ""]
    return []


@cache
def speeds() -> tuple[list[str], dict[str, list[str]]]:
    """Returns the speeds on the machines that docs/performance has figures for."""
    kept = {file.stem: reports.read(file) for file in sorted((DOCS / "performance").glob("*.json"))}
    return tables.speeds(kept, sorted(python.built_names()))


def speed(name: str) -> list[str]:
    """Returns the speed figures for an implemented operator, and a link to the page with more figures."""
    if name not in python.built_names():
        return []
    titles, rows = speeds()
    shape, *cells = rows[name]
    figures = table(("machine", f"share and time, {shape}" if shape != "–" else "share"), zip(titles, cells))
    page, title = (("performance.md#what-was-measured", "How fast: what was measured") if "MODULUS" in name else
                   ("operator-speed.md", "The speed of every operator"))
    return ["## Speed", "", "Share of a pass over memory that moves the same bytes:", "", *figures, f"[{title}](../../{page}) has more, [How fast, and how that is measured](../../performance.md) "
            "explains them, and `dmlrun bench` measures on your machine.", ""]


# ---- The facts ------------------------------------------------------------------------------------------------------

class Pages:
    def __init__(self) -> None:
        self.source = Source()
        self.python = {op.name: op for op in python.read_operators()}
        self.built = python.built_names()
        self.library = site_pictures.find_library()

    def names(self) -> list[str]:
        return [self.source.name_of(operator) for operator in self.source.operators]

    def struct(self, operator: Facts) -> Facts:
        return struct_of(operator, self.source.structs, self.source.aliases)

    def model(self, name: str, example: examples.Example | None = None) -> str:
        """Returns the model for an example, by default for the operator's own example."""
        operator = next(one for one in self.source.operators if self.source.name_of(one) == name)
        fields = self.struct(operator)["fields"]
        union = any(field["type"] == "DML_SCALAR_UNION" for field in fields)
        named = (field["name"] for field in fields if field["type"] == "DML_TENSOR_DATA_TYPE")
        return examples.model(self.python[name], example or examples.EXAMPLES[name], next(named, None) if union else None)

    def summary(self, operator: Facts) -> list[str]:
        name = self.source.name_of(operator)
        state = ('!!! warning "Not built yet"\n    anydml knows its fields and rules, but using it is an error.'
                 if name not in self.built else
                 '!!! success "Built"\n    It runs on the CPU' + (" and on NVIDIA GPUs." if has_cuda(name) else "."))
        rows = [("DirectML", f"`{operator['name']}` = {operator['enum_value']}"),
                ("struct", f"`{operator['desc_struct']}`, {self.struct(operator)['size']} bytes"),
                ("feature level", f"{operator['introduced']} and newer"),
                ("in place", IN_PLACE_TEXT[IN_PLACE[operator.get("in_place_alias")]])]
        if operator.get("enum_aliases"):
            rows.append(("other names", ", ".join(f"`{alias}`" for alias in operator["enum_aliases"])))
        return [state, "", *(["```text", *formula_lines(operator["formula"]), "```", ""] if operator["formula"] else []),
                *table(("", ""), rows)]

    def fields(self, operator: Facts) -> Iterator[str]:
        tensors = {one["field"]: one for one in operator["tensors"]}
        optional = {one["field"] for one in operator["attributes"] if one.get("optional")}
        fields = self.struct(operator)["fields"]
        counted: dict[str, list[str]] = {}
        for field in fields:
            if "count_field" in field:
                counted.setdefault(field["count_field"], []).append(field["name"])
        rows, enums = [], []
        for field in fields:
            name = field["name"]
            kind = tensors[name]["kind"].removeprefix("optional ") if name in tensors else "attribute"
            may_be_null = name in optional or (name in tensors and tensors[name]["kind"].startswith("optional"))
            by_level = tensors.get(name, {}).get("kind_by_feature_level", {})
            since = next((one for one, text in by_level.items() if text.startswith("optional")), None)
            count = (f"as many as `{field['count_field']}` says" if "count_field" in field
                     else "counts " + python.english(f"`{one}`" for one in counted[name]) if name in counted else "")
            rows.append((f"`{name}`", kind, f"`{field['type']}`",
                         (f"from {since}" if since else "yes") if may_be_null else "no", str(field["offset"]), count))
            if field_type(field["type"], self.source.enums) == "enumeration" and field["type"] not in enums:
                enums.append(field["type"])
        yield from table(("field", "kind", "type", "optional", "offset", "count"), rows)
        for name in enums:
            enum = self.source.enums[name]
            values = ", ".join(f"`{value['name'].removeprefix(enum_prefix(enum))}` ({value['value']})"
                               for value in enum["values"])
            yield from (f"`{name}`: {values}.", "")

    def types(self, operator: Facts) -> Iterator[str]:
        """Tensors with the same support at every level share their rows."""
        groups: dict[tuple[Any, ...], list[str]] = {}
        for tensor in operator["tensors"]:
            rows = sorted((row for row in operator["support"] if row["tensor"] == tensor["field"]),
                          key=lambda row: (row.get("for", []), [-part for part in level(row["feature_level"])]))
            key = tuple((tuple(row.get("for", [])), row["feature_level"], row["dimension_counts"], tuple(row["data_types"]))
                        for row in rows)
            groups.setdefault(key, []).append(f"`{tensor['field']}`")
        some_for = any(row.get("for") for row in operator["support"])
        rows = []
        for key, names in groups.items():
            for which, since, dimensions, types in key:
                shown = types_text(types)
                rows.append((", ".join(names), *([", ".join(which)] if some_for else []), since, dimensions, shown))
        yield from table(("tensor", *(["for"] if some_for else []), "from level", "dimensions", "types"), rows)

    def rules(self, operator: Facts) -> Iterator[str]:
        name = self.source.name_of(operator)
        fields = {field["name"] for field in self.struct(operator)["fields"]}
        for constraint in operator["constraints"]:
            kind, _, rest = constraint.partition(": ")
            if is_group(constraint, fields):
                yield f"- {python.english(f'`{word}`' for word in rest.split())} {SAME[kind.removeprefix('same_')]}."
            else:
                yield from self.rule(constraint, self.source.entry_of(operator, constraint))
        for entry in self.source.ours:
            if name in entry.operators:
                yield from self.rule(f"also: {entry.text}", entry)

    def rule(self, text: str, entry: Any) -> Iterator[str]:
        kind, _, rest = text.partition(": ")
        yield f"- {kind.replace('_', ' ')}: {plain(rest)}"
        if entry.prose:
            yield f"    - Not checked: {plain(entry.prose)}."
        elif entry.function:
            yield f"    - A function checks {FUNCTIONS[entry.function]}."
        for line in entry.rules:
            yield f"    - Checked: {code(line)}"

    def python_part(self, op: python.Operator) -> list[str]:
        if op.name in python.HAND_WRITTEN:
            return [f"[`anydml.{op.python}`](../python.md#anydml{op.python}) is a function of the package. It accepts "
                    "every argument of a NumPy ufunc.", ""]
        head = f"anydml.{op.python}("
        is_ufunc = op.name in python.UFUNCS
        parts = python.ufunc_signature(op) if is_ufunc else python.signature(op)
        lines = ["```python", python.wrapped(head, parts, ")", len(head)), "```", ""]
        if op.name not in self.built:
            lines += ["The function will have this signature once the operator is built.", ""]
        if is_ufunc:
            return [*lines, "It is correctly rounded, and accepts every argument of a NumPy ufunc.", ""]
        return lines + [re.sub(r"``([^`]+)``", r"`\1`", f"- {note}") for note in python.notes(op)] + [""]

    def example_part(self, op: python.Operator) -> list[str]:
        example = examples.EXAMPLES[op.name]
        tabs = (("Python", "python", examples.python_code(op, example), examples.python_prints(example)),
                ("C", "c", examples.c_code(op, example), examples.c_prints(example)),
                ("JSON, for dmlrun", "json", self.model(op.name), examples.model_prints(op, example)))
        lines = ["## Examples", "", "A test runs all three and compares their output.", ""]
        for title, language, text, printed in tabs:
            lines += [f'=== "{title}"', ""]
            for fence, block in ((language, text), ("text", printed)):
                lines += [f"    ```{fence}", *(f"    {line}".rstrip() for line in block.splitlines()), "    ```", ""]
        return lines

    def page(self, operator: Facts) -> str:
        name = self.source.name_of(operator)
        op = self.python[name]
        rules = list(self.rules(operator))
        lines = ["---", f"title: {name}", "---", "", f"# {breakable(name)}", "", *self.summary(operator),
                 *site_pictures.part(self.library, name, operator)]
        if name in self.built:
            lines += self.example_part(op)
        lines += ["## Fields", "", *self.fields(operator)]
        lines += ["## Types by feature level", "", "A row applies from its level up to the next row of the same "
                  "tensor. [Feature levels](../../feature-levels.md) explains them. The C API and Python may "
                  "accept more types.", "", *self.types(operator)]
        if rules:
            lines += ["## Rules", "", *rules, ""]
        if operator.get("notes"):
            lines += ["## Notes", "", *(f"- {plain(note)}" for note in operator["notes"]), ""]
        lines += ["## In Python", "", *self.python_part(op), *numerics(name), *speed(name)]
        return "\n".join(lines).rstrip() + "\n"

    def index(self) -> str:
        lines = ["# Operators", "", f"DirectML has {len(self.source.operators)} operators; {len(self.built)} are built "
                 "here. Each has a page with its fields, its types at every feature level and its rules.", ""]
        for title, _ in CHAPTERS:
            members = [one for one in self.source.operators if chapter(self.source.name_of(one)) == title]
            lines += [f"## {title}", ""]
            lines += table(("built", "operator", "from level", "computes"),
                           (("yes" if name in self.built else "", f"[{name}]({page_name(name)})", one["introduced"],
                             code(one["formula"]) if one["formula"] else "")
                            for one in members for name in [self.source.name_of(one)]))
        return "\n".join(lines)

    def all(self) -> dict[str, str]:
        """Returns each page by its path below the operators' folder."""
        return {"index.md": self.index(),
                **{page_name(self.source.name_of(one)): self.page(one) for one in self.source.operators}}

    def navigation(self) -> list[Any]:
        folder = "reference/operators"
        found: list[Any] = [f"{folder}/index.md"]
        for title, _ in CHAPTERS:
            names = sorted(name for name in self.names() if chapter(name) == title)
            found.append({title: [{re.sub("^(ELEMENT_WISE|ACTIVATION)_", "", name): f"{folder}/{page_name(name)}"}
                                  for name in names]})
        return found
