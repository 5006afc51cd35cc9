# SPDX-License-Identifier: Apache-2.0
# ONNX's own backend tests (Debian's libonnx-testdata), or those in the folder AMCT_CONFORMANCE_DIR.
file(GLOB conformance_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/conformance/*.cpp")
add_executable(conformance_test ${conformance_sources})
target_include_directories(conformance_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(conformance_test PRIVATE amct_builtin_ops amct::onnx amct_warnings)
add_test(NAME conformance COMMAND conformance_test)
set_tests_properties(conformance PROPERTIES LABELS golden TIMEOUT 420)

# A folder without cases must fail, or a wrong path would look like success.
add_test(NAME conformance_without_cases COMMAND conformance_test)
set_tests_properties(conformance_without_cases PROPERTIES LABELS golden WILL_FAIL ON
  ENVIRONMENT "AMCT_CONFORMANCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}/support")
