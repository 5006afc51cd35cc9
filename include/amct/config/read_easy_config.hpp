// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/value.hpp>
#include <amct/core/diagnostics.hpp>

namespace amct {

namespace detail {

/// Reads one block of an easy config and notes where each field stands.
class BlockReader {
 public:
  BlockReader(const ConfigValue& value, const Where& where, const std::string& path, Diagnostics& out)
      : reader_(value, where, path, out) {
    places_.block = reader_.where("");
  }

  /// \param check_name  what checks call the field, if not by its name in the file
  template <class T>
  void read(std::string_view name, std::optional<T>& target, std::string_view check_name = {}) {
    T value{};
    if (!reader_.read(name, value)) return;
    target = std::move(value);
    note(name, check_name.empty() ? name : check_name);
  }
  /// The type activations are quantized to, given as the name of an enum.
  void read_type(std::string_view name, std::optional<int>& bits) {
    std::string type;
    if (!reader_.read(name, type)) return;
    if (type == "INT8") {
      bits = 8;
    } else if (type == "INT16") {
      bits = 16;
    } else {
      reader_.refuse(name, "INT8 or INT16");
    }
    note(name, "num_bits");
  }
  /// Reports what nobody read and gives the places.
  [[nodiscard]] Places finish() {
    reader_.refuse_others();
    return std::move(places_);
  }

 private:
  void note(std::string_view name, std::string_view check_name) {
    const Where where = reader_.where(name);
    places_.fields.insert_or_assign(std::string(check_name), Places::Position{where.line, where.column});
    if (name != check_name) places_.spellings.insert_or_assign(std::string(check_name), std::string(name));
  }

  ObjectReader reader_;
  Places places_;
};

/// The place of a block inside a config: file and layer, and the path to it.
struct BlockPlace {
  Where where{};
  std::string path{};
};

[[nodiscard]] inline ActivationSetting read_ifmr(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  ActivationSetting setting{.algorithm = ActivationAlgorithm::ifmr};
  BlockReader block(value, place.where, place.path + ".ifmr_quantize", out);
  block.read("search_range_start", setting.search_start);
  block.read("search_range_end", setting.search_end);
  block.read("search_step", setting.search_step);
  block.read("max_percentile", setting.max_percentile);
  block.read("min_percentile", setting.min_percentile);
  block.read("asymmetric", setting.asymmetric);
  block.read("num_bits", setting.bits);
  block.read_type("dst_type", setting.bits);
  setting.places = block.finish();
  return setting;
}

[[nodiscard]] inline ActivationSetting read_hfmg(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  ActivationSetting setting{.algorithm = ActivationAlgorithm::hfmg};
  BlockReader block(value, place.where, place.path + ".hfmg_quantize", out);
  block.read("num_of_bins", setting.num_of_bins);
  block.read("asymmetric", setting.asymmetric);
  block.read("num_bits", setting.bits);
  block.read_type("dst_type", setting.bits);
  setting.places = block.finish();
  return setting;
}

[[nodiscard]] inline WeightSetting read_arq(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  WeightSetting setting{.algorithm = WeightAlgorithm::arq};
  BlockReader block(value, place.where, place.path + ".arq_quantize", out);
  block.read("channel_wise", setting.channel_wise);
  block.read("quant_bits", setting.bits, "num_bits");
  block.read("num_bits", setting.bits);
  setting.places = block.finish();
  return setting;
}

[[nodiscard]] inline WeightSetting read_ada_round(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  WeightSetting setting{.algorithm = WeightAlgorithm::ada};
  BlockReader block(value, place.where, place.path + ".ada_quantize", out);
  block.read("num_iteration", setting.num_iteration);
  block.read("reg_param", setting.reg_param);
  block.read("beta_range_start", setting.beta_start);
  block.read("beta_range_end", setting.beta_end);
  block.read("warm_start", setting.warm_start);
  block.read("channel_wise", setting.channel_wise);
  setting.places = block.finish();
  return setting;
}

[[nodiscard]] inline WeightSetting read_snq(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  WeightSetting setting{.algorithm = WeightAlgorithm::snq};
  BlockReader block(value, place.where, place.path + ".snq_quantize", out);
  block.read("channel_wise", setting.channel_wise);
  block.read("max_iteration", setting.max_iteration);
  block.read("min_distance", setting.min_distance);
  block.read("init_algo", setting.init_algo);
  block.read("num_bits", setting.bits);
  setting.places = block.finish();
  return setting;
}

[[nodiscard]] inline BalancerSetting read_dmq(const ConfigValue& value, const BlockPlace& place, Diagnostics& out) {
  BalancerSetting setting;
  std::optional<double> strength;
  BlockReader block(value, place.where, place.path + ".dmq_balancer", out);
  block.read("migration_strength", strength);
  setting.migration_strength = strength.value_or(setting.migration_strength);
  setting.places = block.finish();
  return setting;
}

/// One CalibrationConfig message.
[[nodiscard]] inline LayerSetting read_layer_setting(const ConfigValue& value, const BlockPlace& place,
                                                     Diagnostics& out) {
  LayerSetting setting;
  ObjectReader reader(value, place.where, place.path, out);
  if (const auto* block = reader.take("arq_quantize")) setting.weights = read_arq(*block, place, out);
  if (const auto* block = reader.take("ada_quantize")) setting.weights = read_ada_round(*block, place, out);
  if (const auto* block = reader.take("snq_quantize")) setting.weights = read_snq(*block, place, out);
  if (const auto* block = reader.take("ifmr_quantize")) setting.activation = read_ifmr(*block, place, out);
  if (const auto* block = reader.take("hfmg_quantize")) setting.activation = read_hfmg(*block, place, out);
  if (const auto* block = reader.take("dmq_balancer")) setting.balancer = read_dmq(*block, place, out);
  if (reader.take("nuq_quantize") != nullptr) {
    reader.refuse_with("nuq_quantize", "amct does not do this, use arq_quantize or snq_quantize",
                       ErrorCode::config_unsupported);
  }
  reader.refuse_others();
  return setting;
}

/// Reads the top of an easy config.
class EasyConfigReader {
 public:
  EasyConfigReader(const ConfigValue& value, const std::string& file, Diagnostics& out)
      : top_(value, {.file = file}, "", out), out_(out) {
    config_.file = file;
  }

