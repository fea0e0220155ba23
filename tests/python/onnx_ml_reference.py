# SPDX-License-Identifier: MIT
"""The operators of ai.onnx.ml, defined row by row in plain Python, with the order of sums that docs/onnx-ml.md describes.
Python's floats are doubles; each result is rounded once, at the end. This is slow, and shares no code with the
library."""
import math
import statistics

import numpy as np


# ---- Scores ---------------------------------------------------------------------------------------------------------

def logistic(x):
    small = math.exp(-abs(x))
    return small / (1 + small) if x < 0 else 1 / (1 + small)


def probit(p):
    if not 0 <= p <= 1:
        return math.nan
    return {0: -math.inf, 1: math.inf}.get(p) if p in (0, 1) else statistics.NormalDist().inv_cdf(p)


def _largest(scores):
    return math.nan if any(map(math.isnan, scores)) else max(scores)


def _exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _divided(a, b):
    return a / b if b else math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def transformed(name, scores):
    if name == "LOGISTIC":
        return [logistic(one) for one in scores]
    if name == "PROBIT":
        return [probit(one) for one in scores]
    if name == "SOFTMAX":
        largest, total = _largest(scores), 0.0
        powers = [math.exp(one - largest) for one in scores]
        for one in powers:
            total += one
        return [one / total for one in powers]
    if name == "SOFTMAX_ZERO":
        largest, powers, total = _largest(scores), [], 0.0
        for one in scores:
            if abs(one) > 0.0000001 or math.isnan(one):
                powers.append(math.exp(one - largest))
            else:
                powers.append(one * _exp(-largest) if one else one)
            total += powers[-1]
        return [0.5 if total == 0 else _divided(one, total) for one in powers]
    return list(scores)


def binary(name, score, is_probability=False):
    """Returns the scores of two classes, given the score of the second one."""
    is_complement = name == "PROBIT" or name == "NONE" and is_probability
    if is_complement:
        score = float(np.float32(score))
    return transformed(name, [1 - score if is_complement else -score, score])


def largest(scores):
    """Returns the first position of the largest score; NaN counts as the largest."""
    for i, one in enumerate(scores):
        if math.isnan(one):
            return i
    return max(range(len(scores)), key=lambda i: (scores[i], -i))


def rows_of(x):
    """Returns the rows as lists of Python numbers; integers beyond 2^53 are rounded."""
    return [[float(one) for one in row] for row in np.atleast_2d(x).tolist()]


def floats(rows, dtype=np.float32, width=None):
    with np.errstate(over="ignore"):
        return np.array(rows, np.float64).reshape(len(rows), -1 if width is None else width).astype(dtype)


def picked(labels, positions):
    return np.array([labels[i] for i in positions], object if isinstance(labels[0], str) else np.int64)


# ---- Linear models --------------------------------------------------------------------------------------------------

def _dot(a, b):
    total = 0.0
    for one, other in zip(a, b, strict=True):
        total += one * other
    return total


def _vectors(numbers, count):
    width = len(numbers) // count
    return [numbers[i * width:(i + 1) * width] for i in range(count)]


def linear_regressor(x, coefficients, intercepts=(), targets=1, post_transform="NONE"):
    vectors, intercepts = _vectors(coefficients, targets), intercepts or [0.0] * targets
    return floats([transformed(post_transform, [_dot(row, vector) + more for vector, more in zip(vectors, intercepts)])
                   for row in rows_of(x)])


def linear_classifier(x, coefficients, intercepts=(), classlabels_ints=(), classlabels_strings=(),
                      post_transform="NONE", multi_class=0):
    labels = list(classlabels_ints or classlabels_strings)
    is_binary = len(labels) == 2 and len(intercepts) == 1
    targets = 1 if is_binary else len(labels)
    vectors, intercepts = _vectors(coefficients, targets), list(intercepts) or [0.0] * targets
    best, scores = [], []
    for row in rows_of(x):
        raw = [_dot(row, vector) + more for vector, more in zip(vectors, intercepts)]
        best.append(int(raw[0] > 0) if is_binary else largest(raw))
        scores.append(binary(post_transform, raw[0]) if is_binary else transformed(post_transform, raw))
    return picked(labels, best), floats(scores)


# ---- Support vector machines ----------------------------------------------------------------------------------------

