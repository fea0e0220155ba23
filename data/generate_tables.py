#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns api.json and operators.json into the constexpr tables of src/facts/facts_tables.h.

usage: generate_tables.py            write the table
       generate_tables.py --check    exit 1 if the committed table is not what the facts give
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "facts" / "facts_tables.h"

FIELD_KINDS = {
    "input": "input",
    "optional input": "optional_input",
    "output": "output",
    "optional output": "optional_output",
    "array of inputs": "input_array",
    "array of outputs": "output_array",
}
IN_PLACE = {
    None: "none",
    "InputTensor": "first_input",
    "one input": "one_input",
    "ATensor or BTensor": "one_input",
    "one or more inputs": "any_input",
    "each output may alias any input except TrainingStepTensor": "each_output_but_training_step",
}
# Enumerations of tensors and of compiling; those of attributes are found in the operators' structs.
OTHER_ENUMS = ("DML_TENSOR_DATA_TYPE", "DML_TENSOR_TYPE", "DML_TENSOR_FLAGS", "DML_EXECUTION_FLAGS")


def fail(message):
    sys.exit(f"generate_tables.py: {message}")


def quote(text):
    return json.dumps(text)


def level(name):
    major, minor = name.split("_")
    return f"FeatureLevel::v{major}_{minor}"


def enum_prefix(enum):
    """What stands before a value's own name: the enumeration's name, of flags in the singular."""
    for prefix in (f"{enum['name']}_", f"{enum['name'].removesuffix('S')}_"):
        if all(value["name"].startswith(prefix) for value in enum["values"]):
            return prefix
    fail(f"{enum['name']}: its values have no prefix in common with it")


def type_mask(names, type_values):
    mask = 0
    for name in names:
        mask |= 1 << type_values[name]
    return f"0x{mask:04x}"


def rank_range(text):
    low, _, high = text.partition("-")
    return int(low), int(high or low)


class Arrays:
    """Collects array definitions; each comes out once, named after its operator, and is referred to as a span."""

    def __init__(self):
        self.lines = []

    def add(self, element, name, rows):
        if not rows:
            return "{}"
        self.lines.append(f"inline constexpr {element} {name}[] = {{")
        self.lines.extend(f"    {row}," for row in rows)
        self.lines.append("};")
        return name


def enum_rows(operators, structs, aliases, enums, arrays):
    field_types = {
        field["type"]
        for operator in operators
        for field in structs[aliases.get(operator["desc_struct"], operator["desc_struct"])]["fields"]
    }
    rows = []
    for name, enum in enums.items():
        if name in field_types or name in OTHER_ENUMS:
            values = [f"{{{quote(value['name'])}, {value['value']}}}" for value in enum["values"]]
            rows.append(
                f"{{{quote(name)}, {quote(enum_prefix(enum))}, {'true' if enum['flags'] else 'false'}, "
                f"{arrays.add('EnumValue', f'k{name}_values', values)}}}"
            )
    return rows


def alias_rows(operators, enums, struct_aliases):
    """Other names of operators, and of their structs. Both files know them; they must know the same."""
    prefix = "DML_OPERATOR_"
    known = {operator["name"] for operator in operators}
    of_enum = {
        value["name"]: value["alias_of"] for value in enums["DML_OPERATOR_TYPE"]["values"] if "alias_of" in value
    }
    of_operators = {alias: operator["name"] for operator in operators for alias in operator.get("enum_aliases", [])}
    if of_enum != of_operators or not set(of_enum.values()) <= known:
        fail(f"api.json has the aliases {of_enum}, operators.json {of_operators}")
    of_structs = {}
    for operator in operators:
        other = struct_aliases.get(operator["desc_struct"])
        if other != operator.get("desc_struct_alias_of"):
            fail(f"{operator['name']}: its struct is {other} in api.json, {operator.get('desc_struct_alias_of')} here")
        if other:
            of_structs[other] = operator["desc_struct"]
    return (
        [f"{{{quote(alias.removeprefix(prefix))}, {quote(name.removeprefix(prefix))}}}" for alias, name in of_enum.items()],
        [f"{{{quote(alias)}, {quote(name)}}}" for alias, name in of_structs.items()],
    )


FIELD_TYPES = {
    "const DML_TENSOR_DESC*": "tensors", "FLOAT": "real", "float": "real", "UINT": "natural", "INT": "integer",
    "BOOL": "boolean", "const FLOAT*": "reals", "const UINT*": "naturals", "const INT*": "integers",
    "const DML_SCALE_BIAS*": "scale_bias", "DML_SIZE_2D": "size_2d", "DML_SCALAR_UNION": "scalar_union",
    "const DML_OPERATOR_DESC*": "operators",
}


def field_type(spelling, enums):
    """What readers of a field switch over; a spelling that nobody knows stops the build of the tables."""
    if spelling in enums:
        return "enumeration"
    return FIELD_TYPES.get(spelling) or fail(f"a field of type {spelling}, which has no FieldType")


