// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "layered_model.hpp"

namespace runner {

/// What a search for siblings does with products of two tensors, whose second input can have 8 bits only.
enum class Products {
  left_out,
  whole,     ///< one layer with both inputs
  by_input,  ///< their inputs have nothing to do with each other
};

/// The layers that must be quantized as these are, these among them: layers that read a tensor which one of them reads,
/// and layers without instructions (Concat, Reshape ...) with the layers behind them, again and again. See
/// amct::check_network. O(nodes + tensors).
[[nodiscard]] std::set<std::string> with_siblings(const LayeredModel& model, const std::set<std::string>& layers,
                                                  Products products);

/// The layers that can have 8 bits and no offset only, as they share a tensor with the second input of a product; a
/// product is among them if its first input does.
[[nodiscard]] std::set<std::string> bound_to_second_inputs(const LayeredModel& model);

}  // namespace runner
