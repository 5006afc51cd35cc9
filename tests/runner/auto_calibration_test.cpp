// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/interop/npy.hpp>
#include <amct/protobuf/record_file.hpp>

#include "runner/runner_fixture.hpp"
#include "support/text_file.hpp"

namespace {

/// The example network with 4-bit weights, which lose something that a search can win back.
class SearchFixture : public RunnerFixture {
 public:
  [[nodiscard]] support::CommandResult search(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"auto-calibrate"};
    for (const char* option : {"--model", "--save_path", "--input_shape", "--data_dir"}) {
      arguments.insert(arguments.end(), {option, options.at(option)});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  [[nodiscard]] std::string int4() const {
    std::ofstream(work / "int4.cfg") << "batch_num : 2\ncommon_config : { arq_quantize : { quant_bits : 4 } }\n";
    return "int4.cfg";
  }
  [[nodiscard]] std::string text(const std::string& file) const { return support::read_text(work / file); }
  [[nodiscard]] bool exists(const std::string& file) const { return std::filesystem::exists(work / file); }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(SearchFixture, "AMCT's search writes its three files and the models") {
  const auto result = search({"--strategy", "binary_search", "--budget", "0.8"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "same class %"));
  CHECK(text("out/accuracy_based_auto_calibration_ranking_information.json").starts_with("[\n    [\n        \""));
  CHECK(text("amct_log/accuracy_based_auto_calibration_record.json").starts_with("{\n    \"roll_back_config\":{"));
  CHECK(exists("out/accuracy_based_auto_calibration_final_config.json"));
  CHECK(exists("out/m_deploy_model.onnx"));
}

TEST_CASE_FIXTURE(SearchFixture, "Where no quantized network satisfies none is written, and the exit code says so") {
  const auto result = search({"--strategy", "binary_search", "--budget", "0.5", "--metric_command",
                              "case {mode} in float) echo 1 ;; *) echo 0 ;; esac"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.output, "no quantized network is written"));
  CHECK(exists("out/accuracy_based_auto_calibration_ranking_information.json"));
  CHECK_FALSE(exists("out/accuracy_based_auto_calibration_final_config.json"));
  CHECK_FALSE(exists("out/m_deploy_model.onnx"));
}

TEST_CASE_FIXTURE(SearchFixture, "The greedy search keeps every trial and writes what it found") {
  const auto result = search({"--budget", "0.8", "--calibration_config", int4(), "--trials", "kept"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "dB as configured"));
  CHECK(contains(result.output, "trial 1: metric"));
  const auto record = amct::protobuf::read_record(work / "out/m_quant_param_record.txt");
  CHECK(record.size() >= 5);
  const std::string report = text("out/m_precision.json");
  CHECK(contains(report, "\"name\":\"A8W4\""));
  CHECK(contains(report, "\"name\":\"A16W8\""));
  CHECK(contains(report, "\"satisfied\":true"));
  CHECK(contains(text("kept/trial_001_config.json"), "\"num_bits\":4"));
  CHECK(contains(text("kept/trial_001_record.txt"), "wts_type: \"INT4\""));
  CHECK(exists("out/accuracy_based_auto_calibration_final_config.json"));
}

TEST_CASE_FIXTURE(SearchFixture, "K15 a search on hotwheels raises bits and sends no layer of CUBE to float") {
  const auto result = search({"--flavour", "hotwheels-dynamic", "--cost_budget", "4"});
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  const std::string config = text("out/accuracy_based_auto_calibration_final_config.json");
  CHECK(contains(config, "\"num_bits\":16"));
  const std::size_t conv = config.find("\"conv2\":{");
  REQUIRE(conv != std::string::npos);
  CHECK(config.substr(conv, 60).find("\"quant_enable\":true") != std::string::npos);
  const auto refused = search({"--flavour", "hotwheels-dynamic", "--budget", "1", "--strategy", "binary_search"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(error_line(refused), "CUBE"));
}

TEST_CASE_FIXTURE(SearchFixture, "A program can give the data and measure the networks (--evaluator)") {
  for (int b = 0; b < 2; ++b) {
    amct::Tensor batch(amct::ElementType::float32, amct::Shape{4, 1, 28, 28});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch.data<float>()[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(b)) % 101) / 50.0F - 1.0F;
    }
    std::ofstream file(work / ("batch" + std::to_string(b) + ".npy"), std::ios::binary);
    amct::interop::write_npy(file, batch);
  }
  std::ofstream(work / "evaluate.sh") << "case $1 in\n"
                                         "  data) cp batch*.npy \"$2\"; echo 2 ;;\n"
                                         "  evaluate) test -s \"$3\" && echo \"measured $3\" && echo 90.5 ;;\n"
                                         "esac\n";
  const std::vector<std::string> arguments{"calibration",
                                           "--model",
                                           options.at("--model"),
                                           "--save_path",
                                           "out/m",
                                           "--evaluator",
                                           "sh evaluate.sh {action} {data} {model}",
                                           "--budget",
                                           "0.5"};
  const auto result = amct(arguments);
  CAPTURE(result.output);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.output, "90.5"));
  CHECK(exists("out/m_deploy_model.onnx"));
  CHECK(exists("out/accuracy_based_auto_calibration_final_config.json"));

  std::ofstream(work / "evaluate.sh") << "echo 3\n";  // says that it wrote three batches
  const auto wrong = amct(arguments);
  CHECK(wrong.exit_code == 1);
  CHECK(contains(error_line(wrong), "found 0 .npy files"));
}

TEST_CASE_FIXTURE(SearchFixture, "Labels that do not fit and a search without a budget are refused") {
  std::ofstream(work / "labels.txt") << "1\n2\n3\n";
  const auto labels = search({"--budget", "1", "--labels", "labels.txt"});
  CHECK(labels.exit_code == 1);
  CHECK(contains(error_line(labels), "has 3 labels, expected one for each of"));
  std::filesystem::create_directory(work / "nothing");
  const auto empty = search({"--budget", "1", "--eval_data", "nothing"});
  CHECK(empty.exit_code == 1);
  CHECK(contains(error_line(empty), "nothing --eval_data: holds nothing to measure networks with"));
  CHECK(calibrate({"--budget", "1"}).exit_code == 2);  // means nothing without --evaluator
  CHECK(amct({"calibration", "--model", options.at("--model"), "--save_path", "out/m", "--evaluator", "echo 1",
              "--batch_size", "4"})
            .exit_code == 2);
  CHECK(search({}).exit_code == 2);
  CHECK(search({"--cost_budget", "2", "--strategy", "binary_search"}).exit_code == 2);
  CHECK(files_written() == 0);
}

TEST_CASE_FIXTURE(SearchFixture, "Ctrl-C ends a search and the program that measures, and leaves no files") {
  const auto stopped = search({"--budget", "0", "--metric_command", "kill -INT $PPID; sleep 60"});
  CAPTURE(stopped.output);
  CHECK(stopped.exit_code == 130);
  CHECK(contains(stopped.output, "interrupted; no file was changed"));
  CHECK(files_written() == 0);
}
