// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/tensor.hpp>
#include <amct/graph/deployed_layer.hpp>
#include <amct/graph/edit.hpp>
#include <amct/graph/emitter.hpp>
#include <amct/graph/ir.hpp>
#include <amct/graph/matmul_bias.hpp>
#include <amct/graph/names.hpp>
#include <amct/graph/op_table.hpp>
#include <amct/graph/passes/pack_int4_weights.hpp>
#include <amct/graph/passes/to_fake_quant.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/graph/uses.hpp>
#include <amct/graph/weight_levels.hpp>
#include <amct/record/factors.hpp>
#include <amct/record/record.hpp>

/// \file
/// A deployed network in ONNX's own form for quantized ones, QuantizeLinear and DequantizeLinear around float
/// operators. from_qdq.hpp is the way back.

namespace amct::graph {

/// What the user chooses of a QuantizeLinear/DequantizeLinear model.
struct QdqForm {
  /// Activations are unsigned: each code and zero point is larger by half of the range (128 for 8 bits), which changes
  /// no result. With them ONNX Runtime has integer kernels for more layers on x86 machines.
  bool unsigned_activations = false;
  /// Weights of at most 4 bits are INT4 tensors, two codes a byte, which needs opset 21. ONNX Runtime computes such
  /// layers in float.
  bool int4_weights = false;
};

/// The first opset whose DequantizeLinear has scales by an axis, and the first with codes of 4 and 16
/// bits.
inline constexpr std::int64_t kQdqOpset = 13;
inline constexpr std::int64_t kWideQdqOpset = 21;

/// What a graph of QuantizeLinear and DequantizeLinear needs of the file.
struct QdqNeeds {
  std::int64_t opset = kQdqOpset;  ///< at least
  std::vector<ValueId> int4{};     ///< constants to be written as INT4; in the graph they are int8
};

namespace detail {

AMCT_EXACT_BEGIN

/// The number that a code stands for.
[[nodiscard]] inline float code_value(std::int32_t code, std::int32_t offset, float scale) noexcept {
  return static_cast<float>(code - offset) * scale;
}

[[nodiscard]] inline bool has_reciprocal(float scale, float reciprocal) noexcept { return 1.0F / scale == reciprocal; }

AMCT_EXACT_END

/// Builds the new list of nodes.
class QdqWriter {
 public:
  QdqWriter(Graph& graph, const Record& record, QdqForm form)
      : graph_(graph), record_(record), form_(form), names_(graph), emit_(graph, names_, nodes_) {
    const auto layers = layers_of_accumulators(graph);
    const Uses uses(graph);
    for (const auto& node : graph.nodes) {
      if (reads_accumulator(node)) find_layer(node, layers.at(node.inputs[0]), uses);
    }
  }

  QdqNeeds run() {
    for (auto& node : graph_.nodes) {
      if (is_op(node, kQuantOp) || is_op(node, kReQuantOp)) {
        quantize(node);
      } else if (is_op(node, kAntiQuantOp)) {
        anti_quantize(node);
      } else if (!is_op(node, kDequantOp)) {
        keep(std::move(node));
      }
    }
    graph_.nodes = std::move(nodes_);
    ValueMerge merge(graph_);
    for (const auto& [real, codes] : anti_quantized_) merge.merge(real, codes);
    merge.apply(graph_);
    remove_unused(graph_);
    return std::move(needs_);
  }

 private:
  /// Which of the constants of a node are codes.
  struct Constants {
    const LayerRecord* layer = nullptr;
    bool has_weight = false;
    std::size_t bias_input = 0;  ///< 0: none
  };

  /// The bias of an Add behind a MatMul, with as many axes as the data.
  struct AddedBias {
    std::size_t input = 0;
    Tensor bias{};
  };

