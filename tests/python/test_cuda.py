# SPDX-License-Identifier: MIT
"""Arrays on a GPU: what is refused, anywhere; and, where there is a GPU, every result against the CPU's, bit for bit.

The libraries that are tried are PyTorch, CuPy and JAX, where they are installed and see a GPU that anydml has a device
for; ANYDML_PLUGINS names the folder with libanydml-cuda.so if it is not installed beside the package. Those of
pretend.py are tried on a plugin that calls the CPU "cuda:0" and describes it as "a device of the tests".
"""
import itertools
import os
import threading
import time

import numpy as np
import pretend
import pytest
import test_operators

import anydml
from anydml import _core

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the GPU is shared with the other libraries

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
OPERATORS = [anydml.modulus_floor, anydml.modulus_truncate]
both = pytest.mark.parametrize("modulus", OPERATORS, ids=["floor", "truncate"])
DEVICES = {adapter["name"]: adapter["description"] for adapter in anydml.adapters()}
IS_PRETENDED = DEVICES.get("cuda:0") == "a device of the tests"
compared = {}


class Numpylike:
    """How a test puts arrays onto the GPU and gets them back, library by library."""
    writes = True

    def get(self, array):
        return np.array(self.to_host(array))

    def holds(self, array):
        return isinstance(array, self.kind)


class OnTorch(Numpylike):
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch sees no CUDA device")
        self.kind = self.torch.Tensor

    def integers(self, dtype):  # which it can copy and show for any size, unlike uint16 to uint64
        return getattr(self.torch, f"int{8 * np.dtype(dtype).itemsize}")

    def put(self, array):
        array = np.array(array, order="C")
        bits = self.torch.from_numpy(array.view(f"i{array.itemsize}")).cuda()
        return bits.view(getattr(self.torch, array.dtype.name))

    def to_host(self, array):
        dtype = np.dtype(str(array.dtype).partition(".")[2])
        return array.view(self.integers(dtype)).cpu().numpy().view(dtype)


class OnCupy(Numpylike):
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy sees no CUDA device")
        self.kind = self.cupy.ndarray

    def put(self, array):
        return self.cupy.asarray(array)

    def to_host(self, array):
        return self.cupy.asnumpy(array)


class OnJax(Numpylike):
    writes = False

    def __init__(self):
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        try:
            self.device = jax.devices("gpu")[0]
        except RuntimeError as error:
            pytest.skip(f"JAX sees no CUDA device: {error}")
        self.jax, self.kind = jax, jax.Array

    def put(self, array):
        return self.jax.device_put(np.asarray(array), self.device)

    def to_host(self, array):
        return np.asarray(array)


class OnPretend(Numpylike):
    kind = pretend.Array

    def put(self, array):
        return self.kind(np.array(array))

    def to_host(self, array):
        return array.memory


class OnPretendStreams(OnPretend):
    kind = pretend.StreamArray


class OnPretendExchange(OnPretend):
    kind = pretend.ExchangeArray


LIBRARIES = {"torch": OnTorch, "cupy": OnCupy, "jax": OnJax, "pretend": OnPretend, "pretend_streams": OnPretendStreams,
             "pretend_exchange": OnPretendExchange}
TRIED = ["none"]
if "cuda:0" in DEVICES:
    TRIED = [name for name in LIBRARIES if name.startswith("pretend") == IS_PRETENDED]
made = {}


def open_library(name):
    if name not in TRIED:
        pytest.skip("anydml has no CUDA device" if "cuda:0" not in DEVICES else f"{DEVICES['cuda:0']} is not for {name}")
    if name not in made:
        made[name] = LIBRARIES[name]()
    return made[name]


@pytest.fixture(params=TRIED)
def on(request):
    if request.param == "none":
        pytest.skip("anydml has no CUDA device")
    return open_library(request.param)


@pytest.fixture
def torch():
    return open_library("torch").torch


@pytest.fixture
def cupy():
    return open_library("cupy").cupy


def host(function, *arrays, **options):
    """The CPU's result, without NumPy's warnings."""
    with np.errstate(all="ignore"):
        return np.asarray(function(*arrays, **options))


