// SPDX-License-Identifier: Apache-2.0
// Sizes are numbers of codes, two a byte.
#include <amct/kernel/packed4.hpp>

#include <cstdint>
#include <span>

#include "contests.hpp"
#include "peers/plain_loops.hpp"
#include "support/contest.hpp"
#include "support/data.hpp"
#include "support/limits.hpp"

namespace bench {
namespace {

using Bytes = std::span<std::int8_t>;
using ConstBytes = std::span<const std::int8_t>;

constexpr amct::Affine kAffine4{0.4F, 0};

void fill_codes(std::span<std::int8_t> codes) { fill_uniform_tiles(codes, -8, 7); }

/// The tile of packed codes is half as many bytes, so that it holds as many codes as that of other contests.
void fill_packed(Bytes bytes) { fill_uniform_tiles(bytes, -128, 127); }

void run_pack(const Size& size) {
  run(Contest<std::int8_t, std::int8_t>{
      .benchmark = "pack4",
      .size = size,
      .bytes_per_element = 1.5,
      .fill = fill_codes,
      .ours = direct([](ConstBytes codes, Bytes bytes) { amct::pack4(codes, bytes); }),
      .peers = {{"plain loop", direct(plain::pack4)}},
      .limits = limit_entrants<std::int8_t, std::int8_t>(Traffic::two_to_one, size.is_past_caches()),
      .outputs = size.elements / 2,
      .peer_agrees = is_identical<std::int8_t>});
}

void run_unpack(const Size& size) {
  run(Contest<std::int8_t, std::int8_t>{
      .benchmark = "unpack4",
      .size = size,
      .bytes_per_element = 1.5,
      .fill = fill_packed,
      .ours = direct([](ConstBytes bytes, Bytes codes) { amct::unpack4(bytes, codes); }),
      .peers = {{"plain loop", direct(plain::unpack4)}},
      .limits = limit_entrants<std::int8_t, std::int8_t>(Traffic::one_to_two, size.is_past_caches()),
      .inputs = size.elements / 2,
      .peer_agrees = is_identical<std::int8_t>});
}

void run_quantize4(const Size& size) {
  run(Contest<float, std::int8_t>{
      .benchmark = "quantize4",
      .size = size,
      .bytes_per_element = 4.5,
      .fill = fill_normal_tiles,
      .ours = direct([](std::span<const float> x, Bytes bytes) { amct::quantize4<>(x, bytes, kAffine4); }),
      .peers = {{"plain loop",
                 direct([](std::span<const float> x, Bytes bytes) { plain::quantize4(x, bytes, kAffine4.scale); })}},
      .limits = limit_entrants<float, std::int8_t>(Traffic::eight_to_one, size.is_past_caches()),
      .outputs = size.elements / 2,
      .peer_agrees = is_identical<std::int8_t>,
      .has_children = size.elements == kTile});
}

void run_dequantize4(const Size& size) {
  run(Contest<std::int8_t, float>{
      .benchmark = "dequantize4",
      .size = size,
      .bytes_per_element = 4.5,
      .fill = fill_packed,
      .ours = direct([](ConstBytes bytes, std::span<float> x) { amct::dequantize4(bytes, x, kAffine4); }),
      .peers = {{"plain loop",
                 direct([](ConstBytes bytes, std::span<float> x) { plain::dequantize4(bytes, x, kAffine4.scale); })}},
      .limits = limit_entrants<std::int8_t, float>(Traffic::one_to_eight, size.is_past_caches()),
      .inputs = size.elements / 2,
      .peer_agrees = within_one_step<float>(kAffine4.scale),
      .has_children = size.elements == kTile});
}

}  // namespace

void run_packed4() {
  for (const Size& size : {kL1, kL2, kDram}) run_pack(size);
  for (const Size& size : {kL1, kL2, kDram}) run_unpack(size);
  for (const Size& size : {kL1, kL2, kDram}) run_quantize4(size);
  for (const Size& size : {kL1, kL2, kDram}) run_dequantize4(size);
}

}  // namespace bench
