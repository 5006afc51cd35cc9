// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// In what two networks differ.
struct GraphDifference {
  std::string layer{};  ///< the node; empty for the network as a whole
  std::string what{};   ///< "only in the first", "operator", "attribute pads", "input 1" ...
  std::string left{};
  std::string right{};

  friend bool operator==(const GraphDifference&, const GraphDifference&) = default;
};

namespace detail {

class GraphDiff {
 public:
  GraphDiff(const Graph& left, const Graph& right, double tolerance)
      : left_(left), right_(right), left_uses_(left), right_uses_(right), tolerance_(tolerance) {}

  [[nodiscard]] std::vector<GraphDifference> run() {
    note("", "opset", std::to_string(left_.opset), std::to_string(right_.opset));
    compare_ends("inputs", left_.inputs, right_.inputs);
    compare_ends("outputs", left_.outputs, right_.outputs);
    std::map<std::string_view, const Node*> others;
    for (const Node& node : right_.nodes) others.emplace(node.name, &node);
    std::set<std::string_view> known;
    for (const Node& node : left_.nodes) {
      known.insert(node.name);
      const auto other = others.find(node.name);
      if (other != others.end()) compare(node, *other->second);
      else found_.push_back({node.name, "only in the first", full_type(node), ""});
    }
    for (const Node& node : right_.nodes) {
      if (!known.contains(node.name)) found_.push_back({node.name, "only in the second", "", full_type(node)});
    }
    return std::move(found_);
  }

 private:
  void note(const std::string& layer, std::string what, std::string left, std::string right) {
    if (left != right) found_.push_back({layer, std::move(what), std::move(left), std::move(right)});
  }

  [[nodiscard]] static std::string full_type(const Node& node) {
    return node.domain.empty() ? node.op_type : node.domain + ':' + node.op_type;
  }

  [[nodiscard]] static std::string shape_text(const Value& value) {
    std::string text = amct::name_of(value.type);
    if (!value.shape) return text;
    text += '[';
    for (const auto& dim : *value.shape) {
      if (text.back() != '[') text += ',';
      text += dim.size >= 0 ? std::to_string(dim.size) : dim.symbol.empty() ? std::string("?") : dim.symbol;
    }
    return text + ']';
  }

  void compare_ends(const char* what, const std::vector<ValueId>& left, const std::vector<ValueId>& right) {
    const auto text = [](const Graph& graph, const std::vector<ValueId>& ids) {
      std::string all;
      for (const ValueId id : ids) {
        all += (all.empty() ? "" : ", ") + graph.value(id).name + ' ' + shape_text(graph.value(id));
      }
      return all;
    };
    note("", what, text(left_, left), text(right_, right));
  }

  void compare(const Node& left, const Node& right) {
    note(left.name, "operator", full_type(left), full_type(right));
    const std::size_t inputs = std::max(left.inputs.size(), right.inputs.size());
    for (std::size_t i = 0; i < inputs; ++i) compare_input(left, right, i);
    const std::size_t outputs = std::max(left.outputs.size(), right.outputs.size());
    for (std::size_t i = 0; i < outputs; ++i) {
      const auto name = [&](const Graph& graph, const Node& node) {
        return i < node.outputs.size() ? value_name(graph, node.outputs[i]) : std::string("none");
      };
      note(left.name, "output " + std::to_string(i), name(left_, left), name(right_, right));
    }
    compare_attributes(left, right);
  }

  [[nodiscard]] static std::string value_name(const Graph& graph, ValueId id) {
    return id == kNoValue ? "none" : graph.value(id).name;
  }

  void compare_input(const Node& left, const Node& right, std::size_t index) {
    const ValueId a = left.input(index);
    const ValueId b = right.input(index);
    const Tensor* constant = left_uses_.constant(a);
    const Tensor* other = right_uses_.constant(b);
    const std::string what = "input " + std::to_string(index);
    if (constant != nullptr && other != nullptr) {
      compare_tensors(left.name, what + ' ' + value_name(left_, a), *constant, *other);
    } else if ((constant == nullptr) != (other == nullptr)) {
      const auto text = [](const Tensor* data, const std::string& name) {
        return data != nullptr ? "a constant" : name;
      };
      note(left.name, what, text(constant, value_name(left_, a)), text(other, value_name(right_, b)));
    } else {
      note(left.name, what, value_name(left_, a), value_name(right_, b));
    }
  }

