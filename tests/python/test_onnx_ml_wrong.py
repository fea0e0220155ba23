# SPDX-License-Identifier: MIT
"""Models with operators of ai.onnx.ml that are wrong or hostile: each ends with an error that names what is wrong."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
import anydml.onnx as backend  # noqa: E402
from tensor_changes import backwards, other_shapes  # noqa: E402
from test_onnx_ml import (  # noqa: E402
    ML, MODES, assert_same, ensemble_of, features, grown, model_of, node_of, prepared_of, run, vote_lists)


LEAVES = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
          "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
          "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
TREE = {**LEAVES, "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
        "target_weights": [1.0, 2.0], "n_targets": 1}
ENSEMBLE = {"nodes_featureids": [0], "nodes_modes": np.uint8([0]), "nodes_splits": np.float32([0.5]),
            "nodes_truenodeids": [0], "nodes_falsenodeids": [1], "nodes_trueleafs": [1], "nodes_falseleafs": [1],
            "leaf_targetids": [0, 0], "leaf_weights": np.float32([1, 2]), "tree_roots": [0], "n_targets": 1}
SVM = {"coefficients": [1.0, 2.0], "rho": [0.5], "support_vectors": [1.0, 2.0], "vectors_per_class": [1, 1],
       "classlabels_ints": [0, 1]}
HUGE = 2**62
# Valid nodes for X with three rows of two features.
VALID = [
    ("TreeEnsembleRegressor", TREE),
    ("TreeEnsembleClassifier", {**LEAVES, "class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1],
                                "class_weights": [1.0, 2.0], "classlabels_int64s": [3, 4]}),
    ("TreeEnsemble", ENSEMBLE),
    ("LinearRegressor", {"coefficients": [1.0, 2.0], "intercepts": [0.5]}),
    ("LinearClassifier", {"coefficients": [1.0, 2.0, 3.0, 4.0], "intercepts": [0.5, 1.5], "classlabels_ints": [7, 8]}),
    ("SVMClassifier", {**SVM, "support_vectors": [1.0, 2.0, 3.0, 4.0]}),
    ("SVMRegressor", {"coefficients": [1.0, -1.0], "rho": [0.5], "n_supports": 2, "support_vectors": [1.0, 2.0, 3.0, 4.0]}),
    ("Scaler", {"offset": [1.0, 2.0], "scale": [2.0, 3.0]}),
    ("Normalizer", {"norm": "L2"}),
    ("Imputer", {"imputed_value_floats": [1.0, 2.0], "replaced_value_float": 0.0}),
    ("Binarizer", {"threshold": 0.5}),
    ("FeatureVectorizer", {"inputdimensions": [2]}),
    ("OneHotEncoder", {"cats_int64s": [0, 1, 2]}),
    ("LabelEncoder", {"keys_floats": [0.0, 1.0], "values_floats": [5.0, 6.0], "default_float": -1.0}),
    ("ZipMap", {"classlabels_int64s": [3, 4]}),
]
# Operators that compute each element alone, so that X may have any shape; those for any number of features; and those
# whose features are along the last of any number of dimensions.
ANY_SHAPE, ANY_WIDTH = ("Binarizer", "OneHotEncoder", "LabelEncoder"), ("Normalizer", "FeatureVectorizer")
LAST_AXIS = ("Scaler", "Imputer")
# The trees of the example use only the first of the features.
TREES = ("TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble")

WRONG = [
    ("TreeEnsembleRegressor", {**TREE, "nodes_truenodeids": [7, 0, 0]}, "nodes_truenodeids refers to node 7 of tree 0"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_falsenodeids": [-HUGE, 0, 0]}, "which does not exist"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_truenodeids": [0, 0, 0]}, "the branches of node 0 lead back to it"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_featureids": [-1, 0, 0]}, "nodes_featureids has -1"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_featureids": [HUGE, 0, 0]}, "nodes_featureids has"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_featureids": [3, 0, 0]}, "X has 2 features; the trees use 4"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_modes": ["BRANCH_X", "LEAF", "LEAF"]}, "nodes_modes has 'BRANCH_X'"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_modes": ["LEAF"]}, "nodes_modes has 1 elements; expected 3"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_values": [0.5]}, "nodes_values has 1 elements; expected 3"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_nodeids": [0, 1, 1]}, "tree 0 has two nodes with the number 1"),
    ("TreeEnsembleRegressor", {**TREE, "target_nodeids": [1, 9]}, "target_nodeids refers to node 9"),
    ("TreeEnsembleRegressor", {**TREE, "target_ids": [0, 1]}, "target_ids has 1; expected 0 to 0"),
    ("TreeEnsembleRegressor", {**TREE, "target_ids": [0, -1]}, "target_ids has -1"),
    ("TreeEnsembleRegressor", {**TREE, "target_weights": [1.0]}, "target_weights has 1 elements; expected 2"),
    ("TreeEnsembleRegressor", {**TREE, "n_targets": 0}, "n_targets is 0; expected 1 to"),
    ("TreeEnsembleRegressor", {**TREE, "n_targets": HUGE}, "n_targets is"),
    ("TreeEnsembleRegressor", {**TREE, "base_values": [1.0, 2.0]}, "base_values has 2 numbers; expected none, 1 or 1"),
    ("TreeEnsembleRegressor", {**TREE, "nodes_values_as_tensor": np.zeros(3)}, "without nodes_values"),
    ("TreeEnsembleRegressor", {**TREE, "aggregate_function": "MEDIAN"}, "aggregate_function is 'MEDIAN'"),
    ("TreeEnsembleRegressor", {**TREE, "post_transform": "TANH"}, "post_transform is 'TANH'"),
    ("TreeEnsembleRegressor", {"n_targets": 1}, "nodes_treeids has 0 elements"),
    ("TreeEnsembleClassifier", {**LEAVES, "class_treeids": [0], "class_nodeids": [1], "class_ids": [5],
                                "class_weights": [1.0], "classlabels_int64s": [0, 1]}, "class_ids has 5"),
    ("TreeEnsembleClassifier", LEAVES, "expected either classlabels_int64s or classlabels_strings"),
    ("TreeEnsemble", {**ENSEMBLE, "tree_roots": [1]}, "tree_roots has 1; there are 1 nodes"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_trueleafs": [0]}, "the branches of node 0 lead back to it"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_truenodeids": [2]}, "nodes_truenodeids has 2; there are 2 leaves"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_falsenodeids": [-1]}, "nodes_falsenodeids has -1"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_modes": np.uint8([7])}, "nodes_modes has 7"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_modes": np.uint8([6])}, "membership_values has 0 sets; expected 1"),
    ("TreeEnsemble", {**ENSEMBLE, "membership_values": np.float32([1])}, "does not end with NaN"),
    ("TreeEnsemble", {**ENSEMBLE, "nodes_splits": np.zeros((1, 1), np.float32)}, "nodes_splits must be a list"),
    ("TreeEnsemble", {**ENSEMBLE, "leaf_targetids": [0, 1]}, "leaf_targetids has 1"),
    ("TreeEnsemble", {**ENSEMBLE, "post_transform": 9}, "post_transform is 9"),
    ("LinearRegressor", {"coefficients": [1.0, 2.0, 3.0], "targets": 2}, "coefficients has 3 numbers for 2 targets"),
    ("LinearRegressor", {"coefficients": [1.0, 2.0], "targets": -1}, "for -1 targets"),
    ("LinearRegressor", {"coefficients": [1.0] * 3}, "X has 2 features; expected 3"),
    ("LinearRegressor", {"coefficients": [1.0] * 2, "intercepts": [1.0] * 2}, "intercepts has 2 numbers; expected 1"),
    ("LinearRegressor", {}, "coefficients has 0 numbers"),
    ("LinearClassifier", {"coefficients": [1.0] * 2}, "expected either classlabels_ints or classlabels_strings"),
    ("LinearClassifier", {"coefficients": [1.0] * 4, "classlabels_ints": [1, 2], "classlabels_strings": ["a", "b"]},
     "expected either"),
    ("SVMClassifier", {**SVM, "vectors_per_class": [HUGE, HUGE]}, "vectors_per_class is"),
    ("SVMClassifier", {**SVM, "vectors_per_class": [-1, 1]}, "vectors_per_class is"),
    ("SVMClassifier", {**SVM, "vectors_per_class": [2]}, "vectors_per_class is"),
    ("SVMClassifier", {**SVM, "coefficients": [1.0]}, "coefficients has 1 numbers"),
    ("SVMClassifier", {**SVM, "rho": []}, "rho has 0 numbers; expected 1"),
    ("SVMClassifier", {**SVM, "prob_a": [1.0]}, "prob_a has 1 numbers and prob_b has 0"),
    ("SVMClassifier", {**SVM, "kernel_type": "RBF"}, "kernel_params is .*; expected gamma, coef0 and degree"),
    ("SVMClassifier", {**SVM, "kernel_type": "COSINE"}, "kernel_type is 'COSINE'"),
    ("SVMClassifier", SVM, "X has 2 features; expected 1"),
    ("SVMRegressor", {"coefficients": [1.0], "rho": [0.0], "n_supports": 2}, "coefficients has 1 numbers; expected 2"),
    ("SVMRegressor", {"coefficients": [1.0], "rho": [0.0], "n_supports": -2}, "n_supports is -2"),
    ("SVMRegressor", {"coefficients": [1.0]}, "rho has 0 numbers"),
    ("Scaler", {"offset": [1.0], "scale": [1.0, 2.0]}, "offset has 1 numbers and scale has 2"),
    ("Scaler", {"offset": [1.0] * 3, "scale": [1.0] * 3}, "offset has 3 numbers, but X has 2 features"),
    ("Normalizer", {"norm": "L3"}, "norm is 'L3'"),
    ("Imputer", {}, "imputed_value_floats must have values"),
    ("Imputer", {"imputed_value_floats": [1.0], "imputed_value_int64s": [1]}, "and the other attribute none"),
    ("Imputer", {"imputed_value_floats": [1.0] * 3}, "has 3 numbers, but X has 2 features"),
    ("FeatureVectorizer", {"inputdimensions": [1, 2]}, "expected 1 sizes, one for each input"),
    ("FeatureVectorizer", {"inputdimensions": [-1]}, "inputdimensions is"),
    ("OneHotEncoder", {}, "expected either cats_int64s or cats_strings"),
    ("OneHotEncoder", {"cats_strings": ["a"]}, "X is float, but the categories are string"),
    ("ZipMap", {}, "expected either classlabels_int64s or classlabels_strings"),
    ("LabelEncoder", {"keys_floats": [1.0]}, "0 lists of values are given"),
    ("LabelEncoder", {"keys_floats": [1.0], "keys_int64s": [1], "values_floats": [1.0]}, "2 lists of keys are given"),
    ("LabelEncoder", {"keys_floats": [1.0], "values_int64s": [1, 2]}, "there are 1 keys and 2 values"),
    ("LabelEncoder", {"keys_int64s": [1], "values_int64s": [1]}, "X is float, but the keys are int64"),
]


@pytest.mark.parametrize("op, attributes, message", WRONG, ids=lambda one: one if isinstance(one, str) else "")
def test_wrong_models(op, attributes, message):
    x = np.zeros((3, 2), np.float32)
    outputs = 2 if op.endswith("Classifier") else 1
    attributes = {name: value for name, value in attributes.items() if not isinstance(value, list) or value}
    with pytest.raises((TypeError, ValueError), match=message):
        run(op, [x], outputs, 5 if op == "TreeEnsemble" else 3, **attributes)


@pytest.mark.parametrize("op, attributes", VALID, ids=[op for op, _ in VALID])
def test_each_tensor(op, attributes):
    """X with negative strides, as a constant, one larger and one smaller, of another rank, absent, of another type."""
    x = np.float32([[0, 1], [2, -3], [0.25, 7]])
    options = {"outputs": 2 if op.endswith("Classifier") else 1, "version": 5 if op == "TreeEnsemble" else 3}

    def equal(actual, expected):
        for one, other in zip(actual, expected, strict=True):
            if isinstance(one, list):
                assert one == other
            else:
                assert_same(one, other)

    prepared = prepared_of(op, [x], **options, **attributes)
    expected = list(prepared.run([x]))
    for turned in backwards(x):
        equal(prepared.run([turned]), expected)
    results = ["y", "z"][:options["outputs"]]
    constant = model_of([node_of(op, ["x"], results, **attributes)], {}, results, options["version"],
                        initializer=[onnx.numpy_helper.from_array(x, "x")])
    equal(backend.Prepared(constant).run([]), expected)
    for what, other in other_shapes(x):
        rows = other.ndim == 2 and other.shape[1] == 2
        wide = other.ndim in (1, 2) and (op in ANY_WIDTH or op in TREES and other.shape[-1] > 0)
        alone = other.ndim == 1 and other.size == 2
        deep = other.ndim == 3 and op in LAST_AXIS
        if rows or wide or alone or deep or op in ANY_SHAPE:
            for one in run(op, [other], **options, **attributes):
                assert other.ndim < 2 or len(one) == len(other)
        else:
            with pytest.raises((TypeError, ValueError), match=op):
                run(op, [other], **options, **attributes)
    with pytest.raises(ValueError, match=op):
        backend.Prepared(model_of([node_of(op, [""], results, **attributes)], {"x": x}, results, options["version"]))
    for dtype in (np.int8, np.bool_):
        with pytest.raises((TypeError, ValueError, backend.Unsupported), match=op):
            run(op, [x.astype(dtype)], **options, **attributes)


def test_shapes_that_are_wrong():
    cube = np.zeros((2, 2, 2), np.float32)
    with pytest.raises(ValueError, match=r"X has the shape \[2, 2, 2\]; expected rows of features"):
        run("LinearRegressor", [cube], coefficients=[1.0, 2.0])
    for index in (-1, 2, 2**60):
        with pytest.raises(ValueError, match=f"Y has the index {index}, but X has 2 elements"):
            run("ArrayFeatureExtractor", [cube, np.array([index])])
    with pytest.raises((ValueError, MemoryError)):
        run("FeatureVectorizer", [cube[0]], inputdimensions=[2**61])
    with pytest.raises(ValueError, match="input 1 has 1 rows, but the first one has 2"):
        run("FeatureVectorizer", [cube[0], cube[0, :1]], inputdimensions=[2, 2])


def test_empty_batches():
    x = np.zeros((0, 2), np.float32)
    assert run("TreeEnsembleRegressor", [x], **TREE)[0].shape == (0, 1)
    assert run("LinearRegressor", [x], coefficients=[1.0, 2.0])[0].shape == (0, 1)
    labels, scores = run("SVMClassifier", [x[:, :1]], 2, **SVM)
    assert labels.shape == (0,) and scores.shape == (0, 2)
    assert run("Normalizer", [x])[0].shape == (0, 2)


def test_opsets_of_the_domain():
    x = np.zeros((1, 2), np.float32)
    with pytest.raises(ValueError, match="the model uses opset 6 of ai.onnx.ml, but anydml supports opsets 1 to 5"):
        run("Normalizer", [x], version=6)
    model = model_of([node_of("Normalizer", ["x"], ["y"])], {"x": x}, ["y"])
    del model.opset_import[1]
    with pytest.raises(ValueError, match="does not declare which opset of ai.onnx.ml"):
        backend.Prepared(model)
    with pytest.raises(ValueError, match="ONNX has no TreeEnsemble in opset 3"):
        run("TreeEnsemble", [x], **ENSEMBLE)
    with pytest.raises(backend.Unsupported, match="this version of TreeEnsembleRegressor"):
        run("TreeEnsembleRegressor", [x], version=5, **TREE)
    for domain, op in (("", "ai.onnx.ml.Scaler"), ("ai", "onnx.ml.Scaler"), (ML, "Softmax"), (ML, "DictVectorizer")):
        with pytest.raises(backend.Unsupported, match="not an operator that anydml runs"):
            backend.Prepared(model_of([node_of(op, ["x"], ["y"], domain)], {"x": x}, ["y"]))


def test_changed_models_end_with_an_error_or_a_result():
    """Lists of numbers in which one number is replaced, or that are longer or shorter."""
    random = np.random.default_rng(10)
    x = np.round(features(random, 9, 5, nan=True))
    strange = (0, 1, -1, 2, 7, 2**31, 2**32, 2**63 - 1, -2**63)
    for _ in range(300):
        attributes, votes = grown(random, 3, 3, 5, 2, MODES, True)
        given = {**attributes, **vote_lists("target", votes), "n_targets": 2}
        ensemble = {**ensemble_of(random, np.float32, 2, 2), "aggregate_function": 1}
        for op, changed, version in (("TreeEnsembleRegressor", given, 3), ("TreeEnsemble", ensemble, 5)):
            name = random.choice([key for key, value in changed.items() if isinstance(value, list)])
            values = list(changed[name])
            at = int(random.integers(len(values)))
            if isinstance(values[0], int):
                values[at] = int(strange[random.integers(len(strange))])
            if random.random() < 0.2:
                values = values[:at] or values * 2
            try:
                result, = run(op, [x], 1, version, **{**changed, name: values})
            except (ValueError, MemoryError):
                continue
            assert result.shape == (9, changed["n_targets"])


def test_a_scalar_has_no_features():
    for op, attributes in {"FeatureVectorizer": {"inputdimensions": [1]}, "Normalizer": {}}.items():
        with pytest.raises(ValueError, match=rf"{op} 'n': X has the shape \[\]; expected rows of features, or one row"):
            run(op, [np.float32(1)], version=1, **attributes)


@pytest.mark.parametrize("op, attributes", [
    ("Normalizer", {"norm": "L2"}), ("FeatureVectorizer", {"inputdimensions": [0]})])
def test_rows_without_features_take_no_time(op, attributes):
    assert run(op, [np.zeros((2**40, 0), np.float32)], version=1, **attributes)[0].shape == (2**40, 0)


def test_rows_of_strings_without_elements_take_no_time():
    node = onnx.helper.make_node("Gather", ["x", "i"], ["y"], axis=1)
    x, i = np.zeros((2**40, 3, 0), "U1"), np.zeros(1, np.int64)
    prepared = backend.Prepared(model_of([node], {"x": x, "i": i}, ["y"]))
    assert prepared.run([x, i])[0].shape == (2**40, 1, 0)


def limited(text, **limits):
    """Runs a script that uses this file's functions with limits of the system, such as AS and CPU."""
    lines = [f"resource.setrlimit(resource.RLIMIT_{name}, ({limit}, {limit}))" for name, limit in limits.items()]
    script = "\n".join(["import resource, sys", "sys.path[:0] = sys.argv[1:]", "from test_onnx_ml_wrong import *", *lines, text])
    return subprocess.run([sys.executable, "-c", script, str(pathlib.Path(__file__).parent), *sys.path], capture_output=True,
                          text=True)


def test_no_choice_of_keys_is_slow():
    """Multiples of a prime number that is the size of a hash table would all be in one of its places."""
    done = limited("""
keys = [i * 172933 for i in range(90_000)]
x = np.array(keys[:10], np.int64)
print(run("LabelEncoder", [x], version=2, keys_int64s=keys, values_int64s=list(range(90_000)))[0].tolist())""", CPU=20)
    assert done.stdout == f"{list(range(10))}\n", done.stderr


def test_one_base_value_for_many_targets_takes_no_memory():
    done = limited("""
tree = {**TREE, "n_targets": 2**30, "base_values": [1.0]}
backend.Prepared(model_of([node_of("TreeEnsembleRegressor", ["x"], ["y"], **tree)], {"x": np.zeros((1, 2), np.float32)}, ["y"]))
print("prepared")""", AS=6 << 30)
    assert done.stdout == "prepared\n", done.stderr


def test_numbers_that_are_no_category():
    x = np.float32([np.nan, np.inf, -np.inf, 1.9])
    assert run("OneHotEncoder", [x], version=1, cats_int64s=[0, 1, 2], zeros=1)[0].tolist() == [
        [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
