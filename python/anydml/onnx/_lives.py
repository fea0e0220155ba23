# SPDX-License-Identifier: MIT
"""The lifetimes of the values of a sequence of steps.

A value is kept from the step that computes it to the last step that uses it. Only these two positions are stored: a
list of the live values at every position would need memory proportional to the number of steps times the number of
values that are alive at the same time.
"""


class Lives:
    """The lifetimes of all values except constants. A position is the index of the next step; after the last step, it
    is the number of steps."""

    def __init__(self, steps, outputs, constants):
        self._steps, self._constants = steps, constants
        self._last = {}  # the last position at which a run needs the value
        self.wanted = {}  # values that steps use but no earlier step computes, sorted
        computed = set()
        for index, step in enumerate(steps):
            for name in step.inputs:
                self._take(name, index, computed)
            computed.update(step.outputs)
            for name in step.outputs:
                self._last.setdefault(name, index)
        for name in outputs:
            self._take(name, len(steps), computed)
        self.wanted = sorted(self.wanted)
        self._ends = [[] for _ in range(len(steps) + 1)]
        for name, index in self._last.items():
            if index < len(steps):
                self._ends[index + 1].append(name)
        self._next_on_host, index = [0] * len(steps), len(steps)
        for i in range(len(steps) - 1, -1, -1):
            index = self._next_on_host[i] = i if steps[i].on_host else index

    def _take(self, name, index, computed):
        if name and name not in self._constants:
            self._last[name] = index
            if name not in computed:
                self.wanted[name] = None

    def taken_from(self, index):
        """Returns the values computed before this position that the steps from here to the next host step use."""
        names, computed = {}, set()
        for step in self._steps[index:self._next_on_host[index]]:
            names.update((name, None) for name in step.inputs if name and name not in computed and name not in self._constants)
            computed.update(step.outputs)
        return list(names)

    def computed_between(self, begin, end):
        """Returns the values that the steps from `begin` to `end`, exclusive, compute and that are needed afterward."""
        return sorted({name for step in self._steps[begin:end] for name in step.outputs if self._last.get(name, 0) >= end})

    def ended_between(self, begin, end):
        """Yields the values that are needed at position `begin`, or computed after it, but not needed at position
        `end`."""
        for index in range(begin + 1, end + 1):
            yield from self._ends[index]
