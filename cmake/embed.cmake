# SPDX-License-Identifier: Apache-2.0
# Python scripts that the tool carries in itself: src/DIR/NAME.py becomes a string kNamePy in the
# generated header "DIR/NAME_py.h".

function(tosaic_embed_scripts root)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.py")
  foreach(script IN LISTS scripts)
    string(REGEX REPLACE "\\.py$" "_py" stem "${script}")
    get_filename_component(name "${stem}" NAME)
    string(REPLACE "_" ";" words "${name}")
    set(symbol k)
    foreach(word IN LISTS words)
      string(SUBSTRING "${word}" 0 1 first)
      string(SUBSTRING "${word}" 1 -1 others)
      string(TOUPPER "${first}" first)
      string(APPEND symbol "${first}${others}")
    endforeach()
    file(READ "${root}/${script}" text)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/${stem}.h" @ONLY
         CONTENT "#pragma once\ninline constexpr char @symbol@[] = R\"py(@text@)py\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${root}/${script}")
  endforeach()
endfunction()
