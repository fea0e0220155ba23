# SPDX-License-Identifier: MIT
"""RANDOM_GENERATOR, as defined in docs/numerics.md."""
import numpy as np


def philox(state, count):
    """`count` words from a state of six, and the next state."""
    words = [int(word) for word in state]
    start = sum(word << 32 * i for i, word in enumerate(words[:4]))
    blocks = -(-count // 4)
    counters = [(start + i) % 2**128 for i in range(blocks)]
    x = [np.array([c >> 32 * i & 0xffffffff for c in counters], np.uint64) for i in range(4)]
    key = words[4:]
    for _ in range(10):
        first, second = x[0] * np.uint64(0xd2511f53), x[2] * np.uint64(0xcd9e8d57)
        low, high = np.uint64(0xffffffff), np.uint64(32)
        x = [second >> high ^ x[1] ^ np.uint64(key[0]), second & low, first >> high ^ x[3] ^ np.uint64(key[1]), first & low]
        key = [(key[0] + 0x9e3779b9) % 2**32, (key[1] + 0xbb67ae85) % 2**32]
    end = (start + blocks) % 2**128
    return np.stack(x, 1).ravel()[:count].astype(np.uint32), np.array(
        [*(end >> 32 * i & 0xffffffff for i in range(4)), *words[4:]], np.uint32)
