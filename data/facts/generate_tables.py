#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns api.json and operators.json into the constexpr tables of src/facts/facts_tables.h, and rules.txt into the
tables of src/facts/rules_tables.h.

usage: generate_tables.py            write the tables
       generate_tables.py --check    exit 1 if a committed table does not match the facts
       generate_tables.py --report   show how each constraint is checked
"""
import json
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree may not be writable
import rules  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "src" / "facts" / "facts_tables.h"
RULES_TARGET = HERE.parents[1] / "src" / "facts" / "rules_tables.h"

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
# Enumerations for tensors and for compilation; the enumerations for attributes are found in the operators' structs.
OTHER_ENUMS = ("DML_TENSOR_DATA_TYPE", "DML_TENSOR_TYPE", "DML_TENSOR_FLAGS", "DML_EXECUTION_FLAGS")


def fail(message):
    sys.exit(f"generate_tables.py: {message}")


def quote(text):
    return json.dumps(text)


def level(name):
    major, minor = name.split("_")
    return f"FeatureLevel::v{major}_{minor}"


def enum_prefix(enum):
    """Returns the prefix of a value's name: the enumeration's name, in the singular for flags."""
    for prefix in (f"{enum['name']}_", f"{enum['name'].removesuffix('S')}_"):
        if all(value["name"].startswith(prefix) for value in enum["values"]):
            return prefix
    fail(f"{enum['name']}: its values do not have its name as a prefix")


def type_mask(names, type_values):
    mask = 0
    for name in names:
        mask |= 1 << type_values[name]
    return f"0x{mask:04x}"


def rank_range(text):
    low, _, high = text.partition("-")
    return int(low), int(high or low)


class Arrays:
    """Collects array definitions. Each is written once, is named after its operator, and is referred to as a span."""

    def __init__(self):
        self.lines = []

    def add(self, element, name, rows):
        if not rows:
            return "{}"
        self.lines.append(f"inline constexpr {element} {name}[] = {{")
        self.lines.extend(f"    {row}," for row in rows)
        self.lines.append("};")
        return name


def struct_of(operator, structs, aliases):
    name = aliases.get(operator["desc_struct"], operator["desc_struct"])
    return structs.get(name) or fail(f"{operator['name']}: no struct {name} in api.json")


def used_enums(operators, structs, aliases, enums):
    field_types = {
        field["type"] for operator in operators for field in struct_of(operator, structs, aliases)["fields"]
    }
    return {name: enum for name, enum in enums.items() if name in field_types or name in OTHER_ENUMS}


def enum_rows(used, arrays):
    rows = []
    for name, enum in used.items():
        values = [f"{{{quote(value['name'])}, {value['value']}}}" for value in enum["values"]]
        rows.append(
            f"{{{quote(name)}, {quote(enum_prefix(enum))}, {'true' if enum['flags'] else 'false'}, "
            f"{arrays.add('EnumValue', f'k{name}_values', values)}}}"
        )
    return rows


def alias_rows(operators, enums, struct_aliases):
    """Returns the aliases of operators and of their structs. Both JSON files list the aliases and must agree."""
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
    """Returns the FieldType of a field. An unknown type is an error."""
    if spelling in enums:
        return "enumeration"
    return FIELD_TYPES.get(spelling) or fail(f"a field of type {spelling}, which has no FieldType")


def is_group(constraint, fields):
    """Whether a column of the table expresses the constraint. Such a constraint requires a group of fields to agree."""
    kind, _, rest = constraint.partition(":")
    return kind.startswith("same_") and all(word in fields for word in rest.split())


def operator_row(operator, structs, aliases, type_values, enums, arrays):
    name = operator["name"].removeprefix("DML_OPERATOR_")
    struct = struct_of(operator, structs, aliases)
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
        if is_group(constraint, index):
            kind, _, rest = constraint.partition(":")
            mask = sum(1 << index[word] for word in rest.split())
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


class Source:
    """The contents of the input files, before they are turned into tables."""

    def __init__(self):
        api = json.loads((HERE / "api.json").read_text())
        facts = json.loads((HERE / "operators.json").read_text())
        self.structs = {struct["name"]: struct for struct in api["structs"]}
        self.aliases = {alias["name"]: alias["target"] for alias in api["aliases"]}
        self.enums = {enum["name"]: enum for enum in api["enums"]}
        self.type_values = {
            value["name"].removeprefix("DML_TENSOR_DATA_TYPE_"): value["value"]
            for value in self.enums["DML_TENSOR_DATA_TYPE"]["values"]
        }
        self.levels = {
            value["name"].removeprefix("DML_FEATURE_LEVEL_"): int(value["value"])
            for value in self.enums["DML_FEATURE_LEVEL"]["values"]
        }
        self.operators = sorted(facts["operators"], key=lambda operator: operator["enum_value"])
        if len(self.operators) != facts["counts"]["operators"]:
            fail(f"{len(self.operators)} operators, {facts['counts']['operators']} promised")
        self.used_enums = used_enums(self.operators, self.structs, self.aliases, self.enums)
        try:
            self.entries, self.ours, self.fusable = rules.read(HERE / "rules.txt")
        except rules.RuleError as error:
            fail(str(error))

    def name_of(self, operator):
        return operator["name"].removeprefix("DML_OPERATOR_")

    def constraints_of(self, operator):
        """Returns the constraints that no column expresses, as text."""
        fields = {field["name"] for field in struct_of(operator, self.structs, self.aliases)["fields"]}
        return [text for text in operator["constraints"] if not is_group(text, fields)]

    def entry_of(self, operator, text):
        entry = self.entries.get(text) or fail(f"{self.name_of(operator)}: rules.txt has nothing for: {text}")
        entry.used = True
        return entry

    def compiler(self, operator):
        fields = [
            (field["name"], field_type(field["type"], self.enums), "count_field" in field,
             field["type"] if field["type"] in self.enums else None)
            for field in struct_of(operator, self.structs, self.aliases)["fields"]
        ]
        values = {
            name: {value["name"].removeprefix(enum_prefix(enum)): value["value"] for value in enum["values"]}
            for name, enum in self.used_enums.items()
        }
        ranks = {}
        for row in operator["support"]:
            ranks[row["tensor"]] = max(ranks.get(row["tensor"], 0), rank_range(row["dimension_counts"])[1])
        return rules.Compiler(self.name_of(operator), fields, ranks, values, self.levels)


def operator_rules(source, operator, arrays):
    """Returns the rows of one operator's rules. Rules about sizes come last, since they depend on the other rules."""
    name = source.name_of(operator)
    compiler = source.compiler(operator)
    constraints = source.constraints_of(operator)
    entries = [(index, source.entry_of(operator, text)) for index, text in enumerate(constraints)]
    checks = []
    for _, entry in entries:
        how = {"expression": "by_expression", "function": "by_function", "prose": "prose"}[entry.how()]
        checks.append(f"{{CheckedBy::{how}, {quote(entry.function or entry.prose or '')}}}")
    entries += [(-1, entry) for entry in source.ours if name in entry.operators]
    rows, usual = [], []
    for index, entry in sorted(entries, key=lambda pair: pair[1].text.startswith("size:")):
        if entry.function:
            rows.append(f"{{{index}, RuleFunction::{entry.function}, RuleNode::kNone, 0, 0}}")
        for into, lines in ((rows, entry.rules), (usual, entry.usual)):
            for line in lines:
                try:
                    compiled = compiler.rules_of(line)
                except rules.RuleError as error:
                    fail(f"{name}: {line}\n  {error}")
                for root, needs, reads in compiled:
                    into.append(f"{{{index}, RuleFunction::none, {root}, 0x{needs:x}, 0x{reads:x}}}")
    nodes = [rules.node_row(row) for row in compiler.nodes]
    return (
        f"{{{{{arrays.add('Rule', f'k{name}_rules', rows)}, {arrays.add('Rule', f'k{name}_usual', usual)}, "
        f"{arrays.add('RuleNode', f'k{name}_nodes', nodes)}}}, "
        f"{arrays.add('RuleCheck', f'k{name}_checks', checks)}}}"
    )


