# SPDX-License-Identifier: MIT
"""Text from language models, compared with plain loops over small models of random weights."""
import json
import threading

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
import anydml.onnx as backend
from anydml.onnx import _text
from anydml.onnx.__main__ import main
from language_models import CONTEXT, END, TEMPLATE, WORDS, plain_loop, write_model, write_tokenizer

PROMPTS = [[5, 17, 200, 31, 8, 90, 44], [3], list(range(20, 61)), [7, 7, 7]]
KINDS = {"grouped": {}, "positions": {"has_positions": True}, "float16": {"dtype": np.float16},
         "last logits": {"is_last_only": True}, "softcap": {"has_softcap": True}, "plain": {"is_plain": True}}


@pytest.fixture(scope="module", params=KINDS, ids=str)
def model(request, tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"), **KINDS[request.param])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("tokenizers")
    return write_tokenizer(write_model(tmp_path_factory.mktemp("text")))


def ids(generator, prompt, tokens=10, **options):
    return generator.generate(prompt, tokens, ignore_end=True, **options)


# ---- Tokens ---------------------------------------------------------------------------------------------------------


def test_greedy_tokens_are_those_of_a_loop(model):
    generator = backend.Generator(model)
    for prompt in PROMPTS:
        tokens, logits = plain_loop(model, prompt, 10)
        result = ids(generator, prompt)
        assert result.tokens == tokens and result.prompt_tokens == len(prompt) and result.end == "length"
        np.testing.assert_array_equal(generator.logits(), logits)


@pytest.mark.parametrize("cache", ["fixed", "doubling", "growing"])
def test_caches_chunks_and_batches_change_nothing(model, cache):
    expected = [plain_loop(model, prompt, 6) for prompt in PROMPTS]
    for chunk in (1, 8, 128):
        generator = backend.Generator(model, slots=3 if cache == "doubling" else 60, cache=cache, chunk=chunk)
        results = ids(generator, PROMPTS, 6)
        assert [one.tokens for one in results] == [tokens for tokens, _ in expected]
        for i, (_, logits) in enumerate(expected):
            np.testing.assert_array_equal(generator.logits(i), logits)


@pytest.mark.parametrize("chunk", [1, 16])
def test_sliding_cache(tmp_path, chunk):
    """A layer keeps the last rows only. A prompt in one piece sees the same rows as one in chunks."""
    write_model(tmp_path, window=12)
    whole = backend.Generator(tmp_path, chunk=128)
    parts = backend.Generator(tmp_path, chunk=chunk)
    for one, other in zip(ids(whole, PROMPTS, 20), ids(parts, PROMPTS, 20)):
        assert one.tokens == other.tokens


def test_same_beginning(model):
    """A prompt that begins like the last text does not run again, and gives the same tokens."""
    generator = backend.Generator(model)
    text = PROMPTS[0] + ids(generator, PROMPTS[0]).tokens + [1, 2]
    expected, logits = plain_loop(model, text, 10)
    for _ in range(2):
        assert ids(generator, text).tokens == expected
        np.testing.assert_array_equal(generator.logits(), logits)
    assert ids(generator, text[:5]).tokens == plain_loop(model, text[:5], 10)[0]


# ---- Choices --------------------------------------------------------------------------------------------------------

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def draw(seed, text, token):
    start = mixed(mixed(seed + STEP & MASK) + (text + 1) * STEP & MASK)
    return (mixed(start + (token + 1) * STEP & MASK) >> 11) / 2**53


def chosen(logits, text, place, temperature=0.0, top_k=0, top_p=1.0, repetition_penalty=1.0):
    """The definition in docs/language-models.md."""
    logits = np.array(logits, np.float32)
    for token in set(text):
        penalty = np.float32(repetition_penalty)
        logits[token] = logits[token] / penalty if logits[token] > 0 else logits[token] * penalty
    if temperature == 0:
        return int(logits.argmax())
    logits = logits / np.float32(temperature)
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:top_k or len(logits)]
    exponentials = np.float32(np.exp(np.float64(logits - logits.max())))  # the difference of floats is rounded
    weights = [int(np.float64(exponentials[i]) * 2**32) for i in order]
    if top_p < 1:
        limit, total, count = top_p * sum(weights), 0, 0
        while count == 0 or total < limit:
            total, count = total + weights[count], count + 1
        order, weights = order[:count], weights[:count]
    place *= sum(weights)
    total = 0
    for token, weight in zip(order, weights):
        total += weight
        if total > place:
            return token


