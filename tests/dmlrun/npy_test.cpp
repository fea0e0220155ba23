// SPDX-License-Identifier: MIT
#include "npy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anydml::dmlrun {
namespace {

// A file of the given version, with this header text and this many bytes of data.
std::string file(std::string_view text, std::size_t data = 0, char version = 1) {
  std::string bytes("\x93NUMPY");
  bytes.append(1, version).append(1, '\0');
  for (std::size_t i = 0, length = text.size(); i < (version == 1 ? 2U : 4U); ++i, length >>= 8) {
    bytes.push_back(static_cast<char>(length & 0xff));
  }
  return bytes.append(text).append(data, '\0');
}

std::string described(std::string_view descr, std::string_view shape, std::string_view fortran = "False") {
  return std::string("{'descr': ")
      .append(descr)
      .append(", 'fortran_order': ")
      .append(fortran)
      .append(", 'shape': ")
      .append(shape)
      .append(", }\n");
}

Result<NpyHeader> read(const std::string& bytes) { return read_npy_header(bytes, bytes.size()); }

std::string error(const std::string& bytes) {
  const auto header = read(bytes);
  EXPECT_FALSE(header.ok()) << bytes;
  return header ? "" : header.error().message;
}

using Shape = std::vector<std::uint64_t>;

TEST(NpyHeader, IsMadeAsNumPyMakesIt) {
  // The expected headers were written with np.save in NumPy 1.24 and 2.4.
  const auto result = [](DataType type, const Shape& shape) { return make_npy_header(type, shape); };
  const auto padded = [](std::string text, std::size_t size) {
    return file(text.append(size - 10 - 1 - text.size(), ' ').append("\n"));
  };
  EXPECT_EQ(result(DataType::FLOAT32, {2, 3}),
            padded("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 128));
  EXPECT_EQ(result(DataType::INT8, {}), padded("{'descr': '|i1', 'fortran_order': False, 'shape': (), }", 128));
  EXPECT_EQ(result(DataType::UINT64, {0}), padded("{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }", 128));
  EXPECT_EQ(result(DataType::FLOAT16, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
            padded("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 3, 4, 5, 6, 7, 8, 9), }", 128));
  // This header needs exactly 128 bytes, including the space in which the first size can grow, but NumPy adds another
  // 64.
  EXPECT_EQ(
      result(DataType::FLOAT32, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100}),
      padded("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100), }", 192));
}

TEST(NpyHeader, ComesBack) {
  for (std::uint32_t value = 1; value < kDataTypeLimit; ++value) {
    const auto type = static_cast<DataType>(value);
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 7}, Shape(32, 1), Shape{1, 1, 1, 1, 5}}) {
      std::uint64_t bytes = element_size(type);
      for (const std::uint64_t size : shape) {
        bytes *= size;
      }
      const std::string result = make_npy_header(type, shape);
      const auto header = read_npy_header(result, result.size() + bytes);
      ASSERT_TRUE(header.ok()) << header.error().message;
      EXPECT_EQ(header.value().type, type);
      EXPECT_EQ(header.value().shape, shape);
      EXPECT_EQ(header.value().data_offset, result.size());
      EXPECT_EQ(header.value().data_offset % 64, 0U);
      EXPECT_EQ(header.value().data_bytes, bytes);
    }
  }
}

TEST(NpyHeader, IsReadInEveryVersionAndSpelling) {
  for (const char version : {'\x01', '\x02', '\x03'}) {
    const auto header = read(file(described("'<f4'", "(2, 3)"), 24, version));
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header.value().type, DataType::FLOAT32);
    EXPECT_EQ(header.value().shape, (Shape{2, 3}));
    EXPECT_EQ(header.value().data_bytes, 24U);
  }
  for (const char* text : {"{'descr':'<i2','fortran_order':False,'shape':(2,3)}",
                           "{\"shape\" : ( 2 ,3 , ) ,\n\t\"fortran_order\":\r False , \"descr\" : \"<i2\" , }  ",
                           " {'fortran_order': False, 'descr': '=i2', 'shape': (2,\n3,)}\n",
                           "{'descr': '|i2', 'fortran_order': False, 'shape': (2, 3), }"}) {
    const auto header = read(file(text, 12));
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header.value().type, DataType::INT16);
    EXPECT_EQ(header.value().shape, (Shape{2, 3}));
  }
}

