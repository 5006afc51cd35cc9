// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace runner {

/// Writes a drawing as `<name>.dot`, and as `<name>.svg` if Graphviz's program dot is installed and is done within a
/// minute; says how to get it otherwise, and removes the .svg of an earlier run. \param name  path without the ending
/// \return the files written \throws amct::Error io_write
std::vector<std::filesystem::path> write_drawing(const std::filesystem::path& name, const std::string& dot_text);

}  // namespace runner
