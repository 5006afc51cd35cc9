// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/dump_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::ElementType;
using amct::Error;
using amct::ErrorCode;
using amct::Shape;
using amct::Tensor;
using amct::interop::DumpFormat;
using amct::interop::kDumpFormats;

const std::vector<float> kSix = {1.0F, -2.0F, 3.5F, 0.0F, 1e-45F, 6.0F};

Tensor six() { return Tensor(Shape{2, 3}, std::span<const float>(kSix)); }

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() &&
         std::equal(a.raw().begin(), a.raw().end(), b.raw().begin(), b.raw().end());
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// A folder and the tests' way of reading files in it.
struct Folder {
  support::TempDir work;

  Tensor write_and_read(DumpFormat format, const Tensor& tensor) const {
    const auto file = work / (std::string("x.") + name_of(format));
    amct::interop::write_dump(file, format, tensor);
    return amct::interop::read_dump(file);
  }
  /// The message with which the file is refused as data.format.
  std::string refusal(const std::string& name, const std::string& content) const {
    support::write_text(work / name, content);
    try {
      (void)amct::interop::read_dump(work / name);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::data_format);
      CHECK(error.where().file.find(name) != std::string::npos);
      return error.message();
    }
    return "accepted";
  }
};

}  // namespace

TEST_CASE("formats have the names of the command line, which are the extensions too") {
  for (const auto format : kDumpFormats) {
    CHECK(amct::interop::dump_format_named(name_of(format)) == format);
    CHECK(amct::interop::dump_format_of(std::string("a.b.") + name_of(format)) == format);
  }
  CHECK(!amct::interop::dump_format_named("csv"));
  CHECK(!amct::interop::dump_format_of("npy"));
  CHECK(!amct::interop::dump_format_of("x.float.shape"));
  CHECK(!amct::interop::dump_format_of(""));
}

TEST_CASE_FIXTURE(Folder, "float32 comes back from every format with its shape") {
  for (const auto format : kDumpFormats) {
    CAPTURE(name_of(format));
    CHECK(same(write_and_read(format, six()), six()));
    CHECK(same(write_and_read(format, Tensor::scalar(2.5F)), Tensor::scalar(2.5F)));
    CHECK(write_and_read(format, Tensor(ElementType::float32, Shape{2, 0, 3})).shape() == Shape{2, 0, 3});
  }
}

TEST_CASE_FIXTURE(Folder, ".float holds the numbers alone, and the file beside it their shape") {
  amct::interop::write_dump(work / "x.float", DumpFormat::raw_float, six());
  CHECK(support::read_text(work / "x.float") == bytes_of(kSix));
  CHECK(support::read_text(work / "x.float.shape") == "2,3\n");
}

TEST_CASE_FIXTURE(Folder, ".bin has the header of the open AMCT") {
  amct::interop::write_dump(work / "x.bin", DumpFormat::amct, six());
  CHECK(support::read_text(work / "x.bin") == bytes_of<float>({0, 2, 2, 3}) + bytes_of(kSix));
  amct::interop::write_dump(work / "x.bin", DumpFormat::amct, Tensor::scalar(0.1));
  CHECK(support::read_text(work / "x.bin") == bytes_of<float>({1, 0}) + bytes_of<double>({0.1}));
}

TEST_CASE_FIXTURE(Folder, "formats that do not have a type use one that holds its values") {
  const Tensor codes =
      amct::cast(Tensor(Shape{2}, std::span<const float>(std::vector<float>{-128, 127})), ElementType::int8);
  CHECK(same(write_and_read(DumpFormat::npy, codes), codes));
  CHECK(same(write_and_read(DumpFormat::text, codes), codes));
  CHECK(same(write_and_read(DumpFormat::amct, codes), amct::cast(codes, ElementType::int32)));
  CHECK(same(write_and_read(DumpFormat::raw_float, codes), amct::cast(codes, ElementType::float32)));
  CHECK(write_and_read(DumpFormat::amct, Tensor::scalar(std::int64_t{1} << 40)).data<double>()[0] == 0x1p40);
  CHECK(write_and_read(DumpFormat::amct, Tensor::scalar(true)).data<std::int32_t>()[0] == 1);
  CHECK(write_and_read(DumpFormat::amct, Tensor::scalar(amct::to_half(0.5F))).data<float>()[0] == 0.5F);
}

TEST_CASE_FIXTURE(Folder, "a size that AMCT's header cannot hold is refused and leaves nothing") {
  CHECK_THROWS_WITH_AS(
      amct::interop::write_dump(work / "x.bin", DumpFormat::amct, Tensor(ElementType::int8, Shape{(1 << 24) + 1, 0})),
      doctest::Contains("16777217"), Error);
  CHECK(files_in(work.path()) == 0);
}

