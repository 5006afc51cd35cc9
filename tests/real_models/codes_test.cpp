// SPDX-License-Identifier: Apache-2.0
// PP-OCR's classifier of directions, quantized: its layers in integers and in ONNX Runtime, which runs the fake-quant
// model.

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/tensor.hpp>
#include <amct/flow/deploy.hpp>

#include "onnxruntime/layer_codes.hpp"
#include "onnxruntime/networks.hpp"
#include "real_models/run_both.hpp"

TEST_CASE("codes of layers: the direction of lines") {
  const amct::Tensor lines = real_models::read_input("cls.npy");
  const amct::Shape four{4, 3, 48, 192};
  const auto batch = [&](std::size_t number) {
    return amct::Tensor(four, lines.data<float>().subspan(number * four.size(), four.size()));
  };
  networks::Network network{.model = real_models::folder() / "cls.onnx"};
  for (const std::size_t number : {0U, 1U}) network.calibration.emplace_back().push_back(batch(number));
  const auto quantized = networks::quantize(network);
  const auto deployed = amct::flow::deploy(quantized.graph, quantized.record);
  networks::check_layers("PP-OCR cls", networks::compare_layers(deployed, batch(2)));
}
