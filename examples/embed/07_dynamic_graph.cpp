// SPDX-License-Identifier: Apache-2.0
// Post-training quantization of an ONNX file with the functions of AMCT's PyTorch tool: create_quant_config,
// quantize_model, inference over batch_num batches, save_model. Wants the folder examples/data; writes into the folder
// of the second argument.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include <amct/amct.hpp>
#include <amct/flow/api/dynamic_graph.hpp>

#include "runner/integer_ops.hpp"  // all operators, compiled once: exec::builtin_ops() and exec::add_integer_ops()

namespace {

/// 16 images as raw little-endian float32.
amct::Tensor read_batch(const std::string& file) {
  amct::Tensor batch(amct::ElementType::float32, {16, 1, 28, 28});
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(batch.raw().data()), static_cast<std::streamsize>(batch.bytes()));
  if (!stream) throw amct::Error(amct::ErrorCode::io_read, {.file = file}, "cannot be read");
  return batch;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: embed_dynamic_graph examples/data out\n";
    return 2;
  }
  const std::string data = argv[1], out = argv[2];
  const amct::Model model(data + "/digits.onnx", runner::integer_ops());
  const std::string config = out + "/config.json", modified = out + "/modified.onnx", record = out + "/record.txt";

  amct::create_quant_config(config, model, {}, {}, 2);  // batch_num 2
  amct::QuantModel calibrated = amct::quantize_model(config, modified, record, model, {});
  for (std::uint32_t i = 0; i < calibrated.batch_num(); ++i) {
    calibrated.forward({read_batch(data + "/calibration/batch_" + std::to_string(i) + ".bin")});
  }
  amct::save_model(modified, record, out + "/digits", calibrated);
  std::cout << calibrated.record().size() << " layers quantized\n";
  return 0;
} catch (const amct::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
