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
endif()
