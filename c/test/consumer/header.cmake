# The header alone, with more warnings than most users ask for. Not by its target: warnings of imported headers are
# hidden.
get_target_property(include_dir uvbatch::uvbatch INTERFACE_INCLUDE_DIRECTORIES)

function(header name source)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${include_dir})
  target_link_libraries(${name} PRIVATE uvbatch::libuv)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE) # for uv.h, which wants more than ISO C
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror -pedantic)
  set_target_properties(${name} PROPERTIES ${ARGN})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

header(c99 header.c C_STANDARD 99 C_EXTENSIONS OFF)
header(c11 header.c C_STANDARD 11 C_EXTENSIONS OFF)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  header(cxx11 header.cpp CXX_STANDARD 11 CXX_EXTENSIONS OFF)
endif()
