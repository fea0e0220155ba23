#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a small model in ONNX Runtime with anydml's provider.

usage: switch.py [MODEL.onnx]   with a model, runs it on zeros; prints the number of nodes that each provider runs
needs: pip install onnxruntime onnx ./python/onnxruntime-ep-anydml
"""
import collections
import sys

import numpy as np
import onnxruntime
import onnxruntime_ep_anydml as provider

# The lines that switch a program over: register the library once, and give the session a device of the provider.
onnxruntime.register_execution_provider_library("anydml", provider.get_library_path())
options = onnxruntime.SessionOptions()
options.add_provider_for_devices([one for one in onnxruntime.get_ep_devices() if one.ep_name == provider.get_ep_name()][:1], {})


def example():
    import onnx.parser
    return onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
      m (float[N, 3] x) => (float[N, 3] y) { doubled = Add (x, x)  y = Softmax (doubled) }''').SerializeToString()


def main(arguments):
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = onnxruntime.InferenceSession(arguments[0] if arguments else example(), options)
    types = {"tensor(float)": "f4", "tensor(float16)": "f2", "tensor(double)": "f8", "tensor(bool)": "?"}
    given = {one.name: np.zeros([size if isinstance(size, int) else 1 for size in one.shape],
                                types.get(one.type) or one.type[7:-1]) for one in session.get_inputs()}
    for info, output in zip(session.get_outputs(), session.run(None, given)):
        print(info.name, output.dtype, list(output.shape))
    if hasattr(session, "get_provider_graph_assignment_info"):  # from 1.24 on
        nodes = collections.Counter()
        for group in session.get_provider_graph_assignment_info():
            nodes[group.ep_name] += len(group.get_nodes())
        print(", ".join(f"{name}: {count} nodes" for name, count in nodes.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
