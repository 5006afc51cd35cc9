// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/npz.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"
#include "support/zip_file.hpp"

namespace {

using amct::ElementType;
using amct::ErrorCode;
using amct::Shape;
using amct::Tensor;
using amct::interop::NpzFile;
using support::write_zip;

/// 0, 1, 2, ...
Tensor counting(Shape shape) {
  Tensor tensor(ElementType::float32, std::move(shape));
  float next = 0.0F;
  for (float& value : tensor.data<float>()) value = next++;
  return tensor;
}

std::string npy_bytes(const Tensor& tensor) {
  std::ostringstream out;
  amct::interop::write_npy(out, tensor);
  return out.str();
}

std::vector<float> numbers(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

/// The call must throw this code and name all that `part` holds.
template <class Call>
void check_refused(const Call& call, ErrorCode code, const std::string& part) {
  try {
    call();
    FAIL_CHECK("nothing was refused");
  } catch (const amct::Error& error) {
    const std::string what = error.what();
    CAPTURE(what);
    CHECK(error.code() == code);
    CHECK(error.where().file.ends_with("x.npz"));
    CHECK(what.find(part) != std::string::npos);
  }
}

struct Folder {
  support::TempDir folder;
  std::filesystem::path file = folder / "x.npz";
};

}  // namespace

TEST_CASE_FIXTURE(Folder, "npz: arrays are read whole and by rows, forwards and backwards, compressed or not") {
  const Tensor images = counting({6, 2, 3});
  const std::vector<std::int64_t> classes{7, -1};
  const Tensor labels(Shape{2}, std::span<const std::int64_t>(classes));
  for (const bool compressed : {false, true}) {
    CAPTURE(compressed);
    write_zip(file, {{"images.npy", npy_bytes(images)}, {"labels.npy", npy_bytes(labels)}}, compressed);
    NpzFile archive(file);
    REQUIRE(archive.arrays().size() == 2);
    const auto* array = archive.find("images");
    REQUIRE(array != nullptr);
    CHECK(array->shape == Shape{6, 2, 3});
    CHECK(array->type == ElementType::float32);
    CHECK(array->rows() == 6);
    CHECK(archive.find("images.npy") == nullptr);
    CHECK(numbers(archive.read(*array)) == numbers(images));
    for (const std::size_t first : {0, 1, 3, 5, 2, 0}) {
      const Tensor rows = archive.read_rows(*array, first, 1);
      CHECK(rows.shape() == Shape{1, 2, 3});
      CHECK(rows.data<float>()[0] == 6.0F * static_cast<float>(first));
    }
    CHECK(archive.read_rows(*array, 4, 2).data<float>()[11] == 35.0F);
    const Tensor read = archive.read(*archive.find("labels"));
    CHECK(read.data<std::int64_t>()[0] == 7);
    CHECK(read.data<std::int64_t>()[1] == -1);
  }
}

TEST_CASE_FIXTURE(Folder, "npz: scalars and empty arrays") {
  write_zip(file, {{"scalar.npy", npy_bytes(Tensor::scalar(2.5F))}, {"none.npy", npy_bytes(counting({0, 3}))}}, true);
  NpzFile archive(file);
  CHECK(archive.find("scalar")->rows() == 0);
  CHECK(archive.read(*archive.find("scalar")).data<float>()[0] == 2.5F);
  CHECK(archive.read(*archive.find("none")).size() == 0);
}

TEST_CASE_FIXTURE(Folder, "npz: what is no archive of arrays is refused with file and array") {
  const auto open = [&] { NpzFile archive(file); };
  check_refused(open, ErrorCode::io_read, "x.npz");
  support::write_text(file, "no archive at all");
  check_refused(open, ErrorCode::data_format, "is not a .npz file");
  write_zip(file, {{"notes.txt", "text"}}, false);
  check_refused(open, ErrorCode::data_format, "notes.txt");
  write_zip(file, {{"a.npy", "no array"}}, false);
  check_refused(open, ErrorCode::data_format, "is not a .npy file");
  const std::string whole = npy_bytes(counting({4}));
  for (const std::string& other : {whole.substr(0, whole.size() - 1), whole + "x"}) {
    write_zip(file, {{"a.npy", other}}, true);
    check_refused(open, ErrorCode::data_format, "expected 16 for float32[4]");
  }
}

TEST_CASE_FIXTURE(Folder, "npz: an array that claims more than it has takes no memory") {
  std::string huge = npy_bytes(counting({4}));
  const std::string shape = "(4,)";
  const std::size_t at = huge.find(shape);
  huge.replace(at, shape.size() + 12, "(1099511627776,)");
  write_zip(file, {{"a.npy", huge}}, true);
  check_refused([&] { NpzFile archive(file); }, ErrorCode::data_format, "expected 4398046511104");
}

TEST_CASE_FIXTURE(Folder, "npz: damaged data are found when they are read to their end") {
  write_zip(file, {{"a.npy", npy_bytes(counting({64}))}}, false);
  std::string bytes = support::read_text(file);
  const std::size_t data = bytes.find("\x93NUMPY") + 128;
  bytes[data + 200] = static_cast<char>(bytes[data + 200] ^ 1);
  support::write_text(file, bytes);
  NpzFile archive(file);
  check_refused([&] { (void)archive.read(archive.arrays()[0]); }, ErrorCode::data_format, "damaged");
}
