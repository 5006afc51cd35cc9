// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/interop/npy.hpp>

#include "onnx/model_builder.hpp"
#include "runner/runner_fixture.hpp"
#include "support/image_file.hpp"

namespace {

struct EvalFixture : RunnerFixture {
  const std::string data = AMCT_EXAMPLE_DATA;

  [[nodiscard]] support::CommandResult eval(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "eval");
    return amct(arguments);
  }
  /// The float network on the labelled images.
  [[nodiscard]] std::vector<std::string> labelled(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"--model",  data + "/digits.onnx",    "--data", data + "/eval_images.npy",
                                       "--labels", data + "/eval_labels.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// The number behind the last mention of a name.
  static double number_behind(const std::string& text, const std::string& name) {
    const std::size_t row = text.rfind(name);
    REQUIRE(row != std::string::npos);
    return std::stod(text.substr(row + name.size()));
  }
  void check_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) const {
    const auto result = eval(arguments);
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    const std::string error = error_line(result);
    for (const auto& part : parts) {
      CAPTURE(part);
      CHECK(error.find(part) != std::string::npos);
    }
  }
  /// Class scores are the four pixels of an image.
  void use_pixels_as_scores() const {
    support::ModelBuilder net;
    net.input("x", {-1, 1, 2, 2}).output("y", {-1, 4});
    net.node("Flatten", "scores", {"x"}, {"y"}).save(work / "net.onnx");
    std::filesystem::create_directory(work / "images");
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<std::uint8_t> pixels{10, 20, 30, 40};
      pixels[i] = 200;
      support::write_image(work / ("images/" + std::to_string(i) + ".png"), 2, 2, 1, pixels);
    }
  }
};

}  // namespace

TEST_CASE_FIXTURE(EvalFixture, "the quantized example network is as good as the float one within half a point") {
  REQUIRE(calibrate().exit_code == 0);
  const auto result =
      eval(labelled({"--record", "out/m_quant_param_record.txt", "--model", "out/m_fake_quant_model.onnx", "--model",
                     "out/m_deploy_model.onnx", "--batch_size", "300", "--json", "e.json", "--against", "float"}));
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const double accuracy = number_behind(result.output, "digits.onnx   ");
  CHECK(accuracy > 99.0);
  for (const std::string run : {"digits.onnx fake_quant", "digits.onnx real_quant", "m_fake_quant_model.onnx   ",
                                "m_deploy_model.onnx real_quant"}) {
    CHECK(number_behind(result.output, run) > accuracy - 0.5);
  }
  CHECK(result.output.find("compared with: digits.onnx") != std::string::npos);
  const std::string json = support::read_text(work / "e.json");  // the last batch is not full
  CHECK(json.find("\"samples\":2000") != std::string::npos);
  CHECK(number_behind(json, "\"top1\":") > 99.0);
  CHECK(number_behind(json, "\"same_class\":") > 99.5);
  CHECK(number_behind(json, "\"sqnr\":") > 30.0);
}

