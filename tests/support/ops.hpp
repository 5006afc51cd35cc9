// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>

#include "runner/builtin_ops.hpp"

namespace support {

/// The built-in operators, in the object that the runner uses too (library amct_builtin_ops).
[[nodiscard]] inline const amct::exec::OpSet& ops() { return runner::builtin_ops(); }

}  // namespace support
