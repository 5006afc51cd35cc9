# SPDX-License-Identifier: Apache-2.0
# Builds the protobuf messages of AMCT's file formats with the protoc at hand. Used by amct's own build and, installed
# beside amctConfig.cmake, by consumers that ask for the component "protobuf".
#
# Set before: AMCT_PROTO_DIR, the folder that contains amct/proto/*.proto.
# Defines:    amct_proto (static library of the generated code)

find_package(Protobuf REQUIRED)

set(_amct_proto_out "${CMAKE_BINARY_DIR}/amct-proto")
file(MAKE_DIRECTORY "${_amct_proto_out}")  # imported targets may only name folders that exist
set(_amct_proto_sources "")
file(GLOB _amct_protos CONFIGURE_DEPENDS "${AMCT_PROTO_DIR}/amct/proto/*.proto")
foreach(_proto IN LISTS _amct_protos)
  get_filename_component(_name "${_proto}" NAME_WE)
  set(_stem "${_amct_proto_out}/amct/proto/${_name}.pb")
  add_custom_command(
    OUTPUT "${_stem}.cc" "${_stem}.h"
    COMMAND protobuf::protoc --cpp_out "${_amct_proto_out}" -I "${AMCT_PROTO_DIR}" "${_proto}"
    DEPENDS ${_amct_protos}
    VERBATIM)
  list(APPEND _amct_proto_sources "${_stem}.cc" "${_stem}.h")
endforeach()

add_library(amct_proto STATIC ${_amct_proto_sources})
target_compile_features(amct_proto PUBLIC cxx_std_20)
target_include_directories(amct_proto SYSTEM PUBLIC "$<BUILD_INTERFACE:${_amct_proto_out}>")
target_link_libraries(amct_proto PUBLIC protobuf::libprotobuf)
set_target_properties(amct_proto PROPERTIES POSITION_INDEPENDENT_CODE ON)
