// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/element_type.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/rounding.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/permute.hpp>
#include <amct/graph/uses.hpp>
#include <amct/record/record.hpp>

/// \file
/// Models that carry their quantization as QuantizeLinear and DequantizeLinear, as frameworks export them after
/// quantization-aware training, brought into AMCT's form: a float network and a record.

namespace amct::graph {

/// What from_qdq() found.
struct QdqLayers {
  Record record{};                             ///< layers quantized on both sides, in model order
  std::map<std::string, std::string> refused;  ///< layers quantized in the file that cannot stay so, and why
  std::vector<std::string> dropped;            ///< operators whose own quantization is left out, such as Add
};

namespace detail {

/// The constants of a QuantizeLinear or DequantizeLinear: one pair, or one an index of `axis`. Unsigned codes are
/// counted as signed ones, so zero points are from -128 to 127.
struct LinearQuantization {
  std::vector<float> scale{};
  std::vector<std::int32_t> zero_point{};
  std::int64_t axis = 0;
  ElementType codes = ElementType::uint8;

  friend bool operator==(const LinearQuantization&, const LinearQuantization&) = default;
};

[[nodiscard]] inline std::int32_t signed_code(const Tensor& codes, std::size_t i) {
  switch (codes.type()) {
    case ElementType::int8: return codes.data<std::int8_t>()[i];
    case ElementType::uint8: return codes.data<std::uint8_t>()[i] - 128;
    default: return codes.data<std::int32_t>()[i];
  }
}

[[nodiscard]] inline bool holds_codes(ElementType type) noexcept {
  return type == ElementType::int8 || type == ElementType::uint8 || type == ElementType::int32;
}

/// Empty if the node has other inputs than finite positive constants, or codes of another type.
[[nodiscard]] inline std::optional<LinearQuantization> linear_quantization(const Node& node, const Uses& uses) {
  const Tensor* scale = uses.constant(node.input(1));
  const Tensor* zero = uses.constant(node.input(2));
  const Tensor* data = uses.constant(node.input(0));
  if (scale == nullptr || scale->type() != ElementType::float32 || scale->size() == 0) return {};
  LinearQuantization found{.axis = node.attribute_or<std::int64_t>("axis", 1)};
  for (const float s : scale->data<float>()) {
    if (!std::isfinite(s) || s <= 0.0F) return {};
    found.scale.push_back(s);
  }
  if (zero != nullptr) {
    found.codes = zero->type();
  } else if (node.op_type == "DequantizeLinear" && data != nullptr) {
    found.codes = data->type();
  }
  if (!holds_codes(found.codes) || (node.input(2) != kNoValue && zero == nullptr)) return {};
  if (zero != nullptr && zero->size() != scale->size()) return {};
  const std::int32_t absent = found.codes == ElementType::uint8 ? -128 : 0;
  for (std::size_t i = 0; i < found.scale.size(); ++i) {
    found.zero_point.push_back(zero == nullptr ? absent : signed_code(*zero, i));
  }
  return found;
}

/// The node that makes a value, if it is of this type.
[[nodiscard]] inline const Node* producer_of_type(ValueId id, std::string_view op_type, const Uses& uses) {
  const Node* node = uses.producer(id);
  return node != nullptr && node->op_type == op_type && node->domain.empty() ? node : nullptr;
}

/// A value that is quantized and dequantized again with the same constants.
struct QdqPair {
  ValueId source = kNoValue;
  LinearQuantization quantization{};
};

[[nodiscard]] inline std::optional<QdqPair> qdq_pair(ValueId id, const Uses& uses) {
  const Node* dequantize = producer_of_type(id, "DequantizeLinear", uses);
  const Node* quantize =
      dequantize == nullptr ? nullptr : producer_of_type(dequantize->input(0), "QuantizeLinear", uses);
  if (quantize == nullptr) return {};
  const auto there = linear_quantization(*quantize, uses);
  const auto back = linear_quantization(*dequantize, uses);
  if (!there || !back || there->scale != back->scale || there->zero_point != back->zero_point) return {};
  return QdqPair{quantize->input(0), *there};
}

/// A constant that the file keeps quantized, dequantized, in the axes in which its layer reads it.
struct QdqConstant {
  Tensor values{};
  std::vector<float> scale{};
  std::size_t axis = 0;    ///< to which the scales belong, if there are several
  bool symmetric = false;  ///< all zero points are 0
};

AMCT_EXACT_BEGIN

/// Codes times scale; floats go through their codes first. Empty if the scales do not fit.
[[nodiscard]] inline std::optional<QdqConstant> dequantize(const Tensor& data, const LinearQuantization& q) {
  const auto rank = static_cast<std::int64_t>(data.shape().rank());
  const std::int64_t signed_axis = q.axis < 0 ? q.axis + rank : q.axis;
  const bool one = q.scale.size() == 1;
  if (!one && (signed_axis < 0 || signed_axis >= rank)) return {};
  QdqConstant result{.values = Tensor(ElementType::float32, data.shape()), .scale = q.scale};
  result.axis = one ? 0 : static_cast<std::size_t>(signed_axis);
  const std::size_t extent = one ? 1 : static_cast<std::size_t>(data.shape()[result.axis]);
  const std::size_t inner = one ? std::max<std::size_t>(1, data.size())
                                : static_cast<std::size_t>(data.shape().count(result.axis + 1, data.shape().rank()));
  if (extent != q.scale.size()) return {};
  result.symmetric = std::all_of(q.zero_point.begin(), q.zero_point.end(), [](std::int32_t z) { return z == 0; });
  const auto values = result.values.data<float>();
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t channel = i / inner % extent;
    const auto zero = static_cast<float>(q.zero_point[channel]);
    const float code =
        data.type() == ElementType::float32
            ? std::clamp(round_half_even(data.data<float>()[i] / q.scale[channel]) + zero, -128.0F, 127.0F)
            : static_cast<float>(signed_code(data, i));
    values[i] = (code - zero) * q.scale[channel];
  }
  return result;
}

AMCT_EXACT_END

/// The constant behind a DequantizeLinear, itself perhaps behind a Transpose.
[[nodiscard]] inline std::optional<QdqConstant> qdq_constant(ValueId id, const Uses& uses) {
  const Node* transpose = producer_of_type(id, "Transpose", uses);
  const ValueId inside = transpose == nullptr ? id : transpose->input(0);
  const Node* node = producer_of_type(inside, "DequantizeLinear", uses);
  if (node == nullptr) return {};
  const auto pair = qdq_pair(inside, uses);
  const auto quantization = linear_quantization(*node, uses);
  const Tensor* data = uses.constant(pair ? pair->source : node->input(0));
  if (!quantization || data == nullptr || !(holds_codes(data->type()) || data->type() == ElementType::float32))
    return {};
  auto found = dequantize(*data, *quantization);
  if (!found || transpose == nullptr) return found;
  std::vector<std::int64_t> order(found->values.shape().rank());
  std::iota(order.rbegin(), order.rend(), 0);
  order = transpose->attribute_or("perm", order);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != found->values.shape().rank() || sorted[i] != static_cast<std::int64_t>(i)) return {};
  }
  found->values = permuted(found->values, order);
  const auto place = std::find(order.begin(), order.end(), static_cast<std::int64_t>(found->axis));
  if (found->scale.size() > 1) found->axis = static_cast<std::size_t>(place - order.begin());
  return found;
}

