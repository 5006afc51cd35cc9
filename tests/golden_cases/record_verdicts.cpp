// SPDX-License-Identifier: Apache-2.0
// Edits of a record of the real AMCT, described by their names, and whether it took the result.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/graph/record_layers.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>
#include <amct/protobuf/record_writer.hpp>
#include <amct/record/model.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"
#include "support/temp_dir.hpp"

namespace golden {

namespace {

using amct::LayerRecord;
using amct::Record;
using amct::RecordDialect;

const auto& kRules = amct::rules_of(amct::Flavour::pytorch);

LayerRecord& layer(Record& record, const std::string& name = "conv1") {
  return *std::find_if(record.begin(), record.end(), [&](const auto& entry) { return entry.name == name; });
}
void remove(Record& record, const std::string& name) {
  std::erase_if(record, [&](const auto& entry) { return entry.name == name; });
}
void resize_weights(LayerRecord& entry, std::size_t scales, std::size_t offsets) {
  entry.scale_w.resize(scales, entry.scale_w.front());
  entry.offset_w.resize(offsets, 0);
}

using Edit = std::function<void(Record&)>;

/// Edits with a name of their own.
const std::map<std::string, Edit>& edits() {
  static const std::map<std::string, Edit> all = {
      {"unchanged", [](Record&) {}},
      {"unknown layer", [](Record& record) { layer(record).name = "zzz"; }},
      {"one layer removed", [](Record& record) { remove(record, "conv2"); }},
      {"only fc kept", [](Record& record) { record = {layer(record, "fc")}; }},
      {"relu as key", [](Record& record) { layer(record).name = "relu1"; }},
      {"scale_d missing", [](Record& record) { layer(record).scale_d.reset(); }},
      {"offset_d missing", [](Record& record) { layer(record).offset_d.reset(); }},
      {"scale_w missing", [](Record& record) { layer(record).scale_w.clear(); }},
      {"offset_w missing", [](Record& record) { layer(record).offset_w.clear(); }},
      {"all four missing",
       [](Record& record) {
         layer(record).scale_d.reset();
         layer(record).offset_d.reset();
         resize_weights(layer(record), 0, 0);
       }},
      {"scale_w length 1 offset_w length 1 (per tensor)", [](Record& record) { resize_weights(layer(record), 1, 1); }},
      {"scale_w length 1 offset_w length 8", [](Record& record) { resize_weights(layer(record), 1, 8); }},
      {"scale_w length 7", [](Record& record) { resize_weights(layer(record), 7, 7); }},
      {"scale_w length 9", [](Record& record) { resize_weights(layer(record), 9, 9); }},
      {"scale_w length 8 offset_w length 7", [](Record& record) { resize_weights(layer(record), 8, 7); }},
      {"linear scale_w length 10", [](Record& record) { resize_weights(layer(record, "fc"), 10, 10); }},
      {"pool scale_w 2", [](Record& record) { resize_weights(layer(record, "pool"), 2, 2); }},
      {"pool scale_w 0.5", [](Record& record) { layer(record, "pool").scale_w = {0.5F}; }},
      {"shift_bit 1", [](Record& record) { layer(record).shift_bit = {1}; }},
      {"shift_bit 0", [](Record& record) { layer(record).shift_bit = {0}; }},
      {"skip_fusion true", [](Record& record) { layer(record).skip_fusion = true; }},
      {"tensor_balance_factor 3 on conv1",
       [](Record& record) {
         layer(record).tensor_balance_factor = {1.0F, 0.5F, 2.0F};
       }},
      {"tensor_balance_factor wrong length",
       [](Record& record) {
         layer(record).tensor_balance_factor = {1.0F, 0.5F};
       }},
      {"tensor_balance_factor 0",
       [](Record& record) {
         layer(record).tensor_balance_factor = {1.0F, 0.0F, 2.0F};
       }},
      {"tensor_balance_factor 1e8",
       [](Record& record) {
         layer(record).tensor_balance_factor = {1.0F, 1e8F, 2.0F};
       }},
      {"tensor_balance_factor negative",
       [](Record& record) {
         layer(record).tensor_balance_factor = {1.0F, -0.5F, 2.0F};
       }},
      {"fp16 mode", [](Record& record) { layer(record).fakequant_precision_mode = "FORCE_FP16_QUANT"; }},
      {"fp16 mode unknown", [](Record& record) { layer(record).fakequant_precision_mode = "ABC"; }},
      {"same scales for conv2 and conv3 (fusion of equal quant nodes only for one producer)",
       [](Record& record) {
         layer(record, "conv3").scale_d = layer(record, "conv2").scale_d;
         layer(record, "conv3").offset_d = layer(record, "conv2").offset_d;
       }},
      {"kv record only",
       [](Record& record) {
         layer(record, "fc") = {.name = "fc", .has_value = false, .kv_cache = amct::KvCacheRecord{{0.01F}, {0}}};
       }},
      {"huge bias overflow", [](Record& record) { layer(record).scale_d = 1e-20F; }},
  };
  return all;
}

using TextEdit = std::function<std::string(std::string)>;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Edits that no record can express.
const std::map<std::string, TextEdit>& text_edits() {
  static const std::map<std::string, TextEdit> all = {
      {"empty file", [](const std::string&) { return std::string(); }},
      {"garbage", [](const std::string&) { return std::string("this is no record"); }},
      {"no key", [](std::string text) { return replaced(std::move(text), "  key: \"conv1\"\n", ""); }},
      {"no value",
       [](const std::string& text) { return "record {\n  key: \"conv1\"\n}\n" + text.substr(text.find("record", 1)); }},
      {"layer twice", [](const std::string& text) { return text + text.substr(0, text.find("record", 1)); }},
      {"extra unknown field",
       [](std::string text) { return replaced(std::move(text), "scale_d:", "foo: 1\n    scale_d:"); }},
  };
  return all;
}

/// A number that follows the prefix, to the end.
std::optional<double> number_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  double value = 0.0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), value);
  return failure == std::errc() && end == name.data() + name.size() ? std::optional(value) : std::nullopt;
}

