// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "onnx/message_bytes.h"
#include "onnx/model/functions.h"
#include "onnx/model/message.h"

namespace anydml::onnx {
namespace {

using test::attribute;
using test::Bytes;
using test::function;
using test::model;
using test::node;
using test::opset;
using test::raw_tensor;
using test::small_model;
using test::tensor;
using test::value;

ModelMessage parsed(const std::string& bytes) {
  auto owner = std::make_shared<std::string>(bytes);
  const auto span = std::as_bytes(std::span(*owner));
  return parse_model(span, std::move(owner), "the bytes");
}
ModelMessage parsed(const Bytes& bytes) { return parsed(bytes.data()); }

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Invalid& error) {
    return error.what();
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Parse, ReadsEveryPart) {
  const ModelMessage got = parsed(small_model());
  EXPECT_EQ(got.ir_version, 8);
  ASSERT_EQ(got.opset_imports.size(), 1U);
  EXPECT_EQ(got.opset_imports[0].version, 17);
  const GraphMessage& graph = got.graph;
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.nodes[1].domain, "mine");
  EXPECT_EQ(graph.nodes[3].inputs, (std::vector<std::string>{"z", ""}));
  EXPECT_EQ(graph.nodes[3].find("axes")->ints, (std::vector<std::int64_t>{0, -1, 300}));
  EXPECT_EQ(graph.nodes[3].find("none"), nullptr);
  EXPECT_EQ(graph.nodes[1].find("slope")->f, 0.5F);
  EXPECT_EQ(graph.nodes[0].find("value")->type, AttributeType::kTensor);
  EXPECT_EQ(array_of(*graph.nodes[0].find("value")->t, got).to_integers(), (std::vector<std::int64_t>{3, 4}));
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].kind, Kind::kFloat);
  EXPECT_EQ(graph.inputs[0].shape[0].size, -1);
  EXPECT_EQ(graph.inputs[0].shape[1].size, 2);
  ASSERT_EQ(got.functions.size(), 2U);
  EXPECT_EQ(got.functions[0].nodes[0].attributes[0].ref_attr_name, "slope");
  EXPECT_EQ(got.functions[0].nodes[1].attributes[0].g->nodes[0].op_type, "Neg");
  EXPECT_EQ(got.functions[1].default_attributes[0].name, "slope");
}

