# SPDX-License-Identifier: MIT
"""Einsum for float16 and float. Operands are combined from left to right with reductions, transpositions and matrix
products."""
import math
import string

import numpy as np

from .._matrices import PLAIN
from ._rows import dispatch, refuse


def parsed(node):
    """Returns the labels of each operand, and the result's labels or None; "..." is kept."""
    text = node.attributes["equation"].replace(" ", "")
    left, arrow, right = text.partition("->")
    operands = left.split(",")
    if len(operands) != len(node.kinds):
        raise ValueError(f"{node.label}: equation is {text!r}, but the node has {len(node.kinds)} inputs")
    for part in (*operands, right):
        rest = part.replace("...", "", 1)
        if not all(one in string.ascii_letters for one in rest):
            raise ValueError(f"{node.label}: equation is {text!r}; expected letters, commas, '...' and '->'")
        if len(set(rest)) != len(rest):
            refuse(node, f"with equation {text}", "a label that occurs twice in a term is a diagonal")
    return operands, right if arrow else None


def einsum(node):
    operands, result = parsed(node)

    def compute(*arrays):
        terms = [_labeled(labels, array, node) for labels, array in zip(operands, arrays)]
        sizes = {}
        for labels, array in terms:
            for label, size in zip(labels, array.shape):
                if sizes.setdefault(label, size) != size and 1 not in (size, sizes[label]):
                    raise ValueError(f"equation is {node.attributes['equation']!r}: {label!r} is {sizes[label]} and {size}")
                sizes[label] = max(size, sizes[label])
        wanted = _wanted(result, operands, terms)
        labels, built = terms[0]
        for position, (others, array) in enumerate(terms[1:], 2):
            kept = set(wanted).union(*(more for more, _ in terms[position:]))
            labels, built = _product(labels, built, others, array, kept, sizes)
        labels, built = _summed(labels, built, set(wanted))
        missing = [label for label in wanted if label not in labels]
        if missing:
            raise ValueError(f"equation is {node.attributes['equation']!r}: {missing[0]!r} is not in any operand")
        return dispatch("ELEMENT_WISE_IDENTITY", built.transpose([labels.index(label) for label in wanted]))

    return compute


def _labeled(text, array, node):
    """Returns a label for each dimension. The dimensions of "..." get digits, counted from the last."""
    before, dots, after = text.partition("...")
    more = array.ndim - len(before) - len(after)
    if more < 0 or (more and not dots):
        raise ValueError(f"equation is {node.attributes['equation']!r}, but {text!r} does not match the {array.ndim} "
                         "dimensions of its operand")
    return [*before, *(str(more - 1 - i) for i in range(more)), *after], array


def _wanted(result, operands, terms):
    dots = max(([label for label in labels if label.isdigit()] for labels, _ in terms), key=len)
    if result is None:  # the labels that occur once, in alphabetical order
        every = "".join(operands).replace(".", "")
        return [*dots, *sorted(label for label in set(every) if every.count(label) == 1)]
    before, found, after = result.partition("...")
    return [*before, *(dots if found else ()), *after]


def _summed(labels, array, kept):
    """Sums over the labels that are not needed anymore."""
    axes = [axis for axis, label in enumerate(labels) if label not in kept]
    if not axes:
        return labels, array
    shape = [1 if axis in axes else size for axis, size in enumerate(array.shape)]
    built = dispatch("REDUCE", array, Function="SUM", Axes=axes, shape=tuple(shape))
    return ([label for label in labels if label in kept],
            built.reshape([size for axis, size in enumerate(shape) if axis not in axes]))


def _product(labels, a, others, b, kept, sizes):
    """A matrix product: labels that both operands have are batch dimensions if they are kept, and are summed
    otherwise."""
    labels, a = _summed(labels, a, kept | set(others))
    others, b = _summed(others, b, kept | set(labels))
    shared = [label for label in labels if label in others]
    batch, summed = ([label for label in shared if (label in kept) == stays] for stays in (True, False))
    rows, columns = ([label for label in one if label not in shared] for one in (labels, others))

    def arranged(array, its, order):
        array = array.transpose([its.index(label) for label in order])
        return np.broadcast_to(array, [sizes[label] for label in order]) if array.ndim else array

    def count(some):
        return math.prod(sizes[label] for label in some)

    left = arranged(a, labels, [*batch, *rows, *summed]).reshape(count(batch), count(rows), count(summed))
    right = arranged(b, others, [*batch, *summed, *columns]).reshape(count(batch), count(summed), count(columns))
    shape = (count(batch), count(rows), count(columns))
    if 0 in (*shape, count(summed)):
        built = np.zeros(shape, a.dtype)
    else:
        built = dispatch("GEMM", left, right, None, shape=shape, **PLAIN)
    order = [*batch, *rows, *columns]
    return order, built.reshape([sizes[label] for label in order])
