# find_package(hardstand): the targets hardstand::hardstand and hardstand::static.

get_filename_component(_hardstand_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET hardstand::hardstand)
  add_library(hardstand::hardstand SHARED IMPORTED)
  set_target_properties(hardstand::hardstand PROPERTIES
    IMPORTED_LOCATION "${_hardstand_prefix}/lib/libhardstand.so.1"
    IMPORTED_SONAME "libhardstand.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_hardstand_prefix}/include")

  add_library(hardstand::static STATIC IMPORTED)
  set_target_properties(hardstand::static PROPERTIES
    IMPORTED_LOCATION "${_hardstand_prefix}/lib/libhardstand.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_hardstand_prefix}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl")
endif()
