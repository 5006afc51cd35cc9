# SPDX-License-Identifier: Apache-2.0
# K40: a record encoded with our schema is decoded with AMCT's path and message name, and is the same text.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY "${WORK}")

# check(<our message> <our schema> <AMCT's message> <AMCT's path> <text>)
function(check our_message ours message path text)
  file(WRITE "${WORK}/in.txt" "${text}")
  execute_process(COMMAND "${PROTOC}" "--encode=amct.proto.${our_message}" -I "${OURS}" "amct/proto/${ours}.proto"
    INPUT_FILE "${WORK}/in.txt" OUTPUT_FILE "${WORK}/record.bin" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${PROTOC}" "--decode=${message}" -I "${AMCT_NAMES}" "${path}"
    INPUT_FILE "${WORK}/record.bin" OUTPUT_VARIABLE decoded COMMAND_ERROR_IS_FATAL ANY)
  if(NOT decoded STREQUAL text)
    message(FATAL_ERROR "${path} decodes\n${text}as\n${decoded}")
  endif()
endfunction()

function(record result fields)
  set(${result} "record {\n  key: \"conv1\"\n  value {\n${fields}  }\n}\n" PARENT_SCOPE)
endfunction()
set(common "    scale_d: 0.5\n    offset_d: -128\n    scale_w: 0.25\n    offset_w: 0\n    shift_bit: 1\n")
set(prune "prune_record {\n  producer {\n    name: \"conv1\"\n    attr {\n      name: \"end\"\n      type: INT\n      i: 64\n    }\n  }\n}\n")

record(text "${common}    tensor_balance_factor: 2\n    skip_fusion: true\n    act_type: \"INT16\"\n    scale_h: 0.5\n")
check(pytorch.ScaleOffsetRecord scale_offset_record_pytorch
  ScaleOffsetRecord amct_pytorch/proto/scale_offset_record_pytorch.proto "${text}${prune}")

record(text "${common}    skip_fusion: false\n")
check(mindspore.ScaleOffsetRecord scale_offset_record_mindspore
  ScaleOffsetRecord amct_mindspore/proto/scale_offset_record_mindspore.proto "${text}")

record(text "${common}    cluster: 3\n    prune_producer: \"a\"\n    tensor_balance_factor: 2\n    wts_type: \"INT8\"\n")
check(tensorflow.InnerScaleOffsetRecord inner_scale_offset_record
  AMCTTensorflow.InnerScaleOffsetRecord amct_tensorflow/proto/inner_scale_offset_record.proto "${text}${prune}")

record(text "    record_d {\n      scale_d: 0.5\n      offset_d: 1\n      index: 0\n      num_bits_d: 12\n    }\n    scale_w: 0.25\n    num_bits_w: 4\n    params: -85\n    centroids: -0.5\n    weight_clip_max: 3.5\n")
check(hotwheels.ScaleOffsetRecord scale_offset_record_hotwheels
  AMCTPytorchProto.ScaleOffsetRecord hotwheels/amct_pytorch/proto/scale_offset_record_pytorch.proto "${text}")

check(pytorch.AMCTConfig calibration_config_pytorch
  AMCTPytorchProto.AMCTConfig amct_pytorch/proto/calibration_config_pytorch.proto
  "batch_num: 2\ncommon_config {\n  hfmg_quantize {\n    num_of_bins: 1024\n  }\n}\n")
check(pytorch.retrain.AMCTRetrainConfig retrain_config_pytorch
  AMCTPytorchProto.AMCTRetrainConfig amct_pytorch/proto/retrain_config_pytorch.proto
  "retrain_data_quant_config {\n  ulq_quantize {\n    fixed_min: true\n  }\n}\nretrain_weight_quant_config {\n}\n")
check(pytorch.distill.AMCTDistillConfig distill_config_pytorch
  AMCTPytorchProto.AMCTDistillConfig amct_pytorch/proto/distill_config_pytorch.proto "group_size: 2\n")
check(pytorch.kv_cache.AMCTQuantCaliConfig quant_calibration_config_pytorch
  AMCTPytorchProto.AMCTQuantCaliConfig amct_pytorch/proto/quant_calibration_config_pytorch.proto
  "activation_offset: false\n")

# The numbers that are only ours are not in AMCT's copy.
file(READ "${AMCT_NAMES}/hotwheels/amct_pytorch/proto/scale_offset_record_pytorch.proto" copy)
if(copy MATCHES "1001|1002")
  message(FATAL_ERROR "the copy under AMCT's name has fields that AMCT does not have")
endif()
