#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes DirectML.h and directml_guids.h from the facts in api.json, and a program that checks a compiler's view of them.

usage: generate_directml.py              write include/anydml/DirectML.h and directml_guids.h
       generate_directml.py --check      exit 1 if the committed headers are not what the facts give
       generate_directml.py --abi FILE   write the checking program to FILE
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include" / "anydml"
OLDEST = "0x1000"

BANNER = [
    "// SPDX-License-Identifier: MIT",
    "// {what}",
    "// Made by data/generate_directml.py from data/api.json: edit those. Independent of Microsoft and not affiliated.",
    "// clang-format off",
]

TARGET_VERSION = """\
// Which level's declarations are visible. Values and layouts never depend on it.
#if !defined(DML_TARGET_VERSION)
#if !defined(NTDDI_VERSION) || defined(DML_TARGET_VERSION_USE_LATEST)
#define DML_TARGET_VERSION 0x6400
#elif defined(NTDDI_WIN10_ZN) && NTDDI_VERSION >= NTDDI_WIN10_ZN
#define DML_TARGET_VERSION 0x6000
#elif defined(NTDDI_WIN10_NI) && NTDDI_VERSION >= NTDDI_WIN10_NI
#define DML_TARGET_VERSION 0x5000
#elif defined(NTDDI_WIN10_CO) && NTDDI_VERSION >= NTDDI_WIN10_CO
#define DML_TARGET_VERSION 0x4000
#elif defined(NTDDI_WIN10_FE) && NTDDI_VERSION >= NTDDI_WIN10_FE
#define DML_TARGET_VERSION 0x3000
#elif defined(NTDDI_WIN10_VB) && NTDDI_VERSION >= NTDDI_WIN10_VB
#define DML_TARGET_VERSION 0x2000
#else
#define DML_TARGET_VERSION 0x1000
#endif
#endif"""


class Gated:
    """Lines, with runs of the same target version under one #if."""

    def __init__(self):
        self.lines = []
        self.version = OLDEST

    def at(self, version):
        if version != self.version:
            if self.version != OLDEST:
                self.lines.append("#endif")
            if version != OLDEST:
                self.lines.append(f"#if DML_TARGET_VERSION >= {version}")
            self.version = version
        return self

    def add(self, *lines):
        self.lines.extend(lines)
        return self

    def end(self):
        self.at(OLDEST)
        return self.lines


def declare(type_name, name):
    base, bracket, size = type_name.partition("[")
    return f"{base} {name}{bracket}{size}"


def parameters(items):
    return ", ".join(declare(item["type"], item["name"]) for item in items)


def enum_lines(enum):
    body = Gated()
    for value in enum["values"]:
        number = value.get("alias_of", value["value"])
        body.at(value["min_target_version"]).add(f"    {value['name']} = {number},")
    # Everything in one enumeration comes at its own version or later; the outer #if is the caller's.
    lines = [f"enum {enum['name']}", "{", *body.end(), "};"]
    if enum["flags"]:
        lines.append(f"DEFINE_ENUM_FLAG_OPERATORS({enum['name']})")
    return lines


def struct_lines(struct):
    fields = [f"    {declare(field['type'], field['name'])};" for field in struct["fields"]]
    return [f"{struct['kind']} {struct['name']}", "{", *fields, "};"]


def interface_lines(interface):
    lines = [f"struct DECLSPEC_UUID(\"{interface['iid']}\") DECLSPEC_NOVTABLE {interface['name']} : {interface['base']}", "{"]
    for method in interface["methods"]:
        declarator = (f"STDMETHOD({method['name']})" if method["returns"] == "HRESULT"
                      else f"STDMETHOD_({method['returns']}, {method['name']})")
        lines.append(f"    {declarator}({parameters(method['params'])}) PURE;")
    return lines + ["};"]


