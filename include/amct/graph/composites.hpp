// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/flavour.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/term.hpp>
#include <amct/graph/uses.hpp>

/// \file
/// Layers of torch that ONNX writes as several nodes. Each is one layer whose data is quantized where it comes in; what
/// is inside stays float.

namespace amct::graph {

/// All op_types of composites, as config/type_table.hpp has them.
inline constexpr std::string_view kCompositeTypes[] = {"LayerNorm", "GELU", "LogSigmoid", "Softmin", "Tanhshrink",
                                                       "Softsign",  "GLU",  "SiLU",       "Mish",    "Hardswish"};

/// A layer of several nodes.
struct Composite {
  std::string op_type{};             ///< one of kCompositeTypes
  const Node* root = nullptr;        ///< the last node, whose name is the layer's
  std::vector<const Node*> nodes{};  ///< all of them but Constant nodes, in model order
  ValueId input = kNoValue;
};

namespace detail {

struct CompositeForm {
  std::string_view op_type;
  Term term;
};

/// Replaces each `$` in a text.
[[nodiscard]] inline std::string with(std::string_view text, std::string_view part) {
  std::string result;
  for (const char c : text) {
    if (c == '$') result += part;
    else result += c;
  }
  return result;
}

/// All forms, larger ones before those that they contain.
[[nodiscard]] inline std::vector<CompositeForm> make_composite_forms() {
  std::vector<CompositeForm> forms;
  const auto add = [&](std::string_view op_type, const std::string& text) {
    forms.push_back({op_type, parse_term(text)});
  };
  const std::string centred = "Sub(x, ReduceMean(x))";
  for (const char* affine : {"Add(Mul($, c), c)", "Mul($, c)", "$"}) {
    for (const char* square : {"Pow($, 2)", "Mul($, $)"}) {
      const std::string deviation = "Sqrt(Add(ReduceMean(" + with(square, centred) + "), c))";
      add("LayerNorm", with(affine, "Div(" + centred + ", " + deviation + ')'));
    }
  }
  // The error function and its approximation by tanh, times x and a half, in any order.
  std::vector<std::string> steps = {"Erf(Div(x, 1.41421356))", "Erf(Mul(x, 0.70710678))"};
  for (const char* cube : {"Pow(x, 3)", "Mul(x, Mul(x, x))"}) {
    steps.push_back(with("Tanh(Mul(Add(x, Mul($, 0.044715)), 0.79788456))", cube));
  }
  for (const auto& step : steps) {
    for (const char* product :
         {"Mul(Mul(x, Add($, 1)), 0.5)", "Mul(Mul(x, 0.5), Add($, 1))", "Mul(x, Mul(Add($, 1), 0.5))"}) {
      add("GELU", with(product, step));
    }
  }
  add("Mish", "Mul(x, Tanh(Softplus(x)))");
  for (const char* product : {"Div(Mul(x, $), 6)", "Mul(x, Div($, 6))", "Mul(Mul(x, $), 0.16666667)"}) {
    add("Hardswish", with(product, "Clip(Add(x, 3), 0, 6)"));
  }
  add("Hardswish", "Mul(x, HardSigmoid(x))");
  add("GLU", "Mul(Split.0(x), Sigmoid(Split.1(x)))");
  add("SiLU", "Mul(x, Sigmoid(x))");
  add("LogSigmoid", "Log(Sigmoid(x))");
  add("Softmin", "Softmax(Neg(x))");
  add("Tanhshrink", "Sub(x, Tanh(x))");
  add("Softsign", "Div(x, Add(Abs(x), 1))");
  return forms;
}

[[nodiscard]] inline const std::vector<CompositeForm>& composite_forms() {
  static const std::vector<CompositeForm> forms = make_composite_forms();
  return forms;
}

/// Whether a ReduceMean averages over the last axes and keeps them.
[[nodiscard]] inline bool averages_last_axes(const Node& node, const Graph& graph, const Uses& uses) {
  if (node.attribute_or<std::int64_t>("keepdims", 1) == 0) return false;
  const auto* attribute = node.attribute<std::vector<std::int64_t>>("axes");
  auto axes = attribute != nullptr ? std::optional(*attribute) : integer_values(uses.constant(node.input(1)));
  if (!axes || axes->empty()) return false;
  const auto rank = known_rank(graph.value(node.input(0)));
  for (std::int64_t& axis : *axes) {
    if (axis >= 0 && !rank) return false;
    if (axis >= 0) axis -= static_cast<std::int64_t>(*rank);
  }
  std::sort(axes->begin(), axes->end());
  for (std::size_t i = 0; i < axes->size(); ++i) {
    if ((*axes)[i] != static_cast<std::int64_t>(i) - static_cast<std::int64_t>(axes->size())) return false;
  }
  return true;
}

/// Whether the attributes are those of the layer.
[[nodiscard]] inline bool has_attributes(const Node& node, const Graph& graph, const Uses& uses) {
  if (node.op_type == "ReduceMean") return averages_last_axes(node, graph, uses);
  if (node.op_type == "Split") return node.outputs.size() == 2;
  if (node.op_type == "HardSigmoid") {
    return std::fabs(node.attribute_or<float>("alpha", 0.2F) - 1.0F / 6.0F) < 1e-4F &&
           node.attribute_or<float>("beta", 0.5F) == 0.5F;
  }
  return true;
}

/// Whether nobody else reads what the nodes of a match hand to each other.
[[nodiscard]] inline bool is_closed(const TermMatch& match, const Node* root, const Uses& uses) {
  for (const Node* node : match.nodes) {
    if (node == root) continue;
    for (const ValueId id : node->outputs) {
      if (id == kNoValue) continue;
      if (uses.is_graph_output(id)) return false;
      for (const Node* reader : uses.consumers(id)) {
        if (!match.nodes.contains(reader)) return false;
      }
    }
  }
  return true;
}

}  // namespace detail

/// The composites of a network, in the order of their last nodes; none overlap. O(nodes).
[[nodiscard]] inline std::vector<Composite> find_composites(const Graph& graph, const Uses& uses) {
  std::vector<Composite> found;
  std::set<const Node*> taken;
  for (auto root = graph.nodes.rbegin(); root != graph.nodes.rend(); ++root) {
    if (root->outputs.empty() || root->outputs[0] == kNoValue) continue;
    for (const auto& form : detail::composite_forms()) {
      TermMatch match;
      if (form.term.op_type != root->op_type || !matches(form.term, root->outputs[0], uses, match)) continue;
      const bool fits = std::all_of(match.nodes.begin(), match.nodes.end(), [&](const Node* node) {
        return !taken.contains(node) && detail::has_attributes(*node, graph, uses);
      });
      if (!fits || !detail::is_closed(match, &*root, uses)) continue;
      taken.insert(match.nodes.begin(), match.nodes.end());
      Composite composite{.op_type = std::string(form.op_type), .root = &*root, .input = match.x};
      composite.nodes.assign(match.nodes.begin(), match.nodes.end());
      std::sort(composite.nodes.begin(), composite.nodes.end());  // nodes lie in one array, in model order
      found.push_back(std::move(composite));
      break;
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

/// Which composite each node is in.
class CompositeIndex {
 public:
  /// \param types  the op_types that count; all others are left as nodes
  CompositeIndex(const Graph& graph, const Uses& uses, std::span<const std::string_view> types) {
    const bool any = std::any_of(std::begin(kCompositeTypes), std::end(kCompositeTypes),
                                 [&](const auto type) { return is_one_of(types, type); });
    if (!any) return;
    composites_ = find_composites(graph, uses);
    std::erase_if(composites_, [&](const Composite& composite) { return !is_one_of(types, composite.op_type); });
    for (const auto& composite : composites_) {
      for (const Node* node : composite.nodes) by_node_[node] = &composite;
    }
  }
  CompositeIndex(const CompositeIndex&) = delete;
  CompositeIndex& operator=(const CompositeIndex&) = delete;

  /// The composite that a node belongs to; null if none.
  [[nodiscard]] const Composite* of(const Node& node) const {
    const auto found = by_node_.find(&node);
    return found == by_node_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Composite> composites_;
  std::map<const Node*, const Composite*> by_node_;
};

}  // namespace amct::graph
