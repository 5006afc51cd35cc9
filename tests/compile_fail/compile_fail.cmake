# SPDX-License-Identifier: Apache-2.0
# What must not compile, and what the compiler must say about it. Included by tests/CMakeLists.txt.

# amct_compile_fail(<name> <text>): <name>.cpp does not compile, and the message contains the text.
function(amct_compile_fail name expect)
  add_test(NAME compile_fail_${name} COMMAND "${CMAKE_COMMAND}" "-DCXX=${CMAKE_CXX_COMPILER}"
    "-DSOURCE=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.cpp" "-DINCLUDE=${PROJECT_SOURCE_DIR}/include"
    "-DEXPECT=${expect}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check.cmake")
  set_tests_properties(compile_fail_${name} PROPERTIES LABELS compile)
endfunction()

amct_compile_fail(scheme_activation_width "amct: activations have 4 or 8 to 16 bits")
amct_compile_fail(scheme_weight_width "amct: weights have 4, 6, 7 or 8 bits")
amct_compile_fail(scheme_wide_activation "amct: activations of 9 to 16 bits go with 8-bit weights only")
amct_compile_fail(scheme_narrow_activation "amct: 4-bit activations go with 4-bit weights only")
amct_compile_fail(accumulator_overflow "amct: the sum of K products may exceed int32")
amct_compile_fail(epilogue_stage "amct: each stage of an Epilogue must have")

# A broken contract: the message names the concept.
amct_compile_fail(scheme_no_width "HasBits")
amct_compile_fail(bit_width "N <= 16")
amct_compile_fail(contract_rounding "RoundingMode")
amct_compile_fail(contract_scaling "Scaling")
amct_compile_fail(range_policy "RangePolicy")
amct_compile_fail(layout "Granularity")
amct_compile_fail(requantize_rounding "ShiftRoundingMode")