TEST(Parse, ReadsElements) {
  const ModelMessage got = parsed(small_model());
  const auto& all = got.graph.initializers;
  EXPECT_EQ(array_of(all[0], got).to_numbers(), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(array_of(all[0], got).shape(), (Sizes{2, 2}));
  EXPECT_EQ(array_of(all[1], got).to_numbers(), (std::vector<double>{1, 2, -INFINITY}));
  EXPECT_EQ(array_of(all[2], got).kind(), Kind::kInt8);
  EXPECT_EQ(array_of(all[2], got).to_integers(), (std::vector<std::int64_t>{-1, -8, 7}));
  const auto one = [](const Bytes& bytes) {
    const ModelMessage whole = parsed(model(Bytes().message(5, bytes)));
    return array_of(whole.graph.initializers[0], whole);
  };
  EXPECT_EQ(one(tensor("w", 1, {3}).reals(4, {1, 2}).real(4, 3)).to_numbers(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(one(tensor("w", 3, {2}).numbers(5, {-1, 200})).to_integers(), (std::vector<std::int64_t>{-1, -56}));
  EXPECT_EQ(one(tensor("w", 9, {2}).number(5, 1).number(5, 0)).kind(), Kind::kBool);
  EXPECT_EQ(one(tensor("w", 12, {1}).numbers(11, {(std::int64_t{1} << 32) - 1})).to_integers(),
            (std::vector<std::int64_t>{4294967295}));
  EXPECT_EQ(one(tensor("w", 7, {1}).numbers(7, {INT64_MIN})).integer(), INT64_MIN);
  EXPECT_EQ(one(tensor("w", 7, {0, 3})).count(), 0);
  EXPECT_EQ(one(raw_tensor<std::uint8_t>("w", 21, {3}, {0x21, 0xF3})).to_integers(),
            (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_FALSE(one(tensor("w", 16, {2}).numbers(5, {1, 2})));  // arrays cannot be bfloat16
  const Array texts = one(tensor("w", 8, {2}).text(6, "text").text(6, ""));
  EXPECT_EQ(texts.kind(), Kind::kString);
  EXPECT_EQ(texts.elements<std::string_view>()[0], "text");
  EXPECT_EQ(texts.elements<std::string_view>()[1], "");
}

TEST(Parse, KeepsLargeTensorsWhereTheyAre) {
  const std::vector<float> elements(5000, 1.5F);
  for (int padding = 0; padding < 4; ++padding) {
    Bytes bytes = Bytes().number(1, 8);
    bytes.text(2, std::string(static_cast<std::size_t>(padding), 'p'));
    bytes.message(7, Bytes().message(5, raw_tensor("w", 1, {5000}, elements)));
    const ModelMessage got = parsed(bytes);
    const TensorMessage& only = got.graph.initializers[0];
    const Array array = array_of(only, got);
    EXPECT_EQ(array.data(), only.raw_data.data());
    EXPECT_EQ(array.to_numbers(), std::vector<double>(5000, 1.5));  // through an aligned copy
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.packed().data()) % 4, 0U);
  }
}

TEST(Parse, MergesMessages) {
  Bytes bytes = Bytes().number(1, 8);
  bytes.message(7, Bytes().text(2, "a").message(1, node("Abs", {"x"}, {"y"})));
  bytes.message(7, Bytes().text(2, "b").message(1, node("Neg", {"y"}, {"z"})));
  const ModelMessage got = parsed(bytes);
  EXPECT_EQ(got.graph.name, "b");
  EXPECT_EQ(got.graph.nodes.size(), 2U);
  Bytes twice = attribute("value", 4);
  twice.message(5, tensor("w", 1, {2}).reals(4, {1})).message(5, Bytes().reals(4, {2}));
  const ModelMessage joined = parsed(model(Bytes().message(1, node("Constant", {}, {"y"}, "", {twice}))));
  EXPECT_EQ(array_of(*joined.graph.nodes[0].attributes[0].t, joined).to_numbers(), (std::vector<double>{1, 2}));
}

TEST(Parse, ReadsTypes) {
  const auto kind_of = [](const Bytes& type) {
    return parsed(model(Bytes().message(11, Bytes().text(1, "x").message(2, type)))).graph.inputs[0];
  };
  EXPECT_EQ(kind_of(Bytes()).kind, Kind::kNothing);
  EXPECT_EQ(kind_of(Bytes().message(4, Bytes())).kind, Kind::kSequence);
  EXPECT_EQ(kind_of(Bytes().message(5, Bytes())).kind, Kind::kMap);
  EXPECT_EQ(kind_of(Bytes().message(9, Bytes())).kind, Kind::kOptional);
  EXPECT_EQ(kind_of(Bytes().message(8, Bytes())).kind, Kind::kSparseTensor);
  EXPECT_EQ(kind_of(Bytes().message(7, Bytes())).kind, Kind::kOpaque);
  EXPECT_EQ(kind_of(Bytes().message(4, Bytes()).message(1, Bytes().number(1, 7))).kind, Kind::kInt64);
  EXPECT_EQ(kind_of(Bytes().message(1, Bytes().number(1, 7)).message(4, Bytes())).kind, Kind::kSequence);
  const ValueMessage unknown = kind_of(Bytes().message(1, Bytes().number(1, 99)));
  EXPECT_EQ(unknown.kind, Kind::kUndefined);
  EXPECT_EQ(unknown.data_type, 99);
  EXPECT_FALSE(unknown.has_shape);
  const ValueMessage named =
      kind_of(Bytes().message(1, Bytes().message(2, Bytes()
                                                        .message(1, Bytes().number(1, 5).text(2, "N"))
                                                        .message(1, Bytes())
                                                        .message(1, Bytes().text(2, "N").number(1, 5)))));
  ASSERT_EQ(named.shape.size(), 3U);
  EXPECT_EQ(named.shape[0].name, "N");
  EXPECT_EQ(named.shape[0].size, -1);
  EXPECT_EQ(named.shape[1].size, -1);
  EXPECT_EQ(named.shape[2].size, 5);
}

TEST(Parse, SkipsUnknownFields) {
  Bytes bytes = small_model();
  bytes.number(500, 3).text(501, "\xFF").real(502, 1).text(1, "a text where a number belongs");
  EXPECT_EQ(parsed(bytes).ir_version, 8);
  EXPECT_EQ(message_of([] { parsed(std::string()); }), "cannot parse the bytes as an ONNX model: it has no ir_version");
}

TEST(Parse, RefusesCorruptBytes) {
  const std::string whole = small_model().data();
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string got = message_of([&] {
      ModelMessage part = parsed(whole.substr(0, length));
      inline_functions(part);
    });
    EXPECT_TRUE(got == "no error" || has(got, "cannot parse the bytes as an ONNX model: a field is longer") ||
                (length == 0 && has(got, "it has no ir_version")))
        << got;
    refused += got == "no error" ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) / 2);
  EXPECT_TRUE(has(message_of([] { parsed(std::string("\x0B")); }), "a field has an unknown wire type"));
  EXPECT_TRUE(has(message_of([] { parsed(std::string("\x00\x01", 2)); }), "a field has an invalid number"));
  EXPECT_TRUE(has(message_of([] { parsed(std::string(12, '\xFF')); }), "a number has more than 64 bits"));
  EXPECT_TRUE(has(message_of([] { parsed(model(Bytes().message(5, tensor("w", 1, {1}).text(4, "abc")))); }),
                  "a list of numbers has an invalid length"));
}

TEST(Parse, ChecksTexts) {
  for (const char* wrong :
       {"\xFF", "a\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_TRUE(find_wrong_utf8(wrong)) << wrong;
    EXPECT_TRUE(has(message_of([&] { parsed(model(Bytes().message(1, node("Neg", {wrong}, {"y"})))); }),
                    "a name or text in the model is not UTF-8: byte 0x"));
  }
  for (const char* right : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_FALSE(find_wrong_utf8(right)) << right;
  }
}

TEST(Parse, LimitsNesting) {
  const auto nested = [](int levels) {
    Bytes graph;
    graph.message(1, node("Neg", {"x"}, {"y"}));
    for (int i = 1; i < levels; ++i) {
      Bytes body = attribute("body", 5);
      body.message(6, graph);
      graph = Bytes().message(1, node("Loop", {}, {"y"}, "", {body}));
    }
    return model(graph);
  };
  EXPECT_EQ(message_of([&] { parsed(nested(100)); }), "no error");
  EXPECT_TRUE(has(message_of([&] { parsed(nested(101)); }), "nested more than 100 levels deep"));
  EXPECT_TRUE(has(message_of([&] { parsed(nested(3000)); }), "nested more than 100 levels deep"));
}

// ---- Sizes ----------------------------------------------------------------------------------------------------------

std::string tensor_error(const Bytes& bytes) {
  return message_of([&] {
    const ModelMessage whole = parsed(model(Bytes().message(5, bytes)));
    static_cast<void>(array_of(whole.graph.initializers[0], whole));
  });
}

TEST(Tensors, ChecksSizes) {
  const std::int64_t k40 = std::int64_t{1} << 40;
  const std::int64_t k62 = std::int64_t{1} << 62;
  EXPECT_EQ(tensor_error(raw_tensor<float>("w", 1, {k40}, {1, 2, 3, 4})),
            "tensor 'w': dims are [1099511627776], which need 4398046511104 bytes of raw_data; the model has 16");
  EXPECT_TRUE(
      has(tensor_error(tensor("w", 1, {k40, k40})), "which need 1208925819614629174706176 elements of float_data"));
  EXPECT_TRUE(has(tensor_error(tensor("w", 7, Sizes(50, k62))), "which need more than 10^38 elements of int64_data"));
  EXPECT_TRUE(has(tensor_error(tensor("w", 7, {0, k62, k62})), "expected sizes with a product of 2^62 at most"));
  EXPECT_TRUE(has(tensor_error(tensor("w", 7, {3}).numbers(7, {1, 2})),
                  "which need 3 elements of int64_data; the model has 2"));
  EXPECT_TRUE(has(tensor_error(raw_tensor<char>("w", 22, {k40}, {1})), "bytes of raw_data; the model has 1"));
  EXPECT_TRUE(
      has(tensor_error(tensor("w", 22, {4}).numbers(5, {1})), "which need 2 elements of int32_data; the model has 1"));
  EXPECT_EQ(tensor_error(tensor("w", 1, {-4})), "tensor 'w': dims are [-4]; expected 0 or more");
  EXPECT_EQ(tensor_error(tensor("w", 1, Sizes(70, 1))), "tensor 'w': dims are 70 numbers; expected 64 at most");
  EXPECT_TRUE(
      has(tensor_error(tensor("w", 99, {1})), "tensor 'w': data_type is 99; expected the number of one of ONNX's"));
  EXPECT_TRUE(has(tensor_error(tensor("w", -1, {1})), "data_type is -1"));
  EXPECT_EQ(tensor_error(tensor("w", 0, {1})), "tensor 'w': data_type is missing");
  EXPECT_TRUE(has(tensor_error(tensor("w", 1, {1}).reals(4, {1}).message(3, Bytes())), "segment"));
}

// ---- External data --------------------------------------------------------------------------------------------------

class External : public testing::Test {
 protected:
  External() {
    std::string pattern = testing::TempDir() + "anydml_model_XXXXXX";
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ / "m" / "sub");
    std::string bytes(64, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(i);
    }
    for (const char* name : {"w.bin", "m/w.bin", "m/sub/w.bin"}) {
      std::ofstream(root_ / name, std::ios::binary) << bytes;
    }
    std::ofstream(root_ / "m" / "empty").flush();
    std::filesystem::create_symlink("../w.bin", root_ / "m" / "link");
    std::filesystem::create_symlink("sub/w.bin", root_ / "m" / "inside");
    std::filesystem::create_symlink("loop", root_ / "m" / "loop");
    mkfifo((root_ / "m" / "pipe").c_str(), 0600);
  }
  ~External() override { std::filesystem::remove_all(root_); }

  using Entries = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] ModelMessage saved(const Entries& entries, int type = 1, const Sizes& dims = {4}) const {
    Bytes bytes = tensor("w", type, dims);
    bytes.number(14, 1);
    for (const auto& [key, text] : entries) {
      bytes.message(13, Bytes().text(1, key).text(2, text));
    }
    std::ofstream(root_ / "m" / "m.onnx", std::ios::binary)
        << model(Bytes().message(5, bytes).message(5, bytes)).data();
    return read_model((root_ / "m" / "m.onnx").string());
  }
  [[nodiscard]] std::string error(const Entries& entries, int type = 1, const Sizes& dims = {4}) const {
    const ModelMessage whole = saved(entries, type, dims);
    return message_of([&] { static_cast<void>(array_of(whole.graph.initializers[0], whole)); });
  }

  std::filesystem::path root_;
};

