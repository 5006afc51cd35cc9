// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <amct/config/read_classic_json.hpp>
#include <amct/json_yaml/json.hpp>

#include "golden_cases/config_network.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Edit = std::function<void(Json&)>;

Json& activation(Json& config, const char* layer = "conv1") { return config[layer]["activation_quant_params"]; }
Json& weights(Json& config, const char* layer) { return config[layer]["weight_quant_params"]; }

void set_hfmg(Json& config) {
  activation(config) = {{"num_bits", 8}, {"act_algo", "hfmg"}, {"asymmetric", true}, {"num_of_bins", 4096}};
}

/// The edits of record_verdicts.json that change values of ptq_a_default's config.json, by their names.
const std::map<std::string, Edit>& edits() {
  static const std::map<std::string, Edit> all = {
      {"unchanged", [](Json&) {}},
      {"empty object", [](Json& config) { config = Json::object(); }},
      {"list", [](Json& config) { config = Json::array(); }},
      {"no version", [](Json& config) { config.erase("version"); }},
      {"no batch_num", [](Json& config) { config.erase("batch_num"); }},
      {"no activation_offset", [](Json& config) { config.erase("activation_offset"); }},
      {"no do_fusion", [](Json& config) { config.erase("do_fusion"); }},
      {"no skip_fusion_layers", [](Json& config) { config.erase("skip_fusion_layers"); }},
      {"no conv1", [](Json& config) { config.erase("conv1"); }},
      {"version 2", [](Json& config) { config["version"] = 2; }},
      {"version string", [](Json& config) { config["version"] = "1"; }},
      {"batch_num 0", [](Json& config) { config["batch_num"] = 0; }},
      {"batch_num 1.0", [](Json& config) { config["batch_num"] = 1.0; }},
      {"batch_num true", [](Json& config) { config["batch_num"] = true; }},
      {"activation_offset 1", [](Json& config) { config["activation_offset"] = 1; }},
      {"unknown layer", [](Json& config) { config["zzz"] = config["conv1"]; }},
      {"unknown global", [](Json& config) { config["foo"] = 1; }},
      {"unknown layer key", [](Json& config) { config["conv1"]["foo"] = 1; }},
      {"unknown act key", [](Json& config) { activation(config)["foo"] = 1; }},
      {"unknown weight key", [](Json& config) { weights(config, "conv1")["foo"] = 1; }},
      {"quant_enable false", [](Json& config) { config["conv1"]["quant_enable"] = false; }},
      {"all disabled",
       [](Json& config) {
         for (auto& value : config) {
           if (value.is_object()) value["quant_enable"] = false;
         }
       }},
      {"quant_enable missing", [](Json& config) { config["conv1"].erase("quant_enable"); }},
      {"no act params", [](Json& config) { config["conv1"].erase("activation_quant_params"); }},
      {"no weight params", [](Json& config) { config["conv1"].erase("weight_quant_params"); }},
      {"layer empty", [](Json& config) { config["conv1"] = Json::object(); }},
      {"num_bits 4", [](Json& config) { activation(config)["num_bits"] = 4; }},
      {"num_bits 16", [](Json& config) { activation(config)["num_bits"] = 16; }},
      {"num_bits 16 on pool", [](Json& config) { activation(config, "pool")["num_bits"] = 16; }},
      {"weight num_bits 5", [](Json& config) { weights(config, "conv1")["num_bits"] = 5; }},
      {"weight num_bits 4 on conv1 with 3 input channels",
       [](Json& config) { weights(config, "conv1")["num_bits"] = 4; }},
      {"weight num_bits 4 on conv2", [](Json& config) { weights(config, "conv2")["num_bits"] = 4; }},
      {"weight num_bits 4 on pool", [](Json& config) { weights(config, "pool")["num_bits"] = 4; }},
      {"channel_wise true on fc", [](Json& config) { weights(config, "fc")["channel_wise"] = true; }},
      {"act_algo hfmg with ifmr keys", [](Json& config) { activation(config)["act_algo"] = "hfmg"; }},
      {"act_algo hfmg", set_hfmg},
      {"act_algo foo", [](Json& config) { activation(config)["act_algo"] = "foo"; }},
      {"wts_algo foo", [](Json& config) { weights(config, "conv1")["wts_algo"] = "foo"; }},
      {"percentile 1", [](Json& config) { activation(config)["max_percentile"] = 1; }},
      {"search_range one value", [](Json& config) { activation(config)["search_range"] = {0.7}; }},
      {"search_range three values",
       [](Json& config) {
         activation(config)["search_range"] = {0.7, 1.0, 1.3};
       }},
      {"search_step string", [](Json& config) { activation(config)["search_step"] = "0.01"; }},
      {"asymmetric null", [](Json& config) { activation(config)["asymmetric"] = nullptr; }},
      {"asymmetric missing", [](Json& config) { activation(config).erase("asymmetric"); }},
      {"activation_offset true but asymmetric false", [](Json& config) { activation(config)["asymmetric"] = false; }},
      {"skip_fusion unknown", [](Json& config) { config["skip_fusion_layers"] = {"zzz"}; }},
  };
  return all;
}

/// The edits that make no JSON value.
const std::map<std::string, std::function<std::string(const std::string&)>>& text_edits() {
  static const std::map<std::string, std::function<std::string(const std::string&)>> all = {
      {"not json", [](const std::string&) { return "{not json"; }},
      {"duplicate key", [](const std::string& text) { return "{\"version\":1," + text.substr(text.find('{') + 1); }},
      {"duplicate layer", [](const std::string& text) { return "{\"conv1\":{}," + text.substr(text.find('{') + 1); }},
  };
  return all;
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What is wrong with a config; empty if it is accepted.
std::string refusal(const std::string& text, const ConfigNetwork& network) {
  amct::Diagnostics found;
  try {
    const amct::ConfigValue value = amct::json_yaml::parse_json(text, "config.json");
    (void)amct::from_classic_json(value, network.layers, network.nodes, amct::rules_of(amct::Flavour::pytorch),
                                  "config.json", found);
  } catch (const amct::Error& error) {
    return error.what();
  }
  return text_of(found);
}

void run_config_json(const std::filesystem::path& path, Report& report) {
  const std::filesystem::path base = path.parent_path() / "e2e" / "ptq_a_default";
  const ConfigNetwork network = config_network(base / "float.onnx");
  const std::string original = read_all(base / "config.json");
  const Json verdicts = read_json(path);
  for (const Json& verdict : verdicts.at("config_json")) {
    const auto name = verdict.at("name").get<std::string>();
    const std::string where = "config_json \"" + name + '"';
    std::string text;
    if (const auto edit = edits().find(name); edit != edits().end()) {
      Json config = Json::parse(original);
      edit->second(config);
      text = config.dump();
    } else if (const auto on_text = text_edits().find(name); on_text != text_edits().end()) {
      text = on_text->second(original);
    } else {
      report.skip(where, "see EXCLUDED.md");
      continue;
    }
    const std::string found = refusal(text, network);
    const bool accepted = verdict.at("accepted").get<bool>();
    if (found.empty() == accepted) {
      report.pass();
    } else {
      report.fail(where, accepted ? "is refused: " + found : "is accepted");
    }
  }
}

const Registered kRegistered{"record_verdicts", run_config_json};

}  // namespace

}  // namespace golden
