// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/findings.hpp>

#include <cstddef>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

using namespace amct::graph;

TEST_CASE("K21 each kind of fault has a code of its own and says what it costs and what mends it") {
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < kFaultRules.size(); ++i) {
    const FaultRule& rule = kFaultRules[i];
    CAPTURE(rule.code);
    CHECK(static_cast<std::size_t>(rule.kind) == i);
    CHECK(&rule_of(rule.kind) == &rule);
    CHECK(rule.code.starts_with("graph."));
    CHECK(codes.insert(rule.code).second);
    CHECK(!rule.what.empty());
    CHECK(!rule.cost.empty());
    CHECK(!rule.fix.empty());
  }
}
