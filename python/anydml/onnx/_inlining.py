# SPDX-License-Identifier: MIT
"""Replaces calls to a model's functions with the nodes of the functions."""
from collections import Counter

from ._rows import Unsupported
from ._tensors import printable

# Nested calls can expand a small file to a huge number of nodes, for example if each function calls the next one twice.
MAX_NODES = 1_000_000
MAX_BYTES = (1 << 31) - 1  # the maximum size of a protobuf message


def nodes_of(nodes):
    """Yields nodes, including the nodes in their bodies."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield from nodes_of(inner.node)


def inlined(model):
    """Returns the model without functions of its own."""
    check_size(model)
    try:
        from onnx import inliner
    except ImportError as error:
        names = sorted(_text(key) for key in map(_key_of, model.functions))
        raise Unsupported(f"the model has functions of its own, {', '.join(names)}, which need onnx 1.15 or newer",
                          names) from error
    try:
        return inliner.inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"the functions of the model cannot be replaced by their nodes: {printable(error)}") from None


def check_size(model):
    """Rejects functions that call themselves, and functions that expand to more nodes or bytes than a model may have,
    before any of them is replaced."""
    functions = {_key_of(one): one for one in model.functions}
    own = {key: _content(one.node, functions) for key, one in functions.items()}
    sizes = {}
    for key in functions:
        _measure(key, own, sizes)
    _check(_size(_content(model.graph.node, functions), sizes), "the model's graph")


def _key_of(function):
    return function.domain, function.name, getattr(function, "overload", "")


def _text(key):
    domain, name, overload = map(printable, key)
    return f"{domain}.{name}" + (f":{overload}" if overload else "")


def _content(nodes, functions):
    """Returns the number of nodes that do not call a function, the bytes of all nodes, and the number of calls to each
    function."""
    calls, others = Counter(), 0
    for node in nodes_of(nodes):
        key = node.domain, node.op_type, getattr(node, "overload", "")
        if key in functions:
            calls[key] += 1
        else:
            others += 1
    return others, sum(node.ByteSize() for node in nodes), calls


def _size(content, sizes):
    nodes, bytes_, calls = content
    return (nodes + sum(times * sizes[key][0] for key, times in calls.items()),
            bytes_ + sum(times * sizes[key][1] for key, times in calls.items()))


def _measure(first, own, sizes):
    """Computes the sizes of a function and of all functions that it calls."""
    way, positions = [(first, iter(own[first][2]))], {first: 0}
    if first in sizes:
        return
    while way:
        key, left = way[-1]
        called = next((one for one in left if one not in sizes), None)
        if called is None:
            sizes[key] = _size(own[key], sizes)
            _check(sizes[key], f"function {_text(key)!r}")
            way.pop()
            del positions[key]
        elif called in positions:
            names = [_text(one) for one, _ in way[positions[called]:]]
            raise ValueError(f"function {_text(called)!r} calls itself ({' calls '.join([*names, _text(called)])}); expected "
                             "functions without recursion")
        else:
            positions[called] = len(way)
            way.append((called, iter(own[called][2])))


def _check(size, what):
    nodes, bytes_ = size
    if nodes > MAX_NODES:
        raise ValueError(f"{what} expands to {_short(nodes)} nodes once the functions that it calls are replaced by "
                         f"their nodes; expected {MAX_NODES} at most")
    if bytes_ > MAX_BYTES:
        raise ValueError(f"{what} expands to {_short(bytes_)} bytes of nodes once the functions that it calls are "
                         f"replaced by their nodes; expected {MAX_BYTES} at most, the limit of a protobuf message")


def _short(number):
    return str(number) if number < 10 ** 18 else "more than 10^18"
