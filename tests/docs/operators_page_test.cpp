// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/ops.hpp"

namespace {

/// The names in backticks in the second column of the page's tables with the head "family".
std::set<std::string> documented() {
  std::ifstream page(AMCT_OPERATORS_PAGE);
  const std::regex row(R"(\|[^|]*\|([^|]*)\|.*)");
  const std::regex name("`([A-Za-z0-9_.:]+)`");
  std::set<std::string> names;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line.empty()) in_table = false;
    if (line.starts_with("| family |")) in_table = true;
    std::smatch cells;
    if (!in_table || !std::regex_match(line, cells, row)) continue;
    const std::string operators = cells[1];
    for (auto at = std::sregex_iterator(operators.begin(), operators.end(), name); at != std::sregex_iterator(); ++at)
      CHECK_MESSAGE(names.insert((*at)[1]).second, (*at)[1].str(), " is listed twice");
  }
  return names;
}

}  // namespace

TEST_CASE("docs/operators.md lists the operators that are executed") {
  const auto on_page = documented();
  const auto executed = support::ops().names();
  for (const auto& name : executed) CHECK_MESSAGE(on_page.contains(name), name, " is not on the page");
  for (const auto& name : on_page) CHECK_MESSAGE(executed.contains(name), name, " is on the page only");
}
