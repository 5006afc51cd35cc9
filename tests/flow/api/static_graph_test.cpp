// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/api/static_graph.hpp>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/protobuf/record_file.hpp>

#include "flow/api/small_network.hpp"
#include "support/text_file.hpp"

using namespace amct;
using support::contains;
using support::error_of;

namespace {

struct StaticGraph : SmallNetwork {
  std::string config = file("config.json"), checkpoint = file("m_calibration.ckpt"), out = file("out/m");

  StaticGraph() {
    support::write_text(folder / "quant.yaml",
                        "common_config:\n  activation_quant_params:\n    quantizer_args:\n      batch_num: 2\n");
  }
  void create(const Model& net) const { create_quant_config_fx(config, net, file("quant.yaml")); }
};

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.data<float>()[i] - b.data<float>()[i])));
  }
  return largest;
}

}  // namespace

TEST_CASE("K4 the three switches of enable_quantization have five legal combinations") {
  CHECK(quantization_mode(false, false, false) == QuantizationMode::float32);
  CHECK(quantization_mode(true, false, false) == QuantizationMode::calibration);
  CHECK(quantization_mode(true, true, false) == QuantizationMode::calibration_fake_quant);
  CHECK(quantization_mode(false, true, false) == QuantizationMode::fake_quant);
  CHECK(quantization_mode(false, false, true) == QuantizationMode::real_quant);
  CHECK_THROWS_WITH_AS((void)quantization_mode(true, true, true),
                       "amct: [data.format] enable_quantization: got calibration and fake_quant and real_quant, "
                       "expected none of the three, calibration alone, calibration and fake_quant, fake_quant alone, "
                       "or real_quant alone",
                       Error);
  CHECK_THROWS_AS((void)quantization_mode(true, false, true), Error);
  CHECK_THROWS_AS((void)quantization_mode(false, true, true), Error);
}

TEST_CASE_FIXTURE(StaticGraph, "K4 a static graph is calibrated, run in every mode and saved") {
  const Model net = model();
  create(net);
  QuantModel quantized = create_quant_model_fx(config, net);
  CHECK(quantized.mode() == QuantizationMode::float32);
  CHECK(quantized.batch_num() == 2);
  const Tensor expected = quantized.forward(batch(8)).at(0);
  CHECK(quantized.batches() == 0);

  enable_quantization(quantized, true);
  CHECK_FALSE(error_of([&] { enable_quantization(quantized, true, false, true); })->message().empty());
  CHECK(quantized.mode() == QuantizationMode::calibration);
  quantized.forward(batch(8));
  SUBCASE("K22 not before batch_num batches") {
    CHECK(error_of([&] { save_quant_model_fx(quantized, out, batch(8)); })->code() == ErrorCode::data_too_few);
    enable_quantization(quantized, false, false, true);
    CHECK(error_of([&] { quantized.forward(batch(8)); })->code() == ErrorCode::data_too_few);
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
    return;
  }
  enable_quantization(quantized, true, true);
  const Tensor fake_while_calibrating = quantized.forward(batch(9)).at(0);
  enable_quantization(quantized, false, true);
  CHECK(largest_difference(quantized.forward(batch(9)).at(0), fake_while_calibrating) == 0.0);
  const Tensor fake = quantized.forward(batch(8)).at(0);
  enable_quantization(quantized, false, false, true);
  const Tensor real = quantized.forward(batch(8)).at(0);
  const double error = largest_difference(fake, expected);
  CHECK(error > 0.0);
  CHECK(error < 2.0);  // of values up to about 80
  CHECK(largest_difference(fake, real) < 0.01);

  save_quant_model_fx(quantized, out, batch(8), OnnxExportSetting{.input_names = {"image"}});
  CHECK(protobuf::read_record_file(out + "_quant_param_record.txt").layers.size() == quantized.record().size());
  OnnxExportSetting old{.opset_version = 9};
  CHECK(error_of([&] { save_quant_model_fx(quantized, out, {}, old); })->code() == ErrorCode::model_unsupported);
  for (const char* name : {"_deploy_model.onnx", "_float_model.onnx"}) {
    const auto written = amct::onnx::import_model(out + name);
    CHECK(written.value(written.inputs.at(0)).name == "image");
  }
}

