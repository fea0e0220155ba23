#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures PyTorch's and CuPy's modulus on an NVIDIA GPU: time relative to a pass over the same bytes, and wrong
answers.

usage: peers_cuda.py [options]       python3 bench/peers_cuda.py --json build/gpu/peers.json

The cases are the same as in dmlrun bench on a GPU: they have the same kinds of data, layouts and sizes, use
preallocated buffers and are timed with CUDA events. Each time is the median over all rounds. The pass uses the same
library and alternates with the operator: torch.add on int32 if two arrays are read, otherwise the faster of copy_ and
torch.add with a number.

Latency: 1,000 calls on 1,024 FLOAT32 elements, as a loop and as a CUDA graph, until the device is done (wall clock).

Wrong answers are counted in a sample of each case, compared with NumPy, which uses C's fmod and integers. A result is
wrong if any bit differs; all NaNs are equal, and +0 differs from -0. Features that a library lacks are reported and
skipped.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

TYPES = {"FLOAT32": "float32", "FLOAT16": "float16", "FLOAT64": "float64", "INT8": "int8", "UINT8": "uint8",
         "INT16": "int16", "UINT16": "uint16", "INT32": "int32", "UINT32": "uint32", "INT64": "int64",
         "UINT64": "uint64"}
OPERATORS = ("modulus_floor", "modulus_truncate")
LAYOUTS = ("tensor", "scalar", "dividend", "transposed", "stride2", "rows1000")
SEED = 1
SAMPLE_SECONDS = 4e-3  # minimum length of a sample
DISPATCHES, SMALL = 1000, 1024


def one_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


# ---- Data: created by PyTorch on the device, and shared with CuPy ---------------------------------------------------

class Data:
    """Flat operands of a type. The layouts are views of these operands."""

    def __init__(self, torch, type_name, kind, elements, device):
        name = TYPES[type_name]
        bits = np.dtype(name).itemsize * 8
        generator = torch.Generator(device=device).manual_seed(SEED)
        signed = getattr(torch, f"int{bits}")

        def random_bits(count):
            low = torch.iinfo(signed)
            return torch.randint(low.min, low.max, (count,), dtype=signed, device=device, generator=generator)

        def make(dividend):
            if name.startswith("float"):
                if kind == "hard":
                    return random_bits(elements).view(getattr(torch, name))
                values = torch.empty(elements, dtype=getattr(torch, name), device=device)
                return values.normal_(0, 100 if dividend else 3, generator=generator)
            if dividend or kind == "hard":
                values = random_bits(elements)
            else:
                most = min(1000, np.iinfo(name).max)
                values = torch.randint(1, most + 1, (elements,), dtype=signed if bits > 8 else torch.int16,
                                       device=device, generator=generator)
                if not name.startswith("u"):
                    signs = torch.randint(0, 2, (elements,), dtype=torch.int8, device=device, generator=generator)
                    values *= (2 * signs - 1)
                    del signs
                values = values.to(torch.uint8).view(torch.int8) if name == "uint8" else values.to(signed)
            return values.view(getattr(torch, name)) if name.startswith("u") else values

        self.type_name, self.kind, self.dtype = type_name, kind, np.dtype(name)
        self.a, self.b = make(True), make(False)
        largest = np.finfo(name).max if name.startswith("float") else np.iinfo(name).max
        floats = name.startswith("float")
        self.single_a = 271.828182845904523536 if floats else int(largest) // 10 * 9
        self.single_b = 2.71828182845904523536 if floats else 97


