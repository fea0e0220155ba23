# SPDX-License-Identifier: MIT
"""The operators of ai.onnx.ml beside definitions in plain Python, bit for bit, and beside ONNX's reference where that
computes the same. Also strings, maps, and models that are wrong."""
import math

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
import onnx_ml_reference as plain  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import anydml.onnx as backend  # noqa: E402
from onnx_models import explained, node_by_node  # noqa: E402

ML = "ai.onnx.ml"
TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
TYPES = (np.float32, np.float64, np.int32, np.int64)


def model_of(nodes, inputs, outputs, version=3, **options):
    """Returns a model. inputs: arrays by name. outputs: names."""
    declared = [helper.make_tensor_value_info(name, _type_of(array), None) for name, array in inputs.items()]
    graph = helper.make_graph(nodes, "graph", declared, [onnx.ValueInfoProto(name=name) for name in outputs], **options)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ML, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _type_of(array):
    return TensorProto.STRING if array.dtype.kind in "OUT" else helper.np_dtype_to_tensor_dtype(array.dtype)


def node_of(op, inputs, outputs, domain=ML, **attributes):
    tensors = {name: onnx.numpy_helper.from_array(value, name) for name, value in attributes.items()
               if isinstance(value, np.ndarray)}
    return helper.make_node(op, inputs, outputs, "n", domain=domain, **{**attributes, **tensors})