  /// The layer in front of a dequant node makes the dequantized value itself from now on.
  void find_layer(const Node& dequant, const Node& layer, const Uses& uses) {
    const LayerRecord* record = find_record(record_, layer.name);
    if (record == nullptr || inputs_of(*record).empty()) refuse(dequant, "its layer has no factors in the record");
    if (!dequant_factors(dequant, graph_).shifts.empty()) refuse(dequant, "its layer has shift_bit");
    const ValueId accumulator = dequant.inputs[0];
    ValueId result = accumulator;
    if (is_op(dequant, kDequantOp)) {
      result = dequant.outputs[0];
      results_[accumulator] = result;
      if (!uses.is_graph_output(result)) std::swap(graph_.value(result).name, graph_.value(accumulator).name);
    }
    graph_.value(result).type = ElementType::float32;

    Constants constants{.layer = record, .has_weight = layer_weight(layer, graph_) != nullptr};
    const Node* last = uses.producer(accumulator);
    const bool adds_bias = last->name != layer.name;
    if (adds_bias) {
      layers_.emplace(last->name, Constants{.layer = record, .bias_input = 1});
    } else if (constants.has_weight && layer.input(kBiasInput) != kNoValue) {
      constants.bias_input = kBiasInput;
    }
    layers_.emplace(layer.name, constants);
    if (layer.op_type == "MatMul") find_bias(adds_bias ? layer.outputs[0] : dequant.outputs[0], uses);
  }

  [[noreturn]] static void refuse(const Node& node, const std::string& why) {
    throw Error(ErrorCode::model_unsupported, {.layer = node.name},
                "cannot be written with QuantizeLinear and DequantizeLinear: " + why);
  }

  /// ONNX Runtime makes a float Gemm of a MatMul and an Add of one axis, whatever is quantized; so a bias for data of
  /// more than two gets as many.
  void find_bias(ValueId product, const Uses& uses) {
    const auto rank = known_rank(graph_.value(product));
    if (!rank || *rank < 3 || !uses.has_single_use(product)) return;
    const Node* add = uses.consumers(product).front();
    if (add->op_type != "Add" || !add->domain.empty()) return;
    const std::size_t input = add->input(0) == product ? 1 : 0;
    const Tensor* bias = uses.constant(add->input(input));
    if (bias == nullptr || bias->shape().rank() != 1) return;
    std::vector<std::int64_t> dims(*rank, 1);
    dims.back() = bias->shape()[0];
    AddedBias found{input, *bias};
    found.bias.reshape(Shape(std::move(dims)));
    biases_.emplace(add->name, std::move(found));
  }

  void add_axes(Node& add, AddedBias& found) {
    ValueId& id = add.inputs[found.input];
    id = constant(graph_.value(id).name + ".row", std::move(found.bias));
  }

  void keep(Node node) {
    if (const auto found = biases_.find(node.name); found != biases_.end()) add_axes(node, found->second);
    if (const auto found = layers_.find(node.name); found != layers_.end()) dequantize_constants(node, found->second);
    for (ValueId& id : node.outputs) {
      if (const auto result = results_.find(id); result != results_.end()) id = result->second;
    }
    nodes_.push_back(std::move(node));
  }

  /// AscendQuant and AscendReQuant -> QuantizeLinear and DequantizeLinear, so what were codes are the numbers that they
  /// stand for. Codes of a width that ONNX lacks are those of the next one, and a Clip in front keeps them in their
  /// range.
  void quantize(const Node& quant) {
    const QuantTarget target = quant_target(quant);
    const CodeRange stored{target.range.bits <= 8 ? 8 : 16};
    if (stored.bits == 16) needs_.opset = kWideQdqOpset;
    const float scale = activation_scale(target);
    const bool clipped = target.lowest != stored.min() || target.highest != stored.max();
    const ValueId input = clipped ? clip(quant, target, scale) : real_input(quant);
    const ValueId scale_id = constant(quant.name + ".scale", Tensor::scalar(scale));
    const ValueId zero_id = constant(quant.name + ".zero_point", zero_point(target.offset, stored));
    const ValueId codes = emit_.named("QuantizeLinear", quant.name, {input, scale_id, zero_id}, {});
    graph_.value(codes).type = graph_.value(zero_id).type;
    emit_.node("DequantizeLinear", quant.name + ".dequant", {codes, scale_id, zero_id}, {}, quant.outputs[0]);
    graph_.value(quant.outputs[0]).type = ElementType::float32;
  }

