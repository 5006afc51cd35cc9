// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <amct/config/value.hpp>
#include <amct/core/error.hpp>
#include <amct/json_yaml/json.hpp>
#include <amct/json_yaml/write_json.hpp>
#include <amct/protobuf/checkpoint.hpp>

namespace amct {

namespace detail {

/// The first member of two configs that differs, a layer or a global parameter; empty if only the order does.
[[nodiscard]] inline std::string first_difference(const ConfigValue& a, const ConfigValue& b) {
  for (const auto* pair : {&a, &b}) {
    const ConfigValue& other = pair == &a ? b : a;
    if (pair->object() == nullptr) continue;
    for (const auto& [name, member] : *pair->object()) {
      const ConfigValue* same = other.find(name);
      if (same == nullptr || json_yaml::json_text(*same) != json_yaml::json_text(member)) return name;
    }
  }
  return {};
}

/// A file's name for a message.
[[nodiscard]] inline std::string named(std::string_view file, std::string_view otherwise) {
  return std::string(file.empty() ? otherwise : file);
}

}  // namespace detail

/// Refuses a checkpoint that was made with another network or another config than those at hand.
/// \param hash    model_hash() of the network as it was read
/// \param config  the full config as create_quant_config writes it
/// \throws Error record_value naming the files and the first layer or parameter that differs
inline void require_same_origin(const protobuf::Checkpoint& kept, const std::string& file, const std::string& hash,
                                const std::string& model_file, const std::string& config,
                                const std::string& config_file) {
  if (kept.model_hash != hash) {
    throw Error(ErrorCode::record_value, {.file = file, .field = "model"},
                "was made with another network, " + detail::named(kept.model_file, "without a name") + " (" +
                    kept.model_hash + "), than " + detail::named(model_file, "the one at hand") + " (" + hash + ")");
  }
  if (kept.config == config) return;
  const std::string different =
      detail::first_difference(json_yaml::parse_json(kept.config, file), json_yaml::parse_json(config, config_file));
  throw Error(ErrorCode::record_value, {.file = file, .field = "config"},
              "was made with another config, " + detail::named(kept.config_file, "the defaults") + ", than " +
                  detail::named(config_file, "the defaults") +
                  (different.empty() ? ": the order of layers differs" : ": \"" + different + "\" differs first"));
}

}  // namespace amct
