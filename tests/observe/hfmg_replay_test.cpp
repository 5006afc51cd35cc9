// SPDX-License-Identifier: Apache-2.0
#include <amct/observe/hfmg_replay.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::CodeRange;
using amct::Hfmg;
using amct::HfmgReplay;
using amct::StatusCode;
using amct::Symmetry;
using Floats = std::vector<float>;
using Batches = std::vector<Floats>;

/// Batches whose ranges differ, so that Hfmg moves counts.
Batches growing() {
  std::mt19937 random(5);
  Batches batches;
  for (int b = 0; b < 6; ++b) {
    std::normal_distribution<float> values(0.0F, 1.0F + 0.37F * static_cast<float>(b));
    auto& batch = batches.emplace_back(500);
    for (float& value : batch) value = values(random);
  }
  return batches;
}

template <class O>
O observer_of(std::span<const Floats> batches, const amct::HfmgOptions& options) {
  O observer(options);
  for (const Floats& batch : batches) REQUIRE(observer.observe(batch).ok());
  return observer;
}

}  // namespace

TEST_CASE("the result is that of Hfmg, however consecutive batches are split") {
  const Batches batches = growing();
  const auto all = std::span<const Floats>(batches);
  for (const auto symmetry : {Symmetry::asymmetric, Symmetry::symmetric}) {
    const amct::HfmgOptions options{.symmetry = symmetry, .batch_num = 6, .num_of_bins = 1024};
    const auto expected = observer_of<Hfmg>(all, options).compute(CodeRange{8});
    const auto whole = observer_of<HfmgReplay>(all, options);
    CHECK(whole.ready());
    CHECK(whole.compute(CodeRange{8}) == expected);
    for (std::size_t cut = 1; cut < batches.size(); ++cut) {
      HfmgReplay first = observer_of<HfmgReplay>(all.first(cut), options);
      REQUIRE(first.merge(observer_of<HfmgReplay>(all.subspan(cut), options)).ok());
      CHECK(first.state().values == whole.state().values);
      CHECK(first.state().ends == whole.state().ends);
      CHECK(first.compute(CodeRange{8}) == expected);
    }
  }
}

TEST_CASE("it computes from the batches that it has") {
  const Batches batches = growing();
  HfmgReplay seen({.batch_num = 4});
  REQUIRE(seen.observe(batches[0]).ok());
  CHECK_FALSE(seen.ready());
  Hfmg one;
  REQUIRE(one.observe(batches[0]).ok());
  CHECK(seen.compute(CodeRange{8}) == one.compute(CodeRange{8}));
}

TEST_CASE("bad batches and batches behind the last one are refused; states go on") {
  HfmgReplay seen;
  CHECK(seen.observe({}).code == StatusCode::empty);
  CHECK(seen.observe(Floats{std::numeric_limits<float>::quiet_NaN()}).code == StatusCode::not_finite);
  REQUIRE(seen.observe(Floats{1.0F, 3.0F, -1.0F}).ok());
  CHECK(seen.observe(Floats{1.0F}).code == StatusCode::already_ready);
  HfmgReplay other;
  other.restore(seen.state());
  CHECK(other.compute(CodeRange{8}) == seen.compute(CodeRange{8}));
  seen.reset();
  CHECK_FALSE(seen.ready());
  HfmgReplay bad({.num_of_bins = 77});
  CHECK(bad.observe(Floats{1.0F}).code == StatusCode::bad_option);
}
