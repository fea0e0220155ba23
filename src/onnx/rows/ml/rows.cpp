// SPDX-License-Identifier: MIT
// The table of the operators of ai.onnx.ml.
#include "onnx/rows/ml/ml.h"

namespace anydml::onnx {
namespace {

std::vector<Kind> sequence_kind(const Node& /*node*/) { return {Kind::kSequence}; }

constexpr Row ml_row(std::string_view op, Make make, std::string_view uses, ResultKinds result = nullptr,
                     int first_opset = 1, int last_opset = 0) {
  return {.op = op,
          .first_opset = first_opset,
          .last_opset = last_opset,
          .make = make,
          .uses = uses,
          .result = result,
          .is_on_host = true,
          .takes_strings = true};
}

const Row kMlRows[] = {
    ml_row("ai.onnx.ml.ArrayFeatureExtractor", ml_array_feature_extractor, "a selection of features"),
    ml_row("ai.onnx.ml.Binarizer", ml_binarizer, "a comparison"),
    ml_row("ai.onnx.ml.CategoryMapper", ml_category_mapper, "a map of labels", ml_mapper_kinds),
    ml_row("ai.onnx.ml.FeatureVectorizer", ml_feature_vectorizer, "joined features"),
    ml_row("ai.onnx.ml.Imputer", ml_imputer, "replaced elements"),
    ml_row("ai.onnx.ml.LabelEncoder", ml_label_encoder, "a map of labels", ml_encoder_kinds),
    ml_row("ai.onnx.ml.LinearClassifier", ml_linear_classifier, "a linear model", ml_classifier_kinds),
    ml_row("ai.onnx.ml.LinearRegressor", ml_linear_regressor, "a linear model"),
    ml_row("ai.onnx.ml.Normalizer", ml_normalizer, "rows divided by their norm"),
    ml_row("ai.onnx.ml.OneHotEncoder", ml_one_hot_encoder, "categories"),
    ml_row("ai.onnx.ml.SVMClassifier", ml_svm_classifier, "a support vector machine", ml_classifier_kinds),
    ml_row("ai.onnx.ml.SVMRegressor", ml_svm_regressor, "a support vector machine"),
    ml_row("ai.onnx.ml.Scaler", ml_scaler, "scaled features"),
    ml_row("ai.onnx.ml.TreeEnsemble", ml_tree_ensemble, "decision trees", nullptr, 5),
    // Opset 5 has TreeEnsemble in place of these two.
    ml_row("ai.onnx.ml.TreeEnsembleClassifier", ml_tree_classifier, "decision trees", ml_classifier_kinds, 1, 3),
    ml_row("ai.onnx.ml.TreeEnsembleRegressor", ml_tree_regressor, "decision trees", nullptr, 1, 3),
    ml_row("ai.onnx.ml.ZipMap", ml_zip_map, "maps", sequence_kind),
};

}  // namespace

std::span<const Row> ml_rows() { return kMlRows; }

}  // namespace anydml::onnx
