# SPDX-License-Identifier: Apache-2.0
# Trained networks of other people in our executor and in ONNX Runtime. fetch.sh gets them; without them the test is
# skipped and says so.
file(GLOB real_models_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/real_models/*.cpp")
add_executable(real_models_test ${real_models_sources})
target_include_directories(real_models_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
if(CMAKE_CXX_FLAGS MATCHES "sanitize")
  set(real_lines 10)
  set(real_chunks 50)
else()
  set(real_lines 100)
  set(real_chunks 2000)
endif()
target_compile_definitions(real_models_test PRIVATE AMCT_DEFAULT_REAL_MODELS="${PROJECT_SOURCE_DIR}/build/real_models"
  AMCT_REAL_LINES=${real_lines} AMCT_REAL_CHUNKS=${real_chunks} AMCT_RUNNER="$<TARGET_FILE:amct_runner>")
add_dependencies(real_models_test amct_runner)
target_link_libraries(real_models_test PRIVATE
  doctest::doctest amct_builtin_ops amct_test_peer amct_test_networks amct::onnx amct_warnings)
add_test(NAME real_models COMMAND real_models_test)
set_tests_properties(real_models PROPERTIES LABELS real TIMEOUT 420 SKIP_RETURN_CODE 77)
