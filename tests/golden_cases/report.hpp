// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace golden {

/// Counts of cases, with a line for every one that did not pass.
class Report {
 public:
  void pass() { ++passed_; }
  void fail(const std::string& where, const std::string& why) {
    ++failed_;
    std::cout << "FAILED  " << where << ": " << why << '\n';
  }
  void skip(const std::string& where, const std::string& why) {
    ++skipped_;
    std::cout << "skipped " << where << ": " << why << '\n';
  }
  /// One case: no findings is a pass.
  void judge(const std::string& where, const std::vector<std::string>& findings) {
    if (findings.empty()) return pass();
    std::string text;
    for (const auto& finding : findings) text += (text.empty() ? "" : "; ") + finding;
    fail(where, text);
  }

  [[nodiscard]] int passed() const noexcept { return passed_; }
  [[nodiscard]] int failed() const noexcept { return failed_; }
  [[nodiscard]] int skipped() const noexcept { return skipped_; }

 private:
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

/// Runs all cases of one file, or of one folder of whole runs.
using Run = void (*)(const std::filesystem::path&, Report&);

/// What can be run, by the stem of the file's name; "e2e" for folders of whole runs. Several may look at one file.
[[nodiscard]] inline std::map<std::string, std::vector<Run>>& runs() {
  static std::map<std::string, std::vector<Run>> all;
  return all;
}

/// A kind of golden data says so itself: `const Registered kHfmg{"hfmg", run_hfmg};` in its file.
struct Registered {
  Registered(const std::string& stem, Run run) { runs()[stem].push_back(run); }
};

}  // namespace golden
