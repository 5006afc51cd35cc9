// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>

namespace bench {

/// amct::exec::builtin_ops(), compiled in a file of its own, since it takes long.
[[nodiscard]] const amct::exec::OpSet& builtin_ops();

}  // namespace bench
