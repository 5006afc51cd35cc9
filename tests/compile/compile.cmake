# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone and twice, under the flags that the project promises to its users; the numeric core
# also without exceptions and RTTI; and the exact regions give the same bits when the compiler may fuse.

function(amct_header_check name pattern library)
  set(sources "")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/include/amct/*.hpp")
  foreach(header IN LISTS headers)
    # Bodies and for_each_arch.hpp are parts of other headers.
    if(NOT header MATCHES "${pattern}" OR header MATCHES "-inl\\.hpp$|for_each_(dot_)?arch\\.hpp$")
      continue()
    endif()
    string(REGEX REPLACE "[/.]" "_" stem "${header}")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n#include <${header}>\n" @ONLY)
    list(APPEND sources "${source}")
  endforeach()
  add_library(headers_${name} OBJECT ${sources})
  target_link_libraries(headers_${name} PRIVATE ${library})
  target_compile_options(headers_${name} PRIVATE -O0 -g0 -Wall -Wextra -Wconversion -Werror ${ARGN})
endfunction()

amct_header_check(core "^amct/((core|simd|kernel|observe|quantize|record|config|graph|compress)/|interop/(npy|container)\\.hpp|[a-z]+\\.hpp)" amct::amct -fno-rtti)
amct_header_check(eigen "^amct/interop/eigen\\.hpp" amct::eigen)
amct_header_check(xtensor "^amct/interop/xtensor\\.hpp" amct::xtensor)
amct_header_check(exec "^amct/(exec|flow)/" amct::exec)
amct_header_check(protobuf "^amct/protobuf/" amct::protobuf)
amct_header_check(json_yaml "^amct/json_yaml/" amct::json_yaml)
amct_header_check(onnx "^amct/onnx/" amct::onnx)

add_executable(no_exceptions_test compile/no_exceptions.cpp)
target_link_libraries(no_exceptions_test PRIVATE amct::amct amct_warnings)
target_compile_options(no_exceptions_test PRIVATE -fno-exceptions -fno-rtti)
add_test(NAME compile_without_exceptions COMMAND no_exceptions_test)
set_tests_properties(compile_without_exceptions PROPERTIES LABELS compile)

foreach(variant IN ITEMS plain fused)
  add_executable(exact_${variant} compile/exact.cpp)
  target_link_libraries(exact_${variant} PRIVATE amct::amct amct_warnings)
endforeach()
target_compile_options(exact_plain PRIVATE -O1 -ffp-contract=off)
target_compile_options(exact_fused PRIVATE -O3 -march=native -ffp-contract=fast)
add_test(NAME compile_exact_regions COMMAND "${CMAKE_COMMAND}"
  "-DPLAIN=$<TARGET_FILE:exact_plain>" "-DFUSED=$<TARGET_FILE:exact_fused>" -P "${CMAKE_CURRENT_SOURCE_DIR}/compile/exact.cmake")
set_tests_properties(compile_exact_regions PROPERTIES LABELS compile)
