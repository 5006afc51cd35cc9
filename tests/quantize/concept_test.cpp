// SPDX-License-Identifier: Apache-2.0
// Quantizers and observers of a user compose with those of the library at compile time.
#include <amct/quantize/concept.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <amct/kernel/fake_quantize.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/min_max.hpp>
#include <amct/quantize/scheme.hpp>
#include <amct/quantize/ulq.hpp>

#include <doctest/doctest.h>

namespace {

/// A user's quantizer: scales that are powers of two, from any observer.
template <amct::BitWidth B, amct::Observer O>
struct PowerOfTwo {
  using Bits = B;
  using Options = typename O::Options;
  explicit PowerOfTwo(Options options = {}) : observer(options) {}
  amct::Status calibrate(std::span<const float> batch) { return observer.observe(batch); }
  amct::Status forward(std::span<const float> x, std::span<float> y) const {
    amct::fake_quantize(x, y, affine(), B::range);
    return {};
  }
  amct::QuantParams params() const { return {{affine()}, B::range}; }
  amct::RecordExtras extras() const { return {}; }

  amct::Affine affine() const { return {std::exp2(std::ceil(std::log2(observer.compute(B::range).scale))), 0}; }
  O observer;
};

using ByRange = PowerOfTwo<amct::Int8, amct::MinMax>;
using BySearch = PowerOfTwo<amct::Int4, amct::Ifmr>;
static_assert(amct::ActivationQuantizer<ByRange> && amct::ActivationQuantizer<BySearch>);
static_assert(!amct::WeightQuantizer<ByRange> && !amct::TrainableQuantizer<ByRange>);
static_assert(amct::LegalScheme<ByRange, amct::Int4> && !amct::LegalScheme<BySearch, amct::Int8>);

/// A user's observer: always the same range.
struct Constant {
  struct Options {};
  struct State {
    bool seen = false;
  };
  explicit Constant(Options = {}) {}
  amct::Status observe(std::span<const float>) {
    seen.seen = true;
    return {};
  }
  bool ready() const { return seen.seen; }
  amct::Affine compute(amct::CodeRange) const { return {0.5F, 0}; }
  amct::Status merge(const Constant&) { return {}; }
  State state() const { return seen; }
  void restore(State state) { seen = state; }
  void reset() { seen = {}; }
  State seen;
};
static_assert(amct::Observer<Constant>);

/// Runs any activation quantizer on one batch.
template <amct::ActivationQuantizer Q>
std::vector<float> quantized(Q quantizer, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  REQUIRE(quantizer.calibrate(x).ok());
  REQUIRE(quantizer.forward(x, y).ok());
  return y;
}

}  // namespace

TEST_CASE("a quantizer of a user works with observers of the library") {
  // Scales 127/127 and, by IFMR's 4 bits, something between 4 and 8.
  CHECK(quantized(ByRange({amct::Symmetry::symmetric}), {0.4F, -127.0F, 2.5F}) ==
        std::vector<float>{0.0F, -127.0F, 2.0F});
  CHECK(quantized(BySearch({.symmetry = amct::Symmetry::symmetric}), {40.0F, -3.0F, 5.0F}) ==
        std::vector<float>{40.0F, 0.0F, 8.0F});
}

TEST_CASE("a quantizer of the library works with an observer of a user") {
  CHECK(quantized(amct::Ulq<amct::Int8, Constant>(), {0.3F, 1.0F, 900.0F, -900.0F}) ==
        std::vector<float>{0.5F, 1.0F, 63.5F, -64.0F});
}