def extent(elements, layout):
    """Returns how many elements of memory an operand with this layout spans."""
    return {"stride2": 2 * elements, "rows1000": elements // 1000 * 1024}.get(layout, elements)


def view(flat, elements, layout, transpose):
    """Returns the operand in the layout, for either library. Their views work like NumPy's."""
    flat = flat[:extent(elements, layout)]
    if layout == "stride2":
        return flat[::2]
    if layout == "rows1000":
        return flat.reshape(-1, 1024)[:, :1000]
    if layout == "transposed":
        side = 1 << ((elements.bit_length() - 1) // 2)
        if side * side != elements:
            raise ValueError("the elements do not form a square")
        square = flat.reshape(side, side)
        return square.T if transpose else square
    return flat


# ---- Peers ----------------------------------------------------------------------------------------------------------

class Torch:
    key = "torch"

    def __init__(self, torch):
        self.torch = torch
        self.title = f"PyTorch {torch.__version__}"

    def own(self, flat):
        return flat

    def empty(self, count, dtype):
        return self.torch.empty(count, dtype=getattr(self.torch, str(dtype)), device="cuda")

    def single(self, value, dtype):
        return self.torch.tensor(np.array(value, dtype=dtype))  # on the CPU, PyTorch treats it as a number

    def operator(self, name):
        return self.torch.remainder if name == "modulus_floor" else self.torch.fmod

    def call(self, name, a, b, out):
        function = self.operator(name)
        return lambda: function(a, b, out=out)

    def passes(self, a, b, out, two):
        torch = self.torch
        x, y, z = (one.view(torch.int32) for one in (a, b, out))
        if two:
            return {"torch.add": lambda: torch.add(x, y, out=z)}
        return {"copy_": lambda: z.copy_(x), "torch.add of a number": lambda: torch.add(x, 1, out=z)}

    def host(self, array):
        torch = self.torch
        whole = array.contiguous()
        unsigned = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
        dtype = np.dtype(str(whole.dtype).removeprefix("torch."))
        return whole.view(unsigned.get(whole.dtype, whole.dtype)).cpu().numpy().view(dtype)


class CuPy:
    key = "cupy"

    def __init__(self, cupy):
        self.cupy = cupy
        self.title = f"CuPy {cupy.__version__}"

    def own(self, flat):
        import torch
        # Converts through signed integers, which both libraries support.
        same = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[flat.element_size()]
        return self.cupy.from_dlpack(flat.view(same)).view(np.dtype(str(flat.dtype).removeprefix("torch.")))

    def empty(self, count, dtype):
        return self.cupy.empty(count, dtype=dtype)

    def single(self, value, dtype):
        return self.cupy.asarray(np.array(value, dtype=dtype))

    def operator(self, name):
        return self.cupy.remainder if name == "modulus_floor" else self.cupy.fmod

    def call(self, name, a, b, out):
        function = self.operator(name)
        return lambda: function(a, b, out=out)

    def passes(self, a, b, out, two):
        cupy = self.cupy
        x, y, z = (one.view(np.int32) for one in (a, b, out))
        if two:
            return {"cupy.add": lambda: cupy.add(x, y, out=z)}
        return {"copyto": lambda: cupy.copyto(z, x), "cupy.add of a number": lambda: cupy.add(x, 1, out=z)}

    def host(self, array):
        return self.cupy.asnumpy(array)


# ---- Time -----------------------------------------------------------------------------------------------------------

class Clock:
    """CUDA events on the default stream, which both libraries use."""

    def __init__(self, torch, seconds, rounds):
        self.torch, self.seconds, self.rounds = torch, seconds, rounds

    def sample(self, call, runs):
        begin = self.torch.cuda.Event(enable_timing=True)
        end = self.torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(runs):
            call()
        end.record()
        return begin, end

    def measure(self, calls):
        """Returns the median seconds per run for each function. The functions alternate."""
        runs = []
        for call in calls:
            for _ in range(2):
                begin, end = self.sample(call, 1)
                self.torch.cuda.synchronize()
            one = max(1e-6, begin.elapsed_time(end) / 1e3)
            runs.append(max(1, min(1000, round(min(SAMPLE_SECONDS, self.seconds / 25) / one + 0.5))))
        events = [[] for _ in calls]
        start = time.perf_counter()
        while len(events[0]) < self.rounds or time.perf_counter() - start < self.seconds:
            for index, call in enumerate(calls):
                events[index].append(self.sample(call, runs[index]))
            self.torch.cuda.synchronize()
        return [statistics.median(begin.elapsed_time(end) / 1e3 / count for begin, end in pairs)
                for pairs, count in zip(events, runs)]


def wrong_in(actual, expected):
    """Returns how many results differ in any bit. All NaNs are equal."""
    bits = np.dtype(f"u{actual.dtype.itemsize}")
    same = actual.view(bits) == expected.view(bits)
    if actual.dtype.kind == "f":
        same |= np.isnan(actual) & np.isnan(expected)
    return int((~same).sum())


def measure_case(peer, clock, data, operator, layout, elements, samples):
    size = data.dtype.itemsize
    needed = extent(elements, layout)
    flat_a, flat_b = peer.own(data.a), peer.own(data.b)
    flat_out = peer.empty(needed, data.dtype)
    a = peer.single(data.single_a, data.dtype) if layout == "dividend" else view(flat_a, elements, layout, False)
    b = peer.single(data.single_b, data.dtype) if layout == "scalar" else view(flat_b, elements, layout, True)
    # As in dmlrun bench, the inputs are every second element in memory, and the output is packed.
    out = view(flat_out, elements, "tensor" if layout == "stride2" else layout, False)
    call = peer.call(operator, a, b, out)
    call()  # fails here if the library does not have the operator

    count = out.numel() if peer.key == "torch" else out.size
    arrays = 2 if layout in ("scalar", "dividend") else 3
    whole = count * size // 4 * 4 // size  # a whole number of 32-bit integers
    packed = [one[:whole] for one in (flat_b if layout == "dividend" else flat_a, flat_b, flat_out)]
    passes = peer.passes(*packed, arrays == 3)
    seconds, *pass_seconds = clock.measure([call, *passes.values()])
    best, by = min(zip(pass_seconds, passes))
    result = {"peer": peer.key, "type": data.type_name, "operator": operator, "layout": layout, "data": data.kind,
              "elements": count, "bytes": count * size * arrays, "median_s": seconds, "pass_median_s": best,
              "pass_by": by, "ns_per_element": seconds * 1e9 / count,
              "gb_per_second": count * size * arrays / seconds * 1e-9,
              "pass_gb_per_second": count * size * arrays / best * 1e-9, "fraction": best / seconds}

    call()
    rows = max(1, samples // out.shape[-1]) if len(out.shape) == 2 else samples
    x, y, z = (np.array(one) if not one.shape else peer.host(one[:rows]) for one in
               (peer_host_single(peer, a), peer_host_single(peer, b), out))
    with np.errstate(all="ignore"):
        expected = (np.remainder if operator == "modulus_floor" else np.fmod)(x, y)
    result["checked"] = int(expected.size)
    result["wrong"] = wrong_in(np.ascontiguousarray(z), np.ascontiguousarray(expected, dtype=z.dtype))
    return result


def peer_host_single(peer, operand):
    """Converts a single element to a NumPy value, and returns other operands unchanged."""
    return operand if operand.shape else np.array(peer.host(operand))


# ---- Latency --------------------------------------------------------------------------------------------------------

def repeat(call, finish, seconds):
    call()
    finish()
    samples = []
    start = time.perf_counter()
    while len(samples) < 50 or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        call()
        finish()
        samples.append((time.perf_counter() - before) / DISPATCHES * 1e9)
    return {"median_ns": statistics.median(samples), "min_ns": min(samples)}


def small_loops(make_empty, operator, a, b):
    outs = [make_empty() for _ in range(DISPATCHES)]
    x, y = a + 0, make_empty()

    def independent(numbers=range(DISPATCHES)):
        for index in numbers:
            operator(a, b, out=outs[index])

    def dependent():
        for _ in range(DISPATCHES // 2):
            operator(x, b, out=y)
            operator(y, b, out=x)
    return independent, dependent


def torch_latency(torch, seconds):
    a = torch.empty(SMALL, device="cuda").normal_(0, 100)
    b = torch.empty(SMALL, device="cuda").normal_(0, 3)
    independent, dependent = small_loops(lambda: torch.empty(SMALL, device="cuda"), torch.remainder, a, b)
    finish = torch.cuda.synchronize
    rows = []
    for name, loop in (("independent_1024", independent), ("dependent_1024", dependent)):
        rows.append({"peer": "torch", "how": "eager", "name": name, **repeat(loop, finish, seconds)})
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loop()
        rows.append({"peer": "torch", "how": "CUDA graph", "name": name, **repeat(graph.replay, finish, seconds)})

    # A graph captured from one stream is a chain. A graph captured from eight streams may run eight calls at a time.
    streams = [torch.cuda.Stream() for _ in range(8)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        for index, stream in enumerate(streams):
            stream.wait_stream(root)
            with torch.cuda.stream(stream):
                independent(range(index, DISPATCHES, len(streams)))
        for stream in streams:
            root.wait_stream(stream)
    rows.append({"peer": "torch", "how": "CUDA graph of 8 streams", "name": "independent_1024",
                 **repeat(graph.replay, finish, seconds)})
    return rows


def cupy_latency(cupy, seconds):
    a = cupy.random.standard_normal(SMALL, dtype=np.float32) * np.float32(100)
    b = cupy.random.standard_normal(SMALL, dtype=np.float32) * np.float32(3)
    independent, dependent = small_loops(lambda: cupy.empty(SMALL, np.float32), cupy.remainder, a, b)
    rows = []
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        for name, loop in (("independent_1024", independent), ("dependent_1024", dependent)):
            rows.append({"peer": "cupy", "how": "eager", "name": name, **repeat(loop, stream.synchronize, seconds)})
            stream.begin_capture()
            loop()
            graph = stream.end_capture()
            rows.append({"peer": "cupy", "how": "CUDA graph", "name": name,
                         **repeat(lambda: graph.launch(stream), stream.synchronize, seconds)})
    return rows


# ---- Everything -----------------------------------------------------------------------------------------------------

def driver_version():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], text=True,
                              capture_output=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError, subprocess.CalledProcessError):
        return "unknown"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 28, metavar="N", help="elements of a tensor [268435456]")
    parser.add_argument("--types", default=",".join(TYPES), help="FLOAT32,... [all]")
    parser.add_argument("--samples", type=int, default=1 << 20, metavar="N", help="results to check in each case [1048576]")
    parser.add_argument("--min-time", type=float, default=0.2, metavar="S", help="seconds per case [0.2]")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--no-latency", action="store_true", help="measure only the cases")
    parser.add_argument("--latency", action="store_true", help="measure only the latency")
    parser.add_argument("--quick", action="store_true", help="2^20 elements and 3 rounds, as a smoke test")
    options = parser.parse_args()
    options.types = options.types.split(",")
    options.rounds = 11
    if options.quick:
        options.elements, options.rounds, options.min_time = min(options.elements, 1 << 20), 3, 0.02
    unknown = [name for name in options.types if name not in TYPES]
    if unknown:
        parser.error(f"--types: {unknown[0]} is not one of {', '.join(TYPES)}")
    return options


def main():
    options = parse()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is required, but this Python does not have it")
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    peers = [Torch(torch)]
    report = {"program": "peers_cuda.py", "schema": 1, "device": torch.cuda.get_device_name(),
              "cuda": torch.version.cuda, "driver": driver_version(), "numpy": np.__version__, "titles": {},
              "cases": [], "missing": [], "latency": []}
    try:
        import cupy
        cupy.cuda.Stream.null.use()
        peers.append(CuPy(cupy))
    except ImportError as error:
        report["missing"].append({"peer": "cupy", "why": one_line(error)})
    report["titles"] = {peer.key: peer.title for peer in peers}
    print(f"{report['device']}, driver {report['driver']}, CUDA {report['cuda']}, NumPy {report['numpy']}, "
          f"{', '.join(report['titles'].values())}")

    clock = Clock(torch, options.min_time, options.rounds)
    if not options.latency:
        print(f"{'type':8} {'operator':17} {'layout':11} {'data':9} {'peer':6} {'ns/element':>10} {'GB/s':>8} "
              f"{'pass GB/s':>9} {'fraction':>9} {'wrong':>9}")
        for type_name in options.types:
            for kind in ("ordinary", "hard") if type_name.startswith("FLOAT") else ("ordinary",):
                data = None
                torch.cuda.empty_cache()
                data = Data(torch, type_name, kind, max(extent(options.elements, one) for one in LAYOUTS), "cuda")
                for operator in OPERATORS:
                    for layout in LAYOUTS if kind == "ordinary" else ("tensor",):
                        for peer in peers:
                            key = {"peer": peer.key, "type": type_name, "operator": operator, "layout": layout,
                                   "data": kind}
                            try:
                                row = measure_case(peer, clock, data, operator, layout, options.elements,
                                                   options.samples)
                            except Exception as error:  # each library reports a missing kernel differently
                                report["missing"].append({**key, "why": one_line(error)})
                                print(f"{type_name:8} {operator:17} {layout:11} {kind:9} {peer.key:6} none: "
                                      f"{one_line(error)[:70]}", flush=True)
                                continue
                            report["cases"].append(row)
                            print(f"{type_name:8} {operator:17} {layout:11} {kind:9} {peer.key:6} "
                                  f"{row['ns_per_element']:10.4f} {row['gb_per_second']:8.1f} "
                                  f"{row['pass_gb_per_second']:9.1f} {100 * row['fraction']:7.1f} % "
                                  f"{row['wrong']:9}", flush=True)
                if "cupy" in report["titles"]:
                    cupy.get_default_memory_pool().free_all_blocks()
    if not options.no_latency:
        report["latency"] += torch_latency(torch, options.min_time)
        if "cupy" in report["titles"]:
            try:
                report["latency"] += cupy_latency(cupy, options.min_time)
            except Exception as error:
                report["missing"].append({"peer": "cupy", "name": "latency", "why": one_line(error)})
        print(f"\n{'1,000 remainders of 1,024 FLOAT32, per call':48} {'median ns':>10} {'min ns':>10}")
        for row in report["latency"]:
            what = f"{row['peer']}, {row['how']}, {row['name'].split('_')[0]}"
            print(f"{what:48} {row['median_ns']:10.1f} {row['min_ns']:10.1f}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
