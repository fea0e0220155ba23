# SPDX-License-Identifier: MIT
"""Splits nested tuples, lists and dicts into their values and a form, and rebuilds them."""


def taken_apart(tree, leaves, opens=None):
    """Appends the values to `leaves` and returns the form, which is hashable; the form of a single value is None. A
    container counts as a value if `opens` returns False for it."""
    kind = type(tree)
    if kind is dict:
        parts, keys = tree.values(), tuple(tree)
    elif kind is list or kind is tuple or (isinstance(tree, tuple) and hasattr(kind, "_fields")):
        parts, keys = tree, None
    else:
        leaves.append(tree)
        return None
    if opens is not None and not opens(tree):
        leaves.append(tree)
        return None
    return kind, keys, tuple([taken_apart(part, leaves, opens) for part in parts])


def put_together(form, values, list_kind=list):
    """Rebuilds a tree from an iterator over its values. `list_kind` is the type for lists."""
    if form is None:
        return next(values)
    kind, keys, parts = form
    children = [put_together(part, values, list_kind) for part in parts]
    if kind is dict:
        return dict(zip(keys, children))
    return list_kind(children) if kind is list else tuple(children) if kind is tuple else kind(*children)
