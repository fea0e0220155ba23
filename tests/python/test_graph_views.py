# SPDX-License-Identifier: MIT
"""Tests views in graphs. Where NumPy returns a view, the graph reads the value itself, and the results equal those of
plain calls bit for bit."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import anydml

SEED = int(os.environ.get("ANYDML_SEED", "0"))
X = (np.arange(-60, 60, dtype=np.float32) / 7).reshape(4, 5, 6)
W = (np.arange(42, dtype=np.float32) / 3 - 5).reshape(6, 7)

# NumPy returns a view from each of these.
VIEWS = {
    "tail": lambda x: x[1:],
    "step": lambda x: x[..., ::2],
    "odd places": lambda x: x[:, 1::2],
    "one column": lambda x: x[:, 3],
    "last row": lambda x: x[-1],
    "one element": lambda x: x[2, 1, 4],
    "one element of a row": lambda x: x[1, 2][3],
    "window": lambda x: x[1:3, 2:4, 1:5],
    "reversed": lambda x: x[::-1],
    "reversed everywhere": lambda x: x[::-1, ::-1, ::-1],
    "reversed in steps": lambda x: x[:, -2::-2, 5:0:-3],
    "new axes": lambda x: x[None, 1:, None, ::-1],
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(1, 2, 0),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "reshape": lambda x: x.reshape(2, 60),
    "reshape of a part": lambda x: x[1:].reshape(15, 6),
    "reshape of columns": lambda x: x[:, :, 1:4].reshape(20, 3),
    "ravel": lambda x: x[2:].ravel(),
    "flatten": lambda x: x[1].flatten(),
    "squeeze": lambda x: x[:, 2:3].squeeze(1),
    "view of a view of a view": lambda x: x[1:].T[::-1, 1:, ::2].swapaxes(0, 1)[2:, ::-1],
    "reversed twice": lambda x: x[::-1][1:][::-1],
    "transposed tail": lambda x: x[1:].T[..., 1:].T,
    "bits": lambda x: x[:, 1:].view(np.uint32)[..., ::-1],
    "halves": lambda x: x[1:].view(np.uint16)[..., 1::2],
    "flip": lambda x: np.flip(x, (0, 2)),
    "flipud": np.flipud,
    "fliplr": np.fliplr,
    "rot90": lambda x: np.rot90(x, 1, (1, 2)),
    "diagonal": lambda x: np.diagonal(x, 1, 1, 2),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1)[1:],
    "broadcast_to": lambda x: np.broadcast_to(x[1, 1:2], (3, 4, 6)),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[1], 3, 1)[1:, ::-1],
    "a part of split": lambda x: np.split(x, [1, 3], 1)[1],
    "a part of array_split": lambda x: np.array_split(x, 4, 2)[3],
}


def same(found, expected):
    assert type(found) is np.ndarray and found.flags.c_contiguous
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def use(x):
    """A computation on a view, of any type."""
    return anydml.add(x, x)


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_views_of_inputs_results_and_constants(look):
    def of_input(x):
        return use(look(x))

    def of_result(x):
        return use(look(anydml.add(x, 1)))

    def of_constant(x):
        return anydml.add(use(look(X)), anydml.cast(x[0, 0, 1:2].reshape(()), dtype=look(X).dtype))

    for function in (of_input, of_result, of_constant):
        same(anydml.graph(function)(X), function(X))


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_views_are_outputs(look):
    same(anydml.graph(look)(X), np.asarray(look(X)))
    same(anydml.graph(lambda x: look(anydml.add(x, 1)))(X), np.asarray(look(anydml.add(X, 1))))
    view, whole = anydml.graph(lambda x: (look(x), x))(X)
    same(view, np.asarray(look(X)))
    same(whole, X)


def multiply(a, b):
    return anydml.gemm(a, b, trans_a="NONE", trans_b="NONE", alpha=1.0, beta=0.0)


READERS = {
    "sum of a tail": lambda x: anydml.reduce(x[1:, ::-1], function="SUM", axes=[1]),
    "sum of a transposition": lambda x: anydml.reduce(x.T[1:], function="SUM", axes=[0, 2]),
    "maximum of a column": lambda x: anydml.reduce(x[:, 3], function="MAX", axes=[0, 1]),
    "index of the maximum": lambda x: anydml.reduce(x[::-1, 1:], function="ARGMAX", axes=[2], dtype=np.uint32),
    "softmax": lambda x: anydml.softmax1(x[1:, :, ::-2], axes=[2]),
    "join": lambda x: anydml.join([x[2:], x[:1], x[::-1]], axis=0),
    "join of columns": lambda x: anydml.join([x[:, :, 4:], x[..., ::-1]], axis=2),
    "split": lambda x: anydml.split(x[1:, ::-1], axis=1, shape=[(3, 2, 6), (3, 3, 6)])[1],
    "gemm": lambda x: multiply(x[1, 1:], W),
    "gemm of a transposition": lambda x: multiply(x[2, ::-1, 1:5].T, x[3, :, 1:]),
    "gemm of a part of the weights": lambda x: multiply(x[1, :, ::2], W[::-2]),
    "gemm of weights from a result": lambda x: multiply(x[0], anydml.add(x, 1)[1, :3].T),
    "chain": lambda x: anydml.relu(anydml.subtract(anydml.multiply(x[1:], x[:-1]), x[:3, ::-1])),
    "differences": lambda x: anydml.subtract(x[..., 1:], x[..., :-1]),
    "one element": lambda x: anydml.multiply(x, x[1, 2, 3]),
    "cast": lambda x: anydml.cast(x[1:, ::2], dtype=np.int8),
    "parts of an iteration": lambda x: anydml.join([row.reshape(1, 5, 6) for row in list(x)[::-1]], axis=0),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_operators_read_views(read):
    same(anydml.graph(read)(X), np.asarray(read(X)))

    def of_result(x):
        return read(anydml.abs(x))

    same(anydml.graph(of_result)(X), np.asarray(of_result(X)))


def test_views_of_strided_arguments():
    memory = np.arange(960, dtype=np.float32).reshape(8, 10, 12)
    for x in (memory[::2, ::2, ::2], memory.T[:6, :5, :4].T, memory[4:, 5:, 6:], memory[::-2, ::2, ::2]):
        for look in VIEWS.values():
            try:
                expected = use(look(x))
            except ValueError:  # bits of rows with gaps
                continue
            same(anydml.graph(lambda x: use(look(x)))(x), expected)  # noqa: B023


def test_truths_and_empty_parts():
    def function(x):
        keep = (x > 0)[1:, ::-1]
        return keep, anydml.element_wise_if(keep, x[1:], 0), x[4:], use(x[:, 2:2]), x[1:1].reshape(0, 5), keep[::2, 3]

    for found, expected in zip(anydml.graph(function)(X), function(X)):
        same(found, np.asarray(expected))
    truths = X > 0
    same(anydml.graph(lambda x: x[1:, ::-1])(truths), truths[1:, ::-1])


# Here NumPy returns a copy, or a view that is not aligned to the elements of its type.
COPIES = {
    "reshape of a transposition": lambda x: x[1:].T.reshape(-1),
    "reshape of a reversal": lambda x: x[::-1].reshape(20, 6)[1:],
    "ravel of a column": lambda x: x[:, 1:3].ravel(),
    "between elements": lambda x: x.view(np.uint16).reshape(-1)[1:-1].view(np.float32),
    "rows between elements": lambda x: x.view(np.uint8).reshape(16, 30)[1:, 5:29].view(np.float32),
}


@pytest.mark.parametrize("look", COPIES.values(), ids=COPIES)
def test_where_no_view_can_be_the_graph_copies(look):
    with np.errstate(all="ignore"):
        same(anydml.graph(look)(X), look(X))
        same(anydml.graph(lambda x: look(anydml.add(x, 1))[::-1])(X), look(anydml.add(X, 1))[::-1])


# A separate process records these, and its log shows the graphs.
SHOWN = {
    **{f"view {name}": lambda x, look=look: use(look(x)) for name, look in VIEWS.items()},
    **{f"view of a result {name}": lambda x, look=look: use(look(anydml.add(x, 1))) for name, look in VIEWS.items()},
    **{f"reader {name}": read for name, read in READERS.items()},
    **{f"copy {name}": lambda x, look=look: anydml.relu(look(x)) for name, look in COPIES.items()},
    **{f"output {name}": look for name, look in VIEWS.items()},
}
SHOW = """
import os, sys
sys.path.insert(0, sys.argv[1])
import anydml, test_graph_views
for name, function in test_graph_views.SHOWN.items():
    os.write(2, f"== {name}\\n".encode())
    anydml.graph(function)(test_graph_views.X)
