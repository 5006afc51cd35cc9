# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime (its Node package, installed by tests/run.sh) as an independent judge.
find_program(AMCT_NODE node REQUIRED)
add_library(amct_test_peer OBJECT onnxruntime/peer.cpp)
target_include_directories(amct_test_peer PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(amct_test_peer PRIVATE
  AMCT_NODE="${AMCT_NODE}" AMCT_ORT_SCRIPT="${CMAKE_CURRENT_SOURCE_DIR}/onnxruntime/run_model.mjs")
target_link_libraries(amct_test_peer PUBLIC amct::amct PRIVATE nlohmann_json::nlohmann_json amct_warnings)

# Networks, and the comparison of their layers in integers with ONNX Runtime.
add_library(amct_test_networks OBJECT onnxruntime/layer_codes.cpp onnxruntime/networks.cpp)
target_include_directories(amct_test_networks PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/examples")
target_compile_definitions(amct_test_networks PRIVATE
  AMCT_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden/e2e" AMCT_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/data"
  AMCT_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
target_link_libraries(amct_test_networks PUBLIC amct::onnx PRIVATE doctest::doctest amct_warnings)

add_executable(onnxruntime_test
  onnxruntime/codes_test.cpp onnxruntime/onnxruntime_test.cpp onnxruntime/qdq_test.cpp)
target_link_libraries(onnxruntime_test PRIVATE
  amct_test_main amct_builtin_ops amct_test_peer amct_test_networks amct::onnx amct_warnings)
add_test(NAME onnxruntime COMMAND onnxruntime_test)
set_tests_properties(onnxruntime PROPERTIES LABELS e2e TIMEOUT 300)
