// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/api/dynamic_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/flow/calibrate.hpp>

#include "flow/api/small_network.hpp"
#include "support/text_file.hpp"

using namespace amct;
using support::contains;
using support::error_of;

namespace {

struct DynamicGraph : SmallNetwork {
  std::string config = file("config.json"), modified = file("tmp/modified.onnx"), record = file("tmp/record.txt");
  std::string out = file("out/m");

  [[nodiscard]] QuantModel quantized(const Model& model) const {
    return quantize_model(config, modified, record, model, batch(7));
  }
};

}  // namespace

TEST_CASE_FIXTURE(DynamicGraph,
                  "K4 the functions of the dynamic graph give what the calibration of the command line gives") {
  const Model net = model();
  create_quant_config(config, net, batch(7), std::vector<std::string>{}, 2);
  CHECK(contains(support::read_text(config), "\"batch_num\":2"));
  QuantModel calibrated = quantized(net);
  CHECK(calibrated.mode() == QuantizationMode::calibration);
  CHECK(calibrated.forward(batch(8)).at(0).shape() == Shape{2, 5});
  calibrated(batch(9));
  save_model(modified, record, out, calibrated);

  const auto prepared = flow::prepare(graph(), EasyConfig{.batch_num = 2}, support::ops());
  flow::MemoryBatches batches({batch(8), batch(9)});
  const Record expected = flow::calibrate(prepared, support::ops(), batches);
  CHECK(protobuf::read_record(record) == expected);
  CHECK(protobuf::read_record(out + "_quant_param_record.txt") == expected);
  for (const char* name : {"_deploy_model.onnx", "_fake_quant_model.onnx", "_quant.json"}) {
    CHECK(std::filesystem::exists(out + name));
  }
  const std::string deployed = support::read_text(out + "_deploy_model.onnx");
  save_model(modified, record, out);  // the files alone suffice
  CHECK(support::read_text(out + "_deploy_model.onnx") == deployed);
}

TEST_CASE_FIXTURE(DynamicGraph, "K22 a model is not saved before batch_num batches were seen") {
  const Model net = model();
  create_quant_config(config, net, {}, {}, 2);
  QuantModel calibrated = quantized(net);
  calibrated.forward(batch(8));
  const auto with_model = error_of([&] { save_model(modified, record, out, calibrated); });
  REQUIRE(with_model);
  CHECK(std::string(with_model->what()) ==
        "amct: [data.too_few] net.onnx batch_num: the calibration has seen 1 batches, expected 2: run more batches in "
        "mode calibration before the model is saved");
  const auto files_alone = error_of([&] { save_model(modified, record, out); });
  REQUIRE(files_alone);
  CHECK(files_alone->code() == ErrorCode::data_too_few);
  CHECK(files_alone->where().layer == "conv");
  CHECK_FALSE(std::filesystem::exists(folder / "out"));

  calibrated.set_mode(QuantizationMode::fake_quant);
  CHECK(error_of([&] { calibrated.forward(batch(8)); })->code() == ErrorCode::data_too_few);
  calibrated.set_mode(QuantizationMode::calibration);
  calibrated.forward(batch(9));
  const std::string complete = support::read_text(record);
  calibrated.forward(batch(10));  // AMCT's observers see no more than batch_num either
  CHECK(support::read_text(record) == complete);
  CHECK(calibrated.batches() == 2);
}

TEST_CASE_FIXTURE(DynamicGraph, "K4 K16 arguments beside a definition are ignored with a warning") {
  std::vector<std::string> warnings;
  const Model net = model(
      {.sink = {.on_step = {}, .on_message = [&](LogLevel, const std::string& text) { warnings.push_back(text); }}});
  support::write_text(folder / "quant.cfg", "batch_num: 3\nskip_layers: \"fc\"\n");
  create_quant_config(config, net, {}, std::vector<std::string>{"conv"}, 2, false, file("quant.cfg"));
  const std::string text = support::read_text(config);
  CHECK(contains(text, "\"batch_num\":3"));
  CHECK(contains(text, "\"activation_offset\":true"));
  REQUIRE(warnings.size() == 3);
  CHECK(contains(warnings[0], "skip_layers"));
  CHECK(contains(warnings[1], "batch_num"));
  CHECK(contains(warnings[2], "activation_offset"));
  CHECK(error_of([&] { create_quant_config(config, net, {}, {}, 0); })->code() == ErrorCode::config_range);
  CHECK(error_of([&] { create_quant_config(config, net, {}, std::vector<std::string>{"nothere"}); })->code() ==
        ErrorCode::config_layer);
}

