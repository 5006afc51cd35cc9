// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/any_observer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::Affine;
using amct::AnyObserver;
using amct::CodeRange;
using amct::Status;
using amct::StatusCode;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

constexpr CodeRange kInt8{8};
const Floats kFirst{1.0F, -2.0F, 0.25F, 3.0F};
const Floats kSecond{-5.0F, 0.5F, 4.0F};

Bytes saved(const AnyObserver& observer) {
  Bytes bytes;
  REQUIRE(observer.save(bytes).ok());
  return bytes;
}

/// Every observer of amct that may watch activations, with options that are not its defaults where it has some.
std::vector<AnyObserver> all_observers() {
  std::vector<AnyObserver> all;
  all.push_back(AnyObserver::of<amct::Ifmr>("ifmr", {.batch_num = 4, .search_step = 0.1}));
  all.push_back(AnyObserver::of<amct::IfmrAuto>("kept", {.exact_values = 100}));
  all.push_back(AnyObserver::of<amct::IfmrAuto>("counted", {.exact_values = 1}));
  all.push_back(AnyObserver::of<amct::IfmrStream>("stream", {.max_bins = 2048}));
  all.push_back(AnyObserver::of<amct::Hfmg>("hfmg", {.batch_num = 4, .num_of_bins = 1024}));
  all.push_back(AnyObserver::of<amct::HfmgReplay>("replay", {.batch_num = 4}));
  all.push_back(AnyObserver::of<amct::MinMax>("min_max"));
  all.push_back(AnyObserver::of<amct::MovingAverageMinMax>("average", {.averaging_constant = 0.5F}));
  all.push_back(AnyObserver::of<amct::Percentile>("percentile", {.percentile = 90.0}));
  all.push_back(AnyObserver::of<amct::KlDivergence>("kl"));
  all.push_back(AnyObserver::of<amct::KlWeight>("kl_weight"));
  all.push_back(AnyObserver::of<amct::LuqMse>("luq", {.batch_num = 4}));
  all.push_back(AnyObserver::of<amct::SnqObserver>("snq"));
  all.push_back(AnyObserver::of<amct::SkipNonFinite<amct::MinMax>>("skip"));
  return all;
}

/// Counts batches, and has no state that anybody could save.
struct Counter {
  int batches = 0;

  Status observe(std::span<const float>) {
    ++batches;
    return {};
  }
  [[nodiscard]] bool ready() const { return batches > 0; }
  [[nodiscard]] Affine compute(CodeRange) const { return {static_cast<float>(batches), 7}; }
};

}  // namespace

TEST_CASE("an AnyObserver does what the observer in it does") {
  static_assert(!std::is_copy_constructible_v<AnyObserver> && std::is_move_constructible_v<AnyObserver>);
  CHECK(AnyObserver().empty());
  AnyObserver any = AnyObserver::of<amct::MinMax>("min_max", {.symmetry = amct::Symmetry::symmetric});
  CHECK(any.name() == "min_max");
  CHECK_FALSE(any.ready());
  CHECK(any.observe({}).code == StatusCode::empty);
  REQUIRE(any.observe(kFirst).ok());
  amct::MinMax plain({.symmetry = amct::Symmetry::symmetric});
  REQUIRE(plain.observe(kFirst).ok());
  AnyObserver moved = std::move(any);
  CHECK(moved.ready());
  CHECK(moved.compute(kInt8) == plain.compute(kInt8));
  REQUIRE(moved.reset().ok());
  CHECK_FALSE(moved.ready());
}

