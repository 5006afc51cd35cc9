// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include <amct/core/cast.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/op_set.hpp>
#include <amct/exec/promote.hpp>

namespace amct::exec::ops {

namespace detail {

/// What numpy's random.uniform gives after random.seed(seed), as the ONNX conformance data use it.
class UniformNumbers {
 public:
  explicit UniformNumbers(std::uint32_t seed) : generator_(seed) {}

  /// From 0 up to but not 1, with 53 bits.
  [[nodiscard]] double next() {
    const auto high = static_cast<double>(generator_() >> 5);
    const auto low = static_cast<double>(generator_() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

 private:
  std::mt19937 generator_;
};

/// Input 1 or, before opset 12, the attribute `ratio`.
[[nodiscard]] inline double dropout_ratio(const OpContext& context) {
  double ratio = static_cast<double>(context.node.attribute_or<float>("ratio", 0.5F));
  if (context.opset >= 12 && context.has(1)) {
    const Tensor wide = cast(context.input(1), ElementType::float64);
    if (wide.size() != 1) context.fail("ratio is " + to_string(wide.shape()) + ", expected one value");
    ratio = wide.data<double>()[0];
  }
  if (!(ratio >= 0.0 && ratio < 1.0)) context.fail("ratio is " + std::to_string(ratio) + ", expected 0 to below 1");
  return ratio;
}

/// The second output: which elements were kept. Before opset 10 it had the type of the data.
template <class Kept>
void make_mask(const OpContext& context, const Shape& shape, ElementType data_type, const Kept& kept) {
  Tensor mask(ElementType::boolean, shape);
  for (bool& element : mask.data<bool>()) element = kept();
  cast_into(mask, context.make_output(1, context.opset < 10 ? data_type : ElementType::boolean, shape));
}

}  // namespace detail

/// ONNX Dropout in all its forms. Only with the input training_mode of opset 12 are elements dropped at random, the
/// same ones at each run: those of the attribute `seed`, 0 if it is not given. Otherwise it hands its input on.
inline void dropout(const OpContext& context) {
  const Shape shape = context.input(0).shape();
  const ElementType type = context.input(0).type();
  const bool training = context.opset >= 12 && context.scalar_or<bool>(2, false);
  const double ratio = training ? detail::dropout_ratio(context) : 0.0;
  if (ratio == 0.0) {
    context.pass_on(0);
    if (context.wants_output(1)) detail::make_mask(context, shape, type, [] { return true; });
    return;
  }
  const auto seed = static_cast<std::uint32_t>(context.node.attribute_or<std::int64_t>("seed", 0));
  const auto x = context.floats(0).data<float>();
  const auto y = context.make_output(shape);
  detail::UniformNumbers numbers(seed);
  const auto scale = static_cast<float>(1.0 / (1.0 - ratio));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = numbers.next() >= ratio ? x[i] * scale : 0.0F;
  if (!context.wants_output(1)) return;
  detail::UniformNumbers again(seed);
  detail::make_mask(context, shape, type, [&] { return again.next() >= ratio; });
}

inline void add_dropout(OpSet& set) { set.add("Dropout", in_float32(dropout)); }

}  // namespace amct::exec::ops
