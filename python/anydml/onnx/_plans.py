# SPDX-License-Identifier: MIT
"""Runs the steps of a model: in pieces that are compiled graphs, with steps on the host between them.

A piece begins at a step, and is recorded for the types and shapes that the values have there. It continues until a step
needs the elements of a value: for a shape, a condition or a number of iterations. If these elements depend only on
small values that exist when the piece begins, the piece is recorded for exactly these elements. Shape arithmetic then
costs nothing at run time. Otherwise the piece ends there. A step that cannot be part of a graph runs on the host, and
the next piece begins after it.
"""
import contextlib
import gc
import threading
from collections import OrderedDict, namedtuple

import numpy as np

from .._graphs import Recording, regular
from .._symbols import ElementsNeeded, FixedArrays, Recorder, Symbol
from ._lives import Lives

# compute: a function of the input arrays. kinds: ONNX's types of the outputs. uses: the operators, as text. on_host:
# why the step can never be part of a graph, or "". bodies: the Programs of the node's bodies. is_of_weights: its inputs
# are all constants, but it is still part of a graph.
Step = namedtuple("Step", "label op compute inputs outputs kinds uses on_host bodies is_of_weights",
                  defaults=("", "", (), False))

_MAX_KEPT = 16  # forms for which a piece stays compiled
_MAX_BYTES = 512  # the largest value whose elements a piece is recorded for
_MAX_OTHERS = 8  # the maximum number of floats or bools in such a value, for example the scales of a Resize
_FEW_STEPS = 32  # running this many steps on the host is faster than compiling a graph
_MAX_ELEMENTS_SEEN = 8  # if the elements of such values change more often, steps that need them run on the host
_MAX_SEEN = 256
_MAX_NAMED = 4  # results that a message lists
_FAULTS = (ArithmeticError, AttributeError, IndexError, NotImplementedError, TypeError, ValueError)


def _is_small(value):
    return value.size * value.dtype.itemsize <= _MAX_BYTES


def _may_be_pinned(value):
    """Whether a value looks like a number, a list of sizes or similar, rather than data."""
    return value.ndim <= 1 and _is_small(value) and (value.dtype.kind in "iu" or value.size <= _MAX_OTHERS)


class _Nothing(Exception):
    """The first step of a piece cannot be recorded."""


class _AllKnown(Exception):
    """All results of the piece can be computed from the forms alone."""


class _Again(Exception):
    """The piece must be recorded with the elements of more values."""


def perform(step, arrays):
    """Returns the results of a step as a list; errors name its node."""
    try:
        results = step.compute(*arrays)
    except ElementsNeeded:
        raise
    except (ArithmeticError, IndexError, MemoryError, TypeError, ValueError) as error:
        kind = next((kind for kind in (MemoryError, TypeError) if isinstance(error, kind)), ValueError)
        raise kind(f"{step.label}: {error}") from error
    results = results if isinstance(results, tuple) else () if results is None else (results,)
    return [result.view(bool) if kind == "bool" and result.dtype != bool else result
            for result, kind in zip(results, step.kinds)]


