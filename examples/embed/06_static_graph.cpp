// SPDX-License-Identifier: Apache-2.0
// Post-training quantization of an ONNX file with the functions of AMCT's static graph: config, calibration, accuracy
// in integers, deploy model, checkpoint. Wants the folder examples/data; writes into the folder of the second argument.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include <amct/amct.hpp>
#include <amct/flow/api/static_graph.hpp>
#include <amct/interop/npy.hpp>

#include "runner/integer_ops.hpp"  // all operators, compiled once: exec::builtin_ops() and exec::add_integer_ops()

namespace {

/// Images [first, first + count) of a tensor as a batch.
amct::Tensor images(const amct::Tensor& all, std::int64_t first, std::int64_t count) {
  const auto pixels = static_cast<std::size_t>(all.shape().count(1, all.shape().rank()));
  const auto begin = static_cast<std::size_t>(first) * pixels;
  return {amct::Shape{count, 1, 28, 28}, all.data<float>().subspan(begin, static_cast<std::size_t>(count) * pixels)};
}

std::size_t best(const amct::Tensor& scores, std::size_t row) {
  const auto line = scores.data<float>().subspan(row * 10, 10);
  return static_cast<std::size_t>(std::max_element(line.begin(), line.end()) - line.begin());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: embed_static_graph examples/data out\n";
    return 2;
  }
  const std::string data = argv[1], out = argv[2];
  constexpr std::int64_t kBatch = 16;
  const amct::Tensor all = amct::cast(amct::interop::read_npy(data + "/eval_images.npy"), amct::ElementType::float32);
  const amct::Model model(data + "/digits.onnx", runner::integer_ops());

  amct::create_quant_config_fx(out + "/config.json", model, "");
  amct::QuantModel quantized = amct::create_quant_model_fx(out + "/config.json", model);
  amct::enable_quantization(quantized, true);  // calibration
  for (std::uint32_t batch = 0; batch < quantized.batch_num(); ++batch) {
    quantized.forward({images(all, batch * kBatch, kBatch)});
  }
  amct::save_checkpoint(quantized, out + "/digits_calibration.ckpt");
  amct::save_quant_model_fx(quantized, out + "/digits", {});

  std::size_t equal = 0;
  constexpr std::int64_t kCompared = 128;
  for (std::int64_t first = 0; first < kCompared; first += kBatch) {
    amct::enable_quantization(quantized);  // float
    const amct::Tensor expected = quantized.forward({images(all, first, kBatch)}).front();
    amct::enable_quantization(quantized, false, false, true);  // real_quant
    const amct::Tensor found = quantized.forward({images(all, first, kBatch)}).front();
    for (std::size_t row = 0; row < std::size_t{kBatch}; ++row) equal += best(expected, row) == best(found, row);
  }
  std::cout << equal << " of " << kCompared << " decisions are those of the float network\n";
  return equal * 100 >= std::size_t{kCompared} * 95 ? 0 : 1;
} catch (const amct::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