def prepared_of(op, arrays, outputs=1, version=3, **attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    results = ["y", "z"][:outputs]
    model = model_of([node_of(op, names, results, **attributes)], dict(zip(names, arrays)), results, version)
    return backend.Prepared(model)


def run(op, arrays, outputs=1, version=3, **attributes):
    return list(prepared_of(op, arrays, outputs, version, **attributes).run(list(arrays)))


def reference(op, arrays, outputs=1, version=3, **attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    node = node_of(op, names, ["y", "z"][:outputs], **attributes)
    model = model_of([node], dict(zip(names, arrays)), ["y", "z"][:outputs], version)
    return ReferenceEvaluator(model).run(None, dict(zip(names, arrays)))


def assert_same(actual, expected):
    """All bits are equal, except that all NaNs count as equal."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if actual.dtype == object:
        assert actual.tolist() == expected.tolist()
        return
    both = (actual != actual) & (expected != expected)
    unsigned = f"u{actual.dtype.itemsize}"
    same = (np.ascontiguousarray(actual).view(unsigned) == np.ascontiguousarray(expected).view(unsigned)) | both
    assert same.all(), (actual[~same][:5], expected[~same][:5])


def features(random, rows, width, dtype=np.float32, nan=False):
    x = (random.standard_normal((rows, width)) * 3).astype(dtype)
    if nan:
        x[random.random(x.shape) < 0.2] = np.nan
    return x


def numbers(random, *shape):
    """Numbers that are floats, as attributes are, but as Python's type."""
    return random.standard_normal(shape).astype(np.float32).ravel().tolist()


# ---- Linear models and machines -------------------------------------------------------------------------------------

@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("dtype", TYPES)
def test_linear_models(dtype, transform):
    random = np.random.default_rng(1)
    x = features(random, 9, 5, dtype)
    for targets in (1, 3):
        given = {"coefficients": numbers(random, targets, 5), "post_transform": transform}
        for more in ({}, {"intercepts": numbers(random, targets)}):
            assert_same(run("LinearRegressor", [x], targets=targets, **given, **more)[0],
                        plain.linear_regressor(x, targets=targets, **given, **more))
    for labels, count in ((["a", "b", "c"], 3), ([4, 2], 2), ([4, 2], 1)):
        given = {"coefficients": numbers(random, count, 5), "intercepts": numbers(random, count),
                 "post_transform": transform, _labels(labels, "classlabels_ints"): labels}
        for actual, expected in zip(run("LinearClassifier", [x], 2, **given), plain.linear_classifier(x, **given)):
            assert_same(actual, expected)


def _labels(labels, integers):
    return "classlabels_strings" if isinstance(labels[0], str) else integers


def test_one_row_may_have_one_dimension():
    x = np.float32([1, 2, 3])
    assert run("LinearRegressor", [x], coefficients=[1.0, 2.0, 3.0])[0].tolist() == [[14]]
    assert run("Scaler", [x], offset=[1.0], scale=[2.0])[0].tolist() == [0, 2, 4]
    assert run("Normalizer", [x], norm="L1")[0].shape == (3,)


@pytest.mark.parametrize("kernel", ("LINEAR", "POLY", "RBF", "SIGMOID"))
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_support_vector_machines(kernel, transform):
    random = np.random.default_rng(2)
    x = features(random, 7, 4)
    degree = 2.5 if transform == "LOGISTIC" else 3.0
    kind = {"kernel_type": kernel, "kernel_params": [0.25, 0.5, degree], "post_transform": transform}
    for more in ({"one_class": 1}, {}):
        given = {**kind, "coefficients": numbers(random, 6), "support_vectors": numbers(random, 6, 4),
                 "n_supports": 6, "rho": numbers(random, 1), **more}
        assert_same(run("SVMRegressor", [x], **given)[0], plain.svm_regressor(x, **given))
    for labels, counts in ((["a", "b", "c", "d"], [2, 3, 1, 2]), ([7, 5], [3, 2])):
        vectors, pairs = sum(counts), len(labels) * (len(labels) - 1) // 2
        given = {**kind, "coefficients": numbers(random, len(labels) - 1, vectors), "rho": numbers(random, pairs),
                 "support_vectors": numbers(random, vectors, 4), "vectors_per_class": counts,
                 _labels(labels, "classlabels_ints"): labels}
        for more in ({}, {"prob_a": [-abs(one) for one in numbers(random, pairs)], "prob_b": numbers(random, pairs)}):
            for actual, expected in zip(run("SVMClassifier", [x], 2, **given, **more),
                                        plain.svm_classifier(x, **given, **more)):
                assert_same(actual, expected)


def test_linear_machines():
    random = np.random.default_rng(3)
    x = features(random, 7, 4)
    given = {"coefficients": numbers(random, 4), "rho": numbers(random, 1)}
    assert_same(run("SVMRegressor", [x], **given)[0], plain.svm_regressor(x, **given))
    given = {"coefficients": numbers(random, 3, 4), "rho": numbers(random, 1), "classlabels_ints": [3, 1, 2]}
    for actual, expected in zip(run("SVMClassifier", [x], 2, **given), plain.svm_classifier(x, **given)):
        assert_same(actual, expected)


def test_probit_is_the_quantile_of_the_normal_distribution():
    x = np.float32([[one] for one in (0, 1e-30, 1e-9, 0.01, 0.2, 0.5, 0.6, 0.95, 0.999999, 1, -0.1, 1.1, np.nan)])
    actual = run("LinearRegressor", [x], coefficients=[1.0], post_transform="PROBIT")[0]
    assert_same(actual, np.float32([[plain.probit(float(one))] for one in x[:, 0]]))
    assert actual[5] == 0 and actual[0] == -np.inf and actual[9] == np.inf and np.isnan(actual[10:]).all()


# ---- Trees ----------------------------------------------------------------------------------------------------------

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")


def grown(random, trees, depth, width, targets, modes=("LEQ",), nan=False, double=False):
    """Returns the attributes of random trees, and the votes of their leaves as (tree, node, target, weight)."""
    lists = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                                   "falsenodeids", "missing_value_tracks_true")}
    votes = []

    def grow(tree, left):
        own = sum(one == tree for one in lists["treeids"])
        at = len(lists["treeids"])
        is_leaf = left == 0 or random.random() < 0.15
        for name, value in (("treeids", tree), ("nodeids", own), ("featureids", int(random.integers(width))),
                            ("modes", "LEAF" if is_leaf else f"BRANCH_{modes[random.integers(len(modes))]}"),
                            ("values", float(np.float32(round(random.standard_normal() * 2)))),
                            ("truenodeids", 0), ("falsenodeids", 0),
                            ("missing_value_tracks_true", int(nan and random.random() < 0.5))):
            lists[name].append(value)
        if is_leaf:
            for target in sorted(random.choice(targets, min(targets, 2), replace=False).tolist()):
                votes.append((tree, own, target, float(np.float32(random.standard_normal()))))
            return own
        for name in ("truenodeids", "falsenodeids"):
            lists[name][at] = grow(tree, left - 1)
        return own

    for tree in range(trees):
        grow(tree * 3 + 1, depth)
    attributes = {f"nodes_{name}": values for name, values in lists.items()}
    if not nan:
        del attributes["nodes_missing_value_tracks_true"]
    if double:
        attributes["nodes_values_as_tensor"] = np.array(attributes.pop("nodes_values")) + 1e-9
    return attributes, votes


