// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/ulq.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <amct/observe/min_max.hpp>

#include <doctest/doctest.h>

#include "quantize/central_difference.hpp"

namespace {

using amct::Affine;
using amct::RepairAtZero;
using amct::RepairWithinEpsilon;
using amct::Status;
using amct::StatusCode;
using amct::Ulq;
using amct::UlqClips;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class Q>
UlqClips clips_of(Q& ulq) {
  const auto parameters = ulq.parameters();
  return {parameters[0].value[0], parameters[1].value[0]};
}

template <class Q>
void set_clips(Q& ulq, const UlqClips& clips) {
  const auto parameters = ulq.parameters();
  parameters[0].value[0] = clips.max;
  parameters[1].value[0] = clips.min;
}

template <class Q>
std::vector<float> forward(Q& ulq, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  REQUIRE(ulq.forward(x, y).ok());
  return y;
}

/// Clips 2 and -1 repaired by policy P after a step with the clips (2, -1).
template <class P>
UlqClips repaired(const UlqClips& clips, bool fixed_min = false) {
  return amct::ulq::repaired<P>(clips, {2.0F, -1.0F}, fixed_min);
}

}  // namespace

TEST_CASE("values between two clips, and the gradients of both") {
  Ulq<> ulq({.clip_max = 2.0F, .clip_min = -1.0F});
  const std::vector<float> x = {-2.0F, -1.0F, -0.3F, 0.0F, 0.4F, 1.1F, 3.0F};
  const std::vector<float> y = forward(ulq, x);
  CHECK(ulq.params().channels == std::vector<Affine>{{0.0117647061F, -43}});
  const std::vector<float> expected = {-1.0F, -1.0F, -0.2941177F, 0.0F, 0.4F, 1.094118F, 2.0F};
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(static_cast<double>(expected[i])));
  std::vector<float> gradient(7);
  REQUIRE(ulq.backward(x, std::vector<float>(7, 1.0F), gradient).ok());
  CHECK(gradient == std::vector<float>{0, 1, 1, 1, 1, 1, 0});
  CHECK(ulq.parameters()[0].gradient[0] == doctest::Approx(1.0));
  CHECK(ulq.parameters()[1].gradient[0] == doctest::Approx(1.0));
}

TEST_CASE("the minimum fixed at zero still has a gradient") {
  Ulq<> ulq({.clip_max = 1.0F, .clip_min = -3.0F, .fixed_min = true});
  const std::vector<float> x = {-0.5F, 0.26F, 1.2F};
  const std::vector<float> y = forward(ulq, x);
  CHECK(ulq.params().channels == std::vector<Affine>{{0.00392156886F, -128}});
  CHECK(y[0] == 0.0F);
  CHECK(y[1] == doctest::Approx(0.2588235));
  CHECK(y[2] == doctest::Approx(1.0));
  CHECK(clips_of(ulq) == UlqClips{1.0F, 0.0F});
  std::vector<float> gradient = {1.0F, 2.0F, 4.0F};
  REQUIRE(ulq.backward(x, gradient, gradient).ok());
  CHECK(gradient == std::vector<float>{0, 2, 0});
  CHECK(ulq.parameters()[0].gradient[0] == doctest::Approx(3.997647));
  CHECK(ulq.parameters()[1].gradient[0] == doctest::Approx(1.002353));
}

