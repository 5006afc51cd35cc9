# SPDX-License-Identifier: Apache-2.0
# The command line as users call it, and the examples, which check themselves.
if(AMCT_BUILD_EXAMPLES)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/runner/*_test.cpp")
  add_executable(runner_test ${sources})
  target_compile_definitions(runner_test PRIVATE
    AMCT_RUNNER="$<TARGET_FILE:amct_runner>" AMCT_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
  target_link_libraries(runner_test PRIVATE amct_test_main amct_test_graph_builder amct::onnx amct_warnings)
  target_compile_options(runner_test PRIVATE -O0)
  add_dependencies(runner_test amct_runner)
  add_test(NAME runner COMMAND runner_test)
  set_tests_properties(runner PROPERTIES LABELS e2e TIMEOUT 180)

  foreach(example IN ITEMS quantize_a_tensor eigen xtensor integer_convolution small_integer_network)
    add_test(NAME example_${example} COMMAND embed_${example})
    set_tests_properties(example_${example} PROPERTIES LABELS unit)
  endforeach()
endif()
