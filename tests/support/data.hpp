// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace support {

/// The folder tests/ of the checkout that this was compiled from.
[[nodiscard]] inline std::filesystem::path tests_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path();
}
/// A sample of the users' documents.
[[nodiscard]] inline std::filesystem::path seed(const std::string& name) {
  return tests_folder() / "data/seeds" / name;
}
/// Files of the real AMCT.
[[nodiscard]] inline std::filesystem::path golden() { return tests_folder() / "golden"; }

}  // namespace support