def vote_lists(prefix, votes, double=False):
    trees, nodes, targets, weights = map(list, zip(*votes))
    given = {f"{prefix}_treeids": trees, f"{prefix}_nodeids": nodes, f"{prefix}_ids": targets}
    return {**given, **({f"{prefix}_weights_as_tensor": np.array(weights) * (1 + 1e-12)} if double else
                        {f"{prefix}_weights": weights})}


@pytest.mark.parametrize("aggregate", ("SUM", "AVERAGE", "MIN", "MAX"))
@pytest.mark.parametrize("double", (False, True))
def test_tree_regressors(aggregate, double):
    random = np.random.default_rng(4)
    for targets, modes, nan, dtype in ((1, ("LEQ",), False, np.float32), (2, ("LEQ",), True, np.float32), (3, MODES, True, np.float32),
                                       (2, MODES, True, np.float64), (1, MODES, False, np.int64),
                                       (2, ("LEQ",), False, np.int32)):
        x = np.round(features(random, 150, 6, dtype, nan), 0 if dtype == np.float32 else 1)
        attributes, votes = grown(random, 7, 5, 6, targets, modes, nan, double)
        given = {**attributes, **vote_lists("target", votes, double), "aggregate_function": aggregate,
                 "n_targets": targets}
        for more in ({}, {"base_values": numbers(random, targets)}, {"base_values": [0.5]},
                     {"base_values_as_tensor": random.standard_normal(targets)} if double else {}):
            assert_same(run("TreeEnsembleRegressor", [x], **given, **more)[0], plain.tree_regressor(x, **given, **more))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_tree_classifiers(transform):
    random = np.random.default_rng(5)
    x = np.round(features(random, 40, 6, nan=True))
    for labels in ([1, 2, 3], ["yes", "no", "maybe"], ["b", "a"], [9]):
        attributes, votes = grown(random, 5, 4, 6, len(labels), MODES, True)
        cases = [votes]
        if len(labels) == 2:  # votes for one class only, as a probability or a distance
            for target in (0, 1):
                one = [(tree, node, target, weight) for tree, node, _, weight in votes]
                cases += [one, [(tree, node, target, abs(weight) / 4) for tree, node, _, weight in votes]]
        for case in cases:
            given = {**attributes, **vote_lists("class", case), "post_transform": transform,
                     _labels(labels, "classlabels_int64s"): labels}
            for more in ({}, {"base_values": [0.25]}, {"base_values": numbers(random, len(labels))}):
                for version in (1, 3):
                    actual = run("TreeEnsembleClassifier", [x], 2, version, **given, **more)
                    for one, other in zip(actual, plain.tree_classifier(x, **given, **more)):
                        assert_same(one, other)


def ensemble_of(random, dtype, trees=6, depth=4, width=5, targets=3, members=True):
    """Returns the attributes of a random TreeEnsemble of opset 5."""
    names = ("nodes_featureids", "nodes_modes", "nodes_splits", "nodes_truenodeids", "nodes_falsenodeids",
             "nodes_trueleafs", "nodes_falseleafs", "nodes_missing_value_tracks_true")
    lists, sets, weights, ids = {name: [] for name in names}, {}, [], []

    def grow(left):
        at = len(lists["nodes_modes"])
        mode = int(random.integers(7 if members else 6))
        for name, value in zip(names, (int(random.integers(width)), mode, float(round(random.standard_normal() * 2)),
                                       0, 0, 0, 0, int(random.integers(2)))):
            lists[name].append(value)
        if mode == 6:
            sets[at] = [*random.integers(-4, 5, random.integers(4)).astype(float).tolist(), math.nan]
        for branch in ("true", "false"):
            is_leaf = left == 0 or random.random() < 0.2
            lists[f"nodes_{branch}leafs"][at] = int(is_leaf)
            if is_leaf:
                weights.append(random.standard_normal())
                ids.append(int(random.integers(targets)))
                lists[f"nodes_{branch}nodeids"][at] = len(weights) - 1
            else:
                lists[f"nodes_{branch}nodeids"][at] = grow(left - 1)
        return at

    roots = [grow(depth) for _ in range(trees)]
    given = {**lists, "nodes_modes": np.array(lists["nodes_modes"], np.uint8),
             "nodes_splits": np.array(lists["nodes_splits"], dtype), "leaf_weights": np.array(weights, dtype),
             "leaf_targetids": ids, "tree_roots": roots, "n_targets": targets}
    if sets:
        given["membership_values"] = np.array([one for at in sorted(sets) for one in sets[at]], dtype)
    return given


