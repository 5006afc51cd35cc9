// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>
#include <amct/record/factors.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

namespace {

using support::CommandResult;
using support::contains;

/// Runs `amct quantize` on the example network, or one that a test chose.
class QuantizeFixture : public RunnerFixture {
 public:
  QuantizeFixture() { options.erase("--data_types"); }

  [[nodiscard]] CommandResult quantize(const std::vector<std::string>& more = {},
                                       const std::string& environment = "") const {
    std::vector<std::string> arguments{"quantize"};
    for (const auto& [option, value] : options) arguments.insert(arguments.end(), {option, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_command(work.path(), AMCT_RUNNER, arguments, environment);
  }
  [[nodiscard]] std::string text(const std::string& file) const { return support::read_text(work / file); }
  [[nodiscard]] bool exists(const std::string& file) const { return std::filesystem::is_regular_file(work / file); }
  [[nodiscard]] std::string record_text() const { return text("out/m_quant_param_record.txt"); }
  [[nodiscard]] amct::LayerRecord layer(const std::string& name) const {
    const auto record = amct::protobuf::read_record(work / "out/m_quant_param_record.txt");
    const auto* found = amct::find_record(record, name);
    REQUIRE(found != nullptr);
    return *found;
  }
};

}  // namespace

TEST_CASE_FIXTURE(QuantizeFixture, "K25 K26 quantize writes models, record, notes and drawings, again over old ones") {
  const auto result = quantize();
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  for (const char* file :
       {"out/m_deploy_model.onnx", "out/m_fake_quant_model.onnx", "out/m_quant_param_record.txt", "out/m_quant.json",
        "out/m_config.json", "out/m_calibration.ckpt", "out/m_float.dot", "out/m_quant.dot"}) {
    CAPTURE(file);
    CHECK(exists(file));
    CHECK(contains(result.output, file));
  }
  CHECK(contains(result.output, "7 layers quantized"));
  CHECK(contains(result.output, "no batch_num is stated: calibrating with all 4 batches"));
  CHECK(contains(text("out/m_float.dot"), "BatchNormalization"));
  CHECK(contains(text("out/m_quant.dot"), "AscendQuant"));
  CHECK(contains(text("out/m_quant.dot"), "weights: 8 bit"));

  const std::string record = record_text();
  support::write_text(work / "out/m_quant_param_record.txt", "old");
  REQUIRE(quantize({"--format", "float,deploy", "--opset", "17"}).exit_code == 0);
  CHECK(record_text() == record);
  const auto original = amct::onnx::import_model(options.at("--model"));
  const auto written = amct::onnx::import_model(work / "out/m_float_model.onnx");
  CHECK(written.opset == 17);
  CHECK(written.value(written.inputs[0]).name == original.value(original.inputs[0]).name);
  CHECK(written.value(written.inputs[0]).shape == original.value(original.inputs[0]).shape);
  CHECK(written.nodes.size() == original.nodes.size());

  REQUIRE(calibrate({"--data_types", "float32"}).exit_code == 0);
  CHECK(record_text() == record);  // AMCT's own command finds the same
}

TEST_CASE_FIXTURE(QuantizeFixture, "drawings are made pictures if Graphviz is there, else a hint says how") {
  std::filesystem::create_directory(work / "bin");
  support::write_text(work / "bin/dot", "#!/bin/sh\necho \"<svg>$1</svg>\"\n");
  std::filesystem::permissions(work / "bin/dot", std::filesystem::perms::owner_all);
  REQUIRE(quantize({}, "PATH=" + (work / "bin").string() + ":/bin").exit_code == 0);
  CHECK(text("out/m_quant.svg") == "<svg>-Tsvg</svg>\n");
  const auto without = quantize({}, "PATH=/nonexistent");
  CHECK(without.exit_code == 0);
  CHECK(contains(without.output, "apt install graphviz"));
  CHECK(exists("out/m_quant.dot"));
  CHECK_FALSE(exists("out/m_quant.svg"));
}

TEST_CASE_FIXTURE(QuantizeFixture, "K16 arguments beside a config file are ignored with a warning each") {
  support::write_text(work / "quant.cfg", "batch_num : 2\n");
  REQUIRE(quantize({"--definition", "quant.cfg"}).exit_code == 0);
  const std::string record = record_text();
  const auto result = quantize(
      {"--definition", "quant.cfg", "--batch_num", "1", "--skip_layers", "conv1", "--activation_offset", "false"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  for (const char* name : {"batch_num", "skip_layers", "activation_offset"}) {
    CHECK(contains(result.output, std::string("--") + name + " is ignored, because a config is given"));
  }
  CHECK(record_text() == record);
  // The full config of that run says all of it, so it gives the same; a user's changes count.
  REQUIRE(quantize({"--config", "out/m_config.json"}).exit_code == 0);
  CHECK(record_text() == record);
  // A recipe leaves batch_num open, and arguments without a file count.
  REQUIRE(quantize({"--recipe", "int8", "--batch_num", "2"}).exit_code == 0);
  CHECK(record_text() == record);
  REQUIRE(quantize({"--skip_layers", "conv1", "--batch_num", "2"}).exit_code == 0);
  CHECK_FALSE(contains(record_text(), "\"conv1\""));
  CHECK(quantize({"--definition", "quant.cfg", "--recipe", "int8"}).exit_code == 2);
}

TEST_CASE_FIXTURE(QuantizeFixture, "K22 a batch_num that the data cannot fill is an error that writes nothing") {
  support::write_text(work / "quant.cfg", "batch_num : 5\n");
  for (const auto& more : {std::vector<std::string>{"--batch_num", "5"}, {"--definition", "quant.cfg"}}) {
    const auto result = quantize(more);
    CHECK(result.exit_code == 1);
    CHECK(contains(error_line(result), "found 4 batches, expected at least 5"));
    CHECK(files_written() == 0);
  }
  CHECK(quantize({"--batch_num", "5", "--allow_fewer_batches"}).exit_code == 0);
}

TEST_CASE_FIXTURE(QuantizeFixture, "K28 mixed precision by hand: layers float, wide, narrow; regions") {
  const auto result = quantize({"--skip", "fc", "--bits", "conv2=16", "--weight_bits", "conv2=4"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "skipped on the command line"));
  CHECK_FALSE(contains(record_text(), "\"fc\""));
  CHECK(amct::activation_bits(layer("conv2")) == 16);
  CHECK(amct::weight_bits(layer("conv2")) == 4);
  CHECK(amct::activation_bits(layer("conv1")) == 8);

  REQUIRE(quantize({"--skip_prefix", "conv3"}).exit_code == 0);
  CHECK_FALSE(contains(record_text(), "\"conv3"));
  CHECK(contains(record_text(), "\"conv2\""));

  const auto unknown = quantize({"--skip", "conv7"});
  CHECK(unknown.exit_code == 1);
  CHECK(contains(error_line(unknown), "did you mean"));
  CHECK(contains(error_line(quantize({"--bits", "conv1=9"})), "got 9"));
  CHECK(contains(error_line(quantize({"--bits", "conv1"})), "expected LAYER=BITS"));
  CHECK(contains(error_line(quantize({"--skip", "*"})), "nothing is left to quantize"));
  // What would have no effect is refused; a layer that a config leaves float may be skipped once more.
  CHECK(contains(error_line(quantize({"--skip_layers", "fc", "--bits", "fc=16"})), "--bits: this layer stays float"));
  CHECK(contains(error_line(quantize({"--weight_bits", "avgpool=4"})), "this layer has no weights"));
  CHECK(quantize({"--skip_layers", "fc", "--skip", "fc"}).exit_code == 0);
}

TEST_CASE_FIXTURE(QuantizeFixture, "K15 the static graph: CUBE layers keep their quantization, more bits instead") {
  options["--flavour"] = "hotwheels";
  const auto result = quantize({"--batch_num", "1", "--bits", "conv2=12"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(exists("out/m_float_model.onnx"));
  CHECK_FALSE(exists("out/m_fake_quant_model.onnx"));
  CHECK(contains(record_text(), "num_bits_d: 12"));
  CHECK(contains(text("out/m_config.json"), "UlqFakeQuantize"));

  const auto refused = quantize({"--skip", "conv2"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(error_line(refused), "must be quantized as it is an operation calculated on CUBE"));
  CHECK(contains(error_line(refused), "--bits conv2=12"));
  CHECK(quantize({"--batch_num", "1", "--cube_only"}).exit_code == 0);
}

TEST_CASE_FIXTURE(QuantizeFixture, "an interrupted run leaves no files but its checkpoint and is resumed") {
  REQUIRE(quantize().exit_code == 0);
  const std::string record = record_text();
  std::filesystem::remove(work / "out/m_quant_param_record.txt");
  const auto resumed = quantize({"--resume"});
  CAPTURE(resumed.output);
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.output, "going on behind batch 4"));
  CHECK(record_text() == record);
  for (const char* shard : {"4/3", "0/3", "1/2000000", "1"}) {
    CHECK(contains(error_line(quantize({"--shard", shard})), "expected K/N"));
  }
  const auto other = quantize({"--resume", "--batch_num", "2"});
  CHECK(other.exit_code == 1);
  CHECK(contains(error_line(other), "m_calibration.ckpt"));

  // Many batches, so that there is time to stop it between two of them.
  std::filesystem::remove_all(work / "out");
  std::filesystem::remove_all(work / "amct_log");
  std::filesystem::create_directory(work / "many");
  for (int b = 0; b < 120; ++b) {
    std::filesystem::create_symlink(options["--data_dir"] + "/batch_" + std::to_string(b % 4) + ".bin",
                                    work / ("many/" + std::to_string(1000 + b) + ".bin"));
  }
  options["--data_dir"] = "many";
  const auto result = support::run_command(
      work.path(), "/bin/sh",
      {"-c", AMCT_RUNNER " quantize --save_path out/m --input_shape input:16,1,28,28 --data_dir many --model '" +
                 options["--model"] +
                 "' & for i in $(seq 2000); do grep -qs 'layers to quantize' amct_log/amct_pytorch.log && break; "
                 "sleep 0.01; done; kill -TERM $!; wait $!"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 130);
  CHECK(contains(result.output, "run the same command with --resume"));
  CHECK(files_written() == 1);
  CHECK(exists("out/m_calibration.ckpt"));
  REQUIRE(quantize({"--resume"}).exit_code == 0);
  const std::string continued = record_text();
  REQUIRE(quantize().exit_code == 0);
  CHECK(record_text() == continued);
}

TEST_CASE_FIXTURE(QuantizeFixture, "what a policy made of the factors leaves the checkpoint with the policy") {
  auto graph = support::GraphBuilder()
                   .input("x", {1, 1, 2, 2})
                   .initializer("w", support::floats({2, 1, 1, 1}, {0, 1}))
                   .initializer("b", support::floats({2}, {0.5F, 0.5F}))
                   .node("Conv", "conv", {"x", "w", "b"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.outputs[0]).shape = std::vector<amct::graph::Dim>{{1, {}}, {2, {}}, {2, {}}, {2, {}}};
  amct::onnx::export_model(work / "dead.onnx", graph);
  std::filesystem::create_directory(work / "data");
  const float values[] = {1, -2, 3, 4};
  support::write_text(work / "data/0.bin", std::string(reinterpret_cast<const char*>(values), sizeof values));
  options["--model"] = "dead.onnx";
  options["--input_shape"] = "x:1,1,2,2";
  options["--data_dir"] = "data";
  const auto result = quantize();
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const std::string record = record_text();
  const std::string checkpoint = text("out/m_calibration.ckpt");
  REQUIRE(quantize({"--resume", "--degenerate", "bias_aware"}).exit_code == 0);
  CHECK(record_text() != record);
  CHECK(text("out/m_calibration.ckpt") != checkpoint);
  REQUIRE(quantize({"--resume"}).exit_code == 0);
  CHECK(record_text() == record);
  CHECK(text("out/m_calibration.ckpt") == checkpoint);
}

TEST_CASE_FIXTURE(QuantizeFixture, "threads and instruction sets change no byte of record and models") {
  const std::vector<std::string> files{"out/m_quant_param_record.txt", "out/m_deploy_model.onnx",
                                       "out/m_fake_quant_model.onnx", "out/m_calibration.ckpt"};
  std::vector<std::string> first;
  for (const char* environment :
       {"AMCT_NUM_THREADS=1 AMCT_ARCH=scalar", "AMCT_NUM_THREADS=2", "AMCT_NUM_THREADS=3 AMCT_ARCH=avx2",
        "AMCT_NUM_THREADS=2 AMCT_ARCH=avx512", "AMCT_NUM_THREADS=1 AMCT_ARCH=avx512vnni", "AMCT_ARCH=amx"}) {
    CAPTURE(environment);
    std::filesystem::remove_all(work / "out");
    REQUIRE(quantize({"--recipe", "best"}, environment).exit_code == 0);
    std::vector<std::string> now;
    for (const auto& file : files) {
      REQUIRE(exists(file));
      now.push_back(text(file));
    }
    if (first.empty()) first = now;
    CHECK(now == first);
  }
}
