// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/run_command.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

const std::string kTests = std::string(AMCT_EXAMPLE_DATA) + "/../../tests";
const std::string kGolden = kTests + "/golden/e2e/ptq_a_default";
const std::string kSeeds = kTests + "/data/seeds";

const std::string kConv1 =
    "record {\n"
    "  key: \"conv1\"\n"
    "  value {\n"
    "    scale_d: 0.5\n"
    "    offset_d: -3\n"
    "    scale_w: 0.25\n"
    "    scale_w: 1.0\n"
    "    offset_w: 0\n"
    "    offset_w: 0\n"
    "    act_type: \"INT16\"\n"
    "    wts_type: \"INT8\"\n"
    "  }\n"
    "}\n";

class RecordFixture {
 public:
  support::TempDir work;

  RecordFixture() { write("a.txt", kConv1); }

  void write(const std::string& name, const std::string& text) const { support::write_text(work / name, text); }
  [[nodiscard]] std::string read(const std::string& name) const { return support::read_text(work / name); }
  [[nodiscard]] support::CommandResult record(std::vector<std::string> arguments,
                                              const std::string& environment = "") const {
    arguments.insert(arguments.begin(), "record");
    return support::run_command(work.path(), AMCT_RUNNER, arguments, environment);
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(RecordFixture, "show prints a table that a person can read") {
  const auto result = record({"show", "a.txt"});
  CHECK(result.exit_code == 0);
  CHECK(result.output ==
        "  layer  type     input  scale_d  offset_d  range                    bits   channels    scale_w\n"
        "  -----  -------  -----  -------  --------  -----------------------  -----  ----------  ---------\n"
        "  conv1  weights  0      0.5      -3        [-1.638e+04, 1.638e+04]  A16W8  2 (1 dead)  0.25 .. 1\n"
        "\n"
        "a.txt: pytorch, text (of the dialects that have every field (pytorch and tensorflow) it comes first)\n");
}

TEST_CASE_FIXTURE(RecordFixture, "show has a line an input, and tables of KV caches and prune records") {
  write("b.txt",
        read("a.txt") +
            "record {\n  key: \"k\"\n  kv_cache_value {\n    scale: 0.5\n    scale: 0.25\n    offset: -3\n"
            "    offset: 4\n  }\n}\n"
            "prune_record {\n  producer {\n    name: \"conv1\"\n    attr {\n      name: \"begin\"\n"
            "      type: INT\n      i: 0\n    }\n    attr {\n      name: \"end\"\n      type: INT\n      i: 8\n"
            "    }\n  }\n  consumer {\n    name: \"conv2\"\n  }\n}\n");
  const auto result = record({"show", "b.txt"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "  KV cache of  channels  scale        offset\n"));
  CHECK(contains(result.output, "  k            2         0.25 .. 0.5  -3 .. 4\n"));
  CHECK(contains(result.output, "  conv1   conv2    0 .. 7\n"));
  CHECK(contains(result.output, "kv_cache_value occurs only in pytorch"));

  const auto several = record({"show", kSeeds + "/record_hotwheels.txt"});
  CHECK(several.exit_code == 0);
  CHECK(contains(several.output, "non-uniform"));
  CHECK(contains(several.output, "A8W4"));
  CHECK(contains(several.output, "hotwheels, text"));
}

TEST_CASE_FIXTURE(RecordFixture, "show fits the terminal and keeps it whole") {
  const std::string name = "backbone." + std::string(120, 'x') + ".层.conv";
  write("long.txt", replaced(kConv1, "conv1", name) + replaced(kConv1, "conv1", "a\\n\\033[31m"));
  const auto narrow = record({"show", "long.txt"}, "COLUMNS=120");
  CHECK(narrow.exit_code == 0);
  CHECK(contains(narrow.output, "…"));
  CHECK(contains(narrow.output, "a\\n\\x1b[31m"));
  CHECK_FALSE(contains(narrow.output, name));
  CHECK(contains(record({"show", "long.txt", "--wide"}, "COLUMNS=120").output, name));
  CHECK(contains(record({"show", "long.txt"}).output, name));  // no terminal: nothing is cut
}

TEST_CASE_FIXTURE(RecordFixture, "show with the model names the types of layers") {
  const auto result = record({"show", kGolden + "/record.txt", "--model", kGolden + "/float.onnx"});
  CHECK(result.exit_code == 0);
  for (const char* type : {"Conv2d", "AvgPool2d", "Linear"}) CHECK(contains(result.output, type));
}

TEST_CASE_FIXTURE(RecordFixture, "check accepts what AMCT wrote") {
  const auto result = record({"check", kGolden + "/record.txt", "--model", kGolden + "/float.onnx"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "5 layers, 0 errors, 0 warnings; flavour pytorch; pytorch, text"));
}

TEST_CASE_FIXTURE(RecordFixture, "K9: check accepts the samples of every document under its flavour") {
  const std::pair<const char*, const char*> samples[] = {
      {"record_mindspore.txt", "mindspore"},      {"record_tensorflow.txt", "tensorflow"},
      {"record_pytorch_quantize.txt", "pytorch"}, {"record_pytorch_balance.txt", "pytorch"},
      {"record_pytorch_prune.txt", "pytorch"},    {"record_pytorch_selective.txt", "pytorch"},
      {"record_hotwheels.txt", "hotwheels"},      {"record_hotwheels.txt", "hotwheels-dynamic"}};
  for (const auto& [file, flavour] : samples) {
    const auto result = record({"check", kSeeds + '/' + file, "--flavour", flavour});
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.output, std::string("0 errors, 0 warnings; flavour ") + flavour));
  }
}

