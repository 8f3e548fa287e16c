# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, and the flags of the build types Dev, Release and Coverage.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The same objects also go into shared libraries (delegates, the Python module).
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Dev, Release or Coverage" FORCE)
endif()

option(TOSAIC_ASSERTS "Keep assert() in Release" OFF)
option(TOSAIC_WERROR "Warnings are errors" ON)

set(CMAKE_CXX_FLAGS_RELEASE "-O2")
if(NOT TOSAIC_ASSERTS)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -DNDEBUG")
endif()
# -g1 gives file and line in sanitizer reports at a fraction of the size of -g.
set(CMAKE_CXX_FLAGS_DEV
    "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all")
set(CMAKE_CXX_FLAGS_COVERAGE "-O0 -g1 --coverage -fprofile-update=atomic")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TOSAIC_CCACHE ccache)
  if(TOSAIC_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TOSAIC_CCACHE}")
  endif()
endif()

# __FILE__ and debug information do not depend on where the tree lies; ccache may hand sources to the
# compiler by their path from the build directory.
file(RELATIVE_PATH path_from_build "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}")

add_library(tosaic_flags INTERFACE)
target_compile_options(
  tosaic_flags
  INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wvla
            # Designated initialisers leave members out on purpose (operator rows).
            -Wno-missing-field-initializers
            "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/="
            "-ffile-prefix-map=${path_from_build}=")
if(TOSAIC_WERROR)
  target_compile_options(tosaic_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Dev")
  # Sanitizer instrumentation hides initialisation from g++ 12.
  target_compile_options(tosaic_flags INTERFACE -Wno-maybe-uninitialized)
endif()
