// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/plan.hpp>
#include <amct/core/affine.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/layer_table.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/uses.hpp>
#include <amct/observe/any_observer.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/hfmg_replay.hpp>
#include <amct/observe/ifmr_auto.hpp>
#include <amct/observe/lloyd.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/snq.hpp>
#include <amct/quantize/with_bits.hpp>
#include <amct/record/record.hpp>

/// \file
/// What calibration has to do at each layer, free of the kind of config that asked for it. Every family of configs
/// makes its jobs; flow/calibration.hpp does them.

namespace amct::flow {

/// How one input of a layer is calibrated.
struct ActivationJob {
  std::size_t input = 0;  ///< which of the inputs that carry data (graph::data_inputs), as `record_d.index` counts them
  AnyObserver observer{};
  CodeRange range{};  ///< codes of the input: record's act_type or num_bits_d
};

/// How the weight of a layer is quantized.
struct WeightJob {
  AnyQuantizer quantizer{};  ///< takes_weights()
  ChannelLayout layout{};    ///< the channels that have scales of their own, or one for the whole tensor
  int bits = 8;              ///< of its codes, as the record states them (wts_type, num_bits_w)
  /// AMCT calibrates activations with the quantized weights of all layers but transposed convolutions.
  bool float_while_calibrating = false;
};

/// One quantized layer.
struct LayerJob {
  std::string layer{};  ///< name of its node; of a layer of several nodes, of the last one
  LayerKind kind = LayerKind::other;
  std::string op_type{};  ///< the ONNX operator, or a composite such as "LayerNorm"
  std::vector<ActivationJob> activations{};
  std::optional<WeightJob> weights{};
  bool unit_weight = false;      ///< no weight, but the record says scale_w 1 (AveragePool)
  std::vector<float> balance{};  ///< DMQ: factors of the input channels; empty = not balanced
};

/// Which observers calibrate activations.
struct ObserverChoice {
  /// Values of a tensor up to which IFMR is AMCT's to the bit; beyond, it only counts them (observe/ifmr_auto.hpp). The
  /// largest number there is keeps all data, as AMCT does.
  std::size_t exact_values = kDefaultExactValues;
  /// Calibration is spread over processes: HFMG keeps its data, so that the result does not depend on how the batches
  /// are split (observe/hfmg_replay.hpp).
  bool distributed = false;
};

namespace detail {

[[nodiscard]] inline AnyObserver observer_of(const ActivationPlan& plan, const ObserverChoice& choice) {
  const Symmetry symmetry = plan.asymmetric ? Symmetry::asymmetric : Symmetry::symmetric;
  if (plan.algorithm == ActivationAlgorithm::hfmg) {
    // The calibration counts the batches.
    const HfmgOptions options{symmetry, std::numeric_limits<std::size_t>::max(), plan.num_of_bins};
    return choice.distributed ? AnyObserver::of<HfmgReplay>("hfmg_replay", options)
                              : AnyObserver::of<Hfmg>("hfmg", options);
  }
  return AnyObserver::of<IfmrAuto>("ifmr", {.stream = {.symmetry = symmetry,
                                                       .max_percentile = plan.max_percentile,
                                                       .min_percentile = plan.min_percentile,
                                                       .search_start = plan.search_start,
                                                       .search_end = plan.search_end,
                                                       .search_step = plan.search_step},
                                            .exact_values = choice.exact_values});
}

[[nodiscard]] inline ClusterInit init_of(const std::string& name) noexcept {
  if (name == "gaussian") return ClusterInit::gaussian;
  return name == "d2sampling" ? ClusterInit::d2sampling : ClusterInit::uniform;
}

/// The least weight scale of a layer in flavours that have one, otherwise 0: a large bias raises it, so that the bias
/// fits int32.
[[nodiscard]] inline float least_weight_scale(const graph::Node& node, const graph::Uses& uses,
                                              const FlavourRules& rules) {
  if (rules.degenerate_scale != DegenerateScale::eps) return 0.0F;
  const graph::BiasPlace place = graph::bias_place(node, uses);
  const Tensor* bias = place.node == nullptr ? nullptr : uses.constant(place.node->input(place.input));
  const bool is_known = bias != nullptr && bias->type() == ElementType::float32;
  return is_known ? weight_epsilon(bias->data<float>()) : kScaleEpsilon;
}

/// ARQ or SNQ as the plan says. \throws Error config_unsupported for what calibration does not do
[[nodiscard]] inline AnyQuantizer quantizer_of(const LayerPlan& layer, float least_scale, const std::string& file) {
  const WeightPlan& plan = layer.weights;
  if (plan.algorithm == WeightAlgorithm::ada) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .layer = layer.name, .field = "ada_quantize"},
                "this version learns no rounding; arq_quantize quantizes the weights of this layer");
  }
  AnyQuantizer quantizer;
  const ArqOptions arq{.least_scale = least_scale};
  const auto make_snq = [&]<BitWidth B>(B) {
    quantizer = AnyQuantizer(Snq<B>({.channel_wise = plan.channel_wise,
                                     .search = {.max_iteration = plan.max_iteration,
                                                .cali_min_distance = plan.min_distance,
                                                .init_algo = init_of(plan.init_algo)}}));
    return Status{};
  };
  const auto make_arq = [&]<BitWidth B>(B) {
    quantizer = AnyQuantizer(Arq<B>(arq));
    return Status{};
  };
  Status status;
  switch (plan.algorithm) {
    case WeightAlgorithm::snq: status = with_bits<4>(plan.bits, "4", make_snq); break;
    case WeightAlgorithm::ada:
    case WeightAlgorithm::none:
    case WeightAlgorithm::arq: status = with_bits<4, 6, 7, 8>(plan.bits, "4, 6, 7 or 8", make_arq); break;
  }
  if (!status.ok()) {
    throw Error(ErrorCode::config_range, {.file = file, .layer = layer.name, .field = "num_bits"},
                "got " + std::to_string(plan.bits) + ", expected " + status.allowed);
  }
  return quantizer;
}