def fusable_rows(source):
    numbers = {source.name_of(operator): operator["enum_value"] for operator in source.operators}
    rows = []
    for fuse in source.fusable:
        for into in fuse.into or [None]:
            for name in fuse.names:
                rows.append(f"{{{numbers[name]}, {numbers[into] if into else 0}, {level(fuse.since)}}}")
    return rows


def admit_rows(source):
    rows = []
    for operator in source.operators:
        fields = [field["name"] for field in struct_of(operator, source.structs, source.aliases)["fields"]]
        for text in source.constraints_of(operator):
            for tensor, *types in source.entry_of(operator, text).admits:
                rows.append(
                    f"{{{operator['enum_value']}, {fields.index(tensor)}, {type_mask(types, source.type_values)}}}"
                )
    return rows


def generate_rules(source):
    arrays = Arrays()
    rows = [operator_rules(source, operator, arrays) for operator in source.operators]
    known = {source.name_of(operator) for operator in source.operators}
    for entry in source.entries.values():
        if not entry.used:
            fail(f"rules.txt: no operator has the constraint: {entry.text}")
    for entry in source.ours:
        if not set(entry.operators) <= known:
            fail(f"rules.txt: {entry.operators}: not all are operators")
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// The rules of DirectML's operators as constexpr tables, for the few files that need them at compile time;",
        "// other files include facts/rules.h. Generated by data/facts/generate_tables.py from rules.txt; edit "
        "that instead.",
        "#pragma once",
        "",
        '#include "facts/rules.h"',
        "",
        "// clang-format off",
        "namespace anydml::facts::tables {",
        "",
        "inline constexpr auto kNone = RuleNode::kNone;",
        "",
        *arrays.lines,
        "",
        "struct RulesOfOperator {",
        "  Rules rules;",
        "  std::span<const RuleCheck> checks;",
        "};",
        "",
        "// In the order of kOperators.",
        "inline constexpr RulesOfOperator kRules[] = {",
        *(f"    {row}," for row in rows),
        "};",
        "",
        "inline constexpr Fusable kFusable[] = {",
        *(f"    {row}," for row in fusable_rows(source)),
        "};",
        "",
        "inline constexpr Extra kExtra[] = {",
        *(f"    {row}," for row in admit_rows(source)),
        "};",
        "",
        "}  // namespace anydml::facts::tables",
        "// clang-format on",
        "",
    ]
    return "\n".join(lines)


