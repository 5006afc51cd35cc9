// SPDX-License-Identifier: Apache-2.0
// gemmlowp, whose multipliers are of fixed point and which packs the weights in every call. It computes scales for each
// channel with AVX2 or NEON only.
#if defined(__AVX2__) || defined(__ARM_NEON)
#include <cmath>

#include <gemmlowp/public/gemmlowp.h>

#include "peers/peers.hpp"

namespace bench {
namespace {

using gemmlowp::MapOrder;
using Vector = gemmlowp::VectorMap<const std::int32_t, gemmlowp::VectorShape::Col>;

struct Call {
  SharedLayer layer;
  std::shared_ptr<std::vector<std::uint8_t>> weights, input;
  std::vector<std::int32_t> multipliers, exponents;
  gemmlowp::GemmContext context;
};

/// With weights on the left, a product is transposed: its columns are our rows.
void multiply(Call& call, std::span<std::int8_t> results) {
  const IntegerShape& shape = call.layer->shape;
  const int channels = static_cast<int>(shape.channels_out);
  const int depth = static_cast<int>(shape.channels_in);
  const int rows = static_cast<int>(shape.height);
  const gemmlowp::MatrixMap<const std::uint8_t, MapOrder::RowMajor> weights(call.weights->data(), channels, depth);
  const gemmlowp::MatrixMap<const std::uint8_t, MapOrder::ColMajor> input(call.input->data(), depth, rows);
  gemmlowp::MatrixMap<std::int8_t, MapOrder::ColMajor> output(results.data(), channels, rows);
  const gemmlowp::OutputStageBiasAddition<Vector> bias{Vector(call.layer->bias.data(), channels)};
  const gemmlowp::OutputStageScaleInt32ByFixedPointAndExponentPC<gemmlowp::VectorShape::Col> scale{
      Vector(call.multipliers.data(), channels), Vector(call.exponents.data(), channels), IntegerLayer::kOutputOffset};
  const auto pipeline = std::make_tuple(bias, scale, gemmlowp::OutputStageSaturatingCastToInt8{});
  gemmlowp::GemmWithOutputPipeline<std::uint8_t, std::int8_t, gemmlowp::DefaultL8R8BitDepthParams>(
      &call.context, weights, input, &output, -128, -(IntegerLayer::kInputOffset + 128), pipeline);
}

Work product(std::span<const std::int8_t> codes, std::span<std::int8_t> results, SharedLayer layer, int threads) {
  auto call = std::make_shared<Call>();
  call->layer = layer;
  call->weights = as_unsigned(layer->weights);
  call->input = as_unsigned(codes);
  for (const float multiplier : layer->multipliers) {
    int exponent = 0;
    const double fraction = std::frexp(static_cast<double>(multiplier), &exponent);
    call->multipliers.push_back(static_cast<std::int32_t>(std::lround(std::ldexp(fraction, 31))));
    call->exponents.push_back(exponent);
  }
  call->context.set_max_num_threads(threads);
  return [=] { multiply(*call, results); };
}

[[maybe_unused]] const bool kEntered = enter({.name = "gemmlowp", .integer_product = product});

}  // namespace
}  // namespace bench
#endif
