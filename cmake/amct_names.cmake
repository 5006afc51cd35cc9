# SPDX-License-Identifier: Apache-2.0
# AMCT's own names for our schemas: copies under the paths and packages that AMCT's releases have, so that
# `protoc --decode` and programs written for AMCT's files find them. Made at configure time, installed beside ours.

set(AMCT_NAMES_DIR "${PROJECT_BINARY_DIR}/amct_names")

# amct_names(<schema of proto/amct/proto> <AMCT's path> <AMCT's package, "" if it has none>)
function(amct_names ours path package)
  set(source "${PROJECT_SOURCE_DIR}/proto/amct/proto/${ours}.proto")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  if(package)
    set(package "package ${package};\n\n")
  endif()
  get_filename_component(folder "${path}" DIRECTORY)
  string(REGEX REPLACE "package [a-z._]+;\n\n" "${package}" text "${text}")
  string(REGEX REPLACE "\n[^\n]*// ours\n" "\n" text "${text}")  # fields that AMCT does not have,
  string(REGEX REPLACE "\n[^\n]*// ours\n" "\n" text "${text}")  # also on the next line
  string(REPLACE "import \"amct/proto/" "import \"${folder}/" text "${text}")
  string(REPLACE "amct.proto.AttrProto" "AMCTProto.AttrProto" text "${text}")
  file(CONFIGURE OUTPUT "${AMCT_NAMES_DIR}/${path}" CONTENT "${text}" @ONLY)
endfunction()

amct_names(basic_info amct_pytorch/proto/basic_info.proto AMCTProto)
amct_names(basic_info amct_tensorflow/proto/basic_info.proto AMCTProto)
amct_names(scale_offset_record_pytorch amct_pytorch/proto/scale_offset_record_pytorch.proto "")
amct_names(scale_offset_record_mindspore amct_mindspore/proto/scale_offset_record_mindspore.proto "")
amct_names(inner_scale_offset_record amct_tensorflow/proto/inner_scale_offset_record.proto AMCTTensorflow)
amct_names(scale_offset_record_hotwheels hotwheels/amct_pytorch/proto/scale_offset_record_pytorch.proto AMCTPytorchProto)
# Easy configs whose field numbers are AMCT's.
amct_names(calibration_config_pytorch amct_pytorch/proto/calibration_config_pytorch.proto AMCTPytorchProto)
amct_names(retrain_config_pytorch amct_pytorch/proto/retrain_config_pytorch.proto AMCTPytorchProto)
amct_names(distill_config_pytorch amct_pytorch/proto/distill_config_pytorch.proto AMCTPytorchProto)
amct_names(quant_calibration_config_pytorch amct_pytorch/proto/quant_calibration_config_pytorch.proto AMCTPytorchProto)
