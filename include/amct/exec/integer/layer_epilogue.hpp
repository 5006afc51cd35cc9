// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/bits.hpp>
#include <amct/core/error.hpp>
#include <amct/core/exact.hpp>
#include <amct/core/requantize.hpp>
#include <amct/core/tensor.hpp>
#include <amct/exec/integer/form.hpp>
#include <amct/exec/integer/quantize.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/broadcast.hpp>
#include <amct/graph/quant_nodes.hpp>
#include <amct/kernel/elementwise_f32.hpp>
#include <amct/kernel/row_source.hpp>
#include <amct/kernel/stages.hpp>

namespace amct::exec::integer {

/// The constant data of an input of a node; null if there is none.
[[nodiscard]] inline const Tensor* constant_input(const graph::Graph& graph, const graph::Node& node,
                                                  std::size_t index) {
  const graph::ValueId id = node.input(index);
  if (id == graph::kNoValue) return nullptr;
  const auto& value = graph.value(id);
  if (value.initializer) return &*value.initializer;
  for (const auto& other : graph.nodes) {
    if (other.op_type == "Constant" && other.outputs[0] == id) return other.attribute<Tensor>("value");
  }
  return nullptr;
}

namespace detail {

AMCT_EXACT_BEGIN

[[nodiscard]] inline std::vector<float> times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}
/// values[i] * 2^exponents[i]
[[nodiscard]] inline std::vector<float> times_powers(std::vector<float> values, const std::vector<int>& exponents) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= amct::detail::power_of_two(exponents[i]);
  return values;
}

AMCT_EXACT_END

}  // namespace detail

/// What a layer does with its accumulators: bias, real values, residual, Relu or Clip, codes. Made once a node.
class LayerEpilogue {
 public:
  /// \param columns  output channels
  /// \throws Error naming the layer if a constant does not have the form that flow::deploy gives it
  LayerEpilogue(const graph::Graph& graph, const graph::Node& node, std::size_t columns) : next_(next_codes(node)) {
    const graph::Node dequant{.name = node.name, .inputs = {graph::kNoValue, node.input(kScalesInput)}};
    auto factors = graph::dequant_factors(dequant, graph);
    scales_ = std::move(factors.scales);
    shifts_ = std::move(factors.shifts);
    if (!shifts_.empty()) scales_ = detail::times_powers(scales_, shifts_);
    if (node.input(kBiasInput) != graph::kNoValue) {
      const Tensor* bias = constant_input(graph, node, kBiasInput);
      if (bias == nullptr || bias->type() != ElementType::int32) refuse(node, "its bias is not an int32 constant");
      bias_.assign(bias->data<std::int32_t>().begin(), bias->data<std::int32_t>().end());
    }
    for (const auto& [what, size] : {std::pair{"scales", scales_.size()}, std::pair{"biases", bias_.size()}}) {
      if (size <= 1 || size == columns) continue;
      refuse(node, "has " + std::to_string(size) + ' ' + what + ", expected one or " + std::to_string(columns));
    }
    if (const auto* ends = node.attribute<std::vector<float>>(kClip)) clip_ = {(*ends)[0], (*ends)[1]};
    if (next_) set_rule(graph::requant_rule(node), columns);
  }

  [[nodiscard]] const std::vector<float>& scales() const noexcept { return scales_; }
  [[nodiscard]] bool is_shifted() const noexcept { return !shifts_.empty(); }

  /// Makes the node's results.
  /// \param shape    of the results
  /// \param columns  output channels, of which each row of accumulators has one
  /// \param product  `Status product(epilogue, ResultRows<T>)` computes accumulators and stores what becomes of them
  template <class Product>
  void run(const OpContext& context, const Shape& shape, std::size_t columns, const Product& product) const {
    const bool has_residual = context.has(kResidualInput);
    if (has_residual && context.floats(kResidualInput).shape() != shape) {
      Tensor reals(ElementType::float32, shape);
      store(context, columns, product, to_reals({}, {}), reals);
      return finish(context, with_residual(context, reals));
    }
    const AddResidual residual{has_residual ? context.floats(kResidualInput).data<float>().data() : nullptr, columns};
    const bool wants_real = context.wants_output(kRealOutput);
    const bool wants_codes = next_ && context.wants_output(kCodesOutput);
    const bool clips_codes = !wants_real && wants_codes && code_bounds_;
    const auto& ends = clips_codes ? *code_bounds_ : clip_;
    const ClipReal clip{ends[0], ends[1]};
    Tensor* const reals = wants_real ? &make_reals(context, shape) : nullptr;
    if (wants_real && (!wants_codes || is_merged())) store(context, columns, product, to_reals(residual, clip), *reals);
    if (!wants_codes) return;
    const KeepReal keep{wants_real ? reals->data<float>().data() : nullptr, columns};
    with_code_storage(next_->range, [&]<class T>() {
      using Bits = std::conditional_t<sizeof(T) == 1, Int8, Int16>;
      Tensor& codes = context.make_output(kCodesOutput, graph::code_type(next_->range), shape);
      store(context, columns, product, is_merged() ? to_merged_codes<Bits>(clip) : to_codes<Bits>(residual, clip, keep),
            codes);
      if (!clips_codes) clamp_codes(codes.data<T>(), *next_);
    });
  }

