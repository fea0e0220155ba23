# SPDX-License-Identifier: MIT
"""scikit-learn pipelines as ONNX models. Run as a program, it prints how far anydml and ONNX Runtime are from
scikit-learn, and their times.

usage: python tests/python/ml_pipelines.py [ROWS]    needs scikit-learn, skl2onnx, pandas and onnxruntime
"""
import sys
import time
import warnings
from collections import namedtuple

import numpy as np
import onnx
import skl2onnx
import skl2onnx.common._container as _container
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn import (cluster, compose, decomposition, ensemble, impute, linear_model, naive_bayes, neighbors,
                     neural_network, pipeline, preprocessing, svm, tree)

# name; the model in ONNX; its inputs; scikit-learn's results for them by the names of the model's outputs.
Pipeline = namedtuple("Pipeline", "name model inputs expected")

ROWS, WIDTH = 300, 8


def _make_node(*names, **attributes):
    """Newer versions of onnx do not accept NumPy's integers or bools in a list, which skl2onnx passes for histogram
    boosting."""
    plain = {name: [int(one) if isinstance(one, (bool, np.bool_, np.integer)) else one for one in value]
             if isinstance(value, list) else value for name, value in attributes.items()}
    return onnx.helper.make_node(*names, **plain)


_container.make_node = _make_node


def numbers(rows=ROWS, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, WIDTH)).astype(np.float32)


def _classes(x, count):
    scores = x @ np.random.default_rng(1).standard_normal((WIDTH, count)) + np.sin(3 * x[:, :count])
    return np.argmax(scores, 1)


def _target(x):
    return x @ np.arange(WIDTH) + np.sin(3 * x[:, 0]) * 5


def _words(x, count=3):
    return np.array(["red", "green", "dark blue", "ñandú"], object)[_classes(x, count)]


NAMES = {
    "standard scaler, logistic regression": lambda: pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    "random forest, 3 words": lambda: ensemble.RandomForestClassifier(40, random_state=0),
    "random forest, 2 words": lambda: ensemble.RandomForestClassifier(40, max_depth=5, random_state=0),
    "decision tree": lambda: tree.DecisionTreeClassifier(random_state=0),
    "extra trees": lambda: ensemble.ExtraTreesClassifier(30, random_state=0),
    "gradient boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=30, random_state=0),
    "gradient boosting, 2 words": lambda: ensemble.GradientBoostingClassifier(n_estimators=30, random_state=0),
    "histogram boosting": lambda: ensemble.HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "machine with probabilities": lambda: pipeline.make_pipeline(
        preprocessing.StandardScaler(), svm.SVC(probability=True, random_state=0)),
    "machine, polynomial": lambda: svm.SVC(kernel="poly"),
    "linear machine": lambda: svm.LinearSVC(),
    "perceptron": lambda: neural_network.MLPClassifier((16,), max_iter=200, random_state=0),
    "neighbors": lambda: neighbors.KNeighborsClassifier(),
    "naive Bayes": lambda: naive_bayes.GaussianNB(),
    "normalizer, binarizer": lambda: pipeline.make_pipeline(
        preprocessing.Normalizer(), preprocessing.Binarizer(threshold=0.1), linear_model.LogisticRegression()),
    "adaptive boosting": lambda: ensemble.AdaBoostClassifier(n_estimators=10, random_state=0),
    "random forest regressor": lambda: ensemble.RandomForestRegressor(40, random_state=0),
    "histogram boosting regressor": lambda: ensemble.HistGradientBoostingRegressor(max_iter=30, random_state=0),
    "gradient boosting regressor": lambda: ensemble.GradientBoostingRegressor(n_estimators=30, random_state=0),
    "machine regressor": lambda: svm.SVR(),
    "components, ridge": lambda: pipeline.make_pipeline(decomposition.PCA(4), linear_model.Ridge()),
    "imputer, regression": lambda: pipeline.make_pipeline(
        impute.SimpleImputer(), preprocessing.MinMaxScaler(), linear_model.LinearRegression()),
    "means": lambda: cluster.KMeans(4, n_init=1, random_state=0),
    "isolation forest": lambda: ensemble.IsolationForest(n_estimators=20, random_state=0),
}
# Pipelines whose operators exist in double: ONNX's trees, machines, Imputer and ZipMap have attributes or results in
# float.
DOUBLE = ("components, ridge", "perceptron", "naive Bayes", "standard scaler, logistic regression", "means",
          "neighbors")


