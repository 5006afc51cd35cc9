// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/config/om.hpp>
#include <amct/core/bits.hpp>
#include <amct/core/code.hpp>
#include <amct/core/element_type.hpp>
#include <amct/core/error.hpp>
#include <amct/core/float_text.hpp>
#include <amct/core/granularity.hpp>
#include <amct/core/status.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/quantize_weights.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/quantize/nuq.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

namespace amct::flow {

namespace detail {

/// How often each INT8 code occurs in a weight.
[[nodiscard]] inline nuq::Counts code_counts(const graph::Node& node, const Tensor& weight,
                                             const std::vector<float>& scales) {
  nuq::Counts counts{};
  std::vector<std::int8_t> codes;
  for_each_run(graph::scale_layout(node, weight, scales.size()),
               [&](std::size_t channel, std::size_t first, std::size_t count) {
                 codes.resize(count);
                 quantize<DivideAddRound>(weight.data<float>().subspan(first, count), std::span(codes),
                                          {scales[channel], 0}, Int8::range);
                 for (const std::int8_t code : codes) ++counts[static_cast<std::size_t>(code - Int8::min)];
               });
  return counts;
}

}  // namespace detail

/// NUQ, AMCT's `nuq_quantize`: the INT8 weights of a calibrated network get only 16 or 32 of the 256 codes, so that a
/// device can keep 4 or 5 bits a weight. Scales and biases stay; the levels are written to the entries as `cluster`,
/// and deploy() makes the weights of them. AMCT takes them up in its TensorFlow records.
/// \param record   of the network; layers without weights, with other than INT8 weights, or with levels are left alone
/// \param graph    the float network that the record is for, ready for deploy()
/// \param mapping  operators of the compiled model (read_om), as AMCT's nuq_config names it in `mapping_file`: only
///                 layers that it knows are changed. Empty: all
/// \return the layers that were changed
/// \throws Error config_range for options that NUQ does not have; record_value for another number of weight scales than
///         one, or one a channel
/// \note O(weights + layers * num_steps * 256^2)
inline std::vector<std::string> apply_nuq(Record& record, const graph::Graph& graph, const NuqOptions& options = {},
                                          const std::vector<OmOperator>& mapping = {}) {
  if (const Status status = options.check(); !status.ok()) {
    throw Error(ErrorCode::config_range, {.field = std::string("nuq_quantize.") + status.name},
                "got " + decimal_text(status.value) + ", expected " + status.allowed);
  }
  std::set<std::string_view> mapped;
  for (const OmOperator& op : mapping) mapped.insert(op.layers.begin(), op.layers.end());
  std::vector<std::string> changed;
  for (LayerRecord& layer : record) {
    const graph::Node* const node = graph.find_node(layer.name);
    const Tensor* const weight = node == nullptr ? nullptr : graph::layer_weight(*node, graph);
    const bool has_levels = !layer.params.empty() || !layer.cluster.empty();
    if (weight == nullptr || weight->type() != ElementType::float32) continue;
    if (layer.scale_w.empty() || has_levels || weight_bits(layer) != Int8::width) continue;
    if (!mapping.empty() && !mapped.contains(layer.name)) continue;
    const std::size_t channels = graph::weight_layout(*node, weight->shape()).channels();
    if (layer.scale_w.size() != 1 && layer.scale_w.size() != channels) {
      throw Error(ErrorCode::record_value, {.layer = layer.name, .field = "scale_w"},
                  "got " + std::to_string(layer.scale_w.size()) + " values, expected 1, or " +
                      std::to_string(channels) + ": one an output channel");
    }
    layer.cluster = nuq::best_levels(detail::code_counts(*node, *weight, layer.scale_w), options.num_steps);
    changed.push_back(layer.name);
  }
  return changed;
}

}  // namespace amct::flow
