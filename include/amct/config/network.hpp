// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace amct {

/// One node of a network as far as configs are concerned.
struct NetworkNode {
  std::string name{};                  ///< the layer name that configs and records use
  std::string onnx_name{};             ///< the node's name in the model file
  std::string op_type{};               ///< ONNX operator, or the name of a composite
  std::vector<std::string> inputs{};   ///< tensors that carry data; constants are left out
  std::vector<std::string> outputs{};  ///< tensors
};

/// All nodes of a network in an order in which producers come before consumers.
using Network = std::vector<NetworkNode>;

}  // namespace amct
