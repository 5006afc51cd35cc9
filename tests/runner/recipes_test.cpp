// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

namespace {

using support::contains;

const std::vector<std::string> kRecipes{
    "int8", "int8-fast",      "accurate",        "best",     "int12-cube", "a16w8",
    "w4a8", "cube_only_8bit", "cube_only_12bit", "tuning-1", "tuning-2",   "tuning"};

}  // namespace

TEST_CASE_FIXTURE(RunnerFixture, "recipes are listed, printed as configs, and unknown ones are refused") {
  const auto list = amct({"recipes"});
  CHECK(list.exit_code == 0);
  for (const auto& name : kRecipes) CHECK(contains(list.output, name));
  const auto printed = amct({"recipes", "w4a8"});
  CHECK(printed.exit_code == 0);
  CHECK(contains(printed.output, "quant_bits : 4"));
  support::write_text(work / "w4a8.cfg", printed.output);
  CHECK(amct({"config", "check", "w4a8.cfg", "--model", options["--model"]}).exit_code == 0);
  const auto yaml = amct({"recipes", "cube_only_12bit", "--flavour", "hotwheels"});
  support::write_text(work / "cube.yaml", yaml.output);
  CHECK(amct({"config", "check", "cube.yaml", "--flavour", "hotwheels", "--model", options["--model"]}).exit_code == 0);
  CHECK(contains(yaml.output, "num_bits: 12"));

  const auto unknown = amct({"recipes", "int7"});
  CHECK(unknown.exit_code == 1);
  CHECK(contains(error_line(unknown), "did you mean"));
  CHECK(contains(error_line(amct({"recipes", "w4a8", "--flavour", "tensorflow"})), "has no weights of 4 bits"));
  CHECK(contains(error_line(amct({"recipes", "tuning"})), "--model"));
}

TEST_CASE_FIXTURE(RunnerFixture, "K15 K27 no recipe sends a CUBE layer to float: all pass the network's checks") {
  for (const char* flavour : {"hotwheels", "hotwheels-dynamic"}) {
    for (const auto& recipe : kRecipes) {
      CAPTURE(flavour);
      CAPTURE(recipe);
      const auto made = amct({"config", "create", "--model", options["--model"], "--flavour", flavour, "--recipe",
                              recipe, "--config_file", "full.json"});
      CAPTURE(made.output);
      CHECK(made.exit_code == 0);
      const auto checked = amct({"config", "check", "full.json", "--model", options["--model"], "--flavour", flavour});
      CAPTURE(checked.output);
      CHECK(checked.exit_code == 0);
      CHECK_FALSE(contains(checked.output, "CUBE"));
    }
  }
  // The check that this leans on: a layer deleted from the full config is float, and then it fires.
  std::string text = support::read_text(work / "full.json");
  const std::size_t name = text.find("\"conv1\"");
  REQUIRE(name != std::string::npos);
  text.replace(name, 7, "\"pool_\"");
  support::write_text(work / "full.json", text);
  CHECK(amct({"config", "check", "full.json", "--model", options["--model"], "--flavour", "hotwheels"}).exit_code == 1);
}

TEST_CASE_FIXTURE(RunnerFixture,
                  "K31 the guide's tuning order: samples, sensitive layers, then bits and channel_wise") {
  const std::vector<std::string> model{"--model", options["--model"], "--batch_size", "16"};
  const auto recipe = [&](const std::string& name, const std::string& flavour) {
    std::vector<std::string> arguments{"recipes", name, "--flavour", flavour};
    arguments.insert(arguments.end(), model.begin(), model.end());
    return amct(arguments).output;
  };
  const std::string first = recipe("tuning-1", "pytorch");
  CHECK(contains(first, "batch_num : 2"));  // 2 * 16 samples
  CHECK_FALSE(contains(first, "skip_layers"));
  const std::string second = recipe("tuning-2", "pytorch");
  for (const char* layer : {"\"conv1\"", "\"conv3_dw\"", "\"fc\""}) {
    CHECK(contains(second, std::string("skip_layers : ") + layer));
  }
  CHECK_FALSE(contains(second, "INT16"));
  CHECK(contains(recipe("tuning", "pytorch"), "INT16"));

  const std::string cube = recipe("tuning", "hotwheels");
  CHECK_FALSE(contains(cube, "skip_layers"));
  CHECK(contains(cube, "num_bits: 12"));
  CHECK(contains(cube, "num_bits: 16"));

  // A recipe's batch_num counts, and says so.
  for (const char* flavour : {"pytorch", "hotwheels"}) {
    const auto both = amct({"config", "create", "--model", options["--model"], "--flavour", flavour, "--recipe",
                            "tuning-1", "--batch_num", "3", "--config_file", "full.json"});
    CHECK(both.exit_code == 0);
    CHECK(contains(both.output, "batch_num: the argument is ignored"));
    CHECK(contains(support::read_text(work / "full.json"), "\"batch_num\":2"));
  }

  const auto made =
      amct({"config", "create", "--model", options["--model"], "--recipe", "tuning", "--config_file", "full.json"});
  CHECK(made.exit_code == 0);
  CHECK(contains(support::read_text(work / "full.json"), "\"channel_wise\":true"));
}

TEST_CASE_FIXTURE(RunnerFixture, "int12-cube widens the layers that can be wide, and asks for no others") {
  const auto made =
      amct({"config", "create", "--model", options["--model"], "--recipe", "int12-cube", "--config_file", "full.json"});
  CAPTURE(made.output);
  CHECK(made.exit_code == 0);
  CHECK_FALSE(contains(made.output, "warning"));
  CHECK(contains(support::read_text(work / "full.json"), "\"num_bits\":16"));
  const auto printed = amct({"recipes", "int12-cube"}).output;
  for (const char* type : {"Conv1d", "Conv2d", "Linear"}) CHECK(contains(printed, '"' + std::string(type) + '"'));
}

TEST_CASE_FIXTURE(RunnerFixture, "K46 activation bits of 9 to 16 are stated in the config that goes with the model") {
  const auto made = amct({"config", "create", "--model", options["--model"], "--flavour", "hotwheels", "--recipe",
                          "cube_only_12bit", "--config_file", "full.json"});
  CHECK(made.exit_code == 0);
  CHECK(contains(support::read_text(work / "full.json"), "\"num_bits\":12"));
}
