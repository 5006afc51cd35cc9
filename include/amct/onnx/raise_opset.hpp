// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/cast.hpp>
#include <amct/core/error.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>

namespace amct::onnx {

/// Opsets from here on stay as they are.
inline constexpr std::int64_t kFirstKeptOpset = 11;
/// What older ones become.
inline constexpr std::int64_t kRaisedOpset = 13;

namespace detail {

/// The versions of the file format that came with these opsets.
inline constexpr std::int64_t kIrOfOpset13 = 7;
inline constexpr std::int64_t kIrOfOpset21 = 10;

/// Raises one graph; each rule is exact.
class OpsetRaiser {
 public:
  OpsetRaiser(graph::Graph& graph, std::int64_t target) : graph_(graph), target_(target), names_(graph) {}

  void run() {
    std::vector<graph::Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (auto& node : nodes) {
      raise_bodies(node);
      if (node.domain.empty()) apply_rules(node);
      while (node.captured == 0 && !node.inputs.empty() && node.inputs.back() == graph::kNoValue)
        node.inputs.pop_back();
      graph_.nodes.push_back(std::move(node));
      for (auto& next : behind_) graph_.nodes.push_back(std::move(next));
      behind_.clear();
    }
    graph_.opset = target_;
    graph_.ir_version = std::max(graph_.ir_version, target_ >= 21 ? kIrOfOpset21 : kIrOfOpset13);
  }

 private:
  struct Rule {
    std::int64_t since;  ///< the first opset that has the new form
    void (OpsetRaiser::*apply)(graph::Node&);
  };

  /// An operator that changed twice has its rules in order.
  static const std::multimap<std::string, Rule>& rules() {
    static const std::multimap<std::string, Rule> all{
        {"BatchNormalization", {9, &OpsetRaiser::batch_normalization}},
        {"Clip", {11, &OpsetRaiser::clip}},
        {"DFT", {20, &OpsetRaiser::dft}},
        {"Dropout", {12, &OpsetRaiser::dropout}},
        {"GridSample", {20, &OpsetRaiser::grid_sample}},
        {"Hardmax", {13, &OpsetRaiser::softmax}},
        {"LogSoftmax", {13, &OpsetRaiser::softmax}},
        {"Pad", {11, &OpsetRaiser::pad}},
        {"ReduceL1", {18, &OpsetRaiser::axes}},
        {"ReduceL2", {18, &OpsetRaiser::axes}},
        {"ReduceLogSum", {18, &OpsetRaiser::axes}},
        {"ReduceLogSumExp", {18, &OpsetRaiser::axes}},
        {"ReduceMax", {18, &OpsetRaiser::axes}},
        {"ReduceMean", {18, &OpsetRaiser::axes}},
        {"ReduceMin", {18, &OpsetRaiser::axes}},
        {"ReduceProd", {18, &OpsetRaiser::axes}},
        {"ReduceSum", {13, &OpsetRaiser::axes}},
        {"ReduceSumSquare", {18, &OpsetRaiser::axes}},
        {"Resize", {11, &OpsetRaiser::resize}},
        {"Resize", {13, &OpsetRaiser::resize_modes}},
        {"RoiAlign", {16, &OpsetRaiser::roi_align}},
        {"Scan", {9, &OpsetRaiser::scan}},
        {"Scatter", {11, &OpsetRaiser::scatter}},
        {"Slice", {10, &OpsetRaiser::slice}},
        {"Softmax", {13, &OpsetRaiser::softmax}},
        {"Split", {13, &OpsetRaiser::split}},
        {"Split", {18, &OpsetRaiser::split_evenly}},
        {"Squeeze", {13, &OpsetRaiser::axes}},
        {"TopK", {10, &OpsetRaiser::top_k}},
        {"Unsqueeze", {13, &OpsetRaiser::axes}},
        {"Upsample", {11, &OpsetRaiser::upsample}},
    };
    return all;
  }

