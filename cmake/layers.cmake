# SPDX-License-Identifier: Apache-2.0
# One OBJECT library per folder of src/, and what is linked from them.
#
# Operator tables are pointers in linker sections: an archive would drop the objects that nobody
# names, so objects are linked directly, everywhere.

# What every translation unit of ours is compiled with.
add_library(tosaic_usage INTERFACE)
target_include_directories(tosaic_usage INTERFACE "${CMAKE_SOURCE_DIR}/src"
                                                  "${CMAKE_SOURCE_DIR}/include")
target_link_libraries(tosaic_usage INTERFACE tosaic_dependencies)

# All objects of all layers: `target_link_libraries(x PRIVATE tosaic_core)` links them into x.
add_library(tosaic_core INTERFACE)
target_link_libraries(tosaic_core INTERFACE tosaic_usage)

# tosaic_add_layer(name): src/name/**/*.cpp without tests and without main.cpp; a folder that does
# not exist, or has no sources yet, is left out.
function(tosaic_add_layer layer)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(tosaic_${layer} OBJECT ${sources})
  if(layer STREQUAL "tosa")
    # The reference rounds each product and sum by itself, on every processor. Its loops over channels
    # are vectorised, which -O2 of g++ 12 does not do.
    target_compile_options(tosaic_${layer} PRIVATE -ffp-contract=off)
    file(GLOB kernels CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/tosa/ops/*.cpp")
    set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
  endif()
  target_link_libraries(tosaic_${layer} PRIVATE tosaic_flags tosaic_usage tosaic_schemas)
  target_sources(tosaic_core INTERFACE $<TARGET_OBJECTS:tosaic_${layer}>)
endfunction()

function(tosaic_add_tool)
  file(GLOB main CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/cli/main.cpp")
  if(main)
    add_executable(tosaic ${main})
    target_link_libraries(tosaic PRIVATE tosaic_flags tosaic_core tosaic_schemas)
  endif()
endfunction()

# bin/tosaic_tests: every *_test.cpp of src/ and test/. A test that reads files of the tree includes
# the generated "test_paths.h"; a definition for all of them would keep ccache from sharing objects
# between two clones.
function(tosaic_add_tests)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/*_test.cpp"
       "${CMAKE_SOURCE_DIR}/test/*_test.cpp")
  if(sources)
    find_package(GTest REQUIRED)
    add_executable(tosaic_tests ${sources})
    target_link_libraries(tosaic_tests PRIVATE tosaic_flags tosaic_core tosaic_schemas
                                               GTest::gtest_main)
    # The code under test is optimised and has all sanitizers; the macros of tests would only take long
    # to compile.
    target_compile_options(tosaic_tests PRIVATE "$<$<CONFIG:Dev>:-O0;-fno-sanitize=undefined>")
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_include/test_paths.h" @ONLY
         CONTENT "#pragma once\n#define TOSAIC_SOURCE_DIR \"@CMAKE_SOURCE_DIR@\"\n")
    target_include_directories(tosaic_tests PRIVATE "${CMAKE_BINARY_DIR}/test_include")
  endif()
  if(EXISTS "${CMAKE_SOURCE_DIR}/test/standin/CMakeLists.txt")
    add_subdirectory("${CMAKE_SOURCE_DIR}/test/standin" test/standin)
  endif()
endfunction()

# bin/tosaic_fuzz: all readers under random bytes (./dev fuzz). Not part of `all`.
function(tosaic_add_fuzzer)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/fuzz/*.cpp")
  if(sources)
    add_executable(tosaic_fuzz EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(tosaic_fuzz PRIVATE tosaic_flags tosaic_core tosaic_schemas)
  endif()
endfunction()
