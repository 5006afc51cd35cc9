# SPDX-License-Identifier: Apache-2.0
# Tests of the source tree itself. Included by tests/CMakeLists.txt.

foreach(name IN ITEMS layers mirror sizes)
  add_test(NAME meta_${name}
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" -P "${CMAKE_CURRENT_LIST_DIR}/${name}.cmake")
  set_tests_properties(meta_${name} PROPERTIES LABELS meta)
endforeach()
