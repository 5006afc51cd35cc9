// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/interop/npy.hpp>

#include "runner/runner_fixture.hpp"
#include "support/image_file.hpp"

namespace {

/// The first of the example's labelled images as PNG files with a list of labels, images/image_label.txt.
struct SampleFixture : RunnerFixture {
  static constexpr std::size_t kImages = 40;

  SampleFixture() {
    const std::string data = AMCT_EXAMPLE_DATA;
    amct::interop::NpyFile images(data + "/eval_images.npy");
    const auto labels = amct::cast(amct::interop::read_npy(data + "/eval_labels.npy"), amct::ElementType::int64);
    std::filesystem::create_directory(work / "images");
    std::string list;
    for (std::size_t i = 0; i < kImages; ++i) {
      const amct::Tensor image = images.read_rows(i, 1);
      const auto values = image.data<std::uint8_t>();
      const std::vector<std::uint8_t> pixels(values.begin(), values.end());
      const std::string name = std::to_string(100 + i) + ".png";
      support::write_image(work / ("images/" + name), 28, 28, 1, pixels);
      list += name + ' ' + std::to_string(labels.data<std::int64_t>()[i]) + '\n';
    }
    support::write_text(work / "images/image_label.txt", list);
  }
  [[nodiscard]] support::CommandResult sample(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"sample", "--model", options.at("--model"), "--scale", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
};

}  // namespace

TEST_CASE_FIXTURE(SampleFixture, "K17: the PTQ sample takes AMCT's options, writes AMCT's files, ends with the time") {
  const auto result = sample({"--eval_iter", "2", "--batch_size", "16"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  for (const std::string file :
       {"checkpoints/calibration/digits_calibration_deploy_model.onnx",
        "checkpoints/calibration/digits_quant_param_record.txt", "checkpoints/calibration/digits_calibration.ckpt",
        "tmp/calibration/config.json", "tmp/calibration/float.dot", "tmp/calibration/quant.dot"}) {
    CAPTURE(file);
    CHECK(std::filesystem::file_size(work / file) > 0);
  }
  CHECK(!std::filesystem::exists(work / "checkpoints/calibration/digits_deploy_model.onnx"));
  CHECK(result.output.find("digits_calibration_deploy_model.onnx real_quant  ") != std::string::npos);
  CHECK(result.output.find("  32 ") != std::string::npos);  // images
  const std::size_t last = result.output.rfind("\n==> AMCT run digits_calibration in ");
  REQUIRE(last != std::string::npos);
  CHECK(result.output.find('\n', last + 1) == result.output.size() - 1);
}

TEST_CASE_FIXTURE(SampleFixture, "K17: --benchmark takes all images, --config_def a config; what is wrong is named") {
  support::write_text(work / "quant.yaml",
                      "common_config:\n"
                      "  quant_enable: true\n"
                      "  activation_quant_params:\n"
                      "    quantizer: UlqFakeQuantize\n"
                      "    quantizer_args: {observer: IFMRObserver, num_bits: 8, batch_num: 2}\n");
  const auto result = sample({"--benchmark", "--config_def", "quant.yaml", "--eval_set", "images/image_label.txt"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("  40 ") != std::string::npos);
  const std::string config = support::read_text(work / "tmp/calibration/config.json");
  CHECK(config.find("\"batch_num\":2") != std::string::npos);
  const auto missing = sample({"--eval_set", "nothing.txt"});
  CHECK(missing.exit_code == 1);
  CHECK(error_line(missing).find("nothing.txt") != std::string::npos);
  CHECK(sample({"--eval_iter", "0"}).exit_code == 2);
  CHECK(amct({"sample"}).exit_code == 2);
}
