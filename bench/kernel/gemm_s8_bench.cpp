// SPDX-License-Identifier: Apache-2.0
#include <amct/kernel/gemm_s8.hpp>

#include <cstdlib>
#include <memory>
#include <string>

#include "contests.hpp"
#include "kernel/layer_contest.hpp"

namespace bench {
namespace {

PrepareLayer ours(const SharedLayer& layer) {
  const IntegerShape& shape = layer->shape;
  const auto weights = std::make_shared<const amct::PackedWeights>(
      layer->weights.data(), amct::WeightLayout::transposed(shape.channels_out, shape.channels_in));
  return direct([=, params = requantize_params(*layer)](LayerIn codes, LayerOut results) {
    const amct::CodeRows<std::int8_t> rows(codes.data(), shape.height, shape.channels_in, shape.channels_in,
                                           IntegerLayer::kInputOffset);
    const amct::Epilogue epilogue{amct::AddBias{layer->bias},
                                  amct::Requantize<ByMultiplier>{params, IntegerLayer::kOutputOffset},
                                  amct::SaturateTo<amct::Int8>{}};
    const auto status =
        amct::gemm_s8(rows, *weights, epilogue, amct::ResultRows<std::int8_t>{results.data(), shape.channels_out});
    if (!status.ok()) std::abort();
  });
}

}  // namespace

void run_gemm_s8() {
  for (const std::size_t n : {256, 1024, 2048}) {
    const std::string name = std::to_string(n);
    run_layer("gemm_s8_" + name, name + "x" + name, {n, 1, n, n}, ours);
  }
}

}  // namespace bench
