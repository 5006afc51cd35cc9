// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

TEST_CASE_FIXTURE(RunnerFixture, "a run writes four files and says so") {
  const auto result = calibrate();
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(files_written() == 4);
  for (const char* file :
       {"out/m_deploy_model.onnx", "out/m_fake_quant_model.onnx", "out/m_quant_param_record.txt", "out/m_quant.json"}) {
    CHECK(std::filesystem::is_regular_file(work / file));
    CHECK(result.output.find(file) != std::string::npos);
  }
  CHECK(result.output.find("7 layers quantized") != std::string::npos);
  CHECK(result.output.find("5 BatchNormalization layers folded") != std::string::npos);
  CHECK(result.output.find("calibrate") != std::string::npos);
}

TEST_CASE_FIXTURE(RunnerFixture, "--format chooses the models that are written") {
  const auto result = calibrate({"--format", "qdq", "--qdq_activations", "uint8"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(files_written() == 3);
  CHECK(result.output.find("out/m_qdq_model.onnx") != std::string::npos);
  CHECK(result.output.find("deploy_model") == std::string::npos);
  const auto model = amct::onnx::import_model(work / "out/m_qdq_model.onnx");
  std::size_t quantizers = 0;
  for (const auto& node : model.nodes) {
    if (node.op_type != "QuantizeLinear") continue;
    ++quantizers;
    CHECK(model.value(node.inputs[2]).type == amct::ElementType::uint8);
  }
  CHECK(quantizers >= 6);

  CHECK(calibrate({"--format", "deploy,qdq"}).exit_code == 0);
  CHECK(files_written() == 4);
  CHECK(calibrate({"--format", "onnx"}).exit_code == 2);
}

TEST_CASE_FIXTURE(RunnerFixture, "options with = and the name --data_type are accepted") {
  const auto with_space = calibrate();
  const std::string record = support::read_text(work / "out/m_quant_param_record.txt");
  std::vector<std::string> arguments{"calibration"};
  for (const auto& [option, value] : options) {
    arguments.push_back((option == "--data_types" ? "--data_type" : option) + "=" + value);
  }
  const auto result = support::run_command(work.path(), AMCT_RUNNER, arguments);
  CAPTURE(result.output);
  CHECK(with_space.exit_code == 0);
  CHECK(result.exit_code == 0);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") == record);
}

TEST_CASE_FIXTURE(RunnerFixture, "a save path that ends in a slash gives names without prefix") {
  options["--save_path"] = "out/";
  CHECK(calibrate().exit_code == 0);
  CHECK(std::filesystem::is_regular_file(work / "out/deploy_model.onnx"));
  CHECK(std::filesystem::is_regular_file(work / "out/quant_param_record.txt"));
}

TEST_CASE_FIXTURE(RunnerFixture, "data in .npy give the same record as in .bin") {
  CHECK(calibrate().exit_code == 0);
  const std::string record = support::read_text(work / "out/m_quant_param_record.txt");
  std::filesystem::create_directory(work / "npy");
  for (int b = 0; b < 4; ++b) {
    const std::string name = "batch_" + std::to_string(b);
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (16, 1, 28, 28), }";
    header.resize(117, ' ');
    header += '\n';
    const std::string start = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0';
    const std::string data = support::read_text(std::string(AMCT_EXAMPLE_DATA) + "/calibration/" + name + ".bin");
    support::write_text(work / ("npy/" + name + ".npy"), start + header + data);
  }
  options["--data_dir"] = "npy";
  const auto result = calibrate();
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") == record);
}

TEST_CASE_FIXTURE(RunnerFixture,
                  "batch_num of the config counts, and an argument beside it is ignored with a warning") {
  support::write_text(work / "quant.cfg", "batch_num : 2\n");
  CHECK(calibrate({"--batch_num", "2"}).exit_code == 0);
  const std::string two = support::read_text(work / "out/m_quant_param_record.txt");
  const auto result = calibrate({"--calibration_config", "quant.cfg", "--batch_num", "3"});
  CHECK(result.output.find("--batch_num is ignored") != std::string::npos);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") == two);
  CHECK(calibrate().exit_code == 0);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") != two);
}

TEST_CASE_FIXTURE(RunnerFixture, "case C11: with --allow_fewer_batches all there are count, with a warning") {
  CHECK(calibrate().exit_code == 0);
  const std::string all = support::read_text(work / "out/m_quant_param_record.txt");
  const auto result = calibrate({"--batch_num", "10", "--allow_fewer_batches"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("warning: ") != std::string::npos);
  CHECK(result.output.find("found 4 batches, fewer than the 10 asked for") != std::string::npos);
  CHECK(result.output.find("4/4") != std::string::npos);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") == all);
}

TEST_CASE_FIXTURE(RunnerFixture, "layers that stay float are listed with the reason") {
  support::write_text(work / "quant.cfg", "skip_layers : \"conv1\"\nskip_layer_types : \"AvgPool2d\"\nbatch_num : 4\n");
  const auto result = calibrate({"--calibration_config", "quant.cfg"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("5 layers quantized") != std::string::npos);
  CHECK(result.output.find("2 layers of quantizable types left float") != std::string::npos);
  CHECK(result.output.find("skipped by the configuration") != std::string::npos);
  const auto record = amct::protobuf::read_record(work / "out/m_quant_param_record.txt");
  CHECK(record.size() == 5);
  CHECK(record.front().name == "conv2");
}

TEST_CASE_FIXTURE(RunnerFixture, "the log goes to amct_log and the variables choose what is shown") {
  const auto quiet = calibrate({}, "AMCT_LOG_LEVEL=error");
  CHECK(quiet.output.find("info: ") == std::string::npos);
  CHECK(support::read_text(work / "amct_log/amct_pytorch.log").find("[info] reading") != std::string::npos);

  std::filesystem::remove_all(work / "amct_log");
  const auto normal = calibrate({}, "AMCT_LOG_FILE_LEVEL=Warning");
  CHECK(normal.output.find("info: reading") != std::string::npos);
  CHECK(support::read_text(work / "amct_log/amct_pytorch.log").empty());

  const auto unknown = calibrate({}, "AMCT_LOG_LEVEL=loud");
  CHECK(unknown.output.find("warning: AMCT_LOG_LEVEL is \"loud\"") != std::string::npos);
  CHECK(unknown.output.find("info: reading") != std::string::npos);
}

TEST_CASE_FIXTURE(RunnerFixture, "help names every option and wrong usage gives exit code 2") {
  const auto help = support::run_command(work.path(), AMCT_RUNNER, {"calibration", "--help"});
  CHECK(help.exit_code == 0);
  for (const auto& [option, value] : options) CHECK(help.output.find(option) != std::string::npos);
  CHECK(help.output.find("--batch_num") != std::string::npos);
  CHECK(help.output.find("--calibration_config") != std::string::npos);
  CHECK(support::run_command(work.path(), AMCT_RUNNER, {"--help"}).exit_code == 0);
  CHECK(support::run_command(work.path(), AMCT_RUNNER, {}).exit_code == 2);
  CHECK(support::run_command(work.path(), AMCT_RUNNER, {"calibration"}).exit_code == 2);
  CHECK(support::run_command(work.path(), AMCT_RUNNER, {"calibration", "--nonsense"}).exit_code == 2);
  CHECK(calibrate({"--batch_num", "0"}).exit_code == 2);
}

TEST_CASE_FIXTURE(RunnerFixture, "several inputs are joined by ; and may come in any order") {
  auto graph = support::GraphBuilder()
                   .input("a", {2, 3})
                   .input("b", {2, 3})
                   .initializer("w", support::floats({3, 1}, {1, -2, 3}))
                   .node("Sub", "sub", {"a", "b"}, "d")
                   .node("MatMul", "fc", {"d", "w"}, "y")
                   .output("y")
                   .build();
  graph.value(graph.outputs[0]).shape = std::vector<amct::graph::Dim>{{2, {}}, {1, {}}};
  amct::onnx::export_model(work / "two.onnx", graph);
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<float> b{0, 4, 0, 0, 1, 9};
  for (const auto& [name, values] : {std::pair{"a", a}, std::pair{"b", b}}) {
    std::filesystem::create_directory(work / name);
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    support::write_text((work / name) / "0.bin", std::string(bytes, values.size() * sizeof(float)));
  }
  options["--model"] = "two.onnx";
  options["--input_shape"] = "a:2,3;b:2,3";
  options["--data_types"] = "float32;float32";
  options["--data_dir"] = "a;b";
  const auto result = calibrate();
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const std::string record = support::read_text(work / "out/m_quant_param_record.txt");
  CHECK(record.find("key: \"fc\"") != std::string::npos);

  options["--input_shape"] = "b:2,3;a:2,3";
  options["--data_dir"] = "b;a";
  REQUIRE(calibrate().exit_code == 0);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") == record);
  options["--data_dir"] = "a;b";  // exchanged data are other data
  REQUIRE(calibrate().exit_code == 0);
  CHECK(support::read_text(work / "out/m_quant_param_record.txt") != record);

  options["--input_shape"] = "a:2,3";
  options["--data_types"] = "float32";
  options["--data_dir"] = "a";
  const auto missing = calibrate();
  CHECK(missing.exit_code == 1);
  CHECK(missing.output.find("tensor \"b\"") != std::string::npos);
}
