// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"

TEST_CASE_FIXTURE(RunnerFixture, "the quantized example network is as good as the float one within half a point") {
  REQUIRE(calibrate().exit_code == 0);
  const std::string data = AMCT_EXAMPLE_DATA;
  const auto result =
      support::run_command(work.path(), AMCT_RUNNER,
                           {"evaluate", "--model", data + "/digits.onnx", "--model", "out/m_fake_quant_model.onnx",
                            "--data", data + "/eval_images.npy", "--labels", data + "/eval_labels.npy"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const auto accuracy_of = [&](const std::string& model) {
    const std::size_t row = result.output.rfind(model);
    return std::stod(result.output.substr(row + model.size()));
  };
  CHECK(accuracy_of("digits.onnx") > 99.0);
  CHECK(accuracy_of("m_fake_quant_model.onnx") > accuracy_of("digits.onnx") - 0.5);
  CHECK(result.output.find("2000") != std::string::npos);
}

TEST_CASE_FIXTURE(RunnerFixture, "labels that do not fit the samples are refused") {
  const std::string data = AMCT_EXAMPLE_DATA;
  const auto result = support::run_command(work.path(), AMCT_RUNNER,
                                           {"evaluate", "--model", data + "/digits.onnx", "--data",
                                            data + "/eval_images.npy", "--labels", data + "/eval_images.npy"});
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("[data.format]") != std::string::npos);
}