[[nodiscard]] inline LayerJob job_of(const LayerPlan& plan, const Prepared& prepared, const graph::Uses& uses,
                                     const ObserverChoice& choice) {
  const graph::Graph& graph = prepared.graph;
  const FlavourRules& rules = rules_of(prepared.flavour);
  LayerJob job{.layer = plan.name, .kind = plan.kind, .op_type = plan.op_type};
  for (std::size_t i = 0; i < plan.activations.size(); ++i) {
    const ActivationPlan& activation = plan.activations[i];
    job.activations.push_back({i, observer_of(activation, choice), CodeRange{activation.bits}});
  }
  if (has_weights(plan.kind)) {
    const graph::Node& node = *graph.find_node(plan.name);
    const Shape& weight = graph.value(node.input(graph::kWeightInput)).initializer->shape();
    const auto elements = static_cast<std::size_t>(weight.count(0, weight.rank()));
    const bool transposed = plan.kind == LayerKind::conv_transpose1d || plan.kind == LayerKind::conv_transpose2d;
    job.weights.emplace(WeightJob{
        .quantizer = quantizer_of(plan, least_weight_scale(node, uses, rules), prepared.config_file),
        .layout = plan.weights.channel_wise ? graph::weight_layout(node, weight) : ChannelLayout::per_tensor(elements),
        .bits = plan.weights.bits,
        .float_while_calibrating = transposed});
  } else {
    job.unit_weight = plan.kind == LayerKind::avg_pool2d && rules.pool_has_weight_factors;
  }
  return job;
}

}  // namespace detail

/// The jobs of a network that was prepared with a config of the classic family, in model order; balanced layers come
/// first, as AMCT's records have them.
/// \param balanced  the factors of layers that DMQ balances, from balance_factors(); empty if the config balances none
/// \throws Error config_unsupported, naming layer and field, for what a config may say and calibration does not do
[[nodiscard]] inline std::vector<LayerJob> jobs_of(const Prepared& prepared, const Record& balanced = {},
                                                   const ObserverChoice& choice = {}) {
  const graph::Uses uses(prepared.graph);
  std::vector<LayerJob> jobs;
  for (const auto& layer : prepared.plan.layers) {
    if (!layer.enabled) continue;
    jobs.push_back(detail::job_of(layer, prepared, uses, choice));
    if (!layer.dmq_strength) continue;
    const LayerRecord* factors = find_record(balanced, layer.name);
    if (factors == nullptr || factors->tensor_balance_factor.empty()) {
      throw Error(ErrorCode::config_layer, {.file = prepared.config_file, .layer = layer.name, .field = "dmq_balancer"},
                  "the config balances this layer, but there are no factors of it; see balance_factors()");
    }
    jobs.back().balance = factors->tensor_balance_factor;
  }
  std::stable_partition(jobs.begin(), jobs.end(), [](const LayerJob& job) { return !job.balance.empty(); });
  return jobs;
}

}  // namespace amct::flow