TEST_F(External, RefusesWrongPlaces) {
  const std::string nines(30, '9');
  EXPECT_TRUE(has(error({}), "tensor 'w': its external_data has no location; expected the name of a file next to"));
  EXPECT_TRUE(has(error({{"location", ""}}), "its external_data has no location"));
  EXPECT_TRUE(
      has(error({{"location", "w.bin"}, {"offset", "-4"}}), "offset is '-4' in its external_data; expected a number"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", "1e3"}}), "offset is '1e3'"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", ""}}), "offset is ''"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", std::string(5000, '9')}}), "offset is '99999"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", "52"}}),
                  "tensor 'w' needs 16 bytes at offset 52 of 'w.bin', which has 64"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", nines}}), "needs 16 bytes at offset " + nines));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"offset", std::string(90, '9')}}), "needs 16 bytes at offset 999"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"length", "-16"}}), "length is '-16'"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}, {"length", "012"}}),
                  "length is 12 in its external_data; expected 16, since dims are [4]"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}}, 1, {std::int64_t{1} << 62, std::int64_t{1} << 62}),
                  "needs 85070591730234615865843651857942052864 bytes at offset 0 of 'w.bin', which has 64"));
  EXPECT_TRUE(has(error({{"location", "/etc/passwd"}}), "is in '/etc/passwd', which is outside the model's folder"));
  EXPECT_TRUE(has(error({{"location", "../w.bin"}}), "is in '../w.bin', which is outside the model's folder"));
  EXPECT_TRUE(has(error({{"location", "../m2/w.bin"}}), "outside the model's folder"));
  EXPECT_TRUE(has(error({{"location", "sub/../../w.bin"}}), "outside the model's folder"));
  EXPECT_TRUE(has(error({{"location", "link"}}), "is in 'link', which is outside the model's folder"));
  EXPECT_TRUE(has(error({{"location", "loop"}}), "location is 'loop'"));
  EXPECT_TRUE(has(error({{"location", std::string("a\0b", 3)}}), "which is not a valid file name"));
  EXPECT_TRUE(has(error({{"location", std::string(5000, 'a')}}), "which is not a valid file name: File name too long"));
  EXPECT_TRUE(has(error({{"location", "pipe"}}), "location is 'pipe', but there is no such file next to the model"));
  EXPECT_TRUE(has(error({{"location", "sub"}}), "location is 'sub', but there is no such file next to the model"));
  EXPECT_TRUE(has(error({{"location", "none"}}), "location is 'none', but there is no such file next to the model"));
  EXPECT_TRUE(has(error({{"location", "w.bin/none"}}), "but there is no such file next to the model"));
  EXPECT_TRUE(has(error({{"location", "empty"}}), "needs 16 bytes at offset 0 of 'empty', which has 0"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}}, 16), "tensor 'w' has a type that anydml does not support"));
  EXPECT_TRUE(has(error({{"location", "w.bin"}}, 99), "data_type is 99"));
}

