# SPDX-License-Identifier: Apache-2.0
# Numbers of the real AMCT: every case of every file found in the folder AMCT_GOLDEN_DIR (default: tests/golden).
file(GLOB golden_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/golden_cases/*.cpp")
# Files of configs and records are read, not computed: these need no speed and compile in half the time.
set(golden_readers ${golden_sources})
list(FILTER golden_readers INCLUDE REGEX "/(config|record|retrain)_[a-z_]+\\.cpp$")
list(REMOVE_ITEM golden_sources ${golden_readers})
add_library(golden_readers OBJECT ${golden_readers})
target_compile_options(golden_readers PRIVATE -O0)
add_executable(golden_test ${golden_sources})
target_link_libraries(golden_test PRIVATE golden_readers amct_builtin_ops amct::npz)
foreach(part IN ITEMS golden_readers golden_test)
  target_precompile_headers(${part} PRIVATE <nlohmann/json.hpp> <filesystem> <vector>)
  target_include_directories(${part} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_compile_definitions(${part} PRIVATE AMCT_DEFAULT_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
  target_link_libraries(${part} PRIVATE amct::onnx amct::json_yaml nlohmann_json::nlohmann_json amct_warnings)
endforeach()
add_test(NAME golden COMMAND golden_test)
set_tests_properties(golden PROPERTIES LABELS golden TIMEOUT 240)

# A folder without cases must fail, or a wrong path would look like success.
add_test(NAME golden_without_cases COMMAND golden_test)
set_tests_properties(golden_without_cases PROPERTIES LABELS golden WILL_FAIL ON
  ENVIRONMENT "AMCT_GOLDEN_DIR=${CMAKE_CURRENT_SOURCE_DIR}/support")