/// Scales of a weight, one for all or one an output channel; empty if they lie along another axis.
[[nodiscard]] inline std::vector<float> channel_scales(const Node& node, const QdqConstant& weight) {
  if (weight.scale.size() == 1) return weight.scale;
  if (weight.axis != channel_axis(node)) return {};
  std::vector<float> scales;
  const auto groups =
      node.op_type == "ConvTranspose" ? std::max<std::int64_t>(1, node.attribute_or<std::int64_t>("group", 1)) : 1;
  for (std::int64_t g = 0; g < groups; ++g) scales.insert(scales.end(), weight.scale.begin(), weight.scale.end());
  return scales;
}

/// Takes the quantization of one layer out of the graph into a record entry.
class QdqLayer {
 public:
  QdqLayer(Graph& graph, Node& node, const Uses& uses, UniqueNames& names)
      : graph_(graph), node_(node), uses_(uses), names_(names), data_(qdq_pair(node.input(0), uses)) {
    const bool weighted = node.op_type != "AveragePool";
    if (weighted) weight_ = qdq_constant(node.input(kWeightInput), uses);
    entry_.name = node.name;
    if (!weighted) {
      entry_.scale_w = {1.0F};
      entry_.offset_w = {0};
    } else if (weight_) {
      entry_.scale_w = channel_scales(node, *weight_);
      entry_.offset_w.assign(entry_.scale_w.size(), 0);
      entry_.wts_type = "INT8";
    }
  }

