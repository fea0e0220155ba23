# SPDX-License-Identifier: MIT
"""Reads rules.txt (the comment at its top describes the format), checks every rule against the fields of its operators,
and turns it into nodes of src/facts/rules.h. generate_tables.py writes them."""
import ast
import re
import struct

NONE = 0xFFFF
COMPARISONS = {ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
               ast.GtE: "greater_equal"}
MIRRORED = {"equal": "equal", "not_equal": "not_equal", "less": "greater", "less_equal": "greater_equal",
            "greater": "less", "greater_equal": "less_equal"}
ARITHMETIC = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
TENSOR_PARTS = {"DimensionCount": ("rank", "integer"), "DataType": ("data_type", "DML_TENSOR_DATA_TYPE"),
                "Flags": ("flags", "DML_TENSOR_FLAGS")}
PAIRS = {"size_2d": ("Width", "Height"), "scale_bias": ("Scale", "Bias")}
ARRAYS = {"reals": "real", "naturals": "integer", "integers": "integer"}
NUMBERS = {"real": "real", "natural": "integer", "integer": "integer", "boolean": "integer"}


class RuleError(Exception):
    pass


def need(condition, message):
    if not condition:
        raise RuleError(message)


class Entry:
    """The rules.txt entry for one constraint."""

    def __init__(self, text, operators=None):
        self.text = text
        self.operators = operators  # for a rule that we added: the operators that it applies to
        self.rules, self.usual, self.lets, self.admits = [], [], [], []
        self.function = self.prose = None
        self.used = False

    def how(self):
        return "function" if self.function else "prose" if self.prose else "expression"

    def add(self, line):
        word, _, rest = line.partition(" ")
        if word == "note:":
            return
        if word == "prose:":
            self.prose = rest
        elif word == "call":
            self.function = rest
        elif word == "admit":
            self.admits.append(rest.split())
        elif word == "let":
            name, _, value = rest.partition(" = ")
            self.lets.append((name, value))
        else:
            for name, value in self.lets:
                line = re.sub(rf"(?<![\w.]){name}(?!\w)", value, line)
            if word == "usually":
                self.usual.append(line.removeprefix("usually "))
            else:
                self.rules.append(line)


class Fuse:
    def __init__(self, words, names):
        self.names = names.split()
        self.into, self.since = [], "1_0"
        kind = None
        for word in words:
            if word in ("into", "from"):
                kind = word
            elif kind == "from":
                self.since = word
            else:
                self.into.append(word)


def read(path):
    entries, ours, fusable = {}, [], []
    current = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    "):
            need(current is not None, f"rules.txt:{number}: does not belong to a constraint")
            current.add(line.strip())
        elif line.startswith(("fuse:", "fuse ")):
            head, _, names = line.partition(":")
            fusable.append(Fuse(head.split()[1:], names))
            current = None
        elif line.startswith("also "):
            head, _, text = line.partition(":")
            current = Entry(text.strip(), head.split()[1:])
            ours.append(current)
        else:
            need(line not in entries, f"rules.txt:{number}: the constraint occurs twice")
            current = entries[line] = Entry(line)
    for entry in [*entries.values(), *ours]:
        ways = [bool(entry.rules), bool(entry.function), bool(entry.prose)]
        only_usual = entry.operators is not None and entry.usual and not any(ways)
        need(sum(ways) == 1 or only_usual, f"{entry.text}: expected exactly one of rules, a function or prose")
    return entries, ours, fusable


