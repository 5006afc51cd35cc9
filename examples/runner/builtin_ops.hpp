// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>

namespace runner {

/// The operators that the runner executes. Their code is compiled once, in builtin_ops.cpp.
[[nodiscard]] const amct::exec::OpSet& builtin_ops();

}  // namespace runner
