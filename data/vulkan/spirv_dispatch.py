# SPDX-License-Identifier: MIT
"""Writes a function in SPIR-V assembly (spirv-dis --raw-id) as a loop around a switch over the number of the next
block. That is structured, whatever the branches of the function were, but slower than branches that are structured
themselves: spirv_repair.py uses it for functions that it cannot repair otherwise."""
import re

VALUE = re.compile(r"%\w+")
ENDS = {"OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpUnreachable", "OpKill"}


def parse(line):
    """The result id (or None), the opcode and the operands of a line."""
    words = line.split()
    if len(words) > 1 and words[1] == "=":
        return words[0], words[2], words[3:]
    return None, words[0], words[1:]


class Function:
    """A function as a header and blocks: (label, phis, instructions, terminator), each a parsed line."""

    def __init__(self, lines):
        self.header, self.blocks, self.variables = [], [], []
        for line in lines:
            result, op, operands = parse(line)
            if op in ("OpFunction", "OpFunctionParameter"):
                self.header.append(line)
            elif op == "OpLabel":
                self.blocks.append({"label": result, "phis": [], "body": [], "end": None})
            elif op == "OpVariable":
                self.variables.append(line)
            elif op == "OpPhi":
                self.blocks[-1]["phis"].append((result, operands))
            elif op in ENDS:
                self.blocks[-1]["end"] = (op, operands)
            elif op not in ("OpSelectionMerge", "OpLoopMerge", "OpFunctionEnd"):
                self.blocks[-1]["body"].append((result, op, operands))


def successors(end):
    op, operands = end
    if op == "OpBranch":
        return [operands[0]]
    if op == "OpBranchConditional":
        return operands[1:3]
    if op == "OpSwitch":
        return [word for word in operands[1:] if word.startswith("%")]
    return []


