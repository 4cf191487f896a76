include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/uvbatch)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES include/uv_batch.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS uvbatch_static EXPORT uvbatch-targets)
if(UVBATCH_SHARED)
  install(TARGETS uvbatch EXPORT uvbatch-targets)
endif()

install(EXPORT uvbatch-targets NAMESPACE uvbatch:: DESTINATION ${package_dir})
write_basic_package_version_file(uvbatch-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/uvbatch-config.cmake cmake/uvbatch-libuv.cmake ${PROJECT_BINARY_DIR}/uvbatch-config-version.cmake
  DESTINATION ${package_dir})

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
# What the library needs itself, a program that links the static one needs, too.
if(uvb_math AND UVBATCH_SHARED)
  set(pc_libs_private " -l${uvb_math}")
elseif(uvb_math)
  set(pc_libs " -l${uvb_math}")
endif()
configure_file(uvbatch.pc.in uvbatch.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/uvbatch.pc DESTINATION ${pkgconfig_dir})
