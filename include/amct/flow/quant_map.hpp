// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/quant_nodes.hpp>

namespace amct::flow {

/// For nodes that are called otherwise than in the user's file, or that took in others: their names there.
using Origins = std::map<std::string, std::vector<std::string>, std::less<>>;

namespace detail {

/// The names of a node in the user's file.
[[nodiscard]] inline std::vector<std::string> names_in_file(std::string_view name, const Origins& origins) {
  const auto found = origins.find(name);
  return found != origins.end() ? found->second : std::vector<std::string>{std::string(name)};
}

/// The nodes of the user's file that a node of the deployed network stands for. A node that makes codes of numbers or
/// numbers of codes stands for none, one that reads a layer's accumulator for the layer and for what it took in.
[[nodiscard]] inline std::vector<std::string> original_names(const graph::Node& node, const Origins& origins) {
  if (graph::is_op(node, graph::kQuantOp) || graph::is_op(node, graph::kAntiQuantOp)) return {};
  std::string_view name = node.name;
  const bool merged = graph::is_op(node, graph::kReQuantOp);
  const std::string_view end = merged ? ".requant" : ".dequant";
  if ((merged || graph::is_op(node, graph::kDequantOp)) && name.ends_with(end)) name.remove_suffix(end.size());
  auto names = names_in_file(name, origins);
  if (const auto* took_in = merged ? node.attribute<std::vector<std::string>>("took_in") : nullptr) {
    for (const auto& other : *took_in) {
      for (auto& original : names_in_file(other, origins)) names.push_back(std::move(original));
    }
  }
  return names;
}

}  // namespace detail

/// The content of `<prefix>_quant.json`: which nodes of the user's file each node of the deployed network stands for,
/// so that results can be compared layer by layer. AMCT does not document its own file; this one has the layout of an
/// om.json (config/om.hpp), which tools of that platform read: `graph[0].op[]` with `name`, `type`, and the original
/// names in the attribute `_datadump_original_op_names`.
[[nodiscard]] inline ConfigValue quant_map(const graph::Graph& deployed, const Origins& origins) {
  ConfigValue::List operators;
  for (const auto& node : deployed.nodes) {
    ConfigValue::List names;
    for (auto& name : detail::original_names(node, origins)) names.emplace_back(std::move(name));
    ConfigValue list;
    list.add("s", std::move(names));
    ConfigValue value;
    value.add("list", std::move(list));
    ConfigValue attribute;
    attribute.add("key", "_datadump_original_op_names");
    attribute.add("value", std::move(value));
    ConfigValue& entry = operators.emplace_back();
    entry.add("name", node.name);
    entry.add("type", node.op_type);
    entry.add("attr", ConfigValue::List{std::move(attribute)});
  }
  ConfigValue network;
  network.add("name", deployed.name);
  network.add("op", std::move(operators));
  ConfigValue map;
  map.add("graph", ConfigValue::List{std::move(network)});
  return map;
}

}  // namespace amct::flow