  /// Makes the node's results of real values that include what is added to them.
  void finish(const OpContext& context, Tensor reals) const {
    const auto values = reals.data<float>();
    if (clip_ != kNoClip) map_f32(MapF32::clip, values, values, clip_[0], clip_[1]);
    if (next_ && context.wants_output(kCodesOutput)) {
      Tensor& codes = context.make_output(kCodesOutput, graph::code_type(next_->range), reals.shape());
      with_code_storage(next_->range, [&]<class T>() { quantize_reals(values, codes.data<T>(), *next_); });
    }
    if (context.wants_output(kRealOutput)) context.outputs[kRealOutput] = std::move(reals);
  }
  /// The same with the node's residual added first, if it has one.
  void add_and_finish(const OpContext& context, Tensor reals) const {
    finish(context, context.has(kResidualInput) ? with_residual(context, reals) : std::move(reals));
  }

  [[noreturn]] static void refuse(const graph::Node& node, const std::string& message) {
    throw Error(ErrorCode::model_unsupported, {.layer = node.name, .field = node.op_type}, message);
  }

 private:
  static constexpr std::array<float, 2> kNoClip{-std::numeric_limits<float>::infinity(),
                                                std::numeric_limits<float>::infinity()};

  [[nodiscard]] LayerToReal to_reals(const AddResidual& residual, const ClipReal& clip) const noexcept {
    return LayerToReal{AddBias{bias_}, ShiftBit{shifts_}, Dequantize{scales_}, residual, clip, {}};
  }
  template <BitWidth B>
  [[nodiscard]] LayerToCodes<B> to_codes(const AddResidual& residual, const ClipReal& clip,
                                         const KeepReal& keep) const noexcept {
    return LayerToCodes<B>{AddBias{bias_},
                           ShiftBit{shifts_},
                           Dequantize{scales_},
                           residual,
                           clip,
                           keep,
                           QuantizeTo{next_->scale, next_->offset, next_->range},
                           SaturateTo<B>{}};
  }
  /// The contracts of ReQuant that multiply once: the merged scale takes the place of the dequantization scale, and an
  /// offset that is added before rounding is a residual that is the same for all.
  template <BitWidth B>
  [[nodiscard]] LayerToCodes<B> to_merged_codes(const ClipReal& clip) const noexcept {
    const bool adds_first = !added_first_.empty();
    return LayerToCodes<B>{AddBias{bias_},
                           ShiftBit{shifts_},
                           Dequantize{merged_scales_},
                           AddResidual{adds_first ? added_first_.data() : nullptr, 0},
                           clip,
                           {},
                           QuantizeTo{1.0F, adds_first ? 0 : next_->offset, next_->range},
                           SaturateTo<B>{}};
  }
  [[nodiscard]] bool is_merged() const noexcept { return !merged_scales_.empty(); }

  /// What a rule of ReQuant multiplies with, and the ends of its codes before they are quantized.
  void set_rule(graph::RequantRule rule, std::size_t columns) {
    const bool narrow = next_->lowest != next_->range.min() || next_->highest != next_->range.max();
    graph::QuantTarget rounded = *next_;
    if (rule != graph::RequantRule::two_products) {
      merged_scales_ = detail::times(scales_, next_->scale);
      rounded.scale = 1.0F;
    }
    if (rule == graph::RequantRule::one_product_add_then_round) {
      added_first_.assign(columns, static_cast<float>(next_->offset));
      rounded.offset = 0;
    }
    if (narrow) code_bounds_ = bounds_of_reals(rounded);
  }

  /// The tensor of the real values; that of the residual if nobody reads it later.
  [[nodiscard]] static Tensor& make_reals(const OpContext& context, const Shape& shape) {
    const bool over = kResidualInput < context.dying.size() && context.dying[kResidualInput] != nullptr;
    if (!over) return context.make_output(kRealOutput, ElementType::float32, shape);
    return context.outputs[kRealOutput] = std::move(*context.dying[kResidualInput]);
  }

  template <class Product, class E>
  static void store(const OpContext& context, std::size_t columns, const Product& product, const E& epilogue,
                    Tensor& result) {
    using T = typename E::template Result<std::int32_t>;
    if (result.size() == 0) return;
    check(product(epilogue, ResultRows<T>{result.data<T>().data(), columns}),
          {.layer = context.node.name, .field = context.node.op_type});
  }

  /// Real values plus the residual, by numpy's rules of broadcasting.
  [[nodiscard]] static Tensor with_residual(const OpContext& context, const Tensor& reals) {
    const Tensor& residual = context.floats(kResidualInput);
    Tensor sums(ElementType::float32, broadcast_shape(context, reals.shape(), residual.shape()));
    const BroadcastRows<2> rows(sums.shape(), {reals.shape(), residual.shape()});
    const float* const a = reals.data<float>().data();
    const float* const b = residual.data<float>().data();
    rows.for_each([&](std::size_t first, const auto& from, std::size_t count) {
      combine_f32(CombineF32::add, {a + from[0], rows.is_repeated(0)}, {b + from[1], rows.is_repeated(1)},
                  sums.data<float>().subspan(first, count));
    });
    return sums;
  }

  std::vector<float> scales_;  ///< of the accumulators, with the factor of the shift
  std::vector<int> shifts_;
  std::vector<std::int32_t> bias_;
  std::array<float, 2> clip_ = kNoClip;
  std::optional<graph::QuantTarget> next_;
  std::optional<std::array<float, 2>> code_bounds_;  ///< for nodes that took in a ReQuant with bounds
  std::vector<float> merged_scales_;                 ///< for contracts that multiply once
  std::vector<float> added_first_;                   ///< the offset, for contracts that add it before rounding
};

}  // namespace amct::exec::integer
