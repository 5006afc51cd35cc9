// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/integer/conv.hpp>
#include <amct/exec/integer/global_pool.hpp>
#include <amct/exec/integer/matmul.hpp>
#include <amct/exec/integer/pool.hpp>
#include <amct/exec/integer/quantize.hpp>
#include <amct/exec/op_set.hpp>

namespace amct::exec {

/// Adds the operators of networks in integers: the nodes that integer::lower() makes, AscendQuant and AscendAntiQuant.
/// The other operators of such a network are those of builtin_ops(). Compile this once, as it instantiates the
/// integer kernels.
inline void add_integer_ops(OpSet& set) {
  integer::add_conv(set);
  integer::add_global_pool(set);
  integer::add_matmul(set);
  integer::add_pool(set);
  integer::add_quantize(set);
}

}  // namespace amct::exec
