// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_detect.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <amct/protobuf/record_writer.hpp>

#include <doctest/doctest.h>

#include "support/data.hpp"
#include "support/text_file.hpp"

namespace {

using amct::FloatStyle;
using amct::LayerRecord;
using amct::Record;
using amct::RecordDialect;
using amct::protobuf::detect_record;
using amct::protobuf::DetectedRecord;

DetectedRecord of_value(const std::string& fields) {
  return detect_record("record { key: 'a' value { " + fields + " } }");
}

DetectedRecord of_binary(const LayerRecord& layer, RecordDialect dialect) {
  return detect_record(amct::protobuf::record_text({layer}, {.dialect = dialect, .binary = true}));
}

}  // namespace

TEST_CASE("the dialect is the first that has every field, and the reason names what decided") {
  const DetectedRecord plain = of_value("scale_d: 1 offset_d: 0 scale_w: 1 offset_w: 0 skip_fusion: true");
  CHECK(plain.format.dialect == RecordDialect::pytorch);
  CHECK(plain.reason ==
        "of the dialects that have every field (pytorch, mindspore, tensorflow, hotwheels and caffe) it comes first");

  const DetectedRecord tensorflow = of_value("scale_d: 1 cluster: 1");
  CHECK(tensorflow.format.dialect == RecordDialect::tensorflow);
  CHECK(tensorflow.reason == "value.cluster occurs only in tensorflow");

  const DetectedRecord inputs = of_value("record_d { index: 0 }");
  CHECK(inputs.format.dialect == RecordDialect::hotwheels);
  CHECK(inputs.reason == "value.record_d occurs only in hotwheels and caffe-pico");

  CHECK(of_value("scale_d: 1 record_d { index: 0 }").format.dialect == RecordDialect::hotwheels);
  CHECK(of_value("centroids: 1").format.dialect == RecordDialect::hotwheels);
  CHECK(of_value("scale_d: 1 channels: 3").format.dialect == RecordDialect::caffe);
  CHECK(of_value("object_layer: 'x'").format.dialect == RecordDialect::caffe_pico);
  const DetectedRecord nested = of_value("record_d { index: 0 height: 3 }");
  CHECK(nested.format.dialect == RecordDialect::caffe_pico);
  CHECK(nested.reason.find("record_d.height occurs only in caffe-pico") != std::string::npos);
  CHECK(of_value("tensor_balance_factor: 1 act_type: 'INT8'").format.dialect == RecordDialect::pytorch);
  CHECK(detect_record("record { key: 'k' kv_cache_value { scale: 1 } }").reason ==
        "kv_cache_value occurs only in pytorch");
  CHECK(detect_record("prune_record { producer { name: 'a' } }").reason ==
        "of the dialects that have every field (pytorch and tensorflow) it comes first");
}

TEST_CASE("a file that no dialect fits gets the one that lacks least") {
  const DetectedRecord mixed = of_value("cluster: 1 num_bits_w: 4 params: 1 centroids: 1");
  CHECK(mixed.format.dialect == RecordDialect::hotwheels);
  CHECK(mixed.reason == "no dialect has every field of the file; hotwheels lacks the fewest");
  // What stands inside a message that a dialect lacks, it lacks too.
  CHECK(of_value("record_d { index: 0 new_field: 1 }").format.dialect == RecordDialect::hotwheels);
  CHECK(detect_record("nonsense").format.dialect == RecordDialect::pytorch);
  CHECK(detect_record("").format.dialect == RecordDialect::pytorch);
}

TEST_CASE("a dialect that is given is kept") {
  const DetectedRecord detected = detect_record("record { value { cluster: 1 } }", RecordDialect::mindspore);
  CHECK(detected.format.dialect == RecordDialect::mindspore);
  CHECK(detected.reason == "the dialect was given");
}

TEST_CASE("the style of floats is that of the texts that only one style writes") {
  CHECK(of_value("scale_d: 0.0798481479").format.float_style == FloatStyle::digits9);
  CHECK(of_value("scale_d: 1").format.float_style == FloatStyle::digits9);
  CHECK(of_value("scale_d: 1.0").format.float_style == FloatStyle::shortest);
  CHECK(of_value("scale_d: 0.5 scale_w: -0.25").format.float_style == FloatStyle::shortest);  // both write them so
  CHECK(of_value("scale_d: 0.5 offset_d: 1").format.float_style == FloatStyle::shortest);     // an integer says nothing
  CHECK(of_value("scale_d: 0.02029 scale_w: 0.07984815 scale_w: 1").format.float_style == FloatStyle::shortest);
  CHECK(of_value("centroids: -0.65496659").format.float_style == FloatStyle::shortest);  // %.8g, neither
  CHECK(of_value("scale_d: nan").format.float_style == FloatStyle::shortest);
}