TEST_CASE("the gradients of the clips are those of the stand-in for rounding") {
  const std::vector<float> x = scattered(600, 3.0, 7);
  const std::vector<float> upstream = scattered(600, 1.0, 11);
  for (const UlqClips clips : {UlqClips{2.0F, -1.5F}, {0.7F, -0.31F}, {2.9F, -2.99F}}) {
    Ulq<> ulq({.clip_max = clips.max, .clip_min = clips.min});
    (void)forward(ulq, x);
    std::vector<float> gradient(x.size());
    REQUIRE(ulq.backward(x, upstream, gradient).ok());

    const double max = static_cast<double>(clips.max);
    const double min = static_cast<double>(clips.min);
    const double at = (max - min) / 255.0;
    const double zero_moves = rounding_of(min, at);  // both ends by as much, since they are 255 steps apart
    const auto loss = [&](double high, double low, double shift_of_x) {
      const double scale = (high - low) / 255.0;
      double sum = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = static_cast<double>(x[i]);
        const bool above = value > max + zero_moves * at;
        const bool below = value < min + zero_moves * at;
        const double clipped = (above ? high : low) + zero_moves * scale;
        const double inside = value + shift_of_x + rounding_of(value, at) * scale;
        sum += static_cast<double>(upstream[i]) * (above || below ? clipped : inside);
      }
      return sum;
    };
    const double of_max = central_difference([&](double c) { return loss(c, min, 0.0); }, max);
    const double of_min = central_difference([&](double c) { return loss(max, c, 0.0); }, min);
    const double of_x = central_difference([&](double shift) { return loss(max, min, shift); }, 0.0);
    CHECK(static_cast<double>(ulq.parameters()[0].gradient[0]) == doctest::Approx(of_max).epsilon(1e-4));
    CHECK(static_cast<double>(ulq.parameters()[1].gradient[0]) == doctest::Approx(of_min).epsilon(1e-4));
    double sum = 0.0;
    for (const float g : gradient) sum += static_cast<double>(g);
    CHECK(sum == doctest::Approx(of_x).epsilon(1e-4));
  }
}

TEST_CASE("gradients of clips are added to what is there") {
  Ulq<> ulq({.clip_max = 1.0F, .clip_min = -1.0F});
  const std::vector<float> x = {5.0F};
  (void)forward(ulq, x);
  std::vector<float> gradient(1);
  REQUIRE(ulq.backward(x, std::vector<float>{1.0F}, gradient).ok());
  const float once = ulq.parameters()[0].gradient[0];
  REQUIRE(ulq.backward(x, std::vector<float>{1.0F}, gradient).ok());
  CHECK(ulq.parameters()[0].gradient[0] == 2.0F * once);
}

TEST_CASE("collapsed clips come back, at exactly zero or within an epsilon") {
  CHECK(repaired<RepairAtZero>({1.0F, -0.5F}) == UlqClips{1.0F, -0.5F});
  CHECK(repaired<RepairWithinEpsilon>({1.0F, -0.5F}) == UlqClips{1.0F, -0.5F});
  CHECK(repaired<RepairAtZero>({0.7F, 0.7F}) == UlqClips{2.0F, -1.0F});
  CHECK(repaired<RepairWithinEpsilon>({0.7F, 0.7F}) == UlqClips{2.0F, -1.0F});
  CHECK(repaired<RepairAtZero>({1e-8F, -1e-8F}) == UlqClips{1e-8F, -1e-8F});
  CHECK(repaired<RepairWithinEpsilon>({1e-8F, -1e-8F}) == UlqClips{2.0F, -1.0F});
  // Crossed clips: AMCT repairs one of them.
  CHECK(repaired<RepairAtZero>({0.2F, 0.9F}) == UlqClips{0.2F, -1.0F});
  CHECK(repaired<RepairWithinEpsilon>({0.2F, 0.9F}) == UlqClips{2.0F, -1.0F});
}

TEST_CASE("a clip on the wrong side of zero comes back alone") {
  CHECK(repaired<RepairAtZero>({-0.5F, -0.75F}) == UlqClips{2.0F, -0.75F});
  CHECK(repaired<RepairAtZero>({1.0F, 0.5F}) == UlqClips{1.0F, -1.0F});
  CHECK(repaired<RepairAtZero>({1.0F, 0.5F}, true) == UlqClips{1.0F, 0.0F});
}

TEST_CASE("repaired clips are stored and are the ones that later steps go back to") {
  Ulq<> ulq({.clip_max = 2.0F, .clip_min = -1.0F});
  (void)forward(ulq, {0.5F});
  set_clips(ulq, {3.0F, -2.0F});
  (void)forward(ulq, {0.5F});
  set_clips(ulq, {-1.0F, -1.5F});
  CHECK(ulq.extras().clip_max == 3.0F);  // what would be recorded now
  CHECK(ulq.extras().clip_min == -1.5F);
  (void)forward(ulq, {0.5F});
  CHECK(clips_of(ulq) == UlqClips{3.0F, -1.5F});
}

