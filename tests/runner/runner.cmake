# SPDX-License-Identifier: Apache-2.0
# The command line as users call it, and the examples, which check themselves.
if(AMCT_BUILD_EXAMPLES)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/runner/*_test.cpp")
  add_executable(runner_test ${sources} "${PROJECT_SOURCE_DIR}/examples/runner/interrupt.cpp")
  target_include_directories(runner_test PRIVATE "${PROJECT_SOURCE_DIR}/examples")
  if(AMCT_WITH_MPI)
    target_compile_definitions(runner_test PRIVATE AMCT_MPIRUN="${MPIEXEC_EXECUTABLE}")
  endif()
  target_compile_definitions(runner_test PRIVATE
    AMCT_RUNNER="$<TARGET_FILE:amct_runner>" AMCT_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
  target_link_libraries(runner_test PRIVATE amct_test_main amct_test_graph_builder amct::onnx amct::npz stb amct_warnings)
  target_compile_options(runner_test PRIVATE -O0)
  # Plugins: the example, one of another version, and one that registers nothing.
  add_library(amct_faulty_plugin MODULE runner/faulty_plugin.cpp)
  target_compile_definitions(amct_faulty_plugin PRIVATE AMCT_FAULTY_PLUGIN_REGISTERS)
  add_library(amct_half_plugin MODULE runner/faulty_plugin.cpp)
  target_compile_definitions(runner_test PRIVATE AMCT_EXAMPLE_PLUGIN="$<TARGET_FILE:amct_example_plugin>"
    AMCT_FAULTY_PLUGIN="$<TARGET_FILE:amct_faulty_plugin>" AMCT_HALF_PLUGIN="$<TARGET_FILE:amct_half_plugin>")
  add_dependencies(runner_test amct_example_plugin amct_faulty_plugin amct_half_plugin)
  add_dependencies(runner_test amct_runner)
  add_test(NAME runner COMMAND runner_test)
  set_tests_properties(runner PROPERTIES LABELS e2e TIMEOUT 180)

  foreach(example IN ITEMS quantize_a_tensor eigen xtensor integer_convolution small_integer_network)
    add_test(NAME example_${example} COMMAND embed_${example})
    set_tests_properties(example_${example} PROPERTIES LABELS unit)
  endforeach()
  foreach(example IN ITEMS static_graph dynamic_graph)
    add_test(NAME example_${example} COMMAND embed_${example} "${PROJECT_SOURCE_DIR}/examples/data"
      "${CMAKE_CURRENT_BINARY_DIR}/example_${example}")
    set_tests_properties(example_${example} PROPERTIES LABELS e2e)
  endforeach()
endif()
