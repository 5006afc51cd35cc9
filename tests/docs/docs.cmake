# SPDX-License-Identifier: Apache-2.0
# Every C++ block in the README and in docs/ is a whole program: it is compiled and run. The quickstart is run as the
# README prints it, with the runner that is built already.
file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/docs/*.md")
foreach(page IN LISTS pages)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
  get_filename_component(stem "${page}" NAME_WE)
  file(READ "${page}" text)
  string(REPLACE ";" "\\;" text "${text}")
  set(index 0)
  while(text MATCHES "```cpp\n")
    string(FIND "${text}" "```cpp\n" start)
    math(EXPR start "${start} + 7")
    string(SUBSTRING "${text}" ${start} -1 text)
    string(FIND "${text}" "```" end)
    string(SUBSTRING "${text}" 0 ${end} program)
    string(SUBSTRING "${text}" ${end} -1 text)
    string(REPLACE "\\;" ";" program "${program}")
    math(EXPR index "${index} + 1")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/docs/${stem}_${index}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${program}" @ONLY)
    add_executable(docs_${stem}_${index} "${source}")
    target_link_libraries(docs_${stem}_${index} PRIVATE amct::amct amct_warnings)
    add_test(NAME docs_${stem}_${index} COMMAND docs_${stem}_${index})
    set_tests_properties(docs_${stem}_${index} PROPERTIES LABELS compile)
  endwhile()
endforeach()

# Every command in the README and in docs/ is run.
find_package(Python3 COMPONENTS Interpreter)
if(AMCT_BUILD_EXAMPLES AND Python3_FOUND)
  add_test(NAME docs_commands COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/run_commands.py"
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  set_tests_properties(docs_commands PROPERTIES LABELS e2e TIMEOUT 900)
endif()

# The table of operators names exactly those that are there; that of findings says what the code says.
add_executable(operators_page_test docs/operators_page_test.cpp docs/check_page_test.cpp)
target_compile_definitions(operators_page_test PRIVATE
  AMCT_OPERATORS_PAGE="${PROJECT_SOURCE_DIR}/docs/operators.md" AMCT_CHECK_PAGE="${PROJECT_SOURCE_DIR}/docs/check.md")
target_link_libraries(operators_page_test PRIVATE amct_test_main amct_builtin_ops amct_warnings)
add_test(NAME operators_page COMMAND operators_page_test)
set_tests_properties(operators_page PROPERTIES LABELS meta)

cmake_path(RELATIVE_PATH PROJECT_BINARY_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE build_folder)
if(AMCT_BUILD_EXAMPLES AND build_folder STREQUAL "build/check")
  add_test(NAME quickstart COMMAND bash "${PROJECT_SOURCE_DIR}/examples/quickstart.sh")
  set_tests_properties(quickstart PROPERTIES LABELS e2e TIMEOUT 600 RUN_SERIAL ON ENVIRONMENT "AMCT_PRESET=check"
    PASS_REGULAR_EXPRESSION "digits_quant_param_record.txt")
endif()