  [[nodiscard]] EasyConfig read() {
    read_globals();
    read_batch_norm_update();
    read_om_config();
    if (const auto* common = top_.take("common_config")) {
      config_.common = read_layer_setting(*common, {{.file = config_.file}, "common_config"}, out_);
    }
    config_.layer_types = read_overrides("override_layer_types", "layer_type", false);
    config_.layers = read_overrides("override_layer_configs", "layer_name", true);
    read_deprecated("conv_calibration_config", {"Convolution", "Deconvolution"});
    read_deprecated("fc_calibration_config", {"InnerProduct"});
    refuse_undelivered();
    top_.refuse_others();
    return std::move(config_);
  }

 private:
  void note(const std::string& key, const ConfigValue& value) {
    config_.places.fields.insert_or_assign(key, Places::Position{value.line, value.column});
  }

  void read_globals() {
    std::uint32_t batch_num = 0;
    if (top_.read("batch_num", batch_num)) {
      config_.batch_num = batch_num;
      note("batch_num", *top_.take("batch_num"));
    }
    if (top_.read("activation_offset", config_.activation_offset)) {
      note("activation_offset", *top_.take("activation_offset"));
    }
    top_.read("do_fusion", config_.do_fusion);
    std::string mode;
    if (top_.read("fakequant_precision_mode", mode)) {
      config_.force_fp16 = mode == "FORCE_FP16_QUANT";
      if (!config_.force_fp16) top_.refuse("fakequant_precision_mode", "FORCE_FP16_QUANT");
    }
    read_names("skip_layers", config_.skip_layers);
    read_names("skip_layer_types", config_.skip_layer_types);
    read_names("skip_fusion_layers", config_.skip_fusion_layers);
  }

  void read_names(const std::string& field, std::vector<std::string>& names) {
    if (!top_.read(field, names)) return;
    const auto& items = *top_.take(field)->list();
    for (std::size_t i = 0; i < items.size(); ++i) note(field + '[' + std::to_string(i) + ']', items[i]);
  }