TEST_CASE_FIXTURE(RecordFixture, "check lists all that is wrong, with place, value and what is allowed") {
  std::string text = replaced(kConv1, "scale_d: 0.5", "scale_d: 0.0");
  text = replaced(text, "scale_w: 1.0", "scale_w: nan");
  text = replaced(text, "INT16", "FP16");
  write("bad.txt", text + "record {\n  value {\n    scale_d: 1.0\n  }\n}\n" + kConv1);
  const auto result = record({"check", "bad.txt"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output,
                 "error: amct: [record.value] bad.txt:4:5 layer \"conv1\" scale_d: got 0.0, expected a finite scale "
                 "above 0\n"
                 "error: amct: [record.value] bad.txt:7:5 layer \"conv1\" scale_w[1]: got nan, expected a finite scale "
                 "above 0\n"
                 "error: amct: [record.value] bad.txt:10:5 layer \"conv1\" act_type: got \"FP16\", expected INT4, INT8 "
                 "or INT16\n"));
  CHECK(contains(result.output, "bad.txt:14:1"));
  CHECK(contains(result.output, "bad.txt:20:3 layer \"conv1\" key: is given a second time"));
  CHECK(contains(result.output, "2 layers, 5 errors, 0 warnings"));
}

TEST_CASE_FIXTURE(RecordFixture, "check with the model refuses unknown layers and wrong numbers of channels") {
  write("b.txt", kConv1 + replaced(kConv1, "conv1", "conv9"));
  const auto result = record({"check", "b.txt", "--model", kGolden + "/float.onnx"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "scale_w: got 2 values, expected 1 or 8: one, or one an output channel"));
  CHECK(contains(result.output, "layer \"conv9\" key: the network has no layer of this name, did you mean \"conv1\""));
}

TEST_CASE_FIXTURE(RecordFixture, "K1: check obeys the flavour") {
  write("shift.txt", replaced(replaced(kConv1, "    act_type: \"INT16\"\n    wts_type: \"INT8\"\n", ""),
                              "    offset_w: 0\n  }", "    offset_w: 0\n    shift_bit: 1\n  }"));
  CHECK(contains(record({"check", "shift.txt"}).output, "flavour pytorch has no shift_bit"));
  CHECK(record({"check", "shift.txt", "--flavour", "hotwheels"}).exit_code == 0);
  const auto wrong = record({"check", "a.txt", "--flavour", "mindspore"});
  CHECK(wrong.exit_code == 1);
  CHECK(contains(wrong.output, "act_type: is not known in a record of dialect mindspore"));
  CHECK(record({"check", "a.txt", "--flavour", "caffee"}).exit_code == 2);
  CHECK(record({"check", "a.txt", "--dialect", "onnx"}).exit_code == 2);
}

TEST_CASE_FIXTURE(RecordFixture, "K47: check warns of 2:4 sparsity on tensorflow's hardware") {
  const auto result = record({"check", kSeeds + "/record_pytorch_selective.txt", "--flavour", "tensorflow"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "warning: amct: [record.value]"));
  CHECK(contains(result.output, "0 errors, 1 warning;"));
}

TEST_CASE_FIXTURE(RecordFixture, "files that are no records are refused by every verb") {
  write("empty.txt", "");
  write("garbage.txt", "this is no record");
  for (const char* verb : {"show", "check", "stats"}) {
    CAPTURE(verb);
    CHECK(record({verb, "missing.txt"}).exit_code == 1);
    CHECK(contains(record({verb, "empty.txt"}).output, "has no entry"));
    const auto result = record({verb, "garbage.txt"});
    CHECK(result.exit_code == 1);
    CHECK(contains(result.output, "[record.syntax] garbage.txt:1:"));
  }
  CHECK(record({"diff", "a.txt", "garbage.txt"}).exit_code == 1);
  CHECK(record({"convert", "garbage.txt", "--out", "o.txt"}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(work / "o.txt"));
}

TEST_CASE_FIXTURE(RecordFixture, "conversion there and back gives the same file") {
  CHECK(record({"convert", "a.txt", "--to", "hotwheels", "--out", "h.txt"}).exit_code == 0);
  CHECK(contains(read("h.txt"), "      num_bits_d: 16\n"));
  CHECK(record({"convert", "h.txt", "--binary", "--out", "h.bin"}).exit_code == 0);
  CHECK(record({"convert", "h.bin", "--to", "pytorch", "--text", "--out", "b.txt"}).exit_code == 0);
  CHECK(read("b.txt") == kConv1);
}

TEST_CASE_FIXTURE(RecordFixture, "a conversion that loses something is an error that lists it") {
  const auto refused = record({"convert", "a.txt", "--to", "mindspore", "--out", "m.txt"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.output,
                 "error: amct: [record.value] a.txt:10:5 layer \"conv1\" act_type: got \"INT16\", which dialect "
                 "mindspore cannot hold"));
  CHECK(contains(refused.output, "mindspore cannot hold 1 value of this file"));
  CHECK_FALSE(std::filesystem::exists(work / "m.txt"));
  const auto allowed = record({"convert", "a.txt", "--to", "mindspore", "--out", "m.txt", "--allow_loss"});
  CHECK(allowed.exit_code == 0);
  CHECK(contains(allowed.output, "warning: amct: [record.value] a.txt:10:5"));
  CHECK(contains(allowed.output, "m.txt: 1 entry written, mindspore, text; 1 value dropped"));
  CHECK(record({"check", "m.txt", "--flavour", "mindspore"}).exit_code == 0);
}

TEST_CASE_FIXTURE(RecordFixture, "a conversion that keeps nothing writes nothing") {
  write("kv.txt", "record {\n  key: \"k\"\n  kv_cache_value {\n    scale: 0.5\n    offset: 0\n  }\n}\n");
  const auto result = record({"convert", "kv.txt", "--to", "caffe", "--out", "o.txt", "--allow_loss"});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "dialect caffe can hold nothing of this file"));
}

