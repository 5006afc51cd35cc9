// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/external_data.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/graph_builder.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

using namespace amct;
using amct::onnx::ExternalData;
using support::error_of;
using support::TempDir;
using support::values;
using Proto = ::onnx::TensorProto;
using Entries = std::vector<std::pair<std::string, std::string>>;

namespace {

Proto external(const std::vector<std::int64_t>& dims, const Entries& entries, int type = Proto::UINT8) {
  Proto tensor;
  tensor.set_name("w");
  tensor.set_data_type(type);
  for (const auto dim : dims) tensor.add_dims(dim);
  tensor.set_data_location(Proto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return tensor;
}

/// A folder with a model's data file of the bytes "abcdefgh".
struct Folder {
  TempDir dir;
  ExternalData data{dir / "net.onnx"};
  Folder() { support::write_text(dir / "w.bin", "abcdefgh"); }

  void check_refused(const Proto& tensor, ErrorCode code, const std::string& message) {
    for (const bool read : {true, false}) {
      Proto copy = tensor;
      const auto error = error_of([&] {
        if (read) {
          (void)data.read(copy);
        } else {
          data.load(copy);
        }
      });
      REQUIRE(error);
      INFO(error->what());
      CHECK(error->code() == code);
      CHECK(error->where().tensor == "w");
      CHECK(support::contains(error->message(), message));
    }
  }
};

}  // namespace

TEST_CASE("Data are read from the range of their file") {
  Folder folder;
  using Bytes = std::vector<std::uint8_t>;
  const Entries range{{"location", "w.bin"}, {"offset", "2"}, {"length", "3"}, {"checksum", "anything"}};
  CHECK(values<std::uint8_t>(folder.data.read(external({3}, range))) == Bytes{'c', 'd', 'e'});
  CHECK(values<std::uint8_t>(folder.data.read(external({2, 1}, {{"location", "w.bin"}, {"offset", "6"}}))) ==
        Bytes{'g', 'h'});
  CHECK(folder.data.read(external({4, 1}, {{"location", "./w.bin"}}, Proto::INT16)).shape() == Shape{4, 1});
  CHECK(folder.data.read(external({0}, {{"location", "w.bin"}, {"length", "0"}})).size() == 0);
  CHECK(values<bool>(folder.data.read(external({8}, {{"location", "w.bin"}}, Proto::BOOL))) ==
        std::vector<bool>(8, true));
}

TEST_CASE("Folders below the model's are allowed, and a model in the current folder") {
  const Folder folder;
  std::filesystem::create_directories(folder.dir / "deep/er");
  support::write_text(folder.dir / "deep/er/v.bin", "xy");
  CHECK(ExternalData(folder.dir / "net.onnx").read(external({2}, {{"location", "deep/er/v.bin"}})).size() == 2);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.dir.path());
  CHECK(ExternalData("net.onnx").read(external({8}, {{"location", "w.bin"}})).size() == 8);
  std::filesystem::current_path(before);
}

TEST_CASE("Data inside the model are read as ever") {
  Folder folder;
  Proto tensor = external({1}, {});
  tensor.set_data_location(Proto::DEFAULT);
  tensor.set_raw_data("z");
  CHECK(values<std::uint8_t>(folder.data.read(tensor)) == std::vector<std::uint8_t>{'z'});
}

TEST_CASE("A location that leaves the folder is refused") {
  Folder folder;
  const TempDir elsewhere;
  support::write_text(elsewhere / "w.bin", "abcdefgh");
  std::filesystem::create_symlink(elsewhere.path(), folder.dir / "link");
  std::filesystem::create_symlink(folder.dir / "w.bin", folder.dir / "inside");
  const std::string inside = "must be given as a path inside the model's folder";
  const std::string climb = "../" + elsewhere.path().filename().string() + "/w.bin";
  for (const std::string& location :
       {std::string(), climb, std::string("a/../w.bin"), (elsewhere / "w.bin").string(), std::string("w.bin\0x", 7)}) {
    folder.check_refused(external({8}, {{"location", location}}), ErrorCode::model_corrupt, inside);
  }
  folder.check_refused(external({8}, {{"location", "link/w.bin"}}), ErrorCode::model_corrupt,
                       "its data file \"link/w.bin\" is a link that leaves the model's folder");
  CHECK(folder.data.read(external({8}, {{"location", "inside"}})).size() == 8);
}

TEST_CASE("Files that are missing or no files are refused with their name") {
  Folder folder;
  std::filesystem::create_directory(folder.dir / "sub");
  folder.check_refused(external({8}, {{"location", "gone.bin"}}), ErrorCode::io_read, "\"gone.bin\" cannot be read");
  folder.check_refused(external({8}, {{"location", "sub"}}), ErrorCode::io_read, "is not a regular file");
}

TEST_CASE("A range outside the file, or of another size than the tensor, is refused before memory is taken") {
  Folder folder;
  const auto corrupt = [&](const std::vector<std::int64_t>& dims, Entries entries, const std::string& message) {
    entries.emplace_back("location", "w.bin");
    folder.check_refused(external(dims, entries), ErrorCode::model_corrupt, message);
  };
  corrupt({1 << 30}, {}, "has 8 bytes for it at offset 0, expected 1073741824");
  corrupt({8}, {{"offset", "1"}}, "has 7 bytes for it at offset 1, expected 8");
  corrupt({9}, {{"length", "9"}}, "has 8 bytes for it at offset 0, expected 9");
  corrupt({2}, {{"length", "18446744073709551615"}}, "has 8 bytes for it");
  corrupt({1}, {{"offset", "9"}}, "has 8 bytes, less than the offset 9");
  corrupt({1}, {{"offset", "-1"}}, "has the offset \"-1\", expected a whole number");
  corrupt({1}, {{"length", "1x"}}, "has the length \"1x\", expected a whole number");
  corrupt({1}, {{"offset", "99999999999999999999"}}, "expected a whole number");
}

TEST_CASE("Small constants are loaded into the model, large ones stay where they are") {
  Folder folder;
  Proto small = external({8}, {{"location", "w.bin"}});
  folder.data.load(small);
  CHECK(small.raw_data() == "abcdefgh");
  CHECK(small.data_location() == Proto::DEFAULT);
  CHECK(small.external_data_size() == 0);
  CHECK(small.name() == "w");
  support::write_text(folder.dir / "large.bin", std::string(5000, 'a'));
  Proto large = external({5000}, {{"location", "large.bin"}});
  folder.data.load(large);
  CHECK(large.data_location() == Proto::EXTERNAL);
  CHECK(folder.data.read(large).size() == 5000);
}

TEST_CASE("A file cannot be read over and over again") {
  Folder folder;
  const Proto tensor = external({8}, {{"location", "w.bin"}});
  for (int i = 0; i < 4; ++i) CHECK(folder.data.read(tensor).size() == 8);
  CHECK(error_of([&] {
          for (int i = 0; i < 2; ++i) (void)folder.data.read(tensor);
        })->message() == "its data file \"w.bin\" is read more than 4 times over");
}
