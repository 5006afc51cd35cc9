// SPDX-License-Identifier: Apache-2.0
// A network of four integer layers without graph and files: it tells images with lines across from images with lines
// down. Convolution and ReLU, max pool, global average pool, fully connected.

#include <amct/amct.hpp>
#include <amct/kernel/conv_s8.hpp>
#include <amct/kernel/gemm_s8.hpp>
#include <amct/kernel/pool_codes.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

constexpr std::size_t kSize = 16;
constexpr std::size_t kClasses = 2;

using Codes = std::vector<std::int8_t>;
using Scales = amct::RequantizeByScales<>::Params;

class StripeNetwork {
 public:
  /// \return false if a layer cannot be made
  bool build() {
    edges_.channels_out = kClasses;
    edges_.input = {1, kSize, kSize};
    edges_.kernel = {1, 3, 3};
    halves_.channels_in = halves_.channels_out = mean_.channels_in = mean_.channels_out = mean_.groups = kClasses;
    halves_.kernel = halves_.stride = {1, 2, 2};
    if (!edges_.fit_output()) return false;
    halves_.input = edges_.output;
    if (!halves_.fit_output()) return false;
    mean_.input = mean_.kernel = halves_.output;
    const Codes filters{-1, -2, -1, 2,  4, 2,  -1, -2, -1,   // bright lines across
                        -1, 2,  -1, -2, 4, -2, -1, 2,  -1};  // bright lines down
    return edges_.check() && edge_weights_.pack(edges_, filters) && mean_weights_.pack_ones(mean_);
  }

  /// Scores of the classes of an image [height, width] of values from 0 to 1.
  bool run(const std::vector<float>& image, std::array<float, kClasses>& scores) const {
    const amct::Affine pixel{1.0F / 255.0F, -128};
    Codes x(image.size());
    amct::quantize<>(image, std::span(x), pixel, amct::Int8::range);

    // Codes of a ReLU start at the lowest one: saturation cuts what is negative.
    const float step = 8.0F / 255.0F;
    const std::array<Scales, 1> edge_scales{{{pixel.scale, step}}};
    Codes edges(edges_.y_size());
    const amct::Epilogue relu{amct::Requantize<>{edge_scales, -128}, amct::SaturateTo<amct::Int8>{}};
    if (!amct::convolve(edges_, edge_weights_, std::span<const std::int8_t>(x), pixel.offset, relu, rows(edges))) {
      return false;
    }

    Codes pooled(halves_.y_size());  // codes are only compared: scale and offset stay
    if (!amct::max_pool_codes<std::int8_t>(halves_, edges, pooled)) return false;

    // Sums of all pixels, divided by their number on the way to codes.
    const auto pixels = static_cast<float>(mean_.kernel_size());
    const std::array<Scales, 1> mean_scales{{{step / pixels, step}}};
    Codes means(kClasses);
    const amct::Epilogue mean{amct::Requantize<>{mean_scales, -128}, amct::SaturateTo<amct::Int8>{}};
    if (!amct::convolve(mean_, mean_weights_, std::span<const std::int8_t>(pooled), -128, mean, rows(means))) {
      return false;
    }

    // Each class: its own edges less the other ones.
    const Codes differences{64, -64, -64, 64};
    const amct::PackedWeights dense(differences.data(), amct::WeightLayout::matrix(kClasses, kClasses));
    const std::array<float, 1> real{step / 64.0F};
    const amct::Epilogue to_real{amct::Dequantize{real}};
    const amct::CodeRows<std::int8_t> row(means.data(), 1, kClasses, kClasses, -128);
    return amct::gemm_s8(row, dense, to_real, amct::ResultRows<float>{scores.data(), kClasses}).ok();
  }

 private:
  static amct::ResultRows<std::int8_t> rows(Codes& codes) { return {codes.data(), kClasses}; }

  amct::ConvShape edges_, halves_, mean_;
  amct::PackedConv edge_weights_, mean_weights_;
};

}  // namespace

int main() {
  StripeNetwork network;
  if (!network.build()) return 1;
  for (std::size_t distance = 3; distance <= 6; ++distance) {
    for (const bool down : {false, true}) {
      std::vector<float> image(kSize * kSize, 0.1F);
      for (std::size_t i = 0; i < image.size(); ++i) {
        if ((down ? i % kSize : i / kSize) % distance == 0) image[i] = 0.9F;
      }
      std::array<float, kClasses> scores{};
      if (!network.run(image, scores)) return 1;
      std::printf("lines %-6s every %zu pixels: %6.3f %6.3f\n", down ? "down" : "across", distance,
                  static_cast<double>(scores[0]), static_cast<double>(scores[1]));
      if ((scores[1] > scores[0]) != down) return 1;
    }
  }
  return 0;
}
