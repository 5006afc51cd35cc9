// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/graph/constants.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/pass_report.hpp>
#include <amct/graph/uses.hpp>

namespace amct::graph {

/// What becomes of a fully connected layer whose data have more than two axes.
enum class WideLinear : std::uint8_t {
  kept,         ///< it stays a MatMul and an Add
  reshaped,     ///< Reshape to two axes, Gemm, Reshape back
  convolution,  ///< a 1x1 Conv between Transpose nodes, for three or four axes
};

namespace detail {

class MatMulToGemm {
 public:
  MatMulToGemm(Graph& graph, WideLinear wide) : graph_(graph), wide_(wide), uses_(graph), names_(graph) {}

  PassReport run() {
    std::map<std::string, const Node*> matmuls;  // by the name of their Add
    std::set<std::string> replaced;
    for (const auto& node : graph_.nodes) {
      const Node* add = bias_add(node, uses_);
      if (add == nullptr) continue;
      std::string reason = refuse(node);
      if (!reason.empty()) {
        report_.refuse(node.name, std::move(reason));
        continue;
      }
      matmuls[add->name] = &node;
      replaced.insert(node.name);
    }
    for (const auto& node : graph_.nodes) {
      if (const auto found = matmuls.find(node.name); found != matmuls.end()) replace(*found->second, node);
      else if (!replaced.contains(node.name)) nodes_.push_back(node);
    }
    graph_.nodes = std::move(nodes_);
    remove_unused(graph_);
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string refuse(const Node& matmul) const {
    const Value& data = graph_.value(matmul.inputs[0]);
    const auto rank = known_rank(data);
    if (!rank) return "the number of axes of its data is not known";
    if (*rank == 2) return {};
    const std::string axes = "its data have " + std::to_string(*rank) + " axes";
    if (wide_ == WideLinear::kept || *rank < 2) return axes;
    if (wide_ == WideLinear::convolution) {
      const ValueId weight = matmul.input(kWeightInput);
      if (uses_.constant(weight)->type() != ElementType::float32) return "its weight is not float32";
      return *rank <= 4 ? "" : axes + ", expected 3 or 4";
    }
    std::size_t unknown = 0;
    for (std::size_t i = 0; i + 1 < *rank; ++i) {
      if (known_size(data, static_cast<std::int64_t>(i)) < 0) ++unknown;
    }
    return unknown < 2 ? "" : axes + ", of which " + std::to_string(unknown) + " sizes are not known";
  }

  void replace(const Node& matmul, const Node& add) {
    const std::size_t rank = *known_rank(graph_.value(matmul.inputs[0]));
    const ValueId bias = add.inputs[add.inputs[0] == matmul.outputs[0] ? 1 : 0];
    if (rank == 2) {
      emit_.named("Gemm", matmul.name, {matmul.inputs[0], matmul.inputs[1], bias}, {}, add.outputs[0]);
      report_.change(matmul.name, "is a Gemm with the bias of " + add.name);
    } else if (wide_ == WideLinear::reshaped) {
      reshaped(matmul, bias, add.outputs[0]);
      report_.change(matmul.name, "is a Gemm on reshaped data, with the bias of " + add.name);
    } else {
      convolution(matmul, bias, add.outputs[0], rank);
      report_.change(matmul.name, "is a 1x1 convolution with the bias of " + add.name);
    }
  }

  void reshaped(const Node& matmul, ValueId bias, ValueId output) {
    const Value data = graph_.value(matmul.inputs[0]);
    const Shape& weight = uses_.constant(matmul.inputs[1])->shape();
    std::vector<std::int64_t> back;
    for (std::size_t i = 0; i + 1 < *known_rank(data); ++i)
      back.push_back(known_size(data, static_cast<std::int64_t>(i)));
    back.push_back(weight[1]);
    const ValueId flat_shape = integers(matmul.name + ".flat_shape", {-1, weight[0]});
    const ValueId back_shape = integers(matmul.name + ".shape", back);
    const ValueId flat = emit_.node("Reshape", matmul.name + ".flatten", {matmul.inputs[0], flat_shape});
    const ValueId product = emit_.named("Gemm", matmul.name, {flat, matmul.inputs[1], bias}, {});
    emit_.node("Reshape", matmul.name + ".unflatten", {product, back_shape}, {}, output);
  }

  /// [N, ..., K] is seen as an image with K channels: [N, K, 1, L] or [N, K, H, W].
  void convolution(const Node& matmul, ValueId bias, ValueId output, std::size_t rank) {
    using Ints = std::vector<std::int64_t>;
    Tensor weight = transposed(*uses_.constant(matmul.inputs[1]));
    weight.reshape(Shape{weight.shape()[0], weight.shape()[1], 1, 1});
    const ValueId kernel = add_initializer(graph_, names_.value(matmul.name + ".weight_1x1"), std::move(weight));
    ValueId image = matmul.inputs[0];
    if (rank == 3) image = with_axis("Unsqueeze", matmul.name + ".unsqueeze", image, kNoValue);
    image = emit_.node("Transpose", matmul.name + ".to_channels", {image}, {{"perm", Ints{0, 3, 1, 2}}});
    image = emit_.named("Conv", matmul.name, {image, kernel, bias},
                        {{"kernel_shape", Ints{1, 1}},
                         {"strides", Ints{1, 1}},
                         {"pads", Ints{0, 0, 0, 0}},
                         {"dilations", Ints{1, 1}},
                         {"group", std::int64_t{1}}});
    image = emit_.node("Transpose", matmul.name + ".from_channels", {image}, {{"perm", Ints{0, 2, 3, 1}}},
                       rank == 3 ? kNoValue : output);
    if (rank == 3) with_axis("Squeeze", matmul.name + ".squeeze", image, output);
  }

  /// Unsqueeze or Squeeze of axis 1; the axis became an input in opset 13.
  ValueId with_axis(const std::string& op_type, const std::string& name, ValueId input, ValueId output) {
    if (graph_.opset < 13) {
      return emit_.node(op_type, name, {input}, {{"axes", std::vector<std::int64_t>{1}}}, output);
    }
    const ValueId axes = integers(name + ".axes", {1});
    return emit_.node(op_type, name, {input, axes}, {}, output);
  }

  ValueId integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return add_initializer(graph_, names_.value(name), int64_tensor(values));
  }

  Graph& graph_;
  WideLinear wide_;
  Uses uses_;
  UniqueNames names_;
  std::vector<Node> nodes_;
  Emitter emit_{graph_, names_, nodes_};
  PassReport report_;
};

}  // namespace detail

/// Makes one Gemm of a MatMul by a constant matrix and the Add of a constant bias behind it, where the data are known
/// to have two axes. Data with more are treated as `wide` says. The layer keeps the name of the MatMul.
inline PassReport matmul_to_gemm(Graph& graph, WideLinear wide = WideLinear::kept) {
  return detail::MatMulToGemm(graph, wide).run();
}

}  // namespace amct::graph
