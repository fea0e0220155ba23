# SPDX-License-Identifier: MIT
"""Arrays with more elements than one call to the C API accepts are computed in parts: any layout with a lowered limit,
and the real limit if there is enough memory."""
import itertools
from pathlib import Path

import numpy as np
import on_gpu
import pytest
import test_views
from against_numpy import TYPES, assert_same, both, quiet
from on_gpu import on  # noqa: F401, a fixture

import anydml
from anydml import _core

MAX_ELEMENTS = 2**32 - 1
GIB = 1 << 30


@pytest.fixture(params=[1, 2, 7, 100])
def limit(request):
    _core.set_max_elements(request.param)
    yield request.param
    _core.set_max_elements(MAX_ELEMENTS)


@both
@pytest.mark.parametrize("kind", TYPES)
def test_any_views_in_parts(limit, ours, numpys, kind):
    """Compares values, surrounding memory and warnings, also in place and through the ufunc, which splits its loops
    too."""
    random = np.random.default_rng([limit, *kind.encode()])
    for _ in range(4):
        test_views.compare(ours, numpys, random, kind, *test_views.draw_shapes(random, [1, 2, 3, 7]))
    ufunc = getattr(_core, ours.__name__)
    a, b = (test_views.draw_values(random, kind, 500, False) for _ in range(2))
    assert_same(ufunc(a, b), numpys(a, b))
    assert_same(ufunc(a[::-2], b[::2]), numpys(a[::-2], b[::2]))
    assert_same(ufunc(a, b[:1]), numpys(a, b[:1]))


@both
@pytest.mark.parametrize("kind", ["f4", "i4", "u1"])
def test_overlaps_in_parts(limit, ours, numpys, kind):
    start = (np.arange(1, 101) * 37 % 101).astype(kind)
    for mine in (slice(0, 50), slice(1, 51), slice(50, 0, -1), slice(0, 100, 2)):
        for first, second in itertools.product((slice(0, 50), slice(49, None, -1), slice(25, 75)), repeat=2):
            results = []
            for function in (ours, numpys, lambda a, b, out: anydml.run(f"ELEMENT_WISE_{ours.__name__.upper()}", a, b, out=out)):
                memory = start.copy()
                function(memory[first][:50], memory[second][:50], out=memory[mine])
                results.append(memory)
            assert_same(results[0], results[1])
            assert_same(results[2], results[1])


def test_outputs_over_themselves_in_parts(limit):
    """Outputs that one call would reject are rejected without writing anything; valid outputs are filled completely."""
    for shape, strides in (((10, 20), (4, 4)), ((10, 20), (0, 4)), ((10, 20), (4, 0)), ((2, 40), (80, 4)),
                           ((12, 10), (36, 4))):
        memory = np.zeros(400, "f4")
        out = np.lib.stride_tricks.as_strided(memory, shape, strides)
        with pytest.raises(ValueError):
            anydml.run("ELEMENT_WISE_ABS", np.ones(shape, "f4"), out=out)
        assert not memory.any()
    memory = np.zeros(400, "f4")
    out = np.lib.stride_tricks.as_strided(memory, (10, 20), (88, 4))
    assert anydml.run("ELEMENT_WISE_ABS", np.ones((10, 20), "f4"), out=out) is out and memory.sum() == 200


def test_operators_by_name_in_parts(limit):
    random = np.random.default_rng(limit)
    for _ in range(20):
        first, second, shape = test_views.draw_shapes(random, [1, 2, 3, 5])
        a, b = (test_views.draw_values(random, "f4", one, False) for one in (first, second))
        assert np.array_equal(anydml.run("ELEMENT_WISE_ADD", a, b), a + b)
        out = np.empty(shape[::-1], "f4").T
        assert np.array_equal(anydml.run("ELEMENT_WISE_CLIP", (a + b).astype("f4"), out=out, Min=-9, Max=9),
                              np.clip(a + b, -9, 9))
    x = np.ones((10, 20), "f4")
    for error, call in ((TypeError, lambda: anydml.run("ELEMENT_WISE_ADD", x, x.astype("f8"))),
                        (ValueError, lambda: anydml.run("ELEMENT_WISE_ABS", x, out=np.empty((10, 10), "f4"))),
                        (ValueError, lambda: anydml.run("ELEMENT_WISE_ABS", x, out=np.empty(20, "f4"))),
                        (ValueError, lambda: anydml.run("ELEMENT_WISE_ABS", x, x)),
                        (ValueError, lambda: anydml.run("ELEMENT_WISE_ABS", *[x] * 9))):
        with pytest.raises(error):
            call()


