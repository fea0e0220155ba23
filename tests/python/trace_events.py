# SPDX-License-Identifier: MIT
"""Checks a trace against Chrome's trace event format, as Perfetto and chrome://tracing read it."""

CATEGORIES = {"Session", "Record", "Compile", "Graph", "Node"}


def checked(document):
    """Returns the events of a JSON array in the order of their beginning, after checking each of them: complete events
    ("ph": "X") with names, microseconds, processes and threads, which nest within each thread."""
    assert isinstance(document, list) and document
    for event in document:
        assert set(event) == {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"}, event
        assert event["ph"] == "X" and event["cat"] in CATEGORIES and isinstance(event["name"], str) and event["name"]
        assert type(event["pid"]) is int and type(event["tid"]) is int and isinstance(event["args"], dict)
        assert all(isinstance(event[key], (int, float)) and event[key] >= 0 for key in ("ts", "dur")), event
        if event["cat"] in ("Graph", "Node"):
            assert isinstance(event["args"]["op_name"], str)
            for key in ("input_type_shape", "output_type_shape"):
                for form in event["args"][key]:
                    (kind, sizes), = form.items()
                    assert isinstance(kind, str) and all(type(size) is int and size >= 0 for size in sizes)
    events = sorted(document, key=lambda event: (event["ts"], -event["dur"]))
    open_ends = {}
    for event in events:
        ends = open_ends.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        end = event["ts"] + event["dur"]
        assert not ends or end <= ends[-1] + 0.01, event  # times are rounded to nanoseconds
        ends.append(end)
    return events
