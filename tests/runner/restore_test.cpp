// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"

namespace {

struct RestoreFixture : RunnerFixture {
  [[nodiscard]] support::CommandResult quantize(const std::string& name,
                                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"quantize"};
    for (const auto& [option, value] : options) {
      arguments.insert(arguments.end(), {option, option == "--save_path" ? "out/" + name : value});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  [[nodiscard]] support::CommandResult restore(const std::string& checkpoint,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"restore", "--checkpoint", checkpoint, "--save_path", "out/restored"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  [[nodiscard]] std::string record(const std::string& name) const {
    return support::read_text(work / ("out/" + name + "_quant_param_record.txt"));
  }
  /// The options that say where data are.
  [[nodiscard]] std::vector<std::string> data() const {
    return {"--input_shape", options.at("--input_shape"), "--data_dir", options.at("--data_dir")};
  }
  void check_refused(const support::CommandResult& result, const std::string& part) const {
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(error_line(result).find(part) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(work / "out/restored_deploy_model.onnx"));
  }
};

}  // namespace

TEST_CASE_FIXTURE(RestoreFixture,
                  "K6 a calibration is finished from its checkpoint, with the batches that are missing") {
  REQUIRE(quantize("whole").exit_code == 0);
  REQUIRE(quantize("half", {"--shard", "1/2"}).exit_code == 0);
  const std::string checkpoint = "out/half_calibration.ckpt";
  check_refused(restore(checkpoint), "has seen 2 of 4 batches; give --data_dir");
  const auto result = restore(checkpoint, data());
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(record("restored") == record("whole"));
  CHECK(support::read_text(work / "out/restored_deploy_model.onnx") ==
        support::read_text(work / "out/whole_deploy_model.onnx"));
  std::filesystem::remove(work / "out/restored_deploy_model.onnx");
  CHECK(restore(checkpoint).exit_code == 0);  // it is finished now, and needs no data
  CHECK(record("restored") == record("whole"));
}

TEST_CASE_FIXTURE(RestoreFixture, "K6 the checkpoint of a finished calibration stands for its record") {
  REQUIRE(quantize("m").exit_code == 0);
  const auto outputs = [&](const std::string& factors, const std::string& folder) {
    std::vector<std::string> arguments{"run",    "--model",    options.at("--model"), "--record", factors,
                                       "--mode", "real_quant", "--outputs",           folder,     "--batches",
                                       "1"};
    const auto more = data();
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = amct(arguments);
    CAPTURE(result.output);
    REQUIRE(result.exit_code == 0);
    return support::read_text(work / (folder + "/logits_output_batch0.npy"));
  };
  const std::string of_record = outputs("out/m_quant_param_record.txt", "a");
  CHECK_FALSE(of_record.empty());
  CHECK(outputs("out/m_calibration.ckpt", "b") == of_record);

  REQUIRE(quantize("half", {"--shard", "1/2"}).exit_code == 0);
  std::vector<std::string> arguments{
      "run", "--model", options.at("--model"), "--record", "out/half_calibration.ckpt", "--mode", "real_quant"};
  const auto more = data();
  arguments.insert(arguments.end(), more.begin(), more.end());
  check_refused(amct(arguments), "the calibration is not finished: 2 of 4 batches were seen");
}

TEST_CASE_FIXTURE(RestoreFixture, "K6 damaged checkpoints and other configs are refused") {
  REQUIRE(quantize("m").exit_code == 0);
  REQUIRE(quantize("other", {"--activation_offset", "false"}).exit_code == 0);
  check_refused(restore("out/m_calibration.ckpt", {"--config_file", "out/other_config.json"}),
                "was made with another config");
  CHECK(restore("out/m_calibration.ckpt", {"--config_file", "out/m_config.json"}).exit_code == 0);
  std::filesystem::remove(work / "out/restored_deploy_model.onnx");
  std::string bytes = support::read_text(work / "out/m_calibration.ckpt");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  support::write_text(work / "damaged.ckpt", bytes);
  check_refused(restore("damaged.ckpt"), "damaged.ckpt");
  check_refused(restore("nothere.ckpt"), "nothere.ckpt");
}
