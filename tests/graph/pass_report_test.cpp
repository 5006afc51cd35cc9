// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/pass_report.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_CASE("A report keeps what changed and what did not, in order") {
  amct::graph::PassReport report;
  report.change("b", "is gone");
  report.refuse("a", "is shared");
  report.change("c", "is gone");
  CHECK(report.changed_nodes() == std::vector<std::string>{"b", "c"});
  CHECK(report.refused == std::vector<amct::graph::PassNote>{{"a", "is shared"}});
}
