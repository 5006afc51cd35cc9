// SPDX-License-Identifier: Apache-2.0
// Quantizers of a user's own, in a library that the runner loads: amct quantize --plugin libamct_example_plugin.so. A
// config names them by the dotted names at the end of this file.

#include <amct/amct.hpp>
#include <amct/quantize/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace {

struct SigmaOptions {
  float sigma = 3.0F;  ///< values beyond so many standard deviations are clipped

  void read(amct::ArgReader& reader) {
    reader.read("sigma", sigma);
    if (!(sigma > 0.0F)) reader.refuse("sigma", static_cast<double>(sigma), "above 0");
  }
};

/// Root mean square and largest magnitude of some values.
struct Spread {
  double squares = 0.0;
  std::size_t count = 0;
  float most = 0.0F;

  void add(std::span<const float> values) {
    for (const float value : values) {
      squares += static_cast<double>(value) * static_cast<double>(value);
      most = std::max(most, std::fabs(value));
    }
    count += values.size();
  }
  /// Offset 0; zeros get scale 1.
  [[nodiscard]] amct::Affine affine(float sigma, amct::CodeRange range) const {
    const auto deviation =
        static_cast<float>(std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1))));
    return amct::affine_from_range(0.0F, std::min(most, sigma * deviation), range, amct::Symmetry::symmetric);
  }
};

/// Clips each channel of a weight at some standard deviations.
class SigmaWeight {
 public:
  using Bits = amct::Int8;
  using Options = SigmaOptions;

  explicit SigmaWeight(Options options = {}) : options_(options) {}

  amct::Status calibrate(std::span<const float> weight, const amct::ChannelLayout& layout) {
    if (weight.size() != layout.size()) return {amct::StatusCode::size_mismatch, weight.size()};
    if (const amct::Status status = amct::check_finite(weight); !status) return status;
    std::vector<Spread> channels(layout.channels());
    amct::for_each_run(layout, [&](std::size_t channel, std::size_t first, std::size_t count) {
      channels[channel].add(weight.subspan(first, count));
    });
    affines_.clear();
    for (const Spread& channel : channels) affines_.push_back(channel.affine(options_.sigma, Bits::range));
    layout_ = layout;
    return {};
  }
  amct::Status forward(std::span<const float> x, std::span<float> y) const {
    if (x.size() != layout_.size() || y.size() != x.size()) return {amct::StatusCode::size_mismatch, y.size()};
    amct::fake_quantize<amct::DivideAddRound>(x, y, layout_, affines_, Bits::range);
    return {};
  }
  [[nodiscard]] amct::QuantParams params() const { return {affines_, Bits::range}; }
  [[nodiscard]] amct::RecordExtras extras() const { return {}; }

 private:
  Options options_;
  amct::ChannelLayout layout_;
  std::vector<amct::Affine> affines_;
};

/// The same for the values of all batches of an activation.
class SigmaActivation {
 public:
  using Bits = amct::Int8;
  using Options = SigmaOptions;

  explicit SigmaActivation(Options options = {}) : options_(options) {}

  amct::Status calibrate(std::span<const float> batch) {
    if (const amct::Status status = amct::check_finite(batch); !status) return status;
    seen_.add(batch);
    return {};
  }
  amct::Status forward(std::span<const float> x, std::span<float> y) const {
    if (y.size() != x.size()) return {amct::StatusCode::size_mismatch, y.size()};
    amct::fake_quantize(x, y, seen_.affine(options_.sigma, Bits::range), Bits::range);
    return {};
  }
  [[nodiscard]] amct::QuantParams params() const { return {{seen_.affine(options_.sigma, Bits::range)}, Bits::range}; }
  [[nodiscard]] amct::RecordExtras extras() const { return {}; }

 private:
  Options options_;
  Spread seen_;
};

/// What `amct list-quantizers` shows.
constexpr amct::QuantizerOption kOptions[] = {
    {"num_bits", "8", "8"},
    {"sigma", "3.0", "above 0: standard deviations beyond which values are clipped"},
};

static_assert(amct::WeightQuantizer<SigmaWeight>);
static_assert(amct::ActivationQuantizer<SigmaActivation>);

}  // namespace

AMCT_QUANTIZER_PLUGIN(registry) {
  registry.add<SigmaWeight>("amct_example.SigmaWeight", amct::Role::weight, kOptions);
  registry.add<SigmaActivation>("amct_example.SigmaActivation", amct::Role::activation, kOptions);
}
