# SPDX-License-Identifier: MIT
"""Recomputes the printed results of dmlrun's examples."""
import itertools
import json
import math
import re
import struct


class Oracle:
    """Recomputes the examples with Python's arithmetic, so that the expected values do not come from dmlrun itself."""

    CODES = {"FLOAT16": "e", "FLOAT32": "f", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B",
             "UINT16": "H", "UINT32": "I", "UINT64": "Q"}

    def __init__(self, path):
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
        self.model = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
        self.folder = path.parent
        self.types, self.values = {}, {}
        for name, resource in self.model["resources"].items():
            given = resource["initialValues"]
            kind = self.types[name] = resource.get("initialValuesDataType", "FLOAT32").removeprefix("DML_TENSOR_DATA_TYPE_")
            if isinstance(given, list):
                values = [float(value) if isinstance(value, str) else value for value in given]
            elif "sourcePath" in given:
                data = (self.folder / given["sourcePath"]).read_bytes()
                data = data[128:] if given["sourcePath"].endswith(".npy") else data
                values = [one for (one,) in struct.iter_unpack("<" + self.CODES[kind], data)]
            elif "value" in given:
                values = [float(given["value"])] * given["valueCount"]
            else:
                values = [given["valueStart"] + i * given["valueDelta"] for i in range(given["valueCount"])]
            self.values[name] = [self.rounded(value, kind) for value in values]

    def rounded(self, value, kind):
        code = self.CODES[kind]
        if code in "ef":
            return struct.unpack(code, struct.pack(code, value))[0]
        bits = 8 * struct.calcsize(code)
        value = int(value) % 2**bits
        return value - 2**bits if code.islower() and value >= 2 ** (bits - 1) else value

    def compute(self, name, desc, operands):
        if "MODULUS" in name:
            a, b = operands
            if isinstance(a, int):
                remainder = 0 if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)
            elif math.isnan(a) or math.isnan(b) or b == 0 or math.isinf(a):
                return math.nan
            else:
                remainder = math.fmod(a, b)
            if name.endswith("FLOOR"):
                if remainder != 0 and (remainder < 0) != (b < 0):
                    return remainder + b
                return math.copysign(remainder, b) if remainder == 0 and isinstance(a, float) else remainder
            return remainder
        if name.endswith("ADD"):
            return operands[0] + operands[1]
        if name.endswith("RELU"):
            return max(operands[0], 0.0)
        if name.endswith("CLIP"):
            return min(max(operands[0], desc["Min"]), desc["Max"])
        if name.endswith("IDENTITY") and "ScaleBias" not in desc:
            return operands[0]
        return operands[0] * desc["ScaleBias"]["Scale"] + desc["ScaleBias"]["Bias"]

    def run_node(self, node, values):
        """Returns the packed output of a graph node, whose sources are lists of numbers."""
        desc, output = node["desc"], node["desc"]["OutputTensor"]
        fields = [field for field in ("InputTensor", "ATensor", "BTensor") if field in desc]
        sizes = desc[fields[0]]["Sizes"]
        result = [0.0] * math.prod(output["Sizes"])

        def position(tensor, index):
            own = tensor["Sizes"]
            strides = tensor.get("Strides", [math.prod(own[i + 1:]) for i in range(len(own))])
            return sum(i % size * step for i, size, step in zip(index, own, strides))

        for index in itertools.product(*map(range, sizes)):
            operands = [values[node["inputs"][field]][position(desc[field], index)] for field in fields]
            at = position(output, index)
            one = result[at] + operands[0] if node["type"] == "REDUCE" else self.compute(node["type"], desc, operands)
            result[at] = self.rounded(one, output["DataType"])
        return result

    def run_graph(self, graph, bound):
        values = {name: self.values[bound[name]] for name in graph["inputs"]}
        for name, node in graph["nodes"].items():  # each node comes after its inputs
            values[name] = node["initialValues"] if node["type"] == "constant" else self.run_node(node, values)
        for name, node in graph["outputs"].items():
            self.values[bound[name]] = values[node]

    def dispatch(self, command):
        dispatchable = self.model["dispatchables"][command["dispatchable"]]
        desc = dispatchable.get("desc", dispatchable)
        bound = {**dispatchable.get("bindings", {}), **command["bindings"]}
        if dispatchable["type"] == "graph":
            return self.run_graph(dispatchable, bound)
        if dispatchable["type"] in ("GEMM", "CONVOLUTION"):
            self.values[bound["OutputTensor"]] = self.product(dispatchable["type"], desc, bound)
            return None
        sizes = desc["OutputTensor"]["Sizes"]
        packed = [math.prod(sizes[i + 1:]) for i in range(len(sizes))]

        def position(field, index):
            source = bound[field] if isinstance(bound[field], dict) else {"name": bound[field]}
            strides = desc[field].get("Strides", packed)
            return source["name"], source.get("elementOffset", 0) + sum(i * step for i, step in zip(index, strides))

        before = {name: list(values) for name, values in self.values.items()}
        inputs = [field for field in ("InputTensor", "ATensor", "BTensor") if field in desc]
        for index in itertools.product(*map(range, sizes)):
            operands = [before[name][at] for name, at in (position(field, index) for field in inputs)]
            name, at = position("OutputTensor", index)
            self.values[name][at] = self.rounded(self.compute(dispatchable["type"], desc, operands), self.types[name])

    def product(self, kind, desc, bound):
        """Computes a layer with plain sums. The examples choose terms that need no rounding."""
        value = {field: self.values[bound[field]] for field in bound}
        if kind == "GEMM":
            (rows, depth), columns = desc["ATensor"]["Sizes"], desc["BTensor"]["Sizes"][1]
            result = [sum(value["ATensor"][row * depth + k] * value["BTensor"][k * columns + column] for k in range(depth)) +
                    value["CTensor"][column] for row in range(rows) for column in range(columns)]
        else:
            (_, channels, height, width), (_, filters, rows, columns) = (desc[f"{of}Tensor"]["Sizes"]
                                                                         for of in ("Input", "Output"))
            taps = list(itertools.product(range(channels), *map(range, desc["FilterTensor"]["Sizes"][2:])))
            tall, wide = desc["FilterTensor"]["Sizes"][2:]
            stride, padding, forward = desc["Strides"][0], desc["StartPadding"][0], desc["Direction"] == "FORWARD"
            result = []
            for one, row, column in itertools.product(range(filters), range(rows), range(columns)):
                total = value["BiasTensor"][one] if "BiasTensor" in bound else 0.0
                for channel, down, across in taps:
                    if forward:
                        at = (row * stride + down - padding, column * stride + across - padding)
                        weight = (one * channels + channel) * tall
                    else:
                        at = ((row + padding - down) / stride, (column + padding - across) / stride)
                        weight = (channel * filters + one) * tall
                    if at[0] in range(height) and at[1] in range(width):
                        total += (value["InputTensor"][(channel * height + int(at[0])) * width + int(at[1])] *
                                  value["FilterTensor"][(weight + down) * wide + across])
                result.append(total)
        return [max(one, 0.0) for one in result] if "FusedActivation" in desc else result

    def printed(self):
        """Returns (name, values) for each print command, in order."""
        for command in self.model["commands"]:
            if command["type"] == "dispatch":
                self.dispatch(command)
            elif command["type"] == "print":
                yield command["resource"], list(self.values[command["resource"]])
