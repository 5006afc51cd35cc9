// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <amct/exec/op_set.hpp>
#include <amct/exec/ops/activation.hpp>
#include <amct/exec/ops/amct_nn.hpp>
#include <amct/exec/ops/arg_max.hpp>
#include <amct/exec/ops/arithmetic.hpp>
#include <amct/exec/ops/batch_normalization.hpp>
#include <amct/exec/ops/bitwise.hpp>
#include <amct/exec/ops/cast.hpp>
#include <amct/exec/ops/compare.hpp>
#include <amct/exec/ops/composite.hpp>
#include <amct/exec/ops/concat.hpp>
#include <amct/exec/ops/constant.hpp>
#include <amct/exec/ops/control_flow.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/conv_transpose.hpp>
#include <amct/exec/ops/cum_sum.hpp>
#include <amct/exec/ops/depth_space.hpp>
#include <amct/exec/ops/det.hpp>
#include <amct/exec/ops/dropout.hpp>
#include <amct/exec/ops/einsum.hpp>
#include <amct/exec/ops/expand.hpp>
#include <amct/exec/ops/gather.hpp>
#include <amct/exec/ops/global_pool.hpp>
#include <amct/exec/ops/grid_sample.hpp>
#include <amct/exec/ops/gru.hpp>
#include <amct/exec/ops/integer_conv.hpp>
#include <amct/exec/ops/integer_matmul.hpp>
#include <amct/exec/ops/loss.hpp>
#include <amct/exec/ops/lstm.hpp>
#include <amct/exec/ops/matmul.hpp>
#include <amct/exec/ops/max_unpool.hpp>
#include <amct/exec/ops/non_max_suppression.hpp>
#include <amct/exec/ops/normalization.hpp>
#include <amct/exec/ops/pad.hpp>
#include <amct/exec/ops/pool.hpp>
#include <amct/exec/ops/quantize_linear.hpp>
#include <amct/exec/ops/reduce.hpp>
#include <amct/exec/ops/reshape.hpp>
#include <amct/exec/ops/resize.hpp>
#include <amct/exec/ops/reverse_sequence.hpp>
#include <amct/exec/ops/rnn.hpp>
#include <amct/exec/ops/roi_align.hpp>
#include <amct/exec/ops/scatter.hpp>
#include <amct/exec/ops/select.hpp>
#include <amct/exec/ops/signal.hpp>
#include <amct/exec/ops/slice.hpp>
#include <amct/exec/ops/softmax.hpp>
#include <amct/exec/ops/tf_idf.hpp>
#include <amct/exec/ops/top_k.hpp>
#include <amct/exec/ops/transpose.hpp>
#include <amct/exec/ops/trilu.hpp>
#include <amct/exec/ops/unary.hpp>
#include <amct/exec/ops/unique.hpp>
#include <amct/exec/ops/where.hpp>

namespace amct::exec {

/// All operators that amct executes. This header brings in their code and takes long to compile: include it in one file
/// of a program and pass the set on.
[[nodiscard]] inline const OpSet& builtin_ops() {
  static const OpSet set = [] {
    OpSet made;
    ops::add_activation(made);
    ops::add_amct_nn(made);
    ops::add_arg_max(made);
    ops::add_arithmetic(made);
    ops::add_batch_normalization(made);
    ops::add_bitwise(made);
    ops::add_cast(made);
    ops::add_compare(made);
    ops::add_composite(made);
    ops::add_concat(made);
    ops::add_constant(made);
    ops::add_control_flow(made);
    ops::add_conv(made);
    ops::add_conv_transpose(made);
    ops::add_cum_sum(made);
    ops::add_depth_space(made);
    ops::add_det(made);
    ops::add_dropout(made);
    ops::add_einsum(made);
    ops::add_expand(made);
    ops::add_gather(made);
    ops::add_global_pool(made);
    ops::add_grid_sample(made);
    ops::add_gru(made);
    ops::add_integer_conv(made);
    ops::add_integer_matmul(made);
    ops::add_loss(made);
    ops::add_lstm(made);
    ops::add_matmul(made);
    ops::add_max_unpool(made);
    ops::add_non_max_suppression(made);
    ops::add_normalization(made);
    ops::add_pad(made);
    ops::add_pool(made);
    ops::add_quantize_linear(made);
    ops::add_reduce(made);
    ops::add_reshape(made);
    ops::add_resize(made);
    ops::add_reverse_sequence(made);
    ops::add_rnn(made);
    ops::add_roi_align(made);
    ops::add_scatter(made);
    ops::add_select(made);
    ops::add_signal(made);
    ops::add_slice(made);
    ops::add_softmax(made);
    ops::add_tf_idf(made);
    ops::add_top_k(made);
    ops::add_transpose(made);
    ops::add_trilu(made);
    ops::add_unary(made);
    ops::add_unique(made);
    ops::add_where(made);
    return made;
  }();
  return set;
}

}  // namespace amct::exec