TEST_CASE_FIXTURE(DynamicGraph, "K4 input data that do not fit are refused with the name of the input") {
  const Model net = model();
  const auto refused = [&](const std::vector<Tensor>& data) {
    return std::string(error_of([&] { create_quant_config(config, net, data); })->what());
  };
  CHECK(refused({random({1}, 1), random({1}, 1)}) ==
        "amct: [data.format] input_data: got 2 tensors, expected 1, one for each input of the model");
  CHECK(refused({random({2, 4, 6}, 1)}) ==
        "amct: [data.format] tensor \"x\" input_data: got [2,4,6], expected [2,4,6,6]");
  CHECK(contains(refused({Tensor(ElementType::int8, {2, 4, 6, 6})}), "got int8, expected float32"));
}

TEST_CASE_FIXTURE(DynamicGraph, "K4 quantize_model names inputs and outputs and opens axes in the modified model") {
  const Model net = model();
  create_quant_config(config, net, {});
  const auto quantize = [&](const std::vector<std::string>& inputs, const DynamicAxes& axes) {
    return quantize_model(config, modified, record, net, {}, inputs, {"scores"}, axes);
  };
  (void)quantize({"image"}, {{"image", {{0, "batch"}}}});
  const auto written = amct::onnx::import_model(modified);
  const auto& input = written.value(written.inputs.at(0));
  CHECK(input.name == "image");
  CHECK(input.shape->at(0) == graph::Dim{.size = -1, .symbol = "batch"});
  CHECK(written.value(written.outputs.at(0)).name == "scores");
  CHECK(error_of([&] { (void)quantize({"w"}, {}); })->where().field == "input_names");
  CHECK(error_of([&] { (void)quantize({"a", "b"}, {}); })->where().field == "input_names");
  CHECK(error_of([&] { (void)quantize({}, {{"x", {{4, "z"}}}}); })->where().field == "dynamic_axes");
}

TEST_CASE_FIXTURE(DynamicGraph,
                  "K4 quantize_preprocess finds the factors of balanced layers, which quantize_model takes") {
  const Model net = model();
  support::write_text(folder / "dmq.cfg", "common_config {\n  dmq_balancer {\n    migration_strength: 0.5\n  }\n}\n");
  create_quant_config(config, net, {}, {}, 1, true, file("dmq.cfg"));
  CHECK(error_of([&] { (void)quantized(net); }));  // no factors yet
  quantize_preprocess(config, record, net, batch(8));
  QuantModel calibrated = quantized(net);
  calibrated.forward(batch(8));
  const Record found = protobuf::read_record(record);
  CHECK(find_record(found, "conv")->tensor_balance_factor.size() == 4);
  CHECK(find_record(found, "conv")->scale_d.has_value());
  save_model(modified, record, out, calibrated);
}

TEST_CASE_FIXTURE(DynamicGraph,
                  "K4 update_bn_status lets BatchNormalization learn from batches, then calibration begins anew") {
  const Model net = model({.flavour = Flavour::hotwheels_dynamic});
  support::write_text(folder / "bn.cfg", "batch_num: 1\ndo_fusion: false\nupdate_bn: true\n");
  create_quant_config(config, net, {}, {}, 1, true, file("bn.cfg"));
  QuantModel calibrated = quantized(net);
  calibrated.forward(batch(8));
  CHECK(calibrated.batches() == 1);
  const auto mean = [&] {
    const auto values = support::find_initializer(calibrated.setup().graph, "mean")->data<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const auto before = mean();
  update_bn_status(calibrated);
  calibrated.forward(batch(8));
  CHECK(mean() == before);
  update_bn_status(calibrated, false);
  CHECK(mean() != before);
  CHECK(calibrated.batches() == 0);
  CHECK(error_of([&] { save_model(modified, record, out); })->code() == ErrorCode::data_too_few);
  calibrated.forward(batch(8));
  save_model(modified, record, out, calibrated);
  const auto saved = amct::onnx::import_model(out + "_deploy_model.onnx");
  const auto& statistics = *support::find_initializer(saved, "mean");
  CHECK(std::equal(statistics.data<float>().begin(), statistics.data<float>().end(), mean().begin()));
}

TEST_CASE_FIXTURE(DynamicGraph, "K4 save_model folds the BatchNormalization that update_bn has kept apart") {
  const Model net = model({.flavour = Flavour::hotwheels_dynamic});
  support::write_text(folder / "bn.cfg", "batch_num: 1\nupdate_bn: true\n");
  create_quant_config(config, net, {}, {}, 1, true, file("bn.cfg"));
  QuantModel calibrated = quantized(net);
  calibrated.forward(batch(8));
  save_model(modified, record, out, calibrated);
  const auto deployed = amct::onnx::import_model(out + "_deploy_model.onnx");
  CHECK(std::none_of(deployed.nodes.begin(), deployed.nodes.end(),
                     [](const auto& node) { return node.op_type == "BatchNormalization"; }));
}
