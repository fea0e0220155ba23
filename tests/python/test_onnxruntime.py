# SPDX-License-Identifier: MIT
"""anydml's provider in ONNX Runtime: ONNX's test suite, sessions on many threads, sizes that change, models and options
that are refused, and the end of a process. Skipped without onnxruntime 1.23 or the provider's library."""
import collections
import gc
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
if not hasattr(onnxruntime, "register_execution_provider_library"):
    pytest.skip("ONNX Runtime 1.23 is the first that loads providers", allow_module_level=True)

import onnxruntime_provider as provider  # noqa: E402
from onnx import helper  # noqa: E402
from onnxruntime_provider import PROVIDER, assigned, images, network, parsed, session, session_without  # noqa: E402

if provider.library() is None:
    pytest.skip("libonnxruntime-ep-anydml.so was not built", allow_module_level=True)

FOLDER = pathlib.Path(__file__).parent
random = np.random.default_rng(11)


def close(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6, strict=True)


def left(of):
    """The operators that the provider does not run, or None if ONNX Runtime cannot say."""
    found = assigned(of)
    return found if found is None else sum((ops for name, ops in found.items() if name != PROVIDER), collections.Counter())


def python(code, **options):
    """Runs a program in a process of its own, after the lines that register the library."""
    begin = (f"import sys; sys.path.insert(0, {str(FOLDER)!r})\nimport numpy as np, onnxruntime, onnxruntime_provider as provider\n"
             "from onnxruntime_provider import images, network\n")
    return subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, timeout=300, **options)


# ---- ONNX's suite -----------------------------------------------------------------------------------------------------


def test_the_whole_suite_and_the_counts_of_the_document():
    counts = provider.count()
    assert not counts.failed, {name: provider.last_line(trace) for name, trace in counts.failed.items()}
    assert len(counts.whole) > 1000
    text = provider.DOCUMENT.read_text()
    if f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, NumPy {np.__version__}:" in text:
        assert provider.markdown(counts) in text


# ---- Sessions ---------------------------------------------------------------------------------------------------------


def test_the_device_has_a_name_and_a_version():
    (device,) = provider.devices()
    assert device.ep_name == PROVIDER and device.ep_vendor == "anydml"
    version = (FOLDER.parents[1] / "CMakeLists.txt").read_text().split("project(anydml VERSION ")[1].split()[0]
    assert device.ep_metadata["version"] == version


def test_a_model_runs_in_the_provider():
    model, given = network(), images(2, 3, 9, 7)
    of = session(model, strict=True)
    assert PROVIDER in of.get_providers() and not left(of)
    close(of.run(None, given), session_without(model).run(None, given))


@pytest.mark.skipif(provider.VERSION < (1, 25), reason="older versions do not know providers of plugins by name")
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_the_name_among_the_providers():
    provider.devices()
    of = onnxruntime.InferenceSession(network().SerializeToString(), providers=[PROVIDER])
    assert PROVIDER in of.get_providers()
    close(of.run(None, images(1, 3, 4, 4)), session_without(network()).run(None, images(1, 3, 4, 4)))


def test_a_policy_chooses_a_device():
    provider.devices()
    options = onnxruntime.SessionOptions()
    options.set_provider_selection_policy(onnxruntime.OrtExecutionProviderDevicePolicy.PREFER_CPU)
    of = onnxruntime.InferenceSession(network().SerializeToString(), options)
    close(of.run(None, images(1, 3, 4, 4)), session_without(network()).run(None, images(1, 3, 4, 4)))


def test_sizes_that_change():
    model = network()
    of, other = session(model, strict=True), session_without(model)
    for shape in ((1, 3, 8, 8), (4, 3, 8, 8), (1, 3, 17, 3), (2, 3, 1, 1), (1, 3, 8, 8), (0, 3, 8, 8), (4, 3, 8, 8)):
        close(of.run(None, images(*shape)), other.run(None, images(*shape)))


def test_many_sizes_do_not_pile_up():
    of, other = session(network(), strict=True), session_without(network())
    for height in range(1, 150):
        given = images(1, 3, height, 3)
        close(of.run(None, given), other.run(None, given))


