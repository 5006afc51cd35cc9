// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/npy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/half.hpp>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::ElementType;
using amct::Error;
using amct::ErrorCode;
using amct::Shape;
using amct::Tensor;

/// The bytes of an array as numpy lays them out, padding included.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string header = dictionary;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = std::string("\x93NUMPY") + version + '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  return text + header + data;
}

std::string dictionary(const std::string& type, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

Tensor read(const std::string& content) {
  const support::TempDir folder;
  support::write_text(folder / "x.npy", content);
  return amct::interop::read_npy(folder / "x.npy");
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// The message with which the content is refused as data.format.
std::string refusal(const std::string& content) {
  try {
    (void)read(content);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::data_format);
    CHECK(error.where().file.ends_with("x.npy"));
    return error.message();
  }
  return "accepted";
}

const std::vector<float> kSix = {1.0F, -2.0F, 3.5F, 0.0F, 1e-45F, 6.0F};

}  // namespace

TEST_CASE("an array of float32 is read with its shape") {
  const Tensor tensor = read(npy(dictionary("<f4", "(2, 3)"), bytes_of(kSix)));
  CHECK(tensor.type() == ElementType::float32);
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(values_of<float>(tensor) == kSix);
}

TEST_CASE("every element type of amct is read") {
  CHECK(values_of<double>(read(npy(dictionary("<f8", "(2,)"), bytes_of<double>({0.1, -2.0})))) ==
        std::vector<double>{0.1, -2.0});
  CHECK(values_of<std::int8_t>(read(npy(dictionary("|i1", "(2,)"), bytes_of<std::int8_t>({-128, 127})))) ==
        std::vector<std::int8_t>{-128, 127});
  CHECK(values_of<std::uint8_t>(read(npy(dictionary("|u1", "(1,)"), bytes_of<std::uint8_t>({255})))) ==
        std::vector<std::uint8_t>{255});
  CHECK(values_of<std::int32_t>(read(npy(dictionary("<i4", "(1,)"), bytes_of<std::int32_t>({-70000})))) ==
        std::vector<std::int32_t>{-70000});
  CHECK(values_of<std::int64_t>(read(npy(dictionary("<i8", "(1,)"), bytes_of<std::int64_t>({-5000000000})))) ==
        std::vector<std::int64_t>{-5000000000});
  CHECK(values_of<std::uint64_t>(read(npy(dictionary("<u8", "(1,)"), bytes_of<std::uint64_t>({1ULL << 63U})))) ==
        std::vector<std::uint64_t>{1ULL << 63U});
  CHECK(values_of<bool>(read(npy(dictionary("|b1", "(2,)"), std::string("\1\0", 2)))) ==
        std::vector<bool>{true, false});
  CHECK(values_of<std::int16_t>(read(npy(dictionary("<i2", "(1,)"), bytes_of<std::int16_t>({-300})))) ==
        std::vector<std::int16_t>{-300});
  CHECK(values_of<std::uint16_t>(read(npy(dictionary("<u2", "(1,)"), bytes_of<std::uint16_t>({65535})))) ==
        std::vector<std::uint16_t>{65535});
  CHECK(values_of<std::uint32_t>(read(npy(dictionary("<u4", "(1,)"), bytes_of<std::uint32_t>({1U << 31U})))) ==
        std::vector<std::uint32_t>{1U << 31U});
  CHECK(values_of<amct::Half>(read(npy(dictionary("<f2", "(1,)"), bytes_of<std::uint16_t>({0x3C00})))) ==
        std::vector<amct::Half>{amct::to_half(1.0F)});
}

TEST_CASE("scalars, empty arrays and many axes are read") {
  CHECK(read(npy(dictionary("<f4", "()"), bytes_of<float>({2.5F}))).shape() == Shape{});
  CHECK(read(npy(dictionary("<f4", "(0,)"), "")).shape() == Shape{0});
  CHECK(read(npy(dictionary("<f4", "(2, 0, 3)"), "")).size() == 0);
  CHECK(read(npy(dictionary("<f4", "(1, 1, 6, 1)"), bytes_of(kSix))).shape() == Shape{1, 1, 6, 1});
}

TEST_CASE("versions 1 to 3 are read") {
  for (const char version : {'\1', '\2', '\3'}) {
    CHECK(values_of<float>(read(npy(dictionary("<f4", "(6,)"), bytes_of(kSix), version))) == kSix);
  }
}

TEST_CASE("a version that is not known is refused") {
  CHECK(refusal(npy(dictionary("<f4", "(6,)"), bytes_of(kSix), '\4')) != "accepted");
  CHECK(refusal(npy(dictionary("<f4", "(6,)"), bytes_of(kSix), '\0')) != "accepted");
}

TEST_CASE("files that are no arrays are refused") {
  CHECK(refusal("") == "is not a .npy file");
  CHECK(refusal("\x93NUMP") == "is not a .npy file");
  CHECK(refusal("PK\3\4 something else") == "is not a .npy file");
}