  void read_batch_norm_update() {
    bool wanted = false;
    top_.read("update_bn", wanted);
    BatchNormUpdate update;
    if (const auto* value = top_.take("bn_update_config")) {
      ObjectReader reader(*value, {.file = config_.file}, "bn_update_config", out_);
      reader.read("bn_update_iterations", update.iterations);
      reader.read("bn_momentum", update.momentum);
      // Caffe's fraction is the weight of the old statistics, torch's momentum that of the new ones.
      if (double fraction = 0.0; reader.read("bn_moving_average_fraction", fraction)) update.momentum = 1.0 - fraction;
      reader.read("bn_dump_dir", update.dump_dir);
      reader.refuse_others();
      note("bn_update_config", *value);
    }
    if (wanted) config_.batch_norm_update = update;
  }

  void read_om_config() {
    const auto* value = top_.take("om_config");
    if (value == nullptr) return;
    ObjectReader reader(*value, {.file = config_.file}, "om_config", out_);
    std::string file;
    if (!reader.read("mapping_file", file) && !reader.has("mapping_file")) {
      reader.refuse("mapping_file", "the path of an .om.json file");
    }
    reader.refuse_others();
    const std::filesystem::path folder = std::filesystem::path(config_.file).parent_path();
    if (!file.empty()) config_.om_mapping_file = (folder / file).string();
    note("om_config", *value);
  }

  [[nodiscard]] std::vector<std::pair<std::string, LayerSetting>> read_overrides(const std::string& list,
                                                                                 const char* name_field,
                                                                                 bool is_layer) {
    std::vector<std::pair<std::string, LayerSetting>> settings;
    const auto* value = top_.take(list);
    if (value == nullptr) return settings;
    if (value->list() == nullptr) return top_.refuse(list, "a list"), settings;
    for (const ConfigValue& item : *value->list()) {
      ObjectReader reader(item, {.file = config_.file}, list, out_);
      std::string name;
      if (!reader.read(name_field, name) && !reader.has(name_field)) reader.refuse(name_field, "a name");
      BlockPlace place{{.file = config_.file, .layer = is_layer ? name : ""}, list};
      if (!is_layer) place.path += '[' + name + ']';
      LayerSetting setting;
      if (const auto* block = reader.take("calibration_config")) setting = read_layer_setting(*block, place, out_);
      reader.refuse_others();
      if (name.empty()) continue;
      const auto* stated = reader.take(name_field);
      note(list + '[' + std::to_string(settings.size()) + ']', *stated);
      settings.emplace_back(std::move(name), std::move(setting));
    }
    return settings;
  }

  /// Settings for layers with weights from before there were override_layer_types.
  void read_deprecated(const char* field, const std::vector<std::string>& types) {
    const auto* value = top_.take(field);
    if (value == nullptr) return;
    const LayerSetting setting = read_layer_setting(*value, {{.file = config_.file}, field}, out_);
    if (top_.has("common_config") || top_.has("override_layer_types")) {
      out_.warning(ErrorCode::config_unsupported, top_.where(field),
                   "is ignored, because common_config or override_layer_types is given");
      return;
    }
    for (const auto& type : types) config_.layer_types.emplace_back(type, setting);
  }

  void refuse_undelivered() {
    for (const char* field : {"joint_quant", "weight_offset"}) {
      bool wanted = false;
      if (top_.read(field, wanted) && wanted) {
        top_.refuse_with(field, "got true, but amct only does false", ErrorCode::config_unsupported);
      }
    }
    for (const char* field : {"tensor_quantize", "nuq_config", "skip_approximation_layers"}) {
      if (top_.take(field) != nullptr) {
        top_.refuse_with(field, "amct does not do this, remove it", ErrorCode::config_unsupported);
      }
    }
  }

  ObjectReader top_;
  Diagnostics& out_;
  EasyConfig config_;
};

}  // namespace detail

/// Reads an easy calibration config (the content of a .cfg file of any flavour). Ranges and names are checked when it
/// is applied to a network (see resolve); here only what is wrong with any network is reported to `out`.
///
/// \param file  for messages; the mapping file of om_config is relative to its folder
[[nodiscard]] inline EasyConfig easy_config(const ConfigValue& value, const std::string& file, Diagnostics& out) {
  return detail::EasyConfigReader(value, file, out).read();
}

}  // namespace amct
