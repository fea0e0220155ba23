#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports networks of torchvision and transformers with both exporters of PyTorch, and runs them beside ONNX Runtime and
beside an earlier version.

usage: exports.py FOLDER [NAME ...] [--exporter NAME] [--zoo FOLDER] [--before FOLDER] [--rounds N] [--threads N]
                  [--limit SECONDS] [--here] [--json FILE] [--table]
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

With --zoo, the models of tests/python/zoo_models.py run too; they are downloaded to that folder. With --before, an earlier
version of anydml is compared; its Python package is in that folder. Rows are added to the JSON file and replace those of
the same model, so a long measurement can be done in parts; --table prints the rows of the file and measures nothing.

The script fails if a run has other bits than a run of the same nodes one by one, or if a run with literal=True has other
bits than in the earlier version, or if a result of an exported network differs from ONNX Runtime's by more than 1e-3 of the
largest element. Trained models may differ more, where they quantize. Needs torch, torchvision, transformers, onnx,
onnxscript and onnxruntime.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "python"))
from zoo_models import MODELS, SIZES, fetch  # noqa: E402

EXPORTERS = ("torchscript", "torch.export")
TRAINED = "trained"  # in the place of an exporter
BEFORE, ANYDML, OTHER = "before", "anydml", "ONNX Runtime"
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
ZOO = {model.name: model for model in MODELS}
NAMES = [*IMAGES, *TEXTS, *ZOO]


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
    """The inputs at the first size (step 0) or at another one, or None if the model has only one size."""
    if name in ZOO:
        return ZOO[name].given() if step == 0 else SIZES[name](step) if name in SIZES else None
    random = np.random.default_rng(1 + step)
    if name in IMAGES:
        return {"x": random.random([1 if step == 0 else 2 + step, 3, IMAGES[name], IMAGES[name]], dtype=np.float32)}
    return {"x": random.integers(3, WORDS, [1, 32 + 5 * step])}


