# SPDX-License-Identifier: Apache-2.0
# The exact checksums of both builds must agree. Where the machine can fuse, the loose ones must differ, or the test
# would prove nothing.
execute_process(COMMAND "${PLAIN}" OUTPUT_VARIABLE plain COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND "${FUSED}" OUTPUT_VARIABLE fused COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
message("plain: ${plain}\nfused: ${fused}")
string(REGEX MATCH "exact [0-9a-f]+" plain_exact "${plain}")
string(REGEX MATCH "exact [0-9a-f]+" fused_exact "${fused}")
if(NOT plain_exact STREQUAL fused_exact)
  message(FATAL_ERROR "exact regions give other bits when the compiler may fuse multiplications and additions")
endif()
file(STRINGS /proc/cpuinfo has_fma REGEX "^flags.* fma " LIMIT_COUNT 1)
if(plain STREQUAL fused AND has_fma)
  message(FATAL_ERROR "the build that may fuse did not; this test proves nothing")
endif()