  ValueId clip(const Node& quant, const QuantTarget& target, float scale) {
    const ValueId low = constant(quant.name + ".low", Tensor::scalar(code_value(target.lowest, target.offset, scale)));
    const ValueId high =
        constant(quant.name + ".high", Tensor::scalar(code_value(target.highest, target.offset, scale)));
    return emit_.node("Clip", quant.name + ".clip", {real_input(quant), low, high});
  }

  /// What a quant node quantizes; for an AscendReQuant that is not the accumulators but what they stand for.
  [[nodiscard]] ValueId real_input(const Node& quant) const {
    const auto result = results_.find(quant.inputs[0]);
    return result == results_.end() ? quant.inputs[0] : result->second;
  }

  /// AscendAntiQuant -> nothing, or an Identity if the value has a name that must stay.
  void anti_quantize(const Node& node) {
    const auto& outputs = graph_.outputs;
    if (std::find(outputs.begin(), outputs.end(), node.outputs[0]) != outputs.end()) {
      emit_.named("Identity", node.name, {node.inputs[0]}, {}, node.outputs[0]);
    } else {
      anti_quantized_.emplace_back(node.outputs[0], node.inputs[0]);
    }
  }

  [[nodiscard]] Tensor zero_point(std::int32_t offset, CodeRange stored) const {
    const std::int32_t from_zero = offset - stored.min();
    if (stored.bits == 8) {
      return form_.unsigned_activations ? Tensor::scalar(static_cast<std::uint8_t>(from_zero))
                                        : Tensor::scalar(static_cast<std::int8_t>(offset));
    }
    return form_.unsigned_activations ? Tensor::scalar(static_cast<std::uint16_t>(from_zero))
                                      : Tensor::scalar(static_cast<std::int16_t>(offset));
  }

  /// The node knows only float32(1 / scale_d), of which scale_d cannot be told.
  [[nodiscard]] float activation_scale(const QuantTarget& target) const {
    for (const auto& layer : record_) {
      for (const auto& input : inputs_of(layer)) {
        if (has_reciprocal(input.scale, target.scale) && input.offset == target.offset) return input.scale;
      }
    }
    return 1.0F / target.scale;
  }

  [[nodiscard]] static std::vector<float> accumulator_scales(const LayerRecord& layer) {
    std::vector<float> scales;
    for (const float scale : layer.scale_w) scales.push_back(accumulator_scale(inputs_of(layer)[0].scale, scale));
    return scales;
  }

  void dequantize_constants(Node& node, const Constants& constants) {
    const std::string& name = constants.layer->name;
    if (constants.has_weight) {
      const bool is_int4 = form_.int4_weights && code_bits_of_weights(*constants.layer) <= Int4::width;
      if (is_int4) write_as_int4(node.inputs[kWeightInput]);
      node.inputs[kWeightInput] = weight(node, name, constants.layer->scale_w);
    }
    if (constants.bias_input == 0) return;
    ValueId& bias = node.inputs[constants.bias_input];
    const Shape& shape = graph_.value(bias).initializer->shape();
    bias = dequantized(name + ".bias", bias, accumulator_scales(*constants.layer),
                       std::max<std::int64_t>(static_cast<std::int64_t>(shape.rank()) - 1, 0));
  }

  void write_as_int4(ValueId id) {
    needs_.opset = kWideQdqOpset;
    needs_.int4.push_back(id);
  }