def test_results_have_the_same_bits_in_each_run_and_on_each_number_of_threads():
    given = images(2, 3, 33, 17)
    first = session(network()).run(None, given)[0]
    for threads in (1, 2, 5):
        def change(settings):
            settings.intra_op_num_threads = threads
        of = session(network(), change=change)
        assert all(of.run(None, given)[0].tobytes() == first.tobytes() for _ in range(3))


def test_shapes_that_depend_on_values():
    model = parsed("s = Shape (x)  r = Reshape (x, to)  t = Transpose (r)  n = NonZero (t)",
                   "float[A, B] x, int64[2] to", "int64[2] s, int64[2, K] n")
    of, other = session(model), session_without(model)
    for to in ((2, 6), (6, 2), (-1, 3)):
        given = {"x": np.arange(12, dtype="f4").reshape(3, 4) % 3, "to": np.array(to)}
        close(of.run(None, given), other.run(None, given))


@pytest.mark.parametrize("takes", (True, False))
def test_branches_and_loops(takes):
    model = parsed("""
        y = If (c) <then_branch = one () => (float[N] a) { d = Mul (x, x)  a = Add (d, x) },
                    else_branch = two () => (float[N] b) { e = Neg (x)  b = Exp (e) }>
        n = Constant <value = int64 {5}> ()
        z = Loop (n, , y) <body = three (int64 i, bool more, float[N] v) => (bool again, float[N] w)
            { again = Identity (more)  half = Constant <value = float {0.5}> ()  h = Mul (v, half)  w = Add (h, x) }>""",
                   "float[N] x, bool c", "float[N] y, float[N] z")
    given = {"x": np.linspace(-2, 2, 7, dtype="f4"), "c": np.array(takes)}
    close(session(model).run(None, given), session_without(model).run(None, given))


def test_nodes_that_are_not_taken_run_in_onnx_runtime():
    """A path leads from the provider over ONNX Runtime's node back to the provider, beside a direct one."""
    model = parsed("a = Relu (x)  b = com.microsoft.Inverse (a)  c = Add (a, b)  y = Exp (c)", "float[N, N] x", "float[N, N] y")
    given = {"x": np.eye(3, dtype="f4") * 2}
    of = session(model)
    close(of.run(None, given), session_without(model).run(None, given))
    if left(of) is not None:
        assert left(of) == {"com.microsoft:Inverse": 1}
    with pytest.raises(Exception, match=provider.FALLBACK):
        session(model, strict=True)


def test_values_beside_tensors():
    """Sequences, optional values and strings belong to ONNX Runtime."""
    model = parsed('s = SequenceConstruct (x, x)  n = SequenceLength (s)  l = StringConcat (t, t)  y = Neg (x)',
                   "float[N] x, string[N] t", "int64 n, string[N] l, float[N] y", 20)
    given = {"x": np.float32([1, 2]), "t": np.array(["a", "b"], object)}
    found = session(model).run(None, given)
    assert found[0] == 2 and found[1].tolist() == ["aa", "bb"] and found[2].tolist() == [-1, -2]


def test_a_function_of_the_model():
    model = parsed("y = local.twice (x)", "float[N] x", "float[N] y",
                   functions='<opset_import: ["": 17], domain: "local"> twice (a) => (b) { b = Add (a, a) }')
    model.opset_import.append(helper.make_opsetid("local", 1))
    assert session(model, strict=True).run(None, {"x": np.float32([3])})[0].tolist() == [6]


def test_an_empty_graph_and_a_constant():
    assert session(parsed("y = Identity (x)", "float[N] x", "float[N] y")).run(None, {"x": np.float32([3])})[0].tolist() == [3]
    model = parsed("y = Constant <value = float {5}> ()", "", "float y")
    assert session(model).run(None, {})[0] == 5


def test_an_initializer_that_is_an_input_can_be_replaced():
    model = parsed("y = Mul (x, k)", "float[N] x, float[1] k", "float[N] y", weights={"k": np.float32([3])})
    of = session(model, strict=True)
    assert of.run(None, {"x": np.float32([2])})[0].tolist() == [6]
    assert of.run(None, {"x": np.float32([2]), "k": np.float32([5])})[0].tolist() == [10]