@pytest.mark.parametrize("dtype", (np.float16, np.float32, np.float64))
@pytest.mark.parametrize("aggregate", range(4))
def test_tree_ensembles(aggregate, dtype):
    random = np.random.default_rng(6)
    x = np.round(features(random, 70, 5, np.float32, True)).astype(dtype)
    for transform in range(5):
        given = {**ensemble_of(random, dtype), "aggregate_function": aggregate, "post_transform": transform}
        assert_same(run("TreeEnsemble", [x], 1, 5, **given)[0],
                    plain.tree_ensemble(x, **{**given, "nodes_modes": given["nodes_modes"].tolist()}))


def test_trees_are_those_of_the_reference():
    random = np.random.default_rng(7)
    x = np.round(features(random, 50, 5))
    attributes, votes = grown(random, 4, 4, 5, 2, MODES)
    given = {**attributes, **vote_lists("target", votes), "n_targets": 2}
    missing = {"nodes_missing_value_tracks_true": [0] * len(attributes["nodes_modes"])}
    expected = reference("TreeEnsembleRegressor", [x], **given, **missing)[0]
    np.testing.assert_allclose(run("TreeEnsembleRegressor", [x], **given)[0], expected, rtol=1e-5, atol=1e-6)
    given = ensemble_of(random, np.float64, members=False)
    given["nodes_missing_value_tracks_true"] = [0] * len(given["nodes_modes"])
    x = x.astype(np.float64)
    np.testing.assert_allclose(run("TreeEnsemble", [x], 1, 5, **given)[0],
                               reference("TreeEnsemble", [x], 1, 5, **given)[0], rtol=1e-14, atol=1e-14)


def test_nodes_may_share_children():
    """Converters write a test for several categories as a chain of BRANCH_EQ nodes with one child."""
    given = {"nodes_treeids": [0] * 5, "nodes_nodeids": list(range(5)), "nodes_featureids": [0] * 5,
             "nodes_modes": ["BRANCH_EQ"] * 3 + ["LEAF"] * 2, "nodes_values": [1.0, 4.0, 6.0, 0.0, 0.0],
             "nodes_truenodeids": [3, 3, 3, 0, 0], "nodes_falsenodeids": [1, 2, 4, 0, 0], "target_treeids": [0, 0],
             "target_nodeids": [3, 4], "target_ids": [0, 0], "target_weights": [10.0, 20.0], "n_targets": 1}
    x = np.float32([[1], [2], [4], [6], [np.nan]])
    assert run("TreeEnsembleRegressor", [x], **given)[0].ravel().tolist() == [10, 20, 10, 10, 20]


def test_sums_of_trees_are_computed_in_double():
    """A sum in float would be 16777216 or 0, by the order of the trees."""
    weights = [2.0 ** 24, 1.0, 1.0, -2.0 ** 24]
    given = {"nodes_treeids": [0, 1, 2, 3], "nodes_nodeids": [0] * 4, "nodes_featureids": [0] * 4,
             "nodes_modes": ["LEAF"] * 4, "nodes_values": [0.0] * 4, "nodes_truenodeids": [0] * 4,
             "nodes_falsenodeids": [0] * 4, "target_treeids": [0, 1, 2, 3], "target_nodeids": [0] * 4,
             "target_ids": [0] * 4, "target_weights": weights, "n_targets": 1}
    assert run("TreeEnsembleRegressor", [np.zeros((3, 1), np.float32)], **given)[0].ravel().tolist() == [2, 2, 2]


