// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace golden {

/// Compares two ONNX files node for node: one-to-one renaming of values, same operators, wiring, attributes, types,
/// shapes and constants; floats within `allowed_ulps`, integer biases within 1. Names must be equal for `layers` and
/// for what AMCT adds to them. value_info, opset, IR version, producer and doc strings do not count. \return what
/// differs; empty if nothing does
std::vector<std::string> compare_models(const std::filesystem::path& ours, const std::filesystem::path& theirs,
                                        const std::set<std::string>& layers, int allowed_ulps = 4);

}  // namespace golden
