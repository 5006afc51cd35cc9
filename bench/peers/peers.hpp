// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <amct/core/affine.hpp>

#include "peers/integer_layer.hpp"
#include "support/entrant.hpp"

namespace bench {

/// What a library computes that we compute too, codes being those of int8; null where it has nothing of the kind.
/// `Channels` operations work on rows of equal length, one quantizer a row, or, for accumulators, on columns.
struct Peer {
  template <class In, class Out, class... Parameters>
  using Operation = Work (*)(std::span<const In>, std::span<Out>, Parameters...);

  std::string name;
  Operation<float, std::int8_t, amct::Affine> quantize = nullptr;
  Operation<std::int8_t, float, amct::Affine> dequantize = nullptr;
  Operation<float, float, amct::Affine> fake_quantize = nullptr;
  Operation<float, std::int8_t, std::span<const amct::Affine>> quantize_channels = nullptr;
  Operation<float, float, std::span<const amct::Affine>> fake_quantize_channels = nullptr;
  Operation<std::int32_t, std::int8_t, float, std::int32_t> requantize = nullptr;
  Operation<std::int32_t, std::int8_t, std::span<const std::int32_t>, std::span<const float>, std::int32_t>
      requantize_channels = nullptr;                                                ///< bias, multipliers, offset
  Operation<float, float> min_max = nullptr;                                        ///< to two values
  Operation<std::int8_t, std::int8_t, SharedLayer, int> integer_product = nullptr;  ///< layer, threads
  Operation<std::int8_t, std::int8_t, SharedLayer, int> integer_convolution = nullptr;
};

/// The peers that this program was built with. Each enters itself from its own file, so a library that is not on the
/// machine is only left out of the build.
[[nodiscard]] inline std::vector<Peer>& peers() {
  static std::vector<Peer> all;
  return all;
}

/// Enters a peer; for the initialiser of a constant.
inline bool enter(Peer peer) {
  peers().push_back(std::move(peer));
  return true;
}

/// The peers that have an operation, with these parameters.
template <class In, class Out, class... Parameters>
[[nodiscard]] std::vector<Entrant<In, Out>> peers_with(Peer::Operation<In, Out, Parameters...> Peer::*operation,
                                                       std::type_identity_t<Parameters>... parameters) {
  std::vector<Entrant<In, Out>> entrants;
  for (const Peer& peer : peers()) {
    const auto prepare = peer.*operation;
    if (prepare == nullptr) continue;
    entrants.push_back(
        {peer.name, [=](std::span<const In> in, std::span<Out> out) { return prepare(in, out, parameters...); }});
  }
  return entrants;
}

}  // namespace bench