TEST_CASE("the repair policy is part of the type") {
  Ulq<amct::Int8, amct::Ifmr, RepairWithinEpsilon> ulq({.clip_max = 2.0F, .clip_min = -1.0F});
  set_clips(ulq, {1e-8F, -1e-8F});
  (void)forward(ulq, {0.5F});
  CHECK(clips_of(ulq) == UlqClips{2.0F, -1.0F});
}

TEST_CASE("clips nearer than a scale of 2^-23 quantize everything to zero, as in AMCT") {
  Ulq<> ulq({.clip_max = 2.0F, .clip_min = -1.0F});
  set_clips(ulq, {1e-8F, -1e-8F});
  CHECK(forward(ulq, {0.25F, -0.5F}) == std::vector<float>{0.0F, 0.0F});
  CHECK(ulq.params().channels == std::vector<Affine>{{1.0F, -128}});
}

TEST_CASE("a symmetric IFMR gives the first clips once it has its batches") {
  Ulq<> ulq({.observer = {.symmetry = amct::Symmetry::symmetric, .batch_num = 2}});
  const std::vector<float> first = {-1.0F, 0.5F, 0.25F};
  const std::vector<float> second = {1.0F, 2.0F, -0.75F};
  REQUIRE(ulq.calibrate(first).ok());
  CHECK(clips_of(ulq) == UlqClips{0.5F, -1.0F});  // of this batch, for now
  CHECK_FALSE(ulq.ready());
  (void)forward(ulq, first);
  REQUIRE(ulq.calibrate(second).ok());
  CHECK(ulq.ready());
  amct::Ifmr ifmr({.symmetry = amct::Symmetry::symmetric, .batch_num = 2});
  REQUIRE(ifmr.observe(first).ok());
  REQUIRE(ifmr.observe(second).ok());
  const float scale = ifmr.compute(amct::Int8::range).scale;
  CHECK(clips_of(ulq) == UlqClips{scale * 127.0F, scale * -128.0F});
  REQUIRE(ulq.calibrate(std::vector<float>{50.0F}).ok());  // left out
  CHECK(clips_of(ulq) == UlqClips{scale * 127.0F, scale * -128.0F});
}

TEST_CASE("the default observer is symmetric and other observers fit") {
  CHECK(amct::UlqOptions<amct::Ifmr>{}.observer.symmetry == amct::Symmetry::symmetric);
  Ulq<amct::Int4, amct::MinMax> ulq({.observer = {amct::Symmetry::asymmetric}});
  REQUIRE(ulq.calibrate(std::vector<float>{0.0F, 3.0F}).ok());
  CHECK(clips_of(ulq).max == doctest::Approx(3.0));
  CHECK(clips_of(ulq).min == 0.0F);
}

