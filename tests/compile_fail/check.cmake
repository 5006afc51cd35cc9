# SPDX-License-Identifier: Apache-2.0
# A source that must not compile, for the stated reason and no other: it compiles with AMCT_LEGAL defined, does not
# without, and then the compiler says EXPECT.
# cmake -DCXX=<compiler> -DSOURCE=<file> -DINCLUDE=<folder> -DEXPECT=<text> -P tests/compile_fail/check.cmake
cmake_minimum_required(VERSION 3.25)

set(command "${CXX}" -std=c++20 -fsyntax-only -I "${INCLUDE}" "${SOURCE}")

execute_process(COMMAND ${command} -DAMCT_LEGAL RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "The legal half of ${SOURCE} does not compile:\n${messages}")
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE messages OUTPUT_QUIET)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles although it must not")
endif()
string(FIND "${messages}" "${EXPECT}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "The compiler does not say \"${EXPECT}\" of ${SOURCE}:\n${messages}")
endif()
