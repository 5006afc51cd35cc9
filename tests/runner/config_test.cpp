// SPDX-License-Identifier: Apache-2.0
// `amct config create` and `amct config check` as users call them.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"

namespace {

using support::CommandResult;

struct ConfigFixture : RunnerFixture {
  [[nodiscard]] CommandResult run(std::vector<std::string> arguments, const std::vector<std::string>& more) const {
    arguments.insert(arguments.end(), {"--model", options.at("--model")});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_command(work.path(), AMCT_RUNNER, arguments);
  }
  [[nodiscard]] CommandResult create(const std::vector<std::string>& more = {}) const {
    return run({"config", "create", "--config_file", "config.json"}, more);
  }
  [[nodiscard]] CommandResult check(const std::string& file, const std::vector<std::string>& more = {}) const {
    return run({"config", "check", file}, more);
  }
  [[nodiscard]] std::string written() const { return support::read_text(work / "config.json"); }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(ConfigFixture, "a full config is made of a model alone, and passes its own check") {
  const CommandResult made = create();
  CHECK_MESSAGE(made.exit_code == 0, made.output);
  CHECK(contains(made.output, "config.json written"));
  CHECK(written().starts_with("{\n    \"version\":1,\n    \"batch_num\":1,\n    \"activation_offset\":true,\n"));
  CHECK(contains(written(), "\"act_algo\":\"ifmr\""));
  const CommandResult judged = check("config.json");
  CHECK_MESSAGE(judged.exit_code == 0, judged.output);
  CHECK(contains(judged.output, "config.json: good"));
}

TEST_CASE_FIXTURE(ConfigFixture, "an easy config changes what it names") {
  support::write_text(work / "quant.cfg", "batch_num : 3\nskip_layers : \"conv1\"\n");
  CHECK(create({"--config_def", "quant.cfg"}).exit_code == 0);
  CHECK(contains(written(), "\"batch_num\":3"));
  CHECK(contains(written(), "\"quant_enable\":false"));
}

TEST_CASE_FIXTURE(ConfigFixture, "K16: arguments beside a definition file are ignored with a warning") {
  support::write_text(work / "quant.cfg", "batch_num : 3\n");
  const CommandResult both = create({"--config_def", "quant.cfg", "--batch_num", "5", "--activation_offset", "false"});
  CHECK(both.exit_code == 0);
  CHECK(contains(both.output, "batch_num: the argument is ignored"));
  CHECK(contains(both.output, "activation_offset: the argument is ignored"));
  CHECK(contains(written(), "\"batch_num\":3"));
  CHECK(contains(written(), "\"activation_offset\":true"));

  CHECK(create({"--batch_num", "5", "--activation_offset", "false"}).exit_code == 0);
  CHECK(contains(written(), "\"batch_num\":5"));
  CHECK(contains(written(), "\"activation_offset\":false"));
}

TEST_CASE_FIXTURE(ConfigFixture, "every flavour and mode makes a config that passes its check") {
  const std::vector<std::vector<std::string>> kinds = {
      {"--flavour", "pytorch"},   {"--flavour", "onnx"},
      {"--flavour", "mindspore"}, {"--flavour", "tensorflow"},
      {"--flavour", "caffe"},     {"--mode", "retrain"},
      {"--mode", "distill"},      {"--flavour", "hotwheels-dynamic", "--mode", "retrain"}};
  for (const auto& kind : kinds) {
    CAPTURE(kind[1]);
    const CommandResult made = create(kind);
    CHECK_MESSAGE(made.exit_code == 0, made.output);
    const CommandResult judged = check("config.json", kind);
    CHECK_MESSAGE(judged.exit_code == 0, judged.output);
  }
}

TEST_CASE_FIXTURE(ConfigFixture, "the hotwheels flavours take YAML and list activations") {
  support::write_text(work / "quant.yaml",
                      "common_config:\n"
                      "  activation_quant_params:\n"
                      "    quantizer: UlqFakeQuantize\n"
                      "    quantizer_args: {num_bits: 12, observer: IFMRObserver}\n");
  const CommandResult made = create({"--flavour", "hotwheels", "--config_def", "quant.yaml"});
  CHECK_MESSAGE(made.exit_code == 0, made.output);
  CHECK(contains(written(), "\"quantizer\":\"UlqFakeQuantize\""));
  CHECK(contains(written(), "\"num_bits\":12"));

  support::write_text(work / "quant.txt", "common_config: {}\n");
  CHECK(create({"--flavour", "hotwheels", "--config_def", "quant.txt"}).exit_code == 1);
}

TEST_CASE_FIXTURE(ConfigFixture, "hotwheels lists neither a folded BatchNormalization nor the Relu behind it") {
  CHECK(create({"--flavour", "hotwheels"}).exit_code == 0);
  CHECK(contains(written(), "\"conv1\":{"));
  CHECK_FALSE(contains(written(), "\"bn1\":{"));
  CHECK_FALSE(contains(written(), "\"relu1\":{"));
  CHECK(check("config.json", {"--flavour", "hotwheels"}).exit_code == 0);
}

TEST_CASE_FIXTURE(ConfigFixture, "all that is wrong is listed with its place") {
  CHECK(create().exit_code == 0);
  std::string text = written();
  const auto replace_first = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace_first("\"batch_num\":1", "\"batch_num\":0");
  replace_first("\"max_percentile\":0.999999", "\"max_percentile\":0.4");
  support::write_text(work / "bad.json", text);
  const CommandResult judged = check("bad.json");
  CHECK(judged.exit_code == 1);
  CHECK(contains(judged.output, "bad.json:3:17 batch_num: got 0, expected at least 1"));
  CHECK(contains(judged.output, "max_percentile: got 0.4, expected above 0.5, at most 1"));
}

TEST_CASE_FIXTURE(ConfigFixture, "nothing is written when the easy config is wrong") {
  support::write_text(work / "quant.cfg", "skip_layers : \"nothere\"\n");
  const CommandResult made = create({"--config_def", "quant.cfg"});
  CHECK(made.exit_code == 1);
  CHECK(contains(made.output, "quant.cfg:1:"));
  CHECK(contains(made.output, "nothere"));
  CHECK_FALSE(std::filesystem::exists(work / "config.json"));
  CHECK(check("quant.cfg").exit_code == 1);
}

TEST_CASE_FIXTURE(ConfigFixture, "easy configs are checked too, in the mode they are for") {
  support::write_text(work / "prune.cfg",
                      "prune_config { filter_pruner { balanced_l2_norm_filter_prune { prune_ratio : 0.3 } } }\n");
  const CommandResult good = check("prune.cfg", {"--mode", "prune"});
  CHECK_MESSAGE(good.exit_code == 0, good.output);
  CHECK(contains(good.output, "good as an easy config"));
  CHECK(check("prune.cfg", {"--mode", "retrain"}).exit_code == 1);
}

TEST_CASE_FIXTURE(ConfigFixture, "K41: bits come from a mapping file beside the config") {
  support::write_text(work / "quant.cfg", "om_config { mapping_file : \"./inst.om.json\" }\n");
  support::write_text(work / "inst.om.json",
                      R"({"graph":[{"op":[{"name":"conv1","type":"Conv2D","input_desc":[{"dtype":"DT_INT16"}]}]}]})");
  const std::vector<std::string> base{"--flavour", "hotwheels-dynamic", "--config_def", "quant.cfg"};
  CHECK(create(base).exit_code == 0);
  CHECK_FALSE(contains(written(), "\"num_bits\":16"));
  auto all = base;
  all.emplace_back("--om_all_layers");
  const CommandResult made = create(all);
  CHECK_MESSAGE(made.exit_code == 0, made.output);
  CHECK(contains(written(), "\"num_bits\":16"));
}

TEST_CASE_FIXTURE(ConfigFixture, "wrong usage has exit code 2 and help names the modes") {
  CHECK(create({"--flavour", "torch"}).exit_code == 2);
  CHECK(create({"--mode", "sleep"}).exit_code == 2);
  const auto help = support::run_command(work.path(), AMCT_RUNNER, {"config", "create", "--help"});
  CHECK(help.exit_code == 0);
  CHECK(contains(help.output, "--config_def"));
  CHECK(contains(help.output, "distill"));
}