def test_weights_in_a_file(tmp_path):
    model = parsed("y = MatMul (x, w)", "float[N, 300] x", "float[N, 400] y",
                   weights={"w": random.standard_normal((300, 400)).astype("f4")})
    given = {"x": random.standard_normal((3, 300)).astype("f4")}
    expected = session(model, strict=True).run(None, given)
    onnx.save(model, str(tmp_path / "m.onnx"), save_as_external_data=True, location="weights", size_threshold=0)
    of = session(tmp_path / "m.onnx", strict=True)
    assert of.run(None, given)[0].tobytes() == expected[0].tobytes()


GROWING = """
    axes = Constant <value = int64[1] {1}> ()  one = Constant <value = int64[1] {1}> ()  second = Constant <value = int64 {1}> ()
    sum = ReduceSum <keepdims = 1> (mask, axes)  last = Sub (sum, one)  seqlens = Cast <to = 6> (last)
    shape = Shape (mask)  count = Gather <axis = 0> (shape, second)  total = Cast <to = 6> (count)
    y, present_key, present_value = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1>
        (query, key, value, past_key, past_value, seqlens, total) """


def test_a_mask_that_grows_with_each_token():
    """All tokens have one compiled graph if the cache has a fixed size, and results have the bits that they have if the
    mask is used otherwise too."""
    inputs = ("float[1, S, 32] query, float[1, S, 16] key, float[1, S, 16] value, int64[1, T] mask, "
              "float[1, 1, R, 16] past_key, float[1, 1, R, 16] past_value")
    outputs = "float[1, S, 32] y, float[1, 1, P, 16] present_key, float[1, 1, P, 16] present_value"
    of = session(parsed(GROWING, inputs, outputs), strict=True)
    other = session(parsed(GROWING + " again = Identity (mask)", inputs, outputs + ", int64[1, T] again"), strict=True)
    draw = np.random.default_rng(2)
    for rows in (64, 0):  # a cache of a fixed size, and one that grows
        cache, total = [np.zeros((1, 1, rows, 16), "f4")] * 2, 0
        for new in (5, 1, 1, 1, 3, 1, 1):
            total += new
            given = {"query": draw.standard_normal((1, new, 32)).astype("f4"), "mask": np.ones((1, total), "i8"),
                     "past_key": cache[0], "past_value": cache[1],
                     **{name: draw.standard_normal((1, new, 16)).astype("f4") for name in ("key", "value")}}
            found, expected = of.run(None, given), other.run(None, given)
            assert [one.tobytes() for one in found] == [one.tobytes() for one in expected[:3]]
            assert found[1].shape[2] == (rows or total)
            cache = found[1:]
    with pytest.raises(Exception, match="total_sequence_length is 2"):
        of.run(None, {**given, "query": np.zeros((1, 3, 32), "f4"), "key": np.zeros((1, 3, 16), "f4"),
                      "value": np.zeros((1, 3, 16), "f4"), "mask": np.ones((1, 2), "i8")})


def test_bound_values():
    of, given = session(network(), strict=True), images(2, 3, 9, 7)
    binding = of.io_binding()
    output = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((2, 5), "f4"))
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(given["x"]))
    binding.bind_ortvalue_output("y", output)
    of.run_with_iobinding(binding)
    close([output.numpy()], session_without(network()).run(None, given))


def test_bound_values_are_not_copied():
    """Peak memory does not grow by the size of an input or an output, from the first run with this size on."""
    status = pathlib.Path("/proc/self/status")

    def memory(kind):
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith(kind))
    of = session(parsed("y = Relu (x)  z = Neg (x)", "float[N] x", "float[N] y, float[N] z"), strict=True)
    of.run(None, {"x": np.ones(5, "f4")})
    arrays = [np.full(1 << 24, value, "f4") for value in (2, 0, 0)]
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays]
    binding = of.io_binding()
    binding.bind_ortvalue_input("x", values[0])
    binding.bind_ortvalue_output("y", values[1])
    binding.bind_ortvalue_output("z", values[2])
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
    before = memory("VmRSS")
    of.run_with_iobinding(binding)
    assert memory("VmHWM") - before < arrays[0].nbytes / 8
    assert (values[1].numpy() == 2).all() and (values[2].numpy() == -2).all()


