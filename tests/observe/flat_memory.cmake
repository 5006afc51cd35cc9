# SPDX-License-Identifier: Apache-2.0
# Memory of observers that keep no data. Sanitizers keep freed memory back, which would count.
add_executable(flat_memory_test observe/flat_memory.cpp)
target_link_libraries(flat_memory_test PRIVATE amct::amct amct_warnings)
if(NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
  add_test(NAME flat_memory COMMAND flat_memory_test)
  set_tests_properties(flat_memory PROPERTIES LABELS unit TIMEOUT 60)
endif()
