// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/graph/ir.hpp>

namespace amct::flow {

namespace detail {

/// Which values have shapes that follow from those of the inputs, whatever the data are.
class ShapeOrigins {
 public:
  explicit ShapeOrigins(const graph::Graph& graph) : content_(graph.values.size(), 0), shape_(graph.values.size(), 0) {
    for (const graph::ValueId id : graph.inputs) content_[index(id)] = 1;
    for (const graph::Node& node : graph.nodes) visit(node);
  }

  [[nodiscard]] bool is_fixed(graph::ValueId id) const noexcept { return shape_[index(id)] == 0; }

 private:
  static std::size_t index(graph::ValueId id) noexcept { return static_cast<std::size_t>(id); }

  void visit(const graph::Node& node) {
    static constexpr std::string_view kFreeShapes[] = {
        "NonZero", "NonMaxSuppression", "Unique", "Compress", "If", "Loop", "Scan"};
    static constexpr std::string_view kSizesFirst[] = {"ConstantOfShape", "Range"};
    static constexpr std::string_view kSizesBehind[] = {"Reshape", "Expand",    "Slice",   "Tile",
                                                        "Pad",     "Resize",    "TopK",    "OneHot",
                                                        "Split",   "Unsqueeze", "Squeeze", "Upsample"};
    const auto any = [&](const std::vector<char>& marks, std::size_t first) {
      for (std::size_t i = first; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != graph::kNoValue && marks[index(node.inputs[i])] != 0) return true;
      }
      return false;
    };
    bool content = any(content_, 0);
    bool shape = any(shape_, 0) || !node.domain.empty() || is_one_of(kFreeShapes, node.op_type);
    if (is_one_of(kSizesFirst, node.op_type)) shape = shape || content;
    if (is_one_of(kSizesBehind, node.op_type) || node.op_type.starts_with("Reduce")) {
      shape = shape || any(content_, 1);
    }
    if (node.op_type == "Shape" || node.op_type == "Size") {
      content = shape;
      shape = false;
    }
    for (const graph::ValueId id : node.outputs) {
      if (id == graph::kNoValue) continue;
      content_[index(id)] = content ? 1 : 0;
      shape_[index(id)] = shape ? 1 : 0;
    }
  }

  std::vector<char> content_;  ///< by value: depends on data
  std::vector<char> shape_;    ///< by value: its shape does
};

/// Notes the shapes of what nodes make.
struct ShapeNotes {
  std::map<graph::ValueId, Shape>& shapes;

  void before(const graph::Node&, std::span<const Tensor* const>) const {}
  void after(const graph::Node& node, std::span<const Tensor> outputs) const {
    for (std::size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i] != graph::kNoValue) shapes.insert_or_assign(node.outputs[i], outputs[i].shape());
    }
  }
};

inline void declare(graph::Value& value, const Shape& shape) {
  value.shape.emplace();
  for (const auto size : shape) value.shape->push_back({size, {}});
}

/// The declared sizes, if all are known and so many elements can be made.
[[nodiscard]] inline std::optional<Shape> declared_shape(const graph::Value& value) {
  if (!value.shape) return {};
  std::vector<std::int64_t> sizes;
  for (const auto& dim : *value.shape) sizes.push_back(dim.size);
  if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 0; })) return {};
  constexpr double kMostElements = 1 << 28;
  double elements = 1.0;
  for (const auto size : sizes) elements *= static_cast<double>(size);
  if (elements > kMostElements) return {};
  return Shape(std::move(sizes));
}

}  // namespace detail

/// Declares the shapes of all values of a network whose inputs have fixed sizes, by running it once on zeros: what
/// ONNX's inference does not find behind arithmetic on shapes. Values whose shapes depend on the data are left.
/// \param sizes  of inputs that leave theirs open, by name
/// \return whether the shapes are known: false, and only the inputs changed, if an input has open sizes or more than
///         2^28 elements, or the network cannot be run
inline bool fix_shapes(graph::Graph& graph, const std::map<std::string, Shape>& sizes, const exec::OpSet& ops) {
  for (const graph::ValueId id : graph.inputs) {
    graph::Value& value = graph.value(id);
    if (const auto given = sizes.find(value.name); given != sizes.end()) detail::declare(value, given->second);
  }
  std::map<graph::ValueId, Shape> shapes;
  try {
    std::vector<Tensor> inputs;
    for (const graph::ValueId id : graph.inputs) {
      const graph::Value& value = graph.value(id);
      const auto shape = detail::declared_shape(value);
      if (!shape) return false;
      inputs.emplace_back(value.type, *shape);
      if (inputs.back().bytes() != 0) std::memset(inputs.back().raw().data(), 0, inputs.back().bytes());
    }
    (void)exec::Interpreter(graph, ops).run(inputs, detail::ShapeNotes{shapes});
  } catch (const Error&) {
    return false;
  } catch (const std::bad_alloc&) {  // what is declared need not fit this machine
    return false;
  }
  const detail::ShapeOrigins origins(graph);
  for (const auto& [id, shape] : shapes) {
    if (origins.is_fixed(id)) detail::declare(graph.value(id), shape);
  }
  return true;
}

}  // namespace amct::flow
