# SPDX-License-Identifier: Apache-2.0
# `cmake --install` gives a prefix for find_package(amct CONFIG). All headers are installed; a component decides which
# dependencies are looked for: core (default) and exec none, eigen Eigen, xtensor xtensor, npz libzip, protobuf protoc, json_yaml
# nlohmann_json and yaml-cpp, onnx protoc and libonnx, flow what json_yaml and onnx need.

include(CMakePackageConfigHelpers)

set(_amct_cmake_dir "${CMAKE_INSTALL_DATADIR}/cmake/amct")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/amct" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/proto/amct" DESTINATION "${CMAKE_INSTALL_DATADIR}/amct/proto")
include(cmake/amct_names.cmake)
install(DIRECTORY "${AMCT_NAMES_DIR}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/amct/proto")
install(FILES "${PROJECT_SOURCE_DIR}/proto/amct-protobuf.cmake" DESTINATION "${_amct_cmake_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/amctConfig.cmake.in" "${PROJECT_BINARY_DIR}/amctConfig.cmake"
  INSTALL_DESTINATION "${_amct_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/amctConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/amctConfig.cmake" "${PROJECT_BINARY_DIR}/amctConfigVersion.cmake"
  DESTINATION "${_amct_cmake_dir}")