TEST(NpyHeader, KnowsEveryType) {
  const struct {
    const char* descr;
    DataType type;
  } known[] = {{"'<f2'", DataType::FLOAT16}, {"'<f4'", DataType::FLOAT32}, {"'<f8'", DataType::FLOAT64},
               {"'<i1'", DataType::INT8},    {"'|i1'", DataType::INT8},    {"'>i1'", DataType::INT8},
               {"'<i2'", DataType::INT16},   {"'<i4'", DataType::INT32},   {"'<i8'", DataType::INT64},
               {"'|u1'", DataType::UINT8},   {"'<u2'", DataType::UINT16},  {"'=u4'", DataType::UINT32},
               {"'<u8'", DataType::UINT64}};
  for (const auto& [descr, type] : known) {
    const auto header = read(file(described(descr, "()"), element_size(type)));
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(header.value().type, type);
    EXPECT_TRUE(header.value().shape.empty());
  }
}

TEST(NpyHeader, RefusesOtherElementsWithAdvice) {
  const auto refused = [](const char* descr) { return error(file(described(descr, "(1,)"), 4)); };
  EXPECT_EQ(refused("'>f4'"), "is big endian ('>f4'); expected little endian, for example a.astype('<f4')");
  EXPECT_EQ(refused("'|b1'"), "holds bool elements ('|b1'); expected a number type, for example a.astype('|u1')");
  EXPECT_EQ(refused("'<c8'"),
            "holds complex elements ('<c8'); expected a real type: save a.real and a.imag separately");
  EXPECT_EQ(refused("'<U3'"), "holds strings ('<U3'); expected a number type, for example a.astype('<f4')");
  EXPECT_EQ(refused("'|S3'"), "holds strings ('|S3'); expected a number type, for example a.astype('<f4')");
  EXPECT_EQ(refused("'|O'"),
            "holds Python objects ('|O'), a pickle; expected a number type, for example a.astype('<f4') if each is "
            "a number");
  EXPECT_EQ(refused("'<M8[D]'"), "holds dates or times ('<M8[D]'); expected a number type, for example a.view('<i8')");
  EXPECT_EQ(refused("'|V2'"), "holds untyped bytes ('|V2'); expected a number type");
  EXPECT_EQ(refused("'<f16'"), "holds elements of type '<f16'; expected f2, f4, f8, i1 to i8 or u1 to u8");
  EXPECT_EQ(refused("'<f1'"), "holds elements of type '<f1'; expected f2, f4, f8, i1 to i8 or u1 to u8");
  for (const char* descr : {"''", "'f4'", "'f'", "'<F4'", "'<x4'", "'float32'", "'<\x1b'"}) {
    EXPECT_NE(refused(descr).find("', which is unknown; expected a type such as '<f4'"), std::string::npos) << descr;
  }
  for (const char* descr : {"[('a', '<f4')]", "('<f4', (2,))"}) {
    EXPECT_EQ(refused(descr),
              "holds structured elements; expected elements of one number type: save each field separately, "
              "np.save(file, a['field'])");
  }
}

TEST(NpyHeader, TakesFortranOrderThatMakesNoDifference) {
  for (const char* shape : {"()", "(6,)", "(1, 6)", "(6, 1, 1)"}) {
    EXPECT_TRUE(read(file(described("'|u1'", shape, "True"), shape[1] == ')' ? 1 : 6)).ok()) << shape;
  }
  EXPECT_TRUE(read(file(described("'|u1'", "(2, 0, 3)", "True"))).ok());
  EXPECT_EQ(error(file(described("'|u1'", "(2, 1, 3)", "True"), 6)),
            "is in Fortran order; expected C order, for example np.ascontiguousarray(a)");
}

TEST(NpyHeader, MustMatchTheFilesSize) {
  const std::string text = described("'<f4'", "(2, 3)");
  EXPECT_EQ(error(file(text, 10)), "holds 10 bytes of data; expected 24, 6 elements of FLOAT32");
  EXPECT_EQ(error(file(text, 25)), "holds 25 bytes of data; expected 24, 6 elements of FLOAT32");
  EXPECT_EQ(error(file(described("'<f4'", "(2, 0)"), 1)), "holds 1 bytes of data; expected 0, 0 elements of FLOAT32");
  // The start of a long file is enough.
  const std::string start = make_npy_header(DataType::FLOAT64, Shape{std::uint64_t{1} << 40});
  const auto header = read_npy_header(start, start.size() + (std::uint64_t{8} << 40));
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header.value().data_bytes, std::uint64_t{8} << 40);
}