TEST_F(External, ReadsElements) {
  for (const char* name : {"w.bin", "sub/w.bin", "inside", "./sub/../w.bin"}) {
    for (const std::size_t offset : {0U, 4U, 3U}) {
      const ModelMessage whole = saved({{"location", name}, {"offset", std::to_string(offset)}, {"length", "16"}}, 6);
      const Array array = array_of(whole.graph.initializers[0], whole);
      const auto first = static_cast<std::int64_t>(offset);
      EXPECT_EQ(array.to_integers()[0], first + ((first + 1) << 8) + ((first + 2) << 16) + ((first + 3) << 24));
      if (offset == 0) {  // the second tensor is in the same mapping
        EXPECT_EQ(array_of(whole.graph.initializers[1], whole).data(), array.data());
      }
    }
  }
  const ModelMessage four = saved({{"location", "w.bin"}, {"offset", "15"}}, 21, {3});
  EXPECT_EQ(array_of(four.graph.initializers[0], four).to_integers(), (std::vector<std::int64_t>{15, 0, 0}));
  const ModelMessage none = saved({{"location", "w.bin"}, {"offset", "64"}}, 1, {0, 5});
  EXPECT_EQ(array_of(none.graph.initializers[0], none).count(), 0);
  ModelMessage nowhere = saved({{"location", "w.bin"}});
  nowhere.has_folder = false;
  EXPECT_TRUE(has(message_of([&] { static_cast<void>(array_of(nowhere.graph.initializers[0], nowhere)); }),
                  "is in a file that was not loaded; pass the path of the model"));
}