class Dispatcher:
    """Writes a function as a loop around a switch over the number of the next block. Values that another block uses are
    kept in variables."""

    def __init__(self, module, lines):
        self.module, self.function = module, Function(lines)
        self.defined = {}  # value -> (block, type)
        for block in self.function.blocks:
            for result, operands in block["phis"]:
                self.defined[result] = (block["label"], operands[0])
            for result, _, operands in block["body"]:
                if result:
                    self.defined[result] = (block["label"], operands[0])
        self.first = self.function.blocks[0]["label"]
        for line in self.function.header:
            result, _, operands = parse(line)
            self.defined[result] = (self.first, operands[0])
        assert not any(self.first in successors(block["end"]) for block in self.function.blocks)
        self.number = {block["label"]: i for i, block in enumerate(self.function.blocks)}
        self.variables, self.lines = {}, []

    def variable(self, key, kind):
        if key not in self.variables:
            self.variables[key] = (self.module.fresh(), kind)
        return self.variables[key][0]

    def is_elsewhere(self, value, label):
        home = self.defined.get(value)
        return home is not None and home[0] not in (label, self.first)

    def value_in(self, value, label, loaded):
        """The id that holds a value in a block, loaded once for each block."""
        if not self.is_elsewhere(value, label):
            return value
        if value not in loaded:
            kind = self.defined[value][1]
            loaded[value] = self.module.fresh()
            self.lines.append(f"{loaded[value]} = OpLoad {kind} {self.variable(value, kind)}")
        return loaded[value]

    def write_block(self, block, state, result, used_elsewhere):
        label, loaded = block["label"], {}
        keep = []
        for value, operands in block["phis"]:
            self.lines.append(f"{value} = OpLoad {operands[0]} {self.variable(('phi', value), operands[0])}")
            keep.append((value, operands[0]))
        for value, op, operands in block["body"]:
            operands = [self.value_in(word, label, loaded) if VALUE.fullmatch(word) else word for word in operands]
            self.lines.append((f"{value} = " if value else "") + " ".join([op, *operands]))
            if value:
                keep.append((value, operands[0]))
        if label != self.first:
            for value, kind in keep:
                if value in used_elsewhere:
                    self.lines.append(f"OpStore {self.variable(value, kind)} {value}")
        stores = []
        for target in dict.fromkeys(successors(block["end"])):
            for value, operands in self.block_of[target]["phis"]:
                incoming = dict(zip(operands[2::2], operands[1::2]))[label]
                stores.append((self.variable(("phi", value), operands[0]), self.value_in(incoming, label, loaded)))
        self.lines += [f"OpStore {to} {value}" for to, value in stores]
        op, operands = block["end"]
        uint, boolean = self.module.uint(), self.module.boolean()
        number = {target: self.module.constant(self.number[target]) for target in successors(block["end"])}
        if op == "OpReturnValue":
            self.lines.append(f"OpStore {result} {self.value_in(operands[0], label, loaded)}")
            following = self.module.constant(len(self.number))
        elif op == "OpBranch":
            following = number[operands[0]]
        elif op == "OpBranchConditional":
            following = self.module.fresh()
            condition = self.value_in(operands[0], label, loaded)
            self.lines.append(f"{following} = OpSelect {uint} {condition} {number[operands[1]]} {number[operands[2]]}")
        elif op == "OpSwitch":
            value, following = self.value_in(operands[0], label, loaded), number[operands[1]]
            kind = self.defined[operands[0]][1]
            for literal, target in zip(operands[2::2], operands[3::2]):
                same, chosen = self.module.fresh(), self.module.fresh()
                self.lines.append(f"{same} = OpIEqual {boolean} {value} {self.module.constant(int(literal), kind)}")
                self.lines.append(f"{chosen} = OpSelect {uint} {same} {number[target]} {following}")
                following = chosen
        else:
            assert op == "OpUnreachable", op
            following = self.module.constant(len(self.number))
        self.lines.append(f"OpStore {state} {following}")

    def write(self):
        blocks = self.function.blocks
        self.block_of = {block["label"]: block for block in blocks}
        used_elsewhere = set()
        for block in blocks:
            uses = [word for _, _, operands in block["body"] for word in operands] + block["end"][1]
            for target in successors(block["end"]):
                for _, operands in self.block_of[target]["phis"]:
                    uses.append(dict(zip(operands[2::2], operands[1::2]))[block["label"]])
            used_elsewhere |= {word for word in uses if self.is_elsewhere(word, block["label"])}
        uint, boolean = self.module.uint(), self.module.boolean()
        kind = parse(self.function.header[0])[2][0]
        state, result = self.variable("state", uint), self.variable("result", kind)
        head, pick, after, again, end = (self.module.fresh() for _ in range(5))
        self.write_block(blocks[0], state, result, used_elsewhere)
        self.lines.append(f"OpBranch {head}")
        before, self.lines = self.lines, []
        cases = []
        for block in blocks[1:]:
            self.lines.append(f"{block['label']} = OpLabel")
            self.write_block(block, state, result, used_elsewhere)
            self.lines.append(f"OpBranch {after}")
            cases.append(f"{self.number[block['label']]} {block['label']}")
        now, then, done, value = (self.module.fresh() for _ in range(4))
        last = self.module.constant(len(self.number))
        variables = [f"{name} = OpVariable {self.module.pointer(kind)} Function"
                     for name, kind in self.variables.values()]
        return [*self.function.header, f"{self.first} = OpLabel", *variables, *self.function.variables, *before,
                f"{head} = OpLabel", f"OpLoopMerge {end} {again} None", f"OpBranch {pick}", f"{pick} = OpLabel",
                f"{now} = OpLoad {uint} {state}", f"OpSelectionMerge {after} None",
                f"OpSwitch {now} {after} {' '.join(cases)}", *self.lines, f"{after} = OpLabel", f"OpBranch {again}",
                f"{again} = OpLabel", f"{then} = OpLoad {uint} {state}", f"{done} = OpIEqual {boolean} {then} {last}",
                f"OpBranchConditional {done} {end} {head}", f"{end} = OpLabel", f"{value} = OpLoad {kind} {result}",
                f"OpReturnValue {value}", "OpFunctionEnd"]
