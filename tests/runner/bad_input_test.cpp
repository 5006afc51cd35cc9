// SPDX-License-Identifier: Apache-2.0
// Bad input: one clear line that names what and where, exit code 1, and no output file.

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include <amct/graph/ir.hpp>
#include <amct/onnx/export.hpp>
#include <amct/onnx/import.hpp>

#include "runner/runner_fixture.hpp"

namespace {

/// The run must fail with one error line that holds all of `parts`.
void check_refused(const RunnerFixture& fixture, const support::CommandResult& result,
                   const std::vector<std::string>& parts) {
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  const std::string error = RunnerFixture::error_line(result);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(error.find(part) != std::string::npos);
  }
  CHECK(fixture.files_written() == 0);
}

}  // namespace

TEST_CASE_FIXTURE(RunnerFixture, "a missing model is named") {
  options["--model"] = "nothere.onnx";
  check_refused(*this, calibrate(), {"[io.read]", "nothere.onnx"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a model that is not ONNX is named") {
  support::write_text(work / "text.onnx", "this is no protobuf message");
  options["--model"] = "text.onnx";
  check_refused(*this, calibrate(), {"[model.corrupt]", "text.onnx"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a model that is cut short is named") {
  const std::string whole = support::read_text(options["--model"]);
  support::write_text(work / "short.onnx", whole.substr(0, whole.size() / 2));
  options["--model"] = "short.onnx";
  check_refused(*this, calibrate(), {"[model.corrupt]", "short.onnx"});
}

TEST_CASE_FIXTURE(RunnerFixture, "an unsupported operator is named with its node") {
  amct::graph::Graph graph = amct::onnx::import_model(options["--model"]);
  for (auto& node : graph.nodes) {
    if (node.name == "relu4") node.op_type = "Unheard";
  }
  amct::onnx::export_model(work / "unheard.onnx", graph);
  options["--model"] = "unheard.onnx";
  check_refused(*this, calibrate(), {"[model.unsupported]", "unheard.onnx", "relu4", "Unheard"});
}

TEST_CASE_FIXTURE(RunnerFixture, "an input shape the model cannot take is named with what it takes") {
  options["--input_shape"] = "input:16,3,28,28";
  check_refused(*this, calibrate(), {"[model.shape]", "digits.onnx", "input", "[16,3,28,28]", "expected [N,1,28,28]"});
}

TEST_CASE_FIXTURE(RunnerFixture, "an input name the model does not have is named with those it has") {
  options["--input_shape"] = "image:16,1,28,28";
  check_refused(*this, calibrate(), {"[model.shape]", "image", "expected one of: input"});
}

TEST_CASE_FIXTURE(RunnerFixture, "an input shape that is no shape is shown") {
  options["--input_shape"] = "input:16,x,28,28";
  check_refused(*this, calibrate(), {"--input_shape", "input:16,x,28,28"});
}

TEST_CASE_FIXTURE(RunnerFixture, "case C11: an empty data folder is refused before the model is read") {
  std::filesystem::create_directory(work / "empty");
  options["--data_dir"] = "empty";
  options["--model"] = "nothere.onnx";
  check_refused(*this, calibrate(), {"[data.empty]", "empty", "the calibration set is empty"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a missing data folder is named") {
  options["--data_dir"] = "nowhere";
  check_refused(*this, calibrate(), {"[io.read]", "nowhere"});
}

TEST_CASE_FIXTURE(RunnerFixture, "case C11: fewer batches than --batch_num asks for are refused") {
  check_refused(*this, calibrate({"--batch_num", "10"}),
                {"[data.too_few]", "calibration", "found 4 batches", "at least 10"});
}

TEST_CASE_FIXTURE(RunnerFixture, "case C11: fewer batches than the config asks for are refused") {
  support::write_text(work / "quant.cfg", "batch_num : 5\n");
  check_refused(*this, calibrate({"--calibration_config", "quant.cfg"}),
                {"[data.too_few]", "found 4 batches", "at least 5"});
}

TEST_CASE_FIXTURE(RunnerFixture, "case C11: an unreadable data file is named") {
  const auto folder = copied_data();
  std::filesystem::remove(folder / "batch_1.bin");
  std::filesystem::create_symlink("gone.bin", folder / "batch_1.bin");
  check_refused(*this, calibrate(), {"[io.read]", "batch_1.bin"});
}

TEST_CASE_FIXTURE(RunnerFixture, "case C04: NaN in the data is named with file and index") {
  const auto folder = copied_data();
  std::fstream file(folder / "batch_2.bin", std::ios::in | std::ios::out | std::ios::binary);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  file.seekp(7 * sizeof nan);
  file.write(reinterpret_cast<const char*>(&nan), sizeof nan);
  file.close();
  check_refused(*this, calibrate(), {"[data.not_finite]", "batch_2.bin", "NaN at index 7"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a data file of the wrong size is named with both sizes") {
  const auto folder = copied_data();
  std::filesystem::resize_file(folder / "batch_0.bin", 50172);
  check_refused(*this, calibrate(), {"[data.format]", "batch_0.bin", "50172 bytes", "expected 50176"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a broken .npy file is named") {
  std::filesystem::create_directory(work / "npy");
  support::write_text(work / "npy/a.npy", "not numpy");
  options["--data_dir"] = "npy";
  check_refused(*this, calibrate(), {"[data.format]", "a.npy"});
}

TEST_CASE_FIXTURE(RunnerFixture, "an output path that cannot be written is named before the long work starts") {
  support::write_text(work / "blocker", "a file where a folder is needed");
  options["--save_path"] = "blocker/m";
  check_refused(*this, calibrate(), {"[io.write]", "blocker/m_deploy_model.onnx"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a config error is named with file, line and column") {
  support::write_text(work / "quant.cfg", "batch_num : 2\nnonsense : 1\n");
  check_refused(*this, calibrate({"--calibration_config", "quant.cfg"}),
                {"[config.syntax]", "quant.cfg:2:1 ", "nonsense"});
}

TEST_CASE_FIXTURE(RunnerFixture, "a layer the model does not have is named with the config") {
  support::write_text(work / "quant.cfg", "skip_layers : \"conv9\"\n");
  check_refused(*this, calibrate({"--calibration_config", "quant.cfg"}),
                {"[config.layer]", "quant.cfg", "skip_layers", "conv9"});
}