def operator_row(operator, structs, aliases, type_values, enums, arrays):
    name = operator["name"].removeprefix("DML_OPERATOR_")
    struct_name = aliases.get(operator["desc_struct"], operator["desc_struct"])
    struct = structs.get(struct_name) or fail(f"{name}: no struct {struct_name} in api.json")
    tensors = {tensor["field"]: tensor for tensor in operator["tensors"]}
    attributes = {attribute["field"]: attribute for attribute in operator["attributes"]}

    index = {field["name"]: position for position, field in enumerate(struct["fields"])}
    fields = []
    for field in struct["fields"]:
        optional_since = "FeatureLevel::v1_0"
        if field["name"] in tensors:
            tensor = tensors[field["name"]]
            kind = FIELD_KINDS[tensor["kind"]]
            by_level = tensor.get("kind_by_feature_level", {})
            for key, value in by_level.items():
                if value.startswith("optional"):
                    optional_since = level(key)
                    break
        elif field["name"] in attributes:
            kind = "optional_attribute" if attributes[field["name"]].get("optional") else "attribute"
        else:
            fail(f"{name}: field {field['name']} is in the struct but not in operators.json")
        fields.append(
            f"{{{quote(field['name'])}, {quote(field['type'])}, FieldType::{field_type(field['type'], enums)}, "
            f"FieldKind::{kind}, {field['offset']}, "
            f"{field['size']}, {optional_since}, {index[field['count_field']] if 'count_field' in field else -1}}}"
        )

    groups, constraints = [], []
    for constraint in operator["constraints"]:
        kind, _, rest = constraint.partition(":")
        words = rest.split()
        if kind.startswith("same_") and all(word in index for word in words):
            mask = sum(1 << index[word] for word in words)
            groups.append(f"{{Same::{kind.removeprefix('same_')}, 0x{mask:x}}}")
        else:
            constraints.append(quote(constraint))

    support = []
    for row in operator["support"]:
        low, high = rank_range(row["dimension_counts"])
        support.append(
            f"{{{level(row['feature_level'])}, {index[row['tensor']]}, {low}, {high}, "
            f"{type_mask(row['data_types'], type_values)}, {quote(' '.join(row.get('for', [])))}}}"
        )

    return (
        f"{{{quote(name)}, {operator['enum_value']}, {quote(operator['desc_struct'])}, {struct['size']}, "
        f"{level(operator['introduced'])}, InPlace::{IN_PLACE[operator.get('in_place_alias')]}, "
        f"{quote(operator['formula'] or '')}, "
        f"{arrays.add('Field', f'k{name}_fields', fields)}, "
        f"{arrays.add('SameGroup', f'k{name}_same', groups)}, "
        f"{arrays.add('Support', f'k{name}_support', support)}, "
        f"{arrays.add('std::string_view', f'k{name}_constraints', constraints)}}}"
    )


def generate():
    api = json.loads((HERE / "api.json").read_text())
    facts = json.loads((HERE / "operators.json").read_text())
    structs = {struct["name"]: struct for struct in api["structs"]}
    aliases = {alias["name"]: alias["target"] for alias in api["aliases"]}
    enums = {enum["name"]: enum for enum in api["enums"]}
    type_values = {
        value["name"].removeprefix("DML_TENSOR_DATA_TYPE_"): value["value"]
        for value in enums["DML_TENSOR_DATA_TYPE"]["values"]
    }
    levels = [
        (value["name"].removeprefix("DML_FEATURE_LEVEL_"), value["value"])
        for value in enums["DML_FEATURE_LEVEL"]["values"]
    ]

    arrays = Arrays()
    operators = sorted(facts["operators"], key=lambda operator: operator["enum_value"])
    if len(operators) != facts["counts"]["operators"]:
        fail(f"{len(operators)} operators, {facts['counts']['operators']} promised")
    rows = [operator_row(operator, structs, aliases, type_values, enums, arrays) for operator in operators]
    enum_arrays = Arrays()
    enum_lines = enum_rows(operators, structs, aliases, enums, enum_arrays)
    operator_aliases, struct_aliases = alias_rows(operators, enums, aliases)

    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Facts of the DirectML API as constexpr tables. Made by data/generate_tables.py from data/*.json: edit those.",
        "// Included by the few files that need the tables at compile time; facts.h is what others use.",
        "#pragma once",
        "",
        '#include "facts/facts.h"',
        "",
        "// clang-format off",
        "namespace anydml::facts::tables {",
        "",
        "inline constexpr FeatureLevelName kFeatureLevels[] = {",
        *(f"    {{{quote(name)}, static_cast<FeatureLevel>(0x{int(value):x})}}," for name, value in levels),
        "};",
        "",
        *enum_arrays.lines,
        "",
        "inline constexpr Enum kEnums[] = {",
        *(f"    {row}," for row in enum_lines),
        "};",
        "",
        *arrays.lines,
        "",
        "inline constexpr Operator kOperators[] = {",
        *(f"    {row}," for row in rows),
        "};",
        "",
        "inline constexpr Alias kOperatorAliases[] = {",
        *(f"    {row}," for row in operator_aliases),
        "};",
        "inline constexpr Alias kStructAliases[] = {",
        *(f"    {row}," for row in struct_aliases),
        "};",
        "",
        "}  // namespace anydml::facts::tables",
        "// clang-format on",
        "",
    ]
    return "\n".join(lines)


def main(arguments):
    if arguments not in ([], ["--check"]):
        fail("usage: generate_tables.py [--check]")
    text = generate()
    if arguments == ["--check"]:
        if not TARGET.exists() or TARGET.read_text() != text:
            fail(f"{TARGET.name} is not what the facts give: run data/generate_tables.py and commit the result")
        print(f"{TARGET.name} is current")
        return
    TARGET.write_text(text)
    print(f"wrote {TARGET.name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
