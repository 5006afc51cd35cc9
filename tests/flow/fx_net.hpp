// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/config/value.hpp>
#include <amct/core/flavour.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/graph/ir.hpp>

#include "flow/integer_nets.hpp"
#include "support/config_text.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/quantizers.hpp"

namespace support {

/// A small network with a layer of each sort that the static graph treats in its own way: conv1 with a
/// BatchNormalization (one factor is negative), a pool, a residual addition, a Concat, a layer of several nodes (GELU),
/// a product of two data, and a fully connected layer.
[[nodiscard]] inline amct::graph::Graph fx_net() {
  return GraphBuilder()
      .input("x", {2, 3, 8, 8})
      .initializer("conv1.w", random_floats({6, 3, 3, 3}, 1))
      .initializer("gamma", floats({6}, {1, -0.5F, 2, 0.25F, 1, 1}))
      .initializer("beta", floats({6}, {0.5F, 0.25F, 0, -0.5F, 1, 0}))
      .initializer("mean", floats({6}, {0.1F, -0.2F, 0, 0.3F, 0, 0}))
      .initializer("variance", floats({6}, {25, 20, 30, 25, 16, 36}))
      .initializer("conv2.w", random_floats({6, 6, 1, 1}, 2, 0.5F))
      .initializer("conv2.b", random_floats({6}, 3))
      .initializer("shape", int64s({2, 12, 16}))
      .initializer("root2", floats({}, {1.41421356F}))
      .initializer("one", floats({}, {1}))
      .initializer("half", floats({}, {0.5F}))
      .initializer("fc.w", random_floats({144, 5}, 4, 0.2F))
      .initializer("fc.b", random_floats({5}, 5))
      .node("Conv", "conv1", {"x", "conv1.w"}, "c1", {{"pads", Ints{1, 1, 1, 1}}})
      .node("BatchNormalization", "bn1", {"c1", "gamma", "beta", "mean", "variance"}, "n1")
      .node("Relu", "relu", {"n1"}, "r1")
      .node("MaxPool", "maxpool", {"r1"}, "p1", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})
      .node("Conv", "conv2", {"p1", "conv2.w", "conv2.b"}, "c2")
      .node("Add", "add", {"c2", "p1"}, "a")
      .node("Concat", "concat", {"a", "p1"}, "cat", {{"axis", std::int64_t{1}}})
      .node("Reshape", "reshape", {"cat", "shape"}, "rows")
      .node("Div", "gelu.div", {"rows", "root2"}, "g1")
      .node("Erf", "gelu.erf", {"g1"}, "g2")
      .node("Add", "gelu.add", {"g2", "one"}, "g3")
      .node("Mul", "gelu.mul", {"rows", "g3"}, "g4")
      .node("Mul", "gelu", {"g4", "half"}, "g")
      .node("Transpose", "transpose", {"g"}, "gt", {{"perm", Ints{0, 2, 1}}})
      .node("MatMul", "matmul", {"g", "gt"}, "mm")
      .node("Flatten", "flatten", {"mm"}, "flat")
      .node("Gemm", "fc", {"flat", "fc.w", "fc.b"}, "y")
      .output("y")
      .build();
}

[[nodiscard]] inline std::vector<std::vector<amct::Tensor>> fx_batches(std::uint32_t count) {
  std::vector<std::vector<amct::Tensor>> batches;
  for (std::uint32_t i = 0; i < count; ++i) batches.push_back({random_floats({2, 3, 8, 8}, 100 + i)});
  return batches;
}

/// The network prepared with an easy config in JSON, which stands for YAML.
[[nodiscard]] inline amct::flow::PreparedFx prepared_fx(const std::string& easy = "{}",
                                                        amct::graph::Graph graph = fx_net()) {
  return amct::flow::prepare_fx(std::move(graph), config(easy), "easy.yaml", amct::rules_of(amct::Flavour::hotwheels),
                                quantizers(), ops());
}

}  // namespace support
