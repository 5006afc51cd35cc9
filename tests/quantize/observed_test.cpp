// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/observed.hpp>

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

namespace {

using amct::Observed;
using amct::StatusCode;

using TorchLike = Observed<amct::Int8, amct::MinMax, amct::DivideRoundAdd>;
static_assert(amct::ActivationQuantizer<TorchLike> && !amct::TrainableQuantizer<TorchLike>);
static_assert(amct::ActivationQuantizer<Observed<amct::Int<12>, amct::Ifmr>>);

const std::vector<float> kBatch = {-1.0F, 0.0F, 0.5F, 1.55F};

}  // namespace

TEST_CASE("values become what the observer's scale and offset make of them") {
  TorchLike quantizer;
  REQUIRE(quantizer.calibrate(kBatch).ok());
  const amct::Affine affine = quantizer.params().channels.at(0);
  CHECK(affine.scale == doctest::Approx(2.55 / 255));
  CHECK(affine.offset == -28);
  std::vector<float> y(kBatch.size());
  REQUIRE(quantizer.forward(kBatch, y).ok());
  CHECK(y == std::vector<float>{-100 * affine.scale, 0.0F, 50 * affine.scale, 155 * affine.scale});
}

TEST_CASE("batches behind the last one are left out") {
  Observed<amct::Int8, amct::Ifmr> quantizer(amct::IfmrOptions{.batch_num = 1});
  REQUIRE(quantizer.calibrate(kBatch).ok());
  const auto before = quantizer.params().channels;
  REQUIRE(quantizer.calibrate(std::vector<float>{100.0F}).ok());
  CHECK(quantizer.params().channels == before);
}

TEST_CASE("an observer that never ends follows every batch") {
  TorchLike quantizer;
  REQUIRE(quantizer.calibrate(kBatch).ok());
  REQUIRE(quantizer.calibrate(std::vector<float>{24.5F}).ok());
  CHECK(quantizer.params().channels.at(0).scale == doctest::Approx(0.1));
}

TEST_CASE("bad data are refused and change nothing") {
  TorchLike quantizer;
  std::vector<float> y(4, 9.0F);
  CHECK(quantizer.forward(kBatch, y).code == StatusCode::not_ready);
  CHECK(quantizer.calibrate({}).code == StatusCode::empty);
  REQUIRE(quantizer.calibrate(kBatch).ok());
  const auto before = quantizer.params().channels;
  CHECK(quantizer.calibrate(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}).code ==
        StatusCode::not_finite);
  CHECK(quantizer.params().channels == before);
  CHECK(quantizer.forward(std::vector<float>{1.0F}, y).code == StatusCode::size_mismatch);
  CHECK(y == std::vector<float>(4, 9.0F));
}

TEST_CASE("a range beyond float32 is refused at forward") {
  constexpr float kMax = std::numeric_limits<float>::max();
  TorchLike quantizer;
  REQUIRE(quantizer.calibrate(std::vector<float>{-kMax, kMax}).ok());
  std::vector<float> y(1);
  CHECK(quantizer.forward(std::vector<float>{1.0F}, y).code == StatusCode::unusable_scale);
}
