// SPDX-License-Identifier: Apache-2.0
#include <amct/quantize/registry.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/kernel/fake_quantize.hpp>
#include <amct/kernel/range.hpp>

namespace {

using amct::AnyQuantizer;
using amct::Args;
using amct::QuantizerRegistry;
using amct::Role;
using amct::Status;
using amct::StatusCode;

struct ShareOptions {
  float share = 0.5F;  ///< of the range that is kept

  void read(amct::ArgReader& reader) {
    reader.read("share", share);
    if (!(share > 0.0F && share <= 1.0F)) reader.refuse("share", static_cast<double>(share), "(0, 1]");
  }
};

/// What a user would write: covers a share of the range seen. Knows nothing of the library but the concept.
class Share {
 public:
  using Bits = amct::Int8;
  using Options = ShareOptions;

  explicit Share(Options options = {}) : options_(options) {}

  Status calibrate(std::span<const float> batch) { return seen_.extend(batch); }
  Status forward(std::span<const float> x, std::span<float> y) {
    amct::fake_quantize(x, y, affine(), Bits::range);
    return {};
  }
  [[nodiscard]] amct::QuantParams params() const { return {{affine()}, Bits::range}; }
  [[nodiscard]] amct::RecordExtras extras() const { return {}; }

 private:
  [[nodiscard]] amct::Affine affine() const {
    return amct::affine_from_range(seen_.min * options_.share, seen_.max * options_.share, Bits::range,
                                   amct::Symmetry::symmetric);
  }

  Options options_;
  amct::ValueRange seen_;
};

static_assert(amct::ActivationQuantizer<Share> && !amct::WeightQuantizer<Share> && !amct::TrainableQuantizer<Share>);

QuantizerRegistry with_share() {
  QuantizerRegistry registry;
  registry.add<Share>("my.module.Share", Role::activation);
  return registry;
}

}  // namespace

TEST_CASE("a quantizer of one's own is made by its name and computes") {
  const QuantizerRegistry registry = with_share();
  AnyQuantizer quantizer;
  REQUIRE(registry.make("my.module.Share", Role::activation, Args{{"share", 1.0}}, quantizer).ok());
  const std::vector<float> x = {-1.27F, 0.004F, 1.27F};
  REQUIRE(quantizer.calibrate(x).ok());
  std::vector<float> y(x.size());
  REQUIRE(quantizer.forward(x, y).ok());
  CHECK(y[1] == 0.0F);
  CHECK(y[2] == doctest::Approx(1.27));
  CHECK(quantizer.params().channels.at(0).scale == doctest::Approx(0.01));
  CHECK(quantizer.extras().centroids.empty());
}

TEST_CASE("an unknown name and a name of the other role are refused") {
  const QuantizerRegistry registry = with_share();
  AnyQuantizer quantizer;
  CHECK(registry.make("Share", Role::activation, {}, quantizer).code == StatusCode::unknown_name);
  CHECK(registry.make("my.module.Share", Role::weight, {}, quantizer).code == StatusCode::unknown_name);
  CHECK(quantizer.empty());
}

TEST_CASE("bad arguments are named and nothing is made") {
  const QuantizerRegistry registry = with_share();
  const auto refused = [&](const Args& args) {
    AnyQuantizer quantizer;
    const Status status = registry.make("my.module.Share", Role::activation, args, quantizer);
    CHECK(status.code == StatusCode::bad_option);
    CHECK(quantizer.empty());
    return std::string(status.name);
  };
  CHECK(refused(Args{{"share", 2.0}}) == "share");
  CHECK(refused(Args{{"num_bits", std::int64_t{12}}}) == "num_bits");
  const Args unknown{{"shares", 0.5}};
  CHECK(refused(unknown) == "shares");
}

TEST_CASE("a row of the same name and role replaces the old one") {
  QuantizerRegistry registry = with_share();
  registry.add<Share>("my.module.Share", Role::activation);
  CHECK(registry.rows().size() == 1);
  registry.add<Share>("my.module.Share", Role::weight);
  CHECK(registry.rows().size() == 2);
}
