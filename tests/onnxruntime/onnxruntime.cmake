# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime (its Node package, installed by tests/run.sh) as an independent judge.
find_program(AMCT_NODE node REQUIRED)
add_executable(onnxruntime_test onnxruntime/onnxruntime_test.cpp)
target_compile_definitions(onnxruntime_test PRIVATE
  AMCT_NODE="${AMCT_NODE}" AMCT_ORT_SCRIPT="${CMAKE_CURRENT_SOURCE_DIR}/onnxruntime/run_model.mjs"
  AMCT_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden/e2e" AMCT_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
target_link_libraries(onnxruntime_test PRIVATE amct_test_main amct::onnx amct_warnings)
add_test(NAME onnxruntime COMMAND onnxruntime_test)
set_tests_properties(onnxruntime PROPERTIES LABELS e2e TIMEOUT 180)
