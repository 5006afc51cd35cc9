// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/dump_folder.hpp>

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::Tensor;
using amct::interop::DumpEntry;
using amct::interop::DumpFolder;
using amct::interop::DumpFormat;
using amct::interop::DumpKind;
using amct::interop::DumpWriter;
using amct::interop::safe_file_name;

/// A folder for dumps.
struct Dump {
  support::TempDir work;
  std::filesystem::path folder = work / "dump";

  /// Dumps a number a layer and reads the folder.
  DumpFolder write(const std::vector<std::string>& layers, DumpFormat format = DumpFormat::npy) const {
    DumpWriter writer(folder, format);
    float value = 0.0F;
    for (const auto& layer : layers) writer.write({.layer = layer}, Tensor::scalar(value++));
    writer.finish();
    return DumpFolder(folder);
  }
  /// The message with which an index of these lines is refused.
  std::string refusal(const std::string& lines) const {
    std::filesystem::create_directories(folder);
    support::write_text(folder / "amct_dump.txt", "# amct dump 1\n" + lines);
    try {
      const DumpFolder read(folder);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::data_format);
      CHECK(error.where().file.ends_with("amct_dump.txt"));
      return std::to_string(error.where().line) + ": " + error.message();
    }
    return "accepted";
  }
};

}  // namespace

TEST_CASE("names of layers become names of files") {
  CHECK(safe_file_name("layer1.0.conv1") == "layer1.0.conv1");
  CHECK(safe_file_name("/layer1/layer1.0/conv1/Conv") == "layer1_layer1.0_conv1_Conv");
  CHECK(safe_file_name("../../etc/passwd") == "_.._.._etc_passwd");
  CHECK(safe_file_name("..") == "_..");
  CHECK(safe_file_name("") == "_");
  CHECK(safe_file_name("/") == "_");
  CHECK(safe_file_name("a b\tc\n\\d:e*") == "a_b_c__d_e_");
  CHECK(safe_file_name("卷积") == "卷积");
  CHECK(safe_file_name(std::string(1000, 'x')).size() == 160);
  CHECK(safe_file_name(std::string(159, 'x') + "é") == std::string(159, 'x'));
}

TEST_CASE_FIXTURE(Dump, "what was written is found by its name, in the order of the run, in every format") {
  for (const auto format : amct::interop::kDumpFormats) {
    CAPTURE(name_of(format));
    const std::vector<std::string> layers{"/b/Conv", "a", "tab\tnew\nline%41", "../up", "b_Conv"};
    const DumpFolder dump = write(layers, format);
    CHECK(dump.has_index());
    REQUIRE(dump.entries().size() == layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      CAPTURE(layers[i]);
      CHECK(dump.entries()[i].layer == layers[i]);
      const DumpEntry* found = dump.find({.layer = layers[i]});
      REQUIRE(found != nullptr);
      CHECK(dump.read(*found).data<float>()[0] == static_cast<float>(i));
      CHECK(std::filesystem::is_regular_file(folder / found->file));
    }
    CHECK(dump.find({.layer = "c"}) == nullptr);
  }
}

TEST_CASE_FIXTURE(Dump, "files are called as the open AMCT calls them") {
  CHECK(write({"conv1"}, DumpFormat::amct).entries()[0].file == "conv1_activation_batch0.bin");
}

TEST_CASE_FIXTURE(Dump, "names that would give one file get files of their own, the same in every batch") {
  DumpWriter writer(folder, DumpFormat::npy);
  const std::vector<std::string> layers{"a/b", "a:b", "A_B", "a_b~2"};
  for (std::size_t batch = 0; batch < 2; ++batch) {
    for (const auto& layer : layers) writer.write({.batch = batch, .layer = layer}, Tensor::scalar(1.0F));
    writer.write({.kind = DumpKind::codes, .batch = batch, .layer = "a/b"}, Tensor::scalar(1.0F));
    writer.write({.kind = DumpKind::output, .batch = batch, .layer = "a/b"}, Tensor::scalar(1.0F));
  }
  std::set<std::string> files;
  for (const auto& entry : writer.entries()) files.insert(entry.file);
  CHECK(files.size() == 12);
  CHECK(files.contains("a_b_activation_batch0.npy"));
  CHECK(files.contains("a_b~2_activation_batch1.npy"));
  CHECK(files.contains("A_B~3_activation_batch0.npy"));
  CHECK(files.contains("a_b_codes_batch1.npy"));
  CHECK(files.contains("a_b_output_batch1.npy"));
}