@pytest.mark.parametrize("options", [
    {"temperature": 1.0}, {"temperature": 2.5, "top_k": 10}, {"temperature": 0.8, "top_p": 0.7},
    {"temperature": 5, "top_k": 100, "top_p": 0.95, "repetition_penalty": 1.3}, {"repetition_penalty": 1.5},
    {"temperature": 0.3, "repetition_penalty": 0.7}], ids=str)
def test_choices_are_defined(tmp_path, options):
    write_model(tmp_path)
    generator = backend.Generator(tmp_path)
    text = list(PROMPTS[0])
    for step in range(30):
        expected_draw = draw(11, 0, step)
        got = ids(generator, PROMPTS[0], step + 1, seed=11, **options).tokens
        assert got[:-1] == text[len(PROMPTS[0]):]
        assert got[-1] == chosen(generator.logits(), text, expected_draw, **options)
        text.append(got[-1])


def test_seeds(model):
    generator = backend.Generator(model)
    first = ids(generator, PROMPTS, 12, temperature=2.0, seed=1)
    again = ids(backend.Generator(model, slots=70, chunk=4), PROMPTS, 12, temperature=2.0, seed=1)
    other = ids(generator, PROMPTS, 12, temperature=2.0, seed=2)
    assert [one.tokens for one in first] == [one.tokens for one in again]
    assert [one.tokens for one in first] != [one.tokens for one in other]
    assert ids(generator, PROMPTS[0], 12, temperature=2.0, seed=1).tokens == first[0].tokens


def test_defaults_of_the_folder(tmp_path):
    write_model(tmp_path, config={"search.do_sample": True, "search.temperature": 3.0, "search.top_k": 5, "search.max_length": 20})
    generator = backend.Generator(tmp_path)
    assert ids(generator, [1, 2], 50, seed=4).tokens == ids(generator, [1, 2], 18, seed=4, temperature=3.0, top_k=5).tokens
    assert ids(generator, [1, 2], 10, temperature=0).tokens == plain_loop(tmp_path, [1, 2], 10)[0]


def test_end_tokens(tmp_path):
    tokens, _ = plain_loop(write_model(tmp_path), PROMPTS[0], 8)
    write_model(tmp_path, config={"model.eos_token_id": [tokens[4], 0]})
    result = backend.Generator(tmp_path).generate(PROMPTS[0], 20)
    first = tokens.index(tokens[4])
    assert result.tokens == tokens[:first] and result.end == "stop token"
    both = backend.Generator(tmp_path).generate([PROMPTS[0], PROMPTS[2]], 20)
    assert both[0].tokens == tokens[:first] and both[1].tokens == backend.Generator(tmp_path).generate(PROMPTS[2], 20).tokens


# ---- Text -----------------------------------------------------------------------------------------------------------


def test_text(folder):
    generator = backend.Generator(folder)
    result = generator.generate("Hello", 12, ignore_end=True)
    assert result.tokens == plain_loop(folder, list(b"Hello"), 12)[0]
    expected = bytes(one for one in result.tokens if one < 256).decode(errors="replace")
    assert result.text == str(result) == expected
    pieces = []
    assert generator.generate("Hello", 12, ignore_end=True, stream=pieces.append).text == "".join(pieces) == expected
    assert "".join(generator.stream("Hello", 12, ignore_end=True)) == expected
    assert generator.tokens_of("Hello") == list(b"Hello")
    assert [one.text for one in generator.generate(["Hello", "a", [72, 101]], 12, ignore_end=True)][0] == expected
    assert "12 tokens after 5" in repr(result) and "96 slots of 96" in repr(generator)


