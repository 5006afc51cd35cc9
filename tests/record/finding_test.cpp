// SPDX-License-Identifier: Apache-2.0
#include <amct/record/finding.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using amct::RecordFinding;

namespace {

/// A list whose functions a test may call.
class Findings : public amct::detail::FindingList {};

}  // namespace

TEST_CASE("of a repeated field the first bad element is reported, with the number of the others") {
  Findings list;
  list.scales("scale_w", {1.0F, 0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()});
  const auto findings = list.take();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].is_error);
  CHECK(findings[0].code == amct::ErrorCode::record_value);
  CHECK(findings[0].field == "scale_w");
  CHECK(findings[0].index == 1);
  CHECK(findings[0].message == "got 0.0, expected a finite scale above 0 (and 2 more like it)");
}

TEST_CASE("scales are finite, above 0 and have a finite reciprocal") {
  const auto accepted = [](float scale) {
    Findings list;
    list.scales("scale_d", {scale});
    return list.empty();
  };
  CHECK(accepted(1.0F));
  CHECK(accepted(3.4e38F));
  CHECK(accepted(1e-30F));
  CHECK(accepted(3e-39F));
  CHECK_FALSE(accepted(1e-40F));
  CHECK_FALSE(accepted(0.0F));
  CHECK_FALSE(accepted(-1.0F));
  CHECK_FALSE(accepted(std::numeric_limits<float>::infinity()));
  CHECK_FALSE(accepted(std::nanf("")));
}

TEST_CASE("codes lie in the signed range of their width") {
  Findings list;
  list.codes("offset_d", {-128, 127, -8, 7}, 8);
  list.codes("offset_d", {-32768, 32767}, 16);
  CHECK(list.empty());
  list.codes("offset_d", {127, 128}, 8);
  list.integers("offset_w", {0, 3}, 0, 0);
  const auto findings = list.take();
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message == "got 128, expected -128 to 127");
  CHECK(findings[0].index == 1);
  CHECK(findings[1].message == "got 3, expected 0");
  CHECK(findings[1].index == 1);
}

TEST_CASE("warnings are no errors") {
  Findings list;
  list.warning("cluster", "is reserved");
  CHECK_FALSE(list.take().front().is_error);
}

TEST_CASE("choices are listed as people write them") {
  CHECK(amct::detail::alternatives({"8"}) == "8");
  CHECK(amct::detail::alternatives({"4", "8"}) == "4 or 8");
  CHECK(amct::detail::alternatives({"4", "8", "16"}) == "4, 8 or 16");
}
