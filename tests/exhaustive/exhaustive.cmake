# SPDX-License-Identifier: Apache-2.0
# Every float32 bit pattern through every path, compared with the reference. One test a contract, so that they run in
# parallel. The compiler may vectorise the reference here, which makes it ten times faster and leaves its bits alone
# (compile_exact_regions checks that).
add_executable(exhaustive_test exhaustive/all_floats.cpp)
target_link_libraries(exhaustive_test PRIVATE amct::amct amct_warnings)
if(NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
  target_compile_options(exhaustive_test PRIVATE -O3 -march=native)
  foreach(contract IN ITEMS reciprocal_round_add reciprocal_add_round divide_round_add divide_add_round)
    add_test(NAME exhaustive_${contract} COMMAND exhaustive_test ${contract})
    set_tests_properties(exhaustive_${contract} PROPERTIES LABELS exhaustive TIMEOUT 900)
  endforeach()

  # Integer kernels have too many shapes for all of them: many random ones.
  foreach(name IN ITEMS random_products random_convolutions)
    add_executable(${name} exhaustive/${name}.cpp)
    target_link_libraries(${name} PRIVATE amct::amct amct_warnings)
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS exhaustive TIMEOUT 900)
  endforeach()
endif()
