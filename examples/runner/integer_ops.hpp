// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>

namespace runner {

/// builtin_ops() and the operators of networks in integers. Their code is compiled once, in integer_ops.cpp.
[[nodiscard]] const amct::exec::OpSet& integer_ops();

}  // namespace runner