@contextlib.contextmanager
def _garbage_kept():
    """Disables the cyclic garbage collector."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Point:
    """A step at which a piece begins."""

    def __init__(self, taken, may_pin):
        self.taken = taken  # values computed earlier that a piece beginning here may use
        self.pinned = set()  # the values in `taken` whose elements a piece is recorded for
        self.may_pin = may_pin
        self.seen = set()
        self.early = []  # small host steps that run before the piece, since other steps need elements of their results
        self.computed_early = []  # the results of these steps
        self.varying = set()  # values whose shapes keep changing: steps that use them run on the host
        self.pieces = OrderedDict()
        self.built_count = 0
        self._names = None

    def names(self):
        if self._names is None:
            self._names = [name for name in (*self.taken, *self.computed_early) if name not in self.varying]
        return self._names

    def hoist(self, step_indices, names):
        self.early, self.computed_early, self._names = step_indices, names, None

    def leave_out(self, names):
        self.varying |= names
        self._names = None


class _Piece:
    """Steps compiled as one graph: the names of its inputs and outputs, and values that depend only on the forms."""

    def __init__(self, recording, inputs, outputs, aliases, known, end, why):
        self.recording, self.inputs, self.outputs, self.aliases = recording, inputs, outputs, aliases
        self.known, self.end, self.why = known, end, why

    def run(self, state):
        if self.outputs:
            values = state.values
            results = self.recording.run([values[name] for name in self.inputs], self.recording.no_outs)
            for name, result in zip(self.outputs, results):
                state.set(name, result)
            state.fresh.update(self.outputs)
        for name, other in self.aliases:
            state.set(name, state.values[other])
        for name, value in self.known.items():
            state.set(name, value)
        state.known.update(self.known)
        return self.end


class _OnHost:
    """One or more steps that run node by node."""

    def __init__(self, program, begin, end, why):
        self.program, self.begin, self.end, self.why = program, begin, end, why

    def run(self, state):
        for index in range(self.begin, self.end):
            self.program.step_on_host(index, state)
        return self.end


class _State:
    """The values of a run. fresh: the names of values that nothing else references; known: the names of values that
    depend only on forms."""

    __slots__ = ("values", "fresh", "known", "_forms")

    def __init__(self, values):
        self.values, self.fresh, self.known, self._forms = values, set(), set(), {}

    def set(self, name, value):
        self.values[name] = value
        self._forms.pop(name, None)

    def form(self, name):
        """Returns the type, shape and strides of a value, after copying it if it cannot be an input of a graph as it
        is."""
        form = self._forms.get(name)
        if form is None:
            array = self.values[name]
            if not (type(array) is np.ndarray and array.flags.c_contiguous and array.dtype.isnative):
                array = self.values[name] = regular(array)
            form = self._forms[name] = (array.dtype.num, array.shape, array.strides)
        return form


def _used(steps, outputs):
    """Drops steps whose results are unused. Checks have no results and stay."""
    wanted, kept = set(outputs), []
    for step in reversed(steps):
        if not step.outputs or wanted.intersection(step.outputs):
            kept.append(step)
            wanted.update(step.inputs)
    return kept[::-1]


class Program:
    """Steps in order, the constants that they use, and the names of the outputs."""

    def __init__(self, steps, outputs, constants, inputs, is_repeated=False, device=None):
        """is_repeated: whether it is the body of a loop, so that inputs that are numbers differ each time. device:
        where the graphs run; other steps run on the CPU."""
        self._device = device
        self.steps, self.outputs, self.inputs, self._is_repeated = _used(steps, outputs), outputs, inputs, is_repeated
        used = dict.fromkeys([*(name for step in self.steps for name in step.inputs), *outputs])
        self.constants = {name: constants[name] for name in used if name in constants}
        self.fixed = FixedArrays(self._all_constants())
        self._points, self._lock = {}, threading.RLock()
        self._lives = Lives(self.steps, outputs, self.constants)

    def _all_constants(self):
        """Yields all constants, including constants in branches, which are recorded as parts of this program's
        graphs."""
        yield from self.constants.values()
        for step in self.steps:
            for body in step.bodies:
                yield from body._all_constants()

    def wanted(self):
        """Returns the names of the values that a run needs."""
        return self._lives.wanted

    def split(self, fixed):
        """Splits into two Programs: the steps that depend only on these values, and the remaining steps, which
        use their results."""
        fixed, first, others = {*fixed, *self.constants}, [], []
        for step in self.steps:
            if step.outputs and all(name in fixed for name in step.inputs if name):
                first.append(step)
                fixed.update(step.outputs)
            else:
                others.append(step)
        rest = Program(others, self.outputs, self.constants, self.inputs, self._is_repeated, self._device)
        rest.kinds, rest.folded = self.kinds, self.folded
        built = {name for step in first for name in step.outputs}
        before = Program(first, [name for name in rest.wanted() if name in built], self.constants, [],
                         device=self._device)
        before.folded = []
        return before, rest

    # ---- Running --------------------------------------------------------------------------------------------------

    def run(self, given):
        """Returns the outputs, and the names of values that nothing else references."""
        state = _State(dict(given))
        index, count = 0, len(self.steps)
        with np.errstate(all="ignore"):
            while index < count:
                begin = index
                if self.steps[index].on_host:
                    self.step_on_host(index, state)
                    index += 1
                else:
                    index = self._piece(index, state).run(state)
                for name in self._lives.ended_between(begin, index):
                    state.values.pop(name, None)
        return [self._value(name, state.values) for name in self.outputs], state.fresh

    def whole(self, given):
        """Returns the only piece of a run with these values, and the names whose elements it is recorded for, or None
        if the run has more than one piece or returns something that the piece does not compute."""
        point = self._points.get(0)
        if point is None or point.early or point.varying:
            return None
        piece = point.pieces.get(self._key(point, _State(dict(given))))
        if not isinstance(piece, _Piece) or piece.end < len(self.steps) or sorted(piece.outputs) != sorted(self.outputs):
            return None
        return piece, [name for name in given if name in point.pinned]

    def node_by_node(self, given, timed=None):
        """Computes the outputs without any graph. timed: a function that runs a step and measures it."""
        state = _State(dict(given))
        with np.errstate(all="ignore"):
            for index in range(len(self.steps)):
                if timed is None:
                    self.step_on_host(index, state)
                else:
                    timed(self.steps[index], lambda: self.step_on_host(index, state))
        return [self._value(name, state.values) for name in self.outputs]

    def step_on_host(self, index, state):
        step, values = self.steps[index], state.values
        results = perform(step, [self._value(name, values) for name in step.inputs])
        follows = all(name in state.known or name in self.constants for name in step.inputs if name)
        for name, result in zip(step.outputs, results):
            if name:
                state.set(name, np.asarray(result))
                if follows:
                    state.known.add(name)

    def _value(self, name, values):
        if not name:
            return None
        found = values.get(name)
        return self.constants[name] if found is None else found

    def _piece(self, index, state):
        with self._lock:  # several threads may run a model at the same time
            return self._found_piece(index, state)

    def _found_piece(self, index, state):
        point = self._points.get(index)
        if point is None:
            point = self._points[index] = _Point(self._lives.taken_from(index), not self._is_repeated)
        self._run_early(point, state)
        key = self._key(point, state)
        piece = point.pieces.get(key)
        if piece is not None:
            return piece
        if point.may_pin and point.pinned:
            point.seen = point.seen if len(point.seen) < _MAX_SEEN else set()
            point.seen.add(key)
            if len(point.seen) > _MAX_ELEMENTS_SEEN and self._only_elements_differ(point):
                point.may_pin, point.pinned = False, set()
                point.pieces.clear()
        self._note_varying(point, index)
        piece = self._recorded(index, point, state)
        point.pieces[self._key(point, state)] = piece  # more values may be pinned or early now
        while len(point.pieces) > _MAX_KEPT:
            point.pieces.popitem(last=False)
        return piece

    def _run_early(self, point, state):
        for index in point.early:
            self.step_on_host(index, state)

    @staticmethod
    def _is_pinned(name, point, state):
        return (name in point.pinned or name in state.known) and _is_small(state.values[name])

    def _key(self, point, state):
        if not point.pinned and not state.known:
            return tuple([state.form(name) for name in point.names()])
        return tuple((*state.form(name)[:2], state.values[name].tobytes()) if self._is_pinned(name, point, state) else
                     state.form(name) for name in point.names())

    @staticmethod
    def _only_elements_differ(point):
        return len({tuple(one[:2] for one in key) for key in point.seen}) * 2 < len(point.seen)

    def _note_varying(self, point, index):
        """If shapes keep changing, as in a loop that grows a tensor, the values with changing shapes are left out of
        graphs. Models with inputs of many sizes are still compiled for each size, as are long sequences of steps whose
        shapes depend on data."""
        point.built_count += 1
        if point.built_count <= _MAX_KEPT or len(point.pieces) < _MAX_KEPT:
            return
        if not self._is_repeated and (index == 0 or max(piece.end for piece in point.pieces.values()) - index > _FEW_STEPS):
            return
        point.leave_out({name for name, *parts in zip(point.names(), *point.pieces)
                         if len({part[:2] for part in parts}) > _MAX_KEPT // 2})
        point.pieces.clear()
        point.built_count = 0

    def pieces(self):
        """Returns (begin, end, whether it is a graph, why it ends) for each piece that was compiled, for every form."""
        return [(begin, piece.end, isinstance(piece, _Piece), piece.why) for begin, point in sorted(self._points.items())
                for piece in point.pieces.values()]

    # ---- Recording ------------------------------------------------------------------------------------------------

    def _recorded(self, index, point, state):
        """Records the piece that begins here, for values like these."""
        with _garbage_kept():  # recording creates no garbage, and looking for it would take a tenth of the time
            return self._recorded_without_pauses(index, point, state)

    def _recorded_without_pauses(self, index, point, state):
        while True:
            attempt = _Attempt(self, index, point, state)
            try:
                results = attempt.follow()
                recording = Recording.of(attempt.recorder, attempt.likes, results, self._device)
            except _Again:
                self._run_early(point, state)
                continue
            except _AllKnown:
                return _Piece(None, (), (), (), attempt.known, attempt.end, attempt.why)
            except _Nothing:
                return _OnHost(self, index, index + 1, attempt.why)
            except MemoryError as error:
                names = ", ".join(map(repr, attempt.outputs[:_MAX_NAMED]))
                raise MemoryError(f"the graph that computes {names}: {error}" if names else str(error)) from error
            except _FAULTS as error:
                # The graph does not compile. If a node is wrong, it reports the error when it runs alone.
                return _OnHost(self, index, max(attempt.end, index + 1), str(error))
            piece = _Piece(recording, attempt.inputs, attempt.outputs, attempt.aliases, attempt.known, attempt.end,
                           attempt.why)
            attempt.values = attempt.recorder = None  # breaks a reference cycle that keeps arrays alive
            return piece

    def trace(self, given):
        """Returns the outputs if some of the values are symbols of a graph that is being recorded."""
        values = dict(given)
        for step in self.steps:
            results = perform(step, [self._value(name, values) for name in step.inputs])
            values.update(zip(step.outputs, results))
        return [self._value(name, values) for name in self.outputs]


class _Values(dict):
    """The values of a recording by name. A value that exists when the piece begins becomes an input when a step first
    uses it; other values that are missing are constants."""

    def __init__(self, begin, constants):
        super().__init__()
        self._begin, self._constants = begin, constants

    def __missing__(self, name):
        found = self._begin(name)
        return self._constants[name] if found is None else found


class _Attempt:
    """One recording of a piece."""

    def __init__(self, program, index, point, state):
        self.program, self.index, self.point, self.state = program, index, point, state
        self.given = set(point.names())
        self.recorder, self.likes, self.inputs = Recorder(program.fixed), [], []
        self.end, self.why = index, ""
        self.outputs, self.aliases, self.known = [], [], {}
        # For each symbol, whether it and all values of the piece that it is computed from are small.
        self.is_small = {}
        self.makers = {}  # the steps that compute these symbols
        self.values = _Values(self._begin, program.constants)

    def _begin(self, name):
        """Returns a value that exists when the piece begins: its elements if they are pinned, otherwise a graph
        input."""
        if name not in self.given:
            return None
        array = self.state.values[name]
        if not Program._is_pinned(name, self.point, self.state):
            self.state.form(name)
            array = self.state.values[name]
            self.is_small[name] = _may_be_pinned(array)
            array, like = self.recorder.input(array)
            self.likes.append(like)
            self.inputs.append(name)
        self.values[name] = array
        return array

    def follow(self):
        """Records the steps, and returns the results that are used afterward."""
        steps, early = self.program.steps, set(self.point.early)
        for self.end in range(self.index, len(steps)):
            step = steps[self.end]
            if self.end in early:
                continue
            if not self._takes(step):
                break
            self._note_origins(step)
        else:
            self.end = len(steps)
        if self.end == self.index:
            raise _Nothing
        return self._results()

    def _takes(self, step):
        """Records a step, or returns False if the piece must end before it."""
        point = self.point
        if step.on_host or (point.varying and any(name in point.varying for name in step.inputs)):
            self.why = f"{step.label}: {step.on_host or 'a shape changes from run to run'}"
            return False
        values = self.values
        arrays = [values[name] if name else None for name in step.inputs]
        if step.is_of_weights and type(arrays[0]) is np.ndarray and not any(isinstance(one, Symbol) for one in arrays):
            arrays[0] = self.recorder.known(arrays[0])
        try:
            results = perform(step, arrays)
        except ElementsNeeded as error:
            self._pin_or_hoist(self._asked(step, arrays, error.symbol))
            self.why = f"{step.label} needs the elements of a value"
            return False
        except _FAULTS as error:
            self.why = str(error)  # if the node is wrong, it reports the error when it runs alone
            return False
        self.values.update(zip(step.outputs, results))
        return True

    def _asked(self, step, arrays, symbol):
        """Returns the inputs whose elements a step needs, or all symbolic inputs if this is unknown."""
        named = [(name, array) for name, array in zip(step.inputs, arrays) if isinstance(array, Symbol)]
        exact = [name for name, array in named if symbol is not None and array._source == symbol._source]
        return exact or [name for name, _ in named]

    def _pin_or_hoist(self, asked):
        """If the elements depend only on small values, the piece is recorded again: either for these elements, or with
        the steps that compute them moved to the host before the piece."""
        point = self.point
        needed = self._origins(asked) - point.pinned
        if not needed:
            return
        are_truths = all(self.state.values[name].dtype == bool and self.state.values[name].size == 1 for name in needed)
        if point.may_pin or are_truths:
            point.pinned |= needed
            raise _Again
        hoisted = self._steps_before(asked)
        if hoisted is not None and not hoisted <= set(point.early):
            step_indices = sorted(hoisted | set(point.early))
            point.hoist(step_indices,
                        [name for index in step_indices for name in self.program.steps[index].outputs if name])
            raise _Again

    def _steps_before(self, asked):
        """Returns the steps that compute these values and the step that needs them, if all their results are small and
        all their inputs exist when the piece begins."""
        steps, makers = self.program.steps, {}
        for index in range(self.index, self.end):
            makers.update((name, index) for name in steps[index].outputs)
        found, left = set(), list(asked)
        for name in steps[self.end].inputs:
            if name and name in makers:
                left.append(name)
        while left:
            name = left.pop()
            index = makers.get(name)
            if index is None or index in found:
                continue
            if steps[index].on_host or not all(_is_small(self.values[one]) for one in steps[index].outputs
                                               if one in self.values):
                return None
            found.add(index)
            left += [one for one in steps[index].inputs if one]
        return found | {self.end}

    def _note_origins(self, step):
        """Notes whether the results of a step are small. Shape arithmetic involves only small values. Values computed
        from a large value are data, and recording a piece for their elements is not worthwhile."""
        known = [self.is_small[name] for name in step.inputs if name in self.is_small]
        if known:
            for name in step.outputs:
                self.is_small[name] = all(known) and _is_small(self.values[name])
                self.makers[name] = step

    def _origins(self, names):
        """Returns the values from the start of the piece on which these values depend. Values that depend on a large
        value are ignored."""
        left = [name for name in names if self.is_small.get(name)]
        seen, found = set(left), set()
        while left:
            name = left.pop()
            step = self.makers.get(name)
            if step is None:
                found.add(name)
                continue
            more = [one for one in step.inputs if one in self.is_small and one not in seen]
            seen.update(more)
            left += more
        return found

    def _results(self):
        """Returns the symbols that are used afterward, except values that are already known and aliases of symbols."""
        symbols, names = [], {}
        for name in self.program._lives.computed_between(self.index, self.end):
            if name in self.given or name not in self.values:
                continue
            value = self.values[name]
            if not isinstance(value, Symbol):
                self.known[name] = np.asarray(value)
            elif id(value) in names:
                self.aliases.append((name, names[id(value)]))
            else:
                names[id(value)] = name
                self.outputs.append(name)
                symbols.append(value)
        if not symbols:
            raise _AllKnown
        return tuple(symbols)
