#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports networks of torchvision and transformers with both exporters of PyTorch, and runs them beside ONNX Runtime.

usage: exports.py FOLDER [NAME ...] [--exporter NAME] [--rounds N] [--threads N] [--limit SECONDS] [--here] [--json FILE]
       python3 bench/exports.py build/exports

The networks have random weights, so nothing is downloaded; transformers' networks have few layers (LAYERS). Each one is
exported to FOLDER with the TorchScript exporter and with torch.export's, in a process of its own, unless the file is
there already. Images have any number in a batch, texts any length. Then each library runs the model in a process of its
own, in turns, with the same number of threads and its default options:

  load     preparing the model, or creating the session
  first    the first run
  run      the median of later runs
  new      how much longer the first run at a new size takes than later runs at this size: the median of three sizes
  memory   the peak of the resident memory after two runs, minus that of a process that has only imported the library

The script fails if a result differs from ONNX Runtime's by more than 1e-3 of the largest element, or if a run has other
bits than a run of the same nodes one by one. Needs torch, torchvision, transformers, onnx, onnxscript and onnxruntime.
"""
import argparse
import json
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

EXPORTERS = ("torchscript", "torch.export")
LIBRARIES = ("anydml", "ONNX Runtime")
LAYERS, WIDTH, HEADS, WORDS = 4, 256, 4, 1000
BOUND = 1e-3
FIGURES = ("load", "first", "run", "new", "memory")

# ---- Networks: how each one is made, and its input ------------------------------------------------------------------

IMAGES = {  # of torchvision, with the size of an image
    "alexnet": 64, "convnext_tiny": 64, "densenet121": 64, "efficientnet_b0": 64, "efficientnet_v2_s": 64, "googlenet": 64,
    "inception_v3": 96, "maxvit_t": 224, "mnasnet0_5": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64,
    "regnet_x_400mf": 64, "regnet_y_400mf": 64, "resnet18": 64, "resnet50": 64, "resnext50_32x4d": 64,
    "shufflenet_v2_x0_5": 64, "squeezenet1_1": 64, "swin_t": 64, "vgg11": 64, "vit_b_32": 224, "wide_resnet50_2": 64,
    "fcn_resnet50": 64, "lraspp_mobilenet_v3_large": 64}
TEXTS = {  # of transformers: the class, and the names of its settings if they are not the usual ones
    "albert": ("Albert", {"embedding_size": 64}), "bert": ("Bert", {}), "camembert": ("Camembert", {}),
    "distilbert": ("Distilbert", {"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 4 * WIDTH}),
    "electra": ("Electra", {"embedding_size": 64}), "ernie": ("Ernie", {}),
    "gemma": ("Gemma", {"num_key_value_heads": 1, "head_dim": WIDTH // HEADS}),
    "gpt2": ("GPT2", {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS}),
    "gpt_neox": ("GPTNeoX", {}), "llama": ("Llama", {"num_key_value_heads": 2}), "mistral": ("Mistral", {"num_key_value_heads": 2}),
    "opt": ("OPT", {"ffn_dim": 4 * WIDTH, "word_embed_proj_dim": WIDTH}), "phi": ("Phi", {}),
    "qwen2": ("Qwen2", {"num_key_value_heads": 2}), "roberta": ("Roberta", {}), "xlm_roberta": ("XLMRoberta", {})}
NAMES = [*IMAGES, *TEXTS]


def network(name):
    import torch
    torch.manual_seed(0)
    if name in IMAGES:
        import torchvision.models as models
        if name in ("fcn_resnet50", "lraspp_mobilenet_v3_large"):
            net, is_map = getattr(models.segmentation, name)(weights=None, weights_backbone=None), True
        else:
            options = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
            net, is_map = getattr(models, name)(weights=None, **options), False
        if hasattr(net, "aux_logits"):  # of training only
            net.aux_logits = False
    else:
        import transformers
        kind, settings = TEXTS[name]
        usual = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": 4 * WIDTH}
        # The embedding of the padding's token is 0; without it, every token has one.
        config = getattr(transformers, f"{kind}Config".replace("Distilbert", "DistilBert"))(
            vocab_size=WORDS, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_cache=False, attn_implementation="eager",
            **({} if name in ("distilbert", "gpt2") else usual), **settings)
        net, is_map = getattr(transformers, f"{kind}Model".replace("Distilbert", "DistilBert"))(config), False

    class FirstOutput(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            if name in TEXTS:  # without a mask, transformers looks for several texts in one row
                return self.net(input_ids=x, attention_mask=torch.ones_like(x))[0]
            return self.net(x)["out"] if is_map else self.net(x)
    return FirstOutput().eval()


def given_at(name, step):
    """The input at the first size (step 0) or at another one."""
    random = np.random.default_rng(1 + step)
    if name in IMAGES:
        return random.random([1 if step == 0 else 2 + step, 3, IMAGES[name], IMAGES[name]], dtype=np.float32)
    return random.integers(3, WORDS, [1, 32 + 5 * step])


def export(name, exporter, path):
    import torch
    example, axis = torch.from_numpy(given_at(name, 1)), 0 if name in IMAGES else 1
    options = {"input_names": ["x"], "output_names": ["y"]}
    if exporter == "torchscript":
        options.update(dynamo=False, opset_version=17, dynamic_axes={"x": {axis: "size"}})
    else:
        options.update(dynamo=True, external_data=False, dynamic_shapes=({axis: torch.export.Dim("size", min=1, max=256)},))
    part = path.with_suffix(".part")
    with torch.no_grad():
        torch.onnx.export(network(name), (example,), str(part), **options)
    part.rename(path)


# ---- Measurement ----------------------------------------------------------------------------------------------------

def peak():
    """The peak of this program's resident memory. Unlike getrusage's, it does not contain that of its parent."""
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def timed(function):
    begin = time.perf_counter()
    result = function()
    return 1e3 * (time.perf_counter() - begin), result


def work(library, name, path, rounds, threads):
    """Runs a model in a process of its own. Returns the figures and the outputs at the first size and at another one."""
    if library == "anydml":
        import anydml.onnx
        before = peak()
        load, prepared = timed(lambda: anydml.onnx.prepare(path))
        def run(x):
            return np.asarray(prepared.run({"x": x})[0])
    else:
        import onnxruntime
        before = peak()
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = threads, 3
        load, session = timed(lambda: onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"]))
        def run(x):
            return session.run(None, {"x": x})[0]
    x = given_at(name, 0)
    first, output = timed(lambda: run(x))
    run(x)
    memory, new = peak() - before, []
    later = statistics.median(timed(lambda: run(x))[0] for _ in range(rounds))
    for step in (1, 2, 3):
        other = given_at(name, step)
        cost = timed(lambda: run(other))[0]
        new.append(cost - statistics.median(timed(lambda: run(other))[0] for _ in range(3)))
    outputs = [output, run(other)]
    answer = {"load": load, "first": first, "run": later, "new": statistics.median(new), "memory": memory}
    if library == "anydml":
        alone = [np.asarray(prepared._model.run_node_by_node(prepared._listed({"x": one}))[0]) for one in (x, other)]
        answer["same_bits"] = all(one.tobytes() == two.tobytes() for one, two in zip(outputs, alone))
    return {**answer, "outputs": outputs}


def in_process(arguments, options, answer=None):
    """Runs this script for one task. Returns a reason if it fails, otherwise its answer."""
    environment = {**os.environ, "ANYDML_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
    try:
        done = subprocess.run([sys.executable, __file__, *arguments], env=environment, capture_output=True, text=True,
                              timeout=options.limit)
    except subprocess.TimeoutExpired:
        return f"over {options.limit:g} s"
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return (lines or [f"status {done.returncode}"])[-1][:120]
    return pickle.loads(answer.read_bytes()) if answer else None


def difference(one, other):
    if one.shape != other.shape or not np.isfinite(other).all():
        return float("inf")
    return float(np.max(np.abs(one.astype(np.float64) - other)) / np.max(np.abs(other)))


def measure(name, exporter, options, folder):
    row, path = {"model": name, "exporter": exporter}, options.folder / f"{name}.{exporter}.onnx"
    if not path.exists():
        failure = in_process(["--export", name, exporter, str(path)], options)
        if failure is not None:
            return {**row, "not_exported": failure}
    import onnx
    row["nodes"] = len(onnx.load(path).graph.node)
    for library in LIBRARIES:
        answer = pathlib.Path(folder) / "answer"
        found = in_process(["--work", library, name, str(path), str(options.rounds), str(options.threads), str(answer)],
                           options, answer)
        if isinstance(found, str):
            return {**row, "failed": f"{library}: {found}"}
        row[library] = found
    pairs = zip(row["anydml"].pop("outputs"), row["ONNX Runtime"].pop("outputs"))
    row["difference"], row["same_bits"] = max(difference(*pair) for pair in pairs), row["anydml"].pop("same_bits")
    if not row["same_bits"] or row["difference"] > BOUND:
        row["failed"] = f"same bits: {row['same_bits']}, difference {row['difference']:.1e}"
    return row


def show(row):
    title = f"| {row['model']} | {row['exporter']} | {row.get('nodes', '-')} |"
    if "not_exported" in row or "failed" in row:
        return f"{title} {row.get('failed') or 'the export failed: ' + row['not_exported']} |"
    cells = (f" {row['anydml'][one]:.1f} / {row['ONNX Runtime'][one]:.1f} |" for one in FIGURES)
    return f"{title}{''.join(cells)} {row['difference']:.0e} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--exporter", choices=EXPORTERS, action="append", help="both if none is given")
    parser.add_argument("--rounds", type=int, default=5, help="runs at the first size (5)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=300, help="for one export or one library (300)")
    parser.add_argument("--here", action="store_true", help="run only models that are in FOLDER; export nothing")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no such network: {', '.join(sorted(unknown))}")
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{options.threads} threads; times in ms, memory in MiB; anydml / ONNX Runtime\n\n"
          "| model | exporter | nodes | load | first | run | new size | memory | difference |\n"
          "|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or NAMES:
            for exporter in options.exporter or EXPORTERS:
                if options.here and not (options.folder / f"{name}.{exporter}.onnx").exists():
                    continue
                rows.append(measure(name, exporter, options, folder))
                print(show(rows[-1]), flush=True)
                if options.json:
                    options.json.write_text(json.dumps({"threads": options.threads, "rows": rows}, indent=1) + "\n")
    good = [row for row in rows if "failed" not in row and "not_exported" not in row]
    print(f"\n{len(good)} of {len(rows)} models of {len({row['model'] for row in good})} networks agree with ONNX Runtime and "
          "have the bits of their nodes")
    for one in FIGURES if good else ():
        ratios = sorted(max(row["anydml"][one], 1e-3) / max(row["ONNX Runtime"][one], 1e-3) for row in good)
        print(f"{one}: median ratio {statistics.median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f}")
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        export(*sys.argv[2:4], pathlib.Path(sys.argv[4]))
    elif sys.argv[1:2] == ["--work"]:
        pathlib.Path(sys.argv[7]).write_bytes(pickle.dumps(work(*sys.argv[2:5], int(sys.argv[5]), int(sys.argv[6]))))
    else:
        sys.exit(main())
