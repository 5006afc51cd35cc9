// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_file.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include <amct/protobuf/record_writer.hpp>

#include <doctest/doctest.h>

#include "support/data.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::LayerRecord;
using amct::Record;
using amct::RecordDialect;
using amct::RecordFile;
using amct::protobuf::read_record_file;

RecordFile read(const std::string& text) {
  const support::TempDir folder;
  support::write_text(folder / "record.txt", text);
  return read_record_file(folder / "record.txt");
}

std::string written(const RecordFile& file) {
  const support::TempDir folder;
  amct::protobuf::write_record_file(folder / "record.txt", file);
  return support::read_text(folder / "record.txt");
}

/// The lines without the white space around them: most documents print their samples without indentation.
std::string without_indentation(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) result += line.substr(begin, line.find_last_not_of(' ') - begin + 1) + '\n';
  }
  return result;
}

/// Reads a sample, checks that it is written as it is printed, and that this is read and written alike again.
RecordFile check_sample(const char* name) {
  CAPTURE(name);
  const RecordFile file = read_record_file(support::seed(name));
  const std::string text = written(file);
  CHECK(without_indentation(text) == without_indentation(support::read_text(support::seed(name))));
  CHECK(read(text) == file);
  CHECK(written(read(text)) == text);
  return file;
}

}  // namespace

TEST_CASE("S0: the MindSpore sample") {
  const RecordFile file = check_sample("record_mindspore.txt");
  REQUIRE(file.layers.size() == 3);
  CHECK(file.layers[0] ==
        LayerRecord{
            .name = "conv1", .scale_d = 0.020284997F, .offset_d = -8, .scale_w = {0.00039157062F}, .offset_w = {0}});
  CHECK(written(file) == support::read_text(support::seed("record_mindspore.txt")));  // printed with indentation
  CHECK(read_record_file(support::seed("record_mindspore.txt"), {.dialect = RecordDialect::mindspore}).layers ==
        file.layers);
}

TEST_CASE("S1: the TensorFlow sample") {
  const RecordFile file = check_sample("record_tensorflow.txt");
  REQUIRE(file.layers.size() == 3);
  CHECK(file.layers[1].name == "depthwise");
  CHECK(file.layers[1].skip_fusion == true);
  CHECK(file.layers[2].scale_w == std::vector<float>{0.00106807391F, 0.00104224426F, 0.0010603976F});
  CHECK(read_record_file(support::seed("record_tensorflow.txt"), {.dialect = RecordDialect::tensorflow}).layers ==
        file.layers);
}

TEST_CASE("S3: the quantization sample, transcribed without the line breaks that the page has inside its quotes (K9)") {
  const RecordFile file = check_sample("record_pytorch_quantize.txt");
  REQUIRE(file.layers.size() == 2);
  CHECK(file.layers[0] == LayerRecord{.name = "conv1",
                                      .scale_d = 0.0798481479F,
                                      .offset_d = 1,
                                      .scale_w = {0.00297622895F},
                                      .offset_w = {0},
                                      .skip_fusion = true,
                                      .dst_type = "INT8"});
}