def split_clauses(line):
    """Splits a rule at the colons outside brackets: ["for i in range(2)", "if i != Axis", "A == B"]."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(line):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ":" and depth == 0:
            parts.append(line[start:position].strip())
            start = position + 1
    return [*parts, line[start:].strip()]


def parse(text):
    text = re.sub(r"\b(\d)_(\d)\b", r"LEVEL_\1_\2", text)
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise RuleError(f"{text}: {error.msg}") from error


class Compiler:
    """Compiles the rules of one operator. `fields` has a tuple (name, FieldType, is an array, enumeration) for each
    field, in the struct's order. `ranks` has each tensor's maximum number of dimensions."""

    def __init__(self, name, fields, ranks, enums, levels):
        self.name, self.ranks, self.enums, self.levels = name, ranks, enums, levels
        self.fields = {field[0]: (index, *field[1:]) for index, field in enumerate(fields)}
        self.nodes, self.known = [], {}
        self.variables = []
        self.reads = self.needs = 0

    def rules_of(self, line):
        """Returns (root, needs, reads) for each rule that results from a line."""
        clauses = split_clauses(line)
        if clauses[0].startswith("only "):
            return self.rules_of(":".join(clauses[1:])) if self.name in clauses[0].split()[1:] else []
        if clauses[0].startswith("each "):
            name, _, members = clauses[0].removeprefix("each ").partition(" in ")
            rest = ":".join(clauses[1:])
            return [rule for member in members.split(",")
                    for rule in self.rules_of(re.sub(rf"(?<![\w.]){name}(?!\w)", member.strip(), rest))]
        return [self.rule(clauses[:-1], *claim) for claim in self.claims(parse(clauses[-1]))]

    def rule(self, clauses, build, more_clauses=()):
        self.variables, self.reads, self.needs = [], 0, 0
        root = self.statement([*clauses, *more_clauses], build)
        return root, self.needs, self.reads

    def statement(self, clauses, build):
        if not clauses:
            return build()
        first, rest = clauses[0], clauses[1:]
        if first.startswith("if "):
            condition = self.condition(parse(first.removeprefix("if ")))
            return self.node("when", a=condition, b=self.statement(rest, build))
        need(first.startswith("for "), f"{first}: expected for, if, each or only")
        variable, _, numbers = first.removeprefix("for ").partition(" in ")
        low, high = self.range(parse(numbers))
        slot = self.bind(variable.strip())
        body = self.statement(rest, build)
        self.variables.pop()
        return self.node("each", a=low, b=high, c=body, value=slot)

    def bind(self, name):
        need(re.fullmatch("[a-z]", name) and name not in self.variables, f"{name}: expected a new letter")
        need(len(self.variables) < 4, "more than 4 variables")
        self.variables.append(name)
        return len(self.variables) - 1 + (ord(name) << 8)

    def range(self, tree):
        need(isinstance(tree, ast.Call) and tree.func.id == "range" and 1 <= len(tree.args) <= 2, "expected range(...)")
        bounds = [self.integer(argument) for argument in tree.args]
        return (NONE, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])

    def claims(self, tree):
        """Returns functions that build each comparison in a claim together with the clauses before it."""
        need(isinstance(tree, ast.Compare), f"{ast.unparse(tree)}: a claim must be a comparison")
        sides = [tree.left, *tree.comparators]
        if isinstance(sides[1], ast.List):
            return self.shape_claims(*sides)
        if isinstance(tree.ops[0], ast.In):
            return [(lambda: self.one_of(*sides),)]
        claims = []
        for left, operation, right in zip(sides, tree.ops, sides[1:]):
            name = COMPARISONS[type(operation)]
            swap = not self.blames(left) or (len(sides) == 3 and not claims)
            if swap:
                left, right, name = right, left, MIRRORED[name]
            claims.append((lambda name=name, left=left, right=right: self.compare(name, left, right),))
        return claims

    def shape_claims(self, left, right):
        need(isinstance(left, ast.Attribute) and left.attr == "Sizes", "only X.Sizes can be compared with a list")
        tensor = ast.unparse(left.value)
        claims = []
        for position, size in enumerate(right.elts):
            if not (isinstance(size, ast.Name) and size.id == "_"):
                one = parse(f"{tensor}.Sizes[{position - len(right.elts)}]")
                claims.append((lambda one=one, size=size: self.compare("equal", one, size),))
        if self.ranks.get(tensor, 8) <= len(right.elts):
            return claims
        further = [f"for z in range({tensor}.DimensionCount - {len(right.elts)})"]
        claims.append((lambda: self.compare("equal", parse(f"{tensor}.Sizes[z]"), parse("1")), further))
        return claims

    @staticmethod
    def blames(tree):
        return any(isinstance(node, ast.Name) and node.id[0].isupper() for node in ast.walk(tree))

    def compare(self, name, left, right):
        left_kind, right_kind = self.kind_of(left), self.kind_of(right)
        kind = left_kind or right_kind or "integer"
        need(self.blames(left), f"{ast.unparse(left)}: a claim must begin with a field")
        if kind == "level":
            raise RuleError("the level can only be used in a condition")
        a, b = self.value(left, kind), self.value(right, kind)
        return self.node(name, a=a, b=b)

    def one_of(self, left, right):
        if isinstance(right, ast.Name):
            index, kind, _, _ = self.field(right.id)
            need(kind in ("naturals", "integers"), f"{right.id}: expected an array of integers")
            self.use(index)
            return self.node("holds", field=index, a=self.integer(left))
        need(isinstance(right, ast.Set), f"{ast.unparse(right)}: expected {{...}} or an array")
        kind = self.kind_of(left) or "integer"
        value = self.value(left, kind)
        rest = NONE
        for item in reversed(right.elts):
            rest = self.node("item", a=self.value(item, kind), b=rest)
        return self.node("one_of", a=value, b=rest)

    def condition(self, tree):
        if isinstance(tree, ast.BoolOp):
            name = "both" if isinstance(tree.op, ast.And) else "either"
            parts = [self.condition(value) for value in tree.values]
            while len(parts) > 1:
                parts = [self.node(name, a=parts[0], b=parts[1]), *parts[2:]]
            return parts[0]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
            return self.node("negation", a=self.condition(tree.operand))
        if isinstance(tree, ast.Call):
            need(tree.func.id == "given", f"{ast.unparse(tree)}: expected given(...)")
            return self.value(tree, "integer")
        need(isinstance(tree, ast.Compare) and len(tree.ops) == 1, f"{ast.unparse(tree)}: expected a comparison")
        left, right = tree.left, tree.comparators[0]
        if isinstance(tree.ops[0], ast.In):
            return self.one_of(left, right)
        kind = self.kind_of(left) or self.kind_of(right) or "integer"
        return self.node(COMPARISONS[type(tree.ops[0])], a=self.value(left, kind), b=self.value(right, kind))

    def kind_of(self, tree):
        """Returns integer, real, level or an enumeration, or None if the other side determines the kind."""
        if isinstance(tree, ast.Constant):
            return None if isinstance(tree.value, int) else "real"
        if isinstance(tree, ast.Name):
            if tree.id == "level":
                return "level"
            if tree.id in self.fields:
                _, kind, array, enumeration = self.fields[tree.id]
                need(not array, f"{tree.id}: an array has no value")
                return enumeration if kind == "enumeration" else NUMBERS.get(kind)
            return "integer" if tree.id in self.variables else None
        if isinstance(tree, ast.Attribute):
            if tree.attr in TENSOR_PARTS and self.is_tensor(tree.value):
                return TENSOR_PARTS[tree.attr][1]
            return "real" if tree.attr in PAIRS["scale_bias"] else "integer"
        if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name):
            return ARRAYS[self.field(tree.value.id)[1]]
        return "integer"

    def integer(self, tree):
        return self.value(tree, "integer")

    def value(self, tree, kind):
        """Returns the node of an expression that must have this kind."""
        if isinstance(tree, ast.Constant):
            if kind == "real":
                return self.node("real", value=struct.unpack("<q", struct.pack("<d", float(tree.value)))[0])
            need(kind == "integer" and type(tree.value) is int, f"{tree.value}: expected {kind}")
            return self.node("constant", value=tree.value)
        own = self.kind_of(tree)
        need(own in (None, kind), f"{ast.unparse(tree)} is {own}; expected {kind}")
        if isinstance(tree, ast.Name):
            return self.named(tree.id, kind)
        if isinstance(tree, ast.Attribute):
            return self.attribute(tree)
        if isinstance(tree, ast.Subscript):
            return self.subscript(tree)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            if isinstance(tree.operand, ast.Constant):
                return self.node("constant", value=-tree.operand.value)
            return self.node("subtract", a=self.node("constant", value=0), b=self.integer(tree.operand))
        if isinstance(tree, ast.BinOp):
            return self.node(ARITHMETIC[type(tree.op)], a=self.integer(tree.left), b=self.integer(tree.right))
        if isinstance(tree, ast.IfExp):
            return self.node("choose", a=self.condition(tree.test), b=self.integer(tree.body), c=self.integer(tree.orelse))
        need(isinstance(tree, ast.Call), f"{ast.unparse(tree)}: not understood")
        return self.call(tree)

    def named(self, name, kind):
        if name in self.variables:
            slot = self.variables.index(name)
            return self.node("variable", value=slot + (ord(name) << 8))
        if name == "level":
            return self.node("level")
        if name.startswith("LEVEL_"):
            need(kind == "level", f"{name}: a level can only be compared with `level`")
            return self.node("constant", value=self.levels[name.removeprefix("LEVEL_")])
        if name in self.fields:
            index = self.fields[name][0]
            self.use(index)
            return self.node("attribute", field=index)
        values = self.enums.get(kind)
        need(values is not None and name in values, f"{name}: neither a field of {self.name} nor a value of {kind}")
        return self.node("constant", value=values[name], field=1 + list(self.enums).index(kind))

    def attribute(self, tree):
        if tree.attr in TENSOR_PARTS and self.is_tensor(tree.value):
            return self.tensor_node(TENSOR_PARTS[tree.attr][0], tree.value)
        index, kind, _, _ = self.field(tree.value.id)
        need(tree.attr in PAIRS.get(kind, ()), f"{ast.unparse(tree)}: {tree.value.id} has no such member")
        self.use(index)
        return self.node("member", field=index, value=PAIRS[kind].index(tree.attr))

    def subscript(self, tree):
        index = self.integer(tree.slice)
        if isinstance(tree.value, ast.Attribute):
            need(tree.value.attr == "Sizes", f"{ast.unparse(tree)}: only Sizes can be indexed")
            return self.tensor_node("size", tree.value.value, a=index)
        field, kind, array, _ = self.field(tree.value.id)
        need(array and kind in ARRAYS, f"{tree.value.id}: not an array of numbers")
        self.use(field)
        return self.node("element", field=field, a=index)

    def call(self, tree):
        name = tree.func.id
        if name in ("elements", "effective_rank"):
            return self.tensor_node(name, tree.args[0])
        if name == "given":
            rest = NONE
            for argument in reversed(tree.args):
                index = self.field(argument.id)[0]
                self.reads |= 1 << index
                rest = self.node("item", field=index, b=rest)
            return self.node("given", b=rest)
        if name == "len":
            index, _, array, _ = self.field(tree.args[0].id)
            need(array, f"{tree.args[0].id}: not an array")
            self.reads |= 1 << index
            return self.node("length", field=index)
        if name in ("sum", "product"):
            (generator,) = tree.args
            loop = generator.generators[0]
            low, high = self.range(loop.iter)
            slot = self.bind(loop.target.id)
            body = self.integer(generator.elt)
            self.variables.pop()
            return self.node(name, a=low, b=high, c=body, value=slot)
        if name == "abs":
            return self.node("absolute", a=self.integer(tree.args[0]))
        need(name in ("min", "max"), f"{name}: not a function of the rules")
        return self.node("minimum" if name == "min" else "maximum", a=self.integer(tree.args[0]), b=self.integer(tree.args[1]))

    def is_tensor(self, tree):
        name = tree.value.id if isinstance(tree, ast.Subscript) else tree.id
        return self.field(name)[1] == "tensors"

    def tensor_node(self, operation, tree, a=NONE):
        """Selects a tensor, or an element of an array of tensors, whose index is b."""
        which = NONE
        if isinstance(tree, ast.Subscript):
            which, tree = self.integer(tree.slice), tree.value
        index, kind, array, _ = self.field(tree.id)
        need(kind == "tensors" and array == (which != NONE), f"{tree.id}: expected one tensor")
        self.use(index)
        return self.node(operation, field=index, a=a, b=which)

    def field(self, name):
        need(name in self.fields, f"{name}: not a field of {self.name}")
        return self.fields[name]

    def use(self, index):
        self.reads |= 1 << index
        self.needs |= 1 << index

    def node(self, operation, field=0, a=NONE, b=NONE, c=NONE, value=0):
        row = (operation, field, a, b, c, value)
        if row not in self.known:
            self.known[row] = len(self.nodes)
            self.nodes.append(row)
        return self.known[row]


def node_row(row):
    operation, field, a, b, c, value = row
    text = ", ".join("kNone" if child == NONE else str(child) for child in (a, b, c))
    return f"{{RuleOp::{operation}, {field}, {text}, {value}}}"