def generate(source):
    structs, aliases, enums, operators = source.structs, source.aliases, source.enums, source.operators
    arrays = Arrays()
    rows = [operator_row(operator, structs, aliases, source.type_values, enums, arrays) for operator in operators]
    enum_arrays = Arrays()
    enum_lines = enum_rows(source.used_enums, enum_arrays)
    operator_aliases, struct_aliases = alias_rows(operators, enums, aliases)

    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Facts of the DirectML API as constexpr tables, for the few files that need them at compile time;",
        "// other files include facts/facts.h. Generated by data/facts/generate_tables.py from the JSON files "
        "in data/facts.",
        "#pragma once",
        "",
        '#include "facts/facts.h"',
        "",
        "// clang-format off",
        "namespace anydml::facts::tables {",
        "",
        "inline constexpr FeatureLevelName kFeatureLevels[] = {",
        *(f"    {{{quote(name)}, static_cast<FeatureLevel>(0x{value:x})}}," for name, value in source.levels.items()),
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


def report(source):
    """Prints how many constraints are checked in each way, and the constraints that no expression checks."""
    used = [source.entry_of(operator, text) for operator in source.operators for text in source.constraints_of(operator)]
    print(f"{len(used)} constraints, {len(set(used))} distinct")
    for how, count in Counter(entry.how() for entry in used).items():
        print(f"  {how}: {count}, {len({entry for entry in used if entry.how() == how})} distinct")
    print(f"  in addition, {len(source.ours)} of our own")
    for entry in source.entries.values():
        if entry.how() != "expression":
            print(f"{entry.how()}: {entry.text}: {entry.function or entry.prose}")


def main(arguments):
    if arguments not in ([], ["--check"], ["--report"]):
        fail("usage: generate_tables.py [--check | --report]")
    source = Source()
    if arguments == ["--report"]:
        report(source)
        return
    for target, text in ((TARGET, generate(source)), (RULES_TARGET, generate_rules(source))):
        if arguments == ["--check"]:
            if not target.exists() or target.read_text() != text:
                fail(f"{target.name} does not match the facts: run data/facts/generate_tables.py and commit the result")
            print(f"{target.name} is current")
        else:
            target.write_text(text)
            print(f"wrote {target.name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
