set(UVBATCH_TEST_TIMEOUT 60 CACHE STRING "Seconds that one test may take")

function(uvb_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  # A test that this machine cannot do says why and ends with 77.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${UVBATCH_TEST_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()

# Each `TEST(name) {` of a test program is a test of its own.
file(GLOB paths CONFIGURE_DEPENDS test/*_test.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths})
foreach(path ${paths})
  get_filename_component(program ${path} NAME_WE)
  uvb_program(${program} ${path})
  target_include_directories(${program} PRIVATE test)
  file(STRINGS ${path} declared REGEX "^TEST\\(")
  foreach(line ${declared})
    string(REGEX REPLACE "^TEST\\(([a-z0-9_]+)\\).*" "\\1" name ${line})
    uvb_test(${program}/${name} ${program} ${name})
  endforeach()
endforeach()

# What was built for users, as they meet it.
if(UVBATCH_SHARED AND UVBATCH_INSTALL AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  include(cmake/packaging_tests.cmake)
endif()
