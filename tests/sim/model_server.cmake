# The model server of the simulation: a file system in memory, and an NFS server in front of it.
add_library(sim_nfsd STATIC
  sim/draw.c
  sim/fs.c sim/fs_change.c sim/fs_name.c sim/fs_rights.c sim/fs_tree.c sim/memory.c
  sim/nfsd.c sim/nfsd_acl.c sim/nfsd_again.c sim/nfsd_args.c sim/nfsd_dir.c sim/nfsd_handles.c sim/nfsd_procedure.c
  sim/nfsd_results.c)
target_include_directories(sim_nfsd PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_nfsd PUBLIC nfsaccel_xdr)

function(nfsaccel_model_server_test name)
  cmake_parse_arguments(T "" "" "SOURCES" ${ARGN})
  add_executable(test_sim_${name} sim/test_${name}.c ${T_SOURCES})
  target_include_directories(test_sim_${name} PRIVATE unit)
  target_link_libraries(test_sim_${name} PRIVATE sim_nfsd PkgConfig::CMOCKA)
  add_test(NAME sim/${name} COMMAND test_sim_${name})
  set_tests_properties(sim/${name} PROPERTIES LABELS unit TIMEOUT ${UNIT_TIMEOUT})
endfunction()

nfsaccel_model_server_test(draw)
foreach(name fs fs_name fs_rename)
  nfsaccel_model_server_test(${name} SOURCES sim/fs_fixture.c)
endforeach()
foreach(name nfsd nfsd_dir nfsd_errors nfsd_name nfsd_options nfsd_rpc)
  nfsaccel_model_server_test(${name} SOURCES sim/nfsd_fixture.c sim/nfsd_scene.c unit/stage_nfs.c)
endforeach()
