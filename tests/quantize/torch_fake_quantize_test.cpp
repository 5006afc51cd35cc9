// SPDX-License-Identifier: Apache-2.0
// The numbers come from torch 1.13: FakeQuantize with quant_min -128, quant_max 127 and dtype qint8.
#include <amct/quantize/torch_fake_quantize.hpp>

#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::StatusCode;
using amct::Symmetry;
using amct::TorchFakeQuantizeOptions;
using amct::TorchObserver;
using Values = std::vector<float>;
using Fake = amct::TorchFakeQuantize<>;

const Values kX = {-1.0F, 0.0F, 0.5F, 1.55F, 3.0F};

/// Calibrates with a batch and fake-quantizes it.
Values step(Fake& fake, const Values& x) {
  REQUIRE(fake.calibrate(x).ok());
  Values y(x.size());
  REQUIRE(fake.forward(x, y).ok());
  return y;
}

Affine of_range(const Values& x, TorchFakeQuantizeOptions options = {}) {
  Fake fake(options);
  REQUIRE(fake.calibrate(x).ok());
  return fake.params().channels.at(0);
}

}  // namespace

TEST_CASE("an affine moving average gives torch's values, batch by batch") {
  Fake fake;
  CHECK(step(fake, kX) == Values{-0x1.010102p+0F, 0.0F, 0x1.010102p-1F, 0x1.8d8d9p+0F, 0x1.7f7f8p+1F});
  CHECK(step(fake, {-2.0F, 0.0F, 1.0F, 3.1F, 6.0F}) ==
        Values{-0x1.0392eep+0F, 0.0F, 0x1.ff0944p-1F, 0x1.83554p+1F, 0x1.83554p+1F});
  CHECK(fake.params().channels == std::vector<Affine>{{0x1.0392eep-6F, -64}});
}

TEST_CASE("a symmetric scale is the largest magnitude over half of all steps") {
  Fake fake({.symmetry = Symmetry::symmetric});
  CHECK(step(fake, kX) == Values{-0x1.f9f9fap-1F, 0.0F, 0x1.f9f9fap-2F, 0x1.8d8d8ep+0F, 0x1.7e7e7ep+1F});
  step(fake, {-2.0F, 0.0F, 1.0F, 3.1F, 6.0F});
  CHECK(fake.params().channels == std::vector<Affine>{{0x1.855c66p-6F, 0}});
}

TEST_CASE("a reduced range has one bit less") {
  Fake affine({.reduce_range = true});
  CHECK(step(affine, kX) == Values{-0x1.020408p+0F, 0.0F, 0x1.020408p-1F, 0x1.8b162cp+0F, 0x1.7efdfcp+1F});
  CHECK(affine.params().range == amct::CodeRange{7});
  Fake symmetric({.symmetry = Symmetry::symmetric, .reduce_range = true});
  CHECK(step(symmetric, kX) == Values{-0x1.fbf7fp-1F, 0.0F, 0x1.0a1428p-1F, 0x1.8f1e3cp+0F, 0x1.7cf9f4p+1F});
}

TEST_CASE("a weight has a scale for each channel of its layout") {
  Fake fake({.observer = TorchObserver::min_max, .symmetry = Symmetry::symmetric});
  const Values w = {0.1F, -0.7F, 0.3F, 2.0F, 1.0F, -0.5F};
  REQUIRE(fake.calibrate(w, {.channels_per_group = 2, .inner = 3}).ok());
  CHECK(fake.params().channels == std::vector<Affine>{{0x1.67ce34p-8F, 0}, {0x1.010102p-6F, 0}});
  Values y(w.size());
  REQUIRE(fake.forward(w, y).ok());
  CHECK(y == Values{0x1.94c7fap-4F, -0x1.67ce34p-1F, 0x1.353534p-2F, 0x1.fdfep+0F, 0x1.010102p+0F, -0x1.010102p-1F});
}

TEST_CASE("zeros get the smallest scale, and a range of one sign contains 0") {
  CHECK(of_range({0.0F, 0.0F, 0.0F}) == Affine{0x1p-23F, -128});
  CHECK(of_range({2.0F, 5.0F}) == Affine{0x1.414142p-6F, -128});
  CHECK(of_range({-5.0F, -2.0F}).offset == 127);
}

TEST_CASE("min-max covers all batches, whatever their order") {
  Fake fake({.observer = TorchObserver::min_max});
  step(fake, {-1.0F, 1.0F});
  step(fake, {0.0F, 1.55F});
  CHECK(fake.params().channels == std::vector<Affine>{of_range({-1.0F, 1.55F})});
}

TEST_CASE("gradients pass within the codes and stop outside, as in torch") {
  Fake fake({.observer = TorchObserver::min_max});
  REQUIRE(fake.calibrate(Values{-1.0F, 1.55F}).ok());
  const Values x = {-1.2F, -1.003F, 0.3F, 1.0F, 1.553F, 2.0F};
  Values gradient(x.size());
  REQUIRE(fake.backward(x, Values(x.size(), 1.0F), gradient).ok());
  CHECK(gradient == Values{0.0F, 1.0F, 1.0F, 1.0F, 1.0F, 0.0F});
}

TEST_CASE("bad data and arguments are refused and change nothing") {
  Fake fake;
  Values y(2, 9.0F);
  CHECK(fake.forward(Values{1.0F, 2.0F}, y).code == StatusCode::not_ready);
  CHECK(fake.calibrate({}).code == StatusCode::empty);
  step(fake, {-1.0F, 1.0F});
  const auto before = fake.params().channels;
  CHECK(fake.calibrate(Values{std::numeric_limits<float>::infinity()}).code == StatusCode::not_finite);
  CHECK(fake.calibrate(Values{1.0F, 2.0F}, {.channels_per_group = 2, .inner = 1}).code == StatusCode::size_mismatch);
  CHECK(fake.params().channels == before);
  CHECK(fake.forward(Values{1.0F}, y).code == StatusCode::size_mismatch);
  constexpr float kMax = std::numeric_limits<float>::max();
  Fake wide({.observer = TorchObserver::min_max});
  REQUIRE(wide.calibrate(Values{-kMax, kMax}).ok());
  CHECK(wide.forward(Values{1.0F, 2.0F}, y).code == StatusCode::unusable_scale);
  Fake bad({.averaging_constant = 2.0F});
  CHECK(bad.calibrate(Values{1.0F}).code == StatusCode::bad_option);
  CHECK(y == Values{9.0F, 9.0F});
}