def test_a_cache_that_is_an_input_and_an_output():
    """Programs with language models bind the same memory as the old and the new cache."""
    model = parsed("y, key, value = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>"
                   " (q, k, v, old_key, old_value, lengths, total)",
                   "float[1, N, 32] q, float[1, N, 16] k, float[1, N, 16] v, float[1, 2, R, 8] old_key, "
                   "float[1, 2, R, 8] old_value, int32[1] lengths, int32 total",
                   "float[1, N, 32] y, float[1, 2, R, 8] key, float[1, 2, R, 8] value")

    def generated(of):
        numbers, found = np.random.default_rng(3), []
        caches = {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((1, 2, 9, 8), "f4")) for name in ("key", "value")}
        end = 0
        for tokens in (4, 1, 1, 1):
            end += tokens
            given = {name: numbers.standard_normal((1, tokens, size)).astype("f4") for name, size in (("q", 32), ("k", 16), ("v", 16))}
            given |= {"lengths": np.array([end - 1], "i4"), "total": np.array(end, "i4")}
            binding = of.io_binding()
            for name, array in given.items():
                binding.bind_cpu_input(name, array)
            for name, cache in caches.items():
                binding.bind_ortvalue_input(f"old_{name}", cache)
                binding.bind_ortvalue_output(name, cache)
            binding.bind_output("y")
            of.run_with_iobinding(binding)
            found.append(binding.get_outputs()[2].numpy().copy())
        return [*found, *(cache.numpy()[:, :, :end].copy() for cache in caches.values())]
    close(generated(session(model, strict=True)), generated(session_without(model)))


def test_wrong_inputs_are_errors():
    model = parsed("y = MatMul (x, x)", "float[N, M] x", "float[N, M] y")
    of = session(model, strict=True)
    with pytest.raises(Exception, match="(?s)MatMul.*2.*3|2.*3.*MatMul"):
        of.run(None, {"x": np.zeros((2, 3), "f4")})
    assert of.run(None, {"x": np.eye(2, dtype="f4")})[0].tolist() == [[1, 0], [0, 1]]  # the session goes on


# ---- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, named", [
    ({"nonsense": "1"}, "nonsense"), ({"threads": "-1"}, "threads"), ({"threads": "many"}, "threads"),
    ({"device": "nowhere"}, "device.*nowhere"), ({"literal": "perhaps"}, "literal.*perhaps"), ({"kept_forms": "0"}, "kept_forms")])
def test_wrong_options_are_named(options, named):
    with pytest.raises(Exception, match=named):
        session(network(), options)


def test_compiled_models_are_refused_by_name(tmp_path):
    with pytest.raises(Exception, match="context_enable"):
        session(network(), entries={"ep.context_enable": "1", "ep.context_file_path": str(tmp_path / "m.onnx")})


