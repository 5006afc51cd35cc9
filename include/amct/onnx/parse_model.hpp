// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>

#include <amct/core/error.hpp>

namespace amct::onnx {

/// Deepest nesting of messages in a model file; a body inside a body takes three.
inline constexpr int kMaxModelDepth = 64;
/// Largest file that protobuf reads and writes.
inline constexpr std::uintmax_t kMostModelBytes = (std::uintmax_t{1} << 31) - 1;

/// Reads the message of a file as it is; only its form is checked. The messages take memory in proportion to the file:
/// an empty node, the worst, about 100 bytes for 2.
/// \throws Error io_read, model_corrupt, or model_unsupported if it is larger than kMostModelBytes
[[nodiscard]] inline ::onnx::ModelProto parse_model(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw Error(ErrorCode::io_read, {.file = path.string()}, failure ? failure.message() : "not a regular file");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (!failure && bytes > kMostModelBytes) {
    throw Error(ErrorCode::model_unsupported, {.file = path.string()},
                "has " + std::to_string(bytes) + " bytes, an ONNX file can have " + std::to_string(kMostModelBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io_read, {.file = path.string()}, "cannot be read");
  google::protobuf::io::IstreamInputStream stream(&file);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxModelDepth);
  ::onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() || !model.has_graph()) {
    throw Error(ErrorCode::model_corrupt, {.file = path.string()}, "is not an ONNX model, or is cut short");
  }
  return model;
}

}  // namespace amct::onnx
