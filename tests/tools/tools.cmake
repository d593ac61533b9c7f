# What the demo and the end-to-end tests stand on: a relay, a tree of files, and clients. Built into tests/ of the build folder.
function(nfsaccel_test_tool name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${T_LIBS})
endfunction()

nfsaccel_test_tool(relay SOURCES tools/relay.c tools/relay_link.c tools/call_counts.c LIBS PkgConfig::UV)
nfsaccel_test_tool(mktree SOURCES tools/mktree.c)
nfsaccel_test_tool(sweep SOURCES tools/sweep.c tools/sweep_client.c tools/sweep_objects.c tools/call_counts.c
  LIBS PkgConfig::NFS)

nfsaccel_unit_test(call_counts SOURCES tools/call_counts.c)
target_include_directories(test_call_counts PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
