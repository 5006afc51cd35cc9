// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/per_channel.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::ChannelLayout;
using amct::Ifmr;
using amct::MinMax;
using amct::PerChannel;
using amct::StatusCode;
using amct::Symmetry;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Rows of `channels` values, the channels last.
ChannelLayout last_axis(std::size_t size, std::size_t channels) { return {1, size / channels, channels, 1}; }

using Affines = std::vector<Affine>;

}  // namespace

TEST_CASE("each channel gets the scale and offset of its own values") {
  PerChannel<MinMax> observer(3);
  CHECK(observer.channels() == 3);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{1.0F, -2.0F, 0.5F, 0.0F, 2.0F, 0.25F}, last_axis(6, 3)).ok());
  CHECK(observer.ready());
  const Affines expected{{1.0F / 255.0F, -128}, {4.0F / 255.0F, 0}, {0.5F / 255.0F, -128}};
  const auto computed = observer.compute({8});
  REQUIRE(computed.size() == 3);
  CHECK(computed[0] == expected[0]);
  CHECK(computed[1].scale == expected[1].scale);
  CHECK(computed[2] == expected[2]);
}

TEST_CASE("a channel is observed as if it were alone") {
  std::vector<float> batch;
  std::vector<std::vector<float>> alone(4);
  for (std::size_t i = 0; i < 200; ++i) {
    const float value = static_cast<float>((i * 37) % 101) * (0.01F * static_cast<float>(i % 4 + 1)) - 0.3F;
    batch.push_back(value);
    alone[i % 4].push_back(value);
  }
  PerChannel<Ifmr> observer(4, {.symmetry = Symmetry::symmetric, .batch_num = 2});
  REQUIRE(observer.observe(std::span(batch).first(80), last_axis(80, 4)).ok());
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::span(batch).subspan(80), last_axis(120, 4)).ok());
  CHECK(observer.ready());
  const auto computed = observer.compute({8});
  for (std::size_t c = 0; c < 4; ++c) {
    Ifmr single({.symmetry = Symmetry::symmetric});
    REQUIRE(single.observe(alone[c]).ok());
    CHECK(computed[c] == single.compute({8}));
    CHECK(observer.channel(c).state().values == alone[c]);
  }
}

TEST_CASE("channels may lie on any axis or be groups of columns, and the last group may be short") {
  const std::vector<float> batch{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
  PerChannel<MinMax> first_axis(2);
  REQUIRE(first_axis.observe(batch, ChannelLayout{1, 1, 2, 3}).ok());
  CHECK(first_axis.channel(0).state().max == 3.0F);
  CHECK(first_axis.channel(1).state().min == 4.0F);
  PerChannel<MinMax> groups(4);
  REQUIRE(groups.observe(batch, amct::GroupLayout{.rows = 2, .columns = 3, .group = 2}).ok());
  CHECK(groups.channel(1).state().min == 3.0F);
  CHECK(groups.channel(1).state().max == 3.0F);
  CHECK(groups.channel(2).state().max == 5.0F);
}

TEST_CASE("a bad batch is refused whole and changes no channel") {
  PerChannel<MinMax> observer(2);
  CHECK(observer.observe(std::vector<float>{}, last_axis(0, 2)).code == StatusCode::empty);
  CHECK(observer.observe(std::vector<float>{1.0F, 2.0F, 3.0F}, last_axis(3, 3)).code == StatusCode::size_mismatch);
  const amct::Status size = observer.observe(std::vector<float>{1.0F, 2.0F, 3.0F}, last_axis(2, 2));
  CHECK(size.code == StatusCode::size_mismatch);
  CHECK(size.index == 3);
  const amct::Status bad = observer.observe(std::vector<float>{9.0F, 9.0F, 9.0F, kNan}, last_axis(4, 2));
  CHECK(bad.code == StatusCode::not_finite);
  CHECK(bad.index == 3);
  CHECK(observer.observe(std::vector<float>{-kInf, 9.0F}, last_axis(2, 2)).index == 0);
  CHECK_FALSE(observer.ready());
  REQUIRE(observer.observe(std::vector<float>{1.0F, 2.0F}, last_axis(2, 2)).ok());
  CHECK(observer.compute({8}) == Affines{{1.0F / 255.0F, -128}, {2.0F / 255.0F, -128}});
}

TEST_CASE("options and further batches are refused by the channels") {
  PerChannel<Ifmr> bad(2, {.batch_num = 0});
  const amct::Status status = bad.observe(std::vector<float>{1.0F, 2.0F}, last_axis(2, 2));
  CHECK(status.code == StatusCode::bad_option);
  CHECK(status.name == std::string_view("batch_num"));
  PerChannel<Ifmr> full(2);
  REQUIRE(full.observe(std::vector<float>{1.0F, 2.0F}, last_axis(2, 2)).ok());
  CHECK(full.observe(std::vector<float>{1.0F, 2.0F}, last_axis(2, 2)).code == StatusCode::already_ready);
  CHECK(full.channel(1).state().values == std::vector<float>{2.0F});
}

TEST_CASE("without channels no batch is accepted and nothing is ever ready") {
  PerChannel<MinMax> observer(0);
  CHECK(observer.observe(std::vector<float>{1.0F}, last_axis(1, 1)).code == StatusCode::size_mismatch);
  CHECK_FALSE(observer.ready());
  CHECK(observer.compute({8}).empty());
}

TEST_CASE("C01 C05 a channel of zeros or of one value does not disturb its neighbours") {
  PerChannel<Ifmr> observer(3);
  REQUIRE(observer.observe(std::vector<float>{0.0F, 3.0F, -1.0F, 0.0F, 3.0F, 1e30F}, last_axis(6, 3)).ok());
  const auto computed = observer.compute({8});
  CHECK(computed[0] == Affine{1.0F, -128});
  CHECK(computed[1] == Affine{3.0F / 255.0F, -128});
  CHECK(amct::is_usable(computed[2]));
  CHECK(computed[2].scale > 1e27F);
}

TEST_CASE("merging is the same as observing both") {
  const std::vector<float> first{1.0F, -2.0F, 0.5F, 0.75F};
  const std::vector<float> second{-3.0F, 0.125F};
  PerChannel<Ifmr> whole(2, {.batch_num = 2});
  PerChannel<Ifmr> left(2, {.batch_num = 2});
  PerChannel<Ifmr> right(2, {.batch_num = 2});
  REQUIRE(whole.observe(first, last_axis(4, 2)).ok());
  REQUIRE(whole.observe(second, last_axis(2, 2)).ok());
  REQUIRE(left.observe(first, last_axis(4, 2)).ok());
  REQUIRE(right.observe(second, last_axis(2, 2)).ok());
  REQUIRE(left.merge(right).ok());
  CHECK(left.ready());
  CHECK(left.compute({8}) == whole.compute({8}));
  const PerChannel<Ifmr> other(3, {.batch_num = 2});
  const amct::Status status = left.merge(other);
  CHECK(status.code == StatusCode::size_mismatch);
  CHECK(status.index == 3);
}

TEST_CASE("the state restores all channels and reset forgets them") {
  PerChannel<Ifmr> observer(2);
  REQUIRE(observer.observe(std::vector<float>{1.0F, -2.0F, 0.5F, 0.75F}, last_axis(4, 2)).ok());
  PerChannel<Ifmr> copy(2);
  copy.restore(observer.state());
  CHECK(copy.ready());
  CHECK(copy.compute({8}) == observer.compute({8}));
  observer.reset();
  CHECK_FALSE(observer.ready());
  CHECK(observer.state()[1].values.empty());
  CHECK(copy.ready());
}
