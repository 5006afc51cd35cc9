// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"
#include "support/graph_builder.hpp"

using support::contains;

TEST_CASE_FIXTURE(RunnerFixture, "explain shows a layer with its factors") {
  REQUIRE(calibrate().exit_code == 0);
  const auto result =
      amct({"explain", "conv2", "--model", options.at("--model"), "--record", "out/m_quant_param_record.txt"});
  CAPTURE(result.output);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.output, "conv2 + bn2"));
  CHECK(contains(result.output, "weight scales  32 of INT8"));
  CHECK(contains(result.output, "below 2^24"));
}

TEST_CASE_FIXTURE(RunnerFixture, "explain names the level of the static graph's config that decided a value") {
  support::write_text(work / "q.yaml",
                      "common_config:\n  activation_quant_params:\n    quantizer_args: {num_bits: 12}\n"
                      "override_layer_types:\n  - layer_type: AveragePool\n    activation_quant_params:\n"
                      "      quantizer_args: {num_bits: 9}\n"
                      "override_layer_configs:\n  - layer_name: conv1\n    activation_quant_params:\n"
                      "      quantizer_args: {num_bits: 10}\n"
                      "skip_layers: [relu4]\n");
  const auto explain = [&](const std::string& layer) {
    const auto result =
        amct({"explain", layer, "--model", options.at("--model"), "--flavour", "hotwheels", "--config", "q.yaml"});
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
    return result.output;
  };
  CHECK(contains(explain("conv2"), "  common_config (q.yaml:3)"));
  CHECK(contains(explain("avgpool"), "  override_layer_types[0] (q.yaml:7)"));
  CHECK(contains(explain("conv1"), "  override_layer_configs[0] (q.yaml:11)"));
  CHECK(contains(explain("relu4"), "skip_layers (q.yaml)"));
  CHECK(contains(explain("bn1"), "it is folded into the layer before it"));
}

TEST_CASE_FIXTURE(RunnerFixture, "explain of a layer that is not there gives the nearest names") {
  const auto result = amct({"explain", "conv9", "--model", options.at("--model")});
  CHECK(result.exit_code == 1);
  CHECK(contains(error_line(result), "conv1"));
}
