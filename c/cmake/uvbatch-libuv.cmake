# Makes the target uvbatch::libuv, from the first of these that is there:
#   1. a target of the project around this one, or of a package that it has found,
#   2. libuv's own CMake package,
#   3. a header and a library. Here pkg-config names folders to look into, and is believed in nothing else: the libuv.pc
#      of a package that was unpacked elsewhere still says /usr.
# Without any, there is no such target. It serves the build of libuvbatch, and is installed for those who find it.

function(uvbatch_link_libuv_target)
  foreach(name libuv::uv uv libuv::uv_a uv_a)
    if(TARGET ${name})
      add_library(uvbatch::libuv INTERFACE IMPORTED GLOBAL)
      target_link_libraries(uvbatch::libuv INTERFACE ${name})
      get_target_property(imported ${name} IMPORTED)
      if(imported AND "PROMOTE" IN_LIST ARGN)
        set_target_properties(${name} PROPERTIES IMPORTED_GLOBAL TRUE)
      endif()
      return()
    endif()
  endforeach()
endfunction()

function(uvbatch_link_libuv_files)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(UVBATCH_PC QUIET libuv)
  endif()
  find_path(UVBATCH_LIBUV_INCLUDE_DIR uv.h HINTS ${UVBATCH_PC_INCLUDE_DIRS})
  find_library(UVBATCH_LIBUV_LIBRARY NAMES uv libuv uv_a libuv_a HINTS ${UVBATCH_PC_LIBRARY_DIRS})
  mark_as_advanced(UVBATCH_LIBUV_INCLUDE_DIR UVBATCH_LIBUV_LIBRARY)
  if(NOT UVBATCH_LIBUV_INCLUDE_DIR OR NOT UVBATCH_LIBUV_LIBRARY)
    return()
  endif()

  file(STRINGS ${UVBATCH_LIBUV_INCLUDE_DIR}/uv/version.h version REGEX "^#define UV_VERSION_(MAJOR|MINOR) ")
  string(REGEX MATCHALL "[0-9]+" version "${version}")
  list(JOIN version "." version)
  if(version VERSION_LESS 1.44)
    message(STATUS "libuv in ${UVBATCH_LIBUV_LIBRARY} is ${version}, which is too old")
    return()
  endif()

  add_library(uvbatch::libuv UNKNOWN IMPORTED GLOBAL)
  set_target_properties(uvbatch::libuv PROPERTIES
    IMPORTED_LOCATION ${UVBATCH_LIBUV_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${UVBATCH_LIBUV_INCLUDE_DIR})
  if(UVBATCH_LIBUV_LIBRARY MATCHES "\\.a$")
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
    target_link_libraries(uvbatch::libuv INTERFACE ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS})
  endif()
endfunction()

if(NOT TARGET uvbatch::libuv)
  uvbatch_link_libuv_target()
endif()
if(NOT TARGET uvbatch::libuv)
  find_package(libuv CONFIG QUIET)
  uvbatch_link_libuv_target(PROMOTE)
endif()
if(NOT TARGET uvbatch::libuv)
  uvbatch_link_libuv_files()
endif()
