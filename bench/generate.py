# SPDX-License-Identifier: MIT
"""Text generation in anydml, ONNX Runtime and llama.cpp: seconds for a prompt, tokens a second, and memory.

    python3 bench/generate.py FOLDER [--gguf FILE] [--prompt 128] [--tokens 64] [--rounds 3] [--cpu-time]
                              [--activations float]
    python3 bench/generate.py FOLDER --against CHECKPOINT

FOLDER was written by onnxruntime-genai's builder, and FILE has the same model for llama.cpp. Each library runs in a
process of its own, with as many threads (ANYDML_THREADS, or all processors), and generates from the same prompts of
random tokens. The best round counts, because other programs disturb the others. On a busy machine, measure the CPU time
of one thread: ANYDML_THREADS=1 and --cpu-time.

--against compares greedy tokens of 20 texts with those of transformers in float32, and shows the logits where they part.

needs: anydml, numpy; onnxruntime-genai and xllamacpp for their rows; torch and transformers for --against
"""
import argparse
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

TEXTS = [
    "The capital of France is", "Water boils at a temperature of", "Once upon a time, there was a", "The quick brown fox",
    "In 1969, the first humans", "The largest planet in our solar system", "A recipe for bread needs", "My favourite season is",
    "def fibonacci(n):", "The opposite of hot is", "Photosynthesis is the process by which", "To be or not to be,",
    "The three primary colours are", "She opened the door and saw", "The speed of light is", "An algorithm is",
    "In the year 2050,", "The best way to learn a language is", "Gravity is a force that", "1, 2, 3, 4,"]


def threads():
    wanted = os.environ.get("ANYDML_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) else len(os.sched_getaffinity(0))


# ---- Libraries: each returns a function that generates tokens after a prompt ----------------------------------------


def with_anydml(options):
    import anydml.onnx
    generator = anydml.onnx.Generator(options.folder, slots=options.slots, activations=options.activations)
    return lambda prompt, tokens: generator.generate(prompt, tokens, ignore_end=True, temperature=0)


def with_genai(options):
    import onnxruntime_genai
    config = onnxruntime_genai.Config(str(options.folder))
    config.clear_providers()  # a folder for DirectML runs on the CPU too
    config.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads()}}}}))
    model = onnxruntime_genai.Model(config)

    def run(prompt, tokens):
        parameters = onnxruntime_genai.GeneratorParams(model)
        parameters.set_search_options(max_length=options.slots, min_length=options.slots, do_sample=False)
        generator = onnxruntime_genai.Generator(model, parameters)
        generator.append_tokens(prompt)
        for _ in range(tokens):
            generator.generate_next_token()

    return run


def with_llama(options):
    import xllamacpp
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.gguf)
    parameters.n_ctx, parameters.n_parallel, parameters.verbosity = options.slots, 1, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads()
    parameters.cache_prompt = False
    server = xllamacpp.Server(parameters)
    return lambda prompt, tokens: server.handle_completions(
        {"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False, "ignore_eos": True})


LIBRARIES = {"anydml": ("anydml", with_anydml), "ONNX Runtime (onnxruntime-genai)": ("onnxruntime_genai", with_genai),
             "llama.cpp (xllamacpp)": ("xllamacpp", with_llama)}


def measure(name, options):
    """Prints the least seconds for a prompt with its first token, and for a token after it. Every round has other random
    prompts, so that no library can use what it computed for an earlier one."""
    run = LIBRARIES[name][1](options)
    clock = time.process_time if options.cpu_time else time.perf_counter
    words = json.loads((options.folder / "genai_config.json").read_text())["model"]["vocab_size"]
    random = np.random.default_rng(7)
    least = {}
    for _ in range(options.rounds):
        for tokens in (1, 1 + options.tokens):
            prompt = random.integers(5, words, options.prompt).tolist()
            begin = clock()
            run(prompt, tokens)
            least[tokens] = min(clock() - begin, least.get(tokens, float("inf")))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"prompt": least[1], "token": (least[1 + options.tokens] - least[1]) / options.tokens, "memory": memory}))


def show_table(options):
    print(f"A prompt of {options.prompt} tokens and {options.tokens} tokens after it, {threads()} threads, "
          f"{'CPU time, ' if options.cpu_time else ''}best of {options.rounds} rounds:\n")
    print("| | prompt, tokens/s | tokens/s | memory, MB |\n|---|---|---|---|")
    for name, (module, _) in LIBRARIES.items():
        if importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | | |")
            continue
        if module == "xllamacpp" and options.gguf is None:
            print(f"| {name} | no --gguf | | |")
            continue
        done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--only", name], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"| {name} | failed with {done.returncode} | | |")
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        print(f"| {name} | {options.prompt / row['prompt']:.0f} | {1 / row['token']:.1f} | {row['memory']:.0f} |", flush=True)


# ---- Comparison with transformers ------------------------------------------------------------------------------------


def compare(options):
    import torch
    import transformers

    import anydml.onnx
    reference = transformers.AutoModelForCausalLM.from_pretrained(options.against, dtype=torch.float32).eval()
    generator = anydml.onnx.Generator(options.folder)
    same = 0
    for text in TEXTS:
        prompt = generator.tokens_of(text)
        ours = generator.generate(prompt, options.tokens, ignore_end=True, temperature=0).tokens
        # One run over the whole text gives the choice after each of its parts. Until the first difference, these are the
        # tokens that the reference itself generates.
        with torch.no_grad():
            logits = reference(torch.tensor([prompt + ours])).logits[0, len(prompt) - 1:-1]
        theirs = logits.argmax(-1).tolist()
        part = next((i for i, (one, other) in enumerate(zip(ours, theirs)) if one != other), None)
        same += part is None
        if part is not None:
            gap = float(logits[part, theirs[part]] - logits[part, ours[part]])
            print(f"{text!r}: token {part} differs; transformers' logits are {gap:.2g} apart", flush=True)
    print(f"{same} of {len(TEXTS)} texts have the same {options.tokens} tokens as transformers in float32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=None)
    parser.add_argument("--slots", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--activations", choices=("model", "float", "integer"), default="model",
                        help="of anydml, in products with weights in four bits")
    parser.add_argument("--against", metavar="CHECKPOINT")
    parser.add_argument("--only", choices=LIBRARIES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.tokens = options.tokens or (32 if options.against else 64)
    if options.only:
        measure(options.only, options)
    elif options.against:
        compare(options)
    else:
        show_table(options)


if __name__ == "__main__":
    main()
