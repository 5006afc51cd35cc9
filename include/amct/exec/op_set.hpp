// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/exec/op_context.hpp>
#include <amct/exec/ops/conv.hpp>
#include <amct/exec/ops/conv_transpose.hpp>
#include <amct/exec/ops/elementwise.hpp>
#include <amct/exec/ops/matmul.hpp>
#include <amct/exec/ops/normalize.hpp>
#include <amct/exec/ops/pool.hpp>
#include <amct/exec/ops/shape.hpp>
#include <amct/graph/ir.hpp>

namespace amct::exec {

/// The operators an interpreter knows, by ONNX name (`domain:name` outside the default domain). Users add rows.
class OpSet {
 public:
  void add(const std::string& name, Op op) { ops_[name] = op; }

  [[nodiscard]] Op find(const graph::Node& node) const {
    const auto found = ops_.find(full_name(node));
    return found == ops_.end() ? nullptr : found->second;
  }

  /// Refuses a network with operators outside the set, naming each once with a node that uses it.
  void require_all(const graph::Graph& graph) const {
    std::set<std::string> seen;
    std::string missing;
    std::string example;
    for (const auto& node : graph.nodes) {
      if (find(node) != nullptr || !seen.insert(full_name(node)).second) continue;
      missing += (missing.empty() ? "" : ", ") + full_name(node);
      if (example.empty()) example = node.name;
    }
    if (missing.empty()) return;
    throw Error(ErrorCode::model_unsupported, {.layer = example}, "operators that cannot be executed: " + missing);
  }

 private:
  static std::string full_name(const graph::Node& node) {
    return node.domain.empty() ? node.op_type : node.domain + ':' + node.op_type;
  }

  std::map<std::string, Op> ops_;
};

/// The built-in float operators in the form they have at `opset` (11 to 17).
[[nodiscard]] inline OpSet float_ops(std::int64_t opset) {
  OpSet set;
  set.add("Add", ops::binary<ops::kAdd>);
  set.add("Sub", ops::binary<ops::kSub>);
  set.add("Mul", ops::binary<ops::kMul>);
  set.add("Div", ops::binary<ops::kDiv>);
  set.add("Pow", ops::binary<ops::kPow>);
  set.add("Relu", ops::unary<ops::kRelu>);
  set.add("Sigmoid", ops::unary<ops::kSigmoid>);
  set.add("Tanh", ops::unary<ops::kTanh>);
  set.add("Sqrt", ops::unary<ops::kSqrt>);
  set.add("Exp", ops::unary<ops::kExp>);
  set.add("Erf", ops::unary<ops::kErf>);
  set.add("Neg", ops::unary<ops::kNeg>);
  set.add("Abs", ops::unary<ops::kAbs>);
  set.add("Round", ops::unary<ops::kRound>);
  set.add("HardSwish", ops::unary<ops::kHardSwish>);
  set.add("LeakyRelu", ops::leaky_relu);
  set.add("HardSigmoid", ops::hard_sigmoid);
  set.add("Clip", ops::clip);
  set.add("Conv", ops::conv);
  set.add("ConvTranspose", ops::conv_transpose);
  set.add("Gemm", ops::gemm_op);
  set.add("MatMul", ops::matmul);
  set.add("MaxPool", ops::max_pool);
  set.add("AveragePool", ops::average_pool);
  set.add("GlobalAveragePool", ops::global_average_pool);
  set.add("BatchNormalization", ops::batch_normalization);
  set.add("Softmax", opset >= 13 ? ops::softmax : ops::softmax_11);
  set.add("ReduceMean", ops::reduce_mean);
  set.add("Constant", ops::constant);
  set.add("Identity", ops::identity);
  set.add("Flatten", ops::flatten);
  set.add("Reshape", ops::reshape);
  set.add("Squeeze", ops::squeeze);
  set.add("Unsqueeze", ops::unsqueeze);
  set.add("Transpose", ops::transpose);
  set.add("Concat", ops::concat);
  set.add("Pad", ops::pad);
  return set;
}

}  // namespace amct::exec
