// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace conformance {

enum class Outcome : char { passed = 'P', failed = 'F', unsupported = 'U' };

/// The result of one case.
struct Verdict {
  Outcome outcome = Outcome::failed;
  std::string reason{};  ///< why it failed, what is not supported (a line each), or a remark
};

}  // namespace conformance
