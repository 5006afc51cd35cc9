# SPDX-License-Identifier: Apache-2.0
# Binary records are read by protoc with the schemas that are installed under AMCT's names.
add_test(NAME protobuf_amct_names
  COMMAND "${CMAKE_COMMAND}" "-DPROTOC=$<TARGET_FILE:protobuf::protoc>" "-DOURS=${PROJECT_SOURCE_DIR}/proto"
    "-DAMCT_NAMES=${AMCT_NAMES_DIR}" "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/amct_names"
    -P "${CMAKE_CURRENT_LIST_DIR}/amct_names.cmake")
set_tests_properties(protobuf_amct_names PROPERTIES LABELS unit)