# ---- Features -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", TYPES)
def test_features(dtype):
    random = np.random.default_rng(8)
    x = features(random, 8, 5, dtype, dtype in (np.float32, np.float64))
    x[3] = 0
    for count in (1, 5):
        given = {"offset": numbers(random, count), "scale": numbers(random, count)}
        assert_same(run("Scaler", [x], **given)[0], plain.scaler(x, **given))
    for norm in ("MAX", "L1", "L2"):
        assert_same(run("Normalizer", [x], norm=norm)[0], plain.normalizer(x, norm))
    for threshold in (0.0, 1.0, -0.5):
        assert_same(run("Binarizer", [x], threshold=threshold)[0], plain.binarizer(x, threshold))
        assert_same(run("Binarizer", [x], threshold=threshold)[0], reference("Binarizer", [x], threshold=threshold)[0])
    indices = np.array([[4, 0, 0, 2]])
    assert_same(run("ArrayFeatureExtractor", [x, indices])[0], plain.array_feature_extractor(x, indices))
    assert_same(run("ArrayFeatureExtractor", [x, indices])[0], reference("ArrayFeatureExtractor", [x, indices])[0])
    assert_same(run("ArrayFeatureExtractor", [x[0], indices])[0], plain.array_feature_extractor(x[0], indices))
    given = [x, x[:, :3]]
    for sizes in ([5, 3], [2, 6]):
        assert_same(run("FeatureVectorizer", given, inputdimensions=sizes)[0],
                    plain.feature_vectorizer(*given, inputdimensions=sizes))


@pytest.mark.parametrize("dtype", TYPES)
def test_imputer(dtype):
    random = np.random.default_rng(9)
    for replaced in (0, 2, math.nan) if dtype in (np.float32, np.float64) else (0, 2, 2**40):
        x = np.round(features(random, 20, 3, dtype, math.isnan(replaced)))
        for count in (1, 3):
            kind, suffix = ("float", "floats") if x.dtype.kind == "f" else ("int64", "int64s")
            values = random.integers(10, 20, count).tolist()
            given = {f"imputed_value_{suffix}": list(map(float if kind == "float" else int, values)),
                     f"replaced_value_{kind}": float(replaced) if kind == "float" else replaced}
            assert_same(run("Imputer", [x], **given)[0], plain.imputer(x, **given))


# ---- Labels ---------------------------------------------------------------------------------------------------------

def test_label_encoder_of_all_types():
    texts, whole = np.array([["b", "zz"], ["a", ""]], object), np.array([3, 1, -7, 2**62])
    for version in (2, 4):
        given = {"keys_strings": ["a", "b", "a"], "values_int64s": [1, 2, 3], "default_int64": -5}
        expected = plain.label_encoder(texts, given["keys_strings"], given["values_int64s"], -5, np.int64)
        assert_same(run("LabelEncoder", [texts], version=version, **given)[0], expected)
        assert expected.tolist() == [[2, -5], [3, -5]]
        given = {"keys_int64s": [1, 3, 2**62], "values_strings": ["one", "drei", "über"], "default_string": "?"}
        assert run("LabelEncoder", [whole], version=version, **given)[0].tolist() == ["drei", "one", "?", "über"]
        given = {"keys_int64s": [1, 3], "values_floats": [0.1, math.nan]}
        assert_same(run("LabelEncoder", [whole], version=version, **given)[0], np.float32([np.nan, 0.1, -0.0, -0.0]))
        given = {"keys_floats": [math.nan, 0.0, 0.1], "values_floats": [1.0, 2.0, 3.0], "default_float": 9.0}
        x = np.float32([np.nan, -0.0, 0.1, 5])
        assert run("LabelEncoder", [x], version=version, **given)[0].tolist() == [1, 2, 3, 9]
        given = {"keys_strings": ["a"], "values_strings": ["A"]}
        assert run("LabelEncoder", [texts], version=version, **given)[0].tolist() == [["_Unused"] * 2, ["A", "_Unused"]]
    given = {"keys_tensor": np.array(["b", "a"], object), "values_tensor": np.int16([5, 6]),
             "default_tensor": np.int16([-1])}
    assert_same(run("LabelEncoder", [texts], version=4, **given)[0], np.int16([[5, -1], [6, -1]]))
    given = {"keys_tensor": np.array([0.1, 2]), "values_tensor": np.array(["x", "y"], object),
             "default_tensor": np.array(["n"], object)}
    assert run("LabelEncoder", [np.array([2, 0.1, np.float32(0.1)])], version=4, **given)[0].tolist() == ["y", "x", "n"]


def test_old_label_encoder_and_category_mapper():
    texts = np.array(["b", "a", "c"], object)
    assert run("LabelEncoder", [texts], version=1, classes_strings=["a", "b"])[0].tolist() == [1, 0, -1]
    assert run("LabelEncoder", [np.array([1, 5])], version=1, classes_strings=["a", "b"],
               default_string="d")[0].tolist() == ["b", "d"]
    given = {"cats_strings": ["a", "b"], "cats_int64s": [10, 20]}
    assert run("CategoryMapper", [texts], **given)[0].tolist() == [20, 10, -1]
    assert run("CategoryMapper", [np.array([20, 3])], **given)[0].tolist() == ["b", "_Unused"]


