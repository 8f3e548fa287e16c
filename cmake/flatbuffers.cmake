# SPDX-License-Identifier: Apache-2.0
# flatc and the FlatBuffers headers are one pair of one version. They are named explicitly, since an
# active Python environment often puts another flatc first on the PATH.

set(TOSAIC_FLATC /usr/bin/flatc CACHE FILEPATH "flatc of the same version as the headers")
set(TOSAIC_FLATBUFFERS_INCLUDE /usr/include CACHE PATH "Directory above flatbuffers/flatbuffers.h")

if(NOT EXISTS "${TOSAIC_FLATC}")
  message(FATAL_ERROR "no flatc at ${TOSAIC_FLATC}: install flatbuffers-compiler or set TOSAIC_FLATC")
endif()
if(NOT EXISTS "${TOSAIC_FLATBUFFERS_INCLUDE}/flatbuffers/base.h")
  message(FATAL_ERROR "no FlatBuffers headers in ${TOSAIC_FLATBUFFERS_INCLUDE}: install "
                      "libflatbuffers-dev or set TOSAIC_FLATBUFFERS_INCLUDE")
endif()

execute_process(COMMAND "${TOSAIC_FLATC}" --version OUTPUT_VARIABLE flatc_version
                OUTPUT_STRIP_TRAILING_WHITESPACE)
file(STRINGS "${TOSAIC_FLATBUFFERS_INCLUDE}/flatbuffers/base.h" version_lines
     REGEX "#define FLATBUFFERS_VERSION_(MAJOR|MINOR|REVISION) ")
string(REGEX REPLACE "[^0-9]+" "." header_version "${version_lines}")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" header_version "${header_version}")
if(NOT flatc_version MATCHES " ${header_version}$")
  message(FATAL_ERROR "${TOSAIC_FLATC} says '${flatc_version}' but the headers in "
                      "${TOSAIC_FLATBUFFERS_INCLUDE} are version ${header_version}")
endif()

# tosaic_add_flatbuffers(target root): compiles each root/**/DIR/NAME.fbs to
# <build>/generated/DIR/NAME_generated.h; the target carries the include directory.
function(tosaic_add_flatbuffers target root)
  set(generated "${CMAKE_BINARY_DIR}/generated")
  file(MAKE_DIRECTORY "${generated}")
  file(GLOB_RECURSE schemas CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.fbs")
  set(headers)
  foreach(schema IN LISTS schemas)
    get_filename_component(dir "${schema}" DIRECTORY)
    get_filename_component(name "${schema}" NAME_WE)
    set(header "${generated}/${dir}/${name}_generated.h")
    add_custom_command(
      OUTPUT "${header}"
      COMMAND "${TOSAIC_FLATC}" --cpp --scoped-enums -o "${generated}/${dir}" "${root}/${schema}"
      DEPENDS "${root}/${schema}" "${TOSAIC_FLATC}"
      COMMENT "flatc ${schema}"
      VERBATIM)
    list(APPEND headers "${header}")
  endforeach()
  add_custom_target(${target}_headers DEPENDS ${headers})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${generated}")
  if(NOT TOSAIC_FLATBUFFERS_INCLUDE STREQUAL "/usr/include")
    target_include_directories(${target} SYSTEM INTERFACE "${TOSAIC_FLATBUFFERS_INCLUDE}")
  endif()
  add_dependencies(${target} ${target}_headers)
endfunction()
