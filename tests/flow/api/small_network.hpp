// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <amct/core/tensor.hpp>
#include <amct/flow/api/model.hpp>

#include "support/draws.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/temp_dir.hpp"

/// A network that is quick to calibrate, its data, and a folder for files.
struct SmallNetwork {
  support::TempDir folder;

  [[nodiscard]] std::string file(const std::string& name) const { return (folder / name).string(); }

  [[nodiscard]] static amct::Tensor random(const amct::Shape& shape, std::uint64_t seed) {
    support::Draws draws(seed);
    amct::Tensor tensor(amct::ElementType::float32, shape);
    for (float& value : tensor.data<float>()) value = static_cast<float>(draws.between(-1000, 1000)) / 500.0F;
    return tensor;
  }
  /// A batch of two images.
  [[nodiscard]] static std::vector<amct::Tensor> batch(std::uint64_t seed) { return {random({2, 4, 6, 6}, seed)}; }

  /// Conv, BatchNormalization, Relu, MaxPool, Gemm.
  [[nodiscard]] static amct::graph::Graph graph() {
    return support::GraphBuilder()
        .input("x", {2, 4, 6, 6})
        .initializer("w", random({8, 4, 3, 3}, 1))
        .initializer("gamma", support::floats({8}, {1, -0.5F, 2, 0.25F, 1, 1, 1, 1}))
        .initializer("beta", random({8}, 2))
        .initializer("mean", random({8}, 3))
        .initializer("variance", support::floats({8}, {1, 2, 3, 4, 5, 6, 7, 8}))
        .initializer("fw", random({32, 5}, 4))
        .initializer("fb", random({5}, 5))
        .node("Conv", "conv", {"x", "w"}, "c")
        .node("BatchNormalization", "bn", {"c", "gamma", "beta", "mean", "variance"}, "n")
        .node("Relu", "relu", {"n"}, "r")
        .node("MaxPool", "pool", {"r"}, "p", {{"kernel_shape", support::Ints{2, 2}}, {"strides", support::Ints{2, 2}}})
        .node("Flatten", "flat", {"p"}, "f")
        .node("Gemm", "fc", {"f", "fw", "fb"}, "y")
        .output("y")
        .build();
  }
  [[nodiscard]] static amct::Model model(amct::ModelOptions options = {}) {
    return {"net.onnx", graph(), support::integer_ops(), std::move(options)};
  }
};
