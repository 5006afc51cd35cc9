// SPDX-License-Identifier: Apache-2.0
#include "integer_ops.hpp"

#include <amct/exec/integer/ops.hpp>

#include "builtin_ops.hpp"

namespace runner {

const amct::exec::OpSet& integer_ops() {
  static const amct::exec::OpSet ops = [] {
    amct::exec::OpSet all = builtin_ops();
    amct::exec::add_integer_ops(all);
    return all;
  }();
  return ops;
}

}  // namespace runner
