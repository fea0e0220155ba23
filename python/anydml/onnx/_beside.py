# SPDX-License-Identifier: MIT
"""Runs a model in three ways and compares them: in anydml, in ONNX Runtime with anydml's provider, and in ONNX Runtime
alone."""
import os
import time

from . import _report, prepare

PROVIDER = "AnyDmlExecutionProvider"
ALONE = "ONNX Runtime"
WITH_PROVIDER = "ONNX Runtime with anydml"


class CannotCompare(Exception):
    """A comparison is impossible. The message says what is missing."""


def _onnxruntime():
    try:
        import onnxruntime
    except ImportError:
        raise CannotCompare("--beside needs the onnxruntime package: pip install onnxruntime") from None
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        raise CannotCompare(f"--beside needs ONNX Runtime 1.23 or newer, which loads providers; this is {onnxruntime.__version__}")
    return onnxruntime


def _register(onnxruntime, library):
    """Returns the provider's CPU device. library: its path, or "" for the one in the installed package."""
    def found():
        return [one for one in onnxruntime.get_ep_devices() if one.ep_name == PROVIDER and one.device.type.name == "CPU"]
    if not found():
        if not library:
            try:
                import onnxruntime_ep_anydml
            except ImportError:
                raise CannotCompare("--beside needs the package onnxruntime-ep-anydml, or the path of "
                                    "libonnxruntime-ep-anydml.so: --beside PATH") from None
            library = onnxruntime_ep_anydml.get_library_path()
        try:
            onnxruntime.register_execution_provider_library("anydml", os.path.abspath(library))
        except Exception as error:
            raise CannotCompare(f"--beside {library}: ONNX Runtime does not load it: {error}") from None
    if not found():
        raise CannotCompare(f"--beside {library}: the library has no provider {PROVIDER} for the CPU")
    return found()[0]


def session_of(model, library, given=None):
    """Returns a session of ONNX Runtime for a path, with default options, except that ANYDML_THREADS applies to it too.
    library: the path of the provider's library, "" for the one in the installed package, or None for no provider. given:
    options of `prepare`, which are the provider's too."""
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if os.environ.get("ANYDML_THREADS"):
        options.intra_op_num_threads = _report.threads()
    if library is not None:
        texts = {name: str(int(value) if isinstance(value, bool) else value) for name, value in (given or {}).items()}
        options.add_provider_for_devices([_register(onnxruntime, library)], texts)
    return onnxruntime.InferenceSession(str(model), options)


def nodes_of(session):
    """Returns the number of nodes of a session that the provider runs, as "N of M". ONNX Runtime folds constants before
    it counts. Versions before 1.24 do not list the nodes, so the result is "unknown"."""
    if not hasattr(session, "get_provider_graph_assignment_info"):
        return "unknown"
    groups = [(group.ep_name, len(group.get_nodes())) for group in session.get_provider_graph_assignment_info()]
    return f"{sum(count for name, count in groups if name == PROVIDER)} of {sum(count for _, count in groups)}"


def table(model, given, rounds, library="", options=None):
    """Returns the table's lines, and whether the shapes and types of all results are the same. options: of `prepare` and
    of the provider."""
    ways = {"anydml": lambda: _own(model, options), WITH_PROVIDER: lambda: _session(model, library, options),
            ALONE: lambda: _session(model, None)}
    _onnxruntime()  # reports a missing package before anything runs
    rows, outputs = [], {}
    for name, build in ways.items():
        begin = time.perf_counter()
        nodes, run = build()
        built = time.perf_counter()
        outputs[name] = run(given)
        first = time.perf_counter()
        rows.append([name, nodes, 1e3 * (built - begin), 1e3 * (first - built), 1e3 * _report.seconds(lambda: run(given), rounds)])
    expected, is_same = outputs[ALONE], True
    lines = ["| | nodes in anydml | load, ms | first run, ms | a run, ms | largest difference | decision |",
             "|---|---|---|---|---|---|---|"]
    for name, nodes, *times in rows:
        pairs = list(zip(outputs[name], expected))
        apart = max((_report.difference(*pair) for pair in pairs), default=0.0)
        arrays = [tuple(map(_report.array_of, pair)) for pair in pairs]
        is_same = is_same and all(one.shape == other.shape and one.dtype == other.dtype for one, other in arrays)
        decision = "the same" if all(_report.same_decision(*pair) for pair in pairs) else "a different one"
        compared = f"{apart:.2g} | {decision}" if name != ALONE else "– | –"
        lines.append(f"| {name} | {nodes} | {' | '.join(f'{time:.2f}' for time in times)} | {compared} |")
    return lines, is_same


def _own(model, options):
    prepared = prepare(model, **(options or {}))
    return "all", lambda given: list(prepared.run(given))


def _session(model, library, options=None):
    session = session_of(model, library, options)
    return nodes_of(session) if library is not None else "–", lambda given: session.run(None, given)
