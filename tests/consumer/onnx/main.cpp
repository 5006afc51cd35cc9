// SPDX-License-Identifier: Apache-2.0
#include <amct/flow/api/same_origin.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_writer.hpp>

int main() {
  if (amct::protobuf::record_text({{.name = "conv1", .scale_d = 0.5F}}).find("scale_d: 0.5") == std::string::npos)
    return 1;
  amct::require_same_origin({.model_hash = "a", .config = "{}"}, "x.ckpt", "a", "m.onnx", "{}", "c.json");
  try {
    (void)amct::onnx::import_model("nothere.onnx");
  } catch (const amct::Error& error) {
    return error.code() == amct::ErrorCode::io_read ? 0 : 1;
  }
  return 1;
}