def header(api):
    interfaces = [interface for interface in api["interfaces"] if interface["name"] != "IUnknown"]
    out = Gated()
    out.add(*(line.format(what="The DirectML API of feature level 6.4: every constant, enumeration, struct and interface.")
              for line in BANNER),
            "#ifndef DIRECTML_H", "#define DIRECTML_H", "#pragma once", "",
            "#ifndef __cplusplus", "#error \"DirectML.h needs C++\"", "#endif", "",
            "// DirectX-Headers gives the types of COM and Direct3D 12; a program may have included its own before.",
            "#ifndef __d3d12_h__", "#ifndef _WIN32", "#include <wsl/winadapter.h>", "#endif",
            "#include <directx/d3d12.h>", "#endif", "", *TARGET_VERSION.splitlines(), "")
    for interface in interfaces:
        out.at(interface["min_target_version"]).add(f"struct {interface['name']};")
    out.at(OLDEST).add("")
    for constant in api["constants"]:
        out.at(constant["min_target_version"]).add(f"const {constant['type']} {constant['name']} = {constant['value']};")
    out.at(OLDEST).add("")
    for enum in api["enums"]:
        out.at(enum["min_target_version"]).add(*enum_lines(enum), "")
    for struct in api["structs"]:
        out.at(struct["min_target_version"]).add(*struct_lines(struct), "")
        for alias in api["aliases"]:
            if alias["target"] == struct["name"]:
                out.at(alias["min_target_version"]).add(f"typedef {alias['target']} {alias['name']};", "")
    out.at(OLDEST).add("// COM interfaces have no virtual destructor, and no program need hear of it.",
                       "#ifdef __GNUC__", "#pragma GCC diagnostic push",
                       '#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"', "#endif", "")
    for interface in interfaces:
        out.at(interface["min_target_version"]).add(*interface_lines(interface), "")
    out.at(OLDEST).add("#ifdef __GNUC__", "#pragma GCC diagnostic pop", "#endif", "")
    for function in api["functions"]:
        out.at(function["min_target_version"]).add(
            f"STDAPI {function['name']}({parameters(function['params'])});", "")
    return out.at(OLDEST).add("#endif  // DIRECTML_H", "").lines


def guid_numbers(iid):
    a, b, c, d, e = iid.split("-")
    tail = d + e
    return ", ".join([f"0x{a}", f"0x{b}", f"0x{c}"] + [f"0x{tail[i:i + 2]}" for i in range(0, 16, 2)])


def guids(api):
    out = Gated()
    out.add(*(line.format(what="The interface ids of DirectML, for __uuidof, IID_PPV_ARGS and ComPtr on Linux.")
              for line in BANNER),
            "// In a file of its own because some programs declare these ids themselves beside DirectML.h.",
            "#ifndef ANYDML_DIRECTML_GUIDS_H", "#define ANYDML_DIRECTML_GUIDS_H", "#pragma once", "",
            "#include \"DirectML.h\"", "#include <dxguids/dxguids.h>", "")
    for interface in api["interfaces"]:
        if interface["name"] != "IUnknown":
            out.at(interface["min_target_version"]).add(
                f"WINADAPTER_IID({interface['name']}, {guid_numbers(interface['iid'])});")
    return out.at(OLDEST).add("", "#endif  // ANYDML_DIRECTML_GUIDS_H", "").lines


