# SPDX-License-Identifier: Apache-2.0
# Debian packages that the core uses; imported targets are SYSTEM, so their headers do not warn.

find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

# libzip's own CMake package demands its command line tools, which libzip-dev does not bring.
find_path(TOSAIC_LIBZIP_INCLUDE zip.h REQUIRED)
find_library(TOSAIC_LIBZIP_LIBRARY zip REQUIRED)
add_library(tosaic_libzip UNKNOWN IMPORTED)
set_target_properties(
  tosaic_libzip PROPERTIES IMPORTED_LOCATION "${TOSAIC_LIBZIP_LIBRARY}"
                           INTERFACE_INCLUDE_DIRECTORIES "${TOSAIC_LIBZIP_INCLUDE}")

add_library(tosaic_dependencies INTERFACE)
target_link_libraries(
  tosaic_dependencies INTERFACE fmt::fmt simdjson::simdjson nlohmann_json::nlohmann_json
                                CLI11::CLI11 tosaic_libzip Threads::Threads ${CMAKE_DL_LIBS})
