// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/api/kv_cache.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <amct/protobuf/record_file.hpp>

#include "flow/api/small_network.hpp"

using namespace amct;
using support::error_of;

TEST_CASE_FIXTURE(SmallNetwork, "K4 the key-value cache of a network is calibrated by config and model") {
  const Model net = model();
  const std::string config = file("config.json"), record = file("record.txt");
  CHECK(error_of([&] { create_quant_cali_config(config, net); })->code() == ErrorCode::config_layer);
  CHECK(error_of([&] { create_quant_cali_config(config, net, {{"conv"}}); })->code() == ErrorCode::config_layer);
  create_quant_cali_config(config, net, {{"fc"}});
  KvCacheModel calibrated = create_quant_cali_model(config, record, net);
  CHECK(error_of([&] { (void)calibrated.record(); })->code() == ErrorCode::data_too_few);
  CHECK_FALSE(std::filesystem::exists(record));
  const auto outputs = calibrated.forward(batch(8));
  REQUIRE(calibrated.complete());
  const Record written = protobuf::read_record(record);
  CHECK(written == calibrated.record());

  // The output of the last layer is that of the network: a QuantCalibrationOp sees the same.
  QuantCalibrationOp op(file("op.txt"));
  CHECK(&op.forward("fc", outputs[0]) == &outputs[0]);
  CHECK(protobuf::read_record(file("op.txt")) == written);
}

TEST_CASE_FIXTURE(SmallNetwork, "K4 QuantCalibrationOp waits for batch_num batches and refuses other methods") {
  QuantCalibrationOp op(file("op.txt"), {.batch_num = 2, .per_channel = true});
  op.forward("k", random({3, 4}, 1));
  op.forward("v", random({3, 4}, 2));
  CHECK_FALSE(std::filesystem::exists(folder / "op.txt"));
  op.forward("k", random({3, 4}, 3));
  CHECK(protobuf::read_record(file("op.txt")).size() == 1);
  op.forward("v", random({3, 4}, 4));
  const Record record = protobuf::read_record(file("op.txt"));
  REQUIRE(record.size() == 2);
  CHECK(find_record(record, "v")->kv_cache->scale.size() == 4);
  CHECK(error_of([] { QuantCalibrationOp("x", {}, "other"); })->where().field == "quant_method");
  CHECK(error_of([] { QuantCalibrationOp("x", {.batch_num = 0}); })->where().field == "batch_num");
}

TEST_CASE_FIXTURE(SmallNetwork, "Linear layers whose weights stand behind an Identity can be cached") {
  const auto network = support::GraphBuilder()
                           .input("x", {2, 4})
                           .initializer("w", random({4, 3}, 1))
                           .node("Identity", "behind", {"w"}, "v")
                           .node("Gemm", "fc", {"x", "v"}, "y")
                           .output("y")
                           .build();
  const Model net("net.onnx", network, support::integer_ops());
  create_quant_cali_config(file("config.json"), net, {{"fc"}});
  KvCacheModel calibrated = create_quant_cali_model(file("config.json"), file("record.txt"), net);
  (void)calibrated.forward({random({2, 4}, 2)});
  CHECK(calibrated.record().size() == 1);
}
