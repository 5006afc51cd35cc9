// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/checkpoint.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

namespace {

using amct::Error;
using amct::ErrorCode;
using amct::protobuf::Checkpoint;
using amct::protobuf::checkpoint_bytes;
using amct::protobuf::CheckpointPhase;
using amct::protobuf::CheckpointSet;
using amct::protobuf::parse_checkpoint;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Every field of every struct has a value that is not its default.
Checkpoint full() {
  const amct::LayerRecord everything{
      .name = "layer1.0.conv1",
      .scale_d = 0.1F,
      .offset_d = -3,
      .record_d =
          {{.scale_d = 0.3F, .offset_d = -1, .index = 1, .num_bits_d = 12, .channels = 3, .height = 4, .width = 5}},
      .scale_w = {0.1F, 1e-38F, 3.4e38F},
      .offset_w = {0, 0, 0},
      .shift_bit = {1, 2, 3},
      .tensor_balance_factor = {0.5F},
      .cluster = {-8, 7},
      .num_bits_w = 4,
      .skip_fusion = true,
      .dst_type = "INT4",
      .act_type = "INT16",
      .wts_type = "INT4",
      .fakequant_precision_mode = "FORCE_FP16_QUANT",
      .prune_producer = {"a"},
      .prune_consumer = {"b", ""},
      .params = {1, 2},
      .centroids = {-0.0F, std::numeric_limits<float>::min()},
      .weight_clip_max = 0.7F,
      .scale_h = 0.2F,
      .offset_h = 9,
      .scale_r = {0.1F},
      .offset_r = {0},
      .channels = 1,
      .height = 2,
      .width = 3,
      .object_layer = "conv",
      .kv_cache = amct::KvCacheRecord{.scale = {0.5F}, .offset = {3}}};
  Checkpoint checkpoint{.flavour = "hotwheels",
                        .model_file = "net.onnx",
                        .model_hash = "xxh3:00",
                        .config_file = "config.json",
                        .config = "{\n  \"batch_num\": 2\n}\n",
                        .batch_num = 300};
  checkpoint.sets.push_back({.key = "", .finished = CheckpointPhase::weights, .first_batch = 200});
  checkpoint.sets[0].state.batches = 100;
  checkpoint.sets[0].state.observers.push_back({.layer = "conv1",
                                                .input = 1,
                                                .observer = "ifmr",
                                                .batches = 99,
                                                .range = {-1.5F, 2.5F},
                                                .bytes = bytes_of(std::string("\0\x01\xFF", 3))});
  checkpoint.sets[0].state.weights = {everything, {.name = "fc"}};
  checkpoint.sets.push_back({.key = "quant_model_weights",
                             .finished = CheckpointPhase::search,
                             .result = {{.name = "fc", .scale_d = 0.5F}},
                             .saved = {{.name = "fc", .scale_d = 0.25F}}});
  return checkpoint;
}

/// The error of a file that is refused.
Error refusal(const std::string& bytes) {
  try {
    (void)parse_checkpoint(bytes, "x.ckpt");
  } catch (const Error& error) {
    return error;
  }
  FAIL("accepted");
  return {ErrorCode::numeric, {}, ""};
}

}  // namespace

TEST_CASE("K6 a checkpoint is read as it was written, in memory and as a file") {
  const Checkpoint checkpoint = full();
  const std::string bytes = checkpoint_bytes(checkpoint);
  CHECK(parse_checkpoint(bytes, "x.ckpt") == checkpoint);
  CHECK(checkpoint_bytes(parse_checkpoint(bytes, "x.ckpt")) == bytes);

  const support::TempDir folder;
  const auto path = amct::protobuf::checkpoint_path((folder / "out/m").string());
  CHECK(path == folder / "out/m_calibration.ckpt");
  CHECK(amct::protobuf::checkpoint_path("out/") == "out/calibration.ckpt");
  amct::protobuf::write_checkpoint(path, checkpoint);
  CHECK(support::read_text(path) == bytes);
  CHECK(amct::protobuf::is_checkpoint(path));
  CHECK(amct::protobuf::read_checkpoint(path) == checkpoint);

  support::write_text(folder / "record.txt", "record {\n}\n");
  CHECK_FALSE(amct::protobuf::is_checkpoint(folder / "record.txt"));
  CHECK_FALSE(amct::protobuf::is_checkpoint(folder / "missing"));
}

TEST_CASE("K6 a key selects one of several weight sets") {
  const Checkpoint two = full();
  CHECK(select_set(two, "quant_model_weights", "x.ckpt").result[0].name == "fc");
  CHECK(select_set(two, "", "x.ckpt").first_batch == 200);
  CHECK_THROWS_WITH_AS((void)select_set(two, {}, "x.ckpt"),
                       "amct: [record.value] x.ckpt state_dict_name: is not given, expected one of: \"\", "
                       "\"quant_model_weights\"",
                       Error);
  CHECK_THROWS_AS((void)select_set(two, "other", "x.ckpt"), Error);
  Checkpoint one = two;
  one.sets.erase(one.sets.begin());
  CHECK(select_set(one, {}, "x.ckpt").key == "quant_model_weights");
}

TEST_CASE("K22 an unfinished checkpoint is no record") {
  const Checkpoint checkpoint = full();
  CheckpointSet finished = checkpoint.sets[1];
  CHECK(finished_record(checkpoint, finished, "x.ckpt").at(0).scale_d == 0.25F);
  finished.saved.clear();
  CHECK(finished_record(checkpoint, finished, "x.ckpt").at(0).scale_d == 0.5F);
  CHECK_THROWS_WITH_AS((void)finished_record(checkpoint, checkpoint.sets[0], "x.ckpt"),
                       "amct: [data.too_few] x.ckpt batch_num: the calibration is not finished: 100 of 300 batches "
                       "were seen, and no factors were searched; go on with amct restore",
                       Error);
}

TEST_CASE("K6 damaged, foreign and cut checkpoints are refused with their name") {
  const std::string good = checkpoint_bytes(full());
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Error error = refusal(good.substr(0, size));
    CHECK(error.where().file == "x.ckpt");
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xFF'}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      CHECK_FALSE(refusal(bytes).message().empty());
    }
  }
  CHECK(refusal(good + "x").code() == ErrorCode::record_syntax);
  CHECK(refusal("record {}").message() == "is no checkpoint of amct: its first bytes are others");
}

TEST_CASE("K6 a file of a later version is refused as such") {
  std::string bytes = checkpoint_bytes(full());
  bytes[bytes.find("\x08\x01") + 1] = 2;  // the header's first field
  CHECK(refusal(bytes).message() == "is of version 2, this program reads version 1");
}
