# SPDX-License-Identifier: Apache-2.0
# The NEON bodies: the kernel tests, cross-compiled for aarch64 and run under qemu. tests/run.sh installs both.
find_program(AMCT_AARCH64_CXX aarch64-linux-gnu-g++ REQUIRED)
find_program(AMCT_QEMU_AARCH64 qemu-aarch64 REQUIRED)

# doctest is one header for every machine, but the folder it lies in holds headers of this one.
find_path(doctest_folder doctest/doctest.h REQUIRED)
set(neon_include "${CMAKE_CURRENT_BINARY_DIR}/neon_include")
file(MAKE_DIRECTORY "${neon_include}")
file(CREATE_LINK "${doctest_folder}/doctest" "${neon_include}/doctest" SYMBOLIC)

file(GLOB neon_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/simd/*_test.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/kernel/*_test.cpp")
file(GLOB_RECURSE neon_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/amct/core/*.hpp"
  "${PROJECT_SOURCE_DIR}/include/amct/simd/*.hpp" "${PROJECT_SOURCE_DIR}/include/amct/kernel/*.hpp")
set(neon_test "${CMAKE_CURRENT_BINARY_DIR}/neon_test")
add_custom_command(OUTPUT "${neon_test}"
  COMMAND "${AMCT_AARCH64_CXX}" -std=c++20 -O2 -static -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers
    -I "${PROJECT_SOURCE_DIR}/include" -I "${CMAKE_CURRENT_SOURCE_DIR}" -isystem "${neon_include}"
    "${CMAKE_CURRENT_SOURCE_DIR}/main.cpp" ${neon_sources} "${CMAKE_CURRENT_SOURCE_DIR}/core/fp_environment_test.cpp" -o "${neon_test}"
  DEPENDS ${neon_sources} ${neon_headers} "${CMAKE_CURRENT_SOURCE_DIR}/main.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/core/fp_environment_test.cpp"
  VERBATIM)
add_custom_target(neon ALL DEPENDS "${neon_test}")
add_test(NAME neon COMMAND "${AMCT_QEMU_AARCH64}" "${neon_test}")
set_tests_properties(neon PROPERTIES LABELS unit TIMEOUT 300)
