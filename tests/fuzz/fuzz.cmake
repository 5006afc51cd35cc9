# SPDX-License-Identifier: Apache-2.0
# Fuzz targets of all readers, built by clang with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer whatever
# compiler builds the rest, and run for 20 seconds each (AMCT_FUZZ_SECONDS changes that). tests/fuzz/run.sh runs them by
# hand. Included by tests/CMakeLists.txt.

find_program(AMCT_FUZZ_COMPILER NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
if(NOT AMCT_FUZZ_COMPILER)
  message(STATUS "no clang++: no fuzzing")
  return()
endif()
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # libraries of another sanitizer do not fit
  return()
endif()

set(folder "${CMAKE_CURRENT_BINARY_DIR}/fuzz")
file(MAKE_DIRECTORY "${folder}")
set(compile "${AMCT_FUZZ_COMPILER}" -std=c++20 -O1 -g1 -fsanitize=fuzzer,address,undefined
  -fno-sanitize-recover=undefined "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/tests"
  -isystem "${CMAKE_BINARY_DIR}/amct-proto")
set(config "${folder}/config.o")  # what the three targets of configs share
add_custom_command(
  OUTPUT "${config}"
  COMMAND ${compile} -MMD -MF "${config}.d" -MT "${config}" -c "${CMAKE_CURRENT_LIST_DIR}/config.cpp" -o "${config}"
  DEPENDS "${CMAKE_CURRENT_LIST_DIR}/config.cpp"
  DEPFILE "${config}.d"
  VERBATIM)
set(programs "")
foreach(target IN ITEMS record_text record_binary checkpoint cfg yaml json onnx)
  set(program "${folder}/fuzz_${target}")
  set(libraries "$<TARGET_FILE:amct_proto>" "$<TARGET_LINKER_FILE:protobuf::libprotobuf>")
  if(target STREQUAL "yaml")
    set(libraries "$<TARGET_LINKER_FILE:yaml-cpp::yaml-cpp>")
  endif()
  set(definitions "")
  if(target STREQUAL "onnx")
    set(definitions -DONNX_NAMESPACE=onnx -DONNX_ML=1)
    set(libraries "$<TARGET_LINKER_FILE:onnx>" "$<TARGET_LINKER_FILE:onnx_proto>" "$<TARGET_LINKER_FILE:protobuf::libprotobuf>")
  elseif(NOT target MATCHES "record|checkpoint")
    list(PREPEND libraries "${config}")
  endif()
  add_custom_command(
    OUTPUT "${program}"
    COMMAND ${compile} ${definitions} -MMD -MF "${program}.d" -MT "${program}"
      "${CMAKE_CURRENT_LIST_DIR}/${target}.cpp" ${libraries} -pthread -o "${program}"
    DEPENDS "${CMAKE_CURRENT_LIST_DIR}/${target}.cpp" ${config} amct_proto
    DEPFILE "${program}.d"
    VERBATIM)
  list(APPEND programs "${program}")
  add_test(NAME fuzz_${target} COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/run.sh" 20 ${target})
  set_tests_properties(fuzz_${target} PROPERTIES LABELS fuzz ENVIRONMENT "AMCT_FUZZ_BUILD=${folder}" TIMEOUT 36000)
endforeach()
add_custom_target(fuzz_targets ALL DEPENDS ${programs})
