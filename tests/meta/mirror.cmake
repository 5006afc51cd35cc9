# SPDX-License-Identifier: Apache-2.0
# include/amct/<path>.hpp is tested by tests/<path>_test.cpp, and every unit test has its header.
# cmake -DSOURCE_DIR=<checkout> -P tests/meta/mirror.cmake
cmake_minimum_required(VERSION 3.25)

# Headers without a test of their own, as regular expressions.
set(exceptions
  "^amct$"                # only includes others
  "^version$"             # three numbers, written by CMake
  "/concept$"             # checked at compile time wherever the concept is implemented
  "^kernel/reference/"    # reached through the public kernel header
  "^kernel/body/"         # vector bodies, compared with the reference through the public kernel header
  "^kernel/(vector_contract|affine_row|map|outermost|read|requantize_factors|scale_bounds|to_codes)$"  # parts of kernels, tested with them
  "^kernel/(conv_rows|depthwise_kernel|depthwise_s8|depthwise_taps|epilogue_columns)$"  # parts of kernel/conv_s8, tested with it
  "^kernel/(row_source|row_block|tile_job|tile_kernel|integer_product)$"  # parts of kernel/gemm_s8, tested with it
  "^kernel/(epilogue|epilogue_run|column_arrays|vector_stages)$"  # what kernel/stages run in, tested with them
  "^simd/(vec|dot|amx|lines|target|unroll-inl|for_each_arch|for_each_dot_arch|dispatch)"  # reached through every kernel; simd/vec-inl files are not headers of their own
  "^observe/log_histogram_observer$"  # a base, tested with the observers that derive from it
  "^core/exact$"          # two macros; their effect shows in every exact test
  "^core/status$"         # tested with core/error
  "^core/progress$"       # two callbacks, tested with the flows that call them
  "^config/easy_config$"  # plain data, tested with config/read_easy_config
  "^config/plan$"         # plain data, tested with config/resolve
  "^config/(retrain_plan|distill_plan)$"  # plain data, tested with config/retrain_resolve and config/distill_config
  "^config/layer_rules$"  # parts of config/resolve and config/read_classic_json, tested with them
  "^config/network$"      # plain data, tested with graph/network and config/network_checks
  "^config/fx_fields$"    # read by config/fx_easy and config/fx_json, tested with them
  "^config/type_table$"   # rows, tested with config/type_names
  "^graph/(deployed_layer|weight_levels)$"  # parts of passes, tested with insert_quant, insert_dequant and quantize_weights
  "^graph/find_faults$"   # runs networks before and after, tested in passes/faults_test
  "^flow/(planned_network|decided_values|weight_cost)$"  # parts of flow/check and flow/explain, tested with them
  "^quantize/(read_options|quantizer_options)$"  # read and listed by quantize/builtin, tested with it
  "^record/record_file$"  # plain data, tested with protobuf/record_file
  "^protobuf/record_(fields|messages|schema|source|text_source|unknown|wire_source)$"  # parts of reader and writer, tested with them
  "^protobuf/limits$"     # numbers, tested with the readers that keep them
  "^protobuf/config_(errors|places|schema)$"  # parts of protobuf/config_text, tested with it
  "^exec/builtin_ops$"    # a list, compared with docs/operators.md; its operators have tests of their own
  "^exec/integer/(axis_order|form|ranks|layers|fuse_epilogue|channels_last)$"  # parts of exec/integer/lower, tested with it
  "^exec/integer/(layer_epilogue|conv|global_pool|matmul|pool|ops)$"  # operators that exec/integer/lower makes, tested with flow/execution
  "^flow/api/(export_setting|model|quant_model|quantization_mode|save_files|setup)$"  # parts of flow/api/static_graph and dynamic_graph, tested with them
  "^flow/api/(checkpoint|same_origin)$"  # tested with flow/api/static_graph
  "^protobuf/checkpoint_(data|reader|writer)$"  # parts of protobuf/checkpoint, tested with it
  "^flow/calibration_state$"  # plain data, tested with flow/calibration
  "^flow/(evaluator|layer_similarity)$"  # parts of flow/auto_calibrate, tested with it
  "^flow/mixed_precision$"  # tested with flow/sensitivity, by which it decides
  "^json_yaml/auto_calibration_files$"  # compared with AMCT's files (golden), and tested with runner/auto_calibration
  "^flow/layer_results$"  # what flow/execution reports, tested with it
  "^exec/op_context$"     # plain data, tested with every operator
  "^exec/ops/accumulator$"  # parts of reductions, tested with exec/ops/reduce
)

# Folders of tests that mirror include/amct; other folders test more than one header at once.
set(mirrored core simd kernel observe quantize record config graph compress exec analysis flow protobuf json_yaml interop onnx)

file(GLOB_RECURSE headers RELATIVE "${SOURCE_DIR}/include/amct" "${SOURCE_DIR}/include/amct/*.hpp")
if(NOT headers)
  message(FATAL_ERROR "no header found below ${SOURCE_DIR}/include/amct")
endif()

set(findings "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" "" path "${header}")
  set(excepted FALSE)
  foreach(exception IN LISTS exceptions)
    if(path MATCHES "${exception}")
      set(excepted TRUE)
    endif()
  endforeach()
  if(NOT excepted AND NOT EXISTS "${SOURCE_DIR}/tests/${path}_test.cpp")
    string(APPEND findings "\n  include/amct/${header} has no tests/${path}_test.cpp")
  endif()
endforeach()

foreach(folder IN LISTS mirrored)
  file(GLOB_RECURSE tests RELATIVE "${SOURCE_DIR}/tests" "${SOURCE_DIR}/tests/${folder}/*_test.cpp")
  foreach(test IN LISTS tests)
    string(REGEX REPLACE "_test\\.cpp$" "" path "${test}")
    if(NOT EXISTS "${SOURCE_DIR}/include/amct/${path}.hpp")
      string(APPEND findings "\n  tests/${test} has no include/amct/${path}.hpp")
    endif()
  endforeach()
endforeach()

if(findings)
  message(FATAL_ERROR "Headers and tests that do not mirror each other:${findings}")
endif()
