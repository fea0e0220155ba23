# SPDX-License-Identifier: MIT
"""Writes the site's page on the C API: each declaration of include/anydml/anydml.h with the comment before it."""
from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

HEADER = Path(__file__).resolve().parents[2] / "include" / "anydml" / "anydml.h"
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
SECTION = re.compile(r"^---- (.*?) -+$")
NAME = re.compile(r"\b(?:anydml_|ANYDML_)\w+")


class Entry(NamedTuple):
    comment: str
    declarations: list[str]


def comment_text(comment: str) -> str:
    """Strips the comment markers and the common indentation of the lines of a comment."""
    lines = [re.sub(r"^ \*( |$)", "", line) for line in comment.expandtabs().split("\n")]
    rest = textwrap.dedent("\n".join(lines[1:]))
    return f"{lines[0].strip()}\n{rest}".strip()


def end_of_declaration(text: str, start: int) -> int:
    """Returns the position after the declaration's semicolon, ignoring semicolons in braces and comments. A #define
    ends with its line, and an inline function with its body."""
    if text.startswith("#", start):
        return re.compile(r"(?<!\\)$", re.MULTILINE).search(text, start).start()
    inline = text.startswith("static inline", start)
    depth = 0
    for part in re.finditer(r"/\*.*?\*/|[{};]", text[start:], re.DOTALL):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if part[0] == ("}" if inline else ";") and depth == 0:
            return start + part.end()
    raise ValueError(f"a declaration without an end: {text[start:start + 60]}")


def read() -> tuple[str, list[tuple[str, list[Entry]]]]:
    """Returns the comment at the top, and the entries of each section. Declarations that are not separated by an empty
    line or a comment share the comment before them."""
    text = HEADER.read_text(encoding="utf-8")
    head = comment_text(COMMENT.findall(text)[1])
    start = text.index("/* The version of this header")
    end = text.rindex("#ifdef __cplusplus")
    sections: list[tuple[str, list[Entry]]] = [("Version", [])]
    comment, position = "", start
    while match := re.compile(r"\s*(?=\S)").match(text, position):
        gap, position = match[0], match.end()
        if position >= end:
            break
        entries = sections[-1][1]
        if found := COMMENT.match(text, position):
            position = found.end()
            read_comment = comment_text(found[1])
            if section := SECTION.match(read_comment):
                sections.append((section[1], []))
            elif not read_comment.startswith("clang-format"):
                comment = read_comment
            continue
        stop = end_of_declaration(text, position)
        declaration = text[position:stop]
        if not comment and entries and gap.count("\n") == 1:
            entries[-1].declarations.append(declaration)
        else:
            entries.append(Entry(comment, [declaration]))
        comment, position = "", stop
    return head, sections


def declared_names(declaration: str) -> list[str]:
    """Returns the name of the function, struct, type or macro, or the values of an anonymous enumeration."""
    if declaration.startswith("#define"):
        return [declaration.split()[1]]
    if declaration.startswith("enum"):
        return re.findall(r"^\s+(ANYDML_\w+)", declaration, re.MULTILINE)
    if pointer := re.match(r"typedef [^{;]*\(\*(\w+)\)", declaration):  # a pointer to a function
        return [pointer[1]]
    if declaration.startswith("typedef"):
        return [re.findall(r"\w+", declaration)[-1]]
    found = re.search(r"(\w+)\(", declaration.removeprefix("ANYDML_API"))
    return [found[1]] if found else []


def shown_declaration(declaration: str) -> str:
    """Returns the declaration as the page shows it, which is without the body of an inline function."""
    if declaration.startswith("static inline"):
        return declaration[:declaration.index(" {")] + ";"
    return declaration.removeprefix("ANYDML_API ")


def heading(entry: Entry) -> str:
    names = [name for one in entry.declarations for name in declared_names(one)]
    shown = names if len(names) <= 3 else [names[0], "…", names[-1]]
    return ", ".join(f"`{name}`" if name != "…" else name for name in shown)


def linked(text: str, anchors: dict[str, str]) -> str:
    """Converts plain text to Markdown: names become code, and the header's names become links."""
    def link(found: re.Match[str]) -> str:
        name = found[0]
        return f"[`{name}`](#{anchors[name]})" if name in anchors else f"`{name}`"

    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        escaped = parts[i].replace("&", "&amp;").replace("<", "&lt;").replace("*", "&#42;")
        parts[i] = re.sub(r"docs/([\w-]+\.md)", r"[\1](../\1)", NAME.sub(link, escaped))
    return "".join(parts)


def markdown(comment: str, anchors: dict[str, str]) -> list[str]:
    """Converts paragraphs and lists; lines that are indented further than the rest become code blocks."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", comment):
        if re.match(r"\s+[^\s-]", block):
            lines += ["```text" if "  " in block.strip() and ";\n" not in block else "```c", *textwrap.dedent(block).splitlines(), "```", ""]
            continue
        for line in re.sub(r"\.\n(?=\w)", ".  \n", block).splitlines():  # a line that ends with a sentence stays a line
            if line.strip().startswith("- ") and lines and lines[-1] and not lines[-1].lstrip().startswith("- "):
                if not any(one.startswith("- ") for one in lines[-6:]):
                    lines.append("")
            lines.append(linked(re.sub(r"^ {2}(- )?", r"\1" if "- " in line[:4] else "    ", line), anchors))
        lines.append("")
    return lines


def page() -> str:
    head, sections = read()
    anchors = {name: declared_names(entry.declarations[0])[0].lower() for _, entries in sections for entry in entries
               for one in entry.declarations for name in declared_names(one)}
    lines = ["# The C API", "",
             "Generated from `include/anydml/anydml.h`, which C and C++ include as `<anydml/anydml.h>`.", "",
             *markdown(head, anchors)]
    for title, entries in sections:
        lines += [f"## {title}", ""]
        for entry in entries:
            anchor = declared_names(entry.declarations[0])[0].lower()
            lines += [f"### {heading(entry)} {{ #{anchor} }}", "", *markdown(entry.comment, anchors), "```c",
                      *map(shown_declaration, entry.declarations), "```", ""]
    return "\n".join(lines)
