// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/network.hpp>

/// \file
/// Groups of nodes that distillation trains together: a layer with weights, the BatchNormalization behind it and the
/// activation behind that.

namespace amct {

namespace detail {

/// Which node makes a tensor and which nodes take it. Pointers into the network, which must outlive it.
class NetworkUses {
 public:
  explicit NetworkUses(const Network& network) : network_(network) {
    for (std::size_t i = 0; i < network.size(); ++i) {
      index_.emplace(network[i].name, i);
      for (const std::string& tensor : network[i].inputs) consumers_[tensor].push_back(i);
    }
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::vector<std::size_t> consumers(std::size_t node) const {
    std::vector<std::size_t> all;
    for (const std::string& tensor : network_[node].outputs) {
      const auto found = consumers_.find(tensor);
      if (found != consumers_.end()) all.insert(all.end(), found->second.begin(), found->second.end());
    }
    return all;
  }
  /// The one consumer; empty if there are none or several.
  [[nodiscard]] std::optional<std::size_t> only_consumer(std::size_t node) const {
    const auto all = consumers(node);
    return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
  }

 private:
  const Network& network_;
  std::map<std::string_view, std::size_t> index_;
  std::map<std::string_view, std::vector<std::size_t>> consumers_;
};

[[nodiscard]] inline bool is_activation(std::string_view op_type) noexcept {
  constexpr std::string_view kActivations[] = {
      "Relu",      "LeakyRelu", "PRelu",    "Clip",     "Elu",  "Selu", "Celu", "Sigmoid", "HardSigmoid",
      "HardSwish", "Hardswish", "Softplus", "Softsign", "Tanh", "Gelu", "GELU", "SiLU",    "Mish"};
  return std::find(std::begin(kActivations), std::end(kActivations), op_type) != std::end(kActivations);
}

/// A layer and what belongs to it. The bias that exporters add behind a MatMul is passed over.
[[nodiscard]] inline std::vector<std::size_t> unit_of(std::size_t layer, const Network& network,
                                                      const NetworkUses& uses) {
  std::vector<std::size_t> unit{layer};
  auto next = uses.only_consumer(layer);
  if (next && network[*next].op_type == "Add" && network[*next].inputs.size() == 1) next = uses.only_consumer(*next);
  if (next && network[*next].op_type == "BatchNormalization") {
    unit.push_back(*next);
    next = uses.only_consumer(*next);
  }
  if (next && is_activation(network[*next].op_type)) unit.push_back(*next);
  return unit;
}

/// All nodes on the ways from one to the other, both included; empty if there is no way. O(nodes + edges).
[[nodiscard]] inline std::vector<std::size_t> nodes_between(std::size_t start, std::size_t end, const Network& network,
                                                            const NetworkUses& uses) {
  if (start > end) return {};
  std::vector<bool> reached(network.size(), false);
  reached[start] = true;
  for (std::size_t i = start; i <= end; ++i) {
    if (!reached[i]) continue;
    for (const std::size_t consumer : uses.consumers(i)) reached[consumer] = true;
  }
  if (!reached[end]) return {};
  std::vector<bool> leads(network.size(), false);
  leads[end] = true;
  std::vector<std::size_t> between{end};
  for (std::size_t i = end; i-- > start;) {
    const auto consumers = uses.consumers(i);
    leads[i] = std::any_of(consumers.begin(), consumers.end(), [&](std::size_t consumer) { return leads[consumer]; });
    if (leads[i] && reached[i]) between.push_back(i);
  }
  std::reverse(between.begin(), between.end());
  return between;
}

}  // namespace detail

/// Finds the groups of a network.
class DistillGrouper {
 public:
  /// \param network  must outlive the grouper
  explicit DistillGrouper(const Network& network) : network_(network), uses_(network), taken_(network.size(), false) {}

  [[nodiscard]] bool has(std::string_view name) const { return uses_.find(name).has_value(); }

  /// Adds the group from one node to another. \return empty, or why there is no such group
  [[nodiscard]] std::string add(std::string_view start, std::string_view end) {
    const auto first = uses_.find(start);
    const auto last = uses_.find(end);
    if (!first || !last) return "there is no node \"" + std::string(first ? end : start) + '"';
    if (taken_[*first]) return "node \"" + std::string(start) + "\" is in another group";
    const auto nodes = detail::nodes_between(*first, *last, network_, uses_);
    if (nodes.empty()) return "node \"" + std::string(end) + "\" does not follow \"" + std::string(start) + '"';
    return add_free(nodes);
  }

  /// Adds a group of nodes that are all named. \return empty, or why it is none
  [[nodiscard]] std::string add(const std::vector<std::string>& names) {
    std::vector<std::size_t> nodes;
    for (const std::string& name : names) {
      const auto node = uses_.find(name);
      if (!node) return "there is no node \"" + name + '"';
      if (!nodes.empty() && *node <= nodes.back()) return "node \"" + name + "\" stands behind a later one";
      nodes.push_back(*node);
    }
    return nodes.empty() ? "the group is empty" : add_free(nodes);
  }

  /// Groups what is left: each layer of `enabled` with what belongs to it, `group_size` of them a group. A layer of
  /// another group in between ends a group.
  void add_rest(const std::set<std::string>& enabled, std::uint32_t group_size) {
    std::vector<std::size_t> open;
    std::uint32_t layers = 0;
    const auto close = [&] {
      if (!open.empty()) take(std::exchange(open, {}));
      layers = 0;
    };
    for (std::size_t i = 0; i < network_.size(); ++i) {
      if (taken_[i] && enabled.contains(network_[i].name)) close();
      if (taken_[i] || !enabled.contains(network_[i].name)) continue;
      for (const std::size_t node : detail::unit_of(i, network_, uses_)) {
        if (!taken_[node]) open.push_back(node);
      }
      if (++layers == group_size) close();
    }
    close();
  }

  /// The names of all groups, in the order of the model.
  [[nodiscard]] std::vector<std::vector<std::string>> groups() const {
    std::vector<std::vector<std::string>> names;
    for (const auto& [first, nodes] : groups_) {
      auto& group = names.emplace_back();
      for (const std::size_t node : nodes) group.push_back(network_[node].name);
    }
    return names;
  }

 private:
  [[nodiscard]] std::string add_free(const std::vector<std::size_t>& nodes) {
    for (const std::size_t node : nodes) {
      if (taken_[node]) return "node \"" + network_[node].name + "\" is in another group";
    }
    take(nodes);
    return {};
  }
  void take(std::vector<std::size_t> nodes) {
    std::sort(nodes.begin(), nodes.end());
    for (const std::size_t node : nodes) taken_[node] = true;
    const std::size_t first = nodes.front();
    groups_.emplace(first, std::move(nodes));
  }

  const Network& network_;
  detail::NetworkUses uses_;
  std::vector<bool> taken_;
  std::map<std::size_t, std::vector<std::size_t>> groups_;
};

}  // namespace amct