  /// True if the file quantizes anything of this layer.
  [[nodiscard]] bool quantized() const noexcept { return data_ || weight_; }

  /// Why the layer cannot be deployed as it is quantized; empty if it can.
  [[nodiscard]] std::string refusal() const {
    if (!data_) return "its weight is quantized and its input is not";
    if (data_->quantization.scale.size() != 1) return "its input has several scales";
    if (data_->quantization.codes == ElementType::int32) return "its input has codes of type int32";
    if (node_.op_type == "AveragePool") return {};
    if (!weight_) return "its input is quantized and its weight is not";
    if (!weight_->symmetric) return "its weight has a zero point";
    if (entry_.scale_w.empty()) return "its weight has scales that do not belong to its output channels";
    if (node_.op_type == "Gemm" && node_.attribute_or<float>("alpha", 1.0F) != 1.0F) return "its alpha is not 1";
    return {};
  }

  /// Makes the layer float: reads the value before the pair, the dequantized weight and bias.
  void unwrap() {
    if (data_) node_.inputs[0] = data_->source;
    if (weight_) node_.inputs[kWeightInput] = constant(std::move(weight_->values), ".weight");
    if (auto bias = qdq_constant(node_.input(kBiasInput), uses_)) {
      node_.inputs[kBiasInput] = constant(std::move(bias->values), ".bias");
    }
  }

  [[nodiscard]] LayerRecord record() const {
    LayerRecord entry = entry_;
    entry.scale_d = data_->quantization.scale[0];
    entry.offset_d = data_->quantization.zero_point[0];
    entry.act_type = "INT8";
    return entry;
  }

 private:
  ValueId constant(Tensor values, const char* ending) {
    return add_initializer(graph_, names_.value(node_.name + ending), std::move(values));
  }

  Graph& graph_;
  Node& node_;
  const Uses& uses_;
  UniqueNames& names_;
  std::optional<QdqPair> data_;
  std::optional<QdqConstant> weight_;
  LayerRecord entry_;
};

/// Lets everybody read the value before a pair; the operators that lose their own quantization by that.
inline std::vector<std::string> drop_pairs(Graph& graph) {
  const Uses uses(graph);
  std::vector<std::string> readers;
  const auto source_of = [&](ValueId id) {
    for (auto pair = qdq_pair(id, uses); pair; pair = qdq_pair(id, uses)) id = pair->source;
    return id;
  };
  for (auto& node : graph.nodes) {
    if (node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear") continue;
    bool changed = false;
    for (ValueId& id : node.inputs) {
      const ValueId source = id == kNoValue ? id : source_of(id);
      changed = changed || source != id;
      id = source;
    }
    if (changed) readers.push_back(node.name);
  }
  return readers;
}

}  // namespace detail

/// Takes QuantizeLinear/DequantizeLinear out of a network: layers (Conv, ConvTranspose, Gemm, MatMul, AveragePool)
/// whose input passes a pair and whose weight is behind a DequantizeLinear get a record entry, and become float layers
/// on the dequantized weight; quantizing that with the entry's scales gives the file's codes again. Unsigned codes
/// become signed ones, so an offset is the zero point minus 128. A weight may stand behind a Transpose, a bias behind a
/// DequantizeLinear. Layers that are quantized in another way become float, with the reason; pairs elsewhere, such as
/// before an Add, are dropped. A pair whose result is a graph output stays.
///
/// The layers must still be checked by find_quantizable(), since a flavour may not quantize all of them.
[[nodiscard]] inline QdqLayers from_qdq(Graph& graph) {
  static constexpr std::string_view kLayers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "AveragePool"};
  QdqLayers result;
  {
    const Graph before = graph;  // what the layers are read from while they change
    const Uses uses(before);
    UniqueNames names(before);
    for (auto& node : graph.nodes) {
      if (!node.domain.empty() || std::find(std::begin(kLayers), std::end(kLayers), node.op_type) == std::end(kLayers))
        continue;
      detail::QdqLayer layer(graph, node, uses, names);
      if (!layer.quantized()) continue;
      if (const std::string reason = layer.refusal(); reason.empty()) {
        result.record.push_back(layer.record());
      } else {
        result.refused.emplace(node.name, reason);
      }
      layer.unwrap();
    }
  }
  result.dropped = detail::drop_pairs(graph);
  remove_unused(graph);
  return result;
}

}  // namespace amct::graph