def _kernel(kind, params, row, vector):
    gamma, coef0, degree = params or (0.0, 0.0, 0.0)
    if kind == "RBF":
        total = 0.0
        for a, b in zip(row, vector, strict=True):
            total += (a - b) * (a - b)
        return math.exp(-gamma * total)
    total = _dot(row, vector)
    if kind == "POLY":
        base = gamma * total + coef0
        if not (1 <= degree <= 16 and degree == math.floor(degree)):
            try:
                return math.pow(base, degree)
            except ValueError:  # a negative number to a power that is not whole
                return math.nan
        product = base
        for _ in range(int(degree) - 1):
            product *= base
        return product
    return math.tanh(gamma * total + coef0) if kind == "SIGMOID" else total


def svm_regressor(x, coefficients, rho, n_supports=0, support_vectors=(), kernel_type="LINEAR", kernel_params=(),
                  one_class=0, post_transform="NONE"):
    results = []
    for row in rows_of(x):
        if n_supports:
            kernels = [_kernel(kernel_type, kernel_params, row, vector)
                       for vector in _vectors(support_vectors, n_supports)]
            total = _dot(coefficients, kernels) + rho[0]
        else:
            total = _dot(row, coefficients) + rho[0]
        results.append([1.0 if total > 0 else -1.0] if one_class else transformed(post_transform, [total]))
    return floats(results)


def _coupled(pairwise, count):
    """Returns the probabilities of classes, given those of each pair."""
    q = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(count):
            if i != j:
                q[i][i] += pairwise[j][i] * pairwise[j][i]
                q[i][j] = -pairwise[j][i] * pairwise[i][j]
    p = [1 / count] * count
    for _ in range(max(100, count)):
        products = [_dot(q[i], p) for i in range(count)]
        whole = _dot(p, products)
        if max(abs(one - whole) for one in products) < 0.005 / count:
            break
        for i in range(count):
            change = (whole - products[i]) / q[i][i]
            p[i] += change
            whole = (whole + change * (change * q[i][i] + 2 * products[i])) / (1 + change) / (1 + change)
            products = [(products[j] + change * q[i][j]) / (1 + change) for j in range(count)]
            p = [one / (1 + change) for one in p]
    return p


def svm_classifier(x, coefficients, rho, vectors_per_class=(), support_vectors=(), kernel_type="LINEAR",
                   kernel_params=(), prob_a=(), prob_b=(), classlabels_ints=(), classlabels_strings=(),
                   post_transform="NONE"):
    labels = list(classlabels_ints or classlabels_strings)
    count, vectors = len(labels), sum(vectors_per_class)
    best, scores = [], []
    for row in rows_of(x):
        if not vectors:
            raw = [_dot(row, vector) + rho[0] for vector in _vectors(coefficients, count)]
            best.append(largest(raw))
            scores.append(transformed(post_transform, raw))
            continue
        kernels = [_kernel(kernel_type, kernel_params, row, vector) for vector in _vectors(support_vectors, vectors)]
        begins = [sum(vectors_per_class[:i]) for i in range(count + 1)]
        pairs, votes = [], [0] * count
        for i in range(count):
            for j in range(i + 1, count):
                total = 0.0
                for k in range(begins[i], begins[i + 1]):
                    total += coefficients[(j - 1) * vectors + k] * kernels[k]
                for k in range(begins[j], begins[j + 1]):
                    total += coefficients[i * vectors + k] * kernels[k]
                pairs.append(total + rho[len(pairs)])
                votes[i if pairs[-1] > 0 else j] += 1
        best.append(largest([float(one) for one in votes]))
        if prob_a:
            pairwise, at = [[0.0] * count for _ in range(count)], 0
            for i in range(count):
                for j in range(i + 1, count):
                    p = logistic(-(pairs[at] * prob_a[at] + prob_b[at]))
                    pairwise[i][j] = min(max(p, 1e-7), 1 - 1e-7)
                    pairwise[j][i] = 1 - pairwise[i][j]
                    at += 1
            scores.append(transformed(post_transform, _coupled(pairwise, count)))
        else:
            scores.append(binary(post_transform, pairs[0]) if count == 2 else transformed(post_transform, pairs))
    return picked(labels, best), floats(scores)


# ---- Trees ----------------------------------------------------------------------------------------------------------

