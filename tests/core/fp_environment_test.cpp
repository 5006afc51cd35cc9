// SPDX-License-Identifier: Apache-2.0
#include <amct/core/fp_environment.hpp>

#include <cfenv>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/quantize.hpp>
#include <amct/kernel/residual.hpp>

#include "kernel/paths_agree.hpp"
#include "support/awkward_floats.hpp"

namespace {

constexpr amct::Affine kAffine{0.1F, 3};

struct Results {
  std::vector<std::int8_t> codes;
  std::vector<float> fake;
  std::vector<double> losses;
};

// Made once, under the defaults.
const std::vector<float> x = support::awkward_floats(1500, kAffine.scale);
const std::vector<float> finite = support::awkward_floats(1500, kAffine.scale, true);

Results compute() {
  Results results{std::vector<std::int8_t>(x.size()), std::vector<float>(x.size()), {0.0}};
  amct::quantize<amct::DivideAddRound>(std::span<const float>(x), std::span(results.codes), kAffine, amct::Int8::range);
  amct::fake_quantize<>(std::span<const float>(x), std::span(results.fake), kAffine, amct::Int8::range);
  const amct::ScaleCandidate candidate{-3.0F, 3.0F, 3.0F / 127.0F};
  amct::add_squared_residuals(finite, std::span(&candidate, 1), results.losses);
  return results;
}

}  // namespace

TEST_CASE("case C13: array functions do not depend on the host's rounding mode, and leave it as it was") {
  on_every_path([] {
    const Results want = compute();
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      REQUIRE(std::fesetround(mode) == 0);
      const Results got = compute();
      const int after = std::fegetround();
      std::fesetround(FE_TONEAREST);
      CHECK(after == mode);
      CHECK(same_bits(got.codes, want.codes));
      CHECK(same_bits(got.fake, want.fake));
      CHECK(same_bits(got.losses, want.losses));
    }
  });
}

TEST_CASE("case C13: ties at every place of a vector, under a changed rounding mode") {
  const float ties[] = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  const int without_offset[] = {-2, -2, 0, 0, 2, 2};
  const int onnx_order[] = {-1, -1, 1, 1, 3, 3};
  on_every_path([&] {
    for (std::size_t length = 1; length <= 67; ++length) {
      std::vector<float> tied(length);
      for (std::size_t i = 0; i < length; ++i) tied[i] = ties[i % 6];
      std::vector<std::int8_t> plain(length);
      std::vector<std::int8_t> shifted(length);
      std::fesetround(FE_UPWARD);
      amct::quantize<>(std::span<const float>(tied), std::span(plain), {1.0F, 0}, amct::Int8::range);
      amct::quantize<>(std::span<const float>(tied), std::span(shifted), {1.0F, 1}, amct::Int8::range);
      std::fesetround(FE_TONEAREST);
      for (std::size_t i = 0; i < length; ++i) {
        CHECK(plain[i] == without_offset[i % 6]);
        CHECK(shifted[i] == onnx_order[i % 6]);
      }
    }
  });
}

#if defined(__x86_64__)
TEST_CASE("array functions keep denormals even if the host flushes them") {
  constexpr unsigned kFlush = 0x8040;
  const Results want = compute();
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlush);
  const Results got = compute();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & kFlush) == kFlush);
  CHECK(same_bits(got.fake, want.fake));
  CHECK(same_bits(got.codes, want.codes));
}
#endif
