include(CheckLanguage)
check_language(CXX)
find_program(PKG_CONFIG_EXECUTABLE NAMES pkg-config pkgconf)

set(consumer ${PROJECT_SOURCE_DIR}/test/consumer)
set(folder ${PROJECT_BINARY_DIR}/consumer)
list(JOIN CMAKE_PREFIX_PATH "$<SEMICOLON>" prefixes)

add_test(NAME packaging/installs COMMAND ${CMAKE_COMMAND}
  --install ${PROJECT_BINARY_DIR} --config $<CONFIG> --prefix ${folder}/prefix)
set_tests_properties(packaging/installs PROPERTIES FIXTURES_SETUP uvb_installed)

# Builds the project test/consumer in a folder of its own, and runs its tests.
function(uvb_consumer_test name)
  uvb_test(packaging/${name} ${CMAKE_CTEST_COMMAND}
    --build-and-test ${consumer} ${folder}/${name} --build-generator ${CMAKE_GENERATOR} --build-noclean
    --build-options
      -DCMAKE_BUILD_TYPE=Debug
      -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      "-DCMAKE_PREFIX_PATH=${folder}/prefix$<SEMICOLON>${prefixes}"
      -DVERSION=${PROJECT_VERSION}
      ${ARGN}
    --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure --no-tests=error)
  set_tests_properties(packaging/${name} PROPERTIES FIXTURES_REQUIRED uvb_installed)
endfunction()

uvb_consumer_test(is_found_by_find_package)

# The static library alone, as packagers build it: built and installed once more.
set(static ${folder}/static)
add_test(NAME packaging/static_is_built COMMAND ${CMAKE_CTEST_COMMAND}
  --build-and-test ${PROJECT_SOURCE_DIR} ${static}/build --build-generator ${CMAKE_GENERATOR} --build-noclean
  --build-target install
  --build-options
    -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
    "-DCMAKE_PREFIX_PATH=${prefixes}"
    -DCMAKE_INSTALL_PREFIX=${static}/prefix
    -DUVBATCH_SHARED=OFF
    -DUVBATCH_TESTS=OFF)
set_tests_properties(packaging/static_is_built PROPERTIES FIXTURES_SETUP uvb_static)
uvb_consumer_test(is_found_without_the_shared_library "-DCMAKE_PREFIX_PATH=${static}/prefix$<SEMICOLON>${prefixes}")
set_tests_properties(packaging/is_found_without_the_shared_library PROPERTIES FIXTURES_REQUIRED uvb_static)
uvb_consumer_test(is_part_of_another_project -DUVBATCH_SOURCE=${PROJECT_SOURCE_DIR} -DUVBATCH_SHARED=OFF)
uvb_consumer_test(header_is_clean_c99_c11_and_cxx11 -DHEADER_ONLY=ON)

if(UNIX)
  uvb_test(packaging/exports_what_exports_txt_lists ${CMAKE_COMMAND}
    -D NM=${CMAKE_NM} -D LIBRARY=$<TARGET_FILE:uvbatch> -P ${consumer}/exports.cmake)

  uvb_test(packaging/is_found_by_pkg_config ${consumer}/pkg_config.sh ${folder}/prefix ${PROJECT_VERSION})
  set_tests_properties(packaging/is_found_by_pkg_config PROPERTIES
    FIXTURES_REQUIRED uvb_installed
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=$<$<BOOL:${CMAKE_CXX_COMPILER}>:${CMAKE_CXX_COMPILER}>;PKG_CONFIG=${PKG_CONFIG_EXECUTABLE};LIBDIR=${CMAKE_INSTALL_LIBDIR};\
UV_INCLUDE_DIR=${UVBATCH_LIBUV_INCLUDE_DIR};UV_LIBRARY=${UVBATCH_LIBUV_LIBRARY}")
endif()