TEST(NpyHeader, RefusesShapesBeyondCounting) {
  EXPECT_EQ(error(file(described("'<f4'", "(4294967296, 4294967296)"))),
            "has a shape whose byte count overflows 64 bits, (4294967296, 4294967296) of FLOAT32; expected one that "
            "fits in a file");
  EXPECT_EQ(
      error(file(described("'<f4'", "(4611686018427387904,)"))),
      "has a shape whose byte count overflows 64 bits, (4611686018427387904,) of FLOAT32; expected one that fits in "
      "a file");
  EXPECT_EQ(error(file(described("'|u1'", "(18446744073709551616,)"))),
            "has 18446744073709551616 in its shape; expected sizes of at most 18446744073709551615");
  EXPECT_TRUE(read(file(described("'<f4'", "(18446744073709551615, 18446744073709551615, 0)"))).ok());
  std::string ones = "(";
  for (int i = 0; i < 32; ++i) {
    ones.append("1,");
  }
  EXPECT_TRUE(read(file(described("'|u1'", ones + ")"), 1)).ok());
  EXPECT_EQ(error(file(described("'|u1'", ones + "1)"), 1)), "has more than 32 dimensions; expected at most 32");
}

TEST(NpyHeader, RefusesWhatIsNoHeader) {
  EXPECT_EQ(error(""), "is not a .npy file; expected \\x93NUMPY at its start");
  EXPECT_EQ(error("\x93NUMP"), "is not a .npy file; expected \\x93NUMPY at its start");
  EXPECT_EQ(error("PK\x03\x04 an .npz"), "is not a .npy file; expected \\x93NUMPY at its start");
  EXPECT_EQ(error(std::string("\x93NUMPY\x01\x01v\0", 10)), "has .npy version 1.1; expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(error(std::string("\x93NUMPY\x04\x00v\0", 10)), "has .npy version 4.0; expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(error(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "has a header of 4294967307 bytes; expected at most 65536");
  const std::string whole = make_npy_header(DataType::INT32, Shape{});
  for (std::size_t size = 6; size < whole.size(); ++size) {
    const std::string message = error(whole.substr(0, size));
    EXPECT_NE(message.find("holds " + std::to_string(size) + " bytes; expected at least "), std::string::npos)
        << message;
  }
}

TEST(NpyHeader, SaysWhereItIsNotUnderstood) {
  EXPECT_EQ(error(file("")), "has a header that ends early; expected '{'");
  EXPECT_EQ(error(file("[1]")), "has '[1]' at byte 10, in its header; expected '{'");
  EXPECT_EQ(error(file("{}")), "has a header without 'descr'; expected 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(error(file("{'descr': '<f4', 'fortran_order': False}")),
            "has a header without 'shape'; expected 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(error(file("{'descr': '<f4', 'descr': '<f4'}")),
            "has ''descr': '<f4'}' at byte 27, in its header; expected each of the keys 'descr', 'fortran_order' and "
            "'shape' once");
  EXPECT_EQ(error(file(described("'<f4'", "(3)"), 12)), "has (3) for a shape; expected a tuple, (3,)");
  EXPECT_EQ(error(file("{'fortran_order': 0}")), "has '0}' at byte 28, in its header; expected True or False");
  EXPECT_EQ(error(file(described("'<f4'", "()") + "x", 4)).substr(0, 4), "has ");
  for (const char* text : {"{",
                           "{,}",
                           "{'shape'}",
                           "{'shape':",
                           "{'shape': }",
                           "{'shape': [2]}",
                           "{'shape': (,)}",
                           "{'shape': (2 3)}",
                           "{'shape': (-1,)}",
                           "{'shape': (03,)}",
                           "{'shape': (2.0,)}",
                           "{'shape': (2,,)}",
                           "{'shape': (2,",
                           "{'shape': ()",
                           "{'descr': '<f4}",
                           "{'descr': '\\x3cf4'}",
                           "{'descr': None}",
                           "{'descr': '<f4\n'}",
                           "{'descr': '<f4\"}",
                           "{'descr' '<f4'}",
                           "{'other': 1}",
                           "{descr: '<f4'}",
                           "{'shape': () 'descr': '<f4'}",
                           "{'shape': (),, }",
                           "{'fortran_order': true}"}) {
    const std::string message = error(file(text));
    EXPECT_NE(message.find("; expected "), std::string::npos) << message;
  }
}

TEST(NpyExtension, IsTheNamesEnd) {
  EXPECT_TRUE(has_npy_extension("a.npy"));
  EXPECT_TRUE(has_npy_extension("a/b.c.NPY"));
  EXPECT_FALSE(has_npy_extension("a.npz"));
  EXPECT_FALSE(has_npy_extension("a.npy.bin"));
  EXPECT_FALSE(has_npy_extension("npy"));
  EXPECT_FALSE(has_npy_extension(""));
}

}  // namespace
}  // namespace anydml::dmlrun
