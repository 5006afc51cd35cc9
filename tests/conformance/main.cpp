// SPDX-License-Identifier: Apache-2.0
// Runs ONNX's own backend tests. Prints the cases that fail, what is not supported and, last, the totals.
//
//   conformance_test [REGEX]      only the cases whose folder/name matches, e.g. 'node/test_conv'
//
// The data are in AMCT_CONFORMANCE_DIR, by default where Debian's libonnx-testdata puts them.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/isolated.hpp"
#include "conformance/judge.hpp"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 60;
/// What the whole set must reach.
constexpr std::size_t kFewestPassed = 850;

/// All cases of the four kinds that carry their data, as `kind/name`.
std::vector<std::string> find_cases(const fs::path& root, const std::regex& wanted) {
  std::vector<std::string> cases;
  for (const char* kind : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(root / kind, absent)) {
      const std::string name = std::string(kind) + '/' + entry.path().filename().string();
      if (fs::exists(entry.path() / "model.onnx") && std::regex_search(name, wanted)) cases.push_back(name);
    }
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// Counts of outcomes, and of the reasons for which cases are not supported.
struct Totals {
  std::map<conformance::Outcome, std::size_t> outcomes;
  std::map<std::string, std::size_t> reasons;

  void add(const std::string& name, const conformance::Verdict& verdict) {
    ++outcomes[verdict.outcome];
    if (verdict.outcome == conformance::Outcome::failed)
      std::cout << "FAILED " << name << ": " << verdict.reason << '\n';
    if (verdict.outcome == conformance::Outcome::passed && !verdict.reason.empty())
      std::cout << "passed " << name << ", " << verdict.reason << '\n';
    if (verdict.outcome != conformance::Outcome::unsupported) return;
    std::istringstream lines(verdict.reason);
    for (std::string line; std::getline(lines, line);) ++reasons[line];
  }
};

}  // namespace

int main(int argc, char** argv) {
  const char* chosen = std::getenv("AMCT_CONFORMANCE_DIR");
  const fs::path root = chosen != nullptr ? chosen : "/usr/share/libonnx-testdata/data";
  const auto cases = find_cases(root, std::regex(argc > 1 ? argv[1] : ""));
  if (cases.empty()) std::cout << "no cases in " << root.string() << '\n';

  Totals totals;
  for (const auto& name : cases) {
    totals.add(name, conformance::isolated([&] { return conformance::judge(root / name); }, kSeconds));
  }
  for (const auto& [reason, count] : totals.reasons) std::cout << "unsupported: " << reason << ": " << count << '\n';
  const std::size_t passed = totals.outcomes[conformance::Outcome::passed];
  const std::size_t failed = totals.outcomes[conformance::Outcome::failed];
  std::cout << "conformance: " << passed << " passed, " << failed << " failed, "
            << totals.outcomes[conformance::Outcome::unsupported] << " unsupported of " << cases.size() << std::endl;
  const std::size_t fewest = argc > 1 ? 1 : kFewestPassed;
  return failed > 0 || passed < fewest ? EXIT_FAILURE : EXIT_SUCCESS;
}
