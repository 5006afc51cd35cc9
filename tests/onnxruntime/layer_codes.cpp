// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/layer_codes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <doctest/doctest.h>

#include <amct/core/cast.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/onnx/export.hpp>

#include "onnxruntime/accumulator_bound.hpp"
#include "onnxruntime/peer.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

namespace networks {

namespace {

using amct::ElementType;
using amct::Tensor;
using amct::graph::Graph;
using amct::graph::is_op;
using amct::graph::kNoValue;
using amct::graph::Node;
using amct::graph::ValueId;

/// The values of a fake-quant network in ONNX Runtime.
std::map<ValueId, Tensor> run_peer(Graph fake, const std::vector<ValueId>& wanted, const Tensor& input) {
  std::map<ValueId, Tensor> values{{fake.inputs.at(0), input}};
  for (const ValueId id : wanted) {
    if (std::count(fake.outputs.begin(), fake.outputs.end(), id) != 0 || values.contains(id)) continue;
    fake.outputs.push_back(id);
    fake.value(id).type = ElementType::float32;
    fake.value(id).shape.reset();
  }
  const support::TempDir folder;
  amct::onnx::export_model(folder / "fake.onnx", fake);
  peer::Job job{.model = folder / "fake.onnx", .runs = {{{fake.value(fake.inputs[0]).name, input}}}};
  auto results = peer::run_onnxruntime(job).at(0);
  for (std::size_t o = 0; o < fake.outputs.size(); ++o) values.insert_or_assign(fake.outputs[o], std::move(results[o]));
  return values;
}

/// A layer of a deployed network with its quant and dequant nodes.
struct Layer {
  Graph graph;                  ///< reads what the quant nodes read, makes what the dequant node makes
  const Node* quant = nullptr;  ///< of the whole network, in front of the first input
  ValueId result = kNoValue;
  std::string name;
};

Layer layer_of(const Graph& deployed, const Node& dequant) {
  Layer layer{.graph = deployed, .result = dequant.outputs[0]};
  layer.graph.inputs.clear();
  layer.graph.outputs = {layer.result};
  std::vector<Node> nodes;
  std::vector<ValueId> needed{layer.result};
  for (auto node = deployed.nodes.rbegin(); node != deployed.nodes.rend(); ++node) {
    if (std::find(needed.begin(), needed.end(), node->outputs[0]) == needed.end()) continue;
    nodes.push_back(*node);
    if (is_op(*node, amct::graph::kQuantOp)) {
      layer.quant = &*node;
      layer.graph.inputs.push_back(node->inputs[0]);
    } else {
      needed.insert(needed.end(), node->inputs.begin(), node->inputs.end());
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  layer.graph.nodes = std::move(nodes);
  const amct::graph::Uses uses(layer.graph);
  const Node* last = uses.producer(dequant.inputs[0]);
  const Node* before = uses.producer(last->input(0));
  layer.name = before != nullptr && amct::graph::integer_bias_add(*before, uses) == last ? before->name : last->name;
  return layer;
}

/// The largest |bias| that an Add puts on the sums of a MatMul.
double added_bias(const Graph& layer) {
  double largest = 0.0;
  for (const auto& node : layer.nodes) {
    if (node.op_type != "Add") continue;
    for (const std::int32_t value : layer.value(node.inputs[1]).initializer->data<std::int32_t>())
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
  }
  return largest;
}

LayerComparison compare(const Layer& layer, const std::map<ValueId, Tensor>& theirs) {
  LayerComparison comparison{.layer = layer.name};
  std::vector<Tensor> inputs;
  for (const ValueId id : layer.graph.inputs) inputs.push_back(theirs.at(id));

  const Graph fake = amct::flow::fake_quant(layer.graph);
  AccumulatorBound bound(fake);
  (void)amct::exec::Interpreter(fake, support::ops()).run(inputs, bound);
  comparison.largest_sum = bound.largest() + added_bias(layer.graph);

  const amct::flow::Execution integers(layer.graph, amct::flow::Mode::real_quant, support::integer_ops(),
                                       {.every_layer = true});
  std::optional<Tensor> codes;
  const Tensor ours = integers
                          .run(inputs,
                               [&](const amct::flow::LayerResult& result) {
                                 if (result.codes != nullptr) codes = amct::cast(*result.codes, ElementType::int32);
                               })
                          .at(0);
  REQUIRE(codes);
  const auto their_codes = theirs.at(layer.quant->outputs[0]).data<float>();
  const auto our_codes = codes->data<std::int32_t>();
  const std::int32_t offset = amct::graph::quant_target(*layer.quant).offset;
  comparison.codes = our_codes.size();
  REQUIRE(their_codes.size() == our_codes.size());
  for (std::size_t i = 0; i < our_codes.size(); ++i) {
    comparison.different_codes += their_codes[i] != static_cast<float>(our_codes[i] - offset) ? 1U : 0U;
  }

  const Tensor& their_result = theirs.at(layer.result);
  peer::Distance distance;
  distance.add(ours, their_result);
  comparison.results = ours.size();
  comparison.difference = distance.difference == 0.0 ? 0.0 : distance.relative();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    comparison.different_results += ours.data<float>()[i] != their_result.data<float>()[i] ? 1U : 0U;
  }
  return comparison;
}

}  // namespace

bool LayerComparison::is_exact() const noexcept { return largest_sum <= kExactLimit; }

std::vector<LayerComparison> compare_layers(const Graph& deployed, const Tensor& input) {
  std::vector<Layer> layers;
  std::vector<ValueId> wanted;
  for (const auto& node : deployed.nodes) {
    if (!is_op(node, amct::graph::kDequantOp)) continue;
    layers.push_back(layer_of(deployed, node));
    wanted.insert(wanted.end(), layers.back().graph.inputs.begin(), layers.back().graph.inputs.end());
    wanted.insert(wanted.end(), {layers.back().quant->outputs[0], layers.back().result});
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const auto theirs = run_peer(amct::flow::fake_quant(deployed), wanted, input);
  std::vector<LayerComparison> comparisons;
  for (const auto& layer : layers) comparisons.push_back(compare(layer, theirs));
  return comparisons;
}

void check_layers(const std::string& network, const std::vector<LayerComparison>& layers) {
  constexpr double kRounding = 1e-5;
  std::size_t beyond = 0;
  std::size_t codes = 0;
  std::size_t different = 0;
  double largest_sum = 0.0;
  for (const auto& layer : layers) {
    CAPTURE(network);
    CAPTURE(layer.layer);
    CAPTURE(layer.largest_sum);
    CHECK(layer.different_codes == 0);
    if (layer.is_exact()) CHECK(layer.different_results == 0);
    CHECK(layer.difference <= kRounding);
    beyond += layer.is_exact() ? 0U : 1U;
    codes += layer.codes;
    different += layer.different_results;
    largest_sum = std::max(largest_sum, layer.largest_sum);
  }
  CHECK(!layers.empty());
  MESSAGE(network, ": ", layers.size(), " quantized layers, ", codes, " codes, largest sum ", largest_sum, "; ", beyond,
          " layers with sums beyond 2^24, and ", different, " different results there");
}

}  // namespace networks