def made(name, double=False, rows=ROWS):
    """Trains a pipeline and converts it."""
    estimator = NAMES[name]()
    x, more = numbers(), numbers(rows, 7)
    if "imputer" in name or "histogram" in name:
        for array in (x, more):
            array[np.random.default_rng(3).random(array.shape) < 0.1] = np.nan
    full = np.nan_to_num(x)
    if double:
        x, more = x.astype(np.float64), more.astype(np.float64)
    is_regressor = any(word in name for word in ("regressor", "regression", "ridge")) and "logistic" not in name
    y = _target(full) if is_regressor else _words(full, 2 if "2 words" in name else 3) if "words" in name else _classes(full, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(x.astype(np.float64), y)
        kind = DoubleTensorType if double else FloatTensorType
        options = {id(estimator): {"zipmap": not double}} if not is_regressor and hasattr(estimator, "predict_proba") else {}
        model = skl2onnx.convert_sklearn(estimator, initial_types=[("x", kind([None, WIDTH]))], options=options or None,
                                         target_opset={"": 18, "ai.onnx.ml": 3})
    # scikit-learn computes with the same numbers in double.
    return Pipeline(name, model, {"x": more}, _expected(estimator, more.astype(np.float64), model))


def mixed(rows=ROWS):
    """Categories that are strings, and columns with missing numbers."""
    import pandas

    def frame(count, seed):
        random = np.random.default_rng(seed)
        columns = {"color": random.choice(["red", "green", "blue"], count),
                   "size": random.choice(["S", "M", "L", "XL"], count), "price": random.standard_normal(count),
                   "age": random.standard_normal(count)}
        columns["price"][random.random(count) < 0.1] = np.nan
        return {name: np.asarray(one, object if one.dtype.kind == "U" else np.float32).reshape(-1, 1)
                for name, one in columns.items()}

    def table(given):
        return pandas.DataFrame({name: one.ravel() for name, one in given.items()})

    train, more = frame(ROWS, 1), frame(rows, 2)
    more["size"][0] = "XXL"  # unknown
    y = np.where((train["color"].ravel() == "red") ^ (np.nan_to_num(train["price"]).ravel() > 0), "buys", "leaves")
    chosen = compose.ColumnTransformer([
        ("words", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["color", "size"]),
        ("numbers", pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), ["price", "age"])])
    estimator = pipeline.make_pipeline(chosen, linear_model.LogisticRegression())
    estimator.fit(table(train), y)
    kinds = {name: StringTensorType if one.dtype == object else FloatTensorType for name, one in more.items()}
    model = skl2onnx.convert_sklearn(estimator, initial_types=[(name, kind([None, 1])) for name, kind in kinds.items()],
                                     target_opset={"": 18, "ai.onnx.ml": 3})
    return Pipeline("strings in columns", model, more, _expected(estimator, table(more), model))


def _expected(estimator, x, model):
    names = [value.name for value in model.graph.output]
    results = {names[0]: estimator.predict(x)}
    if len(names) > 1:
        if hasattr(estimator, "predict_proba"):
            results[names[1]] = estimator.predict_proba(x)
        elif hasattr(estimator, "transform"):
            results[names[1]] = estimator.transform(x)
        else:
            results[names[1]] = estimator.decision_function(x)
    return results


def as_array(output):
    """Returns an output as an array; a list of dicts as a matrix."""
    return np.array([list(one.values()) for one in output]) if isinstance(output, list) else np.asarray(output)


def distance(actual, expected):
    """Returns the largest difference of numbers, relative to the largest number, or the share of different labels."""
    actual = as_array(actual)
    if expected.dtype.kind in "OUi":
        return float((actual.ravel() != expected).mean())
    actual = actual.reshape(expected.shape).astype(np.float64)
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def _seconds(function):
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    import onnxruntime

    import anydml.onnx
    rows = int(sys.argv[1]) if sys.argv[1:] else ROWS
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    print(f"{'pipeline, ' + str(rows) + ' rows':42} {'anydml':>18} {'ONNX Runtime':>18} {'ms':>8} {'ms':>8}")
    for name, double in [("", False), *((name, False) for name in NAMES), *((name, True) for name in DOUBLE)]:
        case = made(name, double, rows) if name else mixed(rows)
        text = case.name + (", double" if double else "")
        try:
            prepared = anydml.onnx.Prepared(case.model)
            mine = prepared.run(case.inputs)._asdict()
        except Exception as error:
            print(f"{text:42} {error}")
            continue
        try:
            session = onnxruntime.InferenceSession(case.model.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            others = dict(zip([one.name for one in session.get_outputs()], session.run(None, case.inputs)))
        except Exception as error:
            print(f"{text:42} ONNX Runtime: {str(error)[:120]}")
            others = None
        apart = [[distance(results[key], expected) for key, expected in case.expected.items()] if results else []
                 for results in (mine, others)]
        times = [_seconds(lambda: prepared.run(case.inputs)),
                 _seconds(lambda: session.run(None, case.inputs)) if others else float("nan")]
        words = [" ".join(f"{one:8.2g}" for one in ones) for ones in apart]
        print(f"{text:42} {words[0]:>18} {words[1]:>18} {1e3 * times[0]:8.3f} {1e3 * times[1]:8.3f}")


if __name__ == "__main__":
    main()