def bits(array):
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def assert_same(on, mine, expected):
    assert on.holds(mine)
    mine = on.get(mine)
    assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(bits(mine), bits(expected))
    name = type(on).__name__
    compared[name] = compared.get(name, 0) + mine.size


def draw(kind, shape, seed=0):
    """Random bits, and among them what is hard."""
    dtype = np.dtype(kind)
    random = np.random.default_rng([seed, *kind.encode()])
    array = np.frombuffer(bytearray(random.bytes(dtype.itemsize * int(np.prod(shape)))), dtype).copy()
    if dtype.kind == "f":
        info = np.finfo(dtype)
        hard = [0.0, -0.0, 1.0, -1.0, 3.0, 0.5, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal]
    else:
        info = np.iinfo(dtype)
        hard = [0, 1, 2, 3, info.min, info.max, info.max - 1] + ([-1, -2] if dtype.kind == "i" else [])
    places = random.integers(0, max(array.size, 1), array.size // 4)
    array[places] = np.array(hard, dtype)[random.integers(0, len(hard), places.size)] if array.size else array[places]
    return array.reshape(shape)


# ---- Without a GPU --------------------------------------------------------------------------------------------------

def test_a_device_that_is_not_there_is_explained():
    far = pretend.Array(np.ones(3), index=63)
    for call in (lambda: anydml.modulus_floor(far, far), lambda: anydml.modulus_truncate(far, 2.0),
                 lambda: anydml.run("ELEMENT_WISE_ABS", far)):
        with pytest.raises(RuntimeError, match=r"cuda:63, and anydml has no such device.*libanydml-cuda\.so.*cuda:63"):
            call()


@pytest.mark.parametrize("kind", [2, 13], ids=["device", "managed"])
def test_what_is_not_on_the_same_gpu_is_refused(kind):
    here, there = pretend.Array(np.ones(3), 62, kind), pretend.Array(np.ones(3), 63, kind)
    with pytest.raises(TypeError, match="cuda:62 and cuda:63; expected one device"):
        anydml.modulus_floor(here, there)
    for a, b, out in ((here, np.ones(3), None), (np.ones(3), here, None), (here, [1.0, 1, 1], None),
                      (here, here, np.ones(3)), (np.ones(3), np.ones(3), here), (here, "text", None),
                      (here, (1.0, 2.0, 3.0), None), (here, None, None)):
        with pytest.raises(TypeError, match="nothing is moved behind your back|on cuda:62, and no input is"):
            anydml.modulus_floor(a, b, out=out)
        if b is not None:  # which is an absent tensor there
            with pytest.raises(TypeError, match="nothing is moved behind your back|on cuda:62, and no input is"):
                anydml.run("ELEMENT_WISE_MODULUS_FLOOR", a, b, out=out)
    with pytest.raises(TypeError, match="out is on cuda:62, and no input is"):
        anydml.modulus_floor(7.0, 3.0, out=here)


def test_types_are_not_converted_on_a_gpu():
    a = pretend.Array(np.ones(3, "f4"))
    with pytest.raises(TypeError, match="float32 and int32; expected one type"):
        anydml.modulus_floor(a, pretend.Array(np.ones(3, "i4")))
    with pytest.raises(TypeError, match="float32 and float64; expected one type"):
        anydml.modulus_floor(a, a, out=pretend.Array(np.ones(3, "f8")))
    for array, what in ((pretend.Brain(np.ones(3, "f2")), "bfloat16"), (pretend.Array(np.ones(3, "?")), "bool"),
                        (pretend.Array(np.ones(3, "c8")), "complex64"),
                        (pretend.Array(np.ones((1,) * 9)), "9 dimensions")):
        with pytest.raises(TypeError, match=f"an array of pretend cannot be taken.*{what}; expected float16/32/64"):
            anydml.modulus_floor(array, array)


def test_what_is_numpys_alone_is_refused():
    a = pretend.Array(np.ones(3))
    for option in ({"where": np.array([True, False, True])}, {"dtype": "f4"}, {"order": "F"}, {"casting": "unsafe"}):
        with pytest.raises(TypeError, match="for arrays in the CPU's memory alone"):
            anydml.modulus_floor(a, a, **option)
    with pytest.raises(TypeError, match="stays compiled by itself"):
        anydml.compile("ELEMENT_WISE_ABS", a)


def test_pinned_memory_by_itself_is_the_cpus():
    pinned = pretend.Array(np.arange(5.0), kind=3)
    assert _core.place_of(pinned) == 1
    assert np.array_equal(anydml.modulus_floor(pinned, 3.0).memory, np.arange(5) % 3)
    assert _core.place_of(1, None, [2], pinned, pretend.Array(np.ones(3))) == 2


def test_the_library_that_an_array_is_of():
    from anydml._libraries import library_of
    assert library_of(pretend.Array)[0] is library_of(pretend.Brain)[0]
    assert library_of(pretend.Array)[0] is not library_of(pretend.StreamArray)[0]
    assert library_of(pretend.Array)[0].name == "pretend" and library_of(pretend.Array)[1] is None

    class FromJax:
        pass
    FromJax.__module__ = "jaxlib._jax"
    found = library_of(FromJax)[0]
    assert found.name == "jax" and found.immutable and found.empty is None


def test_arrays_that_fail_to_say_where_they_are():
    class Lost(pretend.Array):
        def __dlpack_device__(self):
            raise BufferError("somewhere")
    with pytest.raises(TypeError, match="cannot be taken"):
        anydml.modulus_floor(Lost(np.ones(3)), 2.0)


def test_torch_on_the_cpu_is_as_before():
    torch = pytest.importorskip("torch")
    assert _core.place_of(torch.ones(3)) == 1
    assert torch.equal(anydml.modulus_floor(torch.tensor([5, -5]), 3), torch.tensor([2, 1]))
    with pytest.raises(TypeError, match="requires? grad"):
        anydml.modulus_floor(torch.ones(2, requires_grad=True), 2)


# ---- With one: results ----------------------------------------------------------------------------------------------

@both
@pytest.mark.parametrize("kind", TYPES)
def test_every_type(on, modulus, kind):
    a, b = draw(kind, (1 << 16,), 1), draw(kind, (1 << 16,), 2)
    assert_same(on, modulus(on.put(a), on.put(b)), host(modulus, a, b))
    for size in (1, 3, 31, 1025):
        assert_same(on, modulus(on.put(a[:size]), on.put(b[:size])), host(modulus, a[:size], b[:size]))


@both
@pytest.mark.parametrize("kind", ["i1", "u1"])
def test_every_pair_of_the_8_bit_types(on, modulus, kind):
    values = np.arange(256, dtype="u1").view(kind)
    mine = modulus(on.put(values.reshape(256, 1)), on.put(values))
    assert_same(on, mine, host(modulus, values.reshape(256, 1), values))


@both
@pytest.mark.parametrize("kind", ["f2", "f4", "i8", "u2"])
def test_broadcasting(on, modulus, kind):
    shapes = [((3, 1, 5), (4, 1)), ((7,), ()), ((), (7,)), ((), ()), ((2, 3), (3,)), ((1, 1), (5, 6)), ((0, 3), (3,)),
              ((2, 1, 3, 1, 2, 1, 3, 1), (2, 1, 3, 1, 2, 1, 3))]
    for first, second in shapes:
        a, b = draw(kind, first, 3), draw(kind, second, 4)
        assert_same(on, modulus(on.put(a), on.put(b)), host(modulus, a, b))
    with pytest.raises(ValueError, match="broadcast.*(3).*(4)"):
        modulus(on.put(draw(kind, (3,))), on.put(draw(kind, (4,))))


@both
@pytest.mark.parametrize("kind", ["f4", "i2", "u8"])
def test_numbers_beside_arrays(on, modulus, kind):
    a = draw(kind, (100,), 5)
    dtype = a.dtype
    numbers = [3, True, 0, dtype.type(7), np.array(9, dtype)]
    numbers += [0.1, -2.5, float("inf"), float("nan"), -0.0, 1e300, 2**70] if dtype.kind == "f" else []
    numbers += [-7, -1] if dtype.kind == "i" else []
    numbers += [2**64 - 1] if kind == "u8" else []
    for number in numbers:
        with np.errstate(over="ignore"):
            same = np.array(float(number) if dtype.kind == "f" else number).astype(dtype)
        for _ in range(2):  # the second time it may be there already
            assert_same(on, modulus(on.put(a), number), host(modulus, a, same))
            assert_same(on, modulus(number, on.put(a)), host(modulus, same, a))
    for number in [np.float64(1.5), np.int64(3)] if kind != "i8" else []:
        with pytest.raises(TypeError, match="a number of .* is beside arrays of"):
            modulus(on.put(a), number)
    if dtype.kind != "f":
        with pytest.raises(TypeError, match="a float is beside arrays of"):
            modulus(on.put(a), 1.5)
        with pytest.raises(OverflowError, match="out of bounds for"):
            modulus(on.put(a), 2**64)
        with pytest.raises(OverflowError, match="out of bounds for"):
            modulus(on.put(a), np.iinfo(dtype).min - 1)


def test_strides(on):
    if type(on) is OnJax:
        pytest.skip("JAX has no views")
    a, b = draw("f4", (12, 10), 6), draw("f4", (12, 10), 7)
    views = [lambda x: x[::2], lambda x: x[:, 1::3], lambda x: x.T, lambda x: x[3:, :7].T, lambda x: x[5],
             lambda x: x[:, 4]]
    if type(on) is not OnTorch:
        views += [lambda x: x[::-1], lambda x: x[::-2, ::-1]]
    inside = (lambda x, view: on.kind(view(x.memory))) if isinstance(on, OnPretend) else lambda x, view: view(x)
    for view, modulus in itertools.product(views, OPERATORS):
        expected = host(modulus, view(a), view(b))
        assert_same(on, modulus(inside(on.put(a), view), inside(on.put(b), view)), expected)
        whole = on.put(np.full_like(a, 99))
        out = inside(whole, view)
        assert modulus(inside(on.put(a), view), on.put(np.ascontiguousarray(view(b))), out=out) is out
        assert_same(on, out, expected)
        around = np.full_like(a, 99)
        view(around)[...] = expected
        assert_same(on, whole, around)
    if type(on) is OnTorch:
        x = on.put(a)
        assert_same(on, anydml.modulus_floor(x[:1].expand(12, 10), x), host(anydml.modulus_floor, a[:1], a))
        assert anydml.modulus_floor(x.t(), x.t()).stride() == x.t().stride()
        with pytest.raises(ValueError, match="place"):
            anydml.modulus_floor(x, x, out=x[:1].expand(12, 10))
    elif type(on) is OnCupy:
        assert anydml.modulus_floor(on.put(a).T, on.put(b).T).flags.f_contiguous


@both
@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1"])
def test_out_and_in_place(on, modulus, kind):
    a, b = draw(kind, (1000,), 8), draw(kind, (1000,), 9)
    expected = host(modulus, a, b)
    if not on.writes:
        with pytest.raises(TypeError, match="never written"):
            modulus(on.put(a), on.put(b), out=on.put(a))
        return
    out = on.put(np.zeros_like(a))
    assert modulus(on.put(a), on.put(b), out=out) is out
    assert_same(on, out, expected)
    x = on.put(a)
    assert modulus(x, on.put(b), out=x) is x
    assert_same(on, x, expected)
    x = on.put(b)
    assert modulus(on.put(a), x, x) is x
    assert_same(on, x, expected)
    x = on.put(a)
    modulus(x, x, out=x)
    assert_same(on, x, host(modulus, a, a))
    if not isinstance(on, OnPretend):  # over a part of itself: as if it had been copied first
        x = on.put(a)
        modulus(x[1:], on.put(b[1:]), out=x[:-1])
        assert_same(on, x, np.concatenate([host(modulus, a[1:], b[1:]), a[-1:]]))
    with pytest.raises(ValueError):
        modulus(on.put(a), on.put(b), out=on.put(a[:10]))


def test_every_operator_by_name(on):
    for op in anydml.operators(built=True):
        inputs, attributes, options = test_operators.CASES[op["name"]]
        fields = {one.name: one.field for one in test_operators.ALL[op["name"]].attributes}
        attributes = {fields[name]: value for name, value in attributes.items()}
        expected = host(anydml.run, op["name"], *inputs, **attributes, **options)
        if inputs:
            put = [on.put(array) for array in inputs]
            assert_same(on, anydml.run(op["name"], *put, **attributes, **options), expected)
            assert_same(on, anydml.run(op["name"], *put, device="cuda:0", **attributes, **options), expected)
        elif on.writes:
            out = on.put(np.zeros_like(expected))
            assert_same(on, anydml.run(op["name"], out=out, **attributes), expected)
    x = on.put(np.float32([-3, 0.5, 9]))
    assert_same(on, anydml.run("ELEMENT_WISE_CLIP", x, Min=-1, Max=2), np.float32([-1, 0.5, 2]))  # not what was kept
    for error, message, call in (
            (ValueError, "number of input tensors is 1; expected 2", lambda: anydml.run("ELEMENT_WISE_ADD", x)),
            (NotImplementedError, "not built here yet", lambda: anydml.run("ELEMENT_WISE_SIN", x)),
            (ValueError, "Max is missing", lambda: anydml.run("ELEMENT_WISE_CLIP", x, Min=0)),
            (ValueError, "the arrays are on cuda:0", lambda: anydml.run("ELEMENT_WISE_ABS", x, device="cpu")),
            (ValueError, "the arrays are on cuda:0", lambda: anydml.modulus_floor(x, x, device="cpu"))):
        with pytest.raises(error, match=message):
            call()


def test_what_was_compiled_is_kept_and_bounded(on):
    a, b = on.put(draw("f4", (64,), 12)), on.put(draw("f4", (64,), 13))
    anydml.modulus_floor(a, b)
    before = _core.device_calls_kept()
    for _ in range(10):
        anydml.modulus_floor(a, b)
    assert _core.device_calls_kept() == before
    for size in range(1, 400):
        x = draw("i4", (size,), 14)
        mine = anydml.modulus_floor(on.put(x), 7)
        if size % 50 == 0:
            assert_same(on, mine, x % 7)
    assert _core.device_calls_kept() <= 256


def test_the_result_outlives_everything(on):
    a = draw("f8", (5000,), 15)
    results = [anydml.modulus_floor(on.put(a), float(divisor)) for divisor in range(1, 100)]
    for divisor, result in enumerate(results, 1):
        assert_same(on, result, host(anydml.modulus_floor, a, float(divisor)))


def test_threads_at_once(on):
    a = draw("i4", (10_000,), 16)
    wrong = []

    def work(divisor):
        x = on.put(a)
        for _ in range(20):
            if not np.array_equal(on.get(anydml.modulus_floor(x, divisor)), a % divisor):
                wrong.append(divisor)

    threads = [threading.Thread(target=work, args=(divisor,)) for divisor in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- With one: streams, and what is particular to a library ----------------------------------------------------------

def test_which_streams_are_asked_for(monkeypatch):
    on = open_library("pretend_streams")
    monkeypatch.setattr(pretend.Streams, "current", 0x5000)
    a, b = on.put(np.arange(5.0)), on.put(np.full(5, 3.0))
    pretend.asked.clear()
    anydml.modulus_floor(a, b)
    assert pretend.asked == [("stream", 0)] + [("__dlpack__", -1)] * 3
    exchanged = [pretend.ExchangeArray(array.memory) for array in (a, b)]
    pretend.asked.clear()
    anydml.modulus_floor(*exchanged)
    assert pretend.asked == [("view", None)] * 2 + [("current_stream", 0), ("view", None)]
    pretend.asked.clear()
    for _ in range(2):  # a number is made anew on any stream but the default
        anydml.modulus_floor(a, 3.25)
    assert [what for what in pretend.asked if what[0] == "number"] == [("number", np.float64(3.25).view("i8"))] * 2
    monkeypatch.setattr(pretend.Streams, "current", 0)
    pretend.asked.clear()
    for _ in range(2):
        anydml.modulus_floor(a, 4.25)
    assert len([what for what in pretend.asked if what[0] == "number"]) == 1
    pretend.asked.clear()  # of two libraries: ready for the default stream, all of them
    mixed = anydml.modulus_floor(a, pretend.Array(np.full(5, 3.0)))
    assert isinstance(mixed, pretend.StreamArray) and np.array_equal(mixed.memory, np.arange(5) % 3)
    assert pretend.asked == [("__dlpack__", 1)] * 3


def test_torch_work_is_in_the_order_of_its_stream(torch):
    streams = [torch.cuda.Stream(), torch.cuda.default_stream(), torch.cuda.Stream()]
    for stream in streams:
        with torch.cuda.stream(stream):
            x = torch.zeros(1 << 20, dtype=torch.int32, device="cuda")
            divisor = torch.zeros((), dtype=torch.int32, device="cuda")
            torch.cuda._sleep(50_000_000)  # some 30 ms, after which the operands get their values
            x.fill_(23)
            divisor.fill_(7)
            first = anydml.modulus_floor(x, divisor)
            second = anydml.modulus_floor(first, -2)
            after = second * 10
            x.fill_(1)
        stream.synchronize()
        assert (first == 2).all() and (second == 0).all() and (after == 0).all() and (x == 1).all()


def test_a_call_returns_before_the_work_is_done(torch):
    x = torch.full((16,), 23.0, device="cuda")
    anydml.modulus_floor(x, x)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(400_000_000)
        done = torch.cuda.Event()
        result = anydml.modulus_floor(x, x)
        done.record()
        assert not done.query()
        done.synchronize()
    assert (result == 0).all()


def test_torch_graphs(torch):
    a, b = torch.full((1000,), 23.0, device="cuda"), torch.full((1000,), 7.0, device="cuda")
    anydml.modulus_floor(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = anydml.modulus_floor(a, b)
        last = anydml.modulus_floor(result, 1.5)
    for value in (30.0, 38.0):
        a.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert (result == value % 7).all() and (last == value % 7 % 1.5).all()


def test_torch_tensors_that_are_refused(torch):
    ones = torch.ones(4, device="cuda")
    for tensor, message in (
            (torch.ones(4, device="cuda", requires_grad=True), "requires a gradient.*detach"),
            (torch.nn.Parameter(ones), "gradient.*detach"),
            (torch.ones(4, device="cuda", dtype=torch.bfloat16), "bfloat16; expected"),
            (torch.ones(4, device="cuda", dtype=torch.bool), "bool; expected"),
            (torch.ones(4, device="cuda", dtype=torch.complex64).conj().imag, "resolve_neg"),
            (torch.ones(4), "nothing is moved behind your back"),
            (torch.ones(4, 4, device="cuda").to_sparse(), "cannot be taken|nothing is moved")):
        with pytest.raises(TypeError, match=message):
            anydml.modulus_floor(ones, tensor)
    with pytest.raises(TypeError, match="gradient"):
        anydml.modulus_floor(ones, ones, out=torch.ones(4, device="cuda", requires_grad=True))
    with pytest.raises(TypeError, match="float32 and float64"):
        anydml.modulus_floor(ones, ones.double())
    assert torch.equal(anydml.modulus_floor(torch.ones(4, device="cuda", requires_grad=True).detach(), 2), ones)
    assert torch.equal(anydml.modulus_floor(ones, torch.tensor(2.0)), ones)  # a number in the CPU's memory
    frozen = torch.nn.Parameter(ones, requires_grad=False)  # a subclass, by its __dlpack__
    assert torch.equal(anydml.modulus_floor(frozen, 2), ones)


def test_torch_pinned_memory_beside_a_gpus(torch):
    a, b = torch.full((100,), 23.0, device="cuda"), torch.full((100,), 7.0).pin_memory()
    if b.__dlpack_device__()[0] != 3:
        pytest.skip("PyTorch says that pinned memory is the CPU's")
    result = anydml.modulus_floor(a, b)
    assert result.is_cuda and (result == 2).all()


def test_torch_keeps_no_memory(torch):
    a, b, out = (torch.full((1 << 16,), value, device="cuda") for value in (23.0, 7.0, 0.0))

    def calls(count):
        for i in range(count):
            anydml.modulus_floor(a, b)
            anydml.modulus_floor(a, b, out=out)
            anydml.modulus_floor(a, float(i % 10 + 1))
            anydml.modulus_floor(a[: i % 300 + 1], 2.0)

    calls(100)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    calls(2000)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - before < 1 << 16


def test_two_gpus(torch):
    if torch.cuda.device_count() < 2 or "cuda:1" not in DEVICES:
        pytest.skip("there is one GPU")
    a = torch.full((100,), 23.0, device="cuda:1")
    result = anydml.modulus_floor(a, 7.0)
    assert result.device == a.device and (result == 2).all()
    with pytest.raises(TypeError, match="cuda:1 and cuda:0"):
        anydml.modulus_floor(a, torch.ones(100, device="cuda:0"))


def test_cupy_work_is_in_the_order_of_its_stream(cupy):
    slow = cupy.RawKernel("""extern "C" __global__ void slow() {
      long long start = clock64();
      while (clock64() - start < 50000000) ;
    }""", "slow")
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        with stream:
            x = cupy.zeros(1 << 20, "i4")
            slow((1,), (1,), ())
            x.fill(23)
            first = anydml.modulus_floor(x, 7)
            second = first * 10
        stream.synchronize()
        assert int((first != 2).sum()) == 0 and int((second != 20).sum()) == 0


def test_cupy_managed_memory(cupy):
    before = cupy.cuda.get_allocator()
    cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
    try:
        a = cupy.asarray(np.arange(100, dtype="f4"))
        assert np.array_equal(cupy.asnumpy(anydml.modulus_floor(a, 7)), np.arange(100) % 7)
    finally:
        cupy.cuda.set_allocator(before)


def test_two_libraries_in_one_call(torch, cupy):
    a, b = torch.arange(100.0, device="cuda"), cupy.full(100, 7, "f4")
    expected = np.arange(100) % 7
    first, second = anydml.modulus_floor(a, b), anydml.modulus_floor(cupy.from_dlpack(a), torch.full_like(a, 7.0))
    assert isinstance(first, torch.Tensor) and np.array_equal(first.cpu().numpy(), expected)
    assert isinstance(second, cupy.ndarray) and np.array_equal(cupy.asnumpy(second), expected)
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(50_000_000)
        a.fill_(9)
        assert (anydml.modulus_floor(a, b) == 2).all()


def test_zz_what_was_compared(capsys):
    if "cuda:0" not in DEVICES:
        pytest.skip("anydml has no CUDA device")
    lines = [f"{count:,} elements of {name[2:]} compared with the CPU's, none different"
             for name, count in compared.items()]
    for name in ("torch", "cupy", "jax", "pretend_exchange"):
        if name not in made:
            continue
        on = made[name]
        a, b, out = (on.put(np.full(16, value, "f4")) for value in (23, 7, 0))
        calls = {"two arrays": lambda: anydml.modulus_floor(a, b), "a number": lambda: anydml.modulus_floor(a, 7.0)}
        if on.writes:
            calls["with out"] = lambda: anydml.modulus_floor(a, b, out=out)
        if name == "torch":
            calls["torch.remainder"] = lambda: on.torch.remainder(a, b)
        if name == "cupy":
            calls["cupy.remainder"] = lambda: on.cupy.remainder(a, b)
        for call in calls.values():
            call()
        costs = ", ".join(f"{what} {cost(call):.2f} µs" for what, call in calls.items())
        lines.append(f"a call on 16 elements of {name}: {costs}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))


def cost(call, count=500, rounds=9):
    """Microseconds of the least round; the launches of one do not fill the device's queue."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count * 1e6)
        time.sleep(0.01)
    return min(times)
