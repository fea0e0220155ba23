# SPDX-License-Identifier: MIT
"""The cases for recurrent.py, in the form that moving_cases.py describes."""
from moving_cases import F32, Case, GeneratedInput, scaled

UNITS, STEPS = 512, 100
# The indices of PyTorch's gates in the order of DirectML's and ONNX's gates.
ORDERS = {"RNN": [0], "LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2]}
ACTIVATIONS = {"RNN": ("TANH",), "LSTM": ("SIGMOID", "TANH", "TANH"), "GRU": ("SIGMOID", "TANH")}


def network(kind, rows, dtype=F32, linear_before_reset=True):
    def make(np, random, scale):
        order = ORDERS[kind]
        gates, steps = len(order), scaled(STEPS, scale)
        x = random.standard_normal((steps, rows, UNITS)).astype(dtype)
        w, r = (((random.uniform(-1, 1, (1, gates * UNITS, UNITS))) * UNITS**-0.5).astype(dtype) for _ in range(2))
        bias = (random.uniform(-1, 1, (1, 2 * gates * UNITS)) * UNITS**-0.5).astype(dtype)
        attributes = [("ActivationDescs", [("ACTIVATION_" + name, ()) for name in ACTIVATIONS[kind]]),
                      ("Direction", "FORWARD")]
        options = {"hidden_size": UNITS}
        if kind == "LSTM":
            attributes += [("ClipThreshold", 0.0), ("UseClipThreshold", 0), ("CoupleInputForget", 0)]
        if kind == "GRU":
            attributes += [("LinearBeforeReset", int(linear_before_reset))]
            options["linear_before_reset"] = int(linear_before_reset)

        def run_of_torch(torch, inputs, _):
            result = getattr(torch.nn, kind)(UNITS, UNITS, dtype=inputs[0].dtype, device=inputs[0].device).eval()
            with torch.no_grad():
                for name, one in (("weight_ih_l0", inputs[1]), ("weight_hh_l0", inputs[2])):
                    getattr(result, name).copy_(one.reshape(gates, UNITS, UNITS)[order].reshape(-1, UNITS))
                biases = inputs[3].reshape(2, gates, UNITS)[:, order].reshape(2, -1)
                result.bias_ih_l0.copy_(biases[0])
                result.bias_hh_l0.copy_(biases[1])
            return lambda: result(inputs[0])[0].unsqueeze(1)

        def seen(*sizes):
            strides = [1]
            for size in reversed(sizes[1:]):
                strides.insert(0, strides[0] * size)
            return sizes, tuple(strides)

        what = f"{UNITS} units, {steps} steps, batch {rows}, {dtype}"
        return GeneratedInput(kind, [x, w, r, bias], [((steps, 1, rows, UNITS), dtype)], tuple(attributes), what,
                    steps * (w.nbytes + r.nbytes), torch=run_of_torch if linear_before_reset else None,
                    onnx=(kind, options, {"W": w, "R": r, "B": bias}), order=[0], constants=(1, 2, 3),
                    absent=(4, 2) if kind == "LSTM" else (2, 1),
                    views=[seen(1, *x.shape), seen(1, *w.shape), seen(1, *r.shape), seen(1, 1, *bias.shape)])
    return make


CASES = [Case("lstm-1", "LSTM", network("LSTM", 1)),
         Case("lstm-32", "LSTM", network("LSTM", 32)),
         Case("gru-1", "GRU", network("GRU", 1)),
         Case("gru-32", "GRU", network("GRU", 32)),
         Case("gru-reset-1", "GRU", network("GRU", 1, linear_before_reset=False)),
         Case("gru-reset-32", "GRU", network("GRU", 32, linear_before_reset=False)),
         Case("rnn-1", "RNN", network("RNN", 1)),
         Case("rnn-32", "RNN", network("RNN", 32)),
         Case("lstm-half-32", "LSTM", network("LSTM", 32, "float16"))]