  ValueId weight(const Node& node, const std::string& name, const std::vector<float>& scales) {
    const ValueId codes = node.inputs[kWeightInput];
    const Shape& shape = graph_.value(codes).initializer->shape();
    const std::size_t axis = channel_axis(node);
    const auto groups = node.op_type == "ConvTranspose" ? node.attribute_or<std::int64_t>("group", 1) : 1;
    if (scales.size() == 1 || groups == 1) {
      return dequantized(name + ".weight", codes, scales, static_cast<std::int64_t>(axis));
    }
    // A transposed convolution of groups has its output channels along two axes: one scale for each element of both.
    const auto of_group = static_cast<std::size_t>(shape[1]);
    const auto inputs = static_cast<std::size_t>(shape[0] / groups);
    std::vector<float> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      const auto first = scales.begin() + static_cast<std::ptrdiff_t>(i / inputs * of_group);
      all.insert(all.end(), first, first + shape[1]);
    }
    if (of_group == 1) return dequantized(name + ".weight", codes, all, 0);
    std::vector<std::int64_t> dims(shape.rank(), 1);
    dims[0] = shape[0];
    dims[1] = shape[1];
    const ValueId whole = dequantized(name + ".weight", codes, {1.0F}, 0);
    const ValueId factors =
        constant(name + ".weight.channel_scale", Tensor(Shape(std::move(dims)), std::span<const float>(all)));
    return emit_.node("Mul", name + ".weight.scaled", {whole, factors});
  }

  /// Weights get zero points too, without which ONNX Runtime does not know the layer; int32 codes cannot have any.
  ValueId dequantized(const std::string& name, ValueId codes, const std::vector<float>& scales, std::int64_t axis) {
    const bool one = scales.size() == 1;
    const Shape shape = one ? Shape{} : Shape{static_cast<std::int64_t>(scales.size())};
    std::vector<ValueId> inputs{codes, constant(name + ".scale", Tensor(shape, std::span<const float>(scales)))};
    if (graph_.value(codes).type == ElementType::int8) {
      const std::vector<std::int8_t> zeros(scales.size(), 0);
      inputs.push_back(constant(name + ".zero_point", Tensor(shape, std::span<const std::int8_t>(zeros))));
      if (std::count(needs_.int4.begin(), needs_.int4.end(), codes) != 0) write_as_int4(inputs.back());
    }
    Emitter::Attributes attributes;
    if (!one) attributes.emplace_back("axis", axis);
    return emit_.node("DequantizeLinear", name + ".dequant", std::move(inputs), std::move(attributes));
  }

  ValueId constant(const std::string& name, Tensor data) {
    return add_initializer(graph_, names_.value(name), std::move(data));
  }

  Graph& graph_;
  const Record& record_;
  QdqForm form_;
  UniqueNames names_;
  std::vector<Node> nodes_;
  Emitter emit_;
  std::map<std::string, Constants> layers_;                  ///< by the name of the node that reads the constants
  std::map<std::string, AddedBias> biases_;                  ///< by the name of the Add
  std::map<ValueId, ValueId> results_;                       ///< dequantized value by accumulator
  std::vector<std::pair<ValueId, ValueId>> anti_quantized_;  ///< what AscendAntiQuant made, and what it read
  QdqNeeds needs_;
};

}  // namespace detail

/// Turns a deploy graph into one of QuantizeLinear, DequantizeLinear and float operators, which runtimes run with their
/// integer kernels:
///
/// - AscendQuant becomes QuantizeLinear `<layer>.quant` and DequantizeLinear with scale_d itself and the offset as zero
///   point;
/// - int8 weights stand behind a DequantizeLinear with scale_w, along the axis of the output channels;
/// - int32 biases stand behind one with float32(scale_d * scale_w), the scale of the accumulator;
/// - AscendDequant goes; its layer makes the float value. AscendReQuant becomes QuantizeLinear and DequantizeLinear
///   behind it. AscendAntiQuant goes, since its codes are already behind a DequantizeLinear;
/// - weights and activations of other widths are int8 or int16 with the same codes, activations behind a Clip.
///
/// QuantizeLinear divides by scale_d where AMCT multiplies by float32(1 / scale_d), so a value that is all but half-way
/// between two codes may get the other one; and runtimes requantize in one step.
///
/// \param record  the one that the graph was deployed with
/// \return the least opset that can say it: 13, or 21 if activations have more than 8 bits or weights are INT4; the
///         graph's own may be lower and must be raised then
/// \throws Error model_unsupported naming the node if it has no such form
inline QdqNeeds to_qdq(Graph& graph, const Record& record, QdqForm form = {}) {
  unpack_int4_weights(graph);
  return detail::QdqWriter(graph, record, form).run();
}

}  // namespace amct::graph
