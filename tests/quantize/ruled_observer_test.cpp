// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/ruled_observer.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <amct/observe/any_observer.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>

using namespace amct;

namespace {

const std::vector<std::vector<float>> kBatches = {
    {-1.5F, 0.25F, 2.0F, 0.75F}, {0.0F, 0.5F, 3.0F}, {1e-6F, 2e-6F}, {-4.0F, -1.0F}, {0.0F, 0.0F}};

template <class Q>
Affine after_calibration(typename Q::Options options, std::span<const float> batch) {
  Q quantizer(options);
  REQUIRE(quantizer.calibrate(batch).ok());
  REQUIRE(quantizer.ready());
  return quantizer.params().channels[0];
}
template <class O>
Affine found(const RuledOptions<O>& options, std::span<const float> batch, CodeRange range) {
  RuledObserver<O> observer(options);
  REQUIRE(observer.observe(batch).ok());
  return observer.compute(range);
}

}  // namespace

TEST_CASE("The rules give what Ulq and Luq have after their calibration") {
  for (const auto& batch : kBatches) {
    for (const auto symmetry : {Symmetry::symmetric, Symmetry::asymmetric}) {
      CAPTURE(batch[0]);
      const IfmrOptions ifmr{.symmetry = symmetry};
      for (const bool fixed_min : {false, true}) {
        const RuledOptions<Ifmr> ruled{ifmr, {RangeRule::Kind::ulq, fixed_min}};
        const UlqOptions<Ifmr> options{.fixed_min = fixed_min, .observer = ifmr};
        CHECK(found(ruled, batch, Int8::range) == after_calibration<Ulq<Int8>>(options, batch));
        CHECK(found(ruled, batch, CodeRange{12}) == after_calibration<Ulq<Int<12>>>(options, batch));
      }
      const RuledOptions<Ifmr> ruled{ifmr, {RangeRule::Kind::luq}};
      CHECK(found(ruled, batch, Int8::range) == after_calibration<Luq<Int8, Ifmr>>({.observer = ifmr}, batch));
    }
    const RuledOptions<LuqMse> ruled{{}, {.kind = RangeRule::Kind::luq, .max_value_eps = 0.125F}};
    CHECK(found(ruled, batch, Int8::range) == after_calibration<Luq<>>({.max_value_eps = 0.125F}, batch));
  }
  // Without a rule the observer's own.
  Ifmr ifmr;
  REQUIRE(ifmr.observe(kBatches[0]).ok());
  CHECK(found(RuledOptions<Ifmr>{}, kBatches[0], Int8::range) == ifmr.compute(Int8::range));
}

TEST_CASE("Batches behind the last one that counts are left out, also when states are merged") {
  const RuledOptions<MinMax> options{.batch_num = 2};
  RuledObserver<MinMax> first(options);
  CHECK_FALSE(first.ready());
  REQUIRE(first.observe(kBatches[0]).ok());
  REQUIRE(first.observe(kBatches[1]).ok());
  CHECK(first.observe(kBatches[3]).code == StatusCode::already_ready);
  const Affine expected = first.compute(Int8::range);

  RuledObserver<MinMax> one(options);
  RuledObserver<MinMax> other(options);
  REQUIRE(one.observe(kBatches[0]).ok());
  REQUIRE(other.observe(kBatches[1]).ok());
  REQUIRE(one.merge(other).ok());
  CHECK(one.compute(Int8::range) == expected);
  REQUIRE(one.merge(other).ok());  // full: nothing more counts
  CHECK(one.compute(Int8::range) == expected);
  CHECK(other.merge(first).code == StatusCode::not_offered);  // one of the two batches of `first`
  one.reset();
  CHECK_FALSE(one.ready());
}

TEST_CASE("It is saved and restored, and damaged or foreign bytes are refused") {
  const auto make = [](std::size_t batch_num) {
    return AnyObserver::of<RuledObserver<LuqMse>>(
        "LuqActivationFakeQuantize",
        {.observer = {.batch_num = 4}, .rule = {RangeRule::Kind::luq}, .batch_num = batch_num});
  };
  AnyObserver observer = make(2);
  REQUIRE(observer.can_be_saved());
  REQUIRE(observer.observe(kBatches[0]).ok());
  std::vector<std::byte> bytes;
  REQUIRE(observer.save(bytes).ok());
  AnyObserver again = make(2);
  REQUIRE(again.restore(bytes).ok());
  CHECK(again.compute(Int8::range) == observer.compute(Int8::range));
  CHECK(make(3).restore(bytes).code == StatusCode::bad_option);
  bytes.pop_back();
  CHECK(again.restore(bytes).code == StatusCode::bad_option);
}
