# SPDX-License-Identifier: MIT
"""Tests arrays on a GPU: the order of work on streams, and details of individual libraries."""
import time

import numpy as np
import pretend
import pytest
from on_gpu import DEVICES, compared, cupy, opened, open_library, torch  # noqa: F401, two are fixtures

import anydml


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
    for _ in range(2):  # on any stream but the default, a number is uploaded each time
        anydml.modulus_floor(a, 3.25)
    assert [what for what in pretend.asked if what[0] == "number"] == [("number", np.float64(3.25).view("i8"))] * 2
    monkeypatch.setattr(pretend.Streams, "current", 0)
    pretend.asked.clear()
    for _ in range(2):
        anydml.modulus_floor(a, 4.25)
    assert len([what for what in pretend.asked if what[0] == "number"]) == 1
    pretend.asked.clear()  # with two libraries, every array must be ready on the default stream
    mixed = anydml.modulus_floor(a, pretend.Array(np.full(5, 3.0)))
    assert isinstance(mixed, pretend.StreamArray) and np.array_equal(mixed.memory, np.arange(5) % 3)
    assert pretend.asked == [("__dlpack__", 1)] * 3


def test_torch_work_is_in_the_order_of_its_stream(torch):
    streams = [torch.cuda.Stream(), torch.cuda.default_stream(), torch.cuda.Stream()]
    for stream in streams:
        with torch.cuda.stream(stream):
            x = torch.zeros(1 << 20, dtype=torch.int32, device="cuda")
            divisor = torch.zeros((), dtype=torch.int32, device="cuda")
            torch.cuda._sleep(50_000_000)  # about 30 ms, before the operands get their values
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
            (torch.ones(4, device="cuda", dtype=torch.bool), "bool; expected"),
            (torch.ones(4), "nothing is moved behind your back"),
            (torch.ones(4, 4, device="cuda").to_sparse(), "cannot use an array of|nothing is moved")):
        with pytest.raises(TypeError, match=message):
            anydml.modulus_floor(ones, tensor)
    with pytest.raises(TypeError, match="resolve_neg"):
        anydml.modulus_floor(ones, ones, out=torch.ones(4, device="cuda", dtype=torch.complex64).conj().imag)
    with pytest.raises(TypeError, match="gradient"):
        anydml.modulus_floor(ones, ones, out=torch.ones(4, device="cuda", requires_grad=True))
    with pytest.raises(TypeError, match="float32 and float64"):
        anydml.modulus_floor(ones, ones.double())
    assert torch.equal(anydml.modulus_floor(torch.ones(4, device="cuda", requires_grad=True).detach(), 2), ones)
    assert torch.equal(anydml.modulus_floor(ones, torch.tensor(2.0)), ones)  # a number in CPU memory
    assert torch.equal(anydml.modulus_floor(ones.bfloat16(), 2), ones.bfloat16())  # computed in float32
    frozen = torch.nn.Parameter(ones, requires_grad=False)  # a subclass, read through its __dlpack__
    assert torch.equal(anydml.modulus_floor(frozen, 2), ones)


def test_torch_tensors_that_are_negated_lazily(torch):
    x = torch.tensor([1 + 2j, 3 - 4j], device="cuda").conj().imag
    assert x.is_neg()
    for call in (anydml.exp, anydml.relu, lambda x: anydml.add(x, 1), lambda x: anydml.modulus_floor(7, x),
                 anydml.graph(lambda x: x + x)):
        assert torch.equal(call(x), call(x.resolve_neg()))


def test_torch_versions(torch):
    doubled, compiled = anydml.graph(lambda x: x + x), torch.ones(4, device="cuda")
    for write in (lambda a: anydml.add(a, 1, out=a), lambda a: anydml.exp(a, out=a), lambda a: doubled(compiled, out=a),
                  lambda a: anydml.run("ACTIVATION_RELU", a, out=a), lambda a: doubled(compiled[::2], out=a[::2])):
        for _ in range(3):
            w, a = torch.ones(4, device="cuda", requires_grad=True), torch.ones(4, device="cuda")
            y = (w * a).sum()
            write(a)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.backward()
    with pytest.raises(TypeError, match="on cuda:0 and on meta|on meta and on cuda:0"):
        anydml.add(compiled, torch.ones(4, device="meta"))


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
        pytest.skip("this machine has only one GPU")
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
        if name not in opened:
            continue
        on = opened[name]
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
    """Returns the shortest round in microseconds per call. One round's launches do not fill the device's queue."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count * 1e6)
        time.sleep(0.01)
    return min(times)
