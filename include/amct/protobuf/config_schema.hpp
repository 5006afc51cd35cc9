// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <google/protobuf/descriptor.h>

#include <amct/proto/basic_info.pb.h>
#include <amct/proto/calibration_config_caffe.pb.h>
#include <amct/proto/calibration_config_hotwheels.pb.h>
#include <amct/proto/calibration_config_mindspore.pb.h>
#include <amct/proto/calibration_config_pytorch.pb.h>
#include <amct/proto/distill_config_pytorch.pb.h>
#include <amct/proto/quant_calibration_config_pytorch.pb.h>
#include <amct/proto/retrain_config_hotwheels.pb.h>
#include <amct/proto/retrain_config_pytorch.pb.h>

namespace amct::protobuf {

/// The easy configs of AMCT that are protobuf text; each is a file under proto/.
enum class CfgSchema : std::uint8_t {
  calibration_pytorch,
  calibration_mindspore,
  calibration_hotwheels,
  calibration_caffe,
  retrain_pytorch,
  retrain_hotwheels,
  distill,
  kv_cache,
  auto_prune,
};

namespace detail {

[[nodiscard]] inline const google::protobuf::Descriptor* descriptor_of(CfgSchema schema) {
  switch (schema) {
    case CfgSchema::calibration_pytorch: return proto::pytorch::AMCTConfig::descriptor();
    case CfgSchema::calibration_mindspore: return proto::mindspore::calibration::AMCTConfig::descriptor();
    case CfgSchema::calibration_hotwheels: return proto::hotwheels::calibration::AMCTConfig::descriptor();
    case CfgSchema::calibration_caffe: return proto::caffe::calibration::AMCTConfig::descriptor();
    case CfgSchema::retrain_pytorch: return proto::pytorch::retrain::AMCTRetrainConfig::descriptor();
    case CfgSchema::retrain_hotwheels: return proto::hotwheels::retrain::AMCTRetrainConfig::descriptor();
    case CfgSchema::distill: return proto::pytorch::distill::AMCTDistillConfig::descriptor();
    case CfgSchema::kv_cache: return proto::pytorch::kv_cache::AMCTQuantCaliConfig::descriptor();
    case CfgSchema::auto_prune: return proto::AutoChannelPruneConfig::descriptor();
  }
  return nullptr;
}

}  // namespace detail
}  // namespace amct::protobuf
