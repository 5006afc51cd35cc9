// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/interpreter.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/part.hpp>
#include <amct/graph/passes/group_composites.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

/// How alike the outputs of a layer and of its quantized self are: 1 is equal.
struct LayerSimilarity {
  std::string layer{};
  double similarity = 1.0;

  friend bool operator==(const LayerSimilarity&, const LayerSimilarity&) = default;
};

AMCT_EXACT_BEGIN

/// AMCT's CosineSimilaritySensitivity: 0.5 + 0.5 cos of the angle between the two arrays. 1 if the original is all
/// zero, 0 if only the other one is. Summed in double in the order of the data; AMCT sums in float32, so that the last
/// digits differ. \param quantized  as long as the original
[[nodiscard]] inline double cosine_similarity(std::span<const float> original,
                                              std::span<const float> quantized) noexcept {
  double product = 0.0;
  double original2 = 0.0;
  double quantized2 = 0.0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const auto a = static_cast<double>(original[i]);
    const auto b = static_cast<double>(quantized[i]);
    product += a * b;
    original2 += a * a;
    quantized2 += b * b;
  }
  if (original2 == 0.0) return 1.0;
  if (quantized2 == 0.0) return 0.0;
  return 0.5 + 0.5 * (product / (std::sqrt(original2) * std::sqrt(quantized2)));
}

AMCT_EXACT_END

namespace detail {

/// A layer alone, in float and quantized.
class LayerPair {
 public:
  LayerPair(const graph::Graph& network, const LayerRecord& record, const exec::OpSet& ops,
            const DeployOptions& deploy_with)
      : original_(graph::layer_alone(network, record.name)),
        quantized_(fake_quant(deploy(original_, {record}, deploy_with))),
        original_run_((graph::expand_composites(original_), original_), ops),
        quantized_run_(quantized_, ops) {
    const auto reads_input = [&](const graph::Node& node) {
      return std::find(node.inputs.begin(), node.inputs.end(), original_.inputs.at(0)) != node.inputs.end();
    };
    const auto first = std::find_if(original_.nodes.begin(), original_.nodes.end(), reads_input);
    first_node_ = first->name;
    for (std::size_t i = 0; i < first->inputs.size(); ++i) {
      const auto& data = original_.inputs;
      if (std::find(data.begin(), data.end(), first->inputs[i]) != data.end()) positions_.push_back(i);
    }
  }

  /// The node in front of which the layer's data are to be seen.
  [[nodiscard]] const std::string& first_node() const noexcept { return first_node_; }

  /// \param inputs  of the first node
  void compare(std::span<const Tensor* const> inputs) {
    std::vector<const Tensor*> data;
    for (const std::size_t position : positions_) data.push_back(inputs[position]);
    const auto original = original_run_.run_borrowed(data);
    const auto quantized = quantized_run_.run_borrowed(data);
    sum_ += cosine_similarity(original[0].data<float>(), quantized[0].data<float>());
    ++batches_;
  }
  /// The mean over batches.
  [[nodiscard]] double similarity() const noexcept {
    return batches_ == 0 ? 1.0 : sum_ / static_cast<double>(batches_);
  }

 private:
  graph::Graph original_;
  graph::Graph quantized_;
  exec::Interpreter original_run_;
  exec::Interpreter quantized_run_;
  std::string first_node_;
  std::vector<std::size_t> positions_;  ///< of data among the inputs of that node
  double sum_ = 0.0;
  std::size_t batches_ = 0;
};

}  // namespace detail

/// AMCT's ranking of layers: each layer alone, in float and quantized, on what flows into it during calibration. A hook
/// for runs of the calibrated network (weights fake-quantized, activations in float).
class SimilarityRanking {
 public:
  /// \param network  the prepared float network
  /// \param record   factors of all layers to be ranked
  SimilarityRanking(graph::Graph network, const Record& record, const exec::OpSet& ops,
                    const DeployOptions& deploy_with = {}) {
    if (!deploy_with.composites.empty()) graph::group_composites(network, deploy_with.composites);
    for (const auto& layer : record) {
      auto& pair =
          pairs_.emplace_back(layer.name, std::make_unique<detail::LayerPair>(network, layer, ops, deploy_with)).second;
      at_[pair->first_node()].push_back(pair.get());
    }
  }

  void before(const graph::Node& node, std::span<const Tensor* const> inputs) {
    const auto found = at_.find(node.name);
    if (found == at_.end() || inputs[0]->size() == 0) return;
    for (auto* pair : found->second) pair->compare(inputs);
  }
  void after(const graph::Node&, std::span<const Tensor>) const noexcept {}

  /// From the least to the most alike; equals by name.
  [[nodiscard]] std::vector<LayerSimilarity> ascending() const {
    std::vector<LayerSimilarity> ranking;
    for (const auto& [name, pair] : pairs_) ranking.push_back({name, pair->similarity()});
    std::sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
      return a.similarity != b.similarity ? a.similarity < b.similarity : a.layer < b.layer;
    });
    return ranking;
  }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<detail::LayerPair>>> pairs_;
  std::map<std::string, std::vector<detail::LayerPair*>> at_;  ///< by the node that reads the layer's input
};

}  // namespace amct::flow