TEST_CASE_FIXTURE(RecordFixture, "K10: conversion keeps the file's style of floats unless told otherwise") {
  CHECK(record({"convert", "a.txt", "--out", "b.txt"}).exit_code == 0);
  CHECK(read("b.txt") == kConv1);
  CHECK(record({"convert", "a.txt", "--out", "b.txt", "--float_style", "digits9"}).exit_code == 0);
  CHECK(read("b.txt") == replaced(kConv1, "scale_w: 1.0", "scale_w: 1"));
  CHECK(record({"convert", "b.txt", "--out", "c.txt"}).exit_code == 0);
  CHECK(read("c.txt") == read("b.txt"));
  CHECK(record({"convert", "a.txt", "--out", "b.txt", "--text", "--binary"}).exit_code == 2);
}

TEST_CASE_FIXTURE(RecordFixture, "unknown fields are refused, or kept and written again") {
  write("new.txt", replaced(kConv1, "    wts_type: \"INT8\"\n", "    wts_type: \"INT8\"\n    new_field: 1\n"));
  const auto refused = record({"convert", "new.txt", "--out", "o.txt"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.output, "[record.syntax] new.txt:12:5 layer \"conv1\" new_field"));
  CHECK(record({"convert", "new.txt", "--out", "o.txt", "--keep-unknown"}).exit_code == 0);
  CHECK(read("o.txt") == read("new.txt"));
}

TEST_CASE_FIXTURE(RecordFixture, "diff finds what differs, in ulp for floats") {
  write("b.txt", replaced(replaced(kConv1, "0.25", "0.25000003"), "offset_d: -3", "offset_d: 4"));
  CHECK(record({"diff", "a.txt", "a.txt"}).exit_code == 0);
  const auto result = record({"diff", "a.txt", "b.txt"});
  CHECK(result.exit_code == 1);
  CHECK(result.output ==
        "layer \"conv1\" offset_d -3 | 4\n"
        "layer \"conv1\" scale_w[0] 0.25 | 0.25000003 (1 ulp)\n"
        "1 layer compared, 2 differences, floats within 0 ulp count as equal\n");
  CHECK(contains(record({"diff", "a.txt", "b.txt", "--ulp", "1"}).output, "1 layer compared, 1 difference,"));
  write("c.txt", replaced(kConv1, "conv1", "conv2"));
  const auto other = record({"diff", "a.txt", "c.txt"});
  CHECK(other.exit_code == 1);
  CHECK(contains(other.output, "layer \"conv1\" present | absent"));
  CHECK(contains(other.output, "layer \"conv2\" absent | present"));
}

TEST_CASE_FIXTURE(RecordFixture, "stats counts layers, widths, scales and dead channels") {
  const auto result = record({"stats", "a.txt"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "a.txt: " + std::to_string(kConv1.size()) + " bytes; pytorch, text"));
  CHECK(contains(result.output, "; floats shortest"));
  CHECK(contains(result.output, "  inputs                           1 of 16 bits\n"));
  CHECK(contains(result.output, "  weights                          1 of 8 bits\n"));
  CHECK(contains(result.output, "  scale_w  2       0.25   0.25    1         0\n"));
  CHECK(contains(result.output, "  conv1  1     2\n"));
}

TEST_CASE_FIXTURE(RecordFixture, "every verb explains itself") {
  for (const char* verb : {"show", "check", "convert", "diff", "stats"}) {
    const auto result = record({verb, "--help"});
    CHECK(result.exit_code == 0);
    CHECK(contains(result.output, "--flavour"));
    CHECK(contains(record({"--help"}).output, std::string("  ") + verb + ' '));
  }
  CHECK(record({}).exit_code == 2);
  CHECK(record({"show"}).exit_code == 2);
}
