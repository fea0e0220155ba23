# SPDX-License-Identifier: MIT
"""Arrays from other libraries in CPU memory, and array subclasses by any author: each is treated as its base class, and
the result is an array of the same library."""
import sys
import types

import numpy as np
import pytest

import anydml

NAMES = ["library_of_tests", "library_with_a_module", "library_with_a_namespace", "library_without_a_way"]


class Array:
    """An array that supports only DLPack."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture(params=NAMES)
def kind(request, monkeypatch):
    """An array type whose library offers from_dlpack at the top level, in a module, in its namespace, or nowhere."""
    name = request.param
    built = type("Array", (Array,), {"__module__": f"{name}.arrays"})

    def from_dlpack(array):
        return built(np.from_dlpack(array))

    library = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, library)
    if name == "library_of_tests":
        library.from_dlpack = from_dlpack
    elif name == "library_with_a_module":
        library.__path__ = []
        module = types.ModuleType(f"{name}.dlpack")
        module.from_dlpack = from_dlpack
        monkeypatch.setitem(sys.modules, f"{name}.dlpack", module)
    elif name == "library_with_a_namespace":
        built.__array_namespace__ = lambda self: types.SimpleNamespace(from_dlpack=from_dlpack)
    built.expected = np.ndarray if name == "library_without_a_way" else built
    return built


def values(array):
    return array.array if isinstance(array, Array) else array


@pytest.mark.parametrize("module", [None, "__main__", "somewhere.else", "test_libraries", "builtins"])
def test_libraries_and_what_is_derived_from_them(kind, module):
    used = kind
    if module is not None:
        used = type("Mine", (type("Between", (kind,), {"__module__": "no.such.library"}),), {"__module__": module})
    a, b = used(np.arange(6.0)), used(np.full(6, 4.0))
    for result in (anydml.modulus_floor(a, b), anydml.modulus_floor(a, 4), anydml.modulus_floor(np.arange(6.0), b),
                   anydml.run("ELEMENT_WISE_MODULUS_FLOOR", a, b), anydml.modulus_floor(a, b, dtype="f4"),
                   anydml.modulus_floor(a, b, device="cpu")):
        assert type(result) is kind.expected and np.array_equal(values(result), np.arange(6) % 4)
    step = anydml.compile("ELEMENT_WISE_MODULUS_FLOOR", a, b)
    assert np.array_equal(step(a.array, b.array), np.arange(6) % 4)
    out = used(np.zeros(6))
    out.__class__.__array__ = lambda self, dtype=None, copy=None: self.array
    for call in (lambda: anydml.modulus_floor(a, b, out=out), lambda: anydml.modulus_floor(np.arange(6.0), 4.0, out=out),
                 lambda: anydml.run("ELEMENT_WISE_MODULUS_FLOOR", a, b.array, out=out)):
        out.array[...] = 0
        assert call() is out and np.array_equal(out.array, np.arange(6) % 4)
    plain = np.zeros(6)
    assert anydml.modulus_floor(a, b, out=plain) is plain and plain[5] == 1


def test_an_out_that_cannot_be_written_is_refused(kind):
    class Copies(kind):
        def __dlpack__(self, **options):
            frozen = self.array.view()
            frozen.flags.writeable = False
            return frozen.__dlpack__(**options)

        def __array__(self, dtype=None, copy=None):
            return self.array.copy()

    a = np.arange(6.0)
    for call in (lambda out: anydml.modulus_floor(a, 4.0, out=out), lambda out: anydml.run("ELEMENT_WISE_ABS", a, out=out)):
        with pytest.raises((ValueError, TypeError), match="read-?only"):
            call(Copies(np.zeros(6)))


def test_arrays_that_cannot_be_taken(kind):
    class Elsewhere(kind):
        def __dlpack__(self, **options):
            raise BufferError("the memory is on another device")

    for call in (lambda x: anydml.modulus_floor(x, 2.0), lambda x: anydml.modulus_floor(np.ones(3), x),
                 lambda x: anydml.run("ELEMENT_WISE_ABS", x), lambda x: anydml.compile("ELEMENT_WISE_ABS", x),
                 lambda x: anydml.modulus_floor(np.ones(3), 2.0, out=x)):
        with pytest.raises(TypeError, match="cannot use an array of .*: the memory is on another device"):
            call(Elsewhere(np.arange(3.0)))


# ---- Subclasses of NumPy's arrays -----------------------------------------------------------------------------------

class Meters(np.ndarray):
    pass


class Wrapped(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        inputs = [np.asarray(one) for one in inputs]
        return "wrapped", getattr(ufunc, method)(*inputs, **options).tolist()


class Refusing(np.ndarray):
    __array_ufunc__ = None


@pytest.mark.parametrize("make", [
    lambda x: x.view(Meters), lambda x: x.view(Wrapped), lambda x: x.view(Refusing), lambda x: x.view(np.recarray),
    lambda x: np.ma.masked_greater(x, 3.0)], ids=["plain", "own ufunc", "none", "recarray", "masked"])
def test_subclasses_of_ndarray_are_numpys(make):
    def outcome(call):
        try:
            result = call()
            return type(result), str(result)
        except TypeError:
            return TypeError
    for a, b in ((make(np.arange(6.0)), 4.0), (np.arange(6.0), make(np.full(6, 4.0))),
                 (make(np.arange(6.0)), make(np.full(6, 4.0)))):
        assert outcome(lambda: anydml.modulus_floor(a, b)) == outcome(lambda: np.remainder(a, b))
        assert outcome(lambda: anydml.modulus_truncate(a, b)) == outcome(lambda: np.fmod(a, b))


def test_a_memmap_is_an_array(tmp_path):
    a = np.memmap(tmp_path / "a", "i4", "w+", shape=(5,))
    a[...] = [5, 6, 7, 8, 9]
    assert anydml.modulus_floor(a, 4, out=a) is a and a.tolist() == [1, 2, 3, 0, 1]
    assert type(anydml.modulus_floor(a, 2)) is type(np.remainder(a, 2))


# ---- Subclasses of PyTorch's tensors --------------------------------------------------------------------------------

@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def each_call(torch, make):
    """Returns the results, modulo 4, for tensors of 0 to 5 that make created."""
    a, b = make(torch.arange(6.0)), make(torch.full((6,), 4.0))
    return [anydml.modulus_floor(a, b), anydml.modulus_floor(a, 4), anydml.modulus_truncate(torch.arange(6.0), b),
            anydml.modulus_floor(a, 4.0, dtype="f4"), anydml.run("ELEMENT_WISE_MODULUS_FLOOR", a, b),
            anydml.modulus_floor(a, np.full(6, 4, "f4")), anydml.modulus_floor(np.arange(6, dtype="f4"), b)]


@pytest.mark.parametrize("module", ["somewhere.else", "__main__", "torchvision"])
def test_a_subclass_of_tensor_gets_its_own_type(torch, module):
    kind = type("Mine", (torch.Tensor,), {"__module__": module})
    further = type("Further", (kind,), {"__module__": "elsewhere"})
    for used in (kind, further):
        for result in each_call(torch, lambda tensor: tensor.as_subclass(used)):
            assert type(result) is used and result.tolist() == [0, 1, 2, 3, 0, 1]
        out = torch.zeros(6).as_subclass(used)
        assert anydml.modulus_floor(torch.arange(6.0), 4, out=out) is out and out.tolist() == [0, 1, 2, 3, 0, 1]
        assert anydml.run("ELEMENT_WISE_ABS", torch.arange(6.0).as_subclass(used), out=out) is out and out[5] == 5


def test_plain_tensors_and_parameters_get_tensors(torch):
    for make in (lambda tensor: tensor, lambda tensor: torch.nn.Parameter(tensor, requires_grad=False)):
        for result in each_call(torch, make):
            assert type(result) is torch.Tensor and result.tolist() == [0, 1, 2, 3, 0, 1]
    for x in (torch.nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=True)):
        for call in (lambda x: anydml.modulus_floor(x, 2), lambda x: anydml.run("ELEMENT_WISE_ABS", x),
                     anydml.compile("ELEMENT_WISE_ABS", x)):
            assert type(call(x)) is torch.Tensor and call(x).requires_grad
            with torch.no_grad():
                assert not call(x).requires_grad
        with pytest.raises(TypeError, match="out: a tensor requires a gradient"):
            anydml.modulus_floor(np.ones(2), 2, out=x)


def test_a_subclass_of_tensor_has_its_say(torch):
    asked = []

    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, arguments=(), options=None):
            if function in (anydml.modulus_floor, anydml.run):
                asked.append((function, len(arguments), options))
            return super().__torch_function__(function, kinds, arguments, options or {})

    class Refusing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, kinds, arguments=(), options=None):
            return NotImplemented

    x = torch.arange(6.0).as_subclass(Logging)
    out = torch.zeros(6)
    assert type(anydml.modulus_floor(x, 4)) is Logging
    assert anydml.modulus_floor(x, 4, out=out, device="cpu").data_ptr() == out.data_ptr() and out[5] == 1
    anydml.run("ELEMENT_WISE_CLIP", x, Min=0, Max=1)
    assert asked == [(anydml.modulus_floor, 2, {}), (anydml.modulus_floor, 2, {"out": out, "device": "cpu"}),
                     (anydml.run, 2, {"Min": 0, "Max": 1})]
    for call in (lambda x: anydml.modulus_floor(x, 4), lambda x: anydml.run("ELEMENT_WISE_ABS", x)):
        with pytest.raises(TypeError, match="no implementation found|no __torch_function__"):
            call(torch.arange(6.0).as_subclass(Refusing))
