# Each fuzz/NAME.c is a program fuzz/NAME, with libFuzzer where the compiler has it, else with fuzz/driver.c; both know
# `fuzz/NAME -max_total_time=SECONDS FOLDER`. The target `fuzz` builds all of them and nothing else.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
check_c_source_compiles("#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) { return data == NULL && size > 1; }"
  UVBATCH_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)

set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
if(NOT UVBATCH_LIBFUZZER)
  set(driver fuzz/driver.c)
endif()

# The sanitizers are to see the inside of the library as well.
add_library(uvb_fuzzed STATIC ${uvb_sources} ${uvb_vector_sources})
target_include_directories(uvb_fuzzed PUBLIC include src test)
target_compile_definitions(uvb_fuzzed PUBLIC _GNU_SOURCE)
target_compile_options(uvb_fuzzed
  PUBLIC ${sanitizers} $<$<BOOL:${UVBATCH_LIBFUZZER}>:-fsanitize=fuzzer-no-link>
  PRIVATE ${uvb_warnings})
target_link_options(uvb_fuzzed PUBLIC ${sanitizers} $<$<BOOL:${UVBATCH_LIBFUZZER}>:-fsanitize=fuzzer>)
target_link_libraries(uvb_fuzzed PUBLIC uvbatch::libuv ${uvb_math})

add_custom_target(fuzz)
file(GLOB paths CONFIGURE_DEPENDS fuzz/*.c)
list(REMOVE_ITEM paths ${PROJECT_SOURCE_DIR}/fuzz/driver.c)
foreach(path ${paths})
  get_filename_component(name ${path} NAME_WE)
  uvb_program(fuzz_${name} uvb_fuzzed ${path} ${driver})
  set_target_properties(fuzz_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(fuzz fuzz_${name})
  if(UVBATCH_TESTS)
    uvb_test(fuzz/${name} fuzz_${name} -runs=2000 -seed=1)
  endif()
endforeach()