  void compare_tensors(const std::string& layer, const std::string& what, const Tensor& left, const Tensor& right) {
    const auto form = [](const Tensor& data) {
      return std::string(amct::name_of(data.type())) + ' ' + to_string(data.shape());
    };
    if (form(left) != form(right)) return note(layer, what, form(left), form(right));
    if (std::equal(left.raw().begin(), left.raw().end(), right.raw().begin())) return;
    const auto a = as_doubles(left);
    const auto b = as_doubles(right);
    const bool integers = with_element_type(left.type(), []<class T>() { return std::is_integral_v<T>; });
    const std::size_t width = left.bytes() / a.size();
    std::size_t count = 0;
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      double distance = equal ? 0.0 : std::fabs(a[i] - b[i]);
      if (equal && integers) {  // double does not hold all of int64
        equal = std::memcmp(left.raw().data() + i * width, right.raw().data() + i * width, width) == 0;
        distance = equal ? 0.0 : 1.0;
      }
      if (equal || distance <= tolerance_) continue;
      ++count;
      if (std::isnan(distance) || distance > largest) largest = distance;  // NaN stays
    }
    if (count == 0) return;
    found_.push_back({layer, what, std::to_string(count) + " of " + std::to_string(a.size()) + " elements",
                      "differ by up to " + shortest_text(static_cast<float>(largest))});
  }

  void compare_attributes(const Node& left, const Node& right) {
    std::set<std::string> names;
    for (const auto& [name, value] : left.attributes) names.insert(name);
    for (const auto& [name, value] : right.attributes) names.insert(name);
    for (const auto& name : names) {
      const Attribute* a = find(left, name);
      const Attribute* b = find(right, name);
      const std::string what = "attribute " + name;
      const Tensor* data = a != nullptr ? std::get_if<Tensor>(a) : nullptr;
      const Tensor* other = b != nullptr ? std::get_if<Tensor>(b) : nullptr;
      if (data != nullptr && other != nullptr) {
        compare_tensors(left.name, what, *data, *other);
        continue;
      }
      const Body* body = a != nullptr ? std::get_if<Body>(a) : nullptr;
      const Body* other_body = b != nullptr ? std::get_if<Body>(b) : nullptr;
      if (body != nullptr && other_body != nullptr) {
        for (auto& inner : GraphDiff(**body, **other_body, tolerance_).run()) {
          inner.layer = left.name + '.' + name + (inner.layer.empty() ? "" : '/' + inner.layer);
          found_.push_back(std::move(inner));
        }
        continue;
      }
      note(left.name, what, text(a), text(b));
    }
  }

  [[nodiscard]] static const Attribute* find(const Node& node, const std::string& name) {
    for (const auto& [key, value] : node.attributes) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  [[nodiscard]] static std::string text(const Attribute* attribute) {
    if (attribute == nullptr) return "absent";
    return std::visit(
        []<class T>(const T& value) -> std::string {
          if constexpr (std::is_same_v<T, std::int64_t>) return std::to_string(value);
          else if constexpr (std::is_same_v<T, float>) return shortest_text(value);
          else if constexpr (std::is_same_v<T, std::string>) return '"' + value + '"';
          else if constexpr (std::is_same_v<T, Tensor>) return "a tensor";
          else if constexpr (std::is_same_v<T, Body>) return "a graph";
          else {
            std::string all;
            for (const auto& item : value) {
              const Attribute one(item);
              all += (all.empty() ? "" : ", ") + text(&one);
            }
            return '[' + all + ']';
          }
        },
        *attribute);
  }

  const Graph& left_;
  const Graph& right_;
  Uses left_uses_;
  Uses right_uses_;
  double tolerance_;
  std::vector<GraphDifference> found_;
};

}  // namespace detail

/// In what two networks differ, in the order of the first: opset, inputs and outputs, then node by node, matched by
/// name; nodes of the second alone come last. Constants are compared as constants, whatever their names.
/// \param tolerance  elements of constants so far apart count as equal
[[nodiscard]] inline std::vector<GraphDifference> diff_graphs(const Graph& left, const Graph& right,
                                                              double tolerance = 0.0) {
  return detail::GraphDiff(left, right, tolerance).run();
}

}  // namespace amct::graph
