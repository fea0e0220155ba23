#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares RANDOM_GENERATOR with the NumPy program in docs/numerics.md and with the answers published by the
generator's authors (Random123's kat_vectors), bit for bit: outputs and states in any layout, counters that wrap.

usage: random_oracle.py LIBANYDML
"""
import sys

import numpy as np

from move_oracle import lay_out, same_memory
from numpy_oracle import SEED, Library
from random_reference import philox

CASES = 200
LARGE = [(70_001,), (3, 3, 20, 721), (263, 257), (1 << 20,)]
# Counter, key and output, lowest word first.
PUBLISHED = [([0] * 4, [0] * 2, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
             ([0xffffffff] * 4, [0xffffffff] * 2, [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
             ([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0],
              [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1])]


def draw_state(random):
    state = random.integers(0, 2**32, 6, dtype=np.uint32)
    if random.random() < 0.5:  # about to wrap
        state[:int(random.integers(1, 5))] = 0xffffffff
        state[0] -= np.uint32(random.integers(0, 9))
    return state


def check(library, random, shape):
    rank = int(random.integers(1, 9))
    state = draw_state(random)
    placed, _ = lay_out(random, (1,) * (rank - 1) + (6,), np.dtype(np.uint32), False)
    placed[...] = state
    wants_state = random.random() < 0.7
    outputs = [lay_out(random, shape, np.dtype(np.uint32), False), lay_out(random, placed.shape, np.dtype(np.uint32), False)]
    if random.random() < 0.5:
        outputs[0] = (np.zeros(shape, np.uint32), np.zeros(0, np.uint8))
    twins = [same_memory(*one) if one[1].size else None for one in outputs]
    library.run("RANDOM_GENERATOR", [placed], [outputs[0][0], outputs[1][0] if wants_state else None],
                (("Type", "PHILOX_4X32_10"),))
    words, following = philox(state, int(np.prod(shape)))
    for (array, memory), twin, expected in zip(outputs[:1 + wants_state], twins, (words, following)):
        if not np.array_equal(array.reshape(-1), expected):
            sys.exit(f"RANDOM_GENERATOR of {shape} from {state}: {array.reshape(-1)[:8]}, expected {expected[:8]}")
        if twin is not None:
            twin[0][...] = array
            if not np.array_equal(twin[1], memory):
                sys.exit(f"RANDOM_GENERATOR of {shape}: bytes between the elements were written")
    return len(words)


def main(path):
    library, random = Library(path), np.random.default_rng(SEED)
    for counter, key, expected in PUBLISHED:
        out, state = np.zeros((1, 1, 1, 4), np.uint32), np.array(counter + key, np.uint32).reshape(1, 1, 1, 6)
        library.run("RANDOM_GENERATOR", [state], [out, None], (("Type", "PHILOX_4X32_10"),))
        if out.ravel().tolist() != expected or philox(state.ravel(), 4)[0].tolist() != expected:
            sys.exit(f"the published answer to {counter} and {key} is {expected}, not {out.ravel().tolist()}")
    total = 0
    for _ in range(CASES):
        total += check(library, random, [0 if random.random() < 0.02 else int(random.integers(1, 7))
                                         for _ in range(int(random.integers(1, 6)))])
    for shape in LARGE:
        total += check(library, random, shape)
    print(f"{total} elements compared, none different; {len(PUBLISHED)} published answers")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
