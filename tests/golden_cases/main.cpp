// SPDX-License-Identifier: Apache-2.0
// Compares the library with numbers and files of the real AMCT. Prints a line a file and, last, the totals.

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "golden_cases/report.hpp"

namespace {

using golden::Run;

std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Runs one file or folder and prints its line; an exception is a failure of it, not the end.
void run_one(const std::vector<Run>& runs, const std::filesystem::path& path, const std::string& name,
             golden::Report& report) {
  const int passed = report.passed();
  const int failed = report.failed();
  for (const Run run : runs) {
    try {
      run(path, report);
    } catch (const std::exception& error) {
      report.fail(name, error.what());
    }
  }
  std::cout << "golden " << name << ": " << report.passed() - passed << " passed, " << report.failed() - failed
            << " failed\n";
}

}  // namespace

int main() {
  const char* chosen = std::getenv("AMCT_GOLDEN_DIR");
  const std::filesystem::path root = chosen != nullptr ? chosen : AMCT_DEFAULT_GOLDEN_DIR;
  golden::Report report;
  for (const auto& path : sorted_entries(root)) {
    if (path.extension() != ".json") continue;
    const auto known = golden::runs().find(path.stem().string());
    if (known != golden::runs().end()) {
      run_one(known->second, path, path.filename().string(), report);
    } else {
      report.skip(path.filename().string(), "this kind of case is not delivered yet");
    }
  }
  for (const auto& path : sorted_entries(root / "e2e")) {
    if (std::filesystem::is_directory(path))
      run_one(golden::runs().at("e2e"), path, "e2e/" + path.filename().string(), report);
  }
  const int found = report.passed() + report.failed() + report.skipped();
  if (found == 0) std::cout << "no golden cases in " << root.string() << '\n';
  std::cout << "golden: " << report.passed() << " passed, " << report.failed() << " failed, " << report.skipped()
            << " skipped" << std::endl;
  return report.failed() > 0 || report.passed() == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