TEST_CASE("degenerate first batches") {
  Ulq<> zeros;
  REQUIRE(zeros.calibrate(std::vector<float>(5, 0.0F)).ok());
  CHECK(clips_of(zeros) == UlqClips{127.0F, -128.0F});  // scale 1
  CHECK(forward(zeros, {0.0F, 0.4F}) == std::vector<float>{0.0F, 0.0F});

  Ulq<> single;
  REQUIRE(single.calibrate(std::vector<float>{-0.5F}).ok());
  CHECK(forward(single, {-0.5F})[0] == doctest::Approx(-0.5).epsilon(0.01));

  Ulq<> wide;
  CHECK(wide.calibrate(std::vector<float>{std::numeric_limits<float>::max()}).ok());
  Ulq<amct::Int8, amct::MinMax> asymmetric({.observer = {amct::Symmetry::asymmetric}});
  CHECK(asymmetric.calibrate(std::vector<float>{-3e38F, 3e38F}).code == StatusCode::unusable_scale);
  CHECK_FALSE(asymmetric.ready());
  CHECK(asymmetric.calibrate(std::vector<float>{-1.0F, 1.0F}).ok());  // begins anew
  CHECK(clips_of(asymmetric).max == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("bad activations are refused and change nothing") {
  Ulq<> ulq({.clip_max = 2.0F, .clip_min = -1.0F});
  std::vector<float> y = {9.0F, 9.0F};
  const Status nan = ulq.forward(std::vector<float>{0.5F, kNan}, y);
  CHECK(nan.code == StatusCode::not_finite);
  CHECK(nan.index == 1);
  CHECK(ulq.forward(std::vector<float>{kInfinity, 0.0F}, y).code == StatusCode::not_finite);
  CHECK(ulq.forward({}, {}).code == StatusCode::empty);
  CHECK(ulq.forward(std::vector<float>{1.0F}, y).code == StatusCode::size_mismatch);
  CHECK(ulq.backward(y, std::vector<float>{1.0F}, y).code == StatusCode::size_mismatch);
  CHECK(ulq.backward(y, y, std::span(y).first(1)).code == StatusCode::size_mismatch);
  set_clips(ulq, {kNan, -1.0F});
  CHECK(ulq.forward(std::vector<float>{0.5F, 1.0F}, y).code == StatusCode::unusable_scale);
  set_clips(ulq, {3e38F, -3e38F});
  CHECK(ulq.forward(std::vector<float>{0.5F, 1.0F}, y).code == StatusCode::unusable_scale);
  CHECK(clips_of(ulq) == UlqClips{3e38F, -3e38F});
  CHECK(y == std::vector<float>{9.0F, 9.0F});

  Ulq<> fresh;
  CHECK(fresh.forward(std::vector<float>{0.5F, 1.0F}, y).code == StatusCode::not_ready);
  CHECK(fresh.calibrate(std::vector<float>{0.5F, kNan}).code == StatusCode::not_finite);
  CHECK(fresh.calibrate({}).code == StatusCode::empty);
}

TEST_CASE("clips are options with ranges") {
  std::vector<float> y(1);
  const auto refused = [&](Ulq<> ulq, const char* name) {
    const Status status = ulq.forward(std::vector<float>{1.0F}, y);
    CHECK(ulq.calibrate(std::vector<float>{1.0F}).code == StatusCode::bad_option);
    return status.code == StatusCode::bad_option && std::string_view(status.name) == name;
  };
  CHECK(refused(Ulq<>({.clip_max = 0.0F, .clip_min = -1.0F}), "clip_max"));
  CHECK(refused(Ulq<>({.clip_max = kNan, .clip_min = -1.0F}), "clip_max"));
  CHECK(refused(Ulq<>({.clip_max = kInfinity, .clip_min = -1.0F}), "clip_max"));
  CHECK(refused(Ulq<>({.clip_max = 1.0F, .clip_min = 0.0F}), "clip_min"));
  CHECK(refused(Ulq<>({.clip_max = 1.0F}), "clip_min"));
  CHECK(refused(Ulq<>({.clip_min = -1.0F}), "clip_max"));
  Ulq<> observer({.observer = {.batch_num = 0}});
  CHECK(observer.calibrate(std::vector<float>{1.0F}).code == StatusCode::bad_option);
}

TEST_CASE("training goes on from a stored state") {
  Ulq<> ulq({.observer = {.symmetry = amct::Symmetry::symmetric, .batch_num = 2}});
  REQUIRE(ulq.calibrate(std::vector<float>{-1.0F, 0.5F}).ok());
  Ulq<> copy({.observer = {.symmetry = amct::Symmetry::symmetric, .batch_num = 2}});
  copy.restore(ulq.state());
  for (Ulq<>* each : {&ulq, &copy}) {
    REQUIRE(each->calibrate(std::vector<float>{2.0F, 0.1F}).ok());
    set_clips(*each, {1.0F, 1.0F});
    (void)forward(*each, {0.5F});
  }
  CHECK(clips_of(ulq) == clips_of(copy));
  CHECK(ulq.params().channels == copy.params().channels);
}
