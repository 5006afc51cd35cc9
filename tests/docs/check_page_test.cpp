// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/graph/findings.hpp>

TEST_CASE("K21 docs/check.md has the table of findings that the code has") {
  std::ifstream page(AMCT_CHECK_PAGE);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `graph.")) rows.push_back(line);
  }
  REQUIRE(rows.size() == amct::graph::kFaultRules.size());
  for (const auto& rule : amct::graph::kFaultRules) {
    std::string row = "| `" + std::string(rule.code) + "` |";
    for (const auto cell : {rule.what, rule.cost, rule.fix}) row += ' ' + std::string(cell) + " |";
    CHECK(rows[static_cast<std::size_t>(rule.kind)] == row);
  }
}
