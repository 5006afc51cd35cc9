// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/error.hpp>

namespace amct {

/// One thing a check found.
struct Finding {
  bool is_error = true;  ///< false: a warning
  ErrorCode code = ErrorCode::config_range;
  Where where{};
  std::string message{};
};

/// What the checks of a file found. Checks go on after a finding, so that a user sees all of them at once; of a hostile
/// file the first kMostFindings are kept and the errors behind them only counted.
class Diagnostics {
 public:
  static constexpr std::size_t kMostFindings = 10000;

  void error(ErrorCode code, Where where, std::string message) {
    ++errors_;
    keep({true, code, std::move(where), std::move(message)});
  }
  void warning(ErrorCode code, Where where, std::string message) {
    keep({false, code, std::move(where), std::move(message)});
  }

  [[nodiscard]] const std::vector<Finding>& all() const noexcept { return findings_; }
  [[nodiscard]] bool has_errors() const noexcept { return errors_ > 0; }

  /// Throws the errors as one: code and place of the first, a line for each (at most kMostLines).
  void throw_if_errors() const {
    if (errors_ == 0) return;
    const Finding* first = nullptr;
    std::string more;
    std::size_t shown = 0;
    for (const Finding& finding : findings_) {
      if (!finding.is_error || shown == kMostLines) continue;
      ++shown;
      if (first == nullptr) {
        first = &finding;
      } else {
        more += '\n';
        more += Error(finding.code, finding.where, finding.message).what();
      }
    }
    if (errors_ > shown) more += "\n... and " + std::to_string(errors_ - shown) + " more";
    throw Error(first->code, first->where, first->message + more);
  }

 private:
  static constexpr std::size_t kMostLines = 20;

  /// An error is kept even when warnings have taken all the room, so that there is one to show.
  void keep(Finding finding) {
    const bool first_error = finding.is_error && errors_ == 1;
    if (findings_.size() < kMostFindings || first_error) findings_.push_back(std::move(finding));
  }

  std::vector<Finding> findings_;
  std::size_t errors_ = 0;
};

}  // namespace amct
