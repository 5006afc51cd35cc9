// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "conformance/verdict.hpp"

namespace conformance {

/// Runs the model of a case on all its data sets and compares the results. The model is run as it is; one of an opset
/// that import usually raises is run once more when raised.
///
/// A case is supported if the importer takes its types and every operator of the graph and its bodies has a row. From
/// there on whatever goes wrong is a failure.
[[nodiscard]] Verdict judge(const std::filesystem::path& folder);

}  // namespace conformance