/// "dst_type INT4 offset 9", "wts_type INT4 on conv2", "dst_type INT8 with act_type INT16".
bool edit_type(std::string_view name, Record& record) {
  std::optional<std::string> LayerRecord::*field = name.starts_with("dst_type ")   ? &LayerRecord::dst_type
                                                   : name.starts_with("act_type ") ? &LayerRecord::act_type
                                                   : name.starts_with("wts_type ") ? &LayerRecord::wts_type
                                                                                   : nullptr;
  if (field == nullptr) return false;
  name.remove_prefix(std::string_view("dst_type ").size());
  const auto value = name.substr(0, name.find(' '));
  const auto rest = name.substr(value.size());
  const auto on = rest.find(" on ");
  std::string target = "conv1";
  if (on != std::string_view::npos) target = rest.substr(on + 4, rest.find(' ', on + 4) - on - 4);
  layer(record, target).*field = std::string(value);
  if (const auto offset = number_behind(rest, " offset ")) layer(record).offset_d = static_cast<int>(*offset);
  constexpr std::string_view kWith = " with act_type ";
  if (rest.starts_with(kWith)) layer(record).act_type = std::string(rest.substr(kWith.size()));
  return true;
}

/// "scale_d 1e-08", "offset_w[0] 127", types; false for a name of another form.
bool edit_value(std::string_view name, Record& record) {
  auto& conv1 = layer(record);
  if (const auto value = number_behind(name, "scale_d ")) {
    conv1.scale_d = static_cast<float>(*value);
  } else if (const auto weight = number_behind(name, "scale_w[0] ")) {
    conv1.scale_w[0] = static_cast<float>(*weight);
  } else if (const auto offset = number_behind(name, "offset_d ")) {
    conv1.offset_d = static_cast<std::int32_t>(*offset);
  } else if (const auto zero = number_behind(name, "offset_w[0] ")) {
    conv1.offset_w[0] = static_cast<std::int32_t>(*zero);
  } else {
    return edit_type(name, record);
  }
  return true;
}

/// The edited file; empty if the name does not say how.
std::optional<std::string> edited(const std::string& name, const std::filesystem::path& original) {
  if (const auto edit = text_edits().find(name); edit != text_edits().end()) {
    std::ifstream file(original, std::ios::binary);
    return edit->second({std::istreambuf_iterator<char>(file), {}});
  }
  auto record = amct::protobuf::read_record(original);
  if (const auto edit = edits().find(name); edit != edits().end()) {
    edit->second(record);
  } else if (!edit_value(name, record)) {
    return std::nullopt;
  }
  return amct::protobuf::record_text(record);
}

/// Why a record is refused; empty if it is accepted.
std::string refusal(const std::filesystem::path& path, const amct::graph::Graph& network) {
  try {
    const auto file = amct::protobuf::read_record_file(path, {.dialect = RecordDialect::pytorch});
    std::vector<std::string> unfused;
    for (const auto& entry : file.layers) {
      if (entry.skip_fusion.value_or(false)) unfused.push_back(entry.name);
    }
    const auto model = amct::graph::record_model(network, kRules, unfused);
    for (const auto& entry : file.layers) {
      for (const auto& finding : amct::check_record(entry, kRules, model)) {
        if (finding.is_error) return entry.name + ' ' + finding.field + ": " + finding.message;
      }
    }
  } catch (const amct::Error& error) {
    return error.what();
  }
  return {};
}

/// What the real AMCT accepts and we refuse: see EXCLUDED.md.
constexpr std::string_view kRefusedByUs[] = {"layer twice"};

void run_records(const std::filesystem::path& path, Report& report) {
  support::TempDir folder;
  std::map<std::string, amct::graph::Graph> networks;
  const Json verdicts = read_json(path);
  for (const Json& verdict : verdicts.at("records")) {
    const auto name = verdict.at("name").get<std::string>();
    const auto base = path.parent_path() / "e2e" / verdict.at("base").get<std::string>();
    if (!networks.contains(base)) networks[base] = amct::onnx::import_model(base / "float.onnx");
    const std::string where = "records \"" + name + '"';
    const auto text = edited(name, base / "record.txt");
    if (!text) {
      report.skip(where, "its name does not say what was edited");
      continue;
    }
    std::ofstream(folder / "record.txt", std::ios::binary) << *text;
    const std::string found = refusal(folder / "record.txt", networks.at(base));
    const bool by_us = std::find(std::begin(kRefusedByUs), std::end(kRefusedByUs), name) != std::end(kRefusedByUs);
    const bool accepted = verdict.at("accepted").get<bool>() && !by_us;
    if (found.empty() == accepted) {
      report.pass();
    } else {
      report.fail(where, accepted ? "is refused: " + found : "is accepted");
    }
  }
}

const Registered kRegistered{"record_verdicts", run_records};

}  // namespace

}  // namespace golden
