# SPDX-License-Identifier: MIT
"""Repairs functions in SPIR-V assembly (spirv-dis --raw-id) as clang 22 writes them:

- Attributes of parameters, which only OpenCL's kernels may have, are dropped.
- Branches without a merge block of their own, or with a wrong one, get one. clang ends an inner branch directly at the
  merge block of the branch around it. spirv-val accepts that in some cases, but Mesa 22.3 compiles it wrongly. The new
  merge block leads to the outer one. If that is impossible, the function becomes a loop around a switch.
- Switches over 64-bit integers, which our linker does not read, become switches over 32-bit integers."""
import re

from spirv_dispatch import Dispatcher, parse

MERGES = ("OpSelectionMerge", "OpLoopMerge")


class Block:
    def __init__(self, label):
        self.label, self.phis, self.body, self.merge, self.end = label, [], [], None, None

    def successors(self):
        _, op, operands = self.end
        words = operands[1:] if op in ("OpBranchConditional", "OpSwitch") else operands if op == "OpBranch" else []
        return list(dict.fromkeys(word for word in words if word.startswith("%")))

    def lines(self):
        def write(line):
            result, op, operands = line
            return " ".join(([f"{result} ="] if result else []) + [op, *operands])
        lines = [*self.phis, *self.body, self.merge, self.end]
        return [f"{self.label} = OpLabel", *(write(line) for line in lines if line)]


def read(lines):
    header, blocks = [], []
    for line in lines:
        parsed = parse(line)
        if parsed[1] == "OpLabel":
            blocks.append(Block(parsed[0]))
        elif not blocks:
            header.append(line)
        elif parsed[1] == "OpPhi":
            blocks[-1].phis.append(parsed)
        elif parsed[1] in MERGES:
            blocks[-1].merge = parsed
        elif blocks[-1].end is None and parsed[1] in ("OpBranch", "OpBranchConditional", "OpSwitch", "OpReturnValue",
                                                      "OpUnreachable"):
            blocks[-1].end = parsed
        elif parsed[1] != "OpFunctionEnd":
            blocks[-1].body.append(parsed)
    return header, blocks


def dominators(blocks):
    """For each label, the labels of the blocks through which every path to it leads."""
    before = {block.label: set() for block in blocks}
    for block in blocks:
        for successor in block.successors():
            before[successor].add(block.label)
    everything = set(before)
    found = {label: everything for label in before}
    found[blocks[0].label] = {blocks[0].label}
    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            above = [found[label] for label in before[block.label]]
            now = (set.intersection(*above) if above else set()) | {block.label}
            changed |= now != found[block.label]
            found[block.label] = now
    return found


def lacks_merge(block, blocks, above):
    """The merge block of the selection around a branch that needs its own merge block; None if it needs none."""
    if block.end[1] not in ("OpBranchConditional", "OpSwitch") or block.merge or len(block.successors()) < 2:
        return None
    around = [other for other in blocks if other.merge and other.label in above[block.label] and other is not block and
              other.merge[2][0] not in above[block.label]]
    around.sort(key=lambda other: len(above[other.label]))
    leaves = set()
    for other in around:
        leaves |= {other.label, *other.merge[2][:2]} if other.merge[1] == "OpLoopMerge" else set()
        leaves |= {other.merge[2][0]} if other.end[1] == "OpSwitch" else set()
    if leaves & set(block.successors()):
        return None  # it leaves or repeats a loop, or leaves a switch
    return around[-1].merge[2][0] if around else ""