@both
@pytest.mark.parametrize("kind", ["f4", "i8", "u1"])
def test_parts_on_a_gpu(limit, on, ours, numpys, kind):  # noqa: F811
    if limit == 1:
        pytest.skip("too slow, with one launch per element")
    for first, second in (((500,), (500,)), ((5, 1, 7), (3, 1)), ((40, 3), ()), ((1, 300, 1), (1, 1, 2))):
        a, b = on_gpu.draw(kind, first, 1), on_gpu.draw(kind, second, 2)
        expected = on_gpu.host(ours, a, b)
        on_gpu.assert_same(on, ours(on.put(a), on.put(b)), expected)
        if on.writes and first == expected.shape:
            x = on.put(a)
            assert ours(x, on.put(b), out=x) is x
            on_gpu.assert_same(on, x, expected)
    if isinstance(on, on_gpu.OnPretend):
        memory = np.arange(1, 301).astype(kind)
        a, out = on.kind(memory[:-1]), on.kind(memory[1:])
        with pytest.raises(ValueError, match="out has 299 elements and overlaps an input"):
            ours(a, 2, out=out)


def available():
    """Free memory in bytes, limited by the machine and by the control group of this process."""
    with open("/proc/meminfo") as lines:
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    try:
        most, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text().strip() for name in ("max", "current"))
        return free if most == "max" else min(free, int(most) - int(used))
    except OSError:
        return free


@pytest.mark.skipif(available() < 10 * GIB, reason="less than 10 GiB of memory is free")
def test_the_real_limit():
    """Slightly more than 2^32 elements: broadcast inputs and a 4 GiB output; in place; and as a single NumPy loop."""
    row = np.arange(256, dtype="u1")
    a = np.broadcast_to(row, (2**24 + 3, 256))
    out = np.empty(a.shape, "u1")
    flat = out.reshape(-1)

    def check(expected):
        """Both sides of possible boundaries between parts, the ends, and samples in between."""
        expected = expected.astype("u1")
        for start in (0, 2**22, 2**23 - 2, 2**23, 2**24 - 2, 2**24):
            assert np.array_equal(out[start:start + 3], np.broadcast_to(expected, (3, 256)))
        assert np.array_equal(out[::8191], np.broadcast_to(expected, out[::8191].shape))

    assert anydml.modulus_floor(a, 7, out=out) is out
    check(row % 7)
    assert anydml.run("ELEMENT_WISE_MODULUS_FLOOR", flat, np.uint8(5), out=flat) is flat
    check(row % 7 % 5)
    assert anydml.modulus_floor.ufunc(flat, np.uint8(3), out=flat) is flat
    check(row % 7 % 5 % 3)
    with pytest.raises(ValueError, match="at most 4294967295"):
        anydml.compile("ELEMENT_WISE_ABS", a, out=out)


def test_faults_are_looked_for_in_blocks():
    """The pair that causes a warning is found without allocating memory in proportion to the arrays."""
    a = np.full((3, 1 << 20), np.nan, "f4")
    b = np.ones(1 << 20, "f4")
    with np.errstate(all="raise"):
        anydml.modulus_floor(a, b)
        a[2, -1] = np.inf
        with pytest.raises(FloatingPointError):
            anydml.modulus_floor(a, b)
    with quiet():
        assert np.isnan(anydml.modulus_floor(a, b)).all()
