#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares anydml's functions on an NVIDIA GPU with PyTorch's and CuPy's. Speeds are given as a fraction of the speed
of a plain pass over the same bytes.

usage: function_speed_cuda.py [DMLRUN] [options]      python3 bench/function_speed_cuda.py --json build/functions_cuda.json

Measures anydml with `dmlrun bench -a cuda` (set ANYDML_PLUGINS to the folder that contains the CUDA backend). Then
times PyTorch and CuPy with CUDA events, on the same GPU and on the same number of values from the same ranges. All
libraries use preallocated buffers and cycle through several sets of them, so that the next call's data is never in a
cache. anydml's and PyTorch's passes move the same bytes and alternate with the functions; the faster pass is the floor
for all libraries.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from function_speed import RANGES
from functions import FUNCTIONS, found
from peer_run import ROOT, items, say

TYPES = ("FLOAT32", "FLOAT16")
CALLS = 24  # calls in a sample
SETS = 6  # sets of buffers
SAMPLES = 7
ANY = (-4, 4)


def measure_anydml(options):
    """Returns {(function, type): nanoseconds per element}, and the same for the pass, by type and number of inputs."""
    names = {FUNCTIONS[name].op: name for name in options.functions}
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [options.dmlrun, "bench", "-a", "cuda", "--operators", ",".join(names), "--types", ",".join(options.types),
                   "--layouts", "tensor", "--sizes", str(options.elements), "--min-time", str(options.min_time),
                   "--rounds", "5", "--json", file.name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        report = json.loads(Path(file.name).read_text())
    times, passes = {}, {}
    for row in report["cases"]:
        # ACTIVATION_TANH may be measured as ELEMENT_WISE_TANH, or the other way around.
        name = names.get(row["directml_operator"]) or row["operator"]
        times[name, row["type"]] = row["ns_per_element"]
        inputs = len(FUNCTIONS[name].ranges)
        floor = row["ns_per_element"] * row["fraction"]
        passes[row["type"], inputs] = min(floor, passes.get((row["type"], inputs), floor))
    return times, passes


class Torch:
    key = "torch"

    def __init__(self):
        import torch
        self.torch, self.title = torch, f"PyTorch {torch.__version__.partition('+')[0]}"
        self.gpu = torch.cuda.get_device_name(0)
        self.generator = torch.Generator(device="cuda").manual_seed(1)

    def arrays(self, name, type_name, count):
        """Returns sets of operands with memory for the results."""
        ranges = RANGES.get(name, [ANY] * len(FUNCTIONS[name].ranges))
        kind = getattr(self.torch, type_name.lower())
        sets = []
        for _ in range(SETS):
            result = [self.torch.empty(count, device="cuda").uniform_(*limits, generator=self.generator) for limits in ranges]
            sets.append(([array.to(kind) for array in result], self.torch.empty(count, device="cuda", dtype=kind)))
        return sets

    def call(self, name, sets):
        compute = found(self.torch, FUNCTIONS[name].torch)
        arrays, out = sets[0]
        try:
            compute(*arrays, out=out)
            return lambda i: compute(*sets[i][0], out=sets[i][1])
        except TypeError:  # PyTorch's activations have no out=
            return lambda i: compute(*sets[i][0])

    def copy(self, sets):
        if len(sets[0][0]) == 1:
            return lambda i: sets[i][1].copy_(sets[i][0][0])
        whole = [[array.view(self.torch.int32) for array in (*arrays, out)] for arrays, out in sets]
        return lambda i: self.torch.add(whole[i][0], whole[i][1], out=whole[i][2])

    def time(self, call):
        """Returns the milliseconds per call: the median of the samples."""
        samples = []
        call(0)
        for _ in range(SAMPLES):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for i in range(CALLS):
                call(i % SETS)
            end.record()
            end.synchronize()
            samples.append(begin.elapsed_time(end) / CALLS)
        return statistics.median(samples)


class CuPy:
    key = "cupy"

    def __init__(self):
        import cupy
        self.cupy, self.title = cupy, f"CuPy {cupy.__version__}"

    def call(self, name, sets):
        function = FUNCTIONS[name].numpy
        if not function:
            return None
        compute = found(self.cupy, function)
        given = [([self.cupy.asarray(array) for array in arrays], self.cupy.asarray(out)) for arrays, out in sets]
        return lambda i: compute(*given[i][0], out=given[i][1])


def measure_others(options):
    torch = Torch()
    peers = [torch]
    try:
        peers.append(CuPy())
        # PyTorch and CuPy launch on the same stream, so that the same events time both.
        peers[1].cupy.cuda.ExternalStream(torch.torch.cuda.current_stream().cuda_stream).use()
    except Exception as error:  # if CuPy cannot start, only PyTorch is measured
        say(f"CuPy skipped: {error}")
    times, passes = {}, {}
    for type_name in options.types:
        for name in options.functions:
            sets = torch.arrays(name, type_name, options.elements)
            key = (type_name, len(sets[0][0]))
            floor = torch.time(torch.copy(sets)) * 1e6 / options.elements
            passes[key] = min(floor, passes.get(key, floor))
            for peer in peers:
                try:
                    call = peer.call(name, sets)
                    if call is not None:
                        times[peer.key, name, type_name] = torch.time(call) * 1e6 / options.elements
                except Exception as error:  # each library reports a missing kernel differently
                    say(f"{peer.key} {name} {type_name} skipped: {str(error).splitlines()[0][:100]}")
        say(f"  {type_name}")
    return torch.gpu, {peer.key: peer.title for peer in peers}, times, passes


def markdown(report, type_name):
    titles = report["titles"]
    lines = [f"| {type_name}, of the pass | " + " | ".join(titles.values()) + " |", "|---" * (len(titles) + 1) + "|"]
    rows = [row for row in report["rows"] if row["type"] == type_name]
    for name in dict.fromkeys(row["function"] for row in rows):
        shown = {row["peer"]: f"{100 * row['fraction']:.0f} %" for row in rows if row["function"] == name}
        lines.append(f"| {name} | " + " | ".join(shown.get(key, "–") for key in titles) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dmlrun", nargs="?", default=str(ROOT / "build" / "release" / "tools" / "dmlrun" / "dmlrun"))
    parser.add_argument("--functions", type=items(FUNCTIONS), default=list(FUNCTIONS), help="all by default")
    parser.add_argument("--types", type=items(TYPES), default=list(TYPES))
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--min-time", type=float, default=0.05, help="seconds per function of anydml")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    own, own_passes = measure_anydml(options)
    gpu, titles, times, passes = measure_others(options)
    floors = {key: min(passes[key], own_passes.get(key, passes[key])) for key in passes}
    times.update({("anydml", *key): time for key, time in own.items()})
    rows = [{"peer": peer, "function": name, "type": type_name, "ns_per_element": time,
             "fraction": floors[type_name, len(FUNCTIONS[name].ranges)] / time}
            for (peer, name, type_name), time in times.items()]
    report = {"program": "function_speed_cuda.py", "schema": 1, "gpu": gpu, "elements": options.elements,
              "titles": {"anydml": "anydml", **titles}, "rows": sorted(rows, key=lambda row: list(FUNCTIONS).index(row["function"]))}
    print(f"{gpu}, {options.elements:,} elements\n")
    for type_name in options.types:
        print(markdown(report, type_name))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