def add_merges(lines, fresh):
    """The lines of the function with all merges, or None if that is impossible."""
    header, blocks = read(lines)
    if not blocks:
        return lines
    for _ in range(4 * len(blocks) + 4):
        above = dominators(blocks)
        taken = set()
        for block in sorted(blocks, key=lambda block: len(above[block.label])):
            if not block.merge:
                continue
            # A merge block that other branches reach too belongs to one of those, and it has one header, the outermost.
            to = block.merge[2][0]
            if block.merge[1] == "OpSelectionMerge" and (to in taken or block.label not in above[to]):
                block.merge = None
            else:
                taken.add(to)
        missing = [(block, to) for block in blocks if (to := lacks_merge(block, blocks, above)) is not None]
        if not missing:
            return [*header, *(line for block in blocks for line in block.lines()), "OpFunctionEnd"]
        block, outer = min(missing, key=lambda pair: len(above[pair[0].label]))
        target = next((other for other in blocks if other.label == outer), None)
        if target is None:
            return None
        inner = [other for other in blocks if block.label in above[other.label] and outer in other.successors()]
        if not inner:
            return None
        merge = Block(fresh())
        labels = {other.label for other in inner}
        phis = []
        for result, op, operands in target.phis:
            pairs = list(zip(operands[1::2], operands[2::2]))
            taken = [word for pair in pairs if pair[1] in labels for word in pair]
            kept = [word for pair in pairs if pair[1] not in labels for word in pair]
            joined = fresh()
            merge.phis.append((joined, "OpPhi", [operands[0], *taken]))
            phis.append((result, op, [operands[0], *kept, joined, merge.label]))
        target.phis = phis
        merge.end = (None, "OpBranch", [outer])
        for other in inner:
            result, op, operands = other.end
            other.end = (result, op, [merge.label if word == outer else word for word in operands])
        block.merge = (None, "OpSelectionMerge", [merge.label, "None"])
        blocks.insert(blocks.index(target), merge)
    return None


class Module:
    """The lines before the first function, and the functions."""

    def __init__(self, text):
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(";")]
        first = next((i for i, line in enumerate(lines) if parse(line)[1] == "OpFunction"), len(lines))
        self.head, self.functions = lines[:first], []
        for line in lines[first:]:
            if parse(line)[1] == "OpFunction":
                self.functions.append([])
            self.functions[-1].append(line)
        self.next = 1 + max(int(word[1:]) for word in re.findall(r"%\w+", text) if word[1:].isdigit())

    def text(self):
        return "\n".join(self.head + [line for function in self.functions for line in function]) + "\n"

    def fresh(self):
        self.next += 1
        return f"%{self.next - 1}"

    def declared(self, declaration):
        """The id of a type or constant, or None."""
        for line in self.head:
            result, op, operands = parse(line)
            if result and " ".join([op, *operands]) == declaration:
                return result
        return None

    def declare(self, declaration):
        """The id of a type or constant, which is added if the module has none."""
        name = self.declared(declaration)
        if name is None:
            name = self.fresh()
            self.head.append(f"{name} = {declaration}")
        return name

    def uint(self):
        return self.declare("OpTypeInt 32 0")

    def boolean(self):
        return self.declare("OpTypeBool")

    def pointer(self, kind):
        return self.declare(f"OpTypePointer Function {kind}")

    def constant(self, number, kind=None):
        return self.declare(f"OpConstant {kind or self.uint()} {number}")

    def drop_parameter_attributes(self):
        self.head = [line for line in self.head if " FuncParamAttr " not in line]

    def narrow_switches(self):
        """Replaces the 64-bit selectors of switches, which take two words for each literal, by 32-bit ones."""
        wide = self.declared("OpTypeInt 64 0")
        for function in self.functions if wide else []:
            kinds = {result: operands[0] for result, _, operands in map(parse, function) if result and operands}
            changes = []
            for i, line in enumerate(function):
                _, op, operands = parse(line)
                if op == "OpSwitch" and kinds[operands[0]] == wide:
                    changes.append((i, operands))
            for i, (selector, default, *cases) in reversed(changes):
                lines, number = [], self.constant(0)
                for case, literal in enumerate(cases[::2], 1):
                    same, chosen = self.fresh(), self.fresh()
                    lines.append(f"{same} = OpIEqual {self.boolean()} {selector} {self.constant(literal, wide)}")
                    lines.append(f"{chosen} = OpSelect {self.uint()} {same} {self.constant(case)} {number}")
                    number = chosen
                targets = " ".join(f"{case} {target}" for case, target in enumerate(cases[1::2], 1))
                function[i] = f"OpSwitch {number} {default} {targets}"
                merge = i - 1 if parse(function[i - 1])[1] == "OpSelectionMerge" else i
                function[merge:merge] = lines

    def add_merges(self):
        """The number of functions for which that was impossible, so that they became loops around a switch."""
        functions = [add_merges(lines, self.fresh) for lines in self.functions]
        self.functions = [now or Dispatcher(self, lines).write() for now, lines in zip(functions, self.functions)]
        return functions.count(None)
