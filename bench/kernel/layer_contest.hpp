// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <amct/core/granularity.hpp>
#include <amct/kernel/requantize.hpp>

#include "peers/peers.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {

using LayerIn = std::span<const std::int8_t>;
using LayerOut = std::span<std::int8_t>;
using PrepareLayer = Prepare<std::int8_t, std::int8_t>;
using ByMultiplier = amct::RequantizeByMultiplier<>;

[[nodiscard]] inline std::vector<ByMultiplier::Params> requantize_params(const IntegerLayer& layer) {
  std::vector<ByMultiplier::Params> params;
  for (const float multiplier : layer.multipliers) params.push_back({multiplier});
  return params;
}

/// Accumulators of plain loops, then the requantization on the scalar reference.
[[nodiscard]] inline PrepareLayer plain_layer(const SharedLayer& layer) {
  return direct([layer](LayerIn codes, LayerOut results) {
    std::vector<std::int32_t> sums(results.size());
    plain::accumulate(codes, *layer, sums);
    const std::size_t channels = layer->shape.channels_out;
    amct::requantize<ByMultiplier>(sums, results, amct::ChannelLayout{1, results.size() / channels, channels, 1},
                                   layer->bias, requantize_params(*layer), IntegerLayer::kOutputOffset,
                                   amct::Int8::range);
  });
}

/// A layer on one thread and on two. Packing of weights is no part of the time.
/// \param prepare  makes ours of a SharedLayer
template <class PrepareOurs>
void run_layer(const std::string& benchmark, const std::string& size, const IntegerShape& shape, PrepareOurs prepare) {
  const auto layer = std::make_shared<const IntegerLayer>(shape);
  const std::size_t operations = 2 * shape.outputs() * shape.terms();
  for (const int threads : {1, 2}) {
    const auto operation = shape.is_matrix_product() ? &Peer::integer_product : &Peer::integer_convolution;
    auto peers = peers_with<>(operation, layer, threads);
    for (auto& peer : peers) {
      peer.threads = threads;
      peer.is_checked = peer.name != "gemmlowp";  // rounds twice
    }
    run(Contest<std::int8_t, std::int8_t>{
        .benchmark = benchmark,
        .size = {size, shape.outputs()},
        .bytes_per_element = 1,
        .fill = [](std::span<std::int8_t> codes) { fill_uniform_tiles(codes, -128, 127); },
        .ours = prepare(layer),
        .threads = threads,
        .peers = std::move(peers),
        .limits = multiply_entrants<std::int8_t, std::int8_t>(operations, threads),
        .inputs = shape.inputs(),
        .reference = plain_layer(layer),
        .operations = static_cast<double>(operations),
        .has_children = threads == 1});
  }
}

}  // namespace bench
