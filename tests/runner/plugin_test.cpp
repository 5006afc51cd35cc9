// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runner/runner_fixture.hpp"
#include "support/contains.hpp"

using support::contains;

namespace {

struct PluginFixture : RunnerFixture {
  [[nodiscard]] support::CommandResult list(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"list-quantizers"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
};

}  // namespace

TEST_CASE_FIXTURE(PluginFixture, "list-quantizers names all quantizers, and the algorithms of the other flavours") {
  const auto all = list({});
  CHECK(all.exit_code == 0);
  for (const char* name : {"UlqFakeQuantize", "IFMRObserver", "LnqFakeQuantize", "torch.quantization.FakeQuantize",
                           "ifmr_quantize", "hfmg_quantize", "arq_quantize", "ada_quantize", "snq_quantize"}) {
    CHECK_MESSAGE(contains(all.output, name), name);
  }
  CHECK(contains(all.output, "all but hotwheels"));
  const auto one = list({"UlqFakeQuantize"});
  CHECK(one.exit_code == 0);
  CHECK(contains(one.output, "fixed_min = false"));
  const auto unknown = list({"UlqFakeQuantise"});
  CHECK(unknown.exit_code == 1);
  CHECK(contains(unknown.output, "did you mean \"UlqFakeQuantize\""));
}

TEST_CASE_FIXTURE(PluginFixture, "K20: --plugin brings quantizers, which calibrate a network by their dotted names") {
  const auto listed = list({"--plugin", AMCT_EXAMPLE_PLUGIN, "amct_example.SigmaWeight"});
  CHECK(listed.exit_code == 0);
  CHECK(contains(listed.output, "sigma = 3.0"));
  support::write_text(work / "sigma.yaml", R"(override_layer_configs:
- layer_name: fc
  weight_quant_params: {quantizer: amct_example.SigmaWeight, quantizer_args: {sigma: 4}}
  activation_quant_params: {quantizer: amct_example.SigmaActivation}
)");
  const std::vector<std::string> quantize{"quantize",
                                          "--flavour",
                                          "hotwheels",
                                          "--model",
                                          options.at("--model"),
                                          "--data_dir",
                                          options.at("--data_dir"),
                                          "--input_shape",
                                          options.at("--input_shape"),
                                          "--config_def",
                                          "sigma.yaml",
                                          "--save_path",
                                          "out/m"};
  const auto without = amct(quantize);
  CHECK(without.exit_code == 1);
  CHECK(contains(error_line(without), "there is no quantizer \"amct_example.Sigma"));
  auto with = quantize;
  with.insert(with.end(), {"--plugin", AMCT_EXAMPLE_PLUGIN});
  const auto done = amct(with);
  CHECK_MESSAGE(done.exit_code == 0, done.output);
  const std::string record = support::read_text(work / "out/m_quant_param_record.txt");
  CHECK(contains(record, "key: \"fc\""));
}

TEST_CASE_FIXTURE(PluginFixture, "K20: what is no plugin, or one of another version, is refused by name") {
  const auto refused = [&](const std::string& file, const std::string& reason) {
    const auto result = list({"--plugin", file});
    CHECK(result.exit_code == 1);
    CHECK_MESSAGE(contains(error_line(result), reason), result.output);
  };
  refused("nowhere.so", "nowhere.so: there is no such plugin");
  support::write_text(work / "text.so", "no library");
  refused("text.so", "cannot be loaded as a shared library");
  refused(AMCT_FAULTY_PLUGIN, "was compiled with \"amct 99.0.0\", this program with \"amct 0.");
  refused(AMCT_HALF_PLUGIN, "amct_register: is not exported: this is no plugin of amct");
}
