// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/dump_folder.hpp>

#include "onnx/model_builder.hpp"
#include "runner/runner_fixture.hpp"

namespace {

using amct::interop::DumpFolder;
using amct::interop::DumpKind;

/// Runs of the example network.
struct RunFixture : RunnerFixture {
  [[nodiscard]] support::CommandResult run(const std::vector<std::string>& more) const {
    auto arguments = network_arguments();
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  /// Takes another network, and one batch of its input "x".
  void use(const support::ModelBuilder& model, const std::string& shape, const std::vector<float>& values) {
    model.save(work / "net.onnx");
    std::filesystem::create_directory(work / "batches");
    support::write_text(work / "batches/0.bin",
                        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    options["--model"] = "net.onnx";
    options["--input_shape"] = "x:" + shape;
    options["--data_dir"] = "batches";
  }
  void check_run(const std::vector<std::string>& more) const {
    const auto result = run(more);
    CAPTURE(result.output);
    REQUIRE(result.exit_code == 0);
  }
  /// The run must fail with one error line that holds all of `parts`.
  void check_refused(const std::vector<std::string>& more, const std::vector<std::string>& parts) const {
    const auto result = run(more);
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    const std::string error = error_line(result);
    for (const auto& part : parts) {
      CAPTURE(part);
      CHECK(error.find(part) != std::string::npos);
    }
  }
};

std::size_t count_of(const DumpFolder& dump, DumpKind kind) {
  std::size_t count = 0;
  for (const auto& entry : dump.entries()) count += entry.kind == kind ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE_FIXTURE(RunFixture, "a float network runs without a record, and its outputs are shown") {
  const auto result = run({"--batches", "2"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("float: 2 batches") != std::string::npos);
  CHECK(result.output.find("ms a batch") != std::string::npos);
  CHECK(result.output.find("[16,10]") != std::string::npos);
  CHECK(result.output.find("2/2") != std::string::npos);
}

TEST_CASE_FIXTURE(RunFixture, "every mode runs with a record and dumps layers, codes and outputs") {
  REQUIRE(calibrate().exit_code == 0);
  for (const std::string mode : {"float", "fake_quant", "real_quant"}) {
    CAPTURE(mode);
    check_run({"--mode", mode, "--dump", mode, "--batches", "2"});
    const DumpFolder dump(work / mode);
    CHECK(dump.has_index());
    CHECK(count_of(dump, DumpKind::output) == 2);
    CHECK(count_of(dump, DumpKind::activation) == 30);
    CHECK(count_of(dump, DumpKind::codes) == 14);
    const auto* conv = dump.find({.batch = 1, .layer = "conv1"});
    REQUIRE(conv != nullptr);
    CHECK(conv->file == "conv1_activation_batch1.npy");
    CHECK(dump.read(*conv).shape() == amct::Shape{16, 16, 28, 28});
  }
}

TEST_CASE_FIXTURE(RunFixture, "every format of a dump holds the same numbers") {
  std::vector<amct::Tensor> outputs;
  for (const std::string format : {"npy", "float", "txt", "bin"}) {
    check_run({"--outputs", format, "--dump_format", format, "--batches", "1"});
    const DumpFolder dump(work / format);
    REQUIRE(dump.entries().size() == 1);
    CHECK(dump.entries()[0].file == "logits_output_batch0." + format);
    outputs.push_back(dump.read(dump.entries()[0]));
  }
  for (const auto& output : outputs) {
    CHECK(output.shape() == amct::Shape{16, 10});
    const auto values = output.data<float>();
    const auto first = outputs[0].data<float>();
    CHECK(std::equal(values.begin(), values.end(), first.begin()));
  }
}

TEST_CASE_FIXTURE(RunFixture, "single layers can be chosen") {
  const auto result = run({"--layers", "relu4", "fc", "--dump", "dump", "--batches", "1"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(DumpFolder(work / "dump").entries().size() == 3);
  CHECK(result.output.find("relu4") != std::string::npos);
}

TEST_CASE_FIXTURE(RunFixture, "a deploy model runs without a record, with the bits of the record's network") {
  REQUIRE(calibrate().exit_code == 0);
  for (const std::string mode : {"fake_quant", "real_quant"}) {
    CAPTURE(mode);
    check_run({"--mode", mode, "--outputs", "with_record", "--batches", "1"});
    std::filesystem::rename(work / "out/m_quant_param_record.txt", work / "record.txt");
    options["--model"] = "out/m_deploy_model.onnx";
    check_run({"--mode", mode, "--outputs", "deployed", "--batches", "1"});
    CHECK(support::read_text(work / "with_record/logits_output_batch0.npy") ==
          support::read_text(work / "deployed/logits_output_batch0.npy"));
    check_refused({"--mode", mode, "--record", "record.txt"}, {"[data.format]", "m_deploy_model.onnx", "--record"});
    options["--model"] = std::string(AMCT_EXAMPLE_DATA) + "/digits.onnx";
    std::filesystem::rename(work / "record.txt", work / "out/m_quant_param_record.txt");
  }
  options["--model"] = "out/m_deploy_model.onnx";
  std::filesystem::remove(work / "out/m_quant_param_record.txt");
  check_refused({"--mode", "float"}, {"[data.format]", "is a deploy model, whose weights are integers"});
}

TEST_CASE_FIXTURE(RunFixture, "float layers in float16 are near those in float32") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  check_run({"--mode", "real_quant", "--outputs", "wide", "--batches", "1"});
  check_run({"--mode", "real_quant", "--outputs", "half", "--float_layers", "float16", "--batches", "1"});
  const auto result = amct({"compare", "wide", "half", "--fail_below", "cosine=0.999"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
}

TEST_CASE_FIXTURE(RunFixture, "what is missing or wrong is named") {
  check_refused({"--mode", "fake_quant"}, {"[data.format]", "digits.onnx", "--mode", "a --record is needed"});
  check_refused({"--mode", "int8"}, {"[data.format]", "--mode", "\"int8\"", "float, fake_quant or real_quant"});
  check_refused({"--layers", "conv11"}, {"[config.layer]", "conv11", "--layers", "did you mean \"conv1\""});
  check_refused({"--batches", "10"}, {"[data.too_few]", "found 4 batches", "at least 10"});
  check_refused({"--record", "none.txt"}, {"[io.read]", "none.txt"});
  CHECK(run({"--dump", "dump", "--dump_format", "csv"}).exit_code == 2);
  CHECK(!std::filesystem::exists(work / "dump"));
  CHECK(amct({"run"}).exit_code == 2);
}

TEST_CASE_FIXTURE(RunFixture, "a record that does not fit the network is refused with the layer") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  const std::string file = "out/m_quant_param_record.txt";
  const std::string record = support::read_text(work / file);
  std::string other = record;
  other.replace(other.find("\"conv2\""), 7, "\"conv9\"");
  support::write_text(work / file, other);
  check_refused({"--mode", "fake_quant", "--dump", "dump"}, {"[record.value]", file, "conv9", "no layer of this name"});
  CHECK(!std::filesystem::exists(work / "dump/amct_dump.txt"));
  support::write_text(work / file, "record {");
  check_refused({"--mode", "fake_quant"}, {"[record.syntax]", file});
}

TEST_CASE_FIXTURE(RunFixture, "a dump folder that cannot be written is named before the network is read") {
  support::write_text(work / "blocker", "a file where a folder is needed");
  options["--model"] = "nothere.onnx";
  check_refused({"--dump", "blocker/dump"}, {"[io.write]", "blocker/dump"});
  check_refused({"--outputs", "blocker/out"}, {"[io.write]", "blocker/out"});
}

TEST_CASE_FIXTURE(RunFixture, "a layer whose first output is left out has no file in a dump") {
  support::ModelBuilder lstm;
  lstm.input("x", {2, 1, 1}).output("h", {1, 1, 1}).output("y", {2, 1, 1});
  lstm.initializer("w", {1, 4, 1}, {1, 2, 3, 4}).initializer("r", {1, 4, 1}, {1, 1, 1, 1});
  lstm.node("Relu", "relu", {"x"}, {"y"}).node("LSTM", "lstm", {"x", "w", "r"}, {"", "h"});
  lstm.attribute("hidden_size", onnx::AttributeProto::INT).set_i(1);
  use(lstm, "2,1,1", {0.5F, -1.0F});
  check_run({"--dump", "dump"});
  const DumpFolder dump(work / "dump");
  CHECK(count_of(dump, DumpKind::activation) == 1);
  CHECK(dump.find({.layer = "relu"}) != nullptr);
  CHECK(count_of(dump, DumpKind::output) == 2);
}

TEST_CASE_FIXTURE(RunFixture, "a record of a composite quantizes what all its nodes read") {
  support::ModelBuilder silu;
  silu.input("x", {1, 2}).output("y", {1, 2});
  silu.node("Sigmoid", "gate", {"x"}, {"g"}).node("Mul", "silu", {"x", "g"}, {"y"});
  use(silu, "1,2", {0.875F, -1.25F});
  support::write_text(
      work / "record.txt",
      "record { key: 'silu' value { record_d { scale_d: 0.5 offset_d: 0 index: 0 num_bits_d: 8 } } }\n");
  check_run({"--record", "record.txt", "--mode", "fake_quant", "--outputs", "out"});
  const DumpFolder dump(work / "out");
  const auto y = dump.read(dump.entries().at(0));
  CHECK(y.data<float>()[0] == doctest::Approx(1.0 / (1.0 + std::exp(-1.0))));
  CHECK(y.data<float>()[1] == doctest::Approx(-1.0 / (1.0 + std::exp(1.0))));
}

TEST_CASE_FIXTURE(RunFixture, "dump and outputs cannot share a folder, whatever it is called") {
  for (const std::string same : {"dump", "./dump/", "dump/../dump"}) {
    CAPTURE(same);
    check_refused({"--dump", "dump", "--outputs", same},
                  {"[data.format]", same, "--outputs", "is the folder of --dump"});
    CHECK(!std::filesystem::exists(work / "dump/amct_dump.txt"));
  }
}

TEST_CASE_FIXTURE(RunFixture, "a run that fails in the middle leaves whole files and no index") {
  const auto data = copied_data();
  std::filesystem::resize_file(data / "batch_1.bin", 100);
  check_refused({"--dump", "dump"}, {"[data.format]", "batch_1.bin", "100 bytes", "expected 50176"});
  CHECK(!std::filesystem::exists(work / "dump/amct_dump.txt"));
  CHECK(DumpFolder(work / "dump").entries().size() == 21);  // of the first batch: BatchNormalization is not folded
  for (const auto& file : std::filesystem::directory_iterator(work / "dump")) {
    CHECK(file.path().extension() == ".npy");
  }
}