TEST_CASE_FIXTURE(StaticGraph, "K4 enable_dump writes the layers of one forward") {
  const Model net = model();
  create(net);
  QuantModel quantized = create_quant_model_fx(config, net);
  enable_dump(quantized, file("dump"), ".txt");
  quantized.forward(batch(8));
  const interop::DumpFolder dump(folder / "dump");
  CHECK(dump.entries().size() >= 6);
  for (const auto& entry : dump.entries()) CHECK(entry.file.ends_with(".txt"));
  std::filesystem::remove_all(folder / "dump");
  quantized.forward(batch(8));
  CHECK_FALSE(std::filesystem::exists(folder / "dump"));

  enable_quantization(quantized, true);
  enable_dump(quantized, file("calibration_dump"));
  quantized.forward(batch(8));
  CHECK(quantized.batches() == 1);
  CHECK(std::filesystem::exists(folder / "calibration_dump/fc_activation_batch0.npy"));
  CHECK(error_of([&] { enable_dump(quantized, file("dump"), ".bin"); })->where().field == "dump_format");
}

TEST_CASE_FIXTURE(StaticGraph, "K6 a model is restored from its checkpoint and goes on as if nothing had happened") {
  const Model net = model();
  create(net);
  QuantModel whole = create_quant_model_fx(config, net);
  enable_quantization(whole, true);
  whole.forward(batch(8));
  save_checkpoint(whole, checkpoint);
  whole.forward(batch(9));
  save_checkpoint(whole, checkpoint, "quant_model_weights");

  QuantModel half = restore_quant_model_fx(config, net, checkpoint, "");
  CHECK(half.batches() == 1);
  enable_quantization(half, true);
  half.forward(batch(9));
  CHECK(half.record() == whole.record());
  QuantModel finished = restore_quant_model_fx(config, net, checkpoint, "quant_model_weights");
  CHECK(finished.has_record());
  CHECK(finished.record() == whole.record());
  const auto kept = protobuf::read_checkpoint(checkpoint);
  CHECK(restore_checkpoint(net, kept, checkpoint, "quant_model_weights").record() == whole.record());
  CHECK(error_of([&] { (void)restore_quant_model_fx(config, net, checkpoint); })->where().field == "state_dict_name");
}

TEST_CASE_FIXTURE(StaticGraph, "K6 a checkpoint of another config or network is refused with what differs") {
  const Model net = model();
  create(net);
  QuantModel quantized = create_quant_model_fx(config, net);
  save_checkpoint(quantized, checkpoint);
  std::string text = support::read_text(config);
  const auto place = text.rfind("\"batch_num\":2");
  REQUIRE(place != std::string::npos);
  support::write_text(folder / "other.json", text.replace(place, 13, "\"batch_num\":4"));
  const auto config_error = error_of([&] { (void)restore_quant_model_fx(file("other.json"), net, checkpoint); });
  REQUIRE(config_error);
  CHECK(config_error->code() == ErrorCode::record_value);
  CHECK(config_error->where().file == checkpoint);
  CHECK(config_error->message() ==
        "was made with another config, " + config + ", than " + file("other.json") + ": \"pool\" differs first");

  auto changed = graph();
  changed.value(support::find_value(changed, "fb")).initializer->data<float>()[0] += 1.0F;
  const Model other("other.onnx", changed, support::integer_ops());
  const auto model_error = error_of([&] { (void)restore_quant_model_fx(config, other, checkpoint); });
  REQUIRE(model_error);
  CHECK(contains(model_error->message(), "was made with another network, net.onnx"));
  CHECK(contains(model_error->message(), "other.onnx"));
}