def test_characters_of_several_tokens():
    """A piece ends with a whole character. The end of a text may be a part of one."""
    class Bytes:
        def text(self, tokens):
            return bytes(tokens).decode(errors="replace")

    said = "a\u00e9\u20ac\U0001f600b".encode()
    pieces = _text.Pieces(Bytes(), b"prompt")
    assert [pieces.add(one) for one in said] == ["a", "", "\u00e9", "", "", "\u20ac", "", "", "", "\U0001f600", "b"]
    assert [pieces.add(said[1]), pieces.rest(), pieces.rest()] == ["", "\ufffd", ""]


@pytest.mark.parametrize("words, text, expected", [
    (["stop"], "go on stop here", "go on "), (["ab", "b"], "xxaby", "xx"), (["\n\n"], "a\nb\n\nc", "a\nb"), (["no"], "nn n", "nn n"),
    ([], "abc", "abc"), (["abc"], "aabab", "aabab")])
def test_stop_words_in_pieces(words, text, expected):
    for size in (1, 2, 3, 100):
        until, said = _text.Until(words), ""
        for i in range(0, len(text), size):
            if not until.is_over:
                said += until.add(text[i:i + size])
        assert said + until.rest() == expected and until.is_over == (expected != text)


def test_stop_words(folder):
    generator = backend.Generator(folder)
    whole = generator.generate("Hello", 40, ignore_end=True, temperature=1.0, seed=9).text
    word = whole[4:6]
    result = generator.generate("Hello", 40, ignore_end=True, temperature=1.0, seed=9, stop=[word, "never"])
    assert result.text == whole[:whole.index(word)] and result.end == "stop word" and len(result.tokens) < 40
    both = generator.generate(["Hello", "Hello"], 40, ignore_end=True, temperature=1.0, seed=9, stop=word)
    assert both[0].text == result.text and word not in both[1].text


def test_chat(folder, tmp_path):
    pytest.importorskip("jinja2")
    generator = backend.Generator(folder)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    prompt = "<s>system: Be brief.\n<s>user: Hi\nmodel: "
    assert generator.tokens_of(messages) == [token for part in prompt.split("<s>")[1:] for token in (256, *part.encode())]
    assert generator.generate([messages], 3, ignore_end=True)[0].tokens == generator.generate(messages, 3, ignore_end=True).tokens
    write_tokenizer(write_model(tmp_path), template=None)
    with pytest.raises(ValueError, match="has no chat template"):
        backend.Generator(tmp_path).generate(messages)
    for source, message in (("{% if %}", "the chat template of .* is wrong"),
                            ("{{ raise_exception('no system') }}", "refuses the messages: no system"),
                            ("{{ messages.__class__.__mro__ }}", "refuses the messages"),
                            ("{{ messages.append(1) }}", "refuses the messages")):
        (tmp_path / "chat_template.jinja").write_text(source)
        with pytest.raises(ValueError, match=message):
            backend.Generator(tmp_path).generate(messages)
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    assert backend.Generator(tmp_path).tokens_of(messages) == generator.tokens_of(messages)


def test_template_of_other_packages(tmp_path):
    """Templates use a tag that marks parts for training, and a function that tells the date."""
    pytest.importorskip("jinja2")
    write_tokenizer(write_model(tmp_path))
    (tmp_path / "chat_template.jinja").write_text(
        "{{ strftime_now('%Y')|length }}{% for one in messages %}{% generation %}{{ one.content }}{% endgeneration %}{% endfor %}")
    assert backend.Generator(tmp_path).tokens_of([{"role": "user", "content": "Hi"}]) == list(b"4Hi")


