// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/progress.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/part.hpp>
#include <amct/graph/passes/group_composites.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// What one layer costs and what its quantization does to the network's result.
struct LayerSensitivity {
  /// Noise in the network's outputs if this layer alone is quantized: sum (quantized - float)^2 / sum float^2, over all
  /// batches; of several outputs the sum of theirs. One number for each way to quantize the layer.
  std::vector<double> noise{};
  /// Multiplications and additions of one run; of layers without weights the numbers that they make.
  double macs = 0.0;
};

/// Signal to noise in dB of a noise of LayerSensitivity; infinite without any.
[[nodiscard]] inline double sqnr(double noise) noexcept {
  return noise > 0.0 ? -10.0 * std::log10(noise) : std::numeric_limits<double>::infinity();
}

/// One layer and the ways to quantize it that are compared. Each record holds the factors of this layer alone.
struct LayerVariants {
  std::string layer{};
  std::vector<LayerRecord> variants{};
};

namespace detail {

/// Keeps some values of a run, and counts what the layers do.
class RunWatcher {
 public:
  RunWatcher(const graph::Graph& network, const std::set<graph::ValueId>& wanted)
      : network_(network), wanted_(wanted) {}

  void before(const graph::Node&, std::span<const Tensor* const>) const noexcept {}
  void after(const graph::Node& node, std::span<const Tensor> outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (wanted_.contains(node.outputs[i])) kept_.insert_or_assign(node.outputs[i], outputs[i]);
    }
    if (!outputs.empty()) macs_[node.name] = static_cast<double>(outputs[0].size()) * macs_of_one(node);
  }
  void keep(graph::ValueId id, const Tensor& tensor) { kept_.insert_or_assign(id, tensor); }
  [[nodiscard]] const Tensor& value(graph::ValueId id) const { return kept_.at(id); }
  [[nodiscard]] double macs(const std::string& node) const {
    const auto found = macs_.find(node);
    return found == macs_.end() ? 0.0 : found->second;
  }

 private:
  /// Products for one number that a layer makes: the elements of its weight that one output channel has.
  [[nodiscard]] double macs_of_one(const graph::Node& node) const {
    const graph::ValueId id = node.input(graph::kWeightInput);
    const Tensor* weight =
        id == graph::kNoValue || !network_.value(id).initializer ? nullptr : &*network_.value(id).initializer;
    if (weight == nullptr || weight->shape().rank() < 2) return 1.0;
    // One output channel has its own elements of a weight: of [in, out / groups, ...] a transposed convolution's.
    const bool transposed = node.op_type == "ConvTranspose";
    const bool columns = node.op_type == "MatMul" || transposed ||
                         (node.op_type == "Gemm" && node.attribute_or<std::int64_t>("transB", 0) == 0);
    auto channels = static_cast<double>(weight->shape()[columns ? weight->shape().rank() - 1 : 0]);
    if (transposed) {
      channels = static_cast<double>(weight->shape()[1] * node.attribute_or<std::int64_t>("group", 1));
    }
    return static_cast<double>(weight->size()) / channels;
  }

  const graph::Graph& network_;
  const std::set<graph::ValueId>& wanted_;
  std::map<graph::ValueId, Tensor> kept_;
  std::map<std::string, double> macs_;
};

/// Sums of squares of one output.
struct NoiseSums {
  double signal = 0.0;
  double noise = 0.0;

  void add(std::span<const float> reference, std::span<const float> other) noexcept {
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const auto r = static_cast<double>(reference[i]);
      const double difference = static_cast<double>(other[i]) - r;
      signal += r * r;
      noise += difference * difference;
    }
  }
  [[nodiscard]] double relative() const noexcept {
    if (signal > 0.0) return noise / signal;
    return noise > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
};

}  // namespace detail

/// Measures each layer's sensitivity at the network's outputs, on a few batches.
///
/// For each batch the float network runs once; then, for each layer and way to quantize it, only the layer and what is
/// behind it run again, in the fake-quant form, on what was kept of the float run. AMCT compares the output of the
/// layer itself (SimilarityRanking), which does not show what the rest of the network makes of the noise.
///
/// \param network   the prepared float network
/// \param batches   one tensor a graph input each
/// \return one entry a layer, in their order
/// Takes about half a run a variant and batch; in memory the values of one float run that quantized runs begin with.
[[nodiscard]] inline std::vector<LayerSensitivity> measure_sensitivity(const graph::Graph& network,
                                                                       const std::vector<LayerVariants>& layers,
                                                                       const exec::OpSet& ops,
                                                                       std::span<const std::vector<Tensor>> batches,
                                                                       const ProgressSink& sink = {},
                                                                       const DeployOptions& deploy_with = {}) {
  std::set<graph::ValueId> wanted(network.outputs.begin(), network.outputs.end());
  graph::Graph grouped = network;  // a layer of several nodes is one node in it
  if (!deploy_with.composites.empty()) graph::group_composites(grouped, deploy_with.composites);
  for (const auto& layer : layers) {
    const graph::Graph part = graph::layer_and_behind(grouped, layer.layer);
    wanted.insert(part.inputs.begin(), part.inputs.end());
  }
  const exec::Interpreter interpreter(network, ops);
  std::vector<LayerSensitivity> result(layers.size());
  std::vector<std::vector<std::vector<detail::NoiseSums>>> sums(layers.size());  // by layer, variant, output
  for (std::size_t b = 0; b < batches.size(); ++b) {
    detail::RunWatcher run(network, wanted);
    for (std::size_t i = 0; i < batches[b].size(); ++i) run.keep(network.inputs[i], batches[b][i]);
    (void)interpreter.run(batches[b], run);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto& variants = layers[l].variants;
      const graph::Graph part = graph::layer_and_behind(grouped, layers[l].layer);
      std::vector<const Tensor*> inputs;
      for (const auto id : part.inputs) inputs.push_back(&run.value(id));
      sums[l].resize(variants.size(), std::vector<detail::NoiseSums>(part.outputs.size()));
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const graph::Graph quantized = fake_quant(deploy(part, {variants[v]}, deploy_with));
        const auto outputs = exec::Interpreter(quantized, ops).run_borrowed(inputs);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
          if (outputs[o].type() != ElementType::float32) continue;
          sums[l][v][o].add(run.value(part.outputs[o]).data<float>(), outputs[o].data<float>());
        }
      }
      result[l].macs = run.macs(layers[l].layer);
      sink.step("sensitivity", b * layers.size() + l + 1, batches.size() * layers.size());
    }
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const auto& variant : sums[l]) {
      double noise = 0.0;
      for (const auto& output : variant) noise += output.relative();
      result[l].noise.push_back(noise);
    }
  }
  return result;
}

}  // namespace amct::flow