def export(name, exporter, path):
    import torch
    example, axis = torch.from_numpy(given_at(name, 1)["x"]), 0 if name in IMAGES else 1
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
    if library == OTHER:
        import onnxruntime
        before = peak()
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads, settings.log_severity_level = threads, 3
        load, session = timed(lambda: onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"]))
        def run(given):
            return session.run(None, given)
    else:
        import anydml.onnx
        before = peak()
        load, prepared = timed(lambda: anydml.onnx.prepare(path))
        def run(given):
            return list(prepared.run(given))
    sizes = [given_at(name, step) for step in range(4)]
    first, output = timed(lambda: run(sizes[0]))
    run(sizes[0])
    memory, new = peak() - before, []
    later = statistics.median(timed(lambda: run(sizes[0]))[0] for _ in range(rounds))
    sizes = [one for one in sizes if one is not None]
    for other in sizes[1:]:
        cost = timed(lambda: run(other))[0]
        new.append(cost - statistics.median(timed(lambda: run(other))[0] for _ in range(3)))
    outputs = [*output, *(run(sizes[-1]) if len(sizes) > 1 else [])]
    answer = {"load": load, "first": first, "run": later, "new": statistics.median(new) if new else None, "memory": memory}
    given = [sizes[0], *sizes[-1:]] if len(sizes) > 1 else sizes
    if library == ANYDML:
        alone = [one for given_one in given for one in prepared._model.run_node_by_node(prepared._listed(given_one))]
        answer["same_bits"] = bits_of(outputs) == bits_of(alone)
        literal = anydml.onnx.prepare(path, literal=True)
        answer["literal"] = bits_of([one for given_one in given for one in literal.run(given_one)])
    elif library == BEFORE:
        answer["literal"] = bits_of(outputs)
    return {**answer, "outputs": outputs}


def bits_of(outputs):
    return [(str(one.dtype), one.shape, one.tobytes()) for one in map(np.asarray, outputs)]


def in_process(arguments, options, answer=None):
    """Runs this script for one task. Returns a reason if it fails, otherwise its answer."""
    environment = {**os.environ, "ANYDML_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
    if BEFORE in arguments:
        environment["PYTHONPATH"] = str(options.before.resolve())
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
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or other.dtype.kind not in "fiub":
        return float("inf")
    one, other = one.astype(np.float64), other.astype(np.float64)
    if not np.isfinite(other).all():
        return float("inf")
    return float(np.max(np.abs(one - other)) / max(np.max(np.abs(other)), 1e-30)) if other.size else 0.0


def measure(name, exporter, options, folder):
    row = {"model": name, "exporter": exporter}
    if exporter == TRAINED:
        path = fetch(ZOO[name], options.zoo)
    else:
        path = options.folder / f"{name}.{exporter}.onnx"
    if not path.exists():
        failure = in_process(["--export", name, exporter, str(path)], options)
        if failure is not None:
            return {**row, "not_exported": failure}
    import onnx
    row["nodes"] = len(onnx.load(path).graph.node)
    for library in options.libraries:
        answer = pathlib.Path(folder) / "answer"
        found = in_process(["--work", library, name, str(path), str(options.rounds), str(options.threads), str(answer)],
                           options, answer)
        if isinstance(found, str) and library == BEFORE:  # the earlier version may lack an operator
            row["before_failed"] = found
        elif isinstance(found, str):
            return {**row, "failed": f"{library}: {found}"}
        else:
            row[library] = found
    outputs, literal = ([row[one].pop(part, None) if one in row else None for one in options.libraries]
                        for part in ("outputs", "literal"))
    row["difference"], row["same_bits"] = max(map(difference, outputs[-2], outputs[-1])), row[ANYDML].pop("same_bits")
    if BEFORE in row:
        row["bits_of_before"] = literal[0] == literal[1]
    if not row["same_bits"] or (exporter != TRAINED and row["difference"] > BOUND) or not row.get("bits_of_before", True):
        row["failed"] = (f"same bits: {row['same_bits']}, those of the version before: {row.get('bits_of_before', '-')}, "
                         f"difference {row['difference']:.1e}")
    return row


def figure(row, library, one):
    value = row[library][one] if library in row else None
    return "-" if value is None else f"{value:.1f}"


def show(row, libraries):
    title = f"| {row['model']} | {row['exporter']} | {row.get('nodes', '-')} |"
    if "not_exported" in row or "failed" in row:
        return f"{title} {row.get('failed') or 'the export failed: ' + row['not_exported']} |"
    cells = (f" {' / '.join(figure(row, library, one) for library in libraries)} |" for one in FIGURES)
    bits = {True: "same", False: "other"}.get(row.get("bits_of_before"), "-")
    return f"{title}{''.join(cells)} {bits} | {row['difference']:.0e} |"


def summary(rows, libraries):
    good = [row for row in rows if "failed" not in row and "not_exported" not in row]
    print(f"\n{len(good)} of {len(rows)} models agree with ONNX Runtime and have the bits of their nodes; "
          f"{sum(row.get('bits_of_before', False) for row in rows)} have the bits of the version before")
    for kind in (*EXPORTERS, TRAINED):
        for other in libraries:
            for one in FIGURES if other != ANYDML else ():
                ratios = sorted(max(row[ANYDML][one], 1e-3) / max(row[other][one], 1e-3) for row in good
                                if row["exporter"] == kind and other in row and row[other][one] is not None)
                if ratios:
                    print(f"{kind}, {one}: median ratio to {other} {statistics.median(ratios):.2f}, {ratios[0]:.2f} to "
                          f"{ratios[-1]:.2f} ({sum(ratio < 1 for ratio in ratios)} of {len(ratios)} below 1)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--exporter", choices=EXPORTERS, action="append", help="both if none is given")
    parser.add_argument("--zoo", metavar="FOLDER", type=pathlib.Path, help="also run trained models, which are kept there")
    parser.add_argument("--before", metavar="FOLDER", type=pathlib.Path, help="the Python package of an earlier version")
    parser.add_argument("--rounds", type=int, default=5, help="runs at the first size (5)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", metavar="SECONDS", type=float, default=300, help="for one export or one library (300)")
    parser.add_argument("--here", action="store_true", help="run only models that are in FOLDER; export nothing")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="add the figures to this file")
    parser.add_argument("--table", action="store_true", help="print the rows of the JSON file, and measure nothing")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no such network: {', '.join(sorted(unknown))}")
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = json.loads(options.json.read_text())["rows"] if options.json and options.json.exists() else []
    has_before = options.before is not None or (options.table and any(BEFORE in row for row in rows))
    options.libraries = (BEFORE, ANYDML, OTHER) if has_before else (ANYDML, OTHER)
    print(f"{options.threads} threads; times in ms, memory in MiB; {' / '.join(options.libraries)}\n\n"
          "| model | exporter | nodes | load | first | run | new size | memory | bits | difference |\n"
          "|---|---|---|---|---|---|---|---|---|---|", flush=True)
    chosen = [(name, exporter) for name in options.names or NAMES
              for exporter in ((TRAINED,) if name in ZOO else options.exporter or EXPORTERS)
              if (options.zoo is not None or name not in ZOO) and not options.table and (
                  name in ZOO or not options.here or (options.folder / f"{name}.{exporter}.onnx").exists())]
    if options.table:
        for row in rows:
            print(show(row, options.libraries))
    with tempfile.TemporaryDirectory() as folder:
        for name, exporter in chosen:
            row = measure(name, exporter, options, folder)
            rows = [one for one in rows if (one["model"], one["exporter"]) != (name, exporter)] + [row]
            print(show(row, options.libraries), flush=True)
            if options.json:
                options.json.write_text(json.dumps({"threads": options.threads, "rows": rows}, indent=1) + "\n")
    summary(rows, options.libraries)
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        export(*sys.argv[2:4], pathlib.Path(sys.argv[4]))
    elif sys.argv[1:2] == ["--work"]:
        pathlib.Path(sys.argv[7]).write_bytes(pickle.dumps(work(*sys.argv[2:5], int(sys.argv[5]), int(sys.argv[6]))))
    else:
        sys.exit(main())