TEST_CASE("S3: the quantization sample as printed is refused, as protobuf refuses it, and the place is named (K9)") {
  try {
    (void)read_record_file(support::seed("record_pytorch_quantize_as_printed.txt"));
    FAIL("a string across lines was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_syntax);
    CHECK(error.where().line == 2);
    CHECK(error.where().column == 7);
    CHECK(error.message() == "the text in quotes does not end on its line; a line break in it is written \\n");
  }
}

TEST_CASE("S3: the samples of balancing, pruning and 2:4 sparsity") {
  CHECK(check_sample("record_pytorch_balance.txt").layers[1].tensor_balance_factor ==
        std::vector<float>{1.04744744F, 1.44586647F});
  const RecordFile prune = check_sample("record_pytorch_prune.txt");
  REQUIRE(prune.prunes.size() == 1);
  CHECK(prune.prunes[0].producers[0].find("end")->i == 64);
  CHECK(prune.prunes[0].consumers[0].find("type")->s == "FusedBatchNormV3");
  CHECK(check_sample("record_pytorch_selective.txt").prunes[0].selective_prune->find("mask_shape")->ints ==
        std::vector<std::int64_t>{3, 3, 3, 32});
}

TEST_CASE(
    "S4: the hotwheels sample, both layouts in one file, with the braces that the guide prints in the next block "
    "(K9)") {
  const RecordFile file = read_record_file(support::seed("record_hotwheels.txt"));
  CHECK(file.format.dialect == RecordDialect::hotwheels);
  const Record expected = {{.name = "conv1",
                            .scale_d = 0.0798481479F,
                            .offset_d = 1,
                            .scale_w = {0.00297622895F},
                            .offset_w = {0},
                            .shift_bit = {1},
                            .skip_fusion = true},
                           {.name = "fc",
                            .record_d = {{.scale_d = 0.016266866F, .offset_d = -128, .index = 0, .num_bits_d = 8}},
                            .scale_w = {0.00089841383F},
                            .offset_w = {0},
                            .num_bits_w = 4,
                            .params = {-85, -59, -45},
                            .centroids = {-0.65496659F, -0.45462388F, -0.34674704F},
                            .weight_clip_max = 3.6236975F}};
  CHECK(file.layers == expected);
  // The sample mixes three styles of floats (K10), of which %.8g is lossy, so numbers come out in one: the shortest.
  CHECK(written(file) == R"(record {
  key: "conv1"
  value {
    scale_d: 0.07984815
    offset_d: 1
    scale_w: 0.002976229
    offset_w: 0
    shift_bit: 1
    skip_fusion: true
  }
}
record {
  key: "fc"
  value {
    record_d {
      scale_d: 0.016266866
      offset_d: -128
      index: 0
      num_bits_d: 8
    }
    scale_w: 0.0008984138
    offset_w: 0
    num_bits_w: 4
    params: -85
    params: -59
    params: -45
    centroids: -0.6549666
    centroids: -0.45462388
    centroids: -0.34674704
    weight_clip_max: 3.6236975
  }
}
)");
  CHECK(read(written(file)) == file);
}

TEST_CASE("the real AMCT's files are written back byte for byte") {
  int files = 0;
  for (const auto& run : std::filesystem::directory_iterator(support::golden() / "e2e")) {
    const auto path = run.path() / "record.txt";
    if (!std::filesystem::exists(path)) continue;
    CAPTURE(path.string());
    CHECK(written(read_record_file(path)) == support::read_text(path));
    ++files;
  }
  CHECK(files >= 13);
}

TEST_CASE("binary files are read and written back alike") {
  RecordFile file = read_record_file(support::golden() / "e2e/ptq_b_default/record.txt");
  file.format.binary = true;
  const std::string bytes = written(file);
  CHECK(read(bytes) == file);
  CHECK(written(read(bytes)) == bytes);
}

TEST_CASE("a layer given twice is refused where it stands again") {
  try {
    (void)read("record { key: 'a' value {} }\nrecord { key: 'b' value {} }\nrecord { key: 'a' value {} }");
    FAIL("the record was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::record_value);
    CHECK(error.where().layer == "a");
    CHECK(error.where().line == 3);
    CHECK(error.where().column == 10);
    CHECK(error.message() == "has more than one record");
  }
}

TEST_CASE("read_record gives the layers of the PyTorch dialect only") {
  const support::TempDir folder;
  support::write_text(folder / "r.txt", "record { key: 'a' value { scale_d: 1 } } prune_record {}");
  CHECK(amct::protobuf::read_record(folder / "r.txt") == Record{{.name = "a", .scale_d = 1.0F}});
  support::write_text(folder / "r.txt", "record { key: 'a' value { cluster: 1 } }");
  CHECK_THROWS_AS((void)amct::protobuf::read_record(folder / "r.txt"), Error);
}
