// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <amct/config/levels.hpp>
#include <amct/config/network_names.hpp>
#include <amct/config/object_reader.hpp>
#include <amct/config/type_names.hpp>
#include <amct/config/wildcard.hpp>
#include <amct/core/error.hpp>
#include <amct/core/layer_table.hpp>

/// \file
/// Skip lists of retrain and distill configs. Unlike those of calibration configs, they may repeat a name.

namespace amct {

namespace detail {

/// Calls `visit` with each text of a list and its place; a repeated one is a warning.
inline void visit_texts(ObjectReader& reader, std::string_view field,
                        const std::function<void(const std::string&, const Where&)>& visit) {
  std::vector<std::string> texts;
  const ConfigValue* const list = reader.take(field);
  if (list == nullptr || !reader.read(field, texts)) return;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ConfigValue& item = (*list->list())[i];
    Where where = reader.where(field);
    where.line = item.line;
    where.column = item.column;
    if (seen.insert(texts[i]).second) {
      visit(texts[i], where);
    } else {
      reader.diagnostics().warning(ErrorCode::config_layer, where, '"' + texts[i] + "\" is repeated");
    }
  }
}

}  // namespace detail

/// Adds the layers that a list names, exactly or by shell wildcards, to `skipped`. A name that is a node of the network
/// but none of the layers is a warning, any other an error, and so is a wildcard that matches none of the layers.
/// \param network  the names of the same layers, and of all nodes
inline void read_skip_layers(ObjectReader& reader, std::string_view field, const LayerTable& layers,
                             const NetworkNames& network, std::set<std::string>& skipped) {
  Diagnostics& out = reader.diagnostics();
  const auto skip_matching = [&](const std::string& pattern, const Where& where) {
    bool matched = false;
    for (const LayerInfo& layer : layers) {
      if (!matches_wildcard(pattern, layer.name)) continue;
      skipped.insert(layer.name);
      matched = true;
    }
    if (!matched) out.error(ErrorCode::config_layer, where, "pattern \"" + pattern + "\" matches no layer");
  };
  detail::visit_texts(reader, field, [&](const std::string& name, const Where& where) {
    if (network.layer(name) != nullptr) {
      skipped.insert(name);
    } else if (has_wildcards(name) && !network.has(name)) {
      skip_matching(name, where);
    } else if (network.require(name, where, out)) {
      out.warning(ErrorCode::config_layer, where, "layer \"" + name + "\" is not one that could be skipped");
    }
  });
}

/// Adds the layers of the types that a list names to `skipped`. An unknown type is an error, and so is one whose layers
/// are not `usable`.
inline void read_skip_types(ObjectReader& reader, std::string_view field, const LayerTable& layers,
                            const std::function<bool(const LayerPattern&)>& usable, std::set<std::string>& skipped) {
  detail::visit_texts(reader, field, [&](const std::string& type, const Where& where) {
    check_type_name(reader.diagnostics(), where, type, usable);
    for (const LayerInfo& layer : layers) {
      if (matches_type(layer, type)) skipped.insert(layer.name);
    }
  });
}

}  // namespace amct
