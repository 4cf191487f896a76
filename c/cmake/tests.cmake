function(uvb_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  # A test that this machine cannot do says why and ends with 77.
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# Conformance vectors. Outside the project's own tree there are none.
add_library(uvb_vectors STATIC ${uvb_vector_sources})
target_include_directories(uvb_vectors PUBLIC test)
target_compile_options(uvb_vectors PRIVATE ${uvb_warnings})
target_link_libraries(uvb_vectors PUBLIC uvb_core)
uvb_program(vectors uvb_vectors test/vectors/main.c)

set(conformance ${PROJECT_SOURCE_DIR}/../conformance/vectors)
file(GLOB_RECURSE paths CONFIGURE_DEPENDS RELATIVE ${conformance} ${conformance}/*.vec)
foreach(path ${paths})
  uvb_test(vectors/${path} vectors ${conformance}/${path})
endforeach()
find_program(UVBATCH_NODE node)
if(UVBATCH_NODE AND paths)
  uvb_test(differential ${UVBATCH_NODE} --test ${PROJECT_SOURCE_DIR}/test/differential/differential.test.js)
  set_tests_properties(differential PROPERTIES ENVIRONMENT "UVBATCH_VECTORS=$<TARGET_FILE:vectors>")
endif()

# Each `TEST(name) {` of a test program is a test of its own.
file(GLOB paths CONFIGURE_DEPENDS test/*_test.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths})
foreach(path ${paths})
  get_filename_component(program ${path} NAME_WE)
  uvb_program(${program} uvb_core ${path})
  target_include_directories(${program} PRIVATE test)
  # What they test is optimized; they themselves compile in a third of the time.
  target_compile_options(${program} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  file(STRINGS ${path} declared REGEX "^TEST\\(")
  foreach(line ${declared})
    string(REGEX REPLACE "^TEST\\(([a-z0-9_]+)\\).*" "\\1" name ${line})
    uvb_test(${program}/${name} ${program} ${name})
  endforeach()
endforeach()
target_link_libraries(vector_reader_test PRIVATE uvb_vectors)

# What was built for users, as they meet it.
if(UVBATCH_SHARED AND UVBATCH_INSTALL AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  include(cmake/packaging_tests.cmake)
endif()
