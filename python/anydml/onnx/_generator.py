# SPDX-License-Identifier: MIT
"""Generates text with a language model: wraps the C++ library's generator, and adds a tokenizer, chat templates and
stop words."""
import os
import time
from collections.abc import Iterable, Mapping, Sequence

from .. import _core
from ._devices import device_of
from ._model import Unsupported, activations_number, printable
from ._text import Pieces, Tokenizer, Until

__all__ = ["Generated", "Generator"]

_CACHES = ("fixed", "doubling", "growing")
_ENDS = {1: "stop token", 2: "length", 3: "stop word"}


class Generated:
    """A text that a model generated.

    tokens: the tokens of the text, without the stop token that ended it. end: the reason why it ended: "stop token",
    "stop word" or "length". prompt_tokens: the number of tokens in the prompt. prompt_seconds: the time until the first
    token, for all prompts of the batch together. tokens_per_second: the speed of this text after its first token.
    """

    def __init__(self, tokens, end, prompt_tokens, prompt_seconds, seconds, text):
        self.tokens, self.end, self.prompt_tokens = tokens, end, prompt_tokens
        self.prompt_seconds, self.seconds = prompt_seconds, seconds
        self._decoded, self._text = text, None

    @property
    def text(self):
        """The text, without the prompt and the stop word."""
        if self._text is None:
            self._text = self._decoded()
        return self._text

    @property
    def tokens_per_second(self):
        return (len(self.tokens) - 1) / self.seconds if len(self.tokens) > 1 and self.seconds > 0 else 0.0

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<generated {len(self.tokens)} tokens after {self.prompt_tokens}, ended by {self.end}>"


class _Text:
    """A text of a batch, while it is being generated."""

    def __init__(self, prompt, tokenizer, words):
        self.prompt, self.tokens, self.end, self.last = prompt, [], 0, 0.0
        self._tokenizer = tokenizer
        self._pieces = Pieces(tokenizer, prompt) if words is not None else None
        self._until = Until(words or ())
        self._parts = []

    def add(self, token, end, now):
        """Adds a token, and returns the new piece of text. Without pieces, the text is decoded on request."""
        self.last = now
        if end != 1:
            self.tokens.append(token)
        self.end = end
        if self._pieces is None:
            return ""
        piece = self._until.add(self._pieces.add(token) if end != 1 else "")
        if end and not self._until.is_over:
            piece += self._until.add(self._pieces.rest())
        if self._until.is_over:
            self.end = 3
        elif end:
            piece += self._until.rest()
        self._parts.append(piece)
        return piece

    def text(self):
        if self._pieces is not None:
            return "".join(self._parts)
        pieces = Pieces(self._tokenizer, self.prompt)
        return "".join([pieces.add(token) for token in self.tokens] + [pieces.rest()])