TEST_F(External, MapsFiles) {
  const auto reason = [](const std::filesystem::path& path) {
    return message_of([&] { static_cast<void>(read_model(path.string())); });
  };
  EXPECT_TRUE(has(reason(root_ / "none"), "none': No such file or directory"));
  EXPECT_TRUE(has(reason(root_ / "m"), "m': Is a directory"));
  EXPECT_TRUE(has(reason(root_ / "m" / "pipe"), "it is not a regular file"));
  EXPECT_TRUE(has(reason(root_ / "m" / "empty"), "it has no ir_version"));
  const std::string large(1 << 20, 'x');
  std::ofstream(root_ / "large", std::ios::binary) << large;
  const SharedFile file = mapped_file((root_ / "large").string());
  ASSERT_EQ(file->bytes().size(), large.size());
  EXPECT_EQ(mapped_file((root_ / "m" / ".." / "large").string()), file);  // models share a mapping
  release_pages(file->bytes().subspan(100));
  EXPECT_EQ(std::memcmp(file->bytes().data(), large.data(), large.size()), 0);
  release_pages(std::as_bytes(std::span(large)));  // not a file, so nothing changes
  EXPECT_EQ(large, std::string(1 << 20, 'x'));
  std::ofstream(root_ / "large", std::ios::binary) << "changed";
  EXPECT_EQ(mapped_file((root_ / "large").string())->bytes().size(), 7U);  // another version of the file
}