def _follows(mode, x, value, nan_is_true):
    if math.isnan(x):
        return bool(nan_is_true)
    return {"LEQ": x <= value, "LT": x < value, "GTE": x >= value, "GT": x > value, "EQ": x == value,
            "NEQ": x != value}[mode.removeprefix("BRANCH_")]


def _aggregated(function, votes, targets, trees):
    """Returns the score of each target. votes: (target, weight) in the order in which they count."""
    scores, seen = [0.0] * targets, set()
    for target, weight in votes:
        if function in ("SUM", "AVERAGE"):
            scores[target] += weight
        elif target not in seen:
            seen.add(target)
            scores[target] = weight
        else:
            scores[target] = (min if function == "MIN" else max)(scores[target], weight)
    return [one / trees for one in scores] if function == "AVERAGE" else scores


class _Trees:
    """The nodes of TreeEnsembleRegressor and TreeEnsembleClassifier. Votes are (tree, node, target, weight)."""

    def __init__(self, votes, attributes):
        self.get = lambda name: list(attributes.get(f"nodes_{name}", ()))
        keys = list(zip(self.get("treeids"), self.get("nodeids")))
        self.at = {key: i for i, key in enumerate(keys)}
        first = {}
        for i, (tree, _) in enumerate(keys):
            first.setdefault(tree, i)
        self.roots = list(first.values())
        values = attributes.get("nodes_values_as_tensor", attributes.get("nodes_values"))
        self.nodes = list(zip(self.get("treeids"), self.get("modes"), self.get("featureids"), values,
                              self.get("truenodeids"), self.get("falsenodeids"),
                              self.get("missing_value_tracks_true") or [0] * len(keys)))
        self.votes = {}
        for tree, node, target, weight in votes:
            self.votes.setdefault((tree, node), []).append((target, float(weight)))
        self.numbers = self.get("nodeids")

    def votes_of(self, row):
        for at in self.roots:
            while self.nodes[at][1] != "LEAF":
                tree, mode, feature, value, yes, no, nan = self.nodes[at]
                at = self.at[tree, yes if _follows(mode, row[feature], float(value), nan) else no]
            yield from self.votes.get((self.nodes[at][0], self.numbers[at]), ())


def _base(values, targets):
    values = [float(one) for one in values]
    return values * targets if len(values) == 1 else values or [0.0] * targets


def _votes(prefix, attributes):
    weights = attributes.get(f"{prefix}_weights_as_tensor", attributes.get(f"{prefix}_weights"))
    return zip(attributes[f"{prefix}_treeids"], attributes[f"{prefix}_nodeids"], attributes[f"{prefix}_ids"], weights)


def tree_regressor(x, n_targets, aggregate_function="SUM", post_transform="NONE", **attributes):
    trees = _Trees(_votes("target", attributes), attributes)
    base = _base(attributes.get("base_values_as_tensor", attributes.get("base_values", ())), n_targets)
    has_base = "base_values" in attributes or "base_values_as_tensor" in attributes
    results = []
    for row in rows_of(x):
        scores = _aggregated(aggregate_function, trees.votes_of(row), n_targets, len(trees.roots))
        results.append(transformed(post_transform, [a + b for a, b in zip(scores, base)] if has_base else scores))
    return floats(results)


def tree_classifier(x, classlabels_int64s=(), classlabels_strings=(), post_transform="NONE", **attributes):
    labels = list(classlabels_int64s or classlabels_strings)
    trees = _Trees(_votes("class", attributes), attributes)
    base = _base(attributes.get("base_values_as_tensor", attributes.get("base_values", ())), len(labels))
    ids, weights = set(attributes["class_ids"]), [vote[3] for vote in _votes("class", attributes)]
    is_probability = all(one >= 0 for one in weights)
    best, results = [], []
    for row in rows_of(x):
        scores = _aggregated("SUM", trees.votes_of(row), len(labels), 1)
        if "base_values" in attributes or "base_values_as_tensor" in attributes:
            scores = [a + b for a, b in zip(scores, base)]
        if len(labels) == 2 and len(ids) == 1:
            best.append(int(scores[min(ids)] > (0.5 if is_probability else 0)))
        else:
            best.append(largest(scores))
        is_binary = len(labels) == 2 and ids == {0}
        results.append(binary(post_transform, scores[0], is_probability) if is_binary else
                       transformed(post_transform, scores))
    return picked(labels, best), floats(results)