def test_a_model_with_a_compiled_node_is_refused_by_name(tmp_path):
    node = helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", embed_mode=1, ep_cache_context=b"?",
                            source=PROVIDER, main_context=1)
    value = [helper.make_tensor_value_info(name, 1, ["n"]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", value[:1], value[1:]), ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    with pytest.raises(Exception, match="EPContext"):
        session(model)


@pytest.mark.parametrize("entry", [("ep.enable_weightless", "1"), ("ep.enable_weightless_mode", "1"), ("ep.enable_weightless_mode", "2")])
def test_weightless_sessions_are_refused_by_name(entry):
    with pytest.raises(Exception, match="weightless"):
        session(network(), entries=[entry])


def test_options():
    given = images(1, 3, 6, 6)
    expected = session(network()).run(None, given)
    for options in ({"device": "CPU"}, {"literal": "1"}, {"literal": "0", "half_precision": "1"}, {"kept_forms": "1"}):
        assert session(network(), options).run(None, given)[0].tobytes() == expected[0].tobytes()


def test_the_threads_of_the_library():
    for count in (1, 3):
        answer = python(f"""
import pathlib
of = provider.session(network(), {{"threads": "{count}"}})
of.run(None, images(4, 3, 200, 200))
print(sum((task / "comm").read_text().startswith("anydml") for task in pathlib.Path("/proc/self/task").iterdir()))
""")
        assert answer.returncode == 0 and int(answer.stdout) == count - 1, answer  # and the thread that calls


def test_the_log_names_the_nodes_that_are_left(tmp_path):
    code = ("model = provider.onnx.parser.parse_model('''<ir_version: 8, opset_import: [\"\": 17, \"com.microsoft\": 1]> m "
            "(float[N, N] x) => (float[N, N] y) { a = Relu (x) y = com.microsoft.Inverse (a) }''')\n"
            "provider.session(model).run(None, {'x': np.eye(2, dtype='f4')})")
    answer = python(code, env={**os.environ, "ANYDML_LOG": "onnxruntime"})
    assert answer.returncode == 0 and "Inverse" in answer.stderr, answer.stderr
    answer = python(code)
    assert answer.returncode == 0 and answer.stderr == ""


# ---- Threads and ends -------------------------------------------------------------------------------------------------


def in_threads(count, work):
    errors = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)
    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_sessions_are_made_and_used_on_many_threads():
    expected = session(network()).run(None, images(1, 3, 12, 12))[0]

    def work(i):
        for _ in range(3):
            of = session(network(), strict=True)
            for size in (12, 5 + i, 12):
                result = of.run(None, images(1, 3, size, size))[0]
            assert result.tobytes() == expected.tobytes()
    in_threads(8, work)


def test_one_session_runs_on_many_threads():
    of = session(network(), strict=True)
    shapes = [(1 + i % 3, 3, 4 + i, 6) for i in range(8)]
    expected = [session(network()).run(None, images(*shape, seed=i))[0] for i, shape in enumerate(shapes)]

    def work(i):
        for k in range(20):
            at = (i + k) % len(shapes)
            assert of.run(None, images(*shapes[at], seed=at))[0].tobytes() == expected[at].tobytes()
    in_threads(8, work)


def test_a_run_can_be_ended():
    """RunOptions.terminate ends a run, and the session goes on."""
    of = session(network(), strict=True)
    options = onnxruntime.RunOptions()
    options.terminate = True
    with pytest.raises(Exception, match="(?i)terminat"):
        of.run(None, images(1, 3, 6, 6), options)
    options.terminate = False
    assert of.run(None, images(1, 3, 6, 6), options)[0].shape == (1, 5)


def test_sessions_end_before_the_library():
    answer = python("""
for _ in range(5):
    name = "again"
    onnxruntime.register_execution_provider_library(name, provider.library())
    of = provider.session(network(), strict=True)
    of.run(None, images(1, 3, 4, 4))
    del of
    onnxruntime.unregister_execution_provider_library(name)
    assert provider.PROVIDER not in [one.ep_name for one in onnxruntime.get_ep_devices()]
print("end")
""")
    assert answer.returncode == 0 and answer.stdout == "end\n" and answer.stderr == ""


@pytest.mark.parametrize("end", ("", "sys.exit(3)", "import os; os._exit(3)", "raise SystemExit(3)"))
def test_a_process_ends_with_a_session(end):
    answer = python(f"of = provider.session(network())\nof.run(None, images(1, 3, 4, 4))\n{end}")
    assert answer.returncode == (3 if end else 0) and answer.stderr == ""


def test_a_process_ends_abruptly_while_a_thread_runs():
    """The Python interface itself aborts if a process ends normally while a daemon thread runs a session."""
    answer = python("""
import os, threading, time
of = provider.session(network())
def work():
    while True:
        of.run(None, images(1, 3, 30, 30))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
os._exit(0)
""")
    assert answer.returncode == 0 and answer.stderr == ""


def test_a_wrong_registration_is_an_error_and_harmless():
    answer = python("""
for name, path in (("one", "/nowhere/libonnxruntime-ep-anydml.so"), ("two", provider.library()), ("two", provider.library())):
    try:
        onnxruntime.register_execution_provider_library(name, path)
        print("registered")
    except Exception:
        print("refused")
of = provider.session(network())
print(of.run(None, images(1, 3, 4, 4))[0].shape)
""")
    assert answer.returncode == 0 and answer.stdout == "refused\nregistered\nrefused\n(1, 5)\n"


def test_sessions_give_their_memory_back():
    def resident():
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
    model = parsed("y = MatMul (x, w)", "float[N, 1000] x", "float[N, 1000] y",
                   weights={"w": random.standard_normal((1000, 1000)).astype("f4")})
    given, sizes = {"x": random.standard_normal((3, 1000)).astype("f4")}, []
    for _ in range(12):
        session(model, strict=True).run(None, given)
        sizes.append(resident())
    assert sizes[-1] - sizes[3] < 20e6  # fewer than the weights of five sessions, of eight