TEST_CASE("binary files are told from text files, whatever the text begins with") {
  CHECK(of_binary({.name = "a", .scale_d = 1.0F}, RecordDialect::pytorch).format.binary);
  CHECK(of_binary({.name = "a"}, RecordDialect::pytorch).format.binary);
  // Lengths and names that look like text: 0x20 is a space, 0x0A and 0x0D are line ends.
  for (std::size_t length = 1; length < 200; ++length) {
    CAPTURE(length);
    CHECK(of_binary({.name = std::string(length, 'n'), .scale_d = 1.0F, .offset_d = -128}, RecordDialect::mindspore)
              .format.binary);
  }
  CHECK(detect_record("\x12\x05").format.binary);
  for (const char* text : {"", "\n", "\n\n", "\n\n\n\n\n\n\n\n\n\n\n\n", "\nrecord {}", "\n\nrecord {\n",
                           "\n \n\t\n\r\n", "\n# a\n\nrecord {\n  key: 'a'\n}\n", "hello", "\x01\x02"}) {
    CAPTURE(text);
    CHECK_FALSE(detect_record(text).format.binary);
  }
}

TEST_CASE("the dialect of a binary file follows from the types of its numbers") {
  const LayerRecord plain = {.name = "a", .scale_d = 0.5F, .offset_d = -1, .scale_w = {0.5F, 0.25F}};
  CHECK(of_binary(plain, RecordDialect::caffe).format.dialect == RecordDialect::pytorch);

  LayerRecord layer = plain;
  layer.tensor_balance_factor = {1.0F};
  CHECK(of_binary(layer, RecordDialect::pytorch).format.dialect == RecordDialect::pytorch);
  CHECK(of_binary(layer, RecordDialect::tensorflow).format.dialect == RecordDialect::tensorflow);

  LayerRecord image = plain;
  image.channels = 3;
  image.height = 4;
  const DetectedRecord caffe = of_binary(image, RecordDialect::caffe);
  CHECK(caffe.format.dialect == RecordDialect::caffe);
  CHECK(caffe.reason.find("number 7 of value as an integer occurs only in caffe") != std::string::npos);

  LayerRecord inputs = {
      .name = "a", .record_d = {{.scale_d = 0.5F, .offset_d = 1, .index = 0}}, .scale_w = {0.5F, 1.0F}};
  CHECK(of_binary(inputs, RecordDialect::hotwheels).format.dialect == RecordDialect::hotwheels);
  CHECK(of_binary(inputs, RecordDialect::caffe_pico).format.dialect == RecordDialect::caffe_pico);
  // Two weight scales with number 1 are no activation scale given twice.
  CHECK(of_binary({.name = "a", .scale_w = {0.5F, 1.0F}}, RecordDialect::caffe_pico).format.dialect ==
        RecordDialect::caffe_pico);
  // The old layout of hotwheels beside a field that others have not.
  const DetectedRecord old =
      detect_record(std::string_view("\x0A\x15\x0A\x01"
                                     "a\x12\x10\x0D\x00\x00\x00\x3F\x10\x01\x30\x04\x50\x05\x5D\x00\x00\x80\x3F",
                                     23));
  CHECK(old.format.dialect == RecordDialect::hotwheels);
}

TEST_CASE("only the beginning is looked at, and a word that its end cuts does not count") {
  std::string text;
  for (int i = 0; text.size() < amct::protobuf::kRecordDetectBytes; ++i) {
    text += "record { key: 'a" + std::to_string(i) + "' value { scale_d: 0.5 offset_d: 0 } }\n";
  }
  for (std::size_t shift = 1; shift < 80; ++shift) {
    const std::string shifted = std::string(shift, '\n') + text;
    const auto beginning = std::string_view(shifted).substr(0, amct::protobuf::kRecordDetectBytes);
    CHECK(detect_record(beginning).reason.find("no dialect") == std::string::npos);
  }
  CHECK(detect_record((text + "record { value { cluster: 1 } }").substr(0, amct::protobuf::kRecordDetectBytes))
            .format.dialect == RecordDialect::pytorch);
}

TEST_CASE("the samples of the documents are recognised") {
  const auto detected = [](const char* name) { return detect_record(support::read_text(support::seed(name))); };
  CHECK(detected("record_hotwheels.txt").format.dialect == RecordDialect::hotwheels);
  CHECK(detected("record_pytorch_quantize.txt").format.dialect == RecordDialect::pytorch);
  CHECK(detected("record_pytorch_quantize.txt").format.float_style == FloatStyle::digits9);
  CHECK(detected("record_tensorflow.txt").format.float_style == FloatStyle::digits9);
  CHECK(detected("record_mindspore.txt").format.float_style == FloatStyle::shortest);
}