TEST_CASE_FIXTURE(Folder, "a file cut off anywhere is refused") {
  for (const auto format : kDumpFormats) {
    CAPTURE(name_of(format));
    const std::string name = std::string("x.") + name_of(format);
    amct::interop::write_dump(work / name, format, Tensor(Shape{2, 2}, std::span<const float>(kSix).first(4)));
    const std::string whole = support::read_text(work / name);
    const std::size_t most = format == DumpFormat::text ? whole.size() - 4 : whole.size();  // "0.0\n" may lose its end
    for (std::size_t size = format == DumpFormat::text ? 15 : 0; size < most; ++size) {
      CAPTURE(size);
      REQUIRE(refusal(name, whole.substr(0, size)) != "accepted");
    }
    REQUIRE(refusal(name, whole + "1 ") != "accepted");
  }
}

TEST_CASE_FIXTURE(Folder, "headers that cannot be true are refused before memory is taken") {
  const auto header = [](const std::vector<float>& numbers) { return bytes_of(numbers); };
  CHECK(refusal("x.bin", header({3, 1, 1, 0})) == "has type 3, expected 0 (float32), 1 (float64) or 2 (int32)");
  CHECK(refusal("x.bin", header({0, 33})) == "has rank 33, expected at most 32");
  CHECK(refusal("x.bin", header({0, 0.5F})).starts_with("has no rank at the start"));
  CHECK(refusal("x.bin", header({0, -1})).starts_with("has no rank at the start"));
  CHECK(refusal("x.bin", header({std::numeric_limits<float>::quiet_NaN(), 1})).starts_with("has no type"));
  CHECK(refusal("x.bin", header({0, 1, std::numeric_limits<float>::infinity()})).starts_with("has no size"));
  CHECK(refusal("x.bin", header({0, 1, 1e10F})).starts_with("has no size"));
  CHECK(refusal("x.bin", header({0, 3, 2e9F, 2e9F, 2e9F})).ends_with("at most 2^29 elements are read"));
  CHECK(refusal("x.bin", header({0, 1, 536870912.0F})) ==
        "has 0 bytes of data, expected 2147483648 for float32[536870912]");
  CHECK(refusal("x.bin", header({0, 2, 0, 2e9F, 1.0F})) == "has 4 bytes of data, expected 0 for float32[0,2000000000]");
}

TEST_CASE_FIXTURE(Folder, "a .float file without a shape is one axis, and its shape must fit") {
  support::write_text(work / "x.float", bytes_of(kSix));
  CHECK(amct::interop::read_dump(work / "x.float").shape() == Shape{6});
  CHECK(refusal("x.float", "12345") == "has 5 bytes of data, expected 4 for float32[1]");
  for (const char* text : {"2,3", "2,3 \r\n"}) {
    support::write_text(work / "x.float.shape", text);
    support::write_text(work / "x.float", bytes_of(kSix));
    CHECK(amct::interop::read_dump(work / "x.float").shape() == Shape{2, 3});
  }
  support::write_text(work / "x.float.shape", "2,4");
  CHECK(refusal("x.float", bytes_of(kSix)) == "has 24 bytes of data, expected 32 for float32[2,4]");
  for (const char* text : {"2,x", "-1", "1e3", "4294967296,4294967296", "9223372036854775807"}) {
    CAPTURE(text);
    support::write_text(work / "x.float.shape", text);
    CHECK(refusal("x.float", bytes_of(kSix)).starts_with("holds no shape"));
  }
}

TEST_CASE_FIXTURE(Folder, "extensions nobody knows are refused") {
  CHECK(refusal("x.csv", "1,2").starts_with("has an unknown extension"));
  CHECK(refusal("x", "1,2").starts_with("has an unknown extension"));
}

TEST_CASE_FIXTURE(Folder, "missing files and folders are io.read errors") {
  for (const auto format : kDumpFormats) {
    const std::string extension = std::string(".") + name_of(format);
    std::filesystem::create_directory(work / ("folder" + extension));
    for (const char* name : {"none", "folder"}) {
      try {
        (void)amct::interop::read_dump(work / (name + extension));
        FAIL("no error was thrown");
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io_read);
      }
    }
  }
}

TEST_CASE_FIXTURE(Folder, "a huge file is refused by its size") {
  for (const char* name : {"x.npy", "x.bin", "x.float"}) {
    support::write_text(work / name, "");
    std::filesystem::resize_file(work / name, std::uintmax_t{1} << 33);  // takes no room on the disk
    try {
      (void)amct::interop::read_dump(work / name);
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.message() == "has 8589934592 bytes, at most 4294967296");
    }
  }
}

TEST_CASE_FIXTURE(Folder, "what cannot be written is an io.write error and leaves nothing") {
  support::write_text(work / "blocker", "a file where a folder is needed");
  for (const auto format : kDumpFormats) {
    try {
      amct::interop::write_dump(work / (std::string("blocker/x.") + name_of(format)), format, six());
      FAIL("no error was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::io_write);
    }
  }
  CHECK(files_in(work.path()) == 1);
}

TEST_CASE_FIXTURE(Folder, "a file whose name leaves no room for that of a shape is one axis") {
  const auto file = work / (std::string(249, 'x') + ".float");
  support::write_text(file, bytes_of(kSix));
  CHECK(amct::interop::read_dump(file).shape() == Shape{6});
}
