// SPDX-License-Identifier: Apache-2.0
// A calibration that is split between processes gives the bytes of a single one.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"

namespace {

struct SplitFixture : RunnerFixture {
  /// `amct quantize` of the example network into out/<name>.
  [[nodiscard]] std::vector<std::string> quantize(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"quantize"};
    for (const auto& [option, value] : options) {
      arguments.insert(arguments.end(), {option, option == "--save_path" ? "out/" + name : value});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void run(const std::vector<std::string>& arguments) const {
    const auto result = amct(arguments);
    CAPTURE(result.output);
    REQUIRE(result.exit_code == 0);
  }
  void check_refused(const std::vector<std::string>& arguments, const std::string& part) const {
    const auto result = amct(arguments);
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(error_line(result).find(part) != std::string::npos);
  }
  void check_equal(const std::string& a, const std::string& b) const {
    for (const char* file : {"_quant_param_record.txt", "_deploy_model.onnx", "_fake_quant_model.onnx"}) {
      CAPTURE(file);
      const std::string content = support::read_text(work / ("out/" + a + file));
      CHECK_FALSE(content.empty());
      CHECK(content == support::read_text(work / ("out/" + b + file)));
    }
  }
  [[nodiscard]] static std::string checkpoint(const std::string& name) { return "out/" + name + "_calibration.ckpt"; }
};

}  // namespace

TEST_CASE_FIXTURE(SplitFixture, "K6 parts of a calibration, merged, give the bytes of a single run") {
  std::vector<std::string> config;
  SUBCASE("IFMR") {}
  SUBCASE("HFMG") {
    support::write_text(work / "hfmg.cfg", "batch_num: 4\ncommon_config {\n  hfmg_quantize {\n  }\n}\n");
    config = {"--definition", "hfmg.cfg"};
  }
  run(quantize("whole", config));
  std::vector<std::string> merge{"merge-stats"};
  for (const std::string k : {"1", "2", "3"}) {
    auto shard = config;
    shard.insert(shard.end(), {"--shard", k + "/3"});
    run(quantize("part" + k, shard));
    CHECK_FALSE(std::filesystem::exists(work / ("out/part" + k + "_deploy_model.onnx")));
    merge.push_back(checkpoint("part" + k));
  }
  merge.insert(merge.end(), {"--out", "out/merged.ckpt"});
  run(merge);
  run({"restore", "--checkpoint", "out/merged.ckpt", "--save_path", "out/restored"});
  check_equal("whole", "restored");
}

TEST_CASE_FIXTURE(SplitFixture, "K6 parts that do not belong together are refused") {
  for (const std::string k : {"1", "2", "3"}) run(quantize("part" + k, {"--shard", k + "/3"}));
  run(quantize("other", {"--shard", "2/3", "--activation_offset", "false"}));
  const auto merge = [&](const std::vector<std::string>& names) {
    std::vector<std::string> arguments{"merge-stats", "--out", "out/merged.ckpt"};
    for (const auto& name : names) arguments.push_back(checkpoint(name));
    return arguments;
  };
  check_refused(merge({"part1", "part3"}), "holds batches 2 to 4 of 4, expected those from 1 on of 4");
  check_refused(merge({"part1", "part1"}), "holds batches 0 to 1 of 4, expected those from 1 on of 4");
  check_refused(merge({"part2", "part1"}), "without gaps and overlaps");
  check_refused(merge({"part1", "other"}), "was made with another config");
  CHECK_FALSE(std::filesystem::exists(work / "out/merged.ckpt"));
  run(merge({"part2", "part3"}));
  check_refused({"restore", "--checkpoint", "out/merged.ckpt", "--save_path", "out/m"}, "is a part of a calibration");
}

#ifdef AMCT_MPIRUN
TEST_CASE_FIXTURE(SplitFixture, "any number of MPI processes gives the bytes of one") {
  run(quantize("whole", {}));
  for (const std::string ranks : {"1", "2", "3"}) {
    CAPTURE(ranks);
    auto arguments = quantize("ranks" + ranks, {});
    arguments.insert(arguments.begin(), {"--oversubscribe", "--allow-run-as-root", "-n", ranks, AMCT_RUNNER});
    const auto result = support::run_command(work.path(), AMCT_MPIRUN, arguments);
    CAPTURE(result.output);
    REQUIRE(result.exit_code == 0);
    check_equal("whole", "ranks" + ranks);
  }
}

TEST_CASE_FIXTURE(SplitFixture, "an error of one MPI process ends all of them with one message") {
  const auto data = copied_data();
  std::filesystem::resize_file(data / "batch_3.bin", 10);
  auto arguments = quantize("m", {});
  arguments.insert(arguments.begin(), {"--oversubscribe", "--allow-run-as-root", "-n", "2", AMCT_RUNNER});
  const auto result = support::run_command(work.path(), AMCT_MPIRUN, arguments);
  CAPTURE(result.output);
  CHECK(result.exit_code != 0);
  CHECK(error_line(result).find("batch_3.bin") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(work / "out/m_deploy_model.onnx"));
}
#endif
