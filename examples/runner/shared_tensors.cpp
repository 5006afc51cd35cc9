// SPDX-License-Identifier: Apache-2.0
#include "shared_tensors.hpp"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/network_checks.hpp>
#include <amct/core/layer_table.hpp>

namespace runner {

namespace {

/// An input of a product, or all inputs of another layer, which are quantized alike.
using Port = std::pair<const amct::NetworkNode*, std::size_t>;

class SharedTensors {
 public:
  SharedTensors(const LayeredModel& model, Products products) : products_(products) {
    for (const auto& node : model.network) {
      const auto* const layer = amct::find_layer(model.layers, node.name);
      if (layer == nullptr) continue;
      const bool product = layer->kind == amct::LayerKind::other && layer->op_type == "MatMul";
      if (product && products == Products::left_out) continue;
      nodes_.emplace(node.name, &node);
      if (product) products_seen_.insert(&node);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) readers_[node.inputs[i]].push_back(port(&node, i));
    }
    for (const auto& [name, node] : nodes_) {
      if (!amct::is_no_command(node->op_type)) continue;
      for (const auto& tensor : node->outputs) {
        for (const Port& next : readers_[tensor]) {
          bound_.emplace(port(node, 0), next);
          bound_.emplace(next, port(node, 0));
        }
      }
    }
  }

  /// Second inputs of products.
  [[nodiscard]] std::vector<Port> second_inputs() const {
    std::vector<Port> ports;
    for (const auto* product : products_seen_) {
      if (product->inputs.size() > 1) ports.emplace_back(product, 1);
    }
    return ports;
  }
  /// Those of these layers that take part.
  [[nodiscard]] std::vector<Port> ports_of(const std::set<std::string>& layers) const {
    std::vector<Port> ports;
    for (const auto& name : layers) {
      if (const auto found = nodes_.find(name); found != nodes_.end()) ports.push_back(port(found->second, 0));
    }
    return ports;
  }
  /// All ports that these are bound to, and these.
  [[nodiscard]] std::set<Port> reach(std::vector<Port> waiting) const {
    std::set<Port> reached(waiting.begin(), waiting.end());
    const auto visit = [&](const Port& next) {
      if (reached.insert(next).second) waiting.push_back(next);
    };
    while (!waiting.empty()) {
      const Port now = waiting.back();
      waiting.pop_back();
      for (std::size_t i = 0; i < now.first->inputs.size(); ++i) {
        if (port(now.first, i) != now) continue;
        for (const Port& sibling : readers_.at(now.first->inputs[i])) visit(sibling);
      }
      const auto [first, last] = bound_.equal_range(now);
      for (auto entry = first; entry != last; ++entry) visit(entry->second);
    }
    return reached;
  }

 private:
  [[nodiscard]] Port port(const amct::NetworkNode* node, std::size_t input) const {
    const bool apart = products_ == Products::by_input && products_seen_.contains(node);
    return {node, apart ? input : 0};
  }

  Products products_;
  std::map<std::string_view, const amct::NetworkNode*> nodes_;
  std::set<const amct::NetworkNode*> products_seen_;
  std::map<std::string_view, std::vector<Port>> readers_;  // of each tensor
  std::multimap<Port, Port> bound_;                        // a layer without instructions and those behind it
};

}  // namespace

std::set<std::string> with_siblings(const LayeredModel& model, const std::set<std::string>& layers, Products products) {
  const SharedTensors tensors(model, products);
  std::set<std::string> names;
  for (const auto& [node, input] : tensors.reach(tensors.ports_of(layers))) names.insert(node->name);
  return names;
}

std::set<std::string> bound_to_second_inputs(const LayeredModel& model) {
  const SharedTensors tensors(model, Products::by_input);
  const auto seconds = tensors.second_inputs();
  const std::set<Port> own(seconds.begin(), seconds.end());
  std::set<std::string> names;
  for (const Port& reached : tensors.reach(seconds)) {
    if (!own.contains(reached)) names.insert(reached.first->name);
  }
  return names;
}

}  // namespace runner
