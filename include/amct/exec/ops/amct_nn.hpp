// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/depth_space.hpp>

/// \file
/// Operators of amct.nn that hotwheels keeps in a domain of its own. Only those that its guide equates with an operator
/// of ONNX are executed: it does not say which approximation its Gelu is, nor what LayerNorm takes besides an axis.

namespace amct::exec::ops {

/// The forms of ONNX's DepthToSpace (mode DCR) and SpaceToDepth, with the attribute "blocksize" as there.
inline void add_amct_nn(OpSet& set) {
  set.add("pico_ops:DepthToSpaceDCR", depth_to_space);
  set.add("pico_ops:SpaceToDepth", space_to_depth);
}

}  // namespace amct::exec::ops