TEST_F(External, ReleasesPagesWhileOthersReadThem) {
  const std::string large(std::size_t{40} << 20, 'x');
  std::ofstream(root_ / "large", std::ios::binary) << large;
  const SharedFile file = mapped_file((root_ / "large").string());
  {
    const PageReleaser releaser({file->bytes().first(large.size() / 2), file->bytes().subspan(large.size() / 2)});
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(std::memcmp(file->bytes().data(), large.data(), large.size()), 0);
    }
  }
  EXPECT_EQ(std::memcmp(file->bytes().data(), large.data(), large.size()), 0);
}

// ---- Functions ------------------------------------------------------------------------------------------------------

// Functions that each call the previous one `times` times; the first one calls `first`, if it is given.
Bytes calls(int functions, int times, const std::string& first = {}) {
  std::vector<Bytes> all;
  for (int i = 0; i < functions; ++i) {
    const std::string called = i > 0 ? "f" + std::to_string(i - 1) : first;
    std::vector<Bytes> nodes;
    const int count = called.empty() ? 1 : times;
    for (int k = 0; k < count; ++k) {
      const std::string from = k == 0 ? "a" : "t" + std::to_string(k - 1);
      const std::string to = k == count - 1 ? "b" : "t" + std::to_string(k);
      nodes.push_back(called.empty() ? node("Neg", {from}, {to}) : node(called, {from}, {to}, "mine"));
    }
    all.push_back(function("f" + std::to_string(i), {"a"}, {"b"}, nodes));
  }
  Bytes graph;
  graph.message(1, node("f" + std::to_string(functions - 1), {"x"}, {"y"}, "mine"));
  return model(graph.message(11, value("x", 1, {2})).message(12, value("y", 1, {2})), all);
}

ModelMessage inlined(const Bytes& bytes) {
  ModelMessage whole = parsed(bytes);
  inline_functions(whole);
  return whole;
}

TEST(Functions, AreReplacedByTheirNodes) {
  const ModelMessage got = inlined(calls(8, 2));
  EXPECT_TRUE(got.functions.empty());
  ASSERT_EQ(got.graph.nodes.size(), 128U);
  std::string last = "x";
  std::set<std::string> names{last};
  for (const NodeMessage& one : got.graph.nodes) {
    EXPECT_EQ(one.op_type, "Neg");
    EXPECT_EQ(one.inputs, std::vector<std::string>{last});
    last = one.outputs[0];
    EXPECT_TRUE(names.insert(last).second) << last;
  }
  EXPECT_EQ(last, "y");
}

