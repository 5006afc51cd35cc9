# SPDX-License-Identifier: Apache-2.0
# The libraries a consumer links; all headers, except the generated protobuf code.

include(GNUInstallDirs)
find_package(Threads REQUIRED)

function(amct_interface_library name)
  add_library(amct_${name} INTERFACE)
  add_library(amct::${name} ALIAS amct_${name})
  set_target_properties(amct_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(amct_${name} INTERFACE ${ARGN})
endfunction()

amct_interface_library(amct Threads::Threads)
target_compile_features(amct_amct INTERFACE cxx_std_20)
target_include_directories(amct_amct INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

if(AMCT_WITH_EXEC)
  amct_interface_library(exec amct_amct)
endif()

# Doors to the containers of other libraries, for whoever has them.
find_package(Eigen3 QUIET NO_MODULE)
if(TARGET Eigen3::Eigen)
  amct_interface_library(eigen amct_amct Eigen3::Eigen)
endif()
find_package(xtensor QUIET)
if(TARGET xtensor)
  amct_interface_library(xtensor amct_amct xtensor)
endif()

# numpy's archives. The CMake package of Debian's libzip-dev wants programs of other packages: not asked.
find_path(AMCT_ZIP_INCLUDE zip.h)
find_library(AMCT_ZIP_LIBRARY zip)
mark_as_advanced(AMCT_ZIP_INCLUDE AMCT_ZIP_LIBRARY)
if(AMCT_ZIP_INCLUDE AND AMCT_ZIP_LIBRARY)
  amct_interface_library(npz amct_amct "${AMCT_ZIP_LIBRARY}")
endif()

if(AMCT_WITH_FILES)
  set(AMCT_PROTO_DIR "${PROJECT_SOURCE_DIR}/proto")
  include("${PROJECT_SOURCE_DIR}/proto/amct-protobuf.cmake")
  find_path(AMCT_XXHASH_INCLUDE xxhash.h REQUIRED)  # Debian: libxxhash-dev; the header suffices
  mark_as_advanced(AMCT_XXHASH_INCLUDE)
  amct_interface_library(protobuf amct_amct "$<BUILD_INTERFACE:amct_proto>")
  find_package(nlohmann_json REQUIRED)
  find_package(yaml-cpp REQUIRED)
  if(NOT TARGET yaml-cpp::yaml-cpp)  # its name before 0.8
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
  endif()
  amct_interface_library(json_yaml amct_amct nlohmann_json::nlohmann_json yaml-cpp::yaml-cpp)
  find_package(ONNX REQUIRED)
  amct_interface_library(onnx amct_protobuf amct_exec onnx onnx_proto)
  amct_interface_library(flow amct_onnx amct_json_yaml)
endif()