def abi_program(api):
    """Every fact as a check: what can be a constant is a static_assert, vtable slots are read from member pointers."""
    facts = 0
    lines = ["// Made by data/generate_directml.py --abi from data/api.json.", "#include <anydml/directml_guids.h>", "",
             "#include <cstddef>", "#include <cstdio>", "#include <cstring>", "#include <type_traits>", "",
             "// The slot of a virtual function, from the Itanium ABI's member pointers.",
             "template <class Method>", "static long slot_of(Method method) {", "  long words[2];",
             "  static_assert(sizeof(method) == sizeof(words), \"\");", "  std::memcpy(words, &method, sizeof(words));",
             "#if defined(__aarch64__)", "  return words[0] / 8;", "#else", "  return (words[0] - 1) / 8;", "#endif", "}",
             "", "static int failures = 0;", "static void check(bool right, const char* what) {",
             "  if (!right) {", "    std::printf(\"wrong: %s\\n\", what);", "    ++failures;", "  }", "}", ""]

    def fact(condition, text):
        nonlocal facts
        facts += 1
        lines.append(f"static_assert({condition}, \"{text}\");")

    for base in api["base_types"]:
        fact(f"sizeof({base['name']}) == {base['size']}", f"size of {base['name']}")
    for constant in api["constants"]:
        fact(f"{constant['name']} == {constant['value']}", constant["name"])
    for enum in api["enums"]:
        fact(f"sizeof({enum['name']}) == {enum['size']}", f"size of {enum['name']}")
        for value in enum["values"]:
            fact(f"static_cast<unsigned>({value['name']}) == {value['value']}u", value["name"])
    for struct in api["structs"]:
        name = struct["name"]
        fact(f"sizeof({name}) == {struct['size']}", f"size of {name}")
        fact(f"alignof({name}) == {struct['align']}", f"alignment of {name}")
        for field in struct["fields"]:
            member = f"{name}::{field['name']}"
            fact(f"offsetof({name}, {field['name']}) == {field['offset']}", f"offset of {member}")
            fact(f"sizeof({member}) == {field['size']}", f"size of {member}")
    for alias in api["aliases"]:
        fact(f"std::is_same<{alias['name']}, {alias['target']}>::value", alias["name"])
    lines += ["", "int main() {"]
    for interface in api["interfaces"]:
        name = interface["name"]
        if interface["base"]:
            facts += 1
            lines.append(f"  static_assert(std::is_base_of<{interface['base']}, {name}>::value, \"{name}\");")
        if name != "IUnknown":
            facts += 1
            lines.append(f"  {{ const GUID expected = {{{', '.join(guid_numbers(interface['iid']).split(', ')[:3])}, "
                         f"{{{', '.join(guid_numbers(interface['iid']).split(', ')[3:])}}}}};")
            lines.append(f"    const GUID actual = __uuidof({name});")
            lines.append(f"    check(std::memcmp(&expected, &actual, sizeof(GUID)) == 0, \"IID of {name}\"); }}")
        for method in interface["methods"]:
            types = ", ".join(parameter["type"] for parameter in method["params"])
            facts += 2  # its signature, its slot
            lines.append(f"  {{ {method['returns']} (STDMETHODCALLTYPE {name}::*method)({types}) = &{name}::{method['name']};")
            lines.append(f"    check(slot_of(method) == {method['vtable_slot']}, \"{name}::{method['name']}\"); }}")
    for function in api["functions"]:
        facts += 1
        types = ", ".join(parameter["type"] for parameter in function["params"])
        lines.append(f"  static_assert(std::is_same<decltype({function['name']}), {function['returns']}({types})>::value, "
                     f"\"{function['name']}\");")
    lines += [f"  std::printf(\"{facts} facts, %d different\\n\", failures);", "  return failures == 0 ? 0 : 1;", "}", ""]
    return lines


def main(arguments):
    api = json.loads((HERE / "api.json").read_text())
    if len(arguments) == 2 and arguments[0] == "--abi":
        Path(arguments[1]).write_text("\n".join(abi_program(api)))
        return
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    for name, lines in (("DirectML.h", header(api)), ("directml_guids.h", guids(api))):
        target, text = INCLUDE / name, "\n".join(lines)
        if not arguments:
            target.write_text(text)
            print(f"wrote {name}: {len(lines)} lines")
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"generate_directml.py: {name} is not what the facts give: run data/generate_directml.py and commit")
        else:
            print(f"{name} is current")


if __name__ == "__main__":
    main(sys.argv[1:])