def test_one_hot_encoder():
    texts = np.array([["b", "c"], ["a", "b"]], object)
    assert_same(run("OneHotEncoder", [texts], cats_strings=["a", "b"])[0],
                plain.one_hot_encoder(texts, cats_strings=["a", "b"]))
    for dtype in TYPES:
        x = np.array([1, 7, 3, 2.9]).astype(dtype)
        assert_same(run("OneHotEncoder", [x], cats_int64s=[2, 7])[0], plain.one_hot_encoder(x, [2, 7]))
    with pytest.raises(ValueError, match="element 1 of X is none of the 2 categories"):
        run("OneHotEncoder", [texts], cats_strings=["a", "b"], zeros=0)


def test_zip_map_is_a_list_of_dicts():
    x = np.float32([[0.1, 0.9], [1, 0]])
    assert run("ZipMap", [x], classlabels_strings=["no", "yes"])[0] == [
        {"no": float(np.float32(0.1)), "yes": float(np.float32(0.9))}, {"no": 1, "yes": 0}]
    prepared = prepared_of("ZipMap", [x[0]], classlabels_int64s=[5, -1])
    assert prepared.run([x[1]])[0] == [{5: 1.0, -1: 0.0}] == node_by_node(prepared, [x[1]])[0]
    assert prepared_of("ZipMap", [x[:0]], classlabels_int64s=[5, -1]).run([x[:0]])[0] == []
    with pytest.raises(ValueError, match="X has 2 columns; expected 3, one for each key"):
        run("ZipMap", [x], classlabels_int64s=[1, 2, 3])


def test_zip_map_is_the_end_of_a_model():
    x = np.zeros((1, 1), np.float32)
    nodes = [node_of("ZipMap", ["x"], ["m"], classlabels_int64s=[1]), helper.make_node("Identity", ["m"], ["y"])]
    with pytest.raises(backend.Unsupported, match="Identity of sequence"):
        backend.Prepared(model_of(nodes, {"x": x}, ["y"]))


# ---- Strings --------------------------------------------------------------------------------------------------------

def string_model(nodes, inputs, outputs, **options):
    return backend.Prepared(model_of([helper.make_node(*node[:3], **node[3]) for node in nodes], inputs, outputs,
                                     **options))


def test_strings_are_rearranged():
    x = np.array([["a", "ü\0x", ""], ["日本", "b" * 40, "c"]], object)
    whole = onnx.numpy_helper.from_array
    prepared = string_model(
        [("Transpose", ["x"], ["t"], {}), ("Reshape", ["t", "shape"], ["r"], {}), ("Concat", ["x", "x"], ["c"], {"axis": 1}),
         ("Slice", ["c", "first", "last", "axes", "steps"], ["s"], {}), ("Gather", ["x", "index"], ["g"], {"axis": 1}),
         ("Identity", ["x"], ["i"], {}), ("Equal", ["x", "word"], ["e"], {}), ("Flatten", ["x"], ["f"], {"axis": 0}),
         ("Shape", ["x"], ["n"], {}), ("Unsqueeze", ["x", "steps"], ["u"], {}), ("Split", ["x"], ["p", "q"], {"num_outputs": 2})],
        {"x": x}, ["t", "r", "c", "s", "g", "i", "e", "f", "n", "u", "p", "q"],
        initializer=[whole(np.array([-1]), "shape"), whole(np.array([5]), "first"), whole(np.array([-9]), "last"),
                     whole(np.array([1]), "axes"), whole(np.array([-1]), "steps"), whole(np.array([2, -3]), "index"),
                     helper.make_tensor("word", TensorProto.STRING, [1], ["c"])])
    for outputs in (prepared.run([x]), prepared.run([x.astype("U40")]), node_by_node(prepared, [x])):
        t, r, c, s, g, i, e, f, n, u, p, q = outputs
        assert all(one.dtype == object for one in (t, r, c, s, g, i, f, u, p, q))
        assert t.tolist() == x.T.tolist() and r.tolist() == x.T.ravel().tolist()
        assert c.tolist() == np.concatenate([x, x], 1).tolist() and s.tolist() == c[:, ::-1].tolist()
        assert g.tolist() == x[:, [2, 0]].tolist() and i.tolist() == x.tolist() and e.tolist() == (x == "c").tolist()
        assert f.tolist() == [x.ravel().tolist()] and n.tolist() == [2, 3] and u.shape == (2, 3, 1)
        assert p.tolist() == x[:1].tolist() and q.tolist() == x[1:].tolist()
    assert explained(prepared).hosted >= 10


