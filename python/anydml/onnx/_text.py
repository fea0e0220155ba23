# SPDX-License-Identifier: MIT
"""Converts between text and tokens: the tokenizer and the chat template in a model's folder, text that arrives token by
token, and stop words."""
import datetime
import json
import os

__all__ = ["Pieces", "Tokenizer", "Until"]

_CONTEXT = 8  # tokens before a new one that may influence its text


def _module(name, purpose):
    try:
        return __import__(name, fromlist=["sandbox"])
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{purpose} needs the package {package}: pip install {package}") from error


def _json(path):
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except ValueError as error:  # it is not JSON, or not UTF-8
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: it is a {type(value).__name__}; expected a JSON object")
    return value


class Tokenizer:
    """The tokenizer and the chat template in a folder. Each of the two is read when it is first used."""

    def __init__(self, folder):
        self._folder = folder
        self._tokenizer = self._template = None

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _own(self):
        if self._tokenizer is None:
            path = self._path("tokenizer.json")
            if not os.path.isfile(path):
                raise ValueError(f"{path} is missing, which text needs; without it, pass a list of tokens")
            tokenizers = _module("tokenizers", "text")
            try:
                self._tokenizer = tokenizers.Tokenizer.from_file(path)
            except Exception as error:  # the package raises nothing more specific
                raise ValueError(f"{path}: {error}") from None
            self._tokenizer.no_truncation()  # a file may ask for both, for batches in training
            self._tokenizer.no_padding()
        return self._tokenizer

    def tokens(self, text, with_special=True):
        """Returns the tokens of a text. with_special: whether to include special tokens that the tokenizer adds, such
        as the one that begins a text."""
        return self._own().encode(text, add_special_tokens=with_special).ids

    def text(self, tokens):
        """Returns the text of tokens, without special tokens."""
        return self._own().decode(list(tokens), skip_special_tokens=True)

    def chat(self, messages):
        """Returns the text of a conversation, up to the beginning of the model's answer."""
        if self._template is None:
            self._template = self._compiled()
        template, names = self._template
        try:
            return template.render(messages=messages, add_generation_prompt=True, **names)
        except Exception as error:  # a template may raise anything
            raise ValueError(f"the chat template of {self._folder} refuses the messages: {error}") from error

    def _compiled(self):
        path = self._path("tokenizer_config.json")
        config = _json(path) if os.path.isfile(path) else {}
        beside = self._path("chat_template.jinja")
        if os.path.isfile(beside):
            with open(beside, encoding="utf-8") as file:
                source = file.read()
        else:
            source = config.get("chat_template")
            if isinstance(source, list):  # a list of named templates
                source = next((one.get("template") for one in source
                               if isinstance(one, dict) and one.get("name") == "default"), None)
        if not isinstance(source, str):
            raise ValueError(f"{self._folder} has no chat template: neither the file chat_template.jinja nor chat_template "
                             "in tokenizer_config.json")
        # A template comes with the model, so it is untrusted.
        sandbox = _module("jinja2.sandbox", "a chat template")
        environment = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                            extensions=["jinja2.ext.loopcontrols", _generation()])
        environment.filters["tojson"] = _as_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
        names = {}
        for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
            token = config.get(name)
            names[name] = token.get("content", "") if isinstance(token, dict) else token or ""
        try:
            return environment.from_string(source), names
        except Exception as error:
            raise ValueError(f"the chat template of {self._folder} is wrong: {error}") from error


def _generation():
    """Returns an extension of Jinja for {% generation %}, which marks a part of a text for training: the part itself."""
    class Generation(_module("jinja2.ext", "a chat template").Extension):
        tags = {"generation"}

        def parse(self, parser):
            next(parser.stream)
            return parser.parse_statements(["name:endgeneration"], drop_needle=True)

    return Generation


def _as_json(value, indent=None, **_):
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message):
    raise ValueError(message)


class Pieces:
    """The text of tokens that arrive one by one. A character may consist of several tokens, and the text of a token may
    depend on the tokens before it, so a piece is the difference of two texts."""

    def __init__(self, tokenizer, prompt):
        self._tokenizer = tokenizer
        self._tokens = list(prompt[-_CONTEXT:])
        self._from, self._done = 0, len(self._tokens)

    def add(self, token, is_last=False):
        """Returns the text that is complete with this token, which may be empty."""
        self._tokens.append(token)
        return self._new(is_last)

    def _new(self, is_last):
        before = self._tokenizer.text(self._tokens[self._from:self._done])
        after = self._tokenizer.text(self._tokens[self._from:])
        if len(after) <= len(before) or (after.endswith("\ufffd") and not is_last):
            return ""
        self._from, self._done = self._done, len(self._tokens)
        return after[len(before):]

    def rest(self):
        """Returns the text of the remaining tokens, which do not form a complete character."""
        return self._new(True)


class Until:
    """Text up to the first stop word. The beginning of a stop word is held back until it is clear how it continues."""

    def __init__(self, words):
        self._words, self._held = words, ""
        self.is_over = False

    def add(self, piece):
        """Returns the text that certainly comes before a stop word."""
        text = self._held + piece
        places = [place for word in self._words if (place := text.find(word)) >= 0]
        if places:
            self.is_over, self._held = True, ""
            return text[:min(places)]
        held = max((length for word in self._words for length in range(1, min(len(word), len(text) + 1))
                    if text.endswith(word[:length])), default=0)
        self._held = text[len(text) - held:]
        return text[:len(text) - held]

    def rest(self):
        """Returns the text that was held back, once no more text comes."""
        held, self._held = self._held, ""
        return held