TEST_CASE_FIXTURE(EvalFixture,
                  "a list of images with labels gives top-1 and top-5; a network is compared with another") {
  use_pixels_as_scores();
  support::write_text(work / "images/image_label.txt", "0.png 0\n1.png 1\n2.png 3\n");
  const std::vector<std::string> arguments{"--model", "net.onnx", "--data", "images/image_label.txt",
                                           "--json",  "e.json"};
  REQUIRE(eval(arguments).exit_code == 0);
  const std::string json = support::read_text(work / "e.json");
  CHECK(number_behind(json, "\"top1\":") == doctest::Approx(100.0 * 2 / 3));
  CHECK(number_behind(json, "\"top5\":") == 100.0);
  CHECK(json.find("\"preprocessing\"") != std::string::npos);
  CHECK(json.find("\"channels\":\"gray\"") != std::string::npos);
  support::ModelBuilder other;
  other.input("x", {-1, 1, 2, 2}).output("y", {-1, 4});
  other.node("Neg", "negative", {"x"}, {"n"}).node("Flatten", "scores", {"n"}, {"y"}).save(work / "other.onnx");
  const auto result = eval({"--model", "net.onnx", "--data", "images", "--against", "other.onnx"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(number_behind(result.output, "  net.onnx  ") == 0.0);
  CHECK(result.output.find("compared with: other.onnx") != std::string::npos);
  support::write_text(work / "images/image_label.txt", "0.png cat\n1.png dog\n2.png cow\n");
  check_refused(arguments, {"[data.format]", "image_label.txt", "\"cat\"", "number of a class"});
  support::write_text(work / "images/image_label.txt", "0.png 0\n1.png 1\n2.png 4\n");
  check_refused(arguments, {"[data.format]", "a label is 4, expected 0 to 3"});
}

TEST_CASE_FIXTURE(EvalFixture, "a program of the user's measures the outputs of every run") {
  use_pixels_as_scores();
  support::write_text(work / "words.txt", "cat\ndog\ncow\n");
  support::write_text(work / "metric.sh",
                      "test $(wc -l < \"$2\") = 3\n"
                      "test \"$3 $4\" = 'float net.onnx'\n"
                      "test \"$AMCT_OUTPUTS $AMCT_LABELS $AMCT_MODE $AMCT_MODEL\" = \"$1 $2 $3 $4\"\n"
                      "ls \"$1\"\n"
                      "cat \"$1\"/*.npy | wc -c\n");
  const std::vector<std::string> arguments{"--model",  "net.onnx",  "--data",  "images", "--batch_size",     "2",
                                           "--labels", "words.txt", "--scale", "1",      "--metric_command", ""};
  const auto with = [&](const std::string& command, const std::vector<std::string>& more = {}) {
    auto complete = arguments;
    complete.back() = command;
    complete.insert(complete.end(), more.begin(), more.end());
    return complete;
  };
  const auto result = eval(with("sh -e metric.sh {outputs} {labels} {mode} {model}", {"--json", "e.json"}));
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(number_behind(support::read_text(work / "e.json"), "\"metric\":") == 2 * 128 + 3 * 4 * 4);  // headers, scores
  check_refused(with("exit 3"), {"[io.read]", "--metric_command", "\"exit 3\" failed with exit code 3"});
  check_refused(with("kill -9 $$"), {"killed by signal 9"});
  check_refused(with("echo 1; echo none"), {"the last line", "\"none\"", "expected a number"});
  check_refused(with("echo nan"), {"\"nan\"", "expected a number"});
  check_refused(with("true"), {"\"\"", "expected a number"});
  check_refused(with("echo {output}"), {"[data.format]", "{output}", "{outputs}"});
  check_refused(with("sleep 60 | cat", {"--metric_timeout", "0.2"}), {"took more than 0.2 seconds"});
  CHECK(eval(with("sleep 60 & echo 1")).exit_code == 0);  // what it leaves behind is ended
  support::write_text(work / "words.txt", "17\n4\n");     // numbers, but no class of each sample
  CHECK(eval(with("wc -l < {labels}")).exit_code == 0);
  CHECK(eval(with("echo 1", {"--modes", "real_quant"}))
            .output.find("net.onnx cannot run in mode real_quant and runs in float") != std::string::npos);
}

TEST_CASE_FIXTURE(EvalFixture, "without labels the first run is the reference; one run alone is nothing to compare") {
  REQUIRE(calibrate({"--batch_num", "1"}).exit_code == 0);
  auto arguments = network_arguments();
  const auto result =
      eval({"--model", data + "/digits.onnx", "--record", "out/m_quant_param_record.txt", "--data",
            options["--data_dir"], "--input_shape", options["--input_shape"], "--modes", "float,real_quant"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("fake_quant") == std::string::npos);
  CHECK(number_behind(result.output, "digits.onnx real_quant") > 95.0);
  check_refused({"--model", data + "/digits.onnx", "--data", options["--data_dir"], "--batch_size", "16"},
                {"[data.format]", "nothing to be compared with", "--labels"});
  check_refused(labelled({"--modes", "float,int8", "--record", "out/m_quant_param_record.txt"}),
                {"--modes", "\"int8\""});
  check_refused(labelled({"--output", "classes"}), {"[model.shape]", "classes", "--output", "logits"});
}

TEST_CASE_FIXTURE(EvalFixture, "labels that do not fit the samples are refused, also under the name evaluate") {
  const auto result = amct({"evaluate", "--model", data + "/digits.onnx", "--data", data + "/eval_images.npy",
                            "--labels", data + "/eval_images.npy"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(result.output.find("[data.format]") != std::string::npos);
  CHECK(result.output.find("expected one for each of 2000 samples") != std::string::npos);
}
