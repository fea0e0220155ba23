# SPDX-License-Identifier: MIT
"""Where the values of a sequence of steps are needed.

A value is kept from the step that makes it to the last step that takes it. Only these two places are noted: a list of all
values for every place would need memory in proportion to the number of steps times the number of values alive at once.
"""


class Lives:
    """Covers the values that are not constants. A place is the number of the step that comes next; after the last step, it is the
    number of steps."""

    def __init__(self, steps, outputs, constants):
        self._steps, self._constants = steps, constants
        self._last = {}  # the last place at which a run must have the value
        self.wanted = {}  # the values that the steps take and none of them has made before; in order
        made = set()
        for place, step in enumerate(steps):
            for name in step.inputs:
                self._take(name, place, made)
            made.update(step.outputs)
            for name in step.outputs:
                self._last.setdefault(name, place)
        for name in outputs:
            self._take(name, len(steps), made)
        self.wanted = sorted(self.wanted)
        self._ends = [[] for _ in range(len(steps) + 1)]
        for name, place in self._last.items():
            if place < len(steps):
                self._ends[place + 1].append(name)
        self._next_on_host, place = [0] * len(steps), len(steps)
        for i in range(len(steps) - 1, -1, -1):
            place = self._next_on_host[i] = i if steps[i].on_host else place

    def _take(self, name, place, made):
        if name and name not in self._constants:
            self._last[name] = place
            if name not in made:
                self.wanted[name] = None

    def taken_from(self, place):
        """The values that the steps from here to the next one on the host take, and that are made before this place."""
        names, made = {}, set()
        for step in self._steps[place:self._next_on_host[place]]:
            names.update((name, None) for name in step.inputs if name and name not in made and name not in self._constants)
            made.update(step.outputs)
        return list(names)

    def made_between(self, begin, end):
        """The values that the steps from `begin` to before `end` make, and that are needed afterwards."""
        return sorted({name for step in self._steps[begin:end] for name in step.outputs if self._last.get(name, 0) >= end})

    def ended_between(self, begin, end):
        """The values that are needed at the place `begin`, or are made from there on, and are not needed at the place
        `end`."""
        for place in range(begin + 1, end + 1):
            yield from self._ends[place]
