// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <amct/core/flavour.hpp>

#include <amct/proto/inner_scale_offset_record.pb.h>
#include <amct/proto/scale_offset_record_caffe.pb.h>
#include <amct/proto/scale_offset_record_caffe_pico.pb.h>
#include <amct/proto/scale_offset_record_hotwheels.pb.h>
#include <amct/proto/scale_offset_record_mindspore.pb.h>
#include <amct/proto/scale_offset_record_pytorch.pb.h>

namespace amct::protobuf {

/// An empty record file of a dialect; `New()` gives one to fill.
[[nodiscard]] inline const google::protobuf::Message& record_prototype(RecordDialect dialect) noexcept {
  switch (dialect) {
    case RecordDialect::pytorch: return proto::pytorch::ScaleOffsetRecord::default_instance();
    case RecordDialect::mindspore: return proto::mindspore::ScaleOffsetRecord::default_instance();
    case RecordDialect::tensorflow: return proto::tensorflow::InnerScaleOffsetRecord::default_instance();
    case RecordDialect::hotwheels: return proto::hotwheels::ScaleOffsetRecord::default_instance();
    case RecordDialect::caffe: return proto::caffe::ScaleOffsetRecord::default_instance();
    case RecordDialect::caffe_pico: return proto::caffe_pico::ScaleOffsetRecord::default_instance();
  }
  return proto::pytorch::ScaleOffsetRecord::default_instance();
}

/// The schema of a dialect's record file: its fields are `record` and, in some dialects, `prune_record`.
[[nodiscard]] inline const google::protobuf::Descriptor& record_schema(RecordDialect dialect) noexcept {
  return *record_prototype(dialect).GetDescriptor();
}

}  // namespace amct::protobuf
