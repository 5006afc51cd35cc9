// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>

#include "runner/builtin_ops.hpp"
#include "runner/integer_ops.hpp"

namespace support {

/// The built-in operators, in the object that the runner uses too (library amct_builtin_ops).
[[nodiscard]] inline const amct::exec::OpSet& ops() { return runner::builtin_ops(); }
/// These and the operators of networks in integers.
[[nodiscard]] inline const amct::exec::OpSet& integer_ops() { return runner::integer_ops(); }

}  // namespace support
