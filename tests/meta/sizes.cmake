# SPDX-License-Identifier: Apache-2.0
# No header is longer than a reader can hold in mind.
# cmake -DSOURCE_DIR=<checkout> -P tests/meta/sizes.cmake
cmake_minimum_required(VERSION 3.25)

set(most_lines 400)

file(GLOB_RECURSE headers RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/include/amct/*.hpp")
if(NOT headers)
  message(FATAL_ERROR "no header found below ${SOURCE_DIR}/include/amct")
endif()

set(findings "")
foreach(header IN LISTS headers)
  file(READ "${SOURCE_DIR}/${header}" content)
  string(REGEX REPLACE "[^\n]" "" newlines "${content}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER most_lines)
    string(APPEND findings "\n  ${header}: ${lines} lines, at most ${most_lines}")
  endif()
endforeach()

if(findings)
  message(FATAL_ERROR "Headers that should be split:${findings}")
endif()
