# The examples check themselves; these run them.
uvb_test(examples/first examples_first)
set_tests_properties(examples/first PROPERTIES PASS_REGULAR_EXPRESSION "^3 of type line\none\ntwo\nthree\n$")
uvb_test(examples/echo examples_echo --check)
uvb_test(examples/download examples_download 32)

# It appends, so what an earlier run has left goes first.
set(log ${PROJECT_BINARY_DIR}/examples/collected.log)
add_test(NAME examples/collector_starts_anew COMMAND ${CMAKE_COMMAND} -E rm -f ${log})
set_tests_properties(examples/collector_starts_anew PROPERTIES FIXTURES_SETUP uvb_collector)
uvb_test(examples/collector examples_collector ${log} 2000 4)
set_tests_properties(examples/collector PROPERTIES FIXTURES_REQUIRED uvb_collector)

# The guide is not part of the source package of the library alone.
set(guide ${PROJECT_SOURCE_DIR}/../docs/reference/c.md)
if(EXISTS ${guide})
  uvb_test(examples/first_is_the_one_in_the_guide ${CMAKE_COMMAND}
    -D GUIDE=${guide} -D EXAMPLE=${PROJECT_SOURCE_DIR}/examples/first.c -P ${PROJECT_SOURCE_DIR}/test/guide.cmake)
endif()
