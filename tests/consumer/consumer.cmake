# SPDX-License-Identifier: Apache-2.0
# Installs amct into a new prefix and builds separate projects against it with find_package.
foreach(consumer IN ITEMS core json_yaml onnx)
  add_test(NAME consumer_${consumer} COMMAND "${CMAKE_COMMAND}"
    "-DAMCT_BUILD=${PROJECT_BINARY_DIR}" "-DPROJECT=${CMAKE_CURRENT_SOURCE_DIR}/consumer/${consumer}"
    "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer_${consumer}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DGENERATOR=${CMAKE_GENERATOR}"
    "-DFLAGS=${CMAKE_CXX_FLAGS}" -P "${CMAKE_CURRENT_SOURCE_DIR}/consumer/build.cmake")
  set_tests_properties(consumer_${consumer} PROPERTIES LABELS consumer TIMEOUT 180)
endforeach()