  void apply_rules(graph::Node& node) {
    const auto [first, last] = rules().equal_range(node.op_type);
    for (auto rule = first; rule != last; ++rule) {
      const std::int64_t since = rule->second.since;
      if (graph_.opset < since && since <= target_) (this->*rule->second.apply)(node);
    }
  }

  void raise_bodies(graph::Node& node) const {
    for (auto& [name, value] : node.attributes) {
      auto* body = std::get_if<graph::Body>(&value);
      if (body == nullptr) continue;
      auto raised = std::make_shared<graph::Graph>(**body);
      OpsetRaiser(*raised, target_).run();
      *body = std::move(raised);
    }
  }

  // Only the mode that all exporters use exists later.
  void batch_normalization(graph::Node& node) {
    if (take<std::int64_t>(node, "spatial").value_or(1) != 1) refuse(node, "spatial = 0");
  }
  void clip(graph::Node& node) {
    add_scalar(node, "min");
    add_scalar(node, "max");
  }
  void dropout(graph::Node& node) {
    const auto ratio = take<float>(node, "ratio");
    if (ratio) add_constant(node, "ratio", Tensor::scalar(*ratio));
  }
  void pad(graph::Node& node) {
    add_list(node, "pads");
    add_scalar(node, "value");
  }
  void slice(graph::Node& node) {
    add_list(node, "starts");
    add_list(node, "ends");
    add_list(node, "axes");
  }
  void axes(graph::Node& node) { add_list(node, "axes"); }
  void split(graph::Node& node) { add_list(node, "split"); }
  void top_k(graph::Node& node) {
    const auto k = take<std::int64_t>(node, "k");
    if (k) add_constant(node, "k", list({*k}));
  }
  void scatter(graph::Node& node) { node.op_type = "ScatterElements"; }
  void scan(graph::Node& node) { refuse(node, "a batch axis"); }
  void upsample(graph::Node& node) {
    if (const auto scales = take<std::vector<float>>(node, "scales")) {
      const Shape shape{static_cast<std::int64_t>(scales->size())};
      add_constant(node, "scales", Tensor(shape, std::span<const float>(*scales)));
    }
    resize(node);
  }
  void resize(graph::Node& node) {
    if (node.inputs.size() != 2) return;
    node.op_type = "Resize";
    node.inputs = {node.inputs[0], graph::kNoValue, node.inputs[1]};
    node.set_attribute("coordinate_transformation_mode", std::string("asymmetric"));
    node.set_attribute("nearest_mode", std::string("floor"));
  }
  void resize_modes(graph::Node& node) {
    const auto mode = node.attribute_or<std::string>("coordinate_transformation_mode", "half_pixel");
    if (mode == "tf_half_pixel_for_nn") refuse(node, "coordinate_transformation_mode = " + mode);
  }
  /// Up to opset 15 there was one mode, not that of today's default.
  void roi_align(graph::Node& node) {
    node.set_attribute("coordinate_transformation_mode", std::string("output_half_pixel"));
  }
  void split_evenly(graph::Node& node) {
    if (node.input(1) == graph::kNoValue) {
      node.set_attribute("num_outputs", static_cast<std::int64_t>(node.outputs.size()));
    }
  }
  void grid_sample(graph::Node& node) {
    const auto mode = node.attribute_or<std::string>("mode", "bilinear");
    node.set_attribute("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  }
  void dft(graph::Node& node) {
    const std::int64_t axis = take<std::int64_t>(node, "axis").value_or(1);
    node.inputs.resize(2, graph::kNoValue);
    add_constant(node, "axis", Tensor::scalar(axis));
  }
  /// Up to opset 12 everything from the axis on is one axis. Where that is not the last axis alone, or the number of
  /// axes is not known, a Flatten in front and a Reshape behind do the same.
  void softmax(graph::Node& node) {
    const auto axis = node.attribute_or<std::int64_t>("axis", 1);
    const auto& shape = graph_.value(node.inputs[0]).shape;
    const bool is_last = axis == -1 || (shape && axis == static_cast<std::int64_t>(shape->size()) - 1);
    node.set_attribute("axis", is_last ? axis : std::int64_t{-1});
    if (is_last) return;
    const graph::ValueId input = node.inputs[0];
    const graph::ValueId output = node.outputs[0];
    const auto make = [&](const char* op_type, const char* suffix, std::vector<graph::ValueId> inputs) {
      graph::Node made{.op_type = op_type, .name = names_.node(node.name + suffix), .inputs = std::move(inputs)};
      made.outputs = {graph_.add_value({.name = names_.value(node.name + suffix), .type = graph_.value(input).type})};
      return made;
    };
    auto shape_of = make("Shape", "_shape", {input});
    graph_.value(shape_of.outputs[0]).type = ElementType::int64;
    auto flatten = make("Flatten", "_flatten", {input});
    flatten.set_attribute("axis", axis);
    auto reshape = make("Reshape", "_reshape", {graph::kNoValue, shape_of.outputs[0]});
    node.inputs[0] = flatten.outputs[0];
    node.outputs[0] = reshape.inputs[0] = std::exchange(reshape.outputs[0], output);
    graph_.nodes.push_back(std::move(shape_of));
    graph_.nodes.push_back(std::move(flatten));
    behind_.push_back(std::move(reshape));
  }

  /// Removes an attribute.
  template <class T>
  static std::optional<T> take(graph::Node& node, const char* key) {
    for (auto attribute = node.attributes.begin(); attribute != node.attributes.end(); ++attribute) {
      if (attribute->first != key || !std::holds_alternative<T>(attribute->second)) continue;
      std::optional<T> value = std::get<T>(std::move(attribute->second));
      node.attributes.erase(attribute);
      return value;
    }
    return std::nullopt;
  }

  [[nodiscard]] static Tensor list(const std::vector<std::int64_t>& values) {
    return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
  }

  void add_constant(graph::Node& node, const char* what, Tensor data) {
    node.inputs.push_back(graph::add_initializer(graph_, names_.value(node.name + '_' + what), std::move(data)));
  }
  /// The next input is what the attribute was, or not given.
  void add_list(graph::Node& node, const char* key) {
    if (const auto values = take<std::vector<std::int64_t>>(node, key)) return add_constant(node, key, list(*values));
    node.inputs.push_back(graph::kNoValue);
  }
  /// The same for a number of the data's type.
  void add_scalar(graph::Node& node, const char* key) {
    const ElementType type = graph_.value(node.inputs[0]).type;
    if (const auto value = take<float>(node, key)) return add_constant(node, key, cast(Tensor::scalar(*value), type));
    node.inputs.push_back(graph::kNoValue);
  }

  [[noreturn]] void refuse(const graph::Node& node, const std::string& what) const {
    throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = node.op_type},
                "with " + what + " in opset " + std::to_string(graph_.opset) + " has no form in opset " +
                    std::to_string(target_));
  }

  graph::Graph& graph_;
  std::int64_t target_;
  graph::UniqueNames names_;
  std::vector<graph::Node> behind_;  ///< nodes to follow the current one
};

}  // namespace detail

/// Raises a graph of opset 7 to 17, and its bodies, to a higher one. Names of nodes and values stay; attributes that
/// are inputs now become initializers called `<node>_<attribute>`.
///
/// ONNX's own version converter is not used: it throws where it does not know a shape (Softmax), loses bodies,
/// names and inputs that nobody reads, and stops the process on some models. The operators that changed between these
/// opsets are few.
/// \param target  13 to 21
/// \throws Error model_unsupported for what later opsets do not have: BatchNormalization with spatial = 0, Scan of
///         opset 8, Resize with tf_half_pixel_for_nn
inline void raise_opset(graph::Graph& graph, std::int64_t target = kRaisedOpset) {
  detail::OpsetRaiser(graph, target).run();
}

}  // namespace amct::onnx
