// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/any_quantizer.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::AnyQuantizer;
using amct::Status;
using amct::StatusCode;

struct NoOptions {};

/// Passes values on; offers nothing else.
class Plain {
 public:
  using Bits = amct::Int8;
  using Options = NoOptions;

  explicit Plain(Options = {}) {}

  Status forward(std::span<const float> x, std::span<float> y) {
    std::copy(x.begin(), x.end(), y.begin());
    return {};
  }
  [[nodiscard]] amct::QuantParams params() const { return {{{0.5F, 3}}, Bits::range}; }
  [[nodiscard]] amct::RecordExtras extras() const { return {.cluster = {1, 2}}; }
};
static_assert(amct::Quantizer<Plain> && !amct::ActivationQuantizer<Plain> && !amct::WeightQuantizer<Plain>);

/// Multiplies by a learned factor, and offers everything.
class Gain : public Plain {
 public:
  using Plain::Plain;

  Status calibrate(std::span<const float> batch) { return batch.empty() ? Status{StatusCode::empty} : Status{}; }
  Status calibrate(std::span<const float>, amct::ChannelLayout layout) {
    factor_ = static_cast<float>(layout.channels());
    return {};
  }
  Status forward(std::span<const float> x, std::span<float> y) {
    std::transform(x.begin(), x.end(), y.begin(), [&](float value) { return value * factor_; });
    return {};
  }
  Status backward(std::span<const float> x, std::span<const float> upstream, std::span<float> gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = upstream[i] * factor_;
      factor_gradient_ += upstream[i] * x[i];
    }
    return {};
  }
  [[nodiscard]] std::vector<amct::Parameter> parameters() {
    return {{"factor", {&factor_, 1}, {&factor_gradient_, 1}}};
  }

 private:
  float factor_ = 1.0F;
  float factor_gradient_ = 0.0F;
};
static_assert(amct::ActivationQuantizer<Gain> && amct::WeightQuantizer<Gain> && amct::TrainableQuantizer<Gain>);

const std::vector<float> kValues = {1.0F, -2.0F};

}  // namespace

TEST_CASE("an empty one says so and offers nothing") {
  const AnyQuantizer none;
  CHECK(none.empty());
  CHECK_FALSE(none.takes_activations());
  CHECK_FALSE(none.takes_weights());
  CHECK_FALSE(none.is_trainable());
}

TEST_CASE("what a quantizer does not offer is said, by question and by status") {
  AnyQuantizer quantizer{Plain()};
  CHECK_FALSE(quantizer.takes_activations());
  CHECK_FALSE(quantizer.takes_weights());
  CHECK_FALSE(quantizer.is_trainable());
  std::vector<float> gradient(2);
  CHECK(quantizer.calibrate(kValues).code == StatusCode::not_offered);
  CHECK(quantizer.calibrate(kValues, amct::ChannelLayout::per_tensor(2)).code == StatusCode::not_offered);
  CHECK(quantizer.backward(kValues, kValues, gradient).code == StatusCode::not_offered);
  CHECK(quantizer.parameters().empty());
}

TEST_CASE("every operation reaches the quantizer inside") {
  AnyQuantizer made{Gain()};
  AnyQuantizer quantizer = std::move(made);
  CHECK(quantizer.takes_activations());
  CHECK(quantizer.takes_weights());
  CHECK(quantizer.is_trainable());
  CHECK(quantizer.calibrate({}).code == StatusCode::empty);
  REQUIRE(quantizer.calibrate(kValues, {.channels_per_group = 2, .inner = 1}).ok());
  std::vector<float> y(2);
  REQUIRE(quantizer.forward(kValues, y).ok());
  CHECK(y == std::vector<float>{2.0F, -4.0F});
  REQUIRE(quantizer.backward(kValues, kValues, y).ok());
  CHECK(y == std::vector<float>{2.0F, -4.0F});
  const auto parameters = quantizer.parameters();
  REQUIRE(parameters.size() == 1);
  CHECK(parameters[0].value[0] == 2.0F);
  CHECK(parameters[0].gradient[0] == 5.0F);
  CHECK(quantizer.params().channels == std::vector<amct::Affine>{{0.5F, 3}});
  CHECK(quantizer.extras().cluster == std::vector<std::int32_t>{1, 2});
}
