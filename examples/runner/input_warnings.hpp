// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/graph/ir.hpp>

#include "data_folder.hpp"

namespace runner {

/// Warns, with the numbers, about inputs whose scale cannot be that of training: runs the first batch up to the first
/// BatchNormalization. Says nothing about networks where that does not stand behind the first layer.
/// \param network  as it was read, before BatchNormalization is folded
/// \throws amct::Error of loading the batch
void warn_about_inputs(const amct::graph::Graph& network, const DataFolder& data);

}  // namespace runner