class Generator:
    """Generates text with a language model in a folder that onnxruntime-genai's builder wrote. If the folder has no
    tokenizer, it generates tokens. See docs/language-models.md.

    device: "CPU", "CUDA" or "CUDA:1"; None means the default device. slots: the number of tokens for which the cache
    has room, up to the model's context length. cache: with "fixed", a full cache is an error; with "doubling", a full
    cache doubles; with "growing", it has exactly as many rows as there are tokens, and a graph is compiled for every
    token. chunk: the maximum number of tokens of prompts that run at once, a power of two. activations: "model",
    "float" or "integer"; see `prepare`.

    >>> import anydml.onnx as backend
    >>> try:
    ...     generator = backend.Generator("smollm2")
    ...     print(generator.generate("The capital of France is", tokens=8))
    ... except ValueError as error:
    ...     print(error)
    'smollm2/genai_config.json': No such file or directory
    """

    def __init__(self, folder, device=None, slots=4096, *, cache="fixed", chunk=128, activations="model"):
        number = activations_number(activations)
        if cache not in _CACHES:
            raise ValueError(f"cache is {cache!r}; expected {', '.join(map(repr, _CACHES))}")
        self.folder = os.fspath(folder)
        for name, value in (("slots", slots), ("chunk", chunk)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} is {value!r}; expected an int")
            if value.bit_length() > 62:
                raise ValueError(f"{name} is {value}; expected a smaller number")
        try:
            self._core = _core.OnnxGenerator(self.folder, slots, chunk, _CACHES.index(cache),
                                             None if device is None else device_of(device), number)
        except NotImplementedError as error:
            raise Unsupported(*error.args) from None
        described = self._core.description
        self.slots, self.cache = described["slots"], _CACHES[described["cache"]]
        self.context_length, self.end_tokens = described["context_length"], described["end_tokens"]
        self.tokenizer = Tokenizer(self.folder)

    def __repr__(self):
        room = f"{self.slots} slots" if self.slots else "a growing cache"
        return f"<generator {printable(self.folder)!r}, {room} of {self.context_length} tokens>"

    def generate(self, prompt, tokens=64, *, temperature=None, top_k=None, top_p=None, repetition_penalty=None, seed=0,
                 stop=(), ignore_end=False, stream=None):
        """Returns the text that follows a prompt, as a `Generated`; for a list of prompts, returns a list of them.

        A prompt is a text, a list of tokens, or a conversation: a list of messages such as {"role": "user", "content":
        "Hello"}, to which the folder's chat template applies. tokens: the maximum number of tokens in a result.
        temperature: 0 always chooses the most likely token. If temperature, top_k, top_p or repetition_penalty is None,
        the default in genai_config.json applies. stop: one or more strings; a text ends before the first one that
        occurs. ignore_end: whether to continue a text after the model's own end tokens. stream: a function that
        receives the text piece by piece; it is only for a single prompt.
        """
        prompts, is_one = self._prompts(prompt)
        if stream is not None and not is_one:
            raise ValueError("stream is given for a list of prompts; expected one prompt")
        words = _words_of(stop)
        texts = [_Text(one, self.tokenizer, words if words or stream else None) for one in prompts]
        options = _options(tokens, temperature, top_k, top_p, repetition_penalty, seed, ignore_end)
        began = time.perf_counter()
        first = None
        for _, piece in self._events(texts, options):
            first = first or time.perf_counter()
            if stream is not None and piece:
                stream(piece)
        results = [Generated(one.tokens, _ENDS[one.end], len(one.prompt), first - began, one.last - first, one.text)
                   for one in texts]
        return results[0] if is_one else results

    def stream(self, prompt, tokens=64, *, temperature=None, top_k=None, top_p=None, repetition_penalty=None, seed=0,
               stop=(), ignore_end=False):
        """Returns an iterator over the pieces of the text that follows a prompt, with the options of `generate`."""
        prompts, is_one = self._prompts(prompt)
        if not is_one:
            raise ValueError("stream takes one prompt, not a list of prompts")
        text = _Text(prompts[0], self.tokenizer, _words_of(stop))
        options = _options(tokens, temperature, top_k, top_p, repetition_penalty, seed, ignore_end)
        return (piece for _, piece in self._events([text], options) if piece)

    def logits(self, text=0):
        """Returns the logits from which the last token of a text was chosen, as an array of float32."""
        return self._core.logits(text)

    def tokens_of(self, prompt):
        """Returns the tokens of a prompt: a text, a conversation, or a list of tokens."""
        prompts, is_one = self._prompts(prompt)
        if not is_one:
            raise ValueError("tokens_of takes one prompt, not a list of prompts")
        return prompts[0]

    def _events(self, texts, options):
        """Yields pairs of a text and its new piece, for each step and each text."""
        try:
            own = self._core.start([one.prompt for one in texts], options)
        except NotImplementedError as error:  # what a node needs may depend on a shape
            raise Unsupported(*error.args) from None
        while not all(one.end for one in texts):
            made = self._core.step(own)
            now = time.perf_counter()
            for i, (one, (token, end)) in enumerate(zip(texts, made)):
                if one.end:
                    continue
                piece = one.add(token, end, now)
                if one.end and not end:
                    self._core.end(own, i)
                yield one, piece

    def _prompts(self, prompt):
        """Returns a list of tokens for each prompt, and whether the argument is a single prompt."""
        if _is_one(prompt):
            return [self._tokens(prompt)], True
        if isinstance(prompt, Iterable) and not isinstance(prompt, (bytes, Mapping)):
            return [self._tokens(one) for one in prompt], False
        raise TypeError(f"prompt is of type {type(prompt).__name__}; expected a text, messages, tokens, or a list of them")

    def _tokens(self, prompt):
        if isinstance(prompt, str):
            return self.tokenizer.tokens(prompt)
        if not _is_one(prompt):
            raise TypeError(f"a prompt is of type {type(prompt).__name__}; expected a text, messages or tokens")
        if prompt and isinstance(prompt[0], Mapping):
            return self.tokenizer.tokens(self.tokenizer.chat(list(prompt)), with_special=False)
        return list(prompt)


def _is_one(prompt):
    """Whether an object is one prompt: a text, messages or tokens. Other lists are lists of prompts."""
    if isinstance(prompt, str):
        return True
    if hasattr(prompt, "ndim"):  # an array
        return prompt.ndim == 1
    if not isinstance(prompt, Sequence) or isinstance(prompt, bytes) or not prompt:
        return False
    return isinstance(prompt[0], Mapping) or hasattr(prompt[0], "__index__")


def _words_of(stop):
    words = [stop] if isinstance(stop, str) else list(stop)
    for word in words:
        if not isinstance(word, str) or not word:
            raise ValueError(f"stop has {word!r}; expected words that are not empty")
    return words


def _options(tokens, temperature, top_k, top_p, repetition_penalty, seed, ignore_end):
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise ValueError(f"tokens is {tokens!r}; expected an int of 1 or more")
    return {"max_new_tokens": tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p,
            "repetition_penalty": repetition_penalty, "seed": seed, "ignores_end": bool(ignore_end)}
