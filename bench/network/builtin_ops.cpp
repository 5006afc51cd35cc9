// SPDX-License-Identifier: Apache-2.0
#include "builtin_ops.hpp"

#include <amct/exec/builtin_ops.hpp>

namespace bench {

const amct::exec::OpSet& builtin_ops() { return amct::exec::builtin_ops(); }

}  // namespace bench