TEST_CASE_FIXTURE(Dump, "kinds, batches and second names are kept") {
  const std::vector<DumpEntry> entries{
      {.kind = DumpKind::codes, .batch = 3, .layer = "conv", .tensor = "conv.out", .file = "conv_codes_batch3.npy"},
      {.kind = DumpKind::output, .layer = "scores", .file = "scores_output_batch0.npy"}};
  DumpWriter writer(folder, DumpFormat::npy);
  for (const auto& entry : entries) writer.write(entry, Tensor::scalar(1.0F));
  writer.finish();
  const DumpFolder dump(folder);
  CHECK(dump.entries() == entries);
  CHECK(dump.find({.kind = DumpKind::codes, .batch = 3, .layer = "conv.out"}) == &dump.entries()[0]);
  CHECK(dump.find({.kind = DumpKind::codes, .batch = 3, .layer = "x", .tensor = "conv"}) == &dump.entries()[0]);
  CHECK(dump.find({.kind = DumpKind::activation, .batch = 3, .layer = "conv"}) == nullptr);
  CHECK(dump.find({.kind = DumpKind::codes, .batch = 0, .layer = "conv"}) == nullptr);
  CHECK(dump.find({.kind = DumpKind::activation, .layer = "scores"}) == &dump.entries()[1]);
}

TEST_CASE_FIXTURE(Dump, "a run that did not end has no index, also where an older one stood") {
  write({"a"});
  {
    DumpWriter writer(folder, DumpFormat::npy);
    writer.write({.layer = "b"}, Tensor::scalar(1.0F));
  }
  CHECK(!DumpFolder(folder).has_index());
}

TEST_CASE_FIXTURE(Dump, "a run that fails before its first tensor leaves an older dump whole") {
  write({"a"});
  { const DumpWriter writer(folder, DumpFormat::npy); }
  const DumpFolder dump(folder);
  CHECK(dump.has_index());
  CHECK(dump.find({.layer = "a"}) != nullptr);
}

TEST_CASE_FIXTURE(Dump, "a folder of another runtime is read by the names of its files") {
  std::filesystem::create_directories(folder / "sub.npy");
  for (const char* name : {"layer1_conv1_Conv.npy", "b_batch2.float", "c_codes_batch0.txt", "d_output.bin",
                           "x_batchy.npy", "_batch1.npy", "notes.md"}) {
    support::write_text(folder / name, "");
  }
  std::filesystem::create_symlink("gone", folder / "gone.npy");
  const DumpFolder dump(folder);
  CHECK(!dump.has_index());
  const std::vector<DumpEntry> expected{{.layer = "_batch1", .file = "_batch1.npy"},
                                        {.kind = DumpKind::codes, .layer = "c", .file = "c_codes_batch0.txt"},
                                        {.kind = DumpKind::output, .layer = "d", .file = "d_output.bin"},
                                        {.layer = "layer1_conv1_Conv", .file = "layer1_conv1_Conv.npy"},
                                        {.layer = "x_batchy", .file = "x_batchy.npy"},
                                        {.batch = 2, .layer = "b", .file = "b_batch2.float"}};
  CHECK(dump.entries() == expected);
  CHECK(dump.find({.layer = "/layer1/conv1/Conv"}) == &dump.entries()[3]);
}

TEST_CASE_FIXTURE(Dump, "a broken index is refused with its line") {
  CHECK(refusal("activation\t0\ta\t\ta.npy\n") == "accepted");
  CHECK(refusal("# comment\nactivation\t0\ta\n") == "3: expected five columns: kind, batch, layer, tensor and file");
  CHECK(refusal("weights\t0\ta\t\ta.npy\n") == "2: has kind \"weights\"");
  CHECK(refusal("activation\t-1\ta\t\ta.npy\n") == "2: has batch \"-1\", expected a number");
  CHECK(refusal("activation\t0\ta%4\t\ta.npy\n") == "2: has \"a%4\", expected two digits behind '%'");
  CHECK(refusal("activation\t0\ta%zz\t\ta.npy\n") == "2: has \"a%zz\", expected two digits behind '%'");
  support::write_text(folder / "amct_dump.txt", "hello");
  CHECK_THROWS_WITH_AS(DumpFolder{folder}, doctest::Contains("is no index of a dump"), Error);
}

TEST_CASE_FIXTURE(Dump, "an index cannot name a file outside its folder") {
  for (const char* file : {"../x.npy", "/etc/x.npy", "a/b.npy", "..", "", "..%2fx.npy", "a%00.npy"}) {
    CAPTURE(file);
    CHECK(refusal("activation\t0\ta\t\t" + std::string(file) + "\n").find("expected a file of this folder") !=
          std::string::npos);
  }
}

TEST_CASE_FIXTURE(Dump, "missing and empty folders are refused") {
  const auto code_of = [](const std::filesystem::path& path) {
    try {
      const DumpFolder read(path);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::numeric;
  };
  CHECK(code_of(work / "nowhere") == ErrorCode::io_read);
  CHECK(code_of(work.path()) == ErrorCode::data_empty);
  support::write_text(work / "file", "");
  CHECK(code_of(work / "file") == ErrorCode::io_read);
}

TEST_CASE_FIXTURE(Dump, "a folder that cannot be made is an io.write error") {
  support::write_text(work / "blocker", "a file where a folder is needed");
  try {
    const DumpWriter writer(work / "blocker/dump", DumpFormat::npy);
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::io_write);
  }
}