TEST(Functions, KeepAttributesAndGraphs) {
  const ModelMessage got = inlined(small_model());
  std::vector<std::string> ops;
  std::vector<const NodeMessage*> relus;
  for (const NodeMessage& one : got.graph.nodes) {
    ops.push_back(one.op_type);
    if (one.op_type == "LeakyRelu") {
      relus.push_back(&one);
    }
  }
  EXPECT_EQ(ops,
            (std::vector<std::string>{"Constant", "LeakyRelu", "If", "LeakyRelu", "If", "LeakyRelu", "If", "Squeeze"}));
  EXPECT_EQ(relus[0]->find("alpha")->f, 0.5F);
  EXPECT_TRUE(relus[0]->find("alpha")->ref_attr_name.empty());
  EXPECT_EQ(relus[1]->find("alpha"), nullptr);  // neither the call nor relu has a value
  const NodeMessage& branch = got.graph.nodes[2];
  EXPECT_EQ(branch.outputs[0], "y");
  const GraphMessage& body = *branch.find("then_branch")->g;
  EXPECT_EQ(body.nodes[0].inputs[0], got.graph.nodes[1].outputs[0]);
  EXPECT_EQ(body.outputs[0].name, body.nodes[0].outputs[0]);
}

TEST(Functions, UseDefaultsAndCopies) {
  Bytes alpha = attribute("alpha", 1);
  alpha.text(21, "slope");
  Bytes slope = attribute("slope", 1);
  slope.real(2, 0.25F);
  Bytes own = function("f", {"a", "o"}, {"b", "a", "b"}, {node("LeakyRelu", {"a", "o"}, {"b"}, "", {alpha})});
  own.message(11, slope);
  const ModelMessage got = inlined(model(Bytes().message(1, node("f", {"x"}, {"y", "same", "again"}, "mine")), {own}));
  ASSERT_EQ(got.graph.nodes.size(), 3U);
  EXPECT_EQ(got.graph.nodes[0].inputs, (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(got.graph.nodes[0].find("alpha")->f, 0.25F);
  EXPECT_EQ(got.graph.nodes[1].op_type, "Identity");
  EXPECT_EQ(got.graph.nodes[1].inputs[0], "x");
  EXPECT_EQ(got.graph.nodes[1].outputs[0], "same");
  EXPECT_EQ(got.graph.nodes[2].inputs[0], "y");
  EXPECT_EQ(got.graph.nodes[2].outputs[0], "again");
  EXPECT_TRUE(has(message_of([&] {
                    inlined(model(Bytes().message(1, node("f", {"x", "x", "x"}, {"y"}, "mine")), {own}));
                  }),
                  "f that computes 'y' has 3 inputs; expected 2 at most"));
}

TEST(Functions, DeclareAttributesWithoutDefaults) {
  Bytes own = function("f", {}, {"b"}, {node("Elu", {}, {"b"}, "", {attribute("alpha", 1).text(21, "slope")})});
  own.message(11, attribute("slope", 1)).message(11, attribute("sizes", 7));
  const ModelMessage read = parsed(model(Bytes(), {own}));
  ASSERT_EQ(read.functions[0].default_attributes.size(), 1U);  // an empty list is a value
  const ModelMessage got = inlined(model(Bytes().message(1, node("f", {}, {"y"}, "mine")), {own}));
  EXPECT_EQ(got.graph.nodes[0].find("alpha"), nullptr);
}

TEST(Functions, DoNotCaptureNames) {
  // The inner value is named like a value of the model, and so is the new name that would be tried first.
  const Bytes own =
      function("f", {"a"}, {"b"}, {node("Abs", {"a"}, {"t"}), node("Neg", {"t"}, {"b"}), node("Exp", {"u"}, {"v"})});
  Bytes graph;
  graph.message(1, node("Sin", {"x"}, {"t"}))
      .message(1, node("Cos", {"x"}, {"t__1"}))
      .message(1, node("Tan", {"x"}, {"u"}));
  graph.message(1, node("f", {"t"}, {"y"}, "mine"));
  const ModelMessage got = inlined(model(graph, {own}));
  const NodeMessage& abs = got.graph.nodes[3];
  EXPECT_EQ(abs.inputs[0], "t");
  EXPECT_NE(abs.outputs[0], "t");
  EXPECT_NE(abs.outputs[0], "t__1");
  EXPECT_EQ(got.graph.nodes[4].inputs[0], abs.outputs[0]);
  EXPECT_NE(got.graph.nodes[5].inputs[0], "u");
}

TEST(Functions, AreLimited) {
  EXPECT_EQ(
      message_of([] { inlined(calls(40, 2)); }),
      "function 'mine.f20' expands to 1048576 nodes once the functions that it calls are replaced by their nodes; "
      "expected 1000000 at most");
  EXPECT_EQ(message_of([] { inlined(calls(3, 1, "f2")); }),
            "function 'mine.f0' calls itself (mine.f0 calls mine.f2 calls mine.f1 calls mine.f0); expected functions "
            "without recursion");
  EXPECT_EQ(inlined(calls(9000, 1)).graph.nodes.size(), 1U);  // without recursion in the inliner
  // Calls of empty functions are counted by their bytes.
  std::vector<Bytes> empty{function("f0", {"a"}, {}, {})};
  for (int i = 1; i < 60; ++i) {
    const Bytes call = node("f" + std::to_string(i - 1), {"a"}, {}, "mine");
    empty.push_back(function("f" + std::to_string(i), {"a"}, {}, {call, call}));
  }
  EXPECT_TRUE(has(message_of([&] { inlined(model(Bytes().message(1, node("f59", {"x"}, {}, "mine")), empty)); }),
                  "bytes of nodes"));
}

TEST(Functions, LimitAttributesThatAreGraphs) {
  // Each function gives the next one a graph with two copies of the graph that it received.
  std::vector<Bytes> all{function("f0", {}, {"b"}, {node("If", {}, {"b"}, "", {attribute("g", 5).text(21, "g")})})};
  for (int i = 1; i < 60; ++i) {
    Bytes graph;
    graph.message(1, node("If", {}, {"c"}, "", {attribute("a", 5).text(21, "g"), attribute("b", 5).text(21, "g")}));
    Bytes given = attribute("g", 5);
    given.message(6, graph);
    all.push_back(
        function("f" + std::to_string(i), {}, {"b"}, {node("f" + std::to_string(i - 1), {}, {"b"}, "mine", {given})}));
  }
  Bytes last = attribute("g", 5);
  last.message(6, Bytes().message(1, node("Neg", {"x"}, {"y"})));
  EXPECT_TRUE(has(message_of([&] { inlined(model(Bytes().message(1, node("f59", {}, {"y"}, "mine", {last})), all)); }),
                  "the model's graph expands to"));
}

TEST(Functions, NeedTheModelsOpset) {
  const Bytes older = Bytes().text(1, "f").text(10, "mine").text(5, "b").message(9, opset("", 13));
  const Bytes call = Bytes().message(1, node("f", {}, {"y"}, "mine"));
  EXPECT_EQ(message_of([&] { inlined(model(call, {older})); }),
            "function 'mine.f' uses opset 13 of ONNX's operators, but the model uses opset 17; anydml supports only "
            "functions with the model's opset");
  EXPECT_EQ(message_of([&] { inlined(model(Bytes(), {older})); }), "no error");  // it is never called
  EXPECT_TRUE(has(message_of([&] { inlined(model(call, {older, older})); }), "two functions have the name 'mine.f'"));
  const ModelMessage got = inlined(Bytes().number(1, 8).message(7, call).message(25, older));
  ASSERT_EQ(got.opset_imports.size(), 1U);
  EXPECT_EQ(got.opset_imports[0].version, 13);
}

TEST(Labels, NameNodes) {
  NodeMessage one;
  one.op_type = "Conv";
  EXPECT_EQ(label_of(one), "Conv");
  one.outputs = {"y", "z"};
  EXPECT_EQ(label_of(one), "Conv that computes 'y, z'");
  one.outputs.assign(10, "y");
  EXPECT_EQ(label_of(one), "Conv that computes 'y, y, y, y, y, y, y, y' and 2 more");
  one.name = "n";
  EXPECT_EQ(label_of(one), "Conv 'n'");
}

}  // namespace
}  // namespace anydml::onnx