def test_strings_become_numbers_and_numbers_strings():
    texts = np.array(["1.5", " -2e3 ", "inf", "nan", "+7", "1e400"], object)
    for kind, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.DOUBLE, np.float64)):
        prepared = string_model([("Cast", ["x"], ["y"], {"to": kind})], {"x": texts}, ["y"])
        assert_same(prepared.run([texts])[0], np.array([1.5, -2000, np.inf, np.nan, 7, np.inf], dtype))
        with pytest.raises(ValueError, match="an element is 'one'; expected a number"):
            prepared.run([np.array(["one"])])
    whole = np.array(["12", "-3"], object)
    prepared = string_model([("Cast", ["x"], ["y"], {"to": TensorProto.INT64})], {"x": whole}, ["y"])
    assert prepared.run([whole])[0].tolist() == [12, -3]
    with pytest.raises(ValueError, match="out of range"):
        prepared.run([np.array(["9223372036854775808"])])
    for x in (np.array([1, -2**63]), np.uint8([200]), np.array([True, False]),
              np.float32([1, 0.1, 1e-5, 123456.75, 1e20, np.nan, -np.inf]), np.array([0.1, 1e16, -0.0, 1e-4, 2.0 / 3])):
        prepared = string_model([("Cast", ["x"], ["y"], {"to": TensorProto.STRING})], {"x": x}, ["y"])
        assert prepared.run([x])[0].tolist() == x.astype(str).tolist()


def test_constants_of_strings():
    nodes = [("Constant", [], ["a"], {"value_strings": ["x", "y"]}), ("Constant", [], ["b"], {"value_string": "z"}),
             ("Constant", [], ["c"], {"value": helper.make_tensor("t", TensorProto.STRING, [2], ["p", "q"])}),
             ("Concat", ["a", "c", "x"], ["y"], {"axis": 0})]
    x = np.array(["w"], object)
    prepared = string_model(nodes, {"x": x}, ["y", "b"])
    y, b = prepared.run([x])
    assert y.tolist() == ["x", "y", "p", "q", "w"] and b.shape == () and b.item() == "z"


def test_strings_that_are_wrong():
    x = np.array(["a"], object)
    prepared = string_model([("Identity", ["x"], ["y"], {})], {"x": x}, ["y"])
    with pytest.raises(TypeError, match="an element of an input is"):
        prepared.run([np.array(["a", None], object)])
    with pytest.raises(TypeError, match="is float64, but the model declares strings"):
        prepared.run([np.zeros(1)])
    with pytest.raises(ValueError):
        prepared.run([np.array(["\ud800"], object)])
    for op, more in (("Neg", {}), ("MatMul", {}), ("Relu", {})):
        with pytest.raises((TypeError, backend.Unsupported), match=f"{op}.* of string"):
            string_model([(op, ["x"] * (2 if op == "MatMul" else 1), ["y"], more)], {"x": x}, ["y"])
    with pytest.raises(ValueError, match="need 3 elements of string_data; the model has 1"):
        tensor = helper.make_tensor("t", TensorProto.STRING, [1], ["a"])
        tensor.dims[0] = 3
        string_model([("Concat", ["x", "t"], ["y"], {"axis": 0})], {"x": x}, ["y"], initializer=[tensor])


def test_strings_in_a_branch():
    """A body may compute with strings of the model around it."""
    def branch(name, op, domain, **attributes):
        node = node_of(op, ["x"], [name], domain, **attributes)
        return helper.make_graph([node], name, [], [onnx.ValueInfoProto(name=name)])
    x = np.array(["a", "b"], object)
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("p", "Identity", ""),
                            else_branch=branch("q", "LabelEncoder", ML, keys_strings=["a"], values_strings=["A"]))
    prepared = backend.Prepared(model_of([node], {"x": x, "c": np.array(True)}, ["y"]))
    assert prepared.run([x, np.array(True)])[0].tolist() == ["a", "b"]
    assert prepared.run([x, np.array(False)])[0].tolist() == ["A", "_Unused"]