def tree_ensemble(x, nodes_splits, nodes_featureids, nodes_modes, nodes_truenodeids, nodes_falsenodeids, nodes_trueleafs,
                  nodes_falseleafs, leaf_targetids, leaf_weights, tree_roots, n_targets, post_transform=0,
                  aggregate_function=1, nodes_missing_value_tracks_true=None, membership_values=()):
    sets, members = {}, iter(np.asarray(membership_values, np.float64).tolist())
    for i, mode in enumerate(nodes_modes):
        if mode == 6:
            sets[i] = _until_nan(members)
    names = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")
    nan = nodes_missing_value_tracks_true or [0] * len(nodes_modes)
    results = []
    for row in rows_of(x):
        votes = []
        for at in tree_roots:
            is_leaf = False
            while not is_leaf:
                value, mode = row[nodes_featureids[at]], nodes_modes[at]
                if mode == 6:
                    is_yes = bool(nan[at]) if math.isnan(value) else value in sets[at]
                else:
                    is_yes = _follows(names[mode], value, float(nodes_splits[at]), nan[at])
                is_leaf = bool((nodes_trueleafs if is_yes else nodes_falseleafs)[at])
                at = (nodes_truenodeids if is_yes else nodes_falsenodeids)[at]
            votes.append((leaf_targetids[at], float(leaf_weights[at])))
        function = ("AVERAGE", "SUM", "MIN", "MAX")[aggregate_function]
        scores = _aggregated(function, votes, n_targets, len(tree_roots))
        results.append(transformed(("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")[post_transform], scores))
    return floats(results, np.asarray(x).dtype)


def _until_nan(numbers):
    found = set()
    for one in numbers:
        if math.isnan(one):
            break
        found.add(one)
    return found


# ---- Features -------------------------------------------------------------------------------------------------------

def scaler(x, offset, scale):
    return floats([[(one - offset[i % len(offset)]) * scale[i % len(scale)] for i, one in enumerate(row)]
                   for row in rows_of(x)]).reshape(np.shape(x))


def normalizer(x, norm="MAX"):
    results = []
    for row in rows_of(x):
        size = 0.0
        for one in row:
            size = _largest([size, abs(one)]) if norm == "MAX" else size + (abs(one) if norm == "L1" else one * one)
        size = math.sqrt(size) if norm == "L2" else size
        results.append([one / size for one in row] if size else row)
    return floats(results).reshape(np.shape(x))


def imputer(x, imputed_value_floats=(), imputed_value_int64s=(), replaced_value_float=0.0, replaced_value_int64=0):
    x = np.array(x)
    is_float = x.dtype.kind == "f"
    values = imputed_value_floats if is_float else imputed_value_int64s
    replaced = replaced_value_float if is_float else replaced_value_int64
    for index in np.ndindex(x.shape):
        if x[index] == replaced or is_float and math.isnan(replaced) and math.isnan(x[index]):
            x[index] = values[index[-1] % len(values)]
    return x


def binarizer(x, threshold=0.0):
    return np.array([1 if one > threshold else 0 for one in np.ravel(x).tolist()], x.dtype).reshape(x.shape)


def feature_vectorizer(*parts, inputdimensions):
    columns = []
    for part, width in zip(parts, inputdimensions):
        part = np.atleast_2d(part).astype(np.float32)[:, :width]
        columns.append(np.pad(part, [(0, 0), (0, width - part.shape[1])]))
    return np.concatenate(columns, 1)


def array_feature_extractor(x, indices):
    return np.array(np.atleast_2d(x)[..., np.ravel(indices)], x.dtype)


def one_hot_encoder(x, cats_int64s=(), cats_strings=(), zeros=1):
    categories = list(cats_int64s or cats_strings)
    x = x if cats_strings else np.trunc(x).astype(np.int64)
    return np.array([[float(one == category) for category in categories] for one in np.ravel(x).tolist()],
                    np.float32).reshape(*np.shape(x), len(categories))


def label_encoder(x, keys, values, otherwise, dtype):
    """Of equal keys, the last one counts; NaN equals NaN."""
    def value(one):
        for key, result in reversed(list(zip(keys, values))):
            if key == one or key != key and one != one:
                return result
        return otherwise
    return np.array([value(one) for one in np.ravel(x).tolist()], dtype).reshape(np.shape(x))
