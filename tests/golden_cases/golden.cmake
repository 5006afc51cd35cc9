# SPDX-License-Identifier: Apache-2.0
# Numbers of the real AMCT: every case of every file found in the folder AMCT_GOLDEN_DIR (default: tests/golden).
file(GLOB golden_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/golden_cases/*.cpp")
add_executable(golden_test ${golden_sources})
target_precompile_headers(golden_test PRIVATE <nlohmann/json.hpp> <filesystem> <vector>)
target_include_directories(golden_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(golden_test PRIVATE AMCT_DEFAULT_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
target_link_libraries(golden_test PRIVATE amct_builtin_ops amct::onnx amct::json_yaml nlohmann_json::nlohmann_json amct_warnings)
add_test(NAME golden COMMAND golden_test)
set_tests_properties(golden PROPERTIES LABELS golden TIMEOUT 240)

# A folder without cases must fail, or a wrong path would look like success.
add_test(NAME golden_without_cases COMMAND golden_test)
set_tests_properties(golden_without_cases PROPERTIES LABELS golden WILL_FAIL ON
  ENVIRONMENT "AMCT_GOLDEN_DIR=${CMAKE_CURRENT_SOURCE_DIR}/support")
