# SPDX-License-Identifier: MIT
"""Products and convolutions from OpenBLAS, oneDNN and XNNPACK for the benchmark, as functions without arguments.

The libraries are Debian's libopenblas-dev, libdnnl-dev and libxnnpack-dev. A library that is not installed is skipped.
"""
import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parent / "product_peers.cpp"
LIBRARIES = {  # the macro, the line that includes the header, and the link flags
    "OpenBLAS": ("HAS_OPENBLAS", "#include <cblas.h>", ["-lopenblas"]),
    "oneDNN": ("HAS_ONEDNN", "#include <oneapi/dnnl/dnnl.hpp>", ["-ldnnl"]),
    "XNNPACK": ("HAS_XNNPACK", "#include <xnnpack.h>", ["-lXNNPACK", "-lpthreadpool"]),
}
FIELDS = ("batch", "groups", "channels", "filters", "height", "width", "kernel_h", "kernel_w", "stride", "padding",
          "dilation")


class Convolution(ctypes.Structure):
    """A two-dimensional convolution with the same stride, padding and dilation in both dimensions."""
    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]


class Work:
    """A library call with all its data."""

    def __init__(self, peers, handle, arrays):
        self.peers, self.handle, self.arrays = peers, ctypes.c_void_p(handle), arrays

    def __call__(self):
        self.peers.peer_run(self.handle)

    def __del__(self):
        self.peers.peer_release(self.handle)


class Peers:
    """The installed libraries, with the given number of threads."""

    def __init__(self, threads):
        self.threads = threads
        compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1"]
        present = {name: parts for name, parts in LIBRARIES.items() if self._compiles(compiler, *parts[1:])}
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/peers.so"
            subprocess.run([*compiler, "-shared", "-fPIC", *(f"-D{parts[0]}=1" for parts in present.values()),
                            str(SOURCE), "-o", path, *(flag for parts in present.values() for flag in parts[2])],
                           check=True)
            self.library = ctypes.CDLL(path)
        self.names = tuple(present)

    @staticmethod
    def _compiles(compiler, line, flags):
        done = subprocess.run([*compiler, "-x", "c++", "-", "-o", "/dev/null", *flags], text=True,
                              input=f"{line}\nint main() {{ return 0; }}\n", capture_output=True, check=False)
        return done.returncode == 0

    def _work(self, function, arrays, *arguments):
        make = getattr(self.library, function)
        make.restype = ctypes.c_void_p
        handle = make(*arguments, *(one.ctypes.data_as(ctypes.c_void_p) for one in arrays), ctypes.c_int(self.threads))
        return Work(self.library, handle, arrays) if handle else None

    def product(self, name, a, b, out):
        """Returns None if the library has no such product. oneDNN's INT8 products return INT32, XNNPACK's INT8."""
        function = {"OpenBLAS": "openblas_product", "oneDNN": "onednn_product_of", "XNNPACK": "xnnpack_product_of"}
        sizes = (a.shape[0], b.shape[1], a.shape[1])
        return self._work(function[name], (a, b, out), *(ctypes.c_int64(one) for one in sizes),
                          ctypes.c_int(8 * a.itemsize)) if name in self.names else None

    def convolution(self, name, of, image, weights, out):
        """of: the values of FIELDS. Returns None if the library has no convolutions."""
        function = {"oneDNN": "onednn_convolution_of", "XNNPACK": "xnnpack_convolution_of"}
        if name not in self.names or name not in function:
            return None
        if name == "XNNPACK":
            image, weights = (np.ascontiguousarray(one.transpose(0, 2, 3, 1)) for one in (image, weights))
            if of["groups"] == of["channels"] == of["filters"]:
                weights = np.ascontiguousarray(weights.reshape(of["filters"], of["kernel_h"], of["kernel_w"], 1))
        return self._work(function[name], (image, weights, out), ctypes.byref(Convolution(**of)))