TEST_CASE("every observer goes on from its bytes as if nothing had happened, also before the first batch") {
  auto first = all_observers();
  auto second = all_observers();
  for (std::size_t i = 0; i < first.size(); ++i) {
    CAPTURE(first[i].name());
    REQUIRE(second[i].restore(saved(first[i])).ok());
    CHECK_FALSE(second[i].ready());
    REQUIRE(first[i].observe(kFirst).ok());
    REQUIRE(second[i].restore(saved(first[i])).ok());
    CHECK(saved(second[i]) == saved(first[i]));
    REQUIRE(first[i].observe(kSecond).ok());
    REQUIRE(second[i].observe(kSecond).ok());
    CHECK(saved(second[i]) == saved(first[i]));
    CHECK(second[i].compute(kInt8) == first[i].compute(kInt8));
  }
}

TEST_CASE("merging an observer and merging its bytes are the same") {
  auto left = all_observers();
  auto same = all_observers();
  auto right = all_observers();
  for (std::size_t i = 0; i < left.size(); ++i) {
    CAPTURE(left[i].name());
    REQUIRE(left[i].observe(kFirst).ok());
    REQUIRE(same[i].observe(kFirst).ok());
    REQUIRE(right[i].observe(kSecond).ok());
    REQUIRE(left[i].merge(right[i]).ok());
    REQUIRE(same[i].merge(saved(right[i])).ok());
    CHECK(saved(left[i]) == saved(same[i]));
  }
}

TEST_CASE("a state without a batch is restored, but not merged") {
  auto all = all_observers();
  auto fresh = all_observers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name());
    CHECK(all[i].merge(saved(fresh[i])).code == StatusCode::empty);
  }
}

TEST_CASE("bytes of other observers and options, and damaged ones, are refused and change nothing") {
  auto all = all_observers();
  for (auto& observer : all) REQUIRE(observer.observe(kFirst).ok());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name());
    const Bytes good = saved(all[i]);
    AnyObserver other = AnyObserver::of<amct::Ifmr>("ifmr", {.batch_num = 3});
    CHECK(other.restore(good).code == StatusCode::bad_option);
    CHECK(other.merge(all[i]).code == StatusCode::bad_option);
    for (std::size_t size = 0; size < good.size(); ++size) {
      CHECK_FALSE(all[i].restore(std::span(good).first(size)).ok());
    }
    Bytes longer = good;
    longer.push_back(std::byte{0});
    CHECK(all[i].restore(longer).code == StatusCode::bad_option);
    CHECK(saved(all[i]) == good);
  }
}

TEST_CASE("no change of one byte makes an observer crash, hang or give NaN") {
  for (std::size_t i = 0; i < all_observers().size(); ++i) {
    AnyObserver observer = std::move(all_observers()[i]);
    CAPTURE(observer.name());
    REQUIRE(observer.observe(kFirst).ok());
    const Bytes good = saved(observer);
    for (std::size_t at = 0; at < std::min<std::size_t>(good.size(), 400); ++at) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        Bytes bad = good;
        bad[at] ^= static_cast<std::byte>(flip);
        AnyObserver target = std::move(all_observers()[i]);
        if (!target.restore(bad).ok()) {
          CHECK_FALSE(target.ready());
        } else if (target.ready()) {
          const Affine found = target.compute(kInt8);  // must end, whatever it is
          CHECK(found.scale == found.scale);
        }
      }
    }
  }
}

TEST_CASE("types that only watch are neither merged nor saved") {
  AnyObserver any("user.Counter", Counter{});
  REQUIRE(any.observe(kFirst).ok());
  CHECK(any.ready());
  CHECK(any.compute(kInt8) == Affine{1.0F, 7});
  CHECK_FALSE(any.can_be_saved());
  Bytes bytes;
  CHECK(any.save(bytes).code == StatusCode::not_offered);
  CHECK(any.restore(bytes).code == StatusCode::not_offered);
  CHECK(any.merge(bytes).code == StatusCode::not_offered);
  CHECK(any.merge(AnyObserver("user.Counter", Counter{})).code == StatusCode::not_offered);
  CHECK(any.reset().code == StatusCode::not_offered);
  CHECK(AnyObserver::of<amct::Ifmr>("ifmr").can_be_saved());
}