TEST_CASE("a file cut off anywhere is refused") {
  const std::string whole = npy(dictionary("<f4", "(6,)"), bytes_of(kSix));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    REQUIRE(refusal(whole.substr(0, size)) != "accepted");
  }
}

TEST_CASE("broken headers are refused") {
  CHECK(refusal(npy("", bytes_of(kSix))) == "has a broken header");
  CHECK(refusal(npy("{'descr': '<f4', 'fortran_order': False, }", bytes_of(kSix))) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(6"), bytes_of(kSix))) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(-6,)"), bytes_of(kSix))) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(six,)"), bytes_of(kSix))) == "has a broken header");
  CHECK(refusal(npy("{'fortran_order': False, 'shape': (6,), }", bytes_of(kSix))) ==
        "has an element type that is not supported");
  CHECK(refusal(npy("{'descr': '<f4', 'shape': (6,), }", bytes_of(kSix))) != "accepted");
}

TEST_CASE("sizes beyond all memory are refused before anything is allocated") {
  CHECK(refusal(npy(dictionary("<f4", "(9223372036854775807,)"), "")) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(99999999999999999999,)"), "")) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(4294967296, 4294967296)"), "")) == "has a broken header");
  CHECK(refusal(npy(dictionary("<f4", "(1099511627776,)"), "")) == "has 0 bytes of data, expected 4398046511104");
}

TEST_CASE("element types that amct does not have are refused") {
  for (const char* type : {">f4", ">i2", "<f1", "<c8", "|O", "<U5"}) {
    CAPTURE(type);
    CHECK(refusal(npy(dictionary(type, "(6,)"), bytes_of(kSix))) == "has an element type that is not supported");
  }
}

TEST_CASE("Fortran order is refused") {
  CHECK(refusal(npy(dictionary("<f4", "(2, 3)", "True"), bytes_of(kSix))) == "is in Fortran order, expected C order");
}

TEST_CASE("data of another size than the shape says are refused") {
  CHECK(refusal(npy(dictionary("<f4", "(7,)"), bytes_of(kSix))) == "has 24 bytes of data, expected 28");
  CHECK(refusal(npy(dictionary("<f4", "(5,)"), bytes_of(kSix))) == "has 24 bytes of data, expected 20");
}

TEST_CASE("a missing file and a folder are io.read errors") {
  const support::TempDir folder;
  for (const auto& path : {folder / "none.npy", folder.path()}) {
    try {
      (void)amct::interop::read_npy(path);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_read);
      CHECK(error.where().file == path.string());
    }
  }
}

TEST_CASE("what is written is numpy's own layout, and is read back") {
  std::ostringstream file;
  amct::interop::write_npy(file, Tensor(Shape{2, 3}, std::span<const float>(kSix)));
  CHECK(file.str() == npy(dictionary("<f4", "(2, 3)"), bytes_of(kSix)));
  std::ostringstream one_axis;
  amct::interop::write_npy(one_axis, Tensor(Shape{6}, std::span<const float>(kSix)));
  CHECK(one_axis.str() == npy(dictionary("<f4", "(6,)"), bytes_of(kSix)));

  for (const auto& shape : {Shape{}, Shape{0}, Shape{1}, Shape{2, 0, 3}, Shape(std::vector<std::int64_t>(32, 1))}) {
    for (const auto& known : amct::interop::detail::kNpyTypes) {
      CAPTURE(known.code);
      Tensor tensor(known.type, shape);
      for (auto& byte : tensor.raw()) byte = std::byte{1};
      std::ostringstream written;
      amct::interop::write_npy(written, tensor);
      const Tensor back = read(written.str());
      CHECK(back.type() == known.type);
      CHECK(back.shape() == shape);
      CHECK(std::equal(back.raw().begin(), back.raw().end(), tensor.raw().begin()));
    }
  }
}

TEST_CASE("npy: rows of a file are read where they are") {
  const support::TempDir folder;
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  support::write_text(folder / "x.npy", npy(dictionary("<f4", "(4, 2, 3)"), bytes_of(values)));
  amct::interop::NpyFile file(folder / "x.npy");
  CHECK(file.rows() == 4);
  CHECK(file.shape() == Shape{4, 2, 3});
  CHECK(file.type() == ElementType::float32);
  CHECK(values_of<float>(file.read_rows(2, 2)) == std::vector<float>(values.begin() + 12, values.end()));
  CHECK(file.read_rows(0, 1).shape() == Shape{1, 2, 3});
  CHECK(values_of<float>(file.read_rows(1, 1)) == std::vector<float>{6, 7, 8, 9, 10, 11});
  CHECK(values_of<float>(file.read()) == values);
  support::write_text(folder / "scalar.npy", npy(dictionary("<f4", "()"), bytes_of(std::vector<float>{3})));
  CHECK(amct::interop::NpyFile(folder / "scalar.npy").rows() == 0);
}