def test_tokenizers_do_not_cut_prompts(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    write_tokenizer(write_model(tmp_path))
    expected = backend.Generator(tmp_path).tokens_of("Hello world")
    own = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    own.enable_truncation(4)
    own.enable_padding(length=30)
    own.save(str(tmp_path / "tokenizer.json"))
    assert backend.Generator(tmp_path).tokens_of("Hello world") == expected


def test_command(folder, tmp_path, capsys):
    assert main([str(folder), "--generate", "Hello", "--tokens", "5", "--stop", "never"]) == 0
    out = capsys.readouterr().out
    assert "5 tokens of the prompt in" in out and " a second, " in out
    options = ["--temperature", "1.5", "--top-k", "20", "--top-p", "0.9", "--seed", "3", "--slots", "50", "--tokens", "8", "--device", "CPU"]
    assert main([str(folder), "--generate", "Hello", "--chat", *options]) == 0
    assert main([str(tmp_path), "--generate", "Hello"]) == 1
    assert "genai_config.json" in capsys.readouterr().err


# ---- Errors ---------------------------------------------------------------------------------------------------------


def test_full_cache(tmp_path):
    generator = backend.Generator(write_model(tmp_path), slots=10)
    assert len(ids(generator, PROMPTS[0], 4).tokens) == 4
    with pytest.raises(ValueError, match="the cache is full: text 0 has 11 tokens, and the cache has 10 slots"):
        ids(generator, PROMPTS[0], 5)
    with pytest.raises(ValueError, match="prompt 0 has 41 tokens and the cache 10 slots"):
        ids(generator, PROMPTS[2], 5)
    assert ids(generator, PROMPTS[1], 4).tokens == plain_loop(tmp_path, PROMPTS[1], 4)[0]
    with pytest.raises(ValueError, match="prompt 0 has 96 tokens and max_length is 96"):
        ids(backend.Generator(tmp_path), [1] * CONTEXT)


@pytest.mark.parametrize("options, error, message", [
    ({"prompt": []}, ValueError, "there are no prompts"), ({"prompt": 3}, TypeError, "prompt is of type int"),
    ({"prompt": [[1], []]}, TypeError, "a prompt is of type list"), ({"prompt": [1, WORDS]}, ValueError, "prompt 0 has the token 260; expected 0 to 259"),
    ({"prompt": [1, "a"]}, TypeError, "a token of prompt 0 is 'a'"), ({"prompt": [[1], 2]}, TypeError, "a prompt is of type int"),
    ({"tokens": 0}, ValueError, "tokens is 0"), ({"temperature": -1.0}, ValueError, "temperature is -1"),
    ({"temperature": "x"}, TypeError, "temperature is 'x'"), ({"top_k": 3}, ValueError, "top_k is given and temperature is 0"),
    ({"temperature": 1.0, "top_k": -1}, ValueError, "top_k is -1"), ({"temperature": 1.0, "top_p": 0.0}, ValueError, "top_p is 0"),
    ({"repetition_penalty": -2.0}, ValueError, "repetition_penalty is -2"), ({"seed": 0.5}, TypeError, "seed is 0.5"),
    ({"stop": [""]}, ValueError, "stop has ''"), ({"prompt": [[1], [2]], "stream": print}, ValueError, "stream is given for a list")])
def test_wrong_calls(tmp_path, options, error, message):
    generator = backend.Generator(write_model(tmp_path))
    with pytest.raises(error, match=message):
        generator.generate(**{"prompt": [1, 2], **options})


@pytest.mark.parametrize("options, error, message", [
    ({"slots": 0}, ValueError, "slots is 0"), ({"slots": 1.5}, TypeError, "slots is 1.5"), ({"chunk": 3}, ValueError, "chunk is 3"),
    ({"cache": "x"}, ValueError, "cache is 'x'; expected 'fixed', 'doubling', 'growing'"),
    ({"device": "TPU"}, ValueError, "device 'TPU' is not supported")])
def test_wrong_options(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        backend.Generator(write_model(tmp_path), **options)


def test_wrong_folders(tmp_path):
    with pytest.raises(ValueError, match="genai_config.json': No such file"):
        backend.Generator(tmp_path)
    write_model(tmp_path)
    for text, message in (("{}", "model.decoder: the field is missing"), ("[", "it is not JSON")):
        (tmp_path / "genai_config.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            backend.Generator(tmp_path)
    config = {"model.decoder.inputs": {"attention_mask": "other"}}
    with pytest.raises(backend.Unsupported, match="the model has an input 'attention_mask'") as raised:
        backend.Generator(write_model(tmp_path, config=config))
    assert raised.value.needs == ["a language model with an input 'attention_mask'"]
    with pytest.raises(ValueError, match="tokenizer.json is missing"):
        backend.Generator(write_model(tmp_path)).generate("text")
    (tmp_path / "tokenizer.json").write_text(json.dumps({}))
    if pytest.importorskip("tokenizers"):
        with pytest.raises(ValueError, match="tokenizer.json: "):
            backend.Generator(tmp_path).generate("text")


def test_a_text_that_fills_the_cache_beside_another(tmp_path):
    """The other text needs runs of several tokens, for which the full one has no rows left."""
    write_model(tmp_path)
    full, other, third = list(range(20, 36)), [5, 6, 7], [9, 8, 7, 6, 5]
    generator = backend.Generator(tmp_path, slots=16)
    for prompts in ([full, other], [full, third], [full, other]):
        for one, prompt in zip(ids(generator, prompts, 1), prompts):
            assert one.tokens == plain_loop(tmp_path, prompt, 1)[0]


def test_threads_do_not_get_the_tokens_of_others(tmp_path):
    generator = backend.Generator(write_model(tmp_path))
    expected = {tuple(prompt): ids(generator, prompt).tokens for prompt in PROMPTS}
    done, wrong = [], []

    def work(prompt):
        for _ in range(60):
            try:
                tokens = ids(generator, prompt).tokens
            except RuntimeError as error:
                assert "began another text" in str(error)
                continue
            (done if tokens == expected[tuple(prompt)] else wrong).append(tokens)

    threads = [threading.Thread(target=work, args=(prompt,)) for prompt in PROMPTS]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert done and not wrong


def test_models_that_read_the_width_of_the_mask(tmp_path):
    """An If may choose between tables of angles by this width, which free rows of the cache would change."""
    write_model(tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    branch = onnx.helper.make_graph([onnx.helper.make_node("Constant", [], ["one"], value_int=1)], "b", [],
                                    [onnx.helper.make_tensor_value_info("one", onnx.TensorProto.INT64, [])])
    model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["yes"], value=onnx.numpy_helper.from_array(np.array(True))))
    model.graph.node.insert(1, onnx.helper.make_node("If", ["yes"], ["unused"], then_branch=branch, else_branch=branch))
    onnx.save(model, tmp_path / "model.onnx")
    generator = backend.Generator(tmp_path, slots=60)
    assert generator.cache == "growing" and not generator.slots
    assert ids(generator, PROMPTS[0]).tokens == plain_loop(tmp_path, PROMPTS[0], 10)[0]


def test_nodes_in_a_circle(tmp_path):
    write_model(tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    for node in model.graph.node:
        node.output[:] = ["old_logits" if name == "logits" else name for name in node.output]
    model.graph.node.append(onnx.helper.make_node("Identity", ["a"], ["logits", "b"]))
    model.graph.node.append(onnx.helper.make_node("Identity", ["b"], ["a"]))
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises((ValueError, onnx.checker.ValidationError)):
        backend.Generator(tmp_path)


def test_one_text_at_a_time(tmp_path):
    pytest.importorskip("tokenizers")
    generator = backend.Generator(write_tokenizer(write_model(tmp_path)))
    pieces = generator.stream("Hello", ignore_end=True)
    next(pieces)
    generator.generate([1, END], 2)
    with pytest.raises(RuntimeError, match="the generator began another text"):
        list(pieces)


def test_errors_in_callbacks(folder):
    """The generator can be used again after an error in the middle of a text."""
    generator = backend.Generator(folder)
    expected = generator.generate("Hello", 12, ignore_end=True).tokens

    def fail(piece):
        raise KeyError(piece)

    for _ in range(2):
        with pytest.raises(KeyError):
            generator.generate("Hello", 12, ignore_end=True, stream=fail)
        assert generator.generate("Hello", 12, ignore_end=True).tokens == expected