"""


def test_a_view_costs_no_step():
    done = subprocess.run([sys.executable, "-c", SHOW, os.path.dirname(__file__)], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "ANYDML_LOG": "graph"})
    assert done.returncode == 0, done.stderr
    texts = dict(text.split("\n", 1) for text in done.stderr.split("== ")[1:])
    assert list(texts) == list(SHOWN)
    for name, text in texts.items():
        copies = text.count("= ELEMENT_WISE_IDENTITY(")
        assert copies == name.startswith(("copy ", "output ")), text  # an output has its own memory
        if name.startswith("view "):  # one step computes the value, and one reads the view
            steps = int(re.search(r"^run: (\d+) steps?,", text, re.MULTILINE)[1])
            assert steps <= (2 if name.startswith("view of a result ") else 1), text


def test_a_view_goes_over_its_own_input():
    for look in (lambda x: x[::-1], lambda x: x[:, ::-1, ::-1], lambda x: np.flip(x, 2)):
        memory = X.copy()
        assert anydml.graph(look)(memory, out=memory) is memory
        same(memory, look(X))


def test_random_chains_of_views():
    random = np.random.default_rng([7, SEED])

    def part(size):
        step = int(random.choice([1, 1, 1, 2, 3, -1, -1, -2]))
        start, stop = sorted(int(one) for one in random.integers(0, size + 1, 2))
        if stop == start:
            start, stop = 0, size
        return slice(start, stop, step) if step > 0 else slice(stop - 1, start - 1 if start else None, step)

    def draw(shape):
        """A random view of an array of this shape, and its description."""
        kind = random.integers(5)
        if kind == 0 and shape:
            order = tuple(int(one) for one in random.permutation(len(shape)))
            return lambda x: x.transpose(order), f"transpose {order}"
        if kind == 1:
            flat = int(np.prod(shape, dtype=int))
            sizes = [one for one in range(1, flat + 1) if flat % one == 0]
            first = int(random.choice(sizes))
            return lambda x: x.reshape(first, flat // first), f"reshape {first}, {flat // first}"
        if kind == 2 and len(shape) < 6:
            return lambda x: x[..., None, :] if shape else x[None], "new axis"
        if kind == 3 and len(shape) > 1:
            position = int(random.integers(shape[0]))
            return lambda x: x[position], f"at {position}"
        where = tuple(map(part, shape))
        return lambda x: x[where], f"part {where}"

    for _ in range(150):
        looks, x, told = [], X, []
        for _ in range(random.integers(1, 7)):
            look, text = draw(x.shape)
            looks.append(look)
            told.append(text)
            x = look(x)
        computed = random.integers(2, size=len(looks))

        def function(x):
            for look, compute in zip(looks, computed):  # noqa: B023
                x = anydml.add(look(x), 1) if compute else look(x)
            return x, anydml.negate(x)

        for found, expected in zip(anydml.graph(function)(X), function(X)):
            assert found.tobytes() == np.ascontiguousarray(expected).tobytes(), told
            assert found.shape == expected.shape, told
